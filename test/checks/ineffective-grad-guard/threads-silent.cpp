// Threads that are guarded, need no guard, or must not have one.
// RUN: %check_libtorch_tidy %s libtorch-ineffective-grad-guard %t -- -- -I%S/../Inputs
#include "net.h"
#include <ATen/Parallel.h>
#include <future>
#include <thread>

using torch::Tensor;

void run_elsewhere(Net &net);

void silent(Net &net, const Batches &batches, torch::optim::SGD &opt) {
  // Started before the guard, or behind its block.
  std::thread before([&] { net(batches[0]); });
  {
    torch::NoGradGuard no_grad;
    net(batches[0]);
  }
  std::thread behind([&] { net(batches[0]); });

  torch::NoGradGuard no_grad;
  std::thread own([&] {
    torch::NoGradGuard no_grad;
    std::cout << net(batches[0]);
  });
  std::thread trains([&] { net(batches[0]).sum().backward(); });
  std::thread steps([&] {
    std::cout << net(batches[0]);
    opt.step();
  });
  std::thread no_forward([&] { std::cout << batches[0].sum(); });
  std::thread no_parameters([relu = torch::nn::ReLU(), &batches]() mutable {
    std::cout << relu(batches[0]);
  });
  std::thread elsewhere(run_elsewhere, std::ref(net));
  // Runs in the thread that waits for it.
  auto deferred = std::async(std::launch::deferred, [&] { return net(batches[0]); });
  auto either = std::async([&] { return net(batches[0]); });
  // Hands the mode on.
  at::launch([&] { std::cout << net(batches[0]); });
  auto only_made = [&] { return net(batches[0]); };
  std::thread empty;
  std::thread moved(std::move(before));
}

void switched_on(Net &net, const Tensor &x) {
  torch::NoGradGuard no_grad;
  torch::AutoGradMode grad(true);
  std::thread thread([&] { std::cout << net(x); });
}
void by_call(Net &net, const Tensor &x) {
  torch::NoGradGuard no_grad;
  at::GradMode::set_enabled(true);
  std::thread thread([&] { std::cout << net(x); });
}
void frozen(Net &net, const Tensor &x) {
  for (auto &parameter : net->parameters())
    parameter.set_requires_grad(false);
  torch::NoGradGuard no_grad;
  std::thread thread([&] { std::cout << net(x); });
}
void unguarded(Net &net, const Tensor &x) {
  std::thread thread([&] { std::cout << net(x); });
}
