// Images come into the file with their channels last, and are turned back.
// RUN: %check_libtorch_tidy %s libtorch-strided-access %t

#include <torch/torch.h>

#include <cstring>

using torch::Tensor;

Tensor load(unsigned char *pixels) {
  auto image = torch::from_blob(pixels, {224, 224, 3}, torch::kByte);
  return image.permute({2, 0, 1}).clone();
}
void show(const Tensor &image, unsigned char *to) {
  auto out = image.squeeze().permute({1, 2, 0}).clamp(0, 255);
  std::memcpy(to, out.data_ptr(), out.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: wrong bytes: 'memcpy' copies the bytes of 'out' as they lie in memory, but 'permute' has moved no bytes: they lie in the order from before; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto out_packed = out.contiguous();
  // CHECK-FIXES: std::memcpy(to, out_packed.data_ptr(), out.numel());
}
