//===- Program.cpp - What main() makes and passes -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Elaboration.h"
#include <deque>

using namespace clang;
using llvm::ArrayRef;

namespace libtorch_tidy::bytes {

namespace {

/// Runs main(), and writes down the models that it makes, and what it passes to
/// them.
class ProgramRun {
public:
  /// \p Before is what an earlier run has seen, whose models have their numbers
  /// in this one; it may be null.
  ProgramRun(Interpreter &Running, ProgramSeen &Seen, const OnCall *Visit,
             const ProgramSeen *Before)
      : Running(Running), Seen(Seen), Visit(Visit) {
    for (size_t I = 0; Before && I < Before->Made.size(); ++I)
      Numbers[Before->Made[I].At].push_back(I);
    Running.OnModule = [this](const ModulePtr &M, ArrayRef<Cell> Given,
                              SourceLocation At) {
      if (isFull())
        return;
      number(M, At);
      SeenValues Model;
      Model.Class = M->Class;
      Model.Values = this->Running.copiesOf(Given);
      Model.At = At;
      this->Seen.Made.push_back(std::move(Model));
    };
    Running.OnForward = [this](const ModulePtr &M, ArrayRef<Cell> Given,
                               SourceLocation At) { call(M, Given, At); };
    Running.OnLoad = [this](const Cell &File, SourceLocation At) {
      if (!isFull())
        this->Seen.Loaded.emplace_back(this->Running.copyOf(File), At);
    };
  }
  ~ProgramRun() {
    Running.OnModule = nullptr;
    Running.OnForward = nullptr;
    Running.OnLoad = nullptr;
  }
  ProgramRun(const ProgramRun &) = delete;
  ProgramRun &operator=(const ProgramRun &) = delete;

  void run(const FunctionDecl *Main) {
    // argv has the program's name, and what may follow is not known.
    std::vector<Cell> Given = {text("program")};
    constexpr size_t Several = 8;
    while (Seen.WithArguments && Given.size() < Several)
      Given.push_back(
          unknown(Main->getLocation(), "an argument of the program"));
    std::vector<Cell> Arguments = {integer(Given.size()), listOf(Given)};
    Arguments.resize(std::min<size_t>(Arguments.size(), Main->getNumParams()));
    Running.call(Main, Arguments, nullptr, Main->getLocation());
  }

private:
  /// Adds \p M, which is made at \p At, to Made.
  void number(const ModulePtr &M, SourceLocation At) {
    const auto It = Numbers.find(At);
    size_t Number = Made.size();
    if (It != Numbers.end() && !It->second.empty()) {
      Number = It->second.front();
      It->second.pop_front();
    }
    Made.resize(std::max(Made.size(), Number + 1));
    Made[Number] = M;
  }

  void call(const ModulePtr &M, ArrayRef<Cell> Given, SourceLocation At) {
    // A program that trains for long does the same again and again.
    constexpr unsigned MaxCallsSeen = 2'000;
    if (++CallsSeen > MaxCallsSeen)
      Running.Halted = true;
    if (!M->Class || isFull())
      return;
    const auto It = llvm::find(Made, M);
    const size_t Model =
        It == Made.end() ? SeenValues::Unseen : It - Made.begin();
    if (Visit)
      return (*Visit)(Model, M, Given, At, Made);
    // Of the same call in a loop, the first whose arguments are known counts.
    auto [Known, IsNew] =
        Calls.try_emplace({M.get(), At, Running.records()}, Seen.Passed.size());
    if (!IsNew && !llvm::any_of(Seen.Passed[Known->second].Values, unknownIn))
      return;
    SeenValues Call;
    Call.Class = M->Class;
    Call.Values = Running.copiesOf(Given);
    Call.At = At;
    Call.Model = Model;
    Call.Variable = nameOf(M);
    Call.IsGuarded = !Running.records();
    if (const auto Type = Running.Autocast.inUse())
      Call.Autocast = Type->Name.str();
    if (IsNew)
      Seen.Passed.push_back(std::move(Call));
    else
      Seen.Passed[Known->second] = std::move(Call);
  }

