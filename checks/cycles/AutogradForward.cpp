//===- AutogradForward.cpp - What forward() gives its context -------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/cycles/AutogradForward.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/autograd/Hooks.h"
#include "analysis/torch/modules/Kept.h"
#include "analysis/torch/storage/Owners.h"
#include "analysis/torch/storage/Sharing.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/Builtins.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace libtorch_tidy {

using cpp::Object;
using torch::ContextList;

//===----------------------------------------------------------------------===//
// The context
//===----------------------------------------------------------------------===//

void ContextUses::lookAt(const Stmt *S) {
  if (const auto *Return = dyn_cast<ReturnStmt>(S))
    Returns.push_back(Return);
  if (const auto *Member = dyn_cast<MemberExpr>(S))
    ContextMentions -=
        isa<DeclRefExpr>(Member->getBase()->IgnoreParenImpCasts()) &&
        torch::isAutogradContext(Member->getBase()->getType());
  if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
    ContextMentions += torch::isAutogradContext(Ref->getType());
  if (const auto *E = dyn_cast<Expr>(S);
      E && isa<MemberExpr, DeclRefExpr>(E) && torch::isSavedData(E))
    SavedDataMentions.push_back(E);
  const auto *Call = dyn_cast<CallExpr>(S);
  if (!Call)
    return;
  if (auto Stored = torch::asSavedDataStore(Call))
    Stores.push_back({Call, Stored->Value, Stored->Key});
  else if (torch::asContextList(Call, ContextList::Saved))
    Saves.push_back(Call);
  else if (torch::asContextList(Call, ContextList::Dirty))
    Dirty.push_back(Call);
  else if (torch::asContextList(Call, ContextList::NonDifferentiable))
    NonDifferentiable.push_back(Call);
  else
    storesOfHelper(Call);
}

/// A function that is given the context and puts parameters into it.
void ContextUses::storesOfHelper(const CallExpr *Call) {
  const FunctionDecl *Helper = Call->getDirectCallee();
  Helper = Helper ? Helper->getDefinition() : nullptr;
  if (!Helper || Helper == F || !Helper->hasBody() ||
      torch::isTorchDecl(Helper) ||
      llvm::none_of(Call->arguments(), [](const Expr *Arg) {
        return torch::isAutogradContext(Arg->getType());
      }))
    return;
  const Stmt *Body = Helper->getBody();
  cpp::forEach<CallExpr>(Body, [&](const CallExpr *Inner) {
    auto Stored = torch::asSavedDataStore(Inner);
    if (!Stored)
      return;
    for (const Expr *Kept : torch::keptBy(Stored->Value, Body)) {
      auto Named = cpp::objectOf(Kept, Body);
      const auto *Param =
          Named ? dyn_cast_or_null<ParmVarDecl>(Named->Root) : nullptr;
      if (!Param || !Named->Fields.empty() || Param->getDeclContext() != Helper)
        continue;
      unsigned I = Param->getFunctionScopeIndex();
      if (I < Call->getNumArgs() && !isa<CXXOperatorCallExpr>(Call))
        Stores.push_back({Call, Call->getArg(I), nullptr, Inner});
    }
  });
}

bool mentionsMove(const Expr *E) {
  return cpp::anyOf<CallExpr>(E, [](const CallExpr *Call) {
    return Call->getBuiltinCallee() == Builtin::BImove;
  });
}

