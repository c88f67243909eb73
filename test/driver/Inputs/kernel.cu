// What nvcc alone sees of LibTorch: pointers that are __restrict__.
#include <torch/torch.h>
template <typename scalar_t>
__global__ void scale(const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> in,
                      torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> out) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < in.size(1))
    out[blockIdx.y][c] = in[blockIdx.y][c] * 2;
}
torch::Tensor forward(torch::Tensor x) {
  auto out = torch::zeros_like(x);
  x.clamp(0, 1);
  const dim3 blocks(4, x.size(0));
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "scale", ([&] {
    scale<scalar_t><<<blocks, 64>>>(x.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
                                    out.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>());
  }));
  return out;
}
