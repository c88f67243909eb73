// Reinforcement learning: a ring of transitions, two networks, one of which
// learns.

#include <deque>
#include <random>
#include <torch/torch.h>

struct QNetImpl : torch::nn::Module {
  QNetImpl(int64_t states, int64_t actions)
      : fc1(states, 128), fc2(128, 128), out(128, actions) {
    register_module("fc1", fc1);
    register_module("fc2", fc2);
    register_module("out", out);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(fc1(x));
    x = torch::relu(fc2(x));
    return out(x);
  }
  torch::nn::Linear fc1, fc2, out;
};
TORCH_MODULE(QNet);

struct Transition {
  torch::Tensor state, next;
  int64_t action;
  float reward;
};

class Agent {
public:
  Agent(int64_t states, int64_t actions)
      : policy(states, actions), target(states, actions),
        adam(policy->parameters(), torch::optim::AdamOptions(1e-3)) {
    for (auto &p : target->parameters())
      p.set_requires_grad(false);
  }
  int64_t act(const torch::Tensor &state) {
    torch::NoGradGuard guard;
    return policy->forward(state.unsqueeze(0)).argmax(1).item<int64_t>();
  }
  void remember(Transition t) {
    memory.push_back(std::move(t));
    if (memory.size() > 10000)
      memory.pop_front();
  }
  void learn() {
    if (memory.size() < kBatch)
      return;
    std::vector<torch::Tensor> states, nexts;
    std::vector<int64_t> actions;
    std::vector<float> rewards;
    for (size_t i = 0; i < kBatch; ++i) {
      const Transition &t = memory[random() % memory.size()];
      states.push_back(t.state);
      nexts.push_back(t.next);
      actions.push_back(t.action);
      rewards.push_back(t.reward);
    }
    auto state = torch::stack(states), next = torch::stack(nexts);
    auto action = torch::tensor(actions).unsqueeze(1);
    auto reward = torch::tensor(rewards);
    auto q = policy->forward(state).gather(1, action).squeeze(1);
    torch::Tensor best;
    {
      torch::NoGradGuard guard;
      best = std::get<0>(target->forward(next).max(1));
    }
    auto loss = torch::smooth_l1_loss(q, reward + 0.99 * best);
    adam.zero_grad();
    loss.backward();
    adam.step();
  }

private:
  static constexpr size_t kBatch = 64;
  QNet policy, target;
  torch::optim::Adam adam;
  std::deque<Transition> memory;
  std::mt19937 random;
};

int main() {
  Agent agent(4, 2);
  for (int step = 0; step < 500; ++step) {
    auto state = torch::rand({4});
    const int64_t action = agent.act(state);
    agent.remember({state, torch::rand({4}), action, 1.0f});
    agent.learn();
  }
}
