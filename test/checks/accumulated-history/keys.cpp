// What is stored by one of a few keys takes the place of what was there. Others
// grow with their keys.
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t

#include "../Inputs/net.h"
#include <map>
#include <string>
#include <unordered_map>

using torch::Tensor;

enum class Kind { Train, Test };
struct Sample {
  Tensor x;
  int label;
  std::string name;
  Kind kind;
  bool hard;
};
using Samples = std::vector<Sample>;

const std::string Loss = "loss";
const char *const Names[] = {"first", "second"};
static std::string nameOf(const Sample &s) { return s.hard ? "hard" : "easy"; }

void few(Net net, const Samples &data, const std::string &name) {
  std::map<std::string, Tensor> last;
  std::map<Kind, Tensor> kinds;
  std::map<bool, Tensor> halves;
  std::unordered_map<std::string, Tensor> others;
  std::map<std::string, std::map<int, Tensor>> nested;
  std::map<int, Sample> whole;
  Tensor fixed[4];
  int n = 0;
  for (const Sample &s : data) {
    Tensor loss = net(s.x).sum();
    loss.backward();
    last["loss"] = loss;
    last[Loss] = loss;
    last[name] = loss;
    last[s.hard ? "hard" : "easy"] = loss;
    last[nameOf(s)] = loss;
    last["loss_" + nameOf(s)] = loss;
    last[std::to_string(n % 4)] = loss;
    kinds[s.kind] = loss;
    halves[s.label > 3] = loss;
    nested["loss"][s.label & 1] = loss;
    whole[0].x = loss;
    fixed[n++ % 4] = loss;
    std::string key = "other";
    if (s.label == 1)
      key = "one";
    else if (s.label == 2)
      key = "two";
    others[key] = loss;
    others.at(key) = loss;
    others.emplace(key, loss);
    others.insert({"pair", loss});
    others.insert(std::make_pair("made", loss));
    others.insert_or_assign("put", loss);
    for (const char *of : {"a", "b"})
      last[of] = loss;
    for (const char *of : Names)
      last[of] = loss;
    for (int k = 0; k < 3; ++k)
      last[std::to_string(k)] = loss;
  }
}

struct Trainer {
  Net net;
  std::map<std::string, Tensor> metrics;
  void step(const Tensor &x) {
    Tensor loss = net(x).sum();
    loss.backward();
    metrics["loss"] = loss;
    metrics.insert_or_assign("twice", loss * 2);
  }
};

void many(Net net, const Samples &data) {
  std::map<int, Tensor> counted;
  std::map<std::string, Tensor> named, sums;
  std::multimap<std::string, Tensor> all;
  std::map<std::string, std::vector<Tensor>> lists;
  std::map<std::string, std::map<int, Tensor>> nested;
  std::vector<Tensor> slots(data.size());
  int n = 0;
  for (const Sample &s : data) {
    Tensor loss = net(s.x).sum();
    loss.backward();
    slots[n] = loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: memory growth: 'slots' keeps the autograd graph
    // CHECK-FIXES: slots[n] = loss.detach();
    nested["loss"][n] = loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: memory growth: 'nested' keeps the autograd graph
    // CHECK-FIXES: nested["loss"][n] = loss.detach();
    counted[n++] = loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: memory growth: 'counted' keeps the autograd graph
    // CHECK-FIXES: counted[n++] = loss.detach();
    named[s.name] = loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: memory growth: 'named' keeps the autograd graph
    // CHECK-FIXES: named[s.name] = loss.detach();
    named.emplace("sample" + std::to_string(n), loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'named' keeps the autograd graph
    // CHECK-FIXES: named.emplace("sample" + std::to_string(n), loss.detach());
    sums["loss"] = sums["loss"] + loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: memory growth: 'sums' keeps the autograd graph
    // CHECK-FIXES: sums["loss"] = (sums["loss"] + loss).detach();
    all.emplace("loss", loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: memory growth: 'all' keeps the autograd graph
    // CHECK-FIXES: all.emplace("loss", loss.detach());
    lists["loss"].push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: memory growth: 'lists' keeps the autograd graph
    // CHECK-FIXES: lists["loss"].push_back(loss.detach());
  }
}
