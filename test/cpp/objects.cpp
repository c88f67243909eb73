// RUN: %cpp-facts %s -- %torch_flags | %FileCheck %s -implicit-check-not={{.}}

// Which object an expression names, and what a value keeps.

#include <deque>
#include <functional>
#include <map>
#include <thread>
#include <torch/torch.h>

template <typename T> void ask(const T &) {}

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

// CHECK: {{^}}22: function Net::method
// CHECK-NEXT: {{^}}23:   pair.a is pair.a, part of pair, from pair.a, keeps {pair.a}
// CHECK-NEXT: {{^}}24:   this->pair.all[0] is pair.all[], part of pair, from this->pair.all[0], keeps {this->pair.all[0]}
// CHECK-NEXT: {{^}}25:   fc->weight is fc.weight, from fc->weight, keeps {fc->weight}
// CHECK-NEXT: {{^}}26:   self: own, set once, shares what it owns, given {shared_from_this()}
// CHECK-NEXT: {{^}}27:   self is this, as self, part of self, from shared_from_this(), keeps {self, shared_from_this()}
// CHECK-NEXT: {{^}}28:   lambda may run elsewhere
// CHECK-NEXT: {{^}}29:   done is done, part of done, from done, keeps {done}
// CHECK-NEXT: {{^}}33: function names
// CHECK-NEXT: {{^}}33:   net: own, shares what it owns, given {} and perhaps more
// CHECK-NEXT: {{^}}33:   p: not own, owns nothing, given {} and perhaps more
// CHECK-NEXT: {{^}}33:   q: own, owns nothing, given {} and perhaps more
// CHECK-NEXT: {{^}}34:   same: own, set once, shares what it owns, given {net}
// CHECK-NEXT: {{^}}35:   same->pair is net.pair, as same.pair, from same->pair, keeps {same->pair}
// CHECK-NEXT: {{^}}36:   q->a is q.a, from q->a, keeps {q->a}
// CHECK-NEXT: {{^}}37:   p changed
// CHECK-NEXT: {{^}}37:   p.a.relu_() is p.a, from p.a.relu_(), keeps {p.a.relu_()}
// CHECK-NEXT: {{^}}38:   p.a + p.b is of no name, from p.a + p.b, keeps {p.a + p.b}
// CHECK-NEXT: {{^}}39:   p.all.front() is p.all[], from p.all.front(), keeps {p.all.front()}
// CHECK-NEXT: {{^}}40:   loop
// CHECK-NEXT: {{^}}40:   x: not own, set once, shares what it owns, given {:} and perhaps more, scope of line 40
// CHECK-NEXT: {{^}}41:   x is p.all[], as x, part of x, from :, keeps {x}, in the loop of line 40
// CHECK-NEXT: {{^}}44: function keeps
// CHECK-NEXT: {{^}}44:   x: own, shares what it owns, given {} and perhaps more
// CHECK-NEXT: {{^}}44:   y: own, shares what it owns, given {} and perhaps more
// CHECK-NEXT: {{^}}45:   [x, &y] {} is of no name, from [x, &y] {}, keeps {x}
// CHECK-NEXT: {{^}}45:   lambda may run elsewhere
// CHECK-NEXT: {{^}}46:   std::make_tuple(x, y) is of no name, from std::make_tuple(x, y), keeps {x, y}
// CHECK-NEXT: {{^}}47:   list: own, set once, given {list{x}} and perhaps more
// CHECK-NEXT: {{^}}48:   list changed
// CHECK-NEXT: {{^}}48:   y into list, at its end
// CHECK-NEXT: {{^}}49:   list is list, part of list, from list{x}, keeps {list, x, y}
// CHECK-NEXT: {{^}}52: function containers
// CHECK-NEXT: {{^}}52:   more: own, given {} and perhaps more
// CHECK-NEXT: {{^}}52:   x: own, shares what it owns, given {} and perhaps more
// CHECK-NEXT: {{^}}53:   m: own, given {} and perhaps more
// CHECK-NEXT: {{^}}54:   d: own, set once, given {} and perhaps more
// CHECK-NEXT: {{^}}55:   1, x into m
// CHECK-NEXT: {{^}}55:   m changed
// CHECK-NEXT: {{^}}56:   2, x into m
// CHECK-NEXT: {{^}}56:   m changed
// CHECK-NEXT: {{^}}57:   d changed
// CHECK-NEXT: {{^}}57:   x into d
// CHECK-NEXT: {{^}}58:   d changed
// CHECK-NEXT: {{^}}58:   takes out by pop_back
// CHECK-NEXT: {{^}}59:   x into more, at its end
// CHECK-NEXT: {{^}}60:   m released
// CHECK-NEXT: {{^}}60:   takes out by clear
// CHECK-NEXT: {{^}}61:   threads: own, set once, given {} and perhaps more
// CHECK-NEXT: {{^}}62:   [] {} into threads, at its end
// CHECK-NEXT: {{^}}62:   lambda may run elsewhere
// CHECK-NEXT: {{^}}62:   starts a thread
// CHECK-NEXT: {{^}}62:   threads changed
