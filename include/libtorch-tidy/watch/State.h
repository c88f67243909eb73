//===- State.h - The watch of this process ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_WATCH_STATE_H
#define LIBTORCH_TIDY_WATCH_STATE_H

#include "libtorch-tidy/watch/Ends.h"
#include "libtorch-tidy/watch/Report.h"
#include "libtorch-tidy/watch/Tensors.h"

#include <cerrno>
#include <ctime>
#include <exception>
#include <thread>

namespace libtorch_tidy {

/// What the watch does. See fromEnvironment() for the usual way to say it.
struct WatchOptions {
  /// Off: nothing is installed, and steps cost a test of a pointer.
  bool On = false;
  /// The file for the report as JSON; "%p" in it becomes the process number.
  /// Empty: none.
  std::string Report;
  /// Whether the verdict goes to the standard error stream at exit.
  bool Text = true;
  /// Takes a step of the name "interval" every so many seconds. 0: never.
  double Interval = 0;
  /// Which allocations have their stack noted.
  libtorch_tidy::Stacks Stacks = libtorch_tidy::Stacks::Auto;
  /// Whether nodes of autograd graphs are counted.
  bool Graph = true;
  /// Whether to listen to devices even if LibTorch sees none.
  bool Devices = false;

  /// LIBTORCH_TIDY_WATCH: unset, empty or 0: off; 1: on; else on, and the name
  /// of the report. LIBTORCH_TIDY_WATCH_TEXT=0, _INTERVAL=SECONDS,
  /// _STACKS=none|auto|all, _GRAPH=0, _DEVICES=1 are the other options.
  static WatchOptions fromEnvironment() {
    auto Get = [](const char *Name) {
      const char *Value = std::getenv(Name);
      return std::string(Value ? Value : "");
    };
    WatchOptions O;
    std::string Watch = Get("LIBTORCH_TIDY_WATCH");
    O.On = !Watch.empty() && Watch != "0";
    if (O.On && Watch != "1")
      O.Report = Watch;
    O.Text = Get("LIBTORCH_TIDY_WATCH_TEXT") != "0";
    O.Graph = Get("LIBTORCH_TIDY_WATCH_GRAPH") != "0";
    O.Devices = Get("LIBTORCH_TIDY_WATCH_DEVICES") == "1";
    O.Interval = std::atof(Get("LIBTORCH_TIDY_WATCH_INTERVAL").c_str());
    std::string Kind = Get("LIBTORCH_TIDY_WATCH_STACKS");
    O.Stacks = Kind == "all"    ? Stacks::All
               : Kind == "none" ? Stacks::None
                                : Stacks::Auto;
    return O;
  }
};

namespace detail {

/// Installs the watch, takes steps, writes reports. One for the process; it is
/// never destroyed.
class State {
public:
  explicit State(const WatchOptions &O) : Options(O) {
    Tracker &T = tracker();
    T.Mode = O.Stacks;
    if (O.Stacks != Stacks::None)
      T.Made.capture(nullptr); // The unwinder loads a library the first time.
    HeapKnown = heapIsKnown();
    openStatFile();
    watchCpu();
    watchDevices(O.Devices);
    GraphKnown = O.Graph && watchGraph();
    All.reserve(MaxSeries);
    Owner = ::getpid();
    Began = std::time(nullptr);
  }

  void start() {
    static const auto AtExit = [] { current()->finish("exit"); };
    std::atexit(AtExit);
    std::at_quick_exit(AtExit);
    OldTerminate = std::set_terminate([] {
      current()->finish("exception");
      if (current()->OldTerminate)
        current()->OldTerminate();
      std::abort();
    });
    if (Options.Text || !Options.Report.empty())
      onEndSignals([](int Number) { current()->finishBy(Number); });
    // Whoever forks holds no lock of the watch, and neither does the child.
    ::pthread_atfork(
        [] {
          current()->Mutex.lock();
          tracker().forEachMutex([](std::mutex &M) { M.lock(); });
        },
        [] {
          tracker().forEachMutex([](std::mutex &M) { M.unlock(); });
          current()->Mutex.unlock();
        },
        [] {
          tracker().forEachMutex([](std::mutex &M) { M.unlock(); });
          current()->Forked = true;
          current()->Mutex.unlockInChild();
        });
    if (Options.Interval > 0)
      std::thread([this] {
        while (!Finished.load()) {
          std::this_thread::sleep_for(
              std::chrono::duration<double>(Options.Interval));
          if (!Finished.load())
            step("interval");
        }
      }).detach();
  }

  static State *&current() {
    static State *S = nullptr;
    return S;
  }

