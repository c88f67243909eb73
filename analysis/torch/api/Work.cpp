//===- Work.cpp - How much tensor work a call is --------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/torch/api/Work.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/storage/Owners.h"
#include "analysis/torch/storage/Sharing.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy::torch {

Work workOf(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee)
    return Work::None;
  if (isBackward(Call) || asModuleCall(Call))
    return Work::Heavy;
  if (callsTorch(Call, "data_parallel"))
    return Work::Heavy;
  if (const OpFacts *Facts = opFacts(Callee)) {
    if (Facts->Heavy)
      return Work::Heavy;
    bool Allocates = Facts->Outputs > 0 && mayHoldTensor(Call->getType()) &&
                     (!Facts->mayShare() || !viewedBy(Call));
    return Allocates ? Work::Some : Work::None;
  }
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
