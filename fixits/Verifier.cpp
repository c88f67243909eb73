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

/// A fix and those that it needs, one for what the one before leads to.
static constexpr unsigned MostTogether = 4;

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

const std::vector<Spot> &Verifier::problemsBefore() {
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

static std::string inWords(const Spot &S) {
  return S.Message + " [" + S.Check + "]";
}

std::vector<Verifier::Objection>
Verifier::objections(const FileEdits &Edits, llvm::ArrayRef<const Spot *> Gone,
                     FileTexts &Texts) {
  Texts = Start;
  auto CannotBeApplied = [](Error E) -> std::vector<Objection> {
    return {{"it cannot be applied: " + llvm::toString(std::move(E)), {}}};
  };
  // Line ends count: they move what follows.
  llvm::Expected<FileEdits> Written = withLineEnds(Texts, Edits);
  if (!Written)
    return CannotBeApplied(Written.takeError());
  if (Error E = applyEdits(Texts, *Written))
    return CannotBeApplied(std::move(E));
  const Reaction After = Again(Texts);

  std::vector<Objection> Result;
  std::vector<Spot> Known;
  if (!After.Problems.empty())
    Known = problemsBefore();
  for (const Spot &Problem : After.Problems) {
    auto It = llvm::find_if(Known, [&](const Spot &Then) {
      return Then.Check == Problem.Check && Then.Message == Problem.Message;
    });
    if (It == Known.end())
      Result.push_back({"the compiler says: " + inWords(Problem), Problem,
                        /*OfCompiler=*/true});
    else
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
  for (const Spot &Now : After.Found) {
    const auto WasAt = [&](const Spot *Then) { return IsAt(Now, *Then); };
    if (llvm::any_of(Gone, WasAt)) {
      Result.push_back({"the finding is still there", Now});
      Result.back().What.Fix.clear(); // It was tried.
    } else if (llvm::none_of(Staying, WasAt)) {
      Result.push_back(
          {"it would cause another finding: " + inWords(Now), Now});
    }
  }
  return Result;
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

/// Does \p Offset of \p Path after \p Edits lie in what \p Own, which are among
/// them, insert?
static bool isInserted(const FileEdits &Edits, const FileEdits &Own,
                       const std::string &Path, unsigned Offset) {
  auto All = Edits.find(Path), Those = Own.find(Path);
  if (All == Edits.end() || Those == Own.end())
    return false;
  int64_t Moved = 0;
  for (const Replacement &R : All->second) {
    const int64_t Begin = R.getOffset() + Moved,
                  Length = R.getReplacementText().size();
    if (Begin <= Offset && Offset < Begin + Length)
      return llvm::is_contained(Those->second, R);
    Moved += Length - R.getLength();
  }
  return false;
}

/// \p Fix, of the text after \p All, as edits of the text after \p Own alone,
/// which are among \p All; absent when it changes what others insert.
static std::optional<FileEdits> withoutOthers(const FileEdits &Fix,
                                              const FileEdits &All,
                                              const FileEdits &Own) {
  FileEdits Result;
  for (const auto &[Path, Changes] : Fix)
    for (const Replacement &R : Changes) {
      int64_t Moved = 0, ByOthers = 0;
      auto Those = Own.find(Path);
      if (auto It = All.find(Path); It != All.end())
        for (const Replacement &E : It->second) {
          const int64_t Begin = E.getOffset() + Moved,
                        Length = E.getReplacementText().size();
          if (R.getOffset() + R.getLength() <= Begin)
            break;
          Moved += Length - E.getLength();
          if (Those != Own.end() && llvm::is_contained(Those->second, E))
            continue;
          if (R.getOffset() < Begin + Length)
            return std::nullopt;
          ByOthers += Length - E.getLength();
        }
      if (Error E = Result[Path].add(
              Replacement(R.getFilePath(), R.getOffset() - ByOthers,
                          R.getLength(), R.getReplacementText()))) {
        llvm::consumeError(std::move(E));
        return std::nullopt;
      }
    }
  return Result;
}

std::vector<Judgement> Verifier::judge(llvm::ArrayRef<Proposal> Proposals) {
  std::vector<Judgement> Judged(Proposals.size());
  std::vector<size_t> All(Proposals.size());
  std::iota(All.begin(), All.end(), 0);
  std::vector<std::vector<size_t>> Rounds = roundsOf(Proposals, All);
  if (Rounds.size() > 1) {
    std::vector<Objection> Against;
    All = judgeTogether(Proposals, All, Judged, Against);
    const size_t Clean = cleanFirst(Proposals, All, Against);
    if (Clean > 1 && Clean < All.size()) {
      const std::vector<size_t> Doubtful(All.begin() + Clean, All.end());
      All.resize(Clean);
      All = judgeTogether(Proposals, All, Judged, Against);
      llvm::append_range(All, Doubtful);
    }
    Rounds = roundsOf(Proposals, All);
  }
  for (const std::vector<size_t> &Some : Rounds)
    judgeSome(Proposals, Some, Judged);
  return Judged;
}

size_t Verifier::cleanFirst(llvm::ArrayRef<Proposal> Proposals,
                            std::vector<size_t> &Some,
                            llvm::ArrayRef<Objection> Against) {
  FileEdits Edits;
  for (size_t I : Some)
    (void)mergeEdits(Edits, Proposals[I].Edits);
  auto Second = std::stable_partition(Some.begin(), Some.end(), [&](size_t I) {
    return llvm::none_of(Against, [&](const Objection &O) {
      return isAgainst(O, Proposals[I], Edits, Proposals[I].Edits);
    });
  });
  return Second - Some.begin();
}

bool Verifier::isAgainst(const Objection &O, const Proposal &P,
                         const FileEdits &All, const FileEdits &Own) {
  return O.OfCompiler ? isInserted(All, Own, O.What.Path, O.What.Offset)
                      : O.What.Function == P.Of.Function;
}

std::vector<size_t> Verifier::judgeTogether(llvm::ArrayRef<Proposal> Proposals,
                                            llvm::ArrayRef<size_t> Some,
                                            std::vector<Judgement> &Judged,
                                            std::vector<Objection> &Against) {
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
  Against.clear();
  FileTexts Texts;
  if (Fitting.size() < 2)
    return Some.vec();
  Against = objections(Edits, Gone, Texts);
  if (!Against.empty())
    return Some.vec();
  for (size_t I : Fitting)
    Judged[I] = {Verdict::Verified, {}, Proposals[I].Edits};
  if (Fitting.size() > Together.size()) {
    Together = std::move(Fitting);
    TogetherTexts = std::move(Texts);
  }
  return Others;
}

bool Verifier::judgeAtOnce(llvm::ArrayRef<Proposal> Proposals,
                           llvm::ArrayRef<size_t> Some,
                           std::vector<Judgement> &Judged,
                           std::vector<Objection> Against) {
  std::set<StringRef> Functions;
  std::vector<Attempt> Open;
  for (size_t I : Some) {
    FileTexts Texts = Start;
    llvm::Expected<FileEdits> Written = withLineEnds(Texts, Proposals[I].Edits);
    if (!Written)
      llvm::consumeError(Written.takeError());
    if (!Written || Proposals[I].Of.Function.empty() ||
        !Functions.insert(Proposals[I].Of.Function).second)
      return false;
    Open.push_back({I, std::move(*Written)});
  }

  std::vector<std::pair<size_t, Judgement>> Found;
  while (!Open.empty()) {
    FileEdits All;
    std::vector<const Spot *> Gone;
    for (const Attempt &A : Open) {
      if (!mergeEdits(All, A.Edits))
        return false;
      Gone.push_back(&Proposals[A.Number].Of);
    }
    FileTexts Texts;
    if (Against.empty())
      Against = objections(All, Gone, Texts);
    if (Against.empty()) {
      for (Attempt &A : Open)
        Found.push_back(
            {A.Number, {Verdict::Verified, {}, std::move(A.Edits)}});
      break;
    }
    // A function that does not compile is not analysed.
    if (Against.front().OfCompiler)
      llvm::erase_if(Against, [](const Objection &O) { return !O.OfCompiler; });
    std::vector<const Objection *> First(Open.size());
    for (const Objection &O : llvm::reverse(Against)) {
      bool IsKnown = false;
      for (auto [A, Its] : llvm::zip_equal(Open, First))
        if (isAgainst(O, Proposals[A.Number], All, A.Edits)) {
          IsKnown = true;
          Its = &O;
        }
      if (!IsKnown)
        return false;
    }
    std::vector<Attempt> Next;
    for (auto [A, Its] : llvm::zip_equal(Open, First)) {
      if (Its && ++A.Tries == 1)
        A.Reason = Its->Reason;
      if (Its && (Its->What.Fix.empty() || A.Tries == MostTogether)) {
        Found.push_back({A.Number, {Verdict::Rejected, A.Reason}});
        continue;
      }
      if (Its) {
        std::optional<FileEdits> Fix =
            withoutOthers(Its->What.Fix, All, A.Edits);
        if (!Fix)
          return false;
        A.Edits = inTurn(std::move(A.Edits), *Fix);
      }
      Next.push_back(std::move(A));
    }
    Open = std::move(Next);
    Against.clear();
  }
  for (auto &[I, Its] : Found)
    Judged[I] = std::move(Its);
  return true;
}

void Verifier::judgeSome(llvm::ArrayRef<Proposal> Proposals,
                         llvm::ArrayRef<size_t> Some,
                         std::vector<Judgement> &Judged) {
  if (Some.size() == 1)
    Judged[Some.front()] = judgeAlone(Proposals[Some.front()]);
  if (Some.size() < 2)
    return;
  std::vector<Objection> Against;
  std::vector<size_t> Left = judgeTogether(Proposals, Some, Judged, Against);
  if (Left.size() < Some.size()) {
    judgeSome(Proposals, Left, Judged);
    return;
  }
  size_t Clean = cleanFirst(Proposals, Left, Against);
  const llvm::ArrayRef<size_t> Open = Left;
  if (!Clean && judgeAtOnce(Proposals, Open, Judged, std::move(Against)))
    return;
  if (!Clean || Clean == Left.size())
    Clean = Left.size() / 2;
  judgeSome(Proposals, Open.take_front(Clean), Judged);
  judgeSome(Proposals, Open.drop_front(Clean), Judged);
}

Judgement Verifier::judgeAlone(const Proposal &P) {
  FileTexts Texts;
  FileEdits Edits = P.Edits;
  std::string Alone;
  for (unsigned Count = 1; Count <= MostTogether; ++Count) {
    const std::vector<Objection> Against = objections(Edits, {&P.Of}, Texts);
    if (Against.empty())
      return {Verdict::Verified, {}, std::move(Edits)};
    const Objection &First = Against.front();
    if (Count == 1)
      Alone = First.Reason;
    if (First.OfCompiler || First.What.Fix.empty())
      break;
    // As they were applied: the other fix is for the text after them.
    Texts = Start;
    llvm::Expected<FileEdits> Written = withLineEnds(Texts, Edits);
    if (!Written) {
      llvm::consumeError(Written.takeError());
      break;
    }
    Edits = inTurn(std::move(*Written), First.What.Fix);
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
  std::vector<Objection> Against;
  if (To.Taken.empty() && Fitting == Together) {
    Texts = TogetherTexts;
  } else if (To.Taken.empty() && Fitting.size() == 1) {
    // It was judged alone.
    Texts = Start;
    llvm::consumeError(applyEdits(Texts, More));
  } else {
    Against = objections(More, Ended, Texts);
  }
  if (Against.empty()) {
    llvm::append_range(To.Taken, Fitting);
    Edits = std::move(More);
    Gone = std::move(Ended);
    To.Texts = std::move(Texts);
    return;
  }
  if (Fitting.size() == 1) {
    To.LeftOut.push_back({Fitting.front(), std::move(Against.front().Reason)});
    return;
  }
  size_t Clean = cleanFirst(Proposals, Fitting, Against);
  if (!Clean || Clean == Fitting.size())
    Clean = Fitting.size() / 2;
  const llvm::ArrayRef<size_t> All = Fitting;
  add(Proposals, Judged, All.take_front(Clean), Edits, Gone, To);
  add(Proposals, Judged, All.drop_front(Clean), Edits, Gone, To);
}

} // namespace libtorch_tidy::fixits
