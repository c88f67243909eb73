//===- Finding.h - What was found, as pure data -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_FINDINGS_FINDING_H
#define LIBTORCH_TIDY_DRIVER_FINDINGS_FINDING_H

#include "checks/base/Catalog.h"
#include "fixits/Verifier.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace libtorch_tidy::driver {

/// A range of bytes in a file. \p Path is absolute with symbolic links
/// resolved, so that one file has one spelling; empty for things that have no
/// place. Line and column are those of \p Begin, from 1, in bytes.
struct Place {
  std::string Path;
  unsigned Begin = 0;
  unsigned End = 0; ///< One past the last byte.
  unsigned Line = 0;
  unsigned Column = 0;
  /// The file as the compiler names it, for those who read clang-tidy's forms.
  std::string Spelled;
};

/// Lines of the file that a finding is in, from 1, both included.
struct LineRange {
  unsigned First = 0, Last = 0;
};

/// What makes what a finding says is kept; see libtorch_tidy::Finding.
struct Makers {
  std::optional<LineRange> Lines;
  /// Where something is made, be it kept or not, whenever the defect runs.
  std::optional<LineRange> Runs;
  std::vector<std::string> Constructors; ///< "ns::Net::Net".
};

/// What clang-tidy's text underlines. Without a file when it is in a macro.
struct Highlight {
  std::string Spelled; ///< As that of a place.
  unsigned Begin = 0, Length = 0;
};

/// One step of the path that leads to a finding, in execution order.
struct FindingStep {
  Place Where;
  std::string Text;
  // Only the notes of the compiler have these.
  std::vector<Highlight> Highlights = {};
  fixits::FileEdits Fix = {};
};

/// A reason of a check that applied: a row of its table, by name.
struct FindingReason {
  std::string Name;
  std::string Detail; ///< What it is about, or empty.
};

/// What a check says of a place where it reports nothing.
struct Silence {
  std::string Check;
  Place Where; ///< Without a column.
  FindingReason Why;
};

/// What a run of the program kept of what was made somewhere; see WatchedRun.
struct Measured {
  double Bytes = 0;  ///< Of tensors, in each step.
  double Nodes = 0;  ///< Of autograd graphs, in each step.
  std::string Steps; ///< What the program calls them.
  /// The figures are of a sample that was taken for the whole.
  bool IsEstimate = false;
};

/// "65,792 bytes and 7 graph nodes in each step of 'epoch'".
std::string amountInWords(const Measured &M);

enum class FindingKind : unsigned char {
  Defect,        ///< A check of ours speaks.
  CompileError,  ///< The compiler speaks: the unit is not analysed in full.
  Configuration, ///< A bad option value or a malformed NOLINT comment.
};

/// Independent of Clang.
struct Finding {
  FindingKind Kind = FindingKind::Defect;
  std::string Check;
  Level Strength = Level::Likely; ///< Of a defect.
  bool AsError = false;           ///< Raised by WarningsAsErrors.
  bool IsError = false; ///< An error in itself; none of our checks has these.
  std::string Message;
  Place Where;
  std::vector<Highlight> Highlights;
  /// The qualified name of the function around it, which of nested ones is the
  /// outermost; empty outside functions.
  std::string Function;
  std::optional<uint64_t> Bytes;      ///< See libtorch_tidy::Finding.
  std::vector<FindingReason> Reasons; ///< For its level, and for no fix.
  std::vector<FindingStep> Steps;
  /// Other defects of the same cause, which it stands for: what collects the
  /// results of a pass without a guard. Steps have them, too, but for those
  /// that a long story leaves out.
  std::vector<FindingStep> Members;
  fixits::FileEdits Fix; ///< By canonical path; empty when rejected.
  fixits::Verdict Verdict = fixits::Verdict::Unverified;
  std::string WhyNot; ///< Of a fix that was rejected.
  /// Of a fix that is right alone but not together with others of its unit.
  std::string NotWithOthers;
  std::string Unit; ///< The source file whose analysis found it; canonical.
  std::string Directory;             ///< Where that is compiled.
  bool Known = false;                ///< The baseline holds it.
  std::optional<Measured> Confirmed; ///< By a run of the program.
  Makers MadeBy;                     ///< What is kept.
};

/// Does \p F say how to mend a defect?
inline bool proposesFix(const Finding &F) {
  return F.Kind == FindingKind::Defect && !F.Fix.empty();
}

/// Why the fix of \p F is not offered, or not applied with the others of its
/// unit, in the words of all outputs; empty where nothing is in its way.
std::string whyWithheld(const Finding &F);

/// The steps of \p F that have a place.
inline auto placedSteps(const Finding &F) {
  return llvm::make_filter_range(
      F.Steps, [](const FindingStep &S) { return !S.Where.Path.empty(); });
}

/// Units that could not be analysed in full, as canonical paths: why, in words.
using Failures = std::map<std::string, std::string>;

/// A function that is beyond the limits of the analysis: findings that depend
/// on where values go in it are not made.
struct GivenUpFunction {
  std::string Name; ///< Qualified.
  Place Where;      ///< Of its name, without a column.
};

/// Orders findings by place, check and message, and keeps one of those that
/// several units report for the same header: of the strongest level, and of the
/// first unit that has it. Units that know different bytes of what one check
/// says of one place make one finding, of the most.
std::vector<Finding> mergeFindings(std::vector<Finding> Findings);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_FINDINGS_FINDING_H
