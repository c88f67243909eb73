//===- Autocast.h - Who switches autocast -----------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_AUTOGRAD_AUTOCAST_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_AUTOGRAD_AUTOCAST_H

#include "clang/AST/Expr.h"
#include <optional>

namespace libtorch_tidy::torch {

/// What a call of namespace at::autocast does. LibTorch has no guard class for
/// it: these functions are the whole interface.
enum class AutocastUse {
  On,         ///< set_enabled(true) and the same for other devices;
              ///< set_autocast_enabled(device, true) from 2.4 on.
  Off,        ///< The same with false.
  Set,        ///< The same with a value that is not constant.
  ClearCache, ///< clear_cache()
  CacheOff,   ///< set_autocast_cache_enabled with false or an unknown value.
};
/// nullopt for all other calls and for null.
std::optional<AutocastUse> autocastUse(const clang::CallExpr *Call,
                                       const clang::ASTContext &Context);

/// Their names, for matchers.
extern const llvm::ArrayRef<llvm::StringRef> AutocastFunctions;

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_AUTOGRAD_AUTOCAST_H
