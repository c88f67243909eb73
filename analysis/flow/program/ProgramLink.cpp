//===- ProgramLink.cpp - Joins the facts of a program's units -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/flow/program/Program.h"
#include "llvm/ADT/STLExtras.h"

using llvm::StringRef;

namespace libtorch_tidy::flow {

ProgramLink::ProgramLink(std::vector<const UnitFacts *> All)
    : Units(std::move(All)), ByMain(Units.size()) {
  for (size_t I = 0; I < Units.size(); ++I) {
    for (const UnitFacts::Function &F : Units[I]->Functions)
      DefinedIn[F.Usr].push_back(I);
    for (const auto &[Base, Methods] : Units[I]->Overriders)
      Overriders[Base].insert(Methods.begin(), Methods.end());
    Calls.insert(Units[I]->Calls.begin(), Units[I]->Calls.end());
  }
  // The overriders of overriders, too.
  const auto Direct = Overriders;
  for (auto &[Base, Methods] : Overriders)
    addReached(Methods, Direct);
  findReached();
  CalledGuarded =
      calledGuarded([](const UnitFacts::Call &Call) { return Call.Guarded; });
  findCovered();
}

void ProgramLink::findReached() {
  std::map<size_t, std::set<size_t>> Next;
  for (size_t I = 0; I < Units.size(); ++I)
    for (StringRef Used : Units[I]->Uses)
      forEachToRun(Used, [&](StringRef Function) {
        if (auto It = DefinedIn.find(Function); It != DefinedIn.end())
          Next[I].insert(It->second.begin(), It->second.end());
      });
  for (size_t I = 0; I < Units.size(); ++I) {
    std::set<size_t> Seen{I};
    addReached(Seen, Next);
    llvm::BitVector &Units = Reached.emplace_back(this->Units.size());
    for (size_t J : Seen)
      Units.set(J);
  }
}

/// A function is called only with gradient mode off when the mode is switched
/// off on each way to it. A cycle without a way into it counts as not.
std::map<StringRef, bool> ProgramLink::calledGuarded(
    llvm::function_ref<bool(const UnitFacts::Call &)> IsGuarded) const {
  std::map<StringRef, std::vector<StringRef>> All, Open;
  std::set<StringRef> Callers, Callees, On, Off;
  for (const UnitFacts::Call &Call : Calls) {
    Callers.insert(Call.Caller);
    const bool IsOff = IsGuarded(Call);
    forEachToRun(Call.Callee, [&](StringRef Callee) {
      Callees.insert(Callee);
      All[Call.Caller].push_back(Callee);
      if (IsOff)
        Off.insert(Callee);
      else
        Open[Call.Caller].push_back(Callee);
    });
  }
  std::set_difference(Callers.begin(), Callers.end(), Callees.begin(),
                      Callees.end(), std::inserter(On, On.end()));
  addReached(On, Open);
  addReached(Off, All);
  std::map<StringRef, bool> Guarded;
  for (StringRef Callee : Callees)
    Guarded[Callee] = Off.count(Callee) && !On.count(Callee);
  return Guarded;
}

/// The calls that \p Caller makes, of \p All.
static auto callsOf(StringRef Caller, const std::set<UnitFacts::Call> &All) {
  auto Begin = All.lower_bound({Caller.str(), "", false});
  auto End = Begin;
  while (End != All.end() && End->Caller == Caller)
    ++End;
  return llvm::make_range(Begin, End);
}

/// The functions that run with gradient mode off when the main of each of the
/// units \p Mains has a guard.
std::map<StringRef, bool>
ProgramLink::coveredBy(llvm::ArrayRef<size_t> Mains) const {
  std::set<StringRef> Names;
  for (size_t I : Mains)
    Names.insert(Units[I]->GuardableMain);
  // All mains of a database share one or two names.
  std::set<UnitFacts::Call> OfOthers;
  for (size_t I = 0; I < Units.size(); ++I)
    if (!llvm::is_contained(Mains, I))
      for (StringRef Main : Names)
        for (const UnitFacts::Call &Call : callsOf(Main, Units[I]->Calls))
          OfOthers.insert(Call);
  return calledGuarded([&](const UnitFacts::Call &Call) {
    return Call.Guarded || (Names.count(Call.Caller) && !OfOthers.count(Call));
  });
}

/// The forward passes that the main of \p Unit leads to, of functions that are
/// \p Covered.
std::set<ProgramFacts::Covered>
ProgramLink::coversInMain(size_t Unit,
                          const std::map<StringRef, bool> &Covered) const {
  std::map<StringRef, StringRef> Through; ///< The function that main calls.
  std::vector<StringRef> Work;
  auto Follow = [&](const UnitFacts::Call &Call, StringRef First) {
    if (!Call.Guarded)
      forEachToRun(Call.Callee, [&](StringRef Callee) {
        if (Through.try_emplace(Callee, First).second)
          Work.push_back(Callee);
      });
  };
  for (const UnitFacts::Call &Call :
       callsOf(Units[Unit]->GuardableMain, Units[Unit]->Calls))
    Follow(Call, Call.Callee);
  while (!Work.empty()) {
    const StringRef Caller = Work.back();
    Work.pop_back();
    for (const UnitFacts::Call &Call : callsOf(Caller, Calls))
      Follow(Call, Through[Caller]);
  }
  std::set<ProgramFacts::Covered> Found;
  for (size_t I : Reached[Unit].set_bits())
    for (const UnitFacts::Forward &Forward : Units[I]->Forwards) {
      auto At = Through.find(Forward.Function);
      auto Is = Covered.find(Forward.Function);
      if (At != Through.end() && Is != Covered.end() && Is->second)
        Found.insert({At->second.str(), Forward});
    }
  return Found;
}

/// Where nothing trains, one guard in main covers all that only main leads to.
/// That is one finding in main if it replaces at least two others.
void ProgramLink::findCovered() {
  if (llvm::all_of(
          Units, [](const UnitFacts *Unit) { return Unit->Forwards.empty(); }))
    return;
  std::vector<size_t> Mains;
  for (size_t I = 0; I < Units.size(); ++I)
    if (!Units[I]->GuardableMain.empty()) {
      const Joined &All = joined(unitsAround(I));
      if (All.AllKnown && !All.Does.Trains)
        Mains.push_back(I);
    }
  auto Find = [&] {
    const std::map<StringRef, bool> Covered = coveredBy(Mains);
    ByMain.assign(Units.size(), {});
    for (size_t I : Mains)
      ByMain[I].CoversInMain = coversInMain(I, Covered);
  };
  Find();
  llvm::erase_if(Mains, [&](size_t I) {
    return ByMain[I].CoversInMain.size() +
               llvm::count_if(Units[I]->Forwards,
                              [&](const UnitFacts::Forward &Forward) {
                                return Forward.Function ==
                                       Units[I]->GuardableMain;
                              }) <
           2;
  });
  Find();
  for (size_t Main : Mains) {
    std::set<StringRef> Functions;
    for (const ProgramFacts::Covered &Covered : ByMain[Main].CoversInMain)
      Functions.insert(Covered.Forward.Function);
    for (size_t I : Reached[Main].set_bits())
      for (const UnitFacts::Forward &Forward : Units[I]->Forwards)
        if (Functions.count(Forward.Function))
          ByMain[I].CoveredByMain.insert(Forward.Function);
  }
}

std::vector<size_t>
ProgramLink::calleesFirst(llvm::ArrayRef<size_t> Waiting) const {
  llvm::BitVector All(Units.size());
  for (size_t I : Waiting)
    All.set(I);
  std::vector<size_t> First;
  llvm::copy_if(Waiting, std::back_inserter(First), [&](size_t I) {
    llvm::BitVector Callees = Reached[I];
    Callees &= All;
    for (size_t J : Callees.set_bits())
      if (!Reached[J].test(I))
        return false;
    return true;
  });
  return First;
}

/// The facts of the one definition of \p Function in the units \p Around; null
/// without a definition, and with two, as either may run.
const FunctionFacts *
ProgramLink::definition(StringRef Function,
                        const llvm::BitVector &Around) const {
  auto It = DefinedIn.find(Function);
  if (It == DefinedIn.end())
    return nullptr;
  const UnitFacts *In = nullptr;
  for (size_t I : It->second) {
    if (!Around.test(I))
      continue;
    if (In && In->File != Units[I]->File)
      return nullptr;
    In = In ? In : Units[I];
  }
  if (!In)
    return nullptr;
  auto F = llvm::lower_bound(
      In->Functions, Function,
      [](const auto &F, StringRef Usr) { return F.Usr < Usr; });
  return &F->Does;
}

/// The facts of \p Function in the units \p Around; null when they are not
/// certain.
const FunctionFacts *ProgramLink::factsOf(StringRef Function,
                                          const llvm::BitVector &Around,
                                          bool IsClosed) const {
  auto It = Overriders.find(Function);
  if (It == Overriders.end())
    return definition(Function, Around);
  // A pure virtual method with one implementation in the whole program.
  auto Defined = DefinedIn.find(Function);
  const bool IsDefined =
      Defined != DefinedIn.end() &&
      llvm::any_of(Defined->second, [&](size_t I) { return Around.test(I); });
  return IsClosed && !IsDefined && It->second.size() == 1
             ? definition(*It->second.begin(), Around)
             : nullptr;
}

const ProgramLink::Joined &
ProgramLink::joined(const llvm::BitVector &Around) const {
  auto [It, New] = Programs.try_emplace(Around);
  Joined &All = It->second;
  if (New)
    for (size_t I : Around.set_bits()) {
      mergeFacts(All.Does, Units[I]->Does);
      All.AllKnown &= !Units[I]->Failed;
      for (const auto &[Field, Facts] : Units[I]->Fields)
        All.Fields[Field].emplace_back(I, &Facts);
    }
  return All;
}

/// All programs that \p Unit is a part of, with all their units.
llvm::BitVector ProgramLink::unitsAround(size_t Unit) const {
  llvm::BitVector Around(Units.size());
  for (const llvm::BitVector &Program : Reached)
    if (Program.test(Unit))
      Around |= Program;
  return Around;
}

ProgramFacts ProgramLink::factsFor(size_t Unit) const {
  const llvm::BitVector Around = unitsAround(Unit);
  const UnitFacts &Own = *Units[Unit];
  const Joined &All = joined(Around);
  ProgramFacts Said = ByMain[Unit];
  Said.Does = All.Does;
  bool Exported = false;
  for (size_t I = 0; I < Units.size(); ++I)
    if (Reached[I].test(Unit)) {
      Said.Closed |= Units[I]->DefinesMain;
      Exported |= Units[I]->Exports;
    }
  Said.Closed &= All.AllKnown && !Exported;
  const FieldFacts None;
  for (const auto &[Field, In] : All.Fields) {
    FieldFacts Facts;
    bool IsConsumed = false;
    for (const auto &[I, There] : In) {
      IsConsumed |= There->IsConsumed;
      if (I != Unit)
        mergeFacts(Facts, *There);
    }
    Facts.IsConsumed = IsConsumed;
    if (!Own.TensorFields.count(Field.str())) {
      Facts.Consumers = 0;
      Facts.IsConsumed = Facts.IsWritten = false;
    }
    if (cpp::fieldsOf(Facts) != cpp::fieldsOf(None))
      Said.Fields.try_emplace(Field.str(), std::move(Facts));
  }
  for (StringRef Used : Own.Uses)
    if (const FunctionFacts *Does = factsOf(Used, Around, Said.Closed))
      Said.Functions.emplace(Used, *Does);
  for (StringRef Used : Own.Uses) {
    auto It = Said.Closed ? Overriders.find(Used) : Overriders.end();
    if (It == Overriders.end())
      continue;
    std::set<std::string> &All = Said.Overriders[Used.str()];
    for (StringRef Method : It->second) {
      All.insert(Method.str());
      if (const FunctionFacts *Does = definition(Method, Around))
        Said.Functions.emplace(Method, *Does);
    }
  }
  for (StringRef Method : Own.Methods)
    if (DefinedIn.count(Method))
      Said.Defined.insert(Method.str());
  auto TellCalled = [&](StringRef F) {
    if (auto It = CalledGuarded.find(F); It != CalledGuarded.end())
      Said.CalledGuarded.emplace(*It);
  };
  for (const UnitFacts::Function &F : Own.Functions)
    TellCalled(F.Usr);
  for (const UnitFacts::Call &Call : Own.Calls)
    TellCalled(Call.Callee);
  return Said;
}

} // namespace libtorch_tidy::flow
