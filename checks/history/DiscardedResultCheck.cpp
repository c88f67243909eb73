//===- DiscardedResultCheck.cpp -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/Effects.h"
#include "analysis/torch/api/Factories.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/storage/Sharing.h"
#include "checks/history/Discarded.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ASTLambda.h"
#include "llvm/ADT/DenseSet.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

using discarded::DiscardedResult;
using torch::PureKind;

namespace {

/// A call whose result is dropped.
struct Discarded {
  const CallExpr *Call;
  torch::PureOp Op;
  llvm::StringRef Tensor; ///< What stays as it is, where it has a name.
  const Reason *Why;      ///< Why it is silent, or has no fix; or null.
};

/// Does an argument of \p Outer make a tensor by anything but the listed
/// operators, factories and comparisons? A model that runs and whose result is
/// dropped is a warm-up or a measurement. Parameters, gradients, elements and
/// views of what there is are not made.
bool makesTensors(const CallExpr *Outer, flow::TensorWork &Amounts) {
  return llvm::any_of(Outer->arguments(), [&](const Expr *Arg) {
    return cpp::anyOf<CallExpr>(Arg, [&](const CallExpr *Call) {
      const torch::OpFacts *Facts = torch::opFacts(Call->getDirectCallee());
      return torch::mayHoldTensor(Call->getType()) &&
             !discarded::isStdAccess(Call) && !torch::asPureOp(Call) &&
             !torch::containerOf(Call) &&
             (torch::runsFunctional(Call) ||
              Amounts.of(Call) != torch::Work::None) &&
             !(Facts && (Facts->Factory || Facts->neverDifferentiable()));
    });
  });
}

/// Is all history of \p E that of \p D: is it computed from \p D, and from no
/// other tensor or module?
bool comesFromOnly(const Expr *E, const ValueDecl *D, cpp::Body &In,
                   unsigned Depth = 0) {
  bool Found = false;
  const bool Others = cpp::anyOf<Expr>(E, [&](const Expr *Part) {
    if (isa<CXXThisExpr>(Part))
      return true;
    const auto *Ref = dyn_cast<DeclRefExpr>(Part);
    if (!Ref || Ref->getType()->isFunctionType())
      return false;
    if (Ref->getDecl() == D) {
      Found = true;
      return false;
    }
    const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
    if (Var && Var->hasInit() && Depth < cpp::MaxChase && In.isSetOnce(Var) &&
        torch::mayHoldTensor(Var->getType())) {
      const bool Only = comesFromOnly(Var->getInit(), D, In, Depth + 1);
      Found |= Only;
      return !Only;
    }
    return torch::mayHoldTensor(Ref->getType()) ||
           torch::isModule(Ref->getType());
  });
  return Found && !Others;
}

Finding worded(const Discarded &Found) {
  Finding F =
      Finding::from(Found.Call)
          .says("no effect: the result of " + quoted(Found.Op.Name) +
                " is discarded; " +
                (Found.Tensor.empty() ? "the tensor" : quoted(Found.Tensor)) +
                " stays as it is");
  if (Found.Op.Kind == PureKind::Computes)
    F.because(DiscardedResult.Computes);
  return Found.Why ? F.because(*Found.Why)
                   : F.fix(fixits::assignTo(Found.Call, Found.Tensor));
}

/// docs/checks/libtorch-discarded-result.md says what it finds and why.
class DiscardedResultCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override {
    Finder->addMatcher(callExpr().bind("call"), this);
  }
  void checkMatch(const Match &Result) override {
    const auto *Call = Result.Nodes.getNodeAs<CallExpr>("call");
    if (discarded::isOperand(Call, *Result.Context))
      return;
    // Code for tensors and modules alike may call to(device) as a statement:
    // all that a template is made for must be known first.
    const cpp::Body *In = cpp::Body::around(Call, *Result.Context);
    const bool IsMade = In && In->isInstantiated();
    if (auto Lost = discarded::lostWrite(Call, *Result.Context, unit()))
      return report(*Lost);
    if (auto Found = decide(Call, *Result.Context)) {
      if (!IsMade)
        return report(worded(*Found));
      if (!Found->Why || Found->Why->Does != Effect::Silent)
        Found->Why = &DiscardedResult.InTemplate;
      Made.push_back(*Found);
    } else if (IsMade && isa<CXXMemberCallExpr>(Call) &&
               !torch::asPureOp(Call)) {
      Others.insert(Call->getExprLoc());
    }
  }
  void checkMatched() override {
    for (Discarded &Found : Made) {
      if (Others.contains(Found.Call->getExprLoc()))
        Found.Why = &DiscardedResult.ModuleToo;
      report(worded(Found));
    }
  }

private:
  std::optional<Discarded> decide(const CallExpr *Call, ASTContext &Context) {
    auto Op = torch::asPureOp(Call);
    // What a macro makes of its argument is not seen here: EXPECT_THROW.
    if (!Op || Call->Stmt::getBeginLoc().isMacroID())
      return std::nullopt;
    cpp::Body *In = cpp::Body::around(Call, Context);
    if (!In)
      return std::nullopt;
    const discarded::Place Where(Call, *In);
    bool IsPart = false;
    const ValueDecl *Root =
        discarded::rootOf(Op->Tensor, IsPart, unit().work());
    if (!Where.Discarded || In->function()->isImplicit() ||
        isa_and_nonnull<FunctionDecl>(Root))
      return std::nullopt;
    // A tensor that is never read again was sent somewhere to wait for it, or
    // to see that the device works.
    const auto *Var = dyn_cast_or_null<VarDecl>(Root);
    const bool IsOwn = !IsPart && In->isOwn(Var) && !Where.loopOf(Var);
    const bool ReadLater = !IsOwn || Where.isReadLater(Var);
    Discarded Found = {Call, *Op, "", nullptr};
    if (!Root || makesTensors(Call, unit().work()))
      Found.Why = &DiscardedResult.Computed;
    else if (Where.runsForItsOwnSake(Root, Op->Tensor))
      Found.Why = &DiscardedResult.OwnSake;
    else if (Op->Kind != PureKind::Detach && discarded::isTimed(Call, *In))
      Found.Why = &DiscardedResult.Timed;
    else if (Op->Kind == PureKind::Converts && !ReadLater)
      Found.Why = &DiscardedResult.Sent;
    if (Found.Why)
      return Found;

    // In x.detach().cpu() it is x that stays as it is.
    const Expr *Tensor = Call;
    while (const auto *Inner =
               dyn_cast_or_null<CallExpr>(cpp::stripImplicit(Tensor))) {
      auto InnerOp = torch::asPureOp(Inner);
      if (!InnerOp)
        break;
      // On a device, x would meet tensors that are still on the CPU.
      if (torch::asDeviceMove(Inner))
        Found.Why = &DiscardedResult.Moves;
      else if (InnerOp->Kind != PureKind::Detach &&
               InnerOp->Kind != PureKind::Converts)
        Found.Why = &DiscardedResult.Fills;
      Tensor = InnerOp->Tensor;
    }
    Tensor = Tensor->IgnoreParenImpCasts();
    if (discarded::isRepeatable(Tensor))
      Found.Tensor = fixits::sourceText(Tensor->getSourceRange(), Context);
    const CXXRecordDecl *Type = cpp::recordOf(Tensor->getType());
    if (Found.Why)
      return Found;
    if (!ReadLater)
      Found.Why = &DiscardedResult.NotRead;
    else if (Found.Tensor.empty())
      Found.Why = &DiscardedResult.Twice;
    else if (!Tensor->isLValue() || Tensor->getType().isConstQualified() ||
             !Type || Type != cpp::recordOf(Call->getType()))
      Found.Why = &DiscardedResult.NotAssignable;
    else if (!Where.namesElements(Root))
      Found.Why = &DiscardedResult.Copy;
    else if (Op->Kind == PureKind::Detach && isBackPropagated(Root, Call, *In))
      Found.Why = &DiscardedResult.Needed;
    return Found;
  }

