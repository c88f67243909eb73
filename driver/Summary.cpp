//===- Summary.cpp - How a run went, in lines of text ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Summary.h"
#include "analysis/flow/Fixpoint.h"
#include "driver/output/Reports.h"
#include "driver/project/Messages.h"
#include "llvm/ADT/STLExtras.h"

namespace libtorch_tidy::driver {

/// What was not analysed, or not in full.
static void printGaps(const Analysis &All) {
  for (const auto &[File, Trouble] : All.FailedUnits)
    tellError() << "'" << printable(File)
                << "' could not be analysed in full because "
                << printable(Trouble) << '\n';
  // Also when asked to be quiet: code that is not recognised is not checked. A
  // project can have a folder of its own with such a name, though.
  if (const auto &Units = All.UnitsWithoutTorch; !Units.empty())
    tellWarning() << counted(Units.size(), "unit")
                  << (Units.size() == 1 ? " includes" : " include")
                  << " headers called torch/, ATen/, c10/ or caffe2/ that are "
                     "not LibTorch's: no finding is possible there: '"
                  << printable(Units.front()) << "'"
                  << (Units.size() == 1 ? "\n" : " is the first\n");
  for (const GivenUpFunction &F : All.GivenUp)
    tellWarning() << "function '" << F.Name << "' (" << printable(F.Where.Path)
                  << ':' << F.Where.Line << ") " << flow::BeyondLimits << '\n';
  for (const auto &[File, Trouble] : All.Unheard)
    tellWarning() << "what '" << printable(File)
                  << "' does is not known to the other files of the program: "
                  << printable(Trouble) << '\n';
}

/// With --no-verify-fixes, the text shows fixes that --fix may yet withhold.
static void printUntried(llvm::ArrayRef<Finding> New) {
  const size_t Count = llvm::count_if(New, [](const Finding &F) {
    return !F.Fix.empty() && F.Verdict == fixits::Verdict::Unverified;
  });
  if (Count)
    llvm::errs() << "libtorch-tidy: " << counted(Count, "finding")
                 << (Count == 1 ? " has a fix that was"
                                : " have fixes that were")
                 << " not tried; --fix may withhold "
                 << (Count == 1 ? "it\n" : "some\n");
}

void printSummary(const Summary &Of) {
  const Analysis &All = Of.All;
  printGaps(All);
  // Growth that no finding explains was asked for, too.
  for (const std::string &Growth : Of.Unexplained)
    tellWarning() << "no finding explains what a run kept: " << Growth << '\n';
  if (Of.Quiet)
    return;
  printStats(All.Stats);
  if (All.SkippedUnits)
    llvm::errs() << "libtorch-tidy: " << counted(All.SkippedUnits, "unit")
                 << (All.SkippedUnits == 1 ? " includes" : " include")
                 << " no header of LibTorch, and "
                 << (All.SkippedUnits == 1 ? "was" : "were") << " skipped\n";
  unsigned Known = 0, New = 0;
  for (const Finding &F : All.Findings)
    if (F.Kind == FindingKind::Defect)
      ++(F.Known ? Known : New);
  if (Known)
    llvm::errs() << "libtorch-tidy: " << counted(New, "new finding") << " ("
                 << Known << " known in the baseline)\n";
  else if (New)
    llvm::errs() << "libtorch-tidy: " << counted(New, "finding") << '\n';
  if (!Of.AppliesFixes)
    printUntried(Of.New);
  // Of a selection, it is not known which of them belong to it.
  if (All.Weaker && !Of.IsSelection)
    llvm::errs() << "libtorch-tidy: " << counted(All.Weaker, "finding")
                 << " below this level; --level=2 shows "
                 << (All.Weaker == 1 ? "it\n" : "them\n");
}

} // namespace libtorch_tidy::driver
