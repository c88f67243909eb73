// Templates of a library, and what it instantiates of them.
#pragma once
#define LIBRARY_VERSION 1
namespace lib {
template <int N> struct Countdown {
  static constexpr int Value = Countdown<N - 1>::Value;
};
template <> struct Countdown<0> {
  static constexpr int Value = 0;
};
template <typename T, int = Countdown<sizeof(T) * TRIED / sizeof(T)>::Value>
int choose(T, long);
template <typename T> int choose(T, int);
const int Chosen = choose('1', 1);
const int Named = Countdown<NAMED>::Value;

template <typename T> struct Box {
  T Content;
  template <typename U> Box<U> map(U (*)(T)) const;
  friend bool operator==(const Box &, const Box &);
};
template <typename T> Box<T> box(T);
template <typename T> T One = T(1);
template <typename T> constexpr int SizeOf = sizeof(T);

extern Box<int> Kept;
using Mapped = decltype(Kept.map(static_cast<long (*)(int)>(nullptr)));
int take(Box<long> B, int Size = SizeOf<Box<char>>);
inline int notWritten() { return box(2.5).Content + One<double>; }
} // namespace lib
