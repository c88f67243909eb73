//===- Snapshot.cpp - What a pass knows, to go back to it -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Snapshot.h"

namespace libtorch_tidy::bytes {

/// Words that are the same for values that later code cannot tell apart, but
/// for the elements of tensors. False where they would be too many.
static bool describe(const Value &V, std::string &To, unsigned Depth = 0) {
  constexpr unsigned MaxDepth = 16;
  constexpr size_t MaxText = 1U << 16;
  if (Depth > MaxDepth || To.size() > MaxText)
    return false;
  To += std::to_string(V.What) + ":" + std::to_string(V.Number) + ":" +
        std::to_string(V.RealNumber) + ":" + V.Name;
  auto Address = [&](const void *P) {
    To += ":" + std::to_string(reinterpret_cast<uintptr_t>(P));
  };
  if (V.What == Value::Tensor && V.Handle && V.Handle->Shape.Defined)
    To += shownSizes(tensorValue(V.Handle));
  for (const void *P :
       {static_cast<const void *>(V.Held.get()),
        static_cast<const void *>(V.Callee), static_cast<const void *>(V.Class),
        static_cast<const void *>(V.Target.get())})
    Address(P);
  bool IsWhole = true;
  To += "{";
  forEachPart(const_cast<Value &>(V), [&](Cell &Part) {
    IsWhole = IsWhole && describe(*Part, To, Depth + 1);
    To += ",";
  });
  To += "}";
  return IsWhole;
}

/// Is \p A the value that \p B was, without a look into its parts?
static bool isUntouched(const Value &A, const Value &B) {
  return A.What == B.What && A.Number == B.Number &&
         A.RealNumber == B.RealNumber && A.Name == B.Name &&
         A.Elements == B.Elements && A.Handle == B.Handle && A.Held == B.Held &&
         A.Target == B.Target && A.Callee == B.Callee &&
         A.Members == B.Members && A.Settings == B.Settings;
}

Snapshot::Snapshot(Interpreter &VM)
    : VM(VM), Temporaries(VM.Temporaries), GradMode(VM.records()) {
  for (const Frame *F : VM.Frames) {
    Frames.push_back(*F);
    for (const auto &[D, V] : F->Variables)
      add(V);
    if (F->This)
      add(F->This);
  }
  for (const auto &[D, V] : VM.Globals)
    add(V);
  for (const Cell &V : VM.Temporaries)
    add(V);
}

void Snapshot::add(const Cell &V) {
  if (!V || Cells.count(V) || !VM.step(VM.Current))
    return;
  Cells.emplace(V, *V);
  if (V->Handle && V->What == Value::Tensor)
    Tensors.emplace(V->Handle, *V->Handle);
  if (V->Held)
    add(V->Held);
  add(V->Target);
  add(V->This);
  for (const auto &[D, Captured] : V->Captures)
    add(Captured);
  forEachPart(*V, [&](Cell &Part) { add(Part); });
}

void Snapshot::add(const ModulePtr &M) {
  if (Modules.count(M) || !VM.step(VM.Current))
    return;
  Modules.emplace(M, *M);
  for (const auto &[Field, Member] : M->Members)
    add(Member);
  for (const auto *Tensors : {&M->Parameters, &M->Buffers})
    for (const ModuleInstance::Tensor &T : *Tensors)
      this->Tensors.emplace(T.Handle, *T.Handle);
  for (const ModuleInstance::Child &Child : M->Children)
    add(Child.Module);
}

void Snapshot::restore() const {
  for (const auto &[V, Before] : Cells)
    *V = Before;
  for (const auto &[T, Before] : Tensors)
    *T = Before;
  for (const auto &[M, Before] : Modules)
    *M = Before;
  for (size_t I = 0; I < Frames.size(); ++I)
    *VM.Frames[I] = Frames[I];
  VM.Temporaries = Temporaries;
  VM.gradMode() = GradMode;
}

std::optional<std::map<Cell, std::string>> Snapshot::changes() const {
  std::map<Cell, std::string> Result;
  for (const auto &[V, Before] : Cells)
    if (!isUntouched(*V, Before) && !describe(*V, Result[V]))
      return std::nullopt;
  return Result;
}

std::string Snapshot::before(const Cell &V) const {
  std::string Result;
  describe(Cells.at(V), Result);
  return Result;
}

} // namespace libtorch_tidy::bytes
