//===- Finding.h - What was found, as pure data -----------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// One finding, independent of Clang, and the merge of the findings of many
/// translation units into one list.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_FINDINGS_FINDING_H
#define LIBTORCH_TIDY_DRIVER_FINDINGS_FINDING_H

#include "checks/Catalog.h"
#include "fixits/Verifier.h"
#include <string>
#include <vector>

namespace libtorch_tidy::driver {

/// A range of bytes in a file. \p Path is absolute with symbolic links
/// resolved, so that one file has one spelling; empty for things that have no
/// place. Line and column are those of \p Begin, from 1, in bytes.
struct Place {
  std::string Path;
  unsigned Begin = 0;
  unsigned End = 0; ///< One behind the last byte.
  unsigned Line = 0;
  unsigned Column = 0;
};

/// One step of the path that leads to a finding, in execution order.
struct FindingStep {
  Place Where;
  std::string Text;
};

/// One replacement of a fix. All replacements of a finding belong together.
struct Edit {
  Place Where; ///< The bytes that go; empty for an insertion.
  std::string Text;
};

enum class FindingKind : unsigned char {
  Defect,        ///< A check of ours speaks.
  CompileError,  ///< The compiler speaks: the unit is not analysed in full.
  Configuration, ///< A bad option value or a malformed NOLINT comment.
};

struct Finding {
  FindingKind Kind = FindingKind::Defect;
  std::string Check;
  Level Strength = Level::Likely; ///< Of a defect.
  bool AsError = false;           ///< Raised by WarningsAsErrors.
  std::string Message;
  Place Where;
  std::vector<FindingStep> Steps;
  std::vector<Edit> Fix; ///< Empty when rejected.
  fixits::Verdict Verdict = fixits::Verdict::Unverified;
  std::string WhyNot; ///< Of a fix that was rejected.
  /// Of a fix that is right alone but not beside others of its unit.
  std::string NotWithOthers;
  std::string Unit;   ///< The source file whose analysis told it; canonical.
  bool Known = false; ///< The baseline holds it.
  /// Of the diagnostic this was made from, in the list of the front end.
  size_t Origin = 0;
};

/// Orders findings by place, check and message, and keeps one of those that
/// several units report for the same header. The strongest level stays. The
/// result does not depend on the order of units beyond \p Origin of findings
/// that are otherwise equal.
std::vector<Finding> mergeFindings(std::vector<Finding> Findings);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_FINDINGS_FINDING_H
