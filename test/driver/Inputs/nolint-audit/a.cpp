#include "shared.h"

// What suppresses something.
void used(torch::Tensor H, const char *Text) {
  H.detach(); // NOLINT(libtorch-discarded-result): a reason
  H.detach(); // NOLINT(libtorch-*)
  H.detach(); /* NOLINT( bugprone-x ,	libtorch-discarded-result ) */
  // NOLINTNEXTLINE(libtorch-discarded-result)
  H.detach();
  // NOLINTBEGIN(libtorch-discarded-result)
  H.detach();
  // NOLINTBEGIN( libtorch-discarded-* )
  H.detach(); // NOLINT(libtorch-discarded-result)
  // NOLINTEND(libtorch-discarded-*)
  // NOLINTEND( libtorch-discarded-result )
  Text = "NOLINT(libtorch-discarded-result)"; H.detach();
  H.detach(); // NOLINT(libtorch-discarded-result,libtorch-discarded-result)
}

// What suppresses nothing, wholly or in part.
void unused(torch::Tensor H, const char *Text) {
  H.detach_(); // NOLINT(libtorch-discarded-result)
  H.detach(); // NOLINT(libtorch-cat-in-loop, libtorch-discarded-result)
  H.detach_(); /* NOLINT(libtorch-*) */
  // NOLINTNEXTLINE(libtorch-discarded-result)

  // NOLINTBEGIN(bugprone-x,libtorch-discarded-result)
  H.detach_();
  // NOLINTEND(bugprone-x, libtorch-discarded-result)
  Text = "NOLINT(libtorch-discarded-result)";
  H.detach_(); // Größe 🔥 NOLINT(libtorch-discarded-result)
}

// Names of no check.
void unknown(torch::Tensor H) {
  H.detach_(); // NOLINT(libtorch-discard-result)
  H.detach_(); // NOLINT(libtorch-nothing-like-it,libtorch-none-*)
  H.detach(); // NOLINT(libtorch-*,-libtorch-discarded-result)
}

// Without a name.
void bare(torch::Tensor H) {
  H.detach(); // NOLINT
  H.detach(); // NOLINT(*)
  H.detach(); // NOLINT(libtorch-discarded-result
  // NOLINTNEXTLINE
  H.detach();
  // NOLINTBEGIN
  H.detach();
  H.detach();
  H.detach(); // NOLINT(libtorch-discarded-result)
  // NOLINTEND
}

// Nothing to say of these: they hide nothing of ours, speak to other tools, are
// no comments of clang-tidy's, or are not seen.
void silent(torch::Tensor H) {
  H.detach_(); // NOLINT
  H.detach_(); // NOLINT(bugprone-x, *-result, *)
  H.detach_(); // NOLINT()
  H.detach_(); // NOLINTED(libtorch-discarded-result)
  H.detach_(); // nolint(libtorch-discarded-result)
#ifdef IS_B
  H.detach_(); // NOLINT(libtorch-discarded-result)
#endif
  // NOLINTBEGIN(libtorch-discarded-result)
#ifdef IS_B
  H.detach_();
#endif
  // NOLINTEND(libtorch-discarded-result)
}

namespace rnn = torch::nn::utils::rnn;

// Weak findings, which level 1 does not tell, use a comment. A check with weak
// findings only does not look for them then.
torch::Tensor weak(rnn::PackedSequence Packed) {
  auto Output = rnn::pad_packed_sequence(Packed, true); // NOLINT(libtorch-pad-packed-total-length)
  return std::get<0>(Output).clone(); // NOLINT(libtorch-factory-then-to)
}

// A finding that is told, beside a comment for another check.
void told(torch::Tensor H) {
  H.detach(); // NOLINT(libtorch-cat-in-loop)
}
