//===- Step.cpp - What passes over a model take ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Passes.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::bytes {

BudgetRequest withRelease(BudgetRequest Request, ASTContext &Context) {
  if (!Request.LibTorch)
    Request.LibTorch = torch::releaseOf(Context);
  return Request;
}

std::optional<uint64_t> keptByGraph(Interpreter &Running, const ModulePtr &M,
                                    const StepInputs &Inputs,
                                    const BudgetRequest &Request, bool Training,
                                    bool InputsGo) {
  const RowPaths Paths;
  Passes P(Running, M, Request, Paths);
  P.setInputs(Inputs.Arguments);
  const uint64_t Kept = P.keptByGraph(Training, InputsGo);
  return P.takeMissing().empty() ? std::optional(Kept) : std::nullopt;
}

/// A loss that is not known may be of one result of \p M alone, whichever takes
/// least.
static LeastSteps leastOf(Interpreter &Running, const ModulePtr &M,
                          const StepInputs &Inputs,
                          const BudgetRequest &Request, const RowPaths &Paths,
                          StepRows &Row) {
  LeastSteps Least;
  size_t Results = 1;
  for (size_t Of = 0; Of < Results; ++Of) {
    Passes P(Running, M, Request, Paths);
    LeastSteps Each;
    Each.First =
        P.trainAtLeast(Inputs.Arguments, Of, Results, Row, Each.LaterLine);
    Each.Later =
        P.trainAtLeast(Inputs.Arguments, Of, Results, Row, Each.LaterLine);
    if (!Of || Each.Later.Bytes < Least.Later.Bytes)
      Least = std::move(Each);
    Running.takeGapsOfPass();
  }
  return Least;
}

/// A step has all that the model is known to take, whatever of it was not
/// followed.
static void raiseBounds(ModelRows &Model, const BudgetRequest &Request) {
  const Optimizer Used =
      optimizerNamed(Request.Optimizer).value_or(Optimizer());
  uint64_t Known = Model.Step.Inputs;
  for (const ModuleRow &Row : Model.Modules)
    for (const TensorRow &T : Row.Tensors)
      Known +=
          T.Bytes * (T.GetsGradient && !Row.IsUnlisted ? 2 + Used.Copies : 1);
  for (PeakRow *Peak : {&Model.Step.FirstStep, &Model.Step.LaterSteps})
    if (Peak->Bytes < Known) {
      *Peak = {};
      Peak->Bytes = Known;
    }
}

std::optional<LeastSteps> addStep(Interpreter &Running, const ModulePtr &M,
                                  const StepInputs &Inputs,
                                  const BudgetRequest &Request,
                                  const RowPaths &Paths, ModelRows &Model) {
  StepRows &Row = Model.Step;
  Model.HasStep = true;
  Row.InputTexts = Inputs.Texts;
  Row.InputFrom = Inputs.From;
  Row.Autocast = Request.Autocast;
  if (Request.LibTorch)
    Row.LibTorch = torch::shown(*Request.LibTorch);
  if (Inputs.Trouble) {
    Row.Missing.push_back(*Inputs.Trouble);
    Row.Fails = true;
    return std::nullopt;
  }
  auto Add = [&](std::vector<MissingRow> More) {
    llvm::move(More, std::back_inserter(Row.Missing));
  };
  {
    Passes P(Running, M, Request, Paths);
    Row.Inputs = P.setInputs(Inputs.Arguments);
    Row.Inference = P.inference(/*Guarded=*/true, &Row);
    Add(P.takeMissing());
    Row.Unguarded = P.inference(/*Guarded=*/false);
    Add(P.takeMissing());
    P.keep(Row, Model);
    Add(P.takeMissing());
    P.restart();
    Row.FirstStep = P.train();
    Add(P.takeMissing());
    Row.LaterSteps = P.train(&Row);
    Add(P.takeMissing());
    Row.Fails = P.hasFailed();
    Row.HasConvolutions = P.hasConvolutions();
    Row.AtMost = P.bounds();
    Row.Estimated = P.estimates();
    if (Row.Missing.empty())
      P.noteUnreached(Model);
  }
  std::optional<LeastSteps> Least;
  if (Row.InputFrom.Line && Row.Missing.empty())
    Least = leastOf(Running, M, Inputs, Request, Paths, Row);
  if (!Row.Missing.empty() || !Model.Missing.empty())
    raiseBounds(Model, Request);
  if (Request.Device == DeviceKind::Cuda && Row.Missing.empty())
    for (const auto &[Bytes, By] :
         {std::pair(&Row.ReservedByInference, &Passes::reservedByInference),
          std::pair(&Row.ReservedByTraining, &Passes::reservedByTraining)}) {
      Passes P(Running, M, Request, Paths);
      P.setInputs(Inputs.Arguments);
      *Bytes = (P.*By)();
    }
  if (!Request.Memory || !Row.Missing.empty())
    return Least;
  auto Search = [&](std::optional<uint64_t> (Passes::*PeakOf)()) {
    return largestBatch(
               [&](int64_t Batch) -> std::optional<uint64_t> {
                 // Of all tries together; one takes as many as a step does.
                 constexpr unsigned MaxStepsOfSearch = 20'000'000;
                 const auto Changed = withBatch(Inputs.Arguments, Batch);
                 if (!Changed || Running.steps() >= MaxStepsOfSearch)
                   return std::nullopt;
                 Passes P(Running, M, Request, Paths);
                 P.setInputs(*Changed);
                 return (P.*PeakOf)();
               },
               Request.Memory)
        .value_or(-1);
  };
  Row.Batch.Largest = Search(&Passes::laterPeak);
  if (!Request.WithInference)
    return Least;
  Row.Batch.Guarded = Search(&Passes::guardedPeak);
  Row.Batch.Unguarded = Search(&Passes::unguardedPeak);
  return Least;
}

std::optional<int64_t>
largestBatch(llvm::function_ref<std::optional<uint64_t>(int64_t)> Peak,
             uint64_t Memory) {
  bool IsKnown = true;
  auto Fits = [&](int64_t Batch) {
    const std::optional<uint64_t> Bytes = Peak(Batch);
    IsKnown &= Bytes.has_value();
    return Bytes && *Bytes <= Memory;
  };
  int64_t Good = 0, Bad = 1;
  while (Good < StepRows::AnyBatch && IsKnown && Fits(Bad)) {
    Good = Bad;
    Bad *= 2;
  }
  while (Good < StepRows::AnyBatch && Bad - Good > 1 && IsKnown) {
    const int64_t Middle = Good + (Bad - Good) / 2;
    (Fits(Middle) ? Good : Bad) = Middle;
  }
  return IsKnown ? std::optional(Good) : std::nullopt;
}

} // namespace libtorch_tidy::bytes
