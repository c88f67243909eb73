//===- FixTrials.cpp - Tries the fixes of a unit --------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/engine/FixTrials.h"
#include "driver/engine/EditedFiles.h"

using clang::tidy::ClangTidyError;
using clang::tooling::Replacement;

namespace libtorch_tidy::driver {

using FileSystem = llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem>;

/// What the verifier is to know of an analysis.
static fixits::Reaction reactionOf(const UnitResult &Unit,
                                   llvm::vfs::FileSystem &FS) {
  fixits::Reaction Result;
  for (const ClangTidyError &E : Unit.Errors)
    switch (kindOf(E)) {
    case FindingKind::Defect:
      Result.Found.push_back(
          {E.DiagnosticName,
           canonicalPath(E.Message.FilePath, E.BuildDirectory, FS),
           E.Message.FileOffset, E.Message.Message});
      break;
    case FindingKind::CompileError:
      Result.Problems.push_back(E.Message.Message + " [" + E.DiagnosticName +
                                "]");
      break;
    case FindingKind::Configuration:
      break;
    }
  return Result;
}

void tryFixes(UnitResult &Result,
              llvm::function_ref<FileSystem()> NewFileSystem,
              llvm::function_ref<UnitResult(FileSystem)> Again) {
  FileSystem FS = NewFileSystem();
  if (!FS)
    return;
  std::vector<fixits::Proposal> Proposals;
  std::vector<size_t> Errors; // By proposal.
  for (const ClangTidyError &E : Result.Errors) {
    if (kindOf(E) != FindingKind::Defect || E.Message.Fix.empty())
      continue;
    fixits::Proposal P;
    P.Of = {E.DiagnosticName,
            canonicalPath(E.Message.FilePath, E.BuildDirectory, *FS),
            E.Message.FileOffset, E.Message.Message};
    for (const auto &File : E.Message.Fix)
      for (const Replacement &R : File.second) {
        std::string Path =
            canonicalPath(R.getFilePath(), E.BuildDirectory, *FS);
        llvm::consumeError(P.Edits[Path].add(Replacement(
            Path, R.getOffset(), R.getLength(), R.getReplacementText())));
      }
    Errors.push_back(&E - Result.Errors.data());
    Proposals.push_back(std::move(P));
  }
  if (Proposals.empty())
    return;

  // In a later round of --fix they are not as on disk.
  fixits::FileTexts Start;
  for (const fixits::Proposal &P : Proposals)
    for (const auto &[Path, Edits] : P.Edits)
      if (auto Text = FS->getBufferForFile(Path, /*FileSize=*/-1,
                                           /*RequiresNullTerminator=*/false))
        Start.try_emplace(Path, (*Text)->getBuffer().str());

  fixits::Verifier Trial(Start, [&](const fixits::FileTexts &Texts) {
    return reactionOf(Again(withTexts(NewFileSystem(), Texts)), *FS);
  });
  Result.Trials.resize(Result.Errors.size());
  std::vector<fixits::Judgement> Judged;
  for (size_t I = 0; I < Proposals.size(); ++I) {
    Judged.push_back(Trial.judge(Proposals[I]));
    Result.Trials[Errors[I]].Alone = Judged.back();
    if (Judged.back().What == fixits::Verdict::Rejected)
      Result.Errors[Errors[I]].Message.Fix.clear();
  }
  if (Proposals.size() > 1)
    for (auto &[I, Reason] : Trial.select(Proposals, Judged).LeftOut)
      Result.Trials[Errors[I]].NotWithOthers = std::move(Reason);
}

} // namespace libtorch_tidy::driver
