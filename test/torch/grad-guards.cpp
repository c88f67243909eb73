// RUN: %torch-facts %s -- %torch_flags | %FileCheck %s --implicit-check-not=": guard" --implicit-check-not=temporary --implicit-check-not=guards
// What switches gradient mode, in every spelling that semantics knows.
#include <ATen/autocast_mode.h>
#include <optional>
#include <torch/torch.h>

void plain(bool flag) {
  torch::NoGradGuard a; // CHECK: [[@LINE]]: guard a off
  at::NoGradGuard b{};  // CHECK: [[@LINE]]: guard b off
  const c10::NoGradGuard c; // CHECK: [[@LINE]]: guard c off
  auto d = torch::NoGradGuard(); // CHECK: [[@LINE]]: guard d off
  const auto &e = torch::NoGradGuard{}; // CHECK: [[@LINE]]: guard e off
  auto &&f = torch::NoGradGuard(); // CHECK: [[@LINE]]: guard f off
  torch::AutoGradMode g(false); // CHECK: [[@LINE]]: guard g off
  torch::AutoGradMode h{true}; // CHECK: [[@LINE]]: guard h on
  torch::AutoGradMode i(flag); // CHECK: [[@LINE]]: guard i unknown
  auto j = torch::AutoGradMode(false); // CHECK: [[@LINE]]: guard j off
  c10::InferenceMode k; // CHECK: [[@LINE]]: guard k off inference
  c10::InferenceMode l(true); // CHECK: [[@LINE]]: guard l off inference
  at::InferenceMode m{false};
  c10::InferenceMode n(flag); // CHECK: [[@LINE]]: guard n unknown
  at::AutoDispatchBelowAutograd o; // CHECK: [[@LINE]]: guard o off
  at::AutoDispatchBelowADInplaceOrView p; // CHECK: [[@LINE]]: guard p off
  at::AutoNonVariableTypeMode q(true); // CHECK: [[@LINE]]: guard q off
  at::AutoNonVariableTypeMode r; // CHECK: [[@LINE]]: guard r off
  constexpr bool Enabled = false;
  torch::autograd::AutoGradMode s(Enabled); // CHECK: [[@LINE]]: guard s off
  static torch::NoGradGuard t; // CHECK: [[@LINE]]: guard t off
  torch::NoGradGuard u[1];
  torch::NoGradGuard &alias = a;
  torch::NoGradGuard *pointer = &a;
  auto *leaked = new torch::NoGradGuard(); // CHECK: [[@LINE]]: guard leaked off
  int none = 0;
  std::vector<int> numbers;
}

void boxed(bool flag) {
  auto a = std::make_unique<torch::NoGradGuard>(); // CHECK: [[@LINE]]: guard a off
  std::unique_ptr<torch::NoGradGuard> b(new torch::NoGradGuard); // CHECK: [[@LINE]]: guard b off
  std::unique_ptr<torch::NoGradGuard> c; // CHECK: [[@LINE]]: guard c unknown
  std::unique_ptr<torch::NoGradGuard> d = nullptr; // CHECK: [[@LINE]]: guard d unknown
  auto e = std::make_shared<torch::AutoGradMode>(false); // CHECK: [[@LINE]]: guard e off
  auto f = std::make_unique<torch::AutoGradMode>(flag); // CHECK: [[@LINE]]: guard f unknown
  std::optional<torch::NoGradGuard> g; // CHECK: [[@LINE]]: guard g unknown
  if (flag)
    g.emplace(); // CHECK: [[@LINE]]: guard in g ends first, begins off
  std::optional<torch::NoGradGuard> h(std::in_place); // CHECK: [[@LINE]]: guard h off
  auto i = std::make_optional<torch::AutoGradMode>(false); // CHECK: [[@LINE]]: guard i off
  std::optional<torch::AutoGradMode> j(std::in_place, false); // CHECK: [[@LINE]]: guard j off
  auto k = flag ? std::make_unique<torch::NoGradGuard>() : nullptr; // CHECK: [[@LINE]]: guard k unknown
  auto l = std::make_unique<c10::InferenceMode>(); // CHECK: [[@LINE]]: guard l off inference
  auto m = std::make_optional<torch::NoGradGuard>(); // CHECK: [[@LINE]]: guard m off
  c10::optional<torch::NoGradGuard> n; // CHECK: [[@LINE]]: guard n unknown
  auto o = std::make_unique<torch::nn::LinearImpl>(1, 1);
}

