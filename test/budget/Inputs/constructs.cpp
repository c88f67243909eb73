// One model for each way to write a constructor.

#include "measure.h"
#include <numeric>

namespace nn = torch::nn;

// Values: arithmetic, ternaries, casts, enumerators, texts, constants.
constexpr int kWidth = 8;
static const int64_t kTwice = 2 * kWidth;
enum class Size { Small = 1, Large = 3 };
struct ValuesImpl : nn::Module {
  ValuesImpl(int64_t in, double factor, bool wide, Size size,
             const std::string &name = "out")
      : hidden(wide ? in * 2 : in) {
    const int scaled = static_cast<int>(hidden * factor);
    a = register_module("a", nn::Linear(in, scaled));
    b = register_module("b", nn::Linear(scaled, kTwice - kWidth));
    c = register_module(
        name + "_layer",
        nn::Linear(std::max<int64_t>(in, 3), static_cast<int>(size) << 1));
    if (name == "out")
      d = register_module("d", nn::Linear(1, 2));
    else
      d = register_module("d", nn::Linear(100, 200));
  }
  int64_t hidden;
  nn::Linear a{nullptr}, b{nullptr}, c{nullptr}, d{nullptr};
};
TORCH_MODULE(Values);

// Switch, while, do, break, continue, early return.
struct ControlImpl : nn::Module {
  explicit ControlImpl(int kind) {
    switch (kind) {
    case 1:
      register_module("one", nn::Linear(1, 1));
      break;
    case 2:
      register_module("two", nn::Linear(2, 2));
      [[fallthrough]];
    case 3:
      register_module("three", nn::Linear(3, 3));
      break;
    default:
      register_module("other", nn::Linear(9, 9));
    }
    int i = 0;
    while (true) {
      if (++i == 2)
        continue;
      if (i > 4)
        break;
      register_module("w" + std::to_string(i), nn::Linear(i, 1));
    }
    do
      --i;
    while (i > 3);
    while (int width = i - 1) {
      register_module("v" + std::to_string(width), nn::Linear(width, 2));
      if (width == 1)
        break;
      --i;
    }
    i = 3;
    if (i == 3)
      return;
    register_module("never", nn::Linear(1000, 1000));
  }
};
TORCH_MODULE(Control);

// Lists: vectors, arrays, pairs, maps, structured bindings.
struct ListsImpl : nn::Module {
  explicit ListsImpl(std::vector<int64_t> sizes) {
    std::vector<std::pair<int64_t, int64_t>> pairs;
    for (size_t i = 0; i + 1 < sizes.size(); ++i)
      pairs.emplace_back(sizes[i], sizes[i + 1]);
    nn::Sequential layers;
    for (const auto &[in, out] : pairs)
      layers->push_back(nn::Linear(in, out));
    register_module("layers", layers);
    const int kernels[] = {3, 5};
    nn::ModuleList convs;
    for (int kernel : kernels)
      convs->push_back(nn::Conv1d(2, 2, kernel));
    register_module("convs", convs);
    std::map<std::string, int> named = {{"x", 2}, {"y", 3}};
    for (auto &entry : named)
      register_module(entry.first, nn::Linear(entry.second, 1));
    register_module("last", nn::Linear(sizes.back(), sizes.front()));
  }
};
TORCH_MODULE(Lists);

// Variables that nobody writes to, and what the library knows of numbers.
static std::map<char, std::vector<int>> tables = {{'A', {4, 2}}, {'B', {9}}};
struct GlobalsImpl : nn::Module {
  static int expansion;
  explicit GlobalsImpl(double version) {
    nn::Sequential layers;
    for (int width : tables['A'])
      layers->push_back(nn::Linear(width, width * expansion));
    register_module("layers", layers);
    register_module("rounded",
                    nn::Linear(int64_t(std::round(5 * version)),
                               std::lround(std::sqrt(16.4)) + std::floor(2.7)));
    if (std::abs(version - 1.0) < std::numeric_limits<double>::epsilon())
      register_module("first", nn::Linear(1, 2));
    else if (version < std::numeric_limits<int>::max())
      register_module("other", nn::Linear(3, 4));
  }
};
int GlobalsImpl::expansion = 3;
TORCH_MODULE(Globals);

