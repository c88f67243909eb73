//===- Conventions.cpp - What names suggest -------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/Conventions.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"

using namespace clang;

namespace libtorch_tidy::torch {

bool drawsSample(const FunctionDecl *F) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(F);
  return Method && Method->getIdentifier() &&
         Method->getName().equals_insensitive("sample") &&
         !isModule(F->getASTContext().getRecordType(Method->getParent()));
}

} // namespace libtorch_tidy::torch
