#include "across.h"

torch::Tensor NetImpl::forward(const torch::Tensor &x) {
  auto y = body(x);
  last = y;
  return head(y);
}
