//===- SaveForBackward.h - From saved_data to a saved tensor ----*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_CYCLES_SAVEFORBACKWARD_H
#define LIBTORCH_TIDY_CHECKS_CYCLES_SAVEFORBACKWARD_H

#include "checks/cycles/AutogradForward.h"
#include "fixits/FixIts.h"

namespace libtorch_tidy {

/// The edits that turn saved_data into save_for_backward, for all \p Tensors
/// that \p Forward stores at once, and their reads in \p Backward. None where
/// another use of the context is in the way.
///
///   ctx->saved_data["y"] = y;              ctx->save_for_backward({y});
///   ctx->saved_data["y"].toTensor()   ->   ctx->get_saved_variables()[0]
fixits::Edits saveForBackward(const AutogradForward &Forward,
                              llvm::ArrayRef<SavedValue> Tensors,
                              const clang::FunctionDecl *Backward,
                              clang::ASTContext &Context);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_CYCLES_SAVEFORBACKWARD_H
