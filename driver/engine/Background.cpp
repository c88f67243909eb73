//===- Background.cpp - Work after the answer -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/engine/Batch.h"
#include "driver/project/FileSystem.h"
#include "driver/workers/Workers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

using llvm::StringRef;
namespace fs = llvm::sys::fs;

namespace libtorch_tidy::driver {

/// Of processor time for each header, when the user has named no limit.
static constexpr unsigned MostSeconds = 300;

/// Who reads what we write would wait for the end of all who could still write.
static void closeAllFiles() {
  std::vector<int> Open;
  std::error_code EC;
  for (fs::directory_iterator It("/dev/fd", EC), End; It != End && !EC;
       It.increment(EC)) {
    int FD;
    if (llvm::to_integer(llvm::sys::path::filename(It->path()), FD) &&
        FD > STDERR_FILENO)
      Open.push_back(FD);
  }
  for (int FD : Open)
    ::close(FD);
  // The first three are always there: what is opened next is not one of them.
  const int Nothing = ::open("/dev/null", O_RDWR);
  for (int FD : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::dup2(Nothing, FD) < 0)
      ::close(FD);
  if (Nothing > STDERR_FILENO)
    ::close(Nothing);
}

#ifdef __linux__
static void writeTo(const char *File, StringRef Text) {
  const int FD = ::open(File, O_WRONLY | O_CLOEXEC);
  if (FD < 0)
    return;
  [[maybe_unused]] ssize_t Count = ::write(FD, Text.data(), Text.size());
  ::close(FD);
}
#endif

static void giveWay() {
  // As `nice` would have it. Of a caller that gives way already, no more.
  constexpr int Low = 10;
  if (::getpriority(PRIO_PROCESS, 0) < Low)
    (void)::setpriority(PRIO_PROCESS, 0, Low);
#ifdef __linux__
  // Linux shares the processor between sessions, and this is a new one.
  writeTo("/proc/self/autogroup", "10");
#endif
  endFirst();
}

static void precompile(llvm::ArrayRef<PchRecipe> Recipes,
                       const AnalysisOptions &Options,
                       const CacheFolder &Folder, FileSystem FS) {
  FileSets Sets(Folder, FS);
  LibraryPchs Pchs(Folder, Sets);
  WorkLimits Limits = Options.Limits;
  if (!Limits.Processor)
    Limits.Processor = MostSeconds;
  Workers Pool(1, Limits);
  for (const PchRecipe &R : Recipes) {
    // Another process may have made it, or tried to.
    if (!Pchs.isToBeMade(R.Key))
      continue;
    Pool.start(0, [&]() -> std::string {
      Pchs.maker().note(R.Key, R.Seconds);
      Pchs.build(R, FS);
      return "";
    });
    Pool.wait();
  }
  Pchs.removeOrphans();
  Folder.shrink(uint64_t(Options.Cache.Megabytes) << 20);
}

void precompileAfter(const Analysis &After, const AnalysisOptions &Options,
                     StringRef VfsOverlay) {
  if (After.Postponed.empty() || ::fork() != 0)
    return;
  ::setsid();
  closeAllFiles();
  giveWay();
  std::optional<CacheFolder> Folder = CacheFolder::open(Options.Cache);
  llvm::Expected<FileSystem> FS = createFileSystem(VfsOverlay);
  // The folder of the caller may be on a disk that is to be taken out.
  if (Folder && FS && ::chdir("/") == 0 && BackgroundMaker(*Folder).becomeIt())
    precompile(After.Postponed, Options, *Folder, *FS);
  // No destructors: what they tidy up is the caller's.
  ::_exit(0);
}

} // namespace libtorch_tidy::driver
