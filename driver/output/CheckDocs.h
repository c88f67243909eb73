//===- CheckDocs.h - What is said about the checks themselves ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_OUTPUT_CHECKDOCS_H
#define LIBTORCH_TIDY_DRIVER_OUTPUT_CHECKDOCS_H

#include "checks/base/Catalog.h"
#include "driver/findings/Finding.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace libtorch_tidy::driver {

/// What a finding can be named after: the entry of the catalog, that of the
/// audit of NOLINT comments, or null.
const CatalogEntry *findRule(llvm::StringRef Name);

/// The page docs/checks/<name>.md, which is built into the program (Markdown).
/// A check that has no page yet is described by its entry of the catalog.
std::string documentationOf(const CatalogEntry &Entry);

/// The page of the check called \p Name, with or without "libtorch-", for the
/// standard output. An unknown name is an error that guesses what was meant.
llvm::Expected<std::string> explain(llvm::StringRef Name, bool AsMarkdown);

/// The address of the page of \p Check; empty when the project has no home.
std::string checkPage(llvm::StringRef Check);

/// The file of that page in the installation that the program belongs to; empty
/// when there is none.
std::string installedPage(llvm::StringRef Check);

/// All checks as JSON, for tools: an array of objects with name, level,
/// summary, why, fixes, tags, reasons (name, effect, when) and whether
/// \p Enabled has it.
std::string catalogAsJson(llvm::ArrayRef<std::string> Enabled);

/// What --why asks about: FILE or FILE:LINE.
struct WhyQuery {
  std::string File;  ///< Empty: nothing is asked.
  unsigned Line = 0; ///< 0: all lines.

  static WhyQuery parse(llvm::StringRef Text);
};

/// What each check says of the place, a line each: of one line with what the
/// reasons mean, of a whole file with the number of the line in front. \p Path
/// is the canonical name of the file.
std::string answerWhy(const WhyQuery &Query, llvm::StringRef Path,
                      llvm::ArrayRef<Finding> Findings,
                      llvm::ArrayRef<Silence> Silences);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_OUTPUT_CHECKDOCS_H
