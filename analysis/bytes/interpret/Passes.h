//===- Passes.h - Passes over a model ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A model in the memory of a simulation, and the passes over it that Step.cpp
/// and ProgramStep.cpp make figures of.

#ifndef LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_PASSES_H
#define LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_PASSES_H

#include "analysis/bytes/interpret/Elaboration.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace libtorch_tidy::bytes {

/// A model with an input, in memory.
class Passes {
public:
  Passes(Interpreter &Running, const ModulePtr &M, const BudgetRequest &Request,
         const RowPaths &Paths)
      : Running(Running), M(M), Request(Request), Paths(Paths),
        SM(Running.Context.getSourceManager()),
        S(Request.Device, Request.LibTorch.value_or(Simulation::Measured)),
        Optimizes(optimizerNamed(Request.Optimizer).value_or(Optimizer())),
        HasState(Optimizes.AtOnce) {
    placeAll(M);
    forEachModule(M, [&](const ModulePtr &Each, llvm::StringRef) {
      for (const ModuleInstance::Tensor &T : Each->Parameters)
        InOrder.push_back(T.Handle);
      for (const auto &[Field, Member] : Each->Members)
        Members.emplace_back(Member, *Member);
    });
    for (const auto &[Module, Path] : Paths)
      if (!Path.empty() && Path == Request.Checkpoint)
        Running.Checkpointed = Module;
    Running.Pass = &S;
  }
  ~Passes() {
    restart();
    Running.Pass = nullptr;
    Running.Checkpointed = nullptr;
    for (const PlacedTensor &Each : Placed)
      if (const TensorPtr T = Each.Tensor.lock()) {
        T->Memory = Each.Before;
        T->Gradient = nullptr;
      }
  }
  Passes(const Passes &) = delete;
  Passes &operator=(const Passes &) = delete;

  /// Returns their bytes.
  uint64_t setInputs(llvm::ArrayRef<Cell> Given) {
    Inputs.clear();
    const uint64_t Before = S.memory().live();
    Inputs = placed(Given, S, elementType(Request.Type).value_or(Float32));
    return BytesOfInputs = S.memory().live() - Before;
  }

  /// What members hold is what the constructor has left there, and not what an
  /// earlier pass has.
  void restart() {
    for (auto &[Member, Before] : Members)
      *Member = Before;
  }

  /// With \p Lines the time line goes there.
  PeakRow inference(bool Guarded, StepRows *Lines = nullptr) {
    setTraining(false);
    restart();
    S.GradMode = !Guarded;
    S.memory().restartPeak();
    if (Lines)
      S.memory().startTimeLine();
    forward();
    S.GradMode = true;
    if (Lines)
      Lines->InferenceLine = takeTimeLine(*Lines);
    return peak();
  }

  /// What forward() leaves alive, and which modules have made it.
  void keep(StepRows &Row, ModelRows &Model) {
    setTraining(true);
    restart();
    const uint64_t Before = S.memory().live();
    const std::set<const Block *> Old = S.memory().blocks();
    const Cell Result = forward();
    Row.Kept = S.memory().live() - Before;
    Row.Result = shownSizes(Result);
    if (const Value *Unknown = unknownIn(Result);
        Unknown && !Running.hasGapsOfPass()) {
      const Spot At = spotOf(Unknown->Where, SM);
      Row.Missing.push_back({At.File.empty() ? Model.Made : At,
                             Unknown->Why.empty()
                                 ? "what forward() returns is not known"
                                 : Unknown->Why + " is not known"});
    }
    std::map<std::string, ModuleRow *> ByPath;
    for (ModuleRow &Each : Model.Modules)
      if (!Each.IsRepeated)
        ByPath.emplace(Each.Path, &Each);
    for (const Block *B : S.memory().blocks()) {
      if (Old.count(B) || B->Place >= Running.Places.size())
        continue;
      auto Path = Paths.find(Running.Places[B->Place].Module);
      // What is made outside of all modules is the model's own.
      auto It = ByPath.find(Path == Paths.end() ? "" : Path->second);
      if (It != ByPath.end())
        It->second->Kept += B->Bytes;
    }
    for (const auto &[Module, Sizes] : Running.Results)
      if (auto Path = Paths.find(Module); Path != Paths.end())
        if (auto It = ByPath.find(Path->second); It != ByPath.end())
          It->second->Result = Sizes;
  }

