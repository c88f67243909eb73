//===- Batch.cpp - The analysis of many units -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/engine/Batch.h"
#include "analysis/torch/api/Headers.h"
#include "driver/engine/WholeProgram.h"
#include "driver/project/CudaUnits.h"
#include "driver/project/IncludeScanner.h"
#include "driver/project/Paths.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

namespace libtorch_tidy::driver {

static void add(clang::tidy::ClangTidyStats &Sum,
                const clang::tidy::ClangTidyStats &Unit) {
  Sum.ErrorsDisplayed += Unit.ErrorsDisplayed;
  Sum.ErrorsIgnoredCheckFilter += Unit.ErrorsIgnoredCheckFilter;
  Sum.ErrorsIgnoredNOLINT += Unit.ErrorsIgnoredNOLINT;
  Sum.ErrorsIgnoredNonUserCode += Unit.ErrorsIgnoredNonUserCode;
  Sum.ErrorsIgnoredLineFilter += Unit.ErrorsIgnoredLineFilter;
}

/// Orders \p All by what \p KeyOf says of each, and leaves one of equal ones.
template <typename T, typename Key>
static void orderOnce(std::vector<T> &All, Key KeyOf) {
  llvm::sort(All, [&](const T &A, const T &B) { return KeyOf(A) < KeyOf(B); });
  All.erase(llvm::unique(All, [&](const T &A,
                                  const T &B) { return KeyOf(A) == KeyOf(B); }),
            All.end());
}

/// Why a unit does not compile: the first error, which may stand in a header
/// that other units include as well.
static std::string troubleIn(const UnitResult &R) {
  std::string Result = "it does not compile";
  auto IsError = [](const Finding &F) {
    return F.Kind == FindingKind::CompileError && F.IsError;
  };
  // The other errors of LibTorch's headers follow from the standard.
  for (const Finding &F : R.Findings)
    if (llvm::StringRef Standard = torch::standardAskedFor(F.Message);
        IsError(F) && !Standard.empty())
      return (Result + ": this LibTorch needs " + Standard +
              ", and the unit is compiled with an older standard; add -std=" +
              Standard.lower())
          .str();
  auto Error = llvm::find_if(R.Findings, IsError);
  if (Error == R.Findings.end())
    return Result;
  Result += ": ";
  if (!Error->Where.Path.empty())
    Result += (llvm::sys::path::filename(Error->Where.Path) + ":" +
               llvm::Twine(Error->Where.Line) + ": ")
                  .str();
  return Result + Error->Message;
}

/// What is missing when the unit of \p J is for another machine and a header is
/// not found; empty for others.
static std::string lackOfTarget(const Job &J) {
  auto IsMissing = [](const Finding &F) {
    return F.Kind == FindingKind::CompileError &&
           llvm::StringRef(F.Message).ends_with("file not found");
  };
  if (llvm::none_of(J.Result->Findings, IsMissing))
    return "";
  std::string Target, Root;
  for (size_t I = 0; I < J.Arguments.size(); ++I) {
    llvm::StringRef Word = J.Arguments[I];
    const std::string Next =
        I + 1 < J.Arguments.size() ? J.Arguments[I + 1] : "";
    if (Word.consume_front("--target="))
      Target = Word.str();
    else if (Word == "-target")
      Target = Next;
    else if (Word.consume_front("--sysroot="))
      Root = Word.str();
    else if (Word == "--sysroot" || Word == "-isysroot")
      Root = Next;
  }
  const llvm::Triple Its(llvm::Triple::normalize(Target)),
      Ours(llvm::sys::getDefaultTargetTriple());
  if (Target.empty() ||
      (Its.getArch() == Ours.getArch() && Its.getOS() == Ours.getOS()))
    return "";
  if (Root.empty())
    return "; it is compiled for '" + Target +
           "', and no --sysroot says where the headers of that target are: "
           "give --extra-arg=--sysroot=DIR";
  const auto Folder = compat::absolutePath(J.U->Command.Directory, Root);
  return llvm::sys::fs::is_directory(Folder)
             ? ""
             : "; its sysroot '" + Root + "' does not exist: give that of '" +
                   Target + "' with --extra-arg=--sysroot=DIR";
}

/// What is missing when a header of the standard is not found: the compiler's
/// own ones come with this program. Empty for others.
static std::string lackOfLibrary(const UnitResult &R) {
  bool IsMissing = false, IsOld = false;
  for (const Finding &F : R.Findings)
    if (llvm::StringRef Name = F.Message;
        F.Kind == FindingKind::CompileError && Name.consume_front("'") &&
        Name.consume_back("' file not found") && isStandardHeader(Name))
      (isRecentHeader(Name) ? IsOld : IsMissing) = true;
  return IsMissing ? "; the headers of the C or C++ library are not found: "
                     "install them (on Debian and Ubuntu, the package g++)"
         : IsOld   ? "; the C++ library that is found is too old to have it: "
                     "install a newer one"
                   : "";
}

/// The same of a unit that could not be analysed.
static std::string troubleOf(const Job &J) {
  if (!J.Result)
    return J.Trouble;
  const std::string OfTarget = lackOfTarget(J);
  std::string Result = troubleIn(*J.Result) +
                       (OfTarget.empty() ? lackOfLibrary(*J.Result) : OfTarget);
  if (lacksCudaToolkit(J.Arguments))
    Result += "; no CUDA toolkit was found, and most CUDA files need its "
              "headers: install it, or set CUDA_PATH to its folder";
  return Result;
}

/// Was a finding at \p Path asked for? \p File is the canonical path of \p U.
static bool isAskedFor(const AnalysisJob &Work, const Unit &U,
                       llvm::StringRef File, llvm::StringRef Path,
                       FindingKind Kind = FindingKind::Defect) {
  return Work.All.askFor(U, File, Kind, Path, Work.Config);
}

namespace {

/// Counts what a run with a weaker level would report in addition.
class WeakerFindings {
  using OptionMap = clang::tidy::ClangTidyOptions::OptionMap;

public:
  WeakerFindings(const AnalysisJob &Work, SourceTexts &Texts)
      : Work(Work), Texts(Texts) {}

