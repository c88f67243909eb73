//===- Doctor.cpp - How a file is analysed, and with what -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Doctor.h"
#include "analysis/torch/api/Version.h"
#include "driver/engine/Runner.h"
#include "driver/project/IncludeScanner.h"
#include "driver/project/Messages.h"
#include "driver/project/Paths.h"
#include "llvm/Support/Path.h"

using clang::tooling::CommandLineArguments;
using llvm::StringRef;

namespace libtorch_tidy::driver {

/// A row; one without a label goes on with the one above.
static void row(StringRef Label, const llvm::Twine &Text) {
  llvm::outs() << "  " << llvm::left_justify(Label, 16) << printable(Text.str())
               << '\n';
}

/// What the command line loses: what changes nothing in one row, and each that
/// could.
static void
printLeftOut(llvm::ArrayRef<std::pair<std::string, FlagFate>> LeftOut) {
  std::string Useless;
  for (const auto &[Flag, Fate] : LeftOut)
    if (Fate == FlagFate::Useless)
      Useless += (Useless.empty() ? "" : " ") + Flag;
  if (!Useless.empty())
    row("left out", Useless + ": not needed for the analysis");
  for (const auto &[Flag, Fate] : LeftOut)
    if (Fate == FlagFate::Refused)
      row("left out", Flag + ": it could run a program or write a file; the "
                             "code may mean something else with it");
}

/// Which LibTorch \p Arguments lead to.
static void printTorch(const CommandLineArguments &Arguments, const Unit &U,
                       const Checkup &Seen) {
  auto Disk = llvm::expectedToOptional(createFileSystem(Seen.Work.VfsOverlay));
  std::unique_ptr<IncludeScanner> Scanner;
  if (Disk && !(*Disk)->setCurrentWorkingDirectory(U.Command.Directory))
    Scanner = IncludeScanner::create(Arguments, *Disk);
  if (!Scanner)
    return row("LibTorch", "unknown: the compiler does not take these flags");
  for (StringRef Name : torch::VersionHeaders) {
    auto Found = Scanner->find({Name, /*Angled=*/true}, std::nullopt);
    if (!Found)
      continue;
    StringRef Folder = Found->getName();
    Folder.consume_back(("/" + Name).str());
    auto Text = Scanner->Files.getBufferForFile(*Found);
    const std::string Version =
        Text ? torch::versionIn((*Text)->getBuffer()) : "";
    return row("LibTorch", (Version.empty() ? "of an unknown version, "
                                            : Version + ", by its ") +
                               Name + " in '" + Folder + "'");
  }
  row("LibTorch", "not found in the folders of these flags");
}

static void printLibraryHeaders(const std::string &File, const Checkup &Seen) {
  const AnalysisOptions &Options = Seen.Work.Options;
  const bool IsPostponed =
      llvm::any_of(Seen.All.Postponed, [&](const PchRecipe &R) {
        return canonicalPath(R.MainFile, R.Directory, *Seen.FS) == File;
      });
  row("its headers",
      Seen.All.Precompiled.count(File) ? "precompiled"
      : !Options.Cache.Use             ? "not precompiled: --no-cache is given"
      : IsPostponed ? "not yet precompiled: that follows this run"
                    : "not precompiled: it pays from the second file or run "
                      "on, where the file includes them at its top");
}

static void printConfiguration(const Unit &U, const Configuration &Config) {
  const std::vector<std::string> Places = Config.placesFor(U.File);
  for (const std::string &Place : Places)
    row(&Place == &Places.front() ? "configuration" : "", Place);
  if (Places.empty())
    row("configuration", "none: all checks, level 1 and stronger");
  if (auto Options = llvm::expectedToOptional(Config.optionsFor(U.File)))
    row("checks", llvm::Twine(Configuration::enabledChecks(*Options).size()) +
                      " enabled; --list-checks names them");
}

static void printOutcome(const std::string &File, const Checkup &Seen) {
  auto Failed = Seen.All.FailedUnits.find(File);
  const size_t Findings =
      llvm::count_if(Seen.All.Findings, [&](const Finding &F) {
        return F.Kind == FindingKind::Defect && F.Unit == File;
      });
  if (Failed != Seen.All.FailedUnits.end())
    row("exit code 3", Failed->second);
  else if (Seen.All.Unrelated.count(File))
    row("skipped", "it includes no header of LibTorch");
  else
    row("analysed",
        "in full, with " + llvm::Twine(counted(Findings, "finding")));
}

void printCheckup(const Checkup &Seen) {
  for (const Unit &U : Seen.Work.Units) {
    const std::string File = canonicalPath(U.File, "", *Seen.FS);
    llvm::outs() << printable(U.File) << '\n';
    row("compiled by", Seen.Commands.originFor(U.File));
    row("in folder", U.Command.Directory);
    row("command", llvm::join(U.Command.CommandLine, " "));
    std::vector<std::pair<std::string, FlagFate>> LeftOut;
    auto Options =
        llvm::expectedToOptional(Seen.Work.Config.optionsFor(U.File));
    const CommandLineArguments Arguments =
        argumentsOf(U, Seen.Work.Options.Extra,
                    Options.value_or(clang::tidy::ClangTidyOptions()),
                    Seen.MakeOurs([&](StringRef Flag, FlagFate Fate) {
                      LeftOut.emplace_back(Flag.str(), Fate);
                    }));
    printLeftOut(LeftOut);
    row("analysed as", llvm::join(Arguments, " "));
    printTorch(Arguments, U, Seen);
    printLibraryHeaders(File, Seen);
    printConfiguration(U, Seen.Work.Config);
    printOutcome(File, Seen);
  }
}

} // namespace libtorch_tidy::driver
