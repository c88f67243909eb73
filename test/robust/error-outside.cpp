// An error that stands in no function may change what every function means:
// nothing is said of where values go.
// RUN: %not %clang-tidy -load %plugin %s -checks='-*,libtorch-*' \
// RUN:   -config='{CheckOptions: {Level: 2}}' -- %torch_flags > %t 2> %t.err
// RUN: %FileCheck %s --input-file=%t --implicit-check-not='{{warning|error}}:'

#include <torch/torch.h>

using torch::Tensor;

struct Net : torch::nn::Module {
  torch::nn::Linear fc{4, 1};
  // CHECK: :[[@LINE+1]]:3: error: unknown type name 'Scaler'
  Scaler scaler;
  Tensor forward(const Tensor &x) { return fc->forward(x); }
};

double accumulates(Net &net, const std::vector<Tensor> &batches) {
  Tensor total = torch::zeros({});
  for (const Tensor &batch : batches)
    total += net.forward(batch).sum();
  return total.item<double>();
}
