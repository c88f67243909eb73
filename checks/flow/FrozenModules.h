//===- FrozenModules.h - Whose parameters do not train ----------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_FLOW_FROZENMODULES_H
#define LIBTORCH_TIDY_CHECKS_FLOW_FROZENMODULES_H

#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace libtorch_tidy::flow {

class FunctionFlow;

/// The variables and fields whose module brings no history in function \p In:
/// its parameters are all switched off there, and none on again. \p Switches
/// are the calls of the function that freeze a module or set requires_grad.
llvm::SmallPtrSet<const clang::ValueDecl *, 4>
findFrozenModules(llvm::ArrayRef<const clang::CallExpr *> Switches,
                  llvm::ArrayRef<const clang::CXXForRangeStmt *> RangeLoops,
                  const FunctionFlow &In);

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_CHECKS_FLOW_FROZENMODULES_H
