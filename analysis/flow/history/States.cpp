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

const Interpreter::Switches &Interpreter::unwound(const Stmt *Block) const {
  const SourceManager &SM = Context.getSourceManager();
  const VarDecl *First = nullptr;
  for (const auto &[V, Before] : S.Guards)
    if ((!Block || Out->isWithin(Out->declarationOf(V), Block)) &&
        (!First ||
         SM.isBeforeInTranslationUnit(V->getLocation(), First->getLocation())))
      First = V;
  return First ? S.Guards.at(First) : S;
}

/// Statement \p Left may throw, or does.
void Interpreter::noteLeaving(const Stmt *Left) {
  if (const Switches &After = unwound(nullptr);
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
    Switches After = unwound(Try->getTryBlock());
    if (SwitchesIfThrown)
      After.Mode = After.FromOff = GradMode::Unknown;
    if (!What) {
      What = S;
      static_cast<Switches &>(*What) = std::move(After);
      AtFirstThrow.insert_or_assign(Try, S);
    } else {
      joinThrown(*What, AtFirstThrow.at(Try));
      joinFrozen(*What, S);
      if (!S.Gone)
        What->Switches::join(After);
    }
    const Stmt *Block = Try->getTryBlock();
    for (auto *Vars : {&What->Guards, &What->Saved})
      for (auto It = Vars->begin(); It != Vars->end();)
        It = Out->isWithin(Out->declarationOf(It->first), Block)
                 ? Vars->erase(It)
                 : std::next(It);
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
    static_cast<Switches &>(Into) = From;
    Into.Guards = From.Guards;
    Into.Saved = From.Saved;
    Into.InferenceGuards = From.InferenceGuards;
    return true;
  }
  Grew |= Into.Switches::join(From);
  for (auto [Ours, Theirs] : {std::pair(&Into.Guards, &From.Guards),
                              std::pair(&Into.Saved, &From.Saved)})
    for (const auto &[V, Before] : *Theirs) {
      auto [It, New] = Ours->try_emplace(V, Before);
      Grew |= New || It->second.join(Before);
    }
  Grew |= From.InferenceGuards > Into.InferenceGuards;
  Into.InferenceGuards = std::max(Into.InferenceGuards, From.InferenceGuards);
  return Grew;
}

} // namespace libtorch_tidy::flow
