// Names that a page must not take for its own words.

#include <torch/torch.h>

namespace nn = torch::nn;

struct OddImpl : nn::Module {
  explicit OddImpl(std::string name) {
    fc = register_module("</code><script>alert('1')</script>", nn::Linear(4, 4));
    register_module("a\n\x1b[31m\xff&amp;\"x\"", fc);
    again = register_module(name, nn::Linear(4, 4));
  }
  torch::Tensor forward(torch::Tensor x) { return again(fc(x)).relu(); }
  nn::Linear fc{nullptr}, again{nullptr}, spare{2, 2};
};
TORCH_MODULE(Odd);

struct SameImpl : nn::Module {
  SameImpl() { register_buffer("b", torch::zeros({3})); }
  torch::Tensor forward(torch::Tensor x) { return x; }
};
TORCH_MODULE(Same);

struct DeepImpl : nn::Module {
  DeepImpl() {
    nn::Sequential at;
    register_module("top", at);
    for (int i = 0; i < 14; ++i) {
      nn::Sequential next;
      next->push_back(nn::Linear(1, 1));
      at->push_back(next);
      at = next;
    }
  }
};
TORCH_MODULE(Deep);

struct WideImpl : nn::Module {
  explicit WideImpl(int count) {
    for (int i = 0; i < count; ++i)
      all->push_back(nn::Linear(1, 1));
    register_module("all", all);
  }
  nn::ModuleList all;
};
TORCH_MODULE(Wide);
