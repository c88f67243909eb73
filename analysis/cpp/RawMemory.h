//===- RawMemory.h - Memory that is managed by hand -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_RAWMEMORY_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_RAWMEMORY_H

#include "analysis/cpp/Body.h"

namespace libtorch_tidy::cpp {

/// Is \p E memory that somebody has to free: a new expression that is not
/// given its memory, malloc() and its like? Null is allowed.
bool allocates(const clang::Expr *E);

/// What allocates the only memory that local variable \p Pointer ever leads to;
/// null when it may lead to other memory, or to some that is not allocated
/// here.
const clang::Expr *allocationOf(const clang::VarDecl *Pointer, Body &In);

/// Does \p Call only read or write the bytes that its pointers lead to, and
/// keep none of them: memset(), fread(), std::copy(), stream.read()?
bool onlyUsesBytes(const clang::CallExpr *Call);

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_RAWMEMORY_H
