//===- HookCaptureCycleCheck.cpp ------------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/LibtorchCheck.h"
#include "checks/flow/Liveness.h"
#include "checks/flow/Ownership.h"
#include "checks/flow/Writes.h"
#include "checks/torch/Autograd.h"
#include "checks/torch/Calls.h"
#include "checks/torch/GradGuards.h"
#include "checks/torch/Hooks.h"
#include "checks/torch/Modules.h"
#include "checks/torch/OpFacts.h"
#include "checks/torch/Owners.h"
#include "checks/torch/Sharing.h"
#include "checks/torch/TorchTypes.h"
#include "fixits/Statements.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ParentMap.h"
#include "clang/AST/ParentMapContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/ASTMatchers/ASTMatchFinder.h"
#include "clang/Lex/Lexer.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

using flow::ObjectPath;

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
  void checkStoredFunction(const CallExpr *Call, const FunctionDecl *In,
                           ASTContext &Context);
};

/// `a.b` as the user would say it.
std::string nameOf(const ObjectPath &Object) {
  std::string Name = Object.Root ? Object.Root->getNameAsString() : "";
  for (const FieldDecl *Field : Object.Fields)
    Name += (Name.empty() ? "" : ".") + Field->getNameAsString();
  return Name.empty() ? "this" : Name;
}

/// \p E as written, or the name of its object.
std::string spelled(const Expr *E, const ObjectPath &Object,
                    const ASTContext &Context) {
  // A capture by default is written `=`.
  if (const auto *Ref = dyn_cast<DeclRefExpr>(torch::peel(E)))
    return "'" + Ref->getDecl()->getNameAsString() + "'";
  StringRef Text = fixits::sourceText(E->getSourceRange(), Context);
  bool Fits = !Text.empty() && Text.size() < 40 && !Text.contains('\n');
  return "'" + (Fits ? Text.str() : nameOf(Object)) + "'";
}

/// A tensor, or a shared pointer to one.
bool isTensorHandle(QualType T) {
  return torch::isTensor(T) || torch::isTensor(torch::pointeeOf(T));
}

/// The lambda that \p E is, or that its variable always holds.
const LambdaExpr *lambdaOf(const Expr *E) {
  E = torch::stripImplicit(E);
  if (const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E))
    if (const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
        Var && Var->isLocalVarDecl() && Var->getInit())
      E = torch::stripImplicit(Var->getInit());
  return dyn_cast_or_null<LambdaExpr>(E);
}

/// The capture that \p Kept is the value of; null when it is none.
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
    if (Var && Value && torch::stripImplicit(Value) == Kept)
      return &Capture;
  }
  return nullptr;
}

/// Does a mutable lambda let go of what it captured?
bool releases(const LambdaExpr *Lambda, const LambdaCapture *Capture) {
  if (!Lambda || !Lambda->isMutable() || !Capture)
    return false;
  return llvm::any_of(
      flow::writesTo(Capture->getCapturedVar(), Lambda->getBody()),
      [](const flow::Write &W) {
        return W.Kind == flow::WriteKind::Assigned ||
               W.Kind == flow::WriteKind::Released;
      });
}

/// Is \p Var written between two places of the text?
bool changesBetween(const ValueDecl *Var, const Expr *From, const Expr *To,
                    const Stmt *Body, const SourceManager &SM) {
  if (!Var || From == To)
    return false;
  for (const flow::Write &W : flow::writesTo(Var, Body)) {
    SourceLocation Loc = SM.getFileLoc(W.Where->getExprLoc());
    if (W.Kind != flow::WriteKind::Changed &&
        SM.isBeforeInTranslationUnit(SM.getFileLoc(From->getBeginLoc()), Loc) &&
        SM.isBeforeInTranslationUnit(Loc, SM.getFileLoc(To->getEndLoc())))
      return true;
  }
  return false;
}

