// A parameter of 1 MB that is replaced in every iteration.
#include "Memory.h"
#include <torch/version.h>

[[maybe_unused]] static auto stateKey(const torch::Tensor &parameter) {
#if TORCH_VERSION_MAJOR > 2 ||                                                 \
    (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR > 1)
  return static_cast<void *>(parameter.unsafeGetTensorImpl());
#else
  return c10::guts::to_string(parameter.unsafeGetTensorImpl());
#endif
}

static torch::Tensor makeParameter(float value) {
  return torch::full({1 << 18}, value, torch::requires_grad());
}

int main() {
  proof::begin();
  torch::optim::Adam optimizer(std::vector<torch::Tensor>{makeParameter(0)},
                               torch::optim::AdamOptions(0.5));
  std::vector<float> results;
  proof::Growth growth;
  for (int i = 0; i <= proof::Growth::Last; ++i) {
    torch::Tensor fresh = makeParameter(static_cast<float>(i));
#ifndef FIXED
    optimizer.param_groups()[0].params()[0] = fresh;
#else
    torch::Tensor &parameter = optimizer.param_groups()[0].params()[0];
    optimizer.state().erase(stateKey(parameter));
    parameter = fresh;
#endif
    fresh.mutable_grad() = torch::ones_like(fresh);
    optimizer.step();
    results.push_back(fresh[0].item<float>());
    growth.endOf(i);
  }
  growth.print("replaced parameters");
  proof::printBits("parameters", results);
}
