//===- Program.h - Facts between the units of a program ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The analysis of a unit yields facts. Linked with those of all other units
/// they tell a unit what it cannot see by itself: what functions of other files
/// do, who calls its own, who uses its fields, and whether anything trains.
/// With that the unit is analysed again; its facts may grow then, and reach the
/// next unit. Names are Clang's USRs; fields go by their qualified names.

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_PROGRAM_PROGRAM_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_PROGRAM_PROGRAM_H

#include "analysis/cpp/Fields.h"
#include "analysis/flow/memory/Memory.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace libtorch_tidy::flow {

class UnitModel;

/// The flow of a function without its AST: what callers in other units need to
/// know, so that a call counts there as if the body were in sight. Places are
/// named from the object or a parameter on; what a function does with globals
/// counts as unknown.
struct FunctionSummary {
  /// As flow::Value. Labels are numbers of Labels.
  struct Value {
    std::vector<unsigned> Labels;
    bool Unknown = false;
    std::vector<std::pair<std::string, Value>> Parts; ///< By selector.
  };
  /// As flow::Place, from its root on.
  struct Place {
    unsigned Root = 0; ///< 0: the object; else one more than the parameter.
    /// `ns::Class::field`, or `#1` for an element of a tuple.
    std::vector<std::string> Path;
  };
  /// As flow::Label, of the kinds that callers tell apart.
  struct Label {
    unsigned Kind = 0;  ///< A flow::Label::Kind.
    unsigned Where = 0; ///< A number of Places, for Entry and Carry.
    unsigned Consumers = 0;
    bool Arises = false, RunsModule = false;
    std::vector<unsigned> Assigned; ///< Of a Carry.
    std::string From; ///< Of what brings history: its way, by file:line.
  };
  /// As flow::Accumulation.
  struct Addition {
    unsigned Where = 0, Carry = 0;
    unsigned How = 0; ///< A flow::Accumulation::Form.
    Value Added;
    bool Bounded = false;
    std::string At; ///< As file:line.
  };

  bool Trains = false;
  unsigned ExitMode = 0;    ///< A torch::GradMode.
  unsigned ExitFromOff = 1; ///< The same when it is Off on entry.
  bool SwitchesIfThrown = false;
  /// Every forward pass whose result it hands out is reported in it.
  bool ReportsResults = false;
  /// Fields of its object whose modules it leaves frozen (see FrozenModules),
  /// by their qualified names.
  std::vector<std::string> Frozen;
  /// It lets some tensor require gradients.
  bool LetsTrain = false;
  /// Of a constructor: its module has parameters.
  bool HasParameters = false;
  std::vector<Place> Places;
  std::vector<Label> Labels;
  Value Return;
  std::vector<std::pair<unsigned, Value>> Exit; ///< By number of Places.
  std::vector<Addition> Additions;

  /// Do all numbers name something? One that comes from a file may not.
  bool isConsistent() const;
};

/// The effects of a function, as other units see them.
struct FunctionFacts {
  /// Absent when the flow is unknown.
  std::optional<FunctionSummary> Flow;
  std::optional<MemorySummary> Memory;
  /// As torch::StoredArgument; the field is empty for a registered module.
  struct Stored {
    unsigned Index;
    std::string Field;
  };
  std::vector<Stored> Stores;
  /// The first forward pass that it runs when it is called with gradient mode
  /// on, as file:line.
  std::string Forward;
  /// The uses of fields of workers' copies, as in flow::CopyUse; for
  /// functions that workers call, and their helpers.
  struct CopyUse {
    bool Seeded = false, Indexed = false, Strided = false, Emptied = false;
    std::string FirstAt, FilledAt;
  };
  std::map<std::string, CopyUse> CopyUses;
};

/// The uses of a field. The kinds of facts are the members of this
/// struct and of the next: they are linked by mergeFacts(), compared and
/// archived by cpp::fieldsOf(), so that a new one is a new member.
struct FieldFacts {
  /// The consumers of the value that it held before a call: Label::Consumer.
  unsigned Consumers = 0;
  bool IsConsumed = false; ///< The history of what it held is used.
  bool IsWritten = false;  ///< Other than by constructors; it holds tensors.
  bool IsReleased = false; ///< See forEachReleased().
  std::string EvalAt;      ///< Where its module is put in evaluation mode.
};

/// Facts of the calls in the functions of a unit: see UnitScan.
struct CallFacts {
  bool Trains = false;
  bool CallsEval = false;
  bool CreatesGraphs = false; ///< It asks for gradients of gradients.
};

/// Joins \p From into \p Into: a bool is true when either is, bits are united,
/// and of texts the first in order that is not empty is kept.
template <typename T> void mergeFacts(T &Into, const T &From) {
  if constexpr (std::is_same_v<T, std::string>) {
    if (!From.empty() && (Into.empty() || From < Into))
      Into = From;
  } else if constexpr (std::is_integral_v<T>) {
    Into |= From;
  } else {
    std::apply(
        [&](auto &...Ours) {
          std::apply(
              [&](const auto &...Theirs) { (mergeFacts(Ours, Theirs), ...); },
              cpp::fieldsOf(From));
        },
        cpp::fieldsOf(Into));
  }
}

