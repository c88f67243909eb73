//===- AccumulatedHistoryCheck.h --------------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_ACCUMULATEDHISTORYCHECK_H
#define LIBTORCH_TIDY_CHECKS_ACCUMULATEDHISTORYCHECK_H

#include "checks/FlowCheck.h"

namespace libtorch_tidy {

/// docs/checks/libtorch-accumulated-history.md says what it finds and why.
///
/// Option `Fix`: `detach` (default) cuts the history with .detach(); `item`
/// reads the number with .item() where that compiles and the addend is known
/// to be a scalar.
class AccumulatedHistoryCheck : public FlowCheck {
public:
  AccumulatedHistoryCheck(llvm::StringRef Name,
                          clang::tidy::ClangTidyContext *Context);
  void storeOptions(clang::tidy::ClangTidyOptions::OptionMap &Opts) override;

protected:
  void checkFunction(const flow::FunctionFlow &Flow,
                     flow::UnitModel &Unit) override;

private:
  /// \p HandedInAt: the call that hands the history in, when it arises in a
  /// caller.
  void report(const flow::Accumulation &A, const flow::Label &Source,
              const clang::Expr *HandedInAt, Level Strength,
              const flow::FunctionFlow &Flow, clang::ASTContext &Context);

  const std::string Fix;
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_ACCUMULATEDHISTORYCHECK_H
