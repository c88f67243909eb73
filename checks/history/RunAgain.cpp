//===- RunAgain.cpp - Functions that loops run ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/history/RunAgain.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Text.h"
#include "analysis/cpp/Walk.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy {

/// Is \p Call in a loop of \p In that \p Var, which may be null, outlives, and
/// that leaves it what it holds?
static bool isInLoop(const Stmt *Call, const VarDecl *Var, cpp::Body &In) {
  const Stmt *Loop = In.loopAround(Call);
  return Loop && !(Var && In.isWithin(In.declarationOf(Var), Loop)) &&
         !(Var && llvm::any_of(In.writesTo(Var), [&](const cpp::Write &W) {
             return !W.InLambda && W.Where != Call &&
                    W.Kind != cpp::WriteKind::Escaped &&
                    In.isWithin(W.Where, Loop);
           }));
}

bool isRunAgain(const flow::FunctionFlow &Flow, const VarDecl *Root,
                flow::UnitModel &Unit) {
  const FunctionDecl *F = Flow.function();
  bool Again = false;
  Unit.forEachFlow([&](const flow::FunctionFlow &Caller) {
    for (const flow::CallSite &Site : Caller.calls()) {
      const auto Call = cpp::Call::of(Site.Call);
      if (Site.Callee != F || !Call)
        continue;
      const VarDecl *Var = Root;
      if (const std::optional<unsigned> Index = Flow.indexOf(Root))
        Var = *Index < Call->Args.size() ? cpp::variableOf(Call->Args[*Index])
                                         : nullptr;
      Again |= isInLoop(Site.Call, Var, cpp::Body::of(Caller.function()));
    }
  });
  const auto *Around = dyn_cast<FunctionDecl>(Root->getDeclContext());
  if (Again || !Around || Around == F)
    return Again;
  cpp::Body &In = cpp::Body::of(Around);
  return cpp::anyOf<LambdaExpr>(In.root(), [&](const LambdaExpr *Lambda) {
    const CallExpr *Call =
        Lambda->getCallOperator() == F ? In.callOn(Lambda) : nullptr;
    return Call &&
           (torch::isOptimizerStep(Call) || cpp::does(Call, cpp::Std::Run)) &&
           isInLoop(Call, Root, In);
  });
}

} // namespace libtorch_tidy
