// What a branch or a loop does to memory holds after it, on the paths that go
// through it.
// RUN: %check_libtorch_tidy %s libtorch-dangling-tensor-data %t

#include <torch/torch.h>

using torch::Tensor;
void read(const float *);
void look(torch::IntArrayRef);
bool more();

// One way is enough.
void either(Tensor x, bool grow) {
  Tensor t = x * 2;
  const float *p = nullptr;
  if (grow)
    p = torch::exp(x).data_ptr<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: dangling pointer: 'p' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  else
    p = t.data_ptr<float>();
  read(p);
}
// The end of an iteration ends what it declared, and the next one reads it.
void last_iteration(Tensor x, int n) {
  const float *last = nullptr;
  for (int i = 0; i < n; ++i) {
    if (last)
      read(last);
    Tensor row = x * i;
    last = row.data_ptr<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling pointer: 'last' points into 'row', which is destroyed when its block ends; declare it before that block [libtorch-dangling-tensor-data]
  }
}
void replaced_in_loop(Tensor x) {
  Tensor t = x * 2;
  float *p = t.data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: dangling pointer: 'p' points into the tensor that 't' held before it was assigned again; take it again after the assignment [libtorch-dangling-tensor-data]
  while (more()) {
    read(p);
    t = torch::zeros({3});
  }
}
void written_through(Tensor x) {
  float *p = (x * 2).data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: dangling pointer: 'p' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto p_tensor = x * 2;
  // CHECK-FIXES: float *p = p_tensor.data_ptr<float>();
  *p = 1;
}
void in_handler(Tensor x) {
  const float *p = nullptr;
  try {
    Tensor t = x * 2;
    p = t.data_ptr<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: dangling pointer: 'p' points into 't', which is destroyed when its block ends; declare it before that block [libtorch-dangling-tensor-data]
    more();
  } catch (...) {
    read(p);
  }
}
void by_argument(Tensor &t) {
  float *p = t.data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: dangling pointer: 'p' points into 't', whose memory may move when it is resized; take it again after that [libtorch-dangling-tensor-data]
  t.resize_({100});
  read(p);
}

// No way leads from the end of the memory to the use.
void other_branch(Tensor x, bool grow) {
  Tensor t = x * 2;
  float *p = t.data_ptr<float>();
  if (grow)
    t = torch::zeros({8});
  else
    read(p);
}
void leaves(Tensor x, bool done) {
  Tensor t = x * 2;
  float *p = t.data_ptr<float>();
  auto sizes = t.sizes();
  if (done) {
    t = torch::zeros({8});
    return;
  }
  read(p), look(sizes);
}
void skips(Tensor x, int n) {
  for (int i = 0; i < n; ++i) {
    Tensor t = x * i;
    float *p = t.data_ptr<float>();
    if (i % 2) {
      t.resize_({100});
      continue;
    }
    read(p);
  }
}
void anew(Tensor x, int n) {
  Tensor t = x * 2;
  float *p = t.data_ptr<float>();
  for (int i = 0; i < n; ++i) {
    read(p);
    t = torch::zeros({3});
    p = t.data_ptr<float>();
  }
}
void both_ways(Tensor x, bool large) {
  Tensor t = x * 2;
  float *p = t.data_ptr<float>();
  t = torch::zeros({3});
  if (large)
    p = t.data_ptr<float>();
  else
    p = x.data_ptr<float>();
  read(p);
}
void perhaps_shared(Tensor x, bool alone) {
  Tensor t;
  if (alone)
    t = x * 2;
  else
    t = x;
  float *p = t.data_ptr<float>();
  t = torch::zeros({3});
  read(p);
}
