//===- Interpreter.h - Follows what constructors do -------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
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
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_INTERPRETER_H
#define LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_INTERPRETER_H

#include "analysis/bytes/interpret/Value.h"
#include "analysis/bytes/library/ModuleApi.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <functional>
#include <set>

namespace libtorch_tidy::bytes {

/// Statements and expressions within each other, over all calls: what the
/// stack of the process has room for.
inline constexpr unsigned MaxNesting = 1'500;
/// Calls of functions and constructors within each other.
inline constexpr unsigned MaxCalls = 64;
/// Elements of an array or container.
inline constexpr uint64_t MaxElements = 1U << 16;

/// Something that is not known and that the totals may miss.
struct Gap {
  std::string Text;
  clang::SourceLocation Where;
};

/// The class as its holder calls it, with its template arguments: "Block<4>".
/// Not of its holder: with its own name, "BlockImpl<4>".
std::string shownName(const clang::CXXRecordDecl *R, bool OfHolder = true);
/// A type that is an argument of class template \p Class; null for others.
clang::QualType typeArgument(const clang::CXXRecordDecl *Class, unsigned Index);

/// The forward() of \p Class or of a base that takes \p Count arguments; null
/// when the user has defined none.
const clang::CXXMethodDecl *forwardMethod(const clang::CXXRecordDecl *Class,
                                          size_t Count);

/// The sizes and the type of a tensor, "16x3x8x8:float32", or of several.
std::string shownSizes(const Cell &V);
/// The tensors in \p V: itself, or those of its elements and members.
void collectTensors(const Cell &V, std::vector<TensorPtr> &To);

/// Of a tensor: nullopt where not even its dimensions are known.
using MaybeSizes = std::optional<std::vector<torch::Size>>;
/// The sizes that \p V, a list or one number, says; nullopt for others.
MaybeSizes sizesOf(const Cell &V);

llvm::SmallVector<clang::QualType, 4>
typesOf(llvm::ArrayRef<const clang::Expr *> Each);
/// Can a call change what it is given for a parameter of the type?
bool letsChange(clang::QualType Parameter);

/// A call of a function that may be a library's.
struct LibraryCall {
  const clang::CallExpr *E;
  const clang::FunctionDecl *F;
  Cell Object; ///< Of a method; null for other functions.
  llvm::ArrayRef<Cell> Arguments;
  clang::SourceLocation At;
  llvm::StringRef Name; ///< As cpp::calleeName() has it.
  Cell Nothing;         ///< What it gives where that is not known.
};

/// A call that goes on while its callee is followed.
struct Frame {
  std::map<const clang::ValueDecl *, Cell> Variables;
  /// Those of the blocks that are open, in their order; not the parameters.
  std::vector<const clang::ValueDecl *> Declared;
  Cell This;
  Cell Result;
};

class Interpreter {
public:
  /// Makes the definition of a function or class of a template, which only the
  /// library, whose bodies are not parsed, has asked for.
  using DefineDecl = std::function<void(clang::NamedDecl &)>;

  /// The bodies of all functions of the unit.
  using Bodies = std::vector<const clang::Stmt *>;

  Interpreter(clang::ASTContext &Context, DefineDecl Define, const Bodies &All)
      : Context(Context), Define(std::move(Define)), All(All) {}

  /// A module of \p Class, a definition, as its constructor for \p Arguments
  /// makes it. Null when no constructor takes them.
  ModulePtr make(const clang::CXXRecordDecl *Class,
                 llvm::ArrayRef<Cell> Arguments, clang::SourceLocation At);

  /// The constructor of \p Class that fits the values best; null when there is
  /// none. \p Types are those of the expressions, where there are any.
  static const clang::CXXConstructorDecl *
  constructorFor(const clang::CXXRecordDecl *Class,
                 llvm::ArrayRef<Cell> Arguments,
                 llvm::ArrayRef<clang::QualType> Types = {});

  /// The definition of \p R, made where it can be; null without one.
  static const clang::CXXRecordDecl *definitionOf(const clang::CXXRecordDecl *R,
                                                  const DefineDecl &Define);

  // A pass of forward(): tensors have memory, and operators are followed.

