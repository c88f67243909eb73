//===- Text.h - What is written that the tree lacks -------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_TEXT_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_TEXT_H

#include "clang/AST/Stmt.h"

namespace libtorch_tidy::cpp {

/// Is \p S all that is written between the braces of \p Block? What the
/// preprocessor left out counts as written.
bool isAllThatIsWritten(const clang::Stmt *S, const clang::CompoundStmt *Block,
                        const clang::ASTContext &Context);

/// Did the preprocessor leave out anything between \p S and the end of
/// \p Block, or is the end not written?
bool mayLeaveOutAfter(const clang::Stmt *S, const clang::CompoundStmt *Block,
                      const clang::ASTContext &Context);

/// Is what stands at \p Loc handed to a macro? Such code may be there to be
/// measured or tested.
bool isMacroArgument(clang::SourceLocation Loc, const clang::SourceManager &SM);

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_TEXT_H
