//===- GuardEffects.cpp - What objects do to gradient mode ----------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/torch/autograd/GuardEffects.h"
#include "analysis/cpp/Calls.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

Decides decides(const CXXRecordDecl *R) {
  auto Kind = llvm::StringSwitch<Decides>(cpp::nameOf(R))
                  .Case("NoGradGuard", Decides::AlwaysOff)
                  .Case("AutoGradMode", Decides::ByEnabled)
                  .Case("InferenceMode", Decides::ByInference)
                  .Case("AutoDispatchBelowAutograd", Decides::AlwaysOff)
                  .Case("AutoDispatchBelowADInplaceOrView", Decides::AlwaysOff)
                  // Deprecated; its argument can only be true.
                  .Case("AutoNonVariableTypeMode", Decides::AlwaysOff)
                  .Default(Decides::No);
  // A project's own class of that name is judged by what it owns.
  return Kind != Decides::No && isTorchDecl(R) ? Kind : Decides::No;
}

/// The class that is the first argument of \p R, which is made from a template
/// with one of \p Names. Null for everything else.
static const CXXRecordDecl *argumentOf(const CXXRecordDecl *R,
                                       llvm::ArrayRef<StringRef> Names) {
  const auto *Spec = dyn_cast_or_null<ClassTemplateSpecializationDecl>(R);
  if (!llvm::is_contained(Names, cpp::nameOf(Spec)) ||
      Spec->getTemplateArgs().size() == 0)
    return nullptr;
  const TemplateArgument &Arg = Spec->getTemplateArgs().get(0);
  return Arg.getKind() == TemplateArgument::Type
             ? Arg.getAsType()->getAsCXXRecordDecl()
             : nullptr;
}

const CXXRecordDecl *boxed(const CXXRecordDecl *R) {
  return argumentOf(R, {"unique_ptr", "shared_ptr", "optional"});
}

namespace {

/// The values of a called constructor's or function's parameters.
using BoundArguments = llvm::DenseMap<const ParmVarDecl *, const Expr *>;

/// Two ways to the same place.
MaybeEffect merge(MaybeEffect A, MaybeEffect B) {
  if (!A && !B)
    return std::nullopt;
  GuardEffect Both;
  if (A && B && A->Mode == B->Mode) {
    Both.Mode = A->Mode;
    Both.Inference = A->Inference && B->Inference;
  }
  return Both;
}

/// The class of the elements of \p R, a container; null for everything else.
const CXXRecordDecl *contained(const CXXRecordDecl *R) {
  return R && R->isInStdNamespace()
             ? argumentOf(R, {"vector", "deque", "list", "forward_list",
                              "array", "stack", "queue"})
             : nullptr;
}

/// What \p R keeps, none or one or many of them.
const CXXRecordDecl *kept(const CXXRecordDecl *R) {
  const CXXRecordDecl *Inner = boxed(R);
  return Inner ? Inner : contained(R);
}

/// Computes effects; all functions return nullopt for "no guard".
class Evaluator {
public:
  explicit Evaluator(const ASTContext &Context) : Context(Context) {}

  /// An object of class \p R of which nothing else is known.
  MaybeEffect ofClass(const CXXRecordDecl *R, unsigned Depth);
  /// An object of type \p T initialised by \p Init (null: not at all).
  MaybeEffect ofObject(QualType T, const Expr *Init, const BoundArguments &Args,
                       unsigned Depth);

private:
  /// Bounds the recursion; a wrapper in a wrapper takes up to five steps.
  static constexpr unsigned MaxDepth = 32;
  /// Bounds the work for one variable: a factory that returns its own result in
  /// several places, or a class of many classes, has more ways than can be
  /// gone.
  static constexpr unsigned MaxSteps = 4096;

  MaybeEffect ofExpr(const Expr *E, const BoundArguments &Args, unsigned Depth);
  MaybeEffect ofConstruction(const CXXRecordDecl *R,
                             const CXXConstructorDecl *Ctor,
                             llvm::ArrayRef<const Expr *> Written,
                             const BoundArguments &Args, unsigned Depth);
  MaybeEffect ofBox(const CXXRecordDecl *Inner,
                    llvm::ArrayRef<const Expr *> Written,
                    const BoundArguments &Args, unsigned Depth);
  MaybeEffect ofMembers(const CXXRecordDecl *R, const CXXConstructorDecl *Ctor,
                        const BoundArguments &Args, unsigned Depth);
  MaybeEffect ofCall(const CallExpr *Call, const BoundArguments &Args,
                     unsigned Depth);
  /// A guard class of LibTorch made with \p Written arguments.
  MaybeEffect ofGuard(Decides Kind, llvm::ArrayRef<const Expr *> Written,
                      const BoundArguments &Args) const;
  std::optional<bool> boolean(const Expr *E, const BoundArguments &Args) const;

