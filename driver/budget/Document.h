//===- Document.h - What is said about models, in any form ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What reports about models count and compare (Models.cpp); and a report, made
/// once and written as text or as a page: a section for each model, of blocks.
/// All text in it is printable; none is escaped.

#ifndef LIBTORCH_TIDY_DRIVER_BUDGET_DOCUMENT_H
#define LIBTORCH_TIDY_DRIVER_BUDGET_DOCUMENT_H

#include "driver/budget/BudgetReport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
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

/// What several modules have together.
struct Subtree {
  uint64_t Parameters = 0, Bytes = 0, Kept = 0;
  bool IsIncomplete = false;
};
/// For each module what it has, all below it included.
std::vector<Subtree> subtrees(llvm::ArrayRef<bytes::ModuleRow> Rows);

/// Has \p Model a step that does not fail?
inline bool hasStep(const bytes::ModelRows &Model) {
  return Model.HasStep && !Model.Step.Fails;
}
using bytes::Bound;
inline Bound boundOf(const Subtree &Sums) {
  return Sums.IsIncomplete ? Bound::AtLeast : Bound::Exact;
}
/// Of the sums of \p Model: something may be missing.
inline Bound boundOf(const bytes::ModelRows &Model) {
  return Model.Missing.empty() ? Bound::Exact : Bound::AtLeast;
}
/// Of what a step of it takes, by itself \p Own: what the model lacks is
/// missing there, too.
inline Bound withModel(const bytes::ModelRows &Model, Bound Own) {
  return Model.Missing.empty() ? Own : bytes::lacking(Own);
}
inline Bound stepBoundOf(const bytes::ModelRows &Model) {
  return withModel(Model, Model.Step.bound());
}
/// Of its first step, and of later ones.
inline Bound trainingBoundOf(const bytes::ModelRows &Model) {
  return withModel(Model, Model.Step.boundOfTraining());
}
/// Is nothing missing in the sums of \p Model, nor too much in those of its
/// step?
inline bool isExact(const bytes::ModelRows &Model) {
  return Model.Missing.empty() &&
         (!hasStep(Model) || stepBoundOf(Model) == Bound::Exact);
}
/// The class of a model, as its title has it.
inline llvm::StringRef classOf(llvm::StringRef Title) {
  return Title.split('(').first;
}

/// That the report called \p Name was written \p How, "with --optimizer=adam".
llvm::Error writtenOtherwise(const std::string &Name, const std::string &How);

/// A model before and after, as far as there is one.
struct ModelPair {
  const bytes::ModelRows *Before = nullptr, *After = nullptr;
  /// What the side that has none says of it, if anything.
  const bytes::RefusedModel *Refused = nullptr;

  bool hasBoth() const { return Before && After; }
  const bytes::ModelRows &one() const { return After ? *After : *Before; }

  // Of a pair that has both sides:
  /// Can the steps of both be compared?
  bool haveSteps() const { return hasStep(*Before) && hasStep(*After); }
  /// Does the step of one side fail, and the other's not?
  bool stepsDiffer() const {
    return Before->HasStep && After->HasStep &&
           Before->Step.Fails != After->Step.Fails;
  }
  /// Is only one side given an input, or each another one?
  bool inputsDiffer() const {
    return Before->HasStep != After->HasStep ||
           (After->HasStep &&
            Before->Step.InputTexts != After->Step.InputTexts);
  }
};

/// Pairs by title and file, by title, and then those of a class that has one
/// other title now. Files may be relative to \p Folder.
std::vector<ModelPair> pairsOf(const BudgetSides &Sides,
                               llvm::StringRef Folder);

/// A module whose bytes, or what it keeps, changed: its own, and those of all
/// below it where it was added or removed.
struct ModuleChange {
  const bytes::ModuleRow *Before = nullptr, *After = nullptr;
  Subtree Then, Now; ///< Kept is 0 unless the steps can be compared.
  /// By which its part of the figure of the first line changed.
  int64_t Part = 0;

