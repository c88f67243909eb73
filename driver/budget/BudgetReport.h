//===- BudgetReport.h - The bytes of models, for a reader -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_BUDGET_BUDGETREPORT_H
#define LIBTORCH_TIDY_DRIVER_BUDGET_BUDGETREPORT_H

#include "analysis/bytes/Bytes.h"
#include "driver/findings/Finding.h"
#include "clang/AST/ASTConsumer.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <memory>
#include <string>

namespace libtorch_tidy::driver {

enum class BudgetFormat { Text, Json };

/// What the command line says about --budget.
struct BudgetOptions : bytes::BudgetRequest {
  bool Asked = false;
  BudgetFormat Format = BudgetFormat::Text;
  /// A report as JSON: what changed since, instead; empty: not asked.
  std::string Against;
};

/// The models of an earlier report, and those of now.
struct BudgetSides {
  bytes::UnitBudget Before, After; ///< Merged.
  /// A unit could not be analysed: models that are not there may be in it.
  bool LacksBefore = false, LacksAfter = false;
  std::string Against; ///< The name of the report.
  /// What it was given with --set. Before.Names are those that it was not.
  std::vector<std::pair<std::string, std::string>> Given;
};

/// The side before, from the report that \p Options names. It is an error when
/// that cannot be read, is of another version, or was written with options that
/// give other figures.
llvm::Expected<BudgetSides> readReport(const BudgetOptions &Options,
                                       llvm::vfs::FileSystem &FS);

/// Sets the side after. Before keeps what \p Options asks for. It is an error
/// when one side was given another value for a name that both do not know.
llvm::Error addAfter(BudgetSides &Sides, bytes::UnitBudget Now, bool LacksSome,
                     const BudgetOptions &Options);

/// All that units said: each model once, as the unit has it that sees most of
/// it, and no class without an answer that is a part of a model.
bytes::UnitBudget merged(llvm::ArrayRef<bytes::UnitBudget> Units);

// Paths below a working directory are written relative to it. docs/budget.md
// describes the JSON.

/// A table for each model, and what could not be followed; or JSON, which has
/// all tensors, and \p Trouble.
std::string budgetReport(const bytes::UnitBudget &Budget,
                         const BudgetOptions &Options, const Failures &Trouble,
                         llvm::StringRef WorkingDirectory);

/// For each model what the change adds or saves, and which modules do: as text,
/// or as JSON.
std::string budgetReport(const BudgetSides &Sides, const BudgetOptions &Options,
                         llvm::StringRef WorkingDirectory);

/// One HTML file that needs nothing else, and no scripts: the sums of each
/// model, what is in use over time, and a bar per module, and \p Trouble. Equal
/// input gives equal bytes.
std::string budgetPage(const bytes::UnitBudget &Budget,
                       const BudgetOptions &Options, const Failures &Trouble,
                       llvm::StringRef WorkingDirectory);

/// Elaborates the models that \p Request asks for when the unit is parsed, and
/// leaves them in \p Answer. Nothing is left there when the unit does not
/// compile. Goes after the consumer that narrows the scope. For \p OwnText see
/// bytes::elaborate().
std::unique_ptr<clang::ASTConsumer>
createBudgetConsumer(const bytes::BudgetRequest &Request, unsigned OwnText,
                     bytes::UnitBudget &Answer);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_BUDGET_BUDGETREPORT_H
