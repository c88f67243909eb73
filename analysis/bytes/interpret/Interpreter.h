//===- Interpreter.h - Follows what constructors do -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A small interpreter over Clang's syntax tree, for the constructors of
/// modules: it follows numbers, texts, lists, options and modules through the
/// user's code, and calls nothing. What it does not know stays unknown, with
/// the place that it comes from. Code that depends on something unknown is not
/// followed: what it changes is unknown from then on, and where it could have
/// added to a module, that is noted.
///
/// Every walk is bounded: by steps, by modules made, by the length of lists and
/// by the depth of calls. At a bound it stops, and notes where.

#ifndef LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_INTERPRETER_H
#define LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_INTERPRETER_H

#include "analysis/bytes/interpret/Value.h"
#include "analysis/bytes/library/ModuleApi.h"
#include "analysis/bytes/simulate/Simulation.h"
#include "analysis/cpp/Types.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <functional>
#include <set>

namespace libtorch_tidy::bytes {

class Interpreter;

/// What the command line gives in place of what is not known.
struct GivenValues {
  std::map<std::string, Cell> Values; ///< By their names: "config.width".
  std::set<std::string> Names;        ///< Of all that could be given.
};

/// Statements and expressions within each other, over all calls: what the
/// stack of the process has room for.
inline constexpr unsigned MaxNesting = 1'500;
/// Calls of functions and constructors within each other.
inline constexpr unsigned MaxCalls = 64;
/// Elements of an array or container.
inline constexpr uint64_t MaxElements = 1U << 16;

// What is as much work as a step.
inline constexpr size_t TextPerStep = 16;       ///< Characters that are copied.
inline constexpr size_t ComparisonsPerStep = 8; ///< Of a search.
/// Of an operator; one more for each size.
inline constexpr size_t StepsPerTensor = 8;

/// Something that is not known and that the totals may miss.
struct Gap {
  std::string Text;
  clang::SourceLocation Where;
};

inline constexpr llvm::StringLiteral GradientIsOpen =
    "whether a parameter gets a gradient is not known";

/// The class as its holder calls it, with its template arguments: "Block<4>".
/// Not of its holder: with its own name, "BlockImpl<4>".
std::string shownName(const clang::CXXRecordDecl *R, bool OfHolder = true);
using cpp::typeArgument;

/// The forward() of \p Class or of a base that takes \p Count arguments; null
/// when the user has defined none.
const clang::CXXMethodDecl *forwardMethod(const clang::CXXRecordDecl *Class,
                                          size_t Count);

/// The sizes and the type of a tensor, "16x3x8x8:float32", or of several.
std::string shownSizes(const Cell &V);
/// The tensors in \p Given: themselves, or those of elements and members.
std::vector<TensorPtr> tensorsIn(llvm::ArrayRef<Cell> Given);

struct LibraryCall;

/// A row of a table of calls that are understood: how functions of some names,
/// with spaces between them, are handled that are given so many arguments. A
/// handler that returns null did not understand the call after all.
struct CallRule {
  llvm::StringRef Names;
  Cell (*Handle)(const LibraryCall &C);
  size_t Least = 0, Most = Any;
  enum Effect : unsigned char {
    None,
    Adds,        ///< The module may have more after it.
    TakesBack,   ///< What there was is gone, or another.
  } Does = None; ///< Of methods of modules.
  static constexpr size_t Any = ~size_t(0);
};
/// The rule for a method of a module, or of what holds one; null for others.
/// With as many arguments as it needs, its object is a module.
const CallRule *moduleRule(const clang::FunctionDecl *F);

/// A call of a function that may be a library's.
struct LibraryCall {
  Interpreter &VM;
  const clang::CallExpr *E;
  const clang::FunctionDecl *F;
  Cell Object; ///< Of a method; null for other functions.
  llvm::ArrayRef<Cell> Arguments;
  clang::SourceLocation At;
  llvm::StringRef Name; ///< Empty for operators.
  Cell Nothing;         ///< What it gives where that is not known.
  const CallRule *OnModule = moduleRule(F);
};

/// A call that goes on while its callee is followed.
struct Frame {
  std::map<const clang::ValueDecl *, Cell> Variables;
  /// Those of the blocks that are open, in their order; not the parameters.
  std::vector<const clang::ValueDecl *> Declared;
  const clang::FunctionDecl *Function = nullptr; ///< Null: a constructor.
  Cell This;
  Cell Result;
  /// A return that depends on values, which was passed by.
  struct EarlyReturn {
    std::string Sizes; ///< Of what it gives.
    uint64_t Live;     ///< Bytes in use then.
    clang::SourceLocation At;
  };
  std::vector<EarlyReturn> Early;
  uint64_t LiveAtReturn = 0; ///< Bytes in use then.
};

/// What has been followed so far, and what every function of this folder needs
/// to go on.
class Interpreter {
public:
  /// Makes the definition of a function or class of a template, which only the
  /// library, whose bodies are not parsed, has asked for.
  using DefineDecl = std::function<void(clang::NamedDecl &)>;

