// Fields of a container's elements are places of their own.
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t

#include "../Inputs/net.h"
#include <deque>
#include <map>
#include <vector>

using torch::Tensor;

struct Transition {
  Tensor state, action;
};

class Memory {
public:
  void push(Transition t) {
    if (buffer.size() == 100)
      buffer.pop_front();
    buffer.push_back(std::move(t));
  }
  std::vector<Transition> sample(size_t n) {
    std::vector<Transition> out;
    for (size_t i = 0; i < n; ++i)
      out.push_back(buffer[i]);
    return out;
  }

private:
  std::deque<Transition> buffer;
};

// The list of an iteration dies with it; one outside of the loop does not.
void replay(Net net, int n) {
  Memory memory;
  std::vector<Tensor> states, actions;
  for (int i = 0; i < n; ++i) {
    Tensor x = torch::randn({4});
    memory.push({x, net(x).max()});
    std::vector<Tensor> batch;
    for (auto &t : memory.sample(16)) {
      batch.push_back(t.action);
      states.push_back(t.state);
      actions.push_back(t.action);
      // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: memory growth: 'actions' keeps the autograd graph
      // CHECK-FIXES: actions.push_back(t.action.detach());
    }
  }
}

// By keys, too.
void maps(Net net, int n) {
  std::map<int, Transition> seen;
  std::map<int, std::pair<Tensor, Tensor>> pairs;
  std::vector<Tensor> states, firsts, actions;
  for (int i = 0; i < n; ++i) {
    Tensor x = torch::randn({4});
    seen.emplace(i, Transition{x, net(x).max()});
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: memory growth: 'seen' keeps the autograd graph
    pairs[i % 8] = {x, net(x).max()};
    states.push_back(seen.at(0).state);
    firsts.push_back(pairs[0].first);
    for (auto &[key, t] : seen)
      states.push_back(t.state);
    actions.push_back(seen.at(0).action);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: memory growth: 'actions' keeps the autograd graph
    // CHECK-FIXES: actions.push_back(seen.at(0).action.detach());
  }
}

// One element may be all that others go through.
struct Records {
  std::vector<Transition> all;
  void push(Transition t) { all.push_back(std::move(t)); }
};
Tensor oneOf(Net net, int n) {
  Records records;
  for (int i = 0; i < n; ++i)
    records.push({torch::randn({4}), net(torch::randn({4})).max()});
  return records.all[0].action;
}
void oneHandedOut(Net net, int n, std::vector<Tensor> &log) {
  Records records;
  for (int i = 0; i < n; ++i)
    records.push({torch::randn({4}), net(torch::randn({4})).max()});
  log.push_back(records.all[0].action);
}
