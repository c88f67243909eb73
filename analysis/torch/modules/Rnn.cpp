//===- Rnn.cpp - LibTorch's packed sequences and data_parallel ------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/torch/modules/Rnn.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/Decl.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

bool isPackPaddedSequence(const FunctionDecl *F) {
  return cpp::nameOf(F) == "pack_padded_sequence" &&
         F->getQualifiedNameAsString() ==
             "torch::nn::utils::rnn::pack_padded_sequence";
}

bool isForwardWithPackedInput(const FunctionDecl *F) {
  return cpp::nameOf(F) == "forward_with_packed_input" && isTorchDecl(F);
}

bool isPackedSequence(QualType T) {
  return cpp::isOrDerivesFrom(cpp::recordOf(T),
                              "torch::nn::utils::rnn::PackedSequence");
}

bool keepsPacking(const FunctionDecl *F) {
  return llvm::StringSwitch<bool>(cpp::nameOf(F))
      .Cases("to", "cuda", "cpu", "pin_memory", true)
      .Default(false);
}

bool isBatchSizes(const FunctionDecl *F) {
  return cpp::nameOf(F) == "batch_sizes" && isTorchDecl(F);
}

} // namespace libtorch_tidy::torch
