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

void MemoryState::remove(const Keeper &K) {
  llvm::erase_if(Env, [&](const Held &H) {
    return H.By.Root == K.Root && pathWithin(H.By.Path, K.Path, true) &&
           surelyMeet(H.By.Path, K.Path, !H.Moved);
  });
}

void MemoryState::forget(const Keeper &K) {
  remove(K);
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
    H.Moved |= H.By.Root == Container.Root &&
               pathWithin(H.By.Path, Last, /*Surely=*/true).has_value();
}

std::optional<Keeper> MemoryState::place(const Expr *E) const {
  std::optional<Keeper> K = Keeper::of(E);
  const auto *Var = K ? dyn_cast<VarDecl>(K->Root) : nullptr;
  const auto Size = Var ? Sizes.find(Var) : Sizes.end();
  if (Size != Sizes.end() && Size->second > 0 &&
      llvm::StringRef(K->Path).starts_with(LastElement))
    K->Path.replace(0, LastElement.size(), numberStep(Size->second - 1));
  return K;
}

unsigned *MemoryState::sizeOf(const Keeper &Container) {
  const auto *Var =
      Container.Path.empty() ? dyn_cast<VarDecl>(Container.Root) : nullptr;
  const auto Size = Var ? Sizes.find(Var) : Sizes.end();
  return Size == Sizes.end() ? nullptr : &Size->second;
}

void MemoryState::shift(const Keeper &Container, std::optional<int> By) {
  const size_t Front = Container.Path.size();
  auto Shift = [&](std::string &Path) {
    if (!pathWithin(Path, Container.Path, /*Surely=*/true))
      return;
    llvm::StringRef Rest = llvm::StringRef(Path).drop_front(Front);
    const llvm::StringRef Step = Rest.empty() ? Rest : takeStep(Rest);
    if (!Step.starts_with("[") || Step == EachElement || Step == SomeElement ||
        (Step == LastElement && By))
      return;
    int Number = 0;
    const bool IsNumber =
        !Step.drop_front().drop_back().getAsInteger(10, Number);
    Path = Container.Path +
           (By && IsNumber && Number + *By >= 0 ? numberStep(Number + *By)
                                                : SomeElement.str()) +
           Rest.str();
  };
  for (Held &H : Env)
    if (H.By.Root == Container.Root) {
      Shift(H.By.Path);
      for (std::string &Path : H.Replaced)
        Shift(Path);
    }
}

void MemoryState::doubtElements(const Keeper &Container) {
  for (Held &H : Env)
    if (H.By.Root == Container.Root && pathWithin(H.By.Path, Container.Path))
      H.What.doubt(Borrow::Element);
}

void MemoryState::swap(const Keeper &A, const Keeper &B) {
  auto Within = [](const Held &H, const Keeper &K) {
    return H.By.Root == K.Root ? pathWithin(H.By.Path, K.Path, /*Surely=*/true)
                               : std::nullopt;
  };
  for (Held &H : Env) {
    const Keeper *From = Within(H, A) ? &A : Within(H, B) ? &B : nullptr;
    if (!From)
      continue;
    Keeper To = From == &A ? B : A;
    To.Path += *Within(H, *From);
    To.Type = {};
    H.By = std::move(To);
    H.Moved |= H.By.mayMove();
  }
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
  for (const auto &[Var, Size] : llvm::to_vector(Sizes))
    if (auto It = Other.Sizes.find(Var);
        It == Other.Sizes.end() || It->second != Size)
      Changed |= Sizes.erase(Var);
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
