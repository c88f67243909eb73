// What the pages of the checks say of LibTorch in tables and sentences, beyond
// their proofs; one line each, and the same in each run.
#include "../../proof/Memory.h"
#include <ATen/autocast_mode.h>
#include <torch/script.h>
#include <torch/torch.h>

namespace nn = torch::nn;
using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

static constexpr int64_t MB = 1 << 18; // Numbers in a megabyte.

static double mb(int64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

/// Megabytes that are live after \p run and were not before it.
template <typename Run> static double left(Run run) {
  int64_t before = proof::counters().Live;
  run();
  return mb(proof::counters().Live - before);
}
template <typename Run> static void leaves(const char *what, Run run) {
  std::printf("%s: %.1f MB\n", what, left(run));
}
/// The same, while what \p run returns is alive.
template <typename Run> static void holds(const char *what, Run run) {
  int64_t before = proof::counters().Live;
  auto kept = run();
  std::printf("%s: %.1f MB\n", what, mb(proof::counters().Live - before));
}
template <typename Run> static std::string thrown(Run run) {
  try {
    run();
  } catch (const c10::Error &) {
    return "c10::Error";
  } catch (const std::runtime_error &error) {
    return std::string(error.what())
                       .find("Inference tensors cannot be saved") ==
                   std::string::npos
               ? "std::runtime_error"
               : "inference tensors cannot be saved";
  }
  return "nothing";
}

static void elementSize() {
  Tensor t = torch::zeros({2});
  std::printf("element-size: %zu, %zu, %zu\n", sizeof(torch::kFloat32),
              sizeof(t.scalar_type()), sizeof(t.dtype()));
}

template <int Where> struct Saving : torch::autograd::Function<Saving<Where>> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    if (Where == 0)
      ctx->saved_data["x"] = y;
    else if (Where == 1)
      ctx->saved_data["x"] = x;
    else if (Where == 2)
      ctx->save_for_backward({y});
    return y;
  }
  static variable_list backward(AutogradContext *, variable_list grads) {
    return grads;
  }
};
template <int Where> static void saves(const char *what) {
  holds(what, [] {
    Tensor x = torch::zeros({MB}, torch::requires_grad());
    Tensor y = Saving<Where>::apply(x * 1);
    y.sum().backward();
    return y; // Its gradient is the parameter's, which is gone.
  });
}
static void contexts() {
  leaves("autograd-context-cycle, an output",
         [] { Saving<0>::apply(torch::zeros({MB}, torch::requires_grad())); });
  saves<1>("autograd-context-cycle, an input, a result is kept");
  saves<2>("autograd-context-cycle, save_for_backward, a result is kept");
}

static void createGraph() {
  auto weight = [] { return torch::rand({MB}, torch::requires_grad()); };
  leaves("create-graph-cycle, parameters die", [&] {
    Tensor w = weight();
    w.pow(3).sum().backward({}, true, true);
  });
  leaves("create-graph-cycle, reset", [&] {
    Tensor w = weight();
    w.pow(3).sum().backward({}, true, true);
    w.mutable_grad() = Tensor();
  });
  leaves("create-graph-cycle, detached", [&] {
    Tensor w = weight();
    w.pow(3).sum().backward({}, true, true);
    w.mutable_grad().detach_();
  });
  leaves("create-graph-cycle, zero_grad()", [&] {
    nn::Linear net(512, 512);
    net->forward(torch::rand({1, 512})).pow(3).sum().backward({}, true, true);
    net->zero_grad();
  });
  leaves("create-graph-cycle, zero_() of the gradient", [&] {
    Tensor w = weight();
    w.pow(3).sum().backward({}, true, true);
    torch::NoGradGuard no_grad;
    w.mutable_grad().zero_();
  });
  leaves("create-graph-cycle, grad()", [&] {
    Tensor w = weight(), loss = w.pow(3).sum();
    torch::autograd::grad({loss}, {w}, {}, true, true);
  });
  leaves("create-graph-cycle, linear",
         [&] { weight().sum().backward({}, true, true); });
}

