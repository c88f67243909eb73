//===- Report.h - What all writers know of a run ----------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What the writers of output know of a run in addition to its findings, and
/// the paths they write.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_OUTPUT_REPORT_H
#define LIBTORCH_TIDY_DRIVER_OUTPUT_REPORT_H

#include "driver/findings/Finding.h"
#include "driver/findings/Fingerprint.h"
#include "driver/findings/SourceText.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <string>
#include <vector>

namespace libtorch_tidy::driver {

/// Where the sources come from, as far as git knows.
struct Provenance {
  std::string Repository; ///< A URI, without credentials; empty: not known.
  std::string Revision;   ///< Empty when files differ from it.
};

/// One run, as writers see it.
struct Report {
  /// Paths are written relative to this folder. Canonical, without a slash at
  /// the end.
  std::string Root;
  llvm::ArrayRef<Finding> Findings;
  /// Canonical paths of what was analysed, ordered, each once.
  std::vector<std::string> Units;
  Failures FailedUnits; ///< Among them.
  int ExitCode = 0;
  SourceTexts &Texts;
  CodeOutlines &Outlines;
  /// With a baseline: findings are marked, and these of it are gone.
  bool HasBaseline = false;
  std::vector<Finding> Vanished = {};
  Provenance From = {};
  std::vector<GivenUpFunction> GivenUp = {};
  size_t LeftOut = 0; ///< Findings that are too many for the form.
};

/// \p Path as part of a URI.
std::string percentEncode(llvm::StringRef Path);

/// \p Text with a full stop at its end.
std::string asSentence(llvm::StringRef Text);

/// \p Sentence with a capital at its beginning, unless that is a name of code.
std::string capitalized(std::string Sentence);

/// An edit of one of \p Texts: "replace 'a' with 'b'". What is long is cut.
std::string inWords(const clang::tooling::Replacement &E, SourceTexts &Texts);

/// "error", "warning" or "note": how loudly a finding of a level is reported.
const char *severityWord(Level L);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_OUTPUT_REPORT_H
