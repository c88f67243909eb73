// A small trainable model, and what tests do with results.
#pragma once
#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  NetImpl() { fc = register_module("fc", torch::nn::Linear(4, 4)); }
  torch::Tensor forward(torch::Tensor x) { return torch::relu(fc->forward(x)); }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Net);

using Batches = std::vector<torch::Tensor>;

// Code that the analysis cannot see.
void unseen(const torch::Tensor &t);
void unseen(std::vector<torch::Tensor> &v);
torch::Tensor unseen_metric(const torch::Tensor &t);

// Any file may use what it keeps.
struct SharedLog {
  void add(Net net, const torch::Tensor &x);
  torch::Tensor last;
  std::vector<torch::Tensor> all;
};