  llvm::SmallVector<Discarded, 4> Made; ///< In what is made of templates.
  /// Where those have another call that is a statement.
  llvm::DenseSet<SourceLocation> Others;

  /// Does something in the function back-propagate what has its history from
  /// \p D alone, as it is at \p Detach? Without that it throws.
  bool isBackPropagated(const ValueDecl *D, const CallExpr *Detach,
                        cpp::Body &In) {
    const flow::FunctionFlow *Flow = unit().flowOf(In.function());
    if (!Flow || !Flow->available())
      return false;
    const Stmt *Loop = In.loopAround(Detach);
    if (llvm::any_of(In.writesTo(D), [&](const cpp::Write &W) {
          return W.Kind == cpp::WriteKind::Assigned &&
                 (cpp::comesBefore(Detach, W.Where,
                                   In.context().getSourceManager()) ||
                  (Loop && In.isWithin(W.Where, Loop)));
        }))
      return false; // It gets history again.
    auto ComesFromIt = [&](const Expr *E) { return comesFromOnly(E, D, In); };
    return llvm::any_of(Flow->trainingSites(), [&](const Expr *Training) {
      const auto *Call = dyn_cast<CallExpr>(Training);
      const Expr *Object = Call ? cpp::receiverOf(Call) : nullptr;
      return Call && ((Object && ComesFromIt(Object)) ||
                      llvm::any_of(Call->arguments(), ComesFromIt));
    });
  }
};

} // namespace

LIBTORCH_CHECK(DiscardedResultCheck, DiscardedResult);

} // namespace libtorch_tidy
