#ifndef FIXED
// What programs keep on a device.
#else
// The same as the pages advise.
#endif
#include "Device.h"
#include <ATen/autocast_mode.h>

using torch::Tensor;
static const auto OnDevice = torch::TensorOptions(torch::kCUDA);

static torch::nn::Sequential network() {
  torch::nn::Sequential net(torch::nn::Linear(256, 1024), torch::nn::ReLU(),
                            torch::nn::Linear(1024, 10));
  net->to(torch::kCUDA);
  return net;
}

/// Bytes an iteration keeps, over ten after three.
template <typename Iterate> static void growth(const char *name, Iterate run) {
  int64_t before = 0;
  for (int i = 0; i < 13; ++i) {
    if (i == 3)
      before = proof::live();
    run();
  }
  std::printf("%s: %lld bytes an iteration\n", name,
              (long long)(proof::live() - before) / 10);
}
template <typename Run> static void most(const char *name, Run run) {
  torch::cuda::synchronize();
  const int64_t before = proof::live();
  proof::restart();
  auto kept = run();
  std::printf("%s: peak %.1f MB, live %.1f MB\n", name,
              (proof::peak() - before) / 1048576.0,
              (proof::live() - before) / 1048576.0);
}

int main() {
  proof::warmUp();
  auto net = network();
  auto x = torch::rand({64, 256}, OnDevice);
  auto y = torch::randint(0, 10, {64}, OnDevice.dtype(torch::kLong));

  Tensor total = torch::zeros({}, OnDevice);
  growth("a sum of losses in validation", [&] {
    auto loss = torch::nn::functional::cross_entropy(net->forward(x), y);
#ifndef FIXED
    total += loss;
#else
    total += loss.detach();
#endif
  });
  total = Tensor();

  Tensor state = torch::zeros({64, 256}, OnDevice);
  torch::nn::Linear cell(256, 256);
  cell->to(torch::kCUDA);
  growth("a state that is carried on", [&] {
#ifdef FIXED
    state = state.detach();
#endif
    state = torch::tanh(cell(state) + x);
  });
  state = Tensor();

  most("a prediction", [&] {
#ifndef FIXED
    torch::NoGradGuard();
#else
    torch::NoGradGuard guard;
#endif
    return net->forward(torch::rand({4096, 256}, OnDevice));
  });

  most("a view of one row", [&] {
    auto features = torch::rand({4096, 1024}, OnDevice);
#ifndef FIXED
    return features[0];
#else
    return features[0].clone();
#endif
  });

  most("rows joined in a loop", [&] {
#ifndef FIXED
    Tensor all = torch::empty({0, 1024}, OnDevice);
    for (int i = 0; i < 1000; ++i)
      all = torch::cat({all, torch::rand({1, 1024}, OnDevice)});
    return all;
#else
    std::vector<Tensor> rows;
    for (int i = 0; i < 1000; ++i)
      rows.push_back(torch::rand({1, 1024}, OnDevice));
    return torch::cat(rows);
#endif
  });
  std::printf("rows joined in a loop: %.1f ms\n", proof::millisecondsOf([&] {
                Tensor all = torch::empty({0, 1024}, OnDevice);
                std::vector<Tensor> rows;
                for (int i = 0; i < 1000; ++i) {
#ifndef FIXED
                  all = torch::cat({all, torch::rand({1, 1024}, OnDevice)});
#else
                  rows.push_back(torch::rand({1, 1024}, OnDevice));
#endif
                }
                if (!rows.empty())
                  all = torch::cat(rows);
              }));

  std::printf("64 MB of zeros on the device: %.3f ms\n",
              proof::millisecondsOf([&] {
                for (int i = 0; i < 20; ++i) {
#ifndef FIXED
                  auto zeros = torch::zeros({1 << 24}).to(torch::kCUDA);
#else
                  auto zeros = torch::zeros({1 << 24}, OnDevice);
#endif
                }
              }) / 20);

  torch::nn::Linear large(2048, 2048);
  std::printf("a module that is moved and run: %.3f ms\n",
              proof::millisecondsOf([&] {
                torch::NoGradGuard guard;
                auto in = torch::rand({8, 2048}, OnDevice);
#ifdef FIXED
                large->to(torch::kCUDA);
#endif
                for (int i = 0; i < 20; ++i) {
#ifndef FIXED
                  auto copy = std::dynamic_pointer_cast<torch::nn::LinearImpl>(
                      large->clone());
                  copy->to(torch::kCUDA);
                  copy->forward(in);
#else
                  large->forward(in);
#endif
                }
              }) / 20);

  most("autocast", [&] {
    at::autocast::set_autocast_enabled(at::kCUDA, true);
    at::autocast::set_autocast_dtype(at::kCUDA, torch::kHalf);
    for (int i = 0; i < 5; ++i) {
      auto weight = torch::rand({1024, 1024}, OnDevice).requires_grad_();
      torch::NoGradGuard guard;
      torch::matmul(torch::rand({8, 1024}, OnDevice), weight);
    }
#ifdef FIXED
    at::autocast::clear_cache();
#endif
    at::autocast::set_autocast_enabled(at::kCUDA, false);
    return 0;
  });
  at::autocast::clear_cache();

  // What is caught when the device is full, and what is alive by then.
  c10::cuda::CUDACachingAllocator::setMemoryFraction(0.02, 0);
  const int64_t before = proof::live();
  Tensor outside;
  try {
    outside = torch::rand({1 << 22}, OnDevice);
    auto local = torch::rand({1 << 22}, OnDevice);
    torch::rand({int64_t(1) << 32}, OnDevice);
  } catch (const std::bad_alloc &) {
    std::printf("std::bad_alloc\n");
  } catch (const c10::OutOfMemoryError &error) {
    const std::string what = error.what();
    std::printf("c10::OutOfMemoryError (%s): %lld MB alive of 32\n",
                what.substr(0, what.find('.')).c_str(),
                (long long)(proof::live() - before) >> 20);
  } catch (const c10::Error &error) {
    std::printf("c10::Error\n");
  }
}