/// Is what the call returns dropped, or kept in a variable that nobody reads?
bool dropsHandle(const CallExpr *Call, const Stmt *Body, ASTContext &Context) {
  const Stmt *S = Call;
  while (true) {
    auto Parents = Context.getParents(*S);
    if (Parents.empty())
      return false;
    if (const auto *Var = Parents[0].get<VarDecl>()) {
      struct Finder : RecursiveASTVisitor<Finder> {
        const VarDecl *Var;
        bool Found = false;
        bool VisitDeclRefExpr(DeclRefExpr *E) {
          Found |= E->getDecl() == Var;
          return !Found;
        }
      } F;
      F.Var = Var;
      F.TraverseStmt(const_cast<Stmt *>(Body));
      return Var->isLocalVarDecl() && !F.Found;
    }
    const Stmt *Up = Parents[0].get<Stmt>();
    if (!Up)
      return true; // The whole body of a function.
    if (const auto *Cast = dyn_cast<CStyleCastExpr>(Up);
        Cast && Cast->getCastKind() == CK_ToVoid)
      return true;
    if (!isa<FullExpr, ParenExpr, ImplicitCastExpr, MaterializeTemporaryExpr,
             CXXBindTemporaryExpr>(Up))
      return isa<CompoundStmt, IfStmt, ForStmt, CXXForRangeStmt, WhileStmt,
                 DoStmt, SwitchCase, LabelStmt>(Up);
    S = Up;
  }
}

bool isRemoved(const Expr *Tensor, const Stmt *Body) {
  auto Hooked = flow::objectOf(Tensor, Body);
  struct Finder : RecursiveASTVisitor<Finder> {
    const Stmt *Body;
    std::optional<ObjectPath> Hooked;
    bool Found = false;
    bool VisitCallExpr(CallExpr *Call) {
      if (const Expr *Other = torch::asHookRemoval(Call)) {
        auto Object = flow::objectOf(Other, Body);
        Found |= !Object || !Hooked || *Object == *Hooked;
      }
      return !Found;
    }
  } F;
  F.Body = Body;
  F.Hooked = Hooked;
  F.TraverseStmt(const_cast<Stmt *>(Body));
  return F.Found;
}

/// Is gradient mode switched anywhere in \p Body?
bool switchesGradMode(const Stmt *Body) {
  struct Finder : RecursiveASTVisitor<Finder> {
    bool Found = false;
    bool VisitVarDecl(VarDecl *Var) {
      Found |= torch::guardOf(Var).has_value();
      return !Found;
    }
    bool VisitCallExpr(CallExpr *Call) {
      Found |= torch::setsGradMode(Call).has_value();
      return !Found;
    }
  } F;
  F.TraverseStmt(const_cast<Stmt *>(Body));
  return F.Found;
}

/// Whether tensors are computed from one tensor, by LibTorch's operators and
/// modules.
class Downstream {
public:
  Downstream(const ObjectPath &Source, const Stmt *Body)
      : Source(Source), Body(Body) {}

  /// Where the way from the source to \p E begins, outermost first.
  llvm::SmallVector<const Expr *, 4> Way;