/// Adds to \p Reached all that \p Leads leads to from there.
template <typename Node, typename Map>
void addReached(std::set<Node> &Reached, const Map &Leads) {
  std::vector<Node> Work(Reached.begin(), Reached.end());
  while (!Work.empty()) {
    auto It = Leads.find(Work.back());
    Work.pop_back();
    if (It == Leads.end())
      continue;
    for (const Node &Next : It->second)
      if (Reached.insert(Next).second)
        Work.push_back(Next);
  }
}

/// The facts that one unit gives to the others.
struct UnitFacts {
  std::string File; ///< The main file. A database may list it more than once.

  /// A function that other units can call, defined here.
  struct Function {
    std::string Usr;
    FunctionFacts Does;
  };
  /// A call of a function that other units can define.
  struct Call {
    std::string Caller, Callee;
    bool Guarded = false; ///< Gradient mode is not on at the call.
    bool operator<(const Call &O) const {
      return cpp::fieldsOf(*this) < cpp::fieldsOf(O);
    }
  };

  /// A finding about forward passes with gradient mode on, for which a guard
  /// in main would do as well.
  struct Forward {
    std::string Function; ///< The function with the passes; may be main.
    std::string At;       ///< The first of them, as file:line.
    std::string Runs;     ///< The same as a clause: 'net' runs.
    unsigned Strength = 0;
    bool operator<(const Forward &O) const {
      return cpp::fieldsOf(*this) < cpp::fieldsOf(O);
    }
  };

  std::vector<Function> Functions; ///< Sorted by their USRs.
  std::set<Call> Calls;
  std::set<Forward> Forwards;
  /// Functions that code of this unit names and that have no body here, or are
  /// virtual, so that others may run.
  std::set<std::string> Uses;
  /// Methods without a body here, of classes whose fields hold tensors here.
  std::set<std::string> Methods;
  /// For virtual methods of bases, the methods here that override them.
  std::map<std::string, std::set<std::string>> Overriders;
  std::set<std::string> TensorFields; ///< Fields that hold tensors here.
  std::map<std::string, FieldFacts> Fields;
  std::string GuardableMain; ///< Its main, when a guard can be put there.
  CallFacts Does;
  bool DefinesMain = false;
  /// Code outside the program calls its functions: those of a library, of a
  /// Python module, or operators.
  bool Exports = false;
  bool Failed = false; ///< Not analysed in full: facts may be missing.
};

/// The facts of the rest of its program that a unit is given.
struct ProgramFacts {
  std::map<std::string, FunctionFacts> Functions;
  /// For functions that are called: is gradient mode off at all calls?
  std::map<std::string, bool> CalledGuarded;
  /// Functions of this unit whose Forwards one finding in main covers.
  std::set<std::string> CoveredByMain;
  /// Passes of other units that a guard in this unit's main covers.
  struct Covered {
    std::string Callee; ///< The function that main calls to get there.
    UnitFacts::Forward Forward;
    bool operator<(const Covered &O) const {
      return cpp::fieldsOf(*this) < cpp::fieldsOf(O);
    }
  };
  std::set<Covered> CoversInMain;
  /// For virtual methods that this unit names, all that may run in their place,
  /// in a program that is Closed. What they do is in Functions.
  std::map<std::string, std::set<std::string>> Overriders;
  std::set<std::string> Defined; ///< Methods of UnitFacts::Methods with a body.
  /// The uses of fields in other units. For those in TensorFields of this unit
  /// all of it, IsConsumed also of this unit; for others IsReleased and EvalAt.
  std::map<std::string, FieldFacts> Fields;
  CallFacts Does; ///< Some unit of the program does so.
  /// There is a main, all units that it reaches were analysed in full, and
  /// none of those that reach this one exports functions.
  bool Closed = false;

  /// The facts that the unit of \p Context was given; null when it is on its
  /// own.
  static const ProgramFacts *of(clang::ASTContext &Context);
  /// Tells it \p Facts, which may be null, before anything is asked of it.
  static void tell(clang::ASTContext &Context, const ProgramFacts *Facts);
};

/// Are the forward passes of \p F covered by a finding in main?
bool isCoveredByMain(const clang::FunctionDecl *F);

/// The facts of \p D in ProgramFacts; none when it is no field.
const FieldFacts &fieldElsewhere(const clang::ValueDecl *D);

/// The facts of \p F from other units; null when there are none, or when its
/// body is in this unit.
const FunctionFacts *factsElsewhere(const clang::FunctionDecl *F);

/// The reports of a unit's checks about forward passes without a guard.
struct ReportedPasses {
  /// Functions that hand out results of forward passes all of which are
  /// reported in them.
  llvm::SmallPtrSet<const clang::FunctionDecl *, 8> Results;
  /// Empty when the unit is on its own.
  std::set<UnitFacts::Forward> Forwards;
};

/// The facts of \p Unit. \p IsLibrary: it is compiled for a shared library,
/// whose functions are there for others.
UnitFacts factsOf(UnitModel &Unit, const ReportedPasses &Reported,
                  bool IsLibrary);

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
  const FunctionFacts *definition(llvm::StringRef Function,
                                  const llvm::BitVector &Around) const;
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
  /// CoveredByMain and CoversInMain, by numbers of units.
  std::vector<ProgramFacts> ByMain;
  /// The units whose functions a unit uses, directly or not, and itself.
  std::vector<llvm::BitVector> Reached;
  mutable llvm::DenseMap<llvm::BitVector, Joined> Programs;
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_PROGRAM_PROGRAM_H
