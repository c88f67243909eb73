//===- Calls.h - Reading calls and what is around them ----------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Small questions about expressions and calls: what is called, on what object,
/// with which constant arguments. All of them accept null, dependent and
/// implicit nodes.
///
/// Four functions take wrappers off an expression; each takes off what the one
/// before it does, and more. Take the weakest that does: a check that offers a
/// fix for the text needs peel(), one that asks which object it is needs
/// stripPointers(). Upwards, Body::outerOf() and Body::userOf() undo peel() and
/// stripImplicit(); Body::originOf() goes on through variables.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_CALLS_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_CALLS_H

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

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

/// A member operator, whose first argument is its object. False for null.
bool isMemberOperator(const clang::CallExpr *Call);

/// What a method or member operator is called on, as written, also an implicit
/// `this`; null for functions and null.
const clang::Expr *calledOn(const clang::CallExpr *Call);

/// The object of a method call or member operator, as written and without
/// what stripPointers() removes (`p` in p->f()); null for functions and for an
/// implicit or written `this`.
const clang::Expr *receiverOf(const clang::CallExpr *Call);

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

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_CALLS_H
