// A module that is put in evaluation mode, in a file that trains nothing: what it
// returns, keeps or sends is a prediction.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t

#include "../Inputs/net.h"
#include <functional>

using torch::Tensor;

void publish(const Tensor &scores); // In another file.

// In the function.
Tensor returned(Net &net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  net->eval();
  return net(x);
  // CHECK-NOTES: :[[@LINE-1]]:10: warning: inference without NoGradGuard: 'net' runs in 'returned' and records an autograd graph that nothing in this file back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-NOTES: :[[@LINE-3]]:8: note: 'net' is put in evaluation mode here, which leaves gradients on
}

// In the constructor; two entry points, and one guard for each.
class Scorer {
public:
  Scorer() { net_->eval(); }
  Tensor score(const Tensor &x) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    return net_(x).softmax(1);
    // CHECK-NOTES: :[[@LINE-1]]:12: warning: inference without NoGradGuard: 'net_' runs in 'score' and records an autograd graph that nothing in this file back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    // CHECK-NOTES: :[[@LINE-5]]:20: note: 'net_' is put in evaluation mode here, which leaves gradients on
  }
  void send(const Tensor &x, const std::function<void(Tensor)> &callback) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    callback(net_(x));
    // CHECK-NOTES: :[[@LINE-1]]:14: warning: inference without NoGradGuard: 'net_' runs in 'send' and records an autograd graph that nothing in this file back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    // CHECK-NOTES: :[[@LINE-11]]:20: note: 'net_' is put in evaluation mode here, which leaves gradients on
  }
  Tensor guarded(const Tensor &x) {
    torch::NoGradGuard guard;
    return net_(x);
  }

private:
  Net net_;
};

// By a helper, and then moved to where it lives.
static void prepare(Net &net) { net->eval(); }
class Moved {
public:
  explicit Moved(const std::string &path) {
    prepare(helped_);
    Net loaded;
    torch::load(loaded, path);
    loaded->eval();
    moved_ = loaded;
  }
  Tensor first(const Tensor &x) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    return helped_(x);
    // CHECK-NOTES: :[[@LINE-1]]:12: warning: inference without NoGradGuard: 'helped_' runs in 'first' and records an autograd graph that nothing in this file back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    // CHECK-NOTES: :[[@LINE-14]]:38: note: 'helped_' is put in evaluation mode here, which leaves gradients on
  }
  Tensor second(const Tensor &x) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    return moved_(x);
    // CHECK-NOTES: :[[@LINE-1]]:12: warning: inference without NoGradGuard: 'moved_' runs in 'second' and records an autograd graph that nothing in this file back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    // CHECK-NOTES: :[[@LINE-13]]:13: note: 'moved_' is put in evaluation mode here, which leaves gradients on
  }

private:
  Net helped_, moved_{nullptr};
};

// What nobody put in evaluation mode may be trained elsewhere.
struct Unknown {
  Tensor score(const Tensor &x) { return net_(x); }
  Net net_;
};

// The callers are shown, and one of them computes with the result: it is
// reported there.
static Tensor scores(Net &net, const Tensor &x) {
  net->eval();
  return net(x);
}
int best(Net &net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  return scores(net, x).argmax().item<int>();
  // CHECK-NOTES: :[[@LINE-1]]:10: warning: inference without NoGradGuard: 'scores' runs a module in 'best' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
