//===- Fields.h - The members of a struct, as a tuple -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// fieldsOf() lists the members of plain structs, so that archives, cache keys
/// and comparisons are written once and cannot forget one: a member that is
/// added to a struct is in all of them.

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_FIELDS_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_FIELDS_H

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace libtorch_tidy::cpp {

namespace detail {

/// Initializes a member of any type, except for std::optional: that could be
/// made of it in two ways.
struct AnyMember {
  template <typename T> operator T() const;
};
struct AnyOptional {
  template <typename T> operator std::optional<T>() const;
};

template <typename Void, typename T, typename... Members>
struct IsMadeOf : std::false_type {};
template <typename T, typename... Members>
struct IsMadeOf<std::void_t<decltype(T{std::declval<Members>()...})>, T,
                Members...> : std::true_type {};

template <typename T, typename... Members> constexpr size_t countFields() {
  if constexpr (IsMadeOf<void, T, Members..., AnyMember>::value)
    return countFields<T, Members..., AnyMember>();
  else if constexpr (IsMadeOf<void, T, Members..., AnyOptional>::value)
    return countFields<T, Members..., AnyOptional>();
  else
    return sizeof...(Members);
}

} // namespace detail

/// References to all members of \p Value, in the order of their declaration.
/// Its type has no base, no constructor and no private member, or is std::pair.
template <typename T> auto fieldsOf(T &Value) {
  if constexpr (std::is_aggregate_v<T>) {
    constexpr size_t Count = detail::countFields<std::remove_const_t<T>>();
#define LIBTORCH_TIDY_FIELDS(N, ...)                                           \
  if constexpr (Count == N) {                                                  \
    auto &[__VA_ARGS__] = Value;                                               \
    return std::tie(__VA_ARGS__);                                              \
  }
    LIBTORCH_TIDY_FIELDS(1, A)
    LIBTORCH_TIDY_FIELDS(2, A, B)
    LIBTORCH_TIDY_FIELDS(3, A, B, C)
    LIBTORCH_TIDY_FIELDS(4, A, B, C, D)
    LIBTORCH_TIDY_FIELDS(5, A, B, C, D, E)
    LIBTORCH_TIDY_FIELDS(6, A, B, C, D, E, F)
    LIBTORCH_TIDY_FIELDS(7, A, B, C, D, E, F, G)
    LIBTORCH_TIDY_FIELDS(8, A, B, C, D, E, F, G, H)
    LIBTORCH_TIDY_FIELDS(9, A, B, C, D, E, F, G, H, I)
    LIBTORCH_TIDY_FIELDS(10, A, B, C, D, E, F, G, H, I, J)
    LIBTORCH_TIDY_FIELDS(11, A, B, C, D, E, F, G, H, I, J, K)
    LIBTORCH_TIDY_FIELDS(12, A, B, C, D, E, F, G, H, I, J, K, L)
    LIBTORCH_TIDY_FIELDS(13, A, B, C, D, E, F, G, H, I, J, K, L, M)
    LIBTORCH_TIDY_FIELDS(14, A, B, C, D, E, F, G, H, I, J, K, L, M, N)
    LIBTORCH_TIDY_FIELDS(15, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O)
    LIBTORCH_TIDY_FIELDS(16, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P)
    LIBTORCH_TIDY_FIELDS(17, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q)
    LIBTORCH_TIDY_FIELDS(18, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q,
                         R)
    LIBTORCH_TIDY_FIELDS(19, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q,
                         R, S)
    LIBTORCH_TIDY_FIELDS(20, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q,
                         R, S, U)
    LIBTORCH_TIDY_FIELDS(21, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q,
                         R, S, U, V)
    LIBTORCH_TIDY_FIELDS(22, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q,
                         R, S, U, V, W)
    LIBTORCH_TIDY_FIELDS(23, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q,
                         R, S, U, V, W, X)
    LIBTORCH_TIDY_FIELDS(24, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q,
                         R, S, U, V, W, X, Y)
    LIBTORCH_TIDY_FIELDS(25, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q,
                         R, S, U, V, W, X, Y, Z)
#undef LIBTORCH_TIDY_FIELDS
    static_assert(Count >= 1 && Count <= 25, "give it a row above");
  } else {
    return std::tie(Value.first, Value.second);
  }
}

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_FIELDS_H
