//===- Callables.cpp - Who runs a function object -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Callables.h"
#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Library.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "clang/AST/DeclTemplate.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::cpp {

/// Is \p E policy \p Name of std::launch, alone: "async", "deferred"?
static bool isLaunchPolicy(const Expr *E, StringRef Name) {
  const auto *Ref = dyn_cast_or_null<DeclRefExpr>(stripImplicit(E));
  const auto *Constant =
      Ref ? dyn_cast<EnumConstantDecl>(Ref->getDecl()) : nullptr;
  return Constant && isStdDecl(Constant) && Constant->getName() == Name;
}

/// Does \p Call call \p Param: f(), or std::invoke(f)?
static bool callsParameter(const CallExpr *Call, const ParmVarDecl *Param) {
  const Expr *Callee = Call->getCallee();
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call))
    Callee = Op->getOperator() == OO_Call ? Op->getArg(0) : nullptr;
  else if (does(Call, Std::Invoke) && Call->getNumArgs() > 0)
    Callee = Call->getArg(0);
  return variableOf(Callee) == Param;
}

namespace {

/// How often a function object is run.
enum class Runs { Never, Once, Again };

} // namespace

static Runs runsOfArgument(const CallExpr *Call, unsigned Index,
                           unsigned Depth);

/// How often \p F, a definition, runs what its parameter \p Param is given;
/// \p Depth: how far it is followed into functions that get it next.
static Runs runsOfParameter(const FunctionDecl *F, const ParmVarDecl *Param,
                            unsigned Depth) {
  Runs Most = Runs::Never;
  forEach<CallExpr>(
      F->getBody(),
      [&](const CallExpr *Inner) {
        Runs Here = callsParameter(Inner, Param) ? Runs::Once : Runs::Never;
        for (unsigned I = 0; Depth && I < Inner->getNumArgs(); ++I)
          if (variableOf(Inner->getArg(I)) == Param)
            Here = std::max(Here, runsOfArgument(Inner, I, Depth - 1));
        if (Here == Runs::Once && Body::of(F).loopAround(Inner))
          Here = Runs::Again;
        Most = std::max(Most, Here);
      },
      Lambdas::Skipped);
  return Most;
}

static Runs runsOfArgument(const CallExpr *Call, unsigned Index,
                           unsigned Depth) {
  const FunctionDecl *F = Call->getDirectCallee();
  if (!F || isa<CXXOperatorCallExpr>(Call))
    return Runs::Never;
  if (isStdDecl(F)) {
    if (does(Call, Std::Async))
      return Index == 1 && isLaunchPolicy(Call->getArg(0), "deferred")
                 ? Runs::Once
                 : Runs::Never;
    return does(Call, Std::Each)  ? Runs::Again
           : does(Call, Std::Run) ? Runs::Once
                                  : Runs::Never;
  }
  const FunctionDecl *Definition = nullptr;
  if (library::declares(F) || !F->hasBody(Definition) ||
      Index >= Definition->getNumParams())
    return Runs::Never;
  return runsOfParameter(Definition, Definition->getParamDecl(Index), Depth);
}

/// How far a function object is followed from function to function.
static constexpr unsigned MaxHandedOn = 2;

bool runsArgument(const CallExpr *Call, unsigned Index) {
  return runsOfArgument(Call, Index, MaxHandedOn) != Runs::Never;
}

bool repeatsArgument(const CallExpr *Call, unsigned Index) {
  return runsOfArgument(Call, Index, MaxHandedOn) == Runs::Again;
}

/// The lambda, or the name of a function, that \p E stands for.
static const Expr *callableOf(const Expr *E) {
  E = stripPointers(E);
  if (isStdCall(E, Std::Refer))
    E = stripPointers(cast<CallExpr>(E)->getArg(0));
  while (const auto *Wrapper = dyn_cast_or_null<CXXConstructExpr>(E)) {
    if (!isStdClass(Wrapper->getType(), {"function"}) || !Wrapper->getNumArgs())
      break;
    E = stripPointers(Wrapper->getArg(0));
  }
  const VarDecl *Var = variableOf(E);
  return Var && Var->getInit() && !isa<ParmVarDecl>(Var)
             ? stripImplicit(Var->getInit())
             : E;
}

