// Which batch is passed depends on values.
#include <cstdlib>
#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  NetImpl() { fc = register_module("fc", torch::nn::Linear(8, 4)); }
  torch::Tensor forward(torch::Tensor x) { return fc(x); }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Net);

int main() {
  Net net;
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int i = 0; i < 3; ++i) {
    optimizer.zero_grad();
    torch::Tensor out;
    if (std::rand() % 2)
      out = net(torch::rand({64, 8}));
    else
      out = net(torch::rand({32, 8}));
    out.pow(2).sum().backward();
    optimizer.step();
  }
}