  bool reaches(const Expr *E, bool Itself = false) {
    if (!E || ++Steps > 200)
      return false;
    E = torch::stripImplicit(E);
    if (auto Object = flow::objectOf(E, Body); Object && *Object == Source)
      return Itself;
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
      if (!Var || !Var->isLocalVarDecl() || !Var->getInit() ||
          Var->isStaticLocal() || flow::isReassigned(Var, Body))
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
      auto Elements = torch::listElements(E);
      return !(Elements.size() == 1 && Elements[0] == E) &&
             llvm::any_of(Elements,
                          [&](const Expr *I) { return reaches(I, true); });
    }
    const auto *Call = dyn_cast<CallExpr>(E);
    if (!Call || torch::dropsHistory(Call) || torch::isIntegralCast(Call))
      return false;
    if (std::optional<torch::ModuleCall> Module = torch::asModuleCall(Call)) {
      std::optional<ObjectPath> Object =
          Module->Module ? flow::objectOf(Module->Module, Body)
                         : std::optional<ObjectPath>(ObjectPath());
      return (Object && flow::owns(*Object, Source)) ||
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
  const ObjectPath &Source;
  const Stmt *Body;
  unsigned Steps = 0;
};

/// Is \p Field surely a parameter for as long as its module lives? What is
/// assigned anew by each forward pass lets go of its hooks.
bool isParameter(const FieldDecl *Field) {
  if (torch::isTorchDecl(Field))
    return true;
  const auto *Class = dyn_cast<CXXRecordDecl>(Field->getParent());
  if (!Class)
    return false;
  struct Finder : RecursiveASTVisitor<Finder> {
    const FieldDecl *Field;
    bool Found = false;
    bool VisitCXXOperatorCallExpr(CXXOperatorCallExpr *Op) {
      if (Op->getOperator() == OO_Equal && Op->getNumArgs() == 2 &&
          flow::rootOf(Op->getArg(0)) == Field)
        look(Op->getArg(1));
      return !Found;
    }
    void look(const Expr *Init) {
      const auto *Call = dyn_cast_or_null<CallExpr>(torch::stripImplicit(Init));
      Found |= Call && torch::registersParameter(Call).has_value();
    }
  } F;
  F.Field = Field;
  if (Expr *Init = Field->getInClassInitializer())
    F.look(Init);
  for (const CXXMethodDecl *Method : Class->methods()) {
    const FunctionDecl *Definition = Method->getDefinition();
    if (!Definition || Definition->isImplicit() ||
        !Definition->doesThisDeclarationHaveABody())
      continue;
    if (const auto *Ctor = dyn_cast<CXXConstructorDecl>(Definition))
      for (const CXXCtorInitializer *Init : Ctor->inits())
        if (Init->getMember() == Field)
          F.look(Init->getInit());
    F.TraverseStmt(Definition->getBody());
  }
  return F.Found;
}

/// Does a class have tensors or modules to lose?
bool isHeavy(QualType T) {
  QualType Pointee = torch::pointeeOf(T);
  if (torch::isModule(T))
    return true;
  const CXXRecordDecl *R = torch::recordOf(Pointee);
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
          Next && Next->hasDefinition() && !torch::isStdDecl(Next))
        Base = Next->getDefinition();
    Part = Base;
  }
  return false;
}

bool isFunctionObject(QualType T) {
  const CXXRecordDecl *R = torch::recordOf(T);
  return R && R->getIdentifier() && torch::isStdDecl(R) &&
         (R->getName() == "function" || R->getName() == "move_only_function");
}

/// std::function, or a standard container of them.
bool holdsFunctions(QualType T) {
  if (isFunctionObject(T))
    return true;
  const auto *Spec =
      dyn_cast_or_null<ClassTemplateSpecializationDecl>(torch::recordOf(T));
  return Spec && torch::isStdDecl(Spec) &&
         llvm::any_of(Spec->getTemplateArgs().asArray(),
                      [](const TemplateArgument &Arg) {
                        return Arg.getKind() == TemplateArgument::Type &&
                               isFunctionObject(Arg.getAsType());
                      });
}

/// When a hook may run although a variable that it refers to has ended.
class Dangling {
public:
  Dangling(const CallExpr *Call, const ObjectPath &Hooked,
           const FunctionDecl *In, ASTContext &Context)
      : Call(Call), Hooked(Hooked), In(In), Context(Context),
        SM(Context.getSourceManager()) {}

