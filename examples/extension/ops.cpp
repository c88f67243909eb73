// An extension for PyTorch: setup.py builds it, docs/extensions.md analyses it.
#include <torch/extension.h>

#include <vector>

namespace {

// Defect: clamp() returns the result and leaves its operand as it is.
torch::Tensor clipped(torch::Tensor gradient, double limit) {
  gradient.clamp(-limit, limit);
  return gradient;
}

// Looks alike and is right: clamp_() changes its operand.
torch::Tensor clip_(torch::Tensor gradient, double limit) {
  gradient.clamp_(-limit, limit);
  return gradient;
}

} // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("clipped", &clipped);
  m.def("clip_", &clip_);
}
