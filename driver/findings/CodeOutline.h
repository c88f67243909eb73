//===- CodeOutline.h - Statements and functions of a file -------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What statement a byte of a file belongs to, by tokens alone: names for
/// findings must not depend on lines, white space, comments or the code around,
/// and must be had without compiling.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_FINDINGS_CODEOUTLINE_H
#define LIBTORCH_TIDY_DRIVER_FINDINGS_CODEOUTLINE_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace libtorch_tidy::driver {

class CodeOutline {
public:
  /// \p Text must outlive the outline.
  explicit CodeOutline(llvm::StringRef Text);

  /// The tokens of the statement around a byte, one space between them, and
  /// which of them the byte is in. A statement ends at `;`, `{` and `}`;
  /// comments and preprocessor directives are no part of it.
  struct Statement {
    std::string Tokens;
    unsigned Index = 0;
  };
  Statement statementAt(unsigned Offset) const;

private:
  struct Token {
    unsigned Offset, Length;
    unsigned Statement; ///< Number of the statement.
  };
  const Token *tokenAt(unsigned Offset) const;

  llvm::StringRef Text;
  std::vector<Token> Tokens;
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_FINDINGS_CODEOUTLINE_H
