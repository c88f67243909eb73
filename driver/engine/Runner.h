//===- Runner.h - The analysis of one translation unit ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_ENGINE_RUNNER_H
#define LIBTORCH_TIDY_DRIVER_ENGINE_RUNNER_H

#include "analysis/bytes/Bytes.h"
#include "analysis/flow/program/Program.h"
#include "clang-tidy/ClangTidyDiagnosticConsumer.h"
#include "driver/engine/Units.h"
#include "driver/findings/NolintAudit.h"
#include "clang/Tooling/ArgumentsAdjusters.h"

namespace libtorch_tidy::driver {

struct LibraryPch;
struct UnitInputs;

/// Flags that the user adds to compile commands.
struct ExtraArguments {
  std::vector<std::string> Before, After;
};

/// How units are analysed. All of it is part of the cache's key.
struct UnitOptions {
  bool Stats = false; ///< Print what the analysis cost.
  /// Off: every declaration of the unit is walked and every body parsed, as
  /// stock clang-tidy does; tests compare the results.
  bool UseScope = true;
  bool CollectFacts = false; ///< For other units of the program.
  bool AsksWhy = false;      ///< For the reasons of silence, too.
  /// Elaborate models, and run no checks.
  std::optional<bytes::BudgetRequest> Budget;
  /// The process analyses more: the memory of the unit is given back.
  bool FreesMemory = false;
};

/// What the analysis of a unit gives.
struct UnitResult {
  std::string File;
  std::vector<Finding> Findings;
  NolintAudit::View Nolint;
  std::vector<Silence> Silences;        ///< When they are asked for.
  std::vector<GivenUpFunction> GivenUp; ///< In files that are reported on.
  clang::tidy::ClangTidyStats Stats;
  flow::UnitFacts Facts;    ///< When they are asked for.
  bytes::UnitBudget Budget; ///< The same.
  /// Not analysed in full: there were compile errors.
  bool Failed = false;
  /// The compiler did not take the precompiled header: nothing was analysed.
  bool PchRejected = false;
  /// Headers with names of LibTorch's were included, and nothing of LibTorch
  /// was seen in them.
  bool LacksTorch = false;
};

/// The command line of the compiler for \p U, all changes made to it.
clang::tooling::CommandLineArguments
argumentsOf(const Unit &U, const ExtraArguments &Extra,
            const clang::tidy::ClangTidyOptions &FileOptions,
            const clang::tooling::ArgumentsAdjuster &MakeOurs);

using ToldWhenParsed = llvm::function_ref<const flow::ProgramFacts *()>;

/// Runs the checks on one unit. Units share nothing: several can run at once.
/// \p FS may hold other text for the unit than the disk does, as a fix under
/// test. \p Arguments are those of argumentsOf().
///
/// \p Told gives what the rest of its program says; null: it is on its own. It
/// is asked when the unit is parsed, as only checks need it.
/// \p Pch is a precompiled header that suits the unit, or null. \p Inputs, when
/// not null, receives what was read besides. With \p CompilerWarnings those are
/// reported, too.
UnitResult analyse(const Unit &U,
                   const clang::tooling::CommandLineArguments &Arguments,
                   const UnitOptions &Options, const Configuration &Config,
                   ToldWhenParsed Told, FileSystem FS,
                   const LibraryPch *Pch = nullptr,
                   UnitInputs *Inputs = nullptr, bool CompilerWarnings = false);

/// The adjuster that runs before all others: --extra-arg and the ExtraArgs of
/// .clang-tidy files.
clang::tooling::ArgumentsAdjuster addExtraArgs(const ExtraArguments &Extra);

/// For another process of this build.
std::string toBytes(const UnitResult &Result);

// The same bytes for equal values, and for no others.
std::string toBytes(const UnitOptions &Asked);
std::string toBytes(const flow::ProgramFacts &Facts);

/// Absent when \p Bytes are not what toBytes() made.
std::optional<UnitResult> unitResultFromBytes(llvm::StringRef Bytes);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_RUNNER_H
