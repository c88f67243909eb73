//===- LostCapture.h - Hooks that outlive what they refer to ----*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_CYCLES_LOSTCAPTURE_H
#define LIBTORCH_TIDY_CHECKS_CYCLES_LOSTCAPTURE_H

#include "analysis/cpp/Object.h"
#include <optional>

namespace libtorch_tidy {

/// A variable that a hook refers to and that may have ended when it runs.
struct LostCapture {
  const clang::VarDecl *Var;
  clang::SourceLocation Loc;
  /// After the end of the variable; null: after the function has returned.
  const clang::CallExpr *Backward = nullptr;
};

/// The first that \p Lambda refers to, when \p Call, in \p In, makes it a hook
/// of \p Hooked.
std::optional<LostCapture> lostCapture(const clang::LambdaExpr *Lambda,
                                       const clang::CallExpr *Call,
                                       const cpp::Object &Hooked,
                                       const clang::FunctionDecl *In);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_CYCLES_LOSTCAPTURE_H
