//===- Conditions.h - Conditions that keep their value ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_CONDITIONS_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_CONDITIONS_H

#include "clang/AST/Expr.h"
#include "llvm/ADT/FoldingSet.h"
#include <optional>
#include <vector>

namespace clang {
class CFGBlock;
} // namespace clang

namespace libtorch_tidy::cpp {

class Body;

/// A condition that has one value as long as its function runs, and that value:
/// it is made of variables that nothing writes.
struct Condition {
  llvm::FoldingSetNodeID Of;
  bool Holds = true;

  bool operator==(const Condition &O) const {
    return Holds == O.Holds && Of == O.Of;
  }
  Condition opposite() const { return {Of, !Holds}; }
};
using Conditions = std::vector<Condition>;

/// What \p E says where it is true, in function \p In; nullopt where it may say
/// something else later.
std::optional<Condition> conditionOf(const clang::Expr *E, Body &In);
/// What holds where control goes from \p Block of \p In to \p Successor.
std::optional<Condition> decidedBy(const clang::CFGBlock &Block,
                                   const clang::CFGBlock &Successor, Body &In);

/// What is in one of both, and what is in both.
Conditions eitherOf(Conditions A, const Conditions &B);
Conditions bothOf(const Conditions &A, const Conditions &B);

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_CONDITIONS_H
