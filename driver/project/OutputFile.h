//===- OutputFile.h - Files that appear whole -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_OUTPUTFILE_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_OUTPUTFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <system_error>

namespace libtorch_tidy::driver {

/// A file that is written under another name next to it and renamed when it is
/// whole, or the standard output when its name is "-". Opened before the
/// analysis, so that a name that cannot be written is reported at once. Nothing
/// lies next to the file in the meantime: a run that is killed leaves nothing.
///
/// What is not a regular file (a device, a pipe, an open descriptor as
/// /dev/stderr) is written to, and neither replaced nor removed.
class OutputFile {
public:
  /// An error, too, where a symbolic link of the checkout around the working
  /// folder leads out of it: a commit can hold one by the name of any output.
  static llvm::Expected<OutputFile> open(llvm::StringRef Path);
  /// The same for a source file, which links lead to as its author meant.
  static llvm::Expected<OutputFile> openSource(llvm::StringRef Path);

  bool isStdout() const { return Path == "-"; }
  llvm::Error write(llvm::StringRef Content);

private:
  explicit OutputFile(llvm::StringRef Path) : Path(Path) {}

  std::string Path;
  int Descriptor = -1;   ///< That Path is another name of.
  bool Replaces = false; ///< Written next to Path first.
};

/// A file, and the words that say which: an option or a role.
struct NamedFile {
  std::string Role;
  std::string Path;
};

/// An error when two of \p Outputs are one file, or one of them is a file of
/// \p Inputs. Devices and pipes may be named twice.
llvm::Error checkDistinct(llvm::ArrayRef<NamedFile> Outputs,
                          llvm::ArrayRef<NamedFile> Inputs);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_OUTPUTFILE_H
