//===- Main.cpp - The program libtorch-tidy -------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/engine/Batch.h"
#include "driver/engine/FixRounds.h"
#include "driver/engine/Runner.h"
#include "driver/findings/Selection.h"
#include "driver/options/CommandLine.h"
#include "driver/options/Configuration.h"
#include "driver/output/CheckDocs.h"
#include "driver/output/OutputFile.h"
#include "driver/output/Reports.h"
#include "driver/output/Text.h"
#include "driver/pch/LibraryPch.h"
#include "driver/project/CompileCommands.h"
#include "driver/project/Git.h"
#include "driver/project/HeaderUnits.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/WithColor.h"

using namespace libtorch_tidy;
using namespace libtorch_tidy::driver;
using clang::tidy::ClangTidyError;
using clang::tooling::CompileCommand;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace {

using FileSystem = llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem>;

llvm::raw_ostream &tellError() {
  return llvm::WithColor::error(llvm::errs(), "libtorch-tidy");
}

int usageError(Error E) {
  llvm::handleAllErrors(std::move(E), [](const llvm::ErrorInfoBase &Info) {
    tellError() << Info.message() << '\n';
  });
  return ExitUsage;
}

Error makeError(const llvm::Twine &Message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), Message);
}

Error noCheckEnabled() {
  return makeError("no check is enabled: add libtorch-* to the Checks of the "
                   ".clang-tidy file, or give --checks='libtorch-*'");
}

/// What is analysed.
struct Units {
  std::vector<Unit> List;
  /// Given headers that are analysed through units of the list; canonical.
  llvm::StringSet<> Headers;

  /// Was finding \p F of \p U asked for?
  bool askFor(const Unit &U, const Finding &F,
              const Configuration &Config) const {
    StringRef Path = F.Where.Path;
    if (F.Kind != FindingKind::Defect || Headers.empty() || Path.empty() ||
        Headers.contains(Path))
      return true;
    if (U.OnlyForHeaders)
      return false;
    return Path == F.Unit || Config.filterTakes(U.File, Path);
  }
};

/// The files to analyse: absolute, folders replaced by the files of their
/// database, each once however it is spelled.
Expected<std::vector<std::string>> filesToAnalyse(const CommandLine &Options,
                                                  CompileCommands &Commands,
                                                  FileSystem FS) {
  std::vector<std::string> Result;
  llvm::StringSet<> Seen;
  auto Add = [&](StringRef File) {
    if (Seen.insert(canonicalPath(File, "", *FS)).second)
      Result.push_back(File.str());
  };
  Error Problems = Error::success();
  for (const std::string &Given : Options.Files) {
    llvm::SmallString<256> Path(Given);
    FS->makeAbsolute(Path);
    llvm::sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
    llvm::ErrorOr<llvm::vfs::Status> Status = FS->status(Path);
    if (!Status) {
      Problems = joinErrors(std::move(Problems),
                            makeError("cannot read '" + Given +
                                      "': " + Status.getError().message()));
      continue;
    }
    if (!Status->isDirectory()) {
      Add(Path);
      continue;
    }
    Expected<std::vector<std::string>> Below = Commands.filesBelow(Path);
    if (!Below) {
      Problems = joinErrors(std::move(Problems), Below.takeError());
      continue;
    }
    for (const std::string &File : *Below)
      Add(File);
  }
  if (Problems)
    return Problems;
  return Result;
}

