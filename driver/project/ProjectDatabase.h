//===- ProjectDatabase.h - Commands as databases have them ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_PROJECTDATABASE_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_PROJECTDATABASE_H

#include "driver/project/FileSystem.h"
#include "clang/Tooling/CompilationDatabase.h"

namespace libtorch_tidy::driver {

/// The commands of \p Text, a compile_commands.json in \p Folder, as those of
/// compilers: without launchers, in words that Clang knows, and with what is in
/// their response files, which \p Files has. Null when it is none, and then
/// \p Message says why.
std::unique_ptr<clang::tooling::CompilationDatabase>
readDatabase(llvm::StringRef Text, llvm::StringRef Folder,
             llvm::IntrusiveRefCntPtr<FewFiles> Files, std::string &Message);

/// Where databases lie, below the top of a project.
llvm::ArrayRef<llvm::StringLiteral> databaseNames();

/// The databases below \p Folder, ordered: the first that each folder has,
/// which speaks for those below it. Links and hidden folders are left out.
/// \p IsAll becomes false when there are too many folders to look into.
std::vector<std::string> databasesBelow(llvm::StringRef Folder,
                                        llvm::vfs::FileSystem &FS, bool &IsAll);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_PROJECTDATABASE_H
