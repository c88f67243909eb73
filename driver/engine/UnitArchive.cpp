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
  template <typename T, typename Function>
  void set(std::set<T> &Elements, Function One) {
    ArchiveWriter::list(Elements, [&](T Element) { One(Element); });
  }
  template <typename T, typename Function>
  void map(std::map<std::string, T> &Elements, Function One) {
    ArchiveWriter::list(Elements, [&](const auto &Element) {
      ArchiveWriter::text(Element.first);
      T Value = Element.second;
      One(Value);
    });
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
  template <typename T, typename Function>
  void set(std::set<T> &Elements, Function One) {
    ArchiveReader::list([&] {
      T Element;
      One(Element);
      Elements.insert(std::move(Element));
    });
  }
  template <typename T, typename Function>
  void map(std::map<std::string, T> &Elements, Function One) {
    ArchiveReader::list([&] { One(Elements[ArchiveReader::text().str()]); });
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

template <typename Archive>
static void pass(Archive &A, std::optional<uint64_t> &Number) {
  bool Known = Number.has_value();
  A.number(Known);
  if (Known)
    A.number(Number ? *Number : Number.emplace());
}

template <typename Archive> static void pass(Archive &A, FindingReason &Why) {
  A.text(Why.Name);
  A.text(Why.Detail);
}

template <typename Archive> static void pass(Archive &A, Silence &S) {
  A.text(S.Check);
  pass(A, S.Where);
  pass(A, S.Why);
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
  pass(A, F.Bytes);
  A.list(F.Reasons, [&](FindingReason &Why) { pass(A, Why); });
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

template <typename Archive>
static void pass(Archive &A, std::vector<unsigned> &Numbers) {
  A.list(Numbers, [&](unsigned &Number) { A.number(Number); });
}

template <typename Archive>
static void pass(Archive &A, std::set<std::string> &Names) {
  A.set(Names, [&](std::string &Name) { A.text(Name); });
}

template <typename Archive>
static void pass(Archive &A, flow::FunctionSummary::Value &V) {
  pass(A, V.Labels);
  A.number(V.Unknown);
  A.list(V.Parts, [&](std::pair<std::string, flow::FunctionSummary::Value> &P) {
    A.text(P.first);
    pass(A, P.second);
  });
}

template <typename Archive>
static void pass(Archive &A, flow::FunctionSummary &S) {
  A.number(S.Trains);
  A.number(S.ExitMode);
  A.number(S.ReportsResults);
  A.list(S.Frozen, [&](std::string &Field) { A.text(Field); });
  A.number(S.LetsTrain);
  A.number(S.HasParameters);
  A.list(S.Places, [&](flow::FunctionSummary::Place &P) {
    A.number(P.Root);
    A.list(P.Path, [&](std::string &Name) { A.text(Name); });
  });
  A.list(S.Labels, [&](flow::FunctionSummary::Label &L) {
    for (unsigned *Number : {&L.Kind, &L.Where, &L.Consumers})
      A.number(*Number);
    A.number(L.Arises);
    A.number(L.RunsModule);
    pass(A, L.Assigned);
    A.text(L.From);
  });
  pass(A, S.Return);
  A.list(S.Exit, [&](std::pair<unsigned, flow::FunctionSummary::Value> &Held) {
    A.number(Held.first);
    pass(A, Held.second);
  });
  A.list(S.Additions, [&](flow::FunctionSummary::Addition &Added) {
    for (unsigned *Number : {&Added.Where, &Added.Carry, &Added.How})
      A.number(*Number);
    pass(A, Added.Added);
    A.number(Added.Bounded);
    A.text(Added.At);
  });
}

template <typename Archive>
static void pass(Archive &A, torch::TensorTraits &Traits) {
  bool Known = Traits.Dtype.has_value();
  A.number(Known);
  if (Known) {
    int64_t Dtype = Traits.Dtype.value_or(0);
    A.number(Dtype);
    Traits.Dtype = Dtype;
  }
  for (bool *Said : {&Traits.OnHost, &Traits.Contiguous, &Traits.OnDevice})
    A.number(*Said);
}

template <typename Archive>
static void pass(Archive &A, std::set<unsigned> &Numbers) {
  A.set(Numbers, [&](unsigned &Number) { A.number(Number); });
}

template <typename Archive>
static void pass(Archive &A, flow::MemorySummary &S) {
  A.list(S.Lends, [&](flow::MemorySummary::Lent &L) {
    A.number(L.Of);
    A.number(L.To);
    A.text(L.Field);
    A.number(L.What);
    A.number(L.Sure);
    A.text(L.Through);
    A.text(L.Part);
    A.number(L.AtStart);
    pass(A, L.Traits);
  });
  for (std::set<unsigned> *Numbers :
       {&S.Resizes, &S.Frees, &S.Keeps, &S.Operands})
    pass(A, *Numbers);
}

template <typename Archive, typename T>
static void pass(Archive &A, std::optional<T> &Part) {
  bool Known = Part.has_value();
  A.number(Known);
  if (Known)
    pass(A, Part ? *Part : Part.emplace());
}

template <typename Archive>
static void pass(Archive &A, flow::FunctionFacts &F) {
  pass(A, F.Flow);
  pass(A, F.Memory);
  A.list(F.Stores, [&](flow::FunctionFacts::Stored &Stored) {
    A.number(Stored.Index);
    A.text(Stored.Field);
  });
  A.text(F.Forward);
  A.map(F.CopyUses, [&](flow::FunctionFacts::CopyUse &Use) {
    for (bool *Does : {&Use.Seeded, &Use.Indexed, &Use.Strided, &Use.Emptied})
      A.number(*Does);
    A.text(Use.FirstAt);
    A.text(Use.FilledAt);
  });
}

template <typename Archive>
static void pass(Archive &A, flow::UnitFacts::Forward &F) {
  for (std::string *Text : {&F.Function, &F.At, &F.Runs})
    A.text(*Text);
  A.number(F.Strength);
}

template <typename Archive> static void pass(Archive &A, flow::FieldFacts &F) {
  A.number(F.Consumers);
  for (bool *Does : {&F.IsConsumed, &F.IsWritten, &F.IsReleased})
    A.number(*Does);
  A.text(F.EvalAt);
}

template <typename Archive> static void pass(Archive &A, flow::UnitFacts &F) {
  A.text(F.File);
  A.list(F.Functions, [&](flow::UnitFacts::Function &Function) {
    A.text(Function.Usr);
    pass(A, Function.Does);
  });
  A.set(F.Calls, [&](flow::UnitFacts::Call &Call) {
    A.text(Call.Caller);
    A.text(Call.Callee);
    A.number(Call.Guarded);
  });
  A.set(F.Forwards, [&](flow::UnitFacts::Forward &Said) { pass(A, Said); });
  A.text(F.GuardableMain);
  for (std::set<std::string> *Names : {&F.Uses, &F.Methods, &F.TensorFields})
    pass(A, *Names);
  A.map(F.Fields, [&](flow::FieldFacts &Facts) { pass(A, Facts); });
  A.map(F.Overriders, [&](std::set<std::string> &Names) { pass(A, Names); });
  for (bool *Said : {&F.Does.Trains, &F.Does.CallsEval, &F.Does.CreatesGraphs,
                     &F.DefinesMain, &F.Exports, &F.Failed})
    A.number(*Said);
}

template <typename Archive>
static void pass(Archive &A, flow::ProgramFacts &F) {
  A.map(F.Functions, [&](flow::FunctionFacts &Does) { pass(A, Does); });
  A.map(F.CalledGuarded, [&](bool &Guarded) { A.number(Guarded); });
  for (std::set<std::string> *Names : {&F.CoveredByMain, &F.Defined})
    pass(A, *Names);
  A.set(F.CoversInMain, [&](flow::ProgramFacts::Covered &Covered) {
    A.text(Covered.Callee);
    pass(A, Covered.Forward);
  });
  A.map(F.Fields, [&](flow::FieldFacts &Facts) { pass(A, Facts); });
  for (bool *Said :
       {&F.Does.Trains, &F.Does.CallsEval, &F.Does.CreatesGraphs, &F.Closed})
    A.number(*Said);
}

template <typename Archive> static void pass(Archive &A, bytes::Spot &At) {
  A.text(At.File);
  A.number(At.Line);
}

template <typename Archive> static void pass(Archive &A, bytes::TensorRow &T) {
  A.text(T.Name);
  A.text(T.Type);
  A.list(T.Shape, [&](int64_t &Size) { A.number(Size); });
  for (uint64_t *Number : {&T.Elements, &T.Bytes})
    A.number(*Number);
  for (bool *Said : {&T.IsParameter, &T.GetsGradient, &T.HasShape, &T.IsKnown})
    A.number(*Said);
}

template <typename Archive> static void pass(Archive &A, bytes::ModuleRow &M) {
  for (std::string *Text : {&M.Path, &M.Name, &M.Class, &M.SameAs, &M.Result})
    A.text(*Text);
  A.number(M.Kept);
  for (bytes::Spot *At : {&M.Defined, &M.Made})
    pass(A, *At);
  A.number(M.Depth);
  A.list(M.Tensors, [&](bytes::TensorRow &T) { pass(A, T); });
  for (bool *Said : {&M.IsIncomplete, &M.IsUnlisted, &M.IsRepeated})
    A.number(*Said);
}

template <typename Archive>
static void pass(Archive &A, std::vector<bytes::MissingRow> &Missing) {
  A.list(Missing, [&](bytes::MissingRow &M) {
    pass(A, M.Where);
    A.text(M.Text);
  });
}

template <typename Archive> static void pass(Archive &A, bytes::StepRows &S) {
  A.list(S.InputTexts, [&](std::string &Text) { A.text(Text); });
  pass(A, S.InputFrom);
  A.text(S.Result);
  for (uint64_t *Number :
       {&S.Inputs, &S.Kept, &S.ReservedByInference, &S.ReservedByTraining})
    A.number(*Number);
  A.number(S.LargestBatch);
  for (bytes::PeakRow *Peak :
       {&S.Inference, &S.Unguarded, &S.FirstStep, &S.LaterSteps}) {
    A.number(Peak->Bytes);
    pass(A, Peak->Where);
    A.text(Peak->Module);
    A.number(Peak->IsBackward);
    A.number(Peak->IsOptimizer);
  }
  for (auto *Line : {&S.InferenceLine, &S.LaterLine})
    A.list(*Line, [&](bytes::TimeRow &Point) {
      A.number(Point.Place);
      A.number(Point.IsBackward);
      A.number(Point.Most);
      A.number(Point.After);
    });
  A.list(S.Places, [&](bytes::PlaceRow &Place) {
    pass(A, Place.Where);
    A.text(Place.Module);
  });
  pass(A, S.Missing);
  A.number(S.Fails);
}

template <typename Archive> static void pass(Archive &A, bytes::UnitBudget &B) {
  A.list(B.Models, [&](bytes::ModelRows &Model) {
    A.text(Model.Title);
    pass(A, Model.Made);
    A.list(Model.Modules, [&](bytes::ModuleRow &M) { pass(A, M); });
    pass(A, Model.Missing);
    A.number(Model.HasStep);
    pass(A, Model.Step);
  });
  A.list(B.Refused, [&](bytes::RefusedModel &M) {
    A.text(M.Title);
    pass(A, M.Where);
    A.text(M.Reason);
    A.number(M.IsNotMade);
  });
  A.list(B.Known, [&](std::string &Known) { A.text(Known); });
  for (auto *Functions : {&B.Defines, &B.Wants})
    A.list(*Functions, [&](bytes::SharedFunction &F) {
      A.text(F.Name);
      pass(A, F.Declared);
    });
  A.number(B.HasModel);
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
  A.list(Result.Silences, [&](Silence &S) { pass(A, S); });
  A.list(Result.GivenUp, [&](GivenUpFunction &F) {
    A.text(F.Name);
    pass(A, F.Where);
  });
  pass(A, Result.Nolint);
  pass(A, Result.Facts);
  pass(A, Result.Budget);
}

std::string toBytes(UnitResult Result) {
  Writer Out;
  pass(Out, Result);
  return Out.take();
}

std::string toBytes(flow::ProgramFacts Facts) {
  Writer Out;
  pass(Out, Facts);
  return Out.take();
}

/// Time lines name places by number.
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
  Reader In(Bytes);
  UnitResult Result;
  pass(In, Result);
  if (!In.finished() || !isConsistent(Result.Budget) ||
      llvm::any_of(Result.Facts.Functions, [](const auto &F) {
        return F.Does.Flow && !F.Does.Flow->isConsistent();
      }))
    return std::nullopt;
  return Result;
}

} // namespace libtorch_tidy::driver
