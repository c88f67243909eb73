//===- ProgramStep.cpp - A training step as the program makes it ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Passes.h"

using namespace clang;

namespace libtorch_tidy::bytes {

struct ProgramStep::State {
  State(Interpreter &Running, const ModulePtr &M, const BudgetRequest &Request,
        const RowPaths &Paths, ModelRows &Model)
      : Running(Running), Model(Model), P(Running, M, Request, Paths) {}
  Interpreter &Running;
  ModelRows &Model;
  Passes P;
};

namespace {

/// Goes through what the program holds where it calls forward(), but for
/// modules: each tensor once.
class Around {
public:
  using Visit = llvm::function_ref<void(const TensorPtr &)>;
  /// \p WithNext: also what loaders and iterators come to later.
  Around(const Interpreter &Running, llvm::ArrayRef<Cell> Given, bool WithNext,
         Visit Do)
      : WithNext(WithNext), Do(Do) {
    for (const auto &All : {Given, llvm::ArrayRef(Running.Temporaries)})
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
    if (!V || V->What == Value::Module || !Seen.insert(V.get()).second ||
        (!WithNext && (V->What == Value::Data || V->What == Value::Iterator)))
      return;
    if (V->What == Value::Tensor && Seen.insert(V->Handle.get()).second)
      Do(V->Handle);
    visit(V->Target);
    forEachPart(*V, [&](Cell &Part) { visit(Part); });
  }

  const bool WithNext;
  const Visit Do;
  std::set<const void *> Seen;
};

} // namespace

/// All tensors of the program that have the batch of \p Given have \p Now.
static void changeBatch(const Interpreter &Running, llvm::ArrayRef<Cell> Given,
                        int64_t Now) {
  const std::vector<TensorPtr> Tensors = tensorsIn(Given);
  const auto First = llvm::find_if(Tensors, [](const TensorPtr &T) {
    return T->Shape.Sizes && !T->Shape.Sizes->empty();
  });
  if (First == Tensors.end())
    return;
  const Size Before = (*First)->Shape.Sizes->front();
  Around(Running, Given, /*WithNext=*/true, [&](const TensorPtr &T) {
    if (MaybeSizes &Sizes = T->Shape.Sizes;
        Sizes && !Sizes->empty() && Sizes->front() == Before) {
      Sizes->front() = Now;
      T->Memory = nullptr;
    }
  });
}

ProgramStep::ProgramStep(Interpreter &Running, const ModulePtr &M,
                         llvm::ArrayRef<Cell> Given,
                         const BudgetRequest &Request, const RowPaths &Paths,
                         ModelRows &Model, bool Before,
                         std::optional<int64_t> Batch)
    : S(std::make_unique<State>(Running, M, Request, Paths, Model)) {
  Passes &P = S->P;
  P.takeMissing(); // Of what came before, nothing counts.
  if (Batch)
    changeBatch(Running, Given, *Batch);
  if (Before) {
    P.setInputs(Running.copiesOf(Given));
    P.train();
    P.dropUnreached(Model);
    P.setInputs({});
  }
  // What stays on the host is of no interest to a GPU.
  if (Request.Device != DeviceKind::Cuda)
    Around(Running, Given, /*WithNext=*/false,
           [&](const TensorPtr &T) { P.bring(T); });
  else
    for (const TensorPtr &T : tensorsIn(Given))
      P.bring(T);
  Running.OnTensor = [&P](const TensorPtr &T) { P.bring(T); };
  Running.OnBackward = [this](llvm::ArrayRef<TensorPtr> Results,
                              SourceLocation At) { finish(Results, At); };
  P.begin();
}

ProgramStep::~ProgramStep() {
  S->Running.OnTensor = nullptr;
  S->Running.OnBackward = nullptr;
}

void ProgramStep::add(const ModulePtr &Other) { S->P.bring(Other); }

void ProgramStep::finish(llvm::ArrayRef<TensorPtr> Results, SourceLocation At) {
  LossAt = spotOf(At, S->Running.Context.getSourceManager());
  std::vector<MissingRow> Gaps = S->P.takeMissing();
  if (!Gaps.empty()) {
    Missing = Gaps.front();
  } else if (Results.empty()) {
    Missing = MissingRow{LossAt, "the loss is not known"};
  } else if (!S->P.reaches(Results)) {
    return S->P.passBy(Results);
  } else {
    Peak = S->P.finish(Results, &S->Model.Step, &Line);
    AtMost = S->P.bounds();
    S->P.noteUnreached(S->Model);
  }
  S->Running.Halted = true;
}

} // namespace libtorch_tidy::bytes
