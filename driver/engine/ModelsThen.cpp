//===- ModelsThen.cpp - The models of another revision --------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/engine/ModelsThen.h"
#include "driver/project/Paths.h"
#include "driver/project/Printable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/WithColor.h"
#include <set>

using clang::tooling::CompileCommand;
using llvm::Expected;
using llvm::StringRef;

namespace libtorch_tidy::driver {

/// \p U, compiled from \p Before, the former name of its file.
static Unit renamed(Unit U, const std::string &Before,
                    llvm::vfs::FileSystem &FS) {
  const std::string Now = canonicalPath(U.File, "", FS);
  for (std::string &Argument : U.Command.CommandLine)
    if (Argument == U.Command.Filename ||
        (!StringRef(Argument).starts_with("-") &&
         canonicalPath(Argument, U.Command.Directory, FS) == Now))
      Argument = Before;
  U.Command.Filename = U.File = Before;
  return U;
}

/// Adds the source files of \p Then that are gone, and are not in \p Units
/// already.
static void addGone(const RevisionFiles &Then, CompileCommands &Commands,
                    std::vector<Unit> &Units, llvm::vfs::FileSystem &FS,
                    std::vector<std::string> &Unknown) {
  std::vector<std::string> Asked = Then.Asked;
  if (llvm::ErrorOr<std::string> Here = FS.getCurrentWorkingDirectory();
      Asked.empty() && Here)
    Asked.push_back(canonicalPath(Commands.projectFolder(*Here), "", FS));
  if (Asked.empty() || Asked.back().empty())
    Asked = {Then.Top};
  std::set<std::string> Moved;
  for (const Unit &U : Units)
    Moved.insert(U.File);
  for (const std::string &File : Then.Gone) {
    if (!isCxxFile(File) || isHeader(File) || Moved.count(File))
      continue;
    // Others are read for what they define.
    const bool IsAskedFor = llvm::any_of(
        Asked, [&](StringRef Folder) { return isBelow(File, Folder); });
    auto AddUnknown = [&](const std::string &Why) {
      if (IsAskedFor)
        Unknown.push_back("the compile command of '" + File +
                          "', which is gone, is not known" + Why);
    };
    // Flags for files that no database lists are no answer.
    if (!Commands.lists(File)) {
      AddUnknown("");
      continue;
    }
    Expected<std::vector<CompileCommand>> Found = Commands.commandsFor(File);
    if (!Found) {
      AddUnknown(": " + toString(Found.takeError()));
      continue;
    }
    for (CompileCommand &Command : *Found)
      Units.push_back({File, std::move(Command), /*OnlyForHeaders=*/false,
                       /*OnlyForFacts=*/!IsAskedFor});
  }
}

static Analysis analyseThen(const RevisionFiles &Then, const AnalysisJob &Now,
                            CompileCommands &Commands, FileSystem FS,
                            std::vector<std::string> &Unknown) {
  std::vector<Unit> Units;
  for (const Unit &U : Now.Units) {
    const std::string File = canonicalPath(U.File, "", *FS);
    if (!Then.isNew(File))
      Units.push_back(U);
    else if (auto It = Then.WasCalled.find(File); It != Then.WasCalled.end())
      Units.push_back(renamed(U, It->second, *FS));
  }
  addGone(Then, Commands, Units, *FS, Unknown);
  // Those that are asked for come first.
  llvm::stable_sort(Units, [](const Unit &A, const Unit &B) {
    return A.OnlyForFacts < B.OnlyForFacts;
  });
  AnalysisJob Work = Now;
  Work.Units = Units;
  Work.Hidden = Then.New;
  SourceTexts Texts(withTexts(FS, Then.Texts, Then.New));
  return analyseAll(Work, Texts, Then.Texts);
}

BudgetSides sidesOf(const RevisionFiles &Then, const bytes::UnitBudget &Models,
                    const Analysis &Now, const AnalysisJob &Work,
                    CompileCommands &Commands, FileSystem FS) {
  BudgetSides Result;
  Result.After = Models;
  Result.LacksAfter = !Now.FailedUnits.empty();
  Result.Revision = Then.Name;
  Result.Commit = Then.Commit;
  Result.Unknown = Then.Unknown;
  const Analysis Before =
      analyseThen(Then, Work, Commands, std::move(FS), Result.Unknown);
  Result.Before = merged(Before.Budgets);
  Result.LacksBefore = !Before.FailedUnits.empty();
  for (const auto &[File, Trouble] : Before.FailedUnits)
    llvm::WithColor::error(llvm::errs(), "libtorch-tidy")
        << "the models of '" << printable(File) << "' in "
        << printable(Then.Name) << " are not known: " << printable(Trouble)
        << '\n';
  for (StringRef Unknown : Result.Unknown)
    llvm::WithColor::warning(llvm::errs(), "libtorch-tidy")
        << "in " << printable(Then.Name) << ", " << printable(Unknown) << '\n';
  return Result;
}

} // namespace libtorch_tidy::driver
