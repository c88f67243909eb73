// Hooks and functions that keep nothing they belong to.
// RUN: %check_libtorch_tidy %s libtorch-hook-capture-cycle %t

#include <functional>
#include <torch/torch.h>

using torch::Tensor;

struct Stats {
  int64_t calls = 0;
  double norm = 0;
};

void values(Tensor w, std::shared_ptr<Stats> stats) {
  int64_t calls = 0;
  double scale = 0.5;
  torch::TensorOptions options;
  w.register_hook([](Tensor g) { return g * 2; });
  w.register_hook([scale](Tensor g) { return g * scale; });
  w.register_hook([&calls](Tensor g) { ++calls; });
  w.register_hook([&](Tensor g) { return g * w; });
  w.register_hook([stats](Tensor g) { stats->norm = g.norm().item<double>(); });
  w.register_hook([options, n = w.numel()](Tensor g) { return g / n; });
  w.register_hook([w = w.detach()](Tensor g) { return g * w; });
  w.register_hook([w = w.data()](Tensor g) { return g * w; });
  auto detached = w.detach();
  w.register_hook([detached](Tensor g) { return g * detached; });
  w.register_hook(
      [norm = w.norm().item<double>()](Tensor g) { return g / norm; });
  w.register_hook([index = w.argmax()](Tensor g) { return g[index]; });
  w.register_hook([p = &w](Tensor g) { return g * *p; });
  w.register_hook([r = std::ref(w)](Tensor g) { return g * r.get(); });
  w.sum().backward();
}

// A tensor upstream does not keep the hook.
void upstream(Tensor w, Tensor other) {
  Tensor x = w * 2;
  Tensor y = x * x;
  Tensor z = x.exp();
  y.register_hook([w](Tensor g) { return g * w; });
  y.register_hook([x](Tensor g) { return g * x; });
  y.register_hook([z](Tensor g) { return g * z; });
  y.register_hook([other](Tensor g) { return g * other; });
  w.register_hook([mask = torch::ones_like(w)](Tensor g) { return g * mask; });
}

struct NetImpl : torch::nn::Module {
  void watch() {
    fc->weight.register_hook([this](Tensor g) { return g * factor; });
    std::weak_ptr<torch::nn::Module> weak = shared_from_this();
    fc->weight.register_hook([weak](Tensor g) {
      if (auto self = weak.lock())
        self->eval();
    });
    fc->bias.register_hook([weak = std::weak_ptr<torch::nn::Module>(
                                shared_from_this())](Tensor g) { return g; });
    on_step = [this] { ++steps; };
    on_stop = [weak] {};
  }
  torch::nn::Linear fc{4, 4}, other{4, 4};
  double factor = 1;
  int steps = 0;
  std::function<void()> on_step, on_stop;
};
TORCH_MODULE(Net);

void modules(Net net, Net other, torch::nn::Linear fc) {
  auto *raw = net.get();
  net->fc->weight.register_hook([raw](Tensor g) { return g * raw->factor; });
  net->fc->weight.register_hook([other](Tensor g) { return g; });
  net->fc->weight.register_hook([fc](Tensor g) { return g; });
  net->fc->weight.register_hook([o = net->other](Tensor g) { return g; });
  Tensor y = net->fc(torch::ones({4}));
  y.register_hook([net](Tensor g) { return g; });
  other->on_step = [net] {};
  {
    torch::NoGradGuard guard;
    Tensor loss = fc->weight.sum();
    fc->weight.register_hook([loss](Tensor g) { return g; });
  }
}

// Hooks that are taken away again.
void removed(Tensor w, std::vector<unsigned> &handles) {
  auto handle = w.register_hook([w](Tensor g) { return g * w; });
  w.sum().backward();
  w.remove_hook(handle);
  handles.push_back(w.register_hook([w](Tensor g) { return g * w; }));
}

void removed_if_set(Tensor w, bool on) {
  auto handle = on ? w.register_hook([w](Tensor g) { return g * w; }) : 0U;
  w.sum().backward();
  if (on)
    w.remove_hook(handle);
}

void by_number(Tensor w) {
  w.register_hook([w](Tensor g) { return g * w; });
  w.remove_hook(0);
}

void once(Tensor w) {
  w.register_hook([w](Tensor g) mutable { w.reset(); });
}

// Another tensor by the time the hook is set.
void changes(Tensor w, Tensor v) {
  auto hook = [w](Tensor g) { return g * w; };
  w = v;
  w.register_hook(hook);
}

// One of many need not be the same one.
void many(std::vector<Tensor> ws, size_t i, size_t j) {
  ws[i].register_hook([w = ws[j]](Tensor g) { return g * w; });
}

// A function that is let go of.
struct JobImpl : torch::nn::Module {
  void start() {
    done = [self = shared_from_this()] {};
    queue.push_back([self = shared_from_this()] {});
  }
  void stop() {
    done = nullptr;
    queue.clear();
  }
  std::function<void()> done;
  std::vector<std::function<void()>> queue;
};

struct TaskImpl : torch::nn::Module {
  void set(std::function<void()> callback) { done = std::move(callback); }
  std::function<void()> done;
};
void task(std::shared_ptr<TaskImpl> task) {
  task->set([task] {});
  task->set(nullptr);
}

// No tensors at stake: what an object without them does is its own affair.
struct Timer : std::enable_shared_from_this<Timer> {
  void start() {
    tick = [self = shared_from_this()] {};
  }
  std::function<void()> tick;
};

struct Bus {
  void register_hook(std::function<void(Tensor)> f) { hooks.push_back(f); }
  std::vector<std::function<void(Tensor)>> hooks;
};
void bus(Bus &b, Tensor w) {
  b.register_hook([w](Tensor g) {});
}

void suppressed(Tensor w) {
  w.register_hook([w](Tensor g) { return g; }); // NOLINT(libtorch-hook-*)
}