  /// What the graph of forward() keeps when nobody holds its results, with the
  /// inputs, if they go as well.
  uint64_t keptByGraph(bool Training, bool InputsGo) {
    setTraining(Training);
    restart();
    const uint64_t Before = S.memory().live();
    std::vector<NodePtr> Graph;
    for (const TensorPtr &T : tensorsIn(forward()))
      Graph.push_back(T->Maker);
    if (!InputsGo)
      return S.memory().live() - Before;
    Inputs.clear();
    return S.memory().live() + BytesOfInputs - Before;
  }

  /// A step; the gradients stay, and the next is a later one. With \p Lines the
  /// time line goes there.
  PeakRow train(StepRows *Lines = nullptr) {
    setTraining(true);
    begin();
    const Cell Given = forward();
    S.addUp(tensorsIn(Given));
    S.backward(tensorsIn(Given));
    const PeakRow Result = measure(Lines, Lines ? &Lines->LaterLine : nullptr);
    hasStepped();
    return Result;
  }

  /// The same of a loss that takes nothing itself, and is of one result of
  /// forward(), the one numbered \p Of: nobody holds the others, or the inputs
  /// \p Given. \p Results becomes how many have a gradient.
  PeakRow trainAtLeast(llvm::ArrayRef<Cell> Given, size_t Of, size_t &Results,
                       StepRows &Lines, std::vector<TimeRow> &Line) {
    setTraining(true);
    setInputs(Given);
    begin();
    std::vector<TensorPtr> All = tensorsIn(forward());
    Inputs.clear();
    llvm::erase_if(All, [](const TensorPtr &T) { return !T->needsGradient(); });
    Results = All.size();
    std::vector<TensorPtr> Roots;
    if (Of < All.size())
      Roots.push_back(All[Of]);
    All.clear();
    // The graph has what it needs of it.
    if (!Roots.empty() && Roots.front()->Maker) {
      Roots.front() = std::make_shared<TensorInstance>(*Roots.front());
      Roots.front()->Memory = nullptr;
    }
    S.backward(Roots);
    Roots.clear();
    Line.clear();
    const PeakRow Result = measure(&Lines, &Line);
    hasStepped();
    return Result;
  }

  /// Before and after the forward pass of a step. zero_grad() comes first,
  /// which drops gradients since 2.0, unless the step \p Follows what calls it.
  void begin(bool Follows = false) {
    if (!Follows)
      dropGradients(placedTensors());
    S.memory().restartPeak();
    S.memory().startTimeLine();
  }
  /// What zero_grad() does with \p Of: it \p Drops gradients, if that is said.
  void zeroGradients(llvm::ArrayRef<TensorPtr> Of, std::optional<bool> Drops) {
    HasZeroed = true;
    dropGradients(Of, Drops);
  }
  bool hasZeroed() const { return HasZeroed; }
  /// The optimizer of the model has run.
  void hasStepped() { HasState = Optimizes.Copies > 0; }
  /// Does an optimizer of \p Of work on the model?
  bool isOwn(llvm::ArrayRef<TensorPtr> Of) const {
    return llvm::any_of(
        Of, [&](const TensorPtr &T) { return llvm::is_contained(InOrder, T); });
  }
  /// Is there another model with parameters that may have a gradient, and have
  /// none?
  bool othersLackGradients() const {
    return llvm::any_of(All, [&](const ModulePtr &Each) {
      return llvm::any_of(Each->Parameters, [&](const auto &T) {
        return T.Handle->needsGradient() && !T.Handle->Gradient &&
               !llvm::is_contained(InOrder, T.Handle);
      });
    });
  }
  /// What the optimizers of other models keep after step(); the model's own is
  /// what was asked for.
  void makeState(llvm::ArrayRef<TensorPtr> Of) {
    for (const TensorPtr &T : Of)
      if (T->Gradient && !llvm::is_contained(InOrder, T) &&
          HaveState.insert(T.get()).second)
        for (unsigned Copy = 0; Copy < Optimizes.Copies; ++Copy)
          StateOfOthers.push_back(S.allocate(T->Gradient->Bytes));
  }
  /// backward() of the program. Its ones live as long as it runs.
  void backward(const Interpreter::BackwardOf &Of) {
    std::vector<BlockPtr> Ones;
    if (Of.Gradients.empty())
      for (const TensorPtr &T : Of.Results)
        Ones.push_back(S.allocate(T->Shape.bytes().value_or(0)));
    S.backward(Of.Results, Of.Gradients, Of.KeepsGraph);
  }
  /// The peak since begin(), and that of the optimizer's step() if it ran now.
  PeakRow measure(StepRows *Lines, std::vector<TimeRow> *Line) {
    PeakRow Result = peak();
    if (Line)
      *Line = takeTimeLine(*Lines);
    if (HasState) {
      const uint64_t State = Optimizes.Copies * gradients();
      Result.Bytes += State;
      if (Line)
        for (TimeRow &Point : *Line) {
          Point.Most += State;
          Point.After += State;
        }
    }
    if (const uint64_t InStep = peakOfOptimizer(); InStep > Result.Bytes) {
      Result = {};
      Result.Bytes = InStep;
      Result.IsOptimizer = true;
    }
    return Result;
  }

