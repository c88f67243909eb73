//===- Step.h - What passes over a model take -------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_STEP_H
#define LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_STEP_H

#include "analysis/bytes/interpret/Inputs.h"

namespace libtorch_tidy::bytes {

/// Runs passes with \p Inputs over \p M, which \p Running has made, and adds to
/// \p Model what they take. \p Paths are those of its rows.
void addStep(Interpreter &Running, const ModulePtr &M, const StepInputs &Inputs,
             const BudgetRequest &Request,
             const std::map<const ModuleInstance *, std::string> &Paths,
             const clang::SourceManager &SM, ModelRows &Model);

/// What the graph of one forward() keeps when nobody holds its results: with
/// the inputs that it keeps, if they go as well. nullopt where the pass is not
/// followed whole.
std::optional<uint64_t> keptByGraph(Interpreter &Running, const ModulePtr &M,
                                    const StepInputs &Inputs, bool Training,
                                    bool InputsGo,
                                    const clang::SourceManager &SM);

} // namespace libtorch_tidy::bytes

#endif // LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_STEP_H
