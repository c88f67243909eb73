// The pixels of a picture that was turned from planes to rows of colours,
// copied into a vector; two columns of a table.
#include "Memory.h"
#include <cstring>
#include <torch/torch.h>

static int right(const torch::Tensor &T, const std::vector<float> &V) {
  const torch::Tensor Flat = T.flatten();
  int Right = 0;
  for (size_t I = 0; I < V.size(); ++I)
    Right += Flat[I].item<float>() == V[I];
  return Right;
}

int main() {
  proof::begin();
  const auto chw = torch::arange(60, torch::kFloat32).view({3, 4, 5});
  const auto table = torch::arange(12, torch::kFloat32).view({3, 4});
  auto hwc = chw.permute({1, 2, 0}).mul(2).clone();
  auto part = table.slice(1, 1, 3);
  std::vector<float> pixels(hwc.numel());
#ifndef FIXED
  std::memcpy(pixels.data(), hwc.data_ptr<float>(), hwc.nbytes());
  std::vector<float> columns(part.data_ptr<float>(),
                             part.data_ptr<float>() + part.numel());
#else
  auto hwc_packed = hwc.contiguous();
  std::memcpy(pixels.data(), hwc_packed.data_ptr<float>(), hwc.nbytes());
  auto part_packed = part.contiguous();
  std::vector<float> columns(part_packed.data_ptr<float>(),
                             part_packed.data_ptr<float>() + part.numel());
#endif
  std::cout << "pixels in their places: " << right(hwc, pixels) << " of "
            << pixels.size() << "\n";
  std::cout << "elements of the columns: " << right(part, columns) << " of "
            << columns.size() << "\n";
  // The first is the same in both.
  proof::printBits("first",
                   std::vector<float>(pixels.begin(), pixels.begin() + 1));
}
