// Temporaries that become a parameter: what it is assigned frees them.
#include "peak.h"

using namespace torch;

static Tensor normed(Tensor x) {
  x = x - x.mean(1, true);
  x = x * 2;
  return x.tanh();
}

struct NetImpl : nn::Module {
  explicit NetImpl(int64_t width) : in(width, 8), out(8, width) {
    register_module("in", in);
    register_module("out", out);
  }
  Tensor forward(Tensor x) {
    x = normed(x.sigmoid());
    x = in(x);
    x = out(x).relu();
    return x;
  }
  nn::Linear in, out;
};
TORCH_MODULE(Net);

int main() {
  Net net(256);
  net->to(kBFloat16);
  optim::SGD sgd(net->parameters(), 0.1);
  for (int i = 0; i < 3; ++i) {
    sgd.zero_grad();
    Tensor loss = net->forward(torch::randn({512, 256}).to(kBFloat16)).sum();
    loss.backward();
    sgd.step();
  }
}
