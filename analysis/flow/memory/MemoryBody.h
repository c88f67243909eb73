//===- MemoryBody.h - What the memory domain asks of a body -----*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Facts of a function that its control-flow graph lacks, found in its syntax:
/// which mentions of a variable read nothing, where scopes end, what is a whole
/// statement, whether there is anything to follow, and what is shared.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_MEMORYBODY_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_MEMORYBODY_H

#include "analysis/cpp/Body.h"
#include "analysis/flow/memory/Memory.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace libtorch_tidy::flow {

/// Tensors and OpenCV's images are counted handles, and containers can be moved
/// from: the memory of such a variable need not die with it. This tells for
/// which variables of a function that may be so.
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
  friend class SharingFinder;

  llvm::DenseMap<const clang::VarDecl *, unsigned> Copied;
  llvm::DenseSet<const clang::VarDecl *> Leaves;
  llvm::DenseSet<const clang::VarDecl *> Operands;
};

class MemoryBody {
public:
  MemoryBody(const clang::FunctionDecl *F, MemorySummaries Callees);

  /// Can anything in the function refer to memory of something else, or change
  /// memory of its caller?
  bool isConcerned() const { return Concerned; }
  /// Is \p E, a name or a field of `*this`, only compared, assigned to, or
  /// asked for a property? The memory that it refers to is not read then.
  bool readsNothing(const clang::Expr *E) const { return Silent.contains(E); }
  /// As the target of an assignment it is not read, but the pointer is.
  bool isTarget(const clang::Expr *E) const { return Targets.contains(E); }
  /// The end of the innermost scope of local variable \p Var.
  clang::SourceLocation endOf(const clang::VarDecl *Var) const;
  /// Can another statement be put before \p S?
  bool isInBlock(const clang::Stmt *S) const;
  /// The loop for which \p Var, made by the compiler, holds the range.
  const clang::CXXForRangeStmt *loopOverRange(const clang::VarDecl *Var) const;
  /// The variables that are gone in the handlers of \p Try.
  llvm::ArrayRef<const clang::VarDecl *>
  declaredIn(const clang::CXXTryStmt &Try) const;
  /// How many return statements with a value there are.
  unsigned results() const { return Results; }

  /// Made only where something is asked of it: most functions are not
  /// concerned.
  cpp::Body &in() const { return cpp::Body::of(F); }

private:
  friend class BodyWalk;

  const clang::FunctionDecl *F;
  bool Concerned = false;
  unsigned Results = 0;
  llvm::DenseSet<const clang::Expr *> Silent, Targets;
  mutable llvm::DenseMap<const clang::CXXTryStmt *,
                         llvm::SmallVector<const clang::VarDecl *, 2>>
      InTry;
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_MEMORYBODY_H