  struct Capture {
    const VarDecl *Var;
    SourceLocation Loc;
    /// Behind the end of the variable; null: after the function has returned.
    const CallExpr *Backward = nullptr;
  };
  std::optional<Capture> find(const LambdaExpr *Lambda) const {
    const auto *Method = dyn_cast<CXXMethodDecl>(In);
    if (!Lambda || In->isMain() || (Method && Method->getParent()->isLambda()))
      return std::nullopt;
    for (const LambdaCapture &C : Lambda->captures()) {
      if (!C.capturesVariable() || C.getCaptureKind() != LCK_ByRef)
        continue;
      const auto *Var = dyn_cast<VarDecl>(C.getCapturedVar());
      if (Var && Var->isInitCapture()) {
        const auto *Ref =
            dyn_cast_or_null<DeclRefExpr>(torch::stripImplicit(Var->getInit()));
        Var = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
      }
      if (!Var || !Var->isLocalVarDeclOrParm() || Var->isStaticLocal() ||
          Var->getType()->isReferenceType() || Var == Hooked.Root ||
          Var->getParentFunctionOrMethod() != In)
        continue;
      Capture Found{Var, C.getLocation()};
      if (const CallExpr *Backward = backwardBehind(Var)) {
        Found.Backward = Backward;
        return Found;
      }
      if (outlives() && !usedAfterwards())
        return Found;
    }
    return std::nullopt;
  }

private:
  bool isBehind(SourceLocation Loc, SourceLocation End) const {
    return SM.isBeforeInTranslationUnit(SM.getFileLoc(End), SM.getFileLoc(Loc));
  }

  /// A call of backward() in this function, behind the block of \p Var, which
  /// the hooked tensor outlives.
  const CallExpr *backwardBehind(const VarDecl *Var) const {
    const Stmt *Scope =
        isa<ParmVarDecl>(Var) ? nullptr : flow::scopeOf(Var, Context);
    if (!Scope || Scope == In->getBody() || !isHookedBefore(Scope))
      return nullptr;
    struct Finder : RecursiveASTVisitor<Finder> {
      const Dangling *Outer;
      SourceLocation End;
      const CallExpr *Found = nullptr;
      bool TraverseLambdaExpr(LambdaExpr *) { return true; }
      bool VisitCallExpr(CallExpr *C) {
        if (torch::isBackward(C) && Outer->isBehind(C->getBeginLoc(), End))
          Found = C;
        return !Found;
      }
    } F;
    F.Outer = this;
    F.End = Scope->getEndLoc();
    F.TraverseStmt(In->getBody());
    return F.Found;
  }

  /// Is the hooked tensor a parameter, a member or a variable from before
  /// \p Scope?
  bool isHookedBefore(const Stmt *Scope) const {
    return !Hooked.Root || isa<ParmVarDecl>(Hooked.Root) ||
           isBehind(Scope->getBeginLoc(), Hooked.Root->getLocation());
  }

  /// Does the tensor surely live on when the function has returned?
  bool outlives() const {
    if (!Hooked.Root)
      return llvm::all_of(Hooked.Fields, [](const FieldDecl *Field) {
        return flow::isOwningType(Field->getType());
      });
    if (isa<ParmVarDecl>(Hooked.Root))
      return true;
    struct Finder : RecursiveASTVisitor<Finder> {
      const Dangling *Outer;
      bool Found = false;
      bool TraverseLambdaExpr(LambdaExpr *) { return true; }
      bool VisitReturnStmt(ReturnStmt *S) {
        const Stmt *Body = Outer->In->getBody();
        if (S->getRetValue())
          for (const Expr *E : flow::keptBy(S->getRetValue(), Body)) {
            auto Object = flow::objectOf(E, Body);
            Found |= Object && !Object->Element && *Object == Outer->Hooked;
          }
        return true;
      }
    } F;
    F.Outer = this;
    F.TraverseStmt(In->getBody());
    return F.Found;
  }

  /// May the hook be meant for a backward pass within this function, or may
  /// somebody take it away?
  bool usedAfterwards() const {
    struct Finder : RecursiveASTVisitor<Finder> {
      const Dangling *Outer;
      bool Found = false;
      bool VisitCallExpr(CallExpr *C) {
        const FunctionDecl *Callee = C->getDirectCallee();
        Found |= torch::isBackward(C) ||
                 (Outer->isBehind(C->getBeginLoc(), Outer->Call->getEndLoc()) &&
                  (!Callee ||
                   (!torch::isTorchDecl(Callee) && !torch::isStdDecl(Callee))));
        return !Found;
      }
    } F;
    F.Outer = this;
    F.TraverseStmt(In->getBody());
    return F.Found;
  }