void changed(bool flag) {
  auto a = std::make_unique<torch::NoGradGuard>(); // CHECK: [[@LINE]]: guard a off
  a.reset(); // CHECK: [[@LINE]]: guard in a ends{{$}}
  a = nullptr; // CHECK: [[@LINE]]: guard in a ends{{$}}
  a = {}; // CHECK: [[@LINE]]: guard in a ends{{$}}
  a.reset(nullptr); // CHECK: [[@LINE]]: guard in a ends{{$}}
  a.reset(new torch::NoGradGuard); // CHECK: [[@LINE]]: guard in a ends, begins off
  a = std::make_unique<torch::NoGradGuard>(); // CHECK: [[@LINE]]: guard in a ends, begins off
  a = flag ? std::make_unique<torch::NoGradGuard>() : nullptr; // CHECK: [[@LINE]]: guard in a ends, begins unknown
  std::optional<torch::AutoGradMode> b; // CHECK: [[@LINE]]: guard b unknown
  b.emplace(true); // CHECK: [[@LINE]]: guard in b ends first, begins on
  b.emplace(flag); // CHECK: [[@LINE]]: guard in b ends first, begins unknown
  b.reset(); // CHECK: [[@LINE]]: guard in b ends{{$}}
  std::optional<c10::InferenceMode> c; // CHECK: [[@LINE]]: guard c unknown
  c.emplace(); // CHECK: [[@LINE]]: guard in c ends first, begins off inference
  c.emplace(false); // CHECK: [[@LINE]]: guard in c ends first{{$}}
  std::shared_ptr<torch::NoGradGuard> d; // CHECK: [[@LINE]]: guard d unknown
  d = std::make_shared<torch::NoGradGuard>(); // CHECK: [[@LINE]]: guard in d ends, begins off
  d.reset(); // CHECK: [[@LINE]]: guard in d ends{{$}}
  auto *e = new torch::NoGradGuard; // CHECK: [[@LINE]]: guard e off
  delete e; // CHECK: [[@LINE]]: guard in e ends{{$}}
  a.release();
  a.swap(a);
  std::unique_ptr<torch::nn::LinearImpl> f;
  f.reset();
}

// CHECK: [[@LINE+1]]: class Member guards off
struct Member {
  torch::NoGradGuard guard;
};
// CHECK: [[@LINE+1]]: class Derived guards off
struct Derived : torch::NoGradGuard {};
// CHECK: [[@LINE+1]]: class Nested guards off
struct Nested {
  int other;
  Member member;
};
// CHECK: [[@LINE+1]]: class Owner guards off
class Owner {
public:
  Owner() : guard(std::make_unique<torch::NoGradGuard>()) {}

private:
  std::unique_ptr<torch::NoGradGuard> guard;
};
// CHECK: [[@LINE+1]]: class Maybe guards unknown
class Maybe {
public:
  explicit Maybe(bool on) {
    if (on)
      guard = std::make_unique<torch::NoGradGuard>(); // CHECK: [[@LINE]]: guard in an object ends, begins off
  }

private:
  std::unique_ptr<torch::NoGradGuard> guard;
};
// CHECK: [[@LINE+1]]: class EnableGrad guards on
struct EnableGrad {
  torch::AutoGradMode mode{true};
};
// CHECK: [[@LINE+1]]: class Mode guards unknown
struct Mode {
  explicit Mode(bool train) : mode(train) {}
  torch::AutoGradMode mode;
};
// CHECK: [[@LINE+1]]: class Eval guards off
struct Eval : torch::AutoGradMode {
  Eval() : torch::AutoGradMode(false) {}
};
// CHECK: [[@LINE+1]]: class Inference guards off
struct Inference {
  c10::InferenceMode mode;
};
// A class that only refers to a guard.
struct Refers {
  torch::NoGradGuard &guard;
  torch::NoGradGuard *pointer;
};
// A project's own class of that name.
namespace own {
struct NoGradGuard {};
} // namespace own
namespace lab {
// CHECK: [[@LINE+1]]: class NoGradGuard guards off
class NoGradGuard {
  std::unique_ptr<torch::NoGradGuard> inner = std::make_unique<torch::NoGradGuard>();
};
} // namespace lab
// CHECK: [[@LINE+1]]: class Node guards unknown
struct Node {
  std::unique_ptr<Node> next;
  std::shared_ptr<torch::NoGradGuard> guard;
};

