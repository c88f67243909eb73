// What is not known, and code that only looks like it made a module.

#include <torch/torch.h>

namespace nn = torch::nn;

int64_t readWidth();
void decorate(nn::Sequential layers);

struct SizesImpl : nn::Module {
  explicit SizesImpl(int64_t out) {
    const int64_t width = readWidth();
    register_module("known", nn::Linear(4, out));
    register_module("wide", nn::Linear(width, out));
    register_module("biased",
                    nn::Linear(nn::LinearOptions(2, 2).bias(width > 3)));
  }
};
TORCH_MODULE(Sizes);

struct ConditionsImpl : nn::Module {
  ConditionsImpl() {
    if (std::getenv("EXTRA"))
      register_module("extra", nn::Linear(8, 8));
    int64_t width = 4;
    if (readWidth() > 3)
      width = 5;
    register_module("layer", nn::Linear(width, 2));
    for (int64_t i = 0; i < readWidth(); ++i)
      register_module("l" + std::to_string(i), nn::Linear(3, 3));
    nn::Sequential layers(nn::Linear(2, 2));
    decorate(layers);
    register_module("layers", layers);
    if (readWidth() == 7)
      return;
    register_module("last", nn::Linear(6, 6));
  }
};
TORCH_MODULE(Conditions);

// Variables that somebody writes to, or may write to.
static int64_t width = 3;
static std::vector<int64_t> sizes = {3, 4};
int64_t visible = 2;
struct WrittenImpl : nn::Module {
  static int64_t count;
  WrittenImpl() {
    register_module("a", nn::Linear(width, 2));
    register_module("b", nn::Linear(sizes[0], 2));
    register_module("c", nn::Linear(visible, 2));
    register_module("d", nn::Linear(count, 2));
  }
};
int64_t WrittenImpl::count = 7;
TORCH_MODULE(Written);
void configure(int64_t value) {
  width = value;
  sizes.push_back(value);
  ++WrittenImpl::count;
}

// What throws when it does not fit is assumed to fit.
struct CheckedImpl : nn::Module {
  explicit CheckedImpl(int64_t heads) {
    TORCH_CHECK(readWidth() % heads == 0, "heads");
    if (readWidth() < 3)
      throw std::invalid_argument("width");
    TORCH_CHECK(heads > 1, "more heads");
    register_module("layer", nn::Linear(heads, heads));
  }
};
TORCH_MODULE(Checked);

struct ElsewhereImpl : nn::Module {
  ElsewhereImpl();
};
TORCH_MODULE(Elsewhere);
struct PartElsewhereImpl : nn::Module {
  PartElsewhereImpl() {
    register_module("part", Elsewhere());
    register_module("own", nn::Linear(2, 3));
  }
};
TORCH_MODULE(PartElsewhere);

// Not LibTorch's: names alone say nothing.
namespace mine {
struct Linear {
  Linear(int, int) {}
};
struct Registry {
  Linear register_module(const char *, Linear l) { return l; }
};
} // namespace mine
struct LookalikeImpl : nn::Module {
  LookalikeImpl() {
    mine::Registry registry;
    registry.register_module("a", mine::Linear(1000, 1000));
    auto unused = [this] { register_module("b", nn::Linear(1000, 1000)); };
    (void)unused;
    register_module("real", nn::Linear(1, 1));
  }
};
TORCH_MODULE(Lookalike);

struct AsArgumentImpl : nn::Module {
  explicit AsArgumentImpl(nn::Linear given) { register_module("given", given); }
};
TORCH_MODULE(AsArgument);

int main(int argc, char **) {
  Sizes sizes(3);
  Checked checked(argc);
}