  MaybeEffect computeClass(const CXXRecordDecl *R, unsigned Depth);

  const ASTContext &Context;
  unsigned Steps = 0;
  llvm::DenseMap<const CXXRecordDecl *, MaybeEffect> Classes;
};

std::optional<bool> Evaluator::boolean(const Expr *E,
                                       const BoundArguments &Args) const {
  if (std::optional<bool> Value = cpp::constantBool(E, Context))
    return Value;
  E = cpp::stripImplicit(E);
  if (const auto *Not = dyn_cast_or_null<UnaryOperator>(E);
      Not && Not->getOpcode() == UO_LNot) {
    std::optional<bool> Inner = boolean(Not->getSubExpr(), Args);
    return Inner ? std::optional(!*Inner) : std::nullopt;
  }
  if (const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E))
    if (const auto *Parm = dyn_cast<ParmVarDecl>(Ref->getDecl()))
      return cpp::constantBool(Args.lookup(Parm), Context);
  return std::nullopt;
}

MaybeEffect Evaluator::ofGuard(Decides Kind,
                               llvm::ArrayRef<const Expr *> Written,
                               const BoundArguments &Args) const {
  switch (Kind) {
  case Decides::No:
    return std::nullopt;
  case Decides::AlwaysOff:
    return GuardEffect{GradMode::Off, false};
  case Decides::ByEnabled:
    if (!Written.empty())
      if (std::optional<bool> On = boolean(Written.front(), Args))
        return GuardEffect{*On ? GradMode::On : GradMode::Off, false};
    return GuardEffect{};
  case Decides::ByInference: {
    std::optional<bool> On =
        Written.empty() ? true : boolean(Written.front(), Args);
    if (!On)
      return GuardEffect{};
    if (!*On)
      return std::nullopt;
    return GuardEffect{GradMode::Off, true};
  }
  }
  return std::nullopt;
}

MaybeEffect Evaluator::ofClass(const CXXRecordDecl *R, unsigned Depth) {
  R = R ? R->getDefinition() : nullptr;
  if (!R || Depth > MaxDepth)
    return std::nullopt;
  // Most variables end here.
  if (decides(R) == Decides::No && !kept(R) &&
      (R->isInStdNamespace() || isTorchDecl(R) || R->isDependentContext()))
    return std::nullopt;
  // A class that owns its like is first met as one without a guard.
  if (auto [Known, New] = Classes.try_emplace(R); !New)
    return Known->second;
  MaybeEffect Result = computeClass(R, Depth);
  Classes[R] = Result;
  return Result;
}

MaybeEffect Evaluator::computeClass(const CXXRecordDecl *R, unsigned Depth) {
  switch (decides(R)) {
  case Decides::AlwaysOff:
    return GuardEffect{GradMode::Off, false};
  case Decides::ByEnabled:
  case Decides::ByInference:
    return GuardEffect{};
  case Decides::No:
    break;
  }
  if (const CXXRecordDecl *Inner = kept(R))
    return ofClass(Inner, Depth + 1) ? MaybeEffect(GuardEffect{})
                                     : std::nullopt;
  // What holds whichever constructor ran.
  MaybeEffect Result;
  bool First = true;
  for (const CXXConstructorDecl *Ctor : R->ctors()) {
    if (Ctor->isCopyOrMoveConstructor() || Ctor->isDeleted())
      continue;
    MaybeEffect ByCtor = ofMembers(R, Ctor, BoundArguments(), Depth + 1);
    Result = First ? ByCtor : merge(Result, ByCtor);
    First = false;
  }
  return First ? ofMembers(R, nullptr, BoundArguments(), Depth + 1) : Result;
}

