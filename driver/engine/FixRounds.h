//===- FixRounds.h - Fixes, tried and applied -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// --fix and --fix-dry-run. Fixes are applied in memory, the units analysed
/// again, and so on; files are written once, at the end, each as a whole.

#ifndef LIBTORCH_TIDY_DRIVER_ENGINE_FIXROUNDS_H
#define LIBTORCH_TIDY_DRIVER_ENGINE_FIXROUNDS_H

#include "driver/engine/Runner.h"
#include "driver/findings/Finding.h"
#include "driver/findings/SourceText.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace libtorch_tidy::driver {

/// Judges the fixes of the findings in \p Result, and withdraws those that are
/// not acceptable. \p Again analyses the unit once more with the compiler's
/// warnings, in the file system it is given: one of \p NewFileSystem with other
/// texts. Costs one analysis, one for each fix, and one for all of them
/// together when there are several.
void tryFixes(UnitResult &Result,
              llvm::function_ref<FileSystem()> NewFileSystem,
              llvm::function_ref<UnitResult(FileSystem)> Again);

/// "a.cpp:3:7"
std::string placeOf(const Finding &F);

/// Writes source files that are on disk as \p Analysed has them. A problem is
/// reported, for a file that has changed with \p WhatNot happens to it, and
/// the others are written; false when there was one.
bool writeSources(const fixits::FileTexts &Changed, SourceTexts &Analysed,
                  llvm::StringRef WhatNot);

/// What the command line says about fixes.
struct FixOptions {
  bool Apply = false;
  bool ApplyDespiteErrors = false; ///< Of the compiler.
  bool DryRun = false;             ///< Goes with Apply: only print the changes.
  /// Only fixes that were tried.
  bool OnlyVerified = false;
};

class FixRounds {
public:
  /// One fix can make room for another, but not for ever.
  static constexpr unsigned MaxRounds = 5;

  /// Analyses all units with other texts. Absent when something does not
  /// compile that did before.
  using Analyse = llvm::function_ref<std::optional<std::vector<Finding>>(
      const fixits::FileTexts &)>;

  FixRounds(const FixOptions &Options, SourceTexts &Texts)
      : Options(Options), Texts(Texts) {}

  /// Applies the fixes of \p Findings, which are of the texts given to the
  /// constructor, and of what is found after that, in so many \p Rounds.
  void run(std::vector<Finding> Findings, Analyse Again,
           unsigned Rounds = MaxRounds);

  /// Writes the files, or prints the diff, and prints which fixes are left and,
  /// unless \p Quiet, how many were applied. Every problem is reported; false
  /// when there was one.
  bool finish(bool Quiet);

private:
  /// The edits that fit together, earlier ones first.
  fixits::FileEdits choose(llvm::ArrayRef<Finding> Findings);
  void noteWithheld(const Finding &F);
  bool printDiff() const;

  const FixOptions &Options;
  SourceTexts &Texts;
  fixits::FileTexts Changed;
  unsigned Suggested = 0, Applied = 0;
  std::vector<std::string> Notes;
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_FIXROUNDS_H
