// References that hold while the hook can run.
// RUN: %check_libtorch_tidy %s libtorch-hook-capture-cycle %t

#include <torch/torch.h>

using torch::Tensor;

struct NetImpl : torch::nn::Module {
  void watch() {
    static int calls = 0;
    fc->weight.register_hook([&](Tensor g) { return g * factor; });
    fc->weight.register_hook([&](Tensor g) { ++calls; });
  }
  torch::nn::Linear fc{4, 4};
  double factor = 1;
};
TORCH_MODULE(Net);

int within(Tensor w) {
  int calls = 0;
  w.register_hook([&](Tensor g) { ++calls; });
  w.exp().sum().backward();
  return calls;
}

void of_caller(Tensor w, int &calls, std::vector<double> &norms) {
  w.register_hook([&](Tensor g) {
    ++calls;
    norms.push_back(g.norm().item<double>());
  });
}

void own_tensor() {
  int calls = 0;
  Tensor w = torch::randn({4}, torch::requires_grad());
  w.register_hook([&](Tensor g) { ++calls; });
}

void train(Net net, int epochs);
void elsewhere(Net net) {
  int calls = 0;
  net->fc->weight.register_hook([&](Tensor g) { ++calls; });
  train(net, 3);
}

void removed(Net net) {
  int calls = 0;
  auto handle = net->fc->weight.register_hook([&](Tensor g) { ++calls; });
  net->fc->weight.remove_hook(handle);
}

unsigned handed_out(Net net) {
  int calls = 0;
  return net->fc->weight.register_hook([&](Tensor g) { ++calls; });
}

void in_its_block(Tensor w) {
  for (int i = 0; i < 3; ++i) {
    Tensor y = w * i;
    y.register_hook([&](Tensor g) { return g * i; });
    y.sum().backward();
  }
}

int main() {
  Net net;
  int calls = 0;
  net->fc->weight.register_hook([&](Tensor g) { ++calls; });
}