  /// The bodies of all functions of the unit.
  using Bodies = std::vector<const clang::Stmt *>;

  Interpreter(clang::ASTContext &Context, DefineDecl Define, const Bodies &All,
              GivenValues *Given = nullptr)
      : Context(Context), All(All), Define(std::move(Define)), Given(Given) {}

  /// The value of \p E, outside of what has been called: a tree, but for what
  /// members that are references name.
  Cell evaluate(const clang::Expr *E) { return copyOf(eval(E)); }

  /// What the totals may miss, each once, in the order it was found.
  std::vector<Gap> Gaps;
  /// Where it was left open whether these tensors require a gradient.
  std::map<const TensorInstance *, clang::SourceLocation> OpenGradients;
  /// Why nothing can be said: the constructor throws, or does something that
  /// takes back what is not known. Absent: something can.
  std::optional<Gap> Failure;
  /// Functions of the user's that it came to, and whose bodies the unit lacks.
  std::set<const clang::FunctionDecl *> Undefined;
  /// The work that was done, to bound it over many models.
  unsigned steps() const { return Before + Steps; }

  // A pass of forward(): tensors have memory, and operators are followed.

  /// Where memory is asked for.
  struct Place {
    const ModuleInstance *Module; ///< Whose forward() runs; may be null.
    clang::SourceLocation Where;
  };
  /// Where tensors live; notes are of the pass. Null outside of one.
  Simulation *Pass = nullptr;
  /// By the numbers that Memory::place() gives.
  std::vector<Place> Places;
  /// What the pass does not know, and takes back from Failure.
  std::vector<Gap> takeGapsOfPass();
  bool hasGapsOfPass() const { return !GapsOfPass.empty() || Failure; }
  /// How many there are, and back to as many, without a failure.
  size_t gapsOfPass() const { return GapsOfPass.size(); }
  void restoreGaps(size_t Count) {
    GapsOfPass.resize(std::min(Count, GapsOfPass.size()));
    if (Failure)
      Halted = false;
    Failure.reset();
  }

  // For the functions that follow code.

  Cell eval(const clang::Expr *E);
  std::vector<Cell> evalAll(llvm::ArrayRef<const clang::Expr *> Each);
  /// What \p F, a function of the user's, returns.
  Cell call(const clang::FunctionDecl *F, llvm::ArrayRef<Cell> Arguments,
            Cell This, clang::SourceLocation At);
  /// \p F is what the call names, which says more than the closure does: of a
  /// generic lambda, the instance. It may be null.
  Cell callClosure(const Cell &Closure, const clang::FunctionDecl *F,
                   llvm::ArrayRef<Cell> Arguments, clang::SourceLocation At);
  /// The definition, made where it can be; null without one.
  const clang::FunctionDecl *definitionOf(const clang::FunctionDecl *F);
  const clang::CXXRecordDecl *definitionOf(const clang::CXXRecordDecl *R) const;

  /// \p V, which \p E names, or a variable of that name and type: where it is
  /// not known, it becomes what the command line gives, or has its name.
  const Cell &named(const Cell &V, const clang::Expr *E);
  const Cell &named(const Cell &V, llvm::StringRef Name, clang::QualType Type);

  Cell copyOf(const Cell &V);
  std::vector<Cell> copiesOf(llvm::ArrayRef<Cell> Of);
  void store(const Cell &To, const Cell &From);

