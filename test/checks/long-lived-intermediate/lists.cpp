// Lists, queues and maps that are cut, and read by iterators.
// RUN: %check_libtorch_tidy %s libtorch-long-lived-intermediate %t

#include "../Inputs/net.h"
#include <algorithm>
#include <deque>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <queue>

using torch::Tensor;

float patches(Net net, Net head, const Batches &data, int n) {
  torch::NoGradGuard no_grad;
  Batches cut;
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: wasted peak memory: 'cut' is last used before the loop, but its memory stays allocated while the loop runs a module; reset it first [libtorch-long-lived-intermediate]
  for (const Tensor &x : data)
    cut.push_back(net(x));
  cut.insert(cut.begin(), cut.begin(), cut.begin() + 1);
  cut.erase(cut.begin() + n, cut.end());
  if (cut.empty())
    return 0;
  Tensor all = torch::cat(cut);
  // CHECK-FIXES: Tensor all = torch::cat(cut);
  // CHECK-FIXES-NEXT: cut.clear();
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += head(all).sum().item<float>();
  return sum;
}

// Assignments to elements lead on to the list.
float assigned(Net net, Net head, const Batches &data, int n) {
  torch::NoGradGuard no_grad;
  Batches outs(3);
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: wasted peak memory: 'outs' and 'out' are last used before the loop, but their memory stays allocated while the loop runs a module; reset them first [libtorch-long-lived-intermediate]
  Tensor out = net(data[0]);
  float sum = out.sum().item<float>();
  if (sum > 1) {
    Tensor &first = outs.front();
    first = out;
  } else {
    auto it = outs.begin();
    *it = out;
  }
  outs.back() = out;
  for (int i = 0; i < n; ++i)
    sum += head(data[i]).sum().item<float>();
  return sum;
}

float walked(Net net, Net head, const Batches &data, int n) {
  torch::NoGradGuard no_grad;
  std::list<Tensor> outs;
  // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: wasted peak memory: 'outs' is last used before the loop, but its memory stays allocated while the loop runs a module; reset it first [libtorch-long-lived-intermediate]
  for (auto it = data.begin(); it != data.end(); ++it)
    outs.insert(outs.end(), net(*it));
  outs.pop_front();
  float sum = 0;
  for (auto it = outs.rbegin(); it != outs.rend(); ++it)
    sum += it->sum().item<float>();
  // CHECK-FIXES: sum += it->sum().item<float>();
  // CHECK-FIXES-NEXT: outs.clear();
  for (int i = 0; i < n; ++i)
    sum += head(data[i]).sum().item<float>();
  return sum;
}

float copied(Net net, Net head, const Batches &data, int n) {
  torch::NoGradGuard no_grad;
  std::deque<Tensor> outs;
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: wasted peak memory: 'outs' and 'some' are last used before the loop, but their memory stays allocated while the loop runs a module; reset them first [libtorch-long-lived-intermediate]
  for (const Tensor &x : data)
    outs.push_back(net(x));
  std::reverse(outs.begin(), outs.end());
  Batches some(outs.begin(), std::next(outs.begin(), n));
  float sum = torch::cat(some).sum().item<float>();
  for (int i = 0; i < n; ++i)
    sum += head(data[i]).sum().item<float>();
  return sum;
}

float queued(Net net, Net head, const Batches &data, int n) {
  torch::NoGradGuard no_grad;
  std::queue<Tensor> waiting;
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: wasted peak memory: 'waiting' is last used before the loop, but its memory stays allocated while the loop runs a module; reset it first [libtorch-long-lived-intermediate]
  for (const Tensor &x : data)
    waiting.push(net(x));
  float sum = waiting.front().sum().item<float>();
  waiting.pop();
  for (int i = 0; i < n; ++i)
    sum += head(data[i]).sum().item<float>();
  return sum;
}

float mapped(Net net, Net head, const Batches &data, int n) {
  torch::NoGradGuard no_grad;
  std::map<int, Tensor> by;
  // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: wasted peak memory: 'by' is last used before the loop, but its memory stays allocated while the loop runs a module; reset it first [libtorch-long-lived-intermediate]
  for (int i = 0; i < n; ++i)
    by.emplace(i, net(data[i]));
  auto found = by.find(1);
  float sum = found == by.end() ? 0 : found->second.sum().item<float>();
  by.erase(0);
  // CHECK-FIXES: by.erase(0);
  // CHECK-FIXES-NEXT: by.clear();
  for (int i = 0; i < n; ++i)
    sum += head(data[i]).sum().item<float>();
  return sum;
}

// What follows stays silent.

// The loop takes all of them out.
float emptied(Net net, Net head, const Batches &data, int n) {
  torch::NoGradGuard no_grad;
  Batches outs;
  for (const Tensor &x : data)
    outs.push_back(net(x));
  float sum = 0;
  while (!outs.empty()) {
    sum += outs.back().sum().item<float>();
    outs.pop_back();
  }
  for (int i = 0; i < n; ++i)
    sum += head(data[i]).sum().item<float>();
  return sum;
}

float erased(Net net, Net head, const Batches &data, int n) {
  torch::NoGradGuard no_grad;
  std::list<Tensor> outs;
  for (const Tensor &x : data)
    outs.push_back(net(x));
  float sum = 0;
  for (auto it = outs.begin(); it != outs.end();) {
    sum += it->sum().item<float>();
    it = outs.erase(it);
  }
  for (int i = 0; i < n; ++i)
    sum += head(data[i]).sum().item<float>();
  return sum;
}

// An iterator leads to one after the loop.
float later(Net net, Net head, const Batches &data, int n) {
  torch::NoGradGuard no_grad;
  Batches outs;
  for (const Tensor &x : data)
    outs.push_back(net(x));
  auto first = outs.cbegin();
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += head(data[i]).sum().item<float>();
  return sum + first->sum().item<float>();
}

// One of another list, for a while.
float either(Net net, Net head, const Batches &data, int n) {
  torch::NoGradGuard no_grad;
  Batches a, b;
  for (const Tensor &x : data)
    a.push_back(net(x)), b.push_back(net(x));
  auto it = a.begin();
  if (n > 3)
    it = b.begin();
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += head(data[i]).sum().item<float>();
  return sum + it->sum().item<float>();
}

// Others hold them now.
float moved(Net net, Net head, const Batches &data, int n, Batches &to) {
  torch::NoGradGuard no_grad;
  Batches a, b, c, d;
  for (const Tensor &x : data) {
    a.push_back(net(x)), b.push_back(net(x));
    c.push_back(net(x)), d.push_back(net(x));
  }
  std::move(a.begin(), a.end(), std::back_inserter(to));
  to.insert(to.end(), std::make_move_iterator(b.begin()),
            std::make_move_iterator(b.end()));
  Batches().swap(c);
  d.resize(0);
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += head(data[i]).sum().item<float>();
  return sum;
}

// Code that is run may keep them.
float handed(Net net, Net head, const Batches &data, int n, Batches &to,
             std::function<void(std::vector<Tensor>::iterator)> keep) {
  torch::NoGradGuard no_grad;
  Batches a, b;
  for (const Tensor &x : data)
    a.push_back(net(x)), b.push_back(net(x));
  keep(a.begin());
  std::for_each(b.begin(), b.end(), [&](Tensor &t) { to.push_back(t); });
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += head(data[i]).sum().item<float>();
  return sum;
}
