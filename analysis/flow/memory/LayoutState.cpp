//===- LayoutState.cpp - What is known of layouts where paths meet --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/flow/memory/LayoutDomain.h"

using namespace clang;

namespace libtorch_tidy::flow {

using torch::Layout;

const LaidOut *LayoutState::find(const Keeper &K) const {
  for (const auto &[Place, What] : Known)
    if (Place == K)
      return &What;
  return nullptr;
}

void LayoutState::forget(const Keeper &K) {
  llvm::erase_if(Known, [&](const auto &Entry) {
    return Entry.first.Root == K.Root &&
           pathWithin(Entry.first.Path, K.Path, true);
  });
}

void LayoutState::set(const Keeper &K, LaidOut What) {
  forget(K);
  if (Known.size() < MaxKnown)
    Known.push_back({K, std::move(What)});
}

/// How sure it is that a strided one is not packed.
static int certainty(const LaidOut &Of) {
  return Of.Lies.hangsOnCuts() ? 0
                               : 1 + Of.Lies.Sure + Of.Lies.isSurelyStrided();
}

bool joinInto(LaidOut &Into, const LaidOut &From, const cpp::Conditions &Here,
              const cpp::Conditions &There) {
  const LaidOut Before = Into;
  if (Into.Lies.isStrided() || From.Lies.isStrided()) {
    const bool Both = Into.Lies.isStrided() && From.Lies.isStrided();
    // What holds on both ways.
    if (!Into.Lies.isStrided() || (Both && certainty(From) < certainty(Into)))
      Into = From;
    Into.SomeWays = Before.SomeWays || From.SomeWays || !Both;
    Into.Differs =
        Before.Differs || From.Differs || !(Before.Lies == From.Lies);
    Into.Given = nullptr;
    Into.When.clear();
    if (Into.SomeWays && Before.Lies.isStrided())
      Into.When = cpp::eitherOf(Before.When, Here);
    if (Into.SomeWays && From.Lies.isStrided()) {
      const cpp::Conditions Then = cpp::eitherOf(From.When, There);
      Into.When = Both ? cpp::bothOf(Into.When, Then) : Then;
    }
    return !(Into == Before);
  }
  if (!(Into.Lies == From.Lies)) {
    const bool Packed = Into.Lies.isPacked() && From.Lies.isPacked();
    Into.Lies = Into.Lies.unlike(Packed ? Layout::Packed : Layout::Unknown);
    Into.Lies.SomeUnit |= From.Lies.hasUnit();
    Into.Lies.Sure &= Packed && From.Lies.Sure;
    Into.Lies.By = nullptr;
  }
  Into.SomeWays |= From.SomeWays;
  Into.Differs |= From.Differs;
  if (Into.Given != From.Given)
    Into.Given = nullptr;
  if (Into.From != From.From)
    Into.From = StridedRead::Operators;
  return !(Into == Before);
}

void LayoutState::decide(const cpp::Condition &What) {
  const cpp::Condition Opposite = What.opposite();
  Impossible |= llvm::find(Decided, Opposite) != Decided.end();
  if (Decided.size() < MaxDecided)
    Decided = cpp::eitherOf(std::move(Decided), {What});
  for (auto &[Place, Of] : Known)
    if (llvm::find(Of.When, Opposite) != Of.When.end()) {
      // It comes by another way, and lies as it does there.
      Of.Lies = Layout::unknown();
      Of.SomeWays = Of.Differs = false;
      Of.When.clear();
    }
}

bool LayoutState::join(const LayoutState &Other) {
  if (Other.Impossible)
    return false;
  if (Impossible) {
    *this = Other;
    return true;
  }
  bool Changed = false;
  for (auto It = Known.begin(); It != Known.end();) {
    if (const LaidOut *There = Other.find(It->first)) {
      Changed |= joinInto(It->second, *There, Decided, Other.Decided);
    } else if (It->second.Lies.isStrided()) {
      cpp::Conditions Then = cpp::eitherOf(It->second.When, Decided);
      Changed |= !It->second.SomeWays || Then != It->second.When;
      It->second.SomeWays = true;
      It->second.When = std::move(Then);
    } else {
      It = Known.erase(It);
      Changed = true;
      continue;
    }
    ++It;
  }
  for (const auto &[Place, What] : Other.Known)
    if (What.Lies.isStrided() && !find(Place) && Known.size() < MaxKnown) {
      Known.push_back({Place, What});
      Known.back().second.SomeWays = true;
      Known.back().second.When = cpp::eitherOf(What.When, Other.Decided);
      Changed = true;
    }
  const size_t Before = Decided.size();
  Decided = cpp::bothOf(Decided, Other.Decided);
  Changed |= Decided.size() < Before;
  return Changed;
}

std::optional<LayoutState> LayoutDomain::along(const CFGBlock &Block,
                                               const CFGBlock &Successor,
                                               const State &After) {
  const auto What = cpp::decidedBy(Block, Successor, in());
  if (!What)
    return std::nullopt;
  State Along = After;
  Along.decide(*What);
  return Along;
}

} // namespace libtorch_tidy::flow
