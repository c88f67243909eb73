// What the tests need of LibTorch's headers for CUDA, which include CUDA's.
#pragma once
#include <torch/torch.h>

typedef struct CUstream_st *cudaStream_t;
extern "C" int cudaStreamSynchronize(cudaStream_t stream);
extern "C" int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, cudaStream_t stream);

namespace c10 {
namespace cuda {
class CUDAStream {
public:
  CUDAStream(const CUDAStream &);
  cudaStream_t stream() const;
  operator cudaStream_t() const;
  void synchronize() const;
  operator c10::Stream() const;
};
CUDAStream getStreamFromPool(bool high_priority = false, signed char device = -1);
CUDAStream getCurrentCUDAStream(signed char device = -1);
class CUDAStreamGuard {
public:
  explicit CUDAStreamGuard(c10::Stream stream);
  ~CUDAStreamGuard();
};
} // namespace cuda
} // namespace c10
namespace at {
namespace cuda {
using c10::cuda::CUDAStreamGuard;
using c10::cuda::getCurrentCUDAStream;
using c10::cuda::getStreamFromPool;
struct CUDAEvent {
  void record(const c10::cuda::CUDAStream &stream);
  void block(const c10::cuda::CUDAStream &stream);
  void synchronize() const;
};
} // namespace cuda
} // namespace at

void launch(const float *in, void *out, int64_t n, cudaStream_t stream);
