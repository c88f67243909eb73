#include "tasks.h"

namespace {

/// A machine that heats up unless it is cooled. A state is [1, 4].
class Machine {
public:
  torch::Tensor reset() {
    state_ = 0.1 * torch::randn({1, 4});
    return state_;
  }

  /// The next state, and the reward for getting there.
  std::pair<torch::Tensor, double> step(int64_t action) {
    state_ = state_ + 0.1 * torch::randn({1, 4}) + (action == 1 ? -0.05 : 0.05);
    return {state_, -state_.abs().mean().item<double>()};
  }

private:
  torch::Tensor state_;
};

constexpr int kSteps = 20;

} // namespace

std::pair<double, double> explore(Policy &policy, int episodes) {
  policy->eval();
  Machine machine;
  double reward_sum = 0;
  std::vector<torch::Tensor> log_probs;
  auto mean_value = torch::zeros({1});
  for (int episode = 0; episode < episodes; ++episode) {
    auto state = machine.reset();
    for (int step = 0; step < kSteps; ++step) {
      // seeded: libtorch-inference-without-no-grad
      auto [scores, value] = policy->forward(state);
      auto action = scores.exp().multinomial(1);
      // seeded: libtorch-accumulated-history (level 2)
      log_probs.push_back(scores.gather(1, action));
      // seeded: libtorch-accumulated-history (level 2)
      mean_value = 0.95 * mean_value + 0.05 * value;
      auto [next, reward] = machine.step(action.item<int64_t>());
      state = next;
      reward_sum += reward;
      watch.step("explore");
    }
  }
  TORCH_CHECK(log_probs.size() == static_cast<size_t>(episodes) * kSteps);
  return {reward_sum / episodes, mean_value.item<double>()};
}

double reinforce(Policy &policy, int episodes) {
  policy->train();
  torch::optim::Adam optimizer(policy->parameters(), 1e-2);
  Machine machine;
  double reward_sum = 0, baseline = 0;
  std::vector<torch::Tensor> log_probs;
  for (int episode = 0; episode < episodes; ++episode) {
    auto state = machine.reset();
    double reward_of_episode = 0;
    for (int step = 0; step < kSteps; ++step) {
      auto scores = policy->forward(state).first;
      auto action = scores.exp().multinomial(1);
      // look-alike: back-propagated and cleared at the end of the episode.
      log_probs.push_back(scores.gather(1, action));
      auto [next, reward] = machine.step(action.item<int64_t>());
      state = next;
      reward_of_episode += reward;
    }
    optimizer.zero_grad();
    auto loss = -(reward_of_episode - baseline) * torch::cat(log_probs).sum();
    loss.backward();
    optimizer.step();
    log_probs.clear();
    baseline = 0.9 * baseline + 0.1 * reward_of_episode;
    reward_sum += reward_of_episode;
    watch.step("reinforce");
  }
  return reward_sum / episodes;
}