/// Does \p Call run its argument \p Index and do nothing else with it?
static bool onlyRunsArgument(const CallExpr *Call, unsigned Index) {
  const FunctionDecl *F = Call->getDirectCallee(), *Definition = nullptr;
  if (!runsArgument(Call, Index) || does(Call, Std::Async))
    return false;
  if (isStdDecl(F))
    return true;
  const ParmVarDecl *Param =
      F->hasBody(Definition) ? Definition->getParamDecl(Index) : nullptr;
  return Param &&
         !anyOf<LambdaExpr>(
             Definition->getBody(),
             [&](const LambdaExpr *L) { return mentions(L, Param); }) &&
         !anyOf<DeclRefExpr>(
             Definition->getBody(), [&](const DeclRefExpr *Ref) {
               const auto *Caller = dyn_cast_or_null<CallExpr>(
                   Ref->getDecl() == Param ? Body::of(Definition).userOf(Ref)
                                           : nullptr);
               return Ref->getDecl() == Param &&
                      !(Caller && callsParameter(Caller, Param));
             });
}

/// Does what is around \p Callable, a lambda or the name of what holds one, run
/// it there and do nothing else with it?
static bool onlyRunsHere(const Expr *Callable, const Body &In) {
  const auto *Call = dyn_cast_or_null<CallExpr>(In.userOf(Callable));
  if (!Call)
    return false;
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call))
    return Op->getOperator() == OO_Call && In.isWithin(Callable, Op->getArg(0));
  for (unsigned I = 0; I < Call->getNumArgs(); ++I)
    if (In.isWithin(Callable, Call->getArg(I)))
      return onlyRunsArgument(Call, I);
  return false;
}

const CallExpr *repeaterOf(const CXXRecordDecl *Closure, const Body &In) {
  const auto *Lambda =
      findFirst<LambdaExpr>(In.root(), [&](const LambdaExpr *L) {
        return L->getLambdaClass() == Closure;
      });
  if (!Lambda)
    return nullptr;
  auto RepeaterOf = [&](const Expr *Use) -> const CallExpr * {
    const Stmt *User = In.userOf(Use);
    while (const auto *Wrapper = dyn_cast_or_null<CXXConstructExpr>(User)) {
      if (!isStdClass(Wrapper->getType(), StdClass::Function))
        return nullptr;
      User = In.userOf(Wrapper);
    }
    const auto *Call = dyn_cast_or_null<CallExpr>(User);
    for (unsigned I = 0; Call && I < Call->getNumArgs(); ++I)
      if (In.isWithin(Use, Call->getArg(I)))
        return repeatsArgument(Call, I) ? Call : nullptr;
    return nullptr;
  };
  if (const CallExpr *Call = RepeaterOf(Lambda))
    return Call;
  const VarDecl *Var = declaredBy(In.userOf(Lambda));
  const CallExpr *Found = nullptr;
  if (Var && Var->getType()->getAsCXXRecordDecl() == Closure)
    findFirst<DeclRefExpr>(In.root(), [&](const DeclRefExpr *Ref) {
      return Ref->getDecl() == Var && (Found = RepeaterOf(Ref));
    });
  return Found;
}

SourceLocation startOf(const Stmt *Loop, const Body &In) {
  const CallExpr *Call = Loop == In.root() ? In.repeatedBy() : nullptr;
  return Call ? Call->getBeginLoc() : Loop->getBeginLoc();
}

