//===- PackedSequences.h - Where a PackedSequence was packed ----*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_FLOW_PACKEDSEQUENCES_H
#define LIBTORCH_TIDY_CHECKS_FLOW_PACKEDSEQUENCES_H

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"

namespace libtorch_tidy::flow {

/// The pack_padded_sequence call that the value of \p Sequence comes from,
/// followed inside \p Function (the innermost that \p Sequence stands in)
/// through recurrent layers, std::get, structured bindings, device moves,
/// PackedSequences rebuilt over the batch sizes of another, and local
/// variables. Null when it cannot be seen, or is one of several.
const clang::CallExpr *packingOf(const clang::Expr *Sequence,
                                 const clang::FunctionDecl *Function);

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_CHECKS_FLOW_PACKEDSEQUENCES_H