  void step(const char *Label) {
    watchDevices(Options.Devices);
    static thread_local SignalStack Stack;
    std::lock_guard<SignalMutex> Lock(Mutex);
    if (Forked)
      becomeOwner();
    Series *S = seriesOf(Label);
    if (!S)
      return;
    if (GraphKnown)
      watchGraphAgain();
    tracker().suspect();
    if (!S->count(tracker()))
      return;
    Point P = look();
    S->add(P, tracker());
    // A program that the system ends leaves a report of a little before.
    if (!Options.Report.empty() && P.Seconds > NextWrite) {
      write("running");
      NextWrite = P.Seconds + std::max(std::min(P.Seconds - OwnedAt, 10.0),
                                       20 * (seconds() - P.Seconds));
    }
  }

  /// Enters and leaves a region. Both return what is alive then.
  RegionFigures enter(const char *Name) {
    std::lock_guard<SignalMutex> Lock(Mutex);
    RegionFigures Start = {"", 0, tracker().liveBytes(),
                           tracker().Nodes.load()};
    std::strncpy(Start.Name, Name, sizeof Start.Name - 1);
    return Start;
  }
  void leave(const RegionFigures &Start) {
    std::lock_guard<SignalMutex> Lock(Mutex);
    auto R = std::find_if(Regions.begin(), Regions.end(), [&](auto &Old) {
      return std::strcmp(Old.Name, Start.Name) == 0;
    });
    if (R == Regions.end()) {
      if (Regions.size() == MaxSeries)
        return;
      R = Regions.insert(R, Start);
      R->Bytes = R->Nodes = 0;
    }
    // The first time fills caches: it is not counted among the later ones.
    if (R->Times++ == 0)
      return;
    R->Bytes += tracker().liveBytes() - Start.Bytes;
    R->Nodes += tracker().Nodes.load() - Start.Nodes;
  }

  std::string text() {
    std::lock_guard<SignalMutex> Lock(Mutex);
    return asText(gather("running"));
  }

  void report() {
    std::lock_guard<SignalMutex> Lock(Mutex);
    write("running");
    print("running");
  }

  /// The last report, once. An exception may have left a step half done: then
  /// there is none.
  void finish(const char *End) {
    if (Finished || ::getpid() != Owner || !Mutex.tryLock())
      return;
    if (!Finished.exchange(true)) {
      write(End);
      print(End);
    }
    Mutex.unlock();
  }

  /// The same, by a signal that ends the program with this.
  void finishBy(int Number) {
    const int Error = errno;
    const EndSignal &Signal = endSignal(Number);
    const bool IsOurs = ::getpid() == Owner && !Finished;
    if (IsOurs && Mutex.comesLater(Signal)) {
      errno = Error;
      return;
    }
    // Never unlocked: no other thread goes on with what the copy works on.
    if (IsOurs && Mutex.tryLock() && !Finished.exchange(true)) {
      Ending = true;
      inCopy([&] {
        write(Signal.Name);
        print(Signal.Name);
      });
      Ending = false;
    }
    // One that comes to another thread meanwhile waits for the report.
    for (int Tries = 0; Ending && Tries < 600; ++Tries)
      sleepMilliseconds(10);
    endByDefault(Number);
    errno = Error;
  }

private:
  static constexpr size_t MaxSeries = 32;

  /// The first step of a forked process: what it reports are its own steps. A
  /// thread that takes steps by the clock is the parent's.
  void becomeOwner() {
    Forked = false;
    Parent = Owner;
    Owner = ::getpid();
    All.clear();
    Regions.clear();
    Finished = false;
    OwnedAt = seconds();
    NextWrite = OwnedAt + 1;
    openStatFile();
  }

  double seconds() const {
    return static_cast<double>(nanoseconds() - tracker().Start) / 1e9;
  }

  /// Of this thread.
  static double cpuSeconds() {
    std::timespec Time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &Time);
    return static_cast<double>(Time.tv_sec) +
           static_cast<double>(Time.tv_nsec) / 1e9;
  }

  Series *seriesOf(const char *Label) {
    for (Series *S : All)
      if (std::strncmp(S->Label, Label, sizeof S->Label - 1) == 0)
        return S;
    if (All.size() == MaxSeries)
      return nullptr;
    All.push_back(new (takePages(sizeof(Series))) Series(Label));
    return All.back();
  }

