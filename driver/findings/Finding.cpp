//===- Finding.cpp - What was found, as pure data -------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/findings/Finding.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>

namespace libtorch_tidy::driver {

static auto identity(const Finding &F) {
  return std::tie(F.Where.Path, F.Where.Begin, F.Check, F.Message);
}

std::vector<Finding> mergeFindings(std::vector<Finding> Findings) {
  llvm::stable_sort(Findings, [](const Finding &A, const Finding &B) {
    return std::tuple_cat(identity(A), std::tie(A.Strength)) <
           std::tuple_cat(identity(B), std::tie(B.Strength));
  });
  Findings.erase(std::unique(Findings.begin(), Findings.end(),
                             [](Finding &Kept, Finding &Next) {
                               if (identity(Kept) != identity(Next))
                                 return false;
                               Kept.AsError |= Next.AsError;
                               return true;
                             }),
                 Findings.end());
  return Findings;
}

} // namespace libtorch_tidy::driver
