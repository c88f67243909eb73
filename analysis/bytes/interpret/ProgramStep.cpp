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

/// Tensors in \p V of which the first size is \p Before have \p Now.
static void changeBatch(const Cell &V, const Size &Before, int64_t Now,
                        std::set<const void *> &Seen) {
  if (!V || !Seen.insert(V.get()).second || V->What == Value::Module)
    return;
  if (V->What == Value::Tensor && Seen.insert(V->Handle.get()).second)
    if (MaybeSizes &Sizes = V->Handle->Shape.Sizes;
        Sizes && !Sizes->empty() && Sizes->front() == Before) {
      Sizes->front() = Now;
      V->Handle->Memory = nullptr;
    }
  changeBatch(V->Target, Before, Now, Seen);
  forEachPart(*V, [&](Cell &Part) { changeBatch(Part, Before, Now, Seen); });
}

/// The same of all variables around, where the batch is that of \p Given.
static void changeBatch(const Interpreter &Running, llvm::ArrayRef<Cell> Given,
                        int64_t Now) {
  const std::vector<TensorPtr> Tensors = tensorsIn(Given);
  const auto First = llvm::find_if(Tensors, [](const TensorPtr &T) {
    return T->Shape.Sizes && !T->Shape.Sizes->empty();
  });
  if (First == Tensors.end())
    return;
  const Size Before = (*First)->Shape.Sizes->front();
  std::set<const void *> Seen;
  for (const Cell &V : Given)
    changeBatch(V, Before, Now, Seen);
  for (const Frame *F : Running.Frames) {
    changeBatch(F->This, Before, Now, Seen);
    for (const auto &[D, V] : F->Variables)
      changeBatch(V, Before, Now, Seen);
  }
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
