// Proximal policy optimization: what an environment gives is collected, and
// learned from. budget: --optimizer=adam
#include <iostream>
#include <random>
#include <torch/torch.h>
#include <vector>

struct ActorCriticImpl : public torch::nn::Module {
  torch::nn::Linear a_lin1_, a_lin2_, a_lin3_, c_lin1_, c_lin2_, c_val_;
  torch::Tensor mu_, log_std_;
  ActorCriticImpl(int64_t n_in, int64_t n_out, double std)
      : a_lin1_(torch::nn::Linear(n_in, 16)),
        a_lin2_(torch::nn::Linear(16, 32)),
        a_lin3_(torch::nn::Linear(32, n_out)),
        c_lin1_(torch::nn::Linear(n_in, 16)),
        c_lin2_(torch::nn::Linear(16, 32)), c_val_(torch::nn::Linear(32, 1)),
        mu_(torch::full(n_out, 0.)), log_std_(torch::full(n_out, std)) {
    register_module("a_lin1", a_lin1_);
    register_module("a_lin2", a_lin2_);
    register_module("a_lin3", a_lin3_);
    register_module("c_lin1", c_lin1_);
    register_module("c_lin2", c_lin2_);
    register_module("c_val", c_val_);
    register_parameter("log_std", log_std_);
  }
  auto forward(torch::Tensor x) -> std::tuple<torch::Tensor, torch::Tensor> {
    mu_ = torch::relu(a_lin1_->forward(x));
    mu_ = torch::relu(a_lin2_->forward(mu_));
    mu_ = torch::tanh(a_lin3_->forward(mu_));
    torch::Tensor val = torch::relu(c_lin1_->forward(x));
    val = torch::relu(c_lin2_->forward(val));
    val = torch::tanh(c_val_->forward(val));
    if (this->is_training()) {
      torch::NoGradGuard no_grad;
      torch::Tensor action = at::normal(mu_, log_std_.exp().expand_as(mu_));
      return std::make_tuple(action, val);
    } else {
      return std::make_tuple(mu_, val);
    }
  }
  void normal(double mu, double std) {
    torch::NoGradGuard no_grad;
    for (auto &p : this->parameters())
      p.normal_(mu, std);
  }
  auto entropy() -> torch::Tensor {
    return 0.5 + 0.5 * log(2 * M_PI) + log_std_;
  }
  auto log_prob(torch::Tensor action) -> torch::Tensor {
    torch::Tensor var = (log_std_ + log_std_).exp();
    return -((action - mu_) * (action - mu_)) / (2 * var) - log_std_ -
           log(sqrt(2 * M_PI));
  }
};
TORCH_MODULE(ActorCritic);

using VT = std::vector<torch::Tensor>;
using OPT = torch::optim::Optimizer;
std::random_device rd;
std::mt19937 re(rd());

class PPO {
public:
  static auto returns(VT &rewards, VT &dones, VT &vals, double gamma,
                      double lambda) -> VT {
    torch::Tensor gae = torch::zeros({1}, torch::kFloat64);
    VT returns(rewards.size(), torch::zeros({1}, torch::kFloat64));
    for (unsigned i = rewards.size(); i-- > 0;) {
      auto delta = rewards[i] + gamma * vals[i + 1] * (1 - dones[i]) - vals[i];
      gae = delta + gamma * lambda * (1 - dones[i]) * gae;
      returns[i] = gae + vals[i];
    }
    return returns;
  }
  static auto update(ActorCritic &ac, torch::Tensor &states,
                     torch::Tensor &actions, torch::Tensor &log_probs,
                     torch::Tensor &returns, torch::Tensor &advantages,
                     OPT &opt, unsigned steps, unsigned epochs,
                     unsigned mini_batch_size, double beta,
                     double clip_param = .2) -> void {
    for (unsigned e = 0; e < epochs; e++) {
      torch::Tensor cpy_sta =
          torch::zeros({mini_batch_size, states.size(1)}, states.options());
      torch::Tensor cpy_act =
          torch::zeros({mini_batch_size, actions.size(1)}, actions.options());
      torch::Tensor cpy_log = torch::zeros({mini_batch_size, log_probs.size(1)},
                                           log_probs.options());
      torch::Tensor cpy_ret =
          torch::zeros({mini_batch_size, returns.size(1)}, returns.options());
      torch::Tensor cpy_adv = torch::zeros(
          {mini_batch_size, advantages.size(1)}, advantages.options());
      for (unsigned b = 0; b < mini_batch_size; b++) {
        unsigned idx =
            std::uniform_int_distribution<unsigned>(0, steps - 1)(re);
        cpy_sta[b] = states[idx];
        cpy_act[b] = actions[idx];
        cpy_log[b] = log_probs[idx];
        cpy_ret[b] = returns[idx];
        cpy_adv[b] = advantages[idx];
      }
      auto av = ac->forward(cpy_sta);
      auto action = std::get<0>(av);
      auto entropy = ac->entropy().mean();
      auto new_log_prob = ac->log_prob(cpy_act);
      auto old_log_prob = cpy_log;
      auto ratio = (new_log_prob - old_log_prob).exp();
      auto surr1 = ratio * cpy_adv;
      auto surr2 =
          torch::clamp(ratio, 1. - clip_param, 1. + clip_param) * cpy_adv;
      auto val = std::get<1>(av);
      auto actor_loss = -torch::min(surr1, surr2).mean();
      auto critic_loss = (cpy_ret - val).pow(2).mean();
      auto loss = 0.5 * critic_loss + actor_loss - beta * entropy;
      opt.zero_grad();
      loss.backward();
      opt.step();
    }
  }
};

