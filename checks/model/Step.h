//===- Step.h - What passes over a model take -------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_MODEL_STEP_H
#define LIBTORCH_TIDY_CHECKS_MODEL_STEP_H

#include "checks/model/Elaboration.h"
#include "checks/model/Interpreter.h"

namespace libtorch_tidy::model {

Spot spotOf(clang::SourceLocation Loc, const clang::SourceManager &SM);

/// Runs the passes that \p Request asks for over \p M, which \p Running has
/// made, and adds to \p Model what they take. \p Paths are those of its rows.
/// Nothing is added where an input cannot be read; the command line has said
/// so.
void addStep(Interpreter &Running, const ModulePtr &M,
             const BudgetRequest &Request,
             const std::map<const ModuleInstance *, std::string> &Paths,
             const clang::SourceManager &SM, ModelRows &Model);

} // namespace libtorch_tidy::model

#endif // LIBTORCH_TIDY_CHECKS_MODEL_STEP_H