  const CallExpr *Call;
  const ObjectPath &Hooked;
  const FunctionDecl *In;
  ASTContext &Context;
  const SourceManager &SM;
};

/// The field of its object that a method puts parameter \p I into, as its last
/// word about it.
const FieldDecl *storedIn(const CXXMethodDecl *Method, unsigned I) {
  const FunctionDecl *Definition = Method ? Method->getDefinition() : nullptr;
  if (!Definition || !Definition->hasBody() || I >= Definition->getNumParams())
    return nullptr;
  struct Finder : RecursiveASTVisitor<Finder> {
    const ParmVarDecl *Param;
    const FieldDecl *Field = nullptr;
    void look(const Expr *To, const Expr *Value) {
      const auto *Ref =
          dyn_cast_or_null<DeclRefExpr>(torch::stripImplicit(Value));
      if (!Ref || Ref->getDecl() != Param)
        return;
      if (const auto *F = dyn_cast_or_null<FieldDecl>(flow::rootOf(To));
          F && holdsFunctions(F->getType()))
        Field = F;
    }
    bool VisitCXXOperatorCallExpr(CXXOperatorCallExpr *Op) {
      if (Op->getOperator() == OO_Equal && Op->getNumArgs() == 2)
        look(Op->getArg(0), Op->getArg(1));
      return true;
    }
    bool VisitCXXMemberCallExpr(CXXMemberCallExpr *Call) {
      StringRef Name = torch::calleeName(Call);
      if (Name == "push_back" || Name == "emplace_back")
        for (const Expr *Arg : Call->arguments())
          look(Call->getImplicitObjectArgument(), Arg);
      return true;
    }
  } F;
  F.Param = Definition->getParamDecl(I);
  F.TraverseStmt(Definition->getBody());
  return F.Field;
}

/// Does any function of the unit empty \p Field, move it away or give it
/// another function?
bool isReleasedSomewhere(const FieldDecl *Field, const CallExpr *Except,
                         const flow::UnitModel &Unit) {
  struct Finder : RecursiveASTVisitor<Finder> {
    const FieldDecl *Field;
    const CallExpr *Except;
    bool Found = false;
    bool shouldVisitLambdaBody() const { return true; }
    /// A lambda, or what a setter was called with: it may keep its object, too.
    static bool isFunctionGiven(const Expr *Value) {
      Value = torch::stripImplicit(Value);
      const auto *Ref = dyn_cast_or_null<DeclRefExpr>(Value);
      return isa_and_nonnull<LambdaExpr>(Value) ||
             (Ref && isa<ParmVarDecl>(Ref->getDecl()));
    }
    bool names(const Expr *E) const {
      E = torch::stripImplicit(E);
      const auto *Member = dyn_cast_or_null<MemberExpr>(E);
      return Member && Member->getMemberDecl()->getCanonicalDecl() ==
                           Field->getCanonicalDecl();
    }
    bool VisitCallExpr(CallExpr *Call) {
      StringRef Name = torch::calleeName(Call);
      const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call);
      if (Op && Op->getOperator() == OO_Equal && Op->getNumArgs() == 2 &&
          Op != Except && names(Op->getArg(0)))
        Found |= !isFunctionGiven(Op->getArg(1));
      if (const auto *Method = dyn_cast<CXXMemberCallExpr>(Call)) {
        // A setter that is given nothing.
        for (unsigned I = 0; I < Call->getNumArgs(); ++I)
          Found |= flow::isEmptyValue(Call->getArg(I)) &&
                   storedIn(Method->getMethodDecl(), I) == Field;
        Found |= (Name == "clear" || Name == "swap" || Name == "erase" ||
                  Name == "pop_back" || Name == "reset" ||
                  Name == "pop_front" || Name == "pop") &&
                 names(Method->getImplicitObjectArgument());
      }
      if (Name == "move" || Name == "exchange" || Name == "swap")
        for (const Expr *Arg : Call->arguments())
          Found |= names(Arg);
      return !Found;
    }
  } F;
  F.Field = Field;
  F.Except = Except;
  for (const FunctionDecl *Function : Unit.functions()) {
    F.TraverseStmt(Function->getBody());
    if (F.Found)
      return true;
  }
  return false;
}