torch::NoGradGuard make() { return {}; }
torch::AutoGradMode makeMode(bool on) { return torch::AutoGradMode(on); }
std::unique_ptr<torch::NoGradGuard> makeOwned() {
  return std::make_unique<torch::NoGradGuard>();
}
std::unique_ptr<torch::NoGradGuard> makeMaybe(bool on) {
  if (on)
    return std::make_unique<torch::NoGradGuard>();
  return nullptr;
}

void wrapped(bool flag) {
  Member a; // CHECK: [[@LINE]]: guard a off
  Derived b; // CHECK: [[@LINE]]: guard b off
  Nested c; // CHECK: [[@LINE]]: guard c off
  Owner d; // CHECK: [[@LINE]]: guard d off
  Maybe e(flag); // CHECK: [[@LINE]]: guard e unknown
  EnableGrad f; // CHECK: [[@LINE]]: guard f on
  Mode g(false); // CHECK: [[@LINE]]: guard g off
  Mode h(true); // CHECK: [[@LINE]]: guard h on
  Mode i(flag); // CHECK: [[@LINE]]: guard i unknown
  Eval j; // CHECK: [[@LINE]]: guard j off
  Inference k; // CHECK: [[@LINE]]: guard k off inference
  own::NoGradGuard l;
  lab::NoGradGuard m; // CHECK: [[@LINE]]: guard m off
  auto n = make(); // CHECK: [[@LINE]]: guard n off
  auto o = makeMode(false); // CHECK: [[@LINE]]: guard o off
  auto p = makeMode(flag); // CHECK: [[@LINE]]: guard p unknown
  auto q = makeOwned(); // CHECK: [[@LINE]]: guard q off
  auto r = makeMaybe(flag); // CHECK: [[@LINE]]: guard r unknown
  auto s = std::make_unique<Member>(); // CHECK: [[@LINE]]: guard s off
  Node node; // CHECK: [[@LINE]]: guard node unknown
}

void temporaries(torch::nn::Linear net, torch::Tensor x) {
  torch::NoGradGuard(); // CHECK: [[@LINE]]: temporary guard
  torch::NoGradGuard{}; // CHECK: [[@LINE]]: temporary guard
  c10::InferenceMode(); // CHECK: [[@LINE]]: temporary guard
  torch::AutoGradMode(false); // CHECK: [[@LINE]]: temporary guard
  (void)torch::NoGradGuard(); // CHECK: [[@LINE]]: temporary guard
  auto y = (torch::NoGradGuard(), net(x)); // CHECK: [[@LINE]]: temporary guard
  Member(); // CHECK: [[@LINE]]: temporary guard
  // A declaration of a function:
  torch::NoGradGuard vexing();
}

void switches(bool flag) {
  at::GradMode::set_enabled(false); // CHECK: [[@LINE]]: sets grad mode off
  c10::GradMode::set_enabled(true); // CHECK: [[@LINE]]: sets grad mode on
  torch::autograd::GradMode::set_enabled(flag); // CHECK: [[@LINE]]: sets grad mode unknown
  at::autocast::set_enabled(false);
  if (at::GradMode::is_enabled())
    return;
}
