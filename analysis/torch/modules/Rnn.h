//===- Rnn.h - LibTorch's packed sequences and data_parallel ----*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Names and signatures of torch/nn/utils/rnn.h and
/// torch/nn/parallel/data_parallel.h, which 1.13.1 and 2.x share.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_RNN_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_RNN_H

#include "clang/AST/Expr.h"
#include "llvm/ADT/StringRef.h"

namespace libtorch_tidy::torch {

inline constexpr llvm::StringLiteral PadPackedSequence =
    "::torch::nn::utils::rnn::pad_packed_sequence";
inline constexpr llvm::StringLiteral DataParallel =
    "::torch::nn::parallel::data_parallel";

/// Positions in pad_packed_sequence(sequence, batch_first = false,
/// padding_value = 0.0, total_length = nullopt).
struct PadPackedArgs {
  static constexpr unsigned Sequence = 0, BatchFirst = 1, PaddingValue = 2,
                            TotalLength = 3, Count = 4;
  /// How the default of an argument is spelled.
  static llvm::StringRef defaultOf(unsigned Position) {
    return Position == BatchFirst ? "false" : "0.0";
  }
};

/// Positions in pack_padded_sequence(input, lengths, batch_first = false,
/// enforce_sorted = true).
struct PackPaddedArgs {
  static constexpr unsigned Input = 0, BatchFirst = 2;
};

bool isPackPaddedSequence(const clang::FunctionDecl *F);

/// LSTM, GRU and RNN's forward_with_packed_input(packed, state): a tuple whose
/// first element is the output, packed as the input.
bool isForwardWithPackedInput(const clang::FunctionDecl *F);

bool isPackedSequence(clang::QualType T);

/// PackedSequence's to(), cuda(), cpu() and pin_memory(): the same packing.
bool keepsPacking(const clang::FunctionDecl *PackedSequenceMethod);

/// PackedSequence::batch_sizes(), which alone decides the lengths.
bool isBatchSizes(const clang::FunctionDecl *PackedSequenceMethod);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_RNN_H
