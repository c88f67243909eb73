// Tensors of a custom function go to save_for_backward.
// RUN: %check_libtorch_tidy %s libtorch-autograd-context-cycle %t

#include <torch/torch.h>

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

struct Exp : Function<Exp> {
  static Tensor forward(AutogradContext *ctx, const Tensor &x) {
    Tensor y = x.exp();
    ctx->saved_data["y"] = y;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'y', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    // CHECK-FIXES: ctx->save_for_backward({y});
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    Tensor y = ctx->saved_data["y"].toTensor();
    // CHECK-FIXES: Tensor y = ctx->get_saved_variables()[0];
    return {grads[0] * y};
  }
};

struct Scale : Function<Scale> {
  static Tensor forward(AutogradContext *ctx, Tensor x, Tensor w, double by);
  static variable_list backward(AutogradContext *ctx, variable_list grads);
};

Tensor Scale::forward(AutogradContext *ctx, Tensor x, Tensor w, double by) {
  // CHECK-MESSAGES: :[[@LINE+1]]:3: warning: wasted memory: saved_data holds tensor 'x', which backward() does not release: it lives as long as the graph node; save it with save_for_backward() [libtorch-autograd-context-cycle]
  ctx->saved_data["x"] = x;
  ctx->saved_data["w"] = w;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: wasted memory: saved_data holds tensor 'w', which backward() does not release: it lives as long as the graph node; save it with save_for_backward() [libtorch-autograd-context-cycle]
  // CHECK-FIXES: ctx->save_for_backward({x, w});
  ctx->saved_data["by"] = by;
  return x * w * by;
}

variable_list Scale::backward(AutogradContext *ctx, variable_list grads) {
  auto by = ctx->saved_data["by"].toDouble();
  auto x = ctx->saved_data["x"].toTensor();
  Tensor grad_x = grads[0] * ctx->saved_data["w"].toTensor() * by;
  return {grad_x, torch::mul(grads[0], ctx->saved_data.at("w").toTensor()),
  // CHECK-FIXES: auto x = ctx->get_saved_variables()[0];
  // CHECK-FIXES: Tensor grad_x = grads[0] * ctx->get_saved_variables()[1] * by;
  // CHECK-FIXES: return {grad_x, torch::mul(grads[0], ctx->get_saved_variables()[1]),
          Tensor()};
}

class Softmax : public Function<Softmax> {
public:
  static variable_list forward(AutogradContext *context, Tensor x, Tensor m) {
    auto y = torch::softmax(x, -1);
    y.mul_(m);
    context->save_for_backward({x, m});
    // CHECK-MESSAGES: :[[@LINE+1]]:5: warning: memory leak: saved_data holds the output 'y', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    context->saved_data["out"] = y;
    return {y, m};
    // CHECK-FIXES: context->save_for_backward({x, m, y});
    // CHECK-FIXES: {{^    }}return {y, m};
  }
  static variable_list backward(AutogradContext *context, variable_list g) {
    const auto saved = context->get_saved_variables();
    const Tensor y = context->saved_data["out"].toTensor();
    // CHECK-FIXES: const Tensor y = saved[2];
    return {g[0] * y * saved[1], Tensor()};
  }
};

// The list is in place; how many are saved counts.
struct Twice : Function<Twice> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    ctx->mark_dirty({x});
    x.mul_(2);
    ctx->saved_data["x"] = x;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'x', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    // CHECK-FIXES: ctx->save_for_backward({x});
    return x;
  }
  static variable_list backward(AutogradContext *ctx, variable_list g) {
    return {g[0] * 2};
  }
};
