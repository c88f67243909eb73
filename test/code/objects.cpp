// RUN: %code-facts %s -- %torch_flags | %FileCheck %s -implicit-check-not={{.}}

// Which object an expression names, and what a value keeps.

#include <deque>
#include <functional>
#include <map>
#include <thread>
#include <torch/torch.h>

template <typename T> void ask(T &&);

struct Pair {
  torch::Tensor a, b;
  std::vector<torch::Tensor> all;
};

struct Net : torch::nn::Module {
  Pair pair;
  torch::nn::Linear fc{nullptr};
  std::function<void()> done;
  void method() {
    ask(pair.a);
    ask(this->pair.all[0]);
    ask(fc->weight);
    auto self = shared_from_this();
    ask(self);
    done = [self] {};
    ask(done);
  }
};

void names(Pair &p, std::shared_ptr<Net> net, Pair *q) {
  auto same = net;
  ask(same->pair);
  ask(q->a);
  ask(p.a.relu_());
  ask(p.a + p.b);
  ask(p.all.front());
  for (auto &x : p.all)
    ask(x);
}

void keeps(torch::Tensor x, torch::Tensor y) {
  ask([x, &y] {});
  ask(std::make_tuple(x, y));
  std::vector<torch::Tensor> list{x};
  list.emplace_back(y);
  ask(list);
}

void containers(torch::Tensor x, c10::List<torch::Tensor> more) {
  std::map<int, torch::Tensor> m;
  std::deque<torch::Tensor> d;
  m.emplace(1, x);
  m.insert_or_assign(2, x);
  d.push_front(x);
  d.pop_back();
  more.push_back(x);
  m.clear();
  std::vector<std::thread> threads;
  threads.emplace_back([] {});
}

// CHECK: {{^}}22: function