  int64_t bytes() const { return int64_t(Now.Bytes - Then.Bytes); }
  int64_t kept() const { return int64_t(Now.Kept - Then.Kept); }
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

/// A line of sums.
struct Total {
  std::string Name;
  uint64_t Bytes;
  std::string Note = {};
  /// Of a part of all that lasts; empty: a sum of others, or of a step.
  llvm::StringRef Style = {};
  bool IsTraining = false;   ///< Of a step with backward().
  Bound Says = Bound::Exact; ///< In a report of one side.
};

/// What is known, or not, about a place.
struct Remark {
  std::string About; ///< A model, or nothing.
  std::string Where; ///< "net.cpp:12", or nothing.
  std::string Text;
};

struct Block {
  enum Kind : unsigned char {
    Said,    ///< Sentences.
    Answer,  ///< The sentence that the user asked for.
    Failure, ///< A sentence, and the remark that says why.
    Sums,    ///< Totals below a sentence that only the page has.
    Missing, ///< A sentence, and the remarks that it announces.
    Rows,    ///< A table; the page draws its own.
  };
  Kind Is;
  std::vector<std::string> Sentences;
  std::vector<Remark> Remarks = {};
  std::vector<Total> Totals = {};
  std::string Table = {};
  bool Follows = false; ///< As text, no empty line is in front of it.
};

struct Section {
  std::string Title;
  std::vector<Block> Blocks;
  const bytes::ModelRows *Model = nullptr;
  /// Of Model: what it is made of, and the sum.
  const std::vector<Total> &totals() const {
    return llvm::find_if(Blocks,
                         [](const Block &B) { return B.Is == Block::Sums; })
        ->Totals;
  }
};

struct Document {
  std::vector<Section> Sections;
  std::vector<Remark> Unanswered;
};

Document documentOf(const bytes::UnitBudget &Budget,
                    const BudgetOptions &Options, llvm::StringRef Folder);
Document documentOf(const BudgetSides &Sides, const BudgetOptions &Options,
                    llvm::StringRef Folder);
std::string asText(const Document &D);

/// \p Number without its sign. A report can hold any number.
inline uint64_t magnitude(int64_t Number) {
  return Number < 0 ? 0 - uint64_t(Number) : uint64_t(Number);
}

// Words that several of them have:
/// 1,234,567
std::string grouped(uint64_t Number);
/// 12, >=12, <=12 or ?.
std::string bounded(Bound Says, const std::string &Number);
/// The same in words: "at least 12 KB".
std::string boundedInWords(Bound Says, const std::string &Number);
/// "net.cpp:12", relative to \p Folder; empty for an empty place.
std::string lineOf(const bytes::Spot &At, llvm::StringRef Folder);
/// "in the backward pass of layer1.conv1 (net.cpp:12)"
std::string placeOf(const bytes::PeakRow &Peak, llvm::StringRef Folder);
/// The model, and what it was converted to.
std::string modelTitle(const bytes::ModelRows &Model,
                       const BudgetOptions &Options);
/// Of the model itself; the last is all of them together.
std::vector<Total> modelTotals(const bytes::ModelRows &Model,
                               const BudgetOptions &Options);
/// Of a step that does not fail.
std::vector<Total> stepTotals(const bytes::StepRows &Step,
                              llvm::StringRef Folder);
Remark remarkOf(const bytes::RefusedModel &M, llvm::StringRef Folder);

// The parts of a section that a change has as well:
Block rowsBlock(std::string Table);
/// "A step with an input of 2x3 gives 2x10.", or that it fails, and why.
Block stepBlock(const bytes::StepRows &Step, const BudgetOptions &Options,
                llvm::StringRef Folder);
Block missingBlock(const std::string &Sentence,
                   llvm::ArrayRef<bytes::MissingRow> Missing,
                   llvm::StringRef Folder);
/// Which batch fits into the memory that was asked about.
std::string batchSentence(const bytes::StepRows &Step,
                          const BudgetOptions &Options);
/// Why there is no step, and what to give for one.
std::string noStepSentence(const bytes::ModelRows &Model,
                           const BudgetOptions &Options,
                           llvm::StringRef Folder);
/// What an estimate leaves out; empty where figures are none.
llvm::StringRef estimateSentence(bytes::DeviceKind Device);

/// The cells of one line of a table; those at its end that it lacks are empty.
using Cells = std::vector<std::string>;
/// Columns of text, each as wide as its widest cell. \p Sides has a letter for
/// each: 'l' if its cells stand to the left, else 'r'. A last line is about the
/// \p Missing modules that are not there.
std::string inColumns(llvm::StringRef Sides, llvm::ArrayRef<Cells> Lines,
                      size_t Missing = 0);

/// A pass over a model, to be drawn.
struct PassPicture {
  std::string Name; ///< "a later training step"
  const std::vector<bytes::TimeRow> &Line;
  const bytes::PeakRow &Peak;
  /// What is in use during the whole pass, with styles, from below.
  std::vector<Total> Floor;
  Bound Says;
};

/// An HTML figure with the line as SVG, its legend, and the places where most
/// is in use. Says so if there is nothing to draw.
void writeTimeLine(llvm::raw_ostream &OS, const PassPicture &Pass,
                   const std::vector<bytes::PlaceRow> &Places,
                   llvm::StringRef Folder);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_BUDGET_DOCUMENT_H
