//===- Calls.cpp - Calls of functions -------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/Calls.h"
#include "checks/code/Std.h"
#include "checks/model/Interpreter.h"
#include "checks/torch/ModuleApi.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/Builtins.h"

using namespace clang;
using llvm::ArrayRef;
using llvm::Twine;

namespace libtorch_tidy::model {

/// What std::tie() makes.
static bool isTupleOfReferences(const CXXRecordDecl *R) {
  return code::isStdClass(R, {"tuple"}) &&
         torch::anyTypeArgument(
             R, [](QualType T) { return T->isLValueReferenceType(); });
}

/// What a pass follows as an operator; the others make tensors, or ask.
static bool isFollowedOperator(const FunctionDecl *F) {
  switch (torch::tensorAct(F)) {
  case torch::TensorAct::MakeSized:
  case torch::TensorAct::MakeFull:
  case torch::TensorAct::MakeSquare:
  case torch::TensorAct::MakeRange:
  case torch::TensorAct::MakeSteps:
  case torch::TensorAct::MakeList:
  case torch::TensorAct::Size:
  case torch::TensorAct::Dimensions:
  case torch::TensorAct::Elements:
  case torch::TensorAct::AllSizes:
  case torch::TensorAct::TypeOf:
  case torch::TensorAct::IsDefined:
  case torch::TensorAct::Fact:
    return false;
  default:
    return torch::isTensorOperator(F);
  }
}

Cell Interpreter::evalCall(const CallExpr *E) {
  const FunctionDecl *F = E->getDirectCallee();
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(F);
  const SourceLocation At = E->Stmt::getBeginLoc();
  Cell Object;
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(E)) {
    if (Method && !Method->isStatic())
      Object = eval(Member->getImplicitObjectArgument());
  } else if (isa<CXXOperatorCallExpr>(E) && Method && !Method->isStatic()) {
    Object = eval(E->getArg(0));
  }
  llvm::SmallVector<Cell, 4> Arguments;
  for (const Expr *Arg : torch::writtenArguments(E))
    Arguments.push_back(eval(Arg));
  if (Halted)
    return unknown(At, "");
  if (!F) {
    const Cell Callee = eval(E->getCallee());
    return Callee->What == Value::Function
               ? callClosure(Callee, nullptr, Arguments, At)
               : unknown(At, "what a function object returns");
  }
  if (F->isNoReturn() || torch::alwaysThrows(F)) {
    fail(At, torch::alwaysThrows(F)
                 ? "a check in " + running() + " fails, and throws"
                 : running() + " ends in '" + F->getNameAsString() + "'");
    return unknown(At, "");
  }
  if (F->getBuiltinID() == Builtin::BI__builtin_expect && !Arguments.empty())
    return Arguments.front();
  if (Object && Object->What == Value::Function &&
      F->getOverloadedOperator() == OO_Call)
    return callClosure(Object, F, Arguments, At);
  if (isa<CXXConversionDecl>(F) && Object) {
    const CXXRecordDecl *R = Method->getParent();
    if (torch::isTorchDecl(R) || torch::isStdDecl(R) || R->isLambda()) {
      std::optional<bool> Known = truth(Object);
      // An optional holds it.
      if (!Known && Object->What != Value::Unknown &&
          torch::modelClass(R) != torch::ModelClass::Tensor)
        Known = true;
      return F->getReturnType()->isBooleanType()
                 ? (Known ? integer(*Known) : Object)
                 : Object;
    }
  }
  // Assignments that copy: those of the library, and those the compiler makes.
  if (Object && F->getOverloadedOperator() == OO_Equal &&
      Arguments.size() == 1 &&
      (torch::isTorchDecl(F) || torch::isStdDecl(F) || F->isImplicit() ||
       F->isDefaulted() ||
       torch::modelClass(Method->getParent()) == torch::ModelClass::Holder)) {
    const Cell &From = Arguments.front();
    // std::tie(a, b) = f() sets a and b.
    if (isTupleOfReferences(Method->getParent()) &&
        Object->What == Value::List) {
      for (size_t I = 0; I < Object->Elements.size(); ++I)
        store(Object->Elements[I],
              From->What == Value::List && I < From->Elements.size()
                  ? From->Elements[I]
              : From->What == Value::Unknown
                  ? From
                  : unknown(At, "a part of a tuple"));
      return Object;
    }
    store(Object, From);
    return Object;
  }
  if (Object && Object->What == Value::Unknown &&
      torch::moduleAct(F) == torch::ModuleAct::Unknown &&
      (torch::isTorchDecl(F) || torch::isStdDecl(F)))
    return Object;
  if (torch::moduleAct(F) != torch::ModuleAct::Unknown)
    return callModule(E, F, Object, Arguments);
  if (Object && Object->What == Value::Options && torch::isTorchDecl(F))
    return callOptions(E, Object, Arguments);
  if (Pass && isFollowedOperator(F))
    return callOperator(F, Object, Arguments, At);
  if (torch::tensorAct(F) != torch::TensorAct::Unknown ||
      torch::setsElementType(F) || torch::changesTensorOptions(F)) {
    const Cell Result = callTensor(E, F, Object, Arguments);
    if (Result->What != Value::Unknown || !isFollowedOperator(F))
      return Result;
    const Cell Made = makeByOperator(F, Object, Arguments);
    return Made ? Made : Result;
  }
  if (isFollowedOperator(F))
    if (Cell Made = makeByOperator(F, Object, Arguments))
      return Made;
  // std::round(double) is that of C.
  if (torch::isStdDecl(F) || torch::isTorchDecl(F) || F->getBuiltinID())
    return callStandard(E, F, Object, Arguments);

