//===- SourceText.h - Positions in the text of a file -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_FINDINGS_SOURCETEXT_H
#define LIBTORCH_TIDY_DRIVER_FINDINGS_SOURCETEXT_H

#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <memory>
#include <string>
#include <vector>

namespace clang {
class LangOptions;
} // namespace clang

namespace libtorch_tidy::driver {

class CodeOutline;

/// What a lexer that reads a text without compiling it takes it for.
const clang::LangOptions &lexedLanguage();

/// The text of one file. Lines and columns are counted from 1.
class SourceText {
public:
  struct Position {
    unsigned Line = 1;
    unsigned Column = 1;
  };

  explicit SourceText(std::string Text);

  llvm::StringRef text() const { return Text; }
  unsigned lineCount() const { return LineStarts.size(); }

  /// The position of a byte offset; columns in bytes. An offset after the
  /// end is taken for the end.
  Position position(unsigned Offset) const;

  /// As position(), with columns in UTF-16 code units, as SARIF counts them.
  Position positionUtf16(unsigned Offset) const;

  /// Line \p Line without its line end; empty when there is no such line.
  llvm::StringRef line(unsigned Line) const;

  /// Lines \p First to \p Last (inclusive, cut to the file) with line ends.
  llvm::StringRef lines(unsigned First, unsigned Last) const;

  /// Made when it is asked for first (Fingerprint.cpp).
  const CodeOutline &outline() const;

private:
  std::string Text;
  std::vector<unsigned> LineStarts;
  mutable std::shared_ptr<const CodeOutline> Outline;
};

/// Takes the first character off \p Rest, which is UTF-8: its UTF-16 code
/// units. A byte that is not UTF-8 is one, as the replacement character is.
unsigned takeCharacter(llvm::StringRef &Rest);

/// Reads files once, through the file system of the analysis: unsaved buffers
/// of an editor (-vfsoverlay) are seen.
class SourceTexts {
public:
  explicit SourceTexts(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS)
      : FS(std::move(FS)) {}

  /// Null when the file cannot be read.
  const SourceText *get(llvm::StringRef Path);

private:
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS;
  llvm::StringMap<std::unique_ptr<SourceText>> Files;
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_FINDINGS_SOURCETEXT_H
