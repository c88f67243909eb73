//===- HookCaptureCycleCheck.cpp ------------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "analysis/flow/unit/FieldUses.h"
#include "analysis/flow/unit/UnitModel.h"
#include "analysis/torch/api/Effects.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/autograd/GradGuards.h"
#include "analysis/torch/autograd/Hooks.h"
#include "analysis/torch/modules/Kept.h"
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/storage/Owners.h"
#include "analysis/torch/storage/Sharing.h"
#include "checks/base/LibtorchCheck.h"
#include "checks/cycles/LostCapture.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/ASTMatchers/ASTMatchFinder.h"
#include "clang/Lex/Lexer.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

namespace {

/// docs/checks/libtorch-hook-capture-cycle.md says what it finds and why.
class HookCaptureCycleCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override;
  void checkMatch(const Match &Result) override;

private:
  void checkHook(const CallExpr *Call, const torch::HookRegistration &R,
                 const FunctionDecl *In, ASTContext &Context);
  /// A call that sets a hook.
  struct SetHook {
    const CallExpr *Call;
    const torch::HookRegistration &R;
    const FunctionDecl *In;
    /// The tensor, by what it is and by its name.
    const cpp::Object &Hooked, &Named;
  };
  /// What is wrong with the hook keeping \p Kept; nullopt: nothing.
  std::optional<Finding> findingAt(const Expr *Kept, const LambdaExpr *Lambda,
                                   const SetHook &Set, ASTContext &Context);
  void checkStoredFunction(const CallExpr *Call, const FunctionDecl *In,
                           ASTContext &Context);
};

/// \p E as written, or the name of its object.
std::string spelled(const Expr *E, const cpp::Object &Object,
                    const ASTContext &Context) {
  // A capture by default is written `=`.
  if (const auto *Ref = dyn_cast<DeclRefExpr>(cpp::peel(E)))
    return "'" + Ref->getDecl()->getNameAsString() + "'";
  StringRef Text = fixits::sourceText(E->getSourceRange(), Context);
  bool Fits = !Text.empty() && Text.size() < 40 && !Text.contains('\n');
  return "'" + (Fits ? Text.str() : Object.name()) + "'";
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
  if (!Lambda || !Lambda->isMutable() || !Capture)
    return false;
  return llvm::any_of(
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
  for (const cpp::Write &W : cpp::writesTo(Var, Body)) {
    SourceLocation Loc = SM.getFileLoc(W.Where->getExprLoc());
    if (W.Kind != cpp::WriteKind::Changed &&
        SM.isBeforeInTranslationUnit(SM.getFileLoc(From->getBeginLoc()), Loc) &&
        SM.isBeforeInTranslationUnit(Loc, SM.getFileLoc(To->getEndLoc())))
      return true;
  }
  return false;
}

/// Is what the call returns dropped, or kept in a variable that nobody reads?
bool dropsHandle(const CallExpr *Call, cpp::Body &Body) {
  const Stmt *User = Body.outerOf(Call);
  if (const VarDecl *Var = cpp::declaredBy(User))
    return Var->isLocalVarDecl() && !cpp::mentions(Body.root(), Var);
  if (const auto *Cast = dyn_cast_or_null<CStyleCastExpr>(User))
    return Cast->getCastKind() == CK_ToVoid;
  return !User || // The whole body of a function.
         isa<CompoundStmt, IfStmt, ForStmt, CXXForRangeStmt, WhileStmt, DoStmt,
             SwitchCase, LabelStmt>(User);
}

bool isRemoved(const Expr *Tensor, const Stmt *Body) {
  auto Hooked = cpp::objectOf(Tensor, Body);
  return cpp::anyOf<CallExpr>(Body, [&](const CallExpr *Call) {
    const Expr *Other = torch::asHookRemoval(Call);
    if (!Other)
      return false;
    auto Object = cpp::objectOf(Other, Body);
    return !Object || !Hooked || *Object == *Hooked;
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
          Var->isStaticLocal() || cpp::isReassigned(Var, Body))
        return false;
      if (!reaches(Var->getInit()))
        return false;
      Way.push_back(Var->getInit());
      return true;
    }
    if (const auto *List = dyn_cast<InitListExpr>(E))
      return llvm::any_of(List->inits(),
                          [&](const Expr *I) { return reaches(I, true); });
    if (isa<CXXConstructExpr, CXXStdInitializerListExpr>(E)) {
      auto Elements = cpp::listElements(E);
      return !(Elements.size() == 1 && Elements[0] == E) &&
             llvm::any_of(Elements,
                          [&](const Expr *I) { return reaches(I, true); });
    }
    const auto *Call = dyn_cast<CallExpr>(E);
    if (!Call || torch::dropsHistory(Call) || torch::isIntegralCast(Call))
      return false;
    if (std::optional<torch::ModuleCall> Module = torch::asModuleCall(Call)) {
      std::optional<cpp::Object> Object =
          Module->Module ? cpp::objectOf(Module->Module, Body)
                         : std::optional<cpp::Object>(cpp::Object());
      return (Object && cpp::owns(*Object, Source)) ||
             (!Module->Body && llvm::any_of(Module->Inputs, [&](const Expr *I) {
               return reaches(I, true);
             }));
    }
    const torch::OpFacts *Facts = torch::opFacts(Call->getDirectCallee());
    if (!Facts || Facts->Factory || Facts->neverDifferentiable() ||
        !torch::isTensor(Call->getType()))
      return false;
    if (const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
        Method && reaches(Method->getImplicitObjectArgument(), true))
      return true;
    return llvm::any_of(Call->arguments(),
                        [&](const Expr *I) { return reaches(I, true); });
  }

private:
  const cpp::Object &Source;
  const Stmt *Body;
  unsigned Steps = 0;
};

