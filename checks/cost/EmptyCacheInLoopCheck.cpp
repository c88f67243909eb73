//===- EmptyCacheInLoopCheck.cpp ------------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/flow/unit/TensorWork.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/devices/CudaMemory.h"
#include "analysis/torch/modules/Modules.h"
#include "checks/base/LibtorchCheck.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

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

/// i % 100, i % 100 != 0: true in 99 of 100 rounds; i % 2 == 0 in one of 2.
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
    // `if (option && i % 100)`: a remainder next to a switch.
    auto IsSwitch = [](const Expr *E) {
      return isa<DeclRefExpr, MemberExpr>(E->IgnoreParenImpCasts());
    };
    if (Left.How == Often::Mostly && IsSwitch(Op->getRHS()))
      return Left;
    if (Right.How == Often::Mostly && IsSwitch(Op->getLHS()))
      return Right;
    return {Often::Sometimes};
  }
  if (Op && Op->getOpcode() == BO_NE &&
      cpp::constantInt(Op->getRHS(), Context) == 0)
    Op = dyn_cast<BinaryOperator>(Op->getLHS()->IgnoreParenImpCasts());
  // i % 2 == 0 is as frequent as i % 2, whatever it is compared with.
  const bool Equal = Op && Op->getOpcode() == BO_EQ;
  if (Equal)
    Op = dyn_cast<BinaryOperator>(Op->getLHS()->IgnoreParenImpCasts());
  const std::optional<int64_t> Period =
      Op && Op->getOpcode() == BO_Rem ? cpp::constantInt(Op->getRHS(), Context)
                                      : std::nullopt;
  if (Period && (Equal ? *Period == 2 : *Period >= 2))
    return {Often::Mostly, Op, *Period};
  return {Often::Sometimes};
}

/// Does the loop count epochs, or run too few rounds to matter?
bool isCoarse(const Stmt *Loop, const ASTContext &Context) {
  const auto *For = dyn_cast<ForStmt>(Loop);
  const auto *Init = For ? dyn_cast_or_null<DeclStmt>(For->getInit()) : nullptr;
  return cpp::runsFewTimes(Loop, Context) ||
         (Init && llvm::any_of(Init->decls(), [](const Decl *D) {
            const auto *Var = dyn_cast<VarDecl>(D);
            return Var && torch::namesEpoch(Var->getName());
          }));
}

/// Is a round of a loop more than one step: does a loop inside it run tensor
/// work, so that the round is an epoch, or does it load a model, so that what
/// was cached is of another? \p Body is the loop's, or that of a function that
/// it calls.
bool isLarge(const Stmt *Body, flow::TensorWork &Amounts,
             llvm::SmallPtrSetImpl<const FunctionDecl *> &Seen) {
  return cpp::anyOf<Stmt>(
      Body,
      [&](const Stmt *S) {
        if (const Stmt *Inner = cpp::bodyOf(S))
          return Amounts.of(Inner) != Work::None;
        const auto *Call = dyn_cast<CallExpr>(S);
        if (!Call || torch::loadsModule(Call))
          return Call != nullptr;
        const FunctionDecl *Callee = Call->getDirectCallee();
        const FunctionDecl *Definition =
            Callee ? Callee->getDefinition() : nullptr;
        return Definition && Definition->hasBody() &&
               Amounts.of(Call) != Work::None &&
               Seen.insert(Definition).second &&
               isLarge(Definition->getBody(), Amounts, Seen);
      },
      cpp::Lambdas::Skipped);
}

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
  if (!looksFor(Level::Advisory))
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
  const bool OfHost = torch::isEmptyHostCache(Call);
  if (!OfHost && !torch::isEmptyCache(Call))
    return;

  Frequency Runs;
  const Stmt *Loop = nullptr;
  const cpp::Body *In = cpp::Body::around(Call, Context);
  for (const Stmt *S = Call; !Loop;) {
    const Stmt *Parent = In ? In->parentOf(S) : nullptr;
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
    } else if (cpp::bodyOf(Parent)) {
      if (cpp::bodyOf(Parent) != S)
        return;
      Loop = Parent;
    }
    S = Parent;
  }

  flow::TensorWork &Amounts = unit().work();
  const Stmt *Body = cpp::bodyOf(Loop);
  if (Amounts.of(Body) == Work::None || isCoarse(Loop, Context))
    return;
  llvm::SmallPtrSet<const FunctionDecl *, 8> Seen;
  if (isLarge(Body, Amounts, Seen))
    return;

  Finding F;
  F.Loc = Call->Stmt::getBeginLoc();
  F.Highlight = Call->getSourceRange();
  F.Strength = Level::Advisory;
  std::string Rounds = "every iteration";
  if (Runs.How == Often::Mostly)
    Rounds = std::to_string(Runs.Period - 1) + " of " +
             std::to_string(Runs.Period) + " iterations";
  F.Message = (cpp::calleeName(Call) + "() in " + Rounds).str();
  F.Message += OfHost ? " gives back to the system the pinned memory that the "
                        "next one allocates again; it frees nothing that a "
                        "tensor holds"
                      : " gives back to the device what the next one allocates "
                        "again; it frees nothing that a tensor holds, and "
                        "waits for the device each time";
  F.Steps.push_back({Loop->getBeginLoc(), "this loop runs tensor work"});
  if (Runs.Remainder)
    F.Steps.push_back({Runs.Remainder->getBeginLoc(),
                       Runs.Period == 2
                           ? "this is true in every second iteration"
                           : "this is true unless the remainder is 0"});
  report(F);
}

LIBTORCH_CHECK(EmptyCacheInLoopCheck, NoReasons);

} // namespace libtorch_tidy
