// A soft actor-critic, whose networks learn from what is drawn of a buffer.
// budget: --optimizer=adam
#include <deque>
#include <iostream>
#include <random>
#include <torch/torch.h>
#include <tuple>
#include <vector>

struct Transition {
  torch::Tensor state, action, reward, next_state, done;
};

class Pendulum {
public:
  torch::Tensor reset() {
    theta_ = 0.1;
    speed_ = 0;
    steps_ = 0;
    return observe();
  }
  std::tuple<torch::Tensor, double, bool> step(const torch::Tensor &action) {
    double u = action.item<double>();
    speed_ += (-15.0 * std::sin(theta_ + 3.14159) + 3.0 * u) * 0.05;
    theta_ += speed_ * 0.05;
    ++steps_;
    double cost = theta_ * theta_ + 0.1 * speed_ * speed_ + 0.001 * u * u;
    return {observe(), -cost, steps_ >= 50};
  }

private:
  torch::Tensor observe() {
    return torch::tensor({std::cos(theta_), std::sin(theta_), speed_},
                         torch::kFloat32);
  }
  double theta_ = 0, speed_ = 0;
  int steps_ = 0;
};

class ReplayBuffer {
public:
  explicit ReplayBuffer(size_t capacity) : capacity_(capacity) {}
  void push(Transition t) {
    if (memory_.size() >= capacity_)
      memory_.pop_front();
    memory_.push_back(std::move(t));
  }
  Transition sample(int64_t batch) {
    std::vector<torch::Tensor> s, a, r, n, d;
    std::uniform_int_distribution<size_t> dist(0, memory_.size() - 1);
    for (int64_t i = 0; i < batch; ++i) {
      const auto &t = memory_[dist(gen_)];
      s.push_back(t.state);
      a.push_back(t.action);
      r.push_back(t.reward);
      n.push_back(t.next_state);
      d.push_back(t.done);
    }
    return {torch::stack(s), torch::stack(a), torch::stack(r), torch::stack(n),
            torch::stack(d)};
  }
  size_t size() const { return memory_.size(); }

private:
  size_t capacity_;
  std::deque<Transition> memory_;
  std::mt19937 gen_{0};
};

struct ActorImpl : torch::nn::Module {
  ActorImpl(int64_t in, int64_t hidden, int64_t out)
      : fc1(in, hidden), fc2(hidden, hidden), mean(hidden, out),
        log_std(hidden, out) {
    register_module("fc1", fc1);
    register_module("fc2", fc2);
    register_module("mean", mean);
    register_module("log_std", log_std);
  }
  std::tuple<torch::Tensor, torch::Tensor> forward(torch::Tensor x) {
    x = torch::relu(fc1(x));
    x = torch::relu(fc2(x));
    return {mean(x), torch::clamp(log_std(x), -20, 2)};
  }
  std::pair<torch::Tensor, torch::Tensor> sample(torch::Tensor x) {
    auto [mu, ls] = forward(x);
    auto std = ls.exp();
    auto eps = torch::randn_like(mu);
    auto u = mu + std * eps;
    auto a = torch::tanh(u);
    auto lp = -0.5 * ((u - mu) / std).pow(2) - ls - 0.919;
    lp = lp - torch::log(1 - a.pow(2) + 1e-6);
    return {a, lp.sum(-1, true)};
  }
  torch::nn::Linear fc1, fc2, mean, log_std;
};
TORCH_MODULE(Actor);

struct CriticImpl : torch::nn::Module {
  CriticImpl(int64_t in, int64_t hidden) {
    net = register_module(
        "net",
        torch::nn::Sequential(torch::nn::Linear(in, hidden), torch::nn::ReLU(),
                              torch::nn::Linear(hidden, hidden),
                              torch::nn::ReLU(), torch::nn::Linear(hidden, 1)));
  }
  torch::Tensor forward(torch::Tensor s, torch::Tensor a) {
    return net->forward(torch::cat({s, a}, -1));
  }
  torch::nn::Sequential net{nullptr};
};
TORCH_MODULE(Critic);

class SACAgent {
public:
  SACAgent(int64_t obs, int64_t act, int64_t hidden)
      : actor_(obs, hidden, act), q1_(obs + act, hidden),
        q2_(obs + act, hidden), q1_target_(obs + act, hidden),
        q2_target_(obs + act, hidden),
        actor_opt_(actor_->parameters(), torch::optim::AdamOptions(3e-4)),
        q1_opt_(q1_->parameters(), torch::optim::AdamOptions(3e-4)),
        q2_opt_(q2_->parameters(), torch::optim::AdamOptions(3e-4)),
        buffer_(10000) {
    copy(q1_, q1_target_, 1.0);
    copy(q2_, q2_target_, 1.0);
  }
  torch::Tensor select_action(const torch::Tensor &state) {
    torch::NoGradGuard guard;
    auto [a, lp] = actor_->sample(state.unsqueeze(0));
    return a.squeeze(0);
  }
  void remember(Transition t) { buffer_.push(std::move(t)); }
  void update(int64_t batch) {
    if (buffer_.size() < static_cast<size_t>(batch))
      return;
    auto b = buffer_.sample(batch);
    torch::Tensor target;
    {
      torch::NoGradGuard guard;
      auto [na, nlp] = actor_->sample(b.next_state);
      auto q = torch::min(q1_target_->forward(b.next_state, na),
                          q2_target_->forward(b.next_state, na));
      target = b.reward + (1 - b.done) * gamma_ * (q - alpha_ * nlp);
    }
    auto l1 = torch::mse_loss(q1_->forward(b.state, b.action), target);
    q1_opt_.zero_grad();
    l1.backward();
    q1_opt_.step();
    auto l2 = torch::mse_loss(q2_->forward(b.state, b.action), target);
    q2_opt_.zero_grad();
    l2.backward();
    q2_opt_.step();
    auto [pa, plp] = actor_->sample(b.state);
    auto q = torch::min(q1_->forward(b.state, pa), q2_->forward(b.state, pa));
    auto la = (alpha_ * plp - q).mean();
    actor_opt_.zero_grad();
    la.backward();
    actor_opt_.step();
    copy(q1_, q1_target_, tau_);
    copy(q2_, q2_target_, tau_);
  }

private:
  void copy(Critic &from, Critic &to, double tau) {
    torch::NoGradGuard guard;
    auto p = from->parameters();
    auto t = to->parameters();
    for (size_t i = 0; i < p.size(); ++i)
      t[i].mul_(1 - tau).add_(p[i], tau);
  }
  Actor actor_;
  Critic q1_, q2_, q1_target_, q2_target_;
  torch::optim::Adam actor_opt_, q1_opt_, q2_opt_;
  ReplayBuffer buffer_;
  double gamma_ = 0.99, tau_ = 0.005, alpha_ = 0.2;
};

int main() {
  torch::manual_seed(1);
  Pendulum env;
  SACAgent agent(3, 1, 128);
  const int episodes = 4, max_steps = 200, batch = 64;
  for (int e = 0; e < episodes; ++e) {
    auto state = env.reset();
    double total = 0;
    for (int t = 0; t < max_steps; ++t) {
      auto action = agent.select_action(state);
      auto [next, reward, done] = env.step(action);
      agent.remember({state, action,
                      torch::tensor({static_cast<float>(reward)}), next,
                      torch::tensor({done ? 1.0f : 0.0f})});
      agent.update(batch);
      state = next;
      total += reward;
      if (done)
        break;
    }
    std::cout << "episode " << e << " return " << total << "\n";
  }
  return 0;
}
