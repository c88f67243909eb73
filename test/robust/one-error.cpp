// A unit with compile errors that stand in functions: the analysis of values
// leaves these functions out and speaks of the others, and what is unseen is
// not taken for absent.
// RUN: %not %clang-tidy -load %plugin %s -checks='-*,libtorch-*' \
// RUN:   -config='{CheckOptions: {Level: 2}}' -- %torch_flags > %t 2> %t.err
// RUN: %FileCheck %s --input-file=%t --implicit-check-not='{{warning|error}}:'

#include <torch/torch.h>

using torch::Tensor;

struct Net : torch::nn::Module {
  torch::nn::Linear fc{4, 1};
  Tensor forward(const Tensor &x) { return fc->forward(x); }
};

// The error touches this one: what it adds up may be detached in what is lost.
double broken(Net &net, const std::vector<Tensor> &batches) {
  Tensor total = torch::zeros({});
  for (const Tensor &batch : batches) {
    Tensor loss = net.forward(batch).sum();
    loss.backward();
    total = total + detached(loss);
    // CHECK: :[[@LINE-1]]:21: error: use of undeclared identifier 'detached'
    total += loss;
  }
  return total.item<double>();
}

double whole(Net &net, const std::vector<Tensor> &batches) {
  Tensor total = torch::zeros({});
  for (const Tensor &batch : batches) {
    Tensor loss = net.forward(batch).sum();
    loss.backward();
    // CHECK: :[[@LINE+1]]:11: warning: memory growth: 'total' keeps the autograd graph
    total += loss;
  }
  return total.item<double>();
}

// What a broken function returns is not known.
Tensor brokenLoss(Net &net, const Tensor &x) {
  Tensor loss = net.forward(x).sum();
  // CHECK: :[[@LINE+1]]:10: error: use of undeclared identifier 'wrapUp'
  return wrapUp(loss);
}
double ofBroken(Net &net, const std::vector<Tensor> &batches) {
  Tensor total = torch::zeros({});
  for (const Tensor &batch : batches)
    total += brokenLoss(net, batch);
  return total.item<double>();
}

// Its one caller is broken, and guards it.
static Tensor guardedByBroken(Net &net, const Tensor &x) {
  return net.forward(x).argmax();
}
void brokenCaller(Net &net, const Tensor &x) {
  torch::NoGradGuard no_grad;
  // CHECK: :[[@LINE+1]]:3: error: use of undeclared identifier 'publish'
  publish(guardedByBroken(net, x));
}

// An error in a lambda touches the function around it, no other.
void brokenLambda(Net &net, const Tensor &x) {
  auto show = [&] {
    // CHECK: :[[@LINE+1]]:5: error: use of undeclared identifier 'draw'
    draw(net.forward(x));
  };
  show();
  net.forward(x).argmax();
}

// One in a template touches what is made of it.
template <typename T> void brokenTemplate(Net &net, T x) {
  // CHECK: :[[@LINE+1]]:14: error: no member named 'missing' in
  auto y = x.missing();
  net.forward(x).argmax();
}
void instantiates(Net &net, const Tensor &x) { brokenTemplate(net, x); }

// CHECK: :[[@LINE+3]]:14: warning: inference without NoGradGuard: 'net' runs in 'predict' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does

int predict(Net &net, const Tensor &x) {
  return net.forward(x).argmax().item<int>();
}
