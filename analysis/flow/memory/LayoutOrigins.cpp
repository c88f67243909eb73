//===- LayoutOrigins.cpp - Layouts that another function gave -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/flow/memory/LayoutDomain.h"
#include "analysis/torch/api/TorchTypes.h"

using namespace clang;

namespace libtorch_tidy::flow {

using torch::Layout;

/// The function that has \p Var, when its body is seen; null otherwise.
static const FunctionDecl *ownerOf(const VarDecl *Var) {
  const auto *Owner =
      dyn_cast_or_null<FunctionDecl>(Var->getParentFunctionOrMethod());
  return Owner && Owner->doesThisDeclarationHaveABody() ? Owner : nullptr;
}

/// What is given more than once, or by others: nothing is known of it, nor of
/// its dimensions.
static LaidOut unclear() {
  LaidOut Value;
  Value.Lies = Layout::unknown();
  Value.Lies.SomeUnit = true;
  return Value;
}

/// Does something in \p S ask \p D for its strides, or change them in place?
static bool looksAtOrder(const Stmt *S, const ValueDecl *D) {
  return cpp::anyOf<CallExpr>(S, [&](const CallExpr *Call) {
    const Expr *Tensor = torch::changesLayout(Call)
                             ? cpp::Call(Call).Object
                             : torch::askedForLayout(Call);
    const auto K = Tensor ? Keeper::of(Tensor) : std::optional<Keeper>();
    return K && K->Root == D && K->Path.empty();
  });
}

std::optional<LaidOut> LayoutDomain::initialOf(const VarDecl *Var) const {
  const FunctionDecl *Owner = ownerOf(Var);
  if (!Owner || (Owner == F && !Elsewhere) || Depth >= MaxDepth)
    return std::nullopt;
  cpp::Body &Of = cpp::Body::of(Owner);
  if (isa<ParmVarDecl>(Var))
    return Of.writesTo(Var).empty() ? std::nullopt : std::optional(unclear());
  const bool IsPointer = Var->getType()->isPointerType();
  if (!Of.isSetOnce(Var) || (!IsPointer && looksAtOrder(Of.root(), Var)))
    return unclear();
  const LayoutDomain There(Owner, *this);
  std::optional<LaidOut> Held = IsPointer ? There.pointerOf(Var->getInit())
                                          : There.valueOf(Var->getInit());
  // What its function gives its callers is not for this one.
  if (Held)
    Held->Given = nullptr;
  return Held;
}

bool LayoutDomain::isAskedAround(const ValueDecl *D) const {
  const auto *Var = dyn_cast<VarDecl>(D);
  const FunctionDecl *Owner = Var ? ownerOf(Var) : nullptr;
  return Owner && Owner != F && looksAtOrder(cpp::Body::of(Owner).root(), Var);
}

std::optional<LaidOut> LayoutDomain::heldBy(const FieldDecl *Field) const {
  const auto *Class = dyn_cast<CXXRecordDecl>(Field->getParent());
  if (!Class || !torch::isTensor(Field->getType()) || Depth >= MaxDepth)
    return std::nullopt;
  const cpp::Values &Values = Fields(Field);
  std::optional<LaidOut> Held;
  for (const Expr *Value : Values.Given) {
    const cpp::Body *In = cpp::Body::around(Value, F->getASTContext());
    const LayoutDomain There(In ? In->function() : F, *this);
    LaidOut Next = There.valueOf(Value);
    Next.Given = nullptr;
    if (Held)
      joinInto(*Held, Next);
    else
      Held = Next;
  }
  if (!Held || !Held->Lies.isStrided())
    return std::nullopt;
  // Which of them comes last is not known.
  if (!Values.Complete || Held->SomeWays ||
      llvm::any_of(Class->methods(), [&](const CXXMethodDecl *Method) {
        return Method->doesThisDeclarationHaveABody() &&
               looksAtOrder(Method->getBody(), Field);
      }))
    return unclear();
  return Held;
}

} // namespace libtorch_tidy::flow
