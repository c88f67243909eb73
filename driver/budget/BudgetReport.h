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
#include <map>
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

/// The models of a revision, and those of now.
struct BudgetSides {
  bytes::UnitBudget Before, After; ///< Merged.
  /// A unit could not be analysed: models that are not there may be in it.
  bool LacksBefore = false, LacksAfter = false;
  std::string Revision, Commit; ///< As the user gave it, and its full name.
  /// What is not known of the revision, in words.
  std::vector<std::string> Unknown;
};

/// All that units said: each model once, as the unit has it that sees most of
/// it, and no class without an answer that is a part of a model.
bytes::UnitBudget merged(llvm::ArrayRef<bytes::UnitBudget> Units);

// Paths below a working directory are written relative to it. docs/budget.md
// describes the JSON.

/// A table for each model, and what could not be followed; or JSON, which has
/// all tensors.
std::string budgetReport(const bytes::UnitBudget &Budget,
                         const BudgetOptions &Options,
                         llvm::StringRef WorkingDirectory);

/// For each model what the change adds or saves, and which modules do: as text,
/// or as JSON.
std::string budgetReport(const BudgetSides &Sides, const BudgetOptions &Options,
                         llvm::StringRef WorkingDirectory);

/// One HTML file that needs nothing else, and no scripts: the sums of each
/// model, what is in use over time, and a bar per module. \p Trouble has the
/// files that could not be read in full, with the reason. Equal input gives
/// equal bytes.
std::string budgetPage(const bytes::UnitBudget &Budget,
                       const BudgetOptions &Options,
                       const std::map<std::string, std::string> &Trouble,
                       llvm::StringRef WorkingDirectory);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_BUDGET_BUDGETREPORT_H
