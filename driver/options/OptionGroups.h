//===- OptionGroups.h - Options that belong together ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// For the files that define options of the command line: those about models,
/// shards and runs are in OptionGroups.cpp, the others in CommandLine.cpp.

#ifndef LIBTORCH_TIDY_DRIVER_OPTIONS_OPTIONGROUPS_H
#define LIBTORCH_TIDY_DRIVER_OPTIONS_OPTIONGROUPS_H

#include "driver/budget/BudgetReport.h"
#include "driver/engine/Batch.h"
#include "driver/output/Reports.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace libtorch_tidy::driver {

inline llvm::cl::OptionCategory Category("libtorch-tidy options");

/// An option of this program; LLVM's libraries bring others.
/// \p Value is what the help calls its value; empty where that goes without
/// saying.
template <typename T> struct Opt : llvm::cl::opt<T> {
  template <typename... Modifiers>
  Opt(llvm::StringRef Name, llvm::StringRef Value, llvm::StringRef Help,
      const Modifiers &...Given)
      : llvm::cl::opt<T>(Name, llvm::cl::value_desc(Value),
                         llvm::cl::desc(Help), Given...,
                         llvm::cl::cat(Category)) {}

  /// Its value, if it was given.
  std::optional<T> given() const {
    return this->getNumOccurrences() ? std::optional<T>(this->getValue())
                                     : std::nullopt;
  }
};

struct Flag : Opt<bool> {
  template <typename... Modifiers>
  Flag(llvm::StringRef Name, llvm::StringRef Help, const Modifiers &...Given)
      : Opt(Name, "", Help, Given...) {}
};

inline bool isGivenEmpty(const llvm::cl::opt<std::string> &Option) {
  return Option.getNumOccurrences() && Option.empty();
}

/// An error about the first of the options \p Names, with spaces between them,
/// that was given: its name and \p Why.
llvm::Error refuse(llvm::StringRef Names, const llvm::Twine &Why);

/// The message of the first of \p Rules that is broken.
llvm::Error check(llvm::ArrayRef<std::pair<bool, llvm::StringRef>> Rules);

/// Reads the options about shards.
llvm::Error readShards(ShardOptions &Result);

/// Reads the options about the bytes of models, with what --html says.
llvm::Error readBudget(llvm::StringRef Html, BudgetOptions &Result);

/// Reads the options about reports of a run: what --watch-report is asked for,
/// with what --html says and \p Files, and the report for --confirm.
llvm::Error readWatched(llvm::ArrayRef<std::string> Files, llvm::StringRef Html,
                        WatchReportOptions &Result, std::string &ToConfirm);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_OPTIONS_OPTIONGROUPS_H
