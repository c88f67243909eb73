//===- ProgramStep.cpp - A training step as the program makes it ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Passes.h"

using namespace clang;
using llvm::ArrayRef;

namespace libtorch_tidy::bytes {

namespace {

/// Goes through what the program holds where it calls forward(): each tensor
/// and each module once.
class Around {
public:
  using VisitTensor = llvm::function_ref<void(const TensorPtr &)>;
  using VisitModule = llvm::function_ref<void(const ModulePtr &)>;
  bool HasAhead = false; ///< What workers of a loader may have made.

  /// \p WithNext: also what loaders and iterators come to later.
  Around(const Interpreter &Running, ArrayRef<Cell> Given, bool WithNext,
         VisitTensor OnTensor, VisitModule OnModule)
      : WithNext(WithNext), OnTensor(OnTensor), OnModule(OnModule) {
    for (const auto &All : {Given, ArrayRef(Running.Temporaries)})
      for (const Cell &V : All)
        visit(V);
    for (const Frame *F : Running.Frames) {
      visit(F->This);
      for (const Cell &V : llvm::make_second_range(F->Variables))
        visit(V);
    }
    for (const Cell &V : llvm::make_second_range(Running.Globals))
      visit(V);
  }

private:
  void visit(const Cell &V) {
    if (!V || !Seen.insert(V.get()).second ||
        (!WithNext && V->What == Value::Iterator))
      return;
    if (V->What == Value::Module && Seen.insert(V->Held.get()).second)
      OnModule(V->Held);
    if (V->What == Value::Tensor && Seen.insert(V->Handle.get()).second)
      OnTensor(V->Handle);
    visit(V->Target);
    if (V->What == Value::Data)
      if (const Cell Ahead = settingOf(V->Settings, "ahead"))
        HasAhead |= !Ahead->Elements.empty();
    if (V->What == Value::Data && !WithNext)
      forEachHeldBy(*V, [&](const Cell &Part) { visit(Part); });
    else
      forEachPart(*V, [&](const Cell &Part) { visit(Part); });
  }

  const bool WithNext;
  const VisitTensor OnTensor;
  const VisitModule OnModule;
  std::set<const void *> Seen;
};

/// Which step is asked for.
struct Asked {
  bool Later = false;           ///< One has been before.
  std::optional<int64_t> Batch; ///< Of what is given, in place of its own.
  /// All that main() does is in memory from its first forward() on: what the
  /// step has around itself is what came before. Else the step alone is.
  bool FromStart = false;
};

/// A training step as the program goes on with it: from a call of forward(), in
/// which \p Running is, up to backward(), with the loss that it computes. Then
/// nothing more is followed.
class ProgramStep {
public:
  ProgramStep(Interpreter &Running, const ModulePtr &M, const SeenValues &Call,
              const Asked &Want, const BudgetRequest &Request,
              const RowPaths &Paths, ModelRows &Model)
      : Running(Running), M(M), Call(Call), Want(Want), Request(Request),
        Model(Model), P(Running, M, Request, Paths) {
    Running.Pass->GradMode = Running.GradMode;
    Running.Pass->setAutocast(Running.Autocast.inUse(),
                              Running.Autocast.Caches);
    Running.OnTensor = [this](const TensorPtr &T) { P.bring(T); };
    Running.OnBackward = [this](const Interpreter::BackwardOf &Of) {
      backward(Of);
    };
    Running.OnOptimizerStep = [this](ArrayRef<TensorPtr> Of) { stepped(Of); };
    Running.OnZeroGrad = [this](ArrayRef<TensorPtr> Of,
                                std::optional<bool> Drops) {
      P.zeroGradients(Of, Drops);
    };
  }
  ~ProgramStep() {
    Running.OnTensor = nullptr;
    Running.OnBackward = nullptr;
    Running.OnOptimizerStep = nullptr;
    Running.OnZeroGrad = nullptr;
  }

  /// main() calls the forward() of \p Other. \p IsIt: it is the call whose step
  /// is asked for, or the same in a later round.
  void call(const ModulePtr &Other, ArrayRef<Cell> Given, bool IsIt) {
    if (IsMeasured)
      return IsIt && Peak ? end() : P.bring(Other);
    if (IsIt)
      isNotFollowed(P.takeMissing());
    if (Want.Batch)
      changeBatch(Given);
    const bool IsFirst = !HasBegun;
    HasBegun = true;
    if (IsIt && Want.Later && !Want.FromStart) {
      P.setInputs(Running.copiesOf(Given));
      P.train();
      P.dropUnreached(Model);
      P.setInputs({});
    }
    if (IsIt || IsFirst)
      bringAround(Given);
    P.bring(Other);
    HasCome |= IsIt;
    if (!IsIt || (Want.Later && Want.FromStart && !HasStepped))
      return;
    IsMeasured = true;
    if (Want.Later)
      P.hasStepped();
    // Of what came before, only this counts.
    if (Before && P.othersLackGradients())
      LeftOut.push_back(
          {Before->Where, Before->Text +
                              "; gradients of other models, and what their "
                              "optimizers keep, may be missing"});
    // What is not seen may call zero_grad().
    P.begin(/*Follows=*/Want.FromStart &&
            (P.hasZeroed() || (Running.Undefined.empty() && !Before)));
  }

