#pragma once
#include <torch/torch.h>
#include <torch/script.h>
#include <string>

class Server {
public:
  explicit Server(const std::string &path) : model(torch::jit::load(path)) {
    model.eval();
    model.forward({torch::zeros({1, 3})});
  }
  double handle(const torch::Tensor &x);
  double first(const torch::Tensor &x);

private:
  torch::jit::Module model;
};