  void note(clang::SourceLocation Where, const llvm::Twine &Text);
  /// ": 'n' (net.cpp:12)", or nothing.
  std::string because(const Cell &Unknown) const;
  void fail(clang::SourceLocation Where, const llvm::Twine &Text);
  /// \p What throws: that is a failure, unless something that came before is
  /// not known. Then it may be wrong, and nothing more is followed.
  void throws(clang::SourceLocation Where, const llvm::Twine &What,
              llvm::StringRef Says = ", which throws");
  /// \p V, which a call needs and which is not known: the pass says why, once.
  Cell lost(const Cell &V);
  /// Does \p Work, one for each step, or as many as are as much work. False
  /// when nothing more is followed.
  bool step(clang::SourceLocation Where, size_t Work = 1);
  bool isTooDeep(clang::SourceLocation Where);
  void limit(clang::SourceLocation Where, const llvm::Twine &Text);
  /// "forward()" or "the constructor".
  llvm::StringRef running() const;
  /// The module whose constructor or method runs; null outside of all.
  ModuleInstance *current() const;
  /// Is it in main(), outside of modules, and is somebody told of calls of
  /// forward() there? What backward() of a custom function calls is of a pass.
  bool isInProgram() const { return OnForward && !current() && !InBackward; }
  /// Is it there, or in another method of \p M that main() has called, as act()
  /// of an agent's network?
  bool passesTo(const ModulePtr &M) const;
  /// Where tensors live: outside of a pass, only their sizes count.
  Simulation &simulation() { return Pass ? *Pass : Making; }
  /// Of the pass that is followed, or outside of one.
  bool &gradMode() { return Pass ? Pass->GradMode : GradMode; }
  bool records() const { return Pass ? Pass->GradMode : GradMode; }
  void setPlace(const ModuleInstance *Module, clang::SourceLocation At);

  /// What is told of modules that are made outside of modules, and of calls of
  /// their forward() there.
  using Told = std::function<void(const ModulePtr &, llvm::ArrayRef<Cell>,
                                  clang::SourceLocation)>;
  Told OnModule, OnForward;
  /// Of calls of torch::jit::load(): the file.
  std::function<void(const Cell &, clang::SourceLocation)> OnLoad;
  /// The files of these calls; empty where one loads several.
  std::map<clang::SourceLocation, std::string> Archives;
  /// Of a pass that goes on in the program: what backward() is called for.
  struct BackwardOf {
    std::vector<TensorPtr> Results;   ///< None where one is not known.
    std::vector<TensorPtr> Gradients; ///< As given; empty: ones.
    bool KeepsGraph = false;          ///< For another one.
    clang::SourceLocation At;
  };
  std::function<void(const BackwardOf &)> OnBackward;
  /// And what operators are given.
  std::set<clang::SourceLocation> Backwards; ///< Those that it came to.
  std::function<void(const TensorPtr &)> OnTensor;
  /// Of step(): the parameters.
  std::function<void(llvm::ArrayRef<TensorPtr>)> OnOptimizerStep;
  /// The same of zero_grad(), and whether it drops gradients, if that is said.
  std::function<void(llvm::ArrayRef<TensorPtr>, std::optional<bool>)>
      OnZeroGrad;
  bool GradMode = true; ///< Outside of a pass.
  /// What the program has made of autocast, on the device of the figures.
  struct AutocastState {
    DeviceKind Device = DeviceKind::Cpu;
    bool IsOn = false, Caches = true;
    std::optional<ElementType> Type; ///< Absent: the one of the device.
    int64_t Nesting = 0;
    /// The type that operators run in where it is on.
    ElementType type() const;
    std::optional<ElementType> inUse() const {
      return IsOn ? std::optional(type()) : std::nullopt;
    }
  };
  AutocastState Autocast;
  /// A container whose forward() runs without a graph, and again in backward().
  const ModuleInstance *Checkpointed = nullptr;

