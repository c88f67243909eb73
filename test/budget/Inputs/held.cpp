// What a program has around a step: other models, with their gradients and the
// state of their optimizers, and results of the step before.
#include "peak.h"

using namespace torch;

struct DrawerImpl : nn::Module {
  DrawerImpl() {
    wide = register_module("wide", nn::Linear(16, 200));
    out = register_module("out", nn::Linear(200, 64));
  }
  Tensor forward(Tensor x) { return out(torch::relu(wide(x))); }
  nn::Linear wide{nullptr}, out{nullptr};
};
TORCH_MODULE(Drawer);

struct CriticImpl : nn::Module {
  explicit CriticImpl(int64_t width) {
    first = register_module("first", nn::Linear(64, width));
    last = register_module("last", nn::Linear(width, 1));
  }
  Tensor forward(const Tensor &x) { return last(first(x).tanh()); }
  nn::Linear first{nullptr}, last{nullptr};
};
TORCH_MODULE(Critic);

int main() {
  Drawer drawer;
  Critic critic(300), spare(70);
  optim::Adam ofCritic(critic->parameters(), 1e-3);
  optim::Adam ofDrawer(drawer->parameters(), optim::AdamOptions(1e-3));
  Tensor last;
  for (int round = 0; round < 4; ++round) {
    ofCritic.zero_grad();
    const Tensor real = torch::randn({8, 64});
    (-critic(real).mean()).backward();
    const Tensor made = drawer(torch::randn({8, 16}));
    critic(made.detach()).mean().backward();
    ofCritic.step();
    ofDrawer.zero_grad();
    last = critic(made).mean();
    last.backward();
    ofDrawer.step();
  }
}
