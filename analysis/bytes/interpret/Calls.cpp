//===- Calls.cpp - Calls of functions -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Calls.h"
#include "analysis/bytes/interpret/Interpreter.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/Builtins.h"

using namespace clang;
using llvm::ArrayRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

/// What std::tie() makes.
static bool isTupleOfReferences(const CXXRecordDecl *R) {
  return cpp::isStdClass(R, {"tuple"}) &&
         cpp::anyTypeArgument(
             R, [](QualType T) { return T->isLValueReferenceType(); });
}

/// `if (object)`, or another conversion of a class of a library. Null for the
/// user's.
static Cell convertObject(const CXXConversionDecl *F, const Cell &Object) {
  const CXXRecordDecl *R = F->getParent();
  if (!cpp::isOfLibrary(R) && !R->isLambda())
    return nullptr;
  if (!F->getReturnType()->isBooleanType())
    return Object;
  if (const std::optional<bool> Known = truth(Object))
    return integer(*Known);
  // An optional holds it.
  return Object->What == Value::Unknown || modelClass(R) == ModelClass::Tensor
             ? Object
             : integer(true);
}

/// Does \p F only copy: as those of the library, and those the compiler makes?
static bool isCopyAssignment(const CXXMethodDecl *F) {
  return F->getOverloadedOperator() == OO_Equal &&
         (cpp::isOfLibrary(F) || F->isImplicit() || F->isDefaulted() ||
          modelClass(F->getParent()) == ModelClass::Holder);
}

/// `Object = From`, by \p F.
static void assign(Interpreter &VM, const CXXMethodDecl *F, const Cell &Object,
                   const Cell &From, SourceLocation At) {
  if (!isTupleOfReferences(F->getParent()) || Object->What != Value::List) {
    // x[0] = y copies, and the graph of x has y in it from then on.
    if (VM.Pass && VM.Pass->GradMode && From->What == Value::Tensor &&
        From->Handle->needsGradient() && F->getRefQualifier() == RQ_RValue)
      VM.note(At, WrittenIntoPart);
    VM.store(Object, From);
    return;
  }
  // std::tie(a, b) = f() sets a and b.
  for (size_t I = 0; I < Object->Elements.size(); ++I)
    VM.store(Object->Elements[I],
             From->What == Value::List && I < From->Elements.size()
                 ? From->Elements[I]
             : From->What == Value::Unknown ? From
                                            : unknown(At, "a part of a tuple"));
}

/// A call of the library's backward(), \p C, of which somebody is told.
static void tellBackward(const LibraryCall &C) {
  // A method takes what follows the results.
  const ArrayRef<Cell> After =
      C.Object ? C.Arguments : C.Arguments.drop_front();
  auto Asked = [&](size_t I) {
    return I < After.size() ? truth(After[I]).value_or(true) : false;
  };
  Interpreter::BackwardOf Of;
  Of.At = C.At;
  Of.Results = tensorsIn(C.Object ? C.Object : C.Arguments.front());
  if (!After.empty())
    Of.Gradients = tensorsIn(After.front());
  const bool CreatesGraph = Asked(2);
  // Null: as create_graph is.
  Of.KeepsGraph = Asked(1) || CreatesGraph;
  if (C.VM.Pass && CreatesGraph)
    C.VM.note(C.At, "what a graph of the backward pass keeps is not known");
  if (C.VM.Pass && After.size() > 3)
    C.VM.note(C.At, "a backward() for some of the parameters is not followed");
  C.VM.OnBackward(Of);
}

