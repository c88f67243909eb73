//===- Models.h - Sums and changes of models --------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What reports about models count and compare, before it is put into words.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_BUDGET_MODELS_H
#define LIBTORCH_TIDY_DRIVER_BUDGET_MODELS_H

#include "driver/budget/BudgetReport.h"
#include <vector>

namespace libtorch_tidy::driver {

/// Sums of a model in bytes; each is at least what it says when the model
/// misses something.
struct BudgetTotals {
  uint64_t ParameterCount = 0, Parameters = 0, BufferCount = 0, Buffers = 0;
  uint64_t Gradients = 0;
  /// Absent: no optimizer was named.
  std::optional<uint64_t> OptimizerState;
  uint64_t Unlisted = 0; ///< Of modules that no parameters() lists.
  uint64_t all() const {
    return Parameters + Buffers + Gradients + OptimizerState.value_or(0) +
           Unlisted;
  }
};
BudgetTotals totalsOf(llvm::ArrayRef<bytes::ModuleRow> Rows,
                      llvm::StringRef Optimizer);

/// What a module has, all below it included.
struct Subtree {
  uint64_t Parameters = 0, Bytes = 0, Kept = 0;
  bool IsIncomplete = false;
};
std::vector<Subtree> subtrees(llvm::ArrayRef<bytes::ModuleRow> Rows);

/// Has \p Model a step that does not fail?
bool hasStep(const bytes::ModelRows &Model);
/// Is nothing missing in the sums of \p Model, nor in those of its step?
bool isExact(const bytes::ModelRows &Model);
/// The class of a model, as its title has it.
llvm::StringRef classOf(llvm::StringRef Title);

/// A model before and after, as far as there is one.
struct ModelPair {
  const bytes::ModelRows *Before = nullptr, *After = nullptr;
  const bytes::RefusedModel *RefusedBefore = nullptr, *RefusedAfter = nullptr;

  bool hasBoth() const { return Before && After; }
  const bytes::ModelRows &one() const { return After ? *After : *Before; }
};

/// Pairs by title and file, by title, and then those of a class that has one
/// other title now. Files may be relative to \p Folder.
std::vector<ModelPair> pairsOf(const BudgetSides &Sides,
                               llvm::StringRef Folder);

// Of pairs that have both sides:
/// Can the steps of both be compared?
bool haveSteps(const ModelPair &P);
/// Does the step of one side fail, and the other's not?
bool stepsDiffer(const ModelPair &P);
/// Is only one side given an input, or each another one?
bool inputsDiffer(const ModelPair &P);

/// A module whose bytes, or what it keeps, changed: its own, and those of all
/// below it where it was added or removed.
struct ModuleChange {
  const bytes::ModuleRow *Before = nullptr, *After = nullptr;
  uint64_t BytesBefore = 0, BytesAfter = 0, KeptBefore = 0, KeptAfter = 0;
  bool IsIncomplete = false;
  /// By which its part of the figure of the first line changed.
  int64_t Part = 0;

  int64_t bytes() const { return int64_t(BytesAfter - BytesBefore); }
  int64_t kept() const { return int64_t(KeptAfter - KeptBefore); }
  const bytes::ModuleRow &row() const { return After ? *After : *Before; }
};
/// Those that changed of a pair that has both sides, the largest first.
std::vector<ModuleChange> modulesOf(const ModelPair &P,
                                    const BudgetOptions &Options);

/// Is there a difference? \p Modules are those that changed.
bool hasChanged(const ModelPair &P, const BudgetOptions &Options,
                llvm::ArrayRef<ModuleChange> Modules);

/// A model without an answer that no model of the other side answers. Of those
/// of before there is only what is not refused now.
struct Refusal {
  const bytes::RefusedModel *Model;
  bool IsBefore;
};
std::vector<Refusal> refusalsOf(const BudgetSides &Sides,
                                llvm::ArrayRef<ModelPair> Pairs);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_BUDGET_MODELS_H
