// Reported with its story, without a fix.
// RUN: %check_libtorch_tidy %s libtorch-autograd-context-cycle %t

#include <torch/torch.h>

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

// What holds the output does not matter.
struct InVector : Function<InVector> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    ctx->saved_data["ys"] = std::vector<Tensor>{x, y};
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'y', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list g) {
    return {g[0] * ctx->saved_data["ys"].toTensorVector()[1]};
  }
};

struct InTuple : Function<InTuple> {
  static variable_list forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    ctx->saved_data["y"] = std::make_tuple(y, int64_t(1));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'y', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    variable_list outputs;
    outputs.push_back(x.cos());
    outputs.push_back(y);
    return outputs;
  }
};

struct InDict : Function<InDict> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    auto y = x.exp();
    c10::Dict<std::string, Tensor> dict;
    dict.insert("y", y);
    ctx->saved_data["dict"] = dict;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'y', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    return y;
  }
};

struct Holder : torch::CustomClassHolder {
  explicit Holder(Tensor held) : held_(std::move(held)) {}
  Tensor held_;
};

struct InHolder : Function<InHolder> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    ctx->saved_data["holder"] =
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'y', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
        c10::IValue::make_capsule(c10::make_intrusive<Holder>(y));
    return y;
  }
};

struct InCustomClass : Function<InCustomClass> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    auto holder = c10::make_intrusive<Holder>(y);
    ctx->saved_data["holder"] = holder;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'y', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    return y;
  }
};

// A part of what is kept is the output.
struct OfHolder : Function<OfHolder> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    auto holder = c10::make_intrusive<Holder>(x.exp());
    ctx->saved_data["holder"] = holder;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'holder->held_', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    return holder->held_;
  }
};
struct SetLater : Function<SetLater> {
  static variable_list forward(AutogradContext *ctx, Tensor x) {
    auto holder = c10::make_intrusive<Holder>(Tensor());
    ctx->saved_data["holder"] = holder;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'holder->held_', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    holder->held_ = x.exp();
    return {holder->held_};
  }
};
// An input is returned as a view, which nobody keeps, and a copy is another tensor.
struct OfInput : Function<OfInput> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    auto holder = c10::make_intrusive<Holder>(x);
    ctx->saved_data["holder"] = holder;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: wasted memory: saved_data holds the tensors of 'holder', which backward() does not release: they live as long as the graph node; save them with save_for_backward() [libtorch-autograd-context-cycle]
    return holder->held_;
  }
};
struct OfInputLater : Function<OfInputLater> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    auto holder = c10::make_intrusive<Holder>(x.exp());
    holder->held_ = x;
    ctx->saved_data["holder"] = holder;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: wasted memory: saved_data holds the tensors of 'holder', which backward() does not release: they live as long as the graph node; save them with save_for_backward() [libtorch-autograd-context-cycle]
    return holder->held_;
  }
};
struct OfCopy : Function<OfCopy> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    auto holder = c10::make_intrusive<Holder>(x.exp());
    ctx->saved_data["holder"] = holder;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: wasted memory: saved_data holds the tensors of 'holder', which backward() does not release: they live as long as the graph node; save them with save_for_backward() [libtorch-autograd-context-cycle]
    return holder->held_ * 2;
  }
};

struct InAll : Function<InAll> {
  static variable_list forward(AutogradContext *ctx, variable_list xs) {
    variable_list ys = torch::unbind(xs[0]);
    ctx->saved_data["ys"] = ys;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'ys', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    for (const Tensor &y : ys)
      ctx->saved_data.insert({"last", y});
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: memory leak: saved_data holds the output 'ys', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    return ys;
  }
};

// Views and other names are the output, too.
struct View : Function<View> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    ctx->saved_data["first"] = y[0];
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds a view of the output 'y', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    ctx->saved_data["flat"] = y.view({-1});
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds a view of the output 'y', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    return y;
  }
};

struct Alias : Function<Alias> {
  static Tensor forward(AutogradContext *ctx, Tensor x, bool keep) {
    auto &data = ctx->saved_data;
    auto y = x.exp();
    auto z = y.mul_(2);
    if (keep)
      data["z"] = z;
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: memory leak: saved_data holds the output 'y', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    return std::move(y);
  }
};

struct Dirty : Function<Dirty> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    x.exp_();
    ctx->mark_dirty({x});
    ctx->saved_data["x"] = c10::IValue(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'x', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    return x;
  }
  static variable_list backward(AutogradContext *ctx, variable_list g) {
    const auto &x = ctx->saved_data["x"].toTensor();
    return {g[0] * x};
  }
};

static void keep(AutogradContext *ctx, const Tensor &t) {
  ctx->saved_data["kept"] = t;
}

struct ByHelper : Function<ByHelper> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    keep(ctx, y);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'y', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    return y;
  }
};