MaybeEffect Evaluator::ofMembers(const CXXRecordDecl *R,
                                 const CXXConstructorDecl *Ctor,
                                 const BoundArguments &Args, unsigned Depth) {
  if (Depth > MaxDepth)
    return std::nullopt;
  const FunctionDecl *Body = nullptr;
  if (Ctor && Ctor->hasBody(Body))
    Ctor = cast<CXXConstructorDecl>(Body);
  auto InitOf = [&](auto Matches) -> const Expr * {
    if (Ctor)
      for (const CXXCtorInitializer *Init : Ctor->inits())
        if (Matches(Init))
          return Init->getInit();
    return nullptr;
  };
  // In order of construction: the last to switch the mode has its way, except
  // that nothing switches gradients on under InferenceMode.
  MaybeEffect Result;
  auto Then = [&](MaybeEffect Next) {
    if (Next && !(Result && Result->Inference))
      Result = Next;
  };
  for (const CXXBaseSpecifier &Base : R->bases())
    Then(ofObject(Base.getType(), InitOf([&](const CXXCtorInitializer *Init) {
                    return Init->isBaseInitializer() &&
                           Context.hasSameUnqualifiedType(
                               QualType(Init->getBaseClass(), 0),
                               Base.getType());
                  }),
                  Args, Depth + 1));
  for (const FieldDecl *Field : R->fields()) {
    // A member that refers to a guard does not own it.
    if (Field->getType()->isReferenceType() ||
        Field->getType()->isPointerType())
      continue;
    const Expr *Init = InitOf(
        [&](const CXXCtorInitializer *I) { return I->getMember() == Field; });
    if (!Init)
      Init = Field->getInClassInitializer();
    Then(ofObject(Field->getType(), Init, Args, Depth + 1));
  }
  return Result;
}

MaybeEffect Evaluator::ofObject(QualType T, const Expr *Init,
                                const BoundArguments &Args, unsigned Depth) {
  if (T.isNull() || Depth > MaxDepth)
    return std::nullopt;
  if (++Steps > MaxSteps)
    return GuardEffect{}; // A guard or not, and of any mode.
  const CXXRecordDecl *R = T->getAsCXXRecordDecl();
  if (!R)
    return std::nullopt;
  MaybeEffect ByClass = ofClass(R, Depth);
  if (!Init || Depth > MaxDepth || contained(R))
    return ByClass; // How many guards a list holds, nobody knows.
  // The class can say no although the object does: InferenceMode(false) in
  // one constructor of several. What is known of the object wins.
  if (!ByClass && decides(R) == Decides::No && !boxed(R) &&
      (R->isInStdNamespace() || isTorchDecl(R)))
    return std::nullopt;
  return ofExpr(Init, Args, Depth + 1);
}

MaybeEffect Evaluator::ofExpr(const Expr *E, const BoundArguments &Args,
                              unsigned Depth) {
  E = cpp::peel(E);
  if (!E || Depth > MaxDepth || E->isTypeDependent())
    return std::nullopt;
  if (++Steps > MaxSteps)
    return GuardEffect{};
  const CXXRecordDecl *R = E->getType()->getAsCXXRecordDecl();
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
    if (Construct->getConstructor()->isCopyOrMoveConstructor() &&
        Construct->getNumArgs() > 0)
      return ofExpr(Construct->getArg(0), Args, Depth + 1);
    llvm::SmallVector<const Expr *, 4> Written;
    for (const Expr *Arg : Construct->arguments())
      Written.push_back(Arg);
    return ofConstruction(R, Construct->getConstructor(), Written, Args,
                          Depth + 1);
  }
  if (const auto *List = dyn_cast<InitListExpr>(E)) {
    if (R && List->getNumInits() == 1 && decides(R) != Decides::No)
      return ofExpr(List->getInit(0), Args, Depth + 1);
    // An aggregate: members as the list initialises them.
    MaybeEffect Result;
    for (const Expr *Init : List->inits())
      if (Init && Init->getType()->isRecordType())
        if (MaybeEffect Member =
                ofObject(Init->getType(), Init, Args, Depth + 1))
          Result = Member;
    return Result;
  }
  if (const auto *Choice = dyn_cast<ConditionalOperator>(E))
    return merge(ofExpr(Choice->getTrueExpr(), Args, Depth + 1),
                 ofExpr(Choice->getFalseExpr(), Args, Depth + 1));
  if (const auto *New = dyn_cast<CXXNewExpr>(E))
    return New->isArray() ? std::nullopt
                          : ofObject(New->getAllocatedType(),
                                     New->getConstructExpr(), Args, Depth + 1);
  if (const auto *Call = dyn_cast<CallExpr>(E))
    return ofCall(Call, Args, Depth + 1);
  return ofClass(R, Depth + 1);
}