/// A call of a library's. Null for the user's.
static Cell callLibrary(const LibraryCall &C) {
  if (C.Name == "backward" && torch::isTorchDecl(C.F)) {
    C.VM.Backwards.insert(C.At);
    if (C.VM.OnBackward && (C.Object || !C.Arguments.empty()))
      tellBackward(C);
  }
  if (!C.Arguments.empty() && torch::loadsScript(C.E)) {
    const Cell &File = C.Arguments.front();
    const std::string Name = File->What == Value::Text ? File->Name : "";
    if (const auto [It, New] = C.VM.Archives.emplace(C.At, Name);
        !New && It->second != Name)
      It->second.clear();
    if (C.VM.OnLoad)
      C.VM.OnLoad(File, C.At);
  }
  if (Cell Result = callAutograd(C))
    return Result;
  if (Cell Result = callAutocast(C))
    return Result;
  if (C.Object && C.Object->What == Value::Unknown && !C.OnModule &&
      cpp::isOfLibrary(C.F)) {
    forgetTaken(C);
    return C.Object;
  }
  if (C.OnModule)
    return callModule(C);
  if (C.Object && C.Object->What == Value::Options && torch::isTorchDecl(C.F))
    return callOptions(C);
  if (Cell Result = callData(C))
    return Result;
  if (Cell Result = callOptimizer(C))
    return Result;
  if (Cell Result = callWithTensors(C))
    return Result;
  // std::round(double) is that of C.
  return cpp::isOfLibrary(C.F) || C.F->getBuiltinID() ? callStandard(C)
                                                      : nullptr;
}

/// What \p E runs when its object is \p This: a method of a base may be
/// overridden.
static const FunctionDecl *overrider(const CallExpr *E, const Cell &This) {
  const FunctionDecl *F = E->getDirectCallee();
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (!Method || !This || !Method->isVirtual())
    return F;
  const auto *Named = dyn_cast<MemberExpr>(E->getCallee()->IgnoreParens());
  if (isa<CXXMemberCallExpr>(E) && Named && Named->hasQualifier())
    return F;
  const CXXRecordDecl *Dynamic = This->What == Value::Module ? This->Held->Class
                                 : This->What == Value::Record ? This->Class
                                                               : nullptr;
  const CXXMethodDecl *Final =
      Dynamic && Dynamic->hasDefinition()
          ? Method->getCorrespondingMethodInClass(Dynamic, true)
          : nullptr;
  return Final ? Final : F;
}

/// A function of the user's whose body the unit lacks.
static Cell callUndefined(Interpreter &VM, const CallExpr *E,
                          const FunctionDecl *F, const Cell &This,
                          ArrayRef<Cell> Arguments) {
  const SourceLocation At = E->Stmt::getBeginLoc();
  const std::string Name = "'" + F->getNameAsString() + "'";
  auto IsModule = [](const Cell &Given) {
    return Given && Given->What == Value::Module;
  };
  for (const Cell &Given : Arguments)
    if (IsModule(Given))
      Given->Held->IsIncomplete = true;
  if (IsModule(This) || llvm::any_of(Arguments, IsModule))
    VM.note(At, Name + ", which is given a module, is defined in another file");
  for (unsigned I = 0; I < Arguments.size() && I < F->getNumParams(); ++I) {
    const Cell &Given = Arguments[I];
    if (Given->Target && !IsModule(Given->Target))
      *Given->Target = *unknown(At, "what " + Name + " changes");
    if (letsChange(F->getParamDecl(I)->getType()) && !IsModule(Given))
      *Given = *unknown(At, "what " + Name + " changes");
  }
  const Cell Known = evalConstant(VM, E);
  return Known->What == Value::Unknown
             ? unknown(At, "what " + Name + " returns")
             : Known;
}

bool Interpreter::passesTo(const ModulePtr &M) const {
  return OnForward && !InBackward && llvm::all_of(Frames, [&](const Frame *F) {
           return !F->This || F->This->What != Value::Module ||
                  (F->This->Held == M && F->Function &&
                   !isForward(F->Function));
         });
}

