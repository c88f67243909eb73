// An episode is collected until its environment says that it is over.
// budget: --optimizer=adam
#include <cstdlib>
#include <torch/torch.h>
#include <tuple>
#include <vector>

#include "scores.inc"
class Field {
public:
  torch::Tensor reset() {
    steps = 0;
    return torch::rand({8});
  }
  std::tuple<torch::Tensor, float, bool> step(int64_t action) {
    place += action == 1 ? 0.5f : -0.5f;
    ++steps;
    const bool done = std::abs(place) > 1e6f || steps >= 30;
    return {torch::rand({8}), 1.0f, done};
  }

private:
  float place = 0;
  int steps = 0;
};

int main() {
  Net net(8, 128);
  Field field;
  torch::optim::Adam opt(net->parameters(), 1e-3);
  for (int e = 0; e < 3; ++e) {
    auto s = field.reset();
    std::vector<torch::Tensor> logs;
    std::vector<float> rewards;
    bool done = false;
    while (!done) {
      auto p = net->forward(s.unsqueeze(0));
      auto a = p.multinomial(1);
      logs.push_back(torch::log(p.gather(1, a)).squeeze());
      float r;
      std::tie(s, r, done) = field.step(a.item<int64_t>());
      rewards.push_back(r);
    }
    auto loss = -(torch::stack(logs) * torch::tensor(rewards)).sum();
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
  return 0;
}
