//===- Optimizers.cpp - The optimizers of a program -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Interpreter.h"
#include "analysis/cpp/Compat.h"
#include "analysis/torch/autograd/Autograd.h"

using namespace clang;
using llvm::ArrayRef;

namespace libtorch_tidy::bytes {

Cell makeOptimizer(const CXXRecordDecl *Class, ArrayRef<Cell> Arguments) {
  if (!torch::isOptimizerType(compat::recordType(Class)))
    return nullptr;
  const Cell Result = valueOf(Value::Other);
  for (const TensorPtr &T : tensorsIn(Arguments.take_front(1)))
    Result->Elements.push_back(tensorValue(T));
  return Result;
}

Cell callOptimizer(const LibraryCall &C) {
  const auto *Method = dyn_cast<CXXMethodDecl>(C.F);
  const Cell Of = targetOf(C.Object);
  if (!Method || !Of || Of->What != Value::Other ||
      !torch::isOptimizerType(compat::recordType(Method->getParent())))
    return nullptr;
  // A closure is followed nowhere.
  const bool Steps = C.Name == "step" && C.Arguments.empty();
  const bool Zeroes =
      C.Name == "zero_grad" &&
      (C.Arguments.empty() || truth(C.Arguments.front()).value_or(true));
  if (!Steps && !Zeroes)
    return nullptr;
  if (const auto &Told = Steps ? C.VM.OnOptimizerStep : C.VM.OnZeroGrad)
    Told(tensorsIn(Of->Elements));
  return valueOf(Value::Other);
}

} // namespace libtorch_tidy::bytes
