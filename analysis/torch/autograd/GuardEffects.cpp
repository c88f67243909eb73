//===- GuardEffects.cpp - What objects do to gradient mode ----------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/torch/autograd/GuardEffects.h"
#include "analysis/cpp/Call.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

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

/// The class that is the first template argument of \p R; null for others.
static const CXXRecordDecl *firstArgument(const CXXRecordDecl *R) {
  const QualType First = cpp::firstArgument(R);
  return First.isNull() ? nullptr : First->getAsCXXRecordDecl();
}

const CXXRecordDecl *boxed(const CXXRecordDecl *R) {
  // Older LibTorchs have an optional of their own.
  return cpp::isStdClass(R, cpp::StdClass::Box) || cpp::nameOf(R) == "optional"
             ? firstArgument(R)
             : nullptr;
}

namespace {

/// The values of a called constructor's or function's parameters.
using BoundArguments = llvm::DenseMap<const ParmVarDecl *, const Expr *>;

/// Joins the effects of alternative ways to the same place.
class Merged {
public:
  void add(MaybeEffect Next) {
    if (!First && (!Result || !Next || Result->Mode != Next->Mode))
      Result = Result || Next ? MaybeEffect(GuardEffect{}) : std::nullopt;
    else if (!First)
      Result->Inference &= Next->Inference;
    else
      Result = Next;
    First = false;
  }
  bool isEmpty() const { return First; }
  MaybeEffect get() const { return Result; }

private:
  MaybeEffect Result;
  bool First = true;
};

/// Is \p R a class of a library, whose constructors are not looked into?
bool isForeign(const CXXRecordDecl *R) {
  return R->isInStdNamespace() || isTorchDecl(R);
}

/// The class of the elements of \p R, a container; null for everything else.
const CXXRecordDecl *contained(const CXXRecordDecl *R) {
  return cpp::isStdClass(R, cpp::StdClass::Sequence) ? firstArgument(R)
                                                     : nullptr;
}

/// What \p R keeps, none or one or many of them.
const CXXRecordDecl *kept(const CXXRecordDecl *R) {
  const CXXRecordDecl *Inner = boxed(R);
  return Inner ? Inner : contained(R);
}

/// The parameter that \p E names; null for others.
const ParmVarDecl *parameter(const Expr *E) {
  return dyn_cast_or_null<ParmVarDecl>(cpp::variableOf(E));
}

/// Computes effects; all functions return nullopt for "no guard".
class Evaluator {
public:
  explicit Evaluator(const ASTContext &Context) : Context(Context) {}

  /// An object of class \p R of which nothing else is known.
  MaybeEffect ofClass(const CXXRecordDecl *R) {
    R = R ? R->getDefinition() : nullptr;
    if (!R)
      return std::nullopt;
    // Most variables end here.
    if (decides(R) == Decides::No && !kept(R) &&
        (isForeign(R) || R->isDependentContext()))
      return std::nullopt;
    // A class that owns its like is first met as one without a guard.
    if (auto [Known, New] = Classes.try_emplace(R); !New)
      return Known->second;
    llvm::SaveAndRestore<BoundArguments> Nothing(Args, BoundArguments());
    MaybeEffect Result = computeClass(R);
    Classes[R] = Result;
    return Result;
  }

  /// An object of type \p T initialised by \p Init (null: not at all).
  MaybeEffect ofObject(QualType T, const Expr *Init) {
    const CXXRecordDecl *R = T.isNull() ? nullptr : T->getAsCXXRecordDecl();
    if (!R)
      return std::nullopt;
    if (++Steps > MaxSteps)
      return GuardEffect{}; // A guard or not, and of any mode.
    MaybeEffect ByClass = ofClass(R);
    if (!Init || contained(R))
      return ByClass; // How many guards a list holds, nobody knows.
    // The class can say no although the object does: InferenceMode(false) in
    // one constructor of several. What is known of the object wins.
    if (!ByClass && decides(R) == Decides::No && !boxed(R) && isForeign(R))
      return std::nullopt;
    return ofExpr(Init);
  }

