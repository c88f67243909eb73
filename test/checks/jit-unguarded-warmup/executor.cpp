// Without the profiling executor no call remembers an earlier one.
// RUN: %check_libtorch_tidy %s libtorch-jit-unguarded-warmup %t
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>
#include <torch/torch.h>

void plain(torch::jit::Module &module, const torch::Tensor &x) {
  module.forward({x});
  torch::NoGradGuard no_grad;
  module.forward({x});
}

int main() { torch::jit::setGraphExecutorOptimize(false); }