// Parts of containers, and algorithms over them.
struct PartsImpl : nn::Module {
  explicit PartsImpl(std::vector<int64_t> sizes) {
    std::vector<int64_t> head(sizes.begin(), sizes.begin() + 2);
    std::reverse(std::begin(head), std::end(head));
    add("head", head);
    head.insert(head.end(), sizes.begin() + 1, std::prev(sizes.end()));
    head.insert(head.begin(), 9);
    head.erase(head.begin() + 1);
    add("longer", head);
    int64_t total = 0;
    for (auto it = sizes.begin(); it != sizes.end(); ++it)
      total += *it;
    register_module("total", nn::Linear(total, sizes.end() - sizes.begin()));
    const int kernels[] = {1, 3, 5};
    std::vector<int> all(std::begin(kernels), std::end(kernels));
    register_module("first", nn::Conv1d(1, *kernels, all.size()));
    const auto most = std::max_element(sizes.begin(), sizes.end());
    register_module("most", nn::Linear(*most, most[-1]));
    std::vector<int64_t> steps(3);
    std::iota(steps.begin(), steps.end(), 5);
    add("steps", steps);
    register_module(
        "sum", nn::Linear(std::accumulate(sizes.begin() + 1, sizes.end(), 0),
                          std::distance(sizes.begin(), most)));
  }
  void add(const std::string &name, const std::vector<int64_t> &sizes) {
    nn::Sequential layers;
    for (size_t i = 1; i < sizes.size(); ++i)
      layers->push_back(nn::Linear(sizes[i - 1], sizes[i]));
    register_module(name, layers);
  }
};
TORCH_MODULE(Parts);

// A struct of options, with defaults.
struct Config {
  int64_t width = 4;
  int layers = 2;
  bool bias = true;
};
struct ConfiguredImpl : nn::Module {
  explicit ConfiguredImpl(const Config &config = Config()) : config_(config) {
    for (int i = 0; i < config_.layers; ++i)
      list->push_back(nn::Linear(
          nn::LinearOptions(config_.width, config_.width).bias(config_.bias)));
    register_module("list", list);
  }
  Config config_;
  nn::ModuleList list;
};
TORCH_MODULE(Configured);

// Bases, virtual functions, members with initializers, delegation.
struct BaseImpl : nn::Module {
  explicit BaseImpl(int64_t width) : stem(width, 1) {
    register_module("stem", stem);
    build(width);
  }
  virtual void build(int64_t width) {
    register_module("of_base", nn::Linear(width, 2));
  }
  nn::Linear stem;
};
struct DerivedImpl : BaseImpl {
  DerivedImpl() : DerivedImpl(5) {}
  explicit DerivedImpl(int64_t width) : BaseImpl(width) {
    build(width + 1);
    register_module("norm", norm);
  }
  void build(int64_t width) override {
    register_module("of_derived", nn::Linear(width, 3));
  }
  nn::LayerNorm norm = nn::LayerNorm(nn::LayerNormOptions({4}));
};
TORCH_MODULE(Derived);

// One of the library's as a base.
struct MaskedImpl : nn::LinearImpl {
  MaskedImpl(int64_t in, int64_t out)
      : nn::LinearImpl(nn::LinearOptions(in, out).bias(false)) {
    mask = register_buffer("mask", torch::ones({out, in}, torch::kBool));
  }
  torch::Tensor mask;
};
TORCH_MODULE(Masked);

// Class and function templates; a class of modules as an argument.
template <typename Block, int N> struct StackImpl : nn::Module {
  explicit StackImpl(int64_t width) {
    for (int i = 0; i < N; ++i)
      add<Block>(i, width);
  }
  template <typename T> void add(int i, int64_t width) {
    if constexpr (N > 1)
      register_module("block" + std::to_string(i), T(width, width));
    else
      register_module("only", T(width, width));
  }
};
struct UsesStacksImpl : nn::Module {
  UsesStacksImpl() {
    register_module("one", std::make_shared<StackImpl<nn::Linear, 1>>(3));
    register_module("two", std::make_shared<StackImpl<Masked, 2>>(2));
  }
};
TORCH_MODULE(UsesStacks);

