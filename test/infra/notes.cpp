// With CHECK-NOTES the notes are stated completely too.
// RUN: %check_libtorch_tidy %s bugprone-use-after-move %t --no-pch \
// RUN:   --front-end=plugin
// RUN: %not %check_libtorch_tidy %s bugprone-use-after-move %t --no-pch \
// RUN:   --front-end=plugin --check-suffix=LESS 2>&1 | %FileCheck %s -check-prefix=FAILS
// FAILS: error: IMPLICIT-CHECK-NOT: excluded string found
// FAILS: note: move occurred here

namespace std {
template <typename T> T &&move(T &Value) { return static_cast<T &&>(Value); }
} // namespace std

struct Handle {
  Handle(Handle &&) noexcept;
  int size() const;
};
void take(Handle Taken);

int caller(Handle Given) {
  take(std::move(Given));
  return Given.size();
  // CHECK-NOTES: :[[@LINE-1]]:10: warning: 'Given' used after it was moved
  // CHECK-NOTES: :[[@LINE-3]]:8: note: move occurred here
  // CHECK-NOTES-LESS: :[[@LINE-3]]:10: warning: 'Given' used after it was moved
}
