// How sure it is that the temporary is alone with its memory.
// RUN: %check_libtorch_tidy %s libtorch-dangling-tensor-data %t
// RUN: %check_libtorch_tidy %s libtorch-dangling-tensor-data %t --level=1 --check-suffix=L1
// RUN: %check_libtorch_tidy %s libtorch-dangling-tensor-data %t --level=0 --check-suffix=L0

#include <torch/torch.h>

using torch::Tensor;
void read(const float *);

struct NetImpl : torch::nn::Module {
  Tensor forward(Tensor x);
};
TORCH_MODULE(Net);

// Backward may keep an operand.
void operand(Tensor x) {
  Tensor t = x * 2;
  float *p = t.data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: dangling pointer: 'p' points into the tensor that 't' held before it was assigned again; take it again after the assignment [libtorch-dangling-tensor-data]
  // CHECK-MESSAGES-L1: :[[@LINE-2]]:14: warning: dangling pointer: 'p' points into the tensor that 't' held before it was assigned again; take it again after the assignment [libtorch-dangling-tensor-data]
  Tensor y = t * 3;
  t = torch::zeros({3, 3});
  read(p);
}
void levels(Net net, Tensor x) {
  float *certain = torch::exp(x).data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: dangling pointer: 'certain' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto certain_tensor = torch::exp(x);
  // CHECK-FIXES: float *certain = certain_tensor.data_ptr<float>();
  // CHECK-MESSAGES-L1: :[[@LINE-4]]:20: warning: dangling pointer: 'certain' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES-L1: auto certain_tensor = torch::exp(x);
  // CHECK-FIXES-L1: float *certain = certain_tensor.data_ptr<float>();
  // CHECK-MESSAGES-L0: :[[@LINE-7]]:20: warning: dangling pointer: 'certain' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES-L0: auto certain_tensor = torch::exp(x);
  // CHECK-FIXES-L0: float *certain = certain_tensor.data_ptr<float>();
  read(certain);
  float *likely = net(x).data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: dangling pointer: 'likely' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto likely_tensor = net(x);
  // CHECK-FIXES: float *likely = likely_tensor.data_ptr<float>();
  // CHECK-MESSAGES-L1: :[[@LINE-4]]:19: warning: dangling pointer: 'likely' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES-L1: auto likely_tensor = net(x);
  // CHECK-FIXES-L1: float *likely = likely_tensor.data_ptr<float>();
  read(likely);
  float *perhaps = x.t().contiguous().data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: dangling pointer: 'perhaps' points into a tensor that is destroyed at the end of this statement, when 'contiguous' has to copy; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto perhaps_tensor = x.t().contiguous();
  // CHECK-FIXES: float *perhaps = perhaps_tensor.data_ptr<float>();
  // CHECK-MESSAGES-L1: :[[@LINE-4]]:20: warning: dangling pointer: 'perhaps' points into a tensor that is destroyed at the end of this statement, when 'contiguous' has to copy; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES-L1: auto perhaps_tensor = x.t().contiguous();
  // CHECK-FIXES-L1: float *perhaps = perhaps_tensor.data_ptr<float>();
  read(perhaps);
  float *as_given = x.contiguous().data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: dangling pointer: 'as_given' points into a tensor that is destroyed at the end of this statement, when 'contiguous' has to copy; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto as_given_tensor = x.contiguous();
  // CHECK-FIXES: float *as_given = as_given_tensor.data_ptr<float>();
  read(as_given);
  auto *moved = x.to(torch::kCPU).data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling pointer: 'moved' points into a tensor that is destroyed at the end of this statement, when 'to' has to copy; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto moved_tensor = x.to(torch::kCPU);
  // CHECK-FIXES: auto *moved = moved_tensor.data_ptr<float>();
  read(moved);
  Tensor weights = net(x);
  auto *flat = weights.reshape({-1}).data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: dangling pointer: 'flat' points into a tensor that is destroyed at the end of this statement, when 'reshape' has to copy; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto flat_tensor = weights.reshape({-1});
  // CHECK-FIXES: auto *flat = flat_tensor.data_ptr<float>();
  read(flat);
}

// A matrix that is transposed here is surely copied, unless that changes nothing.
void transposed_here() {
  Tensor x = torch::rand({3, 4});
  Tensor turned = x.t();
  float *surely = turned.contiguous().data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: dangling pointer: 'surely' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto surely_tensor = turned.contiguous();
  // CHECK-FIXES: float *surely = surely_tensor.data_ptr<float>();
  // CHECK-MESSAGES-L1: :[[@LINE-4]]:19: warning: dangling pointer: 'surely' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES-L1: auto surely_tensor = turned.contiguous();
  // CHECK-FIXES-L1: float *surely = surely_tensor.data_ptr<float>();
  // CHECK-MESSAGES-L0: :[[@LINE-7]]:19: warning: dangling pointer: 'surely' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES-L0: auto surely_tensor = turned.contiguous();
  // CHECK-FIXES-L0: float *surely = surely_tensor.data_ptr<float>();
  read(surely);
  Tensor row = torch::rand({1, 4});
  float *in_order = row.t().contiguous().data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: dangling pointer: 'in_order' points into a tensor that is destroyed at the end of this statement, when 'contiguous' has to copy; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto in_order_tensor = row.t().contiguous();
  // CHECK-FIXES: float *in_order = in_order_tensor.data_ptr<float>();
  read(in_order);
  Tensor again = x.t();
  again.t_();
  float *back = again.contiguous().data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling pointer: 'back' points into a tensor that is destroyed at the end of this statement, when 'contiguous' has to copy; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto back_tensor = again.contiguous();
  // CHECK-FIXES: float *back = back_tensor.data_ptr<float>();
  read(back);
}
