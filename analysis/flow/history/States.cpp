//===- States.cpp - Where paths meet, and where something throws ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/flow/history/Interpreter.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include <utility>

using namespace clang;

namespace libtorch_tidy::flow {

//===----------------------------------------------------------------------===//
// Exceptions
//===----------------------------------------------------------------------===//

Interpreter::Modes Interpreter::unwound(const Stmt *Block) const {
  auto IsGone = [&](const VarDecl *V) {
    return !Block || Out->isWithin(Out->declarationOf(V), Block);
  };
  llvm::SmallVector<const VarDecl *, 4> Gone;
  for (const auto &[V, G] : S.Guards)
    if (IsGone(V) && !V->getType()->isPointerType()) // Nobody deletes these.
      Gone.push_back(V);
  const SourceManager &SM = Context.getSourceManager();
  llvm::sort(Gone, [&](const VarDecl *A, const VarDecl *B) {
    return SM.isBeforeInTranslationUnit(B->getLocation(), A->getLocation());
  });
  Modes After = S;
  for (const VarDecl *V : Gone)
    After.end(V);
  for (auto It = After.Saved.begin(); It != After.Saved.end();)
    It = IsGone(It->first) ? After.Saved.erase(It) : std::next(It);
  return After;
}

/// Statement \p Left may throw, or does.
void Interpreter::noteLeaving(const Stmt *Left) {
  if (const Modes After = unwound(nullptr);
      (SwitchesIfThrown || After.Mode != GradMode::On ||
       After.FromOff != GradMode::Off) &&
      cpp::anyOf<Expr>(
          Left, [](const Expr *E) { return mayThrow(E); },
          cpp::Lambdas::Skipped))
    Out->SwitchesIfThrown = true;
  const auto *E = dyn_cast<Expr>(Left);
  S.Gone |= E && isa<CXXThrowExpr>(cpp::peel(E));
}

void Interpreter::atThrow(llvm::MutableArrayRef<Thrown<State>> To) {
  for (auto &[Try, What] : To) {
    Modes After = unwound(Try->getTryBlock());
    if (SwitchesIfThrown)
      After.Mode = After.FromOff = GradMode::Unknown;
    if (!What) {
      What = S;
      static_cast<Modes &>(*What) = std::move(After);
      AtFirstThrow.insert_or_assign(Try, S);
    } else {
      joinThrown(*What, AtFirstThrow.at(Try));
      joinFrozen(*What, S);
      if (!S.Gone)
        What->Modes::join(After);
    }
  }
  Written.clear();
}

/// What was written since then is, in \p Into, what it was at \p First or is
/// now. What a block writes and takes back (`state = net(state); ...; state =
/// state.detach();`) is not told of the point in between.
void Interpreter::joinThrown(State &Into, const State &First) {
  for (PlaceId P : Written) {
    std::map<PlaceId, Value> Joined;
    auto Add = [&](PlaceId Q) {
      if (First.Held.count(Q) || S.Held.count(Q))
        Joined[Q] = readWhole(First, Q);
    };
    Add(P);
    forEachPart(P, Add);
    for (auto &[Q, V] : Joined)
      V.join(readWhole(S, Q));
    for (auto &[Q, V] : Joined)
      Into.Held[Q] = std::move(V);
  }
}

//===----------------------------------------------------------------------===//
// Guards
//===----------------------------------------------------------------------===//

/// Does what uses \p Box, a box of a guard, only read it or change it as
/// guardChange() says?
static bool isPlainUse(const DeclRefExpr *Box, const cpp::Body &In) {
  const Stmt *User = In.userOf(Box);
  if (Box->refersToEnclosingVariableOrCapture())
    return false;
  const CallExpr *Call = In.callOn(Box);
  const auto *Assign = dyn_cast_or_null<BinaryOperator>(User);
  if (Assign && Assign->getOpcode() == BO_Assign) // After `delete g`.
    return torch::holdsNoGuard(Assign->getRHS());
  if (!Call) // `delete g`, `(void)g`, `if (g)`, `*g` of pointers.
    return isa_and_nonnull<CXXDeleteExpr, CompoundStmt, IfStmt, UnaryOperator>(
        User);
  const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
  if (Operator && Operator->isComparisonOp())
    return true;
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Call->getDirectCallee());
  return Method && cpp::stripImplicit(cpp::calledOn(Call)) == Box &&
         (Method->isConst() || torch::guardChange(Call) ||
          Method->getOverloadedOperator() == OO_Arrow ||
          Method->getOverloadedOperator() == OO_Star);
}

void Interpreter::changeGuard(const Expr *E, const torch::GuardChange &Change) {
  if (Change.Begins == GradMode::On)
    Training.insert(E); // Somebody asked for gradients.
  else
    Switching.insert(E);
  Lasting.insert(E);
  if (!Change.Of || !isPlainBox(Change.Of)) {
    if (Change.Of && Change.Inference)
      S.Guards[Change.Of] = {S, /*Inference=*/true, /*Perhaps=*/true,
                             /*Shared=*/true};
    return setMode(GradMode::Unknown);
  }
  const GradMode Before = S.Mode;
  if (Change.EndsFirst)
    S.end(Change.Of);
  const Guard New =
      began(Change.Inference, Change.Begins.value_or(GradMode::Unknown));
  if (Change.Begins)
    setMode(*Change.Begins);
  S.end(Change.Of);
  if (Change.Begins)
    S.Guards[Change.Of] = New;
  if (S.Mode == GradMode::On && Before != GradMode::On)
    Out->EndedGuards.insert(E);
}

