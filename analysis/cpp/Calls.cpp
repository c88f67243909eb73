//===- Calls.cpp - Reading calls and what is around them ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Library.h"
#include "analysis/cpp/Types.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/Builtins.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::cpp {

const Expr *peel(const Expr *E) {
  while (E) {
    const Expr *Inner = E->IgnoreParenCasts();
    if (const auto *Cleanups = dyn_cast<ExprWithCleanups>(Inner))
      Inner = Cleanups->getSubExpr();
    else if (const auto *Temporary = dyn_cast<MaterializeTemporaryExpr>(Inner))
      Inner = Temporary->getSubExpr();
    else if (const auto *Bound = dyn_cast<CXXBindTemporaryExpr>(Inner))
      Inner = Bound->getSubExpr();
    else if (const auto *Default = dyn_cast<CXXDefaultArgExpr>(Inner))
      Inner = Default->getExpr();
    else if (const auto *Default = dyn_cast<CXXDefaultInitExpr>(Inner))
      Inner = Default->getExpr();
    else if (const auto *Constant = dyn_cast<ConstantExpr>(Inner))
      Inner = Constant->getSubExpr();
    if (Inner == E)
      return E;
    E = Inner;
  }
  return nullptr;
}

const Expr *onlyArgument(const CXXConstructExpr *Construct) {
  const auto Written = writtenArguments(Construct);
  return Written.size() == 1 ? Written[0] : nullptr;
}

const Expr *valueOf(const Expr *E) {
  while ((E = peel(E))) {
    const Expr *Inner = nullptr;
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
      if (Construct->getConstructor()->isCopyOrMoveConstructor())
        Inner = onlyArgument(Construct);
    } else if (const auto *Call = dyn_cast<CallExpr>(E);
               Call && Call->getBuiltinCallee() == Builtin::BImove) {
      Inner = movedBy(E);
    }
    if (!Inner)
      return E;
    E = Inner;
  }
  return nullptr;
}

bool mayThrow(const Expr *E) {
  if (isa<CXXThrowExpr, CXXNewExpr>(E))
    return true;
  const FunctionDecl *Callee = nullptr;
  if (const auto *Call = dyn_cast<CallExpr>(E))
    Callee = Call->getDirectCallee();
  else if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
    Callee = Construct->getConstructor();
  else
    return false;
  const auto *Type =
      Callee ? Callee->getType()->getAs<FunctionProtoType>() : nullptr;
  // What the compiler makes throws where something inside does.
  return !Type || (!Callee->isTrivial() && !Callee->getBuiltinID() &&
                   !isUnresolvedExceptionSpec(Type->getExceptionSpecType()) &&
                   !Type->isNothrow());
}

const Expr *stripImplicit(const Expr *E) {
  while ((E = valueOf(E))) {
    const Expr *Inner = nullptr;
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
      const CXXConstructorDecl *Ctor = Construct->getConstructor();
      if (Ctor->isConvertingConstructor(/*AllowExplicit=*/false) &&
          !Construct->isStdInitListInitialization() &&
          (Ctor->getParent()->isInStdNamespace() ||
           library::declares(Ctor->getParent())))
        Inner = onlyArgument(Construct);
    } else {
      Inner = movedBy(E);
    }
    if (!Inner)
      return E;
    E = Inner;
  }
  return nullptr;
}

const VarDecl *variableOf(const Expr *E) {
  const auto *Ref = dyn_cast_or_null<DeclRefExpr>(stripImplicit(E));
  return Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
}

const Expr *stripPointers(const Expr *E) {
  while ((E = stripImplicit(E))) {
    const Expr *Inner = nullptr;
    if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
      if (Unary->getOpcode() == UO_Deref || Unary->getOpcode() == UO_AddrOf)
        Inner = Unary->getSubExpr();
    } else if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(E)) {
      if (Op->getNumArgs() == 1 &&
          (Op->getOperator() == OO_Star || Op->getOperator() == OO_Arrow))
        Inner = Op->getArg(0);
    } else if (const auto *Call = dyn_cast<CXXMemberCallExpr>(E)) {
      if (does(Call, Std::Target)) {
        const Expr *Object = Call->getImplicitObjectArgument();
        const CXXRecordDecl *Class = Call->getRecordDecl();
        if (Object && Class &&
            (Class->isInStdNamespace() || library::declares(Class)) &&
            !library::isValue(Object->getType()))
          Inner = Object;
      }
    }
    if (!Inner)
      return E;
    E = Inner;
  }
  return nullptr;
}

StringRef nameOf(const NamedDecl *D) {
  const IdentifierInfo *Id = D ? D->getIdentifier() : nullptr;
  return Id ? Id->getName() : StringRef();
}

StringRef calleeName(const CallExpr *Call) {
  return nameOf(Call ? Call->getDirectCallee() : nullptr);
}

bool isOneOf(StringRef Name, llvm::ArrayRef<StringRef> Names) {
  return llvm::is_contained(Names, Name);
}

bool callsMethod(const CallExpr *Call, StringRef Name,
                 llvm::ArrayRef<StringRef> Classes) {
  if (calleeName(Call) != Name)
    return false;
  const auto *Method = dyn_cast<CXXMethodDecl>(Call->getDirectCallee());
  return Method && isOrDerivesFrom(Method->getParent(), Classes);
}

