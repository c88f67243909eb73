// What backward() erases from saved_data, and what it does not.
// RUN: %check_libtorch_tidy %s libtorch-autograd-context-cycle %t

#include <torch/torch.h>

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

struct Engine : torch::CustomClassHolder {
  Tensor weight;
  Tensor run(const Tensor &x) { return x * weight; }
};

// Another key.
struct ErasesOther : Function<ErasesOther> {
  static Tensor forward(AutogradContext *ctx, Tensor x,
                        c10::intrusive_ptr<Engine> engine) {
    ctx->saved_data["engine"] = engine;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: wasted memory: saved_data holds the tensors of 'engine', which backward() does not release: they live as long as the graph node; save them with save_for_backward() [libtorch-autograd-context-cycle]
    ctx->saved_data["scale"] = 2.0;
    return engine->run(x);
  }
  static variable_list backward(AutogradContext *ctx, variable_list g) {
    auto engine = ctx->saved_data["engine"].toCustomClass<Engine>();
    ctx->saved_data.erase("scale");
    return {engine->run(g[0]), Tensor()};
  }
};

// An output is in a cycle until backward() runs, if it ever does.
struct ErasesOutput : Function<ErasesOutput> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    ctx->saved_data["y"] = y;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'y', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list g) {
    auto y = ctx->saved_data["y"].toTensor();
    ctx->saved_data.erase("y");
    return {g[0] * y};
  }
};
