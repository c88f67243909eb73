// New parameters under an optimizer that keeps the state of the old ones.
// RUN: %check_libtorch_tidy %s libtorch-stale-optimizer-state %t

#include <torch/torch.h>

using torch::Tensor;
using torch::optim::OptimizerParamGroup;

Tensor parameter() { return torch::zeros({256}, torch::requires_grad()); }
Tensor lossOf(const Tensor &t);
void log(int);

void step(torch::optim::Optimizer &optimizer, const Tensor &t) {
  lossOf(t).backward();
  optimizer.step();
}

void loops(torch::optim::Adam &adam, torch::optim::Optimizer *given) {
  for (int i = 0; i < 100; ++i) {
    Tensor t = parameter();
    lossOf(t).backward();
    adam.param_groups()[0].params() = {t};
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory growth: parameters are replaced while the optimizer keeps the state of the old ones: its state() is keyed by their tensors; erase the entries of what is replaced [libtorch-stale-optimizer-state]
    adam.step();
  }
  for (int i = 0; i < 1000; ++i) {
    Tensor t = parameter();
    step(*given, t);
    if (i % 100 == 0) {
      auto &params = given->param_groups().at(0).params();
      params[0] = t;
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: memory growth: parameters are replaced while the optimizer keeps the state of the old ones: its state() is keyed by their tensors; erase the entries of what is replaced [libtorch-stale-optimizer-state]
    }
    for (auto &group : given->param_groups()) {
      group.params().clear();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: memory growth: parameters are replaced while the optimizer keeps the state of the old ones: its state() is keyed by their tensors; erase the entries of what is replaced [libtorch-stale-optimizer-state]
      group.params().push_back(t);
    }
    OptimizerParamGroup &first = given->param_groups().front();
    first.params().assign(1, t);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory growth: parameters are replaced while the optimizer keeps the state of the old ones: its state() is keyed by their tensors; erase the entries of what is replaced [libtorch-stale-optimizer-state]
    auto &groups = given->param_groups();
    groups[0].params().at(0) = t;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory growth: parameters are replaced while the optimizer keeps the state of the old ones: its state() is keyed by their tensors; erase the entries of what is replaced [libtorch-stale-optimizer-state]
  }
}

struct Trainer {
  Trainer() : optimizer(std::vector<Tensor>{parameter()}, 0.1) {
    optimizer.param_groups()[0].params()[0] = parameter();
  }
  void train() {
    while (true) {
      optimizer.step();
      optimizer.parameters() = {parameter()};
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: memory growth: parameters are replaced while the optimizer keeps the state of the old ones: its state() is keyed by their tensors; erase the entries of what is replaced [libtorch-stale-optimizer-state]
    }
  }
  // Its callers may be in a loop.
  void densify() {
    optimizer.param_groups()[0].params()[0] = parameter();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory growth: parameters are replaced while the optimizer keeps the state of the old ones: its state() is keyed by their tensors; erase the entries of what is replaced [libtorch-stale-optimizer-state]
  }
  torch::optim::Adam optimizer;
};

void replace(std::shared_ptr<torch::optim::Optimizer> optimizer, Tensor t) {
  optimizer->param_groups()[0].params()[0] = t;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory growth: parameters are replaced while the optimizer keeps the state of the old ones: its state() is keyed by their tensors; erase the entries of what is replaced [libtorch-stale-optimizer-state]
}

void grows(torch::optim::AdamW &adam) {
  for (int i = 0; i < 100; ++i) {
    Tensor t = parameter();
    adam.add_param_group(OptimizerParamGroup({t}));
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: memory growth: every iteration adds parameters to the optimizer: the groups of earlier parameters remain, with their state; make a new optimizer, or add them once [libtorch-stale-optimizer-state]
    step(adam, t);
  }
}

template <typename Optimizer> void generic(Optimizer &optimizer) {
  do {
    optimizer.param_groups()[0].params() = {parameter()};
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory growth: parameters are replaced while the optimizer keeps the state of the old ones: its state() is keyed by their tensors; erase the entries of what is replaced [libtorch-stale-optimizer-state]
    optimizer.step();
  } while (true);
}
void instances(torch::optim::Adam &adam, torch::optim::RMSprop &rms) {
  generic(adam);
  generic(rms);
}

// SGD keeps a buffer for each parameter that has momentum.
void momentum() {
  torch::optim::SGD sgd({parameter()},
                        torch::optim::SGDOptions(0.1).momentum(0.9));
  torch::optim::SGDOptions options(0.1);
  options.momentum() = 0.9;
  torch::optim::SGD named({parameter()}, options);
  for (int i = 0; i < 100; ++i) {
    sgd.param_groups()[0].params()[0] = parameter();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory growth: parameters are replaced while the optimizer keeps the state of the old ones: its state() is keyed by their tensors; erase the entries of what is replaced [libtorch-stale-optimizer-state]
    named.param_groups()[0].params()[0] = parameter();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory growth: parameters are replaced while the optimizer keeps the state of the old ones: its state() is keyed by their tensors; erase the entries of what is replaced [libtorch-stale-optimizer-state]
    sgd.step();
    named.step();
  }
}
class Densifier {
public:
  Densifier() {
    sgd = std::make_unique<torch::optim::SGD>(
        std::vector<Tensor>{parameter()},
        torch::optim::SGDOptions(0.1).momentum(0.9));
  }
  void run() {
    for (int i = 0; i < 100; ++i) {
      sgd->param_groups()[0].params()[0] = parameter();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: memory growth: parameters are replaced while the optimizer keeps the state of the old ones: its state() is keyed by their tensors; erase the entries of what is replaced [libtorch-stale-optimizer-state]
      sgd->step();
    }
  }

private:
  std::unique_ptr<torch::optim::SGD> sgd;
};

#define REPLACE(optimizer, t) (optimizer).param_groups()[0].params()[0] = t
void macro(torch::optim::Adam &adam) {
  while (true) {
    adam.step();
    REPLACE(adam, parameter());
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory growth: parameters are replaced while the optimizer keeps the state of the old ones: its state() is keyed by their tensors; erase the entries of what is replaced [libtorch-stale-optimizer-state]
    adam.param_groups()[0].params() = {}; // NOLINT(libtorch-stale-optimizer-state)
  }
}
