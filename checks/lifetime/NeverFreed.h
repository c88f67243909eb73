//===- NeverFreed.h - Memory below a tensor that nothing frees --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_CHECKS_LIFETIME_NEVERFREED_H
#define LIBTORCH_TIDY_CHECKS_LIFETIME_NEVERFREED_H

#include "fixits/FixIts.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include <optional>

namespace libtorch_tidy {

/// Memory from `new` or malloc() that a tensor is made over, and that nothing
/// frees.
struct NeverFreed {
  const clang::VarDecl *Pointer; ///< Null: it is allocated in the argument.
  const clang::Expr *Made;       ///< `new float[n]`, malloc(n).
  fixits::Edits Deleter;         ///< Adds one; empty where it may not be right.
  bool InMain = false; ///< In main, and in no loop: as long as the program.
};

/// What \p Blob, if that is the first from_blob over its memory and has no
/// deleter, leaves allocated for ever: the pointer is a local variable that is
/// only read, written through and given to functions that do not keep it.
std::optional<NeverFreed> neverFreed(const clang::CallExpr *Blob,
                                     clang::ASTContext &Context);

/// Does \p F free what the data_ptr() of a tensor leads to? Then the memory
/// below a tensor may be freed there.
bool freesTensorData(const clang::FunctionDecl *F);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_LIFETIME_NEVERFREED_H