/// Is \p Field surely a parameter for as long as its module lives? What is
/// assigned anew by each forward pass lets go of its hooks.
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
  QualType Pointee = cpp::pointeeOf(T);
  if (torch::isModule(T))
    return true;
  const CXXRecordDecl *R = cpp::recordOf(Pointee);
  if (!R || !R->hasDefinition())
    return false;
  for (const CXXRecordDecl *Part = R->getDefinition(); Part;) {
    for (const FieldDecl *Field : Part->fields()) {
      QualType F = Field->getType();
      if (!F->isPointerType() && !F->isReferenceType() &&
          (torch::isModule(F) || torch::isOptimizerType(F) ||
           (!torch::isIntrusivePtr(F) && torch::mayHoldTensor(F))))
        return true;
    }
    const CXXRecordDecl *Base = nullptr;
    for (const CXXBaseSpecifier &B : Part->bases())
      if (const CXXRecordDecl *Next = B.getType()->getAsCXXRecordDecl();
          Next && Next->hasDefinition() && !cpp::isStdDecl(Next))
        Base = Next->getDefinition();
    Part = Base;
  }
  return false;
}

/// The field of its object that a method puts parameter \p I into, as its last
/// word about it.
const FieldDecl *storedIn(const CXXMethodDecl *Method, unsigned I) {
  const FieldDecl *Field = nullptr;
  if (Method)
    for (const torch::StoredArgument &Stored : torch::storedArguments(Method))
      if (Stored.Index == I && Stored.Field &&
          cpp::holdsFunctions(Stored.Field->getType()))
        Field = Stored.Field;
  return Field;
}

/// Does any function of the program empty \p Field, move it away or give it
/// another function?
bool isReleasedSomewhere(const FieldDecl *Field, const CallExpr *Except,
                         const flow::UnitModel &Unit) {
  auto Names = [&](const Expr *E) {
    const auto *Member = dyn_cast_or_null<MemberExpr>(cpp::stripImplicit(E));
    return Member && Member->getMemberDecl()->getCanonicalDecl() ==
                         Field->getCanonicalDecl();
  };
  auto Releases = [&](const CallExpr *Call) {
    if (cpp::isAssignment(Call) && Call != Except && Names(Call->getArg(0)) &&
        !flow::isFunctionGiven(Call->getArg(1)))
      return true;
    bool Empties = cpp::does(Call, cpp::Std::Empty);
    if (const auto *Method = dyn_cast<CXXMemberCallExpr>(Call)) {
      if (Empties && Names(Method->getImplicitObjectArgument()))
        return true;
      // A setter that is given nothing.
      for (unsigned I = 0; I < Call->getNumArgs(); ++I)
        if (cpp::isEmptyValue(Call->getArg(I)) &&
            storedIn(Method->getMethodDecl(), I) == Field)
          return true;
    }
    return Empties && llvm::any_of(Call->arguments(), Names);
  };
  return flow::fieldElsewhere(Field).IsReleased ||
         llvm::any_of(Unit.functions(), [&](const FunctionDecl *F) {
           return cpp::anyOf<CallExpr>(F->getBody(), Releases);
         });
}