struct TestEnvironment {
  double x_ = 0, y_ = 0, gx_, gy_;
  torch::Tensor state_ = torch::zeros({1, 4}, torch::kF64);
  TestEnvironment(double gx, double gy) : gx_(gx), gy_(gy) {}
  auto State() -> torch::Tensor {
    state_[0][0] = x_;
    state_[0][1] = y_;
    state_[0][2] = gx_;
    state_[0][3] = gy_;
    return state_;
  }
  auto Act(double ax, double ay)
      -> std::tuple<torch::Tensor, int, torch::Tensor> {
    double old = std::hypot(gx_ - x_, gy_ - y_);
    x_ += 0.1 * ax;
    y_ += 0.1 * ay;
    double now = std::hypot(gx_ - x_, gy_ - y_);
    torch::Tensor state = State();
    torch::Tensor done = torch::zeros({1, 1}, torch::kF64);
    int status = 0;
    if (now < 0.2) {
      status = 1;
      done[0][0] = 1.;
    } else if (now > 10) {
      status = 2;
      done[0][0] = 1.;
    }
    return std::make_tuple(state, status, done + (old - now) * 0);
  }
  void Reset() {
    x_ = 0;
    y_ = 0;
  }
};

int main() {
  TestEnvironment env(1.0, -1.0);
  ActorCritic ac(4, 2, 2e-2);
  ac->to(torch::kF64);
  ac->normal(0., 2e-2);
  torch::optim::Adam opt(ac->parameters(), 1e-3);
  unsigned n_iter = 600, n_steps = 256, n_epochs = 4, mini_batch_size = 64,
           ppo_epochs = 4;
  double beta = 1e-3;
  VT states, actions, rewards, dones, log_probs, returns, values;
  unsigned c = 0;
  for (unsigned e = 1; e <= n_epochs; e++) {
    for (unsigned i = 0; i < n_iter; i++) {
      states.push_back(env.State().clone());
      auto av = ac->forward(states[i % n_steps]);
      actions.push_back(std::get<0>(av));
      values.push_back(std::get<1>(av));
      log_probs.push_back(ac->log_prob(actions.back()));
      double x_act = actions.back()[0][0].item<double>();
      double y_act = actions.back()[0][1].item<double>();
      auto sd = env.Act(x_act, y_act);
      rewards.push_back(torch::full({1, 1}, 0.1, torch::kF64));
      dones.push_back(std::get<2>(sd));
      c++;
      if (c % n_steps == 0) {
        values.push_back(std::get<1>(ac->forward(states[n_steps - 1])));
        returns = PPO::returns(rewards, dones, values, .99, .95);
        torch::Tensor t_log_probs = torch::cat(log_probs).detach();
        torch::Tensor t_returns = torch::cat(returns).detach();
        torch::Tensor t_values = torch::cat(values).detach();
        torch::Tensor t_states = torch::cat(states);
        torch::Tensor t_actions = torch::cat(actions);
        torch::Tensor t_advantages = t_returns - t_values.slice(0, 0, n_steps);
        PPO::update(ac, t_states, t_actions, t_log_probs, t_returns,
                    t_advantages, opt, n_steps, ppo_epochs, mini_batch_size,
                    beta);
        c = 0;
        states.clear();
        actions.clear();
        rewards.clear();
        dones.clear();
        log_probs.clear();
        returns.clear();
        values.clear();
        i = n_iter;
      }
    }
    env.Reset();
  }
  return 0;
}
