// clang-tidy's own suppressions work on the plugin's checks.
// RUN: %check_libtorch_tidy %s libtorch-pad-packed-total-length %t

#include <torch/torch.h>

using torch::nn::utils::rnn::PackedSequence;
using torch::nn::utils::rnn::pad_packed_sequence;

void unpack(const PackedSequence &Packed) {
  pad_packed_sequence(Packed);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: {{.*}}
  // [libtorch-pad-packed-total-length]

  pad_packed_sequence(Packed); // NOLINT
  pad_packed_sequence(Packed); // NOLINT(libtorch-pad-packed-total-length)
  pad_packed_sequence(Packed); // NOLINT(libtorch-*)
  pad_packed_sequence(Packed); // NOLINT(libtorch-accumulated-history)
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning:

  // NOLINTNEXTLINE(libtorch-pad-packed-total-length)
  pad_packed_sequence(Packed);

  // NOLINTBEGIN(libtorch-pad-packed-total-length)
  pad_packed_sequence(Packed);
  pad_packed_sequence(Packed);
  // NOLINTEND(libtorch-pad-packed-total-length)
  pad_packed_sequence(Packed);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning:
}
