//===- Callers.h - Who calls a function -------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_CALLERS_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_CALLERS_H

#include "analysis/flow/unit/UnitModel.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace libtorch_tidy::flow {

/// A call as it is written, also in code that does nothing with tensors. What
/// flows through it is asked of UnitModel::callersOf().
struct WrittenCall {
  const clang::CallExpr *Call;
  const clang::FunctionDecl *In;
};

/// The calls of \p Callee in the unit.
llvm::SmallVector<WrittenCall, 4> callsOf(const clang::FunctionDecl *Callee,
                                          const UnitModel &Unit);

/// The calls that \p F makes, constructors among them, with the gradient mode
/// at each; On in code that does nothing with tensors or is not followed.
std::vector<CallSite> callsIn(const clang::FunctionDecl *F, UnitModel &Unit);

/// Is there a call of \p F in this unit whose result \p IsIt says that of?
bool anyCallOf(
    const clang::FunctionDecl *F, UnitModel &Unit,
    llvm::function_ref<bool(const Label &, const FunctionFlow &Caller)> IsIt);

/// Does a caller of \p F in this unit back-propagate what \p F returns?
bool anyCallerTrains(const clang::FunctionDecl *F, UnitModel &Unit);

/// A forward pass, in this unit or in another.
struct UnguardedForward {
  const clang::Expr *Site = nullptr; ///< Null: in another unit.
  std::string At;                    ///< As file:line.
};

/// The first that \p Flow runs when it is called with gradient mode on, or that
/// a function does which it calls; \p Depth: of these calls.
std::optional<UnguardedForward>
unguardedForward(const FunctionFlow &Flow, UnitModel &Unit, unsigned Depth = 3);

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_CALLERS_H
