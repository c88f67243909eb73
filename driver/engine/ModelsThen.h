//===- ModelsThen.h - The models of another revision ------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_ENGINE_MODELSTHEN_H
#define LIBTORCH_TIDY_DRIVER_ENGINE_MODELSTHEN_H

#include "driver/budget/BudgetReport.h"
#include "driver/engine/Batch.h"
#include "driver/project/CompileCommands.h"
#include "driver/project/RevisionFiles.h"

namespace libtorch_tidy::driver {

/// \p Models, of the units of \p Work that \p Now is about, next to those of
/// the same units with the files of \p Then. Commands are those of now: a
/// renamed file has the one of its new name. A source file that is gone is read
/// where \p Commands has it. Says on the standard error what is not known of
/// the revision.
BudgetSides sidesOf(const RevisionFiles &Then, const bytes::UnitBudget &Models,
                    const Analysis &Now, const AnalysisJob &Work,
                    CompileCommands &Commands, FileSystem FS);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_MODELSTHEN_H
