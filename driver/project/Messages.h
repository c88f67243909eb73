//===- Messages.h - Messages, and text of strangers in them -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_MESSAGES_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_MESSAGES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace libtorch_tidy::driver {

/// \p Text with its control characters as \n and \x1b. A file name may hold
/// any: raw, a line end begins a line that the log of GitHub Actions takes for
/// a command, and an escape is one to the terminal. A tab stays.
std::string printable(llvm::StringRef Text);

/// \p Number, in decimal digits and perhaps with a fraction, with a comma
/// between thousands: "-1,234.5".
std::string grouped(std::string Number);

/// "1 finding", "2 findings".
std::string counted(size_t Count, llvm::StringRef Noun);

/// \p Value with \p Digits behind the point.
std::string decimal(double Value, unsigned Digits);

/// "a, b and c", or with another \p Last.
std::string joinedWords(llvm::ArrayRef<llvm::StringRef> Words,
                        llvm::StringRef Last = " and ");

/// The one of \p Known that \p Word is a misspelling of, or else a part of;
/// empty if none is.
llvm::StringRef meantBy(llvm::StringRef Word,
                        llvm::ArrayRef<llvm::StringRef> Known);

/// "; did you mean 'X'?" for the one of \p Known that \p Word is a misspelling
/// of, after \p Before; \p Otherwise if none is.
std::string didYouMean(llvm::StringRef Word,
                       llvm::ArrayRef<llvm::StringRef> Known,
                       llvm::StringRef Before = "",
                       const llvm::Twine &Otherwise = "");

/// The standard error, for an error of the run: its beginning is written.
llvm::raw_ostream &tellError();
/// The same for a warning.
llvm::raw_ostream &tellWarning();

/// How wide text on the standard output may be: as its terminal, or as the
/// variable COLUMNS says.
unsigned outputColumns();

/// An error that the user reads and no code asks for the kind of.
inline llvm::Error makeError(const llvm::Twine &Message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), Message);
}

/// What LLVM says of response files that it cannot read, in English and
/// printable.
std::string troubleWithOptionFile(llvm::Error E);

/// A handler for llvm::SourceMgr, which prints what it hears, and the line it
/// is about, as it is: keeps the first message in \p Kept, a std::string.
inline void keepFirstMessage(const llvm::SMDiagnostic &Said, void *Kept) {
  auto &Message = *static_cast<std::string *>(Kept);
  if (Message.empty())
    Message =
        ("line " + llvm::Twine(Said.getLineNo()) + ": " + Said.getMessage())
            .str();
}

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_MESSAGES_H
