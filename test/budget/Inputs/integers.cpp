// Integers in front of what takes them, or not. With RUN, what the library does.
#include <torch/torch.h>

using torch::Tensor;

#define MODEL(NAME, MEMBER, MADE, RESULT)                                                      \
  struct NAME##Impl : torch::nn::Module {                                                      \
    NAME##Impl() { n = register_module("n", MADE); }                                           \
    Tensor forward(Tensor x) { return RESULT; }                                                \
    torch::nn::MEMBER n{nullptr};                                                              \
  };                                                                                           \
  TORCH_MODULE(NAME)
#define FUNCTION(NAME, RESULT)                                                                 \
  struct NAME##Impl : torch::nn::Module {                                                      \
    NAME##Impl() { w = register_parameter("w", torch::rand({16, 16})); }                       \
    Tensor forward(Tensor x) { return RESULT; }                                                \
    Tensor w;                                                                                  \
  };                                                                                           \
  TORCH_MODULE(NAME)

MODEL(Linear, Linear, torch::nn::Linear(16, 2), n(x));
MODEL(Conv, Conv1d, torch::nn::Conv1d(4, 2, 3), n(x));
MODEL(Layer, LayerNorm, torch::nn::LayerNorm(torch::nn::LayerNormOptions({16})), n(x));
MODEL(Batch, BatchNorm1d, torch::nn::BatchNorm1d(4), n(x));
MODEL(Group, GroupNorm, torch::nn::GroupNorm(2, 4), n(x));
MODEL(Recurrent, GRU, torch::nn::GRU(16, 8), std::get<0>(n(x)));
MODEL(Drop, Dropout, torch::nn::Dropout(0.5), n(x));
MODEL(Pool, AvgPool1d, torch::nn::AvgPool1d(2), n(x));
MODEL(Words, Embedding, torch::nn::Embedding(10, 4), n(x));
MODEL(Real, Embedding, torch::nn::Embedding(10, 4), n(x * 0.5));
FUNCTION(Product, torch::matmul(x, w));
FUNCTION(Doubles, torch::matmul(x.to(torch::kFloat64), w));
FUNCTION(Soft, torch::softmax(x, 1));
FUNCTION(Typed, torch::softmax(x, 1, torch::kFloat32));
FUNCTION(Mean, x.mean());
FUNCTION(MeanOf, x.mean(1, false, torch::kFloat32));
FUNCTION(Sum, x.sum(1));
FUNCTION(Scaled, (x / 2).mean(1));
FUNCTION(Truths, (x > 0).to(torch::kFloat32).mean(1));
FUNCTION(Deviation, x.std());
FUNCTION(Added, x + w[0]);

template <typename Net> void attempt(const char *name) {
  try {
    Net net;
    net->forward(torch::zeros({2, 4, 16}, torch::kLong));
    std::cout << name << "\n";
  } catch (const std::exception &) {
    std::cout << name << " throws\n";
  }
}

#define EACH(DO)                                                                               \
  DO(Linear) DO(Conv) DO(Layer) DO(Batch) DO(Group) DO(Recurrent) DO(Drop) DO(Pool) DO(Words)  \
  DO(Real) DO(Product) DO(Doubles) DO(Soft) DO(Typed) DO(Mean) DO(MeanOf) DO(Sum) DO(Scaled)   \
  DO(Truths) DO(Deviation) DO(Added)
#define ATTEMPT(NAME) attempt<NAME>(#NAME);

#ifdef RUN
int main() { EACH(ATTEMPT) }
#endif
