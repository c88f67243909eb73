//===- FieldUses.h - What methods do with fields ----------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Which fields code empties, and what data loader workers do with the
/// fields of their copies.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_FIELDUSES_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_FIELDUSES_H

#include "analysis/flow/program/Program.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace libtorch_tidy::flow {

/// A lambda, or what a setter was called with: what is given to a field of
/// functions that may keep its object, too.
bool isFunctionGiven(const clang::Expr *Value);

/// Calls \p Visit for each field that \p F sets to nothing, clears, resets
/// or moves away: `field = nullptr`, `field.reset()`, `std::move(field)`. Also
/// for one that holds functions and gets another value than isFunctionGiven().
void forEachReleased(const clang::FunctionDecl *F,
                     llvm::function_ref<void(const clang::FieldDecl *)> Visit);

/// The uses of a member by methods that run on a copy of their object.
/// Seeded: a generator gets a new state. Indexed: data[index], data.at(index),
/// one entry for each example. Strided: data[index * n], data.data() + index *
/// n, a row of each in one container. Emptied: elements are taken out again.
/// The places, as file:line, are in other units.
struct CopyUse : FunctionFacts::CopyUse {
  const clang::Expr *First = nullptr;  ///< Null: in another unit.
  const clang::Expr *Filled = nullptr; ///< Adds an element.

  bool isFilled() const { return Filled || !FilledAt.empty(); }
};

/// The uses of all members in one method and in what it calls.
class CopyUses {
public:
  explicit CopyUses(const clang::SourceManager &SM) : SM(SM) {}

  void add(const clang::FunctionDecl *F);

  llvm::DenseMap<const clang::FieldDecl *, CopyUse> Of;

private:
  void look(const clang::Expr *E);
  void lookAtMethod(const clang::CXXMemberCallExpr *Call);
  void lookAtOperator(const clang::CXXOperatorCallExpr *Op);
  void strided(const clang::Expr *Start, const clang::Expr *Offset);
  void addElsewhere(const clang::FunctionDecl *F);

  const clang::SourceManager &SM;
  llvm::SmallPtrSet<const clang::FunctionDecl *, 8> Seen;
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_FIELDUSES_H
