//===- Sharing.h - Whose memory somebody else may hold ----------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Tensors and OpenCV's images are counted handles, and containers can be moved
/// from: the memory of such a variable need not die with it. This says for
/// which variables of a function that may be so.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_SHARING_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_SHARING_H

#include "clang/AST/Decl.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace libtorch_tidy::flow {

struct MemorySummary;
/// What is known of functions that are called; null for those of which nothing
/// is.
using MemorySummaries =
    llvm::function_ref<const MemorySummary *(const clang::FunctionDecl *)>;

class Sharing {
public:
  /// Null for \p F: nothing is shared. Without \p Callees every function of the
  /// user may keep what it is given.
  Sharing(const clang::FunctionDecl *F, const clang::ASTContext &Context,
          MemorySummaries Callees = nullptr);

  /// How often a tensor or image, or a view of it, is copied to somewhere: a
  /// variable, a container, a result, unseen code, a lambda.
  unsigned copies(const clang::VarDecl *Var) const {
    return Copied.lookup(Var);
  }
  bool isCopied(const clang::VarDecl *Var) const { return copies(Var) > 0; }
  /// Is it moved, swapped, released, returned or captured?
  bool leaves(const clang::VarDecl *Var) const { return Leaves.count(Var); }
  /// Is it an operand of an operator, so that backward may keep it?
  bool isOperand(const clang::VarDecl *Var) const {
    return Operands.count(Var);
  }

private:
  llvm::DenseMap<const clang::VarDecl *, unsigned> Copied;
  llvm::DenseSet<const clang::VarDecl *> Leaves;
  llvm::DenseSet<const clang::VarDecl *> Operands;
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_SHARING_H
