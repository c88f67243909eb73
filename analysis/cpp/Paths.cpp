//===- Paths.cpp - The ways that control takes ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Paths.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Analysis/CFG.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <map>

using namespace clang;

namespace libtorch_tidy::cpp {

/// Where what a variable holds is overwritten or released.
struct Overwrites {
  llvm::SmallPtrSet<const Stmt *, 8> Ends;     ///< The writes.
  llvm::SmallPtrSet<const Stmt *, 8> Mentions; ///< The variable in them.
  llvm::SmallPtrSet<const Stmt *, 2> Moves;    ///< Reads that empty it.
  bool Aliased = false; ///< It may be used under another name.

  Overwrites(const ValueDecl *D, const Stmt *Body) {
    for (const Write &W : writesTo(D, Body)) {
      Aliased |= W.Kind == WriteKind::Escaped && !isa<CallExpr>(W.Where);
      if (W.Overwritten && !W.InLambda) {
        Ends.insert(W.Where);
        Mentions.insert(W.Overwritten);
      } else if (W.Kind == WriteKind::Released) {
        Moves.insert(W.Where);
      }
    }
  }
};

namespace {

bool isMentionedInLambda(const ValueDecl *D, const Stmt *Body) {
  return anyOf<LambdaExpr>(Body,
                           [&](const LambdaExpr *L) { return mentions(L, D); });
}

bool outlives(const ValueDecl *D, const FunctionDecl *In) {
  const auto *Var = dyn_cast<VarDecl>(D);
  return !Var || Var->getType()->isReferenceType() ||
         !Var->isLocalVarDeclOrParm() || Var->isStaticLocal() ||
         Var->getParentFunctionOrMethod() != In;
}

bool declares(const Stmt *S, const ValueDecl *D) {
  const auto *Declaration = dyn_cast<DeclStmt>(S);
  return Declaration && llvm::is_contained(Declaration->decls(), D);
}

enum class Outcome { GoesOn, Yes, Over };

/// Walks on from element \p Index of \p First: does \p Look say Yes anywhere?
/// \p AtExit is the answer where control leaves the function.
template <typename Visitor>
bool walk(const CFG &Graph, const CFGBlock *First, unsigned Index, bool AtExit,
          Visitor Look) {
  llvm::SmallPtrSet<const CFGBlock *, 16> Seen;
  llvm::SmallVector<std::pair<const CFGBlock *, unsigned>, 16> Work = {
      {First, Index}};
  while (!Work.empty()) {
    const auto [Block, From] = Work.pop_back_val();
    if (Block == &Graph.getExit() && AtExit)
      return true;
    Outcome Result = Outcome::GoesOn;
    for (unsigned I = From; I < Block->size() && Result == Outcome::GoesOn; ++I)
      if (auto Element = (*Block)[I].template getAs<CFGStmt>())
        Result = Look(Element->getStmt());
    if (Result == Outcome::Yes)
      return true;
    if (Result == Outcome::GoesOn && !Block->hasNoReturnElement())
      for (const CFGBlock *Next : Block->succs())
        if (Next && Seen.insert(Next).second)
          Work.push_back({Next, 0});
  }
  return false;
}

} // namespace

std::unique_ptr<CFG> buildGraph(const FunctionDecl *F, Grain Elements) {
  CFG::BuildOptions Options;
  if (Elements != Grain::Statements)
    Options.setAllAlwaysAdd();
  if (Elements != Grain::Expressions) {
    Options.AddImplicitDtors = true;
    Options.AddInitializers = true;
    Options.PruneTriviallyFalseEdges = true;
  }
  Options.AddLifetime = Elements == Grain::Everything;
  return F->getBody()
             ? CFG::buildCFG(F, F->getBody(), &F->getASTContext(), Options)
             : nullptr;
}

struct Paths::Memory {
  std::map<const ValueDecl *, Overwrites> Of;
  /// Where each element stands.
  llvm::DenseMap<const Stmt *, std::pair<const CFGBlock *, unsigned>> Places;

