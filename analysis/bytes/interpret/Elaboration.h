//===- Elaboration.h - The parts of elaboration -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// How the models of a unit become the rows of Bytes.h: what the command line
/// asks for, which models the unit makes, what their forward() is given, and
/// what passes over them take.

#ifndef LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_ELABORATION_H
#define LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_ELABORATION_H

#include "analysis/bytes/Bytes.h"
#include "analysis/bytes/interpret/Interpreter.h"

namespace libtorch_tidy::bytes {

/// Steps of the interpreter for all models of a unit; one alone is bounded by
/// the interpreter.
inline constexpr unsigned MaxStepsOfAll = 20'000'000;

//===----------------------------------------------------------------------===//
// Texts of the command line, ModelText.cpp
//===----------------------------------------------------------------------===//

/// `UNet(3, 2)`: a class and the arguments of its constructor.
struct ModelText {
  /// As written, without spaces: "UNet", "nets::Block<4>".
  std::string Name;
  std::vector<Cell> Arguments;
};

/// Reads a model:
///
///   MODEL = NAME [ "(" [ VALUE { "," VALUE } ] ")" ]
///   VALUE = integer | real number | true | false | "text"
///         | torch::kName | an enumerator of the user's
///         | "{" [ VALUE { "," VALUE } ] "}"
///         | "{" "." NAME "=" VALUE { "," "." NAME "=" VALUE } "}"
///
/// An error says what was expected, where, and has an example.
llvm::Expected<ModelText> parseModelText(llvm::StringRef Text);

// Of models, ModelNames.cpp.

/// As shownName(), with its namespaces: "nets::Block<4>".
std::string fullName(const clang::CXXRecordDecl *R, bool OfHolder = true);
/// "UNet(3, 2)"
std::string titleOf(const clang::CXXRecordDecl *R,
                    llvm::ArrayRef<Cell> Arguments);
/// \p Name without spaces, and without what follows the digits of a number: a
/// user writes "Mlp<3>" for "Mlp<3L>".
std::string plainName(llvm::StringRef Name);
/// Is \p R what a user calls \p Wanted? Sure: with its namespaces, all of them.
/// The arguments of a template may be left out.
bool isCalled(const clang::CXXRecordDecl *R, llvm::StringRef Wanted,
              bool &IsSure);
/// How a user writes a model of \p Class: its constructors.
std::vector<std::string> constructorsOf(const clang::CXXRecordDecl *Class);
/// Names tensors whose sizes are known and cannot be: nothing else says so.
void nameUnknownSizes(ModelRows &Model);

/// Reads an input of forward(), a tensor or another value:
///
///   INPUT = SIZE "x" SIZE { "x" SIZE } [ ":" TYPE ] | SIZE ":" TYPE | VALUE
///
/// In a VALUE in braces inputs can stand. A tensor has no element type where
/// the text has none. A number alone may be the only size of a tensor: its user
/// knows. An error has the grammar, and an example.
llvm::Expected<Cell> parseInputText(llvm::StringRef Text);
/// The values that \p Request gives in place of what is not known.
GivenValues givenBy(const BudgetRequest &Request);

//===----------------------------------------------------------------------===//
// Inputs of forward(), Inputs.cpp
//===----------------------------------------------------------------------===//

Spot spotOf(clang::SourceLocation Loc, const clang::SourceManager &SM);
/// A value as one would write it in a call, for a parameter of \p Type, if that
/// is known.
std::string shown(const Cell &V, clang::QualType Type = {});

/// The arguments of a forward(). Their tensors have sizes, and no memory.
struct StepInputs {
  std::vector<Cell> Arguments;
  std::vector<std::string> Texts;    ///< As a reader writes them.
  Spot From;                         ///< Empty: the command line.
  std::optional<MissingRow> Trouble; ///< Why forward() does not take them.
};

/// \p Texts, as parseInputText() takes them, for the forward() of \p Class. A
/// number is the only size of a tensor where forward() takes one.
StepInputs inputsOf(llvm::ArrayRef<std::string> Texts,
                    const clang::CXXRecordDecl *Class,
                    const clang::SourceManager &SM);

/// A construction of a module in the program, or a call of its forward(),
/// outside of modules.
struct Construction {
  const clang::CXXRecordDecl *Class;
  llvm::SmallVector<const clang::Expr *, 4> Arguments;
  clang::SourceLocation At;
};
/// The values of what \p C is made with. \p Unknown: the first that is not
/// known; else it stays null.
std::vector<Cell> argumentsOf(const Construction &C, Interpreter &Running,
                              const Value *&Unknown);
bool hasDefault(const clang::CXXRecordDecl *R);
struct PassedInputs : Construction { ///< Its class is canonical.
  const clang::ValueDecl *Model;     ///< What names the model; may be null.
};
/// \p E as such a call; nullopt for others.
std::optional<PassedInputs> asPassedInputs(const clang::CallExpr *E);
/// The values of \p Passed; nullopt where they are not known. With \p Type,
/// floating tensors are converted to it, as the model is.
std::optional<StepInputs> inputsOf(const PassedInputs &Passed,
                                   Interpreter &Running,
                                   std::optional<ElementType> Type);

/// The same of values that were passed \p At a place.
std::optional<StepInputs> inputsOf(std::vector<Cell> Values,
                                   clang::SourceLocation At,
                                   Interpreter &Running,
                                   std::optional<ElementType> Type);

/// \p Given with tensors in the memory of \p S, of \p Type where they have no
/// type. Those that are the same tensor stay one.
std::vector<Cell> placed(llvm::ArrayRef<Cell> Given, Simulation &S,
                         ElementType Type);

/// Inputs with a batch of \p Batch: the first size of the first tensor, and of
/// all that have the same. nullopt where no tensor has sizes.
std::optional<std::vector<Cell>> withBatch(llvm::ArrayRef<Cell> Given,
                                           int64_t Batch);

//===----------------------------------------------------------------------===//
// The models of a unit, Constructions.cpp
//===----------------------------------------------------------------------===//

/// A call of torch::jit::load().
struct FileLoad {
  const clang::Expr *File;
  clang::SourceLocation At;
};

/// What a unit has that has to do with models.
struct UnitModels {
  std::vector<const clang::CXXRecordDecl *> Classes; ///< Those of modules.
  std::vector<Construction> Made;
  std::vector<PassedInputs> Passed;
  std::vector<FileLoad> Loads;
  /// Calls of backward(), without those that autograd makes of custom ones.
  std::vector<clang::SourceLocation> Backwards;
  std::vector<const clang::FunctionDecl *> Defined; ///< For other units, too.
  std::vector<const clang::FunctionDecl *> Mains;   ///< main(), at most.
  Interpreter::Bodies Bodies;
};

/// Looks through a unit, of which the first \p OwnText bytes of the main file,
/// and what they include, are its own. \p WithInputs: what forward() is passed
/// is looked for, too.
UnitModels findModels(const clang::ASTContext &Context,
                      const Interpreter::DefineDecl &Define, unsigned OwnText,
                      bool WithInputs);

//===----------------------------------------------------------------------===//
// A run of the program, Program.cpp
//===----------------------------------------------------------------------===//

/// What main() has made, or passed to the forward() of a module.
struct SeenValues {
  const clang::CXXRecordDecl *Class = nullptr; ///< Of the module.
  std::vector<Cell> Values;
  clang::SourceLocation At;
  // Of what it has passed:
  static constexpr size_t Unseen = ~size_t(0);
  size_t Model = Unseen; ///< Which of those that it has made.
  std::string Variable;  ///< The name of the model there; or empty.
  bool IsGuarded = false;
  std::string Autocast; ///< The type that autocast has there; empty: it is off.
};
struct ProgramSeen {
  std::vector<SeenValues> Made, Passed; ///< In their order.
  /// The names of files that torch::jit::load() was given, and where.
  std::vector<std::pair<Cell, clang::SourceLocation>> Loaded;
  bool WithArguments = false;
  std::set<clang::SourceLocation> Backwards; ///< Those that it came to.
};

/// Follows main(), one of \p Mains, as it runs without arguments; or with some
/// that are not known, where it passes nothing without them.
ProgramSeen runProgram(llvm::function_ref<Interpreter &()> NewRun,
                       llvm::ArrayRef<const clang::FunctionDecl *> Mains);

/// Names the forward() of \p Class that needs the fewest arguments, and where
/// the program passes it what is not known.
void nameStep(const clang::CXXRecordDecl *Class, const ProgramSeen &Program,
              llvm::ArrayRef<PassedInputs> Found,
              const clang::SourceManager &SM, NoStepRow &Row);

/// Is told of each call of forward(), with the number of the model among those
/// that main() has made, which come last.
using OnCall =
    std::function<void(size_t, const ModulePtr &, llvm::ArrayRef<Cell>,
                       clang::SourceLocation, llvm::ArrayRef<ModulePtr>)>;
/// Follows main() once more, as it did for \p Seen, to \p Call.
void runAgain(Interpreter &Running,
              llvm::ArrayRef<const clang::FunctionDecl *> Mains,
              const ProgramSeen &Seen, const SeenValues &Call,
              const OnCall &Visit);
/// Is this call of forward() what \p Call is? Of one in a loop, the first with
/// arguments that are known.
bool isCall(const SeenValues &Call, size_t Model, llvm::ArrayRef<Cell> Given,
            clang::SourceLocation At, const Interpreter &Running);

//===----------------------------------------------------------------------===//
// The tree of a module, library/ModuleRows.cpp
//===----------------------------------------------------------------------===//

/// The paths of the modules that have rows.
using RowPaths = std::map<const ModuleInstance *, std::string>;

/// Adds the rows of \p Root and what is below it to \p Rows. \p Stopped:
/// members that are not registered may have been, later.
RowPaths addRows(const ModulePtr &Root, bool Stopped,
                 const clang::SourceManager &SM, std::vector<ModuleRow> &Rows);

/// Whether each tensor of \p Model gets a gradient, in the order of its rows.
std::vector<bool> gradientsOf(const ModelRows &Model);
void setGradients(ModelRows &Model, const std::vector<bool> &To);

//===----------------------------------------------------------------------===//
// Passes, Step.cpp
//===----------------------------------------------------------------------===//

/// What steps take whatever their loss is.
struct LeastSteps {
  PeakRow First, Later;
  std::vector<TimeRow> LaterLine;
};

/// Runs passes with \p Inputs over \p M, which \p Running has made, and adds to
/// \p Model what they take. \p Paths are those of its rows. Where the program
/// passes the inputs, it may have another loss: returns what is sure then.
std::optional<LeastSteps> addStep(Interpreter &Running, const ModulePtr &M,
                                  const StepInputs &Inputs,
                                  const BudgetRequest &Request,
                                  const RowPaths &Paths, ModelRows &Model);
/// The largest batch whose \p Peak is below what was asked about; nullopt where
/// one of those that were tried is not known.
std::optional<int64_t>
largestBatch(llvm::function_ref<std::optional<uint64_t>(int64_t)> Peak,
             uint64_t Memory);

/// Whether a model has the steps of the program.
struct ProgramSteps {
  std::optional<MissingRow> LossMissing;     ///< Why it does not.
  std::set<clang::SourceLocation> Backwards; ///< Calls that were followed to.
};

/// Gives \p Model, which main() has passed \p Call, the steps that main() makes
/// with it, up to backward(), with its own loss, where that is followed.
/// \p Work counts what the runs that \p NewRun makes take.
ProgramSteps addProgramSteps(llvm::function_ref<Interpreter()> NewRun,
                             llvm::ArrayRef<const clang::FunctionDecl *> Mains,
                             const ProgramSeen &Program, const SeenValues &Call,
                             const BudgetRequest &Request, unsigned &Work,
                             ModelRows &Model);

/// What the graph of one forward() keeps when nobody holds its results: with
/// the inputs that it keeps, if they go as well. nullopt where the pass is not
/// followed whole.
std::optional<uint64_t> keptByGraph(Interpreter &Running, const ModulePtr &M,
                                    const StepInputs &Inputs,
                                    const BudgetRequest &Request, bool Training,
                                    bool InputsGo);

/// \p Request with the release of LibTorch that the unit has, where it asks for
/// none.
BudgetRequest withRelease(BudgetRequest Request, clang::ASTContext &Context);

} // namespace libtorch_tidy::bytes

#endif // LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_ELABORATION_H
