//===- ReleasedFields.h - Members that somebody empties ---------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_RELEASEDFIELDS_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_RELEASEDFIELDS_H

#include "clang/AST/Expr.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace libtorch_tidy::flow {

/// A lambda, or what a setter was called with: what is given to a field of
/// functions that may keep its object, too.
bool isFunctionGiven(const clang::Expr *Value);

/// Calls \p Visit for each field in \p F that is set to nothing, cleared, reset
/// or moved away: `field = nullptr`, `field.reset()`, `std::move(field)`. Also
/// for one that holds functions and gets another than isFunctionGiven().
void forEachReleased(const clang::FunctionDecl *F,
                     llvm::function_ref<void(const clang::FieldDecl *)> Visit);

/// Does another unit of the program release \p Field?
bool isReleasedElsewhere(const clang::FieldDecl *Field);

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_RELEASEDFIELDS_H
