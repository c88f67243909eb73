// Advice: it may be meant, or cost nothing.
// RUN: %check_libtorch_tidy %s libtorch-unfinished-copy %t -- -- -I%S/../Inputs
// RUN: %check_libtorch_tidy %s libtorch-unfinished-copy %t --level=1 --expect-none -- -- -I%S/../Inputs

#include "streams.h"

using torch::Tensor;

Tensor default_stream(Tensor input) {
  auto out = torch::empty({input.numel()}, input.options());
  launch(input.data_ptr<float>(), out.data_ptr(), input.numel(), nullptr);
  // CHECK-MESSAGES: :[[@LINE-1]]:66: warning: data race: the data of a tensor is used on the default stream, whichever the current stream is; use getCurrentCUDAStream() [libtorch-unfinished-copy]
  cudaMemcpyAsync(out.data_ptr(), input.data_ptr(), 4, 3, 0);
  // CHECK-MESSAGES: :[[@LINE-1]]:59: warning: data race: the data of a tensor is used on the default stream
  return out;
}

void new_stream(Tensor x) {
  auto stream = at::cuda::getStreamFromPool();
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: memory growth: each call takes another stream of the pool, and the allocator keeps the memory that is freed for each stream; take one stream and keep it [libtorch-unfinished-copy]
  at::cuda::CUDAStreamGuard guard(stream);
  Tensor y = x * 2;
  stream.synchronize();
}
