//===- EmptyCacheInLoopCheck.cpp ------------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/LibtorchCheck.h"
#include "checks/flow/TensorWork.h"
#include "checks/torch/Conventions.h"
#include "checks/torch/CudaMemory.h"
#include "checks/torch/Modules.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ParentMapContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace clang::ast_matchers;
using libtorch_tidy::torch::Work;

namespace libtorch_tidy {

namespace {

/// docs/checks/libtorch-empty-cache-in-loop.md says what it finds and why.
class EmptyCacheInLoopCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override;
  void checkMatch(const Match &Result) override;
};

/// How often what a condition guards runs in a loop.
enum class Often { Always, Mostly, Sometimes };

struct Frequency {
  Often How = Often::Always;
  const Expr *Remainder = nullptr; ///< Where it is not 0: mostly.
  int64_t Period = 0;
};

/// i % 100, i % 100 != 0: true in 99 of 100 rounds.
Frequency frequencyOf(const Expr *Condition, const ASTContext &Context) {
  Condition = Condition->IgnoreParenImpCasts();
  if (torch::asksForDevice(Condition))
    return {};
  const auto *Op = dyn_cast<BinaryOperator>(Condition);
  if (Op && Op->getOpcode() == BO_LAnd) {
    Frequency Left = frequencyOf(Op->getLHS(), Context);
    Frequency Right = frequencyOf(Op->getRHS(), Context);
    if (Left.How == Often::Always)
      return Right;
    if (Right.How == Often::Always)
      return Left;
    // `if (option && i % 100)`: a remainder beside a switch.
    auto IsSwitch = [](const Expr *E) {
      return isa<DeclRefExpr, MemberExpr>(E->IgnoreParenImpCasts());
    };
    if (Left.How == Often::Mostly && IsSwitch(Op->getRHS()))
      return Left;
    if (Right.How == Often::Mostly && IsSwitch(Op->getLHS()))
      return Right;
    return {Often::Sometimes};
  }
  if (Op && Op->getOpcode() == BO_NE) {
    Expr::EvalResult Zero;
    if (!Op->getRHS()->isValueDependent() &&
        Op->getRHS()->EvaluateAsInt(Zero, Context) && Zero.Val.getInt() == 0)
      Op = dyn_cast<BinaryOperator>(Op->getLHS()->IgnoreParenImpCasts());
  }
  Expr::EvalResult Period;
  if (Op && Op->getOpcode() == BO_Rem && !Op->getRHS()->isValueDependent() &&
      Op->getRHS()->EvaluateAsInt(Period, Context) &&
      Period.Val.getInt().getSignificantBits() <= 64 &&
      Period.Val.getInt().getExtValue() > 2)
    return {Often::Mostly, Op, Period.Val.getInt().getExtValue()};
  return {Often::Sometimes};
}

const Stmt *bodyOf(const Stmt *Loop) {
  if (const auto *For = dyn_cast<ForStmt>(Loop))
    return For->getBody();
  if (const auto *While = dyn_cast<WhileStmt>(Loop))
    return While->getBody();
  if (const auto *Do = dyn_cast<DoStmt>(Loop))
    return Do->getBody();
  if (const auto *Range = dyn_cast<CXXForRangeStmt>(Loop))
    return Range->getBody();
  return nullptr;
}

/// Does the loop count epochs, or run too few rounds to matter?
bool isCoarse(const Stmt *Loop, const ASTContext &Context) {
  const auto *For = dyn_cast<ForStmt>(Loop);
  if (!For)
    return false;
  if (const auto *Init = dyn_cast_or_null<DeclStmt>(For->getInit()))
    for (const Decl *D : Init->decls())
      if (const auto *Var = dyn_cast<VarDecl>(D);
          Var && torch::namesEpoch(Var->getName()))
        return true;
  const auto *Bound = dyn_cast_or_null<BinaryOperator>(For->getCond());
  Expr::EvalResult Rounds;
  return Bound && Bound->isComparisonOp() &&
         !Bound->getRHS()->isValueDependent() &&
         Bound->getRHS()->EvaluateAsInt(Rounds, Context) &&
         Rounds.Val.getInt() <= 4;
}

/// Looks at the body of a loop, and at the functions that it calls.
class RoundVisitor : public RecursiveASTVisitor<RoundVisitor> {
public:
  RoundVisitor(flow::TensorWork &Amounts) : Amounts(Amounts) {}
  /// A loop inside runs tensor work: the round is an epoch.
  bool HasInnerLoop = false;
  /// It loads a model: what was cached is of another.
  bool Loads = false;

