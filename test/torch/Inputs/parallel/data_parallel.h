// LibTorch's header of this function includes CUDA's: this one declares it.
#pragma once
#include <torch/torch.h>
namespace torch {
namespace nn {
namespace parallel {
template <typename ModuleType>
Tensor data_parallel(
    ModuleType module, Tensor input,
    torch::optional<std::vector<Device>> devices = torch::nullopt,
    torch::optional<Device> output_device = torch::nullopt, int64_t dim = 0) {
  return module->forward(input);
}
} // namespace parallel
} // namespace nn
} // namespace torch
