// Steps whose peaks are known but for a few percent, each because of one line.
#include <torch/torch.h>

namespace nn = torch::nn;
using torch::Tensor;

struct ImageImpl : nn::Module {
  explicit ImageImpl(bool last) : last(last) {
    register_module("conv", conv);
    register_module("grouped", grouped);
    register_module("norm", norm);
    register_module("up", up);
    register_module("drop", drop);
  }
  Tensor of(Tensor x) {
    return conv(last ? x.contiguous(torch::MemoryFormat::ChannelsLast) : x);
  }
  bool last;
  nn::Conv2d conv{nn::Conv2dOptions(4, 8, 3).padding(1)};
  nn::Conv2d grouped{nn::Conv2dOptions(8, 8, 3).padding(1).groups(2)};
  nn::GroupNorm norm{2, 8};
  nn::Upsample up{
      nn::UpsampleOptions().scale_factor(std::vector<double>{2, 2})};
  nn::Dropout2d drop;
};

#define IMAGE(NAME, ...)                                                       \
  struct NAME : ImageImpl {                                                    \
    using ImageImpl::ImageImpl;                                                \
    Tensor forward(Tensor x) {                                                 \
      x = of(x);                                                               \
      return __VA_ARGS__;                                                      \
    }                                                                          \
  };
IMAGE(Activated, x.relu())
IMAGE(Grouped, grouped(x))
IMAGE(Normalized, norm(x))
IMAGE(Resized, up(x))
IMAGE(Dropped, drop(x))
IMAGE(Halved, x.chunk(2, 1)[0])
IMAGE(Indexed, x.index({torch::indexing::Slice(), 0}))
IMAGE(Stacked, torch::stack({x, x}))

struct Summed : nn::Module {
  Summed() { weight = register_parameter("weight", torch::rand({5, 6})); }
  Tensor forward(Tensor x) { return torch::einsum("bi,io->bo", {x, weight}); }
  Tensor weight;
};
struct Outer : nn::Module {
  Outer() { weight = register_parameter("weight", torch::rand({5})); }
  Tensor forward(Tensor x) { return torch::einsum("bi,o->bio", {x, weight}); }
  Tensor weight;
};
