// A loss of tensors that the function is given, or that members hold: its backward() shows that it
// has history, as it would throw otherwise.
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t -- -- -I%S/../Inputs
#include "net.h"

using torch::Tensor;

void of_parameters(const Tensor &weight, const Batches &batches) {
  Tensor total = torch::zeros({});
  for (const Tensor &x : batches) {
    Tensor loss = weight.mm(x).sum();
    loss.backward();
    total += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'total' keeps the autograd graph nodes of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: total += loss.detach();
  }
  std::cout << total;
}

class Scene {
public:
  Scene() : means(torch::randn({9, 3}).requires_grad_(true)) {}
  Tensor render(const Tensor &x) { return torch::sigmoid(means.mm(x)); }
  void fit(torch::optim::Optimizer &optimizer, const Batches &batches) {
    std::vector<Tensor> losses;
    for (const Tensor &x : batches) {
      optimizer.zero_grad();
      Tensor loss = render(x).mean();
      loss.backward();
      optimizer.step();
      losses.push_back(loss);
      // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: memory growth: 'losses' keeps the autograd graph nodes
      // CHECK-FIXES: losses.push_back(loss.detach());
    }
    std::cout << losses.size();
  }

private:
  Tensor means;
};

// Nothing is back-propagated here: who calls it decides.
Tensor sum(const Tensor &weight, const Batches &batches) {
  Tensor total = torch::zeros({});
  for (const Tensor &x : batches)
    total += weight.mm(x).sum();
  return total;
}
void numbers(const Tensor &weight, const Batches &batches) {
  double total = 0;
  for (const Tensor &x : batches) {
    Tensor loss = weight.mm(x).sum();
    loss.backward();
    total += loss.item<double>();
  }
  std::cout << total;
}
