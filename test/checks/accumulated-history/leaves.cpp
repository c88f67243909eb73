// After backward() nobody can go through the graph again, whoever gets what is
// added.
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t

#include "../Inputs/net.h"
#include <map>
#include <vector>

using torch::Tensor;

Tensor clip(const Tensor &x, double lo, double hi); // of another file
Tensor lossOf(const Tensor &x);
void plot(const std::vector<Tensor> &losses);
Tensor back(Tensor loss) {
  loss.backward();
  return loss;
}
void backIf(Tensor loss, bool trains) {
  if (trains)
    loss.backward();
}

std::vector<Tensor> returned(Net net, const Tensor &x, int n) {
  std::vector<Tensor> losses;
  Tensor total = torch::zeros({});
  for (int i = 0; i < n; ++i) {
    Tensor loss = net(x).sum();
    loss.backward();
    total += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph nodes of every iteration, and after backward() nothing can back-propagate through it; detach what is added [libtorch-accumulated-history]
    losses.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: memory growth: 'losses' keeps the autograd graph {{.*}}, and after backward() nothing can back-propagate through it
    // CHECK-FIXES: total += loss.detach();
    // CHECK-FIXES: losses.push_back(loss.detach());
  }
  losses.push_back(total);
  return losses;
}

void handedBack(Net net, const Tensor &x, int n, std::vector<Tensor> &log) {
  for (int i = 0; i < n; ++i) {
    Tensor loss = net(x).sum();
    loss.backward();
    log.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: memory growth: 'log' keeps the autograd graph {{.*}}, and after backward() nothing can back-propagate through it
    // CHECK-FIXES: log.push_back(loss.detach());
  }
}

void toUnseenCode(Net net, const Tensor &x, int n) {
  std::vector<Tensor> losses;
  for (int i = 0; i < n; ++i) {
    losses.push_back(back(net(x).sum()));
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: memory growth: 'losses' keeps the autograd graph {{.*}}, and after backward() nothing can back-propagate through it
    // CHECK-FIXES: losses.push_back(back(net(x).sum()).detach());
  }
  plot(losses);
}

class Trainer {
public:
  const std::vector<Tensor> &losses() const { return losses_; }
  void run(const Tensor &x, int n) {
    for (int i = 0; i < n; ++i) {
      Tensor loss = net(x).sum();
      loss.backward();
      losses_.push_back(loss);
      // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: memory growth: 'losses_' keeps the autograd graph {{.*}}, and after backward() nothing can back-propagate through it
      // CHECK-FIXES: losses_.push_back(loss.detach());
    }
  }

private:
  Net net;
  std::vector<Tensor> losses_;
};

// backward() shows that the value has history, whatever made it.
void proven(Net net, const Tensor &x, int n) {
  Tensor total = torch::zeros({}), sum = torch::zeros({});
  for (int i = 0; i < n; ++i) {
    Tensor loss = clip(net(x), 0, 1).sum();
    loss.backward();
    total += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added
    Tensor other = lossOf(x);
    sum += other;
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: memory growth: 'sum' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added
    other.backward();
    // CHECK-FIXES: total += loss.detach();
    // CHECK-FIXES: sum += other.detach();
  }
}

// step() returns what the closure does.
float closures(Net net, const Tensor &x, torch::optim::LBFGS &optimizer, int n) {
  Tensor total = torch::zeros({});
  for (int i = 0; i < n; ++i) {
    auto closure = [&] {
      optimizer.zero_grad();
      Tensor loss = net(x).sum();
      loss.backward();
      return loss;
    };
    total += optimizer.step(closure);
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph
    // CHECK-FIXES: total += optimizer.step(closure).detach();
  }
  return total.item<float>();
}

// The caller can go through it: the graph is kept, or backward() does not always
// run.
Tensor kept(Net net, const Tensor &x, int n) {
  Tensor total = torch::zeros({});
  for (int i = 0; i < n; ++i) {
    Tensor loss = net(x).sum();
    loss.backward({}, /*retain_graph=*/true);
    total = total + loss;
  }
  return total;
}
Tensor maybe(Net net, const Tensor &x, int n, bool trains) {
  Tensor total = torch::zeros({});
  std::vector<Tensor> all;
  for (int i = 0; i < n; ++i) {
    Tensor loss = net(x).sum();
    if (trains)
      loss.backward();
    Tensor other = net(x).sum();
    backIf(other, trains);
    total = total + loss + other;
    Tensor late = net(x).sum();
    all.push_back(late);
    if (!trains)
      continue;
    late.backward();
  }
  return total + torch::stack(all).sum();
}
