//===- Plan.h - Which precompiled headers are worth making ------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_PCH_PLAN_H
#define LIBTORCH_TIDY_DRIVER_PCH_PLAN_H

#include "driver/pch/LibraryPch.h"
#include <deque>

namespace libtorch_tidy::driver {

/// The precompiled headers that a unit could start from. The first one counts;
/// empty: it goes without.
using PchChoices = std::deque<PchRecipe>;

/// The choices of the unit that \p Arguments compile.
PchChoices choicesFor(llvm::StringRef File, IncludeScanner &Scanner,
                      LibraryPchs &Pchs,
                      const clang::tooling::CommandLineArguments &Arguments,
                      llvm::StringRef MainFile, llvm::StringRef Directory);

/// What is known of a run when it is planned.
struct PchPolicy {
  unsigned AtATime = 1;        ///< Units that are analysed at once.
  bool WillRepeat = false;     ///< The same units come again.
  bool MayPostpone = false;    ///< A process can go on after the run.
  unsigned CacheMegabytes = 0; ///< What the cache may hold.
};

struct PchPlan {
  std::vector<PchRecipe> Now;   ///< Units wait for these.
  std::vector<PchRecipe> Later; ///< To be made after the run.
};

/// Plans what \p Units need that is not there. They may lose their first choice
/// to the next one.
PchPlan planPchs(llvm::ArrayRef<PchChoices *> Units, LibraryPchs &Pchs,
                 const PchPolicy &Policy);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PCH_PLAN_H