/// The units of \p Files whose configuration enables a check. A file without
/// one is left out and told, as projects turn checks off for some folders; if
/// that is all of them it is an error.
Expected<Units> unitsToAnalyse(llvm::ArrayRef<std::string> Files,
                               const CommandLine &Options,
                               Configuration &Config, CompileCommands &Commands,
                               FileSystem FS) {
  Units Result;
  std::vector<std::string> Headers;
  std::vector<StringRef> WithoutChecks;
  Error Problems = Error::success();
  auto Add = [&](const std::string &File, bool OnlyForHeaders) {
    Expected<std::vector<CompileCommand>> Found = Commands.commandsFor(File);
    if (!Found) {
      Problems = joinErrors(std::move(Problems), Found.takeError());
      return;
    }
    for (CompileCommand &Command : *Found)
      Result.List.push_back({File, std::move(Command), OnlyForHeaders});
  };
  for (const std::string &File : Files) {
    Expected<clang::tidy::ClangTidyOptions> FileOptions =
        Config.optionsFor(File);
    if (!FileOptions) {
      // One malformed file speaks for all below it.
      Error Configuration = FileOptions.takeError();
      return joinErrors(std::move(Problems), std::move(Configuration));
    }
    if (Configuration::enabledChecks(*FileOptions).empty()) {
      WithoutChecks.push_back(File);
      continue;
    }
    if (isHeader(File) && !Commands.lists(File))
      Headers.push_back(File);
    else
      Add(File, /*OnlyForHeaders=*/false);
  }
  if (!Headers.empty()) {
    llvm::StringSet<> Listed;
    for (const Unit &U : Result.List)
      Listed.insert(canonicalPath(U.File, "", *FS));
    HeaderUnits Including(Commands, FS);
    for (const std::string &Header : Headers) {
      const std::string Path = canonicalPath(Header, "", *FS);
      const std::string Through = Including.unitFor(Path, Listed);
      if (Through.empty()) {
        Add(Header, /*OnlyForHeaders=*/false);
        continue;
      }
      Result.Headers.insert(Path);
      if (Listed.insert(Through).second)
        Add(Through, /*OnlyForHeaders=*/true);
    }
  }
  if (!Result.Headers.empty()) {
    std::vector<std::string> Paths;
    for (StringRef Path : Result.Headers.keys())
      Paths.push_back(Path.str());
    Config.reportHeaders(Paths);
  }
  if (!WithoutChecks.empty() && WithoutChecks.size() == Files.size() &&
      !Options.AllowNoChecks)
    Problems = joinErrors(std::move(Problems), noCheckEnabled());
  if (Problems)
    return Problems;
  if (!Options.Quiet)
    for (StringRef File : WithoutChecks)
      llvm::errs() << "libtorch-tidy: note: '" << File
                   << "' is left out: its configuration enables no check\n";
  return Result;
}

/// The compiler's paths of one file can differ from unit to unit (../a.h and
/// b/../a.h). Fixes must agree on one, or the file is changed twice.
void canonicalizeFixes(ClangTidyError &E, llvm::vfs::FileSystem &FS) {
  llvm::StringMap<clang::tooling::Replacements> Result;
  for (const auto &File : E.Message.Fix)
    for (const clang::tooling::Replacement &R : File.second) {
      std::string Path = canonicalPath(R.getFilePath(), E.BuildDirectory, FS);
      // Replacements of one file that conflict were dropped by the engine.
      llvm::consumeError(Result[Path].add(clang::tooling::Replacement(
          Path, R.getOffset(), R.getLength(), R.getReplacementText())));
    }
  E.Message.Fix = std::move(Result);
}

int exitCode(const Analysis &All, const CommandLine &Options) {
  if (!All.FailedUnits.empty())
    return ExitBroken;
  auto Is = [&](FindingKind Kind) {
    return [Kind](const Finding &F) { return F.Kind == Kind; };
  };
  if (llvm::any_of(All.Findings, Is(FindingKind::Configuration)))
    return ExitUsage;
  for (const Finding &F : All.Findings) {
    if (F.Known)
      continue;
    if (F.AsError)
      return ExitFindings;
    if (!Options.NeverFail &&
        (!Options.FailOn || F.Strength <= *Options.FailOn))
      return ExitFindings;
  }
  return ExitClean;
}

void printSummary(const Analysis &All, const CommandLine &Options) {
  for (const std::string &File : All.FailedUnits)
    tellError() << "'" << File << "' could not be analysed in full: "
                << (llvm::is_contained(All.CrashedUnits, File)
                        ? "the analysis crashed"
                        : "it does not compile")
                << '\n';
  if (Options.Quiet)
    return;
  printStats(All.Stats);
  if (All.SkippedUnits)
    llvm::errs() << "libtorch-tidy: " << All.SkippedUnits
                 << (All.SkippedUnits == 1
                         ? " unit includes no header of LibTorch, and was "
                           "skipped\n"
                         : " units include no header of LibTorch, and were "
                           "skipped\n");
  unsigned Known = 0, New = 0;
  for (const Finding &F : All.Findings)
    if (F.Kind == FindingKind::Defect)
      ++(F.Known ? Known : New);
  if (New || Known)
    llvm::errs() << "libtorch-tidy: " << New
                 << (New == 1 ? " finding" : " findings");
  if (Known)
    llvm::errs() << ", beside " << Known << " that the baseline holds";
  if (New || Known)
    llvm::errs() << '\n';
}

