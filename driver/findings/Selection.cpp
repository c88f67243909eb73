//===- Selection.cpp - Which findings count -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/findings/Selection.h"
#include "driver/findings/NolintAudit.h"
#include "driver/project/ChangedLines.h"
#include "driver/project/CompileCommands.h"
#include "driver/project/Messages.h"
#include "driver/project/Paths.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace libtorch_tidy::driver {

/// The canonical folder that a file lies in, or will.
static std::string folderOf(StringRef File, llvm::vfs::FileSystem &FS) {
  llvm::SmallString<256> Path(File), Real;
  FS.makeAbsolute(Path);
  // The file a symbolic link names, if it is there already.
  if (!FS.getRealPath(Path, Real))
    return llvm::sys::path::parent_path(Real).str();
  StringRef Folder = llvm::sys::path::parent_path(Path);
  return FS.getRealPath(Folder, Real) ? Folder.str() : Real.str().str();
}

Expected<Selection>
Selection::create(const SelectionOptions &Options,
                  llvm::ArrayRef<std::string> Files,
                  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS) {
  Selection Result;
  Result.Options = Options;
  Result.FS = FS;
  llvm::ErrorOr<std::string> Here = FS->getCurrentWorkingDirectory();
  const std::string Folder = Here ? *Here : ".";
  std::vector<std::string> Named;
  if (Options.Diff || Options.PreCommit)
    for (const std::string &File : Files)
      Named.push_back(canonicalPath(File, "", *FS));
  if (Options.Diff || Options.Staged) {
    Expected<ChangedLines> Lines =
        Options.Diff ? linesChangedSince(*Options.Diff, Folder,
                                         Options.GitSeconds, Named)
                     : stagedLines(Folder, Options.GitSeconds);
    if (!Lines)
      return Lines.takeError();
    Result.Changed = std::move(*Lines);
  }
  if (Options.PreCommit) {
    Expected<ChangedLines> Lines = linesOfHook(Folder, Options.GitSeconds);
    if (!Lines)
      return Lines.takeError();
    // A file without changes is asked for by `pre-commit run --all-files`.
    for (const std::string &File : Named)
      if (!Lines->contains(File))
        Lines->addWholeFile(File);
    Result.Changed = std::move(*Lines);
  }
  if (!Options.Baseline.empty()) {
    auto Text = FS->getBufferForFile(Options.Baseline);
    if (!Text)
      return makeError("cannot read the baseline '" + Options.Baseline +
                       "': " + Text.getError().message());
    Expected<Baseline> Read =
        Baseline::parse((*Text)->getBuffer(), folderOf(Options.Baseline, *FS));
    if (!Read)
      return makeError("malformed baseline '" + Options.Baseline +
                       "': " + llvm::toString(Read.takeError()));
    Result.Known = std::move(*Read);
  }
  if (!Options.WriteBaseline.empty()) {
    Result.WrittenFolder = folderOf(Options.WriteBaseline, *FS);
    Expected<OutputFile> File = OutputFile::open(Options.WriteBaseline);
    if (!File)
      return File.takeError();
    Result.Written = std::move(*File);
  }
  return Result;
}

/// What CMake writes is nobody's change, also where git is not told to ignore
/// it. A build in the folder of the sources is not told apart.
static bool isInBuildFolder(StringRef File, llvm::vfs::FileSystem &FS) {
  const StringRef Top = gitWorkTree(File, FS);
  for (StringRef Folder = llvm::sys::path::parent_path(File);
       Folder.size() > Top.size();
       Folder = llvm::sys::path::parent_path(Folder))
    if (FS.exists(Folder + "/CMakeCache.txt"))
      return !FS.exists(Folder + "/CMakeLists.txt");
  return false;
}

std::optional<std::vector<std::string>> Selection::changedSources() const {
  if (!Changed)
    return std::nullopt;
  std::vector<std::string> Result;
  for (std::string &File : Changed->files())
    if (isCxxFile(File) && FS->exists(File) && !isInBuildFolder(File, *FS))
      Result.push_back(std::move(File));
  return Result;
}

/// Whether a run that had nothing to say of \p E would have reported it if it
/// were still there.
bool Selection::wasLookedFor(const BaselineEntry &E,
                             llvm::ArrayRef<std::string> Units,
                             const Failures &FailedUnits,
                             const Configuration &Config) const {
  if (!FS->exists(Known->absolute(E.File)))
    return true;
  const std::string Unit = Known->absolute(E.Unit);
  if (Options.HasLineFilter || !llvm::is_contained(Units, Unit) ||
      FailedUnits.count(Unit))
    return false;
  if (E.Check == nolintAuditEntry().Name)
    return Options.AuditsNolint;
  auto Enabled = Config.optionsFor(Unit);
  if (!Enabled) {
    llvm::consumeError(Enabled.takeError());
    return false;
  }
  return llvm::is_contained(Configuration::enabledChecks(*Enabled), E.Check) &&
         E.Strength <= static_cast<unsigned>(
                           Configuration::weakestLevel(*Enabled, E.Check));
}

