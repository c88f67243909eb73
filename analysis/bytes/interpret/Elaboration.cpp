//===- Elaboration.cpp - The models of a unit, and their bytes ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Elaboration.h"
#include "analysis/cpp/ProgramNames.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::bytes {

static constexpr unsigned MaxModels = 200;

namespace {

class Elaborator {
public:
  Elaborator(ASTContext &Context, const BudgetRequest &Request,
             unsigned OwnText, Interpreter::DefineDecl Define)
      : Context(Context), SM(Context.getSourceManager()),
        Request(withRelease(Request, Context)), Define(std::move(Define)),
        Found(findModels(Context, this->Define, OwnText,
                         Request.WithSteps && Request.Inputs.empty() &&
                             !Request.OnlyDefines)),
        Given(givenBy(Request)) {}

  UnitBudget run() {
    for (const FunctionDecl *F : Found.Defined)
      share(F, Result.Defines);
    if (Request.OnlyDefines)
      return std::move(Result);
    llvm::stable_sort(Found.Classes, [&](const CXXRecordDecl *A,
                                         const CXXRecordDecl *B) {
      return SM.isBeforeInTranslationUnit(A->getLocation(), B->getLocation());
    });
    for (const CXXRecordDecl *R : Found.Classes)
      if (!R->isAbstract())
        llvm::append_range(Result.Known, constructorsOf(R));
    if (Request.Model.empty()) {
      findAll();
      findLoaded();
    } else if (llvm::Expected<ModelText> Asked =
                   parseModelText(Request.Model)) {
      findByName(*Asked);
    } else {
      llvm::consumeError(Asked.takeError()); // The command line was checked.
    }
    for (const FunctionDecl *F : Wanted)
      share(F, Result.Wants);
    // In an order that does not depend on where they lie in memory.
    llvm::sort(Result.Wants,
               [](const auto &A, const auto &B) { return A.Name < B.Name; });
    Result.Names.assign(Given.Names.begin(), Given.Names.end());
    return std::move(Result);
  }

private:
  Interpreter newRun() {
    Interpreter Running(Context, Define, Found.Bodies, &Given);
    Running.Autocast.Device = Request.Device;
    Running.Endless = &Endless;
    return Running;
  }

  void findByName(const ModelText &Asked) {
    const std::string Plain = plainName(Asked.Name);
    if (Plain == torch::spelling::JitLoad && Asked.Arguments.size() == 1 &&
        Asked.Arguments.front()->What == Value::Text) {
      Result.HasModel = true;
      Result.Loaded.push_back({Asked.Arguments.front()->Name, {}});
      return;
    }
    StringRef Wanted = Plain;
    const bool FromRoot = Wanted.consume_front("::");
    llvm::SmallVector<const CXXRecordDecl *, 4> Matching;
    for (const CXXRecordDecl *R : Found.Classes) {
      bool IsSure = false;
      if (!isCalled(R, Wanted, IsSure) || (FromRoot && !IsSure))
        continue;
      if (IsSure)
        Matching.clear();
      Matching.push_back(R);
      if (IsSure)
        break;
    }
    if (Matching.empty())
      return;
    const CXXRecordDecl *Class = Matching.front();
    Result.HasModel = true;
    if (Matching.size() > 1) {
      std::vector<std::string> Names;
      for (const CXXRecordDecl *R : Matching)
        Names.push_back(fullName(R));
      return refuse(Asked.Name, Class->getLocation(),
                    "several classes are called that: " +
                        llvm::join(Names, ", "));
    }
    if (!constructorFor(Class, Asked.Arguments) &&
        !(Asked.Arguments.empty() && Class->needsImplicitDefaultConstructor()))
      return refuse(titleOf(Class, Asked.Arguments), Class->getLocation(),
                    "no constructor takes these arguments; there are: " +
                        llvm::join(constructorsOf(Class), "; "));
    Interpreter Running = newRun();
    elaborate(Class, Asked.Arguments, Running);
  }