int run(CommandLine &Options, const char *Argv0, void *MainAddress) {
  if (!Options.Explain.empty()) {
    Expected<std::string> Page = explain(Options.Explain);
    if (!Page)
      return usageError(Page.takeError());
    llvm::outs() << *Page;
    return ExitClean;
  }

  Expected<FileSystem> FS = createFileSystem(Options);
  if (!FS)
    return usageError(FS.takeError());
  llvm::ErrorOr<std::string> WorkingDirectory =
      (*FS)->getCurrentWorkingDirectory();
  if (!WorkingDirectory)
    return usageError(makeError("there is no working directory: " +
                                WorkingDirectory.getError().message()));
  Expected<Configuration> Config = Configuration::create(Options, *FS);
  if (!Config)
    return usageError(Config.takeError());

  if (Options.ListChecks || Options.DumpConfig || Options.VerifyConfig) {
    llvm::SmallString<256> File(Options.Files.empty()
                                    ? StringRef("dummy.cpp")
                                    : StringRef(Options.Files.front()));
    (*FS)->makeAbsolute(File);
    Expected<clang::tidy::ClangTidyOptions> FileOptions =
        Config->optionsFor(File);
    if (!FileOptions)
      return usageError(FileOptions.takeError());
    std::vector<std::string> Enabled =
        Configuration::enabledChecks(*FileOptions);
    if (Options.VerifyConfig) {
      if (!Config->verify(File))
        return ExitUsage;
      llvm::outs() << "No config errors detected.\n";
    } else if (Options.DumpConfig) {
      llvm::outs() << Config->dump(File) << '\n';
    } else if (Options.Json) {
      llvm::outs() << catalogAsJson(Enabled);
    } else {
      if (Enabled.empty() && !Options.AllowNoChecks)
        return usageError(noCheckEnabled());
      llvm::outs() << "Enabled checks:";
      for (StringRef Name : Enabled)
        llvm::outs() << "\n    " << Name;
      llvm::outs() << "\n\n";
    }
    return ExitClean;
  }

  Expected<Selection> Selected = Selection::create(Options, *FS);
  if (!Selected)
    return usageError(Selected.takeError());
  if (auto Changed = Selected->changedSources();
      Changed && Options.Files.empty()) {
    if (Changed->empty()) {
      llvm::errs() << "libtorch-tidy: no C++ file is changed\n";
      return ExitClean;
    }
    Options.Files = std::move(*Changed);
  }
  if (Options.Files.empty())
    return usageError(makeError("no input files; --help tells the usage"));
  Expected<CompileCommands> Commands = CompileCommands::create(Options, *FS);
  if (!Commands)
    return usageError(Commands.takeError());
  Expected<std::vector<std::string>> Files =
      filesToAnalyse(Options, *Commands, *FS);
  if (!Files)
    return usageError(Files.takeError());
  const clang::tooling::ArgumentsAdjuster MakeOurs =
      makeCommandsOurs(Argv0, MainAddress, *FS, Options.Quiet);
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmParsers();

  if (!Options.EmitLibraryPch.empty()) {
    if (Files->size() != 1)
      return usageError(makeError("--emit-library-pch takes one header"));
    Expected<std::vector<CompileCommand>> Command =
        Commands->commandsFor(Files->front());
    if (!Command)
      return usageError(Command.takeError());
    return emitLibraryPch(Command->front(), Files->front(),
                          Options.EmitLibraryPch, Options, MakeOurs, *FS)
               ? ExitClean
               : ExitBroken;
  }

  Expected<Units> Units =
      unitsToAnalyse(*Files, Options, *Config, *Commands, *FS);
  if (!Units)
    return usageError(Units.takeError());
  Expected<Reports> Outputs = Reports::open(Options);
  if (!Outputs)
    return usageError(Outputs.takeError());
  std::optional<OutputFile> ExportFixes;
  if (!Options.ExportFixes.empty()) {
    Expected<OutputFile> Opened = OutputFile::open(Options.ExportFixes);
    if (!Opened)
      return usageError(Opened.takeError());
    ExportFixes = std::move(*Opened);
  }

  SourceTexts Texts(*FS);
  Analysis All = analyseAll(Units->List, Options, *Config, MakeOurs, Texts, *FS,
                            [&](const Unit &U, const Finding &F) {
                              return Units->askFor(U, F, *Config);
                            });
  std::vector<std::string> Sources;
  for (const Unit &U : Units->List)
    if (!U.OnlyForHeaders)
      Sources.push_back(canonicalPath(U.File, "", **FS));
  for (StringRef Header : Units->Headers.keys())
    Sources.push_back(Header.str());
  llvm::sort(Sources);
  Sources.erase(llvm::unique(Sources), Sources.end());
  llvm::SmallString<256> RealWorkingDirectory(*WorkingDirectory);
  (void)(*FS)->getRealPath(*WorkingDirectory, RealWorkingDirectory);
  const std::string Root = findProjectRoot(Sources, RealWorkingDirectory, **FS);
  CodeOutlines Outlines(Texts);
  Selected->apply(All.Findings, Sources, All.FailedUnits, *Config, Texts,
                  Outlines);
  const int Code = exitCode(All, Options);
  // Before fixes are applied.
  Report Written = {Root, All.Findings, Sources, All.FailedUnits,
                    Code, Texts,        Outlines};
  Written.HasBaseline = Selected->hasBaseline();
  Written.Vanished = Selected->vanished();
  if (!Options.Sarif.empty())
    std::tie(Written.From.Repository, Written.From.Revision) = originOf(Root);
  Outputs->make(Written);

  std::vector<ClangTidyError> Errors;
  for (const Finding &F : All.Findings) {
    if (F.Known)
      continue;
    Errors.push_back(std::move(All.Errors[F.Origin]));
    canonicalizeFixes(Errors.back(), **FS);
    Errors.back().IsWarningAsError = F.AsError;
  }
  const bool ApplyFixes =
      Options.Fix && (All.FailedUnits.empty() || Options.FixErrors);
  clang::tidy::ClangTidyContext Context(Config->createProvider(*FS));
  Context.setCurrentFile(Files->front());
  printText(Errors, Context,
            /*ToStderr=*/Outputs->useStdout() || Options.FixDryRun, *FS);
  if (Options.Fix && !ApplyFixes)
    tellError() << "there are compile errors and --fix-errors is not given: "
                   "fixes have NOT been applied\n";
  bool FixesDone = true;
  if (ApplyFixes) {
    FixRounds Rounds(Options, Texts);
    Rounds.run(All.Findings,
               [&](const fixits::FileTexts &Changed)
                   -> std::optional<std::vector<Finding>> {
                 Options.Edited = Changed;
                 Expected<FileSystem> ChangedFS = createFileSystem(Options);
                 if (!ChangedFS) {
                   llvm::consumeError(ChangedFS.takeError());
                   return std::nullopt;
                 }
                 SourceTexts ChangedTexts(*ChangedFS);
                 Analysis After = analyseAll(
                     Units->List, Options, *Config, MakeOurs, ChangedTexts,
                     *ChangedFS, [&](const Unit &U, const Finding &F) {
                       return Units->askFor(U, F, *Config);
                     });
                 if (After.FailedUnits != All.FailedUnits)
                   return std::nullopt;
                 // Neither lines nor fingerprints of a selection hold for
                 // changed text.
                 if (Selected->isAny())
                   After.Findings.clear();
                 return std::move(After.Findings);
               });
    Options.Edited.clear();
    FixesDone = Rounds.finish();
  }
  printSummary(All, Options);
  Selected->tell(Options.Quiet);

  if (ExportFixes) {
    std::string Yaml;
    llvm::raw_string_ostream OS(Yaml);
    clang::tidy::exportReplacements(Files->front(), Errors, OS);
    if (Error E = ExportFixes->write(OS.str()))
      return usageError(std::move(E));
  }
  if (Error E = Selected->write())
    return usageError(std::move(E));
  if (Error E = Outputs->write())
    return usageError(std::move(E));
  return FixesDone ? Code : int(ExitUsage);
}

} // namespace

int main(int Argc, const char **Argv) {
  llvm::InitLLVM Init(Argc, Argv);
  llvm::setBugReportMsg("libtorch-tidy crashed: please report it with the file "
                        "that was analysed and its compiler flags.\n");
  std::optional<CommandLine> Options = parseCommandLine(Argc, Argv);
  if (!Options)
    return ExitUsage;
  static int Anchor;
  int Code = run(*Options, Argv[0], &Anchor);
  // Else the stream ends the process with words of its own.
  llvm::outs().flush();
  if (std::error_code EC = llvm::outs().error()) {
    llvm::outs().clear_error();
    tellError() << "cannot write the standard output: " << EC.message() << '\n';
    Code = ExitUsage;
  }
  return Code;
}
