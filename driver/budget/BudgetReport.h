//===- BudgetReport.h - The bytes of models, for a reader -------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_BUDGET_BUDGETREPORT_H
#define LIBTORCH_TIDY_DRIVER_BUDGET_BUDGETREPORT_H

#include "analysis/bytes/Bytes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace libtorch_tidy::driver {

enum class BudgetFormat { Text, Json };

/// What the command line says about --budget.
struct BudgetOptions {
  bool Asked = false;
  std::string Model;     ///< Empty: all.
  std::string Optimizer; ///< One that bytes::optimizerCopies() knows; or empty.
  /// Of forward(), as bytes::parseInputText() takes them; empty: those that the
  /// program passes.
  std::vector<std::string> Inputs;
  uint64_t Memory = 0; ///< In bytes, of the device; 0: not given.
  bytes::DeviceKind Device = bytes::DeviceKind::Cpu;
  std::string Type;     ///< That models are converted to; empty: not at all.
  std::string Autocast; ///< Its type; empty: off.
  BudgetFormat Format = BudgetFormat::Text;
  /// What changed since this revision of git, instead.
  std::optional<std::string> Revision;
};

/// Sums of a model in bytes; each is at least what it says when the model
/// misses something.
struct BudgetTotals {
  uint64_t ParameterCount = 0, Parameters = 0, BufferCount = 0, Buffers = 0;
  uint64_t Gradients = 0;
  /// Absent: no optimizer was named.
  std::optional<uint64_t> OptimizerState;
  uint64_t Unlisted = 0; ///< Of modules that no parameters() lists.
  uint64_t all() const;
};
BudgetTotals totalsOf(const bytes::ModelRows &Model, llvm::StringRef Optimizer);
BudgetTotals totalsOf(llvm::ArrayRef<bytes::ModuleRow> Rows,
                      llvm::StringRef Optimizer);

/// All that units said: each model once, as the unit has it that sees most of
/// it, and no class without an answer that is a part of a model.
bytes::UnitBudget merged(llvm::ArrayRef<bytes::UnitBudget> Units);

/// A table for each model, and what could not be followed. Paths below
/// \p WorkingDirectory are written relative to it.
std::string budgetAsText(const bytes::UnitBudget &Budget,
                         const BudgetOptions &Options,
                         llvm::StringRef WorkingDirectory);
/// The same as JSON, with all tensors; docs/budget.md describes it.
std::string budgetAsJson(const bytes::UnitBudget &Budget,
                         const BudgetOptions &Options,
                         llvm::StringRef WorkingDirectory);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_BUDGET_BUDGETREPORT_H