  /// The archives that the unit loads.
  void findLoaded() {
    std::set<std::string> Paths;
    auto Take = [&](const Cell &File, SourceLocation At) {
      if (File->What == Value::Text && Paths.insert(File->Name).second)
        Result.Loaded.push_back({File->Name, spotOf(At, SM)});
      return File->What == Value::Text;
    };
    for (const FileLoad &L : Found.Loads) {
      Interpreter Aside = newRun();
      const Cell File = Aside.evaluate(L.File);
      if (Take(File, L.At))
        continue;
      bool IsKnown = false;
      Cell Unknown = File;
      for (const auto &[Each, At] : program().Loaded)
        if (At == L.At) {
          IsKnown |= Take(Each, At);
          Unknown = Each;
        }
      if (!IsKnown)
        refuse(torch::spelling::JitLoad.str(), L.At,
               "which file it loads is not known" + Aside.because(Unknown));
    }
  }

  void findAll() {
    std::set<std::string> Titles;
    makeAsProgram(Titles);
    makeElsewhere(Titles);
    std::vector<const CXXRecordDecl *> Others;
    for (const CXXRecordDecl *R : Found.Classes)
      if (!Done.count(R) && !R->isAbstract())
        Others.push_back(R);
    makeByDefault(Others);
    refuseOthers(Others);
    makeOfLibrary();
  }

  /// Modules of the library that main() itself gives something to.
  void makeOfLibrary() {
    std::map<size_t, const SeenValues *> Calls;
    // An input that is asked for is one of the user's classes, if there are
    // any.
    if (!Request.WithSteps ||
        (!Request.Inputs.empty() && !Found.Classes.empty()))
      return;
    for (const SeenValues &Call : program().Passed) {
      if (Call.Model == SeenValues::Unseen || !torch::isTorchDecl(Call.Class))
        continue;
      const SeenValues *&Best = Calls[Call.Model];
      if (!Best || (Best->IsGuarded && !Call.IsGuarded))
        Best = &Call;
    }
    for (const auto &[Model, Call] : Calls)
      elaborateInProgram(
          *Call, StringRef(shownName(Call->Class) + " " + Call->Variable)
                     .rtrim()
                     .str());
  }

  /// The models that the program is seen to make.
  void makeAsProgram(std::set<std::string> &Titles) {
    for (const Construction &C : Found.Made) {
      Interpreter Running = newRun();
      const Value *Unknown = nullptr;
      const std::vector<Cell> Arguments = argumentsOf(C, Running, Unknown);
      if (Unknown) {
        if (makeAsRun(C, Titles))
          continue;
        llvm::copy(Running.Undefined, std::inserter(Wanted, Wanted.end()));
        NotKnown.try_emplace(C.Class, C.At,
                             Unknown->Why.empty()
                                 ? "made with arguments that are not known"
                                 : "made with " + Unknown->Why +
                                       ", which is not known" +
                                       howToGive(*Unknown));
        continue;
      }
      if (!Titles.insert(fullName(C.Class) + titleOf(C.Class, Arguments))
               .second)
        continue;
      Done.insert(C.Class);
      elaborate(C.Class, Arguments, Running);
    }
  }

  /// The models that a run of main() makes where \p C stands. False when it
  /// makes none of which all arguments are known.
  bool makeAsRun(const Construction &C, std::set<std::string> &Titles) {
    bool MakesAny = false;
    for (const SeenValues &Made : program().Made) {
      if (Made.At != C.At ||
          Made.Class->getCanonicalDecl() != C.Class->getCanonicalDecl() ||
          llvm::any_of(Made.Values, unknownIn))
        continue;
      MakesAny = true;
      Done.insert(C.Class);
      Interpreter Running = newRun();
      if (!Titles.insert(fullName(C.Class) + titleOf(C.Class, Made.Values))
               .second)
        continue;
      const size_t Before = Result.Refused.size();
      elaborate(C.Class, Running.copiesOf(Made.Values), Running);
      // Without arguments the program ends there; with some it does not.
      if (Running.Failure && !C.Arguments.empty() &&
          Result.Refused.size() > Before) {
        Result.Refused.resize(Before);
        Done.erase(C.Class);
        return false;
      }
    }
    return MakesAny;
  }