bool Interpreter::isPlainBox(const VarDecl *V) {
  auto [It, New] = PlainBoxes.try_emplace(V, false);
  if (!New || isa<ParmVarDecl>(V) || !V->hasLocalStorage() ||
      !Out->declarationOf(V))
    return It->second;
  return It->second = !cpp::anyOf<DeclRefExpr>(
             Out->Body->root(), [&](const DeclRefExpr *Ref) {
               return Ref->getDecl() == V && !isPlainUse(Ref, *Out->Body);
             });
}

//===----------------------------------------------------------------------===//
// Joins
//===----------------------------------------------------------------------===//

bool Interpreter::Switches::join(const Switches &Other) {
  bool Grew = false;
  auto Join = [&](GradMode &Mode, GradMode Theirs) {
    if (Mode == Theirs || Mode == GradMode::Unknown)
      return;
    Mode = GradMode::Unknown;
    Grew = true;
  };
  Join(Mode, Other.Mode);
  Join(FromOff, Other.FromOff);
  // Of several the first, in whatever order they come.
  if (Other.OffBy &&
      (!OffBy || Other.OffBy->getExprLoc() < OffBy->getExprLoc())) {
    OffBy = Other.OffBy;
    Grew = true;
  }
  return Grew;
}

bool Interpreter::Guard::join(const Guard &Other) {
  bool Grew = Before.join(Other.Before);
  for (bool Guard::*Flag : {&Guard::Inference, &Guard::Perhaps, &Guard::Shared})
    if (Other.*Flag)
      Grew |= !std::exchange(this->*Flag, true);
  return Grew;
}

bool Interpreter::Modes::join(const Modes &Other) {
  bool Grew = false;
  // Where there is no such guard, what its end brings back is what holds.
  for (auto &[V, Ours] : Guards)
    if (!Other.Guards.count(V))
      Grew |= Ours.join({Other, Ours.Inference, /*Perhaps=*/true});
  for (const auto &[V, Theirs] : Other.Guards) {
    auto [It, New] =
        Guards.try_emplace(V, Guard{*this, Theirs.Inference, /*Perhaps=*/true});
    Grew |= It->second.join(Theirs) || New;
  }
  for (const auto &[V, Theirs] : Other.Saved) {
    auto [It, New] = Saved.try_emplace(V, Theirs);
    Grew |= New || It->second.join(Theirs);
  }
  return Switches::join(Other) || Grew;
}

void Interpreter::Modes::end(const VarDecl *V) {
  auto It = Guards.find(V);
  if (It == Guards.end())
    return;
  const Guard Ended = std::move(It->second);
  Guards.erase(It);
  if (Ended.Shared || (Ended.Perhaps && Mode != GradMode::Unknown))
    Switches::join(Ended.Before);
  else
    static_cast<Switches &>(*this) = Ended.Before;
  // What it brings back lies below an InferenceMode that is still alive.
  if (const std::optional<GradMode> Under = underInference())
    for (GradMode *M : {&Mode, &FromOff})
      if (*M != GradMode::Off)
        *M = *Under;
}

std::optional<GradMode> Interpreter::Modes::underInference() const {
  std::optional<GradMode> Under;
  for (const auto &[V, G] : Guards)
    if (G.Inference && Under != GradMode::Off)
      Under = G.Perhaps || G.Shared ? GradMode::Unknown : GradMode::Off;
  return Under;
}

bool Interpreter::joinFrozen(State &Into, const State &From) {
  bool Changed = false;
  for (auto It = Into.Frozen.begin(); It != Into.Frozen.end();) {
    const bool Both = From.Frozen.count(*It);
    Changed |= !Both;
    It = Both ? std::next(It) : Into.Frozen.erase(It);
  }
  for (const ValueDecl *Module : From.PerhapsFrozen)
    Changed |= Into.PerhapsFrozen.insert(Module).second;
  return Changed;
}

bool Interpreter::join(State &Into, const State &From) {
  bool Grew = false;
  // readWhole() gives the value of a place that one side does not list.
  llvm::SmallVector<std::pair<PlaceId, Value>, 4> Added;
  for (const auto &[P, V] : From.Held)
    if (!Into.Held.count(P)) {
      Added.emplace_back(P, readWhole(Into, P)).second.join(V);
      Grew = true;
    }
  for (auto &[P, V] : Into.Held)
    Grew |= V.join(readWhole(From, P));
  for (auto &[P, V] : Added)
    Into.Held[P] = std::move(V);
  Grew |= joinFrozen(Into, From);
  if (From.Gone)
    return Grew;
  if (std::exchange(Into.Gone, false)) {
    static_cast<Modes &>(Into) = From;
    return true;
  }
  return Into.Modes::join(From) || Grew;
}

} // namespace libtorch_tidy::flow
