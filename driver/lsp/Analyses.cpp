//===- Analyses.cpp - Which document is analysed when ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/lsp/Analyses.h"
#include "driver/engine/Schedule.h"
#include "llvm/ADT/STLExtras.h"
#include <poll.h>
#include <unistd.h>

using llvm::StringRef;
using std::chrono::milliseconds;

namespace libtorch_tidy::driver::lsp {

/// What takes less is no progress that anybody wants to see.
static constexpr milliseconds Moment(500);
/// How often what other processes say is read, while something depends on it.
static constexpr int LookEvery = 20;
/// Trials of fixes leave the processor to what the user waits for.
static constexpr int NiceOfTrials = 5;

/// The units of a document have the limit of the command line. This one is for
/// what is done before they begin, and comes later than theirs, in seconds.
static WorkLimits limitsOfDocument(WorkLimits OfUnit) {
  if (OfUnit.Processor)
    OfUnit.Processor += 60;
  if (OfUnit.Clock)
    OfUnit.Clock += 600;
  OfUnit.Memory = 0;
  return OfUnit;
}

Analyses::Analyses(unsigned Most, WorkLimits OfUnit, Owner &TheOwner)
    : Pool(Most, limitsOfDocument(OfUnit)), Most(Most), TheOwner(TheOwner) {}

bool Analyses::isRunning(StringRef Path) const {
  return llvm::any_of(Jobs, [&](const Job &J) { return J.Of.Path == Path; });
}

void Analyses::ask(const std::string &Path, milliseconds Delay) {
  Plan &P = Plans[Path];
  P.Wanted = ++Changes;
  const Clock::time_point Now = Clock::now();
  P.Due = Now - std::exchange(P.Asked, Now) > Delay ? Now : Now + Delay;
  stopOutdated();
}

void Analyses::forget(const std::string &Path) {
  Plans.erase(Path);
  stopOutdated();
}

void Analyses::cancel(size_t Id) {
  for (Job &J : Jobs)
    if (J.Id == Id && isCurrent(J)) {
      J.Cancelled = true;
      stop(J);
    }
}

bool Analyses::isFound(const std::string &Path) const {
  auto It = Plans.find(Path);
  return It == Plans.end() || It->second.Found == It->second.Wanted;
}

bool Analyses::isSettled(const std::string &Path) const {
  auto It = Plans.find(Path);
  return It == Plans.end() || It->second.Tried == It->second.Wanted;
}

bool Analyses::isCurrent(const Job &J) const {
  auto It = Plans.find(J.Of.Path);
  return It != Plans.end() && It->second.Wanted == J.Number;
}

void Analyses::stop(Job &J) {
  if (std::exchange(J.ToldSlow, false))
    TheOwner.noLongerSlow(J.Id);
  Pool.stop(J.Id);
}

/// A precompiled header is made to its end all the same: the analysis that
/// comes next needs it, and a user who goes on typing would never get it.
void Analyses::stopOutdated() {
  for (Job &J : Jobs)
    if (!isCurrent(J) && Pool.doing(J.Id) != PrecompilingActivity)
      stop(J);
}

/// While one may still make a precompiled header, others would make the same.
bool Analyses::mayBegin() const {
  return !Pool.full() && llvm::all_of(Jobs, [&](const Job &J) {
    return Pool.doing(J.Id) == AnalysingActivity;
  });
}

void Analyses::begin(const std::string &Path, bool TryFixes) {
  Job &J = Jobs.emplace_back();
  J.Id = ++LastId;
  J.Of = {Path, TryFixes};
  J.Number = Plans[Path].Wanted;
  J.Begun = Clock::now();
  Pool.start(J.Id, [&] {
    // With the processes of the units, it can be ended as one.
    ::setpgid(0, 0);
    if (TryFixes)
      (void)::nice(NiceOfTrials);
    return TheOwner.work(J.Of);
  });
}

/// The document that was changed last is the one that the user looks at.
void Analyses::beginDue() {
  const Clock::time_point Now = Clock::now();
  for (bool TryFixes : {false, true}) {
    std::vector<std::pair<unsigned, std::string>> Due;
    for (const auto &[Path, P] : Plans)
      if (!isRunning(Path) &&
          (TryFixes ? P.Found == P.Wanted && P.Tried != P.Found
                    : P.Found != P.Wanted && P.Due <= Now))
        Due.emplace_back(P.Wanted, Path);
    llvm::sort(Due, std::greater<>());
    for (const auto &[Wanted, Path] : Due) {
      // One place is kept for what the user waits for.
      if (!mayBegin() || (TryFixes && Jobs.size() + 1 >= Most))
        return;
      begin(Path, TryFixes);
    }
  }
}

void Analyses::tellSlow() {
  const Clock::time_point Now = Clock::now();
  for (Job &J : Jobs) {
    if (!isCurrent(J) || J.Cancelled || Now - J.Begun < Moment)
      continue;
    std::string Doing = Pool.doing(J.Id);
    if (J.ToldSlow && Doing == J.Doing)
      continue;
    J.ToldSlow = true;
    J.Doing = std::move(Doing);
    TheOwner.slow(J.Id, J.Of, J.Doing);
  }
}

int Analyses::millisecondsToWait() const {
  const Clock::time_point Now = Clock::now();
  Clock::time_point Next = Clock::time_point::max();
  bool IsDue = false;
  for (const auto &[Path, P] : Plans)
    if (P.Found != P.Wanted && P.Due > Now)
      Next = std::min(Next, P.Due);
    else if (P.Tried != P.Wanted && !isRunning(Path))
      IsDue = true; // It waits for others.
  for (const Job &J : Jobs)
    if (isCurrent(J) && !J.ToldSlow && !J.Cancelled)
      Next = std::min(Next, J.Begun + Moment);
  if (IsDue || llvm::any_of(Jobs, [&](const Job &J) {
        return J.ToldSlow || !isCurrent(J);
      }))
    Next = std::min(Next, Now + milliseconds(LookEvery));
  if (Next == Clock::time_point::max())
    return -1;
  // One more: a part of a millisecond is not waited for.
  return std::max<int64_t>(
      LookEvery / 4,
      std::chrono::duration_cast<milliseconds>(Next - Now).count() + 1);
}

void Analyses::finish(const Workers::Outcome &Said) {
  auto It = llvm::find_if(Jobs, [&](const Job &J) { return J.Id == Said.Id; });
  if (It == Jobs.end())
    return;
  Job J = std::move(*It);
  Jobs.erase(It);
  if (J.ToldSlow)
    TheOwner.noLongerSlow(J.Id);
  if (!isCurrent(J))
    return;
  const bool HasFixes = TheOwner.ended(J.Of, Said, J.Cancelled);
  Plan &P = Plans[J.Of.Path];
  P.Found = J.Number;
  if (J.Of.TryFixes || !HasFixes)
    P.Tried = J.Number;
}

void Analyses::step(llvm::MutableArrayRef<pollfd> Others) {
  beginDue();
  tellSlow();
  if (std::optional<Workers::Outcome> Said =
          Pool.waitOr(Others, millisecondsToWait()))
    finish(*Said);
  stopOutdated();
}

} // namespace libtorch_tidy::driver::lsp
