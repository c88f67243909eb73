// Memory that is held at a heavy point, although nothing reads it again.
// RUN: %check_libtorch_tidy %s libtorch-long-lived-intermediate %t

#include "../Inputs/net.h"
#include <iostream>
#include <torch/script.h>

using torch::Tensor;

struct TwoLayersImpl : torch::nn::Module {
  TwoLayersImpl() { fc = register_module("fc", torch::nn::Linear(4, 4)); }
  Tensor forward(Tensor x) {
    x = torch::relu(fc->forward(x));
    return fc->forward(x);
  }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(TwoLayers);
struct Both {
  Tensor a, b;
};
static Both both(Net &net, const Tensor &x) { return {net(x), net(x)}; }
static Tensor same(const Tensor &x) { return x; }

// Across a loop of modules, and across one.
float phases(Net net, Net head, const Tensor &x, int n) {
  torch::NoGradGuard no_grad;
  Tensor a = net(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'a' is last used before the loop, but its memory stays allocated while the loop runs a module; reset it first [libtorch-long-lived-intermediate]
  Tensor b = a.mean();
  // CHECK-FIXES: Tensor b = a.mean();
  // CHECK-FIXES-NEXT: a = torch::Tensor();
  Tensor c = x;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'c' is last used before 'head' runs, but its memory stays allocated while it does; reset it first [libtorch-long-lived-intermediate]
  for (int i = 0; i < n; ++i)
    c = head(c + b);
  Tensor d = torch::relu(c);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'd' is last used before 'head' runs, but its memory stays allocated while it does; reset it first [libtorch-long-lived-intermediate]
  // CHECK-FIXES: Tensor d = torch::relu(c);
  // CHECK-FIXES-NEXT: c = torch::Tensor();
  float sum = d.sum().item<float>();
  // CHECK-FIXES: float sum = d.sum().item<float>();
  // CHECK-FIXES-NEXT: d = torch::Tensor();
  return sum + head(x).sum().item<float>();
}

// After cat; lists, structs, tuples, results of functions.
float joined(Net net, Net head, const Batches &data, int n) {
  torch::NoGradGuard no_grad;
  Batches outs;
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: wasted peak memory: 'outs' is last used before the loop, but its memory stays allocated while the loop runs a module; reset it first [libtorch-long-lived-intermediate]
  for (const Tensor &x : data)
    outs.push_back(net(x));
  Tensor all = torch::cat(outs);
  // CHECK-FIXES: Tensor all = torch::cat(outs);
  // CHECK-FIXES-NEXT: outs.clear();
  for (int i = 0; i < n; ++i)
    std::cout << head(all).sum();
  return 0;
}
float parts(Net net, Net head, const Tensor &x) {
  torch::NoGradGuard no_grad;
  auto [p, q] = std::make_tuple(net(x), net(x));
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: wasted peak memory: 'p' and 'q' are last used before the loop, but their memory stays allocated while the loop runs a module; reset them first [libtorch-long-lived-intermediate]
  float sum = p.sum().item<float>() + q.sum().item<float>();
  Tensor u;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'u' is last used before the loop, but its memory stays allocated while the loop runs a module; reset it first [libtorch-long-lived-intermediate]
  std::tie(u, std::ignore) = std::make_tuple(net(x), 1);
  sum += u.sum().item<float>();
  // CHECK-FIXES: sum += u.sum().item<float>();
  // CHECK-FIXES-NEXT: u = torch::Tensor();
  Both t = both(net, x);
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: wasted peak memory: 't' is last used before the loop, but its memory stays allocated while the loop runs a module; reset it first [libtorch-long-lived-intermediate]
  sum += (t.a + t.b).sum().item<float>();
  for (int i = 0; i < 3; ++i)
    sum += head(x).sum().item<float>();
  return sum;
}

// Two names of one memory, of which only a size is read later.
float script(torch::jit::Module &first, torch::jit::Module &second,
             const Tensor &x) {
  torch::NoGradGuard no_grad;
  auto out = first.forward({x});
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: wasted peak memory: 'out' and 'scores': only sizes or the like are read later, but their memory stays allocated while 'second' runs; keep the sizes, and reset them first [libtorch-long-lived-intermediate]
  Tensor scores = out.toTensor();
  float sum = scores.max().item<float>();
  for (int i = 0; i < 3; ++i)
    sum += second.forward({x}).toTensor().sum().item<float>();
  return sum + scores.size(0);
}

// The caller's copy, under a function that replaces its own.
float copied(Net net, TwoLayers head, const Tensor &x) {
  torch::NoGradGuard no_grad;
  Tensor a = net(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'a' is not used again, but 'head' gets a copy of the handle: the memory stays allocated when it replaces its own; std::move() it [libtorch-long-lived-intermediate]
  return head->forward(a).sum().item<float>();
  // CHECK-FIXES: return head->forward(std::move(a)).sum().item<float>();
}

// After backward() no graph holds it.
void trained(Net net, const Tensor &x, Net head) {
  Tensor out = net(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'out' is last used before the loop, but its memory stays allocated while the loop runs a module; reset it first [libtorch-long-lived-intermediate]
  out.pow(2).mean().backward();
  // CHECK-FIXES: out.pow(2).mean().backward();
  // CHECK-FIXES-NEXT: out = torch::Tensor();
  torch::NoGradGuard no_grad;
  for (int i = 0; i < 3; ++i)
    std::cout << head(x).sum();
}

// What an earlier round left, and is read after the loop.
void sampled(Net net, const Batches &data) {
  Tensor sample;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'sample' of the last round stays alive while 'net' runs, and nothing reads it again; reset it first [libtorch-long-lived-intermediate]
  for (const Tensor &x : data) {
    sample = net(x);
    sample.sum().backward();
  }
  std::cout << sample;
}

// A graph holds them, others hold them, they are read again, or end before.
void in_graph(Net net, Net head, const Tensor &x) {
  Tensor a = net(x);
  Tensor b = torch::relu(a).exp();
  for (int i = 0; i < 3; ++i)
    std::cout << head(x).sum();
  b.sum().backward();
}
struct Store {
  void keep(Net net, Net head, const Tensor &x) {
    torch::NoGradGuard no_grad;
    Tensor a = net(x), b = net(x), c = net(x);
    kept = a;
    all.push_back(b);
    auto later = [c] { return c.sum(); };
    for (int i = 0; i < 3; ++i)
      std::cout << head(x).sum();
    std::cout << later();
  }
  Tensor kept;
  Batches all;
};
float others(Net net, Net head, const Batches &data, const Tensor &x) {
  torch::NoGradGuard no_grad;
  Tensor argument = same(x), again = net(x), view = x.t(), alias = data[0];
  Tensor part = again[0], cleared = net(x);
  float sum = argument.sum().item<float>() + view.sum().item<float>() +
              alias.sum().item<float>() + cleared.sum().item<float>();
  cleared.reset();
  {
    Tensor inner = net(x);
    sum += inner.sum().item<float>();
  }
  for (const Tensor &y : data) {
    Tensor out = head(y);
    sum += out.sum().item<float>();
  }
  return sum + part.sum().item<float>();
}

// A variable owns what it was given last, on each path by itself.
static std::vector<Tensor> Kept;
float replaced(Net net, Net head, const Tensor &x, bool again) {
  torch::NoGradGuard no_grad;
  Tensor a = x;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'a' is last used before 'net' runs, but its memory stays allocated while it does; reset it first [libtorch-long-lived-intermediate]
  a = net(a);
  float sum = a.sum().item<float>();
  // CHECK-FIXES: float sum = a.sum().item<float>();
  // CHECK-FIXES-NEXT: a = torch::Tensor();
  Tensor b = again ? net(x) : x;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'b' is last used before 'net' runs, but its memory stays allocated while it does; reset it first [libtorch-long-lived-intermediate]
  sum += b.sum().item<float>();
  // CHECK-FIXES: sum += b.sum().item<float>();
  // CHECK-FIXES-NEXT: b = torch::Tensor();
  Tensor c = std::get<0>(std::make_tuple(net(x), x));
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'c' is last used before 'head' runs, but its memory stays allocated while it does; reset it first [libtorch-long-lived-intermediate]
  sum += c.sum().item<float>();
  // CHECK-FIXES: sum += c.sum().item<float>();
  // CHECK-FIXES-NEXT: c = torch::Tensor();
  return sum + head(x).sum().item<float>();
}
float by_value(Net net, Net head, Tensor x, const Tensor &y) {
  // CHECK-MESSAGES: :[[@LINE-1]]:42: warning: wasted peak memory: 'x' is last used before 'head' runs, but its memory stays allocated while it does; reset it first [libtorch-long-lived-intermediate]
  torch::NoGradGuard no_grad;
  x = net(x);
  float sum = x.sum().item<float>();
  return sum + head(y).sum().item<float>();
}
float stored_elsewhere(Net net, Net head, const Tensor &x) {
  torch::NoGradGuard no_grad;
  Tensor a = net(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'a' is last used before 'head' runs, but its memory stays allocated while it does; reset it first [libtorch-long-lived-intermediate]
  Tensor b = net(x);
  float sum = (a + b).sum().item<float>();
  sum += head(x).sum().item<float>();
  a = net(x);
  Kept.push_back(a);
  return sum + b.sum().item<float>();
}
