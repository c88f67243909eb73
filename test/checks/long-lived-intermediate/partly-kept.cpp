// What something else keeps, but only one part of it, or on one way only.
// RUN: %check_libtorch_tidy %s libtorch-long-lived-intermediate %t --level=2 --check-suffix=2
// RUN: %check_libtorch_tidy %s libtorch-long-lived-intermediate %t --level=1 --expect-none

#include "../Inputs/net.h"
#include <optional>
#include <tuple>

using torch::Tensor;

struct Two {
  Tensor a, b;
};

struct One {
  Tensor a;
  int n;
};

static std::vector<Tensor> Log;
static void keep(const Tensor &t) { Log.push_back(t); }

float field(Net net, Net head, const Tensor &x, int n) {
  torch::NoGradGuard no_grad;
  Two two{net(x), net(x)};
  // CHECK-MESSAGES-2: :[[@LINE-1]]:7: warning: wasted peak memory: 'two' is last used before the loop, but its memory stays allocated while the loop runs a module; reset it first [libtorch-long-lived-intermediate]
  Log.push_back(two.a);
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += head(x).sum().item<float>();
  return sum;
}

float element(Net net, Net head, const Batches &data, int n) {
  torch::NoGradGuard no_grad;
  std::vector<Tensor> outs;
  // CHECK-MESSAGES-2: :[[@LINE-1]]:23: warning: wasted peak memory: 'outs' is last used before the loop, but its memory stays allocated while the loop runs a module; reset it first [libtorch-long-lived-intermediate]
  for (const Tensor &x : data)
    outs.push_back(net(x));
  keep(outs.back());
  // CHECK-FIXES-2: keep(outs.back());
  // CHECK-FIXES-2-NEXT: outs.clear();
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += head(data[i]).sum().item<float>();
  return sum;
}

float ofTuple(Net net, Net head, const Tensor &x, int n) {
  torch::NoGradGuard no_grad;
  auto both = std::make_tuple(net(x), n, net(x));
  // CHECK-MESSAGES-2: :[[@LINE-1]]:8: warning: wasted peak memory: 'both' is last used before the loop, but its memory stays allocated while the loop runs a module; reset it first [libtorch-long-lived-intermediate]
  Log.push_back(std::get<2>(both));
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += head(x).sum().item<float>();
  return sum;
}

float onOneWay(Net net, Net head, const Tensor &x, int n, bool debug) {
  torch::NoGradGuard no_grad;
  Tensor out = net(x);
  // CHECK-MESSAGES-2: :[[@LINE-1]]:10: warning: wasted peak memory: 'out' is last used before the loop, but its memory stays allocated while the loop runs a module; reset it first [libtorch-long-lived-intermediate]
  float sum = out.sum().item<float>();
  if (debug)
    Log.push_back(out);
  // CHECK-FIXES-2: Log.push_back(out);
  // CHECK-FIXES-2-NEXT: out = torch::Tensor();
  for (int i = 0; i < n; ++i)
    sum += head(x).sum().item<float>();
  return sum;
}

// All of it is kept.
float bothFields(Net net, Net head, const Tensor &x, int n) {
  torch::NoGradGuard no_grad;
  Two two{net(x), net(x)};
  Log.push_back(two.a);
  keep(two.b);
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += head(x).sum().item<float>();
  return sum;
}

float othersAreCallers(Net net, Net head, const Tensor &x, int n) {
  torch::NoGradGuard no_grad;
  Two two{net(x), x};
  keep(two.a);
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += head(x).sum().item<float>();
  return sum;
}

float onlyOne(Net net, Net head, const Tensor &x, int n) {
  torch::NoGradGuard no_grad;
  One one{net(x), n};
  std::optional<Tensor> out = net(x);
  keep(one.a);
  keep(*out);
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += head(x).sum().item<float>();
  return sum;
}

float oneAfterAnother(Net net, Net head, const Batches &data, int n) {
  torch::NoGradGuard no_grad;
  std::vector<Tensor> outs, more;
  for (const Tensor &x : data) {
    outs.push_back(net(x));
    more.push_back(net(x));
  }
  for (const Tensor &out : outs)
    keep(out);
  for (size_t i = 0; i < more.size(); ++i)
    Log.push_back(more[i]);
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += head(data[i]).sum().item<float>();
  return sum;
}

float onBothWays(Net net, Net head, const Tensor &x, int n, bool first) {
  torch::NoGradGuard no_grad;
  Tensor out = net(x);
  if (first)
    Log.insert(Log.begin(), out);
  else
    keep(out);
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += head(x).sum().item<float>();
  return sum;
}

// It is the last part that is read, and the others are of one size.
float readLater(Net net, Net head, const Tensor &x, int n) {
  torch::NoGradGuard no_grad;
  Two two{net(x), net(x)};
  Log.push_back(two.a);
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += head(x).sum().item<float>();
  return sum + two.b.sum().item<float>();
}
