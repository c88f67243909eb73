//===- NolintComments.h - NOLINT comments of a file -------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The NOLINT comments of a file as clang-tidy 19 reads them
/// (NoLintDirectiveHandler): by the bytes alone, so that the word counts in
/// string literals, too.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_FINDINGS_NOLINTCOMMENTS_H
#define LIBTORCH_TIDY_DRIVER_FINDINGS_NOLINTCOMMENTS_H

#include "llvm/ADT/StringRef.h"
#include <vector>

namespace libtorch_tidy::driver {

/// One entry of a list of checks.
struct NolintItem {
  llvm::StringRef Text; ///< Trimmed; a '-' in front is part of it.
  unsigned Offset = 0;

  /// clang-tidy takes no notice of what a list takes away.
  bool isNegative() const { return Text.starts_with("-"); }
  /// Can it mean nothing but checks of libtorch-tidy?
  bool isOurs() const {
    llvm::StringRef Name = Text.substr(isNegative()).ltrim();
    return Name.starts_with("libtorch-") || Name.starts_with("libtorch*");
  }
  /// Does it name \p Check, by a glob perhaps?
  bool names(llvm::StringRef Check) const;
};

struct NolintComment {
  enum Kind : unsigned char { Line, NextLine, Begin, End };
  Kind What = Line;
  unsigned Offset = 0; ///< Of the word, which is Word.
  llvm::StringRef Word;
  /// Without a list, and with the list `*`, every check is meant.
  bool HasList = false;
  std::vector<NolintItem> Items;
  /// The bytes at which findings are suppressed; none for an end, and for a
  /// begin that has none.
  unsigned From = 0, To = 0; ///< One past the last.

  bool covers(unsigned Byte) const { return From <= Byte && Byte < To; }
  bool isBare() const {
    return !HasList || (Items.size() == 1 && Items.front().Text == "*");
  }
};

/// In order. \p Text must outlive them.
std::vector<NolintComment> nolintComments(llvm::StringRef Text);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_FINDINGS_NOLINTCOMMENTS_H
