// RUN: %check_libtorch_tidy %s libtorch-view-retains-storage %t

#include <torch/torch.h>

using torch::Tensor;
#define PART(X) (X)[3]

template <typename T> void all(std::vector<Tensor> &keep, T n) {
  for (T i = 0; i < n; ++i)
    keep.push_back(torch::randn({10, 10})[3]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of a temporary tensor, 40 bytes, and with it the memory of the whole tensor, 400 bytes; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(torch::randn({10, 10})[3].clone());
}
template void all<int>(std::vector<Tensor> &, int);
template void all<long>(std::vector<Tensor> &, long);

void macros(std::vector<Tensor> &keep) {
  keep.push_back(PART(torch::randn({10, 10})));
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: wasted memory: 'keep' keeps a part of a temporary tensor, 40 bytes, and with it the memory of the whole tensor, 400 bytes; keep a clone() of the part [libtorch-view-retains-storage]
  auto f = [&keep] { keep.push_back(torch::randn({10, 10})[3]); };
  // CHECK-MESSAGES: :[[@LINE-1]]:37: warning: wasted memory: 'keep' keeps a part of a temporary tensor, 40 bytes, and with it the memory of the whole tensor, 400 bytes; keep a clone() of the part [libtorch-view-retains-storage]
  // CHECK-FIXES: auto f = [&keep] { keep.push_back(torch::randn({10, 10})[3].clone()); };
  f();
}
void silenced(std::vector<Tensor> &keep) {
  keep.push_back(torch::randn({10, 10})[3]); // NOLINT(libtorch-view-retains-storage)
}
