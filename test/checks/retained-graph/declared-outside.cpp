// A loss that is declared outside of its loop, and made anew at the start of each
// iteration: no iteration goes through the graph of another one.
// RUN: %check_libtorch_tidy %s libtorch-retained-graph %t

#include "../Inputs/net.h"
#include <iostream>

using torch::Tensor;

void remade(Net &net, torch::optim::Optimizer &opt, const Batches &batches) {
  Tensor loss;
  for (int epoch = 0; epoch < 20; ++epoch) {
    for (const Tensor &x : batches) {
      opt.zero_grad();
      loss = net(torch::ones({8, 4})).sum();
      loss.backward({}, true);
      // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: wasted memory: retain_graph keeps the activations alive after this backward(), but nothing goes through the graph again; leave it out [libtorch-retained-graph]
      // CHECK-FIXES: loss.backward();
      opt.step();
    }
    std::cout << loss.item<float>() << '\n';
  }
}

// On top of the one before.
void added(Net &net, torch::optim::Optimizer &opt, const Batches &batches) {
  Tensor loss = net(batches[0]).sum();
  for (const Tensor &x : batches) {
    opt.zero_grad();
    loss = loss + net(x).sum();
    loss.backward({}, true);
    opt.step();
  }
}

// Only in some iterations.
void sometimes(Net &net, torch::optim::Optimizer &opt, const Batches &batches) {
  Tensor loss = net(batches[0]).sum();
  for (size_t i = 0; i < batches.size(); ++i) {
    opt.zero_grad();
    if (i % 2)
      loss = net(batches[i]).sum();
    loss.backward({}, true);
    opt.step();
  }
}

// After the backward pass, for the next iteration.
void later(Net &net, torch::optim::Optimizer &opt, const Batches &batches) {
  Tensor loss = net(batches[0]).sum();
  for (const Tensor &x : batches) {
    opt.zero_grad();
    loss.backward({}, true);
    loss = net(x).sum() + loss.detach();
    opt.step();
  }
}

// Also in another loop.
void again(Net &net, torch::optim::Optimizer &opt, const Batches &batches) {
  Tensor loss;
  for (int epoch = 0; epoch < 20; ++epoch) {
    for (const Tensor &x : batches) {
      loss = net(x).sum();
      loss.backward({}, true);
    }
    loss.backward();
    opt.step();
  }
}
