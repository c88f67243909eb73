//===- FixRounds.cpp - Fixes, tried and applied ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/engine/FixRounds.h"
#include "driver/project/Messages.h"
#include "driver/project/OutputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/WithColor.h"
#include <algorithm>

using llvm::Error;
using llvm::StringRef;

namespace libtorch_tidy::driver {

static fixits::Spot spotOf(const Finding &F) {
  return {F.Check, F.Where.Path, F.Where.Begin, F.Message, F.Fix, F.Function};
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
      Result.Problems.push_back(spotOf(F));
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
    if (proposesFix(F)) {
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

  fixits::Verifier Trial(
      Start, reactionOf(Result).Found, [&](const fixits::FileTexts &Texts) {
        return reactionOf(Again(withTexts(NewFileSystem(), Texts)));
      });
  const std::vector<fixits::Judgement> Judged = Trial.judge(Proposals);
  for (auto [J, F] : llvm::zip_equal(Judged, Proposing)) {
    F->Verdict = J.What;
    F->WhyNot = J.Reason;
    F->Fix = J.Edits;
  }
  if (Proposals.size() > 1)
    for (auto &[I, Reason] : Trial.select(Proposals, Judged).LeftOut)
      Proposing[I]->NotWithOthers = std::move(Reason);
}

std::string placeOf(const Finding &F) {
  return F.Where.Path + ":" + std::to_string(F.Where.Line) + ":" +
         std::to_string(F.Where.Column);
}

fixits::FileEdits FixRounds::choose(llvm::ArrayRef<Finding> Findings) {
  fixits::FileEdits Result;
  for (const Finding &F : Findings) {
    if (F.Kind != FindingKind::Defect || F.Known || F.Fix.empty() ||
        (Options.OnlyVerified && F.Verdict != fixits::Verdict::Verified))
      continue;
    ++Suggested;
    // The next round sees whether it is still wanted.
    Finding Waits = F;
    if (Waits.NotWithOthers.empty() && !fixits::mergeEdits(Result, F.Fix))
      Waits.NotWithOthers = "it changes the same place as another fix";
    if (Waits.NotWithOthers.empty())
      ++Applied;
    else
      noteWithheld(Waits);
  }
  return Result;
}

void FixRounds::noteWithheld(const Finding &F) {
  Notes.push_back(placeOf(F) + ": " + whyWithheld(F) + " [" + F.Check + "]");
}

void FixRounds::run(std::vector<Finding> Findings, Analyse Again,
                    unsigned Rounds) {
  unsigned Left = 0;
  for (unsigned Round = 0; Round < Rounds; ++Round) {
    // What was in the way of a fix may be gone: the last round is what counts.
    Notes.clear();
    for (const Finding &F : Findings)
      if (F.Verdict == fixits::Verdict::Rejected && !F.Known)
        noteWithheld(F);
    const unsigned Before = Applied, SuggestedBefore = Suggested;
    fixits::FileEdits Edits = choose(Findings);
    // What was left for later comes back, and was counted then.
    const unsigned Now = Suggested - SuggestedBefore;
    Suggested -= std::min(Now, Left);
    Left = Now - (Applied - Before);
    if (Edits.empty())
      return;
    fixits::FileTexts Next = Changed;
    for (const auto &[Path, Changes] : Edits)
      if (!Next.count(Path))
        if (const SourceText *Text = Texts.get(Path))
          Next[Path] = Text->text().str();
    if (Error E = fixits::applyEdits(Next, Edits)) {
      Notes.push_back("fixes are not applied: " + llvm::toString(std::move(E)));
      Applied = Before;
      return;
    }
    std::optional<std::vector<Finding>> After = Again(Next);
    if (!After) {
      Notes.push_back("fixes are not applied: each compiles in its unit, but "
                      "not all of them together");
      Applied = Before;
      return;
    }
    Changed = std::move(Next);
    Findings = std::move(*After);
  }
}

/// The name of a file in a unified diff, as git and GNU's patch read it: a tab
/// ends a name that has spaces, and others stand in quotes.
static std::string nameInDiff(StringRef Path) {
  auto IsControl = [](char C) { return static_cast<unsigned char>(C) < 0x20; };
  if (llvm::none_of(
          Path, [&](char C) { return C == '"' || C == '\\' || IsControl(C); }))
    return (Path + (Path.contains(' ') ? "\t" : "")).str();
  std::string Result;
  llvm::raw_string_ostream OS(Result);
  OS << '"';
  for (char C : Path)
    if (C == '"' || C == '\\')
      OS << '\\' << C;
    else if (IsControl(C))
      OS << llvm::format("\\%03o", static_cast<unsigned char>(C));
    else
      OS << C;
  OS << '"';
  return OS.str();
}

bool FixRounds::printDiff() const {
  auto Fail = [](const llvm::Twine &Message) {
    tellError() << Message << '\n';
    return false;
  };
  llvm::ErrorOr<std::string> Diff = llvm::sys::findProgramByName("diff");
  if (!Diff)
    return Fail("--fix-dry-run needs the program diff, which is not in PATH");
  for (const auto &[Path, Text] : Changed) {
    int FD;
    llvm::SmallString<128> Temporary;
    if (std::error_code EC = llvm::sys::fs::createTemporaryFile(
            "libtorch-tidy", "fixed", FD, Temporary))
      return Fail("cannot write a temporary file: " + EC.message());
    llvm::FileRemover Remover(Temporary);
    {
      llvm::raw_fd_ostream OS(FD, /*shouldClose=*/true);
      OS << Text;
      OS.flush();
      if (std::error_code EC = OS.error()) {
        OS.clear_error(); // Else it ends the process.
        return Fail("cannot write '" + Temporary + "': " + EC.message());
      }
    }
    llvm::outs().flush();
    const std::string Name = nameInDiff(Path);
    // 1: they differ.
    if (llvm::sys::ExecuteAndWait(*Diff, {*Diff, "-u", "--label", Name,
                                          "--label", Name, Path, Temporary}) !=
        1)
      return Fail("cannot print what fixes would change: diff failed");
  }
  return true;
}

bool writeSources(const fixits::FileTexts &Changed, SourceTexts &Texts,
                  StringRef WhatNot) {
  bool Good = true;
  for (const auto &[Path, Text] : Changed) {
    const SourceText *Analysed = Texts.get(Path);
    auto OnDisk = llvm::MemoryBuffer::getFile(Path, /*IsText=*/false,
                                              /*RequiresNullTerminator=*/false);
    std::string Problem;
    if (!Analysed || !OnDisk || (*OnDisk)->getBuffer() != Analysed->text()) {
      Problem =
          "'" + Path + "' has changed since it was analysed: " + WhatNot.str();
    } else if (llvm::Expected<OutputFile> File = OutputFile::openSource(Path);
               !File) {
      Problem = llvm::toString(File.takeError());
    } else if (Error E = File->write(Text)) {
      Problem = llvm::toString(std::move(E));
    }
    if (Problem.empty())
      continue;
    tellError() << printable(Problem) << '\n';
    Good = false;
  }
  return Good;
}

bool FixRounds::finish(bool Quiet) {
  for (const std::string &Note : Notes)
    llvm::WithColor::note(llvm::errs(), "libtorch-tidy")
        << printable(Note) << '\n';
  const bool Good = Options.DryRun ? printDiff()
                                   : writeSources(Changed, Texts,
                                                  "its fixes are not applied");
  if (Suggested && Good && !Quiet)
    llvm::errs() << "libtorch-tidy "
                 << (Options.DryRun ? "would apply " : "applied ") << Applied
                 << " of " << Suggested << " suggested fixes.\n";
  return Good;
}

} // namespace libtorch_tidy::driver
