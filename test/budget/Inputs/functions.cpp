// Models whose steps are measured: custom autograd functions, and branches that
// depend on values. Where a branch is chosen by a value, the input here takes
// the one that takes more, which is what is counted.

#include "step.h"

namespace nn = torch::nn;
using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::tensor_list;

//===-- Functions ---------------------------------------------------------===//

// Saves its input.
struct Swish : Function<Swish> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    ctx->save_for_backward({x});
    return x * torch::sigmoid(x);
  }
  static tensor_list backward(AutogradContext *ctx, tensor_list grads) {
    auto x = ctx->get_saved_variables()[0];
    auto s = torch::sigmoid(x);
    return {grads[0] * (s * (1 + x * (1 - s)))};
  }
};

// Saves its result, and a number.
struct Exp : Function<Exp> {
  static Tensor forward(AutogradContext *ctx, const Tensor &x, double scale) {
    Tensor y = (x * scale).exp();
    ctx->save_for_backward({y});
    ctx->saved_data["scale"] = scale;
    return y;
  }
  static tensor_list backward(AutogradContext *ctx, tensor_list grads) {
    const auto saved = ctx->get_saved_variables();
    return {grads[0] * saved[0] * ctx->saved_data["scale"].toDouble(),
            Tensor()};
  }
};

// Two inputs, two results, and a tensor in saved_data.
struct Both : Function<Both> {
  static tensor_list forward(AutogradContext *ctx, Tensor a, Tensor b) {
    ctx->saved_data["mask"] = a > b;
    return {torch::max(a, b), torch::min(a, b)};
  }
  static tensor_list backward(AutogradContext *ctx, tensor_list grads) {
    Tensor mask = ctx->saved_data["mask"].toTensor();
    Tensor other = mask.logical_not();
    return {grads[0] * mask + grads[1] * other,
            grads[0] * other + grads[1] * mask};
  }
};

// Keeps nothing, and passes on what comes.
struct StraightThrough : Function<StraightThrough> {
  static Tensor forward(AutogradContext *, Tensor x) { return torch::sign(x); }
  static tensor_list backward(AutogradContext *, tensor_list grads) {
    return {grads[0]};
  }
};

// A product, whose weight is a parameter of the module.
struct Product : Function<Product> {
  static Tensor forward(AutogradContext *ctx, Tensor x, Tensor w) {
    ctx->save_for_backward({x, w});
    return x.mm(w);
  }
  static tensor_list backward(AutogradContext *ctx, tensor_list grads) {
    auto saved = ctx->get_saved_variables();
    auto x = saved[0], w = saved[1];
    return {grads[0].mm(w.t()), x.t().mm(grads[0])};
  }
};

// x + f(x), where f is run again in backward().
struct Checkpoint : Function<Checkpoint> {
  static Tensor forward(AutogradContext *ctx, Tensor x, nn::Sequential *block) {
    ctx->saved_data["block"] = reinterpret_cast<int64_t>(block);
    ctx->save_for_backward({x});
    torch::NoGradGuard guard;
    return x + (*block)->forward(x);
  }
  static tensor_list backward(AutogradContext *ctx, tensor_list grads) {
    auto *block =
        reinterpret_cast<nn::Sequential *>(ctx->saved_data["block"].toInt());
    auto x = ctx->get_saved_variables()[0].detach().requires_grad_();
    Tensor y;
    {
      torch::AutoGradMode mode(true);
      y = x + (*block)->forward(x);
    }
    y.backward(grads[0]);
    return {x.grad(), Tensor()};
  }
};

// Its second input has no gradient, nor what that was made of.
struct Rounded : Function<Rounded> {
  static Tensor forward(AutogradContext *ctx, Tensor z, Tensor entries) {
    ctx->save_for_backward({z - entries});
    return entries.clone();
  }
  static tensor_list backward(AutogradContext *ctx, tensor_list grads) {
    const auto saved = ctx->get_saved_variables();
    return {grads[0] + saved[0] * 0.1, Tensor()};
  }
};

struct QuantizedImpl : nn::Module {
  QuantizedImpl() : in(16, 16), out(16, 64), codes(64, 16) {
    register_module("in", in);
    register_module("out", out);
    register_module("codes", codes);
  }
  Tensor forward(Tensor x) {
    auto z = in(x);
    auto distances = z.pow(2).sum(1, true) + codes->weight.pow(2).sum(1) -
                     torch::matmul(z, codes->weight.t()) * 2;
    return out(Rounded::apply(z, codes(distances.argmin(1)))).repeat({2, 1});
  }
  nn::Linear in, out;
  nn::Embedding codes;
};
TORCH_MODULE(Quantized);

struct ActivatedImpl : nn::Module {
  explicit ActivatedImpl(const std::string &kind)
      : kind(kind), fc1(32, 64), fc2(64, 64), fc3(64, 10) {
    register_module("fc1", fc1);
    register_module("fc2", fc2);
    register_module("fc3", fc3);
  }
  Tensor activate(const Tensor &x) {
    if (kind == "swish")
      return Swish::apply(x);
    if (kind == "exp")
      return Exp::apply(x, 0.5);
    return StraightThrough::apply(x);
  }
  Tensor forward(Tensor x) {
    x = activate(fc1(x));
    x = activate(fc2(x));
    return fc3(x);
  }
  std::string kind;
  nn::Linear fc1, fc2, fc3;
};
TORCH_MODULE(Activated);

