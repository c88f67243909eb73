//===- Callers.cpp - Who calls a function ---------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/flow/Callers.h"
#include "checks/code/Walk.h"
#include "checks/flow/UnitModel.h"

using namespace clang;

namespace libtorch_tidy::flow {

llvm::SmallVector<WrittenCall, 4> callsOf(const FunctionDecl *Callee,
                                          const UnitModel &Unit) {
  llvm::SmallVector<WrittenCall, 4> Found;
  for (const FunctionDecl *In : Unit.functions())
    code::forEach<CallExpr>(In->getBody(), [&](const CallExpr *Call) {
      const FunctionDecl *F = Call->getDirectCallee();
      if (F && F->getCanonicalDecl() == Callee->getCanonicalDecl())
        Found.push_back({Call, In});
    });
  return Found;
}

} // namespace libtorch_tidy::flow
