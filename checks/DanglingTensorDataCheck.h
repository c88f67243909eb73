//===- DanglingTensorDataCheck.h --------------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_DANGLINGTENSORDATACHECK_H
#define LIBTORCH_TIDY_CHECKS_DANGLINGTENSORDATACHECK_H

#include "checks/DanglingCheck.h"
#include "fixits/FixIts.h"
#include <set>

namespace libtorch_tidy {

/// docs/checks/libtorch-dangling-tensor-data.md says what it finds and why.
class DanglingTensorDataCheck : public DanglingCheck {
public:
  using DanglingCheck::DanglingCheck;

private:
  std::optional<Finding> findingFor(const flow::Dangling &D,
                                    const clang::ASTContext &Context) override;
  fixits::Edits nameTemporary(const flow::Dangling &D,
                              const clang::ASTContext &Context);
  std::string newName(llvm::StringRef Wish, const clang::Stmt *Body);

  /// The names that fixes bring into a function.
  std::set<std::pair<const clang::Stmt *, std::string>> Given;
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_DANGLINGTENSORDATACHECK_H
