//===- BudgetChange.h - Models of two revisions, compared -------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_BUDGET_BUDGETCHANGE_H
#define LIBTORCH_TIDY_DRIVER_BUDGET_BUDGETCHANGE_H

#include "driver/budget/BudgetDiff.h"

namespace libtorch_tidy::driver {

/// A model before and after, as far as there is one.
struct ModelPair {
  const bytes::ModelRows *Before = nullptr, *After = nullptr;
  const bytes::RefusedModel *RefusedBefore = nullptr, *RefusedAfter = nullptr;
};

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

/// A figure of both sides.
struct Figure {
  std::string Name;
  uint64_t Before = 0, After = 0;
  std::string Note;
  int64_t difference() const { return int64_t(After - Before); }
};

/// Can the steps of both be compared?
bool haveSteps(const ModelPair &P);
/// Does the step of one side fail, and the other's not?
bool stepsDiffer(const ModelPair &P);
/// Is only one side given an input, or each another one?
bool inputsDiffer(const ModelPair &P);
bool isExact(const bytes::ModelRows &Model);
/// The class of \p Model, as its title has it.
llvm::StringRef classOf(const bytes::ModelRows &Model);

/// Pairs by title, and then those of a class that has one other title now.
std::vector<ModelPair> pairsOf(const BudgetSides &Sides);

/// Those that changed of a pair that has both sides, the largest first.
std::vector<ModuleChange> modulesOf(const ModelPair &P,
                                    const BudgetOptions &Options);

/// The figures of both sides: all that one of them has.
std::vector<Figure> figuresOf(const ModelPair &P, const BudgetOptions &Options,
                              llvm::StringRef Folder);

bool hasChanged(const ModelPair &P, llvm::ArrayRef<Figure> Figures,
                llvm::ArrayRef<ModuleChange> Modules);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_BUDGET_BUDGETCHANGE_H
