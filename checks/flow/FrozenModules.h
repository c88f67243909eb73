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

/// The variables and fields whose module brings no history in function \p F:
/// its parameters are all switched off there, or by a function that it calls,
/// and none on again.
llvm::SmallPtrSet<const clang::ValueDecl *, 4>
frozenModulesIn(const clang::FunctionDecl *F);

/// The fields of class \p R whose modules its constructors leave frozen, for
/// its other methods.
llvm::SmallPtrSet<const clang::ValueDecl *, 4>
frozenByConstructors(const clang::CXXRecordDecl *R);

/// Does a constructor of \p R, or what it calls, switch gradient mode off for
/// the rest of its thread, and none on again?
bool constructorsEndGradients(const clang::CXXRecordDecl *R);

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_CHECKS_FLOW_FROZENMODULES_H
