//===- NolintWriter.h - NOLINT comments for what is found -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// --add-nolint, and the comments that an editor offers. A finding that is
/// suppressed no longer stands for others, which are found then: as fixes,
/// comments are added in memory, the units analysed again, and so on; files are
/// written once, at the end.

#ifndef LIBTORCH_TIDY_DRIVER_ENGINE_NOLINTWRITER_H
#define LIBTORCH_TIDY_DRIVER_ENGINE_NOLINTWRITER_H

#include "driver/findings/Finding.h"
#include "driver/findings/SourceText.h"
#include "driver/project/ChangedLines.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <string>
#include <vector>

namespace libtorch_tidy::driver {

/// What is wrong with \p Reason as the text of a comment, as the end of a
/// message that begins with the option; empty when nothing is.
llvm::StringRef troubleWithReason(llvm::StringRef Reason);

/// The edits that suppress \p Checks at the byte \p Offset of \p Text, the file
/// \p Path: a comment that is there names them, too, or there is a new one at
/// the end of the line, or above. None where no comment fits. \p Reason may be
/// empty.
std::vector<clang::tooling::Replacement>
nolintEdits(llvm::StringRef Text, llvm::StringRef Path, unsigned Offset,
            llvm::ArrayRef<std::string> Checks, llvm::StringRef Reason);

class NolintWriter {
public:
  /// Lines with new comments, in order, by file.
  using Hunks = std::map<std::string, std::vector<Hunk>>;
  /// What is left to report when files hold other texts, in which these lines
  /// differ from the round before. Absent when something does not compile that
  /// did.
  using Analyse = llvm::function_ref<std::optional<std::vector<Finding>>(
      const fixits::FileTexts &, const Hunks &)>;

  /// Only the files that \p IsOurs accepts are changed; \p Texts are as
  /// analysed.
  NolintWriter(llvm::StringRef Reason,
               llvm::function_ref<bool(llvm::StringRef)> IsOurs,
               SourceTexts &Texts)
      : Reason(Reason), IsOurs(IsOurs), Texts(Texts) {}

  /// Adds comments for \p Findings and for what is found after that; the
  /// findings that no comment fits.
  std::vector<Finding> run(std::vector<Finding> Findings, Analyse Again);

  /// Writes the files, and prints for what there is no comment and, unless
  /// \p Quiet, how many were added. False when a file cannot be written.
  bool finish(bool Quiet) const;

private:
  struct Wish; ///< What one line has to suppress.
  void add(llvm::ArrayRef<Finding> Findings, Hunks &Lines);
  void addTo(const std::string &Path, std::map<unsigned, Wish> Wishes,
             Hunks &Lines);

  const llvm::StringRef Reason;
  llvm::function_ref<bool(llvm::StringRef)> IsOurs;
  SourceTexts &Texts;
  fixits::FileTexts Changed;
  unsigned Added = 0, Extended = 0;
  std::vector<std::string> Notes;
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_NOLINTWRITER_H