  /// Those that main() makes in other files, of classes that only these may
  /// have.
  void makeElsewhere(std::set<std::string> &Titles) {
    for (const SeenValues &Made : program().Made) {
      if (torch::isTorchDecl(Made.Class) ||
          llvm::any_of(Made.Values, unknownIn) ||
          !Titles
               .insert(fullName(Made.Class) + titleOf(Made.Class, Made.Values))
               .second)
        continue;
      Interpreter Running = newRun();
      Done.insert(Made.Class->getDefinition());
      elaborate(Made.Class->getDefinition(), Running.copiesOf(Made.Values),
                Running);
    }
  }

  const ProgramSeen &program() {
    if (!Seen) {
      std::vector<std::unique_ptr<Interpreter>> Runs;
      Seen = runProgram(
          [&]() -> Interpreter & {
            return *Runs.emplace_back(new Interpreter(newRun()));
          },
          Found.Mains);
      for (const auto &Run : Runs) {
        Steps += Run->steps();
        llvm::copy(Run->Undefined, std::inserter(Wanted, Wanted.end()));
      }
    }
    return *Seen;
  }

  /// The values that main() passes in \p Call, for a step.
  std::optional<StepInputs> inputsOf(const SeenValues &Call) {
    Interpreter Aside = newRun();
    return bytes::inputsOf(Aside.copiesOf(Call.Values), Call.At, Aside,
                           elementType(Request.Type));
  }

  /// The call of forward() of \p Title that says most; null without one.
  const SeenValues *callOf(const CXXRecordDecl *Class, StringRef Title) {
    const ProgramSeen &Program = program();
    const SeenValues *Best = nullptr;
    int BestRank = -1;
    for (const SeenValues &Call : Program.Passed) {
      if (Call.Model == SeenValues::Unseen ||
          Call.Class->getCanonicalDecl() != Class->getCanonicalDecl())
        continue;
      const SeenValues &Made = Program.Made[Call.Model];
      if (llvm::any_of(Made.Values, unknownIn) ||
          titleOf(Class, Made.Values) != Title)
        continue;
      const int Rank = 2 * inputsOf(Call).has_value() + !Call.IsGuarded;
      if (Rank > BestRank) {
        BestRank = Rank;
        Best = &Call;
      }
    }
    return Best;
  }

  /// Follows main() up to \p Call, and visits the model.
  void followTo(const SeenValues &Call, Interpreter &Running,
                llvm::function_ref<void(const ModulePtr &)> Visit) {
    runAgain(Running, Found.Mains, program(), Call,
             [&](size_t Model, const ModulePtr &M, llvm::ArrayRef<Cell> Given,
                 SourceLocation At, llvm::ArrayRef<ModulePtr>) {
               if (isCall(Call, Model, Given, At, Running))
                 Visit(M);
             });
    Steps += Running.steps();
  }

  /// Of what was not known before, this counts: what main() may freeze in \p M.
  static void keepOpenGradients(const ModulePtr &M, Interpreter &Running) {
    std::set<SourceLocation> Places;
    forEachModule(M, [&](const ModulePtr &Each, StringRef) {
      for (const ModuleInstance::Tensor &T : Each->Parameters)
        if (const auto It = Running.OpenGradients.find(T.Handle.get());
            It != Running.OpenGradients.end() && !T.Handle->RequiresGrad)
          Places.insert(It->second);
    });
    for (const SourceLocation At : Places)
      Running.Gaps.push_back({GradientIsOpen.str(), At});
  }

