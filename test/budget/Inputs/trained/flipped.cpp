// A method of the model calls its forward(), and half of the batches are
// changed first. budget: --optimizer=adam
#include <cstdlib>
#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  NetImpl(int64_t in, int64_t h) : a(in, h), b(h, 4) {
    register_module("a", a);
    register_module("b", b);
  }
  torch::Tensor forward(torch::Tensor x) {
    return torch::softmax(b(torch::relu(a(x))), -1);
  }
  torch::Tensor loss(torch::Tensor x, torch::Tensor y) {
    return torch::nll_loss(torch::log(forward(x)), y);
  }
  torch::nn::Linear a, b;
};
TORCH_MODULE(Net);

int main() {
  Net net(8, 128);
  torch::optim::Adam opt(net->parameters(), 1e-3);
  for (int i = 0; i < 3; ++i) {
    opt.zero_grad();
    auto x = torch::rand({256, 8});
    auto y = torch::randint(4, {256}, torch::kLong);
    if (std::rand() % 2) {
      x = x.flip({1});
    }
    auto l = net->loss(x, y);
    l.backward();
    opt.step();
    torch::NoGradGuard g;
    net->loss(torch::rand({4, 8}), torch::randint(4, {4}, torch::kLong))
        .item<float>();
  }
  return 0;
}