// Helpers and lambdas that make modules and options, by value and by reference.
static nn::Conv2dOptions square(int64_t channels, int64_t kernel = 3) {
  return nn::Conv2dOptions(channels, channels, kernel).bias(false);
}
static void addPair(nn::Sequential &to, int64_t width) {
  to->push_back(nn::Linear(width, width));
  to->push_back(nn::ReLU());
}
struct HelpersImpl : nn::Module {
  HelpersImpl() {
    int64_t width = 2;
    auto grow = [&width](int64_t by) { return width *= by; };
    auto make = [this](const std::string &name, int64_t out) {
      return register_module(name, nn::Linear(1, out));
    };
    make("a", grow(2));
    make("b", grow(3));
    register_module("conv", nn::Conv2d(square(3)));
    nn::Sequential pairs;
    addPair(pairs, 2);
    addPair(pairs, 3);
    register_module("pairs", pairs);
    std::function<nn::Linear(int)> later = [](int n) {
      return nn::Linear(n, n);
    };
    register_module("later", later(2));
  }
};
TORCH_MODULE(Helpers);

// Sequential in all its forms, ModuleDict, replace_module, clone.
struct ContainersImpl : nn::Module {
  ContainersImpl() {
    register_module("plain", nn::Sequential(nn::Linear(1, 2), nn::ReLU(),
                                            nn::Linear(2, 1)));
    register_module("named", nn::Sequential({{"in", nn::Linear(1, 3)},
                                             {"out", nn::Linear(3, 1)}}));
    nn::Sequential tail;
    tail->push_back("first", nn::Linear(4, 4));
    tail->extend(std::vector<nn::Linear>{nn::Linear(5, 5), nn::Linear(6, 6)});
    register_module("tail", tail);
    register_module("copy", tail->clone());
    register_module("head", nn::Linear(1000, 1000));
    replace_module("head", nn::Linear(7, 7));
  }
};
TORCH_MODULE(Containers);

// Parameters and buffers of one's own, frozen ones, an undefined one.
struct TensorsImpl : nn::Module {
  TensorsImpl() {
    weight = register_parameter("weight", torch::randn({3, 4}) * 0.1);
    fixed = register_parameter("fixed", torch::zeros({5}), false);
    none = register_parameter("none", torch::Tensor(), false);
    register_buffer("table", torch::arange(0, 10, 2));
    register_buffer(
        "half", torch::zeros({4}, torch::TensorOptions().dtype(torch::kHalf)));
    register_buffer("eye", torch::eye(3).unsqueeze(0));
    layer = register_module("layer", nn::Linear(2, 2));
    layer->weight.set_requires_grad(false);
  }
  torch::Tensor weight, fixed, none;
  nn::Linear layer{nullptr};
};
TORCH_MODULE(Tensors);

// A module that is registered twice under two names is one module.
struct SharedImpl : nn::Module {
  SharedImpl() {
    nn::Linear both(4, 4);
    register_module("left", both);
    register_module("right", both);
  }
};
TORCH_MODULE(Shared);

// Kept alive, and in no parameters().
struct ForgottenImpl : nn::Module {
  ForgottenImpl() { register_module("used", used); }
  nn::Linear used{3, 3}, forgotten{10, 10};
};
TORCH_MODULE(Forgotten);

// Modules that have no constructor of their own, by their holder.
struct PlainImpl : nn::Module {
  torch::Tensor forward(torch::Tensor x) { return layer(x); }
  nn::Linear layer = register_module("layer", nn::Linear(2, 5));
};
TORCH_MODULE(Plain);
struct PlainPartsImpl : nn::Module {
  PlainPartsImpl() {
    parts->push_back(Plain());
    parts->push_back(nn::Linear(parts->size(), 3));
    register_module("parts", parts);
    register_module("plain", Plain());
    register_module("moved", std::make_shared<PlainImpl>(PlainImpl()));
    auto angles = torch::einsum("i,j->ij", {torch::arange(6), torch::ones(5)});
    register_buffer("angles", torch::cat({angles, angles}, -1).cos());
  }
  nn::Sequential parts;
};
TORCH_MODULE(PlainParts);