/// Is every mention of \p Var in \p Lambda a plain read of its values, which a
/// detached copy gives as well?
bool readsValuesOnly(const LambdaExpr *Lambda, const ValueDecl *Var) {
  const cpp::Body &Body = cpp::Body::of(Lambda->getCallOperator());
  auto IsRead = [&](const Expr *E) {
    const Stmt *Up = Body.outerOf(E);
    if (const auto *Member = dyn_cast_or_null<MemberExpr>(Up))
      Up = Body.parentOf(Member);
    const auto *Call = dyn_cast_or_null<CallExpr>(Up);
    return torch::onlyReads(Call) && !torch::asksForHistory(Call);
  };
  return !cpp::anyOf<DeclRefExpr>(
      Lambda->getBody(), [&](const DeclRefExpr *Ref) {
        return Ref->getDecl() == Var && !IsRead(Ref);
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

/// A cheap look: does \p Call assign, add or hand over a function object?
bool mayStoreFunction(const CallExpr *Call) {
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call))
    return cpp::isAssignment(Op) &&
           cpp::isFunctionObject(Op->getArg(0)->getType());
  const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
  const CXXMethodDecl *Callee = Method ? Method->getMethodDecl() : nullptr;
  if (!Callee || Call->getNumArgs() == 0 || torch::isTorchDecl(Callee))
    return false;
  if (cpp::isStdDecl(Callee))
    return cpp::holdsFunctions(Method->getObjectType());
  return llvm::any_of(Callee->parameters(), [](const ParmVarDecl *P) {
    return cpp::isFunctionObject(P->getType());
  });
}

} // namespace

void HookCaptureCycleCheck::registerMatchers(MatchFinder *Finder) {
  Finder->addMatcher(callExpr().bind("call"), this);
}

void HookCaptureCycleCheck::checkMatch(const Match &Result) {
  const auto *Call = Result.Nodes.getNodeAs<CallExpr>("call");
  auto Hook = torch::asHookRegistration(Call);
  if (!Hook && !mayStoreFunction(Call))
    return;
  const cpp::Body *Around = cpp::Body::around(Call, *Result.Context);
  if (!Around)
    return;
  const FunctionDecl *In = Around->function();
  if (Hook)
    checkHook(Call, *Hook, In, *Result.Context);
  else
    checkStoredFunction(Call, In, *Result.Context);
}

/// A hook that refers to what is gone when it runs.
static Finding danglingHook(const CallExpr *Call,
                            const torch::HookRegistration &R,
                            const LostCapture &Lost) {
  const std::string Name = "'" + Lost.Var->getNameAsString() + "'";
  Finding F;
  F.Loc = Call->Stmt::getBeginLoc();
  F.Highlight = R.Tensor->getSourceRange();
  F.Strength = Level::Certain;
  F.Message = "this hook refers to " + Name + ", which ends with " +
              (Lost.Backward ? "its block" : "this function") +
              " while the tensor keeps the hook: backward() will run it on a "
              "dangling reference";
  F.Steps.push_back({Lost.Loc, Name + " is captured by reference here"});
  if (Lost.Backward)
    F.Steps.push_back(
        {Lost.Backward->Stmt::getBeginLoc(), "this backward() runs the hook"});
  return F;
}

