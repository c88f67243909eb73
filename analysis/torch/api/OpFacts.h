//===- OpFacts.h - What each ATen operator does -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Facts about ATen operators, by their C++ name: who shares storage, what
/// carries autograd history, what backward keeps, what is heavy. All that is
/// said of operators by name stands in this table, which
/// scripts/generate-op-facts makes of LibTorch 1.13.1, headers of 2.x and
/// op-notes.txt; overloads are merged so that a fact holds for each of them.

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_API_OPFACTS_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_API_OPFACTS_H

#include "clang/Basic/OperatorKinds.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace clang {
class CallExpr;
class FunctionDecl;
} // namespace clang

namespace libtorch_tidy::torch {

/// Whose memory the first result of an operator has.
enum class Sharing : unsigned char {
  Unknown, ///< Not known, or not an operator of LibTorch.
  None,    ///< The result has memory of its own.
  Perhaps, ///< A copy where there is something to do, else the same tensor or
           ///< a view: contiguous, to, reshape, cpu, dropout in eval mode.
  Memory,  ///< A new tensor object over the same memory: a view.
  Handle,  ///< The same tensor: in-place operators, conversions to itself.
};

/// How an operator changes nothing but returns something.
enum class PureKind : unsigned char {
  No, ///< It changes something, or is expensive enough to be run for its time.
  /// detach: the same values without history.
  Detach,
  /// The same tensor in another place or form, which takes the place of the
  /// old one: to, cpu, contiguous, view, squeeze, clamp.
  Converts,
  /// Meant to write, but only its namesake with '_' does: masked_fill,
  /// index_put, scatter.
  Fills,
  /// Arithmetic on the elements: add, mul, exp.
  Computes,
};

/// What the backward node of an operator of one tensor keeps.
enum class Saved : unsigned char {
  Unknown, ///< Not known, or more than these; in place: backward() throws.
  Argument,
  Result,
  Both,
};

/// One row of the table. analysis/torch/api/op-notes.txt says how each fact is
/// known.
struct OpFacts {
  llvm::StringRef Name; ///< A literal.
  /// Number of results of the overload with most of them: 0 for void, 1 also
  /// for a list of tensors, the size of the tuple otherwise.
  uint32_t Outputs;
  /// Bit I: result I never carries autograd history, in no overload that has
  /// it. argmax: 0b1; max and topk: 0b10.
  uint32_t NonDifferentiable;
  /// With the first tensor argument.
  Sharing Shares;
  PureKind Pure;
  /// Writes its first tensor argument and returns it (name ends in '_').
  bool InPlace = false;
  /// Makes a new tensor that shares neither storage nor history with any
  /// argument: zeros, rand, zeros_like, new_zeros.
  bool Factory = false;
  /// The backward node keeps no tensor alive, for every overload. False also
  /// when it is not known.
  bool SavesNothing = false;
  /// A reduced loss whose scalar result still owns the unreduced elementwise
  /// buffer (measured on 1.13.1, CPU).
  bool PinsBuffer = false;
  /// The first result is usually much smaller than the input: sum, mean, norm,
  /// losses.
  bool Reduces = false;
  /// Of those that share perhaps: a copy is the exception (reshape, flatten).
  bool CopiesRarely = false;
  /// The result shows a part of the tensor only: select, slice.
  bool TakesPart = false;
  /// The result shows all elements of the tensor: view, transpose, to.
  bool ShowsWhole = false;
  /// The result has the shape and the elements of the tensor: clone, to.
  bool SameElements = false;
  /// Of a contiguous tensor, the result is contiguous: view, unsqueeze.
  bool KeepsLayout = false;
  /// Gives its tensor another size, or lets go of its memory: resize_, reset.
  bool Resizes = false;
  /// Carries the weight of a network outside of modules: matmul, conv2d, lstm.
  bool Heavy = false;
  /// Keeps an argument where later code of LibTorch uses it: register_hook.
  bool KeepsArguments = false;
  /// Asks about a tensor and holds on to nothing of it: size, dim, device.
  bool Metadata = false;
  /// The result lies in memory in the order of the first operand, and without
  /// its gaps: mul, clone, zeros_like.
  bool KeepsOrder = false;
  /// The result lies row by row, whatever the order of the operand: softmax.
  bool Packs = false;
  /// Bit I: the matrices of result I lie column by column: linalg_qr.
  uint32_t Columns = 0;
  /// Of an operator of one tensor; of the form in place, which keeps a copy of
  /// the argument. Nothing, where SavesNothing is set.
  Saved Saves = Saved::Unknown, SavesInPlace = Saved::Unknown;

  /// May the first result have the memory of the first tensor, without being
  /// written in place?
  bool mayShare() const {
    return Shares == Sharing::Perhaps || Shares == Sharing::Memory;
  }
  /// Does no result ever carry history?
  bool neverDifferentiable() const {
    return Outputs > 0 && NonDifferentiable == (1U << Outputs) - 1;
  }
};

/// Makes images of another size or place: interpolate, grid_sample. What it
/// returns is as large as a layer's output.
bool resamples(const OpFacts &Facts);

/// Facts of the operator that C++ code calls \p Name, without namespaces or
/// class; null when no operator, method or torch::nn::functional function is
/// called so. The caller has checked that the callee is LibTorch's.
const OpFacts *opFacts(llvm::StringRef Name);

/// The same for a declared callee: null unless \p Callee is LibTorch's (also
/// for null). Knows overloaded operators (`a + b` is add, `a += b` add_,
/// `t[i]` select) and the short names of torch::linalg, torch::fft and
/// torch::special (torch::linalg::norm is linalg_norm).
const OpFacts *opFacts(const clang::FunctionDecl *Callee);
/// The same for what \p Call (may be null) calls.
const OpFacts *opFacts(const clang::CallExpr *Call);

/// The whole table, sorted by name.
llvm::ArrayRef<OpFacts> allOpFacts();

/// The operator that `a + b` and similar expressions call: "add"; empty for
/// others.
llvm::StringRef operatorName(clang::OverloadedOperatorKind Kind,
                             unsigned NumOperands);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_API_OPFACTS_H