/// Is the place of \p F, any step of the path to it, or anything that it stands
/// for on a changed line?
static bool isOn(const ChangedLines &Changed, const Finding &F,
                 SourceTexts &Texts) {
  auto Touches = [&](const Place &Where) {
    if (!Changed.contains(Where.Path))
      return false;
    unsigned Last = Where.Line;
    if (const SourceText *Text = Texts.get(Where.Path))
      Last = Text->position(std::max(Where.Begin, Where.End)).Line;
    return Changed.touch(Where.Path, Where.Line, Last);
  };
  auto IsTouched = [&](const FindingStep &Step) { return Touches(Step.Where); };
  return Touches(F.Where) || llvm::any_of(F.Steps, IsTouched) ||
         llvm::any_of(F.Members, IsTouched);
}

void Selection::apply(std::vector<Finding> &Findings,
                      llvm::ArrayRef<std::string> Units,
                      const Failures &FailedUnits, const Configuration &Config,
                      SourceTexts &Texts) {
  Incomplete = !FailedUnits.empty();
  std::vector<BaselineEntry> NotAnalysed;
  if (Known)
    for (BaselineEntry &E : Known->match(Findings, Texts, *FS)) {
      const bool Gone = wasLookedFor(E, Units, FailedUnits, Config);
      if (!E.GoneMembers)
        (Gone ? Vanished : NotAnalysed).push_back(std::move(E));
      else if (Gone)
        Reduced.push_back(std::move(E));
    }
  if (Written) {
    Baseline New(WrittenFolder);
    New.add(Findings, Texts);
    // A run on some files does not forget the others.
    for (BaselineEntry &E : NotAnalysed)
      New.add(std::move(E), *Known);
    WrittenCount = New.size();
    Content = New.text();
    for (Finding &F : Findings)
      F.Known |= F.Kind == FindingKind::Defect;
    Vanished.clear();
    Reduced.clear();
  }
  dropUnchanged(Findings, Texts);
}

void Selection::dropUnchanged(std::vector<Finding> &Findings,
                              SourceTexts &Texts) const {
  if (Changed)
    llvm::erase_if(Findings, [&](const Finding &F) {
      return F.Kind == FindingKind::Defect && !isOn(*Changed, F, Texts);
    });
}

void Selection::applyAfter(
    const std::map<std::string, std::vector<Hunk>> &Commented,
    std::vector<Finding> &Findings, SourceTexts &Texts) {
  if (Known)
    Known->match(Findings, Texts, *FS);
  if (Changed)
    for (const auto &[Path, Hunks] : Commented) {
      Changed->moveOver(Path, Hunks);
      // To a later run, these lines are changed as well.
      if (Options.Diff)
        Changed->add(Path, Hunks);
    }
  dropUnchanged(Findings, Texts);
}

std::vector<Finding> Selection::vanished() const {
  std::vector<Finding> Result;
  for (const BaselineEntry &E : Vanished) {
    Finding F;
    F.Check = E.Check;
    F.Strength = static_cast<Level>(std::min(E.Strength, 2U));
    F.Message = E.Message;
    F.Where.Path = Known->absolute(E.File);
    F.Known = true;
    Result.push_back(std::move(F));
  }
  return Result;
}

void Selection::tellVanished() const {
  size_t Count = Vanished.size();
  for (const BaselineEntry &E : Reduced)
    Count += E.GoneMembers;
  if (!Count)
    return;
  llvm::errs() << "libtorch-tidy: note: " << counted(Count, "finding")
               << " of the baseline '" << printable(Options.Baseline) << "' "
               << (Count == 1 ? "no longer occurs" : "no longer occur")
               << "; write it again with 'libtorch-tidy baseline', so that it "
                  "cannot hide a new one:\n";
  auto Tell = [](const BaselineEntry &E, const std::string &What) {
    llvm::errs() << "  "
                 << printable(E.File +
                              (E.Function.empty() ? "" : ", in " + E.Function) +
                              ": " + What + E.Message + " [" + E.Check + "]")
                 << '\n';
  };
  for (const BaselineEntry &E : Vanished)
    Tell(E, "");
  for (const BaselineEntry &E : Reduced)
    Tell(E, std::to_string(E.GoneMembers) + " of the " +
                std::to_string(E.Members->size()) +
                " others that this finding stands for: ");
}

Error Selection::write(bool Quiet) {
  if (!Written)
    return Error::success();
  if (Incomplete)
    return makeError("the baseline '" + Options.WriteBaseline +
                     "' is not written: not all files could be analysed");
  if (Error E = Written->write(Content))
    return E;
  if (!Quiet)
    llvm::errs() << "libtorch-tidy: wrote " << counted(WrittenCount, "finding")
                 << " to '" << printable(Options.WriteBaseline) << "'\n";
  return Error::success();
}

} // namespace libtorch_tidy::driver
