//===- Syntax.h - Colours of C++ --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_OUTPUT_SYNTAX_H
#define LIBTORCH_TIDY_DRIVER_OUTPUT_SYNTAX_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace libtorch_tidy::driver {

/// A text of C++ by its words alone: keywords, literals, comments, directives.
class Syntax {
public:
  /// \p Text must outlive it.
  explicit Syntax(llvm::StringRef Text);

  /// The bytes from \p Begin to \p End for HTML, in spans of the classes k, s,
  /// n, c and p.
  std::string html(size_t Begin, size_t End) const;
  std::string html() const { return html(0, Text.size()); }

private:
  struct Word {
    size_t Begin, End;
    char Class;
  };
  llvm::StringRef Text;
  std::vector<Word> Words; ///< In order.
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_OUTPUT_SYNTAX_H
