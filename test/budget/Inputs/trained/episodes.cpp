// An episode ends when its environment says so, and all of it is learned from.
// budget: --optimizer=adam
#include <cstdlib>
#include <torch/torch.h>

#include "scores.inc"
struct Env {
  torch::Tensor reset() { return torch::rand({8}); }
  std::tuple<torch::Tensor, float, bool> step(int64_t) {
    return {torch::rand({8}), 1.0f, std::rand() % 1000 == 999};
  }
};

int main() {
  Net net(8, 128);
  Env env;
  torch::optim::Adam opt(net->parameters(), 1e-3);
  for (int e = 0; e < 3; ++e) {
    auto s = env.reset();
    std::vector<torch::Tensor> logs;
    std::vector<float> rewards;
    for (int t = 0; t < 50; ++t) {
      auto p = net->forward(s.unsqueeze(0));
      auto a = p.multinomial(1);
      logs.push_back(torch::log(p.gather(1, a)).squeeze());
      auto [n, r, done] = env.step(a.item<int64_t>());
      rewards.push_back(r);
      s = n;
      if (done)
        break;
    }
    auto returns = torch::tensor(rewards);
    auto loss = -(torch::stack(logs) * returns).sum();
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
  return 0;
}
