// The state is looked after, or there is none yet.
// RUN: %check_libtorch_tidy %s libtorch-stale-optimizer-state %t

#include <torch/torch.h>
#include <torch/version.h>

using torch::Tensor;
using torch::optim::OptimizerParamGroup;

Tensor parameter() { return torch::zeros({256}, torch::requires_grad()); }
Tensor lossOf(const Tensor &t);

#if TORCH_VERSION_MAJOR < 2
std::string keyOf(const Tensor &t) {
  return c10::guts::to_string(t.unsafeGetTensorImpl());
}
#else
void *keyOf(const Tensor &t) { return t.unsafeGetTensorImpl(); }
#endif

void forget(torch::optim::Optimizer &optimizer, const Tensor &old) {
  optimizer.state().erase(keyOf(old));
}

void handled(torch::optim::Adam &adam) {
  for (int i = 0; i < 100; ++i) {
    Tensor &t = adam.param_groups()[0].params()[0];
    adam.state().erase(keyOf(t));
    t = parameter();
    adam.param_groups()[0].params() = {parameter()};
    adam.step();
  }
}
void handledElsewhere(torch::optim::Adam &adam) {
  for (int i = 0; i < 100; ++i) {
    forget(adam, adam.param_groups()[0].params()[0]);
    adam.param_groups()[0].params()[0] = parameter();
    adam.step();
  }
}
void cleared(torch::optim::Adam &adam) {
  while (true) {
    adam.step();
    adam.state().clear();
    adam.param_groups()[0].params() = {parameter()};
  }
}

void byLambda(torch::optim::Adam &adam, const Tensor &old) {
  auto replace = [&] { adam.param_groups()[0].params() = {parameter()}; };
  forget(adam, old);
  replace();
}

// No step has made any state.
void before() {
  torch::optim::Adam adam(std::vector<Tensor>{parameter()}, 0.1);
  adam.param_groups()[0].params()[0] = parameter();
  for (int i = 0; i < 3; ++i)
    adam.add_param_group(OptimizerParamGroup({parameter()}));
  while (true)
    adam.step();
}
// It dies with the round.
void local() {
  for (int i = 0; i < 3; ++i) {
    torch::optim::Adam adam(std::vector<Tensor>{parameter()}, 0.1);
    adam.param_groups()[0].params()[0] = parameter();
    adam.add_param_group(OptimizerParamGroup({parameter()}));
    adam.step();
  }
}
// Unfrozen at some time: the old ones are still trained.
void unfreeze(torch::optim::Adam &adam) {
  for (int epoch = 0; epoch < 100; ++epoch) {
    if (epoch == 10)
      adam.add_param_group(OptimizerParamGroup({parameter()}));
    adam.step();
  }
}
// It keeps no state.
void no_momentum() {
  torch::optim::SGDOptions other(0.1);
  other.momentum(0.9);
  torch::optim::SGD sgd({parameter()},
                        torch::optim::SGDOptions(0.1).momentum(0));
  for (int i = 0; i < 100; ++i) {
    sgd.param_groups()[0].params()[0] = parameter();
    sgd.step();
  }
}
void plain(torch::optim::SGD &sgd) {
  while (true) {
    sgd.param_groups()[0].params() = {parameter()};
    sgd.step();
  }
}
// Values change, the tensors are the same.
void values(torch::optim::Adam &adam) {
  while (true) {
    torch::NoGradGuard guard;
    for (auto &group : adam.param_groups()) {
      for (Tensor &t : group.params()) {
        t.mul_(0.9);
        t.mutable_grad() = Tensor();
      }
      group.params()[0].data() = torch::zeros({256});
      group.params()[0][0] = 1.0;
      static_cast<torch::optim::AdamOptions &>(group.options()).lr(0.1);
    }
    adam.step();
    Tensor first = adam.param_groups()[0].params()[0];
    first = parameter();
    std::vector<Tensor> copy = adam.param_groups()[0].params();
    copy = {parameter()};
    copy.clear();
    // A group of its own.
    OptimizerParamGroup group({parameter()});
    group.params() = {parameter()};
    std::vector<OptimizerParamGroup> groups;
    groups[0].params().clear();
  }
}
struct Other {
  std::vector<Tensor> &params();
  std::vector<Tensor> &parameters();
  Other &add_param_group(int);
};
void others(Other &other, torch::nn::Linear net, torch::optim::Adam &adam) {
  while (true) {
    adam.step();
    other.params() = {parameter()};
    other.parameters() = {parameter()};
    other.add_param_group(1);
    net->parameters().clear();
  }
}
