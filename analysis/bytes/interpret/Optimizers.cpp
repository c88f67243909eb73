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
  const Cell Result = valueOf(Value::Other, &Value::Class, Class);
  for (const TensorPtr &T : tensorsIn(Arguments.take_front(1)))
    Result->Elements.push_back(tensorValue(T));
  return Result;
}

Cell zeroGradients(const LibraryCall &C, ArrayRef<TensorPtr> Of) {
  if (C.VM.OnZeroGrad)
    C.VM.OnZeroGrad(Of, C.Arguments.empty() ? std::nullopt
                                            : truth(C.Arguments.front()));
  return valueOf(Value::Other);
}

Cell callOptimizer(const LibraryCall &C) {
  const auto *Method = dyn_cast<CXXMethodDecl>(C.F);
  const Cell Of = targetOf(C.Object);
  if (!Method || !Of || Of->What != Value::Other ||
      !torch::isOptimizerType(compat::recordType(Method->getParent())))
    return nullptr;
  const Cell Closure = C.Arguments.empty() ? nullptr : C.Arguments.front();
  const bool Steps =
      C.Name == "step" && (!Closure || Closure->What == Value::Null ||
                           Closure->What == Value::Function);
  if (C.Name == "zero_grad")
    return zeroGradients(C, tensorsIn(Of->Elements));
  if (!Steps)
    return nullptr;
  Cell Loss;
  if (Closure && Closure->What == Value::Function)
    Loss = C.VM.copyOf(C.VM.callClosure(Closure, nullptr, {}, C.At));
  if (C.VM.Pass && torch::searchesAlongLine(Of->Class))
    C.VM.note(C.At, "what " + cpp::nameOf(Of->Class) + " keeps is not known");
  if (C.VM.OnOptimizerStep && !C.VM.Halted)
    C.VM.OnOptimizerStep(tensorsIn(Of->Elements));
  return Loss ? Loss : valueOf(Value::Other);
}

} // namespace libtorch_tidy::bytes
