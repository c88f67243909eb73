//===- BudgetParts.h - What forms of --budget share -------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The words, numbers and rows that the text about models, the page about them
/// and the report of a change have in common.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_BUDGET_BUDGETPARTS_H
#define LIBTORCH_TIDY_DRIVER_BUDGET_BUDGETPARTS_H

#include "driver/budget/BudgetReport.h"
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace libtorch_tidy::driver {

/// What a module has, all below it included.
struct Subtree {
  uint64_t Parameters = 0, Bytes = 0, Kept = 0;
  bool IsIncomplete = false;
};
std::vector<Subtree> subtrees(llvm::ArrayRef<bytes::ModuleRow> Rows);
/// The first row of \p Rows after row \p At that is not below it.
size_t endOfSubtree(llvm::ArrayRef<bytes::ModuleRow> Rows, size_t At);

/// A line of sums.
struct Total {
  enum Kind : unsigned char { Parameters, Buffers, Gradients, State, Unlisted };
  std::string Name;
  uint64_t Bytes;
  std::string Note = {};
  /// What it is of all that lasts; absent: a sum of others, or of a step.
  std::optional<Kind> Part = std::nullopt;
};
/// Of the model itself; the last is all of them together.
std::vector<Total> modelTotals(const bytes::ModelRows &Model,
                               const BudgetOptions &Options);
/// Has it a step that does not fail?
bool hasStep(const bytes::ModelRows &Model);
/// Of such a step.
std::vector<Total> stepTotals(const bytes::StepRows &Step,
                              llvm::StringRef Folder);

/// The model, and what it was converted to.
std::string modelTitle(const bytes::ModelRows &Model,
                       const BudgetOptions &Options);
/// "A step with an input of 2x3 gives 2x10.", or that it "fails:".
std::string stepSentence(const bytes::StepRows &Step,
                         const BudgetOptions &Options, llvm::StringRef Folder);
/// What figures for a GPU leave out.
inline constexpr llvm::StringLiteral EstimateSentence =
    "On a GPU this is an estimate: the memory that its kernels need for "
    "themselves is not known.";
/// Which batch fits into the memory that was asked about.
std::string batchSentence(int64_t Largest, const BudgetOptions &Options);

/// The same without a step.
inline constexpr llvm::StringLiteral NoInputSentence =
    "Which batch fits is not known: nothing here passes an input whose sizes "
    "are known. Give it with --input.";

/// "net.cpp:12", relative to \p Folder; empty for an empty place.
std::string lineOf(const bytes::Spot &At, llvm::StringRef Folder);
/// "in the backward pass of layer1.conv1 (net.cpp:12)"
std::string placeOf(const bytes::PeakRow &Peak, llvm::StringRef Folder);
/// 1,234,567
std::string grouped(uint64_t Number);

/// >=12 if it \p Is only at least that.
std::string atLeast(bool Is, const std::string &Number);
/// Places that the sums lack something from, a line each.
std::string missingText(llvm::ArrayRef<bytes::MissingRow> Missing,
                        llvm::StringRef Folder);
/// Its `file` and `line`.
nlohmann::ordered_json asJson(const bytes::Spot &At, llvm::StringRef Folder);
/// A model without an answer, in a line. \p When: " in HEAD", or nothing.
std::string refusedText(const bytes::RefusedModel &M, const std::string &When,
                        llvm::StringRef Folder);
nlohmann::ordered_json asJson(const bytes::RefusedModel &M,
                              llvm::StringRef Folder);
/// A model as docs/budget.md describes it.
nlohmann::ordered_json asJson(const bytes::ModelRows &Model,
                              const BudgetOptions &Options,
                              llvm::StringRef Folder);

/// Columns of text, each as wide as its widest cell.
class Columns {
public:
  using Line = std::vector<std::string>;
  /// A letter for each column: 'l' if its cells stand to the left, else 'r'.
  explicit Columns(llvm::StringRef Sides) : Sides(Sides) {}
  /// Cells that \p L lacks are empty.
  void add(Line L) { Lines.push_back(std::move(L)); }
  std::string print() const;

private:
  const std::string Sides;
  std::vector<Line> Lines;
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_BUDGET_BUDGETPARTS_H
