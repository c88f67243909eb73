//===- Workers.h - Work in processes of its own -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A compiler front end can crash on the code it reads. Each piece of work runs
/// in a copy of the process, which costs a millisecond: a crash is the end of
/// that piece only, and pieces run next to each other without sharing anything.

#ifndef LIBTORCH_TIDY_DRIVER_WORKERS_WORKERS_H
#define LIBTORCH_TIDY_DRIVER_WORKERS_WORKERS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

struct pollfd;

namespace libtorch_tidy::driver {

/// What a piece of work may take, after which it is ended. 0: any.
struct WorkLimits {
  unsigned Processor = 0; ///< Seconds of processor time.
  /// Seconds by the clock. A busy machine takes longer for the same; one that
  /// waits for something that never comes takes no processor time at all.
  unsigned Clock = 0;
  unsigned Memory = 0; ///< MB, beyond what its parent had.
};

/// Which limit was met.
enum class WorkCap : unsigned char { None, Processor, Clock, Memory };

/// Processor time of a process that runs, or has not been waited for. 0 when
/// the system does not say.
double processorSeconds(int Process);

/// When memory runs short, this process is to end, not one of the user's.
void endFirst();

/// Seconds that several pieces of work took together.
struct WorkTime {
  double Processor = 0; ///< Up to Workers::beginAnew().
  double Clock = 0;
};

/// A copy of a process that stopped in the middle of its work. It takes memory
/// and no time, and goes on from there when Workers::resume() says so.
class Parked {
public:
  Parked() = default;
  Parked(Parked &&Other) { *this = std::move(Other); }
  Parked &operator=(Parked &&Other);
  /// Ends it.
  ~Parked();

  explicit operator bool() const { return Process > 0; }

private:
  friend class Workers;
  int Process = -1;
  int Channel = -1;     ///< It reads from the other end. At its end, it ends.
  void *Said = nullptr; ///< A Workers::Shared.
  std::string Earlier;  ///< What was written to the standard error before.
};

class Workers {
public:
  /// What became of a piece of work.
  struct Outcome {
    size_t Id = 0;
    /// Else it crashed, could not be begun, or was ended.
    bool Finished = false;
    WorkCap Met = WorkCap::None; ///< It was ended.
    WorkTime Took;               ///< With what was taken before.
    std::string Doing;  ///< Of one that did not finish, as far as is known.
    std::string Result; ///< What the work returned.
    std::string Errors; ///< What it wrote to the standard error.
    Parked Copy;        ///< That it left, if it finished.
    bool Resumed = false;
  };

  /// Runs \p Most at a time.
  explicit Workers(unsigned Most, WorkLimits Limits = {})
      : Most(Most), Limits(Limits) {}
  Workers(const Workers &) = delete;
  Workers &operator=(const Workers &) = delete;
  /// Ends what still runs.
  ~Workers();

  bool idle() const { return Running.empty(); }
  bool full() const { return Running.size() >= Most; }

  /// Begins \p Work, whose outcome wait() gives. What it says that it does
  /// (cpp::Activity) is known here. It may take what \p Before leaves of the
  /// limits. Unless it \p MayPark, park() does nothing in it.
  void start(size_t Id, llvm::function_ref<std::string()> Work,
             WorkTime Before = {}, bool MayPark = false);

  /// Lets \p Copy go on: park() returns \p Message there.
  void resume(size_t Id, Parked Copy, llvm::StringRef Message,
              WorkTime Before = {});

  /// In a piece of work: leaves a copy of the process that waits here, as far
  /// as the system lets it. Returns nullopt to who called, and to the copy,
  /// when it goes on, what it is to know; it has left a copy, too.
  static std::optional<std::string> park();

  /// Waits for one to end. There must be one.
  Outcome wait();

  /// As wait(), but comes back without an outcome, too: when there is something
  /// to do for one of \p Others, which poll() has filled in, or after
  /// \p Milliseconds (-1: any time). There need not be one that runs.
  std::optional<Outcome> waitOr(llvm::MutableArrayRef<pollfd> Others,
                                int Milliseconds);

  /// Ends what runs as \p Id, and what that has begun if it leads a group of
  /// processes. wait() gives its outcome.
  void stop(size_t Id);

  /// What the work \p Id says that it does; empty when it says nothing.
  std::string doing(size_t Id) const;

  /// As many as the machine has cores, and memory for.
  static unsigned defaultCount();

  /// In a piece of work: what follows has the whole limit of processor time for
  /// itself.
  static void beginAnew();

private:
  friend class Parked;
  struct Shared;
  static void forget(void *Said);
  struct Worker {
    int Process = -1;
    Shared *Said = nullptr; ///< Null when there is no memory for it.
    int ResultPipe = -1, ErrorPipe = -1; ///< -1 when at their end.
    Outcome Sofar; ///< Took: before it began. Copy: one that may be left.
  };
  /// The ends of its pipes that a process writes to.
  struct WriteEnds {
    int Result = -1, Errors = -1;
  };

  static Worker begin(size_t Id, WorkTime Before);
  static std::optional<WriteEnds> openPipes(Worker &W);

  WorkCap capMetBy(const Worker &W) const;
  static void end(const Worker &W);
  std::optional<Outcome> takeEnded();

  // In the process of a piece of work.
  static Shared *Own;
  static int OwnResult, OwnChannel; ///< -1: none.

  unsigned Most;
  WorkLimits Limits;
  std::vector<Worker> Running;
};

/// Copies that are parked leave a quarter of the memory that there was before
/// the first, or what those that run need, and half of the files that a process
/// may have open: this process has one for each.
class ParkingLimit {
public:
  explicit ParkingLimit(unsigned AtATime);
  bool mayPark();
  /// Others have taken half of what was left to them: copies are to end.
  bool isExceeded() const;

private:
  uint64_t Reserve; ///< Bytes.
  unsigned Left;
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_WORKERS_WORKERS_H
