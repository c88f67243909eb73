// The way from an output to saved_data and back.
// RUN: %check_libtorch_tidy %s libtorch-autograd-context-cycle %t

#include <torch/torch.h>

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

static void keep(AutogradContext &ctx, const std::string &key,
                 const Tensor &t) {
  ctx.saved_data[key] = t;
}

struct ByHelper : Function<ByHelper> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    keep(*ctx, "y", y);
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'y', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    // CHECK-NOTES: :[[@LINE-3]]:18: note: 'y' is made here
    // CHECK-NOTES: :[[@LINE-9]]:23: note: it is put into saved_data here
    // CHECK-NOTES: :[[@LINE+6]]:5: note: 'y' is returned here, so it will own the graph node and the node owns the context
    keep(*ctx, "x", x);
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: wasted memory: saved_data holds tensor 'x', which backward() does not release: it lives as long as the graph node; save it with save_for_backward() [libtorch-autograd-context-cycle]
    // CHECK-NOTES: :[[@LINE-13]]:23: note: it is put into saved_data here
    if (x.dim() == 0)
      return x * 2;
    return y;
  }
};

struct InPlace : Function<InPlace> {
  static variable_list forward(AutogradContext *ctx, Tensor x, Tensor m) {
    x.mul_(m);
    ctx->mark_dirty({x});
    ctx->saved_data["both"] = std::vector<Tensor>({m, x});
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'x', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    // CHECK-NOTES: :[[@LINE-3]]:10: note: input 'x' is marked dirty here, so it is its own output
    // CHECK-NOTES: :[[@LINE+1]]:5: note: 'x' is returned here, so it will own the graph node and the node owns the context
    return {x};
  }
};
