// State in a member that each call hands to the next one.
// RUN: %check_libtorch_tidy %s libtorch-undetached-hidden-state %t
#include <torch/torch.h>

using torch::Tensor;

class Denoiser {
public:
  explicit Denoiser(torch::nn::GRU net) : net_(net) { net_->eval(); }
  Tensor push(const Tensor &frame) {
    Tensor y;
    std::tie(y, state_) = net_->forward(frame, state_);
    // CHECK-NOTES: :[[@LINE-1]]:25: warning: memory growth: 'state_' carries the autograd graph from call to call, and nothing detaches or resets it, so the graphs of all calls stay in memory; detach it after each call [libtorch-undetached-hidden-state]
    // CHECK-NOTES: :[[@LINE+8]]:10: note: member 'state_' lives as long as its object
    // CHECK-NOTES: :[[@LINE-3]]:33: note: 'net_' runs with gradient mode on here, so its result holds an autograd graph
    // CHECK-NOTES: :[[@LINE-7]]:61: note: the module is there to predict: it is in evaluation mode
    // CHECK-FIXES: state_ = state_.detach();
    return y.sigmoid();
  }
private:
  torch::nn::GRU net_;
  Tensor state_;
};

// Without a word on what it is for: level 2.
class Words {
public:
  Tensor push(const Tensor &frame) {
    std::tie(h_, c_) = cell_->forward(frame, std::make_tuple(h_, c_));
    // CHECK-NOTES: :[[@LINE-1]]:22: warning: memory growth: 'h_' and 'c_' carry the autograd graph from call to call, and nothing detaches or resets it, so the graphs of all calls stay in memory; detach them after each call [libtorch-undetached-hidden-state]
    // CHECK-NOTES: :[[@LINE+7]]:10: note: member 'h_' lives as long as its object
    // CHECK-NOTES: :[[@LINE-3]]:31: note: 'cell_' runs with gradient mode on here, so its result holds an autograd graph
    // CHECK-FIXES: h_ = h_.detach();
    // CHECK-FIXES-NEXT: c_ = c_.detach();
    return h_ * 2;
  }
  torch::nn::LSTMCell cell_{nullptr};
  Tensor h_ = torch::zeros({1, 8}), c_ = torch::zeros({1, 8});
};

// Guarded, detached, reset somewhere, back-propagated, or not the state of the
// next call.
class Silent {
public:
  Tensor guarded(const Tensor &frame) {
    torch::NoGradGuard no_grad;
    std::tie(y_, guarded_) = net_->forward(frame, guarded_);
    return y_;
  }
  Tensor detached(const Tensor &frame) {
    auto [y, next] = net_->forward(frame, detached_);
    detached_ = next.detach();
    return y;
  }
  Tensor reset_later(const Tensor &frame) {
    auto [y, next] = net_->forward(frame, reset_);
    reset_ = next;
    return y;
  }
  void new_sequence() { reset_ = Tensor(); }
  Tensor trained(const Tensor &frame) {
    auto [y, next] = net_->forward(frame, trained_);
    trained_ = next;
    trained_.sum().backward();
    return y;
  }
  Tensor last(const Tensor &frame) {
    auto [y, next] = net_->forward(frame, Tensor());
    last_ = next;
    return y + last_;
  }
  Tensor called_under_guard(const Tensor &frame) {
    auto [y, next] = net_->forward(frame, called_);
    called_ = next;
    return y;
  }
  // Nothing reads it: libtorch-accumulated-history reports that.
  void unread(const Tensor &frame) {
    auto [y, next] = net_->forward(frame, unread_);
    unread_ = next;
  }
private:
  torch::nn::GRU net_{nullptr};
  Tensor guarded_, detached_, reset_, trained_, last_, y_, called_, unread_;
};
Tensor predict(Silent &silent, const Tensor &frame) {
  torch::NoGradGuard no_grad;
  return silent.called_under_guard(frame);
}

// What takes anything by reference, to copy it, does not write to it.
class Whole {
public:
  Tensor push(const Tensor &frame) {
    auto out = cell_->forward(frame, state_);
    state_ = std::get<1>(out);
    // CHECK-NOTES: :[[@LINE-1]]:12: warning: memory growth: 'state_' carries the autograd graph from call to call, and nothing detaches or resets it, so the graphs of all calls stay in memory; detach it after each call [libtorch-undetached-hidden-state]
    // CHECK-NOTES: :[[@LINE+7]]:30: note: member 'state_' lives as long as its object
    // CHECK-NOTES: :[[@LINE-4]]:23: note: 'cell_' runs with gradient mode on here, so its result holds an autograd graph
    // CHECK-FIXES: state_ = std::make_tuple(std::get<0>(state_).detach(), std::get<1>(state_).detach());
    return std::get<0>(out);
  }
  Tensor look() { return std::get<0>(state_) + 1; }
  torch::nn::LSTM cell_{nullptr};
  std::tuple<Tensor, Tensor> state_;
};
