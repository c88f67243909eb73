// What becomes of a result is for code in other files to decide: level 2.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t --level=2

#include "../Inputs/net.h"

using torch::Tensor;

class Distribution {
public:
  explicit Distribution(Tensor probabilities);
  Tensor sample();
  Tensor log_prob(const Tensor &action);
  Tensor entropy() const;
  void fit();

private:
  Tensor probabilities_;
};
struct Rollout {
  std::vector<Tensor> states, actions, log_probs;
};
struct Used {
  std::vector<Tensor> log_probs;
};

// An object of the function computes with it, and the rest of the file does not
// back-propagate what a parameter keeps.
int act(Net policy, Tensor state, Rollout *rollout) {
  Distribution distribution(policy(state));
  // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: inference without NoGradGuard: 'policy' runs in 'act' and records an autograd graph that nothing in this file back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  Tensor action = distribution.sample();
  rollout->states.push_back(state);
  rollout->actions.push_back(action);
  rollout->log_probs.push_back(distribution.log_prob(action));
  return action.item<int>();
}
double spread(Net policy, Tensor state) {
  Distribution distribution(policy(state));
  // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: inference without NoGradGuard: 'policy' runs in 'spread' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  return distribution.entropy().item<double>();
}

// It does.
void act(Net policy, Tensor state, Used *used) {
  Distribution distribution(policy(state));
  used->log_probs.push_back(distribution.log_prob(distribution.sample()));
}
void learn(Used *used) { torch::stack(used->log_probs).sum().backward(); }

// The object lives longer, or need not make a tensor of it.
void kept(Net policy, Tensor state, Distribution &distribution) {
  distribution = Distribution(policy(state));
  distribution.log_prob(distribution.sample());
}
void fitted(Net policy, Tensor state) {
  Distribution distribution(policy(state));
  distribution.fit();
}
