//===- FixTrials.cpp - Tries the fixes of a unit --------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/engine/FixTrials.h"
#include "llvm/ADT/STLExtras.h"

namespace libtorch_tidy::driver {

static fixits::Spot spotOf(const Finding &F) {
  return {F.Check, F.Where.Path, F.Where.Begin, F.Message};
}

/// What the verifier is to know of an analysis.
static fixits::Reaction reactionOf(const UnitResult &Unit) {
  fixits::Reaction Result;
  for (const Finding &F : Unit.Findings)
    switch (F.Kind) {
    case FindingKind::Defect:
      Result.Found.push_back(spotOf(F));
      break;
    case FindingKind::CompileError:
      Result.Problems.push_back(F.Message + " [" + F.Check + "]");
      break;
    case FindingKind::Configuration:
      break;
    }
  return Result;
}

void tryFixes(UnitResult &Result,
              llvm::function_ref<FileSystem()> NewFileSystem,
              llvm::function_ref<UnitResult(FileSystem)> Again) {
  std::vector<fixits::Proposal> Proposals;
  std::vector<Finding *> Proposing; // By proposal.
  for (Finding &F : Result.Findings)
    if (F.Kind == FindingKind::Defect && !F.Fix.empty()) {
      Proposals.push_back({spotOf(F), F.Fix});
      Proposing.push_back(&F);
    }
  if (Proposals.empty())
    return;

  // In a later round of --fix they are not as on disk.
  FileSystem FS = NewFileSystem();
  fixits::FileTexts Start;
  for (const fixits::Proposal &P : Proposals)
    for (const auto &[Path, Edits] : P.Edits)
      if (auto Text = FS->getBufferForFile(Path, /*FileSize=*/-1,
                                           /*RequiresNullTerminator=*/false))
        Start.try_emplace(Path, (*Text)->getBuffer().str());

  fixits::Verifier Trial(Start, [&](const fixits::FileTexts &Texts) {
    return reactionOf(Again(withTexts(NewFileSystem(), Texts)));
  });
  std::vector<fixits::Judgement> Judged;
  for (auto [P, F] : llvm::zip_equal(Proposals, Proposing)) {
    Judged.push_back(Trial.judge(P));
    F->Verdict = Judged.back().What;
    F->WhyNot = Judged.back().Reason;
    if (F->Verdict == fixits::Verdict::Rejected)
      F->Fix.clear();
  }
  if (Proposals.size() > 1)
    for (auto &[I, Reason] : Trial.select(Proposals, Judged).LeftOut)
      Proposing[I]->NotWithOthers = std::move(Reason);
}

} // namespace libtorch_tidy::driver
