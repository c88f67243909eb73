//===- Library.cpp - What LibTorch adds to C++ ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Library.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/Headers.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/storage/Owners.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy {

bool cpp::library::declares(const Decl *D) { return torch::isTorchDecl(D); }

bool cpp::library::isHeader(StringRef Path, llvm::vfs::FileSystem &FS) {
  return torch::isTorchHeader(Path, FS);
}

bool cpp::library::isValue(QualType T) { return torch::isTensor(T); }

bool cpp::library::isObject(QualType T) { return torch::isModule(T); }

bool cpp::library::isPointer(const CXXRecordDecl *R) {
  return isNamed(R, "c10::intrusive_ptr") ||
         isNamed(R, "torch::nn::ModuleHolder");
}

bool cpp::library::isSharedHandle(QualType T) {
  return torch::isSharedHandle(T);
}

bool cpp::library::isReference(QualType T) {
  return isOrDerivesFrom(T,
                         {"c10::weak_intrusive_ptr", "c10::ArrayRef",
                          "c10::HeaderOnlyArrayRef", "at::OptionalTensorRef"});
}

bool cpp::library::changesObject(const CXXMethodDecl *Method) {
  // const says nothing in LibTorch: its operators in place are const.
  const StringRef Name = nameOf(Method);
  return Name.ends_with("_") || Name == "set_data" || Name == "reset";
}

bool cpp::library::returnsItsObject(const CallExpr *Call) {
  const torch::OpFacts *Facts = torch::opFacts(Call);
  return Facts && Facts->InPlace && torch::isTensor(Call->getType());
}

bool cpp::library::returnsAPart(const CallExpr *Call) {
  return torch::asModuleState(Call) ||
         isOneOf(calleeName(Call),
                 {"children", "named_children", "items", "values"});
}

bool cpp::library::asksIfEmpty(const CallExpr *Call) {
  return isOneOf(calleeName(Call), {"defined", "has_value"});
}

bool cpp::library::isParallelFor(const CallExpr *Call) {
  return torch::callsTorch(Call, "parallel_for") && Call->getNumArgs() == 4;
}

} // namespace libtorch_tidy
