// Passes that never end, or whose tensors are beyond all memory.

#include <torch/torch.h>

namespace nn = torch::nn;

struct EndlessImpl : nn::Module {
  torch::Tensor forward(torch::Tensor x) {
    for (;;)
      x = x + 1;
  }
};
TORCH_MODULE(Endless);

struct ChainImpl : nn::Module {
  ChainImpl() { w = register_parameter("w", torch::ones({2})); }
  torch::Tensor forward(torch::Tensor x) {
    x = x * w;
    for (int i = 0; i < 30000; ++i)
      x = torch::exp(x);
    return x;
  }
  torch::Tensor w;
};
TORCH_MODULE(Chain);

struct SquaresImpl : nn::Module {
  torch::Tensor forward(torch::Tensor x) {
    for (int i = 0; i < 40; ++i)
      x = torch::cat({x, x}, 0);
    return x;
  }
};
TORCH_MODULE(Squares);

struct AgainImpl : nn::Module {
  torch::Tensor forward(torch::Tensor x) { return forward(x + 1); }
};
TORCH_MODULE(Again);

struct LongImpl : nn::Module {
  LongImpl() : lstm(nn::LSTMOptions(2, 2).num_layers(1000)) {}
  torch::Tensor forward(torch::Tensor x) { return std::get<0>(lstm(x)); }
  nn::LSTM lstm;
};
TORCH_MODULE(Long);

struct SlicesImpl : nn::Module {
  torch::Tensor forward(torch::Tensor x) {
    auto all = x.split(0, 0);
    auto more = x.chunk(-3, 9);
    return torch::conv2d(x.view({-1, -1}), x, {}, 0).select(0, 7);
  }
};
TORCH_MODULE(Slices);

struct NumbersImpl : nn::Module {
  explicit NumbersImpl(int kind) : kind(kind) {}
  torch::Tensor forward(torch::Tensor x) {
    const int64_t large = 4611686018427387904;
    switch (kind) {
    case 0:
      return torch::max_pool2d(x, large, large, large, large);
    case 1:
      return torch::conv_transpose2d(x.unsqueeze(0), x.unsqueeze(0), {}, large);
    case 2:
      return x.repeat({large, large, large}).slice(0, -large, large, large);
    case 3:
      return torch::stack(torch::zeros({large / 4096}).unbind(), 0);
    case 4:
      return x.narrow(0, large, large).select(1, -large);
    case 5:
      return torch::constant_pad_nd(x, {-large, -large});
    default:
      return x.view({large, large, -1}).pow(large).flatten(large);
    }
  }
  int kind;
};
TORCH_MODULE(Numbers);
