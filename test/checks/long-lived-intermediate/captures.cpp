// What a lambda captures is read where the lambda runs; one that others may get, or
// that has a copy of its own, holds it.
// RUN: %check_libtorch_tidy %s libtorch-long-lived-intermediate %t

#include "../Inputs/net.h"
#include <algorithm>
#include <functional>
#include <thread>

using torch::Tensor;

static std::vector<std::function<float()>> later;
static Tensor kept;
template <typename F> float twice(F f) { return f() + f(); }
template <typename F> float and_later(F f) {
  later.push_back(f);
  return f();
}

float by_reference(Net net, Net head, const Tensor &x, int n) {
  torch::NoGradGuard no_grad;
  Tensor a = net(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'a' is last used before the loop, but its memory stays allocated while the loop runs a module; reset it first [libtorch-long-lived-intermediate]
  auto sum = [&] { return a.sum().item<float>(); };
  float r = sum();
  r += sum();
  // CHECK-FIXES: r += sum();
  // CHECK-FIXES-NEXT: a = torch::Tensor();
  for (int i = 0; i < n; ++i)
    r += head(x).sum().item<float>();
  return r;
}

float at_once(Net net, Net head, const Batches &data) {
  torch::NoGradGuard no_grad;
  Tensor a = net(data[0]), b = net(data[1]), c = net(data[2]);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'a' is last used before 'head' runs, but its memory stays allocated while it does; reset it first [libtorch-long-lived-intermediate]
  // CHECK-MESSAGES: :[[@LINE-2]]:28: warning: wasted peak memory: 'b' is last used before 'head' runs, but its memory stays allocated while it does; reset it first [libtorch-long-lived-intermediate]
  // CHECK-MESSAGES: :[[@LINE-3]]:46: warning: wasted peak memory: 'c' is last used before 'head' runs, but its memory stays allocated while it does; reset it first [libtorch-long-lived-intermediate]
  float r = [a] { return a.sum().item<float>(); }();
  // CHECK-FIXES: float r = [a] { return a.sum().item<float>(); }();
  // CHECK-FIXES-NEXT: a = torch::Tensor();
  std::for_each(data.begin(), data.end(), [&](const Tensor &x) { r += (x + b).sum().item<float>(); });
  // CHECK-FIXES: std::for_each({{.*}}
  // CHECK-FIXES-NEXT: b = torch::Tensor();
  r += twice([&] { return c.sum().item<float>(); });
  // CHECK-FIXES: r += twice({{.*}}
  // CHECK-FIXES-NEXT: c = torch::Tensor();
  return r + head(data[0]).sum().item<float>();
}

// It runs again.
float read_again(Net net, Net head, const Tensor &x, int n) {
  torch::NoGradGuard no_grad;
  Tensor a = net(x), b = net(x);
  const std::function<float()> sum = [&] { return a.sum().item<float>(); };
  auto other = [&b] { return b.sum().item<float>(); };
  float r = sum() + other();
  for (int i = 0; i < n; ++i)
    r += head(x).sum().item<float>() + other();
  return r + sum();
}

// A copy of its own, or one that goes elsewhere.
float copies(Net net, Net head, const Tensor &x) {
  torch::NoGradGuard no_grad;
  Tensor a = net(x), b = net(x), c = net(x), d = net(x);
  auto sum = [a] { return a.sum().item<float>(); };
  std::function<float()> stored = [&b] { return b.sum().item<float>(); };
  later.push_back(stored);
  std::thread other([&c] { c.sum().item<float>(); });
  float r = sum() + and_later([&d] { return d.sum().item<float>(); });
  r += head(x).sum().item<float>();
  other.join();
  return r;
}

// What it does keeps the memory, or gives it away.
float keeps(Net net, Net head, const Tensor &x) {
  torch::NoGradGuard no_grad;
  Tensor a = net(x), b = net(x), c = net(x), d;
  [&] { kept = a; }();
  auto same = [&] { return b; };
  auto set = [&] { d = c; };
  const Tensor e = same();
  set();
  return head(x).sum().item<float>() + e.sum().item<float>() + d.sum().item<float>();
}

// Its graph holds it.
float with_graph(Net net, Net head, const Tensor &x) {
  torch::NoGradGuard no_grad;
  Tensor a = net(x);
  [&] {
    torch::AutoGradMode on(true);
    kept = a * head(x);
  }();
  return head(x).sum().item<float>();
}

// A lambda's own variables end with its run.
float own_variables(Net net, Net head, const Tensor &x) {
  torch::NoGradGuard no_grad;
  Tensor a = net(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'a' is last used before 'head' runs, but its memory stays allocated while it does; reset it first [libtorch-long-lived-intermediate]
  auto sum = [&] {
    Tensor same = a;
    std::vector<Tensor> all{same, same};
    return all[0].sum().item<float>();
  };
  float r = sum();
  // CHECK-FIXES: a = torch::Tensor();
  r += head(x).sum().item<float>();
  return r;
}
float on_and_on(Net net, Net head, const Tensor &x) {
  torch::NoGradGuard no_grad;
  Tensor a = net(x), b = net(x), c = net(x), d = net(x), e;
  auto stores = [&] {
    Tensor same = a;
    kept = same;
  };
  auto stays = [&] {
    static Tensor same = b;
    return same.sum().item<float>();
  };
  const Tensor out = [&] {
    Tensor same = c;
    return same;
  }();
  auto sets = [&] {
    Tensor same = d;
    e = same;
  };
  stores();
  sets();
  const float r = stays() + head(x).sum().item<float>();
  return r + out.sum().item<float>() + e.sum().item<float>();
}