  /// Where memory is asked for.
  struct Place {
    const ModuleInstance *Module; ///< Whose forward() runs; may be null.
    clang::SourceLocation Where;
  };
  /// From here on tensors live in \p S, and notes are of the pass. Null: no
  /// longer.
  void setPass(Simulation *S) { Pass = S; }
  /// What forward() of \p M returns. Unknown where it has none that takes
  /// \p Inputs.
  Cell pass(const ModulePtr &M, llvm::ArrayRef<Cell> Inputs,
            clang::SourceLocation At);
  /// By the numbers that Memory::place() gives.
  const std::vector<Place> &places() const { return Places; }
  /// The sizes of what the forward() of modules gave last.
  const std::map<const ModuleInstance *, std::string> &results() const {
    return Results;
  }
  /// What the pass does not know, and takes back from gaps() and failure().
  std::vector<Gap> takeGapsOfPass();
  bool hasFailed() const { return Failure.has_value(); }
  bool hasGapsOfPass() const { return !GapsOfPass.empty() || Failure; }

  /// What to(Type) does to \p M: all parameters and buffers below it, those of
  /// integers, too. Without a type: which one, is not known.
  static void convertModule(const ModulePtr &M,
                            std::optional<torch::ElementType> Type);

  /// The value of \p E, outside of what has been called: a tree, but for what
  /// members that are references name.
  Cell evaluate(const clang::Expr *E) { return copyOf(eval(E)); }

  /// What the totals may miss, each once, in the order it was found.
  const std::vector<Gap> &gaps() const { return Gaps; }
  /// Why nothing can be said: the constructor throws, or does something that
  /// takes back what is not known. Absent: something can.
  const std::optional<Gap> &failure() const { return Failure; }
  /// It stopped at a limit: what came after is not known at all.
  bool hasStopped() const { return Halted; }
  /// Functions of the user's that it came to, and whose bodies the unit lacks.
  const std::set<const clang::FunctionDecl *> &undefined() const {
    return Undefined;
  }
  /// The work that was done, to bound it over many models.
  unsigned steps() const { return Before + Steps; }

private:
  // What follows a statement.
  enum class Flow { Next, Break, Continue, Return, Halt };

  // Statements.cpp.
  Flow exec(const clang::Stmt *S);
  Flow execInside(const clang::Stmt *S);
  Flow execIf(const clang::IfStmt *S);
  Flow execLoop(const clang::Stmt *Loop, const clang::Expr *Condition,
                const clang::Stmt *Body);
  std::optional<Flow> execRound(const clang::Stmt *Body);
  Flow execRange(const clang::CXXForRangeStmt *S);
  Flow execSwitch(const clang::SwitchStmt *S);
  const clang::Stmt *startOf(const clang::CompoundStmt *Body, int64_t Which);
  void declare(const clang::Decl *D);
  void bindParts(const clang::VarDecl *Var, const Cell &Given);
  void bind(const clang::ValueDecl *D, Cell Given);
  Flow skipUnknown(llvm::ArrayRef<const clang::Stmt *> Skipped,
                   clang::SourceLocation At, const llvm::Twine &Because,
                   const Cell &Unknown);
  Flow skipBreakable(llvm::ArrayRef<const clang::Stmt *> Skipped,
                     clang::SourceLocation At, const llvm::Twine &Because,
                     const Cell &Unknown);
  bool forget(const clang::Stmt *Skipped, const Cell &Because);
  bool forgetChanged(const clang::CallExpr *Call, const Cell &Because);
  void forgetWritten(const clang::Expr *Written, const Cell &Because);

  // Constructors.cpp: how the user's run.
  void construct(const Cell &Object, const clang::CXXRecordDecl *Class,
                 const clang::CXXConstructorDecl *Constructor,
                 llvm::ArrayRef<Cell> Arguments, clang::SourceLocation At);
  void constructInherited(const Cell &Object, const clang::CXXRecordDecl *Class,
                          const clang::CXXConstructorDecl *Inherited,
                          llvm::ArrayRef<Cell> Arguments,
                          clang::SourceLocation At);
  void runInitialisers(const Cell &Object, const clang::CXXRecordDecl *Class,
                       const clang::CXXConstructorDecl *Definition,
                       clang::SourceLocation At);
  void setField(Fields &Of, const clang::FieldDecl *Field, const Cell &Given);
  void constructBase(const Cell &Object, clang::QualType Base,
                     const clang::Expr *Init, clang::SourceLocation At);
  void inheritLibraryModule(const Cell &Object,
                            const clang::CXXRecordDecl *Base,
                            llvm::ArrayRef<Cell> Arguments,
                            clang::SourceLocation At);
  void initialiseFields(const Cell &Object, const clang::CXXRecordDecl *Class);
  void constructPlainly(const Cell &Object, const clang::CXXRecordDecl *Class,
                        clang::SourceLocation At);

