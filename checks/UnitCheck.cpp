//===- UnitCheck.cpp - Checks that ask the model of the unit --------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/UnitCheck.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

void UnitCheck::registerMatchers(MatchFinder *Finder) {
  Finder->addMatcher(
      decl(anyOf(functionDecl(isDefinition()), varDecl(hasGlobalStorage())))
          .bind("any"),
      this);
}

void UnitCheck::check(const MatchFinder::MatchResult &Result) {
  // Half an AST says little about where values go.
  if (Unit || Result.Context->getDiagnostics().hasUncompilableErrorOccurred())
    return;
  Unit = flow::UnitModel::of(*Result.Context);
  checkUnit(*Unit);
}

} // namespace libtorch_tidy