/// A box of an \p Inner, made with \p Written arguments.
MaybeEffect Evaluator::ofBox(const CXXRecordDecl *Inner,
                             llvm::ArrayRef<const Expr *> Written,
                             const BoundArguments &Args, unsigned Depth) {
  MaybeEffect ByClass = ofClass(Inner, Depth + 1);
  if (!ByClass && decides(Inner) == Decides::No)
    return std::nullopt;
  // optional<G>(in_place, args...), shared_ptr<G>(new G), optional<G>(G()).
  for (const Expr *Arg : Written) {
    const Expr *Value = cpp::peel(Arg);
    if (!Value || isa<CXXDefaultArgExpr>(Arg))
      continue;
    QualType T = Value->getType();
    if (const CXXRecordDecl *Tag = T->getAsCXXRecordDecl();
        cpp::nameOf(Tag) == "in_place_t")
      return ofGuard(decides(Inner), Written.drop_front(), Args);
    if (T->isNullPtrType())
      return GuardEffect{};
    const CXXRecordDecl *Pointee = T->isPointerType()
                                       ? T->getPointeeCXXRecordDecl()
                                       : T->getAsCXXRecordDecl();
    if (!Pointee)
      continue;
    if (cpp::nameOf(Pointee) == "nullopt_t")
      return GuardEffect{};
    return ofExpr(Value, Args, Depth + 1);
  }
  return GuardEffect{}; // Empty as yet.
}

MaybeEffect Evaluator::ofConstruction(const CXXRecordDecl *R,
                                      const CXXConstructorDecl *Ctor,
                                      llvm::ArrayRef<const Expr *> Written,
                                      const BoundArguments &Args,
                                      unsigned Depth) {
  if (!R || Depth > MaxDepth)
    return std::nullopt;
  if (Decides Kind = decides(R); Kind != Decides::No)
    return ofGuard(Kind, Written, Args);
  if (const CXXRecordDecl *Inner = boxed(R))
    return ofBox(Inner, Written, Args, Depth);
  if (R->isInStdNamespace() || isTorchDecl(R) || !R->hasDefinition())
    return std::nullopt;
  BoundArguments Own;
  for (unsigned I = 0; Ctor && I < Ctor->getNumParams() && I < Written.size();
       ++I) {
    const Expr *Arg = cpp::stripImplicit(Written[I]);
    // Hand on what this constructor was itself given.
    if (const auto *Ref = dyn_cast_or_null<DeclRefExpr>(Arg))
      if (const auto *Parm = dyn_cast<ParmVarDecl>(Ref->getDecl()))
        if (const Expr *Outer = Args.lookup(Parm))
          Arg = Outer;
    Own[Ctor->getParamDecl(I)] = Arg;
  }
  if (const FunctionDecl *Body = nullptr; Ctor && Ctor->hasBody(Body))
    for (unsigned I = 0; I < Ctor->getNumParams(); ++I)
      if (const Expr *Arg = Own.lookup(Ctor->getParamDecl(I)))
        Own[Body->getParamDecl(I)] = Arg;
  return ofMembers(R->getDefinition(), Ctor, Own, Depth + 1);
}

/// All values a function returns.
class Returns : public RecursiveASTVisitor<Returns> {
public:
  llvm::SmallVector<const Expr *, 2> Values;
  bool VisitReturnStmt(ReturnStmt *Return) {
    if (const Expr *Value = Return->getRetValue())
      Values.push_back(Value);
    return true;
  }
  bool TraverseLambdaExpr(LambdaExpr *) { return true; }
  bool TraverseDecl(Decl *D) {
    return isa_and_nonnull<CXXRecordDecl>(D) ||
           RecursiveASTVisitor::TraverseDecl(D);
  }
};

MaybeEffect Evaluator::ofCall(const CallExpr *Call, const BoundArguments &Args,
                              unsigned Depth) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  QualType T = Call->getType();
  const CXXRecordDecl *R = T->isPointerType() ? T->getPointeeCXXRecordDecl()
                                              : T->getAsCXXRecordDecl();
  if (!Callee || !R || Depth > MaxDepth)
    return std::nullopt;
  if (Callee->getBuiltinID() && Call->getNumArgs() == 1) // std::move
    return ofExpr(Call->getArg(0), Args, Depth + 1);
  StringRef Name = cpp::calleeName(Call);
  if (const CXXRecordDecl *Inner = boxed(R);
      Inner && Name.starts_with("make_")) {
    llvm::SmallVector<const Expr *, 4> Written = cpp::writtenArguments(Call);
    if (Decides Kind = decides(Inner); Kind != Decides::No) {
      // make_optional(G()) is given the guard itself.
      if (Written.size() == 1 &&
          Written.front()->getType()->getAsCXXRecordDecl())
        return ofExpr(Written.front(), Args, Depth + 1);
      return ofGuard(Kind, Written, Args);
    }
    return ofClass(Inner, Depth + 1);
  }
  const FunctionDecl *Definition = nullptr;
  if (!Callee->hasBody(Definition) || isTorchDecl(Callee) ||
      Callee->isInStdNamespace())
    return ofClass(R, Depth + 1);
  BoundArguments Own;
  for (unsigned I = 0, First = isa<CXXOperatorCallExpr>(Call) &&
                               isa<CXXMethodDecl>(Callee);
       I < Definition->getNumParams() && I + First < Call->getNumArgs(); ++I)
    Own[Definition->getParamDecl(I)] = Call->getArg(I + First);
  Returns Found;
  Found.TraverseStmt(Definition->getBody());
  MaybeEffect Result;
  bool First = true;
  for (const Expr *Value : Found.Values) {
    const Expr *Peeled = cpp::stripImplicit(Value);
    MaybeEffect One;
    // A named guard that is returned lives on in the caller.
    const auto *Ref = dyn_cast_or_null<DeclRefExpr>(Peeled);
    const auto *Var = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (Var && !isa<ParmVarDecl>(Var))
      One = ofObject(Var->getType(), Var->getInit(), Own, Depth + 1);
    else
      One = ofExpr(Value, Own, Depth + 1);
    Result = First ? One : merge(Result, One);
    First = false;
  }
  return First ? ofClass(R, Depth + 1) : Result;
}

} // namespace

