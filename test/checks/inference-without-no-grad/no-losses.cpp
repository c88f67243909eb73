// Where a loss is a number for its reader, or only read, eval() says that the file
// predicts.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t --level=1

#include "../Inputs/net.h"
#include <vector>

using torch::Tensor;

class Judge {
public:
  Judge() { net_->eval(); }
  float loss(const Tensor &x) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    return torch::mse_loss(net_->forward(x), x).item<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:34: warning: inference without NoGradGuard: 'net_' runs in 'loss' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  }
  Tensor scores(const Tensor &x) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    return net_->forward(x).softmax(1);
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: inference without NoGradGuard: 'net_' runs in 'scores' and records an autograd graph that nothing in this file back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  }

private:
  Net net_;
};
