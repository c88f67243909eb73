//===- MemoryDomain.h - Pointers and owners along all paths -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The memory domain: its state, what expressions mean in it (whose memory a
/// value refers to, given what variables hold) and what statements do to it.
/// The state tells what *may* be: a place may refer to this or to that, and an
/// owner may be gone. What owners have alone is what they have on all ways.

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_MEMORYDOMAIN_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_MEMORYDOMAIN_H

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Fields.h"
#include "analysis/flow/Fixpoint.h"
#include "analysis/flow/memory/Memory.h"
#include "analysis/flow/memory/Places.h"
#include "analysis/torch/modules/Modules.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <map>

namespace libtorch_tidy::flow {

/// A borrow and who has it.
struct Held {
  Keeper By;
  Borrow What; ///< It is the value of By itself: In is empty.
  clang::SourceLocation KeptAt;
  const clang::Stmt *Statement = nullptr;
  bool Alive = true;                  ///< The owner may be there.
  std::optional<Dangling::How> Ended; ///< The owner may be gone.
  clang::SourceLocation EndsAt;
  /// The parts of By.Root that have another value since: By.Path may name one
  /// of them.
  std::vector<std::string> Replaced = {};
  /// An index of By may have another value since, or another element be last.
  bool Moved = false;

  /// Is what \p Read leads to surely the place that holds it, a part of it, or
  /// what it is a part of?
  bool isSurelyIn(const Keeper &Read) const;
  /// Is \p Path surely a part that has another value?
  bool isReplacedIn(llvm::StringRef Path) const {
    return llvm::any_of(Replaced, [&](const std::string &Part) {
      return pathWithin(Path, Part, /*Surely=*/true).has_value();
    });
  }
  /// Does \p O hold the same memory in the same place? A call may lend the
  /// memory of several arguments.
  bool isSame(const Held &O) const {
    return By == O.By && What.Source == O.What.Source &&
           What.Owner == O.What.Owner && What.Temporary == O.What.Temporary;
  }
};

/// Memory that a pointer points to.
struct Buffer {
  const clang::VarDecl *Owner = nullptr;
  const clang::Expr *Temporary = nullptr;
  bool Heap = false, AtStart = true;
  torch::Fresh Sure = torch::Fresh::Yes;
  std::string Through = {};

  /// The borrow of \p Source when it takes the pointer.
  Borrow lent(Borrow::Kind What, const clang::Expr *Source) const {
    Borrow B;
    B.What = What;
    B.Source = B.Top = Source;
    B.Owner = Owner;
    B.Temporary = Temporary;
    B.Heap = Heap;
    B.Sure = Sure;
    B.Through = Through;
    B.AtStart = AtStart;
    return B;
  }
};

/// How sure is it that a tensor's memory, and the tensor object, are alone?
struct Alone {
  torch::Fresh Memory = torch::Fresh::No;
  torch::Fresh Handle = torch::Fresh::No;
  bool OnDevice = false; ///< Its elements surely lie in memory of a device.
};

struct MemoryState {
  /// In the order in which they were kept, so that reports do not depend on
  /// addresses. Beyond MaxHeld no more are followed.
  std::vector<Held> Env;
  static constexpr size_t MaxHeld = 200;
  /// The tensors among the local variables and parameters.
  llvm::DenseMap<const clang::VarDecl *, Alone> Tensors;
  llvm::DenseMap<const clang::VarDecl *, Buffer> Pointers;
  /// Images of OpenCV that may share their pixels with another.
  llvm::DenseSet<const clang::VarDecl *> SharedMats;
  /// Tensors whose elements surely lie next to each other.
  llvm::DenseSet<const clang::VarDecl *> Contiguous;
  /// Variables that are containers whose number of elements is known.
  llvm::DenseMap<const clang::VarDecl *, unsigned> Sizes;
  /// Parameters whose memory is freed on all ways here.
  llvm::DenseSet<const clang::VarDecl *> Freed;

  /// Returns whether this state changed.
  bool join(const MemoryState &Other);

