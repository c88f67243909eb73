// RUN: %check_libtorch_tidy %s libtorch-oversized-linear %t

#include <torch/torch.h>

namespace nn = torch::nn;

const int64_t vocab_size = 50257;
struct Config {
  static constexpr int vocabSize = 100000;
};

struct Linear {
  Linear(int in, int out);
};

void layers(int64_t in, int64_t out, nn::LinearOptions given) {
  nn::Linear small(4096, 1000);
  nn::Linear unknown(in, 1 << 20);
  nn::Linear from(given);
  // A head over a vocabulary has to be that large.
  nn::Linear head(4096, vocab_size);
  nn::Linear heads(nn::LinearOptions(4096, Config::vocabSize).bias(false));
  nn::Linear reset(nn::LinearOptions(100000, 10000).in_features(10));
  nn::Linear variable(nn::LinearOptions(100000, 10000).in_features(in));
  nn::LinearOptions options(100000, 10000);
  options.in_features(10);
  nn::Linear changed(options);
  nn::Linear none{nullptr};
  nn::Linear copy(small);
  Linear own(100000, 100000);
  nn::Bilinear other(4096, 4096, 2);
  nn::Embedding table(100000, 4096);
  auto conv = std::make_shared<nn::Conv2dImpl>(nn::Conv2dOptions(4096, 4096, 3));
  auto pair = std::make_shared<std::pair<int, int>>(100000, 100000);
  nn::Linear negative(-1, 100000);
  nn::Linear absurd(1LL << 60, 1LL << 60);
}
