//===- HookCaptureCycleCheck.cpp ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "analysis/flow/unit/UnitModel.h"
#include "analysis/torch/api/Effects.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/autograd/GradGuards.h"
#include "analysis/torch/modules/Kept.h"
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/storage/Owners.h"
#include "analysis/torch/storage/Sharing.h"
#include "checks/base/LibtorchCheck.h"
#include "checks/cycles/StoredFunctions.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/ASTMatchers/ASTMatchFinder.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

namespace {

/// What a stored function keeps, and is kept by.
struct KeptValue {
  enum Relation {
    Itself,   ///< The hooked tensor.
    Computed, ///< From the hooked tensor.
    Owner,    ///< Of the hooked tensor, or of the field.
  };

  const Expr *Value;
  const LambdaCapture *Capture; ///< Null when it is none.
  std::optional<cpp::Object> Object = {}, Name = {};
  Relation Is = Owner;
  const Expr *History = nullptr; ///< Where a computed tensor gets its history.
  const Reason *Why = nullptr;   ///< It is weaker, or has no fix.
};

/// \p E as written, or the name of its object.
std::string spelled(const Expr *E, const cpp::Object &Object,
                    const ASTContext &Context) {
  // A capture by default is written `=`.
  if (const auto *Ref = dyn_cast<DeclRefExpr>(cpp::peel(E)))
    return quoted(Ref->getDecl());
  StringRef Text = fixits::sourceText(E->getSourceRange(), Context);
  bool Fits = !Text.empty() && Text.size() < 40 && !Text.contains('\n');
  return quoted(Fits ? Text.str() : Object.name());
}

/// A tensor, or a shared pointer to one.
bool isTensorHandle(QualType T) {
  return torch::isTensor(T) || torch::isTensor(cpp::pointeeOf(T));
}

/// The capture that \p Kept is the value of; null when it is not one.
const LambdaCapture *captureOf(const LambdaExpr *Lambda, const Expr *Kept) {
  if (!Lambda)
    return nullptr;
  auto Init = Lambda->capture_init_begin();
  for (const LambdaCapture &Capture : Lambda->captures()) {
    const Expr *Value = *Init++;
    const auto *Var = Capture.capturesVariable()
                          ? dyn_cast<VarDecl>(Capture.getCapturedVar())
                          : nullptr;
    if (Var && Var->isInitCapture())
      Value = Var->getInit();
    if (Var && Value && cpp::stripImplicit(Value) == Kept)
      return &Capture;
  }
  return nullptr;
}

/// Does a mutable lambda let go of what it captured?
bool releases(const LambdaExpr *Lambda, const LambdaCapture *Capture) {
  return Lambda && Lambda->isMutable() && Capture &&
         llvm::any_of(
             cpp::writesTo(Capture->getCapturedVar(), Lambda->getBody()),
             [](const cpp::Write &W) {
               return W.Kind == cpp::WriteKind::Assigned ||
                      W.Kind == cpp::WriteKind::Released;
             });
}

/// Is \p Var written between two places of the text?
bool changesBetween(const ValueDecl *Var, const Expr *From, const Expr *To,
                    const Stmt *Body, const SourceManager &SM) {
  if (!Var || From == To)
    return false;
  return llvm::any_of(cpp::writesTo(Var, Body), [&](const cpp::Write &W) {
    SourceLocation Loc = SM.getFileLoc(W.Where->getExprLoc());
    return W.Kind != cpp::WriteKind::Changed &&
           SM.isBeforeInTranslationUnit(SM.getFileLoc(From->getBeginLoc()),
                                        Loc) &&
           SM.isBeforeInTranslationUnit(Loc, SM.getFileLoc(To->getEndLoc()));
  });
}

/// Is gradient mode switched anywhere in \p Body?
bool switchesGradMode(const Stmt *Body) {
  return cpp::anyOf<VarDecl>(
             Body,
             [](const VarDecl *V) { return torch::guardOf(V).has_value(); }) ||
         cpp::anyOf<CallExpr>(Body, [](const CallExpr *Call) {
           return torch::setsGradMode(Call).has_value();
         });
}

/// Whether tensors are computed from one tensor, by LibTorch's operators and
/// modules.
class Downstream {
public:
  Downstream(const cpp::Object &Source, const Stmt *Body)
      : Source(Source), Body(Body) {}

