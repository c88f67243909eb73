// A declaration of several variables that are no tensors stays where it is.
// RUN: %check_libtorch_tidy %s libtorch-long-lived-intermediate %t

#include "../Inputs/net.h"
#include <iostream>

using torch::Tensor;

struct TwoHeadsImpl : torch::nn::Module {
  TwoHeadsImpl() { fc = register_module("fc", torch::nn::Linear(4, 4)); }
  std::tuple<Tensor, Tensor> forward(Tensor x) { return {fc(x), fc(-x)}; }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(TwoHeads);
void several(TwoHeads net, const Batches &data) {
  std::tuple<Tensor, Tensor> heads, spare;
  // CHECK-MESSAGES: :[[@LINE-1]]:30: warning: wasted peak memory: 'heads' is declared outside the loop that makes it, so the tensor and its graph stay alive while the next iteration computes the new one; declare it inside the loop [libtorch-long-lived-intermediate]
  for (const Tensor &x : data) {
    heads = net(x);
    std::cout << std::get<0>(heads).sizes();
  }
  std::cout << std::get<0>(spare).defined();
}
