// The same code where something trains: what leaves the function may be what is
// trained with.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t

#include "../Inputs/net.h"
#include <torch/script.h>

using torch::Tensor;

Tensor validate(Net &net, const Tensor &x) {
  net->eval();
  return net(x);
}

Tensor detect(const std::string &path, const Tensor &x) {
  torch::jit::Module module = torch::jit::load(path);
  return module.forward({x}).toTensor();
}

// Between eval() and train() nothing is trained, in any file.
Tensor between(Net &net, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  net->eval();
  Tensor y = net(x);
  // CHECK-NOTES: :[[@LINE-1]]:14: warning: inference without NoGradGuard: 'net' runs in 'between' and records an autograd graph that nothing in this file back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-NOTES: :[[@LINE-3]]:8: note: 'net' is put in evaluation mode here, which leaves gradients on
  net->train();
  return y;
}

// Its caller goes through the graph.
Tensor attacked(Net &net, const Tensor &x) {
  net->eval();
  Tensor y = net(x);
  net->train();
  return y;
}
void attack(Net &net, const Tensor &x) { attacked(net, x).sum().backward(); }

void step(torch::optim::Optimizer &optimizer, const Tensor &loss) {
  loss.backward();
  optimizer.step();
}

// The same of a list.
Tensor allBetween(std::vector<Net> &nets, const Tensor &x) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  for (auto &net : nets)
    net->eval();
  Tensor y = nets[0](x);
  // CHECK-NOTES: :[[@LINE-1]]:14: warning: inference without NoGradGuard: a module runs in 'allBetween' and records an autograd graph that nothing in this file back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-NOTES: :[[@LINE-3]]:10: note: 'nets' is put in evaluation mode here, which leaves gradients on
  for (auto &net : nets)
    net->train();
  return y;
}
