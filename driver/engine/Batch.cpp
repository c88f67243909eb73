//===- Batch.cpp - The analysis of many units -----------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/engine/Batch.h"
#include "clang-tidy/GlobList.h"
#include "driver/cache/ResultCache.h"
#include "driver/engine/FixTrials.h"
#include "driver/engine/Progress.h"
#include "driver/engine/UnitArchive.h"
#include "driver/engine/UnitInputs.h"
#include "driver/engine/Workers.h"
#include "driver/findings/NolintAudit.h"
#include "driver/pch/LibraryPch.h"
#include "driver/project/IncludeScanner.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <deque>
#include <set>

using clang::tidy::ClangTidyOptions;
using clang::tooling::ArgumentsAdjuster;
using clang::tooling::CommandLineArguments;
using llvm::Expected;
using llvm::StringRef;

namespace libtorch_tidy::driver {

using FileSystem = llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem>;

namespace {

/// One unit on its way.
struct Job {
  const Unit *U = nullptr;
  CommandLineArguments Arguments;
  std::string MainArgument; ///< The source file among them; can be empty.
  std::string ResultKey;    ///< Empty: the result is not kept.
  /// A precompiled header that the unit could start from.
  struct PchChoice {
    LibraryPrefix Prefix;
    std::string Key;
  };
  std::deque<PchChoice> Pchs; ///< The first one counts; empty: goes without.
  std::string Unfit;          ///< The key of one it did not compile with.

  StringRef pchKey() const {
    return Pchs.empty() ? StringRef() : StringRef(Pchs.front().Key);
  }

  enum { Open, Skipped, Done } State = Open;
  std::optional<UnitResult> Result; ///< Absent when it crashed.
  std::string Errors;               ///< What it wrote to the standard error.
};

class Batch {
public:
  Batch(const CommandLine &Options, const Configuration &Config,
        const ArgumentsAdjuster &MakeOurs, FileSystem FS)
      : Options(Options), Config(Config), MakeOurs(MakeOurs), FS(FS) {
    if (!Options.UseCache)
      return;
    Folder =
        CacheFolder::open(Options.CacheDir.empty() ? CacheFolder::defaultPath()
                                                   : Options.CacheDir);
    if (!Folder) {
      if (!Options.CacheDir.empty() && !Options.Quiet)
        llvm::errs() << "libtorch-tidy: note: the cache folder '"
                     << Options.CacheDir
                     << "' cannot be used; going on without\n";
      return;
    }
    Sets.emplace(*Folder, FS);
    if (!Options.Stats)
      Results.emplace(*Folder, *Sets, FS);
    // With stock clang-tidy's scope, the bodies of library functions matter.
    if (Options.UseScope)
      Pchs.emplace(*Folder, *Sets);
  }

  void run(llvm::ArrayRef<Unit> Units);

  std::vector<Job> Jobs;

private:
  /// A file system of its own for a unit, as it has its own working directory.
  FileSystem makeFileSystem() const;
  void prepare(Job &J, const Unit &U);
  void scan(Job &J);
  IncludeScanner *scannerFor(const Job &J);
  std::vector<std::string> pchsToBuild();
  void startBuild(size_t Id, StringRef Key, Workers &Pool);
  void startUnit(size_t Id, Workers &Pool);
  std::string analyseHere(const Job &J, const LibraryPch *Pch);
  /// True when the unit is to be run again.
  bool finishUnit(Job &J, Workers::Outcome Said);

