//===- MemoryState.cpp - Who refers to whose memory at a point ------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/flow/memory/MemoryState.h"
#include "analysis/cpp/Calls.h"

using namespace clang;

namespace libtorch_tidy::flow {

const VarDecl *namedBy(const Expr *E) {
  const auto *Ref = dyn_cast_or_null<DeclRefExpr>(cpp::peel(E));
  return Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
}

bool isOwn(const VarDecl *Var) {
  return Var && Var->isLocalVarDeclOrParm() && !Var->isStaticLocal() &&
         Var->getTLSKind() == VarDecl::TLS_None &&
         !Var->getType()->isReferenceType() &&
         !Var->getType()->isDependentType();
}

std::optional<Keeper> Keeper::of(const Expr *E) {
  E = cpp::peel(E);
  if (!E)
    return std::nullopt;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    if (!isa<VarDecl>(Ref->getDecl()))
      return std::nullopt;
    return Keeper{Ref->getDecl()};
  }
  if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
    const VarDecl *Var = namedBy(Unary->getSubExpr());
    if (Unary->getOpcode() == UO_Deref && Var)
      return Keeper{Var, nullptr, true};
    return std::nullopt;
  }
  const auto *Member = dyn_cast<MemberExpr>(E);
  const auto *Field =
      Member ? dyn_cast<FieldDecl>(Member->getMemberDecl()) : nullptr;
  if (!Field)
    return std::nullopt;
  if (isa<CXXThisExpr>(cpp::peel(Member->getBase())))
    return Keeper{Field};
  if (const VarDecl *Var = namedBy(Member->getBase()))
    return Keeper{Var, Field, Member->isArrow()};
  return std::nullopt;
}

QualType Keeper::type() const {
  return Field ? Field->getType() : Root->getType();
}

std::string Keeper::name() const {
  std::string Name = Root->getNameAsString();
  if (isa<FieldDecl>(Root))
    return Name;
  if (Field)
    return Name + (Pointee ? "->" : ".") + Field->getNameAsString();
  return (Pointee ? "*" : "") + Name;
}

bool Keeper::outlives() const {
  const auto *Var = dyn_cast<VarDecl>(Root);
  if (!Var)
    return true;
  if (!Var->isLocalVarDeclOrParm() || Var->isStaticLocal())
    return true;
  return isa<ParmVarDecl>(Var) &&
         (Pointee ? Var->getType()->isPointerType()
                  : Var->getType()->isLValueReferenceType());
}

Borrow Buffer::lent(Borrow::Kind What, const Expr *Source) const {
  Borrow B;
  B.What = What;
  B.Source = B.Top = Source;
  B.Owner = Owner;
  B.Temporary = Temporary;
  B.Heap = Heap;
  B.Sure = Sure;
  B.Through = Through;
  B.AtStart = AtStart;
  return B;
}

bool MemoryState::holds(const Keeper &K) const {
  return llvm::any_of(Env, [&](const Held &H) { return H.By == K; });
}

void MemoryState::keep(Held H) {
  for (Held &Known : Env)
    if (Known.isSame(H)) {
      Known = std::move(H);
      return;
    }
  if (Env.size() < MaxHeld)
    Env.push_back(std::move(H));
}

void MemoryState::forget(const ValueDecl *Root) {
  llvm::erase_if(Env, [&](const Held &H) { return H.By.Root == Root; });
}

void MemoryState::forget(const Keeper &K) {
  if (!K.Field)
    return forget(K.Root);
  llvm::erase_if(Env, [&](const Held &H) { return H.By == K; });
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
    if (From.Ended && !Into->Ended) {
      Into->Ended = From.Ended;
      Into->EndsAt = From.EndsAt;
      Into->What.Sure = From.What.Sure;
      Changed = true;
    }
  }
  llvm::SmallVector<const VarDecl *, 4> Unknown;
  for (auto &[Var, Here] : Tensors) {
    auto It = Other.Tensors.find(Var);
    if (It == Other.Tensors.end()) {
      Unknown.push_back(Var);
      continue;
    }
    Alone Both{std::min(Here.Memory, It->second.Memory),
               std::min(Here.Handle, It->second.Handle),
               Here.OnDevice && It->second.OnDevice};
    Changed |= Both.Memory != Here.Memory || Both.Handle != Here.Handle ||
               Both.OnDevice != Here.OnDevice;
    Here = Both;
  }
  for (const VarDecl *Var : Unknown)
    Changed |= Tensors.erase(Var);
  for (const auto &[Var, Of] : Other.Pointers)
    Changed |= Pointers.try_emplace(Var, Of).second;
  for (const VarDecl *Var : Other.SharedMats)
    Changed |= SharedMats.insert(Var).second;
  Unknown.clear();
  for (const VarDecl *Var : Freed)
    if (!Other.Freed.contains(Var))
      Unknown.push_back(Var);
  for (const VarDecl *Var : Unknown)
    Changed |= Freed.erase(Var);
  return Changed;
}

} // namespace libtorch_tidy::flow
