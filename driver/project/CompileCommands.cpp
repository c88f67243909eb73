//===- CompileCommands.cpp - How each file is compiled --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/project/CompileCommands.h"
#include "driver/llvm/Compat.h"
#include "driver/project/CudaUnits.h"
#include "driver/project/HarmlessFlags.h"
#include "driver/project/InstalledTorch.h"
#include "driver/project/Messages.h"
#include "driver/project/Paths.h"
#include "driver/project/ProjectDatabase.h"
#include "clang/Driver/Types.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <set>

using namespace clang::tooling;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace path = llvm::sys::path;

namespace libtorch_tidy::driver {

Expected<CompileCommands>
CompileCommands::create(CompileCommandOptions Options,
                        llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS) {
  CompileCommands Result;
  Result.FS = std::move(FS);
  Result.Options = std::move(Options);
  if (Result.Options.Fixed)
    return Result;
  std::string Given = Result.Options.BuildPath, Source = "-p";
  if (Given.empty())
    if (std::optional<std::string> Variable =
            llvm::sys::Process::GetEnv("LIBTORCH_TIDY_BUILD_PATH")) {
      Given = *Variable;
      Source = "LIBTORCH_TIDY_BUILD_PATH";
    }
  if (Given.empty())
    return Result;

  llvm::SmallString<128> Path(Given);
  Result.FS->makeAbsolute(Path);
  if (path::filename(Path) != "compile_commands.json") {
    llvm::SmallString<128> Flags(Path);
    path::append(Path, "compile_commands.json");
    path::append(Flags, "compile_flags.txt");
    if (!Result.FS->exists(Path) && Result.FS->exists(Flags))
      Path = Flags;
  }
  if (!Result.FS->exists(Path))
    return makeError(Source + ": there is no '" + Path + "'");
  Expected<Database *> Loaded = Result.load(Path);
  if (!Loaded)
    return Loaded.takeError();
  Result.Only = *Loaded;
  return Result;
}

Expected<CompileCommands::Database *> CompileCommands::load(StringRef Path) {
  auto [It, New] = Databases.try_emplace(Path);
  Database &DB = It->second;
  if (New) {
    DB.Path = Path.str();
    read(DB);
  }
  // An error is one for each file.
  if (!DB.Commands)
    return makeError(DB.Problem);
  return &DB;
}

void CompileCommands::read(Database &DB) const {
  auto Text = FS->getBufferForFile(DB.Path);
  if (!Text) {
    DB.Problem = "cannot read the compile database '" + DB.Path +
                 "': " + Text.getError().message();
    return;
  }
  std::string Message;
  DB.ResponseFiles = llvm::makeIntrusiveRefCnt<FewFiles>(FS);
  if (path::filename(DB.Path) == "compile_flags.txt")
    DB.Commands = FixedCompilationDatabase::loadFromBuffer(
        path::parent_path(DB.Path), (*Text)->getBuffer(), Message);
  else if (auto Listed =
               readDatabase((*Text)->getBuffer(), path::parent_path(DB.Path),
                            DB.ResponseFiles, Message))
    DB.Commands = inferTargetAndDriverMode(std::move(Listed));
  if (!DB.Commands)
    DB.Problem = "malformed compile database '" + DB.Path +
                 "': " + StringRef(Message).rtrim().str();
}

std::vector<std::string> CompileCommands::databases() const {
  return {Databases.keys().begin(), Databases.keys().end()};
}

/// The database for files in \p Folder: in it, in a build folder there, or in a
/// folder above. Null when there is none.
Expected<CompileCommands::Database *>
CompileCommands::databaseFor(StringRef Folder) {
  if (Only)
    return Only;
  if (auto It = ByFolder.find(Folder); It != ByFolder.end())
    return It->second;
  for (StringRef Dir = Folder; !Dir.empty(); Dir = path::parent_path(Dir))
    for (StringRef Name : databaseNames()) {
      llvm::SmallString<128> Path(Dir);
      path::append(Path, Name);
      if (!FS->exists(Path))
        continue;
      Expected<Database *> Loaded = load(Path);
      if (Loaded)
        ByFolder[Folder] = *Loaded;
      return Loaded;
    }
  return ByFolder[Folder] = nullptr;
}

bool isHeader(StringRef File) {
  StringRef Extension = path::extension(File);
  if (Extension.empty())
    return true;
  auto Type =
      clang::driver::types::lookupTypeForExtension(Extension.drop_front());
  // .ipp, .tpp and friends are unknown to the compiler, and are headers.
  return Type == clang::driver::types::TY_INVALID ||
         clang::driver::types::onlyPrecompileType(Type);
}

bool isCxxFile(StringRef File) {
  StringRef Extension = path::extension(File);
  if (!Extension.consume_front("."))
    return false;
  // Headers whose extension the compiler does not know.
  if (llvm::is_contained({"cuh", "inc", "inl", "ipp", "ixx", "tcc", "tpp"},
                         Extension))
    return true;
  auto Type = clang::driver::types::lookupTypeForExtension(Extension);
  return Type != clang::driver::types::TY_INVALID &&
         (clang::driver::types::isCXX(Type) ||
          clang::driver::types::isCuda(Type) ||
          clang::driver::types::onlyPrecompileType(Type));
}

/// Is \p File what \p Command compiles? Both can be spelled in many ways.
static bool compiles(const CompileCommand &Command, StringRef File,
                     llvm::vfs::FileSystem &FS) {
  llvm::ErrorOr<llvm::vfs::Status> Wanted = FS.status(File);
  return llvm::any_of(
      llvm::reverse(Command.CommandLine), [&](StringRef Argument) {
        if (Argument.starts_with("-"))
          return false;
        const auto Path = compat::absolutePath(Command.Directory, Argument);
        auto Plain = Path;
        path::remove_dots(Plain, /*remove_dot_dot=*/true);
        // It need not exist.
        if (Plain == File)
          return true;
        llvm::ErrorOr<llvm::vfs::Status> Named = FS.status(Path);
        return Wanted && Named && Wanted->equivalent(*Named);
      });
}

/// Before Clang's tools take \p Commands for those of a compiler like GCC, and
/// `-optf file` for an output.
static std::vector<CompileCommand>
inWordsOfClang(std::vector<CompileCommand> Commands,
               llvm::vfs::FileSystem &FS) {
  for (CompileCommand &Command : Commands)
    translateNvcc(Command.CommandLine, Command.Directory, FS);
  return Commands;
}

Error CompileCommands::tooManyFiles(StringRef File, const Database &DB) {
  return makeError("the command for '" + File + "' in '" + DB.Path +
                   "' reads more than " + llvm::Twine(FewFiles::Most) +
                   " response files");
}

Expected<std::vector<std::string>>
CompileCommands::flagsWithoutDatabase(StringRef File, StringRef Folder) {
  const std::string Environment = environmentAbove(Folder, *FS);
  auto [It, New] = LibtorchFlags.try_emplace(Environment);
  if (New) {
    std::string Trouble;
    It->second = flagsOfInstalledTorch(*FS, Environment, Trouble);
    if (!Trouble.empty())
      tellWarning() << printable(Trouble) << '\n';
    if (It->second && !Options.Quiet)
      llvm::errs() << "libtorch-tidy: note: no compile_commands.json above '"
                   << printable(File) << "'; compiling it with "
                   << printable(llvm::join(*It->second, " ")) << '\n';
  }
  if (!It->second)
    return makeError("no compile command for '" + File +
                     "': no compile_commands.json above it, and LibTorch is "
                     "not found; give -p, flags after '--', or Torch_DIR");
  return *It->second;
}

Expected<std::vector<CompileCommand>>
CompileCommands::commandsFor(StringRef File) {
  if (Options.Fixed)
    return inWordsOfClang(Options.Fixed->getCompileCommands(File), *FS);
  Expected<Database *> Found = databaseFor(path::parent_path(File));
  if (!Found)
    return Found.takeError();

  if (Database *DB = *Found) {
    DB->ResponseFiles->reset();
    auto Commands = DB->Commands->getCompileCommands(File);
    if (DB->ResponseFiles->isExhausted())
      return tooManyFiles(File, *DB);
    // Clang's own tools end the process over it.
    for (const CompileCommand &Command : Commands)
      if (!FS->exists(Command.Directory))
        return makeError("the compile database '" + DB->Path + "' says that '" +
                         File + "' is compiled in '" + Command.Directory +
                         "', which does not exist");
    // Of a header, some databases have the command of a file that includes it.
    for (const CompileCommand &Command : Commands)
      if (!isHeader(File) && !compiles(Command, File, *FS))
        return makeError("the compile database '" + DB->Path +
                         "' has a command for '" + File +
                         "' that compiles another file");
    if (!Commands.empty())
      return inWordsOfClang(std::move(Commands), *FS);
    if (!isHeader(File) && !Options.InferForNewFiles)
      return makeError(
          "no compile command for '" + File + "' in '" + DB->Path +
          "'; is it part of the build? If it is new, run CMake (or what writes "
          "the database) again; or pass its flags after '--'");
    // The interpolating database takes over what it wraps, so it gets its own.
    std::string Message;
    auto Text = FS->getBufferForFile(DB->Path);
    if (auto Listed = Text ? readDatabase((*Text)->getBuffer(),
                                          path::parent_path(DB->Path),
                                          DB->ResponseFiles, Message)
                           : nullptr)
      Commands = inferMissingCompileCommands(std::move(Listed))
                     ->getCompileCommands(File);
    if (DB->ResponseFiles->isExhausted())
      return tooManyFiles(File, *DB);
    if (Commands.empty())
      return makeError("no compile command for '" + File +
                       "': the compile database '" + DB->Path + "' is empty");
    StringRef Similar = Commands.front().Heuristic;
    Similar.consume_front("inferred from ");
    if (!Options.Quiet)
      llvm::errs() << "libtorch-tidy: note: '" << printable(File)
                   << "' is compiled like '" << printable(Similar)
                   << "', as it has no command of its own in '"
                   << printable(DB->Path) << "'\n";
    return inWordsOfClang(std::move(Commands), *FS);
  }

  if (Options.MustHaveDatabase)
    return makeError(
        "no compile command for '" + File +
        "': no compile_commands.json in the folders above it, nor in build/, "
        "out/, cmake-build-debug/ or _build/ there. Make one with 'cmake -S . "
        "-B build -DCMAKE_EXPORT_COMPILE_COMMANDS=ON', or name its folder with "
        "-p in the 'args' of the hook");
  Expected<std::vector<std::string>> Installed =
      flagsWithoutDatabase(File, path::parent_path(File));
  if (!Installed)
    return Installed.takeError();
  llvm::ErrorOr<std::string> Here = FS->getCurrentWorkingDirectory();
  std::vector<std::string> Flags = std::move(*Installed);
  if (isHeader(File))
    Flags.insert(Flags.end(), {"-x", "c++"});
  return FixedCompilationDatabase(Here ? *Here : ".", Flags)
      .getCompileCommands(File);
}

CompileCommands::Database *CompileCommands::readable(StringRef Folder) {
  return llvm::expectedToOptional(databaseFor(Folder)).value_or(nullptr);
}

std::string CompileCommands::originFor(StringRef File) {
  if (Options.Fixed)
    return "the flags after '--'";
  const Database *DB = readable(path::parent_path(File));
  if (!DB)
    return "the flags for the LibTorch that was found on this machine";
  return "'" + DB->Path + "'" +
         (isListed(File).value_or(false)
              ? ""
              : ", with the command of a similar file");
}

std::optional<bool> CompileCommands::isListed(StringRef File) {
  if (Options.Fixed)
    return std::nullopt;
  if (Database *DB = readable(path::parent_path(File)))
    return !DB->Commands->getCompileCommands(File).empty();
  return std::nullopt;
}

std::vector<std::string> CompileCommands::allFiles(StringRef Folder) {
  if (Options.Fixed)
    return {};
  std::vector<std::string> Result;
  if (Database *DB = readable(Folder))
    Result = DB->Commands->getAllFiles();
  llvm::sort(Result);
  return Result;
}

/// The databases below \p Folder.
Expected<std::vector<CompileCommands::Database *>>
CompileCommands::loadBelow(StringRef Folder) {
  bool IsAll = true;
  std::vector<Database *> Result;
  for (const std::string &Path : databasesBelow(Folder, *FS, IsAll)) {
    Expected<Database *> Loaded = load(Path);
    if (!Loaded)
      return Loaded.takeError();
    Result.push_back(*Loaded);
  }
  if (!IsAll)
    tellWarning() << "'" << printable(Folder)
                  << "' has too many folders to look for compile databases in "
                     "all of them: name the projects\n";
  return Result;
}

/// The C++ files that \p DB lists and that exist. The others are named, once.
std::set<std::string> CompileCommands::existing(const Database &DB,
                                                StringRef Folder) {
  std::set<std::string> Result, Gone;
  for (const CompileCommand &Command : DB.Commands->getAllCompileCommands()) {
    auto Path = compat::absolutePath(Command.Directory, Command.Filename);
    path::remove_dots(Path, /*remove_dot_dot=*/true);
    if (isCxxFile(Path) &&
        (Folder.empty() || Folder == "/" || isBelow(Path, Folder)))
      (FS->exists(Path) ? Result : Gone).insert(Path.str().str());
  }
  for (const std::string &File : Gone)
    if (Missing.insert(File).second)
      tellWarning() << "'" << printable(File)
                    << "' is not analysed: the compile database '"
                    << printable(DB.Path)
                    << "' lists it, but it does not exist\n";
  return Result;
}

std::set<std::string> CompileCommands::existing(llvm::ArrayRef<Database *> All,
                                                StringRef Folder) {
  std::set<std::string> Result;
  for (const Database *DB : All)
    Result.merge(existing(*DB, Folder));
  return Result;
}

/// Says which databases below \p Folder are \p Used where none is above it.
void CompileCommands::noteBelow(llvm::ArrayRef<Database *> Used,
                                StringRef Folder) const {
  if (Options.Quiet)
    return;
  llvm::errs() << "libtorch-tidy: note: no compile_commands.json above '"
               << printable(Folder) << "'; using";
  const char *Separator = " ";
  for (const Database *DB : Used) {
    llvm::errs() << Separator << "'"
                 << printable(relativePath(DB->Path, Folder)) << "'";
    Separator = ", ";
  }
  llvm::errs() << '\n';
}

Expected<std::vector<std::string>>
CompileCommands::listedSources(StringRef Folder) {
  if (Options.Fixed)
    return makeError("no input files: flags after '--' require files");
  Expected<Database *> Found = databaseFor(Folder);
  if (!Found)
    return Found.takeError();
  if (!*Found) {
    std::vector<Database *> Below;
    std::set<std::string> Files;
    // Below the root lies the whole machine.
    if (Folder != "/" && !Only) {
      auto Loaded = loadBelow(Folder);
      if (!Loaded)
        return Loaded.takeError();
      Below = std::move(*Loaded);
      Files = existing(Below, Folder);
    }
    if (!Files.empty()) {
      noteBelow(Below, Folder);
      return std::vector<std::string>(Files.begin(), Files.end());
    }
    return makeError("no input files, and no compile_commands.json above or "
                     "below '" +
                     Folder + "' that lists some; see --help");
  }
  const std::set<std::string> Result = existing(**Found, "");
  if (Result.empty())
    return makeError("no input files: '" + (*Found)->Path +
                     "' lists no C++ file that exists");
  return std::vector<std::string>(Result.begin(), Result.end());
}

Expected<std::vector<std::string>>
CompileCommands::filesBelow(StringRef Folder) {
  if (Options.Fixed)
    return makeError("'" + Folder +
                     "' is a folder: flags after '--' require files");
  Expected<Database *> Above = databaseFor(Folder);
  if (!Above)
    return Above.takeError();
  std::set<std::string> Result;
  if (*Above)
    Result = existing(**Above, Folder);
  // One above may speak of other folders only.
  if (Result.empty() && !Only) {
    auto Below = loadBelow(Folder);
    if (!Below)
      return Below.takeError();
    Result = existing(*Below, Folder);
  }
  return std::vector<std::string>(Result.begin(), Result.end());
}

Error CompileCommands::nothingBelow(StringRef Folder) {
  const Database *Above = readable(Folder);
  if (!Above)
    return makeError("'" + Folder +
                     "' is a folder, and there is no compile_commands.json "
                     "above or below it that lists its files");
  return makeError("no file below '" + Folder + "' is in '" + Above->Path +
                   "'" + (Missing.empty() ? "" : ", or none that exists"));
}

/// A precompiled header of GCC (x.h.gch next to x.h), or of another Clang, is
/// no good here. The header itself is: cc1's -include reads it as text.
static void readPchAsText(CommandLineArguments &Args) {
  CommandLineArguments Result;
  auto At = [&](size_t I) { return I < Args.size() ? StringRef(Args[I]) : ""; };
  for (size_t I = 0; I < Args.size(); ++I) {
    // CMake with Clang: the text is included too, right after.
    if (At(I) == "-Xclang" && At(I + 1) == "-include-pch" &&
        At(I + 2) == "-Xclang" && At(I + 3).contains("cmake_pch.")) {
      I += 3;
      continue;
    }
    if (At(I) == "-include" && At(I + 1).contains("cmake_pch.")) {
      Result.insert(Result.end(),
                    {"-Xclang", "-include", "-Xclang", At(I + 1).str()});
      ++I;
      continue;
    }
    if (At(I) == "-Winvalid-pch" || At(I) == "-fpch-preprocess")
      continue;
    Result.push_back(Args[I]);
  }
  Args = std::move(Result);
}

/// What Clang rejects by default and GCC accepts: narrowing in braces, old
/// forms of casts to enumerators, `x.template f(y)`, a macro right after a
/// text. For a compiler by another name than Clang's, which has compiled the
/// code.
static llvm::ArrayRef<const char *> acceptedByGcc(StringRef Compiler) {
  static constexpr const char *Flags[] = {
      "-Wno-c++11-narrowing", "-Wno-enum-constexpr-conversion",
      "-Wno-missing-template-arg-list-after-template-kw",
      "-Wno-reserved-user-defined-literal", "-Wno-register"};
  return path::filename(Compiler).contains("clang")
             ? llvm::ArrayRef<const char *>()
             : llvm::ArrayRef<const char *>(Flags);
}

FlagListener noteLostFlags(bool Quiet) {
  auto Told = std::make_shared<llvm::StringSet<>>();
  return [=](StringRef Flag, FlagFate Fate) {
    if (Fate == FlagFate::Refused && !Quiet && Told->insert(Flag).second)
      llvm::errs() << "libtorch-tidy: note: ignoring '" << printable(Flag)
                   << "': the analysis never runs programs or writes files\n";
  };
}

ArgumentsAdjuster
makeCommandsOurs(const char *Argv0, void *MainAddress,
                 llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS,
                 FlagListener Listener) {
  std::string ResourceDir = compat::resourcesPath(Argv0, MainAddress);
  // An installed program does not lie next to Clang's own headers.
  if (!llvm::sys::fs::is_directory(ResourceDir))
    ResourceDir = LIBTORCH_TIDY_RESOURCE_DIR;
  return [=](const CommandLineArguments &Given, StringRef Folder) {
    CommandLineArguments Args = Given;
    // Also those that the user or a configuration adds.
    translateNvcc(Args, Folder, *FS);
    readPchAsText(Args);
    const CommandLineArguments ForCuda = takeHostSide(Args, Folder, *FS);
    Args = keepHarmlessFlags(Args, Folder, *FS, Listener);
    dropDeviceFlags(Args); // Judged before: `native` would run a program.
    CommandLineArguments Ours;
    if (llvm::none_of(Args, [](StringRef Arg) {
          return Arg.starts_with("-resource-dir");
        }))
      Ours.push_back("-resource-dir=" + ResourceDir);
    // The compiler's warnings are the build's to show. -Werror would turn one
    // into a unit that cannot be analysed.
    Ours.push_back("-w");
    llvm::append_range(Ours, acceptedByGcc(Given.front()));
    llvm::append_range(Ours, ForCuda);
    return getInsertArgumentAdjuster(Ours, ArgumentInsertPosition::END)(Args,
                                                                        "");
  };
}

} // namespace libtorch_tidy::driver