// Lists and dictionaries of parameters, which take gradients as their tensors
// do.
struct LooseImpl : nn::Module {
  LooseImpl() {
    const auto options = torch::TensorOptions().requires_grad(true);
    scales->append(torch::ones({3, 2}, torch::requires_grad()));
    scales->append(torch::zeros(5));
    scales = register_module("scales", scales);
    nn::ParameterList more(torch::rand({4}, options), torch::rand(2));
    scales->extend(*more);
    if (scales->size() == 4)
      tables->insert("seven", torch::rand({7, scales[0].size(0)}, options));
    tables->insert("gone", torch::rand(100));
    tables->pop("gone");
    register_module("tables", tables);
    for (const auto &item : *tables)
      if (tables->contains(item.key()) && !tables->contains("gone"))
        register_module("layer", nn::Linear(item.value().size(0), 2));
    register_module("again", nn::Linear(tables["seven"].size(1), 1));
    for (const std::string &key : tables->keys())
      register_buffer(key, torch::zeros(9));
  }
  nn::ParameterList scales;
  nn::ParameterDict tables;
};
TORCH_MODULE(Loose);

// Weights that are given: frozen, or not.
struct GivenWeightsImpl : nn::Module {
  GivenWeightsImpl() {
    words = register_module(
        "words", nn::Embedding::from_pretrained(torch::rand({20, 6})));
    tuned = register_module(
        "tuned", nn::Embedding::from_pretrained(
                     torch::zeros({9, 4}, torch::kDouble),
                     nn::EmbeddingFromPretrainedOptions().freeze(false)));
    bag = register_module("bag", nn::EmbeddingBag::from_pretrained(
                                     torch::rand({5, tuned->weight.size(1)})));
    plain = register_module("plain",
                            nn::Embedding(nn::EmbeddingOptions(3, 4)._weight(
                                torch::rand({3, 4}, torch::kDouble))));
  }
  nn::Embedding words{nullptr}, tuned{nullptr}, plain{nullptr};
  nn::EmbeddingBag bag{nullptr};
};
TORCH_MODULE(GivenWeights);

// Places in texts, and numbers that wrap around.
struct PlacesImpl : nn::Module {
  explicit PlacesImpl(const std::string &kind) {
    const std::vector<int64_t> widths = {5, 3, 4};
    if (kind.find("conv") != std::string::npos)
      register_module("conv", nn::Conv2d(3, widths.size(), 3));
    if (kind.find("norm") == std::string::npos)
      register_module("fc", nn::Linear(6, kind.find_last_of('-')));
    if (kind.find("norm") < kind.size() ||
        kind.find("relu") >= kind.find("conv"))
      register_module("one", nn::Linear(1, kind.find_first_of("-l")));
    int64_t sum = 0;
    for (size_t i = widths.size() - 1; i < widths.size(); --i)
      sum = 2 * sum + widths[i];
    register_module("sum", nn::Linear(1, sum));
    size_t least = std::numeric_limits<size_t>::max();
    for (int64_t width : widths)
      least = std::min<size_t>(least, width);
    const size_t below = least - 4;
    register_module("least", nn::Linear(least, below / 2 > least ? 7 : 8));
    register_module("part", nn::Linear(below % 10, double(below) > 0 ? 9 : 1));
    register_module("top", nn::Linear(1, below >> 62));
  }
};
TORCH_MODULE(Places);

int main() {
  measure("Values(8, 1.5, true, 3)", Values(8, 1.5, true, Size::Large));
  MEASURE(Control(2));
  measure("Control(7)", Control(3 + 4));
  measure("Lists({4, 3, 2})", Lists(std::vector<int64_t>{4, 3, 2}));
  measure("Parts({2, 3, 7, 4})", Parts(std::vector<int64_t>{2, 3, 7, 4}));
  MEASURE(Globals(1));
  MEASURE(Globals(1.5));
  MEASURE(Configured());
  measure("Configured({3, 2, false})", Configured(Config{3, 2, false}));
  measure("Derived()", std::make_shared<DerivedImpl>());
  MEASURE(Masked(4, 2));
  MEASURE(UsesStacks());
  MEASURE(Helpers());
  MEASURE(Containers());
  MEASURE(Tensors());
  MEASURE(Shared());
  MEASURE(Forgotten());
  MEASURE(PlainParts());
  MEASURE(Loose());
  MEASURE(GivenWeights());
  measure("Places(\"conv-relu-5\")", Places("conv-relu-5"));
}
