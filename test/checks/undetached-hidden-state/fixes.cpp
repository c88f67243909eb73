// State that a training loop carries on with its history.
// RUN: %check_libtorch_tidy %s libtorch-undetached-hidden-state %t -- -- -I%S/../Inputs
#include "net.h"

using torch::Tensor;
using State = std::tuple<Tensor, Tensor>;

struct Model {
  torch::nn::LSTM lstm{nullptr};
  torch::nn::GRU gru{nullptr};
  torch::nn::LSTMCell cell{nullptr};
  torch::nn::GRUCell gru_cell{nullptr};
  torch::nn::Linear head{nullptr};
};

void lstm(Model &m, const Batches &batches, torch::optim::SGD &opt) {
  State state = std::make_tuple(torch::zeros({1, 8, 4}), torch::zeros({1, 8, 4}));
  for (const Tensor &x : batches) {
  // CHECK-FIXES: state = std::make_tuple(std::get<0>(state).detach(), std::get<1>(state).detach());
    Tensor y;
    std::tie(y, state) = m.lstm->forward(x, state);
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: use of a freed graph: 'state' carries the autograd graph into the next iteration, and the next backward() fails: the one before has freed that graph; detach it between iterations [libtorch-undetached-hidden-state]
    Tensor loss = m.head(y).sum();
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

void gru_retained(Model &m, const Batches &batches) {
  Tensor h = torch::zeros({1, 8, 4});
  for (const Tensor &x : batches) {
  // CHECK-FIXES: h = h.detach();
    auto [y, next] = m.gru->forward(x, h);
    h = next;
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: memory growth: 'h' carries the autograd graph into the next iteration, and retain_graph keeps all of it: each backward() goes through the graphs of all iterations so far, and none is freed; detach it between iterations [libtorch-undetached-hidden-state]
    m.head(y).sum().backward({}, /*retain_graph=*/true);
  }
}

// Both of two.
void cell(Model &m, const Batches &batches, int epochs) {
  for (int epoch = 0; epoch < epochs; ++epoch) {
    Tensor h = torch::zeros({8, 4}), c = torch::zeros({8, 4});
    for (const Tensor &x : batches) {
    // CHECK-FIXES: h = h.detach();
    // CHECK-FIXES: c = c.detach();
      std::tie(h, c) = m.cell->forward(x, std::make_tuple(h, c));
      // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: use of a freed graph: 'h' and 'c' carry the autograd graph into the next iteration, and the next backward() fails: the one before has freed that graph; detach them between iterations [libtorch-undetached-hidden-state]
      m.head(h).sum().backward();
    }
  }
}

// The other is enough to carry everything.
void only_h(Model &m, const Batches &batches) {
  Tensor h = torch::zeros({8, 4}), c = torch::zeros({8, 4});
  for (const Tensor &x : batches) {
  // CHECK-FIXES: c = c.detach();
    h = h.detach(); // Not c.
    std::tie(h, c) = m.cell->forward(x, std::make_tuple(h, c));
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: use of a freed graph: 'c' carries the autograd graph into the next iteration, and the next backward() fails: the one before has freed that graph; detach it between iterations [libtorch-undetached-hidden-state]
    m.head(h).sum().backward();
  }
}

// A statement that changes nothing.
void discarded(Model &m, const Batches &batches) {
  Tensor h = torch::zeros({8, 4});
  for (const Tensor &x : batches) {
  // CHECK-FIXES: h = h.detach();
    h = m.gru_cell(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: use of a freed graph: 'h' carries the autograd graph into the next iteration, and the next backward() fails: the one before has freed that graph; detach it between iterations [libtorch-undetached-hidden-state]
    m.head(h).sum().backward();
    h.detach();
  }
}

// Not defined before the first iteration: cut behind backward().
void undefined_at_first(Model &m, const Batches &batches) {
  Tensor h;
  for (const Tensor &x : batches) {
    if (!h.defined())
      h = torch::zeros({8, 4});
    h = m.gru_cell(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: use of a freed graph: 'h' carries the autograd graph into the next iteration, and the next backward() fails: the one before has freed that graph; detach it between iterations [libtorch-undetached-hidden-state]
    Tensor loss = m.head(h).sum();
    loss.backward();
    // CHECK-FIXES: Tensor loss = m.head(h).sum();
    // CHECK-FIXES-NEXT: loss.backward();
    // CHECK-FIXES-NEXT: h = h.detach();
  }
}

// Several steps to one backward(): cut where it ran.
void truncated(Model &m, const Batches &batches, int k) {
  Tensor h = torch::zeros({8, 4});
  Tensor loss = torch::zeros({});
  int t = 0;
  for (const Tensor &x : batches) {
    h = m.gru_cell(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: use of a freed graph: 'h' carries the autograd graph into the next iteration, and the next backward() fails: the one before has freed that graph; detach it between iterations [libtorch-undetached-hidden-state]
    loss = loss + m.head(h).sum();
    if (++t % k == 0) {
      loss.backward();
      // CHECK-FIXES: if (++t % k == 0) {
      // CHECK-FIXES-NEXT: loss.backward();
      // CHECK-FIXES-NEXT: h = h.detach();
      loss = torch::zeros({});
    }
  }
}

// The sequence is an inner loop; the state is not made anew for it.
void sequences(Model &m, const std::vector<Batches> &all) {
  Tensor h = torch::zeros({8, 4});
  for (const Batches &sequence : all) {
  // CHECK-FIXES: h = h.detach();
    Tensor loss = torch::zeros({});
    for (const Tensor &x : sequence) {
      h = m.gru_cell(x, h);
      // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: use of a freed graph: 'h' carries the autograd graph into the next iteration, and the next backward() fails: the one before has freed that graph; detach it between iterations [libtorch-undetached-hidden-state]
      loss = loss + h.sum();
    }
    loss.backward();
  }
}

class Trainer {
public:
  void train(const Batches &batches) {
    h_ = torch::zeros({8, 4});
    for (const Tensor &x : batches) {
      h_ = cell->forward(x, h_);
      // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: use of a freed graph: 'h_' carries the autograd graph into the next iteration, and the next backward() fails: the one before has freed that graph; detach it between iterations [libtorch-undetached-hidden-state]
      Tensor loss = h_.sum();
      loss.backward();
      // CHECK-FIXES: Tensor loss = h_.sum();
      // CHECK-FIXES-NEXT: loss.backward();
      // CHECK-FIXES-NEXT: h_ = h_.detach();
    }
  }

private:
  torch::nn::GRUCell cell{nullptr};
  Tensor h_;
};

// A module of the user's, and a helper that trains.
struct RecurrentImpl : torch::nn::Module {
  std::pair<Tensor, Tensor> forward(Tensor x, Tensor h) {
    Tensor next = torch::tanh(in->forward(x) + rec->forward(h));
    return {out->forward(next), next};
  }
  torch::nn::Linear in{4, 4}, rec{4, 4}, out{4, 1};
};
TORCH_MODULE(Recurrent);

void step(const Tensor &y, torch::optim::SGD &opt) {
  opt.zero_grad();
  y.sum().backward();
  opt.step();
}
void with_helper(Recurrent &net, const Batches &batches,
                 torch::optim::SGD &opt) {
  Tensor h = torch::zeros({8, 4});
  for (const Tensor &x : batches) {
  // CHECK-FIXES: h = h.detach();
    auto y = net->forward(x, h);
    h = y.second;
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: use of a freed graph: 'h' carries the autograd graph into the next iteration, and the next backward() fails: the one before has freed that graph; detach it between iterations [libtorch-undetached-hidden-state]
    step(y.first, opt);
  }
}
