//===- Document.cpp - What is said about models, in any form --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/budget/Document.h"
#include "checks/base/Amounts.h"
#include "driver/project/Messages.h"
#include "driver/project/Paths.h"
#include "llvm/ADT/StringExtras.h"

using libtorch_tidy::bytes::ModelRows;
using libtorch_tidy::bytes::ModuleRow;
using libtorch_tidy::bytes::Spot;
using llvm::StringRef;

namespace libtorch_tidy::driver {

std::string lineOf(const Spot &At, StringRef Folder) {
  if (At.File.empty())
    return "";
  return printable(relativePath(At.File, Folder)) +
         (At.Line ? ":" + std::to_string(At.Line) : "");
}

std::string grouped(uint64_t Number) { return grouped(std::to_string(Number)); }

std::string bounded(Bound Says, const std::string &Number) {
  return Says == Bound::Exact      ? Number
         : Says == Bound::AtLeast  ? ">=" + Number
         : Says == Bound::AtMost   ? "<=" + Number
         : Says == Bound::Estimate ? "~" + Number
                                   : "?";
}

std::string boundedInWords(Bound Says, const std::string &Number) {
  return Says == Bound::Exact      ? Number
         : Says == Bound::AtLeast  ? "at least " + Number
         : Says == Bound::AtMost   ? "at most " + Number
         : Says == Bound::Estimate ? "about " + Number
                                   : "not known";
}

std::string modelTitle(const ModelRows &Model, const BudgetOptions &Options) {
  return printable(Model.Title) +
         (Options.Type.empty() ? "" : ", converted to " + Options.Type);
}

std::string placeOf(const bytes::PeakRow &Peak, StringRef Folder) {
  if (Peak.IsOptimizer)
    return "in the optimizer's step";
  const std::string Line = lineOf(Peak.Where, Folder);
  if (Line.empty())
    return "";
  const std::string At =
      Peak.Module.empty() ? Line : printable(Peak.Module) + " (" + Line + ")";
  return (Peak.IsBackward ? "in the backward pass of " : "in ") + At;
}

std::vector<Total> modelTotals(const ModelRows &Model,
                               const BudgetOptions &Options) {
  const BudgetTotals Sums = totalsOf(Model.Modules, Options.Optimizer);
  std::vector<Total> Totals = {
      {"parameters", Sums.Parameters, "", "parameters"},
      {"buffers", Sums.Buffers, "", "buffers"},
      {"gradients", Sums.Gradients, "", "gradients"}};
  if (Sums.OptimizerState)
    Totals.push_back(
        {"state of " + Options.Optimizer, *Sums.OptimizerState, "", "state"});
  if (Sums.Unlisted)
    Totals.push_back({"in no parameters()", Sums.Unlisted, "", "unlisted"});
  Totals.push_back({"together", Sums.all()});
  return Totals;
}

std::vector<Total> stepTotals(const bytes::StepRows &Step, StringRef Folder) {
  auto Peak = [&](StringRef Name, const bytes::PeakRow &P) {
    return Total{Name.str(), P.Bytes, placeOf(P, Folder)};
  };
  std::vector<Total> Result = {Total{"kept for backward", Step.Kept},
                               Peak("peak of inference", Step.Inference),
                               Peak("the same, unguarded", Step.Unguarded),
                               Peak("peak of the first step", Step.FirstStep),
                               Peak("peak of later steps", Step.LaterSteps)};
  if (Step.ReservedByInference)
    Result.push_back({"reserved by inference", Step.ReservedByInference});
  if (Step.ReservedByTraining)
    Result.push_back({"reserved by training", Step.ReservedByTraining});
  for (Total &T : Result)
    T.IsTraining = StringRef(T.Name).contains("step") ||
                   StringRef(T.Name).contains("training");
  return Result;
}

std::string batchSentence(const bytes::StepRows &Step,
                          const BudgetOptions &Options) {
  const int64_t Largest = Step.Batch.Largest;
  const std::string Memory = readableBytes(Options.Memory);
  if (Largest < 0)
    return "Which batch fits into " + Memory +
           " is not known: not every step can be followed.";
  if (Largest == 0)
    return "Not even a batch of 1 fits into " + Memory +
           (Step.AtMost.empty() ? "." : " in any case.");
  if (Largest == bytes::StepRows::AnyBatch)
    return "Every batch fits into " + Memory + ".";
  return std::string(Step.AtMost.empty() ? "The largest batch whose steps fit"
                                         : "The largest batch whose steps "
                                           "fit in any case") +
         " into " + Memory + " is " + (Step.Estimated.empty() ? "" : "about ") +
         grouped(static_cast<uint64_t>(Largest)) + ".";
}

/// What gives larger ones; empty where nothing is known to.
static std::vector<std::string> remedySentences(const bytes::StepRows &Step) {
  std::string Larger, Accumulated;
  for (const bytes::BatchRow::Remedy &R : Step.Batch.Remedies) {
    const std::string Number = grouped(static_cast<uint64_t>(R.Largest));
    if (R.Option.empty())
      Accumulated =
          "For more, accumulate gradients over batches of " + Number + ".";
    else
      Larger +=
          (Larger.empty() ? "It is " : ", ") + Number + " with " + R.Option;
  }
  std::vector<std::string> Result;
  if (!Larger.empty())
    Result.push_back(Larger + ".");
  if (!Accumulated.empty())
    Result.push_back(Accumulated);
  if (const auto &[Largest, Remedies, Guarded, Unguarded] = Step.Batch;
      Guarded > Unguarded && Unguarded >= 0)
    Result.push_back("Without a backward(), it is " + grouped(Guarded) +
                     " below a NoGradGuard, and " + grouped(Unguarded) +
                     " without one.");
  return Result;
}

/// Why \p Model has no step, as the end of a sentence.
static std::string whyNoStep(const bytes::NoStepRow &Row, StringRef Folder) {
  const std::string Defined = lineOf(Row.Forward, Folder),
                    At = lineOf(Row.PassedAt, Folder),
                    From = lineOf(Row.UnknownAt, Folder);
  const std::string Forward = "forward(" +
                              printable(llvm::join(Row.Takes, ", ")) + ")" +
                              (Defined.empty() ? "" : " (" + Defined + ")");
  if (At.empty())
    return !Row.Why.empty()  ? printable(Row.Why)
           : Defined.empty() ? "it has no forward()"
                             : "no call of " + Forward + " was found";
  if (Row.Misfits)
    return "what " + Forward + " is given in " + At + " does not fit it";
  return "what " + Forward + " is given in " + At + " is not known" +
         (Row.Why.empty() || From.empty()
              ? ""
              : ": " + printable(Row.Why) + " (" + From + ")");
}

std::string noStepSentence(const ModelRows &Model, const BudgetOptions &Options,
                           StringRef Folder) {
  if (!Model.Archive.File.empty())
    return "This is what " + lineOf(Model.Archive, Folder) +
           " has. No step is followed: the code of a TorchScript archive is "
           "not read.";
  const bytes::NoStepRow &Row = Model.NoStep;
  const bool IsGiven = !Row.Takes.empty() || !Row.PassedAt.File.empty();
  return (Options.Memory ? "Which batch fits is not known: "
                         : "No step is followed: ") +
         whyNoStep(Row, Folder) + "." +
         (!IsGiven ? ""
          : Row.Takes.size() == 1
              ? " Give '" + printable(Row.Takes.front()) + "' with --input."
          : Row.Takes.empty() ? " Give it with --input."
                              : " Give each with an --input of its own.");
}

Remark remarkOf(const bytes::RefusedModel &M, StringRef Folder) {
  return {printable(M.Title), lineOf(M.Where, Folder), printable(M.Reason)};
}

Block rowsBlock(std::string Table) {
  Block Result = {Block::Rows, {}};
  Result.Table = std::move(Table);
  return Result;
}

Block missingBlock(const std::string &Sentence,
                   llvm::ArrayRef<bytes::MissingRow> Missing,
                   StringRef Folder) {
  Block Result = {Block::Missing, {Sentence}};
  for (const bytes::MissingRow &M : Missing)
    Result.Remarks.push_back({"", lineOf(M.Where, Folder), printable(M.Text)});
  return Result;
}

StringRef estimateSentence(bytes::DeviceKind Device) {
  switch (Device) {
  case bytes::DeviceKind::Cpu:
    return "";
  case bytes::DeviceKind::CpuOneDnn:
    return "With oneDNN peaks are estimates: a CPU with AVX-512 and one thread "
           "is assumed.";
  case bytes::DeviceKind::Cuda:
    return "On a GPU this is an estimate: the memory that kernels need for "
           "themselves, above all in cuDNN (convolutions, recurrent layers), "
           "is not known.";
  }
  llvm_unreachable("there is no other device");
}

/// "without oneDNN", as far as that is of interest.
static std::string libraryOf(const bytes::StepRows &Step,
                             bytes::DeviceKind Device) {
  if (Device != bytes::DeviceKind::Cpu)
    return ".";
  return Step.HasConvolutions
             ? ", without oneDNN, which convolutions use by default "
               "(--device=onednn)."
             : ", without oneDNN.";
}

Block stepBlock(const bytes::StepRows &Step, const BudgetOptions &Options,
                StringRef Folder) {
  const std::string From = lineOf(Step.InputFrom, Folder);
  const std::string Input = printable(llvm::join(Step.InputTexts, ", "));
  std::string Result = "A step with " + (From.empty() ? "an input of " + Input
                                                      : "the input of " + From +
                                                            ", " + Input + ",");
  if (!Step.Autocast.empty())
    Result += (From.empty() ? ", with autocast to " : " with autocast to ") +
              Step.Autocast + ",";
  if (!Step.Fails) {
    Block Said = {
        Block::Said,
        {Result + (Step.Result.empty() ? "." : " gives " + Step.Result + ".")}};
    if (!Step.LibTorch.empty())
      Said.Sentences.push_back("Figures are those of LibTorch " +
                               Step.LibTorch + libraryOf(Step, Options.Device));
    if (const std::string At = lineOf(Step.LossAt, Folder); !At.empty())
      Said.Sentences.push_back("Steps end in the backward() of " + At + ".");
    else if (!Step.LeftOut.empty())
      Said.Sentences.push_back(
          "The loss of the program is left out, since it is not known (" +
          lineOf(Step.LeftOut.front().Where, Folder) + ": " +
          printable(Step.LeftOut.front().Text) + ").");
    else if (!Options.Autocast.empty() && !From.empty())
      Said.Sentences.push_back("The loss of the program is left out with "
                               "--autocast: it is the sum of the results.");
    return Said;
  }
  Block Why = missingBlock(
      Result + " fails:", llvm::ArrayRef(Step.Missing).take_back(), Folder);
  Why.Is = Block::Failure;
  return Why;
}

/// More rows than a reader wants; JSON has all.
static constexpr size_t MaxRows = 400;

static std::string moduleTable(const ModelRows &Model, StringRef Folder) {
  const std::vector<Subtree> Sums = subtrees(Model.Modules);
  const bool HasStep = hasStep(Model);
  std::vector<Cells> Lines = {{"module", "class", "made at", "parameters",
                               "bytes", HasStep ? "kept" : "",
                               HasStep ? "result" : ""}};
  const size_t Shown = std::min(Model.Modules.size(), MaxRows);
  bool Unlisted = false;
  for (size_t I = 0; I < Shown; ++I) {
    const ModuleRow &Row = Model.Modules[I];
    if (Row.IsUnlisted && !Unlisted)
      Lines.push_back({"in no parameters():"});
    Unlisted = Row.IsUnlisted;
    Cells &L = Lines.emplace_back(
        Cells{std::string(2 * size_t(Row.Depth), ' ') + printable(Row.Name),
              printable(Row.Class), lineOf(Row.Made, Folder)});
    L.resize(7);
    if (Row.IsRepeated) {
      L[2] = "the same as '" + printable(Row.SameAs) + "'";
    } else {
      L[3] = bounded(boundOf(Sums[I]), grouped(Sums[I].Parameters));
      L[4] = bounded(boundOf(Sums[I]), grouped(Sums[I].Bytes));
      if (HasStep) {
        L[5] = bounded(stepBoundOf(Model), grouped(Sums[I].Kept));
        L[6] = Row.Result;
      }
    }
  }
  // Module, class and place; numbers; sizes of a result.
  return inColumns("lllrrrl", Lines, Model.Modules.size() - Shown);
}

static Section sectionOf(const ModelRows &Model, const BudgetOptions &Options,
                         StringRef Folder) {
  Section Result = {modelTitle(Model, Options), {}, &Model};
  std::vector<Block> &Blocks = Result.Blocks;
  Blocks.push_back(rowsBlock(moduleTable(Model, Folder)));
  Blocks.push_back(
      {Block::Sums, {"The model"}, {}, modelTotals(Model, Options)});
  for (Total &T : Blocks.back().Totals)
    T.Says = boundOf(Model);
  if (!Model.Missing.empty())
    Blocks.push_back(missingBlock(
        "not known, and left out of the sums:", Model.Missing, Folder));
  if (!Model.HasStep) {
    Blocks.push_back({Block::Said, {noStepSentence(Model, Options, Folder)}});
    return Result;
  }
  const bytes::StepRows &Step = Model.Step;
  const bool IsIncomplete = !Step.Missing.empty();
  Blocks.push_back(stepBlock(Step, Options, Folder));
  if (Step.Fails)
    return Result;
  if (StringRef Why = estimateSentence(Options.Device); !Why.empty())
    Blocks.back().Sentences.push_back(Why.str());
  Blocks.push_back({Block::Sums, {"A step"}, {}, stepTotals(Step, Folder)});
  for (Total &T : Blocks.back().Totals)
    T.Says = T.IsTraining ? trainingBoundOf(Model) : stepBoundOf(Model);
  if (Options.Memory && !IsIncomplete) {
    Blocks.push_back({Block::Answer, {batchSentence(Step, Options)}});
    llvm::append_range(Blocks.back().Sentences, remedySentences(Step));
  }
  if (!Step.Unreached.empty())
    Blocks.push_back(
        missingBlock("in parameters(), and without a gradient after this step:",
                     Step.Unreached, Folder));
  if (!Step.AtMost.empty())
    Blocks.push_back(missingBlock(
        "depends on values, and counts as the most:", Step.AtMost, Folder));
  if (!Step.Estimated.empty())
    Blocks.push_back(missingBlock(
        "estimated, and a few percent off:", Step.Estimated, Folder));
  if (IsIncomplete)
    Blocks.push_back(missingBlock(
        "not known of the step, and left out:", Step.Missing, Folder));
  if (!Step.LeftOut.empty() && !Step.LossAt.File.empty())
    Blocks.push_back(missingBlock(
        "not known, and left out of the peaks of steps:", Step.LeftOut,
        Folder));
  return Result;
}

Document documentOf(const bytes::UnitBudget &Budget,
                    const BudgetOptions &Options, StringRef Folder) {
  Document Result;
  for (const ModelRows &Model : Budget.Models)
    Result.Sections.push_back(sectionOf(Model, Options, Folder));
  for (const bytes::RefusedModel &M : Budget.Refused)
    Result.Unanswered.push_back(remarkOf(M, Folder));
  return Result;
}

std::string inColumns(StringRef Sides, llvm::ArrayRef<Cells> Lines,
                      size_t Missing) {
  std::vector<size_t> Widths(Sides.size());
  for (const Cells &L : Lines)
    for (size_t I = 0; I < L.size(); ++I)
      Widths[I] = std::max(Widths[I], L[I].size());
  std::string Result;
  for (const Cells &L : Lines) {
    std::string Text = " ";
    for (size_t I = 0; I < L.size(); ++I) {
      const std::string Space(Widths[I] - L[I].size(), ' ');
      Text +=
          Sides[I] == 'l' ? " " + L[I] + Space + " " : " " + Space + L[I] + " ";
    }
    Result += StringRef(Text).rtrim().str() + "\n";
  }
  if (Missing)
    Result += "  ... and " + grouped(Missing) +
              " more modules; budget --format=json has all\n";
  return Result;
}

static std::string totalsText(llvm::ArrayRef<Total> Totals) {
  size_t Width = 0;
  for (const Total &T : Totals)
    Width = std::max(Width, grouped(T.Bytes).size());
  std::vector<Cells> Lines;
  for (const Total &T : Totals) {
    const std::string Number = grouped(T.Bytes);
    const bool IsKnown = T.Says != Bound::Unknown;
    std::string Rest =
        IsKnown && T.Bytes >= 1024 ? "(" + readableBytes(T.Bytes) + ")" : "";
    if (IsKnown && !T.Note.empty())
      Rest += (Rest.empty() ? "" : "  ") + T.Note;
    Lines.push_back(
        {T.Name,
         boundedInWords(T.Says, std::string(Width - Number.size(), ' ') +
                                    Number + " bytes"),
         Rest});
  }
  return inColumns("lll", Lines);
}

static std::string asText(const Block &B) {
  constexpr size_t MaxRemarks = 40;
  if (B.Is == Block::Sums)
    return totalsText(B.Totals);
  std::string Result = B.Table;
  for (const std::string &Sentence : B.Sentences)
    Result += "  " + Sentence + "\n";
  for (const Remark &R : llvm::ArrayRef(B.Remarks).take_front(MaxRemarks))
    Result += "    " + (R.Where.empty() ? "" : R.Where + ": ") + R.Text + "\n";
  if (B.Remarks.size() > MaxRemarks)
    Result +=
        "    ... and " + grouped(B.Remarks.size() - MaxRemarks) + " more\n";
  return Result;
}

std::string asText(const Document &D) {
  std::string Result;
  for (const Section &S : D.Sections) {
    Result += (Result.empty() ? "" : "\n") + S.Title + "\n";
    for (const Block &B : S.Blocks)
      Result += (B.Follows ? "" : "\n") + asText(B);
  }
  if (!D.Unanswered.empty())
    Result +=
        Result.empty() ? "Without an answer:\n" : "\nWithout an answer:\n";
  for (const Remark &R : D.Unanswered)
    Result += "  " + R.About + ": " + (R.Where.empty() ? "" : R.Where + ": ") +
              R.Text + "\n";
  return Result;
}

} // namespace libtorch_tidy::driver
