//===- HeldStates.h - What variables hold at a point ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The two states of heldThoughDead(), forward and backward. A thing is what
/// one expression makes; a variable holds things.

#ifndef LIBTORCH_TIDY_CHECKS_HISTORY_HELDSTATES_H
#define LIBTORCH_TIDY_CHECKS_HISTORY_HELDSTATES_H

#include "llvm/ADT/BitVector.h"

namespace libtorch_tidy {

/// Adds the bits of \p From. Returns whether there were new ones.
inline bool addTo(llvm::BitVector &Into, const llvm::BitVector &From) {
  const bool IsNew = From.test(Into);
  Into |= From;
  return IsNew;
}

struct HeldState {
  /// Bit V * things + I: variable V holds thing I.
  llvm::BitVector Held;
  llvm::BitVector Graph; ///< The things that a graph may hold, too.
  /// Those that something else holds, or holds a part of; those that nothing
  /// else holds on some path; those that a loop may have stored, which counts
  /// on the path around it, too.
  llvm::BitVector Stored, PartStored, Free, Looped;

  HeldState(unsigned Variables, unsigned Things)
      : Held(Variables * Things), Graph(Things), Stored(Things),
        PartStored(Things), Free(Things), Looped(Things) {}

  bool join(const HeldState &O) {
    bool Grew = addTo(Held, O.Held);
    Grew |= addTo(Free, O.Free);
    for (auto Bits : Others)
      Grew |= addTo(this->*Bits, O.*Bits);
    return Grew;
  }

  /// Thing \p I is made; where it \p IsNew, no variable holds the last one.
  void make(unsigned I, bool IsNew) {
    if (IsNew)
      for (auto Bits : Others)
        (this->*Bits).reset(I);
    Free.set(I);
  }
  /// Does something else hold thing \p I?
  bool isStored(unsigned I) const {
    return Looped[I] || (Stored[I] && !Free[I]);
  }
  void store(unsigned I, bool InLoop) {
    Stored.set(I);
    Free.reset(I);
    if (InLoop)
      Looped.set(I);
  }
  /// A second part may be all that is left.
  void storePart(unsigned I) {
    if (PartStored[I])
      return store(I, /*InLoop=*/false);
    PartStored.set(I);
  }

private:
  /// What else may hold a thing.
  static constexpr llvm::BitVector HeldState::*Others[] = {
      &HeldState::Graph, &HeldState::Stored, &HeldState::PartStored,
      &HeldState::Looped};
};

/// The variables that are read later, and those of which only a number is.
struct LiveVariables {
  llvm::BitVector All, Number;

  bool join(const LiveVariables &O) {
    const bool Grew = addTo(All, O.All);
    return addTo(Number, O.Number) || Grew;
  }
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_HISTORY_HELDSTATES_H