  /// The model as main() has it there: frozen, converted, with other parts.
  /// False where that is not known.
  bool elaborateInProgram(const SeenValues &Call, const std::string &Title) {
    Interpreter Running = newRun();
    bool IsKnown = false;
    followTo(Call, Running, [&](const ModulePtr &M) {
      bool HasTensors = false;
      IsKnown = true;
      forEachModule(M, [&](const ModulePtr &Each, StringRef) {
        IsKnown &= !Each->IsIncomplete;
        HasTensors |= !Each->Parameters.empty();
      });
      // An activation or a loss of the library's.
      IsKnown &= HasTensors || !torch::isTorchDecl(Call.Class);
      if (!torch::isTorchDecl(Call.Class))
        M->Made = Call.Class->getLocation();
      Running.Gaps.clear();
      keepOpenGradients(M, Running);
      if (IsKnown)
        describe(Running, M, Title, Call.Class,
                 Request.Inputs.empty()
                     ? inputsOf(Call)
                     : bytes::inputsOf(Request.Inputs, Call.Class, SM),
                 &Call);
      Running.Halted = true;
    });
    if (!IsKnown)
      return false;
    ModelRows &Model = Result.Models.back();
    ProgramSteps Followed = {std::nullopt, program().Backwards};
    if (Model.HasStep && Model.Step.Missing.empty() && Request.Inputs.empty() &&
        !Call.IsGuarded && Request.Autocast.empty() && Model.Missing.empty())
      Followed = addStepsOfProgram(Call, Model);
    leaveOutLoss(Model, std::move(Followed));
    return true;
  }

  /// What the sum of the results does not reach, the program's own loss may.
  ProgramSteps addStepsOfProgram(const SeenValues &Call, ModelRows &Model) {
    const std::vector<bool> OfSum = gradientsOf(Model);
    std::vector<MissingRow> Unreached = std::exchange(Model.Step.Unreached, {});
    setGradients(Model, WithoutStep);
    ProgramSteps Followed =
        addProgramSteps([this] { return newRun(); }, Found.Mains, program(),
                        Call, Request, Steps, Model);
    if (!Model.Step.LossAt.Line) {
      setGradients(Model, OfSum);
      Model.Step.Unreached = std::move(Unreached);
    }
    return Followed;
  }

  /// Where \p Model has no step of the program's, since its loss is not known
  /// or its backward() may be one that was not \p Followed, its steps are those
  /// of any loss.
  void leaveOutLoss(ModelRows &Model, ProgramSteps Followed) {
    bytes::StepRows &Step = Model.Step;
    if (!Least || Step.LossAt.Line || !Request.Autocast.empty())
      return;
    if (!Followed.LossMissing)
      for (const SourceLocation At : Found.Backwards)
        if (!Followed.Backwards.count(At)) {
          Followed.LossMissing = {
              spotOf(At, SM), "the program is not followed to this backward()"};
          break;
        }
    if (!Followed.LossMissing)
      return;
    Step.LeftOut = {*Followed.LossMissing};
    Step.FirstStep = std::move(Least->First);
    Step.LaterSteps = std::move(Least->Later);
    Step.LaterLine = std::move(Least->LaterLine);
    Step.Batch = {};
  }

  /// Models of \p Others, which nobody is seen to make, as their default
  /// constructor does.
  void makeByDefault(llvm::ArrayRef<const CXXRecordDecl *> Others) {
    const size_t MadeByProgram = Result.Models.size();
    for (const CXXRecordDecl *R : Others)
      if (hasDefault(R) && !NotKnown.count(R) && !Parts.count(shownName(R))) {
        Interpreter Running = newRun();
        elaborate(R, {}, Running);
      }
    // A part of another model is in its tree.
    Result.Models.erase(std::remove_if(Result.Models.begin() + MadeByProgram,
                                       Result.Models.end(),
                                       [&](const ModelRows &Model) {
                                         return Parts.count(
                                             Model.Modules.front().Class);
                                       }),
                        Result.Models.end());
  }

