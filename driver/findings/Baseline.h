//===- Baseline.h - Findings that are known already -------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A file of findings that a project has accepted: later runs tell only what
/// is new, and which of the accepted ones are gone.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_FINDINGS_BASELINE_H
#define LIBTORCH_TIDY_DRIVER_FINDINGS_BASELINE_H

#include "driver/findings/Finding.h"
#include "driver/findings/Fingerprint.h"
#include "llvm/Support/Error.h"
#include <functional>

namespace libtorch_tidy::driver {

/// One accepted finding. Paths are relative to the folder of the file, so that
/// neither the working directory nor the place of the project matters.
struct BaselineEntry {
  std::string Check, File, Function, Fingerprint, Message;
  std::string Unit; ///< The source file whose analysis reported it.
  unsigned Strength = 0;
};

class Baseline {
public:
  /// An empty one. \p Folder is absolute and canonical.
  explicit Baseline(llvm::StringRef Folder) : Folder(Folder) {}

  /// Reads what text() wrote. The error says what is wrong with the text.
  static llvm::Expected<Baseline> parse(llvm::StringRef Text,
                                        llvm::StringRef Folder);

  /// Adds the defects among \p Findings.
  void add(llvm::ArrayRef<Finding> Findings, CodeOutlines &Outlines);
  /// Adds an entry of another baseline.
  void add(BaselineEntry Entry, const Baseline &Other);
  size_t size() const { return Entries.size(); }

  /// JSON, ordered; equal entries give equal bytes.
  std::string text() const;

  /// Marks the findings that are accepted, each entry for one finding, and
  /// returns the entries that are left. A finding is accepted by an entry of
  /// its file and fingerprint, best of the same function; or by one whose file
  /// is no longer there, which was moved.
  std::vector<BaselineEntry>
  match(llvm::MutableArrayRef<Finding> Findings, CodeOutlines &Outlines,
        const std::function<bool(llvm::StringRef Path)> &Exists) const;

  /// The absolute path of a path of an entry.
  std::string absolute(llvm::StringRef Path) const;

private:
  std::string Folder;
  std::vector<BaselineEntry> Entries;
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_FINDINGS_BASELINE_H
