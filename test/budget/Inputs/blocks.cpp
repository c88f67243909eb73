// Convolutions alone, whose gradient is that of a sum: one number for all.

#include "step.h"

namespace nn = torch::nn;
using torch::Tensor;

struct StraightImpl : nn::Module {
  StraightImpl(int64_t in, int64_t out, int64_t kernel, int64_t stride,
               int64_t padding)
      : layer(nn::Conv2dOptions(in, out, kernel)
                  .stride(stride)
                  .padding(padding)) {
    register_module("layer", layer);
  }
  Tensor forward(Tensor x) { return layer(x); }
  nn::Conv2d layer;
};
TORCH_MODULE(Straight);

struct TransposedImpl : nn::Module {
  TransposedImpl(int64_t in, int64_t out, int64_t kernel, int64_t stride,
                 int64_t padding)
      : layer(nn::ConvTranspose2dOptions(in, out, kernel)
                  .stride(stride)
                  .padding(padding)) {
    register_module("layer", layer);
  }
  Tensor forward(Tensor x) { return layer(x); }
  nn::ConvTranspose2d layer;
};
TORCH_MODULE(Transposed);

/// Of an image whose rows and columns change places.
struct TurnedImpl : nn::Module {
  TurnedImpl() : layer(nn::Conv2dOptions(3, 16, 3).padding(1)) {
    register_module("layer", layer);
  }
  Tensor forward(Tensor x) { return layer(x.transpose(2, 3)); }
  nn::Conv2d layer;
};
TORCH_MODULE(Turned);

int main() {
  steps::begin();
  STEP(Transposed(6, 6, 4, 2, 1), "2x6x9x7", torch::rand({2, 6, 9, 7}));
  STEP(Transposed(6, 6, 4, 2, 1), "1x6x8x8", torch::rand({1, 6, 8, 8}));
  STEP(Transposed(16, 16, 4, 2, 1), "2x16x9x7", torch::rand({2, 16, 9, 7}));
  STEP(Transposed(32, 16, 4, 2, 1), "2x32x16x16", torch::rand({2, 32, 16, 16}));
  STEP(Transposed(64, 32, 2, 2, 0), "2x64x16x16", torch::rand({2, 64, 16, 16}));
  STEP(Transposed(16, 16, 3, 2, 1), "2x16x16x16", torch::rand({2, 16, 16, 16}));
  STEP(Transposed(16, 16, 5, 3, 1), "2x16x16x16", torch::rand({2, 16, 16, 16}));
  STEP(Transposed(6, 6, 3, 1, 1), "2x6x9x7", torch::rand({2, 6, 9, 7}));
  STEP(Transposed(16, 32, 3, 1, 1), "2x16x16x16", torch::rand({2, 16, 16, 16}));
  STEP(Straight(6, 6, 3, 2, 1), "2x6x9x7", torch::rand({2, 6, 9, 7}));
  STEP(Straight(16, 16, 3, 2, 1), "2x16x9x7", torch::rand({2, 16, 9, 7}));
  STEP(Straight(6, 6, 3, 2, 1), "4x6x32x32", torch::rand({4, 6, 32, 32}));
  STEP(Straight(16, 32, 3, 2, 1), "4x16x32x32", torch::rand({4, 16, 32, 32}));
  STEP(Straight(16, 32, 3, 1, 1), "4x16x32x32", torch::rand({4, 16, 32, 32}));
  STEP(Straight(64, 128, 3, 2, 1), "4x64x16x16", torch::rand({4, 64, 16, 16}));
  STEP(Straight(3, 64, 7, 2, 3), "4x3x64x64", torch::rand({4, 3, 64, 64}));
  STEP(Straight(64, 64, 1, 1, 0), "16x64x16x16", torch::rand({16, 64, 16, 16}));
  STEP(Straight(64, 128, 1, 2, 0), "4x64x16x16", torch::rand({4, 64, 16, 16}));
  STEP(Straight(64, 128, 5, 1, 2), "4x64x16x16", torch::rand({4, 64, 16, 16}));
  STEP(Turned(), "2x3x21x29", torch::rand({2, 3, 21, 29}));
}
