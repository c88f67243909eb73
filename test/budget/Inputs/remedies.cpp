// A model whose parameters and state are most of what it takes.
#include <torch/torch.h>
struct NetImpl : torch::nn::Module {
  NetImpl() { a = register_module("a", torch::nn::Linear(1000, 1000)); }
  torch::Tensor forward(torch::Tensor x) { return a(x).relu(); }
  torch::nn::Linear a{nullptr};
};
TORCH_MODULE(Net);
