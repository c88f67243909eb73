// Tensors that are made on the CPU and moved to where they are needed.
//
// LibTorch's meta device stands for a GPU: what is moved there leaves the
// host's memory, so that what is counted is what the host needs for it.
#include "Memory.h"
#include <torch/torch.h>

/// 4 MB each.
torch::Tensor states(int64_t rows, const torch::Device &device) {
#ifndef FIXED
  return torch::zeros({rows, 1024}).to(device);
#else
  return torch::zeros({rows, 1024}, device);
#endif
}
torch::Tensor positions(int64_t count, const torch::Device &device) {
#ifndef FIXED
  return torch::arange(count).to(device);
#else
  return torch::arange(count, device);
#endif
}

int main() {
  proof::begin();
  const torch::Device other(torch::kMeta), host(torch::kCPU);
  {
    proof::Span span;
    torch::Tensor made = states(1024, other);
    span.print("host memory, zeros on another device");
  }
  {
    proof::Span span;
    torch::Tensor made = positions(1024 * 512, other);
    span.print("host memory, arange on another device");
  }
  std::vector<float> values;
  {
    proof::Span span;
    torch::Tensor made = states(1024, host);
    span.print("host memory, zeros on the CPU");
    values.push_back(made.sum().item<float>());
  }
  values.push_back(positions(1000, host).sum().item<float>());
  proof::printBits("values", values);
}