Cell evalCall(Interpreter &VM, const CallExpr *E) {
  const cpp::Call Taken(E);
  const FunctionDecl *F = Taken.Callee;
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(F);
  const SourceLocation At = E->Stmt::getBeginLoc();
  const Cell Object = Method && !Method->isStatic() && Taken.Object
                          ? VM.eval(Taken.Object)
                          : nullptr;
  const std::vector<Cell> Arguments = VM.evalAll(Taken.written());
  if (VM.Halted)
    return unknown(At, "");
  if (!F) {
    const Cell Callee = VM.eval(E->getCallee());
    return Callee->What == Value::Function
               ? VM.callClosure(Callee, nullptr, Arguments, At)
               : unknown(At, "what a function object returns");
  }
  if (F->isNoReturn() || alwaysThrows(F)) {
    if (alwaysThrows(F))
      VM.throws(At, "a check in " + VM.running() + " fails");
    else
      VM.fail(At, VM.running() + " ends in '" + F->getNameAsString() + "'");
    return unknown(At, "");
  }
  if (F->getBuiltinID() == Builtin::BI__builtin_expect && !Arguments.empty())
    return Arguments.front();
  if (Object && Object->What == Value::Function &&
      F->getOverloadedOperator() == OO_Call)
    return VM.callClosure(Object, F, Arguments, At);
  if (const auto *Conversion = dyn_cast<CXXConversionDecl>(F);
      Conversion && Object)
    if (Cell Converted = convertObject(Conversion, Object))
      return Converted;
  if (Object && Arguments.size() == 1 && isCopyAssignment(Method)) {
    assign(VM, Method, Object, Arguments.front(), At);
    return Object;
  }
  if (Cell Result =
          callLibrary({VM, E, F, Object, Arguments, At, Taken.Name, nullptr}))
    return Result;
  const Cell This = targetOf(Object);
  F = overrider(E, This);
  if (This && This->What == Value::Module && isForward(F) &&
      VM.passesTo(This->Held)) {
    VM.OnForward(This->Held, Arguments, At);
    // What it does is of no interest: a pass is followed later.
    if (VM.Halted)
      return unknown(At, "what forward() returns");
    if (!VM.Pass)
      return sizesOfForward(VM, This->Held, Arguments, At);
  }
  // What only this call has is the parameter itself.
  for (size_t I = 0; I < Arguments.size() && I < F->getNumParams(); ++I)
    if (!F->getParamDecl(I)->getType()->isReferenceType() &&
        Arguments[I].use_count() == 1)
      Arguments[I]->IsExpiring = true;
  return VM.definitionOf(F) ? VM.call(F, Arguments, This, At)
                            : callUndefined(VM, E, F, This, Arguments);
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
  if (!cpp::isOfLibrary(F))
    Undefined.insert(F->getCanonicalDecl());
  return nullptr;
}

const CXXRecordDecl *definitionOf(const CXXRecordDecl *R,
                                  const Interpreter::DefineDecl &Define) {
  if (R && !R->hasDefinition() && Define && !R->isDependentContext() &&
      isa<ClassTemplateSpecializationDecl>(R))
    Define(const_cast<CXXRecordDecl &>(*R));
  return R ? R->getDefinition() : nullptr;
}

const CXXRecordDecl *Interpreter::definitionOf(const CXXRecordDecl *R) const {
  return bytes::definitionOf(R, Define);
}

bool bindParameters(Interpreter &VM, Frame &Callee, const FunctionDecl *F,
                    ArrayRef<Cell> Arguments) {
  for (unsigned I = 0; I < F->getNumParams(); ++I) {
    const ParmVarDecl *Param = F->getParamDecl(I);
    const QualType T = Param->getType();
    Cell Given;
    if (I < Arguments.size())
      Given = coerced(VM, Arguments[I], T.getNonReferenceType(),
                      Param->getLocation());
    else if (Param->hasDefaultArg() && !Param->hasUninstantiatedDefaultArg() &&
             !Param->hasUnparsedDefaultArg())
      Given = convert(VM, VM.eval(Param->getDefaultArg()), T);
    else
      Given = unknown(Param->getLocation(), "'" + Param->getName() + "'");
    if (!T->isReferenceType())
      Given = VM.copyOf(Given);
    if (!T->isReferenceType() && Given->IsExpiring) {
      Given->IsExpiring = false;
      *Arguments[I] = *valueOf(Value::Null);
    }
    // What is not known is called by the name that its reader knows.
    if (Given->What == Value::Unknown && Given->Why.empty())
      *Given = *unknown(Param->getLocation(), "'" + Param->getName() + "'");
    Callee.Variables[Param->getCanonicalDecl()] = std::move(Given);
  }
  return !VM.Halted;
}