  /// Says why there is no model of one of \p Others, or not all of them.
  void refuseOthers(llvm::ArrayRef<const CXXRecordDecl *> Others) {
    for (const CXXRecordDecl *R : Others) {
      const std::string Name = shownName(R);
      const bool IsBase = llvm::any_of(Found.Classes, [&](const auto *Other) {
        return Other->isDerivedFrom(R);
      });
      if (Parts.count(Name) || (IsBase && !NotKnown.count(R)))
        continue;
      if (auto It = NotKnown.find(R); It != NotKnown.end())
        refuse(Name, It->second.first, "it is " + It->second.second,
               Found.Mains.empty() ? R : nullptr);
      else if (!hasDefault(R))
        refuse(Name, R->getLocation(),
               "its constructor takes arguments, and nothing here makes it; "
               "give them with --model='" +
                   Name + "(...)'",
               R);
    }
    // Of a class that has an answer, another one may be made.
    for (const CXXRecordDecl *R : Found.Classes)
      if (auto It = NotKnown.find(R); It != NotKnown.end() && Done.count(R))
        refuse(shownName(R), It->second.first,
               "another one is " + It->second.second);
  }

  void elaborate(const CXXRecordDecl *Class, llvm::ArrayRef<Cell> Arguments,
                 Interpreter &Running) {
    const std::string Title = titleOf(Class, Arguments);
    if (Steps > MaxStepsOfAll || Result.Models.size() >= MaxModels)
      return refuse(
          Title, Class->getLocation(),
          "there are too many models in this file; ask for it with --model");
    if (Request.WithSteps)
      if (const SeenValues *Call = callOf(Class, Title);
          Call && elaborateInProgram(*Call, Title))
        return;
    const ModulePtr Made =
        makeObject(Running, Class, Arguments, {}, nullptr, Class->getLocation())
            ->Held;
    const auto Want = llvm::make_scope_exit([&] {
      Steps += Running.steps();
      llvm::copy(Running.Undefined, std::inserter(Wanted, Wanted.end()));
    });
    if (const std::optional<Gap> &Failure = Running.Failure)
      return refuse(Title, Failure->Where, Failure->Text);
    if (!Made)
      return refuse(Title, Class->getLocation(),
                    "no constructor takes these arguments");
    describe(Running, Made, Title, Class, std::nullopt, nullptr);
    // A call that main() is not followed to has a backward() that it is not.
    const Spot &From = Result.Models.back().Step.InputFrom;
    const bool IsSeen = llvm::any_of(program().Passed, [&](const auto &Call) {
      const Spot At = spotOf(Call.At, SM);
      return At.File == From.File && At.Line == From.Line;
    });
    leaveOutLoss(Result.Models.back(),
                 {std::nullopt,
                  IsSeen ? program().Backwards : std::set<SourceLocation>()});
  }

  /// Adds the rows of \p Made, with a step of \p Inputs, or of what is found.
  /// \p Call: main() passes them there; it may be null.
  void describe(Interpreter &Running, const ModulePtr &Made,
                const std::string &Title, const CXXRecordDecl *Class,
                std::optional<StepInputs> Inputs, const SeenValues *Call) {
    BudgetRequest Request = this->Request;
    if (Call && Request.Autocast.empty())
      Request.Autocast = Call->Autocast;
    if (const auto Type = elementType(Request.Type))
      convertModule(Made, *Type);
    ModelRows Model;
    Model.Title = Title;
    Model.Made = spotOf(Class->getLocation(), SM);
    if (torch::isTorchDecl(Class))
      Model.Made = spotOf(Made->Made, SM);
    const RowPaths Paths = addRows(Made, Running.Halted, SM, Model.Modules);
    for (ModuleRow &Row : Model.Modules)
      if (const auto It = Running.Archives.find(Row.At);
          Row.Archive && It != Running.Archives.end())
        Row.Archive = It->second;
    for (const Gap &G : Running.Gaps)
      Model.Missing.push_back({spotOf(G.Where, SM), G.Text});
    nameUnknownSizes(Model);
    if (Running.Halted) {
      Model.NoStep.Why = "its constructor is not followed to its end";
    } else if (Request.WithSteps) {
      const bool IsOfAny = !Inputs && Request.Inputs.empty();
      if (!Inputs)
        Inputs = inputsOf(Class);
      Least.reset();
      WithoutStep = gradientsOf(Model);
      if (Inputs)
        Least = addStep(Running, Made, *Inputs, Request, Paths, Model);
      // It may be another one of several that takes this input.
      if (IsOfAny && Model.Step.Fails && isMadeTwice(Class)) {
        Model.NoStep.PassedAt = Model.Step.InputFrom;
        Model.HasStep = false;
        Model.NoStep.Misfits = true;
        Model.Step = {};
      }
      if (!Model.HasStep)
        nameStep(Class, program(), Found.Passed, SM, Model.NoStep);
    }
    for (const ModuleRow &Row : llvm::drop_begin(Model.Modules))
      if (Row.Class != Made->ClassName)
        Parts.insert(Row.Class);
    Result.Models.push_back(std::move(Model));
  }

