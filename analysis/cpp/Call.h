//===- Call.h - A call, taken apart once ------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What a call calls, on which object and with which arguments, for f(a),
/// o.f(a), o(a), a + b and T(a) alike; and tables of what an analysis
/// understands of calls. An analysis makes a Call of each expression once, and
/// hands it on.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_CALL_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_CALL_H

#include "analysis/cpp/Std.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <optional>
#include <type_traits>

namespace libtorch_tidy::cpp {

/// Who declares the function that is called.
enum class Whose : unsigned char {
  Unknown, ///< It is called through a pointer.
  Library, ///< The library that the analysis is for, see Library.h.
  Std,     ///< The standard library.
  User,    ///< Anybody else.
};

struct Call {
  /// The CallExpr or CXXConstructExpr. A LambdaExpr, of no arguments, stands
  /// for a call of its body.
  const clang::Expr *E = nullptr;
  const clang::FunctionDecl *Callee = nullptr; ///< Null for Whose::Unknown.
  llvm::StringRef Name; ///< The plain identifier; empty for operators.
  /// What a method or member operator is called on, as written; also `this`.
  /// Null for other functions and for constructors.
  const clang::Expr *Object = nullptr;
  bool OnThis = false; ///< Object is `this`, written or not.
  /// In the order of the parameters, without the object of a member operator:
  /// first those that are written, then default arguments.
  llvm::SmallVector<const clang::Expr *, 6> Args;
  unsigned Written = 0; ///< How many of Args are written.
  Whose Of = Whose::Unknown;
  Std Kinds; ///< What the callee does if it is what its name says, see Std.h.

  explicit Call(const clang::CallExpr *E);
  explicit Call(const clang::CXXConstructExpr *E);
  /// A call that is not written as one: of \p Callee, at \p E.
  Call(const clang::Expr *E, const clang::FunctionDecl *Callee,
       const clang::Expr *Object, llvm::ArrayRef<const clang::Expr *> Args);
  /// The call or construction that \p E is; nullopt for others.
  static std::optional<Call> of(const clang::Expr *E);

  /// Null for a construction.
  const clang::CallExpr *expr() const {
    return llvm::dyn_cast<clang::CallExpr>(E);
  }
  llvm::ArrayRef<const clang::Expr *> written() const {
    return llvm::ArrayRef(Args).take_front(Written);
  }
  /// OO_None for others than operators.
  clang::OverloadedOperatorKind op() const;
  bool does(Std Any) const { return (Kinds & Any) != Std(); }
  /// The same of functions of the standard library alone.
  bool doesStd(Std Any) const { return Of == Whose::Std && does(Any); }
};

/// A row of a table of what an analysis, a \p Domain, understands of calls:
/// a pattern, and a method of the domain that handles calls that fit. Rows are
/// tried in order until one of them gives a \p Result.
///
/// A pattern is a Std kind, a Whose or an overloaded operator, a function of
/// the Call or of the CallExpr, or a method of the domain. Where it returns
/// more than a bool, the handler is given that, too. A handler that returns
/// nothing has only made a note, and one that returns nullopt did not fit after
/// all: the search goes on. \p More is handed on to all handlers.
template <typename Domain, typename Result, typename... More> class CallRule {
public:
  template <typename Pattern, typename Handler>
  CallRule(Pattern Fits, Handler Then)
      : Try([=](Domain &D, const Call &C, More... M) -> std::optional<Result> {
          auto Match = match(D, C, Fits);
          if (!Match)
            return std::nullopt;
          if constexpr (std::is_same_v<decltype(Match), bool>)
            return handle(Then, D, C, M...);
          else if constexpr (std::is_pointer_v<decltype(Match)>)
            return handle(Then, D, C, Match, M...);
          else
            return handle(Then, D, C, *Match, M...);
        }) {}

  std::optional<Result> operator()(Domain &D, const Call &C, More... M) const {
    return Try(D, C, M...);
  }

private:
  template <typename Handler, typename... Given>
  static std::optional<Result> handle(Handler Then, Given &&...G) {
    if constexpr (std::is_void_v<std::invoke_result_t<Handler, Given &&...>>) {
      std::invoke(Then, std::forward<Given>(G)...);
      return std::nullopt;
    } else {
      return std::invoke(Then, std::forward<Given>(G)...);
    }
  }

  template <typename Pattern>
  static auto match(Domain &D, const Call &C, Pattern Fits) {
    if constexpr (std::is_same_v<Pattern, Std>)
      return C.does(Fits);
    else if constexpr (std::is_same_v<Pattern, Whose>)
      return C.Of == Fits;
    else if constexpr (std::is_same_v<Pattern, clang::OverloadedOperatorKind>)
      return C.op() == Fits;
    else if constexpr (std::is_invocable_v<Pattern, Domain &, const Call &>)
      return std::invoke(Fits, D, C);
    else if constexpr (std::is_invocable_v<Pattern, const Call &>)
      return Fits(C);
    else
      return C.expr()
                 ? Fits(C.expr())
                 : std::invoke_result_t<Pattern, const clang::CallExpr *>();
  }

  std::function<std::optional<Result>(Domain &, const Call &, More...)> Try;
};

/// The result of rows that only have effects: no other row is tried.
struct Done {};

/// The result of the first of \p Rules that gives one.
template <typename Table, typename Domain, typename... More>
auto firstOf(const Table &Rules, Domain &D, const Call &C, More &&...M)
    -> decltype(Rules[0](D, C, M...)) {
  for (const auto &Rule : Rules)
    if (auto Result = Rule(D, C, M...))
      return Result;
  return std::nullopt;
}

/// The pattern of the last row.
inline bool anyCall(const Call &) { return true; }
/// The pattern of functions of the standard library itself that do one of
/// \p Kinds; others may have the same names.
inline auto ofStd(Std Kinds) {
  return [=](const Call &C) { return C.doesStd(Kinds); };
}

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_CALL_H
