//===- Work.cpp - How much tensor work a call is --------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/Work.h"
#include "checks/torch/Autograd.h"
#include "checks/torch/Modules.h"
#include "checks/torch/OpFacts.h"
#include "checks/torch/Owners.h"
#include "checks/torch/Sharing.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

/// Operators that carry the weight of a network outside of modules.
static bool isHeavyOperator(StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases("matmul", "mm", "bmm", "addmm", "baddbmm", true)
      .Cases("linear", "bilinear", "einsum", "tensordot", true)
      .Cases("conv1d", "conv2d", "conv3d", "convolution", true)
      .Cases("conv_transpose1d", "conv_transpose2d", "conv_transpose3d", true)
      .Cases("lstm", "gru", "rnn_tanh", "rnn_relu", "cdist", true)
      .Cases("scaled_dot_product_attention", "data_parallel", true)
      .Default(false);
}

Work workOf(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee)
    return Work::None;
  if (isBackward(Call) || asModuleCall(Call))
    return Work::Heavy;
  if (isTorchDecl(Callee) && Callee->getIdentifier() &&
      isHeavyOperator(Callee->getName()))
    return Work::Heavy;
  if (const OpFacts *Facts = opFacts(Callee))
    return Facts->Outputs > 0 && (!Facts->View || !viewedBy(Call)) &&
                   mayHoldTensor(Call->getType())
               ? Work::Some
               : Work::None;
  if (isTorchDecl(Callee))
    return Work::None;
  // A user's function that is defined elsewhere, a std::function, Python.
  if (Callee->getReturnType()->isReferenceType())
    return Work::None;
  const auto *Method = dyn_cast<CXXMethodDecl>(Callee);
  bool CallsOperator = Method && Method->getOverloadedOperator() == OO_Call;
  if (CallsOperator &&
      Callee->getQualifiedNameAsString().compare(0, 10, "pybind11::") == 0)
    return Work::Some;
  bool InStd = Callee->isInStdNamespace() && !CallsOperator;
  return !InStd && ownsTensors(Call->getType()) ? Work::Some : Work::None;
}

} // namespace libtorch_tidy::torch
