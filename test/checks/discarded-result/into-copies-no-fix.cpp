// No operator does what is meant in one step, or it would do something else.
// RUN: %check_libtorch_tidy %s libtorch-discarded-result %t

#include <torch/torch.h>

using torch::Tensor;

Tensor tensors(Tensor x, Tensor rows, Tensor values) {
  x.index({rows}).copy_(values);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: 'copy_' writes into the copy that 'index' makes, which is discarded; 'x' stays as it is [libtorch-discarded-result]
  x.index({rows}) = values;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: '=' writes into the copy that 'index' makes, which is discarded; 'x' stays as it is [libtorch-discarded-result]
  x.index({rows}) += 1;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: '+=' writes into the copy that 'index' makes
  x.index_select(0, rows).zero_();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: 'zero_' writes into the copy that 'index_select' makes
  x.masked_select(rows).mul_(2);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: 'mul_' writes into the copy that 'masked_select' makes
  torch::gather(x, 1, rows).fill_(0);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: 'fill_' writes into the copy that 'gather' makes
  x.index({rows}).view({-1}).fill_(0);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: 'fill_' writes into the copy that 'index' makes
  x.take(rows).relu_();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: 'relu_' writes into the copy that 'take' makes
  return x;
}

// Copies for the sake of another type.
Tensor types(Tensor x) {
  Tensor single = x.to(torch::kFloat32);
  single.to(torch::kFloat64).add_(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: 'add_' writes into the copy that 'to' makes, which is discarded; 'single' stays as it is
  x.to(torch::kCPU, torch::kFloat32, false, /*copy=*/true).zero_();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: 'zero_' writes into the copy that 'to' makes
  x.clone().add_(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: 'add_' writes into the copy that 'clone' makes
  return single;
}

// Written in place, a parameter throws.
struct Net : torch::nn::Module {
  Tensor weight = register_parameter("weight", torch::ones({3}));
  torch::nn::Linear fc{3, 3};
  void reset(Tensor mask) {
    weight.index({mask}).fill_(0);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: 'fill_' writes into the copy that 'index' makes, which is discarded; 'weight' stays as it is; use 'index_put_'
    fc->weight.index({mask}).fill_(0);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: 'fill_' writes into the copy that 'index' makes, which is discarded; 'fc->weight' stays as it is; use 'index_put_'
  }
};

template <typename T> void in_template(T x, Tensor mask) {
  x.index({mask}).fill_(0);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: 'fill_' writes into the copy that 'index' makes
}
template void in_template(Tensor, Tensor);

// A name is given another tensor; what it named before stays as it is.
void names(Tensor table, Tensor values, torch::nn::Linear net) {
  Tensor row = table[0];
  row = values[0];
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: no effect: '=' lets 'row' name another tensor and writes nothing into 'table', and nothing reads 'row' afterwards; use 'copy_' [libtorch-discarded-result]
  auto part = table.index({torch::indexing::Slice(0, 2)});
  part = part * 2;
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: no effect: '=' lets 'part' name another tensor and writes nothing into 'table'
  for (auto piece : table.unbind(0))
    piece = piece.relu();
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: no effect: '=' lets 'piece' name another tensor and writes nothing into 'table'
  torch::NoGradGuard guard;
  for (auto p : net->parameters())
    p = torch::zeros_like(p);
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: no effect: '=' lets 'p' name another tensor and writes nothing into {{.*}}; use 'copy_'
}