std::optional<Finding>
HookCaptureCycleCheck::findingAt(const Expr *Kept, const LambdaExpr *Lambda,
                                 const SetHook &Set, ASTContext &Context) {
  const Stmt *Body = Set.In->getBody();
  const LambdaCapture *Capture = captureOf(Lambda, Kept);
  if (releases(Lambda, Capture))
    return std::nullopt;
  Finding F;
  F.Loc = Set.Call->Stmt::getBeginLoc();
  F.Highlight = Kept->getSourceRange();
  const QualType T = Kept->getType();
  auto Object = cpp::objectOf(Kept, Body);
  auto Name = cpp::namedObject(Kept);
  const SourceManager &SM = Context.getSourceManager();
  // What is captured must still be what it was when the hook is set.
  if (Lambda &&
      changesBetween(Name ? Name->Root : nullptr, Lambda, Set.Call, Body, SM))
    return std::nullopt;
  auto Related = [&](auto Holds) {
    return (Object && Holds(*Object, Set.Hooked)) ||
           (Name && Holds(*Name, Set.Named));
  };
  if (!isTensorHandle(T)) {
    if ((!cpp::isSharedOwner(T) &&
         !(torch::mayHoldTensor(T) && cpp::isOwningType(T))) ||
        !Related(cpp::owns))
      return std::nullopt;
    const cpp::Object &Part =
        Object && cpp::owns(*Object, Set.Hooked) ? Set.Hooked : Set.Named;
    // A copied container or struct has the same tensors.
    F.Strength = !cpp::isSharedOwner(T) || Part.Element ||
                         Part.Fields.empty() || isParameter(Part.Fields.back())
                     ? Level::Certain
                     : Level::Likely;
    F.Message = "this hook captures " +
                (Name && Name->Root ? spelled(Kept, *Name, Context)
                                    : "a shared pointer to this object") +
                " by value, which owns the hooked tensor: the tensor keeps "
                "the hook and the hook keeps its owner, so none of them is "
                "ever freed";
  } else if (Related([](const cpp::Object &A, const cpp::Object &B) {
               return A == B && !A.Element;
             })) {
    F.Strength = Level::Certain;
    F.Message = "this hook captures its own tensor " +
                spelled(Kept, *Name, Context) +
                " by value: the tensor keeps the hook and the hook keeps "
                "the tensor, so neither is ever freed";
    if (Capture && !Set.R.OnNode && !Name->Element && torch::isTensor(T) &&
        !Set.In->isTemplateInstantiation() &&
        readsValuesOnly(Lambda, Capture->getCapturedVar()) &&
        !cpp::anyOf<CXXMemberCallExpr>(Body, torch::replacesData) &&
        !unit().createsGraphs())
      F.Fix = captureDetached(Lambda, Capture, Context);
  } else {
    Downstream Way(Set.Hooked, Body);
    if (Set.Hooked.Element || !Way.reaches(Kept) || switchesGradMode(Body))
      return std::nullopt;
    F.Strength = Level::Likely;
    const std::string What = Name ? spelled(Kept, *Name, Context) : "a tensor";
    F.Message = "this hook captures " + What + " by value, which is " +
                "computed from the hooked tensor " +
                spelled(Set.R.Tensor, Set.Named, Context) +
                ": its graph keeps that tensor and its hook, so none of "
                "them is ever freed";
    if (!Way.Way.empty())
      F.Steps.push_back(
          {Way.Way.back()->getBeginLoc(), What + " gets its history here"});
  }
  if (Capture && Capture->getLocation().isValid() &&
      SM.getExpansionLineNumber(Capture->getLocation()) !=
          SM.getExpansionLineNumber(Set.Call->Stmt::getBeginLoc()))
    F.Steps.push_back({Capture->getLocation(), "it is captured here"});
  return F;
}

void HookCaptureCycleCheck::checkHook(const CallExpr *Call,
                                      const torch::HookRegistration &R,
                                      const FunctionDecl *In,
                                      ASTContext &Context) {
  const Stmt *Body = In->getBody();
  auto Hooked = cpp::objectOf(R.Tensor, Body);
  auto Named = cpp::namedObject(R.Tensor);
  if (!Hooked || !Named)
    return;
  const auto *Lambda =
      dyn_cast_or_null<LambdaExpr>(cpp::Body::of(In).originOf(R.Hook));

  std::optional<Finding> Worst;
  if (auto Lost = lostCapture(Lambda, Call, *Hooked, In))
    Worst = danglingHook(Call, R, *Lost);
  const SetHook Set{Call, R, In, *Hooked, *Named};
  for (const Expr *Kept : torch::keptBy(R.Hook, Body))
    if (auto F = findingAt(Kept, Lambda, Set, Context);
        F && (!Worst || F->Strength < Worst->Strength))
      Worst = std::move(F);
  if (Worst && (R.OnNode || (dropsHandle(Call, cpp::Body::of(In)) &&
                             !isRemoved(R.Tensor, Body))))
    report(*Worst);
}