  void add(const Unit &U, const NolintAudit::View &View) {
    std::optional<OptionMap> Levels;
    for (const NolintAudit::Heard &Said : View.Said) {
      if (Said.TooWeak && Said.IsReported &&
          isAskedFor(Work, U, View.Unit, Said.Path) && !isSuppressed(Said) &&
          !hasLevelOfItsOwn(Levels, U, Said.Check))
        Places.insert({Said.Path, Said.Offset, Said.Check});
    }
  }

  unsigned count(llvm::ArrayRef<Finding> Findings) {
    for (const Finding &F : Findings)
      Places.erase({F.Where.Path, F.Where.Begin, F.Check});
    return Places.size();
  }

private:
  bool isSuppressed(const NolintAudit::Heard &Said) {
    const SourceText *Text = Texts.get(Said.Path);
    if (!Text)
      return true;
    auto [It, New] = Comments.try_emplace(Said.Path);
    if (New)
      It->second = nolintComments(Text->text());
    return llvm::any_of(It->second, [&](const NolintComment &C) {
      return C.covers(Said.Offset) &&
             (C.isBare() || llvm::any_of(C.Items, [&](const NolintItem &I) {
                return I.names(Said.Check);
              }));
    });
  }

  /// Options of one check win over --level. \p Of are those of \p U, as soon as
  /// they are asked for.
  bool hasLevelOfItsOwn(std::optional<OptionMap> &Of, const Unit &U,
                        const std::string &Check) {
    if (!Of)
      if (auto Options =
              llvm::expectedToOptional(Work.Config.optionsFor(U.File)))
        Of = std::move(Options->CheckOptions);
    return !Of || Of->count(Check + ".Level");
  }

  const AnalysisJob &Work;
  SourceTexts &Texts;
  std::map<std::string, std::vector<NolintComment>> Comments; ///< By file.
  std::set<std::tuple<std::string, unsigned, std::string>> Places;
};

} // namespace

/// What checks, and then the engine, had reasons not to report.
static void addSilences(UnitResult &Unit, SourceTexts &Texts,
                        std::vector<Silence> &Silences) {
  llvm::append_range(Silences, Unit.Silences);
  for (const NolintAudit::Heard &Said : Unit.Nolint.Said)
    if (const SourceText *Text = Texts.get(Said.Path)) {
      Silence &S = Silences.emplace_back();
      S.Check = Said.Check;
      S.Where.Path = Said.Path;
      S.Where.Line = Text->position(Said.Offset).Line;
      S.Why = {"suppressed", "a NOLINT comment, the header filter or the level "
                             "of this check leaves it out"};
    }
}

namespace {

/// Knows the files that have changed since a unit was made of them.
class ChangedFiles {
public:
  ChangedFiles(SourceTexts &Texts, llvm::vfs::FileSystem &FS)
      : Texts(Texts), FS(FS) {}

  /// A file that \p F speaks of; null when \p J has read all as they are.
  const std::string *among(const Finding &F, const Job &J) {
    if (F.Kind == FindingKind::CompileError)
      return nullptr;
    if (hasChanged(F.Where.Path, J))
      return &F.Where.Path;
    for (const auto &[Path, Edits] : F.Fix)
      if (hasChanged(Path, J))
        return &Path;
    return nullptr;
  }

private:
  bool hasChanged(const std::string &Path, const Job &J) {
    auto [It, New] = Now.try_emplace(Path);
    if (New)
      if (const SourceText *Read = Texts.get(Path))
        It->second = textIdentity(Path, digest({Read->text()}), FS);
    const std::string &Text = It->second;
    auto IsAsNow = [&](const PathAndText &Then) { return Then.second == Text; };
    // Else it is not the user's, or its text is an edit that is tried.
    return llvm::none_of(J.Read, IsAsNow) &&
           llvm::any_of(J.Read, [&](const PathAndText &Then) {
             return canonicalPath(Then.first, "", FS) == Path;
           });
  }

