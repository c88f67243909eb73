//===- Rnn.cpp - LibTorch's packed sequences and data_parallel ------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/Rnn.h"
#include "checks/torch/Calls.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/Decl.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

bool isPackPaddedSequence(const FunctionDecl *F) {
  return nameOf(F) == "pack_padded_sequence" &&
         F->getQualifiedNameAsString() ==
             "torch::nn::utils::rnn::pack_padded_sequence";
}

bool isForwardWithPackedInput(const FunctionDecl *F) {
  return nameOf(F) == "forward_with_packed_input" && isTorchDecl(F);
}

bool isPackedSequence(QualType T) {
  return isOrDerivesFrom(recordOf(T), "torch::nn::utils::rnn::PackedSequence");
}

bool keepsPacking(const FunctionDecl *F) {
  return llvm::StringSwitch<bool>(nameOf(F))
      .Cases("to", "cuda", "cpu", "pin_memory", true)
      .Default(false);
}

bool isBatchSizes(const FunctionDecl *F) {
  return nameOf(F) == "batch_sizes" && isTorchDecl(F);
}

} // namespace libtorch_tidy::torch
