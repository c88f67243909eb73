//===- Batch.h - The analysis of many units ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_ENGINE_BATCH_H
#define LIBTORCH_TIDY_DRIVER_ENGINE_BATCH_H

#include "driver/cache/CacheFolder.h"
#include "driver/engine/Runner.h"
#include "driver/findings/SourceText.h"
#include "driver/pch/LibraryPch.h"
#include "driver/workers/Workers.h"
#include <set>

namespace libtorch_tidy::driver {

/// One run on several machines. Each analyses a shard of the units and leaves
/// what it found in a folder that all of them see: a file
/// `round-R/shard-I-of-N` for each round and shard. Of a whole program that is
/// one round: in the next one each shard reads what all of them said. When
/// nothing new was said, one process makes one report of it, the same as one
/// machine would.
struct ShardOptions {
  std::string Folder;      ///< That all of them see.
  unsigned Count = 0;      ///< Of machines; 0: this one does it all.
  unsigned Index = 0;      ///< This one's number, from 1 on; 0: it merges.
  unsigned GitSeconds = 0; ///< See SelectionOptions.
};

/// What is told on the standard error while units are analysed.
struct ProgressOptions {
  std::optional<bool> Show; ///< Absent: if it is of use.
  bool Quiet = false;
};

/// What the command line says about the analysis.
struct AnalysisOptions {
  ExtraArguments Extra;
  bool VerifyFixes = false; ///< Fixes are tried before they are offered.
  bool AuditNolint = false; ///< Report comments that serve no purpose.

  /// It is asked how the units are analysed: no result comes from the cache.
  bool Examines = false;
  /// Units are told what the others of their program do.
  bool WholeProgram = false;
  ShardOptions Shards;

  // How the work is done. Results are the same whatever these are.
  UnitOptions Unit;
  unsigned Jobs = 0; ///< Processes at a time; 0: as the machine can take.
  WorkLimits Limits; ///< Of a unit, over all rounds; trials of fixes have more.
  /// Off: units that include no header of LibTorch are analysed, too.
  bool SkipUnrelated = true;
  /// The same units come again: a precompiled header pays for one of them.
  bool WillRepeat = false;
  /// Library headers that this run would wait for are left to a process that
  /// goes on after it.
  bool Background = false;
  CacheOptions Cache;
  ProgressOptions Progress;
};

/// What is to be analysed, and how.
struct AnalysisJob {
  llvm::ArrayRef<Unit> Units;
  AnalysisOptions Options;
  const Configuration &Config;
  clang::tooling::ArgumentsAdjuster MakeOurs;
  std::string VfsOverlay;   ///< Of createFileSystem(), which took it.
  const driver::Units &All; ///< Findings that it does not ask for are dropped.
};

/// Everything the units said.
struct Analysis {
  std::vector<Finding> Findings; ///< Merged.
  std::vector<Silence> Silences; ///< When they are asked for.
  /// Findings that are too weak for the level of this run.
  unsigned Weaker = 0;
  Failures FailedUnits;
  /// Functions that are too much for the analysis, ordered, each once.
  std::vector<GivenUpFunction> GivenUp;
  clang::tidy::ClangTidyStats Stats;
  /// Units that include no header of LibTorch.
  unsigned SkippedUnits = 0;
  /// The same, and those that began with precompiled headers in this run, as
  /// canonical paths.
  std::set<std::string> Unrelated, Precompiled;
  /// Those that include headers with names of LibTorch's, and nothing of it.
  /// Ordered, each once.
  std::vector<std::string> UnitsWithoutTorch;
  /// Units that were to say what they do to others.
  Failures Unheard;
  std::vector<bytes::UnitBudget> Budgets; ///< When they are asked for.
  /// Precompiled headers that a later run would use, and this one went without.
  std::vector<PchRecipe> Postponed;
};

/// Analyses the units in processes of their own, with what the cache has of
/// results and precompiled headers. The outcome depends on neither, nor on the
/// number of processes. Files are as on the disk, except for those of
/// \p Overlay. \p Texts has the same.
Analysis analyseAll(const AnalysisJob &Work, SourceTexts &Texts,
                    const fixits::FileTexts &Overlay = {});

/// Does the next round of a shard. An error names the shards whose files of the
/// round before are missing, cut off or about something else.
llvm::Error runShard(const AnalysisJob &Work);

/// The number of shards that have left files in \p Folder.
llvm::Expected<unsigned> shardsIn(llvm::StringRef Folder);

/// The same as analyseAll(), of what shards have left. An error names those
/// that are missing.
llvm::Expected<Analysis> mergeAll(const AnalysisJob &Work, SourceTexts &Texts);

/// Starts a process that makes what \p After postponed, and comes back at once.
/// The process belongs to no terminal, holds no file of the caller's open, and
/// gives way to everything else. There is one at a time for a cache: where
/// another one is at work, it ends.
void precompileAfter(const Analysis &After, const AnalysisOptions &Options,
                     llvm::StringRef VfsOverlay);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_BATCH_H