  clang::ASTContext &Context;
  const Bodies &All;
  std::vector<Frame *> Frames;
  std::map<const clang::VarDecl *, Cell> Globals;
  /// What lives until the end of the full expressions that are evaluated.
  std::vector<Cell> Temporaries;
  clang::SourceLocation Current; ///< Of the statement that is followed.
  bool Halted = false; ///< At a limit, or a failure: nothing more is followed.
  unsigned Modules = 0, Nesting = 0, Calls = 0;
  unsigned InBackward = 0; ///< Of custom autograd functions.
  /// The loop of the program that runs may have ended before, which depends on
  /// values.
  bool MayHaveEnded = false;
  /// The call of forward() whose step is looked for; invalid: of all that the
  /// program makes.
  clang::SourceLocation Wanted;
  /// Loops of the program that only collect, and did not end in an earlier run:
  /// they count as one round. Null: all of which the end is not known.
  std::set<const clang::Stmt *> *Endless = nullptr;
  bool HasFoundEndless = false; ///< One more: what followed it was not run.
  std::vector<Gap> OneRound;    ///< Where that was so.
  /// Of tensors that constructors make of others.
  Simulation Making{DeviceKind::Cpu, Simulation::Measured};
  /// What sizesOfForward() gave, by the sizes of what it was given.
  std::map<std::pair<const ModuleInstance *, std::string>, Cell> Forwards;
  /// The sizes of what the forward() of modules gave last.
  std::map<const ModuleInstance *, std::string> Results;

private:
  DefineDecl Define;
  GivenValues *const Given;
  std::set<std::pair<clang::SourceLocation, std::string>> Noted;
  std::map<std::pair<const ModuleInstance *, clang::SourceLocation>, unsigned>
      PlaceNumbers;
  std::vector<Gap> GapsOfPass;
  unsigned Before = 0; ///< Steps of the passes that are over.
  unsigned Steps = 0;
};

/// "; give it with --set=width=VALUE", or nothing.
std::string howToGive(const Value &Unknown);

/// The first rule for functions called \p Name; null without one.
const CallRule *ruleNamed(llvm::ArrayRef<CallRule> Rules, llvm::StringRef Name);
/// What the rule for \p C gives; null without one.
Cell byRule(llvm::ArrayRef<CallRule> Rules, const LibraryCall &C);

// What follows statements, Statements.cpp.

void follow(Interpreter &VM, const clang::Stmt *Body);

// What is skipped, Forgetting.cpp.

/// Makes everything unknown that \p Skipped may change. True when it may also
/// add to a module.
bool forget(Interpreter &VM, const clang::Stmt *Skipped, const Cell &Because);
/// Can a call change what it is given for a parameter of the type?
bool letsChange(clang::QualType Parameter);

// Expressions, Expressions.cpp and Arithmetic.cpp.

/// What the compiler can compute by itself.
Cell evalConstant(Interpreter &VM, const clang::Expr *E);
Cell evalBinary(Interpreter &VM, const clang::BinaryOperator *E);
Cell evalUnary(Interpreter &VM, const clang::UnaryOperator *E);
Cell evalCall(Interpreter &VM, const clang::CallExpr *E);
Cell element(const Cell &Of, const Cell &Index, const clang::Expr *E);
Cell memberOf(Interpreter &VM, const Cell &Base, const clang::ValueDecl *Member,
              const clang::Expr *E);
Cell arithmetic(Interpreter &VM, clang::BinaryOperatorKind Op, const Cell &A,
                const Cell &B, clang::QualType Type, const clang::Expr *E);
Cell convert(Interpreter &VM, const Cell &From, clang::QualType To);
/// \p V, a number of \p Type, as a real one, where it may be too large for the
/// integers that are counted with.
Cell asReal(Interpreter &VM, const Cell &V, clang::QualType Type);
llvm::SmallVector<clang::QualType, 4>
typesOf(llvm::ArrayRef<const clang::Expr *> Each);

// Objects, Objects.cpp and Constructors.cpp.

/// The constructor of \p Class that fits the values best; null when there is
/// none. \p Types are those of the expressions, where there are any.
const clang::CXXConstructorDecl *
constructorFor(const clang::CXXRecordDecl *Class,
               llvm::ArrayRef<Cell> Arguments,
               llvm::ArrayRef<clang::QualType> Types = {});
/// The definition of \p R, made where it can be; null without one.
const clang::CXXRecordDecl *definitionOf(const clang::CXXRecordDecl *R,
                                         const Interpreter::DefineDecl &Define);
/// The library's class whose constructors \p Class has by a using-declaration;
/// null without one.
const clang::CXXRecordDecl *
libraryConstructs(const clang::CXXRecordDecl *Class);
Cell makeObject(Interpreter &VM, const clang::CXXRecordDecl *Class,
                llvm::ArrayRef<Cell> Arguments,
                llvm::ArrayRef<clang::QualType> Types,
                const clang::CXXConstructorDecl *Constructor,
                clang::SourceLocation At);
void construct(Interpreter &VM, const Cell &Object,
               const clang::CXXRecordDecl *Class,
               const clang::CXXConstructorDecl *Constructor,
               llvm::ArrayRef<Cell> Arguments, clang::SourceLocation At);
/// Of a field that no constructor sets.
Cell initialValue(Interpreter &VM, const clang::FieldDecl *Field);
Cell defaultValue(Interpreter &VM, clang::QualType Type,
                  clang::SourceLocation At);
/// An element of \p Type, null when that is not known, that a container makes
/// by itself.
Cell newElement(Interpreter &VM, clang::QualType Type,
                clang::SourceLocation At);
/// \p From as a variable of type \p To takes it.
Cell coerced(Interpreter &VM, const Cell &From, clang::QualType To,
             clang::SourceLocation At);

// Calls, Calls.cpp. Null: it is not a call of that kind.

bool bindParameters(Interpreter &VM, Frame &Callee,
                    const clang::FunctionDecl *F,
                    llvm::ArrayRef<Cell> Arguments);
/// What runs \p Arguments, function objects, and how often, is not followed.
void skipClosures(Interpreter &VM, llvm::ArrayRef<Cell> Arguments,
                  clang::SourceLocation At);
Cell callStandard(LibraryCall C);
/// What \p C, which is not followed, may write to is unknown after it.
void forgetTaken(const LibraryCall &C);
Cell callModule(LibraryCall C);
/// What a holder or a container is given as a temporary, or moved, its module
/// takes over, as forward() of a custom function does: they are forwarded.
void expireTemporaries(const LibraryCall &C);
/// One that has to do with tensors or their options.
Cell callWithTensors(LibraryCall C);
Cell callOptions(const LibraryCall &C);
/// F::apply() of a custom autograd function, and what its forward() and
/// backward() do with their context, AutogradFunctions.cpp.
Cell callAutograd(const LibraryCall &C);
/// A function of at::autocast; null for others.
Cell callAutocast(const LibraryCall &C);
/// \p Forward of \p Input as a checkpoint by hand runs it: without a graph, and
/// again in backward(), with one.
Cell runCheckpointed(Interpreter &VM, const Cell &Input,
                     clang::SourceLocation At,
                     std::function<Cell(const Cell &)> Forward);

// Containers.cpp.

inline bool isIterator(const Cell &V) { return V->What == Value::Iterator; }
Cell callList(const LibraryCall &C);
/// An operator of the iterator that \p C is called on; null when \p C is
/// another function.
Cell iteratorOperator(const LibraryCall &C);
/// `it + 2`, `last - first`, `it != last`.
Cell iteratorArithmetic(Interpreter &VM, clang::BinaryOperatorKind Op,
                        const Cell &A, const Cell &B, const clang::Expr *E);
/// The index of the first of \p Among that equals \p What, or their number if
/// none does. Absent if a comparison is unknown: \p Unknown says why. With
/// \p KeyOf, what it gives of them is compared.
std::optional<size_t> placeOf(Interpreter &VM, const Cell &What,
                              llvm::ArrayRef<Cell> Among, const clang::Expr *E,
                              Cell &Unknown,
                              const Cell &(*KeyOf)(const Cell &) = nullptr);

// Modules, ModuleCalls.cpp and library/LibraryModules.cpp.

ModulePtr newModule(Interpreter &VM, llvm::StringRef ClassName,
                    const clang::CXXRecordDecl *Class,
                    clang::SourceLocation At);
ModulePtr makeLibraryModule(Interpreter &VM, llvm::StringRef Class,
                            llvm::ArrayRef<Cell> Arguments,
                            clang::SourceLocation At);
/// Registers in \p M what LibTorch's \p Class does, "Conv2d", that \p Options
/// were given to; others have their defaults. False when no such class is
/// known.
bool registerContents(Interpreter &VM, ModuleInstance &M, llvm::StringRef Class,
                      const OptionValues &Options);
ModulePtr makePretrained(Interpreter &VM, const clang::CXXMethodDecl *Method,
                         llvm::ArrayRef<Cell> Arguments,
                         clang::SourceLocation At);
ModulePtr cloneOf(Interpreter &VM, const ModulePtr &M);
Cell makeOptions(Interpreter &VM, const clang::CXXRecordDecl *Class,
                 llvm::ArrayRef<Cell> Arguments);
/// push_back(module), push_back(name, module), an element of a list of either.
void append(Interpreter &VM, ModuleInstance &M, llvm::ArrayRef<Cell> Arguments,
            clang::SourceLocation At);
void appendAll(Interpreter &VM, ModuleInstance &M, const Cell &Elements,
               clang::SourceLocation At);
/// What to(Type) does to \p M: all parameters and buffers below it, those of
/// integers, too. Without a type: which one, is not known.
void convertModule(const ModulePtr &M, std::optional<ElementType> Type);

using VisitModule =
    llvm::function_ref<void(const ModulePtr &, llvm::StringRef)>;
/// Calls \p Visit for \p M and what is below it, each once, in the order of
/// parameters(), with what the names in it begin with.
void forEachModule(const ModulePtr &M, VisitModule Visit);

// Data loaders, DataLoaders.cpp.

/// What a loop over \p Loader goes through: as much as shows a first step and a
/// later one.
Cell batchesOf(Interpreter &VM, const Cell &Loader, clang::SourceLocation At);
/// The name of a list that begin() of a loader leads into, which has one batch
/// at a time: that of an iterator goes when it moves on.
inline constexpr char BatchesOfLoader[] = "batches";
/// A data set or transform of the library's, or an Example. Null for objects of
/// other classes.
Cell makeData(Interpreter &VM, const clang::CXXRecordDecl *Class,
              llvm::ArrayRef<Cell> Arguments);
/// Null for calls that have nothing to do with them.
Cell callData(const LibraryCall &C);
/// Calls \p Visit for what \p V, a Data, holds: not for the batches that a loop
/// over a loader comes to.
void forEachHeldBy(const Value &V,
                   llvm::function_ref<void(const Cell &)> Visit);

// Optimizers, Optimizers.cpp.

/// An optimizer of the library's, with its parameters. Null for other classes.
Cell makeOptimizer(const clang::CXXRecordDecl *Class,
                   llvm::ArrayRef<Cell> Arguments);
/// step() and zero_grad() of one. Null for other calls.
Cell callOptimizer(const LibraryCall &C);
/// zero_grad() of an optimizer or a module with the parameters \p Of.
Cell zeroGradients(const LibraryCall &C, llvm::ArrayRef<TensorPtr> Of);

// Passes, Forward.cpp.

/// What forward() of \p M returns. Unknown where it has none that takes
/// \p Inputs.
Cell forward(Interpreter &VM, const ModulePtr &M, llvm::ArrayRef<Cell> Inputs,
             clang::SourceLocation At);
/// The same outside of a pass, for the sizes of what it returns: nothing else
/// of it stays, and it may not be known.
Cell sizesOfForward(Interpreter &VM, const ModulePtr &M,
                    llvm::ArrayRef<Cell> Inputs, clang::SourceLocation At);
/// What the library's \p Class does, which is that of \p M or a base of it.
Cell forwardOfLibrary(Interpreter &VM, const ModulePtr &M,
                      llvm::StringRef Class, llvm::ArrayRef<Cell> Inputs,
                      clang::SourceLocation At);
/// Outside of a pass only the sizes of the result count.
Cell callOperator(const LibraryCall &C);
void noteResult(Interpreter &VM, const Cell &Module, const Cell &Result);
/// What a guard sets, until it goes. Null for other classes.
Cell guardOf(Interpreter &VM, const clang::CXXRecordDecl *Class,
             llvm::ArrayRef<Cell> Arguments);

} // namespace libtorch_tidy::bytes

#endif // LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_INTERPRETER_H
