//===- Layers.h - Fully connected and recurrent layers ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Names and signatures of torch::nn's layers that checks ask for; those of
/// torch/nn/utils/rnn.h and torch/nn/parallel/data_parallel.h are the same in
/// 1.13.1 and 2.x.

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_LAYERS_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_LAYERS_H

#include "clang/AST/Expr.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace libtorch_tidy::torch {

inline constexpr llvm::StringLiteral LinearName = "Linear";
inline constexpr llvm::StringLiteral LinearClass = "::torch::nn::Linear";
inline constexpr llvm::StringLiteral LinearImplClass =
    "::torch::nn::LinearImpl";
inline constexpr llvm::StringLiteral MakeShared = "::std::make_shared";

struct LinearShape {
  uint64_t In, Out;
};
/// The features of the layer that \p E makes: Linear(in, out),
/// Linear(LinearOptions(in, out).bias(false)), make_shared<LinearImpl>(...),
/// where the compiler can compute both. nullopt for everything else, and where
/// one of them is a vocabulary's size: such a head has to be that large.
std::optional<LinearShape> linearShape(const clang::Expr *E,
                                       const clang::ASTContext &Context);

/// Does \p E make such a layer with sizes that are computed when the program
/// runs? Not where a vocabulary takes part.
bool makesLinearOfGivenSizes(const clang::Expr *E);

/// Does \p E make such a layer of which one size is that of a vocabulary?
bool makesLinearOfVocabulary(const clang::Expr *E);

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

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_LAYERS_H
