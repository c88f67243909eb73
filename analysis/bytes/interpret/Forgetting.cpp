//===- Forgetting.cpp - What is unknown after code that is skipped --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Interpreter.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/modules/Modules.h"

using namespace clang;

namespace libtorch_tidy::bytes {

bool letsChange(QualType Parameter) {
  return Parameter->isLValueReferenceType() &&
         !Parameter.getNonReferenceType().isConstQualified();
}

/// The variable or member of which \p Written is a part: `a.b` of a.b[i]. Null
/// when it is not of one.
static const Expr *wholeOf(const Expr *Written) {
  for (Written = cpp::peel(Written); Written; Written = cpp::peel(Written)) {
    if (const auto *Index = dyn_cast<ArraySubscriptExpr>(Written))
      Written = Index->getBase();
    else if (const auto *Call = dyn_cast<CXXOperatorCallExpr>(Written);
             Call && Call->getNumArgs())
      Written = Call->getArg(0);
    else
      break;
  }
  return isa_and_nonnull<DeclRefExpr, MemberExpr>(Written) ? Written : nullptr;
}

/// What \p Written names is unknown from here on; a module that something is
/// added to, lacks it.
static void forgetWritten(Interpreter &VM, const Expr *Written,
                          const Cell &Because, bool Adds = false) {
  Written = wholeOf(Written);
  if (!Written)
    return;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(Written))
    // What the skipped code declares itself is not there.
    if (const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
        !Var || (Var->hasLocalStorage() &&
                 llvm::none_of(VM.Frames, [&](const Frame *F) {
                   return F->Variables.count(Var->getCanonicalDecl());
                 })))
      return;
  const Cell Object = VM.eval(Written);
  if (Object->What == Value::Module) {
    Object->Held->IsIncomplete |= Adds;
    return; // What else is done to it, its calls say.
  }
  // Through a pointer or an iterator, too.
  if (Object->Target)
    *Object->Target = *Because;
  *Object = *Because;
  Object->Name.clear();
  VM.named(Object, Written);
}

/// As forget(), of one call.
static bool forgetChanged(Interpreter &VM, const CallExpr *Call,
                          const Cell &Because) {
  const FunctionDecl *F = Call->getDirectCallee();
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(F);
  const bool OfLibrary = F && (cpp::isOfLibrary(F));
  if (torch::setsRequiresGrad(Call))
    if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call))
      if (const Cell Object = VM.eval(Member->getImplicitObjectArgument());
          Object->What == Value::Tensor) {
        Object->Handle->RequiresGrad.reset();
        VM.OpenGradients[Object->Handle.get()] = Call->Stmt::getBeginLoc();
      }
  const CallRule *Rule = moduleRule(F);
  if (Rule && Rule->Does == CallRule::TakesBack) {
    VM.fail(Call->Stmt::getBeginLoc(),
            "what this replaces or takes back depends on something that "
            "is not known");
    return false;
  }
  // A function of the user's may register, or change what it is given.
  const bool AddsToObject = Rule && Rule->Does == CallRule::Adds;
  bool Adds = AddsToObject || (!OfLibrary && Method && !Method->isConst() &&
                               !Method->isStatic() &&
                               torch::isModuleClass(Method->getParent()));
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call)) {
    if (Method && !Method->isConst())
      forgetWritten(VM, Member->getImplicitObjectArgument(), Because,
                    AddsToObject);
  } else if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call);
             Op && Op->isAssignmentOp()) {
    forgetWritten(VM, Op->getArg(0), Because);
  }
  for (unsigned I = 0; F && I < Call->getNumArgs(); ++I) {
    // scanf("%d", &n), and what takes a pointer to what it writes.
    const auto *Address = dyn_cast<UnaryOperator>(cpp::peel(Call->getArg(I)));
    if (Address && Address->getOpcode() == UO_AddrOf &&
        !Address->getSubExpr()->getType().isConstQualified())
      forgetWritten(VM, Address->getSubExpr(), Because);
    if (I >= F->getNumParams())
      continue;
    const QualType T = F->getParamDecl(I)->getType();
    if (letsChange(T))
      forgetWritten(VM, Call->getArg(I), Because);
    Adds |= !OfLibrary && torch::isModule(T);
  }
  return Adds;
}

bool forget(Interpreter &VM, const Stmt *Skipped, const Cell &Because) {
  bool Adds = false;
  cpp::walk(
      Skipped, cpp::Lambdas::Entered,
      [&](const Stmt *S) {
        if (const auto *Assign = dyn_cast<BinaryOperator>(S);
            Assign && Assign->isAssignmentOp())
          forgetWritten(VM, Assign->getLHS(), Because);
        else if (const auto *Unary = dyn_cast<UnaryOperator>(S);
                 Unary && Unary->isIncrementDecrementOp())
          forgetWritten(VM, Unary->getSubExpr(), Because);
        else if (const auto *Call = dyn_cast<CallExpr>(S))
          Adds |= forgetChanged(VM, Call, Because);
        return !VM.Halted;
      },
      [](const Decl *) { return true; });
  return Adds;
}

} // namespace libtorch_tidy::bytes
