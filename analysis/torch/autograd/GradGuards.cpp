//===- GradGuards.cpp - Who switches grad mode and autocast ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/autograd/GradGuards.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ParentMapContext.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

//===----------------------------------------------------------------------===//
// What objects do to gradient mode while they live
//===----------------------------------------------------------------------===//

namespace {

/// How a guard class of LibTorch decides.
enum class Decides { No, AlwaysOff, ByEnabled, ByInference };

/// What an object does to gradient mode while it lives.
struct GuardEffect {
  GradMode Mode = GradMode::Unknown;
  bool Inference = false; ///< By an InferenceMode, which may be off.
};
using MaybeEffect = std::optional<GuardEffect>;

/// The values of a called constructor's or function's parameters.
using BoundArguments = llvm::DenseMap<const ParmVarDecl *, const Expr *>;

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

/// The class of which owner \p R keeps one or none (a smart pointer, an
/// optional) or, with \p OrMany, several. Null for everything else.
const CXXRecordDecl *kept(const CXXRecordDecl *R, bool OrMany = true) {
  // Older LibTorchs have an optional of their own.
  if (!cpp::isStdClass(R, cpp::StdClass::Box) && cpp::nameOf(R) != "optional" &&
      !(OrMany && cpp::isStdClass(R, cpp::StdClass::Sequence)))
    return nullptr;
  const QualType First = cpp::firstArgument(R);
  return First.isNull() ? nullptr : First->getAsCXXRecordDecl();
}

const CXXRecordDecl *boxed(const CXXRecordDecl *R) {
  return kept(R, /*OrMany=*/false);
}

/// Is \p R a class of a library, whose constructors are not looked into?
bool isForeign(const CXXRecordDecl *R) {
  return R->isInStdNamespace() || isTorchDecl(R);
}

/// The class of \p T, or of what pointer \p T leads to.
const CXXRecordDecl *classOf(QualType T) {
  return T->isPointerType() ? T->getPointeeCXXRecordDecl()
                            : T->getAsCXXRecordDecl();
}

/// The parameter that \p E names; null for others.
const ParmVarDecl *parameter(const Expr *E) {
  return dyn_cast_or_null<ParmVarDecl>(cpp::variableOf(E));
}

/// The effect where any of \p Ways, one at least, may have been gone.
MaybeEffect merged(llvm::ArrayRef<MaybeEffect> Ways) {
  MaybeEffect Result = Ways.front();
  for (const MaybeEffect &Next : Ways.drop_front()) {
    if (!Result || !Next || Result->Mode != Next->Mode)
      Result = Result || Next ? MaybeEffect(GuardEffect{}) : std::nullopt;
    else
      Result->Inference &= Next->Inference;
  }
  return Result;
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
    // The number of guards in a list is not known.
    if (!Init || (kept(R) && !boxed(R)))
      return ByClass;
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
    if (const auto *Choice = dyn_cast<ConditionalOperator>(E))
      return merged(
          {ofExpr(Choice->getTrueExpr()), ofExpr(Choice->getFalseExpr())});
    if (const auto *New = dyn_cast<CXXNewExpr>(E))
      return New->isArray()
                 ? std::nullopt
                 : ofObject(New->getAllocatedType(), New->getConstructExpr());
    if (const auto *Call = dyn_cast<CallExpr>(E))
      return ofCall(cpp::Call(Call));
    return ofClass(E->getType()->getAsCXXRecordDecl());
  }