  /// The name of the variable or member that \p M is in, the outermost.
  std::string nameOf(const ModulePtr &M) const {
    auto Holds = [&](const Cell &V) {
      const Cell Target = targetOf(V);
      return Target && Target->What == Value::Module && Target->Held == M;
    };
    for (const Frame *F : Running.Frames) {
      const ValueDecl *First = nullptr;
      for (const auto &[D, V] : F->Variables)
        if (Holds(V) && (!First || D->getLocation() < First->getLocation()))
          First = D;
      if (First)
        return First->getNameAsString();
      if (F->This && F->This->What == Value::Record)
        for (const auto &[Field, V] : F->This->Members)
          if (Holds(V))
            return Field->getNameAsString();
    }
    return "";
  }

  bool isFull() const {
    constexpr size_t MaxSeen = 1'000;
    return Seen.Made.size() + Seen.Passed.size() + Seen.Loaded.size() > MaxSeen;
  }

  Interpreter &Running;
  ProgramSeen &Seen;
  const OnCall *const Visit;
  unsigned CallsSeen = 0;
  std::vector<ModulePtr> Made; ///< As Seen has them; null: not made yet.
  /// Of the models that are made there, in their order.
  std::map<SourceLocation, std::deque<size_t>> Numbers;
  std::map<std::tuple<const ModuleInstance *, SourceLocation, bool>, size_t>
      Calls;
};

} // namespace

static void runMain(Interpreter &Running, ArrayRef<const FunctionDecl *> Mains,
                    ProgramSeen &Seen, const OnCall *Visit,
                    const ProgramSeen *Before) {
  ProgramRun Run(Running, Seen, Visit, Before);
  for (const FunctionDecl *F : Mains)
    Run.run(F);
  Seen.Backwards = Running.Backwards;
}

/// Runs main() as often as it comes to a loop that does not end.
static ProgramSeen runMains(llvm::function_ref<Interpreter &()> NewRun,
                            ArrayRef<const FunctionDecl *> Mains,
                            bool WithArguments) {
  constexpr unsigned MaxRuns = 8;
  for (unsigned Runs = 1;; ++Runs) {
    Interpreter &Running = NewRun();
    ProgramSeen Seen;
    Seen.WithArguments = WithArguments;
    runMain(Running, Mains, Seen, nullptr, nullptr);
    if (!Running.HasFoundEndless || Runs == MaxRuns)
      return Seen;
  }
}

ProgramSeen runProgram(llvm::function_ref<Interpreter &()> NewRun,
                       ArrayRef<const FunctionDecl *> Mains) {
  if (Mains.empty())
    return {};
  ProgramSeen Without = runMains(NewRun, Mains, /*WithArguments=*/false);
  if (!Without.Passed.empty() || !Mains.front()->getNumParams())
    return Without;
  ProgramSeen With = runMains(NewRun, Mains, /*WithArguments=*/true);
  return With.Passed.empty() ? Without : With;
}

void runAgain(Interpreter &Running, ArrayRef<const FunctionDecl *> Mains,
              const ProgramSeen &Seen, const SeenValues &Call,
              const OnCall &Visit) {
  Running.Wanted = Call.At;
  ProgramSeen Again;
  Again.WithArguments = Seen.WithArguments;
  runMain(Running, Mains, Again, &Visit, &Seen);
}

bool isCall(const SeenValues &Call, size_t Model, ArrayRef<Cell> Given,
            SourceLocation At, const Interpreter &Running) {
  return Model == Call.Model && At == Call.At &&
         Call.IsGuarded == !Running.records() &&
         (llvm::any_of(Call.Values, unknownIn) ||
          llvm::none_of(Given, unknownIn));
}

} // namespace libtorch_tidy::bytes
