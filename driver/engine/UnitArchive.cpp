//===- UnitArchive.cpp - The result of a unit as bytes --------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/engine/UnitArchive.h"
#include "driver/cache/Archive.h"
#include "llvm/ADT/STLExtras.h"

using clang::tooling::Replacement;
using llvm::StringRef;

namespace libtorch_tidy::driver {

namespace {

// The two have the same members, so that one function for each part of a result
// both writes and reads it.

class Writer : public ArchiveWriter {
public:
  template <typename T> void number(T &Value) {
    ArchiveWriter::number(static_cast<uint64_t>(Value));
  }
  void text(std::string &Value) { ArchiveWriter::text(Value); }
  template <typename T, typename Function>
  void list(std::vector<T> &Elements, Function One) {
    ArchiveWriter::number(Elements.size());
    for (T &Element : Elements)
      One(Element);
  }
};

class Reader : public ArchiveReader {
public:
  using ArchiveReader::ArchiveReader;
  template <typename T> void number(T &Value) {
    Value = static_cast<T>(ArchiveReader::number());
  }
  void text(std::string &Value) { Value = ArchiveReader::text().str(); }
  template <typename T, typename Function>
  void list(std::vector<T> &Elements, Function One) {
    ArchiveReader::list([&] { One(Elements.emplace_back()); });
  }
};

} // namespace

template <typename Archive> static void pass(Archive &A, Place &P) {
  A.text(P.Path);
  for (unsigned *Number : {&P.Begin, &P.End, &P.Line, &P.Column})
    A.number(*Number);
  A.text(P.Spelled);
}

template <typename Archive>
static void pass(Archive &A, std::vector<Highlight> &Highlights) {
  A.list(Highlights, [&](Highlight &H) {
    A.text(H.Spelled);
    A.number(H.Begin);
    A.number(H.Length);
  });
}

static void pass(Writer &A, fixits::FileEdits &Edits) {
  std::vector<const Replacement *> All;
  for (const auto &[Path, Replacements] : Edits)
    for (const Replacement &R : Replacements)
      All.push_back(&R);
  A.list(All, [&](const Replacement *R) {
    A.ArchiveWriter::text(R->getFilePath());
    A.ArchiveWriter::number(R->getOffset());
    A.ArchiveWriter::number(R->getLength());
    A.ArchiveWriter::text(R->getReplacementText());
  });
}

static void pass(Reader &A, fixits::FileEdits &Edits) {
  A.ArchiveReader::list([&] {
    const std::string Path = A.ArchiveReader::text().str();
    unsigned Offset, Length;
    A.number(Offset);
    A.number(Length);
    // They were in one set of replacements, so they fit.
    llvm::consumeError(Edits[Path].add(
        Replacement(Path, Offset, Length, A.ArchiveReader::text())));
  });
}

/// What the parent knows better is left out.
template <typename Archive> static void pass(Archive &A, Finding &F) {
  A.number(F.Kind);
  A.text(F.Check);
  A.number(F.Strength);
  A.number(F.AsError);
  A.number(F.IsError);
  A.text(F.Message);
  pass(A, F.Where);
  pass(A, F.Highlights);
  A.text(F.Function);
  A.list(F.Steps, [&](FindingStep &Step) {
    pass(A, Step.Where);
    A.text(Step.Text);
    pass(A, Step.Highlights);
    pass(A, Step.Fix);
  });
  pass(A, F.Fix);
  A.number(F.Verdict);
  A.text(F.WhyNot);
  A.text(F.NotWithOthers);
  A.text(F.Directory);
}

template <typename Archive> static void pass(Archive &A, NolintAudit::View &V) {
  A.text(V.Unit);
  A.list(V.Files, [&](NolintAudit::File &File) {
    A.text(File.Path);
    A.text(File.Spelled);
    A.list(File.Skipped, [&](std::pair<unsigned, unsigned> &Range) {
      A.number(Range.first);
      A.number(Range.second);
    });
    A.list(File.Functions, [&](std::string &Name) { A.text(Name); });
    A.number(File.IsReported);
  });
  A.list(V.Said, [&](NolintAudit::Heard &Said) {
    A.text(Said.Check);
    A.text(Said.Path);
    A.number(Said.Offset);
    A.number(Said.TooWeak);
  });
  A.list(V.LookedFor, [&](std::string &Check) { A.text(Check); });
  A.number(V.AsError);
}

template <typename Archive> static void pass(Archive &A, UnitResult &Result) {
  A.text(Result.File);
  A.number(Result.Failed);
  A.number(Result.PchRejected);
  A.number(Result.LacksTorch);
  clang::tidy::ClangTidyStats &Stats = Result.Stats;
  for (unsigned *Count :
       {&Stats.ErrorsDisplayed, &Stats.ErrorsIgnoredCheckFilter,
        &Stats.ErrorsIgnoredNOLINT, &Stats.ErrorsIgnoredNonUserCode,
        &Stats.ErrorsIgnoredLineFilter})
    A.number(*Count);
  A.list(Result.Findings, [&](Finding &F) { pass(A, F); });
  A.list(Result.GivenUp, [&](GivenUpFunction &F) {
    A.text(F.Name);
    pass(A, F.Where);
  });
  pass(A, Result.Nolint);
}

std::string toBytes(UnitResult Result) {
  Writer Out;
  pass(Out, Result);
  return Out.take();
}

std::optional<UnitResult> unitResultFromBytes(StringRef Bytes) {
  Reader In(Bytes);
  UnitResult Result;
  pass(In, Result);
  if (!In.finished())
    return std::nullopt;
  return Result;
}

} // namespace libtorch_tidy::driver
