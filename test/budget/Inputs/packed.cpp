// Sequences that are packed, all of full length: what --budget takes the others
// for.

#include "step.h"

namespace nn = torch::nn;
using torch::Tensor;

struct PackedImpl : nn::Module {
  PackedImpl(int64_t layers, bool both, bool batchFirst)
      : batchFirst(batchFirst), lstm(nn::LSTMOptions(16, 12)
                                         .num_layers(layers)
                                         .bidirectional(both)
                                         .batch_first(batchFirst)),
        gru(nn::GRUOptions(both ? 24 : 12, 10)), out(10, 3) {
    register_module("lstm", lstm);
    register_module("gru", gru);
    register_module("out", out);
  }
  Tensor forward(Tensor x, Tensor lengths) {
    namespace rnn = nn::utils::rnn;
    auto packed = rnn::pack_padded_sequence(x, lengths, batchFirst);
    auto encoded = lstm->forward_with_packed_input(packed);
    auto [again, state] = gru->forward_with_packed_input(std::get<0>(encoded));
    auto padded = rnn::pad_packed_sequence(again, batchFirst);
    return out(std::get<0>(padded));
  }
  bool batchFirst;
  nn::LSTM lstm;
  nn::GRU gru;
  nn::Linear out;
};
TORCH_MODULE(Packed);

// Modules, containers and temporaries as programs write them.
struct StackImpl : nn::SequentialImpl {
  using SequentialImpl::SequentialImpl;
  Tensor forward(Tensor x) { return SequentialImpl::forward(x); }
};
TORCH_MODULE(Stack);

struct WrittenImpl : nn::Module {
  WrittenImpl() {
    const std::vector<int64_t> widths = {8, 16, 4};
    for (auto it = widths.rbegin(); it != widths.rend(); ++it) {
      list->push_back(nn::Conv2d(nn::Conv2dOptions(width, *it, 3)
                                     .padding(1)
                                     .padding_mode(torch::kReflect)));
      width = *it;
    }
    heads.emplace("a", nn::Linear(width, 40));
    heads.emplace("b", nn::Linear(width, 2));
    for (auto &head : heads)
      register_module(head.first, head.second);
    register_module("list", list);
    stack = register_module(
        "stack", Stack(nn::Linear(42, 32), nn::ReLU(), nn::Linear(32, 8)));
    rest = register_module("rest",
                           nn::Sequential(nn::Linear(84, 400), nn::Sigmoid()));
  }
  Tensor forward(Tensor x) {
    for (auto it = list->begin(); it != list->end(); ++it)
      x = torch::relu((*it)->as<nn::Conv2d>()->forward(x));
    x = x.mean({2, 3});
    Tensor both =
        torch::cat({heads.at("a")->forward(x), heads.at("b")->forward(x)}, 1);
    Tensor wide = rest->forward(torch::cat({both, both.exp()}, 1));
    return stack->forward(both).sum() + wide;
  }
  int64_t width = 3;
  nn::ModuleList list;
  std::unordered_map<std::string, nn::Linear> heads;
  Stack stack{nullptr};
  nn::Sequential rest{nullptr};
};
TORCH_MODULE(Written);

struct ChosenImpl : nn::Module {
  ChosenImpl() : fc(16, 16) { register_module("fc", fc); }
  Tensor forward(Tensor x) {
    auto rows = torch::where(x.select(1, 0) > -1)[0];
    return fc(x.index_select(0, rows)).relu();
  }
  nn::Linear fc;
};
TORCH_MODULE(Chosen);

// The weight of `out` is that of `em`; its own one stays in parameters().
struct TiedImpl : nn::Module {
  TiedImpl() : em(500, 16), out(16, 500) {
    register_module("em", em);
    register_module("out", out);
    out->weight = em->weight;
  }
  Tensor forward(Tensor x) {
    Tensor h = em(x);
    h = torch::rand({1}).item<float>() > 2 ? h.detach() : h.exp();
    return out(h);
  }
  nn::Embedding em;
  nn::Linear out;
};
TORCH_MODULE(Tied);

// Padded to the same size in another mode than zeros, which the library does in
// the wrong order of dimensions.
struct SameImpl : nn::Module {
  SameImpl()
      : wide(nn::Conv2dOptions(4, 6, {3, 5})
                 .padding(torch::kSame)
                 .padding_mode(torch::kCircular)),
        even(nn::Conv1dOptions(6, 3, 4)
                 .padding(torch::kSame)
                 .dilation(2)
                 .padding_mode(torch::kReplicate)) {
    register_module("wide", wide);
    register_module("even", even);
  }
  Tensor forward(Tensor x) { return even(torch::tanh(wide(x)).flatten(2)); }
  nn::Conv2d wide;
  nn::Conv1d even;
};
TORCH_MODULE(Same);

int main() {
  steps::begin();
  STEP(Tied(), "60:int64", torch::randint(0, 500, {60}, torch::kLong));
  STEP(Written(), "200x3x8x8", torch::rand({200, 3, 8, 8}));
  STEP(Chosen(), "60x16", torch::rand({60, 16}));
  STEP(Same(), "2x4x20x22", torch::rand({2, 4, 20, 22}));
  STEP(Packed(1, false, false), "6x8x16 8:int64", torch::rand({6, 8, 16}),
       torch::full({8}, 6, torch::kLong));
  STEP(Packed(2, true, true), "10x5x16 10:int64", torch::rand({10, 5, 16}),
       torch::full({10}, 5, torch::kLong));
}