  // After backward(); without a peak, it was not followed that far.
  std::optional<PeakRow> Peak;
  std::optional<MissingRow> Missing; ///< Why.
  Spot LossAt;                       ///< backward().
  std::vector<TimeRow> Line;
  std::vector<MissingRow> AtMost, Estimated, LeftOut; ///< As StepRows.
  /// Why what came before the step is not all followed.
  std::optional<MissingRow> Before;

  /// Nothing more is followed.
  void end() {
    if (Peak && !std::exchange(HasEnded, true))
      P.noteUnreached(Model);
    Running.Halted = true;
  }

private:
  /// What stays on the host is of no interest to a GPU.
  void bringAround(ArrayRef<Cell> Given) {
    if (Request.Device == DeviceKind::Cuda) {
      for (const TensorPtr &T : tensorsIn(Given))
        P.bring(T);
      return;
    }
    const Around All(
        Running, Given, /*WithNext=*/false,
        [&](const TensorPtr &T) { P.bring(T); },
        [&](const ModulePtr &Other) { P.bring(Other); });
    if (!All.HasAhead)
      return;
    Running.setPlace(nullptr, Call.At);
    Running.Pass->atMost("the workers of a data loader count as having as many "
                         "batches ready as they may");
  }

  /// All tensors of the program that have the batch of the call have the one
  /// that is asked for.
  void changeBatch(ArrayRef<Cell> Given) {
    const std::vector<TensorPtr> Tensors = tensorsIn(Call.Values);
    const auto First = llvm::find_if(Tensors, [](const TensorPtr &T) {
      return T->Shape.Sizes && !T->Shape.Sizes->empty();
    });
    if (First == Tensors.end())
      return;
    const Size Before = (*First)->Shape.Sizes->front();
    Around(
        Running, Given, /*WithNext=*/true,
        [&](const TensorPtr &T) {
          if (MaybeSizes &Sizes = T->Shape.Sizes;
              Sizes && !Sizes->empty() && Sizes->front() == Before) {
            Sizes->front() = *Want.Batch;
            T->Memory = nullptr;
          }
        },
        [](const ModulePtr &) {});
  }

  void backward(const Interpreter::BackwardOf &Of) {
    const Spot Here = spotOf(Of.At, Running.Context.getSourceManager());
    for (const TensorPtr &T : Of.Gradients)
      P.bring(T);
    std::vector<MissingRow> Gaps = P.takeMissing();
    if (Gaps.empty() && Of.Results.empty())
      Gaps.push_back({Here, "the loss is not known"});
    if (!IsMeasured) {
      isNotFollowed(Gaps);
      HasStepped |= HasCome && P.reaches(Of.Results);
      return P.backward(Of);
    }
    if (Gaps.empty()) {
      if (!P.reaches(Of.Results))
        return P.backward(Of);
      LossAt = Here;
      P.backward(Of);
      return measure(P.measure(&Model.Step, &Part));
    }
    if (Peak)
      LeftOut.push_back(Gaps.front());
    else
      Missing = Gaps.front();
    end();
  }

  void isNotFollowed(ArrayRef<MissingRow> Gaps) {
    if (!Before && !Gaps.empty())
      Before = Gaps.front();
  }

  /// An optimizer has run.
  void stepped(ArrayRef<TensorPtr> Of) {
    P.makeState(Of);
    if (!Peak || !P.isOwn(Of))
      return;
    llvm::append_range(LeftOut, P.takeMissing());
    measure(P.measure(&Model.Step, &Part));
    end();
  }

  /// There may be more backward()s, and the optimizer's step() may come later.
  void measure(PeakRow Now) {
    Peak = std::move(Now);
    llvm::append_range(Line, std::exchange(Part, {}));
    AtMost = P.bounds();
    Estimated = P.estimates();
    for (; SeenRounds < Running.OneRound.size(); ++SeenRounds)
      LeftOut.push_back({spotOf(Running.OneRound[SeenRounds].Where,
                                Running.Context.getSourceManager()),
                         Running.OneRound[SeenRounds].Text});
    Running.Pass->memory().startTimeLine();
  }

  Interpreter &Running;
  const ModulePtr M;
  const SeenValues &Call;
  const Asked Want;
  const BudgetRequest &Request;
  ModelRows &Model;
  Passes P;
  std::vector<TimeRow> Part; ///< Of Line, the last.
  bool HasBegun = false, HasCome = false;
  bool HasStepped = false; ///< A backward() of the model has been.
  bool IsMeasured = false, HasEnded = false;
  size_t SeenRounds = 0; ///< Of Running.OneRound.
};

/// Runs main() for the steps of one model.
class Steps {
public:
  Steps(llvm::function_ref<Interpreter()> NewRun,
        ArrayRef<const FunctionDecl *> Mains, const ProgramSeen &Program,
        const SeenValues &Call, const BudgetRequest &Request, unsigned &Work,
        ModelRows &Model)
      : NewRun(NewRun), Mains(Mains), Program(Program), Call(Call),
        Request(Request), Work(Work), Model(Model) {}

