// Templates, macros, lambdas and NOLINT.
// RUN: %check_libtorch_tidy %s libtorch-cat-in-loop %t -- -- -I%S/../Inputs
#include "net.h"

using torch::Tensor;

template <typename Model> Tensor run(Model &model, const Batches &batches) {
  Tensor all = torch::empty({0, 4});
  // CHECK-FIXES: std::vector<torch::Tensor> all_parts{all};
  for (const Tensor &batch : batches) {
    all = torch::cat({all, model(batch)});
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: quadratic copying: every iteration copies all of 'all' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
    // CHECK-FIXES: all_parts.push_back(model(batch));
  }
  // CHECK-FIXES: all = torch::cat(all_parts);
  return all;
}
Tensor instances(Net &net, torch::nn::Linear &linear, const Batches &batches) {
  return run(net, batches) + run(linear, batches);
}

#define APPEND(Into, Part) Into = torch::cat({Into, Part})
Tensor by_macro(int n) {
  Tensor all = torch::empty({0});
  for (int i = 0; i < n; ++i) {
    APPEND(all, torch::ones({1}));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: quadratic copying: every iteration copies all of 'all' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
  }
  return all;
}

auto in_lambda = [](int n) {
  Tensor all = torch::empty({0});
  // CHECK-FIXES: std::vector<torch::Tensor> all_parts{all};
  for (int i = 0; i < n; ++i)
    all = torch::cat({all, torch::ones({1})});
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: quadratic copying: every iteration copies all of 'all' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
    // CHECK-FIXES: all_parts.push_back(torch::ones({1}));
    // CHECK-FIXES: all = torch::cat(all_parts);
  return all;
};

Tensor wanted(int n) {
  Tensor all = torch::empty({0});
  for (int i = 0; i < n; ++i)
    // NOLINTNEXTLINE(libtorch-cat-in-loop)
    all = torch::cat({all, torch::ones({1})});
  return all;
}