  MaybeEffect ofExpr(const Expr *E) {
    E = cpp::peel(E);
    if (!E || Depth == MaxDepth || E->isTypeDependent())
      return std::nullopt;
    if (++Steps > MaxSteps)
      return GuardEffect{};
    llvm::SaveAndRestore<unsigned> Deeper(Depth, Depth + 1);
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
      return ofConstruction(cpp::Call(Construct));
    if (const auto *List = dyn_cast<InitListExpr>(E))
      return ofList(List);
    if (const auto *Choice = dyn_cast<ConditionalOperator>(E)) {
      Merged Both;
      Both.add(ofExpr(Choice->getTrueExpr()));
      Both.add(ofExpr(Choice->getFalseExpr()));
      return Both.get();
    }
    if (const auto *New = dyn_cast<CXXNewExpr>(E))
      return New->isArray()
                 ? std::nullopt
                 : ofObject(New->getAllocatedType(), New->getConstructExpr());
    if (const auto *Call = dyn_cast<CallExpr>(E))
      return ofCall(cpp::Call(Call));
    return ofClass(E->getType()->getAsCXXRecordDecl());
  }

private:
  /// Bounds the recursion; a wrapper in a wrapper takes two steps.
  static constexpr unsigned MaxDepth = 16;
  /// Bounds the work for one variable: a factory that returns its own result in
  /// several places, or a class of many classes, has more ways than can be
  /// gone.
  static constexpr unsigned MaxSteps = 4096;

  std::optional<bool> boolean(const Expr *E) const {
    if (std::optional<bool> Value = cpp::constantBool(E, Context))
      return Value;
    const auto *Not = dyn_cast_or_null<UnaryOperator>(cpp::stripImplicit(E));
    if (Not && Not->getOpcode() == UO_LNot) {
      std::optional<bool> Inner = boolean(Not->getSubExpr());
      return Inner ? std::optional(!*Inner) : std::nullopt;
    }
    return cpp::constantBool(Args.lookup(parameter(E)), Context);
  }

  /// A guard class of LibTorch made with the arguments \p Given.
  MaybeEffect ofGuard(Decides Kind, llvm::ArrayRef<const Expr *> Given) const {
    std::optional<bool> Flag =
        Given.empty() ? std::nullopt : boolean(Given.front());
    switch (Kind) {
    case Decides::No:
      return std::nullopt;
    case Decides::AlwaysOff:
      return GuardEffect{GradMode::Off, false};
    case Decides::ByEnabled:
      return Flag ? GuardEffect{*Flag ? GradMode::On : GradMode::Off, false}
                  : GuardEffect{};
    case Decides::ByInference:
      if (!Flag && !Given.empty())
        return GuardEffect{};
      return Flag.value_or(true)
                 ? MaybeEffect(GuardEffect{GradMode::Off, /*Inference=*/true})
                 : std::nullopt;
    }
    return std::nullopt;
  }

  MaybeEffect computeClass(const CXXRecordDecl *R) {
    if (Decides Kind = decides(R); Kind != Decides::No)
      return Kind == Decides::AlwaysOff ? GuardEffect{GradMode::Off, false}
                                        : GuardEffect{};
    if (const CXXRecordDecl *Inner = kept(R))
      return ofClass(Inner) ? MaybeEffect(GuardEffect{}) : std::nullopt;
    // What holds whichever constructor ran.
    Merged Result;
    for (const CXXConstructorDecl *Ctor : R->ctors())
      if (!Ctor->isCopyOrMoveConstructor() && !Ctor->isDeleted())
        Result.add(ofMembers(R, Ctor));
    return Result.isEmpty() ? ofMembers(R, nullptr) : Result.get();
  }