  void keep(Held H);
  /// Nothing is known of \p K, and of all that is a part of it.
  void forget(const Keeper &K);
  /// \p K is no longer there, with all that is surely a part of it.
  void remove(const Keeper &K);
  /// \p Var is gone.
  void forget(const clang::VarDecl *Var);
  /// \p Owner may be gone at \p At, for those whose borrow \p Dies.
  void end(const clang::VarDecl *Owner, Dangling::How How,
           clang::SourceLocation At, llvm::function_ref<bool(Borrow &)> Dies);
  /// Borrows from \p Owner no longer refer to its current value.
  void disown(const clang::VarDecl *Owner);
  /// \p Index, which may choose elements, has another value from here on.
  void moved(const clang::VarDecl *Index);
  /// The place that \p E names. The last element has a number where the number
  /// of elements is known.
  std::optional<Keeper> place(const clang::Expr *E) const;
  /// The number of elements of \p Container, a whole variable; null when it is
  /// not known.
  unsigned *sizeOf(const Keeper &Container);
  /// Another element of \p Container may be its last one from here on.
  void lastMoved(const Keeper &Container);
  /// Each element of \p Container is \p By places further on; nullopt where it
  /// may be anywhere.
  void shift(const Keeper &Container, std::optional<int> By);
  /// An element of \p Container may be gone, and nobody knows which.
  void doubtElements(const Keeper &Container);
  /// \p A and \p B hold what the other one has held.
  void swap(const Keeper &A, const Keeper &B);
};

/// The summary of \p Callee (may be null), where it is surely the function that
/// runs; null for others, and where nothing is known.
const MemorySummary *summaryOf(const clang::FunctionDecl *Callee,
                               MemorySummaries Callees);
/// How sure is it that the result of \p Call is alone, by what its callee says?
torch::Fresh madeBy(const clang::CallExpr *Call, MemorySummaries Callees);

/// A variable that dies with its scope and is not an alias.
bool isOwn(const clang::VarDecl *Var);
/// An own variable, or a container of the caller's that stands for itself.
bool isOwner(const clang::VarDecl *Var);
/// Owns its elements; a copy has its own.
bool isOwningContainer(clang::QualType T);
/// A class that is made from a pointer and does not own what it points to.
bool isViewClass(clang::QualType T);
/// Does \p Op run an operator= that a class of the user has for values of
/// another one? What is kept then is up to its body, as with any method.
bool isOwnAssignment(const clang::CXXOperatorCallExpr *Op);
/// The image whose pixels the result of \p Call (may be null) shows, too:
/// image.reshape(1), image(rect). Null for others.
const clang::Expr *imageShownBy(const clang::CallExpr *Call);

/// Is \p Place the left side of an assignment?
bool isAssigned(const clang::Expr *Place, const cpp::Body &In);
/// Does method \p Call leave the elements of its object unread?
bool readsNoElement(const clang::CXXMemberCallExpr *Call);

/// The pointer in pointer + n, n + pointer and pointer - n; null for others.
const clang::Expr *pointerMoved(const clang::Expr *E);

/// The borrows that a value may hold.
using Borrows = llvm::SmallVector<Borrow, 1>;
/// What \p All hold in the part that \p Step leads to.
Borrows inPart(Borrows All, llvm::StringRef Step);

class MemoryValues {
public:
  /// \p Shared: of the function at hand.
  MemoryValues(const clang::ASTContext &Context, MemorySummaries Callees,
               const Sharing &Shared)
      : Context(Context), Callees(Callees), Shared(Shared) {}

  /// The borrows of \p E; none if it refers to no foreign memory.
  Borrows read(const clang::Expr *E) const;
  /// Who owns what pointer \p E points to.
  std::optional<Buffer> bufferOf(const clang::Expr *E) const;
  /// Does the memory of \p B die with its owner? Lowers B.Sure.
  bool ownerDies(Borrow &B) const;
  /// Can a value of \p T hold the borrow, rather than a copy of the data?
  static bool carries(clang::QualType T, const Borrow &B);
  /// The same in parts of a \p T, which need not say where.
  static bool carriesSomewhere(clang::QualType T, const Borrow &B,
                               unsigned Depth = 0);

