//===- OutputFile.cpp - Files that appear whole ---------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/output/OutputFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <pthread.h>
#include <unistd.h>
#include <utility>
#include <vector>

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace fs = llvm::sys::fs;

namespace libtorch_tidy::driver {

/// Units are analysed in copies of the process. One that crashes, or is
/// interrupted, removes the files that are not whole, and these are not its
/// own.
static void leaveToParent(StringRef Temporary) {
  static std::vector<std::string> Names;
  [[maybe_unused]] static const int Registered =
      ::pthread_atfork(nullptr, nullptr, [] {
        for (const std::string &Name : Names)
          llvm::sys::DontRemoveFileOnSignal(Name);
      });
  Names.push_back(Temporary.str());
}

static Error cannotWrite(StringRef Path, const llvm::Twine &Why) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "cannot write " +
                                     (Path == "-"
                                          ? std::string("the standard output")
                                          : ("'" + Path + "'").str()) +
                                     ": " + Why);
}

Expected<OutputFile> OutputFile::open(StringRef Path) {
  OutputFile Result(Path);
  if (Path == "-")
    return Result;
  fs::file_status Status;
  if (!fs::status(Path, Status)) {
    if (Status.type() == fs::file_type::directory_file)
      return cannotWrite(Path, "it is a folder");
    // A device, a pipe: /dev/stderr and <(...) are written, not replaced.
    if (Status.type() != fs::file_type::regular_file)
      return Result;
    if (std::error_code EC = fs::access(Path, fs::AccessMode::Write))
      return cannotWrite(Path, EC.message());
  }
  // The file a symbolic link names is what the user means, not the link.
  llvm::SmallString<128> Real;
  if (!fs::real_path(Path, Real))
    Result.Path = Real.str().str();
  // Not by a pattern of LLVM's: a percent sign of the path would be one, too.
  for (unsigned Try = 0; Try < 100; ++Try) {
    Result.Temporary = Result.Path + "." +
                       llvm::utohexstr(llvm::sys::Process::GetRandomNumber()) +
                       ".tmp";
    std::error_code EC = fs::openFileForReadWrite(
        Result.Temporary, Result.FD, fs::CD_CreateNew, fs::OF_None);
    if (EC == std::errc::file_exists)
      continue;
    if (EC) {
      Result.Temporary.clear();
      return cannotWrite(Path, EC.message());
    }
    llvm::sys::RemoveFileOnSignal(Result.Temporary);
    // A file that is replaced keeps its mode.
    if (Status.type() == fs::file_type::regular_file)
      (void)fs::setPermissions(Result.FD, Status.permissions());
    leaveToParent(Result.Temporary);
    return Result;
  }
  Result.Temporary.clear();
  return cannotWrite(Path, "no name is free for a temporary file");
}

OutputFile::OutputFile(OutputFile &&Other)
    : Path(std::move(Other.Path)),
      Temporary(std::exchange(Other.Temporary, std::string())),
      FD(std::exchange(Other.FD, -1)) {}

OutputFile &OutputFile::operator=(OutputFile &&Other) {
  std::swap(Path, Other.Path);
  std::swap(Temporary, Other.Temporary);
  std::swap(FD, Other.FD);
  return *this;
}

OutputFile::~OutputFile() {
  if (FD >= 0)
    ::close(FD);
  if (Temporary.empty())
    return;
  (void)fs::remove(Temporary);
  llvm::sys::DontRemoveFileOnSignal(Temporary);
}

Error OutputFile::write(StringRef Content) {
  if (Path == "-") {
    llvm::outs() << Content;
    llvm::outs().flush();
    if (std::error_code EC = llvm::outs().error()) {
      llvm::outs().clear_error();
      return cannotWrite(Path, EC.message());
    }
    return Error::success();
  }
  std::error_code EC;
  auto Write = [&](llvm::raw_fd_ostream &OS) {
    OS << Content;
    OS.flush();
    EC = OS.error();
    OS.clear_error();
  };
  if (Temporary.empty()) {
    llvm::raw_fd_ostream OS(Path, EC);
    if (!EC)
      Write(OS);
  } else {
    {
      llvm::raw_fd_ostream OS(std::exchange(FD, -1), /*shouldClose=*/true);
      Write(OS);
    }
    if (!EC)
      EC = fs::rename(Temporary, Path);
    if (!EC) {
      llvm::sys::DontRemoveFileOnSignal(Temporary);
      Temporary.clear();
    }
  }
  return EC ? cannotWrite(Path, EC.message()) : Error::success();
}

} // namespace libtorch_tidy::driver
