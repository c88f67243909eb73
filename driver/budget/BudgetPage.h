//===- BudgetPage.h - The bytes of models, as a page ------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_BUDGET_BUDGETPAGE_H
#define LIBTORCH_TIDY_DRIVER_BUDGET_BUDGETPAGE_H

#include "driver/budget/BudgetReport.h"
#include <map>

namespace libtorch_tidy::driver {

/// One HTML file that needs nothing else, and no scripts: the sums of each
/// model, what is in use over time, and a bar per module. \p Trouble has the
/// files that could not be read in full, with the reason. Paths below
/// \p WorkingDirectory are written relative to it. Equal input gives equal
/// bytes.
std::string budgetAsHtml(const bytes::UnitBudget &Budget,
                         const BudgetOptions &Options,
                         const std::map<std::string, std::string> &Trouble,
                         llvm::StringRef WorkingDirectory);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_BUDGET_BUDGETPAGE_H