  /// How sure is it that the value of \p E is alone? What living variables
  /// hold is theirs, but for \p Self, which is about to be overwritten.
  Alone aloneIn(const clang::Expr *E,
                const clang::VarDecl *Self = nullptr) const;
  /// Is \p E an image of OpenCV that is made here?
  static bool makesMat(const clang::Expr *E);

protected:
  /// The summary of the function that \p C calls, when it is surely the one
  /// that runs; null when there is none.
  const MemorySummary *summaryOf(const cpp::Call &C) const;
  /// The borrows of \p C because its callee lends \p L.
  Borrows lent(const MemorySummary::Lent &L, const cpp::Call &C) const;

private:
  Alone stateOf(const clang::VarDecl *Var) const;
  std::optional<Buffer> bufferIn(const clang::Expr *E) const;
  std::optional<Buffer> pixelsOf(const clang::Expr *Image) const;
  std::optional<Buffer> bufferOfCall(const clang::CallExpr *Call) const;
  const clang::Expr *holderOf(const clang::Expr *Object) const;
  std::optional<Borrow> readAccess(const torch::Access &A) const;
  std::optional<Borrow> intoObject(Borrow::Kind What, const clang::Expr *Object,
                                   const clang::Expr *Source) const;
  Borrows readList(const clang::CXXConstructExpr *E) const;
  Borrows readConstruct(const clang::CXXConstructExpr *E) const;
  Borrows readLent(const cpp::Call &C, unsigned To) const;
  // The table of calls, and what its rows are made of.
  Borrows readCall(const clang::CallExpr *Call) const;
  std::optional<torch::BlobCall> asBlob(const cpp::Call &C) const {
    return torch::asFromBlob(C.expr(), Context);
  }
  Borrows readBlob(const cpp::Call &C, const torch::BlobCall &Blob) const;
  Borrows readPart(const cpp::Call &, const torch::Access &A) const {
    std::optional<Borrow> Part = readAccess(A);
    return Part ? Borrows{*Part} : Borrows();
  }
  Borrows readTuple(const cpp::Call &C) const;
  std::optional<torch::StorageUse> asOperator(const cpp::Call &C) const {
    const auto Use = torch::storageUse(C.expr(), {}, Context);
    return Use.How != torch::Sharing::Unknown && Use.Of ? std::optional(Use)
                                                        : std::nullopt;
  }
  Borrows readOperator(const cpp::Call &C, const torch::StorageUse &Of) const;
  Borrows readResult(const cpp::Call &C) const {
    return readLent(C, MemorySummary::Result);
  }
  Borrows readPlace(const Keeper &K) const;
  Borrows readInits(const clang::InitListExpr *List) const;
  Borrows readCaptures(const clang::LambdaExpr *Lambda) const;
  Borrows readHolder(const clang::CXXConstructExpr *E) const;
  llvm::StringRef decidingOperator(const clang::Expr *E) const;
  bool isOwnMat(const clang::VarDecl *Var) const;

protected:
  const clang::ASTContext &Context;
  MemorySummaries Callees;
  const Sharing &Shared;
  MemoryState S; ///< What variables hold.
};

/// Facts of a function that its control-flow graph lacks.
struct MemoryBody {
  MemoryBody(const clang::FunctionDecl *F, MemorySummaries Callees);

  /// Can anything in the function refer to memory of something else, or change
  /// memory of its caller?
  bool Concerned = false;
  unsigned Results = 0; ///< How many return statements have a value.
  /// Places that are only compared, assigned to, or asked for a property: the
  /// memory that they refer to is not read.
  llvm::DenseSet<const clang::Expr *> Silent;
};

/// The domain as Fixpoint.h asks for it, and the visit after the fixpoint that
/// writes down what dangles and what callers are to know.
class MemoryDomain : MemoryValues {
public:
  using State = MemoryState;

  MemoryDomain(const clang::FunctionDecl *F, MemorySummaries Callees,
               const MemoryBody &Body, const Sharing &Shared)
      : MemoryValues(F->getASTContext(), Callees, Shared), F(F), Body(Body) {}

  State start() const;
  void enter(const clang::CFGBlock &Block, State In);
  void visit(const clang::CFGElement &Element);
  State leave() { return std::move(S); }
  bool join(State &Into, const State &From) { return Into.join(From); }
  bool isTaken(const clang::CFGBlock &, const clang::CFGBlock &) {
    return true;
  }
  std::optional<State> along(const clang::CFGBlock &Block,
                             const clang::CFGBlock &Successor,
                             const State &After);
  void atThrow(llvm::MutableArrayRef<Thrown<State>> To);