/// The arguments of \p Call, of an algorithm, without an execution policy.
static llvm::SmallVector<const Expr *, 6> operandsOf(const CallExpr *Call) {
  llvm::SmallVector<const Expr *, 6> Operands(Call->arguments());
  const CXXRecordDecl *First =
      Operands.empty() ? nullptr : recordOf(Operands.front()->getType());
  if (First && nameOf(First).ends_with("_policy"))
    Operands.erase(Operands.begin());
  return Operands;
}

llvm::SmallVector<const Expr *, 4> givenByAlgorithm(const CallExpr *Call) {
  const auto Of = operandsOf(Call);
  if (!does(Call, Std::Each) || Of.size() < 3 ||
      calleeName(Call).starts_with("generate"))
    return {};
  if (does(Call, Std::Fold)) // first, last, start, function
    return {Of[2], Of[0]};
  // first, last, other, output, function
  const bool OfTwo = calleeName(Call) == "transform" && Of.size() == 5;
  return {Of[0], Of[OfTwo ? 2 : 0]};
}

const Expr *outputOf(const CallExpr *Call) {
  const auto Of = operandsOf(Call);
  const llvm::StringRef Name = calleeName(Call);
  if (!does(Call, Std::Each) || Of.size() < 3)
    return nullptr;
  return Name == "transform"            ? Of[Of.size() - 2]
         : Name.starts_with("generate") ? Of[0]
                                        : nullptr;
}

std::optional<llvm::SmallVector<const Expr *, 2>>
runsOf(const LambdaExpr *Lambda, Body &In) {
  llvm::SmallVector<const Expr *, 2> Runs;
  if (onlyRunsHere(Lambda, In)) {
    Runs.push_back(Lambda);
    return Runs;
  }
  const auto *Declared = In.around<DeclStmt>(Lambda);
  const auto *Var = Declared && Declared->isSingleDecl()
                        ? dyn_cast<VarDecl>(Declared->getSingleDecl())
                        : nullptr;
  if (!Var || !Var->hasLocalStorage() || Var->getType()->isReferenceType() ||
      callableOf(Var->getInit()) != Lambda || !In.isSetOnce(Var))
    return std::nullopt;
  bool Else = false;
  for (const DeclRefExpr *Ref : In.mentionsOf(Var)) {
    Else |= !onlyRunsHere(Ref, In) || In.around<LambdaExpr>(Ref);
    Runs.push_back(Ref);
  }
  return Else ? std::nullopt : std::optional(Runs);
}

const CXXConstructorDecl *constructorRunBy(const Expr *E) {
  const QualType Made = pointeeOf(E->getType());
  unsigned Args = 0;
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
    const CXXConstructorDecl *Ctor = Construct->getConstructor();
    if (Ctor->isCopyOrMoveConstructor())
      return nullptr;
    if (Made.isNull() || !library::isObject(Made))
      return Ctor;
    Args = writtenArguments(Construct).size();
  } else if (isStdCall(E, Std::Make)) {
    Args = cast<CallExpr>(E->IgnoreParenImpCasts())->getNumArgs();
  } else {
    return nullptr;
  }
  const CXXRecordDecl *R = recordOf(Made);
  if (!R || !R->hasDefinition() || library::declares(R))
    return nullptr;
  for (const CXXConstructorDecl *Ctor : R->getDefinition()->ctors())
    if (!Ctor->isCopyOrMoveConstructor() && Ctor->isUserProvided() &&
        Ctor->getMinRequiredArguments() <= Args && Args <= Ctor->getNumParams())
      return Ctor;
  return nullptr;
}

