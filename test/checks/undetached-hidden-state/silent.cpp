// Cut, made anew, or carried on purpose.
// RUN: %check_libtorch_tidy %s libtorch-undetached-hidden-state %t -- -- -I%S/../Inputs
#include "net.h"

using torch::Tensor;
using State = std::tuple<Tensor, Tensor>;

struct Model {
  torch::nn::LSTM lstm{nullptr};
  torch::nn::LSTMCell cell{nullptr};
  torch::nn::GRUCell gru_cell{nullptr};
  torch::nn::Linear head{nullptr};
};

void detached(Model &m, const Batches &batches) {
  State state = std::make_tuple(torch::zeros({1, 8, 4}), torch::zeros({1, 8, 4}));
  for (const Tensor &x : batches) {
    state = std::make_tuple(std::get<0>(state).detach(), std::get<1>(state).detach());
    Tensor y;
    std::tie(y, state) = m.lstm->forward(x, state);
    m.head(y).sum().backward();
  }
  Tensor h = torch::zeros({8, 4}), c = torch::zeros({8, 4});
  for (const Tensor &x : batches) {
    std::tie(h, c) = m.cell->forward(x, std::make_tuple(h.detach(), c.detach()));
    m.head(h).sum().backward();
  }
  for (const Tensor &x : batches) {
    std::tie(h, c) = m.cell->forward(x, std::make_tuple(h, c));
    m.head(h).sum().backward();
    h.detach_();
    c.detach_();
  }
  for (const Tensor &x : batches) {
    h = h.detach();
    h = m.gru_cell(x, h);
    Tensor loss = h.sum();
    loss.backward();
  }
  for (const Tensor &x : batches) {
    Tensor next = m.gru_cell(x, h);
    next.sum().backward();
    h = next.data();
  }
}

// One sequence: backward() goes through all steps at once.
void per_sequence(Model &m, const std::vector<Batches> &all) {
  for (const Batches &sequence : all) {
    Tensor h = torch::zeros({8, 4}), c = torch::zeros({8, 4});
    Tensor loss = torch::zeros({});
    for (const Tensor &x : sequence) {
      std::tie(h, c) = m.cell->forward(x, std::make_tuple(h, c));
      loss = loss + m.head(h).sum();
    }
    loss.backward();
  }
  Tensor h;
  for (const Batches &sequence : all) {
    h = torch::zeros({8, 4});
    for (const Tensor &x : sequence)
      h = m.gru_cell(x, h);
    h.sum().backward();
  }
  for (const Batches &sequence : all) {
    for (const Tensor &x : sequence)
      h = m.gru_cell(x, h);
    h = h.detach();
    m.head(h).sum().backward();
  }
  for (const Batches &sequence : all) {
    for (const Tensor &x : sequence)
      h = m.gru_cell(x, h);
    h.sum().backward();
    h = h.detach();
  }
}

// Truncated back-propagation through time.
void truncated(Model &m, const Batches &batches, int k) {
  Tensor h = torch::zeros({8, 4}), loss = torch::zeros({});
  int t = 0;
  for (const Tensor &x : batches) {
    h = m.gru_cell(x, h);
    loss = loss + h.sum();
    if (++t % k == 0) {
      loss.backward();
      loss = torch::zeros({});
      h = h.detach();
    }
  }
  // The two conditions are the same.
  for (const Tensor &x : batches) {
    if (t % k == 0)
      h = h.detach();
    h = m.gru_cell(x, h);
    loss = loss + h.sum();
    if (++t % k == 0) {
      loss.backward();
      loss = torch::zeros({});
    }
  }
  // A new sequence begins now and then.
  for (const Tensor &x : batches) {
    if (x.size(0) == 1)
      h = torch::zeros({8, 4});
    h = m.gru_cell(x, h);
    h.sum().backward();
  }
}

// Others cut it, or may.
void repackage(Tensor &h);
void repackaged(Tensor &h) { h = h.detach(); }
Tensor environment(const Tensor &action);
void by_others(Model &m, const Batches &batches, std::vector<Tensor> states) {
  Tensor h = torch::zeros({8, 4}), g = h, s = h;
  for (const Tensor &x : batches) {
    repackage(h);
    h = m.gru_cell(x, h);
    h.sum().backward();
    repackaged(g);
    g = m.gru_cell(x, g);
    g.sum().backward();
    Tensor a = m.head(s);
    s = environment(a);
    a.sum().backward();
  }
  for (const Tensor &x : batches) {
    for (Tensor &state : states)
      state = state.detach();
    states[0] = m.gru_cell(x, states[0]);
    states[0].sum().backward();
  }
}

// No history: a guard; no training: libtorch-accumulated-history.
Tensor inference(Model &m, const Batches &batches) {
  Tensor h = torch::zeros({8, 4}), g = h;
  for (const Tensor &x : batches)
    g = m.gru_cell(x, g);
  torch::NoGradGuard no_grad;
  for (const Tensor &x : batches)
    h = m.gru_cell(x, h);
  return g + h;
}

// Layers, not steps; the loss of each iteration is its own.
void layers(std::vector<torch::nn::Linear> &layers, const Batches &batches) {
  for (const Tensor &batch : batches) {
    Tensor x = batch;
    for (auto &layer : layers)
      x = layer(x);
    x.sum().backward();
  }
}

// The input is optimised: a leaf again in each iteration.
Tensor adversarial(Model &m, Tensor x, int n) {
  for (int i = 0; i < n; ++i) {
    x = x.detach().requires_grad_();
    m.head(x).sum().backward();
    x = x + 0.1 * x.grad().sign();
  }
  return x;
}

// Two losses of one graph.
void two_losses(Model &m, const Batches &batches) {
  Tensor h = torch::zeros({8, 4});
  for (const Tensor &x : batches) {
    h = m.gru_cell(x, h.detach());
    Tensor a = h.sum(), b = h.mean();
    a.backward({}, true);
    b.backward();
  }
}

// backward() runs in one round.
void last_round(Model &m, const Batches &batches, int steps) {
  Tensor h = torch::zeros({8, 4});
  for (int i = 0; i < steps; ++i) {
    h = m.gru_cell(batches[i], h);
    if (i == steps - 1)
      h.sum().backward();
  }
  int i = 0;
  while (i < steps) {
    h = m.gru_cell(batches[i], h.detach());
    ++i;
  }
  Tensor c = torch::zeros({8, 4});
  for (size_t k = 0; k < batches.size(); ++k) {
    c = m.gru_cell(batches[k], c);
    if (batches.size() == k + 1 && steps > 0)
      c.sum().backward();
    else if (k == 3 && steps > 3) {
      c = m.gru_cell(batches[k], c);
    }
  }
}
