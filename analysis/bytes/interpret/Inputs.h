//===- Inputs.h - What a forward() is given ---------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_INPUTS_H
#define LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_INPUTS_H

#include "analysis/bytes/Bytes.h"
#include "analysis/bytes/interpret/Interpreter.h"

namespace libtorch_tidy::bytes {

Spot spotOf(clang::SourceLocation Loc, const clang::SourceManager &SM);
/// A value as one would write it in a call.
std::string shown(const Cell &V);

/// The arguments of a forward(). Their tensors have sizes, and no memory.
struct StepInputs {
  std::vector<Cell> Arguments;
  std::vector<std::string> Texts; ///< As a reader writes them.
  Spot From;                      ///< Empty: the command line.
  std::string Trouble;            ///< forward() does not take them.
  Spot TroubleAt;
};

/// \p Texts, as parseInputText() takes them, for the forward() of \p Class. A
/// number is the only size of a tensor where forward() takes one.
StepInputs inputsOf(llvm::ArrayRef<std::string> Texts,
                    const clang::CXXRecordDecl *Class,
                    const clang::SourceManager &SM);

/// A call of forward() in the program, outside of modules.
struct PassedInputs {
  const clang::CXXRecordDecl *Class; ///< Of the model; canonical.
  llvm::SmallVector<const clang::Expr *, 4> Arguments;
  clang::SourceLocation At;
  const clang::ValueDecl *Model; ///< What names the model; may be null.
};
/// \p E as such a call; nullopt for others.
std::optional<PassedInputs> asPassedInputs(const clang::CallExpr *E);
/// The values of \p Passed; nullopt where they are not known. With \p Type,
/// floating tensors are converted to it, as the model is.
std::optional<StepInputs> inputsOf(const PassedInputs &Passed,
                                   Interpreter &Running,
                                   std::optional<torch::ElementType> Type,
                                   const clang::SourceManager &SM);

/// \p Given with tensors in the memory of \p S, of \p Type where they have no
/// type. Those that are the same tensor stay one.
std::vector<Cell> placed(llvm::ArrayRef<Cell> Given, Simulation &S,
                         torch::ElementType Type);

/// Inputs with a batch of \p Batch: the first size of the first tensor, and of
/// all that have the same. nullopt where no tensor has sizes.
std::optional<std::vector<Cell>> withBatch(llvm::ArrayRef<Cell> Given,
                                           int64_t Batch);

} // namespace libtorch_tidy::bytes

#endif // LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_INPUTS_H
