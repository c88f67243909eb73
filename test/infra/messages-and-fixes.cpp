// The script itself, with a check of stock clang-tidy that needs no LibTorch.
// RUN: %check_libtorch_tidy %s modernize-use-nullptr %t --no-pch \
// RUN:   --front-end=plugin --expect-clean -- -- -Wno-unused

void take(int *Pointer);

void caller() {
  int *Pointer = 0;
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: use nullptr [modernize-use-nullptr]
  // CHECK-FIXES: {{^  }}int *Pointer = nullptr;
  take(0);
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: use nullptr
  // CHECK-FIXES: take(nullptr);
  take(nullptr);
}
