//===- Budget.h - Makes a program run out of memory -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Memory.h with a limit, over which the allocator throws what CUDA's does.

#ifndef LIBTORCH_TIDY_TEST_PROOF_BUDGET_H
#define LIBTORCH_TIDY_TEST_PROOF_BUDGET_H

#include "Memory.h"

namespace proof {

constexpr int64_t MB = 1 << 20;

/// Bytes of tensors that may be live; negative: any.
inline int64_t Budget = -1;

class LimitedAllocator final : public c10::Allocator {
public:
#if TORCH_VERSION_MAJOR > 2 ||                                                 \
    (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
  c10::DataPtr allocate(size_t Size) override {
#else
  c10::DataPtr allocate(size_t Size) const override {
#endif
    TORCH_CHECK_WITH(OutOfMemoryError,
                     Budget < 0 ||
                         counters().Live + static_cast<int64_t>(Size) <= Budget,
                     "over the budget of ", Budget, " bytes");
    return Counting.allocate(Size);
  }
#if TORCH_VERSION_MAJOR > 2 ||                                                 \
    (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
  void copy_data(void *To, const void *From, size_t Size) const override {
    std::memcpy(To, From, Size);
  }
#endif
  c10::DeleterFnPtr raw_deleter() const override { return &release; }

private:
  mutable CountingAllocator Counting;
};

/// begin(), with an allocator that keeps to the budget.
inline void beginWithBudget() {
  static LimitedAllocator Allocator;
  begin();
  c10::SetAllocator(c10::DeviceType::CPU, &Allocator, /*priority=*/255);
}

/// Allows \p Megabytes more than what is live, as long as it is in scope.
class Limit {
public:
  explicit Limit(int64_t Megabytes) : Base(counters().Live) {
    Budget = Base + Megabytes * MB;
  }
  ~Limit() { Budget = -1; }
  /// Whole megabytes over what was live at the start.
  long long live() const { return (counters().Live - Base) / MB; }

private:
  int64_t Base;
};

/// Whole numbers, whose sums are exact in any order.
inline torch::Tensor megabytes(int64_t Count) {
  return torch::full({Count * MB / 4}, 3.0F);
}

} // namespace proof

#endif // LIBTORCH_TIDY_TEST_PROOF_BUDGET_H
