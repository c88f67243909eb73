// Memory that a copy or another stream may still use.
// RUN: %check_libtorch_tidy %s libtorch-unfinished-copy %t --level=1 -- -- -I%S/../Inputs

#include "streams.h"

#include <cstring>
#include <iostream>
#include <vector>

using torch::Tensor;
void use(const Tensor &);

float read_at_once(Tensor result) {
  auto host = result.to(torch::kCPU, /*non_blocking=*/true);
  return host.data_ptr<float>()[0];
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: data race: 'host' is read while the copy into it may still run; synchronize the stream first, or copy without non_blocking [libtorch-unfinished-copy]
}
float read_by_operators(Tensor result) {
  Tensor host;
  host = result.to(torch::kCPU, torch::kFloat32, true);
  return host.sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: data race: 'host' is read while
}
int64_t read_item(Tensor result) {
  auto host = result.to(torch::Device(torch::kCPU), true);
  return host.item<int64_t>();
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: data race: 'host' is read while
}
void read_pinned(Tensor result, std::vector<float> &to) {
  auto host = torch::empty({16}, torch::TensorOptions().pinned_memory(true));
  host.copy_(result, /*non_blocking=*/true);
  std::memcpy(to.data(), host.data_ptr<float>(), 64);
  // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: data race: 'host' is read while
}
void printed(Tensor result) {
  auto host = result.to(torch::kCPU, true);
  std::cout << host;
  // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: data race: 'host' is read while
}
float not_kept(Tensor result) {
  return result.to(torch::kCPU, true).item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:39: warning: data race: a tensor is read while the copy into it may still run; synchronize the stream first, or copy without non_blocking
}
float not_kept_part(Tensor result) {
  return result.to(torch::kCPU, true)[0].data_ptr<float>()[1];
  // CHECK-MESSAGES: :[[@LINE-1]]:42: warning: data race: a tensor is read while
}
void read_on_one_way(Tensor result, bool wait) {
  auto host = result.to(torch::kCPU, true);
  if (wait)
    torch::cuda::synchronize();
  auto *data = host.data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: data race: 'host' is read while
  std::printf("%f", data[0]);
}

std::vector<Tensor> refilled(const std::vector<std::vector<float>> &frames) {
  auto staging = torch::empty({1024}, torch::TensorOptions().pinned_memory(true));
  std::vector<Tensor> batch;
  for (const auto &frame : frames) {
    std::copy(frame.begin(), frame.end(), staging.data_ptr<float>());
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: data race: 'staging' is written while a copy from it may still run; synchronize the stream first, or use two buffers in turn
    batch.push_back(staging.to(torch::kCUDA, /*non_blocking=*/true));
  }
  return batch;
}
void refilled_otherwise(Tensor device, const std::vector<Tensor> &frames) {
  Tensor staging = torch::zeros({8}).pin_memory();
  float *data = staging.data_ptr<float>();
  for (const auto &frame : frames) {
    device.copy_(staging, true);
    staging.copy_(frame);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: data race: 'staging' is written while
  }
  device.copy_(staging, true);
  data[0] = 1;
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: data race: 'staging' is written while
}

Tensor handed_on(Tensor input) {
  auto out = torch::empty({input.numel()}, input.options());
  auto stream = at::cuda::getStreamFromPool();
  launch(input.data_ptr<float>(), out.data_ptr(), input.numel(), stream);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: data race: 'out' is returned while a stream of the pool may still write it; let the current stream wait, or use the current stream
  return out;
}

Tensor other_stream(at::cuda::CUDAEvent &event, c10::cuda::CUDAStream side) {
  Tensor sum = torch::zeros({4}, torch::kCUDA);
  Tensor x = torch::rand({1024}, torch::kCUDA);
  {
    at::cuda::CUDAStreamGuard guard(side);
    sum = torch::relu(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: data race: 'x' is used on another stream than it was made on, and freed while that may still run; call record_stream()
  }
  return sum;
}

float suppressed(Tensor result) {
  auto host = result.to(torch::kCPU, /*non_blocking=*/true);
  return host.data_ptr<float>()[0]; // NOLINT(libtorch-unfinished-copy)
}
