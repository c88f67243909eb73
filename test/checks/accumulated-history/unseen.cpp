// What becomes of a list is for code in other files to decide: level 2.
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t --level=2

#include "../Inputs/net.h"

using torch::Tensor;

class Distribution {
public:
  explicit Distribution(Tensor probabilities);
  Tensor sample();
  Tensor rsample();
  Tensor log_prob(const Tensor &action);

private:
  Tensor probabilities_;
};
struct SamplerImpl : torch::nn::Module {
  Tensor sample(const Tensor &noise);
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Sampler);
struct Rollout {
  std::vector<Tensor> actions, shifted, log_probs, images;
};

// sample() draws with gradient mode off, unless a module has it.
void act(Net policy, Sampler sampler, const Tensor &state, Rollout &rollout) {
  Distribution distribution(policy(state));
  Tensor action = distribution.sample();
  rollout.actions.push_back(action);
  rollout.shifted.push_back(distribution.rsample());
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: memory growth: 'rollout.shifted' keeps the autograd graph and activations of every call, and nothing in this file back-propagates through it; detach what is added [libtorch-accumulated-history]
  rollout.log_probs.push_back(distribution.log_prob(action));
  // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: memory growth: 'rollout.log_probs' keeps the autograd graph and activations of every call, and nothing in this file back-propagates through it; detach what is added [libtorch-accumulated-history]
  rollout.images.push_back(sampler->sample(policy(state)));
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: memory growth: 'rollout.images' keeps the autograd graph and activations of every call, and nothing in this file back-propagates through it; detach what is added [libtorch-accumulated-history]
  // CHECK-FIXES: rollout.shifted.push_back(distribution.rsample().detach());
  // CHECK-FIXES: rollout.log_probs.push_back(distribution.log_prob(action).detach());
  // CHECK-FIXES: rollout.images.push_back(sampler->sample(policy(state)).detach());
}
