// A step whose size depends on values, with a loss of the program that takes more than the sum.
#ifdef MEASURED
#include "peak.h"
#endif
#include <torch/torch.h>

struct DecoderImpl : torch::nn::Module {
  DecoderImpl() {
    embedding = register_module("embedding", torch::nn::Embedding(300, 16));
    cell = register_module("cell", torch::nn::GRUCell(16, 16));
    out = register_module("out", torch::nn::Linear(16, 300));
  }
  torch::Tensor forward(torch::Tensor words) {
    torch::Tensor hidden = torch::zeros({words.size(1), 16});
    std::vector<torch::Tensor> outputs;
    torch::Tensor word = words[0];
    for (int64_t t = 1; t < words.size(0); ++t) {
      hidden = cell(embedding(word), hidden);
      outputs.push_back(out(hidden));
      word = torch::rand({1}).item<double>() < 2 ? words[t] : outputs.back().argmax(1);
    }
    return torch::stack(outputs);
  }
  torch::nn::Embedding embedding{nullptr};
  torch::nn::GRUCell cell{nullptr};
  torch::nn::Linear out{nullptr};
};
TORCH_MODULE(Decoder);

#ifdef UNKNOWN
torch::Tensor ownLoss(const torch::Tensor &);
#else
static torch::Tensor ownLoss(const torch::Tensor &out) {
  return torch::nn::functional::cross_entropy(out.view({-1, 300}),
                                              torch::randint(0, 300, {72}, torch::kLong));
}
#endif

int main() {
  Decoder model;
  torch::optim::Adam optimizer(model->parameters(), 1e-3);
  for (int i = 0; i < 3; ++i) {
    optimizer.zero_grad();
    auto out = model->forward(torch::randint(0, 300, {10, 8}, torch::kLong));
    ownLoss(out).backward();
    optimizer.step();
  }
}