  /// Where the way from the source to \p E begins, outermost first.
  llvm::SmallVector<const Expr *, 4> Way;

  bool reaches(const Expr *E, bool Itself = false) {
    if (!E || ++Steps > 200)
      return false;
    E = cpp::stripImplicit(E);
    if (auto Object = cpp::objectOf(E, Body); Object && *Object == Source)
      return Itself;
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
      if (!Var || !Var->isLocalVarDecl() || !Var->getInit() ||
          Var->isStaticLocal() || cpp::isReassigned(Var, Body) ||
          !reaches(Var->getInit()))
        return false;
      Way.push_back(Var->getInit());
      return true;
    }
    auto ReachesAny = [&](const auto &Inputs) {
      return llvm::any_of(Inputs,
                          [&](const Expr *I) { return reaches(I, true); });
    };
    if (isa<InitListExpr, CXXConstructExpr, CXXStdInitializerListExpr>(E)) {
      auto Elements = cpp::listElements(E);
      return !(Elements.size() == 1 && Elements[0] == E) &&
             ReachesAny(Elements);
    }
    const auto *Call = dyn_cast<CallExpr>(E);
    if (!Call || torch::dropsHistory(Call) || torch::isIntegralCast(Call))
      return false;
    if (std::optional<torch::ModuleCall> Module = torch::asModuleCall(Call)) {
      std::optional<cpp::Object> Object =
          Module->Module ? cpp::objectOf(Module->Module, Body)
                         : std::optional<cpp::Object>(cpp::Object());
      return (Object && cpp::owns(*Object, Source)) ||
             (!Module->Body && ReachesAny(Module->Inputs));
    }
    const torch::OpFacts *Facts = torch::opFacts(Call->getDirectCallee());
    if (!Facts || Facts->Factory || Facts->neverDifferentiable() ||
        !torch::isTensor(Call->getType()))
      return false;
    const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
    return (Method && reaches(Method->getImplicitObjectArgument(), true)) ||
           ReachesAny(Call->arguments());
  }

private:
  const cpp::Object &Source;
  const Stmt *Body;
  unsigned Steps = 0;
};

/// Is \p Field surely a parameter for as long as its module lives? A tensor
/// that each forward pass replaces releases its hooks.
bool isParameter(const FieldDecl *Field) {
  return torch::isTorchDecl(Field) ||
         llvm::any_of(cpp::valuesOf(Field).Given, [](const Expr *Value) {
           const auto *Call =
               dyn_cast_or_null<CallExpr>(cpp::stripImplicit(Value));
           return Call && torch::registersParameter(Call).has_value();
         });
}

/// Does a class have tensors or modules to lose?
bool isHeavy(QualType T) {
  auto HasHeavyField = [](const CXXRecordDecl *R) {
    R = R->getDefinition();
    return R && llvm::any_of(R->fields(), [](const FieldDecl *Field) {
             QualType F = Field->getType();
             return !F->isPointerType() && !F->isReferenceType() &&
                    (torch::isModule(F) || torch::isOptimizerType(F) ||
                     (!torch::isIntrusivePtr(F) && torch::mayHoldTensor(F)));
           });
  };
  const CXXRecordDecl *R = cpp::recordOf(cpp::pointeeOf(T));
  return torch::isModule(T) ||
         (R &&
          (HasHeavyField(R) || cpp::anyBase(R, [&](const CXXRecordDecl *Base) {
             return !cpp::isStdDecl(Base) && HasHeavyField(Base);
           })));
}

/// Is every mention of \p Var in \p Lambda a plain read of its values, which a
/// detached copy gives as well?
bool readsValuesOnly(const LambdaExpr *Lambda, const ValueDecl *Var) {
  const cpp::Body &Body = cpp::Body::of(Lambda->getCallOperator());
  return !cpp::anyOf<DeclRefExpr>(
      Lambda->getBody(), [&](const DeclRefExpr *Ref) {
        if (Ref->getDecl() != Var)
          return false;
        const CallExpr *User = Body.callOn(Ref);
        return !torch::onlyReads(User) || torch::asksForHistory(User);
      });
}