/// A member operator, whose first argument is its object. False for null.
static bool isMemberOperator(const CallExpr *Call) {
  return isa_and_nonnull<CXXOperatorCallExpr>(Call) && Call->getNumArgs() > 0 &&
         isa_and_nonnull<CXXMethodDecl>(Call->getDirectCallee());
}

const Expr *calledOn(const CallExpr *Call) {
  if (const auto *Member = dyn_cast_or_null<CXXMemberCallExpr>(Call))
    return Member->getImplicitObjectArgument();
  return isMemberOperator(Call) ? Call->getArg(0) : nullptr;
}

const Expr *receiverOf(const CallExpr *Call) {
  const Expr *Object = stripPointers(calledOn(Call));
  return isa_and_nonnull<CXXThisExpr>(Object) ? nullptr : Object;
}

const CXXMethodDecl *virtuallyCalled(const CallExpr *Call) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Call->getDirectCallee());
  const Expr *Object = Method && Method->isVirtual() ? calledOn(Call) : nullptr;
  if (!Object)
    return nullptr;
  const auto *Named =
      dyn_cast<MemberExpr>(Call->getCallee()->IgnoreParenImpCasts());
  const bool IsQualified = Named && Named->hasQualifier(); // Base::f()
  return IsQualified || Method->getDevirtualizedMethod(Object, false) ? nullptr
                                                                      : Method;
}

/// \p Args without the default ones.
template <typename Range>
static llvm::SmallVector<const Expr *, 4> writtenIn(const Range &Args) {
  llvm::SmallVector<const Expr *, 4> Written;
  for (const Expr *Arg : Args)
    if (!isa<CXXDefaultArgExpr>(Arg))
      Written.push_back(Arg);
  return Written;
}

llvm::SmallVector<const Expr *, 4> writtenArguments(const CallExpr *Call) {
  if (!Call)
    return {};
  return writtenIn(llvm::drop_begin(Call->arguments(), isMemberOperator(Call)));
}

llvm::SmallVector<const Expr *, 4>
writtenArguments(const CXXConstructExpr *Construct) {
  return writtenIn(Construct->arguments());
}

std::optional<bool> constantBool(const Expr *E, const ASTContext &Context) {
  E = stripImplicit(E);
  if (const auto *List = dyn_cast_or_null<InitListExpr>(E);
      List && List->getNumInits() == 1)
    E = stripImplicit(List->getInit(0));
  bool Value = false;
  if (!E || E->isValueDependent() || E->isTypeDependent() ||
      E->containsErrors() || !E->EvaluateAsBooleanCondition(Value, Context))
    return std::nullopt;
  return Value;
}

std::optional<int64_t> constantInt(const Expr *E, const ASTContext &Context) {
  Expr::EvalResult Result;
  if (!E || E->isValueDependent() || E->isTypeDependent() ||
      E->containsErrors() || !E->EvaluateAsInt(Result, Context) ||
      !Result.Val.getInt().isRepresentableByInt64())
    return std::nullopt;
  return Result.Val.getInt().getExtValue();
}

llvm::SmallVector<const Expr *, 4> listElements(const Expr *E) {
  llvm::SmallVector<const Expr *, 4> Elements;
  E = stripImplicit(E);
  if (const auto *Construct = dyn_cast_or_null<CXXConstructExpr>(E)) {
    if (Construct->getNumArgs() == 0)
      return Elements;
    if (Construct->isStdInitListInitialization())
      E = peel(Construct->getArg(0));
  }
  if (const auto *Std = dyn_cast_or_null<CXXStdInitializerListExpr>(E))
    E = peel(Std->getSubExpr());
  if (const auto *List = dyn_cast_or_null<InitListExpr>(E)) {
    for (const Expr *Init : List->inits())
      Elements.push_back(stripImplicit(Init));
    return Elements;
  }
  if (E)
    Elements.push_back(E);
  return Elements;
}

Call::Call(const Expr *E, const FunctionDecl *Callee, const Expr *Object,
           llvm::ArrayRef<const Expr *> Args)
    : E(E), Callee(Callee), Name(nameOf(Callee)), Object(Object),
      OnThis(isa_and_nonnull<CXXThisExpr>(stripImplicit(Object))),
      Args(Args.begin(), Args.end()), Written(Args.size()),
      Kinds(isa<CallExpr>(E) ? kindsOf(Callee) : Std()) {
  while (Written && isa<CXXDefaultArgExpr>(Args[Written - 1]))
    --Written;
  if (Callee)
    Of = library::declares(Callee) ? Whose::Library
         : isStdDecl(Callee)       ? Whose::Std
                                   : Whose::User;
}

Call::Call(const CallExpr *E)
    : Call(E, E->getDirectCallee(), calledOn(E),
           llvm::ArrayRef(E->getArgs(), E->getNumArgs())
               .drop_front(isMemberOperator(E))) {}

Call::Call(const CXXConstructExpr *E)
    : Call(E, E->getConstructor(), nullptr,
           llvm::ArrayRef(E->getArgs(), E->getNumArgs())) {}

std::optional<Call> Call::of(const Expr *E) {
  if (const auto *Made = dyn_cast_or_null<CXXConstructExpr>(E))
    return Call(Made);
  if (const auto *Called = dyn_cast_or_null<CallExpr>(E))
    return Call(Called);
  return std::nullopt;
}

OverloadedOperatorKind Call::op() const {
  const auto *Operator = dyn_cast<CXXOperatorCallExpr>(E);
  return Operator ? Operator->getOperator() : OO_None;
}

} // namespace libtorch_tidy::cpp