void HookCaptureCycleCheck::checkStoredFunction(const CallExpr *Call,
                                                const FunctionDecl *In,
                                                ASTContext &Context) {
  const Stmt *Body = In->getBody();
  // Where it is stored, and in which field of that.
  std::optional<cpp::Object> Place, Named;
  const Expr *Function = nullptr;
  auto Into = [&](const Expr *To) {
    Place = cpp::objectOf(To, Body);
    Named = cpp::namedObject(To);
  };
  const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
  if (cpp::isAssignment(Call) &&
      cpp::isFunctionObject(Call->getArg(0)->getType())) {
    Function = Call->getArg(1);
    Into(Call->getArg(0));
  } else if (Method && Call->getNumArgs() > 0) {
    const Expr *Object = Method->getImplicitObjectArgument();
    if (auto Added = cpp::asInsertion(Call);
        Added && cpp::holdsFunctions(Object->getType())) {
      Function = Added->value();
      Into(Object);
    } else if (const CXXMethodDecl *Callee = Method->getMethodDecl();
               Callee && cpp::isUserCode(Callee->getLocation(),
                                         Context.getSourceManager())) {
      for (unsigned I = 0; I < Call->getNumArgs() && !Function; ++I) {
        if (I >= Callee->getNumParams() ||
            !cpp::isFunctionObject(Callee->getParamDecl(I)->getType()))
          continue;
        const FieldDecl *Field = storedIn(Callee, I);
        if (!Field)
          continue;
        Function = Call->getArg(I);
        Into(Object);
        for (auto *Path : {&Place, &Named})
          if (*Path)
            (*Path)->Fields.push_back(Field->getCanonicalDecl());
      }
    }
  }
  if (!Function || !Place || !Named || Place->Fields.empty() ||
      Named->Fields.empty())
    return;
  const FieldDecl *Field = Place->Fields.back();
  const auto *Lambda =
      dyn_cast_or_null<LambdaExpr>(cpp::Body::of(In).originOf(Function));
  for (const Expr *Kept : torch::keptBy(Function, Body)) {
    if (isTensorHandle(Kept->getType()) ||
        !cpp::isSharedOwner(Kept->getType()) || !isHeavy(Kept->getType()))
      continue;
    const LambdaCapture *Capture = captureOf(Lambda, Kept);
    if (releases(Lambda, Capture))
      continue;
    auto Object = cpp::objectOf(Kept, Body);
    auto Name = cpp::namedObject(Kept);
    if (!(Object && cpp::owns(*Object, *Place)) &&
        !(Name && cpp::owns(*Name, *Named)))
      continue;
    if (Lambda && changesBetween(Name ? Name->Root : nullptr, Lambda, Call,
                                 Body, Context.getSourceManager()))
      continue;
    if (isReleasedSomewhere(Field, Call, unit()))
      return;
    Finding F;
    F.Loc = Call->Stmt::getBeginLoc();
    F.Highlight = Kept->getSourceRange();
    F.Strength = unit().seesAllUses(Field) ? Level::Certain : Level::Likely;
    std::string What = Name && Name->Root
                           ? spelled(Kept, *Name, Context)
                           : std::string("a shared pointer to this object");
    F.Message = "the function in '" + Field->getNameAsString() + "' captures " +
                What +
                " by value, which owns that function: each keeps the other, "
                "so neither is ever freed";
    if (Capture && Capture->getLocation().isValid() &&
        Context.getSourceManager().getExpansionLineNumber(
            Capture->getLocation()) !=
            Context.getSourceManager().getExpansionLineNumber(
                Call->Stmt::getBeginLoc()))
      F.Steps.push_back({Capture->getLocation(), "it is captured here"});
    report(F);
    return;
  }
}

LIBTORCH_CHECK(HookCaptureCycleCheck, NoReasons);

} // namespace libtorch_tidy
