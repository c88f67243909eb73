#include "tasks.h"

/// The features of a batch, on a device that holds no more than 64 windows.
static torch::Tensor features_on_device(WindowNet &net,
                                        const torch::Tensor &windows) {
  TORCH_CHECK_WITH(OutOfMemoryError, windows.size(0) <= 64,
                   "out of memory: ", windows.size(0), " windows");
  return net->features(windows);
}

torch::Tensor embed(WindowNet &net, const torch::Tensor &windows) {
  torch::NoGradGuard no_grad;
  auto scaled = (windows - windows.mean()) / windows.std();
  try {
    return features_on_device(net, scaled);
    // seeded: libtorch-oom-recovery-in-catch
  } catch (const c10::OutOfMemoryError &) {
    auto half = windows.size(0) / 2;
    auto first = embed(net, windows.slice(0, 0, half));
    return torch::cat({first, embed(net, windows.slice(0, half))});
  }
}

torch::Tensor embed_in_halves(WindowNet &net, const torch::Tensor &windows) {
  torch::NoGradGuard no_grad;
  bool out_of_memory = false;
  try {
    auto scaled = (windows - windows.mean()) / windows.std();
    return features_on_device(net, scaled);
  } catch (const c10::OutOfMemoryError &) {
    // look-alike: the handler only takes note; the retry comes after it.
    out_of_memory = true;
  }
  TORCH_INTERNAL_ASSERT(out_of_memory);
  auto half = windows.size(0) / 2;
  return torch::cat({embed_in_halves(net, windows.slice(0, 0, half)),
                     embed_in_halves(net, windows.slice(0, half))});
}
