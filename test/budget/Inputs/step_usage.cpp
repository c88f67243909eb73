#include <torch/torch.h>

namespace nn = torch::nn;
using torch::Tensor;

struct NetImpl : nn::Module {
  explicit NetImpl(int64_t classes)
      : conv(nn::Conv2dOptions(3, 8, 3).padding(1)), fc(8, classes) {
    register_module("conv", conv);
    register_module("fc", fc);
  }
  Tensor forward(Tensor x) {
    x = torch::relu(conv(x));
    return fc(x.mean({2, 3}));
  }
  nn::Conv2d conv;
  nn::Linear fc;
};
TORCH_MODULE(Net);

struct WrongImpl : nn::Module {
  WrongImpl() : conv(nn::Conv2dOptions(3, 8, 3)), fc(8 * 30 * 30, 10) {
    register_module("conv", conv);
    register_module("fc", fc);
  }
  Tensor forward(Tensor x) { return fc(conv(x).flatten(1)); }
  nn::Conv2d conv;
  nn::Linear fc;
};
TORCH_MODULE(Wrong);

struct ReadsImpl : nn::Module {
  ReadsImpl() : fc(4, 4) { register_module("fc", fc); }
  Tensor forward(Tensor x, Tensor lengths) {
    Tensor y = fc(x);
    Tensor z = torch::linalg_matrix_exp(y);
    return lengths.max().item<int64_t>() > 3 ? y : z;
  }
  nn::Linear fc;
};
TORCH_MODULE(Reads);

struct StillImpl : nn::Module {
  StillImpl() : fc(2, 2) { register_module("fc", fc); }
  Tensor forward(Tensor x) { return fc->weight * 2; }
  nn::Linear fc;
};
TORCH_MODULE(Still);
