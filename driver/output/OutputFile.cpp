//===- OutputFile.cpp - Files that appear whole ---------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/output/OutputFile.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <pthread.h>
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
                                 "cannot write '" + Path + "': " + Why);
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
  Expected<fs::TempFile> Temporary = fs::TempFile::create(
      Result.Path + ".%%%%%%%%.tmp",
      fs::all_read | fs::owner_write | fs::group_write | fs::others_write);
  if (!Temporary)
    return cannotWrite(Path, llvm::toString(Temporary.takeError()));
  leaveToParent(Temporary->TmpName);
  Result.Temporary = std::make_unique<fs::TempFile>(std::move(*Temporary));
  return Result;
}

OutputFile::~OutputFile() {
  if (Temporary)
    llvm::consumeError(Temporary->discard());
}

Error OutputFile::write(StringRef Content) {
  if (Path == "-") {
    llvm::outs() << Content;
    llvm::outs().flush();
    return Error::success();
  }
  if (!Temporary) {
    std::error_code EC;
    llvm::raw_fd_ostream OS(Path, EC);
    if (!EC) {
      OS << Content;
      OS.close();
      EC = OS.error();
      OS.clear_error();
    }
    return EC ? cannotWrite(Path, EC.message()) : Error::success();
  }
  {
    llvm::raw_fd_ostream OS(Temporary->FD, /*shouldClose=*/false);
    OS << Content;
    OS.flush();
    if (std::error_code EC = OS.error()) {
      OS.clear_error();
      return cannotWrite(Path, EC.message());
    }
  }
  Error E = Temporary->keep(Path);
  Temporary.reset();
  return E ? cannotWrite(Path, llvm::toString(std::move(E))) : Error::success();
}

} // namespace libtorch_tidy::driver