  /// Visits all blocks once more and adds to \p Into what happens there.
  void report(const FlowGraph &Graph, const States<State> &In, MemoryOf &Into);

private:
  // Statements.
  void visitStmt(const clang::Stmt *Statement);
  void visitExpr(const clang::Expr *E);
  void declare(const clang::VarDecl *Var, const clang::Stmt *Statement);
  void visitReturn(const clang::ReturnStmt *Return);
  void assign(const clang::Expr *Left, const clang::Expr *Right,
              clang::SourceLocation At);
  /// At the end of \p Var's scope, or at \p At for parameters.
  void leaveScope(const clang::VarDecl *Var, clang::SourceLocation At = {});
  void leaveFunction();
  // MemoryCalls.cpp: the table of calls, and the handlers of its rows.
  void visitCall(const clang::CallExpr *Call);
  // MemoryContainers.cpp: what is added, taken out and overwritten.
  std::optional<cpp::Done> insertion(const cpp::Call &C,
                                     const cpp::Insertion &Added);
  Keeper placeOfNew(const cpp::Call &C, Keeper Into,
                    const cpp::Insertion &Added);
  void removal(const cpp::Call &C, const clang::Expr *From);
  void resizing(const cpp::Call &C, const clang::Expr *Of);
  cpp::Done overwriting(const cpp::Call &C, const clang::Expr *All);
  cpp::Done swap(const cpp::Call &C);
  bool isCounted(const clang::VarDecl *Var) const;
  void startSize(const clang::VarDecl *Var, const clang::Expr *Value);
  const std::vector<Keeper> &overwrittenIn(const clang::Stmt *Loop);
  std::map<const clang::Stmt *, std::vector<Keeper>> Overwritten;
  void forget(const cpp::Call &C, const clang::Expr *Object);
  void resized(const cpp::Call &C, const clang::VarDecl *Tensor);
  void registration(const cpp::Call &C, const torch::Registration &R);
  void visitObject(const cpp::Call &C);
  void visitArguments(const cpp::Call &C);
  void visitSummary(const cpp::Call &C);

  /// Reports what is gone and read by \p E, a variable or field of `*this`.
  void visitRead(const clang::Expr *E);
  bool isCopied(const clang::Expr *Place) const;
  bool onlyWrites(const clang::Expr *Object, llvm::StringRef Path) const;
  bool isOnlyFilled(const clang::Expr *Place) const;
  bool onlyTellsPlace(const clang::Expr *Iterator, unsigned Depth = 0) const;

  // Effects.
  enum class As { Declared, Assigned, Element };
  void keep(const Keeper &By, const clang::Expr *Value,
            clang::SourceLocation At, As How,
            const clang::Stmt *Statement = nullptr);
  void keepAll(const Keeper &By, const Borrows &All, clang::SourceLocation At,
               As How, const clang::Stmt *Statement, const clang::Expr *Value);
  /// \p Value, if known, is the expression that holds \p B.
  void keep(Keeper By, Borrow B, clang::SourceLocation At,
            const clang::Stmt *Statement = nullptr,
            const clang::Expr *Value = nullptr);
  void store(const Keeper &Into, const clang::Expr *Value,
             const clang::CallExpr *Call, clang::SourceLocation At);
  void setTensor(const clang::VarDecl *Var, const clang::Expr *Value);
  void replaceTensor(const clang::VarDecl *Var, const clang::Expr *Value,
                     clang::SourceLocation At);
  void dropTensor(const clang::VarDecl *Var, clang::SourceLocation At);
  void setPointer(const clang::VarDecl *Var, const clang::Expr *Value);
  void freed(const clang::Expr *Pointer, clang::SourceLocation At);

  // Reports: they do nothing before the fixpoint is reached.
  /// \p D, whose Body is to be filled in, shows at \p At.
  void report(Dangling D, clang::SourceLocation At);
  void report(const Held &H, Dangling::How Why, clang::SourceLocation UsedAt,
              clang::SourceLocation At);
  void lend(const Borrow &B, unsigned To, llvm::StringRef Field = {});
  std::optional<unsigned> indexOf(const clang::ValueDecl *Param) const;

  /// Made only where something is asked of it: most functions are not
  /// concerned.
  cpp::Body &in() const { return cpp::Body::of(F); }
  const clang::Stmt *inBlock(const clang::Stmt *S) const;

  const clang::FunctionDecl *F;
  const MemoryBody &Body;
  /// The variables of a try statement's block, which are gone in its handlers.
  const llvm::SetVector<const clang::VarDecl *> &
  declaredIn(const clang::CXXTryStmt &Try);
  llvm::DenseMap<const clang::CXXTryStmt *,
                 llvm::SetVector<const clang::VarDecl *>>
      InTry;
  MemoryOf *Out = nullptr; ///< Null before the fixpoint is reached.
  /// The finding about each borrowing expression, and where it shows.
  llvm::MapVector<const clang::Expr *,
                  std::pair<clang::SourceLocation, Dangling>>
      Found;
  /// How many returns lend the same, by its place in MemorySummary::Lends.
  std::vector<unsigned> ReturnsThat;
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_MEMORYDOMAIN_H
