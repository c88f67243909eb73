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

/// What the model did in one thread since the last reset, and what it could not
/// do.
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
  /// Does the program that runs the checks say what is given up? clang-tidy
  /// does not: then giveUp() warns.
  bool HostReports = false;
  /// Notes that \p F is given up.
  void giveUp(const clang::FunctionDecl *F);

  static Cost &ofThisThread();
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_COST_H
