// Modules of a list that are put in evaluation mode one after the other, in a file that
// trains nothing: what they return, keep or send is a prediction.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t

#include "../Inputs/net.h"
#include <algorithm>
#include <map>
#include <string>

using torch::Tensor;

// By a loop, and run by another one.
class Ensemble {
public:
  Ensemble() {
    for (auto &member : members_)
      member->eval();
  }
  Tensor mean(const Tensor &x) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    std::vector<Tensor> all;
    for (auto &net : members_)
      all.push_back(net(x));
      // CHECK-NOTES: :[[@LINE-1]]:21: warning: inference without NoGradGuard: 'net' runs in 'mean' and records an autograd graph that nothing in this file back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
      // CHECK-NOTES: :[[@LINE-8]]:15: note: 'members_' is put in evaluation mode here, which leaves gradients on
      // CHECK-NOTES: :[[@LINE-3]]:11: note: 'all' keeps the autograd graph of every iteration here
    return torch::stack(all).mean(0);
  }
  Tensor one(const Tensor &x, size_t i) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    return members_[i](x);
    // CHECK-NOTES: :[[@LINE-1]]:12: warning: inference without NoGradGuard: a module runs in 'one' and records an autograd graph that nothing in this file back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    // CHECK-NOTES: :[[@LINE-16]]:15: note: 'members_' is put in evaluation mode here, which leaves gradients on
  }
  Tensor first(const Tensor &x) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    return members_.front()->forward(x);
    // CHECK-NOTES: :[[@LINE-1]]:30: warning: inference without NoGradGuard: a module runs in 'first' and records an autograd graph that nothing in this file back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    // CHECK-NOTES: :[[@LINE-22]]:15: note: 'members_' is put in evaluation mode here, which leaves gradients on
  }
  Tensor by_iterator(const Tensor &x) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    auto it = members_.begin();
    ++it;
    return (*it)->forward(x);
    // CHECK-NOTES: :[[@LINE-1]]:19: warning: inference without NoGradGuard: 'it' runs in 'by_iterator' and records an autograd graph that nothing in this file back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    // CHECK-NOTES: :[[@LINE-30]]:15: note: 'members_' is put in evaluation mode here, which leaves gradients on
  }

private:
  std::vector<Net> members_;
};

// By an iterator, an algorithm, an index; of a map.
Tensor iterated(std::vector<Net> &nets, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  for (auto it = nets.begin(); it != nets.end(); ++it)
    (*it)->eval();
  return nets.back()(x);
  // CHECK-NOTES: :[[@LINE-1]]:10: warning: inference without NoGradGuard: a module runs in 'iterated' and records an autograd graph that nothing in this file back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-NOTES: :[[@LINE-3]]:12: note: 'nets' is put in evaluation mode here, which leaves gradients on
}
Tensor each(std::vector<std::shared_ptr<NetImpl>> &nets, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  std::for_each(nets.begin(), nets.end(), [](auto &net) { net->eval(); });
  return nets[1]->forward(x);
  // CHECK-NOTES: :[[@LINE-1]]:19: warning: inference without NoGradGuard: a module runs in 'each' and records an autograd graph that nothing in this file back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-NOTES: :[[@LINE-3]]:64: note: 'nets' is put in evaluation mode here, which leaves gradients on
}
Tensor indexed(std::vector<Net> &nets, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  for (size_t i = 0; i < nets.size(); ++i)
    nets[i]->eval();
  Tensor sum = torch::zeros({1, 4});
  for (auto &net : nets)
    sum = sum + net->forward(x);
    // CHECK-NOTES: :[[@LINE-1]]:22: warning: inference without NoGradGuard: 'net' runs in 'indexed' and records an autograd graph that nothing in this file back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    // CHECK-NOTES: :[[@LINE-5]]:14: note: 'nets' is put in evaluation mode here, which leaves gradients on
    // CHECK-NOTES: :[[@LINE-3]]:9: note: 'sum' keeps the autograd graph of every iteration here
  return sum;
}
Tensor mapped(std::map<std::string, Net> &nets, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  for (auto &[name, net] : nets)
    net->eval();
  return nets.at("first")->forward(x);
  // CHECK-NOTES: :[[@LINE-1]]:28: warning: inference without NoGradGuard: a module runs in 'mapped' and records an autograd graph that nothing in this file back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-NOTES: :[[@LINE-3]]:10: note: 'nets' is put in evaluation mode here, which leaves gradients on
}

// Nobody put these in evaluation mode.
struct Unknown {
  Tensor one(const Tensor &x, size_t i) { return members_[i](x); }
  std::vector<Net> members_;
};
// One of them, or some.
Tensor other(std::vector<Net> &nets, std::vector<Net> &others, const Tensor &x) {
  for (auto &net : nets)
    net->eval();
  return others[0](x);
}
Tensor some(std::vector<Net> &nets, const Tensor &x, size_t best) {
  size_t i = 0;
  for (auto &net : nets)
    if (i++ != best)
      net->eval();
  return nets[best](x);
}
// Parts of a module that are frozen leave the others in training.
struct Normed {
  Tensor run(const Tensor &x) {
    for (auto &part : net_->children())
      part->eval();
    return net_(x);
  }
  Net net_;
};
// Under a guard.
Tensor guarded(std::vector<Net> &nets, const Tensor &x) {
  for (auto &net : nets)
    net->eval();
  torch::NoGradGuard no_grad;
  return nets[0](x);
}
