// total_length is passed, or another function is called.
// RUN: %check_libtorch_tidy %s libtorch-pad-packed-total-length %t --level=2

#include <torch/torch.h>

namespace rnn = torch::nn::utils::rnn;
using torch::Tensor;

namespace mine {
std::tuple<Tensor, Tensor> pad_packed_sequence(rnn::PackedSequence sequence,
                                               bool batch_first = false);
struct Padder {
  Tensor pad_packed_sequence(rnn::PackedSequence sequence);
};
} // namespace mine

struct Options {
  c10::optional<int64_t> total_length;
};

void passed(Tensor x, Tensor lengths, int64_t length, Options options) {
  auto packed = rnn::pack_padded_sequence(x, lengths, true);
  rnn::pad_packed_sequence(packed, true, 0.0, 12);
  rnn::pad_packed_sequence(packed, true, 0.0, length);
  rnn::pad_packed_sequence(packed, true, 0.0, x.size(1));
  // A variable may hold a length.
  c10::optional<int64_t> total;
  if (length > 0)
    total = length;
  rnn::pad_packed_sequence(packed, true, 0.0, total);
  rnn::pad_packed_sequence(packed, true, 0.0, options.total_length);
  rnn::pad_packed_sequence(packed, true, 0.0, c10::optional<int64_t>(length));
  rnn::pad_packed_sequence(packed, true, 0.0, c10::make_optional(length));
}

void others(rnn::PackedSequence packed, mine::Padder padder) {
  mine::pad_packed_sequence(packed);
  mine::pad_packed_sequence(packed, true);
  padder.pad_packed_sequence(packed);
  auto *function = &rnn::pad_packed_sequence;
  (void)function;
}
