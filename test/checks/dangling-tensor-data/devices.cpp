// A tensor that is surely on a device is copied by cpu().
// RUN: %check_libtorch_tidy %s libtorch-dangling-tensor-data %t --level=0

#include <torch/torch.h>

using torch::Tensor;
void read(const float *);

void moved() {
  Tensor a = torch::randn({3, 3}).cuda();
  float *p = a.cpu().data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: dangling pointer: 'p' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto p_tensor = a.cpu();
  // CHECK-FIXES: float *p = p_tensor.data_ptr<float>();
  read(p);
  Tensor b = torch::rand({4}, torch::device(torch::kCUDA));
  b = b.view({2, 2});
  float *q = b.to(torch::kCPU).data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: dangling pointer: 'q' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto q_tensor = b.to(torch::kCPU);
  // CHECK-FIXES: float *q = q_tensor.data_ptr<float>();
  read(q);
  Tensor c = b.to(torch::kCUDA);
  Tensor d = c;
  float first = *d.cpu().data_ptr<float>(); // Read before it is gone.
  read(&first);
}

// Where it may be on the CPU already, cpu() returns the tensor itself.
void unknown(Tensor x, torch::Device device, bool gpu) {
  Tensor a = x;
  if (gpu)
    a = a.cuda();
  float *p = a.cpu().data_ptr<float>();
  read(p);
  Tensor b = x.cuda();
  b = x;
  float *q = b.cpu().data_ptr<float>();
  read(q);
  Tensor c = x.to(device);
  float *r = c.cpu().data_ptr<float>();
  read(r);
  Tensor d = x.cuda().to(device).cpu();
  float *s = d.cpu().data_ptr<float>();
  read(s);
}
