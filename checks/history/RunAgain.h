//===- RunAgain.h - Functions that loops run --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_CHECKS_HISTORY_RUNAGAIN_H
#define LIBTORCH_TIDY_CHECKS_HISTORY_RUNAGAIN_H

#include "analysis/flow/unit/UnitModel.h"

namespace libtorch_tidy {

/// Does something in \p Unit run the function of \p Flow in each round of a
/// loop, or of an algorithm, that \p Root, a parameter or a capture of it,
/// outlives and that neither empties \p Root nor gives it another value?
bool isRunAgain(const flow::FunctionFlow &Flow, const clang::VarDecl *Root,
                flow::UnitModel &Unit);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_HISTORY_RUNAGAIN_H
