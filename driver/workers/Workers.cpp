//===- Workers.cpp - Work in processes of its own -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/workers/Workers.h"
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
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <set>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <malloc.h>
#include <sys/prctl.h>
#endif

using llvm::StringRef;

namespace libtorch_tidy::driver {

/// What the parent does not see at the end of a result was not finished.
static constexpr char EndMark = '.';

/// The most that a unit without a precompiled header was seen to take, and the
/// making of one, in bytes.
static constexpr uint64_t MemoryPerWorker = 600ULL << 20;

/// Stands on the standard error between what was written before and after a
/// copy was parked.
static constexpr StringRef ParkMark("\0parked\n", 8);

/// What a process says, in memory that it shares with its parent.
struct Workers::Shared {
  double Clock = 0; ///< When it began.
  /// The processor time that it had taken when it began anew for the first and
  /// for the last time.
  std::atomic<double> FirstAnew{-1}, LastAnew{0};
  /// The memory that it has from its parent.
  std::atomic<uint64_t> FromParent{UINT64_MAX};
  std::atomic<pid_t> Copy{-1}; ///< The one that it left.
  char Doing[512] = {};
};

Workers::Shared *Workers::Own = nullptr;
int Workers::OwnResult = -1, Workers::OwnChannel = -1;

/// The ends of channels that this process writes to. They are of no use in
/// another one, and a process has only so many open files.
static std::set<int> &openChannels() {
  static std::set<int> Open;
  return Open;
}

static double secondsOf(clockid_t Which) {
  timespec Time = {};
  ::clock_gettime(Which, &Time);
  return Time.tv_sec + Time.tv_nsec * 1e-9;
}

double processorSeconds([[maybe_unused]] int Process) {
#ifdef __linux__
  clockid_t Clock;
  timespec Taken;
  if (::clock_getcpuclockid(Process, &Clock) == 0 &&
      ::clock_gettime(Clock, &Taken) == 0)
    return double(Taken.tv_sec) + double(Taken.tv_nsec) / 1e9;
#endif
  return 0;
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

void endFirst() {
#ifdef __linux__
  const int FD = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (FD < 0)
    return;
  writeAll(FD, "1000");
  ::close(FD);
#endif
}

/// How often what those that run take is looked at, in milliseconds.
static constexpr int LookEvery = 200;

static int closedOnExec(int FD) {
  ::fcntl(FD, F_SETFD, FD_CLOEXEC);
  return FD;
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

Workers::Worker Workers::begin(size_t Id, WorkTime Before) {
  Worker W;
  W.Sofar.Id = Id;
  W.Sofar.Took = Before;
  return W;
}

/// A piece of work has two open files: there is no sane run that has none left.
/// It is reported as a crash of the unit.
std::optional<Workers::WriteEnds> Workers::openPipes(Worker &W) {
  int Result[2], Errors[2];
  if (::pipe(Result) != 0)
    return std::nullopt;
  if (::pipe(Errors) != 0) {
    ::close(Result[0]);
    ::close(Result[1]);
    return std::nullopt;
  }
  W.ResultPipe = closedOnExec(Result[0]);
  W.ErrorPipe = closedOnExec(Errors[0]);
  return WriteEnds{closedOnExec(Result[1]), closedOnExec(Errors[1])};
}

/// A copy that is parked outlives the process that it is a copy of. It becomes
/// a child of this one then, if the system knows how.
static bool adoptsOrphans() {
#ifdef __linux__
  static const bool Does = ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
  return Does;
#else
  return false;
#endif
}

static void endWith(pid_t Parent) {
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
  if (::getppid() != Parent)
    ::_exit(1);
}

void Workers::start(size_t Id, llvm::function_ref<std::string()> Work,
                    WorkTime Before, bool MayPark) {
  Worker W = begin(Id, Before);
  void *Memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (Memory != MAP_FAILED) {
    W.Said = new (Memory) Shared;
    W.Said->Clock = secondsOf(CLOCK_MONOTONIC);
  }
  int Channel[2] = {-1, -1};
  if (MayPark && W.Said && adoptsOrphans() &&
      ::socketpair(AF_UNIX, SOCK_STREAM, 0, Channel) == 0)
    openChannels().insert(W.Sofar.Copy.Channel = closedOnExec(Channel[0]));
  if (std::optional<WriteEnds> Ends = openPipes(W)) {
    llvm::errs().flush();
    const pid_t Parent = ::getpid();
    W.Process = ::fork();
    if (W.Process == 0) {
      endWith(Parent);
      ::close(W.ResultPipe);
      ::close(W.ErrorPipe);
      llvm::for_each(openChannels(), ::close);
      ::dup2(Ends->Errors, STDERR_FILENO);
      ::close(Ends->Errors);
      OwnResult = Ends->Result;
      OwnChannel = Channel[1] >= 0 ? closedOnExec(Channel[1]) : -1;
      if (W.Said) {
        Own = W.Said;
        Own->FromParent = memoryOf(::getpid());
        cpp::Activity::writeTo(W.Said->Doing, sizeof(W.Said->Doing));
      }
      allowDeepRecursion();
      std::string Text = Work();
      llvm::errs().flush();
      writeAll(OwnResult, Text);
      writeAll(OwnResult, StringRef(&EndMark, 1));
      // No destructors: what they tidy up is the parent's.
      ::_exit(0);
    }
    ::close(Ends->Result);
    ::close(Ends->Errors);
    if (W.Process < 0)
      W.Sofar.Errors =
          "cannot start a process: " + llvm::sys::StrError() + "\n";
  }
  if (Channel[1] >= 0)
    ::close(Channel[1]);
  Running.push_back(std::move(W));
}

namespace {

/// The head of a message: its size, and two open files.
struct Letterhead {
  explicit Letterhead(uint64_t Size = 0) : Size(Size) {
    Header.msg_iov = &Part;
    Header.msg_iovlen = 1;
    Header.msg_control = Control;
    Header.msg_controllen = sizeof(Control);
  }
  Letterhead(const Letterhead &) = delete;
  Letterhead &operator=(const Letterhead &) = delete;

  uint64_t Size;
  int Files[2] = {-1, -1};
  iovec Part = {&Size, sizeof(Size)};
  alignas(cmsghdr) char Control[CMSG_SPACE(sizeof(Files))] = {};
  msghdr Header = {};
};

} // namespace

/// Sends \p Message, and two open files with it, to who waits in receive().
static void send(int Channel, StringRef Message, int First, int Second) {
  Letterhead Head(Message.size());
  cmsghdr *Files = CMSG_FIRSTHDR(&Head.Header);
  Files->cmsg_level = SOL_SOCKET;
  Files->cmsg_type = SCM_RIGHTS;
  Files->cmsg_len = CMSG_LEN(sizeof(Head.Files));
  Head.Files[0] = First;
  Head.Files[1] = Second;
  std::memcpy(CMSG_DATA(Files), Head.Files, sizeof(Head.Files));
  // What it does not get, it cannot answer: that is seen at its pipes.
  if (::sendmsg(Channel, &Head.Header, MSG_NOSIGNAL) != sizeof(Head.Size))
    return;
  while (!Message.empty()) {
    const ssize_t Count = llvm::sys::RetryAfterSignal(
        -1, ::send, Channel, Message.data(), Message.size(), MSG_NOSIGNAL);
    if (Count <= 0)
      return;
    Message = Message.drop_front(Count);
  }
}

/// Nullopt: nobody will send anything any more.
static std::optional<std::string> receive(int Channel, int (&Files)[2]) {
  Letterhead Head;
  const cmsghdr *Sent = nullptr;
  if (llvm::sys::RetryAfterSignal(-1, ::recvmsg, Channel, &Head.Header,
                                  MSG_WAITALL) != sizeof(Head.Size) ||
      !(Sent = CMSG_FIRSTHDR(&Head.Header)) ||
      Sent->cmsg_len != CMSG_LEN(sizeof(Files)))
    return std::nullopt;
  std::memcpy(Files, CMSG_DATA(Sent), sizeof(Files));
  std::string Message(Head.Size, '\0');
  for (size_t Has = 0; Has < Message.size();) {
    const ssize_t Count = llvm::sys::RetryAfterSignal(
        -1, ::read, Channel, Message.data() + Has, Message.size() - Has);
    if (Count <= 0)
      return std::nullopt;
    Has += Count;
  }
  return Message;
}

std::optional<std::string> Workers::park() {
  if (OwnChannel < 0)
    return std::nullopt;
  std::optional<std::string> Message;
  const pid_t Parent = ::getppid();
  for (;;) {
    llvm::errs().flush();
    writeAll(STDERR_FILENO, ParkMark);
    const pid_t Copy = ::fork();
    if (Copy != 0) {
      // Only who waits has the end of the channel.
      ::close(std::exchange(OwnChannel, -1));
      Own->Copy = Copy;
      return Message;
    }
    // The pipes of the process that goes on end with it. Their numbers are
    // kept.
    const int Nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int FD : {STDERR_FILENO, OwnResult})
      ::dup2(Nothing, FD);
    // It has much that was freed, and does again what it was to save.
    endFirst();
#if defined(__linux__) && defined(__GLIBC__)
    ::malloc_trim(0);
#endif
    int Files[2] = {-1, -1};
    Message = receive(OwnChannel, Files);
    if (!Message)
      ::_exit(0);
    endWith(Parent);
    ::dup2(Files[0], closedOnExec(OwnResult));
    ::dup2(Files[1], STDERR_FILENO);
    for (int FD : {Files[0], Files[1], Nothing})
      ::close(FD);
    closedOnExec(OwnResult);
  }
}

void Workers::resume(size_t Id, Parked Copy, StringRef Message,
                     WorkTime Before) {
  Worker W = begin(Id, Before);
  W.Process = std::exchange(Copy.Process, -1);
  W.Said = static_cast<Shared *>(std::exchange(Copy.Said, nullptr));
  W.Said->Copy = -1;
  W.Said->FirstAnew = -1;
  W.Said->LastAnew = 0;
  W.Said->Clock = secondsOf(CLOCK_MONOTONIC);
  W.Sofar.Resumed = true;
  if (std::optional<WriteEnds> Ends = openPipes(W)) {
    send(Copy.Channel, Message, Ends->Result, Ends->Errors);
    ::close(Ends->Result);
    ::close(Ends->Errors);
  } else {
    end(W);
  }
  W.Sofar.Copy = std::move(Copy);
  Running.push_back(std::move(W));
}

Parked &Parked::operator=(Parked &&Other) {
  std::swap(Process, Other.Process);
  std::swap(Channel, Other.Channel);
  std::swap(Said, Other.Said);
  std::swap(Earlier, Other.Earlier);
  return *this;
}

Parked::~Parked() {
  if (Channel >= 0) {
    openChannels().erase(Channel);
    ::close(Channel);
  }
  if (Process > 0) {
    ::kill(Process, SIGKILL);
    llvm::sys::RetryAfterSignal(-1, ::waitpid, Process, nullptr, 0);
  }
  if (Said)
    Workers::forget(Said);
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
  Result.Copy.Said = Said;
  if (Said)
    Result.Copy.Process = Said->Copy;
  const auto [Before, After] = StringRef(Result.Errors).split(ParkMark);
  Result.Copy.Earlier += Before;
  Result.Errors = Result.Copy.Earlier + After.str();
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
  if (!Result.Finished || !Result.Copy)
    Result.Copy = Parked();
  return Result;
}

void Workers::forget(void *Said) { ::munmap(Said, sizeof(Shared)); }

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

/// The bytes that this machine, or container, has left.
static uint64_t freeMemory() {
  uint64_t Free = UINT64_MAX;
  if (auto KiloBytes = numberIn("/proc/meminfo", "MemAvailable:"))
    Free = *KiloBytes << 10;
  // A container's share.
  if (auto Most = numberIn("/sys/fs/cgroup/memory.max"))
    if (auto Used = numberIn("/sys/fs/cgroup/memory.current"))
      Free = std::min(Free, *Most > *Used ? *Most - *Used : 0);
  return Free;
}

unsigned Workers::defaultCount() {
  uint64_t Count = llvm::hardware_concurrency().compute_thread_count();
  return std::max<uint64_t>(1, std::min(Count, freeMemory() / MemoryPerWorker));
}

ParkingLimit::ParkingLimit(unsigned AtATime) {
  // Before the first copy of the run: those of earlier rounds are still there.
  static const uint64_t AtFirst = freeMemory();
  Reserve = std::max(AtFirst / 4, AtATime * MemoryPerWorker);
  constexpr rlim_t Most = 10000;
  rlimit Files = {};
  ::getrlimit(RLIMIT_NOFILE, &Files);
  // A process has 1024 mostly, and may have more if it asks.
  if (Files.rlim_cur < 2 * Most) {
    Files.rlim_cur = std::min(Files.rlim_max, 2 * Most);
    ::setrlimit(RLIMIT_NOFILE, &Files);
    ::getrlimit(RLIMIT_NOFILE, &Files);
  }
  Left = std::min(Files.rlim_cur / 2, Most);
}

bool ParkingLimit::mayPark() {
  if (Left == 0 || freeMemory() <= Reserve)
    return false;
  --Left;
  return true;
}

bool ParkingLimit::isExceeded() const { return freeMemory() < Reserve / 2; }

} // namespace libtorch_tidy::driver
