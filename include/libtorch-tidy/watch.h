//===- watch.h - Who holds the memory of a running program ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Splits the memory of a program that uses LibTorch by owner, step by step,
/// and says at its end what grows and which lines made it:
///
/// \code
///   #include <libtorch-tidy/watch.h>
///
///   int main() {
///     libtorch_tidy::Watch watch;
///     for (auto &batch : *loader) {
///       ...
///       watch.step();
///     }
///   }
/// \endcode
///
/// `LIBTORCH_TIDY_WATCH=report.json ./program` writes the verdict to the
/// standard error stream, and with all figures to report.json.
/// `libtorch-tidy watch report report.json` says the lines. Without that
/// variable the watch is off and costs nothing.
///
/// For Linux with glibc, LibTorch 1.13 to 2.14, C++17. Any number of files of a
/// program may include this. Needs no library but LibTorch. See docs/watch.md.

#ifndef LIBTORCH_TIDY_WATCH_H
#define LIBTORCH_TIDY_WATCH_H

#include "libtorch-tidy/watch/State.h"

namespace libtorch_tidy {

/// Notes how much memory is kept when it ends, compared with its begin. Made
/// by Watch::region().
class [[nodiscard]] Region {
public:
  Region(const Region &) = delete;
  Region &operator=(const Region &) = delete;
  ~Region() {
    if (State)
      State->leave(Start);
  }

private:
  friend class Watch;
  Region(detail::State *State, const char *Name) : State(State) {
    if (State)
      Start = State->enter(Name);
  }
  detail::State *State;
  detail::RegionFigures Start;
};

/// The watch. The first one that is on installs it for the rest of the run, for
/// all threads and with its options; others share it. It goes before the first
/// tensor that is to be seen, and after a call of c10::SetAllocator() if there
/// is one. The functions may be called by any thread. The report comes when the
/// program exits, also by an exception that nobody catches, or by a signal that
/// nobody handles or ignores when the watch is made.
class Watch {
public:
  /// As the environment says, see WatchOptions::fromEnvironment().
  Watch() : Watch(WatchOptions::fromEnvironment()) {}
  explicit Watch(const WatchOptions &Options)
      : State(detail::stateFor(Options)) {}

  bool on() const { return State != nullptr; }

  /// The end of an iteration. Steps of one name are compared with each other,
  /// so that it should be called at the same place each time. 8 steps are
  /// needed for a verdict; a process has at most 32 names, of 63 characters.
  void step(const char *Name = "step") {
    if (State)
      State->step(Name);
  }

  /// From here to the end of the result's scope.
  Region region(const char *Name) { return Region(State, Name); }

  /// The verdict so far. Empty when the watch is off.
  std::string verdict() { return State ? State->text() : std::string(); }

  /// Writes the report now, as at exit. A file that cannot be written is
  /// reported on the standard error stream.
  void report() {
    if (State)
      State->report();
  }

private:
  detail::State *State;
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_WATCH_H
