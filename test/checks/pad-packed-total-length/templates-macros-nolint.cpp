// RUN: %check_libtorch_tidy %s libtorch-pad-packed-total-length %t

#include <torch/torch.h>

namespace rnn = torch::nn::utils::rnn;
using torch::Tensor;

// One report and one fix for all instantiations.
template <typename Layer> Tensor run(Layer layer, Tensor x, Tensor lengths) {
  auto packed = rnn::pack_padded_sequence(x, lengths, true);
  auto output = layer->forward_with_packed_input(packed);
  return std::get<0>(rnn::pad_packed_sequence(std::get<0>(output), true));
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: wrong length: pad_packed_sequence without total_length
  // CHECK-FIXES: return std::get<0>(rnn::pad_packed_sequence(std::get<0>(output), true, 0.0, x.size(1)));
}

// They see different layouts.
template <bool BatchFirst> Tensor either(Tensor x, Tensor lengths) {
  auto packed = rnn::pack_padded_sequence(x, lengths, BatchFirst);
  return std::get<0>(rnn::pad_packed_sequence(packed, BatchFirst));
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: wrong length: pad_packed_sequence without total_length
}

// Never instantiated, and plain all the same.
template <typename T> Tensor unused(rnn::PackedSequence packed) {
  return std::get<0>(rnn::pad_packed_sequence(packed, true));
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: wrong length: pad_packed_sequence without total_length
}

void instantiate(torch::nn::LSTM lstm, torch::nn::GRU gru, Tensor x) {
  run(lstm, x, x);
  run(gru, x, x);
  either<true>(x, x);
  either<false>(x, x);
}

#define PAD(SEQUENCE) rnn::pad_packed_sequence(SEQUENCE, true)
#define PACKED packed

void in_macro(Tensor x, Tensor lengths) {
  auto packed = rnn::pack_padded_sequence(x, lengths, true);
  PAD(packed);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: wrong length: pad_packed_sequence without total_length
  // A macro among the arguments does not matter.
  rnn::pad_packed_sequence(PACKED, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: wrong length: pad_packed_sequence without total_length
  // CHECK-FIXES: rnn::pad_packed_sequence(PACKED, true, 0.0, x.size(1));
}

void suppressed(rnn::PackedSequence packed) {
  rnn::pad_packed_sequence(packed); // NOLINT(libtorch-pad-packed-total-length)
  // NOLINTNEXTLINE
  rnn::pad_packed_sequence(packed);
}