  /// The guard that a box of class \p Inner makes of \p Given.
  MaybeEffect ofMade(const CXXRecordDecl *Inner,
                     llvm::ArrayRef<const Expr *> Given) {
    if (decides(Inner) == Decides::No)
      return ofClass(Inner);
    // make_optional(G()) is given the guard itself.
    return Given.size() == 1 && Given[0]->getType()->getAsCXXRecordDecl()
               ? ofExpr(Given[0])
               : ofGuard(Inner, Given);
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

  /// An object of guard class \p R of LibTorch's, made with \p Given.
  MaybeEffect ofGuard(const CXXRecordDecl *R,
                      llvm::ArrayRef<const Expr *> Given) const {
    const Decides Kind = decides(R);
    const std::optional<bool> Flag =
        Given.empty() ? std::nullopt : boolean(Given.front());
    if (!Flag && (Kind == Decides::ByEnabled ||
                  (Kind == Decides::ByInference && !Given.empty())))
      return GuardEffect{GradMode::Unknown, Kind == Decides::ByInference};
    const std::optional<bool> Enabled = gradientsUnder(R, Flag);
    if (!Enabled)
      return std::nullopt;
    return GuardEffect{*Enabled ? GradMode::On : GradMode::Off,
                       Kind == Decides::ByInference};
  }

  MaybeEffect computeClass(const CXXRecordDecl *R) {
    if (Decides Kind = decides(R); Kind != Decides::No)
      return Kind == Decides::AlwaysOff ? ofGuard(R, {}) : GuardEffect{};
    if (const CXXRecordDecl *Inner = kept(R))
      return ofClass(Inner) ? MaybeEffect(GuardEffect{}) : std::nullopt;
    // What holds whichever constructor ran.
    llvm::SmallVector<MaybeEffect, 4> Ways;
    for (const CXXConstructorDecl *Ctor : R->ctors())
      if (!Ctor->isCopyOrMoveConstructor() && !Ctor->isDeleted())
        Ways.push_back(ofMembers(R, Ctor));
    return Ways.empty() ? ofMembers(R, nullptr) : merged(Ways);
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
    // In order of construction: the last to switch the mode has its way, except
    // that nothing switches gradients on under InferenceMode.
    MaybeEffect Result;
    auto AddPart = [&](QualType T, const FieldDecl *Field) {
      const Expr *Init = Field ? Field->getInClassInitializer() : nullptr;
      if (Ctor)
        for (const CXXCtorInitializer *Own : Ctor->inits())
          if (Field ? Own->getMember() == Field
                    : Own->isBaseInitializer() &&
                          Context.hasSameUnqualifiedType(
                              QualType(Own->getBaseClass(), 0), T))
            Init = Own->getInit();
      MaybeEffect Next = ofObject(T, Init);
      if (Next && !(Result && Result->Inference))
        Result = Next;
    };
    for (const CXXBaseSpecifier &Base : R->bases())
      AddPart(Base.getType(), nullptr);
    for (const FieldDecl *Field : R->fields())
      // A member that refers to a guard does not own it.
      if (!Field->getType()->isReferenceType() &&
          !Field->getType()->isPointerType())
        AddPart(Field->getType(), Field);
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
      const CXXRecordDecl *R = classOf(Value->getType());
      if (Value->getType()->isNullPtrType() || cpp::nameOf(R) == "nullopt_t")
        return GuardEffect{};
      if (cpp::nameOf(R) == "in_place_t")
        return ofGuard(Inner, Given.drop_front());
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
    if (decides(R) != Decides::No)
      return ofGuard(R, C.Args);
    if (const CXXRecordDecl *Inner = boxed(R))
      return ofBox(Inner, C.written());
    if (isForeign(R) || !R->hasDefinition())
      return std::nullopt;
    const FunctionDecl *Body = nullptr;
    llvm::SaveAndRestore<BoundArguments> Own(
        Args, bound(C, Ctor->hasBody(Body) ? Body : Ctor));
    return ofMembers(R->getDefinition(), Ctor);
  }

  MaybeEffect ofCall(const cpp::Call &C) {
    const CXXRecordDecl *R = classOf(C.E->getType());
    if (!C.Callee || !R)
      return std::nullopt;
    if (C.doesStd(cpp::Std::Same) && C.Args.size() == 1)
      return ofExpr(C.Args.front());
    if (const CXXRecordDecl *Inner = boxed(R);
        Inner && C.Name.starts_with("make_"))
      return ofMade(Inner, C.written());
    const FunctionDecl *Definition = nullptr;
    if (!C.Callee->hasBody(Definition) || C.Of != cpp::Whose::User)
      return ofClass(R);
    llvm::SaveAndRestore<BoundArguments> Own(Args, bound(C, Definition));
    llvm::SmallVector<MaybeEffect, 4> Ways;
    cpp::forEach<ReturnStmt>(
        Definition->getBody(),
        [&](const ReturnStmt *Return) {
          const Expr *Value = Return->getRetValue();
          const VarDecl *Var = cpp::variableOf(Value);
          // A named guard that is returned lives on in the caller.
          if (Var && !isa<ParmVarDecl>(Var))
            Ways.push_back(ofObject(Var->getType(), Var->getInit()));
          else if (Value)
            Ways.push_back(ofExpr(Value));
        },
        cpp::Lambdas::Made);
    return Ways.empty() ? ofClass(R) : merged(Ways);
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

} // namespace

//===----------------------------------------------------------------------===//
// What is asked
//===----------------------------------------------------------------------===//

static std::optional<GradMode> modeOf(MaybeEffect Effect) {
  return Effect ? std::optional(Effect->Mode) : std::nullopt;
}

std::optional<GradMode> guardOf(const VarDecl *V) {
  return modeOf(effectOf(V));
}

std::optional<GradMode> guardOf(const CXXRecordDecl *R) {
  return modeOf(effectOf(R));
}

bool isInferenceMode(const VarDecl *V) {
  MaybeEffect Found = effectOf(V);
  return Found && Found->Inference;
}

bool isGuardBox(const VarDecl *V) {
  return V->getType()->isPointerType() ||
         boxed(V->getType()->getAsCXXRecordDecl());
}

bool holdsNoGuard(const Expr *E) {
  return cpp::isEmptyValue(E) &&
         !cpp::anyOf<CXXConstructExpr>(E, [](const CXXConstructExpr *Made) {
           const CXXRecordDecl *R = Made->getConstructor()->getParent();
           return !boxed(R) && mayOwnGuard(R);
         });
}

std::optional<GuardChange> guardChange(const Expr *E) {
  GuardChange Change;
  if (const auto *Delete = dyn_cast<CXXDeleteExpr>(E)) {
    const Expr *Guard = Delete->getArgument();
    if (!mayOwnGuard(Guard->getType()->getPointeeCXXRecordDecl()))
      return std::nullopt;
    Change.Of = cpp::variableOf(Guard);
    return Change;
  }
  const auto *Expression = dyn_cast<CallExpr>(E);
  if (!Expression)
    return std::nullopt;
  // Nearly every call is neither.
  const bool Assigns = cpp::isAssignment(Expression);
  if (!Assigns && !cpp::does(Expression, cpp::Std::Emplace | cpp::Std::Reset))
    return std::nullopt;
  const cpp::Call C(Expression);
  const Expr *Object = Assigns ? Expression->getArg(0) : C.Object;
  // shared_ptr has these of a base class.
  const CXXRecordDecl *Box =
      Object ? cpp::recordOf(cpp::stripImplicit(Object)->getType()) : nullptr;
  const CXXRecordDecl *Inner = Box ? boxed(Box) : nullptr;
  if (!Inner || !mayOwnGuard(Inner))
    return std::nullopt;
  Change.Of = cpp::variableOf(Object);
  MaybeEffect Given;
  Evaluator Eval(Box->getASTContext());
  if (C.does(cpp::Std::Emplace)) {
    Change.EndsFirst = true;
    Given = Eval.ofMade(Inner, C.written());
  } else if (const Expr *Value = Assigns     ? Expression->getArg(1)
                                 : C.Written ? C.Args.front()
                                             : nullptr;
             Value && !holdsNoGuard(Value)) {
    // A guard that an optional copies has ended by then.
    Given = cpp::isStdClass(Box, {"unique_ptr", "shared_ptr"})
                ? Eval.ofExpr(Value)
                : MaybeEffect(GuardEffect{});
  }
  if (Given) {
    Change.Begins = Given->Mode;
    Change.Inference = Given->Inference;
  }
  return Change;
}

std::optional<bool> gradientsUnder(const CXXRecordDecl *R,
                                   std::optional<bool> Enabled) {
  switch (decides(R)) {
  case Decides::AlwaysOff:
    return false;
  case Decides::ByEnabled:
    // NoGradGuard derives from AutoGradMode, and has a case of its own.
    return Enabled;
  case Decides::ByInference:
    return Enabled.value_or(true) ? std::optional(false) : std::nullopt;
  case Decides::No:
    break;
  }
  return std::nullopt;
}

bool isGuardType(QualType T) {
  return decides(cpp::recordOf(T)) != Decides::No;
}

/// Does the object \p E makes die at the end of its full expression?
static bool diesWithFullExpression(const Expr *E, ASTContext &Context) {
  DynTypedNode Node = DynTypedNode::create(*E);
  while (true) {
    DynTypedNodeList Parents = Context.getParents(Node);
    if (Parents.size() != 1)
      return false;
    Node = Parents[0];
    if (const auto *Temporary = Node.get<MaterializeTemporaryExpr>();
        Temporary && Temporary->getExtendingDecl())
      return false;
    if (Node.get<ExprWithCleanups>() || Node.get<CXXBindTemporaryExpr>() ||
        Node.get<MaterializeTemporaryExpr>() || Node.get<CastExpr>() ||
        Node.get<ParenExpr>() || Node.get<ConditionalOperator>())
      continue;
    if (const auto *Construct = Node.get<CXXConstructExpr>()) {
      if (!Construct->getConstructor()->isCopyOrMoveConstructor())
        return false; // Given to an owner.
      continue;
    }
    if (const auto *Comma = Node.get<BinaryOperator>())
      return Comma->getOpcode() == BO_Comma;
    // A declaration is a variable, or a constructor with its initialisers.
    return !Node.get<Decl>() && !Node.get<InitListExpr>() &&
           !Node.get<ReturnStmt>() && !Node.get<CXXNewExpr>() &&
           !Node.get<LambdaExpr>() && !Node.get<CXXDefaultInitExpr>();
  }
}

bool isTemporaryGuard(const Expr *E) {
  E = cpp::peel(E);
  const auto *Construct = dyn_cast_or_null<CXXConstructExpr>(E);
  if (!Construct || Construct->getConstructor()->isCopyOrMoveConstructor())
    return false;
  const CXXRecordDecl *R = Construct->getConstructor()->getParent();
  if (decides(R) == Decides::No && (boxed(R) || !guardOf(R)))
    return false;
  return diesWithFullExpression(E, R->getASTContext());
}

std::optional<GradMode> setsGradMode(const CallExpr *Call) {
  if (!callsTorch(Call, "set_enabled") || Call->getNumArgs() != 1)
    return std::nullopt;
  const auto *Method = dyn_cast<CXXMethodDecl>(Call->getDirectCallee());
  if (!Method || !cpp::isOneOf(cpp::nameOf(Method->getParent()),
                               {"GradMode", "AutoGradMode"}))
    return std::nullopt;
  std::optional<bool> On =
      cpp::constantBool(Call->getArg(0), Method->getASTContext());
  return !On ? GradMode::Unknown : *On ? GradMode::On : GradMode::Off;
}

bool readsGradMode(const Expr *E) {
  const auto *Call = dyn_cast_or_null<CallExpr>(cpp::stripImplicit(E));
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(
      callsTorch(Call, "is_enabled") ? Call->getDirectCallee() : nullptr);
  return Method && cpp::nameOf(Method->getParent()) == "GradMode";
}

bool onlySwitchesGradMode(const Expr *E) {
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
    return decides(Construct->getConstructor()->getParent()) != Decides::No;
  const auto *Call = dyn_cast<CallExpr>(E);
  return Call && (setsGradMode(Call) || readsGradMode(Call));
}

} // namespace libtorch_tidy::torch
