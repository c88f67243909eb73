//===- EmptyCacheInLoopCheck.cpp ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/storage/Owners.h"
#include "checks/base/LibtorchCheck.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;
using namespace clang::ast_matchers;
using libtorch_tidy::torch::Work;

namespace libtorch_tidy {

namespace {

constexpr struct EmptyCacheInLoopReasons {
  Reason InHandler{"in-handler", Effect::Silent,
                   "It is in a handler: recovery from running out of memory."};
  Reason Conditional{"under-condition", Effect::Silent,
                     "It runs under another condition, `if (i % 100 == 0)` or "
                     "`if (lowOnMemory())`."};
  Reason LeavesLoop{"leaves-loop", Effect::Silent,
                    "The loop is left right after it."};
  Reason NoWork{"no-tensor-work", Effect::Silent,
                "The loop runs no tensor work that is seen; it may be in "
                "functions of another file."};
  Reason FewRounds{"few-rounds", Effect::Silent,
                   "The loop runs a constant number of times, four at most."};
  Reason Epoch{"once-per-epoch", Effect::Silent,
               "The loop counts epochs, or holds another loop that runs tensor "
               "work, itself or in a function that it calls."};
  Reason LoadsModel{"loads-model", Effect::Silent,
                    "The loop loads a model in each round: the next one has "
                    "other sizes."};
} EmptyCacheInLoop{};

/// docs/checks/libtorch-empty-cache-in-loop.md says what it finds and why.
class EmptyCacheInLoopCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override;
  void checkMatch(const Match &Result) override;
};

/// How often a condition holds in a loop: always, or unless a remainder is 0.
struct Frequency {
  const Expr *Remainder = nullptr;
  int64_t Period = 0;
};

/// i % 100, i % 100 != 0: true in 99 of 100 rounds; i % 2 == 0 in one of 2.
/// nullopt for what may hold less often.
std::optional<Frequency> frequencyOf(const Expr *Condition,
                                     const ASTContext &Context) {
  Condition = Condition->IgnoreParenImpCasts();
  if (torch::asksForDevice(Condition))
    return Frequency{};
  const auto *Op = dyn_cast<BinaryOperator>(Condition);
  if (Op && Op->getOpcode() == BO_LAnd) {
    const auto Left = frequencyOf(Op->getLHS(), Context);
    const auto Right = frequencyOf(Op->getRHS(), Context);
    if (Left && !Left->Remainder)
      return Right;
    if (Right && !Right->Remainder)
      return Left;
    // `if (option && i % 100)`: a remainder next to a switch.
    auto IsSwitch = [](const Expr *E) {
      return isa<DeclRefExpr, MemberExpr>(E->IgnoreParenImpCasts());
    };
    return IsSwitch(Op->getRHS())   ? Left
           : IsSwitch(Op->getLHS()) ? Right
                                    : std::nullopt;
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
    return Frequency{Op, *Period};
  return std::nullopt;
}

/// Why a round of a loop is more than one step; null when it is not. \p Body is
/// the loop's, or that of a function that it calls.
const Reason *whyLarge(const Stmt *Body, flow::TensorWork &Amounts,
                       llvm::SmallPtrSetImpl<const FunctionDecl *> &Seen) {
  const Reason *Why = nullptr;
  cpp::anyOf<Stmt>(
      Body,
      [&](const Stmt *S) {
        const auto *Call = dyn_cast<CallExpr>(S);
        const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
        const FunctionDecl *Definition =
            Callee ? Callee->getDefinition() : nullptr;
        if (const Stmt *Inner = cpp::bodyOf(S))
          Why = Amounts.of(Inner) != Work::None ? &EmptyCacheInLoop.Epoch
                                                : nullptr;
        else if (Call && torch::loadsModule(Call))
          Why = &EmptyCacheInLoop.LoadsModel;
        else if (Definition && Definition->hasBody() &&
                 Amounts.of(Call) != Work::None &&
                 Seen.insert(Definition).second)
          Why = whyLarge(Definition->getBody(), Amounts, Seen);
        return Why != nullptr;
      },
      cpp::Lambdas::Skipped);
  return Why;
}

/// Why \p Loop, of whatever runs in it, is no hot one; null when it is.
const Reason *whyNotHot(const Stmt *Loop, ASTContext &Context) {
  flow::TensorWork &Amounts = flow::UnitModel::of(Context).work();
  const Stmt *Body = cpp::roundsOf(Loop);
  if (Amounts.of(Body) == Work::None)
    return &EmptyCacheInLoop.NoWork;
  if (cpp::runsFewTimes(Loop, Context))
    return &EmptyCacheInLoop.FewRounds;
  const auto *For = dyn_cast<ForStmt>(Loop);
  if (For && cpp::anyOf<VarDecl>(For->getInit(), [](const VarDecl *Var) {
        return torch::namesEpoch(Var->getName());
      }))
    return &EmptyCacheInLoop.Epoch;
  llvm::SmallPtrSet<const FunctionDecl *, 8> Seen;
  return whyLarge(Body, Amounts, Seen);
}

/// What is found.
struct EmptiedCache {
  const CallExpr *Call;
  const Stmt *Loop;
  Frequency Runs;
};

/// Why the call does not run in most rounds of its loop; null when it does, and
/// then Runs is set.
const Reason *whyRare(EmptiedCache &E, const cpp::Body &In) {
  const Stmt *S = E.Call;
  for (const Stmt *Parent; (Parent = In.parentOf(S)) != E.Loop; S = Parent) {
    const auto *Op = dyn_cast<BinaryOperator>(Parent);
    if (isa<CXXCatchStmt>(Parent))
      return &EmptyCacheInLoop.InHandler;
    if (isa<SwitchCase, AbstractConditionalOperator>(Parent) ||
        cpp::isLoop(Parent) || (Op && Op->isLogicalOp()))
      return &EmptyCacheInLoop.Conditional;
    if (isa<CompoundStmt>(Parent) && In.leavesAfter(S, E.Loop))
      return &EmptyCacheInLoop.LeavesLoop;
    if (const auto *If = dyn_cast<IfStmt>(Parent)) {
      const auto Here = frequencyOf(If->getCond(), In.context());
      if (If->getThen() != S || !Here || E.Runs.Remainder)
        return &EmptyCacheInLoop.Conditional;
      E.Runs = *Here;
    }
  }
  return nullptr;
}

/// None where \p Call empties no cache, or not in the body of a loop.
std::optional<EmptiedCache> decide(const CallExpr *Call, ASTContext &Context) {
  const cpp::Body *In = cpp::Body::around(Call, Context);
  EmptiedCache Result = {Call, In ? In->loopAround(Call) : nullptr, {}};
  if (!Result.Loop || !In->isWithin(Call, cpp::roundsOf(Result.Loop)) ||
      !(torch::isEmptyCache(Call) || torch::isEmptyHostCache(Call)))
    return std::nullopt;
  const Reason *Why = whyRare(Result, *In);
  if (!Why)
    Why = whyNotHot(Result.Loop, Context);
  if (!Why)
    return Result;
  silent(Call->Stmt::getBeginLoc(), *Why, "loop", Result.Loop->getBeginLoc());
  return std::nullopt;
}

Finding worded(const EmptiedCache &E) {
  const Frequency &Runs = E.Runs;
  Finding F =
      Finding::from(E.Call)
          .says("wasted time: " + cpp::calleeName(E.Call) + "() in " +
                (Runs.Remainder
                     ? std::to_string(Runs.Period - 1) + " of " +
                           std::to_string(Runs.Period) + " iterations"
                     : "every iteration") +
                (torch::isEmptyHostCache(E.Call)
                     ? " gives back to the system the pinned memory that the "
                       "next one allocates again; it frees nothing that a "
                       "tensor holds"
                     : " gives back to the device what the next one allocates "
                       "again; it frees nothing that a tensor holds, and waits "
                       "for the device each time"))
          .note(E.Loop->getBeginLoc(), "this loop runs tensor work");
  if (Runs.Remainder)
    F.note(Runs.Remainder->getBeginLoc(),
           Runs.Period == 2 ? "this is true in every second iteration"
                            : "this is true unless the remainder is 0");
  return F;
}

} // namespace

void EmptyCacheInLoopCheck::registerMatchers(MatchFinder *Finder) {
  Finder->addMatcher(
      callExpr(callee(functionDecl(hasAnyName(torch::EmptyCacheFunctions))),
               unless(isExpansionInSystemHeader()))
          .bind("call"),
      this);
}

void EmptyCacheInLoopCheck::checkMatch(const Match &Result) {
  const auto *Call = Result.Nodes.getNodeAs<CallExpr>("call");
  if (auto E = decide(Call, *Result.Context))
    report(worded(*E));
}

LIBTORCH_CHECK(EmptyCacheInLoopCheck, EmptyCacheInLoop);

} // namespace libtorch_tidy
