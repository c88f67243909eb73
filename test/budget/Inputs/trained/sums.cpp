// A loss that begins as a number, and is added up.
// budget: --optimizer=adam
#include <torch/torch.h>

struct HeadsImpl : torch::nn::Module {
  HeadsImpl() {
    for (int i = 0; i < 3; ++i)
      heads->push_back(torch::nn::Linear(64, 20));
    register_module("body", body);
    register_module("heads", heads);
  }
  std::vector<torch::Tensor> forward(torch::Tensor x) {
    x = torch::relu(body(x));
    std::vector<torch::Tensor> all;
    for (const auto &head : *heads)
      all.push_back(head->as<torch::nn::Linear>()->forward(x));
    return all;
  }
  torch::nn::Linear body{32, 64};
  torch::nn::ModuleList heads;
};
TORCH_MODULE(Heads);

int main() {
  Heads net;
  torch::optim::Adam optimizer(net->parameters(),
                               torch::optim::AdamOptions(1e-3));
  for (int i = 0; i < 4; ++i) {
    auto x = torch::randn({200, 32});
    auto y = torch::randint(0, 20, {200}, torch::kLong);
    optimizer.zero_grad();
    torch::Tensor loss = torch::zeros({});
    for (const auto &out : net->forward(x))
      loss = loss + torch::cross_entropy_loss(out, y);
    loss.backward();
    optimizer.step();
  }
  return 0;
}