  /// The peak of a later step alone; nullopt when it cannot be followed.
  std::optional<uint64_t> laterPeak() {
    train();
    return followed(train());
  }
  /// The same of inference.
  std::optional<uint64_t> guardedPeak() { return followed(inference(true)); }
  std::optional<uint64_t> unguardedPeak() { return followed(inference(false)); }

  /// What the allocator of a GPU asks for, from the start of a process.
  uint64_t reservedByInference() {
    inference(/*Guarded=*/true);
    return takeMissing().empty() ? S.memory().reserved() : 0;
  }

  uint64_t reservedByTraining() {
    // What the optimizer keeps, and needs for the moment, for each parameter.
    std::vector<BlockPtr> State;
    bool IsFirst = true;
    for (unsigned Left = 10; Left; --Left) {
      const uint64_t Before = S.memory().reserved();
      train();
      if (!takeMissing().empty())
        return 0;
      for (const TensorPtr &T : placedTensors()) {
        if (!T->Gradient)
          continue;
        for (unsigned Copy = 0; IsFirst && Copy < Optimizes.Copies; ++Copy)
          State.push_back(S.allocate(T->Gradient->Bytes));
        std::vector<BlockPtr> InStep;
        for (unsigned Each = 0; Each < Optimizes.Scratch; ++Each)
          InStep.push_back(S.allocate(T->Gradient->Bytes));
      }
      if (!IsFirst && S.memory().reserved() == Before)
        return Before;
      IsFirst = false;
    }
    return 0; // It goes on growing.
  }

  bool hasConvolutions() const { return S.HasConvolutions; }

  std::vector<MissingRow> takeMissing() {
    std::vector<MissingRow> Result;
    if (const std::string Text = "the tensors are too large for any memory";
        S.memory().isTooLarge() && Said.emplace("", 0, Text).second)
      Result.emplace_back().Text = Text;
    Failed |= Running.Failure.has_value();
    for (const Gap &G : Running.takeGapsOfPass())
      if (Spot At = spotOf(G.Where, SM);
          Said.emplace(At.File, At.Line, G.Text).second)
        Result.push_back({std::move(At), G.Text});
    return Result;
  }

  /// Notes the parameters that no training pass has given a gradient.
  void noteUnreached(ModelRows &Model) const {
    if (!gradients())
      return;
    std::map<std::pair<std::string, std::string>, std::pair<Spot, TensorRow *>>
        Rows;
    for (ModuleRow &Row : Model.Modules)
      for (TensorRow &T : Row.Tensors)
        Rows[{Row.Path, T.Name}] = {Row.Made, &T};
    forEachModule(M, [&](const ModulePtr &Each, llvm::StringRef Prefix) {
      const auto Path = Paths.find(Each.get());
      for (const ModuleInstance::Tensor &T : Each->Parameters) {
        const auto Row = Path == Paths.end()
                             ? Rows.end()
                             : Rows.find({Path->second, T.Name});
        if (Row == Rows.end() || T.Handle->Gradient ||
            !Row->second.second->GetsGradient)
          continue;
        Row->second.second->GetsGradient = false;
        Model.Step.Unreached.push_back(
            {Row->second.first, ("'" + Prefix + T.Name + "'").str()});
      }
    });
  }

  /// Takes the gradients of those away.
  void dropUnreached(const ModelRows &Model) {
    std::set<std::pair<llvm::StringRef, llvm::StringRef>> Unreached;
    for (const ModuleRow &Row : Model.Modules)
      for (const TensorRow &T : Row.Tensors)
        if (!T.GetsGradient)
          Unreached.emplace(Row.Path, T.Name);
    forEachModule(M, [&](const ModulePtr &Each, llvm::StringRef) {
      const auto Path = Paths.find(Each.get());
      for (const ModuleInstance::Tensor &T : Each->Parameters)
        if (Path != Paths.end() && Unreached.count({Path->second, T.Name}))
          T.Handle->Gradient = nullptr;
    });
  }

