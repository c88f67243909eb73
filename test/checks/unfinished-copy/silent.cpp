// Something waits, nothing is read, or the library waits by itself.
// RUN: %check_libtorch_tidy %s libtorch-unfinished-copy %t --level=2 -- -- -I%S/../Inputs

#include "streams.h"

#include <vector>

using torch::Tensor;
void use(const Tensor &);
void wait_for_all();

float waits(Tensor result, c10::cuda::CUDAStream stream, at::cuda::CUDAEvent &event) {
  auto a = result.to(torch::kCPU, true);
  torch::cuda::synchronize();
  auto b = result.to(torch::kCPU, true);
  stream.synchronize();
  float sum = a.data_ptr<float>()[0] + b.data_ptr<float>()[0];
  auto c = result.to(torch::kCPU, true);
  event.synchronize();
  sum += c.sum().item<float>();
  auto d = result.to(torch::kCPU, true);
  cudaStreamSynchronize(stream);
  sum += d.data_ptr<float>()[0];
  auto e = result.to(torch::kCPU, true);
  wait_for_all();
  sum += e.data_ptr<float>()[0];
  auto f = result.to(torch::kCPU, true);
  auto other = result.sum().cpu();
  return sum + f.data_ptr<float>()[0] + other.data_ptr<float>()[0];
}

Tensor not_read(Tensor result, bool async) {
  auto blocking = result.to(torch::kCPU);
  auto flag = result.to(torch::kCPU, /*non_blocking=*/false);
  auto unknown = result.to(torch::kCPU, async);
  std::printf("%f", blocking.data_ptr<float>()[0] + flag.data_ptr<float>()[0] +
                        unknown.data_ptr<float>()[0]);
  auto device = result.to(torch::kCUDA, true);
  use(device.sum());
  auto asked = result.to(torch::kCPU, true);
  std::printf("%ld", static_cast<long>(asked.numel() + asked.dim()));
  auto assigned = result.to(torch::kCPU, true);
  assigned = torch::ones({3});
  std::printf("%f", assigned.data_ptr<float>()[0]);
  return result.to(torch::kCPU, true);
}

// Nothing is read.
int64_t sizes(Tensor result) {
  use(result.to(torch::kCPU, true));
  return result.to(torch::kCPU, true)[0].numel();
}

// Copies of one stream run in order.
Tensor and_back(Tensor result, Tensor device) {
  auto host = result.to(torch::kCPU, true);
  device.copy_(host);
  return host.to(torch::kCUDA, true);
}

// Pageable memory: the copy is done when to() returns.
Tensor from_vector(const float *from, int64_t n) {
  std::vector<float> local(from, from + n);
  auto t = torch::from_blob(local.data(), {n});
  return t.to(torch::kCUDA, /*non_blocking=*/true);
}
void pageable(Tensor device, const std::vector<Tensor> &frames) {
  Tensor staging = torch::zeros({8});
  for (const auto &frame : frames) {
    staging.copy_(frame);
    device.copy_(staging, true);
  }
}

// The allocator of pinned memory waits until the copy is done.
Tensor temporary(Tensor x) { return x.pin_memory().to(torch::kCUDA, true); }
void made_anew(std::vector<Tensor> &batch, const std::vector<Tensor> &frames) {
  for (const auto &frame : frames) {
    auto staging = torch::empty({8}, torch::TensorOptions().pinned_memory(true));
    staging.copy_(frame);
    batch.push_back(staging.to(torch::kCUDA, true));
  }
}
void synchronised(std::vector<Tensor> &batch, const std::vector<Tensor> &frames) {
  auto staging = torch::empty({8}, torch::TensorOptions().pinned_memory(true));
  for (const auto &frame : frames) {
    staging.copy_(frame);
    batch.push_back(staging.to(torch::kCUDA, true));
    torch::cuda::synchronize();
  }
}

Tensor streams(Tensor input, at::cuda::CUDAEvent &event) {
  auto out = torch::empty({input.numel()}, input.options());
  launch(input.data_ptr<float>(), out.data_ptr(), input.numel(), at::cuda::getCurrentCUDAStream());
  auto stream = at::cuda::getStreamFromPool();
  launch(input.data_ptr<float>(), out.data_ptr(), input.numel(), stream);
  stream.synchronize();
  launch(input.data_ptr<float>(), out.data_ptr(), input.numel(), stream);
  event.record(stream);
  event.block(at::cuda::getCurrentCUDAStream());
  return out;
}

Tensor recorded(c10::cuda::CUDAStream side) {
  Tensor sum;
  Tensor x = torch::rand({1024}, torch::kCUDA);
  {
    at::cuda::CUDAStreamGuard guard(side);
    sum = torch::relu(x);
    x.record_stream(side);
  }
  return sum;
}
Tensor waited(c10::cuda::CUDAStream side) {
  Tensor sum;
  Tensor x = torch::rand({1024}, torch::kCUDA);
  {
    at::cuda::CUDAStreamGuard guard(side);
    sum = torch::relu(x);
  }
  side.synchronize();
  return sum;
}
Tensor handed_back(c10::cuda::CUDAStream side) {
  Tensor x = torch::rand({1024}, torch::kCUDA);
  {
    at::cuda::CUDAStreamGuard guard(side);
    use(torch::relu(x));
  }
  return x;
}

// One stream for all calls.
void one_stream(Tensor x) {
  static auto stream = at::cuda::getStreamFromPool();
  at::cuda::CUDAStreamGuard guard(stream);
  Tensor y = x * 2;
}
