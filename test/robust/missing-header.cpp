// After an error as grave as this Clang reads on, but makes no more classes of
// templates: what an operator returns may have no class. The unit is named, and no
// check crashes.
// REQUIRES: driver
// RUN: %not %libtorch-tidy --config={} --no-cache --no-background --level=2 %s -- \
// RUN:   %torch_flags_nopch > %t.out 2> %t.err
// RUN: %FileCheck %s --input-file=%t.err
// CHECK-NOT: {{.}}
// CHECK: libtorch-tidy: error: '{{.*}}missing-header.cpp' could not be analysed in full because it does not compile: missing-header.cpp:13: 'not_there.h' file not found{{$}}
// CHECK-NOT: {{.}}

#include <torch/torch.h>
#include "not_there.h"

torch::Tensor best(torch::Tensor x, int64_t most) {
  const auto k = std::min<int64_t>(most, x.size(-1));
  auto kth = std::get<0>(torch::topk(x, k, -1)).select(-1, k - 1).unsqueeze(-1);
  return x.masked_fill(x < kth, -1.0);
}
