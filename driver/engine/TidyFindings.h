//===- TidyFindings.h - Findings of what clang-tidy says --------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_ENGINE_TIDYFINDINGS_H
#define LIBTORCH_TIDY_DRIVER_ENGINE_TIDYFINDINGS_H

#include "clang-tidy/ClangTidyDiagnosticConsumer.h"
#include "driver/findings/NolintAudit.h"
#include "driver/project/FileSystem.h"
#include <map>
#include <tuple>

namespace libtorch_tidy::driver {

/// What a check says of a finding and clang-tidy's diagnostics cannot carry.
struct HeardFinding {
  clang::SourceLocation Loc; ///< Of the diagnostic.
  Level Strength;
  bool IsTooWeak; ///< For the level of this run.
  std::string Function;
  std::optional<uint64_t> Bytes;
  std::vector<FindingReason> Reasons;
};

/// By check, path (as in the diagnostic) and offset; also what is too weak or
/// suppressed, of which no diagnostic came.
using HeardFindings =
    std::map<std::tuple<std::string, std::string, unsigned>, HeardFinding>;

/// Makes findings of what clang-tidy's engine reports of a unit and of what was
/// heard of the same. \p Unreported receives what was only heard.
std::vector<Finding>
toFindings(llvm::ArrayRef<clang::tidy::ClangTidyError> Errors,
           const HeardFindings &Heard, FileSystem FS,
           std::vector<NolintAudit::Heard> &Unreported);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_TIDYFINDINGS_H
