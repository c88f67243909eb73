//===- Workers.cpp - Work in processes of its own -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/engine/Workers.h"
#include "analysis/cpp/Activity.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

using llvm::StringRef;

namespace libtorch_tidy::driver {

/// What the parent does not see at the end of a result was not finished.
static constexpr char EndMark = '.';

/// The most that a unit without a precompiled header was seen to take, and the
/// making of one, in bytes.
static constexpr uint64_t MemoryPerWorker = 600ULL << 20;

/// What a process says, in memory that it shares with its parent.
struct Workers::Shared {
  double Clock = 0; ///< When it began.
  /// The processor time that it had taken when it began anew for the first and
  /// for the last time.
  std::atomic<double> FirstAnew{-1}, LastAnew{0};
  /// The memory that it has from its parent.
  std::atomic<uint64_t> FromParent{UINT64_MAX};
  char Doing[512] = {};
};

Workers::Shared *Workers::Own = nullptr;

static double secondsOf(clockid_t Which) {
  timespec Time = {};
  ::clock_gettime(Which, &Time);
  return Time.tv_sec + Time.tv_nsec * 1e-9;
}

void Workers::beginAnew() {
  if (!Own)
    return;
  const double Now = secondsOf(CLOCK_PROCESS_CPUTIME_ID);
  if (Own->FirstAnew < 0)
    Own->FirstAnew = Now;
  Own->LastAnew = Now;
}

/// What a process holds in memory that no file backs, in bytes. 0: not known.
static uint64_t memoryOf(pid_t Process) {
  auto Buffer = llvm::MemoryBuffer::getFileAsStream(
      ("/proc/" + llvm::Twine(Process) + "/statm").str());
  if (!Buffer)
    return 0;
  // All, what is in memory, and what of that is shared, in pages.
  StringRef Text = (*Buffer)->getBuffer();
  uint64_t All, Here, SharedPages;
  if (Text.consumeInteger(10, All) || (Text = Text.ltrim()).empty() ||
      Text.consumeInteger(10, Here) || (Text = Text.ltrim()).empty() ||
      Text.consumeInteger(10, SharedPages))
    return 0;
  static const uint64_t PageSize = ::sysconf(_SC_PAGESIZE);
  return (Here - std::min(Here, SharedPages)) * PageSize;
}

/// How often what those that run take is looked at, in milliseconds.
static constexpr int LookEvery = 200;

static int closedOnExec(int FD) {
  ::fcntl(FD, F_SETFD, FD_CLOEXEC);
  return FD;
}

static void writeAll(int FD, StringRef Text) {
  while (!Text.empty()) {
    ssize_t Count = ::write(FD, Text.data(), Text.size());
    if (Count < 0 && errno == EINTR)
      continue;
    if (Count <= 0)
      return;
    Text = Text.drop_front(Count);
  }
}

/// Expressions nest as deep as the sums of a generated file are long, and most
/// walks recurse. The system leaves at least 128 MB of addresses below the
/// stack of a process; they cost nothing unless they are used.
static void allowDeepRecursion() {
  constexpr rlim_t Enough = 100 << 20;
  rlimit Limit;
  if (::getrlimit(RLIMIT_STACK, &Limit) == 0 && Limit.rlim_cur < Enough) {
    Limit.rlim_cur = std::min(Enough, Limit.rlim_max);
    ::setrlimit(RLIMIT_STACK, &Limit);
  }
}

Workers::~Workers() {
  for (const Worker &W : Running)
    ::kill(W.Process, SIGTERM);
  while (!Running.empty())
    wait();
}

void Workers::start(size_t Id, llvm::function_ref<std::string()> Work,
                    WorkTime Before) {
  Worker W;
  W.Sofar.Id = Id;
  W.Sofar.Took = Before;
  void *Memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (Memory != MAP_FAILED) {
    W.Said = new (Memory) Shared;
    W.Said->Clock = secondsOf(CLOCK_MONOTONIC);
  }
  int Result[2], Errors[2];
  // Two open files per worker: there is no sane run that has none left. It is
  // reported as a crash of the unit.
  const bool HaveResult = ::pipe(Result) == 0;
  const bool HaveErrors = HaveResult && ::pipe(Errors) == 0;
  if (HaveErrors) {
    llvm::errs().flush();
    const pid_t Parent = ::getpid();
    W.Process = ::fork();
    if (W.Process == 0) {
#ifdef __linux__
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
      if (::getppid() != Parent)
        ::_exit(1);
      ::close(Result[0]);
      ::close(Errors[0]);
      ::dup2(Errors[1], STDERR_FILENO);
      ::close(Errors[1]);
      closedOnExec(Result[1]);
      if (W.Said) {
        Own = W.Said;
        Own->FromParent = memoryOf(::getpid());
        cpp::Activity::writeTo(W.Said->Doing, sizeof(W.Said->Doing));
      }
      allowDeepRecursion();
      std::string Text = Work();
      llvm::errs().flush();
      writeAll(Result[1], Text);
      writeAll(Result[1], StringRef(&EndMark, 1));
      // No destructors: what they tidy up is the parent's.
      ::_exit(0);
    }
    ::close(Result[1]);
    ::close(Errors[1]);
    W.ResultPipe = closedOnExec(Result[0]);
    W.ErrorPipe = closedOnExec(Errors[0]);
    if (W.Process < 0)
      W.Sofar.Errors =
          "cannot start a process: " + llvm::sys::StrError() + "\n";
  } else if (HaveResult) {
    ::close(Result[0]);
    ::close(Result[1]);
  }
  Running.push_back(std::move(W));
}

/// Reads what there is; closes the pipe at its end.
static void drain(int &FD, std::string &Into) {
  char Buffer[1 << 16], *Begin = Buffer;
  ssize_t Count =
      llvm::sys::RetryAfterSignal(-1, ::read, FD, Begin, sizeof(Buffer));
  if (Count > 0) {
    Into.append(Buffer, Count);
    return;
  }
  ::close(FD);
  FD = -1;
}

/// Processor time of a process that runs, or has not been waited for.
static double processorSeconds(pid_t Process) {
#ifdef __linux__
  clockid_t Clock;
  if (::clock_getcpuclockid(Process, &Clock) == 0)
    return secondsOf(Clock);
#endif
  return 0;
}

WorkCap Workers::capMetBy(const Worker &W) const {
  if (W.Process <= 0 || !W.Said)
    return WorkCap::None;
  const WorkTime &Before = W.Sofar.Took;
  if (Limits.Processor) {
    const double First = W.Said->FirstAnew < 0 ? Before.Processor : 0;
    if (processorSeconds(W.Process) - W.Said->LastAnew + First >
        Limits.Processor)
      return WorkCap::Processor;
  }
  if (Limits.Clock &&
      secondsOf(CLOCK_MONOTONIC) - W.Said->Clock + Before.Clock > Limits.Clock)
    return WorkCap::Clock;
  if (Limits.Memory) {
    const uint64_t Has = memoryOf(W.Process), Had = W.Said->FromParent;
    if (Has > Had && (Has - Had) >> 20 >= Limits.Memory)
      return WorkCap::Memory;
  }
  return WorkCap::None;
}

/// The outcome of one whose pipes are at their end.
std::optional<Workers::Outcome> Workers::takeEnded() {
  auto It = llvm::find_if(Running, [](const Worker &W) {
    return W.ResultPipe < 0 && W.ErrorPipe < 0;
  });
  if (It == Running.end())
    return std::nullopt;
  int Status = 1;
  rusage Usage = {};
  if (It->Process > 0)
    llvm::sys::RetryAfterSignal(-1, ::wait4, It->Process, &Status, 0, &Usage);
  Outcome Result = std::move(It->Sofar);
  Shared *const Said = It->Said;
  Running.erase(It);
  if (Said) {
    auto Seconds = [](const timeval &T) { return T.tv_sec + T.tv_usec * 1e-6; };
    Result.Took.Processor +=
        Said->FirstAnew < 0 ? Seconds(Usage.ru_utime) + Seconds(Usage.ru_stime)
                            : Said->FirstAnew.load();
    Result.Took.Clock += secondsOf(CLOCK_MONOTONIC) - Said->Clock;
  }
  Result.Finished = Status == 0 && StringRef(Result.Result).ends_with(EndMark);
  if (Result.Finished) {
    Result.Result.pop_back();
    Result.Met = WorkCap::None; // It was faster.
  } else if (Said) {
    Result.Doing = Said->Doing;
  }
  if (Said)
    ::munmap(Said, sizeof(Shared));
  return Result;
}

Workers::Outcome Workers::wait() {
  for (;;)
    if (std::optional<Outcome> Ended = waitOr({}, -1))
      return std::move(*Ended);
}

std::optional<Workers::Outcome>
Workers::waitOr(llvm::MutableArrayRef<pollfd> Others, int Milliseconds) {
  for (pollfd &Other : Others)
    Other.revents = 0;
  if (std::optional<Outcome> Ended = takeEnded())
    return Ended;
  std::vector<pollfd> Pipes;
  for (const Worker &W : Running)
    for (int FD : {W.ResultPipe, W.ErrorPipe})
      Pipes.push_back({FD, POLLIN, 0}); // Below 0, poll passes over it.
  Pipes.insert(Pipes.end(), Others.begin(), Others.end());
  if ((Limits.Processor || Limits.Clock || Limits.Memory) && !Running.empty() &&
      (Milliseconds < 0 || Milliseconds > LookEvery))
    Milliseconds = LookEvery;
  if (::poll(Pipes.data(), Pipes.size(), Milliseconds) < 0)
    return std::nullopt;
  for (Worker &W : Running)
    if (W.Sofar.Met == WorkCap::None &&
        (W.Sofar.Met = capMetBy(W)) != WorkCap::None)
      // It need not listen to anything milder any more. Its pipes end with
      // it.
      end(W);
  for (size_t I = 0; I < Running.size(); ++I) {
    if (Pipes[2 * I].revents)
      drain(Running[I].ResultPipe, Running[I].Sofar.Result);
    if (Pipes[2 * I + 1].revents)
      drain(Running[I].ErrorPipe, Running[I].Sofar.Errors);
  }
  llvm::copy(llvm::ArrayRef(Pipes).take_back(Others.size()), Others.begin());
  return takeEnded();
}

/// Not gently, with all that it began.
void Workers::end(const Worker &W) {
  if (W.Process > 0 && ::kill(-W.Process, SIGKILL) != 0)
    ::kill(W.Process, SIGKILL); // It leads no group.
}

void Workers::stop(size_t Id) {
  for (const Worker &W : Running)
    if (W.Sofar.Id == Id)
      end(W);
}

std::string Workers::doing(size_t Id) const {
  for (const Worker &W : Running)
    if (W.Sofar.Id == Id && W.Said)
      return W.Said->Doing;
  return {};
}

/// The first number in a file, for instance of /sys; absent when there is none.
static std::optional<uint64_t> numberIn(StringRef Path, StringRef After = "") {
  auto Buffer = llvm::MemoryBuffer::getFileAsStream(Path);
  if (!Buffer)
    return std::nullopt;
  StringRef Text = (*Buffer)->getBuffer();
  size_t At = Text.find(After);
  uint64_t Number;
  if (At == StringRef::npos ||
      Text.drop_front(At + After.size()).ltrim().consumeInteger(10, Number))
    return std::nullopt;
  return Number;
}

unsigned Workers::defaultCount() {
  uint64_t Count = llvm::hardware_concurrency().compute_thread_count();
  uint64_t Free = UINT64_MAX;
  if (auto KiloBytes = numberIn("/proc/meminfo", "MemAvailable:"))
    Free = *KiloBytes << 10;
  // A container's share.
  if (auto Most = numberIn("/sys/fs/cgroup/memory.max"))
    if (auto Used = numberIn("/sys/fs/cgroup/memory.current"))
      Free = std::min(Free, *Most > *Used ? *Most - *Used : 0);
  return std::max<uint64_t>(1, std::min(Count, Free / MemoryPerWorker));
}

} // namespace libtorch_tidy::driver
