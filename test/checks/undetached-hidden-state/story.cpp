// A loop over batches, with a call that looks as if it cut the graph.
// RUN: %check_libtorch_tidy %s libtorch-undetached-hidden-state %t
#include <torch/torch.h>

using torch::Tensor;

void train(torch::nn::GRU net, torch::optim::SGD &optimizer,
           const std::vector<Tensor> &batches) {
  Tensor h = torch::zeros({1, 8, 16});
  for (const Tensor &x : batches) {
    // CHECK-FIXES: h = h.detach();
    Tensor y;
    std::tie(y, h) = net(x, h);
    // CHECK-NOTES: :[[@LINE-1]]:20: warning: use of a freed graph: 'h' carries the autograd graph into the next iteration, and the next backward() fails: the one before has freed that graph; detach it between iterations [libtorch-undetached-hidden-state]
    // CHECK-NOTES: :[[@LINE-6]]:10: note: 'h' is declared here, outside the loop
    // CHECK-NOTES: :[[@LINE-3]]:22: note: 'net' runs with gradient mode on here, so its result holds an autograd graph
    // CHECK-NOTES: :[[@LINE+3]]:13: note: backward() goes through the graph of the state here, and nothing detaches the state before the next iteration uses it
    // CHECK-NOTES: :[[@LINE+4]]:7: note: this changes nothing: its result is discarded
    optimizer.zero_grad();
    y.sum().backward();
    optimizer.step();
    h.detach();
  }
}