  bool isMadeTwice(const CXXRecordDecl *Class) const {
    return llvm::count_if(Found.Made, [&](const Construction &C) {
             return C.Class->getCanonicalDecl() == Class->getCanonicalDecl();
           }) > 1;
  }

  /// What was asked for, or the first that the program passes to such a model.
  std::optional<StepInputs> inputsOf(const CXXRecordDecl *Class) {
    if (!Request.Inputs.empty())
      return bytes::inputsOf(Request.Inputs, Class, SM);
    for (const PassedInputs &Passed : Found.Passed) {
      if (Passed.Class != Class->getCanonicalDecl() || Steps > MaxStepsOfAll)
        continue;
      Interpreter Aside = newRun();
      std::optional<StepInputs> Inputs =
          bytes::inputsOf(Passed, Aside, elementType(Request.Type));
      Steps += Aside.steps();
      if (Inputs)
        return Inputs;
    }
    for (const SeenValues &Passed : program().Passed)
      if (Passed.Class->getCanonicalDecl() == Class->getCanonicalDecl())
        if (std::optional<StepInputs> Inputs = inputsOf(Passed))
          return Inputs;
    return std::nullopt;
  }

  /// With \p Elsewhere, another unit may make one of that class.
  void refuse(std::string Title, SourceLocation Where, std::string Reason,
              const CXXRecordDecl *Elsewhere = nullptr) {
    Result.Refused.push_back(
        {std::move(Title), spotOf(Where, SM), std::move(Reason),
         Elsewhere ? spotOf(Elsewhere->getLocation(), SM) : Spot()});
  }

  void share(const FunctionDecl *F, std::vector<SharedFunction> &To) const {
    if (std::string Name = cpp::programName(F); !Name.empty())
      To.push_back(
          {std::move(Name), spotOf(F->getCanonicalDecl()->getLocation(), SM)});
  }

  ASTContext &Context;
  const SourceManager &SM;
  const BudgetRequest Request;
  const Interpreter::DefineDecl Define;
  UnitModels Found;
  GivenValues Given;
  UnitBudget Result;
  /// Of the models so far: the classes in them, without the model's own.
  std::set<std::string> Parts;
  /// The classes that the program is seen to make, and where it makes one with
  /// something that is not known.
  std::set<const CXXRecordDecl *> Done;
  std::map<const CXXRecordDecl *, std::pair<SourceLocation, std::string>>
      NotKnown;
  std::set<const FunctionDecl *> Wanted;
  std::optional<ProgramSeen> Seen;
  // Of the last model.
  std::optional<LeastSteps> Least;
  std::vector<bool> WithoutStep; ///< As gradientsOf() has it before its step.
  unsigned Steps = 0;
  std::set<const Stmt *> Endless; ///< Loops, as Interpreter has them.
};

} // namespace

std::string titleOfArchive(StringRef Path) {
  return (torch::spelling::JitLoad + "(\"" + Path + "\")").str();
}

UnitBudget elaborate(ASTContext &Context, const BudgetRequest &Request,
                     unsigned OwnText,
                     std::function<void(NamedDecl &)> Define) {
  return Elaborator(Context, Request, OwnText, std::move(Define)).run();
}

} // namespace libtorch_tidy::bytes
