#include "net.h"
namespace {
template <typename T, typename U> struct IsSame {
  static constexpr bool Value = false;
};
template <typename T> struct IsSame<T, T> {
  static constexpr bool Value = true;
};
long widen(int);
} // namespace

static_assert(IsSame<lib::Mapped, lib::Box<long>>::Value);
static_assert(IsSame<decltype(lib::Kept), lib::Box<int>>::Value);
static_assert(IsSame<decltype(lib::box('c')), lib::Box<char>>::Value);
static_assert(lib::Countdown<12>::Value == 0 && lib::SizeOf<lib::Box<char>> == 1);

int uses(const Net &N) {
  torch::NoGradGuard();
  lib::Kept = lib::Box<int>{lib::choose('2', 2)};
  const bool Same = lib::Kept == lib::box(3);
  return N.Layers + Same + lib::take(lib::Kept.map(widen)) + lib::One<int>;
}