const CXXMethodDecl *overrideRunBy(const CallExpr *Call) {
  const CXXMethodDecl *Method = virtuallyCalled(Call);
  const VarDecl *Var = Method ? variableOf(receiverOf(Call)) : nullptr;
  const auto *In =
      Var ? dyn_cast<FunctionDecl>(Var->getDeclContext()) : nullptr;
  if (!In || !Var->hasLocalStorage() ||
      llvm::any_of(Body::of(In).writesTo(Var), [](const Write &W) {
        return does(dyn_cast<CallExpr>(W.Where), Std::Reset);
      }))
    return nullptr;
  const Expr *Made = Body::of(In).originOf(receiverOf(Call));
  // A holder of the base class takes that of the derived one.
  while (const auto *Holder = dyn_cast_or_null<CXXConstructExpr>(Made)) {
    if (Holder->getNumArgs() != 1 || pointeeOf(Holder->getType()).isNull())
      return nullptr;
    Made = stripImplicit(Holder->getArg(0));
  }
  const CXXRecordDecl *Class = nullptr;
  if (const auto *New = dyn_cast_or_null<CXXNewExpr>(Made))
    Class = New->getAllocatedType()->getAsCXXRecordDecl();
  else if (Made && isStdCall(Made, Std::Make))
    Class = recordOf(pointeeOf(Made->getType()));
  else if (const VarDecl *Object = variableOf(stripPointers(Made));
           Object && !Object->getType()->isReferenceType())
    Class = Object->getType()->getAsCXXRecordDecl();
  return Class && Class->hasDefinition()
             ? Method->getCorrespondingMethodInClass(Class)
             : nullptr;
}

const FunctionDecl *functionOf(const Expr *E) {
  E = callableOf(E);
  const FunctionDecl *F = nullptr, *Definition = nullptr;
  if (const auto *Lambda = dyn_cast_or_null<LambdaExpr>(E)) {
    F = Lambda->getCallOperator();
    if (const FunctionTemplateDecl *Generic =
            Lambda->getLambdaClass()->getDependentLambdaCallOperator())
      for (const FunctionDecl *Call : Generic->specializations())
        F = Call;
    return F && !F->isDependentContext() ? F : nullptr;
  }
  if (const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E))
    F = dyn_cast<FunctionDecl>(Ref->getDecl());
  return F && F->hasBody(Definition) ? Definition : F;
}

const FunctionDecl *patternOf(const Expr *E) {
  const auto *Lambda = dyn_cast_or_null<LambdaExpr>(callableOf(E));
  const FunctionTemplateDecl *Generic =
      Lambda ? Lambda->getLambdaClass()->getDependentLambdaCallOperator()
             : nullptr;
  return Generic ? Generic->getTemplatedDecl() : nullptr;
}

std::optional<ThreadStart> asThreadStart(const Expr *E) {
  ThreadStart Start{ThreadStart::Thread, E, nullptr, nullptr};
  const Expr *Callable = nullptr;
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
    if (isStdClass(Construct->getConstructor()->getParent(),
                   StdClass::Thread) &&
        !Construct->getConstructor()->isCopyOrMoveConstructor() &&
        Construct->getNumArgs() > 0)
      Callable = Construct->getArg(0);
  } else if (const auto *Call = dyn_cast<CallExpr>(E)) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (does(Call, Std::Async) && Callee->isInStdNamespace() &&
        Call->getNumArgs() > 1 && isLaunchPolicy(Call->getArg(0), "async")) {
      Start.How = ThreadStart::Async;
      Callable = Call->getArg(1);
    } else if (library::isParallelFor(Call)) {
      Start.How = ThreadStart::Parallel;
      Callable = Call->getArg(Call->getNumArgs() - 1);
    } else if (auto Added = asInsertion(Call); Added && Added->AtEnd) {
      // std::vector<std::thread>::emplace_back(callable, ...)
      const auto *Owner = dyn_cast<CXXRecordDecl>(Callee->getDeclContext());
      if (Owner && Owner->isInStdNamespace() && does(Call, Std::Emplace) &&
          isStdClass(firstArgument(Owner), StdClass::Thread))
        Callable = Added->Given.front();
    }
  }
  Start.Body = Callable ? functionOf(Callable) : nullptr;
  if (!Start.Body)
    return std::nullopt;
  Start.Lambda = dyn_cast_or_null<LambdaExpr>(callableOf(Callable));
  return Start;
}

} // namespace libtorch_tidy::cpp
