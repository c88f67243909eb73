#ifndef FIXED
// Memory is used while a copy or another stream still works on it.
#else
// Waits, records, or takes other memory.
#endif
#include "Device.h"
#include <cuda_runtime.h>

constexpr int64_t N = 1 << 20;
constexpr int Tries = 50;

static bool isAll(const float *values, float value) {
  for (int64_t i = 0; i < N; ++i)
    if (values[i] != value)
      return false;
  return true;
}
static torch::Tensor pinned() {
  return torch::zeros({N}, torch::TensorOptions().pinned_memory(true));
}
static void wait() {
#ifdef FIXED
  torch::cuda::synchronize();
#endif
}

// Statics are not destroyed: CUDA is gone by then.

/// The elements of to(kCPU, non_blocking) are read.
static bool read(int i) {
  auto x = torch::full({N}, -1.f, torch::kCUDA);
  proof::busy();
  x.fill_(i);
  auto host = x.to(torch::kCPU, /*non_blocking=*/true);
  wait();
  return isAll(host.data_ptr<float>(), i);
}

/// Those of a pinned tensor that copy_() fills.
static bool filled(int i) {
  static auto &staging = *new auto(pinned());
  auto x = torch::full({N}, i, torch::kCUDA).to(torch::kFloat);
  proof::busy();
  staging.copy_(x, /*non_blocking=*/true);
  wait();
  return isAll(staging.data_ptr<float>(), i);
}

/// A pinned tensor is filled for the next batch.
static bool refilled(int i) {
  static auto &staging = *new auto(pinned());
  staging.fill_(i);
  proof::busy();
  auto x = staging.to(torch::kCUDA, /*non_blocking=*/true);
  wait();
  staging.fill_(-1);
  return x.eq(i).all().item<bool>();
}

/// Memory that is not pinned is changed after the copy.
static bool pageable(int i) {
  std::vector<float> values(N, i);
  auto blob = torch::from_blob(values.data(), {N});
  proof::busy();
  auto x = blob.to(torch::kCUDA, /*non_blocking=*/true);
  wait();
  std::fill(values.begin(), values.end(), -1);
  return x.eq(i).all().item<bool>();
}

/// A pinned tensor ends while a copy from it runs, and another is made.
static bool ended(int i) {
  proof::busy();
  torch::Tensor x;
  {
    auto staging = pinned().fill_(i);
    x = staging.to(torch::kCUDA, /*non_blocking=*/true);
  }
  wait();
  pinned().fill_(-1);
  return x.eq(i).all().item<bool>();
}

/// A tensor is used on another stream, and freed before that is done.
static bool freed(int i) {
  const auto side = c10::cuda::getStreamFromPool();
  torch::Tensor result = torch::zeros({N}, torch::kCUDA);
  {
    auto x = torch::full({N}, i, torch::kCUDA).to(torch::kFloat);
    torch::cuda::synchronize();
    c10::cuda::CUDAStreamGuard guard(side);
    proof::busy();
    result.copy_(x);
#ifdef FIXED
    x.record_stream(side);
#endif
  }
  auto next = torch::full({N}, -1.f, torch::kCUDA);
  torch::cuda::synchronize();
  return result.eq(i).all().item<bool>();
}

/// What a stream of the pool makes is read on the current one.
static bool handedOn(int i) {
  torch::Tensor result = torch::full({N}, -1.f, torch::kCUDA);
  torch::cuda::synchronize();
  const auto side = c10::cuda::getStreamFromPool();
  {
    c10::cuda::CUDAStreamGuard guard(side);
    proof::busy();
    result.fill_(i);
  }
#ifdef FIXED
  side.synchronize();
#endif
  return result.eq(i).all().item<bool>();
}

/// A call on the null stream reads what the current stream makes.
static bool nullStream(int i) {
  static auto &host = *new auto(pinned());
  const auto current = c10::cuda::getStreamFromPool();
  c10::cuda::CUDAStreamGuard guard(current);
  auto x = torch::full({N}, -1.f, torch::kCUDA);
  proof::busy();
  x.fill_(i);
#ifndef FIXED
  cudaStream_t stream = nullptr;
#else
  cudaStream_t stream = current.stream();
#endif
  cudaMemcpyAsync(host.data_ptr<float>(), x.data_ptr<float>(),
                  N * sizeof(float), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  return isAll(host.data_ptr<float>(), i);
}

/// Each call takes a stream of the pool and makes tensors on it.
static void streamEachCall() {
#ifdef FIXED
  static const auto side = c10::cuda::getStreamFromPool();
#else
  const auto side = c10::cuda::getStreamFromPool();
#endif
  c10::cuda::CUDAStreamGuard guard(side);
  auto x = torch::ones({8 * N}, torch::kCUDA);
  side.synchronize();
}

int main() {
  proof::warmUp();
  const std::pair<const char *, bool (*)(int)> kinds[] = {
      {"read after to()", read},
      {"read after copy_()", filled},
      {"refilled", refilled},
      {"source not pinned", pageable},
      {"pinned source ended", ended},
      {"freed on its stream", freed},
      {"read on another stream", handedOn},
      {"read on the null stream", nullStream}};
  for (const auto &[name, run] : kinds) {
    int wrong = 0;
    for (int i = 1; i <= Tries; ++i)
      wrong += !run(i);
    std::printf("%s: %d of %d wrong\n", name, wrong, Tries);
  }
  proof::allocator().emptyCache();
  const int64_t before = proof::reserved();
  for (int i = 0; i < 100; ++i)
    streamEachCall();
  std::printf("a stream of the pool in each call: %lld MB reserved for a "
              "tensor of 32 MB\n",
              (long long)(proof::reserved() - before) >> 20);
}