  /// An object of class \p R that constructor \p Ctor (may be null) makes.
  MaybeEffect ofMembers(const CXXRecordDecl *R,
                        const CXXConstructorDecl *Ctor) {
    if (Depth == MaxDepth)
      return std::nullopt;
    llvm::SaveAndRestore<unsigned> Deeper(Depth, Depth + 1);
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
                    })));
    for (const FieldDecl *Field : R->fields()) {
      // A member that refers to a guard does not own it.
      if (Field->getType()->isReferenceType() ||
          Field->getType()->isPointerType())
        continue;
      const Expr *Init = InitOf(
          [&](const CXXCtorInitializer *I) { return I->getMember() == Field; });
      Then(ofObject(Field->getType(),
                    Init ? Init : Field->getInClassInitializer()));
    }
    return Result;
  }

  MaybeEffect ofList(const InitListExpr *List) {
    const CXXRecordDecl *R = List->getType()->getAsCXXRecordDecl();
    if (R && List->getNumInits() == 1 && decides(R) != Decides::No)
      return ofExpr(List->getInit(0));
    // An aggregate: members as the list initialises them.
    MaybeEffect Result;
    for (const Expr *Init : List->inits())
      if (Init && Init->getType()->isRecordType())
        if (MaybeEffect Member = ofObject(Init->getType(), Init))
          Result = Member;
    return Result;
  }

  /// A box of an \p Inner that is made of \p Given:
  /// optional<G>(in_place, args...), shared_ptr<G>(new G), optional<G>(G()).
  MaybeEffect ofBox(const CXXRecordDecl *Inner,
                    llvm::ArrayRef<const Expr *> Given) {
    if (!ofClass(Inner) && decides(Inner) == Decides::No)
      return std::nullopt;
    for (const Expr *Arg : Given) {
      const Expr *Value = cpp::peel(Arg);
      const QualType T = Value->getType();
      const CXXRecordDecl *R = T->isPointerType() ? T->getPointeeCXXRecordDecl()
                                                  : T->getAsCXXRecordDecl();
      if (T->isNullPtrType() || cpp::nameOf(R) == "nullopt_t")
        return GuardEffect{};
      if (cpp::nameOf(R) == "in_place_t")
        return ofGuard(decides(Inner), Given.drop_front());
      if (R)
        return ofExpr(Value);
    }
    return GuardEffect{}; // Empty as yet.
  }

  /// What \p C gives the parameters of \p F, a declaration of its callee. What
  /// the function at hand was itself given is handed on.
  BoundArguments bound(const cpp::Call &C, const FunctionDecl *F) const {
    BoundArguments Own;
    for (unsigned I = 0; I < F->getNumParams() && I < C.Args.size(); ++I) {
      const Expr *Outer = Args.lookup(parameter(C.Args[I]));
      Own[F->getParamDecl(I)] = Outer ? Outer : C.Args[I];
    }
    return Own;
  }

  MaybeEffect ofConstruction(const cpp::Call &C) {
    const auto *Ctor = cast<CXXConstructorDecl>(C.Callee);
    if (Ctor->isCopyOrMoveConstructor() && !C.Args.empty())
      return ofExpr(C.Args.front());
    const CXXRecordDecl *R = C.E->getType()->getAsCXXRecordDecl();
    if (!R)
      return std::nullopt;
    if (Decides Kind = decides(R); Kind != Decides::No)
      return ofGuard(Kind, C.Args);
    if (const CXXRecordDecl *Inner = boxed(R))
      return ofBox(Inner, C.written());
    if (isForeign(R) || !R->hasDefinition())
      return std::nullopt;
    const FunctionDecl *Body = nullptr;
    llvm::SaveAndRestore<BoundArguments> Own(
        Args, bound(C, Ctor->hasBody(Body) ? Body : Ctor));
    return ofMembers(R->getDefinition(), Ctor);
  }

  /// std::make_unique<Inner>() and its like.
  MaybeEffect ofMade(const CXXRecordDecl *Inner, const cpp::Call &C) {
    const Decides Kind = decides(Inner);
    if (Kind == Decides::No)
      return ofClass(Inner);
    // make_optional(G()) is given the guard itself.
    return C.Written == 1 && C.Args[0]->getType()->getAsCXXRecordDecl()
               ? ofExpr(C.Args[0])
               : ofGuard(Kind, C.written());
  }

  MaybeEffect ofCall(const cpp::Call &C) {
    const QualType T = C.E->getType();
    const CXXRecordDecl *R = T->isPointerType() ? T->getPointeeCXXRecordDecl()
                                                : T->getAsCXXRecordDecl();
    if (!C.Callee || !R)
      return std::nullopt;
    if (C.doesStd(cpp::Std::Same) && C.Args.size() == 1)
      return ofExpr(C.Args.front());
    if (const CXXRecordDecl *Inner = boxed(R);
        Inner && C.Name.starts_with("make_"))
      return ofMade(Inner, C);
    const FunctionDecl *Definition = nullptr;
    if (!C.Callee->hasBody(Definition) || C.Of != cpp::Whose::User)
      return ofClass(R);
    llvm::SaveAndRestore<BoundArguments> Own(Args, bound(C, Definition));
    Merged Result;
    cpp::forEach<ReturnStmt>(
        Definition->getBody(),
        [&](const ReturnStmt *Return) {
          if (const Expr *Value = Return->getRetValue())
            Result.add(ofReturned(Value));
        },
        cpp::Lambdas::Made);
    return Result.isEmpty() ? ofClass(R) : Result.get();
  }

  /// A named guard that is returned lives on in the caller.
  MaybeEffect ofReturned(const Expr *Value) {
    const VarDecl *Var = cpp::variableOf(Value);
    return Var && !isa<ParmVarDecl>(Var)
               ? ofObject(Var->getType(), Var->getInit())
               : ofExpr(Value);
  }

  const ASTContext &Context;
  BoundArguments Args; ///< Of the function that is looked into.
  unsigned Depth = 0, Steps = 0;
  llvm::DenseMap<const CXXRecordDecl *, MaybeEffect> Classes;
};