  // The user's. A method of a base may be overridden.
  Cell This =
      Object && Object->What == Value::Pointer ? Object->Target : Object;
  if (Method && This && Method->isVirtual() &&
      !(isa<CXXMemberCallExpr>(E) &&
        isa<MemberExpr>(E->getCallee()->IgnoreParens()) &&
        cast<MemberExpr>(E->getCallee()->IgnoreParens())->hasQualifier())) {
    const CXXRecordDecl *Dynamic = This->What == Value::Module
                                       ? This->Held->Class
                                   : This->What == Value::Record ? This->Class
                                                                 : nullptr;
    if (Dynamic && Dynamic->hasDefinition())
      if (const CXXMethodDecl *Final =
              Method->getCorrespondingMethodInClass(Dynamic, true))
        F = Final;
  }
  if (!definitionOf(F)) {
    auto IsModule = [](const Cell &Given) {
      return Given && Given->What == Value::Module;
    };
    if (IsModule(This) || llvm::any_of(Arguments, IsModule))
      note(At, "'" + F->getNameAsString() +
                   "', which is given a module, is defined in another file");
    for (unsigned I = 0; I < Arguments.size() && I < F->getNumParams(); ++I) {
      const QualType T = F->getParamDecl(I)->getType();
      if (Arguments[I]->Target && !IsModule(Arguments[I]->Target))
        *Arguments[I]->Target =
            *unknown(At, "what '" + F->getNameAsString() + "' changes");
      if (T->isLValueReferenceType() &&
          !T.getNonReferenceType().isConstQualified() &&
          !IsModule(Arguments[I]))
        *Arguments[I] =
            *unknown(At, "what '" + F->getNameAsString() + "' changes");
    }
    const Cell Known = evalConstant(E);
    return Known->What == Value::Unknown
               ? unknown(At, "what '" + F->getNameAsString() + "' returns")
               : Known;
  }
  return call(F, Arguments, This, At);
}

//===----------------------------------------------------------------------===//
// Calls of the user's functions
//===----------------------------------------------------------------------===//

const FunctionDecl *Interpreter::definitionOf(const FunctionDecl *F) {
  const FunctionDecl *Definition = nullptr;
  if (F->isDefined(Definition) && Definition->hasBody())
    return Definition;
  if (Define && F->getTemplateInstantiationPattern() &&
      !F->isDependentContext()) {
    Define(const_cast<FunctionDecl &>(*F));
    if (F->isDefined(Definition) && Definition->hasBody())
      return Definition;
  }
  if (!torch::isTorchDecl(F) && !torch::isStdDecl(F))
    Undefined.insert(F->getCanonicalDecl());
  return nullptr;
}

const CXXRecordDecl *Interpreter::definitionOf(const CXXRecordDecl *R,
                                               const DefineDecl &Define) {
  if (R && !R->hasDefinition() && Define && !R->isDependentContext() &&
      isa<ClassTemplateSpecializationDecl>(R))
    Define(const_cast<CXXRecordDecl &>(*R));
  return R ? R->getDefinition() : nullptr;
}