  /// Does backward() of \p Results give a parameter its gradient?
  bool reaches(llvm::ArrayRef<TensorPtr> Results) const {
    std::vector<const GradientNode *> Pending;
    std::set<const GradientNode *> Visited;
    auto IsOwn = [&](const TensorPtr &Leaf) {
      return Leaf && llvm::is_contained(InOrder, Leaf);
    };
    for (const TensorPtr &T : Results)
      Pending.push_back(T->Maker.get());
    while (!Pending.empty()) {
      const GradientNode *Node = Pending.back();
      Pending.pop_back();
      if (!Node || !Visited.insert(Node).second)
        continue;
      for (const GradientNode::Edge &Edge : Node->Edges) {
        if (IsOwn(Edge.Leaf))
          return true;
        Pending.push_back(Edge.To.get());
      }
    }
    return false;
  }

  /// Gives tensors and modules that come from outside of the pass a place in
  /// it, until it ends.
  void bring(const TensorPtr &T) {
    if (T->Shape.Defined && (!T->Memory || T->Memory->Of.get() != &S.memory()))
      place(T);
  }
  void bring(const ModulePtr &Other) { placeAll(Other); }

  /// Where more is counted than a run may need.
  std::vector<MissingRow> bounds() const { return rowsOf(S.bounds()); }
  /// Where somewhat more or less is.
  std::vector<MissingRow> estimates() const { return rowsOf(S.estimates()); }

  bool hasFailed() const { return Failed; }

private:
  std::optional<uint64_t> followed(const PeakRow &Peak) {
    if (S.memory().isTooLarge())
      return UINT64_MAX;
    return takeMissing().empty() ? std::optional(Peak.Bytes) : std::nullopt;
  }

  void placeAll(const ModulePtr &Root) {
    std::vector<ModulePtr> Pending = {Root};
    while (!Pending.empty()) {
      const ModulePtr Next = Pending.back();
      Pending.pop_back();
      if (!Seen.insert(Next.get()).second)
        continue;
      All.push_back(Next);
      for (const auto *Tensors : {&Next->Parameters, &Next->Buffers})
        for (const ModuleInstance::Tensor &T : *Tensors)
          place(T.Handle);
      for (const auto *Children : {&Next->Children, &Next->Unlisted})
        for (const ModuleInstance::Child &Child : *Children)
          Pending.push_back(Child.Module);
      for (const auto &[Field, Member] : Next->Members)
        if (!Field->getType()->isReferenceType() &&
            !Field->getType()->isAnyPointerType())
          place(Member);
    }
  }

  /// Tensors and modules that are members, registered or not.
  void place(const Cell &V) {
    if (V->What == Value::Module)
      return placeAll(V->Held);
    for (const TensorPtr &T : tensorsIn(V))
      place(T);
    if (V->What == Value::List)
      for (const Cell &Element : V->Elements)
        if (Element->What == Value::Module)
          placeAll(Element->Held);
  }

  void place(const TensorPtr &T) {
    // The address may be that of one that is gone.
    std::weak_ptr<TensorInstance> &Seen = Known[T.get()];
    if (!Seen.expired() && (T->Memory || !T->Shape.bytes()))
      return;
    Seen = T;
    Placed.push_back({T, T->Memory});
    if (!T->Memory) {
      S.place(*T);
      return;
    }
    // Those that share memory go on doing so.
    std::weak_ptr<Block> &Shared = Moved[T->Memory.get()];
    BlockPtr New = Shared.lock();
    if (!New)
      Shared = New = S.allocate(T->Memory->Bytes);
    T->Memory = std::move(New);
  }

  /// Those that are still there.
  std::vector<TensorPtr> placedTensors() const {
    std::vector<TensorPtr> Result;
    for (const PlacedTensor &Each : Placed)
      if (TensorPtr T = Each.Tensor.lock())
        Result.push_back(std::move(T));
    return Result;
  }

  /// Since 2.0 zero_grad() drops them unless it is told otherwise.
  void dropGradients(llvm::ArrayRef<TensorPtr> Of,
                     std::optional<bool> Drops = std::nullopt) {
    if (Drops.value_or(S.isSince({2, 0})) && !Request.Accumulates)
      for (const TensorPtr &T : Of)
        T->Gradient = nullptr;
  }

  /// The bytes of the gradients that the optimizer works on.
  uint64_t gradients() const {
    uint64_t All = 0;
    for (const TensorPtr &T : InOrder)
      if (T->Gradient)
        All += T->Gradient->Bytes;
    return All;
  }

