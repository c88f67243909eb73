//===- Calls.h - Reading calls and what is around them ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Small questions about expressions and calls: what is called, on what object,
/// with which constant arguments. All of them accept null, dependent and
/// implicit nodes. A Call has all of that, for f(a), o.f(a), o(a), a + b and
/// T(a) alike: an analysis makes one of each expression, and hands it on to
/// tables of what it understands of calls.
///
/// Four functions take wrappers off an expression; each takes off what the one
/// before it does, and more. Take the weakest that does: a check that offers a
/// fix for the text needs peel(), one that asks which object it is needs
/// stripPointers(). Upwards, Body::outerOf() and Body::userOf() undo peel() and
/// stripImplicit(); Body::originOf() goes on through variables.

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_CALLS_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_CALLS_H

#include "analysis/cpp/Std.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/SmallVector.h"
#include <functional>
#include <optional>
#include <type_traits>

namespace libtorch_tidy::cpp {

/// \p E as it is written: without parentheses, casts, temporaries and cleanups.
/// A default argument is replaced by its expression. For questions about one
/// expression: what kind of node is it, is it a temporary, which text is it?
const clang::Expr *peel(const clang::Expr *E);

/// The same value, of the same class: peel(), and also through std::move and
/// constructors that copy or move. For questions about what a value owns: a
/// conversion, as from a vector to an ArrayRef, would make another owner of it.
const clang::Expr *valueOf(const clang::Expr *E);

/// The same value, whatever its class: valueOf(), and also through std::forward
/// and constructors that convert one argument to a type of a library or the
/// standard library (a bool to an optional). For questions about where a value
/// comes from, which is most of them: a copy of a shared handle is the same
/// one.
const clang::Expr *stripImplicit(const clang::Expr *E);

/// Chains of calls, and variables that stand for each other, are followed this
/// far, everywhere.
inline constexpr unsigned MaxChase = 16;

/// May \p E throw, its operands apart: a throw expression, `new`, and what
/// calls a function that is not noexcept?
bool mayThrow(const clang::Expr *E);

/// The variable that \p E is, without what stripImplicit() removes; null for
/// others, and for no \p E.
const clang::VarDecl *variableOf(const clang::Expr *E);

/// The same object: stripImplicit(), and from what a pointer, smart pointer or
/// other handle leads to back to itself: `p` for *p, p.get(), p.ptr(),
/// p->as<T>(). For questions about which module or object a call is made on.
const clang::Expr *stripPointers(const clang::Expr *E);

/// The one argument of \p Construct that is written; null when there are none
/// or several.
const clang::Expr *onlyArgument(const clang::CXXConstructExpr *Construct);

/// The plain identifier of \p D; "" for operators, conversions, unnamed
/// classes and null.
llvm::StringRef nameOf(const clang::NamedDecl *D);

/// The plain identifier of the callee: "backward"; "" for operators,
/// conversions and calls through pointers.
llvm::StringRef calleeName(const clang::CallExpr *Call);

/// Is \p Name one of \p Names?
bool isOneOf(llvm::StringRef Name, llvm::ArrayRef<llvm::StringRef> Names);

/// Does \p Call (may be null) call method \p Name of a class that is or derives
/// from one of \p Classes, by their qualified names (see isOrDerivesFrom())?
bool callsMethod(const clang::CallExpr *Call, llvm::StringRef Name,
                 llvm::ArrayRef<llvm::StringRef> Classes);

/// What a method or member operator is called on, as written, also an implicit
/// `this`; null for functions and null.
const clang::Expr *calledOn(const clang::CallExpr *Call);

/// The object of a method call or member operator, as written and without
/// what stripPointers() removes (`p` in p->f()); null for functions and for an
/// implicit or written `this`.
const clang::Expr *receiverOf(const clang::CallExpr *Call);

/// The virtual method that \p Call names, where its object may have another
/// class at run time, whose override runs then. Null for other calls.
const clang::CXXMethodDecl *virtuallyCalled(const clang::CallExpr *Call);

/// The arguments of a call that are written, without the object of a member
/// operator call.
llvm::SmallVector<const clang::Expr *, 4>
writtenArguments(const clang::CallExpr *Call);
/// The same of a constructor's.
llvm::SmallVector<const clang::Expr *, 4>
writtenArguments(const clang::CXXConstructExpr *Construct);

/// The value of \p E where the compiler can compute it, looking into the
/// optional<bool> that arguments are wrapped in. nullopt for others.
std::optional<bool> constantBool(const clang::Expr *E,
                                 const clang::ASTContext &Context);
/// The same of whole numbers and enumerators that fit into 64 bits.
std::optional<int64_t> constantInt(const clang::Expr *E,
                                   const clang::ASTContext &Context);

/// The elements of a list that is written in place: {a, b},
/// std::vector<T>{a, b}, ArrayRef of such. The list itself as only element
/// otherwise; nothing for an empty list or null.
llvm::SmallVector<const clang::Expr *, 4> listElements(const clang::Expr *E);

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

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_CALLS_H