/// Can an object of class \p R own a guard, going by the types of its parts
/// alone? A cheap no for almost every class; what its constructors and
/// factories do is asked of the few others only.
bool mayOwnGuard(const CXXRecordDecl *R,
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
  if (isForeign(R) || R->isDependentContext() || !Seen.insert(R).second)
    return false;
  return cpp::anyPart(R, [&](QualType Part) {
    return mayOwnGuard(Part->getAsCXXRecordDecl(), Seen, Depth + 1);
  });
}

bool mayOwnGuard(const CXXRecordDecl *R) {
  llvm::SmallPtrSet<const CXXRecordDecl *, 16> Seen;
  return mayOwnGuard(R, Seen);
}

} // namespace

MaybeEffect effectOf(const VarDecl *V) {
  if (!V || isa<ParmVarDecl>(V))
    return std::nullopt;
  const QualType T = V->getType();
  if (T.isNull() || T->isDependentType())
    return std::nullopt;
  const QualType Object =
      T->isPointerType() ? T->getPointeeType() : T.getNonReferenceType();
  if (!mayOwnGuard(Object->getAsCXXRecordDecl()))
    return std::nullopt;
  const Expr *Init = cpp::peel(V->getInit());
  Evaluator Eval(V->getASTContext());
  // `new torch::NoGradGuard` is never released before its variable.
  if (T->isPointerType())
    return isa_and_nonnull<CXXNewExpr>(Init) ? Eval.ofExpr(Init) : std::nullopt;
  // Only a reference that keeps a temporary alive.
  if (T->isReferenceType() && (!Init || !Init->isPRValue()))
    return std::nullopt;
  return Eval.ofObject(Object, Init);
}

MaybeEffect effectOf(const CXXRecordDecl *R) {
  return mayOwnGuard(R) ? Evaluator(R->getASTContext()).ofClass(R)
                        : std::nullopt;
}

} // namespace libtorch_tidy::torch
