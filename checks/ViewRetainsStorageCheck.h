//===- ViewRetainsStorageCheck.h --------------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_VIEWRETAINSSTORAGECHECK_H
#define LIBTORCH_TIDY_CHECKS_VIEWRETAINSSTORAGECHECK_H

#include "checks/UnitCheck.h"

namespace libtorch_tidy {

/// docs/checks/libtorch-view-retains-storage.md says what it finds and why.
class ViewRetainsStorageCheck : public UnitCheck {
public:
  using UnitCheck::UnitCheck;

private:
  void checkUnit(flow::UnitModel &Unit) override;
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_VIEWRETAINSSTORAGECHECK_H