/// Is every mention of \p Var in \p Lambda a plain read of its values, which a
/// detached copy gives as well?
bool readsValuesOnly(const LambdaExpr *Lambda, const ValueDecl *Var) {
  struct Finder : RecursiveASTVisitor<Finder> {
    const ValueDecl *Var;
    const ParentMap *Parents;
    bool Fine = true;
    bool VisitDeclRefExpr(DeclRefExpr *Ref) {
      if (Ref->getDecl() == Var)
        Fine &= isRead(Ref);
      return Fine;
    }
    bool isRead(const Expr *E) const {
      const Stmt *Up =
          Parents->getParentIgnoreParenImpCasts(const_cast<Expr *>(E));
      if (const auto *Member = dyn_cast_or_null<MemberExpr>(Up))
        Up = Parents->getParent(const_cast<MemberExpr *>(Member));
      return torch::onlyReads(dyn_cast_or_null<CallExpr>(Up));
    }
  } F;
  ParentMap Parents(
      const_cast<Stmt *>(static_cast<const Stmt *>(Lambda->getBody())));
  F.Var = Var;
  F.Parents = &Parents;
  F.TraverseStmt(Lambda->getBody());
  return F.Fine;
}

/// Does the unit ask for gradients of gradients? Then a hook's own values are
/// part of the graph.
bool createsGraphs(const flow::UnitModel &Unit) {
  struct Finder : RecursiveASTVisitor<Finder> {
    bool Found = false;
    bool VisitCallExpr(CallExpr *Call) {
      if (auto Backward = torch::asBackward(Call))
        Found |= Backward->CreateGraph != torch::Flag::False;
      return !Found;
    }
  } F;
  for (const FunctionDecl *Function : Unit.functions())
    F.TraverseStmt(Function->getBody());
  return F.Found;
}

/// Lets a lambda capture a detached copy of a tensor:  [w]  ->  [w =
/// w.detach()]
fixits::Edits captureDetached(const LambdaExpr *Lambda,
                              const LambdaCapture *Capture,
                              ASTContext &Context) {
  const ValueDecl *Var = Capture->getCapturedVar();
  if (cast<VarDecl>(Var)->isInitCapture())
    return fixits::detachOperand(
        torch::stripImplicit(cast<VarDecl>(Var)->getInit()), Context);
  return fixits::captureAs(Lambda, Capture,
                           Var->getNameAsString() + ".detach()", Context);
}

/// A cheap look: does \p Call assign, add or hand over a function object?
bool mayStoreFunction(const CallExpr *Call) {
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call))
    return Op->getOperator() == OO_Equal && Op->getNumArgs() == 2 &&
           isFunctionObject(Op->getArg(0)->getType());
  const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
  const CXXMethodDecl *Callee = Method ? Method->getMethodDecl() : nullptr;
  if (!Callee || Call->getNumArgs() == 0 || torch::isTorchDecl(Callee))
    return false;
  if (torch::isStdDecl(Callee))
    return holdsFunctions(Method->getObjectType());
  return llvm::any_of(Callee->parameters(), [](const ParmVarDecl *P) {
    return isFunctionObject(P->getType());
  });
}

/// The innermost function or lambda around \p S.
const FunctionDecl *functionAround(const Stmt *S, ASTContext &Context) {
  DynTypedNode Node = DynTypedNode::create(*S);
  while (true) {
    DynTypedNodeList Parents = Context.getParents(Node);
    if (Parents.empty())
      return nullptr;
    Node = Parents[0];
    if (const auto *F = Node.get<FunctionDecl>())
      return F;
    if (const auto *Lambda = Node.get<LambdaExpr>())
      return Lambda->getCallOperator();
  }
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
  const FunctionDecl *In = functionAround(Call, *Result.Context);
  if (!In || !In->hasBody())
    return;
  if (Hook)
    checkHook(Call, *Hook, In, *Result.Context);
  else
    checkStoredFunction(Call, In, *Result.Context);
}

