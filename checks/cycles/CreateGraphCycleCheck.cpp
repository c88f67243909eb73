//===- CreateGraphCycleCheck.cpp ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/flow/history/FunctionFlow.h"
#include "analysis/flow/unit/UnitModel.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/Effects.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "checks/base/LibtorchCheck.h"
#include "clang/AST/ASTContext.h"
#include "clang/ASTMatchers/ASTMatchFinder.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

namespace {

constexpr struct CreateGraphCycleReasons {
  Reason Reset{"gradients-reset", Effect::Silent,
               "Gradients are reset or detached after it: in the same "
               "function, in the next round of a loop around both, or in a "
               "function that is called there."};
  Reason CallersReset{"callers-reset", Effect::Silent,
                      "Every caller in the file resets or detaches the "
                      "gradients after the call."};
} CreateGraphCycle{};

bool isGradient(const Expr *E) {
  E = cpp::stripImplicit(E);
  if (const VarDecl *Var = cpp::variableOf(E);
      Var && Var->isLocalVarDecl() && Var->getInit())
    E = cpp::stripImplicit(Var->getInit());
  const auto *Call = dyn_cast_or_null<CallExpr>(E);
  return Call && torch::gradOf(Call);
}

/// Does \p Call take gradients away from parameters, or their graphs from
/// gradients: zero_grad(), which detaches where it does not reset, a write to
/// mutable_grad(), grad().detach_()? Functions that it calls are looked into
/// \p Depth levels deep.
bool resetsGradients(const CallExpr *Call, unsigned Depth = 4) {
  if (torch::isZeroGrad(Call))
    return true;
  StringRef Name = cpp::calleeName(Call);
  if (isa<CXXOperatorCallExpr>(Call))
    return cpp::isAssignment(Call) && isGradient(Call->getArg(0));
  if (const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
      Method && torch::endsHistory(Method) &&
      isGradient(Method->getImplicitObjectArgument()))
    return true;
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee || cpp::isOfLibrary(Callee))
    return false;
  if (Callee->hasBody(Callee))
    return Depth > 0 &&
           cpp::anyOf<CallExpr>(Callee->getBody(), [&](const CallExpr *Inner) {
             return resetsGradients(Inner, Depth - 1);
           });
  // Of code that is not seen, the name must do.
  return torch::namesGradientReset(Name);
}

/// Can \p Reset be about what \p Call, of a function that back-propagates, is
/// given? Not where all modules and optimizers that it has to do with are local
/// variables that the call does not name, and that start from nothing the call
/// names.
bool concerns(const CallExpr *Reset, const CallExpr *Call) {
  llvm::SmallVector<const Expr *, 4> Objects(Reset->arguments());
  if (const auto *Method = dyn_cast<CXXMemberCallExpr>(Reset))
    Objects.push_back(Method->getImplicitObjectArgument());
  llvm::erase_if(Objects, [](const Expr *E) {
    return !torch::isModule(E->getType().getNonReferenceType()) &&
           !torch::isOptimizerType(E->getType());
  });
  auto IsNamed = [&](const VarDecl *V) {
    return cpp::anyOf<DeclRefExpr>(Call, [&](const DeclRefExpr *Ref) {
      const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
      return Ref->getDecl() == V || (Var && !Var->isLocalVarDeclOrParm());
    });
  };
  return Objects.empty() || llvm::any_of(Objects, [&](const Expr *E) {
           const auto *V =
               dyn_cast_or_null<VarDecl>(cpp::rootOf(cpp::stripPointers(E)));
           return !V || !V->isLocalVarDecl() ||
                  V->getType()->isReferenceType() || IsNamed(V) ||
                  (V->getInit() &&
                   cpp::anyOf<DeclRefExpr>(
                       V->getInit(), [&](const DeclRefExpr *Ref) {
                         const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
                         return Var && (!Var->isLocalVarDecl() || IsNamed(Var));
                       }));
         });
}

