// Losses are numbers: how long one lives does not matter.
// RUN: %check_libtorch_tidy %s libtorch-long-lived-intermediate %t

#include "../Inputs/net.h"
#include <iostream>

using torch::Tensor;

struct BoxLossImpl : torch::nn::Module {
  BoxLossImpl() { scale = register_module("scale", torch::nn::Linear(4, 1)); }
  std::tuple<Tensor, Tensor> forward(Tensor out, Tensor y) {
    Tensor d = scale(out - y);
    return {d.pow(2).mean(), d.abs().mean()};
  }
  torch::nn::Linear scale{nullptr};
};
TORCH_MODULE(BoxLoss);
struct ManyLossImpl : torch::nn::Module {
  ManyLossImpl() { scale = register_module("scale", torch::nn::Linear(4, 1)); }
  std::vector<Tensor> forward(Tensor out, Tensor y) {
    return {scale(out - y).pow(2).mean()};
  }
  torch::nn::Linear scale{nullptr};
};
TORCH_MODULE(ManyLoss);

void tuples(Net net, BoxLoss criterion, const Batches &data) {
  Tensor box, size, first;
  std::tuple<Tensor, Tensor> parts;
  for (const Tensor &x : data) {
    box = std::get<0>(criterion(net(x), x));
    std::cout << box.item<float>();
  }
  for (const Tensor &x : data) {
    parts = criterion(net(x), x);
    std::cout << std::get<1>(parts).item<float>();
  }
  for (const Tensor &x : data) {
    auto both = criterion(net(x), x);
    size = std::get<1>(both);
    std::cout << size.item<float>();
  }
}
void vectors(Net net, ManyLoss criterion, const Batches &data) {
  Tensor first, second;
  for (const Tensor &x : data) {
    first = criterion(net(x), x)[0];
    std::cout << first.item<float>();
  }
  for (const Tensor &x : data) {
    second = criterion(net(x), x).at(0);
    std::cout << second.item<float>();
  }
}
void named(Net net, const Batches &data) {
  Tensor total_loss;
  for (const Tensor &x : data) {
    total_loss = net(x);
    std::cout << total_loss.item<float>();
  }
}

// No loss.
struct PairImpl : torch::nn::Module {
  PairImpl() { fc = register_module("fc", torch::nn::Linear(4, 4)); }
  std::tuple<Tensor, Tensor> forward(Tensor x) { return {fc(x), fc(-x)}; }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Pair);
void outputs(Pair net, const Batches &data) {
  Tensor out;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'out' is declared outside the loop that makes it, so the tensor and its graph stay alive while the next iteration computes the new one; declare it inside the loop [libtorch-long-lived-intermediate]
  for (const Tensor &x : data) {
    out = std::get<0>(net(x));
    // CHECK-FIXES: Tensor out = std::get<0>(net(x));
    std::cout << out.argmax();
  }
}

// A loss that is not reduced is as large as what it compares.
void unreduced(Pair net, torch::optim::Optimizer &opt, const Batches &data) {
  Tensor each_loss;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'each_loss' is declared outside the loop that makes it, so the tensor stays alive while the next iteration computes the new one; declare it inside the loop [libtorch-long-lived-intermediate]
  Tensor worst_loss;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'worst_loss' is declared outside the loop that makes it, so the tensor stays alive while the next iteration computes the new one; declare it inside the loop [libtorch-long-lived-intermediate]
  Tensor sum_loss;
  for (const Tensor &x : data) {
    each_loss = torch::mse_loss(std::get<0>(net(x)), x, at::Reduction::None);
    // CHECK-FIXES: Tensor each_loss = torch::mse_loss(std::get<0>(net(x)), x, at::Reduction::None);
    worst_loss = torch::max(each_loss, each_loss * 2);
    // CHECK-FIXES: Tensor worst_loss = torch::max(each_loss, each_loss * 2);
    sum_loss = torch::mse_loss(std::get<0>(net(x)), x) * 2;
    (worst_loss.mean() + sum_loss).backward();
    opt.step();
  }
}
