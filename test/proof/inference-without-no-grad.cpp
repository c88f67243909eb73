// A prediction in evaluation mode, with gradient mode on.
#include "Memory.h"
#include <torch/torch.h>

/// Eight layers whose activations have 1 MB each for 1024 rows.
struct NetImpl : torch::nn::Module {
  NetImpl() {
    for (int i = 0; i < 8; ++i)
      layers->push_back(torch::nn::Linear(256, 256));
    register_module("layers", layers);
  }
  torch::Tensor forward(torch::Tensor x) {
    for (const auto &layer : *layers)
      x = torch::relu(layer->as<torch::nn::Linear>()->forward(x));
    return x;
  }
  torch::nn::ModuleList layers;
};
TORCH_MODULE(Net);

std::vector<float> predict(Net &net, const torch::Tensor &rows) {
#ifdef FIXED
  torch::NoGradGuard no_grad;
#endif
  net->eval();
  proof::Span span;
  torch::Tensor scores = net->forward(rows);
  span.print("prediction");
  const float *first = scores.data_ptr<float>();
  return std::vector<float>(first, first + scores.numel());
}

int main() {
  proof::begin();
  Net net;
  torch::Tensor rows = torch::randn({1024, 256});
  predict(net, rows); // Fills LibTorch's caches.
  proof::printBits("scores", predict(net, rows));
}
