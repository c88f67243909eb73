//===- ProgramLink.h - Joins the facts of a program's units -----*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_PROGRAM_PROGRAMLINK_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_PROGRAM_PROGRAMLINK_H

#include "analysis/flow/program/Program.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"

namespace libtorch_tidy::flow {

/// The facts of all units, joined. The result does not depend on their order.
class ProgramLink {
public:
  explicit ProgramLink(std::vector<const UnitFacts *> Units);

  /// The facts that unit number \p Unit is given.
  ProgramFacts factsFor(size_t Unit) const;

  /// The units of \p Waiting that need not wait for another one of them: they
  /// use functions only of waiting units that use theirs, too.
  std::vector<size_t> calleesFirst(llvm::ArrayRef<size_t> Waiting) const;

private:
  /// The joined facts of the units of some programs. Most units are around each
  /// other, so they are joined once for all of them.
  struct Joined {
    CallFacts Does;
    bool AllKnown = true; ///< All were analysed in full.
    /// By fields: which unit, and what it does with them.
    std::map<llvm::StringRef,
             std::vector<std::pair<size_t, const FieldFacts *>>>
        Fields;

    /// The facts of \p Field, which \p HoldsTensors there, for unit number
    /// \p Unit.
    FieldFacts fieldFor(size_t Unit, llvm::StringRef Field,
                        bool HoldsTensors) const;
  };
  const Joined &joined(const llvm::BitVector &Around) const;

  void findReached();
  /// Calls \p Do for \p Callee and for each method that may run in its place.
  template <typename Function>
  void forEachToRun(llvm::StringRef Callee, Function Do) const {
    Do(Callee);
    if (auto It = Overriders.find(Callee); It != Overriders.end())
      for (llvm::StringRef Method : It->second)
        Do(Method);
  }
  llvm::BitVector unitsAround(size_t Unit) const;
  /// For each function that is called: do all ways to it lead through calls
  /// that \p IsGuarded is true of?
  std::map<llvm::StringRef, bool> calledGuarded(
      llvm::function_ref<bool(const UnitFacts::Call &)> IsGuarded) const;
  std::map<llvm::StringRef, bool> coveredBy(llvm::ArrayRef<size_t> Mains) const;
  std::set<ProgramFacts::Covered>
  coversInMain(size_t Unit,
               const std::map<llvm::StringRef, bool> &Covered) const;
  void findCovered();
  const FunctionFacts *factsOf(llvm::StringRef Function,
                               const llvm::BitVector &Around,
                               bool IsClosed) const;

  std::vector<const UnitFacts *> Units;
  std::set<UnitFacts::Call> Calls; ///< Units repeat those of headers.
  /// Where each function is defined; more than once, in different programs.
  std::map<llvm::StringRef, std::vector<size_t>> DefinedIn;
  /// For each method, all that may run in its place.
  std::map<llvm::StringRef, std::set<llvm::StringRef>> Overriders;
  /// For each function that is called: is gradient mode off at all calls?
  std::map<llvm::StringRef, bool> CalledGuarded;
  /// The members of ProgramFacts, by numbers of units.
  std::vector<std::set<std::string>> CoveredByMain;
  std::vector<std::set<ProgramFacts::Covered>> CoversInMain;
  /// The units whose functions a unit uses, directly or not, and itself.
  std::vector<llvm::BitVector> Reached;
  mutable llvm::DenseMap<llvm::BitVector, Joined> Programs;
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_PROGRAM_PROGRAMLINK_H
