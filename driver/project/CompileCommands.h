//===- CompileCommands.h - How each file is compiled ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_COMPILECOMMANDS_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_COMPILECOMMANDS_H

#include "driver/project/FileSystem.h"
#include "driver/project/HarmlessFlags.h"
#include "clang/Tooling/ArgumentsAdjusters.h"
#include "clang/Tooling/CompilationDatabase.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <set>

namespace libtorch_tidy::driver {

/// What the command line says about compile commands.
struct CompileCommandOptions {
  std::string BuildPath; ///< -p; empty: looked for near each file.
  /// Flags after `--`, as a database; null when there was no `--`.
  std::unique_ptr<clang::tooling::FixedCompilationDatabase> Fixed;
  /// Flags of a LibTorch on the machine are no substitute for a database.
  bool MustHaveDatabase = false;
  bool Quiet = false; ///< No notes about flags.
  /// A source file that the database does not list is compiled as the most
  /// similar one: in an editor it may be new.
  bool InferForNewFiles = false;
};

/// A database of one command.
class OneCommand : public clang::tooling::CompilationDatabase {
public:
  explicit OneCommand(clang::tooling::CompileCommand Command)
      : Command(std::move(Command)) {}
  std::vector<clang::tooling::CompileCommand>
  getCompileCommands(llvm::StringRef) const override {
    return {Command};
  }

private:
  clang::tooling::CompileCommand Command;
};

/// Answers how a file is compiled: by the flags after `--`, the database of
/// -p, the nearest database above the file, or, when there is none, by the
/// flags of a LibTorch that is found on the machine.
class CompileCommands {
public:
  static llvm::Expected<CompileCommands>
  create(CompileCommandOptions Options,
         llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

  /// The commands for \p File (absolute), at least one. A header that the
  /// database does not list is compiled as the most similar file; a source
  /// file that it does not list is an error, unless InferForNewFiles is set.
  llvm::Expected<std::vector<clang::tooling::CompileCommand>>
  commandsFor(llvm::StringRef File);

  /// In words, where commandsFor() \p File come from.
  std::string originFor(llvm::StringRef File);

  /// Whether the database of \p File lists it; absent without a database.
  std::optional<bool> isListed(llvm::StringRef File);

  /// The files of the databases that were read so far.
  std::vector<std::string> databases() const;

  /// All files of the database for files in \p Folder, ordered; none when
  /// there is no database.
  std::vector<std::string> allFiles(llvm::StringRef Folder);

  /// The C++ files of the database for files in \p Folder, ordered: what a run
  /// without files analyses. Warns of those that do not exist, as generated
  /// ones may not.
  llvm::Expected<std::vector<std::string>>
  listedSources(llvm::StringRef Folder);

  /// Those of them below \p Folder (absolute), or of the databases below it
  /// where there are none; perhaps none at all.
  llvm::Expected<std::vector<std::string>> filesBelow(llvm::StringRef Folder);
  /// The error of a folder without files.
  llvm::Error nothingBelow(llvm::StringRef Folder);

private:
  struct Database {
    std::unique_ptr<clang::tooling::CompilationDatabase> Commands;
    llvm::IntrusiveRefCntPtr<FewFiles>
        ResponseFiles; ///< As Commands sees them.
    std::string Path;
    std::string Problem; ///< Why there are no commands.
  };

  CompileCommands() = default;
  llvm::Expected<Database *> databaseFor(llvm::StringRef Folder);
  /// The same; null also when it cannot be read.
  Database *readable(llvm::StringRef Folder);
  llvm::Expected<std::vector<Database *>> loadBelow(llvm::StringRef Folder);
  void noteBelow(llvm::ArrayRef<Database *> Used, llvm::StringRef Folder) const;
  std::set<std::string> existing(const Database &DB, llvm::StringRef Folder);
  std::set<std::string> existing(llvm::ArrayRef<Database *> All,
                                 llvm::StringRef Folder);
  llvm::Expected<Database *> load(llvm::StringRef Path);
  void read(Database &DB) const;
  llvm::Expected<std::vector<std::string>>
  flagsWithoutDatabase(llvm::StringRef File, llvm::StringRef Folder);
  static llvm::Error tooManyFiles(llvm::StringRef File, const Database &DB);

  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS;
  CompileCommandOptions Options;
  Database *Only = nullptr; ///< That of -p.
  llvm::StringMap<Database> Databases;
  llvm::StringMap<Database *> ByFolder;
  std::set<std::string> Missing; ///< Listed files that do not exist.
  /// Flags for files without a database, by the environment of Python above
  /// them (empty: none); looked for when first needed.
  llvm::StringMap<std::optional<std::vector<std::string>>> LibtorchFlags;
};

/// Is \p File a header, by its name?
bool isHeader(llvm::StringRef File);

/// Is \p File a C++ or CUDA source file or a header, by its name?
bool isCxxFile(llvm::StringRef File);

/// Hears of each compiler flag that is left out.
using FlagListener = std::function<void(llvm::StringRef, FlagFate)>;

/// One that prints a note, once, of each flag whose loss can change what the
/// code means, unless \p Quiet.
FlagListener noteLostFlags(bool Quiet);

/// The changes that every command needs to run in this front end: only flags
/// that read are kept (see HarmlessFlags.h), precompiled headers of other
/// compilers are read as text, compiler warnings are off, and the compiler's
/// own headers are found. \p Argv0 and \p MainAddress locate this program. The
/// adjuster is called with the command's folder in place of the file, and tells
/// \p Listener of the flags that are left out.
clang::tooling::ArgumentsAdjuster
makeCommandsOurs(const char *Argv0, void *MainAddress,
                 llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS,
                 FlagListener Listener);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_COMPILECOMMANDS_H
