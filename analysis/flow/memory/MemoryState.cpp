//===- MemoryState.cpp - What is held, and what is gone -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/flow/memory/MemoryDomain.h"

using namespace clang;

namespace libtorch_tidy::flow {

void MemoryState::keep(Held H) {
  for (Held &Known : Env)
    if (Known.isSame(H)) {
      Known = std::move(H);
      return;
    }
  if (Env.size() < MaxHeld)
    Env.push_back(std::move(H));
}

void MemoryState::forget(const Keeper &K) {
  llvm::erase_if(Env, [&](const Held &H) {
    return H.By.Root == K.Root && pathWithin(H.By.Path, K.Path, true);
  });
  for (Held &H : Env)
    if (H.By.Root == K.Root && pathWithin(H.By.Path, K.Path) &&
        !H.isReplacedIn(K.Path))
      H.Replaced.push_back(K.Path);
}

void MemoryState::forget(const VarDecl *Var) {
  llvm::erase_if(
      Env, [&](const Held &H) { return H.By.Root == Var && !H.By.outlives(); });
}

void MemoryState::end(const VarDecl *Owner, Dangling::How How,
                      SourceLocation At,
                      llvm::function_ref<bool(Borrow &)> Dies) {
  for (Held &H : Env) {
    if (H.What.Owner != Owner || !H.Alive)
      continue;
    Borrow AtEnd = H.What;
    if (!Dies(AtEnd))
      continue;
    H.Alive = false;
    if (H.Ended) // On another way, and earlier.
      continue;
    H.What = AtEnd;
    H.Ended = How;
    H.EndsAt = At;
  }
}

void MemoryState::disown(const VarDecl *Owner) {
  for (Held &H : Env)
    if (H.What.Owner == Owner)
      H.Alive = false;
  llvm::erase_if(Env, [](const Held &H) { return !H.Alive && !H.Ended; });
}

bool Held::isSurelyIn(const Keeper &Read) const {
  auto IsOther = [&](const VarDecl *Var) {
    return llvm::any_of(By.Indices, [&](const VarDecl *Own) {
      return Own != Var && Own->getDeclName() == Var->getDeclName();
    });
  };
  return surelyMeet(By.Path, Read.Path,
                    !Moved && llvm::none_of(Read.Indices, IsOther) &&
                        !Read.mayMove());
}

void MemoryState::moved(const VarDecl *Index) {
  for (Held &H : Env)
    H.Moved |= llvm::is_contained(H.By.Indices, Index);
}

void MemoryState::lastMoved(const Keeper &Container) {
  const std::string Last = Container.Path + LastElement.str();
  for (Held &H : Env)
    H.Moved |=
        H.By.Root == Container.Root && pathWithin(H.By.Path, Last).has_value();
}

bool MemoryState::join(const MemoryState &Other) {
  bool Changed = false;
  for (const Held &From : Other.Env) {
    auto Into =
        llvm::find_if(Env, [&](const Held &H) { return H.isSame(From); });
    if (Into == Env.end()) {
      if (Env.size() < MaxHeld) {
        Env.push_back(From);
        Changed = true;
      }
      continue;
    }
    if (From.Alive && !Into->Alive)
      Changed = Into->Alive = true;
    if (From.Moved && !Into->Moved)
      Changed = Into->Moved = true;
    const size_t Known = Into->Replaced.size();
    llvm::erase_if(Into->Replaced, [&](const std::string &Path) {
      return !From.isReplacedIn(Path);
    });
    Changed |= Into->Replaced.size() < Known;
    if (From.Ended && !Into->Ended) {
      Into->Ended = From.Ended;
      Into->EndsAt = From.EndsAt;
      Into->What.Sure = From.What.Sure;
      Into->What.Unless = From.What.Unless;
      Changed = true;
    }
  }
  // What holds on all ways.
  for (const auto &[Var, Here] : llvm::to_vector(Tensors)) {
    auto It = Other.Tensors.find(Var);
    if (It == Other.Tensors.end()) {
      Changed |= Tensors.erase(Var);
      continue;
    }
    const Alone Both{std::min(Here.Memory, It->second.Memory),
                     std::min(Here.Handle, It->second.Handle),
                     Here.OnDevice && It->second.OnDevice};
    Changed |= cpp::fieldsOf(Both) != cpp::fieldsOf(Here);
    Tensors[Var] = Both;
  }
  for (auto Part : {&MemoryState::Freed, &MemoryState::Contiguous})
    for (const VarDecl *Var : llvm::to_vector(this->*Part))
      if (!(Other.*Part).contains(Var))
        Changed |= (this->*Part).erase(Var);
  // What holds on some.
  for (const auto &[Var, Of] : Other.Pointers)
    Changed |= Pointers.try_emplace(Var, Of).second;
  for (const VarDecl *Var : Other.SharedMats)
    Changed |= SharedMats.insert(Var).second;
  return Changed;
}

Alone MemoryValues::stateOf(const VarDecl *Var) const {
  return Shared.isCopied(Var) ? Alone() : S.Tensors.lookup(Var);
}

torch::Fresh madeBy(const CallExpr *Call, MemorySummaries Callees) {
  const MemorySummary *Known = summaryOf(Call->getDirectCallee(), Callees);
  return Known ? Known->Made : torch::Fresh::No;
}

} // namespace libtorch_tidy::flow
