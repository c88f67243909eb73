// A C++ module that comes from another file may come with a guard: the loop that
// plays or evaluates has it. What this file shows decides: a caller, eval(), a
// module that is made here.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t --level=1

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;

struct NetImpl : torch::nn::Module {
  torch::nn::Linear fc{nullptr};
  NetImpl() { fc = register_module("fc", torch::nn::Linear(4, 4)); }
  Tensor forward(const Tensor &x) { return fc->forward(x); }
};
TORCH_MODULE(Net);

int byReference(Net &net, const Tensor &x) {
  return net->forward(x).argmax(1).item<int>();
}
int byPointer(const std::shared_ptr<NetImpl> &net, const Tensor &x) {
  return net->forward(x).argmax(1).item<int>();
}
int byLocalName(Net net, const Tensor &x) {
  Net same = net;
  return same->forward(x).argmax(1).item<int>();
}

class Player {
public:
  explicit Player(Net net) : net_(std::move(net)) {}
  int move(const Tensor &x) { return net_->forward(x).argmax(1).item<int>(); }
  // Only what the class does leads here.
  int best(const Tensor &x) { return inner(x); }

private:
  int inner(const Tensor &x) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    return net_->forward(x).argmax(1).item<int>();
    // CHECK-NOTES: :[[@LINE-1]]:18: warning: inference without NoGradGuard: 'net_' runs in 'inner' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  }
  Net net_;
};

// Its own.
class Owner {
public:
  int move(const Tensor &x) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    return net_->forward(x).argmax(1).item<int>();
    // CHECK-NOTES: :[[@LINE-1]]:18: warning: inference without NoGradGuard: 'net_' runs in 'move' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  }

private:
  Net net_;
};

int madeHere(const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  Net net;
  return net->forward(x).argmax(1).item<int>();
  // CHECK-NOTES: :[[@LINE-1]]:15: warning: inference without NoGradGuard: 'net' runs in 'madeHere' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}

// Who switches to evaluation mode here would have the guard here, too.
int evaluated(Net &net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  net->eval();
  return net->forward(x).argmax(1).item<int>();
  // CHECK-NOTES: :[[@LINE-1]]:15: warning: inference without NoGradGuard: 'net' runs in 'evaluated' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}

int called(Net &net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  return net->forward(x).argmax(1).item<int>();
  // CHECK-NOTES: :[[@LINE-1]]:15: warning: inference without NoGradGuard: 'net' runs in 'called' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
int caller(Net &net) { return called(net, torch::ones({1, 4})); }

// TorchScript is there to predict.
int script(torch::jit::Module &net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  return net.forward({x}).toTensor().argmax(1).item<int>();
  // CHECK-NOTES: :[[@LINE-1]]:14: warning: inference without NoGradGuard: 'net' runs in 'script' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}

// A list of them, too.
int byElement(std::vector<Net> &nets, const Tensor &x) {
  return nets[0]->forward(x).argmax(1).item<int>();
}
int byLoop(const std::vector<Net> &nets, const Tensor &x) {
  int sum = 0;
  for (auto net : nets)
    sum += net->forward(x).argmax(1).item<int>();
  return sum;
}
int evaluatedByLoop(std::vector<Net> &nets, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  for (auto &net : nets)
    net->eval();
  return nets.front()->forward(x).argmax(1).item<int>();
  // CHECK-NOTES: :[[@LINE-1]]:24: warning: inference without NoGradGuard: a module runs in 'evaluatedByLoop' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
}