/// Lets a lambda capture a detached copy of a tensor:  [w]  ->  [w =
/// w.detach()]
fixits::Edits captureDetached(const LambdaExpr *Lambda,
                              const LambdaCapture *Capture,
                              ASTContext &Context) {
  const ValueDecl *Var = Capture->getCapturedVar();
  if (cast<VarDecl>(Var)->isInitCapture())
    return fixits::detachOperand(
        cpp::stripImplicit(cast<VarDecl>(Var)->getInit()), Context);
  return fixits::captureAs(Lambda, Capture,
                           Var->getNameAsString() + ".detach()", Context);
}

/// A hook that refers to what is gone when it runs.
Finding worded(const LostCapture &Lost, const StoredFunction &S) {
  const std::string Name = quoted(Lost.Var);
  Finding F =
      Finding::at(S.loc(), S.Hook->Tensor->getSourceRange())
          .says("dangling reference: this hook refers to " + Name +
                ", which ends with " +
                (Lost.Backward ? "its block" : "this function") +
                " while the tensor keeps the hook: backward() will run it on a "
                "dangling reference")
          .remedy("capture a copy")
          .note(Lost.Loc, Name + " is captured by reference here");
  if (Lost.Backward)
    F.note(Lost.Backward->Stmt::getBeginLoc(), "this backward() runs the hook");
  return F;
}

Finding worded(const KeptValue &K, const StoredFunction &S,
               ASTContext &Context) {
  const bool IsOwner = K.Is == KeptValue::Owner;
  const std::string What = K.Name && (K.Name->Root || !IsOwner)
                               ? spelled(K.Value, *K.Name, Context)
                           : IsOwner ? "a shared pointer to this object"
                                     : "a tensor";
  const std::string Captures =
      "memory leak: " +
      std::string(S.Hook ? "this hook"
                         : "the function in " + quoted(S.field())) +
      " captures " + (K.Is == KeptValue::Itself ? "its own tensor " : "") +
      What + " by value";
  Finding F = Finding::at(S.loc(), K.Value->getSourceRange());
  if (!S.Hook)
    F.says(Captures + ", which owns that function: each keeps the other, so "
                      "neither is ever freed");
  else if (IsOwner)
    F.says(Captures + ", which owns the hooked tensor: the tensor keeps the "
                      "hook and the hook keeps its owner, so none of them is "
                      "ever freed");
  else if (K.Is == KeptValue::Itself)
    F.says(Captures + ": the tensor keeps the hook and the hook keeps the "
                      "tensor, so neither is ever freed");
  else
    F.says(
        Captures + ", which is computed from the hooked tensor " +
        spelled(S.Hook->Tensor, S.Named, Context) +
        ": its graph keeps that tensor and its hook, so none of them is ever "
        "freed");
  F.remedy(!S.Hook || IsOwner ? "capture a weak or plain pointer"
                              : "capture its detach()");
  if (S.Hook && K.Is == KeptValue::Itself)
    F.noteMade(S.Named.Root);
  if (K.History)
    F.note(K.History->getBeginLoc(), What + " gets its autograd graph here");
  const SourceManager &SM = Context.getSourceManager();
  if (K.Capture && K.Capture->getLocation().isValid() &&
      SM.getExpansionLineNumber(K.Capture->getLocation()) !=
          SM.getExpansionLineNumber(S.loc()))
    F.note(K.Capture->getLocation(), "it is captured here");
  if (K.Why)
    F.because(*K.Why);
  else if (K.Is == KeptValue::Itself)
    F.fix(captureDetached(S.Lambda, K.Capture, Context));
  return F;
}

/// Why a detached copy cannot be captured in place of the tensor itself.
const Reason *whyNotFixed(const KeptValue &K, const StoredFunction &S,
                          flow::UnitModel &Unit) {
  if (S.Hook->OnNode)
    return &HookCaptureCycle.OnNode;
  if (!K.Capture || K.Name->Element || !torch::isTensor(K.Value->getType()))
    return &HookCaptureCycle.NoCapture;
  if (S.In->isTemplateInstantiation())
    return &HookCaptureCycle.Template;
  if (!readsValuesOnly(S.Lambda, K.Capture->getCapturedVar()))
    return &HookCaptureCycle.MoreThanValues;
  if (cpp::anyOf<CXXMemberCallExpr>(S.In->getBody(), torch::replacesData))
    return &HookCaptureCycle.OtherData;
  return Unit.createsGraphs() ? &HookCaptureCycle.CreatesGraphs : nullptr;
}

