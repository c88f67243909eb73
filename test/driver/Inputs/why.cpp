#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor X) { return Layer(X); }
  torch::nn::Linear Layer = register_module("layer", torch::nn::Linear(2, 2));
};
TORCH_MODULE(Net);

void warmUp(Net &Model, const torch::Tensor &X) {
  Model(X);
}

void guarded(Net &Model, const torch::Tensor &X) {
  torch::NoGradGuard no_grad;
  std::cout << Model(X);
}

void printed(const torch::Tensor &X) {
  std::cout << Net()(X);
}

void suppressed(Net &Model, const torch::Tensor &X) {
  std::cout << Model(X); // NOLINT(libtorch-inference-without-no-grad)
}
