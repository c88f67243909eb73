#include <torch/torch.h>

namespace nn = torch::nn;

namespace small {
struct NetImpl : nn::Module {
  explicit NetImpl(int64_t width = 2) {
    register_module("layer", nn::Linear(width, width));
  }
};
TORCH_MODULE(Net);
} // namespace small

namespace large {
struct Options {
  int64_t width = 3;
  bool bias = true;
  std::vector<int64_t> sizes = {1, 2};
  std::string name = "layer";
};
struct NetImpl : nn::Module {
  NetImpl(Options options, double scale) {
    register_module(options.name,
                    nn::Linear(nn::LinearOptions(options.width * scale,
                                                 options.sizes.back())
                                   .bias(options.bias)));
  }
};
TORCH_MODULE(Net);

struct AbstractImpl : nn::Module {
  virtual int64_t width() = 0;
};
} // namespace large

template <int N> struct BlockImpl : nn::Module {
  BlockImpl() { register_module("layer", nn::Linear(N, N)); }
};
template <int N> struct Block : nn::ModuleHolder<BlockImpl<N>> {
  using nn::ModuleHolder<BlockImpl<N>>::ModuleHolder;
};
using Block4 = Block<4>;
using Block5 = Block<5>;
static int64_t count(Block4 a, Block5 b) {
  return a->parameters().size() + b->parameters().size();
}

int main() { return count(Block4(), Block5()); }
