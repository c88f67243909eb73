//===- Callables.h - Who runs a function object -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Which calls run a function object, in the calling thread or in another one.

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_CALLABLES_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_CALLABLES_H

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace libtorch_tidy::cpp {

class Body;

/// Does \p Call run the function object that is its argument \p Index in the
/// calling thread: std::for_each and other algorithms, std::invoke, std::async
/// with std::launch::deferred, a visible function that calls its parameter?
/// Whoever stores it, or starts a thread with it, does not.
bool runsArgument(const clang::CallExpr *Call, unsigned Index);

/// Does it run it any number of times, once for each element of something or in
/// each round of a loop: std::for_each, a visible function with such a loop?
bool repeatsArgument(const clang::CallExpr *Call, unsigned Index);

/// The call in \p In that repeatsArgument() says of the lambda of class
/// \p Closure, or of a local variable that holds it; null for none.
const clang::CallExpr *repeaterOf(const clang::CXXRecordDecl *Closure,
                                  const Body &In);

/// Where a reader sees \p Loop begin, which In.loopAround() has given: the body
/// of a lambda with the call that repeats it.
clang::SourceLocation startOf(const clang::Stmt *Loop, const Body &In);

/// What \p Call, of an algorithm of the standard library, gives the function
/// object that it runs: for each of its parameters, an argument of \p Call that
/// leads to the elements, or that is the first value. Empty where none are
/// known.
llvm::SmallVector<const clang::Expr *, 4>
givenByAlgorithm(const clang::CallExpr *Call);

/// Where \p Call puts what the function object returns: the iterator of
/// std::transform, std::generate. Null where that is its result, or dropped.
const clang::Expr *outputOf(const clang::CallExpr *Call);

/// The places of \p In, its function, where \p Lambda may run: where it stands,
/// when it is called at once, and where the local variable that holds it is
/// mentioned. Nullopt where somebody else may get it, or the variable something
/// else.
std::optional<llvm::SmallVector<const clang::Expr *, 2>>
runsOf(const clang::LambdaExpr *Lambda, Body &In);

/// What function object \p E runs, also through a variable, a std::function or
/// std::ref: the function that it names, defined if this unit does that; of a
/// lambda the call operator, of a generic one as the unit calls it. Null when
/// it cannot be seen.
const clang::FunctionDecl *functionOf(const clang::Expr *E);

/// The template of the generic lambda that \p E stands for; null for others.
/// Where only an algorithm of the library calls it, it may be all there is.
const clang::FunctionDecl *patternOf(const clang::Expr *E);

/// The override that \p Call of a virtual method runs, where its object is what
/// a local variable always holds and is made here: by `std::make_unique<T>()`
/// or `new T`, or a variable of class T. Null when that is not known.
const clang::CXXMethodDecl *overrideRunBy(const clang::CallExpr *Call);

/// The constructor of a user's class that \p E runs: T x(a), also through
/// std::make_shared<T>(a), std::make_unique and holders of modules. The first
/// that fits, of several. Null for others and for copies.
const clang::CXXConstructorDecl *constructorRunBy(const clang::Expr *E);

struct ThreadStart {
  enum Kind {
    Thread,   ///< std::thread, std::jthread
    Async,    ///< std::async(std::launch::async, ...)
    Parallel, ///< at::parallel_for: the calling thread does a part, too.
  };
  Kind How;
  const clang::Expr *At;           ///< The construction or call.
  const clang::FunctionDecl *Body; ///< What runs there.
  const clang::LambdaExpr *Lambda; ///< Its expression, when it is a lambda.
};

/// The thread that \p E, a construction or a call, starts; nullopt when it
/// starts none (also std::async with another policy, which may run in the
/// thread that waits) or when what runs is not in this unit.
std::optional<ThreadStart> asThreadStart(const clang::Expr *E);

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_CALLABLES_H