  /// Of step(), when what was kept is gone, but for the results. It works on
  /// one parameter after the other, and makes the state of each when it comes
  /// to it.
  uint64_t peakOfOptimizer() const {
    uint64_t State = HasState ? Optimizes.Copies * gradients() : 0, Most = 0;
    for (const TensorPtr &T : InOrder) {
      const uint64_t Bytes = T->Gradient ? T->Gradient->Bytes : 0;
      if (!HasState)
        State += Optimizes.Copies * Bytes;
      // What only copies a parameter the first time has no numbers then.
      const bool HasNumbers =
          Optimizes.Scratch || (HasState && Optimizes.Copies);
      if (Bytes)
        Most = std::max(Most, State + Optimizes.Scratch * Bytes +
                                  (HasNumbers ? S.bytesOfNumber(*T) : 0));
    }
    return S.memory().live() + Most;
  }

  void setTraining(bool On) {
    for (const ModulePtr &Each : All)
      Each->IsTraining = On;
  }

  /// What forward() returns.
  Cell forward() {
    if (const auto Type = elementType(Request.Autocast))
      S.beginAutocast(*Type);
    // A program may be in an expression here.
    const size_t Living = Running.Temporaries.size();
    const Cell Result = bytes::forward(Running, M, Inputs, M->Made);
    Running.Temporaries.resize(Living);
    S.endAutocast();
    return Result;
  }

  std::vector<MissingRow> rowsOf(const Simulation::Remarks &Of) const {
    std::vector<MissingRow> Result;
    for (const auto &[Place, Why] : Of)
      Result.push_back({placeRow(Place & ~BackwardPlace).Where, Why});
    return Result;
  }

  PlaceRow placeRow(unsigned Place) const {
    PlaceRow Result;
    if (Place >= Running.Places.size())
      return Result;
    const Interpreter::Place &At = Running.Places[Place];
    Result.Where = spotOf(At.Where, SM);
    if (auto It = Paths.find(At.Module); It != Paths.end())
      Result.Module = It->second;
    return Result;
  }

  PeakRow peak() const {
    const Memory &Memory = S.memory();
    PeakRow Result;
    Result.Bytes = Memory.peak();
    const unsigned Place = Memory.placeOfPeak();
    Result.IsBackward = Place & BackwardPlace;
    PlaceRow At = placeRow(Place & ~BackwardPlace);
    Result.Where = std::move(At.Where);
    Result.Module = std::move(At.Module);
    return Result;
  }

  std::vector<TimeRow> takeTimeLine(StepRows &Row) {
    std::vector<TimeRow> Result = S.memory().takeTimeLine();
    for (TimeRow &Point : Result) {
      const unsigned Place = Point.Place & ~BackwardPlace;
      const auto [It, New] = Rows.try_emplace(Place, Row.Places.size());
      if (New)
        Row.Places.push_back(placeRow(Place));
      Point.IsBackward = Point.Place & BackwardPlace;
      Point.Place = It->second;
    }
    return Result;
  }

  Interpreter &Running;
  const ModulePtr M;
  const BudgetRequest &Request;
  const RowPaths &Paths;
  const clang::SourceManager &SM;
  Simulation S;
  /// One that a pass may be the last to hold.
  struct PlacedTensor {
    std::weak_ptr<TensorInstance> Tensor;
    BlockPtr Before; ///< The memory that it had.
  };
  std::vector<PlacedTensor> Placed;
  std::map<const TensorInstance *, std::weak_ptr<TensorInstance>> Known;
  std::map<const Block *, std::weak_ptr<Block>> Moved;
  std::vector<TensorPtr> InOrder; ///< As parameters() has them.
  /// With what they are before the first pass.
  std::vector<std::pair<Cell, Value>> Members;
  std::vector<ModulePtr> All;
  std::set<const ModuleInstance *> Seen;
  std::vector<Cell> Inputs;
  uint64_t BytesOfInputs = 0;
  bool Failed = false;
  const Optimizer Optimizes;
  bool HasState;                              ///< Of the optimizer.
  std::set<const TensorInstance *> HaveState; ///< Of other optimizers.
  std::vector<BlockPtr> StateOfOthers;
  bool HasZeroed = false; ///< zero_grad() was called.
  std::set<std::tuple<std::string, unsigned, std::string>> Said;
  std::map<unsigned, unsigned> Rows; ///< Of places that time lines name.
};

} // namespace libtorch_tidy::bytes

#endif // LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_PASSES_H
