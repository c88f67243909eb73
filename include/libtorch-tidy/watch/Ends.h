//===- Ends.h - A last report, however the program ends ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A signal may end the program at any point: with locks held, on a stack that
/// is full, with a heap that is damaged. So the handler itself only copies the
/// process, waits for the copy, which writes the report, and ends the program
/// as the signal would have done without it.

#ifndef LIBTORCH_TIDY_WATCH_ENDS_H
#define LIBTORCH_TIDY_WATCH_ENDS_H

#include "libtorch-tidy/watch/System.h"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <mutex>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <utility>

namespace libtorch_tidy::detail {

struct EndSignal {
  int Number;
  const char *Name;
  /// Whether it can wait: the thread goes on when its handler returns.
  bool Waits;
};

/// Signals that end a program that says nothing else about them.
constexpr EndSignal EndSignals[] = {
    {SIGABRT, "SIGABRT", false}, {SIGBUS, "SIGBUS", false},
    {SIGFPE, "SIGFPE", false},   {SIGILL, "SIGILL", false},
    {SIGSEGV, "SIGSEGV", false}, {SIGSYS, "SIGSYS", false},
    {SIGHUP, "SIGHUP", true},    {SIGINT, "SIGINT", true},
    {SIGPIPE, "SIGPIPE", true},  {SIGQUIT, "SIGQUIT", true},
    {SIGTERM, "SIGTERM", true},  {SIGXCPU, "SIGXCPU", true}};

inline const EndSignal &endSignal(int Number) {
  const EndSignal *S = EndSignals;
  while (S->Number != Number)
    ++S;
  return *S;
}

/// Has \p Handler called for those that nobody handles or ignores yet.
inline void onEndSignals(void (*Handler)(int)) {
  for (const EndSignal &S : EndSignals) {
    struct sigaction Old, New{};
    New.sa_handler = Handler;
    New.sa_flags = SA_ONSTACK | SA_RESTART;
    ::sigfillset(&New.sa_mask);
    if (::sigaction(S.Number, nullptr, &Old) == 0 &&
        !(Old.sa_flags & SA_SIGINFO) && Old.sa_handler == SIG_DFL)
      ::sigaction(S.Number, &New, nullptr);
  }
}

/// To be called by a handler: the signal does what it does by default as soon
/// as the handler returns.
inline void endByDefault(int Number) {
  ::signal(Number, SIG_DFL);
  ::raise(Number);
}

inline void sleepMilliseconds(int Count) {
  std::timespec Time = {Count / 1000, Count % 1000 * 1000000L};
  ::nanosleep(&Time, nullptr);
}

/// Calls \p Work in a copy of the process that has only this thread, and waits
/// until it is done; if the heap is damaged or locked, for a few seconds. No
/// handler of fork() runs, and no SIGCHLD comes.
template <class Function> void inCopy(Function Work) {
  long Copy = ::syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);
  if (Copy == 0) {
    for (const EndSignal &S : EndSignals)
      ::signal(S.Number, SIG_DFL);
    ::signal(SIGALRM, SIG_DFL);
    sigset_t None;
    ::sigemptyset(&None);
    ::sigprocmask(SIG_SETMASK, &None, nullptr);
    ::alarm(5);
    struct rlimit NoCore = {0, 0};
    ::setrlimit(RLIMIT_CORE, &NoCore);
    try {
      Work();
    } catch (...) { // No memory: there is no report then.
    }
    ::_exit(0);
  }
  while (Copy > 0 && ::waitpid(static_cast<pid_t>(Copy), nullptr, __WALL) < 0 &&
         errno == EINTR)
    ;
}

/// A stack for handlers of this thread, if it has none: its own may be full.
class SignalStack {
public:
  SignalStack() {
    stack_t Now{};
    if (::sigaltstack(nullptr, &Now) != 0 || !(Now.ss_flags & SS_DISABLE))
      return;
    Now.ss_sp = Pages = takePages(Size);
    Now.ss_size = Size;
    Now.ss_flags = 0;
    ::sigaltstack(&Now, nullptr);
  }
  SignalStack(const SignalStack &) = delete;
  SignalStack &operator=(const SignalStack &) = delete;
  ~SignalStack() {
    stack_t Now{};
    if (!Pages || ::sigaltstack(nullptr, &Now) != 0)
      return;
    if (Now.ss_sp == Pages) {
      Now.ss_flags = SS_DISABLE;
      ::sigaltstack(&Now, nullptr);
    }
    givePages(Pages, Size);
  }

private:
  static constexpr size_t Size = size_t(1) << 17;
  void *Pages = nullptr;
};

/// A mutex that handlers of signals can ask for. A signal that can wait and
/// comes to a thread that holds it, or waits for it, comes again once the
/// thread has given it back.
class SignalMutex {
public:
  void lock() {
    mine().Inside = true;
    Mutex.lock();
  }
  void unlock() {
    Mutex.unlock();
    mine().Inside = false;
    if (int Late = std::exchange(mine().Late, 0))
      ::raise(Late);
  }
  /// For at most a second; not at all where this thread has it.
  bool tryLock() {
    if (mine().Inside)
      return false;
    mine().Inside = true;
    for (int Tries = 0; Tries < 100; ++Tries) {
      if (Mutex.try_lock())
        return true;
      sleepMilliseconds(10);
    }
    mine().Inside = false;
    return false;
  }
  /// To be called by a handler. True: it comes again.
  bool comesLater(const EndSignal &S) {
    if (!S.Waits || !mine().Inside)
      return false;
    mine().Late = S.Number;
    return true;
  }
  /// What has come to the thread before it was copied is its parent's.
  void unlockInChild() {
    mine().Late = 0;
    unlock();
  }

private:
  struct OfThread {
    volatile bool Inside = false;
    int Late = 0;
  };
  static OfThread &mine() {
    static thread_local OfThread T;
    return T;
  }
  std::mutex Mutex;
};

} // namespace libtorch_tidy::detail

#endif // LIBTORCH_TIDY_WATCH_ENDS_H
