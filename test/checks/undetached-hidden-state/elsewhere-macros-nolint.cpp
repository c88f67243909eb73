// Code elsewhere, other types, macros, templates and NOLINT.
// RUN: %check_libtorch_tidy %s libtorch-undetached-hidden-state %t -- -- -I%S/../Inputs
#include "net.h"

using torch::Tensor;

// Whether the module of another file cuts its state is not known: level 2.
struct ElsewhereImpl : torch::nn::Module {
  std::tuple<Tensor, Tensor> forward(Tensor x, Tensor h);
  torch::nn::GRU gru{nullptr};
};
TORCH_MODULE(Elsewhere);
void elsewhere(Elsewhere &net, const Batches &batches) {
  Tensor h = torch::zeros({8, 4});
  for (const Tensor &x : batches) {
  // CHECK-FIXES: h = h.detach();
    Tensor y;
    std::tie(y, h) = net->forward(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: use of a freed graph: 'h' carries the autograd graph into the next iteration, and the next backward() fails: the one before has freed that graph; detach it between iterations [libtorch-undetached-hidden-state]
    y.sum().backward();
  }
}

struct State {
  Tensor h, c;
};
void in_struct(torch::nn::LSTMCell &cell, const Batches &batches) {
  State s{torch::zeros({8, 4}), torch::zeros({8, 4})};
  for (const Tensor &x : batches) {
    std::tie(s.h, s.c) = cell->forward(x, std::make_tuple(s.h, s.c));
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: use of a freed graph: 's.h' and 's.c' carry the autograd graph into the next iteration, and the next backward() fails: the one before has freed that graph; detach them between iterations [libtorch-undetached-hidden-state]
    s.h.sum().backward();
  }
}

// Each state comes to a backward() of its own.
void two_states(torch::nn::GRUCell &a, torch::nn::GRUCell &b, const Batches &batches) {
  Tensor g = torch::zeros({8, 4}), h = torch::zeros({8, 4});
  for (const Tensor &x : batches) {
    std::tie(g, h) = std::make_tuple(a(x, g), b(x, h));
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: use of a freed graph: 'g' and 'h' carry the autograd graph into the next iteration, and the next backward() fails: the one before has freed that graph; detach them between iterations [libtorch-undetached-hidden-state]
    g.sum().backward();
    h.sum().backward();
  }
}

#define STEP(State, Input) State = cell->forward(Input, State)
template <typename Cell> void templated(Cell &cell, const Batches &batches) {
  Tensor h = torch::zeros({8, 4}), g = h;
  for (const Tensor &x : batches) {
  // CHECK-FIXES: h = h.detach();
    h = cell->forward(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: use of a freed graph: 'h' carries the autograd graph into the next iteration, and the next backward() fails: the one before has freed that graph; detach it between iterations [libtorch-undetached-hidden-state]
    h.sum().backward();
  }
  for (const Tensor &x : batches) {
  // CHECK-FIXES: g = g.detach();
    STEP(g, x);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: use of a freed graph: 'g' carries the autograd graph into the next iteration, and the next backward() fails: the one before has freed that graph; detach it between iterations [libtorch-undetached-hidden-state]
    g.sum().backward();
  }
}
void instances(torch::nn::GRUCell &gru, torch::nn::RNNCell &rnn,
               const Batches &batches) {
  templated(gru, batches);
  templated(rnn, batches);
}

void wanted(torch::nn::GRUCell &cell, const Batches &batches) {
  Tensor h = torch::zeros({8, 4});
  for (const Tensor &x : batches) {
    h = cell->forward(x, h); // NOLINT(libtorch-undetached-hidden-state)
    h.sum().backward({}, true);
  }
}