  /// The split of memory, now.
  Point look() {
    Tracker &T = tracker();
    Point P;
    std::fill(std::begin(P.Values), std::end(P.Values), -1);
    P.Seconds = seconds();
    askDevices();
    // The system takes its time for these figures, above all glibc, which
    // walks through all its free pieces. Where that is more than one percent
    // of the run, some steps go without.
    if (SystemSeconds <= P.Seconds / 100 + 0.005) {
      double Before = cpuSeconds();
      if (HeapKnown) {
        Heap H = heap();
        P.Values[HeapUsed] =
            std::max<int64_t>(0, H.Used - T.Devices[0].Live.load());
        P.Values[HeapKept] = H.Kept;
      }
      Process Now = process();
      P.Values[ProcessRss] = Now.Rss;
      P.Values[ThreadsNow] = Now.Threads - (Options.Interval > 0 ? 1 : 0);
      SystemSeconds += cpuSeconds() - Before;
    }
    P.Values[GraphNodes] = GraphKnown ? T.Nodes.load() : -1;
    P.Values[ThreadsSeen] = T.Threads.load();
    P.Values[Allocated] = T.Allocations.load();
    uint64_t Sizes = T.Sizes.exchange(0);
    P.Values[OtherSizes] = Sizes != LastSizes;
    LastSizes = Sizes;
    T.forEachDevice([&](uint32_t I, DeviceFigures &D) {
      P.Values[metricOf(I, TensorBytes)] = D.Live.load();
      P.Values[metricOf(I, TensorCount)] = D.Count.load();
      P.Values[metricOf(I, TensorPeak)] = D.Peak.exchange(D.Live.load());
      P.Values[metricOf(I, TensorLargest)] = D.Largest.exchange(0);
      P.Values[metricOf(I, CacheAllocated)] = D.Allocated.load();
      P.Values[metricOf(I, CacheReserved)] = D.Reserved.load();
    });
    return P;
  }

  RunSummary gather(const char *End) {
    RunSummary Run = {End,      seconds(), Began,      Owner,
                      Parent,   HeapKnown, GraphKnown, fileName(),
                      &Regions, {},        {}};
    for (Series *S : All) {
      Run.Series.push_back(S);
      for (Verdict &V : Judge(*S, tracker()).verdicts())
        Run.Verdicts.push_back(std::move(V));
    }
    return Run;
  }

  /// A child that names no process writes another file than its parent:
  /// "watch-123.json".
  std::string fileName() const {
    std::string Name = Options.Report, Number = std::to_string(Owner);
    size_t At = Name.find("%p");
    if (At != std::string::npos)
      return Name.replace(At, 2, Number);
    if (Parent && !Name.empty()) {
      At = Name.find('.', Name.rfind('/') + 1);
      Name.insert(std::min(At, Name.size()), "-" + Number);
    }
    return Name;
  }

  void print(const char *End) {
    if (!Options.Text)
      return;
    std::string Text = asText(gather(End));
    writeAll(STDERR_FILENO, Text);
  }

  /// Without a stream, which another thread may have locked.
  static bool writeAll(int File, const std::string &Text) {
    size_t Done = 0;
    while (Done < Text.size()) {
      ssize_t Now = ::write(File, Text.data() + Done, Text.size() - Done);
      if (Now < 0 && errno != EINTR)
        return false;
      Done += Now < 0 ? 0 : static_cast<size_t>(Now);
    }
    return true;
  }

  /// Writes a file next to the one that is asked for and renames it, so that
  /// there is a whole one at any time.
  void write(const char *End) {
    if (Options.Report.empty())
      return;
    std::string Name = fileName(), Part = Name + ".part";
    std::string Json = asJson(gather(End));
    int File =
        ::open(Part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool Good = File >= 0 && writeAll(File, Json);
    if (File >= 0)
      Good = ::close(File) == 0 && Good;
    if (!Good || std::rename(Part.c_str(), Name.c_str()) != 0)
      writeAll(STDERR_FILENO, "libtorch-tidy watch: cannot write '" + Name +
                                  "': " + std::strerror(errno) + "\n");
  }

  WatchOptions Options;
  SignalMutex Mutex;
  PageVector<Series *> All;
  PageVector<RegionFigures> Regions;
  bool HeapKnown = false, GraphKnown = false;
  double SystemSeconds = 0, NextWrite = 1, OwnedAt = 0;
  uint64_t LastSizes = 0;
  std::atomic<bool> Finished{false}, Ending{false};
  bool Forked = false;         ///< And no step was taken since.
  pid_t Owner = 0, Parent = 0; ///< Whose steps these are; whose fork it is.
  std::time_t Began = 0;
  std::terminate_handler OldTerminate = nullptr;
};

/// The state, made by the first watch that is on. Null while there is none.
inline State *stateFor(const WatchOptions &O) {
  static std::mutex Mutex;
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!State::current() && O.On) {
    State::current() = new State(O);
    State::current()->start();
  }
  return State::current();
}

} // namespace detail
} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_WATCH_STATE_H