static int copies;
struct Counted : torch::data::datasets::Dataset<Counted> {
  Counted() = default;
  Counted(const Counted &) : torch::data::datasets::Dataset<Counted>() {
    ++copies;
  }
  Counted(Counted &&) = default;
  torch::data::Example<> get(size_t) override {
    return {torch::zeros({1}), torch::zeros({1})};
  }
  torch::optional<size_t> size() const override { return 8; }
};
static void workers() {
  std::printf("dataset-worker-copy:");
  for (size_t workers : {0, 1, 4}) {
    copies = 0;
    auto loader = torch::data::make_data_loader(
        Counted(),
        torch::data::DataLoaderOptions().batch_size(2).workers(workers));
    for (auto &batch : *loader)
      (void)batch;
    std::printf(" %d", copies);
  }
  std::printf("\n");
}

static void hooks() {
  using Hook = std::function<void(Tensor)>;
  auto fresh = [] { return torch::zeros({MB}, torch::requires_grad()); };
  leaves("hook-capture-cycle, a leaf", [&] {
    Tensor x = fresh();
    x.register_hook(Hook([x](Tensor) {}));
  });
  leaves("hook-capture-cycle, an activation", [&] {
    Tensor y = fresh().exp();
    y.register_hook(Hook([y](Tensor) {}));
  });
  leaves("hook-capture-cycle, computed from it", [&] {
    Tensor x = fresh(), y = x.clone();
    x.register_hook(Hook([y](Tensor) {}));
  });
  leaves("hook-capture-cycle, a detached copy", [&] {
    Tensor x = fresh();
    x.register_hook(Hook([y = x.detach()](Tensor) {}));
  });
  leaves("hook-capture-cycle, what it was computed from", [&] {
    Tensor x = fresh(), y = x.exp();
    y.register_hook(Hook([x](Tensor) {}));
  });
}

/// Four layers, each of which keeps 1 MB.
static torch::jit::Module script() {
  torch::jit::Module module("m");
  module.register_parameter("w", torch::ones({MB}, torch::requires_grad()),
                            false);
  module.define(
      "def forward(self, x):\n  x = torch.exp(x * self.w)\n" // NOLINT
      "  x = torch.exp(x * self.w)\n  return torch.exp(x * self.w)\n");
  return module;
}
static void warmUp() {
  Tensor x = torch::zeros({MB});
  auto guarded = [&](torch::jit::Module &module) {
    torch::NoGradGuard no_grad;
    return module.forward({x}).toTensor();
  };
  auto inference = [&](torch::jit::Module &module) {
    torch::InferenceMode mode;
    return module.forward({x}).toTensor();
  };
  auto says = [](const char *what, const Tensor &y) {
    std::printf("jit-unguarded-warmup, %s: %d\n", what, y.requires_grad());
  };
  auto module = script();
  for (int i = 0; i < 3; ++i)
    guarded(module);
  says("all guarded", guarded(module));
  module = script();
  module.forward({x});
  for (int i = 0; i < 3; ++i)
    guarded(module);
  says("one without, then guarded", guarded(module));
  std::printf(
      "jit-unguarded-warmup, one without, then InferenceMode throws: %s\n",
      thrown([&] {
        auto another = script();
        another.forward({x});
        for (int i = 0; i < 3; ++i)
          inference(another);
      }).c_str());
  module = script();
  guarded(module);
  for (int i = 0; i < 3; ++i)
    module.forward({x});
  says("guarded, without, guarded", guarded(module));
}

