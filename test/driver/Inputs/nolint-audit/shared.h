#pragma once
#include <torch/torch.h>

#ifdef IS_B
using Handle = torch::Tensor;
#else
struct Handle {
  void detach();
};
#endif

// Used in one of the units that see it.
inline void usedInB(Handle H) { H.detach(); } // NOLINT(libtorch-discarded-result)

inline void unusedInBoth(torch::Tensor H) {
  H.detach_(); // NOLINT(libtorch-discarded-result)
#ifdef IS_B
  H.detach_(); // NOLINT(libtorch-cat-in-loop)
#endif
#ifdef IS_C
  H.detach_(); // NOLINT(libtorch-cat-in-loop)
#endif
}