void HookCaptureCycleCheck::checkHook(const CallExpr *Call,
                                      const torch::HookRegistration &R,
                                      const FunctionDecl *In,
                                      ASTContext &Context) {
  const Stmt *Body = In->getBody();
  const SourceManager &SM = Context.getSourceManager();
  auto Hooked = flow::objectOf(R.Tensor, Body);
  auto Named = flow::namedObject(R.Tensor);
  if (!Hooked || !Named)
    return;
  const LambdaExpr *Lambda = lambdaOf(R.Hook);

  std::optional<Finding> Worst;
  if (auto Lost = Dangling(Call, *Hooked, In, Context).find(Lambda)) {
    std::string Name = "'" + Lost->Var->getNameAsString() + "'";
    Worst.emplace();
    Worst->Loc = Call->getBeginLoc();
    Worst->Highlight = R.Tensor->getSourceRange();
    Worst->Strength = Level::Certain;
    Worst->Message =
        "this hook refers to " + Name + ", which ends with " +
        (Lost->Backward ? "its block" : "this function") +
        " while the tensor keeps the hook: backward() will run it on a "
        "dangling reference";
    Worst->Steps.push_back(
        {Lost->Loc, Name + " is captured by reference here"});
    if (Lost->Backward)
      Worst->Steps.push_back(
          {Lost->Backward->getBeginLoc(), "this backward() runs the hook"});
  }
  for (const Expr *Kept : flow::keptBy(R.Hook, Body)) {
    const LambdaCapture *Capture = captureOf(Lambda, Kept);
    if (releases(Lambda, Capture))
      continue;
    Finding F;
    F.Loc = Call->getBeginLoc();
    F.Highlight = Kept->getSourceRange();
    auto Object = flow::objectOf(Kept, Body);
    auto Name = flow::namedObject(Kept);
    const ValueDecl *Root = Name ? Name->Root : nullptr;
    // What is captured must still be what it was when the hook is set.
    if (Lambda && changesBetween(Root, Lambda, Call, Body, SM))
      continue;
    auto Related = [&](auto Holds) {
      return (Object && Holds(*Object, *Hooked)) ||
             (Name && Holds(*Name, *Named));
    };
    if (isTensorHandle(Kept->getType())) {
      if (Related([](const ObjectPath &A, const ObjectPath &B) {
            return A == B && !A.Element;
          })) {
        F.Strength = Level::Certain;
        F.Message = "this hook captures its own tensor " +
                    spelled(Kept, *Name, Context) +
                    " by value: the tensor keeps the hook and the hook keeps "
                    "the tensor, so neither is ever freed";
        if (Capture && !R.OnNode && !Name->Element &&
            torch::isTensor(Kept->getType()) &&
            !In->isTemplateInstantiation() &&
            readsValuesOnly(Lambda, Capture->getCapturedVar()) &&
            !createsGraphs(unit()))
          F.Fix = captureDetached(Lambda, Capture, Context);
      } else if (Downstream Way(*Hooked, Body); !Hooked->Element &&
                                                Way.reaches(Kept) &&
                                                !switchesGradMode(Body)) {
        F.Strength = Level::Likely;
        std::string What =
            Name ? spelled(Kept, *Name, Context) : std::string("a tensor");
        F.Message = "this hook captures " + What + " by value, which is " +
                    "computed from the hooked tensor " +
                    spelled(R.Tensor, *Named, Context) +
                    ": its graph keeps that tensor and its hook, so none of "
                    "them is ever freed";
        if (!Way.Way.empty())
          F.Steps.push_back(
              {Way.Way.back()->getBeginLoc(), What + " gets its history here"});
      }
    } else if ((flow::isSharedOwner(Kept->getType()) ||
                (torch::mayHoldTensor(Kept->getType()) &&
                 flow::isOwningType(Kept->getType()))) &&
               Related(flow::owns)) {
      const ObjectPath &Part =
          Object && flow::owns(*Object, *Hooked) ? *Hooked : *Named;
      // A copied container or struct has the same tensors.
      F.Strength = !flow::isSharedOwner(Kept->getType()) || Part.Element ||
                           Part.Fields.empty() ||
                           isParameter(Part.Fields.back())
                       ? Level::Certain
                       : Level::Likely;
      std::string What = Name && Name->Root
                             ? spelled(Kept, *Name, Context)
                             : std::string("a shared pointer to this object");
      F.Message = "this hook captures " + What +
                  " by value, which owns the hooked tensor: the tensor keeps "
                  "the hook and the hook keeps its owner, so none of them is "
                  "ever freed";
    }
    if (F.Message.empty())
      continue;
    if (Capture && Capture->getLocation().isValid() &&
        SM.getExpansionLineNumber(Capture->getLocation()) !=
            SM.getExpansionLineNumber(Call->getBeginLoc()))
      F.Steps.push_back({Capture->getLocation(), "it is captured here"});
    if (!Worst || F.Strength < Worst->Strength)
      Worst = std::move(F);
  }
  if (Worst && (R.OnNode || (dropsHandle(Call, Body, Context) &&
                             !isRemoved(R.Tensor, Body))))
    tell(*Worst);
}