  bool TraverseLambdaExpr(LambdaExpr *) { return true; }
  bool VisitStmt(Stmt *S) {
    const Stmt *Body = bodyOf(S);
    HasInnerLoop |= Body && Amounts.of(Body) != Work::None;
    return true;
  }
  bool VisitCallExpr(CallExpr *Call) {
    Loads |= torch::loadsModule(Call);
    const FunctionDecl *Callee = Call->getDirectCallee();
    const FunctionDecl *Definition = Callee ? Callee->getDefinition() : nullptr;
    if (Definition && Definition->hasBody() && Amounts.of(Call) != Work::None &&
        Seen.insert(Definition).second)
      TraverseStmt(Definition->getBody());
    return true;
  }

private:
  flow::TensorWork &Amounts;
  llvm::SmallPtrSet<const FunctionDecl *, 8> Seen;
};

/// Does the block go on to leave the loop after \p Statement?
bool leavesAfter(const CompoundStmt *Block, const Stmt *Statement) {
  auto It = llvm::find(Block->body(), Statement);
  return It != Block->body_end() &&
         std::any_of(It, Block->body_end(), [](const Stmt *S) {
           return isa<BreakStmt, ReturnStmt, CXXThrowExpr, GotoStmt>(S);
         });
}

} // namespace

void EmptyCacheInLoopCheck::registerMatchers(MatchFinder *Finder) {
  if (!tells(Level::Advisory))
    return;
  Finder->addMatcher(
      callExpr(callee(functionDecl(hasAnyName(torch::EmptyCacheFunctions))),
               unless(isExpansionInSystemHeader()))
          .bind("call"),
      this);
}

void EmptyCacheInLoopCheck::checkMatch(const Match &Result) {
  ASTContext &Context = *Result.Context;
  const auto *Call = Result.Nodes.getNodeAs<CallExpr>("call");
  if (!torch::isEmptyCache(Call))
    return;

  Frequency Runs;
  const Stmt *Loop = nullptr;
  for (const Stmt *S = Call; !Loop;) {
    DynTypedNodeList Parents = Context.getParents(*S);
    const Stmt *Parent = Parents.empty() ? nullptr : Parents[0].get<Stmt>();
    // A handler, a lambda, a function's body: not a round of a loop.
    if (!Parent || isa<CXXCatchStmt, LambdaExpr, SwitchCase>(Parent) ||
        isa<AbstractConditionalOperator>(Parent))
      return;
    if (const auto *Block = dyn_cast<CompoundStmt>(Parent)) {
      if (leavesAfter(Block, S))
        return;
    } else if (const auto *If = dyn_cast<IfStmt>(Parent)) {
      Frequency Here = frequencyOf(If->getCond(), Context);
      if (If->getThen() != S || Here.How == Often::Sometimes ||
          Runs.How == Often::Mostly)
        return;
      Runs = Here;
    } else if (const auto *Op = dyn_cast<BinaryOperator>(Parent);
               Op && Op->isLogicalOp()) {
      return;
    } else if (bodyOf(Parent)) {
      if (bodyOf(Parent) != S)
        return;
      Loop = Parent;
    }
    S = Parent;
  }

  const Stmt *Body = bodyOf(Loop);
  flow::TensorWork &Amounts = unit().work();
  if (Amounts.of(Body) == Work::None || isCoarse(Loop, Context))
    return;
  RoundVisitor Round(Amounts);
  Round.TraverseStmt(const_cast<Stmt *>(Body));
  if (Round.HasInnerLoop || Round.Loads)
    return;

  Finding F;
  F.Loc = Call->getBeginLoc();
  F.Highlight = Call->getSourceRange();
  F.Strength = Level::Advisory;
  std::string Rounds = "every iteration";
  if (Runs.How == Often::Mostly)
    Rounds = std::to_string(Runs.Period - 1) + " of " +
             std::to_string(Runs.Period) + " iterations";
  F.Message = "emptyCache() in " + Rounds +
              " gives back to the device what the next one allocates again; "
              "it frees nothing that a tensor holds, and each time the device "
              "is waited for";
  F.Steps.push_back({Loop->getBeginLoc(), "this loop runs tensor work"});
  if (Runs.Remainder)
    F.Steps.push_back({Runs.Remainder->getBeginLoc(),
                       "this is true unless the remainder is 0"});
  tell(F);
}

LIBTORCH_CHECK(EmptyCacheInLoopCheck);

} // namespace libtorch_tidy
