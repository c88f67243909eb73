// What reads the tensor may be missing in a function that does not compile.
// RUN: %not %clang-tidy -load %plugin %s -checks='-*,libtorch-cat-in-loop' \
// RUN:   -config='{CheckOptions: {Level: 2}}' -- %torch_flags > %t 2>&1
// RUN: %FileCheck %s --input-file=%t -implicit-check-not=warning:
// RUN: %not %clang-tidy -load %plugin %s -checks='-*,libtorch-cat-in-loop' \
// RUN:   -config='{CheckOptions: {Level: 2}}' -- %torch_flags -DELSEWHERE > %t 2>&1
// RUN: %not grep warning: %t

#include <torch/torch.h>

using torch::Tensor;

#ifdef ELSEWHERE
struct Broken : Missing {};
#endif

// CHECK: :[[@LINE+4]]:19: error: use of undeclared identifier 'model'
Tensor continued(Tensor tokens, int n) {
  Tensor all = tokens.clone();
  for (int i = 0; i < n; ++i) {
    Tensor next = model->forward(all);
    all = torch::cat({all, next});
  }
  return all;
}
Tensor joined(Tensor tokens, int n) {
  Tensor all = tokens.clone();
  for (int i = 0; i < n; ++i)
    all = torch::cat({all, tokens * i});
  // CHECK: :[[@LINE-1]]:11: warning: quadratic copying
  return all;
}
