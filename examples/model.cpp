#include "model.h"

namespace nn = torch::nn;

WindowNetImpl::WindowNetImpl(int64_t classes) {
  narrow_ = register_module("narrow",
                            nn::Conv1d(nn::Conv1dOptions(1, 8, 5).padding(2)));
  wide_ = register_module("wide",
                          nn::Conv1d(nn::Conv1dOptions(8, 16, 5).padding(2)));
  head_ = register_module("head", nn::Linear(16, classes));
}

torch::Tensor WindowNetImpl::features(const torch::Tensor &windows) {
  // look-alike: a member set in forward, but of constants: no graph, and the
  // same tensor every time.
  if (!taper_.defined() || taper_.size(0) != windows.size(2))
    taper_ = torch::hann_window(windows.size(2));
  auto x = torch::relu(narrow_(windows * taper_));
  x = torch::max_pool1d(x, 2);
  x = torch::relu(wide_(x));
  return x.mean(2);
}

torch::Tensor WindowNetImpl::forward(const torch::Tensor &windows) {
  auto x = features(windows);
  // seeded: libtorch-long-lived-intermediate
  last_features_ = x;
  return head_(x);
}

std::string WindowNetImpl::describe() const {
  auto range = last_features_.detach().aminmax();
  return "features from " + std::to_string(std::get<0>(range).item<float>()) +
         " to " + std::to_string(std::get<1>(range).item<float>());
}

TaggerImpl::TaggerImpl(int64_t hidden) {
  lstm = register_module(
      "lstm", nn::LSTM(nn::LSTMOptions(1, hidden).batch_first(true)));
  head = register_module("head", nn::Linear(hidden, 1));
}

torch::Tensor TaggerImpl::forward(const torch::Tensor &padded,
                                  const torch::Tensor &lengths) {
  auto packed = nn::utils::rnn::pack_padded_sequence(padded, lengths,
                                                     /*batch_first=*/true);
  auto result = lstm->forward_with_packed_input(packed);
  // seeded: libtorch-pad-packed-total-length (level 2)
  auto unpacked = nn::utils::rnn::pad_packed_sequence(std::get<0>(result),
                                                      /*batch_first=*/true);
  return head(std::get<0>(unpacked)).squeeze(2);
}

torch::Tensor SplitTaggerImpl::forward(const torch::Tensor &padded,
                                       const torch::Tensor &lengths) {
  auto packed = nn::utils::rnn::pack_padded_sequence(padded, lengths,
                                                     /*batch_first=*/true);
  auto result = lstm->forward_with_packed_input(packed);
  // look-alike: the length of the whole batch is given.
  auto unpacked = nn::utils::rnn::pad_packed_sequence(
      std::get<0>(result), /*batch_first=*/true, /*padding_value=*/0.0,
      /*total_length=*/padded.size(1));
  return head(std::get<0>(unpacked)).squeeze(2);
}

PolicyImpl::PolicyImpl() {
  body = register_module("body", nn::Linear(4, 16));
  actor = register_module("actor", nn::Linear(16, 2));
  critic = register_module("critic", nn::Linear(16, 1));
}

std::pair<torch::Tensor, torch::Tensor>
PolicyImpl::forward(const torch::Tensor &state) {
  auto x = torch::tanh(body(state));
  return {torch::log_softmax(actor(x), 1), critic(x).squeeze(1)};
}
