// The result is used, the operator works in place, or the call is made for
// the sake of making it.
// RUN: %check_libtorch_tidy %s libtorch-discarded-result %t --level=2

#include <torch/script.h>
#include <torch/torch.h>

#include <chrono>

using torch::Tensor;

void consume(Tensor x);

Tensor used(Tensor x, Tensor y, torch::Device device) {
  y = x.detach();
  consume(x.cpu());
  float value = x.detach().sum().item<float>();
  y.add_(value);
  x.detach_();
  y.clamp_(0, 1);
  torch::add_out(y, x, x);
  y.requires_grad_();
  (void)x.detach();
  static_cast<void>(x.cpu());
  std::ignore = x.to(device);
  x.sum().backward();
  using Result = decltype(x.detach());
  static_assert(sizeof(x.detach()) == sizeof(Result));
  auto detached = ({
    consume(y);
    x.detach();
  });
  auto make = [&] { return x.detach(); };
  consume(detached + make());
  if (bool(x.to(torch::kBool).any().item<bool>()))
    return x.view({-1});
  return (consume(y), x.detach());
}

void modules(torch::nn::Linear fc, torch::jit::Module script, Tensor x,
             torch::Device device) {
  fc->to(device);
  script.to(device);
  script.clone();
  torch::nn::Sequential net(fc);
  net->to(torch::kHalf);
  torch::nn::functional::relu(
      x, torch::nn::functional::ReLUFuncOptions().inplace(true));
  consume(x);
}

namespace mine {
struct Tensor {
  Tensor &detach();
  Tensor &to(torch::Device device);
};
Tensor &clamp(Tensor &x, int low, int high);
} // namespace mine

void not_torch(mine::Tensor x, torch::Device device, c10::IValue value,
               c10::optional<Tensor> maybe) {
  x.detach();
  x.to(device);
  mine::clamp(x, 0, 1);
  value.toTensor();
  maybe.value();
}

// Warm-up, waiting and measuring.
void runs_of_a_model(torch::nn::Linear fc, Tensor x, torch::Device device) {
  fc->forward(x);
  fc(x).detach();
  fc->forward(x).to(torch::kCPU);
  torch::zeros({1}).to(device);
  torch::matmul(x, x);
  x.mm(x);
  Tensor probe = torch::ones({1});
  probe.to(device);
  Tensor out = fc(x);
  out.cpu();
}

void benchmarks(Tensor x, Tensor y) {
  for (int i = 0; i < 100; ++i)
    x.add(y);
  for (int i = 0; i < 100; ++i) {
    x.contiguous();
  }
  auto run = [&] { x.mul(y); };
  run();
  consume(x);
}

double timed(Tensor x, Tensor y) {
  auto start = std::chrono::steady_clock::now();
  x.mul(y);
  x.cpu();
  auto stop = std::chrono::steady_clock::now();
  consume(x);
  return std::chrono::duration<double>(stop - start).count();
}
double timed_in_a_lambda(Tensor x, const Tensor &y) {
  auto run = [&](bool copied) {
    auto out = x + y;
    if (copied)
      out.to(torch::kCUDA);
    return out;
  };
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; ++i)
    run(i % 2 == 0);
  auto stop = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(stop - start).count();
}

#define EXPECT_THROW(STATEMENT)                                                \
  try {                                                                        \
    STATEMENT;                                                                 \
    std::abort();                                                              \
  } catch (const c10::Error &) {                                               \
  }

bool throws(Tensor x, Tensor y) {
  EXPECT_THROW(x.view({3, 3}));
  EXPECT_THROW({
    x.view({3, 3});
    consume(x);
  });
  try {
    x.expand_as(y);
  } catch (const c10::Error &) {
    return true;
  }
  consume(x);
  return false;
}

template <typename T> void move_to(T &what, torch::Device device) {
  what.to(device);
}

void instantiate(Tensor x, torch::nn::Linear fc, torch::Device device) {
  move_to(x, device);
  move_to(*fc, device);
}

// Measured: a clock is read before it and after it. What reads its results to
// warm up runs more than an accessor.
Tensor fresh();
void measured_again(std::vector<Tensor> all, torch::nn::Linear fc) {
  auto begin = std::chrono::steady_clock::now();
  for (size_t i = 0; i < all.size(); ++i)
    all[i].to(torch::kCUDA);
  auto time = std::chrono::steady_clock::now() - begin;
  (void)time;
  fresh().cpu();
  torch::nn::functional::linear(all[0], fc->weight).cpu();
  fc->forward(all[0]).cpu();
}
