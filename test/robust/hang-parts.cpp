// Parts of parts: what a callee leaves in an element of a map of maps is the
// part of that element, objects hold objects of their class, and the fields of
// a struct are made of each other.
//
// RUN: %ends
#include <list>
#include <map>
#include <optional>
#include <string>
#include <torch/torch.h>
#include <unordered_map>

struct State {
  torch::Tensor a, b, c;
};
struct Cache {
  struct Entry {
    std::string id;
    State state;
    std::optional<torch::Tensor> logits;
  };
  std::unordered_map<int, std::unordered_map<std::string, Entry>> entries;
  std::vector<torch::Tensor> list(const State &s) const {
    return {s.a, s.b, s.c};
  }
  State back(const std::vector<torch::Tensor> &l) const {
    State s;
    s.a = l[0].contiguous();
    s.b = l[1].contiguous();
    s.c = l[2].contiguous();
    return s;
  }
  std::optional<Entry> load(int k, const std::string &id);
  void put(int k, const std::string &id, const State &s,
           const std::optional<torch::Tensor> &l);
  State find(const std::string &id);
};
std::optional<Cache::Entry> Cache::load(int k, const std::string &id) {
  std::optional<Entry> result;
  if (k > 3) {
    State s = back(list(State{torch::ones(2), torch::ones(2), torch::ones(2)}));
    result = Entry{id, std::move(s), torch::ones(3)};
    entries[k][id] = *result;
  }
  return result;
}
void Cache::put(int k, const std::string &id, const State &s,
                const std::optional<torch::Tensor> &l) {
  auto &bucket = entries[k];
  bucket[id] = Entry{id, s, l};
}
State Cache::find(const std::string &id) {
  for (int k = 0; k < 8; ++k) {
    auto it = entries.find(k);
    if (it != entries.end()) {
      auto e = it->second.find(id);
      if (e != it->second.end())
        return back(list(e->second.state));
    }
    auto loaded = load(k, id);
    if (loaded.has_value())
      return back(list(loaded->state));
  }
  return {};
}

struct Node {
  torch::Tensor a, b;
  std::vector<Node> left, right;
  std::map<int, Node> rest;
  Node *up, *down;
};
void grow(Node &n, torch::nn::Linear net, int k) {
  for (int i = 0; i < k; ++i) {
    Node m{net(n.a), n.b};
    m.left.push_back(n);
    m.right.push_back(n);
    m.rest[i] = n;
    m.up = &n;
    n = m;
  }
}
struct Tree {
  Node root;
  void add(const Node &n) {
    root.left.push_back(n);
    root.rest[0] = n;
    root.rest[1].right = n.left;
  }
  void turn() {
    Node old = root;
    root.left = old.right;
    root.right = old.left;
    root.rest[3] = old;
  }
  void all(torch::nn::Linear net) {
    for (int i = 0; i < 9; ++i) {
      add({net(root.a), root.b});
      turn();
      Node x = root.rest[i];
      x.left[0].right[1].rest[3].a = net(x.b);
      root = x;
    }
  }
};

struct Five {
  torch::Tensor a, b, c, d, e;
};
torch::Tensor mixes(torch::Tensor x, torch::nn::Linear net, int n) {
  torch::NoGradGuard guard;
  Five s{x, x, x, x, x};
  for (int i = 0; i < n; ++i) {
    s.a = s.b + s.c * s.d - s.e;
    s.b = s.a * s.c + s.d * s.e;
    s.c = s.a + s.b - s.d * s.e;
    s.d = s.a * s.b + s.c;
    s.e = s.d * s.a + s.b;
    s.a = s.e + s.c;
    s.b = s.d * s.a;
    s.c = s.e - s.b;
    s.d = s.c + s.e;
    s.e = s.a - s.d;
    s.a = net(s.a);
  }
  return s.a;
}

// A lambda keeps in a map of its caller what it is given.
torch::Tensor unseen(const torch::Tensor &t);
void keepsAll(torch::nn::Linear net, torch::Tensor x, int n) {
  std::map<int, torch::Tensor> all;
  int i = -1;
  while (++i < n) {
    torch::Tensor loss;
    {
      torch::NoGradGuard guard;
      loss = unseen(net(x)).sum();
    }
    auto go = [&] {
      loss.backward({}, true);
      all.emplace(i, loss);
    };
    go();
  }
  (all.at(0)).backward();
}
