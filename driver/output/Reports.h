//===- Reports.h - All outputs of a run -------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_OUTPUT_REPORTS_H
#define LIBTORCH_TIDY_DRIVER_OUTPUT_REPORTS_H

#include "driver/output/Report.h"
#include "driver/project/OutputFile.h"
#include <functional>
#include <vector>

namespace libtorch_tidy::driver {

/// --format: what is written besides or instead of clang-tidy's text.
enum class OutputFormat : unsigned char {
  Text,
  Gitlab,
  Github,
  Rdjsonl,
  Junit
};

/// What the command line says about outputs: where they go, "-" being the
/// standard output. Empty: nowhere.
struct ReportOptions {
  std::string Html, Sarif;
  bool SarifIncludeBaselined = false;
  unsigned SarifLimit = 25000; ///< Results; what GitHub takes.
  OutputFormat Format = OutputFormat::Text;
  std::string Output; ///< For the format, unless that is text.
};

/// The outputs that were asked for in addition to the text. Opened before the
/// analysis, so that one that cannot be written is reported at once; made
/// before fixes are applied, because they are about the text that was analysed;
/// written at the end.
class Reports {
public:
  static llvm::Expected<Reports> open(const ReportOptions &Options);

  /// One of them goes to the standard output: the text must not.
  bool useStdout() const;
  void make(const Report &All);
  llvm::Error write();

private:
  /// Makes the content from the whole run, or from it without what the
  /// baseline holds.
  using Maker =
      std::function<std::string(const Report &All, const Report &New)>;
  struct Output {
    Maker Make;
    OutputFile File;
    std::string Content;
  };
  std::vector<Output> Outputs;
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_OUTPUT_REPORTS_H