std::optional<std::string> literalOf(const Expr *Key) {
  const auto *Text = dyn_cast_or_null<StringLiteral>(cpp::stripImplicit(Key));
  if (!Text || !Text->isOrdinary())
    return std::nullopt;
  return Text->getString().str();
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Does a value of \p T own tensors, as far as its type shows?
static bool mayOwnTensors(QualType T) {
  if (torch::isIntrusivePtr(T))
    return torch::mayHoldTensor(cpp::pointeeOf(T));
  return !torch::isIValue(T) && torch::mayHoldTensor(T);
}

/// Can a tensor made by \p E not take part in backward: an index, a mask?
static bool isNotDifferentiable(const Expr *E) {
  const auto *Call = dyn_cast_or_null<CallExpr>(cpp::stripImplicit(E));
  if (!Call)
    return false;
  if (torch::isIntegralCast(Call))
    return true;
  const torch::OpFacts *Facts = torch::opFacts(Call->getDirectCallee());
  return Facts && !Facts->Factory && Facts->neverDifferentiable();
}

static bool isNotDifferentiable(const ValueDecl *Var, const Stmt *Body) {
  const auto *V = dyn_cast<VarDecl>(Var);
  if (V && !isa<ParmVarDecl>(V) && isNotDifferentiable(V->getInit()))
    return true;
  return llvm::any_of(cpp::writesTo(Var, Body), [](const auto &W) {
    return W.Value && isNotDifferentiable(W.Value);
  });
}

llvm::SmallVector<SavedTensor, 2>
AutogradForward::keptBy(const SavedValue &S) const {
  llvm::SmallVector<SavedTensor, 2> Result;
  for (const Expr *E : torch::keptBy(S.Value, Body)) {
    if (!mayOwnTensors(E->getType()) || cpp::isEmptyValue(E))
      continue;
    SavedTensor K;
    K.E = E;
    const auto *Call = dyn_cast<CallExpr>(E);
    while (const Expr *Of = torch::viewOf(Call)) {
      K.IsView = true;
      E = Of;
      Call = dyn_cast_or_null<CallExpr>(cpp::stripImplicit(E));
    }
    K.Of = cpp::objectOf(E, Body);
    Result.push_back(K);
  }
  return Result;
}

std::optional<AutogradForward::Output>
AutogradForward::asOutput(const SavedTensor &K, const SavedValue &S) const {
  if (!K.Of || !K.Of->Root || !K.Of->Fields.empty() || mentionsMove(S.Value))
    return std::nullopt;
  const ValueDecl *Var = K.Of->Root;
  const CallExpr *Dirty = listWith(Uses.Dirty, Var);
  // Other inputs are returned as a view that is not stored.
  if (isa<ParmVarDecl>(Var) && !Dirty)
    return std::nullopt;
  if (!Uses.NonDifferentiable.empty() || isNotDifferentiable(Var, Body))
    return std::nullopt;
  // A mention that a return statement is made of: `return std::move(y)` has
  // emptied y when the statement itself is reached.
  ReturnsByMention Goals;
  for (const ReturnStmt *Return : Uses.Returns)
    if (returns(Return, *K.Of))
      cpp::forEach<DeclRefExpr>(
          Return, [&](const DeclRefExpr *Ref) { Goals[Ref] = Return; });
  if (Goals.empty())
    return std::nullopt;
  const Stmt *At = nullptr;
  if (F->isDependentContext())
    At = followsInText(Var, S, Goals);
  else
    cpp::Body::of(F).paths().holdsUntil(Var, S.Where, [&](const Stmt *Way) {
      return (At = Goals.lookup(Way)) != nullptr;
    });
  if (!At)
    return std::nullopt;
  return Output{At, isa<ParmVarDecl>(Var) ? Dirty : nullptr};
}

/// For templates, which have no CFG: a return after the store, with no
/// other return between, and no write after the store.
const Stmt *
AutogradForward::followsInText(const ValueDecl *Var, const SavedValue &S,
                               const ReturnsByMention &Goals) const {
  const SourceManager &SM = F->getASTContext().getSourceManager();
  auto IsAfter = [&](SourceLocation Loc) {
    return SM.isBeforeInTranslationUnit(
        SM.getFileLoc(S.Where->Stmt::getEndLoc()), SM.getFileLoc(Loc));
  };
  for (const cpp::Write &W : cpp::writesTo(Var, Body))
    if (W.Overwritten && IsAfter(W.Where->getBeginLoc()))
      return nullptr;
  for (const ReturnStmt *Return : Uses.Returns)
    if (IsAfter(Return->getBeginLoc()))
      return llvm::any_of(Goals,
                          [&](const auto &G) { return G.second == Return; })
                 ? Return
                 : nullptr;
  return nullptr;
}

bool AutogradForward::returns(const ReturnStmt *Return,
                              const Object &Output) const {
  const Expr *Value = Return->getRetValue();
  return Value && llvm::any_of(torch::keptBy(Value, Body), [&](const Expr *E) {
           auto Returned = cpp::objectOf(E, Body);
           return Returned && Returned->Root == Output.Root &&
                  Returned->Fields == Output.Fields &&
                  !(Returned->Element && Output.Element);
         });
}

const CallExpr *
AutogradForward::listWith(llvm::ArrayRef<const CallExpr *> Calls,
                          const ValueDecl *Var) const {
  for (const CallExpr *Call : Calls)
    for (const Expr *E : torch::keptBy(Call->getArg(0), Body)) {
      auto Named = cpp::objectOf(E, Body);
      if (Named && Named->Root == Var && Named->Fields.empty())
        return Call;
    }
  return nullptr;
}

} // namespace libtorch_tidy
