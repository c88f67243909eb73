//===- BackgroundMaker.cpp - Who makes headers after a run ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/pch/BackgroundMaker.h"
#include "driver/cache/Archive.h"
#include "driver/workers/Workers.h"
#include "llvm/Support/FileSystem.h"
#include <algorithm>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

using llvm::StringRef;
namespace fs = llvm::sys::fs;

namespace libtorch_tidy::driver {

namespace {
struct Note {
  int64_t Process = 0;
  double Seconds = 0; ///< Of processor time, that it will take.
};
} // namespace

static constexpr StringRef Lock = "background.lock";

bool BackgroundMaker::becomeIt() const {
  int FD;
  return !fs::openFileForReadWrite(Folder.pathOf(Lock), FD, fs::CD_OpenAlways,
                                   fs::OF_None) &&
         !fs::tryLockFile(FD);
}

int BackgroundMaker::process() const {
  const int FD = ::open(Folder.pathOf(Lock).c_str(), O_RDONLY | O_CLOEXEC);
  if (FD < 0)
    return 0;
  struct flock Held = {};
  Held.l_type = F_WRLCK;
  Held.l_whence = SEEK_SET;
  const bool Known = ::fcntl(FD, F_GETLK, &Held) == 0 && Held.l_type != F_UNLCK;
  ::close(FD);
  // One on another machine, or in another container, has no number here.
  return Known ? std::max<int>(Held.l_pid, 0) : 0;
}

void BackgroundMaker::note(StringRef Key, double Seconds) const {
  Folder.write(noteOf(Key), toBytes(Note{::getpid(), Seconds}));
}

BackgroundMaker::Progress BackgroundMaker::progressOf(StringRef Key) const {
  const int Maker = process();
  const auto Noted = fromBytes<Note>(Folder.read(noteOf(Key)));
  fs::file_status Status;
  if (!Maker || !Noted || Noted->Seconds <= 0 ||
      ::getpgid(pid_t(Noted->Process)) != Maker ||
      fs::status(Folder.pathOf(noteOf(Key)), Status))
    return Progress::None;
  const double Taken = processorSeconds(int(Noted->Process));
  const double Passed =
      std::chrono::duration<double>(std::chrono::system_clock::now() -
                                    Status.getLastModificationTime())
          .count();
  // A clock that was turned back does not say how long it takes.
  if (Passed < 0)
    return Progress::Starved;
  // What it got of a processor in so short a time says nothing.
  constexpr double Short = 0.5;
  if (Passed < Short)
    return Progress::OnTheWay;
  // One that takes longer than expected may end at any moment, or not yet.
  const double Left = std::max(Noted->Seconds - Taken, Noted->Seconds / 10),
               Wait = Left * Passed / std::max(Taken, 0.001);
  return Wait > 2 * Noted->Seconds   ? Progress::Starved
         : Wait < Noted->Seconds / 2 ? Progress::NearlyDone
                                     : Progress::OnTheWay;
}

bool BackgroundMaker::leavesToUs(StringRef Key) const {
  using namespace std::chrono_literals;
  bool Waited = false;
  // This ends: what gets no processor is starved after a while.
  for (Progress Now; (Now = progressOf(Key)) != Progress::None; Waited = true) {
    // It leads a group of its own. What it was about to make after this is
    // wanted again by who needs it.
    if (const int Maker = Now == Progress::Starved ? process() : 0; Maker > 0) {
      ::kill(-Maker, SIGKILL);
      return true;
    }
    std::this_thread::sleep_for(20ms);
  }
  return !Waited;
}

} // namespace libtorch_tidy::driver
