// An element, a field or a part of a tuple that is stored and returned by the same name
// is an output, too.
// RUN: %check_libtorch_tidy %s libtorch-autograd-context-cycle %t

#include <torch/torch.h>

using namespace torch::autograd;

variable_list parts(const torch::Tensor &x);
std::tuple<torch::Tensor, torch::Tensor> pair(const torch::Tensor &x);
struct Made {
  torch::Tensor first, second;
};

struct Element : Function<Element> {
  static variable_list forward(AutogradContext *ctx, torch::Tensor x) {
    variable_list outs = parts(x);
    ctx->saved_data["y"] = outs[0];
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'outs[0]', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    return {outs[0], outs[1]};
  }
};
struct OtherElement : Function<OtherElement> {
  static torch::Tensor forward(AutogradContext *ctx, torch::Tensor x) {
    variable_list outs = parts(x);
    ctx->saved_data["y"] = outs[1];
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: wasted memory: saved_data holds a tensor, which backward() does not release: it lives as long as the graph node; save it with save_for_backward() [libtorch-autograd-context-cycle]
    return outs[0];
  }
};
struct Get : Function<Get> {
  static torch::Tensor forward(AutogradContext *ctx, torch::Tensor x) {
    auto outs = pair(x);
    ctx->saved_data["y"] = std::get<0>(outs);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'std::get<0>(outs)', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    return std::get<0>(outs);
  }
};
struct Field : Function<Field> {
  static torch::Tensor forward(AutogradContext *ctx, torch::Tensor x) {
    Made made{x * 2, x * 3};
    ctx->saved_data["y"] = made.first;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'made.first', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    return made.first;
  }
};
struct Replaced : Function<Replaced> {
  static torch::Tensor forward(AutogradContext *ctx, torch::Tensor x) {
    Made made{x * 2, x * 3};
    ctx->saved_data["y"] = made.first;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: wasted memory: saved_data holds a tensor, which backward() does not release: it lives as long as the graph node; save it with save_for_backward() [libtorch-autograd-context-cycle]
    made.first = x * 4;
    return made.first;
  }
};
