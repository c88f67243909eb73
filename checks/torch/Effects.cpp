//===- Effects.cpp - What calls do besides computing ----------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/Effects.h"
#include "checks/torch/Calls.h"
#include "checks/torch/CustomFunctions.h"
#include "checks/torch/Modules.h"
#include "checks/torch/OpFacts.h"

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
  return calleeName(Call) == "reset" || calleeName(Call) == "detach_";
}

} // namespace libtorch_tidy::torch
