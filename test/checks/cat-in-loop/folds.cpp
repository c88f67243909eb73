// What std::accumulate and std::reduce hand from one call to the next.
// RUN: %check_libtorch_tidy %s libtorch-cat-in-loop %t -- -- -I%S/../Inputs
#include "net.h"
#include <algorithm>
#include <array>
#include <numeric>

using torch::Tensor;
using Tensors = std::vector<Tensor>;

Tensor joined(const Tensors &parts) {
  return std::accumulate(parts.begin(), parts.end(), torch::empty({0}),
                         [](Tensor all, const Tensor &x) { return torch::cat({all, x}); });
                         // CHECK-NOTES: :[[@LINE-1]]:67: warning: quadratic copying: every iteration copies all of 'all' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
                         // CHECK-NOTES: :[[@LINE-3]]:10: note: 'all' grows over the iterations of this loop
}
Tensor reduced(const Tensors &parts) {
  return std::reduce(parts.begin() + 1, parts.end(), parts[0],
                     [](const Tensor &a, const Tensor &b) { return torch::cat({a, b}, 1); });
                     // CHECK-NOTES: :[[@LINE-1]]:68: warning: quadratic copying: every iteration copies all of 'a' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
                     // CHECK-NOTES: :[[@LINE-3]]:10: note: 'a' grows over the iterations of this loop
}
Tensor in_front(const Tensors &parts) {
  return std::accumulate(parts.begin(), parts.end(), torch::empty({0}),
                         [](const Tensor &all, const Tensor &x) { return torch::cat({x, all}); });
                         // CHECK-NOTES: :[[@LINE-1]]:74: warning: quadratic copying: every iteration copies all of 'all' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
                         // CHECK-NOTES: :[[@LINE-3]]:10: note: 'all' grows over the iterations of this loop
}
// The first round sets it.
Tensor chosen(const Tensors &parts) {
  return std::accumulate(parts.begin(), parts.end(), Tensor(), [](Tensor all, const Tensor &x) {
    return all.defined() ? torch::cat({all, x}) : x;
    // CHECK-NOTES: :[[@LINE-1]]:28: warning: quadratic copying: every iteration copies all of 'all' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
    // CHECK-NOTES: :[[@LINE-3]]:10: note: 'all' grows over the iterations of this loop
  });
}
Tensor returned_first(const Tensors &parts) {
  return std::accumulate(parts.begin(), parts.end(), Tensor(), [](Tensor all, const Tensor &x) {
    if (!all.defined())
      return x;
    auto longer = torch::cat({all, x});
    // CHECK-NOTES: :[[@LINE-1]]:19: warning: quadratic copying: every iteration copies all of 'all' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
    // CHECK-NOTES: :[[@LINE-5]]:10: note: 'all' grows over the iterations of this loop
    return longer;
  });
}
// Some parts add nothing.
Tensor skipped(const Tensors &parts) {
  return std::accumulate(parts.begin(), parts.end(), torch::empty({0}), [](Tensor all, const Tensor &x) {
    if (x.numel() == 0)
      return all;
    return torch::cat({all, x});
    // CHECK-NOTES: :[[@LINE-1]]:12: warning: quadratic copying: every iteration copies all of 'all' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
    // CHECK-NOTES: :[[@LINE-5]]:10: note: 'all' grows over the iterations of this loop
  });
}
Tensor computed(Net net, const Tensors &parts) {
  auto join = [&](const Tensor &all, const Tensor &x) { return torch::cat({all, net(x)}); };
  // CHECK-NOTES: :[[@LINE-1]]:64: warning: quadratic copying: every iteration copies all of 'all' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
  // CHECK-NOTES: :[[@LINE+1]]:10: note: 'all' grows over the iterations of this loop
  return std::accumulate(parts.begin(), parts.end(), torch::empty({0, 4}), join);
}

// Three parts.
Tensor few(const std::array<Tensor, 3> &parts) {
  return std::accumulate(parts.begin(), parts.end(), torch::empty({0}),
                         [](Tensor all, const Tensor &x) { return torch::cat({all, x}); });
}
// What was joined before is not kept, or is cut again.
Tensor replaced(const Tensors &parts) {
  return std::accumulate(parts.begin(), parts.end(), torch::empty({0}),
                         [](Tensor, const Tensor &x) { return torch::cat({x, x}); });
}
Tensor window(const Tensors &parts) {
  return std::accumulate(parts.begin(), parts.end(), torch::empty({0}), [](Tensor all, const Tensor &x) {
    return torch::cat({all, x}).slice(0, -8);
  });
}
Tensor flushed(const Tensors &parts) {
  return std::accumulate(parts.begin(), parts.end(), torch::empty({0}), [](Tensor all, const Tensor &x) {
    if (all.size(0) > 8)
      return x;
    return torch::cat({all, x});
  });
}
Tensor counted(const Tensors &parts) {
  int round = 0;
  return std::accumulate(parts.begin(), parts.end(), torch::empty({0}), [&](Tensor all, const Tensor &x) {
    return round++ % 8 ? torch::cat({all, x}) : x;
  });
}
Tensor largest(const Tensors &parts) {
  return std::accumulate(parts.begin(), parts.end(), torch::empty({0}),
                         [](Tensor all, const Tensor &x) { return torch::cat({all, x}).max(); });
}
// A model reads all of it.
Tensor continued(Net net, const Tensors &parts) {
  return std::accumulate(parts.begin(), parts.end(), torch::ones({1, 4}),
                         [&](Tensor all, const Tensor &) { return torch::cat({all, net(all)}); });
}
// Not from one call to the next.
Tensor once(const Tensor &a, const Tensor &b) {
  auto join = [](const Tensor &a, const Tensor &b) { return torch::cat({a, b}); };
  return join(a, b);
}
Tensors pairs(const Tensors &a, const Tensors &b) {
  Tensors all(a.size());
  std::transform(a.begin(), a.end(), b.begin(), all.begin(),
                 [](const Tensor &x, const Tensor &y) { return torch::cat({x, y}); });
  return all;
}