template <typename Op> struct Generic : Function<Generic<Op>> {
  template <typename T> static Tensor forward(AutogradContext *ctx, T x) {
    Tensor y = Op()(x);
    ctx->saved_data["y"] = y;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'y', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list g) {
    return {g[0] * ctx->saved_data["y"].toTensor()};
  }
};
struct DoExp {
  Tensor operator()(Tensor x) { return x.exp(); }
};
Tensor use(Tensor x) { return Generic<DoExp>::apply(x); }

#define SAVE(name) ctx->saved_data[#name] = name
struct Macro : Function<Macro> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    SAVE(y);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'y', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list g) {
    return {g[0] * ctx->saved_data["y"].toTensor()};
  }
};

// Not an output, but not released either.
struct Weaker : Function<Weaker> {
  static Tensor forward(AutogradContext *ctx, Tensor x, Tensor w,
                        c10::optional<Tensor> bias) {
    auto y = x.exp();
    ctx->saved_data["bias"] = bias;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: wasted memory: saved_data holds the tensors of 'bias', which backward() does not release: they live as long as the graph node; save them with save_for_backward() [libtorch-autograd-context-cycle]
    ctx->saved_data["copy"] = y.detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: wasted memory: saved_data holds a tensor, which backward() does not release: it lives as long as the graph node; save it with save_for_backward() [libtorch-autograd-context-cycle]
    ctx->saved_data["view"] = x.view({-1});
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: wasted memory: saved_data holds a tensor, which backward() does not release: it lives as long as the graph node; save it with save_for_backward() [libtorch-autograd-context-cycle]
    ctx->saved_data["sum"] = w + x;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: wasted memory: saved_data holds a tensor, which backward() does not release: it lives as long as the graph node; save it with save_for_backward() [libtorch-autograd-context-cycle]
    ctx->saved_data["y"] = y;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: wasted memory: saved_data holds tensor 'y', which backward() does not release: it lives as long as the graph node; save it with save_for_backward() [libtorch-autograd-context-cycle]
    y = y * 2;
    return y;
  }
};

struct Index : Function<Index> {
  static variable_list forward(AutogradContext *ctx, Tensor x) {
    Tensor index = x.argmax();
    ctx->saved_data["index"] = index;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: wasted memory: saved_data holds tensor 'index', which backward() does not release: it lives as long as the graph node; save it with save_for_backward() [libtorch-autograd-context-cycle]
    Tensor mask = x > 0;
    ctx->saved_data["mask"] = mask;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: wasted memory: saved_data holds tensor 'mask', which backward() does not release: it lives as long as the graph node; save it with save_for_backward() [libtorch-autograd-context-cycle]
    ctx->mark_non_differentiable({index});
    return {x * mask, index};
  }
};

// An input that is returned comes back as a view.
struct Same : Function<Same> {
  static Tensor forward(AutogradContext *ctx, Tensor x, bool other) {
    ctx->saved_data["x"] = x;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: wasted memory: saved_data holds tensor 'x', which backward() does not release: it lives as long as the graph node; save it with save_for_backward() [libtorch-autograd-context-cycle]
    Tensor y = x * 2;
    if (other) {
      ctx->saved_data["y"] = y;
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wasted memory: saved_data holds tensor 'y', which backward() does not release: it lives as long as the graph node; save it with save_for_backward() [libtorch-autograd-context-cycle]
      return x * 3;
    }
    return x;
  }
};

// The reads do not tell what the edit must become.
struct Reference : Function<Reference> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    ctx->saved_data["y"] = y;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'y', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list g) {
    const Tensor &y = ctx->saved_data["y"].toTensor();
    return {g[0] * y};
  }
};

struct Sizes : Function<Sizes> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    ctx->saved_data["y"] = y;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'y', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list g) {
    auto sizes = ctx->saved_data["y"].toTensor().sizes();
    return {g[0].expand(sizes)};
  }
};

struct Optional : Function<Optional> {
  static Tensor forward(AutogradContext *ctx, Tensor x, bool keep) {
    Tensor y = x.exp();
    if (keep)
      ctx->saved_data["y"] = y;
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: memory leak: saved_data holds the output 'y', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list g) {
    if (ctx->saved_data.count("y"))
      return {g[0] * ctx->saved_data["y"].toTensor()};
    return {g[0]};
  }
};

// What is saved changes later.
struct Changed : Function<Changed> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    ctx->saved_data["y"] = y;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'y', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    y.add_(1);
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list g) {
    return {g[0] * ctx->saved_data["y"].toTensor()};
  }
};

// Other code may use the context.
void log(AutogradContext *ctx);
struct HandsOn : Function<HandsOn> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    ctx->saved_data["y"] = y;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'y', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    log(ctx);
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list g) {
    return {g[0] * ctx->saved_data["y"].toTensor()};
  }
};

// There is no list to add to.
struct ListInVariable : Function<ListInVariable> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    variable_list inputs{x};
    ctx->save_for_backward(inputs);
    ctx->saved_data["y"] = y;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: saved_data holds the output 'y', whose graph node owns saved_data: this cycle is never freed; save it with save_for_backward() [libtorch-autograd-context-cycle]
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list g) {
    return {g[0] * ctx->saved_data["y"].toTensor()};
  }
};
