// Guards that guard, and what is none.
// RUN: %check_libtorch_tidy %s libtorch-ineffective-grad-guard %t --level=2

#include <memory>
#include <torch/torch.h>

using torch::Tensor;

Tensor named(torch::nn::Linear net, Tensor x) {
  torch::NoGradGuard guard;
  const auto &reference = torch::NoGradGuard();
  auto assigned = torch::NoGradGuard();
  torch::NoGradGuard same = torch::NoGradGuard();
  torch::NoGradGuard empty{};
  torch::AutoGradMode off(false);
  c10::InferenceMode inference(true);
  (void)reference;
  return net(x);
}

Tensor owned(torch::nn::Linear net, Tensor x, bool training) {
  auto made = std::make_unique<torch::NoGradGuard>();
  std::unique_ptr<torch::NoGradGuard> held(new torch::NoGradGuard());
  std::unique_ptr<torch::NoGradGuard> perhaps;
  if (!training)
    perhaps.reset(new torch::NoGradGuard());
  c10::optional<torch::NoGradGuard> optional;
  if (!training)
    optional.emplace();
  new torch::NoGradGuard();
  return net(x);
}

torch::NoGradGuard factory() { return torch::NoGradGuard(); }
torch::NoGradGuard declared();
Tensor guarded_by(const torch::NoGradGuard &, Tensor x);

Tensor used_at_once(torch::nn::Linear net, Tensor x) {
  auto guard = factory();
  Tensor y = (torch::NoGradGuard(), net(x));
  torch::NoGradGuard(), y = net(x);
  return guarded_by(torch::NoGradGuard(), y);
}

// It is a function: it is called.
torch::NoGradGuard local_function() {
  torch::NoGradGuard declared();
  torch::NoGradGuard elsewhere();
  return elsewhere();
}

Tensor blocks(torch::nn::Linear net, Tensor x, bool training) {
  {
    torch::NoGradGuard guard;
    x = net(x);
  }
  if (!training) {
    torch::NoGradGuard guard;
    return net(x);
  }
  {
    torch::NoGradGuard guard;
#ifdef TRACE
    x = net(x);
#endif
  }
  switch (x.dim()) {
  case 1:
    torch::NoGradGuard guard;
    x = net(x);
  }
  if (torch::NoGradGuard guard; training)
    x = net(x);
  return x;
}

// What a guard costs.
void measure() {
  for (int i = 0; i < 1000; ++i) {
    torch::NoGradGuard guard;
  }
  for (int i = 0; i < 1000; ++i)
    torch::NoGradGuard();
  while (!torch::GradMode::is_enabled()) {
    torch::NoGradGuard();
  }
  auto once = [] { torch::NoGradGuard guard; };
  once();
  try {
    torch::NoGradGuard guard;
  } catch (...) {
  }
}

class Session {
public:
  Session() : mode_(false) {}
  explicit Session(bool on) : mode_{on} {}

private:
  torch::AutoGradMode mode_;
  torch::NoGradGuard guard_ = torch::NoGradGuard();
};

Tensor kept(torch::nn::Linear net, Tensor x) {
  Session session;
  return net(x);
}

// To last is what it is for.
void off_from_here_on() { static torch::NoGradGuard guard; }
void off_in_this_thread() { thread_local torch::NoGradGuard guard; }

int main() {
  static torch::NoGradGuard guard;
  torch::nn::Linear net(2, 2);
  return net(torch::ones({1, 2})).size(0) == 1;
}

namespace mine {
struct NoGradGuard {
  NoGradGuard();
  explicit NoGradGuard(Tensor x);
  ~NoGradGuard();
};
// Does its work as it is made.
struct Inference {
  torch::NoGradGuard guard;
  Inference(torch::nn::Linear net, Tensor x) { net(x); }
};
Tensor own(torch::nn::Linear net, Tensor x) {
  NoGradGuard();
  NoGradGuard{x};
  NoGradGuard declared();
  {
    NoGradGuard guard;
  }
  static NoGradGuard guard;
  Inference(net, x);
  return net(x);
}
} // namespace mine
