//===- Analyses.h - Which document is analysed when -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_LSP_ANALYSES_H
#define LIBTORCH_TIDY_DRIVER_LSP_ANALYSES_H

#include "driver/workers/Workers.h"
#include <chrono>
#include <map>
#include <string>

namespace libtorch_tidy::driver::lsp {

/// Brings documents through their analyses: one that finds, and, once the
/// editor shows what that found, one that tries the fixes. Each runs in a
/// process of its own, which is ended when the document changes; what it
/// analyses can neither crash nor hold up the server.
class Analyses {
public:
  using Clock = std::chrono::steady_clock;

  /// What an analysis is of.
  struct Subject {
    std::string Path;
    bool TryFixes = false;
  };

  class Owner {
  public:
    /// In a process of its own: gives the answer.
    virtual std::string work(const Subject &Of) = 0;
    /// In answer to it, unless the document has changed: whether there are
    /// fixes to try. \p Cancelled: by the user.
    virtual bool ended(const Subject &Of, const Workers::Outcome &Said,
                       bool Cancelled) = 0;
    /// It takes longer than a moment. Called again when \p Doing changes.
    virtual void slow(size_t Id, const Subject &Of, llvm::StringRef Doing) = 0;
    /// No more slow() of it. Called for each that was slow.
    virtual void noLongerSlow(size_t Id) = 0;

  protected:
    ~Owner() = default;
  };

  /// \p Most at a time, at least three; each unit has \p Limit seconds (see
  /// Workers).
  Analyses(unsigned Most, WorkLimits OfUnit, Owner &TheOwner);

  /// Something that the findings in \p Path depend on has changed. They are
  /// looked for at once, or after \p Delay without another change where the
  /// last one was not longer ago than that.
  void ask(const std::string &Path, std::chrono::milliseconds Delay);
  /// The document is closed.
  void forget(const std::string &Path);
  /// The user is not interested.
  void cancel(size_t Id);

  /// Are the findings in \p Path known?
  bool isFound(const std::string &Path) const;
  /// And which fixes are right?
  bool isSettled(const std::string &Path) const;

  /// Begins what is due, and waits until there is something to do: for one of
  /// \p Others (see Workers::waitOr), or here.
  void step(llvm::MutableArrayRef<pollfd> Others);

private:
  /// Of an open document, by numbers that count changes: which of them counts,
  /// which of them findings are of, and which of them fixes were tried of.
  struct Plan {
    unsigned Wanted = 0, Found = 0, Tried = 0;
    Clock::time_point Asked, Due;
  };
  struct Job {
    size_t Id = 0;
    Subject Of;
    unsigned Number = 0; ///< See Plan::Wanted.
    Clock::time_point Begun;
    bool Cancelled = false;
    bool ToldSlow = false;
    std::string Doing; ///< As slow() was told.
  };

  bool isRunning(llvm::StringRef Path) const;
  bool isCurrent(const Job &J) const;
  bool mayBegin() const;
  void stop(Job &J);
  void stopOutdated();
  void beginDue();
  void begin(const std::string &Path, bool TryFixes);
  void tellSlow();
  int millisecondsToWait() const;
  void finish(const Workers::Outcome &Said);

  Workers Pool;
  unsigned Most;
  Owner &TheOwner;
  std::map<std::string, Plan, std::less<>> Plans;
  std::vector<Job> Jobs;
  unsigned Changes = 0;
  size_t LastId = 0;
};

} // namespace libtorch_tidy::driver::lsp

#endif // LIBTORCH_TIDY_DRIVER_LSP_ANALYSES_H
