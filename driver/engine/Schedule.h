//===- Schedule.h - Which unit is analysed when, and from what --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_ENGINE_SCHEDULE_H
#define LIBTORCH_TIDY_DRIVER_ENGINE_SCHEDULE_H

#include "driver/cache/CacheFolder.h"
#include "driver/engine/Batch.h"
#include "driver/pch/LibraryPch.h"
#include "driver/project/IncludeScanner.h"
#include "driver/project/UnitInputs.h"
#include "driver/workers/Workers.h"
#include <set>

namespace libtorch_tidy::driver {

// What a run reports as its activity (cpp::Activity). Before these it looks up
// what there is to do.
inline constexpr llvm::StringLiteral PrecompilingActivity =
                                         "precompiling the library headers",
                                     AnalysingActivity =
                                         "the analysis of units";

/// One unit, and how far it has come.
struct Job {
  const Unit *U = nullptr;
  /// What it is told of its program; null: it is on its own.
  const flow::ProgramFacts *Told = nullptr;
  clang::tooling::CommandLineArguments Arguments;
  std::string Question;     ///< Digest of all that is asked of its text.
  std::string MainArgument; ///< The source file among them; can be empty.
  std::string ResultKey;    ///< Empty: the result is not kept.
  /// Of a run that tried no fix: only the trials are left to do.
  struct Findings {
    UnitResult Result;
    ResultInputs In;
  };
  std::optional<Findings> Untried;
  PchChoices Pchs;
  std::string Unfit;   ///< The key of one it did not compile with.
  std::string Suspect; ///< The key of one that was rejected.

  llvm::StringRef pchKey() const {
    return Pchs.empty() ? llvm::StringRef() : Pchs.front().Key;
  }

  enum { Open, Skipped, Done } State = Open;
  std::optional<UnitResult> Result; ///< Absent when it crashed or was ended.
  WorkCap Met = WorkCap::None;
  WorkTime Took; ///< In all rounds so far.
  /// What the result depends on, for other processes; see ShardOptions.
  std::optional<ResultInputs> Inputs;
  std::vector<std::shared_ptr<const FileSetCopy>> Sets; ///< Of Inputs.
  /// The files of the user's that it was made of, with their textIdentity().
  std::vector<PathAndText> Read;
  /// A copy of its process from before the checks, for a next round.
  Parked Copy;
  std::string Trouble; ///< Why there is no result.
  std::string Errors;  ///< What it wrote to the standard error.
};

/// Brings the units through their stages: asks the cache of results, reads
/// #include lines, has precompiled headers made that are worth it, and runs
/// the rest, as many at a time as the machine can take.
class Schedule {
public:
  /// As analyseAll() takes them. \p Programs has what each unit is told of its
  /// program; empty: each is on its own.
  Schedule(const AnalysisJob &Work, const fixits::FileTexts &Overlay,
           llvm::ArrayRef<const flow::ProgramFacts *> Programs = {});

  void run();

  /// As the units. Before run(), their files have not been looked at.
  std::vector<Job> Jobs;
  /// Of run(): see Analysis.
  std::vector<PchRecipe> Postponed;
  llvm::vfs::FileSystem &files() const { return *FS; }

  /// Nothing of LibTorch is included: the unit need not be analysed.
  bool isUnrelated(Job &J);
  FileSets &sets() { return Sets; }
  InputsNow &inputs() { return Now; }

private:
  /// A file system of its own for a unit, as it has its own working directory.
  FileSystem makeFileSystem() const;
  void describe(Job &J, const Unit &U);
  /// Empty when the file cannot be read. \p Tried: of a run that tries fixes.
  std::string resultKey(const Job &J, bool Tried) const;
  void lookUp(Job &J);
  void scan(Job &J);
  IncludeScanner *scannerFor(const Job &J);
  PchPlan planOfPchs(unsigned AtATime);
  void dropPostponed();
  void tidyCache();
  void dropCopies();
  void startUnit(size_t Id, Workers &Pool);
  /// \p J is a copy, of which it goes on with another one when it was parked.
  /// \p ForTrials: see startUnit(); null without one.
  std::string analyseHere(Job &J, const LibraryPch *Pch,
                          const PchRecipe *ForTrials);
  const LibraryPch *makeForTrials(const PchRecipe &Recipe);
  ResultInputs inputsOf(const Job &J, UnitInputs Read, const LibraryPch *Pch,
                        std::vector<FileSetCopy> &ForOthers);
  std::string troubleOf(const Workers::Outcome &Said) const;
  /// True when the unit is to be run again.
  bool finishUnit(Job &J, Workers::Outcome Said);

  const AnalysisJob &Work;
  const fixits::FileTexts &Overlay;
  const llvm::ArrayRef<const flow::ProgramFacts *> Programs;
  FileSystem FS; ///< Of the process.
  std::optional<CacheFolder> Folder;
  FileSets Sets;
  InputsNow Now;
  std::optional<ResultCache> Results;
  std::optional<LibraryPchs> Pchs;
  /// By folder and flags without the file.
  std::map<std::string, std::unique_ptr<IncludeScanner>> Scanners;
  /// Keys of precompiled headers that this run makes, or has tried to.
  std::set<std::string> Builds;
  bool Wrote = false;
  std::optional<ParkingLimit> Copies; ///< Absent: none is made.
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_SCHEDULE_H