  const Overwrites &overwritesOf(const ValueDecl *D, const Stmt *Body) {
    return Of.try_emplace(D, D, Body).first->second;
  }
};

Paths::Paths(const FunctionDecl *In)
    : In(In), Graph(buildGraph(In, Grain::Expressions)),
      Known(std::make_unique<Memory>()) {
  if (!Graph)
    return;
  for (const CFGBlock *Block : *Graph)
    for (unsigned I = 0; I < Block->size(); ++I)
      if (auto Element = (*Block)[I].getAs<CFGStmt>())
        Known->Places.try_emplace(Element->getStmt(), Block, I);
}

Paths::~Paths() = default;

bool Paths::isReadFrom(const ValueDecl *D, const Stmt *From,
                       bool IsName) const {
  if (!Graph || isMentionedInLambda(D, In->getBody()))
    return true;
  const Overwrites &Ends = Known->overwritesOf(D, In->getBody());
  if (Ends.Aliased)
    return true;

  // Blocks are numbered against the flow of control: within one statement, the
  // one that runs first has the highest number.
  const CFGBlock *First = nullptr;
  unsigned Index = 0;
  for (const CFGBlock *Block : *Graph)
    for (unsigned I = 0; I < Block->size(); ++I) {
      auto Element = (*Block)[I].getAs<CFGStmt>();
      if (!Element || !contains(From, Element->getStmt()))
        continue;
      if (!First || Block->getBlockID() > First->getBlockID()) {
        First = Block;
        Index = I;
      }
      break;
    }
  if (!First)
    return true;

  const bool Outlives = !IsName && outlives(D, In);
  return walk(*Graph, First, Index, /*AtExit=*/Outlives, [&](const Stmt *S) {
    if (Ends.Ends.count(S) || declares(S, D))
      return Outcome::Over;
    const auto *Call = dyn_cast<CallExpr>(S);
    if (Call && Outlives && Call->getDirectCallee() &&
        Call->getDirectCallee()->getCanonicalDecl() == In->getCanonicalDecl())
      return Outcome::Over;
    return isMention(S, D) && !Ends.Mentions.count(S) ? Outcome::Yes
                                                      : Outcome::GoesOn;
  });
}

bool Paths::holdsUntil(const ValueDecl *D, const Expr *From,
                       llvm::function_ref<bool(const Stmt *)> IsGoal) const {
  if (!Graph)
    return false;
  const Overwrites &Ends = Known->overwritesOf(D, In->getBody());
  auto Look = [&](const Stmt *S) {
    if (Ends.Ends.count(S) || Ends.Moves.count(S) || declares(S, D))
      return Outcome::Over;
    return IsGoal(S) ? Outcome::Yes : Outcome::GoesOn;
  };
  if (From) {
    auto Place = Known->Places.find(From);
    return Place != Known->Places.end() &&
           walk(*Graph, Place->second.first, Place->second.second + 1,
                /*AtExit=*/false, Look);
  }
  for (const CFGBlock *Block : *Graph)
    for (unsigned I = 0; I < Block->size(); ++I)
      if (auto Element = (*Block)[I].getAs<CFGStmt>();
          Element && declares(Element->getStmt(), D))
        return walk(*Graph, Block, I + 1, /*AtExit=*/false, Look);
  return isa<ParmVarDecl>(D) &&
         walk(*Graph, &Graph->getEntry(), 0, /*AtExit=*/false, Look);
}

bool Paths::leadsTo(const Expr *From,
                    llvm::function_ref<bool(const Stmt *)> IsGoal,
                    bool OrOut) const {
  if (!Graph)
    return true;
  auto Place = Known->Places.find(From);
  return Place == Known->Places.end() ||
         walk(*Graph, Place->second.first, Place->second.second + 1,
              /*AtExit=*/OrOut, [&](const Stmt *S) {
                return IsGoal(S) ? Outcome::Yes : Outcome::GoesOn;
              });
}

bool Paths::leadsWithout(const Expr *From,
                         llvm::function_ref<bool(const Stmt *)> IsEnd,
                         llvm::function_ref<bool(const Stmt *)> IsGoal) const {
  const auto Place = Known->Places.find(From);
  return Graph && Place != Known->Places.end() &&
         walk(*Graph, Place->second.first, Place->second.second + 1,
              /*AtExit=*/false, [&](const Stmt *S) {
                return IsGoal(S)  ? Outcome::Yes
                       : IsEnd(S) ? Outcome::Over
                                  : Outcome::GoesOn;
              });
}

std::optional<llvm::SmallVector<const Stmt *, 4>>
Paths::lastBefore(const Stmt *Goal,
                  llvm::function_ref<bool(const Stmt *)> IsSource) const {
  const auto Place = Known->Places.find(Goal);
  if (!Graph || Place == Known->Places.end())
    return std::nullopt;
  llvm::SmallVector<const Stmt *, 4> Found;
  llvm::SmallPtrSet<const CFGBlock *, 16> Seen;
  llvm::SmallVector<std::pair<const CFGBlock *, unsigned>, 16> Work = {
      Place->second};
  while (!Work.empty()) {
    const auto [Block, End] = Work.pop_back_val();
    const Stmt *Source = nullptr;
    for (unsigned I = End; I > 0 && !Source; --I)
      if (auto Element = (*Block)[I - 1].getAs<CFGStmt>();
          Element && IsSource(Element->getStmt()))
        Source = Element->getStmt();
    const bool AtStart = !Source && Block == &Graph->getEntry();
    if ((Source || AtStart) && !llvm::is_contained(Found, Source))
      Found.push_back(Source);
    if (Source)
      continue;
    for (const CFGBlock *Before : Block->preds())
      if (Before && Seen.insert(Before).second)
        Work.push_back({Before, Before->size()});
  }
  return Found;
}

} // namespace libtorch_tidy::cpp
