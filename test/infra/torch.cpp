// The precompiled torch/torch.h serves both front ends and the compiler.
// RUN: %check_libtorch_tidy %s 'libtorch-*' %t
// RUN: %clangxx -fsyntax-only %torch_flags %s

#include <torch/torch.h>

struct TwoLayersImpl : torch::nn::Module {
  TwoLayersImpl()
      : First(register_module("first", torch::nn::Linear(4, 8))),
        Second(register_module("second", torch::nn::Linear(8, 2))) {}
  torch::Tensor forward(const torch::Tensor &Input) {
    return Second(torch::relu(First(Input)));
  }
  torch::nn::Linear First, Second;
};
TORCH_MODULE(TwoLayers);