void HookCaptureCycleCheck::checkStoredFunction(const CallExpr *Call,
                                                const FunctionDecl *In,
                                                ASTContext &Context) {
  const Stmt *Body = In->getBody();
  // Where it is stored, and in which field of that.
  std::optional<ObjectPath> Place, Named;
  const Expr *Function = nullptr;
  auto Into = [&](const Expr *To) {
    Place = flow::objectOf(To, Body);
    Named = flow::namedObject(To);
  };
  const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call);
  const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
  if (Op && Op->getOperator() == OO_Equal && Op->getNumArgs() == 2 &&
      isFunctionObject(Op->getArg(0)->getType())) {
    Function = Op->getArg(1);
    Into(Op->getArg(0));
  } else if (Method && Call->getNumArgs() > 0) {
    const Expr *Object = Method->getImplicitObjectArgument();
    StringRef Name = torch::calleeName(Call);
    if ((Name == "push_back" || Name == "emplace_back" || Name == "emplace" ||
         Name == "insert") &&
        holdsFunctions(Object->getType())) {
      Function = Call->getArg(Call->getNumArgs() - 1);
      Into(Object);
    } else if (const CXXMethodDecl *Callee = Method->getMethodDecl();
               Callee && torch::isUserCode(Callee->getLocation(),
                                           Context.getSourceManager())) {
      for (unsigned I = 0; I < Call->getNumArgs() && !Function; ++I) {
        if (I >= Callee->getNumParams() ||
            !isFunctionObject(Callee->getParamDecl(I)->getType()))
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
  const LambdaExpr *Lambda = lambdaOf(Function);
  for (const Expr *Kept : flow::keptBy(Function, Body)) {
    if (isTensorHandle(Kept->getType()) ||
        !flow::isSharedOwner(Kept->getType()) || !isHeavy(Kept->getType()))
      continue;
    const LambdaCapture *Capture = captureOf(Lambda, Kept);
    if (releases(Lambda, Capture))
      continue;
    auto Object = flow::objectOf(Kept, Body);
    auto Name = flow::namedObject(Kept);
    if (!(Object && flow::owns(*Object, *Place)) &&
        !(Name && flow::owns(*Name, *Named)))
      continue;
    if (Lambda && changesBetween(Name ? Name->Root : nullptr, Lambda, Call,
                                 Body, Context.getSourceManager()))
      continue;
    if (isReleasedSomewhere(Field, Call, unit()))
      return;
    Finding F;
    F.Loc = Call->getBeginLoc();
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
                Call->getBeginLoc()))
      F.Steps.push_back({Capture->getLocation(), "it is captured here"});
    tell(F);
    return;
  }
}

LIBTORCH_CHECK(HookCaptureCycleCheck);

} // namespace libtorch_tidy
