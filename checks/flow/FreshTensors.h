//===- FreshTensors.h - Tensors that nobody else holds ----------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_FLOW_FRESHTENSORS_H
#define LIBTORCH_TIDY_CHECKS_FLOW_FRESHTENSORS_H

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"

namespace libtorch_tidy::flow {

/// Asks whether a tensor may be kept by handle in place of a copy of it: each
/// iteration of a loop makes it anew, nothing writes into it afterwards, and
/// it shows all of its storage. An assignment \p Ignored is as good as gone.
class FreshTensors {
public:
  FreshTensors(const clang::FunctionDecl *In, const clang::Stmt *Loop,
               const clang::Expr *Ignored)
      : In(In), Loop(Loop), Ignored(Ignored) {}
  bool isFresh(const clang::Expr *E) const { return isFresh(E, 0); }

private:
  bool isFresh(const clang::Expr *E, unsigned Depth) const;
  bool isFreshVariable(const clang::VarDecl *V, unsigned Depth) const;

  const clang::FunctionDecl *In;
  const clang::Stmt *Loop;
  const clang::Expr *Ignored;
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_CHECKS_FLOW_FRESHTENSORS_H
