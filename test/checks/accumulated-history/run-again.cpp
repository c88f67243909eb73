// Functions that a loop or an algorithm runs, which add to what outlives it.
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t -- -- -I%S/../Inputs
#include "net.h"
#include <algorithm>
#include <functional>
#include <numeric>

using torch::Tensor;

void list(Net net, torch::optim::SGD &optimizer, const Batches &batches) {
  std::vector<Tensor> losses;
  auto step = [&](const Tensor &x) {
    optimizer.zero_grad();
    Tensor loss = net(x).sum();
    loss.backward();
    optimizer.step();
    losses.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: memory growth: 'losses' keeps the autograd graph nodes of every call, and after backward() nothing can back-propagate through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: losses.push_back(loss.detach());
  };
  for (const Tensor &x : batches)
    step(x);
  std::cout << losses.size();
}

// Who gets it cannot go through it again either.
std::vector<Tensor> returned(Net net, const Batches &batches) {
  std::vector<Tensor> losses;
  std::function<void(const Tensor &)> step = [&](const Tensor &x) {
    Tensor loss = net(x).sum();
    loss.backward();
    losses.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: memory growth: 'losses' keeps
    // CHECK-FIXES: losses.push_back(loss.detach());
  };
  for (const Tensor &x : batches)
    step(x);
  return losses;
}

Tensor algorithm(Net net, const Batches &batches) {
  Tensor total = torch::zeros({});
  std::for_each(batches.begin(), batches.end(), [&](const Tensor &x) {
    Tensor loss = net(x).sum();
    loss.backward();
    total += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph nodes of every iteration, and after backward() nothing can back-propagate through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: total += loss.detach();
  });
  return total;
}

// What it returns is the first argument of the next call.
Tensor folded(Net net, const Batches &batches) {
  return std::accumulate(
      batches.begin(), batches.end(), torch::zeros({}),
      [&](Tensor sum, const Tensor &x) {
        Tensor loss = net(x).sum();
        loss.backward();
        return sum + loss;
        // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: memory growth: 'sum' keeps the autograd graph nodes of every iteration, and after backward() nothing can back-propagate through it; detach what is added [libtorch-accumulated-history]
        // CHECK-FIXES: return sum + loss.detach();
      });
}

// A generic lambda that only the library calls, by its name.
float generic(Net net, const Batches &batches) {
  std::vector<Tensor> losses;
  auto step = [&](const auto &x) {
    auto loss = net(x).sum();
    loss.backward();
    losses.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: memory growth: 'losses' keeps the autograd graph nodes of every iteration, and after backward() nothing can back-propagate through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: losses.push_back(loss.detach());
  };
  std::for_each(batches.begin(), batches.end(), step);
  return torch::stack(losses).mean().item<float>();
}

void forEach(const Batches &batches,
             const std::function<void(const Tensor &)> &function) {
  for (const Tensor &x : batches)
    function(x);
}
Tensor own(Net net, const Batches &batches) {
  Tensor total = torch::zeros({});
  forEach(batches, [&](const Tensor &x) {
    Tensor loss = net(x).sum();
    loss.backward();
    total += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph nodes of every iteration
    // CHECK-FIXES: total += loss.detach();
  });
  return total;
}

// In some of the rounds backward() frees what is added: the sum has lost it.
Tensor now_and_then(Net net, torch::optim::SGD &optimizer,
                    const Batches &batches) {
  Tensor total = torch::zeros({});
  for (const Tensor &x : batches) {
    Tensor loss = net(x).sum();
    if (loss.item<float>() < 100)
      loss.backward();
    optimizer.step();
    total += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph nodes of every iteration, and after backward() nothing can back-propagate through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: total += loss.detach();
  }
  return total;
}

Tensor by_closure(Net net, torch::optim::LBFGS &optimizer,
                  const Batches &batches) {
  Tensor total = torch::zeros({});
  for (const Tensor &x : batches) {
    Tensor loss = optimizer.step([&] {
      Tensor loss = net(x).sum();
      loss.backward();
      return loss;
    });
    total += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph nodes of every iteration
    // CHECK-FIXES: total += loss.detach();
  }
  return total;
}

// Who reads the member cannot go through it either.
class Trainer {
public:
  void step(const Tensor &x) {
    Tensor loss = net_(x).sum();
    loss.backward();
    sum_ += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: memory growth: 'sum_' keeps the autograd graph nodes of every call, and after backward() nothing can back-propagate through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: sum_ += loss.detach();
  }
  Tensor sum() const { return sum_; }

private:
  Net net_;
  Tensor sum_ = torch::zeros({});
};

void closure(Net net, torch::optim::LBFGS &optimizer, const Batches &batches) {
  std::vector<Tensor> losses;
  for (const Tensor &x : batches)
    optimizer.step([&] {
      optimizer.zero_grad();
      Tensor loss = net(x).sum();
      loss.backward();
      losses.push_back(loss);
      // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: memory growth: 'losses' keeps
      // CHECK-FIXES: losses.push_back(loss.detach());
      return loss;
    });
  std::cout << losses.size();
}

void helper(Net net, const Tensor &x, Tensor &total) {
  Tensor loss = net(x).sum();
  loss.backward();
  total += loss;
  // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: memory growth: 'total' keeps the autograd graph nodes of every call
  // CHECK-FIXES: total += loss.detach();
}
Tensor helped(Net net, const Batches &batches) {
  Tensor total = torch::zeros({});
  for (const Tensor &x : batches)
    helper(net, x, total);
  return total;
}

// Emptied for each epoch, and not for each step.
void per_epoch(Net net, const Batches &batches) {
  std::vector<Tensor> losses;
  auto step = [&](const Tensor &x) {
    Tensor loss = net(x).sum();
    loss.backward();
    losses.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: memory growth: 'losses' keeps
    // CHECK-FIXES: losses.push_back(loss.detach());
  };
  for (int epoch = 0; epoch < 8; ++epoch) {
    losses.clear();
    for (const Tensor &x : batches)
      step(x);
  }
}
