//===- ModelBudget.h - The models of a unit, instead of findings -*- C++ -*-==//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_BUDGET_MODELBUDGET_H
#define LIBTORCH_TIDY_DRIVER_BUDGET_MODELBUDGET_H

#include "analysis/bytes/Bytes.h"
#include "clang/AST/ASTConsumer.h"
#include <memory>

namespace libtorch_tidy::driver {

/// Elaborates the models that \p Request asks for when the unit is parsed, and
/// leaves them in \p Answer. Nothing is left there when the unit does not
/// compile. Goes after the consumer that narrows the scope. For \p OwnText see
/// bytes::elaborate().
std::unique_ptr<clang::ASTConsumer>
createBudgetConsumer(const bytes::BudgetRequest &Request, unsigned OwnText,
                     bytes::UnitBudget &Answer);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_BUDGET_MODELBUDGET_H
