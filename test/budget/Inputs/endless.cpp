// An episode of which nobody here knows when it is over.
#include <cstdlib>
#include <torch/torch.h>
#include <vector>

struct PolicyImpl : torch::nn::Module {
  PolicyImpl() : first(8, 64), last(64, 2) {
    register_module("first", first);
    register_module("last", last);
  }
  torch::Tensor forward(torch::Tensor x) {
    return torch::softmax(last(torch::relu(first(x))), 1);
  }
  torch::nn::Linear first, last;
};
TORCH_MODULE(Policy);

int main() {
  Policy policy;
  torch::optim::Adam optimizer(policy->parameters(), 1e-3);
  for (int episode = 0; episode < 3; ++episode) {
    std::vector<torch::Tensor> chances;
    bool done = false;
    while (!done) {
      chances.push_back(policy->forward(torch::rand({1, 8})));
      done = std::rand() % 10 == 0;
    }
    auto loss = torch::cat(chances).pow(2).sum();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
