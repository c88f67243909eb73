//===- ScriptUse.cpp - What a unit does with TorchScript ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Object.h"
#include "analysis/cpp/Types.h"
#include "analysis/flow/unit/UnitModel.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/TorchTypes.h"

using namespace clang;

namespace libtorch_tidy::flow {

/// Is the value of \p E, as far as anything is done with it, read as something
/// that holds no tensor?
static bool isReadPlain(const Expr *E, const cpp::Body &In) {
  if (const CallExpr *Call = In.callOn(E))
    return torch::readsNoTensor(Call);
  const Stmt *User = In.userOf(E);
  if (const VarDecl *Var = cpp::declaredBy(User))
    return !cpp::anyOf<DeclRefExpr>(In.root(), [&](const DeclRefExpr *Ref) {
      return Ref->getDecl() == Var &&
             (isa_and_nonnull<DeclStmt>(In.userOf(Ref)) ||
              !isReadPlain(Ref, In));
    });
  // The result is dropped or tested. Code that returns or prints it may want
  // anything.
  return isa_and_nonnull<CompoundStmt, IfStmt, ForStmt, WhileStmt>(User);
}

static bool getsNoTensor(const VarDecl *Var, const cpp::Body &In,
                         unsigned Depth);

/// Is it certain that \p E, given to a method of TorchScript or put into the
/// list of its inputs, holds no tensor?
static bool holdsNoTensor(const Expr *E, const cpp::Body &In,
                          unsigned Depth = 0) {
  constexpr unsigned Enough = 6; // Each step may look at many expressions.
  E = cpp::stripImplicit(E);
  if (!E || Depth > Enough)
    return false;
  if (!torch::mayHoldTensor(E->getType()))
    return true;
  if (isa<CXXConstructExpr, CXXStdInitializerListExpr, InitListExpr>(E))
    return llvm::all_of(cpp::listElements(E), [&](const Expr *Element) {
      return Element != E && holdsNoTensor(Element, In, Depth + 1);
    });
  if (const VarDecl *Var = cpp::variableOf(E))
    return getsNoTensor(Var, In, Depth + 1);
  // A helper that makes a list.
  const auto *Call = dyn_cast<CallExpr>(E);
  const FunctionDecl *Made = Call ? Call->getDirectCallee() : nullptr;
  if (!Made || !Made->hasBody(Made) || Made->isDependentContext())
    return false;
  const cpp::Body &Helper = cpp::Body::of(Made);
  bool Returns = false;
  return !cpp::anyOf<ReturnStmt>(
             Helper.root(),
             [&](const ReturnStmt *Return) {
               Returns = true;
               return !holdsNoTensor(Return->getRetValue(), Helper, Depth + 1);
             },
             cpp::Lambdas::Skipped) &&
         Returns;
}

/// Is \p Ref, which names a local list, only read there, or is it given what
/// holds no tensor?
static bool staysPlain(const DeclRefExpr *Ref, const cpp::Body &In,
                       unsigned Depth) {
  const Stmt *User = In.userOf(Ref);
  if (const auto *Member = dyn_cast_or_null<MemberExpr>(User))
    User = In.parentOf(Member);
  const auto *Call = dyn_cast_or_null<CallExpr>(User);
  if (!Call)
    return isa_and_nonnull<ReturnStmt>(User);
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call);
      Op && cpp::stripImplicit(Op->getArg(0)) == Ref)
    return cpp::isAssignment(Op) && holdsNoTensor(Op->getArg(1), In, Depth);
  if (cpp::movedBy(Call))
    return true;
  if (std::optional<cpp::Insertion> Added = cpp::asInsertion(Call);
      Added && cpp::stripImplicit(Added->Into) == Ref)
    return llvm::all_of(Added->Given, [&](const Expr *Given) {
      return holdsNoTensor(Given, In, Depth);
    });
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (const auto *Method = dyn_cast_or_null<CXXMemberCallExpr>(Call);
      Method && cpp::stripImplicit(Method->getImplicitObjectArgument()) == Ref)
    return Method->getMethodDecl() &&
           (Method->getMethodDecl()->isConst() ||
            (Call->getNumArgs() == 0 && cpp::does(Call, cpp::Std::Empty)));
  // A function that is given the list must not change it.
  return Callee && llvm::none_of(Callee->parameters(), [](const auto *Param) {
           const QualType T = Param->getType();
           return (T->isLValueReferenceType() || T->isPointerType()) &&
                  !T->getPointeeType().isConstQualified() &&
                  torch::mayHoldTensor(T->getPointeeType());
         });
}