/// How \p K and \p S keep each other. False where they do not.
bool relate(KeptValue &K, const StoredFunction &S, flow::UnitModel &Unit) {
  const QualType T = K.Value->getType();
  auto Related = [&](auto Holds) {
    return (K.Object && Holds(*K.Object, S.Place)) ||
           (K.Name && Holds(*K.Name, S.Named));
  };
  const bool IsShared = cpp::isSharedOwner(T);
  if (!isTensorHandle(T)) {
    const bool MayOwn =
        S.Hook ? IsShared || (torch::mayHoldTensor(T) && cpp::isOwningType(T))
               : IsShared && isHeavy(T);
    if (!MayOwn || !Related(cpp::owns))
      return false;
    const cpp::Object &Part =
        K.Object && cpp::owns(*K.Object, S.Place) ? S.Place : S.Named;
    if (!S.Hook)
      K.Why =
          Unit.seesAllUses(S.field()) ? nullptr : &HookCaptureCycle.Elsewhere;
    // A copied container or struct has the same tensors.
    else if (IsShared && !Part.Element && !Part.Fields.empty() &&
             !isParameter(Part.Fields.back()))
      K.Why = &HookCaptureCycle.MayReplace;
    return true;
  }
  if (!S.Hook)
    return false;
  if (Related([](const cpp::Object &A, const cpp::Object &B) {
        return A == B && !A.Element;
      })) {
    K.Is = KeptValue::Itself;
    K.Why = whyNotFixed(K, S, Unit);
    return true;
  }
  Downstream Way(S.Place, S.In->getBody());
  if (S.Place.Element || !Way.reaches(K.Value))
    return false;
  K.Is = KeptValue::Computed;
  K.History = Way.Way.empty() ? nullptr : Way.Way.back();
  K.Why = &HookCaptureCycle.Computed;
  return true;
}

/// The cycle that \p Value, which \p S keeps, closes; nullopt for none.
std::optional<KeptValue> decide(const Expr *Value, const StoredFunction &S,
                                flow::UnitModel &Unit) {
  const Stmt *Body = S.In->getBody();
  KeptValue K{Value, captureOf(S.Lambda, Value), cpp::objectOf(Value, Body),
              cpp::namedObject(Value)};
  if (!relate(K, S, Unit))
    return std::nullopt;
  const Reason *Why = nullptr;
  if (releases(S.Lambda, K.Capture))
    Why = &HookCaptureCycle.LetsGo;
  // What is captured must still be what it was when the function is stored.
  else if (S.Lambda &&
           changesBetween(K.Name ? K.Name->Root : nullptr, S.Lambda, S.Call,
                          Body, Unit.context().getSourceManager()))
    Why = &HookCaptureCycle.Changed;
  else if (K.Is == KeptValue::Computed && switchesGradMode(Body))
    Why = &HookCaptureCycle.GradMode;
  if (!Why)
    return K;
  silent(S.loc(), *Why);
  return std::nullopt;
}

/// docs/checks/libtorch-hook-capture-cycle.md says what it finds and why.
class HookCaptureCycleCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override {
    Finder->addMatcher(callExpr().bind("call"), this);
  }
  void checkMatch(const Match &Result) override {
    const auto S = asStoredFunction(Result.Nodes.getNodeAs<CallExpr>("call"),
                                    *Result.Context);
    if (!S)
      return;
    std::optional<Finding> Worst;
    if (auto Lost = S->Hook ? lostCapture(*S) : std::nullopt) {
      if (Lost->UsedBy)
        silent(S->loc(), HookCaptureCycle.UsedBefore, "call",
               Lost->UsedBy->getExprLoc());
      else
        Worst = worded(*Lost, *S);
    }
    for (const Expr *Kept : torch::keptBy(S->Function, S->In->getBody()))
      if (auto K = decide(Kept, *S, unit()))
        if (Finding F = worded(*K, *S, *Result.Context);
            !Worst || F.Strength < Worst->Strength)
          Worst = std::move(F);
    if (Worst)
      report(Worst->because(removalOf(*S, unit()))
                 .runsWith(S->Call, *Result.Context));
  }
};

} // namespace

LIBTORCH_CHECK(HookCaptureCycleCheck, HookCaptureCycle);

} // namespace libtorch_tidy