  SourceTexts &Texts;
  llvm::vfs::FileSystem &FS;
  std::map<std::string, std::string> Now; ///< textIdentity() by path.
};

} // namespace

/// Puts together what the units of \p All said.
static Analysis joined(Schedule &All, const AnalysisJob &Work,
                       SourceTexts &Texts) {
  Analysis Result;
  NolintAudit Audit(Texts);
  WeakerFindings Below(Work, Texts);
  ChangedFiles Changed(Texts, All.files());
  for (Job &J : All.Jobs) {
    const std::string File = canonicalPath(J.U->File, "", All.files());
    if (J.State == Job::Skipped) {
      ++Result.SkippedUnits;
      Result.Unrelated.insert(File);
      continue;
    }
    llvm::errs() << J.Errors;
    if (!J.Pchs.empty())
      Result.Precompiled.insert(File);
    if (J.U->OnlyForFacts) {
      if (!J.Result || J.Result->Failed)
        Result.Unheard.emplace(File, troubleOf(J));
      continue;
    }
    if (!J.Result || J.Result->Failed)
      Result.FailedUnits.emplace(File, troubleOf(J));
    if (!J.Result)
      continue;
    if (Work.Options.Unit.Budget && !J.Result->Failed)
      Result.Budgets.push_back(std::move(J.Result->Budget));
    if (J.Result->LacksTorch && !J.Result->Failed)
      Result.UnitsWithoutTorch.push_back(File);
    for (Finding &F : J.Result->Findings) {
      // Its places, and where its fix goes, are those of another text.
      if (const std::string *Path = Changed.among(F, J)) {
        Result.FailedUnits.emplace(File,
                                   "'" + *Path + "' has changed meanwhile");
        continue;
      }
      F.Unit = File;
      if (isAskedFor(Work, *J.U, File, F.Where.Path, F.Kind))
        Result.Findings.push_back(std::move(F));
    }
    if (Work.Options.Unit.AsksWhy)
      addSilences(*J.Result, Texts, Result.Silences);
    if (!J.Result->Failed)
      Below.add(*J.U, J.Result->Nolint);
    for (GivenUpFunction &F : J.Result->GivenUp) {
      if (isAskedFor(Work, *J.U, File, F.Where.Path))
        Result.GivenUp.push_back(std::move(F));
    }
    if (Work.Options.AuditNolint && !J.Result->Failed) {
      for (NolintAudit::File &Read : J.Result->Nolint.Files)
        Read.IsReported &= isAskedFor(Work, *J.U, File, Read.Path);
      Audit.add(J.Result->Nolint);
    }
    add(Result.Stats, J.Result->Stats);
  }
  if (Work.Options.AuditNolint)
    for (Finding &F : Audit.findings(Result.FailedUnits))
      if (Work.Config.lineFilterTakes(F.Where.Spelled, F.Where.Line))
        Result.Findings.push_back(std::move(F));
  Result.Findings = mergeFindings(std::move(Result.Findings));
  Result.Weaker = Below.count(Result.Findings);
  orderOnce(Result.UnitsWithoutTorch, [](llvm::StringRef F) { return F; });
  orderOnce(Result.GivenUp, [](const GivenUpFunction &F) {
    return std::tie(F.Where.Path, F.Where.Line, F.Name);
  });
  return Result;
}

Analysis analyseAll(const AnalysisJob &Work, SourceTexts &Texts,
                    const fixits::FileTexts &Overlay) {
  AnalysisJob First = Work;
  // Models need the other units only where they call what these define.
  if (Work.Options.Unit.Budget)
    First.Units =
        Work.Units.take_while([](const Unit &U) { return !U.OnlyForFacts; });
  // Of a whole program, fixes are tried when all units have heard of each
  // other.
  First.Options.VerifyFixes &= !Work.Options.WholeProgram;
  Schedule All(First, Overlay);
  All.run();
  if (Work.Options.WholeProgram)
    tellOfEachOther(All.Jobs, Work, Overlay);
  if (Work.Options.Unit.Budget)
    readTogether(All.Jobs, First, Work.Units.drop_front(First.Units.size()),
                 Overlay);
  Analysis Result = joined(All, First, Texts);
  Result.Postponed = std::move(All.Postponed);
  return Result;
}

llvm::Expected<Analysis> mergeAll(const AnalysisJob &Work, SourceTexts &Texts) {
  Schedule All(Work, {});
  if (llvm::Error E = mergeShards(All, Work))
    return E;
  return joined(All, Work, Texts);
}

} // namespace libtorch_tidy::driver
