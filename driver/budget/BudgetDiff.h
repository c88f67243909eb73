//===- BudgetDiff.h - What a change does to the bytes of models -*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_BUDGET_BUDGETDIFF_H
#define LIBTORCH_TIDY_DRIVER_BUDGET_BUDGETDIFF_H

#include "driver/budget/BudgetReport.h"

namespace libtorch_tidy::driver {

/// The models of a revision, and those of now.
struct BudgetSides {
  bytes::UnitBudget Before, After; ///< Merged.
  /// A unit could not be analysed: models that are not there may be in it.
  bool LacksBefore = false, LacksAfter = false;
  std::string Revision, Commit; ///< As the user gave it, and its full name.
  /// What is not known of the revision, in words.
  std::vector<std::string> Unknown;
};

/// For each model what the change adds or saves, and which modules do: as text,
/// or as JSON, which docs/budget.md describes. Paths below \p WorkingDirectory
/// are written relative to it.
std::string changeReport(const BudgetSides &Sides, const BudgetOptions &Options,
                         llvm::StringRef WorkingDirectory);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_BUDGET_BUDGETDIFF_H
