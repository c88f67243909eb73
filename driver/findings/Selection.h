//===- Selection.h - Which findings count -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_FINDINGS_SELECTION_H
#define LIBTORCH_TIDY_DRIVER_FINDINGS_SELECTION_H

#include "driver/findings/Finding.h"
#include "driver/findings/Fingerprint.h"
#include "driver/project/ChangedLines.h"
#include "driver/project/Configuration.h"
#include "driver/project/OutputFile.h"
#include <optional>

namespace libtorch_tidy::driver {

/// One accepted finding. Paths are relative to the folder of the file, so that
/// neither the working directory nor the place of the project matters.
struct BaselineEntry {
  std::string Check, File, Function, Fingerprint, Message;
  std::string Unit; ///< The source file whose analysis reported it.
  unsigned Strength = 0;
  /// Fingerprints of what else the finding stood for, sorted; absent when that
  /// is not known.
  std::optional<std::vector<std::string>> Members = std::nullopt;
  /// How many of Members were there no longer when it was matched.
  size_t GoneMembers = 0;
};

/// A file of findings that a project has accepted: later runs tell only what
/// is new, and which of the accepted ones are gone.
class Baseline {
public:
  /// An empty one. \p Folder is absolute and canonical.
  explicit Baseline(llvm::StringRef Folder) : Folder(Folder) {}

  /// Reads what text() wrote. The error says what is wrong with the text.
  static llvm::Expected<Baseline> parse(llvm::StringRef Text,
                                        llvm::StringRef Folder);

  /// Adds the defects among \p Findings.
  void add(llvm::ArrayRef<Finding> Findings, SourceTexts &Texts);
  /// Adds an entry of another baseline.
  void add(BaselineEntry Entry, const Baseline &Other);
  size_t size() const { return Entries.size(); }

  /// JSON, ordered; equal entries give equal bytes.
  std::string text() const;

  /// Marks the findings that are accepted, each entry for one finding, and
  /// returns the entries that are left, and those of which members are. A
  /// finding is accepted by an entry of
  /// its file and fingerprint, best of the same function; or by one whose file
  /// is no longer there, which was moved. One that stands for more than its
  /// entry is not accepted, and its story says what is new.
  std::vector<BaselineEntry> match(llvm::MutableArrayRef<Finding> Findings,
                                   SourceTexts &Texts,
                                   llvm::vfs::FileSystem &FS) const;

  /// The absolute path of a path of an entry.
  std::string absolute(llvm::StringRef Path) const;

private:
  std::string Folder;
  std::vector<BaselineEntry> Entries;
};

/// What the command line says about which findings count.
struct SelectionOptions {
  std::string Baseline, WriteBaseline;
  std::optional<std::string> Diff; ///< Only lines changed since a revision.
  bool Staged = false;             ///< Only lines staged for a commit.
  bool PreCommit = false;          ///< As a hook of pre-commit.
  unsigned GitSeconds = 0;         ///< That a call of git may take; 0: any.
  // Of an analysis that leaves findings out by itself.
  bool HasLineFilter = false, AuditsNolint = false;
};

/// Of all that the checks say, what the user wants to hear: the findings that
/// the baseline does not hold, and those that have to do with changed lines.
class Selection {
public:
  /// Reads the baseline, asks git, and opens the baseline to write: whatever
  /// is wrong with them is reported before the analysis. \p Files are those of
  /// the command line.
  static llvm::Expected<Selection>
  create(const SelectionOptions &Options, llvm::ArrayRef<std::string> Files,
         llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

  /// The C++ files that are changed, for a command line that names none.
  /// Absent without --diff and --staged.
  std::optional<std::vector<std::string>> changedSources() const;
  bool isInSubmodule(llvm::StringRef File) const {
    return Changed && Changed->isInSubmodule(File);
  }

  /// Marks the findings of \p Findings that the baseline holds, and drops
  /// those that have nothing to do with changed lines. \p Units were analysed,
  /// \p FailedUnits of them not in full.
  void apply(std::vector<Finding> &Findings, llvm::ArrayRef<std::string> Units,
             const Failures &FailedUnits, const Configuration &Config,
             SourceTexts &Texts);

  /// What of \p Findings is left when comments were added to the lines of
  /// \p Hunks of each file, of what apply() left before.
  void applyAfter(const std::map<std::string, std::vector<Hunk>> &Commented,
                  std::vector<Finding> &Findings, SourceTexts &Texts);

  /// Are some findings left out?
  bool isAny() const { return Known || Changed || Options.HasLineFilter; }
  bool hasBaseline() const { return Known.has_value(); }
  /// What the baseline holds and was looked for without success: without a
  /// place but for the file.
  std::vector<Finding> vanished() const;

  /// Says on the standard error what of the baseline no longer occurs.
  void tellVanished() const;
  /// Writes the new baseline, if one was asked for, and then says so.
  llvm::Error write(bool Quiet);

private:
  void dropUnchanged(std::vector<Finding> &Findings, SourceTexts &Texts) const;
  bool wasLookedFor(const BaselineEntry &E, llvm::ArrayRef<std::string> Units,
                    const Failures &FailedUnits,
                    const Configuration &Config) const;

  SelectionOptions Options;
  std::optional<ChangedLines> Changed;
  std::optional<Baseline> Known;
  std::vector<BaselineEntry> Vanished, Reduced; ///< As a whole, in part.
  std::string WrittenFolder, Content;           ///< Of Written.
  std::optional<OutputFile> Written;
  size_t WrittenCount = 0;
  bool Incomplete = false; ///< Some unit failed.
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS;
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_FINDINGS_SELECTION_H
