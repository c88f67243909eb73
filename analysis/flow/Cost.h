//===- Cost.h - The cost of the flow model ----------------------*- C++ -*-===//
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

/// The message about a function that is given up, after its name.
inline constexpr llvm::StringLiteral BeyondLimits =
    "is too large to be analysed in full: findings that depend on where values "
    "go in it are not made";

/// The work of a unit's model, and the functions that it gave up.
struct Cost {
  unsigned Functions = 0; ///< Flows made, each round of a recursion.
  unsigned Skipped = 0;   ///< Functions without tensors, not looked at.
  unsigned Visits = 0;    ///< CFG blocks evaluated.
  double Seconds = 0;     ///< Wall time of all of it.
  /// A function that is beyond the limits of the analysis, as the user names
  /// it, and its place. The flow of values in it is unknown.
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
  /// program that owns it reports what is given up. Without that, as under
  /// clang-tidy, giveUp() warns.
  static void countIn(clang::ASTContext &Context, Cost &Host);
  /// Notes that \p F is given up.
  static void giveUp(const clang::FunctionDecl *F);
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_COST_H
