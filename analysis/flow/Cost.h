//===- Cost.h - What the flow model took ------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_COST_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_COST_H

#include "clang/AST/Decl.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace libtorch_tidy::flow {

/// What is said of a function that is given up, after its name.
inline constexpr llvm::StringLiteral BeyondLimits =
    "is too large to be analysed in full: findings that depend on where values "
    "go in it are not made";

/// What the model of a unit did, and what it could not do.
struct Cost {
  unsigned Functions = 0; ///< Flows made, each round of a recursion.
  unsigned Skipped = 0;   ///< Functions without tensors, not looked at.
  unsigned Visits = 0;    ///< CFG blocks evaluated.
  double Seconds = 0;     ///< Wall time of all of it.
  /// A function that is beyond the limits of the analysis, as the user names
  /// it, and where it stands. Nothing is known of where values go in it.
  struct Function {
    std::string Name, File;
    unsigned Line = 0;
    bool operator==(const Function &O) const {
      return Name == O.Name && File == O.File && Line == O.Line;
    }
  };
  std::vector<Function> GivenUp; ///< Each once.

  static Cost &of(clang::ASTContext &Context);
  /// The analysis of \p Context's unit counts in \p Host from now on, and the
  /// program that owns it says what is given up. Without that, as under
  /// clang-tidy, giveUp() warns.
  static void countIn(clang::ASTContext &Context, Cost &Host);
  /// Notes that \p F is given up.
  static void giveUp(const clang::FunctionDecl *F);
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_COST_H