  // Objects.cpp: what constructions of all classes make.
  Cell makeObject(const clang::CXXRecordDecl *Class,
                  llvm::ArrayRef<Cell> Arguments,
                  llvm::ArrayRef<clang::QualType> Types,
                  const clang::CXXConstructorDecl *Constructor,
                  clang::SourceLocation At);
  Cell makeHolder(const clang::CXXRecordDecl *Class,
                  llvm::ArrayRef<Cell> Arguments,
                  llvm::ArrayRef<clang::QualType> Types,
                  clang::SourceLocation At);
  Cell makeUserModule(const clang::CXXRecordDecl *Class,
                      llvm::ArrayRef<Cell> Arguments,
                      llvm::ArrayRef<clang::QualType> Types,
                      const clang::CXXConstructorDecl *Constructor,
                      clang::SourceLocation At);
  Cell makeStandard(const clang::CXXRecordDecl *Class,
                    llvm::ArrayRef<Cell> Arguments, clang::SourceLocation At);
  Cell makeContainer(const clang::CXXRecordDecl *Class,
                     llvm::ArrayRef<Cell> Arguments, clang::SourceLocation At);
  Cell makeOfLibrary(const clang::CXXRecordDecl *Class,
                     llvm::ArrayRef<Cell> Arguments);
  Cell makeRecord(const clang::CXXRecordDecl *Class,
                  llvm::ArrayRef<Cell> Arguments,
                  const clang::CXXConstructorDecl *Constructor,
                  clang::SourceLocation At);
  void fillAggregate(const Cell &Object, const clang::CXXRecordDecl *Class,
                     llvm::ArrayRef<Cell> Arguments, clang::SourceLocation At);
  Cell initialValue(const clang::FieldDecl *Field);
  Cell defaultValue(clang::QualType Type, clang::SourceLocation At);
  Cell newElement(clang::QualType Type, clang::SourceLocation At);
  Cell coerced(const Cell &Given, clang::QualType To, clang::SourceLocation At);

  // Expressions.cpp.
  Cell eval(const clang::Expr *E);
  Cell evalInside(const clang::Expr *E);
  std::vector<Cell> evalAll(llvm::ArrayRef<const clang::Expr *> Each);
  Cell evalChoice(const clang::ConditionalOperator *E);
  Cell evalNew(const clang::CXXNewExpr *E);
  Cell evalCast(const clang::CastExpr *E);
  Cell evalName(const clang::ValueDecl *D, const clang::Expr *E);
  bool keepsInitialValue(const clang::VarDecl *Definition) const;
  Cell evalList(const clang::InitListExpr *E);
  Cell evalLambda(const clang::LambdaExpr *E);
  Cell evalConstruct(const clang::CXXConstructExpr *E);
  Cell evalConstant(const clang::Expr *E);
  Cell element(const Cell &Of, const Cell &Index, const clang::Expr *E);
  Cell memberOf(const Cell &Base, const clang::ValueDecl *Member,
                const clang::Expr *E);

  // Arithmetic.cpp.
  Cell evalBinary(const clang::BinaryOperator *E);
  Cell evalUnary(const clang::UnaryOperator *E);
  Cell arithmetic(clang::BinaryOperatorKind Op, const Cell &A, const Cell &B,
                  clang::QualType Type, const clang::Expr *E);
  std::optional<bool> areEqual(llvm::ArrayRef<Cell> A, llvm::ArrayRef<Cell> B,
                               const clang::Expr *E);
  Cell convert(const Cell &From, clang::QualType To);

  // Calls.cpp.
  Cell evalCall(const clang::CallExpr *E);
  Cell callLibrary(const LibraryCall &C);
  Cell callUndefined(const clang::CallExpr *E, const clang::FunctionDecl *F,
                     const Cell &This, llvm::ArrayRef<Cell> Arguments);
  Cell convertObject(const clang::CXXConversionDecl *F, const Cell &Object);
  void assign(const clang::CXXMethodDecl *F, const Cell &Object,
              const Cell &From, clang::SourceLocation At);
  Cell run(const clang::FunctionDecl *F, Frame &Callee,
           llvm::ArrayRef<Cell> Arguments, clang::SourceLocation At,
           const Cell &Nothing);
  Cell call(const clang::FunctionDecl *F, llvm::ArrayRef<Cell> Arguments,
            Cell This, clang::SourceLocation At);
  Cell callClosure(const Cell &Closure, const clang::FunctionDecl *F,
                   llvm::ArrayRef<Cell> Arguments, clang::SourceLocation At);
  bool bindParameters(Frame &Callee, const clang::FunctionDecl *F,
                      llvm::ArrayRef<Cell> Arguments);
  void skipClosures(llvm::ArrayRef<Cell> Arguments, clang::SourceLocation At);
  const clang::FunctionDecl *definitionOf(const clang::FunctionDecl *F);
  const clang::CXXRecordDecl *definitionOf(const clang::CXXRecordDecl *R) {
    return definitionOf(R, Define);
  }