  const CommandLine &Options;
  const Configuration &Config;
  const ArgumentsAdjuster &MakeOurs;
  FileSystem FS;
  std::optional<CacheFolder> Folder;
  std::optional<FileSets> Sets;
  std::optional<ResultCache> Results;
  std::optional<LibraryPchs> Pchs;
  /// By folder and flags without the file.
  std::map<std::string, std::unique_ptr<IncludeScanner>> Scanners;
  bool Wrote = false;
};

} // namespace

/// The argument that names the source file. Empty when none does.
static std::string mainArgument(const CommandLineArguments &Arguments,
                                const Unit &U) {
  auto Spelled = [&](StringRef Path) {
    llvm::SmallString<256> Result(Path);
    llvm::sys::fs::make_absolute(U.Command.Directory, Result);
    llvm::sys::path::remove_dots(Result, /*remove_dot_dot=*/true);
    return Result;
  };
  const llvm::SmallString<256> File = Spelled(U.File);
  for (StringRef Argument : llvm::reverse(llvm::drop_begin(Arguments)))
    if (Argument == U.Command.Filename ||
        (!Argument.starts_with("-") && Spelled(Argument) == File))
      return Argument.str();
  return {};
}

FileSystem Batch::makeFileSystem() const {
  Expected<FileSystem> Own = createFileSystem(Options);
  if (!Own) {
    // It was fine when the run began.
    llvm::consumeError(Own.takeError());
    return new llvm::vfs::OverlayFileSystem(
        llvm::vfs::createPhysicalFileSystem());
  }
  return *Own;
}

void Batch::prepare(Job &J, const Unit &U) {
  J.U = &U;
  Expected<ClangTidyOptions> FileOptions = Config.optionsFor(U.File);
  if (!FileOptions) {
    // It was fine a moment ago. The analysis will tell.
    llvm::consumeError(FileOptions.takeError());
    FileOptions = ClangTidyOptions();
  } else if (Results) {
    J.Arguments = argumentsOf(U, Options, *FileOptions, MakeOurs);
    std::vector<std::string> Question = J.Arguments;
    Question.push_back(U.Command.Directory);
    Question.push_back(U.File);
    Question.push_back(clang::tidy::configurationAsText(*FileOptions));
    Question.push_back(Options.LineFilter.value_or(""));
    Question.push_back(Options.UseScope ? "scope" : "");
    Question.push_back(Options.VerifyFixes ? "verify" : "");
    // Where the compiler looks for headers, beside what the flags say.
    for (const char *Name :
         {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "SYSROOT"})
      Question.push_back(llvm::sys::Process::GetEnv(Name).value_or(""));
    std::vector<StringRef> Parts(Question.begin(), Question.end());
    J.ResultKey = Results->keyOf(digest(Parts), U.File);
    if (J.ResultKey.empty())
      return;
    if (std::optional<std::string> Bytes = Results->find(J.ResultKey))
      J.Result = unitResultFromBytes(*Bytes);
    if (J.Result)
      J.State = Job::Done;
    return;
  }
  J.Arguments = argumentsOf(U, Options, *FileOptions, MakeOurs);
}

IncludeScanner *Batch::scannerFor(const Job &J) {
  std::vector<StringRef> Flags = {J.U->Command.Directory,
                                  llvm::sys::path::extension(J.MainArgument)};
  for (StringRef Argument : J.Arguments)
    if (Argument != J.MainArgument)
      Flags.push_back(Argument);
  auto [It, New] = Scanners.try_emplace(digest(Flags));
  if (New) {
    FileSystem Own = makeFileSystem();
    if (!Own->setCurrentWorkingDirectory(J.U->Command.Directory))
      It->second = IncludeScanner::create(J.Arguments, Own);
  }
  return It->second.get();
}

void Batch::scan(Job &J) {
  J.MainArgument = mainArgument(J.Arguments, *J.U);
  if (J.MainArgument.empty())
    return;
  IncludeScanner *Scanner = scannerFor(J);
  if (!Scanner)
    return;
  if (Options.SkipUnrelated && !Scanner->mayIncludeTorch(J.U->File)) {
    J.State = Job::Skipped;
    return;
  }
  if (!Pchs)
    return;
  for (LibraryPrefix &Prefix : Scanner->libraryPrefixes(J.U->File)) {
    std::string Key = LibraryPchs::keyOf(*Scanner, Prefix);
    const bool Ready = Pchs->find(Key) == LibraryPchs::State::Ready;
    // Another one would have the macro in it, too.
    if ((Ready && !Pchs->isUnaffectedByMacros(Key, Prefix)) ||
        (Prefix.BehindCode && Pchs->isUnfit(Key, J.U->File)))
      continue;
    if (Ready && !Pchs->isUnaffectedByFolders(Key, Prefix)) {
      // One of its own, then, made with its folders.
      Prefix.Folders.clear();
      Prefix.FolderPaths.clear();
      Key = LibraryPchs::keyOf(*Scanner, Prefix);
    }
    J.Pchs.push_back({std::move(Prefix), std::move(Key)});
  }
}

/// A precompiled header takes nearly twice as long to make as a unit without
/// it. It is made when it is sure to be used again: when a second unit of this
/// run needs it, or when one of an earlier run did.
std::vector<std::string> Batch::pchsToBuild() {
  // A header that only has a little more than another one, which is there
  // anyway, saves a unit a thirtieth of that.
  constexpr unsigned EnoughForMore = 32;
  auto CountNeeds = [&] {
    std::map<std::string, unsigned> Needs;
    for (const Job &J : Jobs)
      if (J.State == Job::Open && !J.Pchs.empty())
        ++Needs[J.pchKey().str()];
    return Needs;
  };
  std::map<std::string, unsigned> Needs = CountNeeds();
  std::set<std::string> Before;
  for (const auto &[Key, Units] : Needs)
    // Asked in any case: it notes that it was wanted.
    if (Pchs->find(Key) == LibraryPchs::State::Missing &&
        Pchs->wantedBefore(Key))
      Before.insert(Key);
  for (Job &J : Jobs) {
    if (J.State != Job::Open || J.Pchs.size() < 2 ||
        Pchs->find(J.pchKey()) != LibraryPchs::State::Missing ||
        Before.count(J.pchKey().str()) ||
        Needs[J.pchKey().str()] >= EnoughForMore)
      continue;
    const std::string &Lesser = J.Pchs[1].Key;
    if (Needs.count(Lesser) || Pchs->find(Lesser) == LibraryPchs::State::Ready)
      J.Pchs.pop_front();
  }
  std::vector<std::string> Result;
  for (const auto &[Key, Units] : CountNeeds())
    if (Pchs->find(Key) == LibraryPchs::State::Missing &&
        (Units > 1 || Before.count(Key)))
      Result.push_back(Key);
  return Result;
}

void Batch::startBuild(size_t Id, StringRef Key, Workers &Pool) {
  const Job &J = *llvm::find_if(Jobs, [&](const Job &J) {
    return J.State == Job::Open && J.pchKey() == Key;
  });
  Pool.start(Id, [&]() -> std::string {
    Pchs->build(Key, J.Pchs.front().Prefix, J.Arguments, J.MainArgument,
                J.U->Command.Directory, makeFileSystem());
    return "";
  });
}

/// In a process of its own.
std::string Batch::analyseHere(const Job &J, const LibraryPch *Pch) {
  UnitInputs Inputs;
  const bool Keep = !J.ResultKey.empty();
  UnitResult Result = analyse(*J.U, J.Arguments, Options, Config,
                              makeFileSystem(), Pch, Keep ? &Inputs : nullptr);
  if (Options.VerifyFixes && !Result.Failed)
    tryFixes(
        Result, [&] { return makeFileSystem(); },
        [&](FileSystem Edited) {
          return analyse(*J.U, J.Arguments, Options, Config, Edited, Pch,
                         /*Inputs=*/nullptr, /*CompilerWarnings=*/true);
        });
  std::string Bytes = toBytes(Result);
  // A unit that does not compile is looked at again.
  if (!Keep || Result.Failed)
    return Bytes;
  ResultCache::Inputs Entry;
  for (UnitInputs::UserFile &File : Inputs.User)
    Entry.User.emplace_back(std::move(File.Path), std::move(File.Content));
  Entry.Missing = std::move(Inputs.Missing);
  Entry.Libraries.push_back(
      FileSets::store(std::move(Inputs.Library), *Folder));
  if (Pch)
    Entry.Libraries.push_back(Pch->Files);
  if (!llvm::is_contained(Entry.Libraries, ""))
    Results->store(J.ResultKey, Entry, Bytes);
  return Bytes;
}

void Batch::startUnit(size_t Id, Workers &Pool) {
  Job &J = Jobs[Id];
  auto Fits = [&](const Job::PchChoice &C) {
    return Pchs->find(C.Key) == LibraryPchs::State::Ready &&
           Pchs->isUnaffectedByMacros(C.Key, C.Prefix) &&
           Pchs->isUnaffectedByFolders(C.Key, C.Prefix);
  };
  while (!J.Pchs.empty() && !Fits(J.Pchs.front()))
    J.Pchs.pop_front();
  const LibraryPch *Pch = J.Pchs.empty() ? nullptr : &Pchs->get(J.pchKey());
  Pool.start(Id, [&] { return analyseHere(J, Pch); });
}

bool Batch::finishUnit(Job &J, Workers::Outcome Said) {
  std::optional<UnitResult> Result;
  if (Said.Finished)
    Result = unitResultFromBytes(Said.Result);
  if (!J.Pchs.empty() && (!Result || Result->PchRejected)) {
    // Whatever is the matter with it: once more without.
    Pchs->discard(J.pchKey());
    J.Pchs.pop_front();
    return true;
  }
  if (!J.Pchs.empty() && Result->Failed && J.Pchs.front().Prefix.BehindCode) {
    // Perhaps only because the headers come too soon.
    J.Unfit = J.Pchs.front().Key;
    J.Pchs.pop_front();
    return true;
  }
  if (!J.Unfit.empty() && Result && !Result->Failed)
    Pchs->noteUnfit(J.Unfit, J.U->File);
  J.Result = std::move(Result);
  J.Errors = std::move(Said.Errors);
  J.State = Job::Done;
  return false;
}

void Batch::run(llvm::ArrayRef<Unit> Units) {
  Jobs.resize(Units.size());
  Progress Told(Options, Units.size(), *FS);
  auto Tell = [&](const Job &J, StringRef How) {
    unsigned Findings = 0;
    if (J.Result)
      Findings = llvm::count_if(J.Result->Errors, [](const auto &E) {
        return kindOf(E) == FindingKind::Defect;
      });
    if (J.State == Job::Done && (!J.Result || J.Result->Failed))
      How = J.Result ? "does not compile" : "crashed";
    Told.finished(J.U->File, Findings, How);
  };
  for (size_t I = 0; I < Units.size(); ++I) {
    prepare(Jobs[I], Units[I]);
    if (Jobs[I].State == Job::Open)
      scan(Jobs[I]);
    if (Jobs[I].State != Job::Open)
      Tell(Jobs[I], Jobs[I].State == Job::Done ? "from the cache" : "skipped");
  }

  std::vector<std::string> Builds;
  if (Pchs)
    Builds = pchsToBuild();
  std::deque<size_t> Ready;
  std::map<std::string, std::vector<size_t>> Waiting; // By what they wait for.
  for (const std::string &Key : Builds)
    Waiting[Key];
  for (size_t I = 0; I < Jobs.size(); ++I) {
    if (Jobs[I].State != Job::Open)
      continue;
    auto It = Waiting.find(Jobs[I].pchKey().str());
    if (It != Waiting.end())
      It->second.push_back(I);
    else
      Ready.push_back(I);
  }

  Workers Pool(Options.Jobs ? Options.Jobs : Workers::defaultCount());
  size_t NextBuild = 0;
  while (NextBuild < Builds.size() || !Ready.empty() || !Pool.idle()) {
    while (!Pool.full() && NextBuild < Builds.size()) {
      Told.begun("precompiling the library headers");
      startBuild(Jobs.size() + NextBuild, Builds[NextBuild], Pool);
      ++NextBuild;
      Wrote = true;
    }
    while (!Pool.full() && !Ready.empty()) {
      startUnit(Ready.front(), Pool);
      Ready.pop_front();
      Wrote |= Folder.has_value();
    }
    Workers::Outcome Said = Pool.wait();
    if (Said.Id >= Jobs.size()) {
      const std::string &Key = Builds[Said.Id - Jobs.size()];
      Pchs->forget(Key); // Look again.
      llvm::append_range(Ready, Waiting[Key]);
    } else if (Job &J = Jobs[Said.Id]; finishUnit(J, std::move(Said))) {
      Ready.push_front(&J - Jobs.data());
    } else {
      Tell(J, "");
    }
  }
  if (Wrote && Folder)
    Folder->shrink(uint64_t(Options.CacheMegabytes) << 20);
}

static void add(clang::tidy::ClangTidyStats &Sum,
                const clang::tidy::ClangTidyStats &Unit) {
  Sum.ErrorsDisplayed += Unit.ErrorsDisplayed;
  Sum.ErrorsIgnoredCheckFilter += Unit.ErrorsIgnoredCheckFilter;
  Sum.ErrorsIgnoredNOLINT += Unit.ErrorsIgnoredNOLINT;
  Sum.ErrorsIgnoredNonUserCode += Unit.ErrorsIgnoredNonUserCode;
  Sum.ErrorsIgnoredLineFilter += Unit.ErrorsIgnoredLineFilter;
}

/// What the audit of NOLINT comments must know of a unit.
static NolintAudit::View
viewOf(const UnitResult &Result, const Unit &U, StringRef File,
       const Configuration &Config, llvm::vfs::FileSystem &FS,
       llvm::function_ref<bool(const Unit &, const Finding &)> IsAskedFor) {
  NolintAudit::View View;
  View.Unit = File.str();
  Expected<ClangTidyOptions> FileOptions = Config.optionsFor(U.File);
  if (!FileOptions) {
    // It was fine a moment ago. Without one, all is undecided.
    llvm::consumeError(FileOptions.takeError());
    FileOptions = ClangTidyOptions();
  }
  llvm::StringMap<std::string> Canonical;
  auto Name = [&](StringRef Path) -> const std::string & {
    auto [It, New] = Canonical.try_emplace(Path);
    if (New)
      It->second = canonicalPath(Path, U.Command.Directory, FS);
    return It->second;
  };
  for (const NolintFile &Read : Result.NolintFiles) {
    llvm::SmallString<256> Spelled(Read.Path);
    llvm::sys::fs::make_absolute(U.Command.Directory, Spelled);
    llvm::sys::path::remove_dots(Spelled, /*remove_dot_dot=*/true);
    Finding Place;
    Place.Unit = View.Unit;
    Place.Where.Path = Name(Read.Path);
    const bool IsReported =
        IsAskedFor(U, Place) &&
        (Place.Where.Path == View.Unit ||
         Configuration::filterTakes(*FileOptions, Read.Path));
    View.Files.push_back(
        {Place.Where.Path, Spelled.str().str(), Read.Skipped, IsReported});
  }
  if (View.Files.empty())
    return View;
  std::set<std::tuple<StringRef, StringRef, unsigned>> Told;
  for (const clang::tidy::ClangTidyError &E : Result.Errors)
    Told.emplace(E.DiagnosticName, E.Message.FilePath, E.Message.FileOffset);
  for (const auto &[Key, Strength] : Result.Levels) {
    const auto &[Check, Path, Offset] = Key;
    View.Said.push_back(
        {Check, Name(Path), Offset, Told.count({Check, Path, Offset}) != 0,
         Strength > Configuration::weakestLevel(*FileOptions, Check)});
  }
  for (const std::string &Check : Configuration::enabledChecks(*FileOptions))
    // One with weak findings only need not look for them.
    if (const CatalogEntry *Entry = findInCatalog(Check);
        Entry && Entry->StrongestLevel <=
                     Configuration::weakestLevel(*FileOptions, Check))
      View.LookedFor.insert(Check);
  View.AsError = FileOptions->WarningsAsErrors &&
                 clang::tidy::GlobList(*FileOptions->WarningsAsErrors)
                     .contains(nolintAuditEntry().Name);
  return View;
}

static void add(Analysis &Result, const NolintAudit &Audit,
                const Configuration &Config) {
  for (NolintAudit::Outcome &O : Audit.outcome(Result.FailedUnits)) {
    Finding &F = O.Said;
    if (!Config.lineFilterTakes(O.Spelled, F.Where.Line))
      continue;
    clang::tidy::ClangTidyError E(F.Check, clang::tidy::ClangTidyError::Warning,
                                  /*BuildDirectory=*/"", F.AsError);
    auto Message = [&](const Place &Where, StringRef Text) {
      clang::tooling::DiagnosticMessage M(Text);
      M.FilePath = O.Spelled;
      M.FileOffset = Where.Begin;
      clang::tooling::FileByteRange Range;
      Range.FilePath = O.Spelled;
      Range.FileOffset = Where.Begin;
      Range.Length = Where.End - Where.Begin;
      M.Ranges.push_back(std::move(Range));
      return M;
    };
    E.Message = Message(F.Where, F.Message);
    for (const FindingStep &Step : F.Steps)
      E.Notes.push_back(Message(Step.Where, Step.Text));
    F.Origin = Result.Errors.size();
    Result.Errors.push_back(std::move(E));
    Result.Findings.push_back(std::move(F));
  }
}

static void orderOnce(std::vector<std::string> &Files) {
  llvm::sort(Files);
  Files.erase(llvm::unique(Files), Files.end());
}

Analysis
analyseAll(llvm::ArrayRef<Unit> Units, const CommandLine &Options,
           const Configuration &Config, const ArgumentsAdjuster &MakeOurs,
           SourceTexts &Texts, FileSystem FS,
           llvm::function_ref<bool(const Unit &, const Finding &)> IsAskedFor) {
  Batch All(Options, Config, MakeOurs, FS);
  All.run(Units);

  Analysis Result;
  NolintAudit Audit(Texts);
  for (Job &J : All.Jobs) {
    if (J.State == Job::Skipped) {
      ++Result.SkippedUnits;
      continue;
    }
    llvm::errs() << J.Errors;
    const std::string File = canonicalPath(J.U->File, "", *FS);
    if (!J.Result)
      Result.CrashedUnits.push_back(File);
    if (!J.Result || J.Result->Failed)
      Result.FailedUnits.push_back(File);
    if (!J.Result)
      continue;
    for (Finding &F : toFindings(*J.Result, Result.Errors.size(), *FS, Texts)) {
      F.Unit = File;
      if (IsAskedFor(*J.U, F))
        Result.Findings.push_back(std::move(F));
    }
    if (Options.AuditNolint && !J.Result->Failed)
      Audit.add(viewOf(*J.Result, *J.U, File, Config, *FS, IsAskedFor));
    llvm::move(J.Result->Errors, std::back_inserter(Result.Errors));
    add(Result.Stats, J.Result->Stats);
  }
  orderOnce(Result.FailedUnits);
  if (Options.AuditNolint)
    add(Result, Audit, Config);
  Result.Findings = mergeFindings(std::move(Result.Findings));
  orderOnce(Result.CrashedUnits);
  return Result;
}

} // namespace libtorch_tidy::driver