/// Can an object of class \p R own a guard, going by the types of its parts
/// alone? A cheap no for almost every class; what its constructors and
/// factories do is asked of the few others only.
static bool mayOwnGuard(const CXXRecordDecl *R,
                        llvm::SmallPtrSetImpl<const CXXRecordDecl *> &Seen,
                        unsigned Depth = 0) {
  constexpr unsigned Nesting = 3; // Wrappers around wrappers.
  R = R ? R->getDefinition() : nullptr;
  if (!R || Depth > Nesting)
    return false;
  if (decides(R) != Decides::No)
    return true;
  if (const CXXRecordDecl *Inner = kept(R))
    return mayOwnGuard(Inner, Seen, Depth + 1);
  if (R->isInStdNamespace() || isTorchDecl(R) || R->isDependentContext() ||
      !Seen.insert(R).second)
    return false;
  return llvm::any_of(R->bases(),
                      [&](const CXXBaseSpecifier &Base) {
                        return mayOwnGuard(Base.getType()->getAsCXXRecordDecl(),
                                           Seen, Depth + 1);
                      }) ||
         llvm::any_of(R->fields(), [&](const FieldDecl *Field) {
           return mayOwnGuard(Field->getType()->getAsCXXRecordDecl(), Seen,
                              Depth + 1);
         });
}

static bool mayOwnGuard(const CXXRecordDecl *R) {
  llvm::SmallPtrSet<const CXXRecordDecl *, 16> Seen;
  return mayOwnGuard(R, Seen);
}

MaybeEffect effectOf(const VarDecl *V) {
  if (!V || isa<ParmVarDecl>(V))
    return std::nullopt;
  QualType T = V->getType();
  if (T.isNull() || T->isDependentType())
    return std::nullopt;
  QualType Object =
      T->isPointerType() ? T->getPointeeType() : T.getNonReferenceType();
  if (!mayOwnGuard(Object->getAsCXXRecordDecl()))
    return std::nullopt;
  const Expr *Init = V->getInit();
  Evaluator Eval(V->getASTContext());
  if (T->isReferenceType()) {
    // Only a reference that keeps a temporary alive.
    if (!Init)
      return std::nullopt;
    const Expr *E = Init->IgnoreImplicit()->IgnoreParens();
    if (const auto *Cleanups = dyn_cast<ExprWithCleanups>(Init))
      Init = Cleanups->getSubExpr();
    while (const auto *Cast = dyn_cast<ImplicitCastExpr>(Init))
      Init = Cast->getSubExpr();
    if (!isa<MaterializeTemporaryExpr>(Init) || E->isLValue())
      return std::nullopt;
    return Eval.ofObject(T.getNonReferenceType(), Init, BoundArguments(), 0);
  }
  if (T->isPointerType()) {
    // `new torch::NoGradGuard` is never released before its variable.
    const auto *New = dyn_cast_or_null<CXXNewExpr>(cpp::peel(Init));
    if (!New || New->isArray())
      return std::nullopt;
    return Eval.ofObject(New->getAllocatedType(), New->getConstructExpr(),
                         BoundArguments(), 0);
  }
  return Eval.ofObject(T, Init, BoundArguments(), 0);
}

MaybeEffect effectOf(const CXXRecordDecl *R) {
  return mayOwnGuard(R) ? Evaluator(R->getASTContext()).ofClass(R, 0)
                        : std::nullopt;
}

} // namespace libtorch_tidy::torch
