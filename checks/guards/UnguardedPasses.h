//===- UnguardedPasses.h - Forward passes that want a guard -----*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Which forward passes libtorch-inference-without-no-grad reports, for that
/// check and for those that would report what the result of such a pass keeps:
/// one missing guard is one finding.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_GUARDS_UNGUARDEDPASSES_H
#define LIBTORCH_TIDY_CHECKS_GUARDS_UNGUARDEDPASSES_H

#include "checks/base/LibtorchCheck.h"

namespace libtorch_tidy {

/// Of one unit. docs/checks/libtorch-inference-without-no-grad.md has the
/// rules.
class UnguardedPasses {
public:
  /// What says that a forward pass is there to predict, although its result
  /// leaves the function.
  struct Evidence {
    Level Strength;
    std::optional<Step> Shown;
  };

  /// Passes that one guard covers.
  struct Scope {
    const flow::FunctionFlow *Flow;
    /// The block for the guard; null for none.
    const clang::CompoundStmt *Guardable;
    Level Strength = Level::Likely;
    bool IsKept = false; ///< In what a parameter names.
    bool IsTrial = true; ///< Nothing of its results is used.
    std::optional<Evidence> ToPredict;
    llvm::SmallVector<const flow::Label *, 4> Forwards;
  };

  explicit UnguardedPasses(flow::UnitModel &Unit) : Unit(Unit) {}

  /// Is the whole program known, with its main?
  static bool isClosed(const flow::UnitModel &Unit);

  /// What is reported in the function of \p Flow, a label once.
  std::vector<Scope> scopesIn(const flow::FunctionFlow &Flow);
  /// What \p L of \p Flow is reported in, if it is.
  std::optional<Scope> findingOf(const flow::Label &L,
                                 const flow::FunctionFlow &Flow);
  /// Is every forward pass whose result \p Callee hands out reported there?
  bool reportsItsResults(const flow::FunctionFlow &Callee);

private:
  /// Where the forward pass that a label stands for is reported.
  enum class Reported { Nowhere, Here, Inside };
  Reported reportedAt(const flow::Label &L, const flow::FunctionFlow &Flow);
  std::optional<Evidence> evidenceOf(const flow::Label &L,
                                     const flow::FunctionFlow &Flow);
  std::optional<Evidence> evidenceInUnit(const flow::Label &L,
                                         const flow::FunctionFlow &Flow);
  bool isReportedByCallers(const clang::FunctionDecl *F);
  bool isReportedInside(const flow::Label &L);

  flow::UnitModel &Unit;
  /// What reportsItsResults() says of a function; false while it is asked,
  /// which ends recursion.
  llvm::DenseMap<const clang::FunctionDecl *, bool> Settled;
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_GUARDS_UNGUARDEDPASSES_H