  // LibraryModules.cpp.
  ModulePtr newModule(llvm::StringRef ClassName,
                      const clang::CXXRecordDecl *Class,
                      clang::SourceLocation At);
  ModulePtr makeLibraryModule(llvm::StringRef Class,
                              llvm::ArrayRef<Cell> Arguments,
                              clang::SourceLocation At);
  ModulePtr makePretrained(const clang::CXXMethodDecl *Method,
                           llvm::ArrayRef<Cell> Arguments,
                           clang::SourceLocation At);
  void fillLibraryModule(ModuleInstance &M, llvm::StringRef Class,
                         clang::SourceLocation At);
  void fill(ModuleInstance &M, const ModuleContents &Contents,
            llvm::ArrayRef<ModulePtr> Given, clang::SourceLocation At);
  ModulePtr makePart(const RegisteredModule &Part,
                     llvm::ArrayRef<ModulePtr> Given, clang::SourceLocation At);
  ModulePtr cloneOf(const ModulePtr &M);
  OptionValue optionOf(const Cell &Setting, std::vector<ModulePtr> &Given,
                       clang::SourceLocation At);
  Cell makeOptions(const clang::CXXRecordDecl *Class,
                   llvm::ArrayRef<Cell> Arguments);
  Cell callOptions(const LibraryCall &C);

  // ModuleCalls.cpp.
  Cell callModule(LibraryCall C);
  Cell callOfNoModule(const LibraryCall &C, ModuleAct Act, const Cell &This);
  Cell changeModule(const LibraryCall &C, ModuleAct Act, const Cell &This);
  Cell askModule(const LibraryCall &C, ModuleAct Act, const Cell &This);
  Cell insertInto(const Cell &This, llvm::ArrayRef<Cell> Arguments,
                  clang::SourceLocation At);
  void append(ModuleInstance &M, llvm::ArrayRef<Cell> Arguments,
              clang::SourceLocation At);
  void appendAll(ModuleInstance &M, const Cell &Elements,
                 clang::SourceLocation At);
  void addChild(ModuleInstance &M, llvm::StringRef Name, const Cell &Child,
                clang::SourceLocation At);
  void addTensor(ModuleInstance &M, bool IsParameter, llvm::StringRef Name,
                 const Cell &Given, std::optional<bool> RequiresGrad,
                 clang::SourceLocation At);
  bool mayRegister(llvm::StringRef Name, llvm::StringRef What,
                   clang::SourceLocation At);

  // TensorCalls.cpp.
  Cell callWithTensors(const LibraryCall &C);
  Cell callTensor(LibraryCall C);
  Cell makeTensorOptions(const LibraryCall &C) const;
  Cell makeTensor(torch::TensorShape Shape, llvm::ArrayRef<Cell> Arguments,
                  clang::SourceLocation At);
  void replaceData(TensorInstance &T, llvm::ArrayRef<Cell> Rest,
                   clang::SourceLocation At);
  MaybeSizes rearranged(TensorAct Act, const TensorInstance &T,
                        llvm::ArrayRef<Cell> Rest, clang::SourceLocation At);
  MaybeSizes viewedAs(MaybeSizes Asked, uint64_t All, clang::SourceLocation At);

  // StandardCalls.cpp.
  Cell callStandard(LibraryCall C);
  Cell callOfObject(const LibraryCall &C);
  Cell callOverloaded(const LibraryCall &C, const Cell &A, const Cell &B);
  Cell callOfTuple(const LibraryCall &C);
  Cell callOfNumbers(const LibraryCall &C);
  Cell clamped(const LibraryCall &C);
  Cell makeOwned(const LibraryCall &C);
  Cell skipStandard(const LibraryCall &C);
  Cell limitOf(llvm::StringRef Name, clang::QualType Type,
               const Cell &Nothing) const;

  // Containers.cpp.
  Cell callList(const LibraryCall &C);
  Cell lookUp(const LibraryCall &C);
  Cell addElement(const LibraryCall &C);

