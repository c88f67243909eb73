// What custom functions keep rightly.
// RUN: %check_libtorch_tidy %s libtorch-autograd-context-cycle %t

#include <map>
#include <torch/torch.h>

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

struct Linear : Function<Linear> {
  static Tensor forward(AutogradContext *ctx, Tensor x, Tensor w) {
    Tensor y = x.mm(w);
    ctx->save_for_backward({x, w, y});
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list g) {
    auto saved = ctx->get_saved_variables();
    return {g[0].mm(saved[1].t()), saved[0].t().mm(g[0])};
  }
};

enum class Mode { Sum, Mean };
struct Options {
  int64_t stride = 1;
};
struct Geometry : torch::CustomClassHolder {
  std::vector<int64_t> shape;
};

struct Scalars : Function<Scalars> {
  static Tensor forward(AutogradContext *ctx, Tensor x, double by, bool flag,
                        int n, const std::string &name, Mode mode,
                        const Options &options) {
    ctx->saved_data["by"] = by;
    ctx->saved_data["flag"] = flag;
    ctx->saved_data["n"] = n;
    ctx->saved_data["name"] = name;
    ctx->saved_data["mode"] = static_cast<int64_t>(mode);
    ctx->saved_data["stride"] = options.stride;
    ctx->saved_data["sizes"] = x.sizes();
    ctx->saved_data["vec"] = x.sizes().vec();
    ctx->saved_data["numel"] = x.numel();
    ctx->saved_data["requires_grad"] = x.requires_grad();
    ctx->saved_data["max"] = x.max().item<double>();
    ctx->saved_data["type"] = x.scalar_type();
    ctx->saved_data["pads"] = std::vector<int64_t>{1, 2};
    ctx->saved_data["none"] = c10::IValue();
    ctx->saved_data["undefined"] = Tensor();
    ctx->saved_data["geometry"] =
        c10::IValue::make_capsule(c10::make_intrusive<Geometry>());
    ctx->saved_data.insert({"pair", c10::IValue(std::make_tuple(1, 2.0))});
    return x * by;
  }
  static variable_list backward(AutogradContext *ctx, variable_list g) {
    auto by = ctx->saved_data["by"].toDouble();
    auto sizes = ctx->saved_data["sizes"].toIntVector();
    return {g[0].view(sizes) * by, Tensor(), Tensor()};
  }
};

// Only the name is the same.
struct OwnContext {
  std::map<std::string, Tensor> saved_data;
};
struct Mine {
  static Tensor forward(OwnContext *ctx, Tensor x) {
    Tensor y = x.exp();
    ctx->saved_data["y"] = y;
    return y;
  }
};

// An IValue from elsewhere may be anything.
struct FromOutside : Function<FromOutside> {
  static Tensor forward(AutogradContext *ctx, Tensor x, c10::IValue value) {
    ctx->saved_data["value"] = value;
    return x * 2;
  }
};

struct Suppressed : Function<Suppressed> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    ctx->saved_data["y"] = y; // NOLINT(libtorch-autograd-context-cycle)
    return y;
  }
};

// backward() takes them out again: they live no longer than what
// save_for_backward() is given.
struct Engine : torch::CustomClassHolder {
  Tensor weight;
  Tensor run(const Tensor &x) { return x * weight; }
};
struct Released : Function<Released> {
  static Tensor forward(AutogradContext *ctx, Tensor x,
                        c10::intrusive_ptr<Engine> engine) {
    ctx->saved_data["engine"] = engine;
    ctx->saved_data["x"] = x;
    return engine->run(x);
  }
  static variable_list backward(AutogradContext *ctx, variable_list g) {
    auto engine = ctx->saved_data["engine"].toCustomClass<Engine>();
    ctx->saved_data.erase("engine");
    ctx->saved_data.erase("x");
    return {engine->run(g[0]), Tensor()};
  }
};
struct Cleared : Function<Cleared> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    ctx->saved_data["x"] = x;
    return x * x;
  }
  static variable_list backward(AutogradContext *ctx, variable_list g) {
    auto x = ctx->saved_data["x"].toTensor();
    ctx->saved_data.clear();
    return {g[0] * x * 2};
  }
};
