//===- OutputFile.cpp - Files that appear whole ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/project/OutputFile.h"
#include "driver/project/Messages.h"
#include "driver/project/Paths.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <unistd.h>

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace libtorch_tidy::driver {

static Error cannotWrite(StringRef Path, const llvm::Twine &Why) {
  return makeError("cannot write " +
                   (Path == "-" ? std::string("the standard output")
                                : ("'" + Path + "'").str()) +
                   ": " + Why);
}

/// The open descriptor that \p Path is another name of. Where it leads to a
/// regular file, that is still not ours to replace.
static std::optional<int> descriptorOf(StringRef Path) {
  std::string Name = Path.str();
  // Through symbolic links: of containers, log files are links to /dev/stdout.
  for (unsigned Links = 0; Links < 8; ++Links) {
    StringRef Rest = Name;
    if (Rest == "/dev/stdout")
      return STDOUT_FILENO;
    if (Rest == "/dev/stderr")
      return STDERR_FILENO;
    int Number;
    if ((Rest.consume_front("/dev/fd/") ||
         Rest.consume_front("/proc/self/fd/")) &&
        !Rest.getAsInteger(10, Number) && Number >= 0)
      return Number;
    char Target[4096];
    const ssize_t Size = ::readlink(Name.c_str(), Target, sizeof(Target));
    if (Size <= 0 || size_t(Size) == sizeof(Target))
      return std::nullopt;
    Name.assign(Target, Size);
  }
  return std::nullopt;
}

/// Creates a file of a new name in the folder of \p Path. The name does not
/// depend on that of \p Path, which may be as long as names can be.
static std::error_code createNextTo(StringRef Path, std::string &Name,
                                    int &FD) {
  std::error_code EC;
  for (unsigned Try = 0; Try < 100; ++Try) {
    // Not by a pattern of LLVM's: a percent sign of the path would be one, too.
    llvm::SmallString<128> New(path::parent_path(Path));
    path::append(New,
                 ".libtorch-tidy-" +
                     llvm::utohexstr(llvm::sys::Process::GetRandomNumber()) +
                     ".tmp");
    Name = New.str().str();
    EC = fs::openFileForReadWrite(Name, FD, fs::CD_CreateNew, fs::OF_None);
    if (EC != std::errc::file_exists)
      break;
  }
  return EC;
}

/// The folder that what a commit holds lies in: the top of the work tree of
/// git, else the working folder. Canonical; empty when that is gone.
static std::string checkout() {
  llvm::SmallString<256> Folder;
  if (fs::real_path(".", Folder))
    return {};
  llvm::SmallString<256> File(Folder);
  path::append(File, "file");
  const StringRef Top = gitWorkTree(File, *llvm::vfs::getRealFileSystem());
  return (Top.empty() ? Folder.str() : Top).str();
}

/// The first symbolic link on the way to \p Path that lies in the checkout and
/// leads out of it; empty if no link does.
static std::string linkOut(StringRef Path) {
  const std::string Top = checkout();
  if (Top.empty())
    return {};
  auto IsInside = [&](StringRef Real) {
    return Real == Top || isBelow(Real, Top);
  };
  llvm::SmallString<256> Absolute(Path), Way;
  fs::make_absolute(Absolute);
  for (auto I = path::begin(Absolute), E = path::end(Absolute); I != E; ++I) {
    path::append(Way, *I);
    if (!fs::is_symlink_file(Way))
      continue;
    llvm::SmallString<256> Folder, Target;
    if (fs::real_path(path::parent_path(Way), Folder) || !IsInside(Folder))
      continue;
    // A link to nothing is replaced.
    if (!fs::real_path(Way, Target) && !IsInside(Target))
      return Way.str().str();
  }
  return {};
}

Expected<OutputFile> OutputFile::open(StringRef Path) {
  if (Path != "-" && !descriptorOf(Path))
    if (std::string Link = linkOut(Path); !Link.empty())
      return cannotWrite(Path, "the symbolic link '" + Link +
                                   "' leads out of the checkout");
  return openSource(Path);
}

Expected<OutputFile> OutputFile::openSource(StringRef Path) {
  OutputFile Result(Path);
  if (Path == "-")
    return Result;
  if (std::optional<int> Descriptor = descriptorOf(Path)) {
    if (*Descriptor == STDOUT_FILENO)
      Result.Path = "-";
    else
      Result.Descriptor = *Descriptor;
    return Result;
  }
  fs::file_status Status;
  if (!fs::status(Path, Status)) {
    if (Status.type() == fs::file_type::directory_file)
      return cannotWrite(Path, "it is a folder");
    if (Status.type() != fs::file_type::regular_file)
      return Result;
    if (std::error_code EC = fs::access(Path, fs::AccessMode::Write))
      return cannotWrite(Path, EC.message());
  }
  // The file a symbolic link names is what the user means, not the link.
  llvm::SmallString<128> Real;
  if (!fs::real_path(Path, Real))
    Result.Path = Real.str().str();
  Result.Replaces = true;
  // To see that it can be done.
  std::string Name;
  int FD;
  if (std::error_code EC = createNextTo(Result.Path, Name, FD))
    return cannotWrite(Path, EC.message());
  ::close(FD);
  (void)fs::remove(Name);
  return Result;
}

static std::error_code writeTo(int FD, StringRef Content) {
  llvm::raw_fd_ostream OS(FD, /*shouldClose=*/false);
  OS << Content;
  OS.flush();
  std::error_code EC = OS.error();
  OS.clear_error();
  return EC;
}

static std::error_code replace(StringRef Path, StringRef Content) {
  std::string Temporary;
  int FD;
  if (std::error_code EC = createNextTo(Path, Temporary, FD))
    return EC;
  llvm::sys::RemoveFileOnSignal(Temporary);
  // A file that is replaced keeps its mode.
  fs::file_status Status;
  const bool Exists = !fs::status(Path, Status);
  if (Exists)
    (void)fs::setPermissions(FD, Status.permissions());
  std::error_code EC = writeTo(FD, Content);
  if (::close(FD) != 0 && !EC)
    EC = llvm::errnoAsErrorCode();
  // Renaming would put a file in the place of a device.
  if (!EC && Exists && Status.type() != fs::file_type::regular_file)
    EC = std::make_error_code(std::errc::not_supported);
  if (!EC)
    EC = fs::rename(Temporary, Path);
  if (EC)
    (void)fs::remove(Temporary);
  llvm::sys::DontRemoveFileOnSignal(Temporary);
  return EC;
}

Error OutputFile::write(StringRef Content) {
  std::error_code EC;
  if (Path == "-") {
    llvm::outs() << Content;
    llvm::outs().flush();
    EC = llvm::outs().error();
    llvm::outs().clear_error();
  } else if (Descriptor >= 0) {
    if (Descriptor == STDERR_FILENO)
      llvm::errs().flush();
    EC = writeTo(Descriptor, Content);
  } else if (Replaces) {
    EC = replace(Path, Content);
  } else {
    int FD;
    EC = fs::openFileForWrite(Path, FD, fs::CD_OpenExisting);
    if (!EC) {
      EC = writeTo(FD, Content);
      ::close(FD);
    }
  }
  return EC ? cannotWrite(Path, EC.message()) : Error::success();
}

/// The same for all names of a file; empty for what may be named twice.
static std::string identityOf(StringRef Path) {
  if (Path.empty())
    return {};
  if (std::optional<int> Descriptor = descriptorOf(Path))
    return *Descriptor == STDOUT_FILENO ? "-" : "";
  if (Path == "-")
    return "-";
  fs::file_status Status;
  if (!fs::status(Path, Status)) {
    if (Status.type() != fs::file_type::regular_file)
      return {};
    const fs::UniqueID Id = Status.getUniqueID();
    return llvm::utostr(Id.getDevice()) + ":" + llvm::utostr(Id.getFile());
  }
  // Not there yet: its folder is.
  llvm::SmallString<128> Folder(Path), Real;
  fs::make_absolute(Folder);
  const std::string Name = path::filename(Folder).str();
  path::remove_filename(Folder);
  if (fs::real_path(Folder, Real))
    Real = Folder;
  path::append(Real, Name);
  return Real.str().str();
}

Error checkDistinct(llvm::ArrayRef<NamedFile> Outputs,
                    llvm::ArrayRef<NamedFile> Inputs) {
  llvm::StringMap<const NamedFile *> Written;
  for (const NamedFile &Output : Outputs) {
    const std::string Identity = identityOf(Output.Path);
    if (Identity.empty())
      continue;
    auto [It, New] = Written.try_emplace(Identity, &Output);
    if (!New)
      return cannotWrite(Output.Path, "it is named by " + It->second->Role +
                                          " and " + Output.Role);
  }
  for (const NamedFile &Input : Inputs) {
    const std::string Identity = identityOf(Input.Path);
    auto It = Written.find(Identity);
    if (!Identity.empty() && Identity != "-" && It != Written.end())
      return cannotWrite(It->second->Path,
                         It->second->Role + " names " + Input.Role);
  }
  return Error::success();
}

} // namespace libtorch_tidy::driver
