#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  NetImpl(int64_t width) { fc = register_module("fc", torch::nn::Linear(width, width)); }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Net);
