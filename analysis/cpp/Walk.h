//===- Walk.h - Everything in a statement -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Looks for nodes in a statement, in source order:
///
///   if (cpp::anyOf<CallExpr>(Body, isBackward)) ...
///   cpp::forEach<VarDecl>(Body, [&](const VarDecl *Var) { ... });
///
/// Node is a class of statements, expressions or declarations. A visitor of
/// one's own is needed only where the walk itself carries state.

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_WALK_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_WALK_H

#include "clang/AST/DeclBase.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <type_traits>

namespace libtorch_tidy::cpp {

/// What a walk does with the lambdas that it meets.
enum class Lambdas : unsigned char {
  Entered, ///< Their captures and their bodies are walked.
  Skipped, ///< They are left out: functions of their own.
  Made,    ///< What runs when they are made: the initialisers of captures. With
           ///< it go the methods of local classes, which run elsewhere, too.
};

/// What a walk leaves out.
struct Way {
  Way(Lambdas In = Lambdas::Entered) : In(In) {}
  Lambdas In;
  /// Does not look inside try statements: what their body throws stays there.
  bool OutsideTry = false;
  /// Looks at what the compiler adds, too: the iterators of a range-for.
  bool Implicit = false;
};

/// Calls one of the two for every node until it says false. False when one
/// did.
bool walk(const clang::Stmt *S, Way How,
          llvm::function_ref<bool(const clang::Stmt *)> OnStmt,
          llvm::function_ref<bool(const clang::Decl *)> OnDecl);

/// The first node in \p S that \p IsGoal accepts; null when there is none, or
/// no \p S.
template <typename Node, typename Predicate>
const Node *findFirst(const clang::Stmt *S, Predicate IsGoal,
                      Way How = Lambdas::Entered) {
  const Node *Found = nullptr;
  auto Look = [&](const auto *Any) {
    const auto *N = llvm::dyn_cast<Node>(Any);
    if (N && IsGoal(N))
      Found = N;
    return !Found;
  };
  if constexpr (std::is_base_of_v<clang::Decl, Node>)
    walk(
        S, How, [](const clang::Stmt *) { return true; },
        [&](const clang::Decl *D) { return Look(D); });
  else
    walk(
        S, How, [&](const clang::Stmt *Inner) { return Look(Inner); },
        [](const clang::Decl *) { return true; });
  return Found;
}

/// Is there a node in \p S that \p IsGoal accepts?
template <typename Node, typename Predicate>
bool anyOf(const clang::Stmt *S, Predicate IsGoal, Way How = Lambdas::Entered) {
  return findFirst<Node>(S, IsGoal, How) != nullptr;
}

/// Calls \p Visit for every node in \p S.
template <typename Node, typename Callback>
void forEach(const clang::Stmt *S, Callback Visit, Way How = Lambdas::Entered) {
  findFirst<Node>(
      S,
      [&](const Node *N) {
        Visit(N);
        return false;
      },
      How);
}

/// The calls that running \p S runs, in source order: not those in lambdas
/// that \p S only makes.
void forEachCall(const clang::Stmt *S,
                 llvm::function_ref<void(const clang::CallExpr *)> Visit);

/// The same of all that \p F, a definition, runs: what the constructor's list
/// initialises comes first.
void forEachCall(const clang::FunctionDecl *F,
                 llvm::function_ref<void(const clang::CallExpr *)> Visit);

/// Is \p D, a variable or a field, mentioned in \p S?
bool mentions(const clang::Stmt *S, const clang::ValueDecl *D,
              Way How = Lambdas::Entered);

/// Is \p S itself a mention of \p D?
bool isMention(const clang::Stmt *S, const clang::ValueDecl *D);

/// Is \p Inner \p Outer or a part of it?
bool contains(const clang::Stmt *Outer, const clang::Stmt *Inner);

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_WALK_H