  // Forward.cpp: passes.
  Cell forward(const ModulePtr &M, llvm::ArrayRef<Cell> Inputs,
               clang::SourceLocation At);
  Cell forwardOfLibrary(const ModulePtr &M, llvm::StringRef Class,
                        llvm::ArrayRef<Cell> Inputs, clang::SourceLocation At);
  Cell forwardInSteps(const ModuleInstance &M, const ModuleRun &Run,
                      llvm::ArrayRef<Cell> Inputs, clang::SourceLocation At);
  Cell forwardInOrder(const ModuleInstance &M, llvm::ArrayRef<Cell> Inputs,
                      clang::SourceLocation At);
  Cell forwardOfFunctional(const ModulePtr &M, llvm::StringRef Class,
                           llvm::ArrayRef<Cell> Inputs,
                           clang::SourceLocation At);
  Cell callOperator(const clang::FunctionDecl *F, const Cell &Object,
                    llvm::ArrayRef<Cell> Arguments, clang::SourceLocation At);
  Cell makeByOperator(const clang::FunctionDecl *F, const Cell &Object,
                      llvm::ArrayRef<Cell> Arguments);
  Arguments operatorArguments(const clang::FunctionDecl *F, const Cell &Object,
                              llvm::ArrayRef<Cell> Arguments,
                              Cell &Unknown) const;
  Cell runOperator(llvm::StringRef Name, const Arguments &Given,
                   const ModuleInstance *Module, clang::SourceLocation At);
  Argument argumentOf(const Cell &V) const;
  void addSettings(const std::map<std::string, Cell> &Settings,
                   Arguments &To) const;
  void addWeights(const ModuleInstance &M, const std::string &Path,
                  Arguments &To) const;
  void setPlace(const ModuleInstance *Module, clang::SourceLocation At);
  void noteResult(const Cell &Module, const Cell &Result);
  Cell guardOf(const clang::CXXRecordDecl *Class,
               llvm::ArrayRef<Cell> Arguments);
  llvm::StringRef running() const;

  // Iterators.cpp.
  Cell iteratorArithmetic(clang::BinaryOperatorKind Op, const Cell &A,
                          const Cell &B, const clang::Expr *E);
  Cell iteratorOperator(const LibraryCall &C);
  Cell callAlgorithm(const LibraryCall &C);
  std::optional<size_t> placeOf(const Cell &What, llvm::ArrayRef<Cell> Among,
                                const clang::Expr *E, Cell &Unknown);
  std::optional<size_t> bestOf(llvm::ArrayRef<Cell> Of, bool IsMost,
                               const clang::Expr *E, Cell &Unknown);
  Cell changeList(const LibraryCall &C);

  // Interpreter.cpp: values, notes and limits.
  Cell unknown(clang::SourceLocation Where, const llvm::Twine &Why) const;
  void note(clang::SourceLocation Where, const llvm::Twine &Text);
  /// "'n' (net.cpp:12)", or nothing.
  std::string because(const Cell &Unknown) const;
  void fail(clang::SourceLocation Where, const llvm::Twine &Text);
  bool step(clang::SourceLocation Where);
  bool isTooDeep(clang::SourceLocation Where);
  void limit(clang::SourceLocation Where, const llvm::Twine &Text);
  Cell copyOf(const Cell &V);
  std::vector<Cell> copiesOf(llvm::ArrayRef<Cell> Of);
  void store(const Cell &To, const Cell &From);
  std::optional<bool> truth(const Cell &V) const;
  ModuleInstance *current() const;

  clang::ASTContext &Context;
  DefineDecl Define;
  const Bodies &All;
  std::vector<Frame *> Frames;
  std::map<const clang::VarDecl *, Cell> Globals;
  std::vector<Gap> Gaps;
  std::set<std::pair<clang::SourceLocation, std::string>> Noted;
  std::set<const clang::FunctionDecl *> Undefined;
  std::optional<Gap> Failure;
  Simulation *Pass = nullptr;
  /// Of tensors that constructors make of others.
  std::unique_ptr<Simulation> Making;
  std::vector<Place> Places;
  std::map<std::pair<const ModuleInstance *, clang::SourceLocation>, unsigned>
      PlaceNumbers;
  std::map<const ModuleInstance *, std::string> Results;
  std::vector<Gap> GapsOfPass;
  /// What lives until the end of the full expressions that are evaluated.
  std::vector<Cell> Temporaries;
  clang::SourceLocation Current; ///< Of the statement that is followed.
  bool Halted = false; ///< At a limit, or a failure: nothing more is followed.
  unsigned Before = 0; ///< Steps of the passes that are over.
  unsigned Steps = 0, Modules = 0, Nesting = 0, Calls = 0;
};

} // namespace libtorch_tidy::bytes

#endif // LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_INTERPRETER_H