static void graphs() {
  {
    nn::Conv2d net(nn::Conv2dOptions(3, 16, 3).padding(1));
    Tensor total = torch::zeros({});
    proof::Growth growth;
    for (int i = 0; i <= proof::Growth::Last; ++i) {
      total += torch::relu(net->forward(torch::zeros({8, 3, 32, 32}))).mean();
      growth.endOf(i);
    }
    growth.print("accumulated-history, a convolution");
  }
  {
    Tensor w = torch::rand({MB}, torch::requires_grad()), h = torch::rand({MB});
    proof::Growth growth;
    for (int i = 0; i <= proof::Growth::Last; ++i) {
      h = (h * w).tanh();
      h.sum().backward({}, true);
      growth.endOf(i);
    }
    growth.print("retained-graph, carried");
  }
  {
    nn::LSTMCell cell(64, 64);
    Tensor h = torch::zeros({32, 64}), c = torch::zeros({32, 64}),
           x = torch::rand({32, 64});
    proof::Growth growth;
    for (int i = 0; i <= proof::Growth::Last; ++i) {
      std::tie(h, c) = cell->forward(x, std::make_tuple(h, c));
      h.sum().backward({}, true);
      h = h.detach();
      growth.endOf(i);
    }
    growth.print("undetached-hidden-state, only h detached");
  }
  {
    nn::GRU gru(64, 64);
    Tensor y, h = torch::zeros({1, 1, 64}), x = torch::rand({10, 1, 64});
    proof::Growth growth;
    for (int i = 0; i <= proof::Growth::Last; ++i) {
      std::tie(y, h) = gru->forward(x, h);
      growth.endOf(i);
    }
    growth.print("undetached-hidden-state, a GRU");
  }
}

static void optimizers() {
  torch::optim::Adam adam(
      std::vector<Tensor>{torch::zeros({1}, torch::requires_grad())});
  leaves("stale-optimizer-state, add_param_group", [&] {
    Tensor fresh = torch::zeros({MB}, torch::requires_grad());
    adam.add_param_group(torch::optim::OptimizerParamGroup({fresh}));
    fresh.sum().backward();
    adam.step();
  });
  leaves("after zero_grad() of an optimizer the gradient takes", [&] {
    Tensor w = torch::zeros({MB}, torch::requires_grad());
    torch::optim::SGD sgd({w}, 0.1);
    w.sum().backward();
    static Tensor kept; // Counts the gradient and nothing else.
    sgd.zero_grad();
    kept = w.grad();
  });
}

static void losses() {
  namespace F = nn::functional;
  std::printf("view-retains-storage, bytes behind a loss of 4 MB:");
  Tensor a = torch::rand({4 * MB}), b = torch::rand({4 * MB});
  for (const Tensor &loss :
       {torch::mse_loss(a, b), torch::smooth_l1_loss(a, b),
        torch::binary_cross_entropy(a, b), torch::soft_margin_loss(a, b),
        torch::l1_loss(a, b), torch::huber_loss(a, b)})
    std::printf(" %lld", static_cast<long long>(loss.storage().nbytes()));
  std::printf("\n");
}

static void exceptions() {
  int64_t before = proof::counters().Live;
  try {
    Tensor local = torch::zeros({MB});
    throw c10::OutOfMemoryError({__func__, __FILE__, 0}, "out of memory");
  } catch (const c10::OutOfMemoryError &) {
    std::printf("oom-recovery-in-catch, in the handler: %.1f MB\n",
                mb(proof::counters().Live - before));
  }
}

static void autocast() {
  Tensor w = torch::rand({1024, 1024}, torch::requires_grad()),
         x = torch::rand({2, 1024});
  auto region = [&] {
    at::autocast::set_cpu_enabled(true);
    torch::mm(x, w);
    at::autocast::set_cpu_enabled(false);
  };
  leaves("autocast-cache, a weight of 4 MB", region);
  leaves("autocast-cache, cleared", [&] { at::autocast::clear_cache(); });
}

static void accumulation() {
  nn::Sequential net(nn::Linear(256, 256), nn::ReLU(), nn::Linear(256, 256));
  Tensor x = torch::rand({64, 256});
  auto peak = [&](bool sum) {
    proof::Span span;
    Tensor total = torch::zeros({});
    for (int i = 0; i < 16; ++i) {
      Tensor loss = net->forward(x).mean();
      if (sum)
        total = total + loss;
      else
        loss.backward();
    }
    if (sum)
      total.backward();
    return proof::counters().Peak.load();
  };
  int64_t each = peak(false), all = peak(true);
  std::printf("gradient accumulation: the sum has the higher peak: %d\n",
              all > each);
}

int main() {
  proof::begin();
  elementSize();
  contexts();
  createGraph();
  workers();
  hooks();
  warmUp();
  graphs();
  optimizers();
  losses();
  exceptions();
  autocast();
  accumulation();
}