/// Runs \p F, a definition or null, in \p Callee. Returns \p Nothing where it
/// returns nothing, or is not followed.
static Cell run(Interpreter &VM, const FunctionDecl *F, Frame &Callee,
                ArrayRef<Cell> Arguments, SourceLocation At,
                const Cell &Nothing) {
  if (!F)
    return Nothing;
  if (VM.Calls >= MaxCalls) {
    VM.note(At, "calls nest deeper than " + Twine(MaxCalls) +
                    ", and were followed no further");
    return Nothing;
  }
  if (!bindParameters(VM, Callee, F, Arguments))
    return Nothing;
  ++VM.Calls;
  Callee.Function = F;
  VM.Frames.push_back(&Callee);
  follow(VM, F->getBody());
  for (const Frame::EarlyReturn &R : Callee.Early)
    if (VM.Pass && !VM.Halted &&
        (!Callee.Result || unknownIn(Callee.Result) ||
         shownSizes(Callee.Result) != R.Sizes || Callee.LiveAtReturn < R.Live))
      VM.note(R.At, "the function may end here, which depends on values, and "
                    "gives or takes something else then");
  VM.Frames.pop_back();
  --VM.Calls;
  if (VM.Pass) // Parameters are destroyed by the caller, after its expression.
    for (const ParmVarDecl *Param : F->parameters())
      if (!Param->getType()->isReferenceType())
        VM.Temporaries.push_back(Callee.Variables[Param->getCanonicalDecl()]);
  return Callee.Result ? Callee.Result : Nothing;
}

Cell Interpreter::call(const FunctionDecl *F, ArrayRef<Cell> Arguments,
                       Cell This, SourceLocation At) {
  Frame Callee;
  Callee.This = std::move(This);
  const Cell Result =
      run(*this, definitionOf(F), Callee, Arguments, At,
          unknown(At, "what '" + F->getNameAsString() + "' returns"));
  if (Pass && Callee.This && isForward(F))
    noteResult(*this, Callee.This, Result);
  return !Callee.Result || F->getReturnType()->isReferenceType()
             ? Result
             : convert(*this, Result, F->getReturnType());
}

Cell Interpreter::callClosure(const Cell &Closure, const FunctionDecl *F,
                              ArrayRef<Cell> Arguments, SourceLocation At) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(F);
  if (!Method || !Method->getParent()->isLambda())
    F = Closure->Callee;
  Frame Callee;
  Callee.This = Closure->This;
  Callee.Variables = Closure->Captures;
  return run(*this, definitionOf(F), Callee, Arguments, At,
             unknown(At, "what a function object returns"));
}

void skipClosures(Interpreter &VM, ArrayRef<Cell> Arguments,
                  SourceLocation At) {
  for (const Cell &Argument : Arguments) {
    const FunctionDecl *F =
        Argument->What == Value::Function ? Argument->Callee : nullptr;
    const FunctionDecl *Definition = F ? VM.definitionOf(F) : nullptr;
    if (Definition && !cpp::isStdDecl(Definition) &&
        forget(VM, Definition->getBody(), unknown(At, "a function object")))
      VM.note(At, "how often this calls a function object is not known");
  }
}

} // namespace libtorch_tidy::bytes
