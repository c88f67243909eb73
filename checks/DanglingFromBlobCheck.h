//===- DanglingFromBlobCheck.h ----------------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_DANGLINGFROMBLOBCHECK_H
#define LIBTORCH_TIDY_CHECKS_DANGLINGFROMBLOBCHECK_H

#include "checks/DanglingCheck.h"

namespace libtorch_tidy {

/// docs/checks/libtorch-dangling-from-blob.md says what it finds and why.
class DanglingFromBlobCheck : public DanglingCheck {
public:
  using DanglingCheck::DanglingCheck;

private:
  std::optional<Finding> findingFor(const flow::Dangling &D,
                                    const clang::ASTContext &Context) override;
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_DANGLINGFROMBLOBCHECK_H
