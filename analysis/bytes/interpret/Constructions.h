//===- Constructions.h - Where a unit makes modules -------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_CONSTRUCTIONS_H
#define LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_CONSTRUCTIONS_H

#include "analysis/bytes/interpret/Inputs.h"

namespace libtorch_tidy::bytes {

/// A construction of a module in the program.
struct Construction {
  const clang::CXXRecordDecl *Class;
  llvm::SmallVector<const clang::Expr *, 4> Arguments;
  clang::SourceLocation At;
};

/// What a unit has that has to do with models.
struct UnitModels {
  std::vector<const clang::CXXRecordDecl *> Classes; ///< Those of modules.
  std::vector<Construction> Made;
  std::vector<PassedInputs> Passed;
  std::vector<const clang::FunctionDecl *> Defined; ///< For other units, too.
  Interpreter::Bodies Bodies;
};

/// Looks through a unit, of which the first \p OwnText bytes of the main file,
/// and what they include, are its own. \p WithInputs: what forward() is passed
/// is looked for, too.
UnitModels findModels(const clang::ASTContext &Context,
                      const Interpreter::DefineDecl &Define, unsigned OwnText,
                      bool WithInputs);

} // namespace libtorch_tidy::bytes

#endif // LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_CONSTRUCTIONS_H
