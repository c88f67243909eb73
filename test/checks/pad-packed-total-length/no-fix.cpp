// Told, but the length cannot be spelled safely.
// RUN: %check_libtorch_tidy %s libtorch-pad-packed-total-length %t

#include <torch/torch.h>

namespace rnn = torch::nn::utils::rnn;
using torch::Tensor;

Tensor from_caller(const rnn::PackedSequence &packed) {
  return std::get<0>(rnn::pad_packed_sequence(packed, true));
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: wrong length: pad_packed_sequence without total_length
}

Tensor input_changed(Tensor x, Tensor lengths) {
  auto packed = rnn::pack_padded_sequence(x, lengths, true);
  x = x.transpose(0, 1);
  return std::get<0>(rnn::pad_packed_sequence(packed, true));
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: wrong length: pad_packed_sequence without total_length
}

Tensor input_changed_in_place(Tensor x, Tensor lengths) {
  auto packed = rnn::pack_padded_sequence(x, lengths, true);
  x.transpose_(0, 1);
  return std::get<0>(rnn::pad_packed_sequence(packed, true));
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: wrong length: pad_packed_sequence without total_length
}

Tensor input_moved(Tensor x, Tensor lengths) {
  auto packed = rnn::pack_padded_sequence(std::move(x), lengths, true);
  return std::get<0>(rnn::pad_packed_sequence(packed, true));
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: wrong length: pad_packed_sequence without total_length
}

void shrink(Tensor &x);

Tensor input_passed_on(Tensor x, Tensor lengths) {
  auto packed = rnn::pack_padded_sequence(x, lengths, true);
  shrink(x);
  return std::get<0>(rnn::pad_packed_sequence(packed, true));
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: wrong length: pad_packed_sequence without total_length
}

Tensor input_aliased(Tensor x, Tensor lengths) {
  Tensor &alias = x;
  auto packed = rnn::pack_padded_sequence(x, lengths, true);
  alias = alias.t();
  return std::get<0>(rnn::pad_packed_sequence(packed, true));
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: wrong length: pad_packed_sequence without total_length
}

Tensor input_computed(Tensor x, Tensor lengths) {
  auto packed = rnn::pack_padded_sequence(x.relu(), lengths, true);
  return std::get<0>(rnn::pad_packed_sequence(packed, true));
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: wrong length: pad_packed_sequence without total_length
}

Tensor input_out_of_scope(Tensor x, Tensor lengths) {
  rnn::PackedSequence packed = [&] {
    Tensor y = x * 2;
    return rnn::pack_padded_sequence(y, lengths, true);
  }();
  return std::get<0>(rnn::pad_packed_sequence(packed, true));
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: wrong length: pad_packed_sequence without total_length
}

Tensor input_shadowed(Tensor x, Tensor lengths) {
  auto packed = rnn::pack_padded_sequence(x, lengths, true);
  {
    Tensor x = lengths;
    return std::get<0>(rnn::pad_packed_sequence(packed, true)) + x;
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: wrong length: pad_packed_sequence without total_length
  }
}

Tensor one_of_two(Tensor x, Tensor y, Tensor lengths, bool first) {
  auto packed = rnn::pack_padded_sequence(x, lengths, true);
  if (!first)
    packed = rnn::pack_padded_sequence(y, lengths, true);
  return std::get<0>(rnn::pad_packed_sequence(packed, true));
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: wrong length: pad_packed_sequence without total_length
}

Tensor layouts_differ(Tensor x, Tensor lengths) {
  auto packed = rnn::pack_padded_sequence(x, lengths);
  return std::get<0>(rnn::pad_packed_sequence(packed, true));
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: wrong length: pad_packed_sequence without total_length
}

Tensor layout_unknown(Tensor x, Tensor lengths, bool a, bool b) {
  auto packed = rnn::pack_padded_sequence(x, lengths, a);
  return std::get<0>(rnn::pad_packed_sequence(packed, b));
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: wrong length: pad_packed_sequence without total_length
}

Tensor pack_sequence(std::vector<Tensor> sequences) {
  auto packed = rnn::pack_sequence(sequences);
  return std::get<0>(rnn::pad_packed_sequence(packed));
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: wrong length: pad_packed_sequence without total_length
}

class Member {
  Tensor input_, lengths_;
  void next();
  Tensor pad() {
    auto packed = rnn::pack_padded_sequence(input_, lengths_, true);
    next();
    return std::get<0>(rnn::pad_packed_sequence(packed, true));
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: wrong length: pad_packed_sequence without total_length
  }
};

static auto at_namespace_scope = rnn::pad_packed_sequence(
    // CHECK-MESSAGES: :[[@LINE-1]]:34: warning: wrong length: pad_packed_sequence without total_length
    rnn::pack_padded_sequence(torch::ones({1, 1}), torch::ones(1)));
