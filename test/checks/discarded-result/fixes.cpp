// The tensor takes the place of the old one.
// RUN: %check_libtorch_tidy %s libtorch-discarded-result %t

#include <torch/torch.h>

using torch::Tensor;

Tensor carried(torch::nn::GRU gru, const std::vector<Tensor> &batches) {
  Tensor h = torch::zeros({1, 4, 8});
  Tensor y;
  for (const Tensor &x : batches) {
    std::tie(y, h) = gru->forward(x, h);
    y.sum().backward();
    h.detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'detach' is discarded; 'h' stays as it is [libtorch-discarded-result]
    // CHECK-FIXES: h = h.detach();
  }
  return y;
}

Tensor moved(Tensor x, torch::Device device) {
  x.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'to' is discarded; 'x' stays as it is
  x.contiguous();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'contiguous'
  // CHECK-FIXES: x = x.contiguous();
  x.detach().cpu();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'cpu' is discarded; 'x' stays as it is
  // CHECK-FIXES: x = x.detach().cpu();
  torch::clamp(x, 0, 1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'clamp'
  // CHECK-FIXES: x = torch::clamp(x, 0, 1);
  if (x.dim() == 3)
    x.unsqueeze(0);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'unsqueeze'
  // CHECK-FIXES: x = x.unsqueeze(0);
  else
    (x.squeeze());
  // CHECK-MESSAGES: :[[@LINE-1]]:6: warning: no effect: the result of 'squeeze'
  // CHECK-FIXES: (x = x.squeeze());
  return x.view({-1});
}

Tensor in_commas(Tensor x, Tensor y, int n) {
  for (int i = 0; i < n; ++i, x.detach()) {
    // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: no effect: the result of 'detach'
    // CHECK-FIXES: for (int i = 0; i < n; ++i, x = x.detach()) {
    x = x * 2 + y;
  }
  y.detach(), x.backward();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'detach'
  // CHECK-FIXES: y = y.detach(), x.backward();
  return x + y;
}

struct State {
  Tensor h, c;
};

class Agent {
public:
  void truncate(State &s, std::tuple<Tensor, Tensor> &pair) {
    h_.detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'detach' is discarded; 'h_' stays as it is
    // CHECK-FIXES: h_ = h_.detach();
    this->h_.cpu();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'cpu' is discarded; 'this->h_' stays
    // CHECK-FIXES: this->h_ = this->h_.cpu();
    s.c.detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'detach' is discarded; 's.c' stays
    // CHECK-FIXES: s.c = s.c.detach();
    std::get<0>(pair).detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'detach' is discarded; 'std::get<0>(pair)' stays
    // CHECK-FIXES: std::get<0>(pair) = std::get<0>(pair).detach();
  }

private:
  Tensor h_;
};

void elements(std::vector<Tensor> &states, torch::Device device) {
  for (auto &h : states)
    h.detach();
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'detach'
  // CHECK-FIXES: h = h.detach();
  for (Tensor &h : states) {
    h.to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'to'
  }
  states[0].detach();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'detach' is discarded; 'states[0]' stays as it is
  // CHECK-FIXES: states[0] = states[0].detach();
}

// What does not depend on the template's arguments is known.
template <typename T> Tensor in_template(T t, Tensor x) {
  x.detach();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'detach'
  // CHECK-FIXES: x = x.detach();
  t.to(torch::kCPU);
  return x;
}

void instantiate(Tensor x, torch::nn::Linear fc) {
  in_template(x, x);
  in_template(*fc, x);
}

Tensor suppressed(Tensor x) {
  x.detach(); // NOLINT(libtorch-discarded-result)
  return x;
}

template <typename T> struct Cell {
  Tensor h;
  T other;
  void own() {
    h.detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'detach'
    // CHECK-FIXES: h = h.detach();
  }
  void dependent() { other.detach(); }
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: no effect: the result of 'detach'
};
template struct Cell<Tensor>;

Tensor other_places(Tensor x, std::vector<Tensor> &list, int which) {
  auto by_reference = [&] {
    x.detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'detach'
    // CHECK-FIXES: x = x.detach();
    return which;
  };
  auto [p, q] = std::make_pair(x, x);
  p.detach();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'detach' is discarded; 'p' stays
  // CHECK-FIXES: p = p.detach();
  switch (by_reference()) {
  case 1:
    x.cpu();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'cpu'
    // CHECK-FIXES: x = x.cpu();
    break;
  default:
    x.flatten();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'flatten'
    // CHECK-FIXES: x = x.flatten();
  }
  auto it = list.begin();
  (*it).detach();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'detach' is discarded; '*it' stays
  // CHECK-FIXES: *it = (*it).detach();
  return x + p + q;
}

// Other history is there to go through.
void back_propagated(torch::nn::Linear fc, Tensor in) {
  Tensor state = fc(in);
  state.detach();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'detach'
  // CHECK-FIXES: state = state.detach();
  fc(state).sum().backward();
}
