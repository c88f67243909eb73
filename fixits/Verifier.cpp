//===- Verifier.cpp - Does a fix do what it promises ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fixits/Verifier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <numeric>
#include <set>

using clang::tooling::Replacement;
using clang::tooling::Replacements;
using llvm::Error;
using llvm::StringRef;

namespace libtorch_tidy::fixits {

bool mergeEdits(FileEdits &Into, const FileEdits &From) {
  FileEdits Merged = Into;
  for (const auto &[Path, Edits] : From)
    for (const Replacement &R : Edits) {
      // The same edit twice is one: two findings can ask for it.
      if (llvm::is_contained(Merged[Path], R))
        continue;
      if (Error E = Merged[Path].add(R)) {
        llvm::consumeError(std::move(E));
        return false;
      }
    }
  Into = std::move(Merged);
  return true;
}

std::string withLineEndsOf(StringRef File, StringRef Text) {
  size_t First = File.find('\n');
  bool Windows =
      First != StringRef::npos && First > 0 && File[First - 1] == '\r';
  if (!Windows)
    return Text.str();
  std::string Result;
  for (size_t I = 0; I < Text.size(); ++I) {
    if (Text[I] == '\n' && (I == 0 || Text[I - 1] != '\r'))
      Result += '\r';
    Result += Text[I];
  }
  return Result;
}

/// \p Edits with the line ends of the files, which are read into \p Texts.
static llvm::Expected<FileEdits> withLineEnds(FileTexts &Texts,
                                              const FileEdits &Edits) {
  FileEdits Result;
  for (const auto &[Path, Changes] : Edits) {
    auto It = Texts.find(Path);
    if (It == Texts.end()) {
      auto Buffer =
          llvm::MemoryBuffer::getFile(Path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
      if (!Buffer)
        return llvm::createStringError(Buffer.getError(), "cannot read '%s'",
                                       Path.c_str());
      It = Texts.emplace(Path, (*Buffer)->getBuffer().str()).first;
    }
    for (const Replacement &R : Changes)
      if (Error E = Result[Path].add(
              Replacement(R.getFilePath(), R.getOffset(), R.getLength(),
                          withLineEndsOf(It->second, R.getReplacementText()))))
        return E;
  }
  return Result;
}

Error applyEdits(FileTexts &Texts, const FileEdits &Edits) {
  llvm::Expected<FileEdits> Fitting = withLineEnds(Texts, Edits);
  if (!Fitting)
    return Fitting.takeError();
  for (const auto &[Path, Changes] : *Fitting) {
    auto Changed = clang::tooling::applyAllReplacements(Texts[Path], Changes);
    if (!Changed)
      return Changed.takeError();
    Texts[Path] = std::move(*Changed);
  }
  return Error::success();
}

const std::vector<std::string> &Verifier::problemsBefore() {
  if (!ProblemsBefore)
    ProblemsBefore = Again(Start).Problems;
  return *ProblemsBefore;
}

/// Where \p Offset of \p Path is after \p Edits.
static unsigned shifted(const FileEdits &Edits, const std::string &Path,
                        unsigned Offset) {
  auto It = Edits.find(Path);
  return It == Edits.end() ? Offset : It->second.getShiftedCodePosition(Offset);
}

std::string Verifier::objection(const FileEdits &Edits,
                                llvm::ArrayRef<const Spot *> Gone,
                                FileTexts &Texts, std::vector<Spot> *Against) {
  Texts = Start;
  // Line ends count: they move what follows.
  llvm::Expected<FileEdits> Written = withLineEnds(Texts, Edits);
  if (!Written)
    return "it cannot be applied: " + llvm::toString(Written.takeError());
  if (Error E = applyEdits(Texts, *Written))
    return "it cannot be applied: " + llvm::toString(std::move(E));
  const Reaction After = Again(Texts);

  std::vector<std::string> Known;
  if (!After.Problems.empty())
    Known = problemsBefore();
  for (const std::string &Problem : After.Problems) {
    auto It = llvm::find(Known, Problem);
    if (It == Known.end())
      return "the compiler says: " + Problem;
    Known.erase(It);
  }

  auto IsAt = [&](const Spot &Now, const Spot &Then) {
    return Now.Check == Then.Check && Now.Path == Then.Path &&
           Now.Offset == shifted(*Written, Then.Path, Then.Offset);
  };
  std::vector<const Spot *> Staying;
  for (const Spot &S : Before)
    if (llvm::none_of(Gone, [&](const Spot *G) {
          return G->Check == S.Check && G->Path == S.Path &&
                 G->Offset == S.Offset;
        }))
      Staying.push_back(&S);
  std::string Reason;
  for (const Spot &Now : After.Found) {
    const auto WasAt = [&](const Spot *Then) { return IsAt(Now, *Then); };
    const bool IsStill = llvm::any_of(Gone, WasAt);
    if (!IsStill && llvm::any_of(Staying, WasAt))
      continue;
    if (Reason.empty())
      Reason = IsStill ? "the finding is still there"
                       : "it would cause another finding: " + Now.Message +
                             " [" + Now.Check + "]";
    if (!Against)
      break;
    Against->push_back(Now);
    if (IsStill)
      Against->back().Fix.clear(); // It was tried.
  }
  return Reason;
}

/// \p Edits, and then \p Next, as edits of the text before both.
static FileEdits inTurn(FileEdits Edits, const FileEdits &Next) {
  for (const auto &[Path, Changes] : Next)
    Edits[Path] = Edits[Path].merge(Changes);
  return Edits;
}

/// Numbers of proposals, in rounds that have one of each check in each function
/// at most: each of these may be the remedy for what another leads to, and they
/// often choose the same names.
static std::vector<std::vector<size_t>>
roundsOf(llvm::ArrayRef<Proposal> Proposals, llvm::ArrayRef<size_t> Some) {
  std::vector<std::vector<size_t>> Rounds;
  std::map<std::pair<StringRef, StringRef>, unsigned> Seen;
  for (size_t I : Some) {
    const unsigned Round =
        Seen[{Proposals[I].Of.Function, Proposals[I].Of.Check}]++;
    if (Round == Rounds.size())
      Rounds.emplace_back();
    Rounds[Round].push_back(I);
  }
  return Rounds;
}

std::vector<Judgement> Verifier::judge(llvm::ArrayRef<Proposal> Proposals) {
  std::vector<Judgement> Judged(Proposals.size());
  std::vector<size_t> All(Proposals.size());
  std::iota(All.begin(), All.end(), 0);
  std::vector<std::vector<size_t>> Rounds = roundsOf(Proposals, All);
  if (Rounds.size() > 1)
    Rounds = roundsOf(Proposals, judgeTogether(Proposals, All, Judged));
  for (const std::vector<size_t> &Some : Rounds)
    judgeSome(Proposals, Some, Judged);
  return Judged;
}

std::vector<size_t> Verifier::judgeTogether(llvm::ArrayRef<Proposal> Proposals,
                                            llvm::ArrayRef<size_t> Some,
                                            std::vector<Judgement> &Judged,
                                            std::vector<Spot> *Against) {
  std::vector<size_t> Fitting, Others;
  FileEdits Edits;
  std::vector<const Spot *> Gone;
  for (size_t I : Some)
    if (mergeEdits(Edits, Proposals[I].Edits)) {
      Fitting.push_back(I);
      Gone.push_back(&Proposals[I].Of);
    } else {
      Others.push_back(I);
    }
  FileTexts Texts;
  if (Fitting.size() < 2 || !objection(Edits, Gone, Texts, Against).empty())
    return Some.vec();
  for (size_t I : Fitting)
    Judged[I] = {Verdict::Verified, {}, Proposals[I].Edits};
  if (Fitting.size() > Together.size()) {
    Together = std::move(Fitting);
    TogetherTexts = std::move(Texts);
  }
  return Others;
}

void Verifier::judgeSome(llvm::ArrayRef<Proposal> Proposals,
                         llvm::ArrayRef<size_t> Some,
                         std::vector<Judgement> &Judged) {
  if (Some.size() == 1)
    Judged[Some.front()] = judgeAlone(Proposals[Some.front()]);
  if (Some.size() < 2)
    return;
  std::vector<Spot> Against;
  std::vector<size_t> Left = judgeTogether(Proposals, Some, Judged, &Against);
  if (Left.size() < Some.size()) {
    judgeSome(Proposals, Left, Judged);
    return;
  }
  // Together they fail: those in functions where nothing is against it may do.
  std::set<StringRef> Functions;
  for (const Spot &S : Against)
    Functions.insert(S.Function);
  auto Second = std::stable_partition(Left.begin(), Left.end(), [&](size_t I) {
    return !Functions.count(Proposals[I].Of.Function);
  });
  if (Second == Left.begin() || Second == Left.end())
    Second = Left.begin() + Left.size() / 2;
  const llvm::ArrayRef<size_t> Open = Left;
  judgeSome(Proposals, Open.take_front(Second - Left.begin()), Judged);
  judgeSome(Proposals, Open.drop_front(Second - Left.begin()), Judged);
}

Judgement Verifier::judgeAlone(const Proposal &P) {
  constexpr unsigned MostTogether = 4;
  FileTexts Texts;
  FileEdits Edits = P.Edits;
  std::string Alone;
  for (unsigned Count = 1; Count <= MostTogether; ++Count) {
    std::vector<Spot> Against;
    std::string Reason = objection(Edits, {&P.Of}, Texts, &Against);
    if (Reason.empty())
      return {Verdict::Verified, {}, std::move(Edits)};
    if (Count == 1)
      Alone = std::move(Reason);
    if (Against.empty() || Against.front().Fix.empty())
      break;
    // As they were applied: the other fix is for the text after them.
    Texts = Start;
    llvm::Expected<FileEdits> Written = withLineEnds(Texts, Edits);
    if (!Written) {
      llvm::consumeError(Written.takeError());
      break;
    }
    Edits = inTurn(std::move(*Written), Against.front().Fix);
  }
  return {Verdict::Rejected, std::move(Alone)};
}

Verifier::Selection Verifier::select(llvm::ArrayRef<Proposal> Proposals,
                                     llvm::ArrayRef<Judgement> Judged) {
  Selection Result;
  for (size_t I = 0; I < Proposals.size(); ++I)
    if (Judged[I].What != Verdict::Rejected)
      Result.Taken.push_back(I);
  const std::vector<size_t> Candidates = std::exchange(Result.Taken, {});
  Result.Texts = Start;
  FileEdits Edits;
  std::vector<const Spot *> Gone;
  add(Proposals, Judged, Candidates, Edits, Gone, Result);
  return Result;
}

void Verifier::add(llvm::ArrayRef<Proposal> Proposals,
                   llvm::ArrayRef<Judgement> Judged,
                   llvm::ArrayRef<size_t> Some, FileEdits &Edits,
                   std::vector<const Spot *> &Gone, Selection &To) {
  std::vector<size_t> Fitting;
  FileEdits More = Edits;
  std::vector<const Spot *> Ended = Gone;
  for (size_t I : Some)
    if (mergeEdits(More, Judged[I].Edits)) {
      Fitting.push_back(I);
      Ended.push_back(&Proposals[I].Of);
    } else {
      To.LeftOut.push_back({I, "it changes the same place as another fix"});
    }
  if (Fitting.empty())
    return;
  FileTexts Texts;
  std::string Reason;
  if (To.Taken.empty() && Fitting == Together) {
    Texts = TogetherTexts;
  } else if (To.Taken.empty() && Fitting.size() == 1) {
    // It was judged alone.
    Texts = Start;
    llvm::consumeError(applyEdits(Texts, More));
  } else {
    Reason = objection(More, Ended, Texts);
  }
  if (Reason.empty()) {
    llvm::append_range(To.Taken, Fitting);
    Edits = std::move(More);
    Gone = std::move(Ended);
    To.Texts = std::move(Texts);
  } else if (Fitting.size() == 1) {
    To.LeftOut.push_back({Fitting.front(), std::move(Reason)});
  } else {
    const llvm::ArrayRef<size_t> All = Fitting;
    add(Proposals, Judged, All.take_front(All.size() / 2), Edits, Gone, To);
    add(Proposals, Judged, All.drop_front(All.size() / 2), Edits, Gone, To);
  }
}

} // namespace libtorch_tidy::fixits
