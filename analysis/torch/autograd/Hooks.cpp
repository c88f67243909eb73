//===- Hooks.cpp - Users' functions that autograd keeps -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/autograd/Hooks.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

/// A method called \p Name of a tensor, or of what points to one.
static const Expr *tensorOf(const CallExpr *Call, StringRef Name) {
  const auto *Method = dyn_cast_or_null<CXXMemberCallExpr>(Call);
  return Method && cpp::calleeName(Call) == Name &&
                 isTensor(Method->getObjectType())
             ? Method->getImplicitObjectArgument()
             : nullptr;
}

/// The tensor in `tensor.grad_fn()`, also through a variable.
static const Expr *tensorOfNode(const Expr *E) {
  E = cpp::stripPointers(E);
  if (const VarDecl *Var = cpp::variableOf(E);
      Var && Var->isLocalVarDecl() && Var->getInit())
    E = cpp::stripPointers(Var->getInit());
  return tensorOf(dyn_cast_or_null<CallExpr>(E), "grad_fn");
}

std::optional<HookRegistration> asHookRegistration(const CallExpr *Call) {
  StringRef Name = cpp::calleeName(Call);
  if (!Name.contains("hook") || Call->getNumArgs() == 0)
    return std::nullopt;
  if (const Expr *Tensor = tensorOf(Call, "register_hook"))
    return HookRegistration{Tensor, Call->getArg(0), /*OnNode=*/false};
  if (!cpp::isOneOf(Name,
                    {"add_post_hook", "add_pre_hook", "add_tensor_pre_hook"}) ||
      !cpp::callsMethod(Call, Name, {"torch::autograd::Node"}))
    return std::nullopt;
  const Expr *Tensor = tensorOfNode(cpp::calledOn(Call));
  if (!Tensor)
    return std::nullopt;
  return HookRegistration{Tensor, Call->getArg(0), /*OnNode=*/true};
}

const Expr *needsHistory(const CallExpr *Call) {
  if (const Expr *Tensor = tensorOf(Call, "retain_grad"))
    return Tensor;
  const std::optional<HookRegistration> Hook = asHookRegistration(Call);
  return Hook ? Hook->Tensor : nullptr;
}

const Expr *asHookRemoval(const CallExpr *Call) {
  return tensorOf(Call, "remove_hook");
}

bool isCustomBackward(const FunctionDecl *F) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  return Method && cpp::nameOf(Method) == BackwardMethod &&
         Method->getNumParams() > 1 &&
         isAutogradContext(Method->getParamDecl(0)->getType());
}

bool isAutogradContext(QualType T) {
  if (T.isNull())
    return false;
  T = T.getNonReferenceType();
  return cpp::isOrDerivesFrom(T->isPointerType() ? T->getPointeeType() : T,
                              "torch::autograd::AutogradContext");
}

bool registersOperators(const VarDecl *Var) {
  return cpp::isOrDerivesFrom(Var->getType(),
                              {"torch::detail::TorchLibraryInit",
                               "torch::jit::RegisterOperators",
                               "c10::RegisterOperators"});
}

bool isSavedData(const Expr *E) {
  E = cpp::peel(E);
  if (const VarDecl *Var = cpp::variableOf(E))
    return Var->getType()->isReferenceType() && Var->getInit() &&
           isSavedData(Var->getInit());
  const auto *Member = dyn_cast_or_null<MemberExpr>(E);
  return Member && cpp::nameOf(Member->getMemberDecl()) == "saved_data" &&
         isAutogradContext(Member->getBase()->getType());
}

/// The saved_data that \p Call is a method of.
static bool isOfSavedData(const CallExpr *Call) {
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call))
    return Op->getOperator() == OO_Subscript && Op->getNumArgs() == 2 &&
           isSavedData(Op->getArg(0));
  const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
  return Method && isSavedData(Method->getImplicitObjectArgument());
}

const Expr *savedDataKey(const Expr *E) {
  const auto *Call = dyn_cast_or_null<CallExpr>(cpp::peel(E));
  if (!Call || !isOfSavedData(Call))
    return nullptr;
  if (isa<CXXOperatorCallExpr>(Call))
    return Call->getArg(1);
  return cpp::calleeName(Call) == "at" && Call->getNumArgs() == 1
             ? Call->getArg(0)
             : nullptr;
}

std::optional<SavedDataStore> asSavedDataStore(const CallExpr *Call) {
  if (cpp::isAssignment(Call)) {
    const Expr *Key = savedDataKey(Call->getArg(0));
    if (!Key)
      return std::nullopt;
    return SavedDataStore{Key, Call->getArg(1)};
  }
  StringRef Name = cpp::calleeName(Call);
  if (!cpp::isOneOf(Name, {"insert", "emplace", "insert_or_assign"}) ||
      !isOfSavedData(Call) || Call->getNumArgs() == 0)
    return std::nullopt;
  if (Call->getNumArgs() == 2 && Name != "insert")
    return SavedDataStore{Call->getArg(0), Call->getArg(1)};
  return SavedDataStore{nullptr, Call->getArg(Call->getNumArgs() - 1)};
}

static bool isContextMethod(const CallExpr *Call, StringRef Name) {
  const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
  return Method && cpp::calleeName(Call) == Name &&
         isAutogradContext(Method->getObjectType());
}

const Expr *asContextList(const CallExpr *Call, ContextList Which) {
  StringRef Name = Which == ContextList::Saved   ? "save_for_backward"
                   : Which == ContextList::Dirty ? "mark_dirty"
                                                 : "mark_non_differentiable";
  return isContextMethod(Call, Name) && Call->getNumArgs() == 1
             ? Call->getArg(0)
             : nullptr;
}

bool readsSavedVariables(const CallExpr *Call) {
  return isContextMethod(Call, "get_saved_variables");
}

const Expr *asToTensor(const CallExpr *Call) {
  return isa_and_nonnull<CXXMemberCallExpr>(Call) &&
                 callsTorch(Call, "toTensor")
             ? cpp::peel(cpp::calledOn(Call))
             : nullptr;
}

} // namespace libtorch_tidy::torch
