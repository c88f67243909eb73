//===- Effects.cpp - What calls do besides computing ----------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/torch/api/Effects.h"
#include "analysis/cpp/Calls.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/CustomFunctions.h"
#include "analysis/torch/modules/Modules.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace libtorch_tidy::torch {

bool keepsArguments(const CallExpr *Call) {
  const OpFacts *Facts = Call ? opFacts(Call->getDirectCallee()) : nullptr;
  if (Facts)
    return Facts->KeepsArguments;
  std::optional<Registration> Registered = asRegistration(Call);
  return (Registered && Registered->What == Registration::Buffer) ||
         asContextList(Call, ContextList::Saved);
}

bool changesObject(const CXXMethodDecl *Method) {
  if (!Method->getIdentifier())
    return false;
  llvm::StringRef Name = Method->getName();
  return Name.ends_with("_") || Name == "set_data" || Name == "reset";
}

bool endsHistory(const CXXMemberCallExpr *Call) {
  return cpp::calleeName(Call) == "reset" || cpp::calleeName(Call) == "detach_";
}

bool replacesData(const CXXMemberCallExpr *Call) {
  const Expr *Object = Call->getImplicitObjectArgument();
  if (!Object || !isTorchDecl(Call->getMethodDecl()))
    return false;
  const llvm::StringRef Name = cpp::calleeName(Call);
  return Name == "set_data" ||
         (Name == "to" && isModule(cpp::receiverOf(Call)->getType()));
}

bool asksForHistory(const CallExpr *Call) {
  return isTorchDecl(Call->getDirectCallee()) &&
         llvm::StringSwitch<bool>(cpp::calleeName(Call))
             .Cases("is_leaf", "requires_grad", "grad_fn", "output_nr", true)
             .Cases("grad", "retains_grad", "is_inference", "_version", true)
             .Default(false);
}

} // namespace libtorch_tidy::torch