struct PairedImpl : nn::Module {
  PairedImpl() : left(16, 48), right(16, 48), out(48, 4) {
    register_module("left", left);
    register_module("right", right);
    register_module("out", out);
  }
  Tensor forward(Tensor x) {
    tensor_list parts = Both::apply(left(x), right(x));
    return out(parts[0]) + out(parts[1]);
  }
  nn::Linear left, right, out;
};
TORCH_MODULE(Paired);

struct MultipliedImpl : nn::Module {
  MultipliedImpl() {
    first = register_parameter("first", torch::randn({24, 48}));
    second = register_parameter("second", torch::randn({48, 8}));
  }
  Tensor forward(Tensor x) {
    return Product::apply(Product::apply(x, first).relu(), second);
  }
  Tensor first, second;
};
TORCH_MODULE(Multiplied);

struct CheckpointedImpl : nn::Module {
  CheckpointedImpl(int64_t width, int64_t depth) {
    blocks.reserve(depth);
    for (int64_t i = 0; i < depth; ++i) {
      blocks.emplace_back(nn::Sequential(nn::Linear(width, 4 * width),
                                         nn::ReLU(),
                                         nn::Linear(4 * width, width)));
      register_module("block" + std::to_string(i), blocks.back());
    }
    in = register_module("in", nn::Linear(width, width));
  }
  Tensor forward(Tensor x) {
    x = in(x);
    for (auto &block : blocks)
      x = Checkpoint::apply(x, &block);
    return x;
  }
  std::vector<nn::Sequential> blocks;
  nn::Linear in{nullptr};
};
TORCH_MODULE(Checkpointed);

//===-- Branches ----------------------------------------------------------===//

// Two ways to one result; the first takes more.
struct BranchesImpl : nn::Module {
  BranchesImpl() : wide(16, 64), back(64, 24), narrow(16, 24) {
    register_module("wide", wide);
    register_module("back", back);
    register_module("narrow", narrow);
  }
  Tensor forward(Tensor x) {
    Tensor y;
    if (x.mean().item<float>() > 0)
      y = back(torch::relu(wide(x)));
    else
      y = narrow(x);
    return y * 2;
  }
  nn::Linear wide, back, narrow;
};
TORCH_MODULE(Branches);

// Only if a value says so; with a counter that nobody needs.
struct ScaledImpl : nn::Module {
  ScaledImpl() : fc(16, 64), out(64, 4) {
    register_module("fc", fc);
    register_module("out", out);
  }
  Tensor forward(Tensor x) {
    Tensor y = fc(x);
    for (int i = 0; i < 3; ++i) {
      const auto largest = y.abs().max().item<float>();
      if (largest > 0) {
        y = torch::tanh(y);
        ++scaled;
      }
    }
    return out(y);
  }
  int scaled = 0;
  nn::Linear fc, out;
};
TORCH_MODULE(Scaled);

// Both return.
struct ReturnsImpl : nn::Module {
  ReturnsImpl() : fc1(16, 64), fc2(64, 8), skip(16, 8) {
    register_module("fc1", fc1);
    register_module("fc2", fc2);
    register_module("skip", skip);
  }
  Tensor forward(Tensor x) {
    if (x.sum().item<double>() < 0) {
      return skip(x);
    } else {
      x = fc1(x).relu();
      return fc2(x);
    }
  }
  nn::Linear fc1, fc2, skip;
};
TORCH_MODULE(Returns);

// Returns early only if a value says so: going on takes more.
struct EarlyImpl : nn::Module {
  EarlyImpl() : fc1(16, 64), fc2(64, 64), fc3(64, 64) {
    register_module("fc1", fc1);
    register_module("fc2", fc2);
    register_module("fc3", fc3);
  }
  Tensor forward(Tensor x) {
    x = fc1(x);
    if (x.isnan().any().item<bool>())
      throw std::runtime_error("no number");
    if (x.abs().sum().item<float>() == 0)
      return x.relu();
    Tensor y = torch::tanh(fc2(x));
    if (y.abs().sum().item<float>() == 0)
      return x + y;
    return fc3(y) + x;
  }
  nn::Linear fc1, fc2, fc3;
};
TORCH_MODULE(Early);

int main() {
  steps::begin();
  STEP(Activated("swish"), "40x32", torch::rand({40, 32}));
  STEP(Activated("exp"), "40x32", torch::rand({40, 32}));
  STEP(Activated("straight"), "40x32", torch::rand({40, 32}));
  STEP(Paired(), "50x16", torch::rand({50, 16}));
  STEP(Multiplied(), "40x24", torch::rand({40, 24}));
  STEP(Checkpointed(24, 4), "64x24", torch::rand({64, 24}));
  STEP(Quantized(), "40x16", torch::rand({40, 16}));
  STEP(Branches(), "50x16", torch::rand({50, 16}));
  STEP(Scaled(), "50x16", torch::rand({50, 16}));
  STEP(Returns(), "50x16", torch::rand({50, 16}));
  STEP(Early(), "50x16", torch::rand({50, 16}));
}
