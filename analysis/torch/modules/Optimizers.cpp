//===- Optimizers.cpp - Parameters and state of optimizers ----------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/torch/modules/Optimizers.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/DeclCXX.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

static constexpr StringRef ParameterNames[] = {
    "params", "parameters", "add_param_group", "add_parameters"};
const llvm::ArrayRef<StringRef> ParameterMethods = ParameterNames;

/// A method of LibTorch's optimizer classes.
static const CXXMemberCallExpr *optimizerCall(const CallExpr *Call,
                                              StringRef Name) {
  const auto *Member = dyn_cast_or_null<CXXMemberCallExpr>(Call);
  return Member && cpp::calleeName(Call) == Name &&
                 isTorchDecl(Call->getDirectCallee()) &&
                 cpp::isOrDerivesFrom(Member->getRecordDecl(),
                                      "torch::optim::Optimizer")
             ? Member
             : nullptr;
}

ParameterList asParameterList(const CallExpr *Call) {
  if (const CXXMemberCallExpr *Own = optimizerCall(Call, "parameters"))
    return {Own, Own->getImplicitObjectArgument(), false};
  const auto *Member = dyn_cast_or_null<CXXMemberCallExpr>(Call);
  if (!Member || cpp::calleeName(Call) != "params" ||
      !cpp::isOrDerivesFrom(Member->getRecordDecl(),
                            "torch::optim::OptimizerParamGroup"))
    return {};
  return {Member, Member->getImplicitObjectArgument(), true};
}

const Expr *optimizerOfGroups(const Expr *E) {
  const auto *Call = dyn_cast_or_null<CallExpr>(cpp::stripImplicit(E));
  const CXXMemberCallExpr *Groups = optimizerCall(Call, "param_groups");
  return Groups ? Groups->getImplicitObjectArgument() : nullptr;
}

bool addsParameters(const CallExpr *Call) {
  return optimizerCall(Call, "add_param_group") ||
         optimizerCall(Call, "add_parameters");
}

bool isOptimizerState(const CallExpr *Call) {
  return optimizerCall(Call, "state");
}

bool keepsNoState(QualType Optimizer) {
  QualType Pointee = cpp::pointeeOf(Optimizer);
  return cpp::isOrDerivesFrom(
      cpp::recordOf(Pointee.isNull() ? Optimizer : Pointee),
      "torch::optim::SGD");
}

} // namespace libtorch_tidy::torch
