// State that is assigned after backward(), in parts of tuples.
// RUN: %check_libtorch_tidy %s libtorch-undetached-hidden-state %t -- -- -I%S/../Inputs
#include "net.h"

using torch::Tensor;
using State = std::tuple<Tensor, Tensor>;

struct WordsImpl : torch::nn::Module {
  WordsImpl() : lstm(torch::nn::LSTMOptions(8, 8)) {
    register_module("lstm", lstm);
  }
  std::tuple<Tensor, State> forward(Tensor x, State state) {
    auto [y, next] = lstm(x, state);
    return {y, next};
  }
  torch::nn::LSTM lstm;
};
TORCH_MODULE(Words);

// One half is detached.
void half(Words &net, const Batches &batches, torch::optim::SGD &opt) {
  Tensor h = torch::zeros({1, 2, 8}), c = torch::zeros({1, 2, 8});
  for (const Tensor &x : batches) {
    // CHECK-FIXES: for (const Tensor &x : batches) {
    // CHECK-FIXES-NEXT: c = c.detach();
    auto [y, next] = net->forward(x, std::make_tuple(h, c));
    opt.zero_grad();
    y.sum().backward();
    opt.step();
    h = std::get<0>(next).detach();
    c = std::get<1>(next);
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: use of a freed graph: 'c' carries the autograd graph into the next iteration, and the next backward() fails: the one before has freed that graph; detach it between iterations [libtorch-undetached-hidden-state]
  }
}

// It is not defined before the first iteration.
void late(torch::nn::GRU &gru, const Batches &batches) {
  Tensor h;
  for (const Tensor &x : batches) {
    auto [y, next] = gru->forward(x, h);
    y.sum().backward();
    h = next;
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: use of a freed graph: 'h' carries the autograd graph into the next iteration, and the next backward() fails: the one before has freed that graph; detach it between iterations [libtorch-undetached-hidden-state]
    // CHECK-FIXES: h = next;
    // CHECK-FIXES-NEXT: h = h.detach();
  }
}

void both(torch::nn::LSTM &lstm, const Batches &batches) {
  Tensor h, c;
  for (const Tensor &x : batches) {
    auto [y, next] = lstm->forward(x, State(h, c));
    y.sum().backward();
    std::tie(h, c) = next;
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: use of a freed graph: 'h' and 'c' carry the autograd graph into the next iteration, and the next backward() fails: the one before has freed that graph; detach them between iterations [libtorch-undetached-hidden-state]
    // CHECK-FIXES: std::tie(h, c) = next;
    // CHECK-FIXES-NEXT: h = h.detach();
    // CHECK-FIXES-NEXT: c = c.detach();
  }
}

// These are detached, or not fed back.
void detached(torch::nn::LSTM &lstm, torch::nn::GRU &gru,
              const Batches &batches) {
  Tensor h, c, last;
  for (const Tensor &x : batches) {
    auto [y, next] = lstm->forward(x, std::make_tuple(h, c));
    y.sum().backward();
    h = std::get<0>(next).detach();
    c = std::get<1>(next).detach();
  }
  for (const Tensor &x : batches) {
    auto [y, next] = gru->forward(x, torch::zeros({1, 2, 8}));
    y.sum().backward();
    last = next;
  }
}

// Back-propagated now and then: the state is cut when backward() has run, so
// that each run of it goes through what came since the last one.
void now_and_then(torch::nn::GRUCell &gru, const Batches &batches, int every) {
  Tensor h = torch::zeros({2, 8});
  int i = 0;
  for (const Tensor &x : batches) {
    h = gru(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: use of a freed graph: 'h' carries the autograd graph into the next iteration, and the next backward() fails: the one before has freed that graph; detach it between iterations [libtorch-undetached-hidden-state]
    if (++i % every == 0) {
      h.sum().backward();
      // CHECK-FIXES: h.sum().backward();
      // CHECK-FIXES-NEXT: h = h.detach();
    }
  }
}

// There is no place for it without braces.
void without_braces(torch::nn::GRUCell &gru, const Batches &batches, int every) {
  Tensor h = torch::zeros({2, 8});
  int i = 0;
  // CHECK-FIXES: for (const Tensor &without : batches) {
  // CHECK-FIXES-NEXT: h = gru(without, h);
  for (const Tensor &without : batches) {
    h = gru(without, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: use of a freed graph: 'h' carries the autograd graph into the next iteration, and the next backward() fails: the one before has freed that graph; detach it between iterations [libtorch-undetached-hidden-state]
    if (++i % every == 0)
      h.sum().backward();
    // CHECK-FIXES: if (++i % every == 0)
    // CHECK-FIXES-NEXT: h.sum().backward();
    // CHECK-FIXES-NEXT: {{^ *}}//
  }
}

// Once for each sequence, but what h carries goes on to the next sequence.
void each_sequence(torch::nn::GRUCell &gru, const std::vector<Batches> &all) {
  Tensor h = torch::zeros({2, 8});
  for (const Batches &sequence : all)
    for (size_t i = 0; i < sequence.size(); ++i) {
      h = gru(sequence[i], h);
      // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: use of a freed graph: 'h' carries the autograd graph into the next iteration, and the next backward() fails: the one before has freed that graph; detach it between iterations [libtorch-undetached-hidden-state]
      if (i == sequence.size() - 1) {
        h.sum().backward();
        // CHECK-FIXES: h.sum().backward();
        // CHECK-FIXES-NEXT: h = h.detach();
      }
    }
}
