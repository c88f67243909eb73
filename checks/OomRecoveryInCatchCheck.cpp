//===- OomRecoveryInCatchCheck.cpp ----------------------------------------===//
//--------------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/OomRecoveryInCatchCheck.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

void OomRecoveryInCatchCheck::registerMatchers(MatchFinder *) {}

void OomRecoveryInCatchCheck::check(const MatchFinder::MatchResult &) {}

} // namespace libtorch_tidy
