//===- Autocast.cpp - Who switches autocast -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Calls.h"
#include "analysis/torch/autograd/GradGuards.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

static constexpr StringRef AutocastNames[] = {
    "::at::autocast::set_enabled",
    "::at::autocast::set_cpu_enabled",
    "::at::autocast::set_xpu_enabled",
    "::at::autocast::set_ipu_enabled",
    "::at::autocast::set_hpu_enabled",
    "::at::autocast::set_xla_enabled",
    "::at::autocast::set_privateuseone_enabled",
    "::at::autocast::set_autocast_enabled",
    "::at::autocast::set_autocast_cache_enabled",
    "::at::autocast::clear_cache",
};
const llvm::ArrayRef<StringRef> AutocastFunctions(AutocastNames);

std::optional<AutocastUse> autocastUse(const CallExpr *Call,
                                       const ASTContext &Context) {
  StringRef Name = cpp::calleeName(Call);
  if (Name.empty())
    return std::nullopt;
  std::string Qualified =
      "::" + Call->getDirectCallee()->getQualifiedNameAsString();
  if (!llvm::is_contained(AutocastNames, StringRef(Qualified)))
    return std::nullopt;
  if (Name == "clear_cache")
    return AutocastUse::ClearCache;
  // The value comes last, after the device that set_autocast_enabled takes.
  if (Call->getNumArgs() == 0)
    return std::nullopt;
  std::optional<bool> Value =
      cpp::constantBool(Call->getArg(Call->getNumArgs() - 1), Context);
  if (Name == "set_autocast_cache_enabled")
    return Value == true ? std::nullopt : std::optional(AutocastUse::CacheOff);
  if (!Value)
    return AutocastUse::Set;
  return *Value ? AutocastUse::On : AutocastUse::Off;
}

} // namespace libtorch_tidy::torch
