//===- UnitArchive.cpp - The result of a unit as bytes --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/cache/Archive.h"
#include "driver/engine/Runner.h"
#include "llvm/ADT/STLExtras.h"

using clang::tooling::Replacement;
using llvm::StringRef;

namespace libtorch_tidy::driver {

static void archive(ArchiveWriter &Out, const fixits::FileEdits &Edits) {
  std::vector<const Replacement *> All;
  for (const auto &[Path, Replacements] : Edits)
    for (const Replacement &R : Replacements)
      All.push_back(&R);
  Out.list(All, [&](const Replacement *R) {
    Out.text(R->getFilePath());
    Out.number(R->getOffset());
    Out.number(R->getLength());
    Out.text(R->getReplacementText());
  });
}

static void restore(ArchiveReader &In, fixits::FileEdits &Edits) {
  In.list([&] {
    const std::string Path = In.text().str();
    const unsigned Offset = In.number(), Length = In.number();
    // They were in one set of replacements, so they do not overlap.
    llvm::consumeError(
        Edits[Path].add(Replacement(Path, Offset, Length, In.text())));
  });
}

// Places in the syntax tree have no meaning outside the unit.
static void archive(ArchiveWriter &, const clang::SourceLocation &) {}
static void restore(ArchiveReader &, clang::SourceLocation &) {}

std::string toBytes(const UnitOptions &Asked) {
  return toBytes<UnitOptions>(Asked);
}

std::string toBytes(const UnitResult &Result) {
  return toBytes<UnitResult>(Result);
}

std::string toBytes(const flow::ProgramFacts &Facts) {
  return toBytes<flow::ProgramFacts>(Facts);
}

/// Do all points of the time lines refer to places that exist?
static bool isConsistent(const bytes::UnitBudget &Budget) {
  return llvm::all_of(Budget.Models, [](const bytes::ModelRows &Model) {
    const bytes::StepRows &Step = Model.Step;
    auto IsNamed = [&](const bytes::TimeRow &Point) {
      return Point.Place < Step.Places.size();
    };
    return llvm::all_of(Step.InferenceLine, IsNamed) &&
           llvm::all_of(Step.LaterLine, IsNamed);
  });
}

std::optional<UnitResult> unitResultFromBytes(StringRef Bytes) {
  std::optional<UnitResult> Result = fromBytes<UnitResult>(Bytes);
  if (Result && (!isConsistent(Result->Budget) ||
                 llvm::any_of(Result->Facts.Functions, [](const auto &F) {
                   return F.Does.Flow && !F.Does.Flow->isConsistent();
                 })))
    return std::nullopt;
  return Result;
}

} // namespace libtorch_tidy::driver
