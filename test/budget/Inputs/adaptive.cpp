// Targets that are all in the cluster that takes the most: what --budget takes the
// others for.

#include "step.h"

namespace nn = torch::nn;
using torch::Tensor;

struct AdaptiveImpl : nn::Module {
  AdaptiveImpl(int64_t width, bool headBias)
      : embed(100, width),
        softmax(nn::AdaptiveLogSoftmaxWithLossOptions(width, 100, {10, 40})
                    .div_value(2.)
                    .head_bias(headBias)) {
    register_module("embed", embed);
    register_module("softmax", softmax);
  }
  Tensor forward(Tensor words, Tensor next) {
    return -softmax(embed(words), next).output;
  }
  nn::Embedding embed;
  nn::AdaptiveLogSoftmaxWithLoss softmax;
};
TORCH_MODULE(Adaptive);

int main() {
  steps::begin();
  STEP(Adaptive(16, false), "64:int64 64:int64",
       torch::randint(0, 100, {64}, torch::kLong),
       torch::randint(40, 100, {64}, torch::kLong));
  STEP(Adaptive(32, true), "500:int64 500:int64",
       torch::randint(0, 100, {500}, torch::kLong),
       torch::randint(40, 100, {500}, torch::kLong));
}
