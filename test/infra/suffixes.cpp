// RUN: %check_libtorch_tidy %s modernize-use-nullptr %t --no-pch \
// RUN:   --front-end=plugin --check-suffix=NULL
// RUN: %check_libtorch_tidy %s readability-braces-around-statements %t \
// RUN:   --no-pch --front-end=plugin --check-suffix=BRACES \
// RUN:   --option=readability-braces-around-statements.ShortStatementLines=0
// RUN: %check_libtorch_tidy %s readability-braces-around-statements %t \
// RUN:   --no-pch --front-end=plugin --expect-none \
// RUN:   --option=readability-braces-around-statements.ShortStatementLines=2
// RUN: %not %check_libtorch_tidy %s modernize-use-nullptr %t --no-pch \
// RUN:   --front-end=plugin --expect-none 2>&1 | %FileCheck %s -check-prefix=FAILS
// FAILS: no diagnostic was expected:
// FAILS-NEXT: suffixes.cpp:[[@LINE+4]]:10: warning: use nullptr

int *find(bool Wanted, int *Value) {
  if (Wanted) return Value;
  return 0;
  // CHECK-MESSAGES-NULL: :[[@LINE-1]]:10: warning: use nullptr
  // CHECK-FIXES-NULL: return nullptr;
  // CHECK-MESSAGES-BRACES: :[[@LINE-4]]:14: warning: statement should be
  // CHECK-FIXES-BRACES: if (Wanted) { return Value;
  // CHECK-FIXES-BRACES-NEXT: }
}
