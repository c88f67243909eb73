#include "suppress.h"
#include <torch/torch.h>

// Lines that no comment of their own fits at the end of, or none at all.
void places(torch::Tensor x, std::vector<torch::Tensor> &all) {
  x.clamp(0, 1);
  x.clamp(0, 1); // before
  x.clamp(0, 1); /* a comment of
  two lines */
  x.clamp(0, 1); const char *text = R"(
raw)"; x.clamp(0, 1); text = R"(
raw)";
  x.clamp \
    (0, 1);
  x.clamp(0, 1), x.relu();
  x.clamp(0, 1); // NOLINT(bugprone-unused): on purpose
  x.clamp(0, 1); /* NOLINT(bugprone-unused) */
  // NOLINTNEXTLINE(bugprone-*)
  x.clamp(0, 1);
  x.clamp(0, 1); text = "NOLINT(none)";
  all.push_back(x);
  (void)text;
}