static bool getsNoTensor(const VarDecl *Var, const cpp::Body &In,
                         unsigned Depth) {
  return Var->hasLocalStorage() && !isa<ParmVarDecl>(Var) &&
         !Var->getType()->isReferenceType() &&
         (!Var->getInit() || holdsNoTensor(Var->getInit(), In, Depth)) &&
         !cpp::anyOf<DeclRefExpr>(In.root(), [&](const DeclRefExpr *Ref) {
           return Ref->getDecl() == Var && !staysPlain(Ref, In, Depth);
         });
}

/// The name of the method that \p M runs, where it is a literal or the initial
/// value of a variable; empty when unknown, and for forward().
static StringRef methodName(const torch::ModuleCall &M) {
  const auto *Call = dyn_cast<CXXMemberCallExpr>(M.Call);
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(M.Call))
    Call =
        dyn_cast_or_null<CXXMemberCallExpr>(cpp::stripImplicit(Op->getArg(0)));
  if (!Call || Call->getNumArgs() == 0)
    return {};
  const Expr *Name = Call->getArg(0);
  if (!cpp::isStdClass(Name->getType().getNonReferenceType(), {"basic_string"}))
    return {};
  if (const VarDecl *Var = cpp::variableOf(Name);
      Var && Var->hasLocalStorage() && Var->getInit())
    Name = Var->getInit();
  const auto *Literal = cpp::findFirst<StringLiteral>(
      Name, [](const StringLiteral *S) { return S->isOrdinary(); });
  return Literal ? Literal->getString() : StringRef();
}

bool isQuery(const torch::ModuleCall &M, const cpp::Body &In) {
  if (!M.Script)
    return false;
  const bool IsAccessor = torch::namesScriptAccessor(methodName(M));
  const bool ReadPlain = isReadPlain(M.Call, In);
  // set_attribute(name, tensor): no tensor comes back.
  if (IsAccessor && ReadPlain)
    return true;
  if (!IsAccessor && !ReadPlain)
    return false;
  auto IsPlain = [&](const Expr *Input) { return holdsNoTensor(Input, In); };
  if (!llvm::all_of(M.Inputs, IsPlain))
    return false;
  // method(args, kwargs)
  const auto *Op = dyn_cast<CXXOperatorCallExpr>(M.Call);
  return !Op || llvm::all_of(llvm::drop_begin(Op->arguments(), 2),
                             [&](const Expr *Named) {
                               return isa<CXXDefaultArgExpr>(Named) ||
                                      IsPlain(Named);
                             });
}

bool namesDerivatives(const cpp::Body &In) {
  return cpp::anyOf<Expr>(In.root(), [](const Expr *E) {
    if (const auto *Literal = dyn_cast<StringLiteral>(E))
      return Literal->isOrdinary() &&
             torch::namesDerivative(Literal->getString());
    const ValueDecl *Named = nullptr;
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      Named = dyn_cast<VarDecl>(Ref->getDecl());
    else if (const auto *Member = dyn_cast<MemberExpr>(E))
      Named = dyn_cast<FieldDecl>(Member->getMemberDecl());
    return Named && Named->getIdentifier() &&
           torch::namesDerivative(Named->getName());
  });
}

bool handsOutDerivative(const torch::ModuleCall &M, const cpp::Body &In) {
  const auto *Pair =
      dyn_cast_or_null<DecompositionDecl>(cpp::declaredBy(In.userOf(M.Call)));
  return Pair && llvm::any_of(Pair->bindings(), [](const BindingDecl *Part) {
           return torch::namesDerivative(Part->getName());
         });
}

} // namespace libtorch_tidy::flow
