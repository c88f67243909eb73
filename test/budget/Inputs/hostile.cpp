// Constructors that never end, or make more than any machine could hold.

#include <torch/torch.h>

namespace nn = torch::nn;

struct ForeverImpl : nn::Module {
  ForeverImpl() {
    register_module("layer", nn::Linear(2, 2));
    for (;;)
      ;
  }
};
TORCH_MODULE(Forever);

struct BillionImpl : nn::Module {
  BillionImpl() {
    int64_t width = 1;
    for (int64_t i = 0; i < 1000000000; ++i)
      width += i % 3;
    register_module("layer", nn::Linear(width, 2));
  }
};
TORCH_MODULE(Billion);

struct MillionImpl : nn::Module {
  MillionImpl() {
    for (int i = 0; i < 1000000; ++i)
      layers->push_back(nn::ReLU());
    register_module("layers", layers);
  }
  nn::Sequential layers;
};
TORCH_MODULE(Million);

struct ItselfImpl : nn::Module {
  ItselfImpl() {
    register_module("layer", nn::Linear(2, 2));
    register_module("inner", std::make_shared<ItselfImpl>());
  }
};
TORCH_MODULE(Itself);

static int64_t deep(int64_t n) { return n == 0 ? 1 : deep(n - 1) + 1; }
struct RecursionImpl : nn::Module {
  RecursionImpl() { register_module("layer", nn::Linear(deep(100000), 2)); }
};
TORCH_MODULE(Recursion);

struct HugeImpl : nn::Module {
  HugeImpl() {
    const int64_t n = 3000000000;
    register_module("a", nn::Linear(n, n));
    register_module("b", nn::Linear(n * n * n, 1));
    register_module("c", nn::Linear(-4, 2));
    register_module("d",
                    nn::Linear(nn::LinearOptions(1 / (n - 3000000000), 2)));
    register_module("e", nn::LSTM(nn::LSTMOptions(2, 2).num_layers(n)));
    register_module("small", nn::Linear(1, 1));
    std::vector<int64_t> many(n);
    register_module("f", nn::Linear(many.size(), 1));
  }
};
TORCH_MODULE(Huge);

struct DoublingImpl : nn::Module {
  DoublingImpl() {
    std::vector<std::vector<int>> list = {{1}};
    std::string name = "x";
    for (int i = 0; i < 60; ++i) {
      for (size_t j = 0, n = list.size(); j < n; ++j)
        list.push_back(list[j]);
      name += name;
    }
    register_module(name, nn::Linear(list.size(), 1));
  }
};
TORCH_MODULE(Doubling);

// Objects that name or hold themselves.
struct Loop {
  Loop &self;
  int width = 3;
  Loop() : self(*this) {}
};
struct LoopedImpl : nn::Module {
  explicit LoopedImpl(Loop loop) {
    Loop other = loop;
    std::vector<Loop> many;
    many.push_back(other);
    register_module("a", nn::Linear(many[0].self.self.width, 2));
  }
};
TORCH_MODULE(Looped);
struct Tree {
  std::vector<Tree> trees;
};
struct RootedImpl : nn::Module {
  RootedImpl() {
    Tree tree;
    tree.trees.push_back(Tree());
    std::swap(tree, tree.trees[0]);
    Tree copy = tree;
    register_module("a", nn::Linear(copy.trees.size(), 2));
  }
};
TORCH_MODULE(Rooted);
int main() { Looped looped((Loop())); }

struct ThrowsImpl : nn::Module {
  ThrowsImpl() {
    register_module("a", nn::Linear(1, 1));
    throw std::runtime_error("no");
  }
};
TORCH_MODULE(Throws);

struct TwiceImpl : nn::Module {
  TwiceImpl() {
    register_module("a", nn::Linear(1, 1));
    register_module("a", nn::Linear(1, 1));
  }
};
TORCH_MODULE(Twice);

struct DottedImpl : nn::Module {
  DottedImpl() { register_module("a.b", nn::Linear(1, 1)); }
};
TORCH_MODULE(Dotted);
