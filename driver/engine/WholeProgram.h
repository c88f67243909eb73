//===- WholeProgram.h - Units that are analysed together --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_ENGINE_WHOLEPROGRAM_H
#define LIBTORCH_TIDY_DRIVER_ENGINE_WHOLEPROGRAM_H

#include "driver/engine/Schedule.h"

namespace libtorch_tidy::driver {

/// Bounds how many files a chain of calls is followed through. What lies beyond
/// counts as code that cannot be seen.
inline constexpr unsigned MostRounds = 32;

/// The digest of what a unit is told where there is nothing to tell.
std::string toldNothing();

/// Links what the units of \p Jobs say. Returns the units of the next round:
/// those that are told something else than \p Told, digests of what they were
/// told before, which become those of now. Units that call into others of these
/// wait for them. \p Facts has what all units are told.
std::vector<size_t> whatIsNew(llvm::ArrayRef<Job> Jobs,
                              std::vector<std::string> &Told,
                              std::vector<flow::ProgramFacts> &Facts);

/// Analyses the units of \p Work with these \p Numbers. Each is told its
/// element of \p Facts, if there are any, whose \p Digests say where there is
/// nothing to tell; its job goes to its place in \p Jobs.
void analyseUnits(llvm::ArrayRef<size_t> Numbers,
                  llvm::ArrayRef<flow::ProgramFacts> Facts,
                  llvm::ArrayRef<std::string> Digests, std::vector<Job> &Jobs,
                  const AnalysisJob &Work, const fixits::FileTexts &Overlay);

/// Links what the units of \p Jobs say, which were analysed each on its own,
/// and analyses again those that are told something else than before, until
/// none is, or for as many rounds as calls are followed from file to file. \p
/// Jobs then has the last analysis of each. The outcome does not depend on the
/// order in which units are analysed: within a round they hear nothing of each
/// other. Fixes are tried when all is said: those of \p Jobs are untried.
void tellOfEachOther(std::vector<Job> &Jobs, const AnalysisJob &Work,
                     const fixits::FileTexts &Overlay);

/// Fills \p All, which was not run, with what the shards left (Shards.cpp). An
/// error names the shards that have to run first, or again.
llvm::Error mergeShards(Schedule &All, const AnalysisJob &Work);

/// Follows constructors into other files. \p Jobs, units of \p Work, were asked
/// for their models, each on its own. Where they call what one of them or of
/// \p Others defines, that file is read at the end of the calling one, as a
/// unity build would, and the models are asked for again, until nothing more is
/// found. A file that does not compile there is left out, and the models name
/// it among what is not known. \p Jobs then has the last answers.
void readTogether(std::vector<Job> &Jobs, const AnalysisJob &Work,
                  llvm::ArrayRef<Unit> Others,
                  const fixits::FileTexts &Overlay);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_WHOLEPROGRAM_H
