//===- Liveness.h - Is a value needed later? --------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_FLOW_LIVENESS_H
#define LIBTORCH_TIDY_CHECKS_FLOW_LIVENESS_H

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>

namespace clang {
class CFG;
} // namespace clang

namespace libtorch_tidy::flow {

/// The ways that control takes through one function. Exceptions are not
/// followed; a handler is a start of its own.
class Paths {
public:
  Paths(const clang::FunctionDecl *In, clang::ASTContext &Context);
  ~Paths();

  /// May what \p D holds when control comes to the start of statement \p From
  /// be read before it is overwritten or released? \p D is a variable or a
  /// field of `*this`; one that outlives the function is read by whoever comes
  /// after, unless the function is called again first. True also when it
  /// cannot be told.
  bool isReadFrom(const clang::ValueDecl *D, const clang::Stmt *From) const;

  /// Is there a way from behind \p From to a statement or expression that
  /// \p IsGoal accepts, on which \p D is neither overwritten nor released?
  /// Null for \p From means from the declaration of \p D.
  bool holdsUntil(const clang::ValueDecl *D, const clang::Expr *From,
                  llvm::function_ref<bool(const clang::Stmt *)> IsGoal) const;

private:
  const clang::FunctionDecl *In;
  std::unique_ptr<clang::CFG> Graph; ///< Null when it cannot be built.
};

/// The innermost statement whose end ends the life of local variable \p Var;
/// null for parameters and when it cannot be told.
const clang::Stmt *scopeOf(const clang::VarDecl *Var,
                           clang::ASTContext &Context);

/// Is \p Inner \p Outer or a part of it?
bool contains(const clang::Stmt *Outer, const clang::Stmt *Inner);

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_CHECKS_FLOW_LIVENESS_H
