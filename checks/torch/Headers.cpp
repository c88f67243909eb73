//===- Headers.cpp - What units see of LibTorch's headers -----------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/Headers.h"

using namespace clang;

namespace libtorch_tidy::torch {

bool isLargeBesideFrontend(llvm::StringRef Name) {
  return Name == "torch/script.h";
}

bool declaresTensor(ASTContext &Context) {
  auto Find = [&](const DeclContext &Where, llvm::StringRef Name) {
    return Where.lookup(&Context.Idents.get(Name));
  };
  for (const NamedDecl *D : Find(*Context.getTranslationUnitDecl(), "at"))
    if (const auto *Namespace = dyn_cast<NamespaceDecl>(D))
      return !Find(*Namespace, "Tensor").empty();
  return false;
}

} // namespace libtorch_tidy::torch
