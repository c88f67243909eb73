//===- LayoutOrigins.cpp - What is asked, and what others gave ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/UnitContext.h"
#include "analysis/flow/memory/LayoutDomain.h"
#include "analysis/flow/memory/MemoryDomain.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/TorchTypes.h"

using namespace clang;

namespace libtorch_tidy::flow {

using torch::Layout;

/// The function that has \p Var, when its body is seen; null otherwise.
static const FunctionDecl *ownerOf(const VarDecl *Var) {
  const auto *Owner =
      dyn_cast_or_null<FunctionDecl>(Var->getParentFunctionOrMethod());
  return Owner && Owner->doesThisDeclarationHaveABody() ? Owner : nullptr;
}

/// What is given more than once, or by others: nothing is known of it, nor of
/// its dimensions.
static LaidOut unclear() {
  LaidOut Value;
  Value.Lies = Layout::unknown();
  Value.Lies.SomeUnit = true;
  return Value;
}

namespace {

/// What is asked for its strides, or has them changed in place, somewhere in a
/// function or in the methods of a class: each is walked once for the unit.
struct LookedAt {
  llvm::DenseMap<const Decl *, llvm::SmallPtrSet<const ValueDecl *, 4>> In;
};

} // namespace

static bool isLookedAt(const ValueDecl *D, const Decl *By) {
  auto &Known = cpp::ofUnit<LookedAt>(By->getASTContext()).In;
  auto [It, New] = Known.try_emplace(By->getCanonicalDecl());
  if (!New)
    return It->second.contains(D);
  llvm::SmallPtrSet<const ValueDecl *, 4> &Looked = It->second;
  const auto LookIn = [&](const FunctionDecl *F) {
    cpp::forEach<CallExpr>(F->getBody(), [&](const CallExpr *Call) {
      const Expr *Tensor = torch::changesLayout(Call)
                               ? cpp::Call(Call).Object
                               : torch::askedForLayout(Call);
      const auto K = Tensor ? Keeper::of(Tensor) : std::optional<Keeper>();
      if (K && K->Path.empty())
        Looked.insert(K->Root);
    });
  };
  if (const auto *Class = dyn_cast<CXXRecordDecl>(By)) {
    for (const CXXMethodDecl *Method : Class->methods())
      if (const FunctionDecl *Body = nullptr; Method->hasBody(Body))
        LookIn(Body);
  } else {
    LookIn(cast<FunctionDecl>(By));
  }
  return Looked.contains(D);
}

/// The parameter that \p Callee, with or without a body, asks for its strides.
static bool mayAsk(const cpp::Call &C, unsigned Index,
                   MemorySummaries Callees) {
  const MemorySummary *Known = summaryOf(C.Callee, Callees);
  return Known ? Known->Order.Asks.count(Index) != 0
               : C.Of == cpp::Whose::User && torch::namesLayoutCheck(C.Name);
}

const LayoutDomain::Looks &LayoutDomain::looks() const {
  if (KnownLooks)
    return *KnownLooks;
  Looks &Known = KnownLooks.emplace();
  auto Root = [](const Expr *E) {
    const std::optional<Keeper> K = Keeper::of(E);
    return K ? K->Root : nullptr;
  };
  cpp::forEach<CallExpr>(F->getBody(), [&](const CallExpr *Call) {
    if (const Expr *Tensor = torch::askedForLayout(Call))
      Known.Asked.insert(Root(Tensor));
    if (const Expr *Tensor = torch::packedBy(Call))
      Known.Packed.insert(Root(Tensor));
    const cpp::Call C(Call);
    if (C.Of == cpp::Whose::User)
      for (unsigned I = 0; I < C.Args.size(); ++I)
        if (torch::isTensor(C.Args[I]->getType()) && mayAsk(C, I, Callees))
          Known.Asked.insert(Root(C.Args[I]));
  });
  Known.Asked.erase(nullptr);
  Known.Packed.erase(nullptr);
  return Known;
}

std::optional<LaidOut> LayoutDomain::initialOf(const VarDecl *Var) const {
  const FunctionDecl *Owner = ownerOf(Var);
  if (!Owner || (Owner == F && !Elsewhere) || Depth >= MaxDepth)
    return std::nullopt;
  cpp::Body &Of = cpp::Body::of(Owner);
  if (isa<ParmVarDecl>(Var))
    return Of.writesTo(Var).empty() ? std::nullopt : std::optional(unclear());
  const bool IsPointer = Var->getType()->isPointerType();
  if (!Of.isSetOnce(Var) || (!IsPointer && isLookedAt(Var, Owner)))
    return unclear();
  const LayoutDomain There(Owner, *this);
  std::optional<LaidOut> Held = IsPointer ? There.pointerOf(Var->getInit())
                                          : There.valueOf(Var->getInit());
  // What its function gives its callers is not for this one.
  if (Held)
    Held->Given = nullptr;
  return Held;
}

bool LayoutDomain::isAskedAround(const ValueDecl *D) const {
  const auto *Var = dyn_cast<VarDecl>(D);
  const FunctionDecl *Owner = Var ? ownerOf(Var) : nullptr;
  return Owner && Owner != F && isLookedAt(Var, Owner);
}

std::optional<LaidOut> LayoutDomain::heldBy(const FieldDecl *Field) const {
  const auto *Class = dyn_cast<CXXRecordDecl>(Field->getParent());
  if (!Class || !torch::isTensor(Field->getType()) || Depth >= MaxDepth)
    return std::nullopt;
  const cpp::Values &Values = Fields(Field);
  if (Values.Given.size() > MaxGiven)
    return unclear();
  std::optional<LaidOut> Held;
  for (const Expr *Value : Values.Given) {
    const cpp::Body *In = cpp::Body::around(Value, F->getASTContext());
    const LayoutDomain There(In ? In->function() : F, *this);
    LaidOut Next = There.valueOf(Value);
    Next.Given = nullptr;
    if (Held)
      joinInto(*Held, Next);
    else
      Held = Next;
  }
  if (!Held || !Held->Lies.isStrided())
    return std::nullopt;
  // Which of them comes last is not known.
  if (!Values.Complete || Held->SomeWays || isLookedAt(Field, Class))
    return unclear();
  return Held;
}

} // namespace libtorch_tidy::flow
