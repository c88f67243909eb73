//===- Fingerprint.h - Names for findings that outlive edits ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_FINDINGS_FINGERPRINT_H
#define LIBTORCH_TIDY_DRIVER_FINDINGS_FINGERPRINT_H

#include "driver/findings/Finding.h"
#include "driver/findings/SourceText.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace libtorch_tidy::driver {

/// What statement a byte of a file belongs to, by tokens alone: names for
/// findings must not depend on lines, white space, comments or the code around,
/// and must be had without compiling.
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

  llvm::StringRef Text;
  std::vector<Token> Tokens;
};

/// The `primaryLocationLineHash` of every line of \p Text (index 0 is line 1),
/// as GitHub code scanning computes it: a rolling hash over the 100 UTF-16
/// units from the start of the line, white space left out, and the count of
/// lines seen so far with the same hash.
std::vector<std::string> lineHashes(llvm::StringRef Text);

/// A name for a finding made of its check and the tokens of its statement: 20
/// hexadecimal digits. It stays when lines move, white space and comments
/// change and other code is edited; it changes with the statement. The message
/// has no part in it, as messages name lines and neighbours. Equal statements
/// have equal names, and so have copies of a file.
std::string fingerprint(const Finding &F, SourceTexts &Texts);
/// The same for the members of \p F, in their order.
std::vector<std::string> memberFingerprints(const Finding &F,
                                            SourceTexts &Texts);

/// One name per finding, no two the same: fingerprint() and the file, in which
/// \p Root is left out, and which of equal ones it is, by order.
std::vector<std::string> uniqueFingerprints(llvm::ArrayRef<Finding> Findings,
                                            llvm::StringRef Root,
                                            SourceTexts &Texts);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_FINDINGS_FINGERPRINT_H