  ProgramSteps add() {
    StepRows &Row = Model.Step;
    const std::optional<PeakRow> First = peak({/*Later=*/false, {}});
    const std::optional<PeakRow> Later =
        First ? peak({/*Later=*/true, {}}) : std::nullopt;
    if (!Later) {
      Row.LossAt = {};
      Row.LeftOut.clear();
      if (First && !LossMissing)
        LossMissing = Why;
      return {LossMissing, std::move(Reached)};
    }
    Row.FirstStep = *First;
    Row.LaterSteps = *Later;
    if (!Row.LeftOut.empty())
      Row.Batch = {};
    else if (Request.Memory)
      Row.Batch.Largest =
          largestBatch(
              [&](int64_t Batch) -> std::optional<uint64_t> {
                if (Work > MaxStepsOfAll)
                  return std::nullopt;
                const auto Peak = peak({/*Later=*/true, Batch});
                return Peak ? std::optional(Peak->Bytes) : std::nullopt;
              },
              Request.Memory)
              .value_or(-1);
    return {std::nullopt, std::move(Reached)};
  }

private:
  /// The peak of the step, with what came before, if that can be followed.
  std::optional<PeakRow> peak(Asked Want) {
    Why.reset();
    for (const bool FromStart : {true, false}) {
      Want.FromStart = FromStart;
      if (auto Found = tryPeak(Want))
        return Found;
    }
    return std::nullopt;
  }

  std::optional<PeakRow> tryPeak(const Asked &Want) {
    Interpreter Running = NewRun();
    RowPaths Paths;
    std::optional<ProgramStep> Step;
    const SourceManager &SM = Running.Context.getSourceManager();
    std::optional<MissingRow> Before = Why;
    runAgain(Running, Mains, Program, Call,
             [&](size_t Number, const ModulePtr &M, ArrayRef<Cell> Given,
                 SourceLocation At, ArrayRef<ModulePtr> Made) {
               const bool IsIt = isCall(Call, Number, Given, At, Running);
               if (!Step) {
                 const bool Begins =
                     IsIt || (Want.FromStart && Call.Model < Made.size() &&
                              Made[Call.Model]);
                 if (!Begins) {
                   if (!Before && Running.GradMode)
                     Before = {spotOf(At, SM),
                               "what begins here is not followed"};
                   return;
                 }
                 const ModulePtr &Own = IsIt ? M : Made[Call.Model];
                 std::vector<ModuleRow> Rows;
                 Paths = addRows(Own, false, SM, Rows);
                 if (const auto Type = elementType(Request.Type))
                   convertModule(Own, *Type);
                 Step.emplace(Running, Own, Call, Want, Request, Paths, Model);
                 Step->Before = Before;
               }
               Step->call(M, Given, IsIt);
             });
    Work += Running.steps();
    Reached.merge(Running.Backwards);
    Why = MissingRow{spotOf(Call.At, SM),
                     "the program is not followed to a second step"};
    if (!Step)
      return std::nullopt;
    Step->end();
    if (!Step->Peak) {
      if (Step->Missing || Step->Before)
        Why = Step->Missing ? Step->Missing : Step->Before;
      if (!Want.Batch)
        LossMissing = Step->Missing;
      return std::nullopt;
    }
    if (Want.Later && !Want.Batch) {
      Model.Step.LaterLine = std::move(Step->Line);
      Model.Step.AtMost = std::move(Step->AtMost);
      Model.Step.Estimated = std::move(Step->Estimated);
    }
    if (!Want.Batch)
      for (MissingRow &Each : Step->LeftOut)
        if (llvm::none_of(Model.Step.LeftOut, [&](const MissingRow &Known) {
              return Known.Where.File == Each.Where.File &&
                     Known.Where.Line == Each.Where.Line &&
                     Known.Text == Each.Text;
            }))
          Model.Step.LeftOut.push_back(std::move(Each));
    Model.Step.LossAt = Step->LossAt;
    return Step->Peak;
  }

  const llvm::function_ref<Interpreter()> NewRun;
  const ArrayRef<const FunctionDecl *> Mains;
  const ProgramSeen &Program;
  const SeenValues &Call;
  const BudgetRequest &Request;
  unsigned &Work;
  ModelRows &Model;
  /// Why the last run was not followed through the step, or to its end.
  std::optional<MissingRow> LossMissing, Why;
  std::set<SourceLocation> Reached; ///< Calls of backward().
};

} // namespace

ProgramSteps addProgramSteps(llvm::function_ref<Interpreter()> NewRun,
                             ArrayRef<const FunctionDecl *> Mains,
                             const ProgramSeen &Program, const SeenValues &Call,
                             const BudgetRequest &Request, unsigned &Work,
                             ModelRows &Model) {
  return Steps(NewRun, Mains, Program, Call, Request, Work, Model).add();
}

} // namespace libtorch_tidy::bytes
