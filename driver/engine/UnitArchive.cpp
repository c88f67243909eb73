//===- UnitArchive.cpp - The result of a unit as bytes --------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/engine/UnitArchive.h"
#include "driver/cache/Archive.h"
#include "llvm/ADT/STLExtras.h"

using clang::tidy::ClangTidyError;
using clang::tooling::DiagnosticMessage;
using clang::tooling::FileByteRange;
using clang::tooling::Replacement;
using llvm::StringRef;

namespace libtorch_tidy::driver {

static void write(ArchiveWriter &Out, const DiagnosticMessage &M) {
  Out.text(M.Message);
  Out.text(M.FilePath);
  Out.number(M.FileOffset);
  Out.list(M.Ranges, [&](const FileByteRange &Range) {
    Out.text(Range.FilePath);
    Out.number(Range.FileOffset);
    Out.number(Range.Length);
  });
  std::vector<const Replacement *> Fix;
  for (const auto &File : M.Fix)
    for (const Replacement &R : File.second)
      Fix.push_back(&R);
  Out.list(Fix, [&](const Replacement *R) {
    Out.text(R->getFilePath());
    Out.number(R->getOffset());
    Out.number(R->getLength());
    Out.text(R->getReplacementText());
  });
}

static DiagnosticMessage readMessage(ArchiveReader &In) {
  DiagnosticMessage M;
  M.Message = In.text();
  M.FilePath = In.text();
  M.FileOffset = In.number();
  In.list([&] {
    FileByteRange Range;
    Range.FilePath = In.text();
    Range.FileOffset = In.number();
    Range.Length = In.number();
    M.Ranges.push_back(std::move(Range));
  });
  In.list([&] {
    StringRef Path = In.text();
    const unsigned Offset = In.number(), Length = In.number();
    // They were in one set of replacements, so they fit.
    llvm::consumeError(
        M.Fix[Path].add(Replacement(Path, Offset, Length, In.text())));
  });
  return M;
}

std::string toBytes(const UnitResult &Result) {
  ArchiveWriter Out;
  Out.text(Result.File);
  Out.number(Result.Failed);
  Out.number(Result.PchRejected);
  const clang::tidy::ClangTidyStats &Stats = Result.Stats;
  for (unsigned Count :
       {Stats.ErrorsDisplayed, Stats.ErrorsIgnoredCheckFilter,
        Stats.ErrorsIgnoredNOLINT, Stats.ErrorsIgnoredNonUserCode,
        Stats.ErrorsIgnoredLineFilter})
    Out.number(Count);
  Out.list(Result.Levels, [&](const LevelMap::value_type &Entry) {
    const auto &[Check, Path, Offset] = Entry.first;
    Out.text(Check);
    Out.text(Path);
    Out.number(Offset);
    Out.number(static_cast<unsigned>(Entry.second));
  });
  Out.list(Result.NolintFiles, [&](const NolintFile &File) {
    Out.text(File.Path);
    Out.list(File.Skipped, [&](const std::pair<unsigned, unsigned> &Range) {
      Out.number(Range.first);
      Out.number(Range.second);
    });
  });
  Out.list(Result.Errors, [&](const ClangTidyError &E) {
    Out.text(E.DiagnosticName);
    Out.number(E.DiagLevel);
    Out.text(E.BuildDirectory);
    Out.number(E.IsWarningAsError);
    Out.list(E.EnabledDiagnosticAliases,
             [&](const std::string &Alias) { Out.text(Alias); });
    write(Out, E.Message);
    Out.list(E.Notes, [&](const DiagnosticMessage &M) { write(Out, M); });
  });
  Out.list(Result.Trials, [&](const FixTrial &Trial) {
    Out.number(static_cast<unsigned>(Trial.Alone.What));
    Out.text(Trial.Alone.Reason);
    Out.text(Trial.NotWithOthers);
  });
  return Out.take();
}

std::optional<UnitResult> unitResultFromBytes(StringRef Bytes) {
  ArchiveReader In(Bytes);
  UnitResult Result;
  Result.File = In.text();
  Result.Failed = In.number();
  Result.PchRejected = In.number();
  clang::tidy::ClangTidyStats &Stats = Result.Stats;
  for (unsigned *Count :
       {&Stats.ErrorsDisplayed, &Stats.ErrorsIgnoredCheckFilter,
        &Stats.ErrorsIgnoredNOLINT, &Stats.ErrorsIgnoredNonUserCode,
        &Stats.ErrorsIgnoredLineFilter})
    *Count = In.number();
  In.list([&] {
    std::string Check = In.text().str(), Path = In.text().str();
    const unsigned Offset = In.number();
    Result.Levels[{std::move(Check), std::move(Path), Offset}] =
        static_cast<Level>(In.number());
  });
  In.list([&] {
    NolintFile File;
    File.Path = In.text().str();
    In.list([&] {
      const unsigned From = In.number();
      File.Skipped.emplace_back(From, In.number());
    });
    Result.NolintFiles.push_back(std::move(File));
  });
  In.list([&] {
    StringRef Name = In.text();
    const auto DiagLevel = static_cast<ClangTidyError::Level>(In.number());
    StringRef Directory = In.text();
    ClangTidyError E(Name, DiagLevel, Directory,
                     /*IsWarningAsError=*/In.number());
    In.list([&] { E.EnabledDiagnosticAliases.push_back(In.text().str()); });
    E.Message = readMessage(In);
    In.list([&] { E.Notes.push_back(readMessage(In)); });
    Result.Errors.push_back(std::move(E));
  });
  In.list([&] {
    FixTrial Trial;
    Trial.Alone.What = static_cast<fixits::Verdict>(In.number());
    Trial.Alone.Reason = In.text().str();
    Trial.NotWithOthers = In.text().str();
    Result.Trials.push_back(std::move(Trial));
  });
  if (!In.finished() ||
      (!Result.Trials.empty() && Result.Trials.size() != Result.Errors.size()))
    return std::nullopt;
  return Result;
}

} // namespace libtorch_tidy::driver
