// Two custom functions that keep tensors in saved_data: their output, their
// input.
#include "Memory.h"
#include <torch/torch.h>

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Exp : torch::autograd::Function<Exp> {
  static torch::Tensor forward(AutogradContext *ctx, torch::Tensor x) {
    torch::Tensor y = x.exp();
#ifndef FIXED
    ctx->saved_data["y"] = y;
#else
    ctx->save_for_backward({y});
#endif
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
#ifndef FIXED
    torch::Tensor y = ctx->saved_data["y"].toTensor();
#else
    torch::Tensor y = ctx->get_saved_variables()[0];
#endif
    return {grads[0] * y};
  }
};

struct Square : torch::autograd::Function<Square> {
  static torch::Tensor forward(AutogradContext *ctx, torch::Tensor x) {
#ifndef FIXED
    ctx->saved_data["x"] = x;
#else
    ctx->save_for_backward({x});
#endif
    return x * x;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
#ifndef FIXED
    return {grads[0] * 2 * ctx->saved_data["x"].toTensor()};
#else
    return {grads[0] * 2 * ctx->get_saved_variables()[0]};
#endif
  }
};

int main() {
  proof::begin();
  torch::Tensor weight = torch::rand({256, 256}, torch::requires_grad());
  std::vector<float> results;
  results.reserve(512);

  proof::Growth growth;
  for (int i = 0; i <= proof::Growth::Last; ++i) {
    torch::Tensor loss = Exp::apply(weight * 0.5).sum();
    loss.backward();
    results.push_back(loss.item<float>());
    results.push_back(weight.grad().sum().item<float>());
    weight.mutable_grad() = torch::Tensor();
    growth.endOf(i);
  }
  growth.print("output in saved_data");

  {
    proof::Span span;
    torch::Tensor loss = Square::apply(weight * 0.5).sum();
    loss.backward();
    results.push_back(weight.grad().sum().item<float>());
    weight.mutable_grad() = torch::Tensor();
    span.print("input in saved_data, after backward");
  }
  proof::printBits("losses and gradients", results);
}