bool Interpreter::bindParameters(Frame &Callee, const FunctionDecl *F,
                                 ArrayRef<Cell> Arguments) {
  for (unsigned I = 0; I < F->getNumParams(); ++I) {
    const ParmVarDecl *Param = F->getParamDecl(I);
    const QualType T = Param->getType();
    Cell Given;
    if (I < Arguments.size())
      Given = coerced(convert(Arguments[I], T.getNonReferenceType()), T,
                      Param->getLocation());
    else if (Param->hasDefaultArg() && !Param->hasUninstantiatedDefaultArg() &&
             !Param->hasUnparsedDefaultArg())
      Given = convert(eval(Param->getDefaultArg()), T);
    else
      Given = unknown(Param->getLocation(), "'" + Param->getName() + "'");
    if (!T->isReferenceType())
      Given = copyOf(Given);
    if (!T->isReferenceType() && Given->IsExpiring) {
      Given->IsExpiring = false;
      Arguments[I]->Handle = nullptr;
      Arguments[I]->What = Value::Null;
    }
    // What is not known is called by the name that its reader knows.
    if (Given->What == Value::Unknown && Given->Why.empty())
      *Given = *unknown(Param->getLocation(), "'" + Param->getName() + "'");
    Callee.Variables[Param->getCanonicalDecl()] = std::move(Given);
  }
  return !Halted;
}

/// Runs \p F, a definition or null, in \p Callee. Returns \p Nothing where it
/// returns nothing, or is not followed.
Cell Interpreter::run(const FunctionDecl *F, Frame &Callee,
                      ArrayRef<Cell> Arguments, SourceLocation At,
                      const Cell &Nothing) {
  if (!F)
    return Nothing;
  if (Calls >= MaxCalls) {
    note(At, "calls nest deeper than " + Twine(MaxCalls) +
                 ", and were followed no further");
    return Nothing;
  }
  if (!bindParameters(Callee, F, Arguments))
    return Nothing;
  ++Calls;
  Frames.push_back(&Callee);
  exec(F->getBody());
  Frames.pop_back();
  --Calls;
  if (Pass) // Parameters are destroyed by the caller, after its expression.
    for (const ParmVarDecl *Param : F->parameters())
      if (!Param->getType()->isReferenceType())
        Temporaries.push_back(Callee.Variables[Param->getCanonicalDecl()]);
  return Callee.Result ? Callee.Result : Nothing;
}

Cell Interpreter::call(const FunctionDecl *F, ArrayRef<Cell> Arguments,
                       Cell This, SourceLocation At) {
  Frame Callee;
  Callee.This = std::move(This);
  const Cell Result =
      run(definitionOf(F), Callee, Arguments, At,
          unknown(At, "what '" + F->getNameAsString() + "' returns"));
  if (Pass && Callee.This && torch::isForward(F))
    noteResult(Callee.This, Result);
  return !Callee.Result || F->getReturnType()->isReferenceType()
             ? Result
             : convert(Result, F->getReturnType());
}

/// \p F is what the call names, which says more than the closure does: of a
/// generic lambda, the instance.
Cell Interpreter::callClosure(const Cell &Closure, const FunctionDecl *F,
                              ArrayRef<Cell> Arguments, SourceLocation At) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(F);
  if (!Method || !Method->getParent()->isLambda())
    F = Closure->Callee;
  Frame Callee;
  Callee.This = Closure->This;
  Callee.Variables = Closure->Captures;
  return run(definitionOf(F), Callee, Arguments, At,
             unknown(At, "what a function object returns"));
}

/// What runs \p Arguments, function objects, and how often, is not followed.
void Interpreter::skipClosures(ArrayRef<Cell> Arguments, SourceLocation At) {
  for (const Cell &Argument : Arguments) {
    const FunctionDecl *F =
        Argument->What == Value::Function ? Argument->Callee : nullptr;
    const FunctionDecl *Definition = F ? definitionOf(F) : nullptr;
    if (Definition && !torch::isStdDecl(Definition) &&
        forget(Definition->getBody(), unknown(At, "a function object")))
      note(At, "how often this calls a function object is not known");
  }
}

} // namespace libtorch_tidy::model
