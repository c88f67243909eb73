//===- Exceptions.cpp - What LibTorch throws, what owns tensors -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/api/Exceptions.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/storage/Storage.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

OomHandler oomHandler(QualType Caught) {
  if (Caught.isNull())
    return OomHandler::General;
  if (isOutOfMemoryError(Caught))
    return OomHandler::Library;
  // A class derived from the others (IndexError, a user's own) sees less.
  const CXXRecordDecl *R = cpp::recordOf(Caught);
  const std::string Name = R ? R->getQualifiedNameAsString() : "";
  return llvm::StringSwitch<OomHandler>(Name)
      .Case("c10::Error", OomHandler::Library)
      .Cases("std::exception", "std::runtime_error", "std::bad_alloc",
             OomHandler::General)
      .Default(OomHandler::No);
}

bool isOutOfMemoryError(QualType T) {
  return cpp::isOrDerivesFrom(
      T, {"c10::OutOfMemoryError", "c10::CUDAOutOfMemoryError"});
}

std::optional<OutOfMemoryIn> rethrowing(const CallExpr *Call) {
  if (const std::optional<ModuleCall> Ran = asModuleCall(Call);
      Ran && (Ran->Script || Ran->Compiled))
    return Ran->Script ? OutOfMemoryIn::Script : OutOfMemoryIn::Compiled;
  const OpFacts *Facts =
      isStableTensor(Call->getType()) ? opFacts(Call) : nullptr;
  if (!Facts || Facts->Shares == Sharing::Memory || Facts->InPlace ||
      wrapsMemory(Call))
    return std::nullopt;
  return OutOfMemoryIn::Stable;
}

bool catchesOutOfMemory(QualType Caught, OutOfMemoryIn Where) {
  if (Caught.isNull())
    return true;
  const CXXRecordDecl *R = cpp::recordOf(Caught);
  const std::string Name = R ? R->getQualifiedNameAsString() : "";
  if (Name == "std::exception")
    return true;
  if (Where == OutOfMemoryIn::Device || Where == OutOfMemoryIn::Cpu)
    return Name == "c10::Error" ||
           (Where == OutOfMemoryIn::Device && isOutOfMemoryError(Caught));
  return Name == "std::runtime_error";
}

bool isStdError(QualType Caught) {
  return cpp::isStdClass(Caught.getNonReferenceType(),
                         {"runtime_error", "bad_alloc"});
}

bool isPythonError(QualType T) {
  return cpp::isOrDerivesFrom(T, "pybind11::error_already_set");
}

} // namespace libtorch_tidy::torch