/// The reset in \p F that runs after \p Call: after it in the text, or in the
/// next round of a loop around both. Null for none.
const CallExpr *resetAfter(const CallExpr *Call, const FunctionDecl *F) {
  const cpp::Body &Body = cpp::Body::of(F);
  const SourceManager &SM = Body.context().getSourceManager();
  auto ShareLoop = [&](const Stmt *Other) {
    for (const Stmt *S = Call; S; S = Body.parentOf(S))
      if (cpp::isLoop(S) && Body.isWithin(Other, S))
        return true;
    return false;
  };
  return cpp::findFirst<CallExpr>(Body.root(), [&](const CallExpr *Reset) {
    return (cpp::comesBefore(Call, Reset, SM) || ShareLoop(Reset)) &&
           resetsGradients(Reset) &&
           (torch::asBackward(Call) || concerns(Reset, Call));
  });
}

/// The finding at \p Call, which is in \p In and makes the graph of gradients.
Finding worded(const CallExpr *Call, const FunctionDecl *In) {
  Finding F = Finding::from(Call).says(
      "memory leak: backward() with create_graph=true stores gradients whose "
      "graph "
      "owns the parameters: each parameter and its gradient keep each "
      "other until the gradient is reset; " +
      torch::spelling::Grad + " returns them instead");
  F.Runs = Call->getSourceRange();
  if (const CallExpr *Reset = resetAfter(Call, In))
    F.because(CreateGraphCycle.Reset, "reset", Reset->getExprLoc());
  return F;
}

/// docs/checks/libtorch-create-graph-cycle.md says what it finds and why.
class CreateGraphCycleCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override {
    Finder->addMatcher(
        callExpr(callee(functionDecl(hasName(torch::BackwardName))),
                 forFunction(functionDecl().bind("in")))
            .bind("call"),
        this);
  }
  void checkMatch(const Match &Result) override {
    const auto *Call = Result.Nodes.getNodeAs<CallExpr>("call");
    const auto *In = Result.Nodes.getNodeAs<FunctionDecl>("in");
    if (!In->hasBody())
      return;
    auto Backward = torch::asBackward(Call);
    if (!Backward || Backward->ReturnsGradients ||
        Backward->CreateGraph == torch::Flag::False)
      return;
    // A bool that never changes is what its variable starts with.
    const VarDecl *Var = cpp::variableOf(Backward->Create);
    if (Var && (!Var->isLocalVarDeclOrParm() ||
                !cpp::writesTo(Var, In->getBody()).empty()))
      Var = nullptr;
    const auto *Param = dyn_cast_or_null<ParmVarDecl>(Var);
    if (Backward->CreateGraph == torch::Flag::True || Param ||
        (Var && Var->getInit() &&
         cpp::constantBool(Var->getInit(), context()) == true))
      Calls.push_back({Call, In, Param});
  }
  void checkMatched() override {
    for (const Backward &B : Calls) {
      Finding F = worded(B.Call, B.In);
      llvm::SmallVector<flow::WrittenCall, 4> Callers =
          flow::callsOf(B.In, unit());
      if (!B.When || F.silence()) {
        // Whoever calls the function may clean up after it.
        if (!Callers.empty() &&
            llvm::all_of(Callers, [](const flow::WrittenCall &C) {
              return resetAfter(C.Call, C.In);
            }))
          F.because(CreateGraphCycle.CallersReset, B.In);
        report(F);
        continue;
      }
      const unsigned I = B.When->getFunctionScopeIndex();
      for (const flow::WrittenCall &C : Callers)
        if (!isa<CXXOperatorCallExpr>(C.Call) && I < C.Call->getNumArgs() &&
            cpp::constantBool(C.Call->getArg(I), context()) == true &&
            cpp::isUserCode(C.Call->Stmt::getBeginLoc(),
                            context().getSourceManager()))
          report(worded(C.Call, C.In)
                     .note(B.Call->Stmt::getBeginLoc(),
                           quoted(B.When) + " is what this backward() gets as "
                                            "create_graph"));
    }
    Calls.clear();
  }

private:
  /// A backward() that makes the graph of gradients, for certain or when a
  /// parameter of its function says so.
  struct Backward {
    const CallExpr *Call;
    const FunctionDecl *In;
    const ParmVarDecl *When; ///< Null: always.
  };
  /// Who resets gradients is known at the end of the unit.
  llvm::SmallVector<Backward, 2> Calls;
};

} // namespace

LIBTORCH_CHECK(CreateGraphCycleCheck, CreateGraphCycle);

} // namespace libtorch_tidy
