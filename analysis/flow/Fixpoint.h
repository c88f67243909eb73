//===- Fixpoint.h - The engine of the flow analyses -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A forward fixpoint over the control-flow graph of one function. What is
/// followed through it is a *domain*: a kind of state, how two states join
/// where paths meet, and what each block does to one. A domain is a class with
///
///   using State = ...;
///   /// A visit of \p Block begins, with \p In. Then visit() is called for its
///   /// elements, and leave() says what they made of it.
///   void enter(const clang::CFGBlock &Block, State In);
///   void visit(const clang::CFGElement &Element);
///   State leave();
///   /// \p Into becomes what holds when either holds; returns whether that
///   /// changed \p Into. Must come to rest: each join goes one way only.
///   bool join(State &Into, const State &From);
///   /// Can control go from \p Block to \p Successor?
///   bool isTaken(const clang::CFGBlock &Block,
///                const clang::CFGBlock &Successor);
///   /// What holds where control comes from \p Block to \p Successor; nullopt
///   /// where that is \p After, as it is at the end of \p Block.
///   std::optional<State> along(const clang::CFGBlock &Block,
///                              const clang::CFGBlock &Successor,
///                              const State &After);
///   /// What holds now may hold where the handlers of \p To begin: joins it
///   /// into each. Called before and after each element that may throw.
///   void atThrow(llvm::MutableArrayRef<Thrown<State>> To);
///
/// What a domain reports it does in a visit of the states found, after the
/// fixpoint: a block is visited several times before that.
///
/// Summaries of functions, made on demand: who makes one asks for those of the
/// callees, so these are made first. Functions that call each other are made
/// again until their summaries no longer change. Any domain can have summaries;
/// a summary is a class with
///
///   /// Would callers see the same function in \p Earlier?
///   bool saysTheSame(const Summary &Earlier) const;
///   /// False when the function was given up: its callers treat it as unseen.
///   bool available() const;

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_FIXPOINT_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_FIXPOINT_H

#include "analysis/cpp/Paths.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Analysis/CFG.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>
#include <queue>
#include <vector>

namespace libtorch_tidy::flow {

/// The control-flow graph of a function, in the order in which the fixpoint
/// visits its blocks.
struct FlowGraph {
  /// Beyond that many blocks a function is given up.
  static constexpr unsigned MaxBlocks = 3000;

  /// Nullopt when there is no graph or it is too large.
  static std::optional<FlowGraph> of(const clang::FunctionDecl *F,
                                     cpp::Grain Elements);

  std::unique_ptr<clang::CFG> Cfg;
  /// Every block, loops' heads before their bodies.
  std::vector<const clang::CFGBlock *> Order;
  std::vector<unsigned> Rank; ///< The places of the blocks in Order, by id.
  /// Where control goes when a block throws. Handlers have no predecessors in
  /// Clang's graph: edges of exceptions would end the life of every local
  /// variable at every call.
  struct Handler {
    const clang::CFGBlock *Block;
    const clang::CXXTryStmt *Try;
    unsigned First; ///< The first element of the block that is in Try.
  };
  /// By block id, in the order of First.
  std::vector<llvm::SmallVector<Handler, 0>> Handlers;
  /// The elements that may throw, of blocks that have handlers.
  llvm::DenseSet<std::pair<unsigned, unsigned>> Throwing;
};

/// May \p E throw, the evaluation of its operands apart? What switches gradient
/// mode does not.
bool mayThrow(const clang::Expr *E);

/// The handlers of a try statement, and what may hold where they begin.
template <typename State> struct Thrown {
  const clang::CXXTryStmt *Try;
  std::optional<State> What;
};

/// What may hold at the start of each block, by block id; nullopt for blocks
/// that control does not reach.
template <typename State> using States = std::vector<std::optional<State>>;

/// A block that is visited more often makes the function given up.
constexpr unsigned MaxVisits = 40;

/// What \p Block makes of \p In, and of \p AtHandlers, which are in the order
/// of the graph; none after the fixpoint.
template <typename Domain>
typename Domain::State
evaluated(const FlowGraph &Graph, const clang::CFGBlock &Block, Domain &Over,
          typename Domain::State In,
          llvm::MutableArrayRef<Thrown<typename Domain::State>> AtHandlers) {
  const auto &Handlers = Graph.Handlers[Block.getBlockID()];
  Over.enter(Block, std::move(In));
  size_t Around = 0; // How many of the handlers are for the element at hand.
  for (unsigned I = 0; I < Block.size(); ++I) {
    while (Around < AtHandlers.size() && Handlers[Around].First <= I)
      ++Around;
    const bool Throws =
        Around && Graph.Throwing.contains({Block.getBlockID(), I});
    if (Throws)
      Over.atThrow(AtHandlers.take_front(Around));
    Over.visit(Block[I]);
    if (Throws)
      Over.atThrow(AtHandlers.take_front(Around));
  }
  return Over.leave();
}

/// Runs \p Over from state \p Start at the entry until nothing changes.
/// Nullopt when it does not come to rest within MaxVisits of a block. \p
/// Visited counts the blocks evaluated.
template <typename Domain>
std::optional<States<typename Domain::State>>
runToFixpoint(const FlowGraph &Graph, Domain &Over,
              typename Domain::State Start, unsigned &Visited) {
  using State = typename Domain::State;
  const unsigned Size = Graph.Cfg->getNumBlockIDs();
  States<State> In(Size);
  std::vector<unsigned> Visits(Size, 0);
  // The ranks of blocks whose states grew: the first in order is next.
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<unsigned>>
      Work;
  llvm::BitVector Queued(Size);
  auto Flow = [&](const clang::CFGBlock *To, const State &From) {
    std::optional<State> &Into = In[To->getBlockID()];
    if (!Into)
      Into = From;
    else if (!Over.join(*Into, From))
      return;
    const unsigned Rank = Graph.Rank[To->getBlockID()];
    if (!Queued.test(Rank)) {
      Queued.set(Rank);
      Work.push(Rank);
    }
  };

  Flow(&Graph.Cfg->getEntry(), Start);
  while (!Work.empty()) {
    const clang::CFGBlock *Block = Graph.Order[Work.top()];
    Queued.reset(Work.top());
    Work.pop();
    ++Visited;
    if (++Visits[Block->getBlockID()] > MaxVisits)
      return std::nullopt;
    const auto &Handlers = Graph.Handlers[Block->getBlockID()];
    llvm::SmallVector<Thrown<State>, 0> AtHandlers;
    for (const FlowGraph::Handler &H : Handlers)
      AtHandlers.push_back({H.Try, std::nullopt});
    const State After =
        evaluated(Graph, *Block, Over, *In[Block->getBlockID()], AtHandlers);
    for (const clang::CFGBlock *Successor : Block->succs())
      if (Successor && Over.isTaken(*Block, *Successor)) {
        const std::optional<State> Along =
            Over.along(*Block, *Successor, After);
        Flow(Successor, Along ? *Along : After);
      }
    for (unsigned I = 0; I < Handlers.size(); ++I)
      if (AtHandlers[I].What)
        Flow(Handlers[I].Block, *AtHandlers[I].What);
  }
  return In;
}

/// How often the functions of a cycle are made before what is known of them is
/// taken as it is.
constexpr unsigned MaxRounds = 4;

template <typename Summary> class Summaries {
public:
  using Maker = llvm::function_ref<std::unique_ptr<Summary>()>;

  /// The summary of \p F, a definition, if it is made or being made. In the
  /// latter case (recursion) it is what is known so far.
  const Summary *find(const clang::FunctionDecl *F) {
    if (auto It = Made.find(F); It != Made.end()) {
      if (auto On = WaitsFor.find(F); On != WaitsFor.end())
        dependOn(On->second);
      return It->second.get();
    }
    for (size_t I = 0; I < Stack.size(); ++I) {
      if (Stack[I].F != F)
        continue;
      Stack[I].Recurses = true;
      dependOn(I);
      return Stack[I].SoFar.get();
    }
    return nullptr;
  }

  /// Makes the summary of \p F, which find() does not know. \p Make may ask for
  /// other summaries; \p SoFar is what they see of F meanwhile.
  const Summary *make(const clang::FunctionDecl *F,
                      std::unique_ptr<Summary> SoFar, Maker Make);

  /// Takes \p Known as the summary of \p F.
  const Summary *set(const clang::FunctionDecl *F,
                     std::unique_ptr<Summary> Known) {
    return (Made[F] = std::move(Known)).get();
  }
  /// Is a summary being made?
  bool busy() const { return !Stack.empty(); }

private:
  /// A function whose summary is being made.
  struct Making {
    const clang::FunctionDecl *F;
    std::unique_ptr<Summary> SoFar;
    bool Recurses = false;
    /// The outermost function being made that it calls; its own index if none.
    size_t Outermost;
    /// Summaries that were made with the help of SoFar.
    std::vector<const clang::FunctionDecl *> Dependent;
  };

  /// All functions being made from \p Index on use its SoFar.
  void dependOn(size_t Index) {
    for (size_t Above = Index + 1; Above < Stack.size(); ++Above)
      Stack[Above].Outermost = std::min(Stack[Above].Outermost, Index);
  }

  llvm::DenseMap<const clang::FunctionDecl *, std::unique_ptr<Summary>> Made;
  std::vector<Making> Stack;
  /// Summaries that are not final: the index of the function they wait for.
  llvm::DenseMap<const clang::FunctionDecl *, size_t> WaitsFor;
};

template <typename Summary>
const Summary *Summaries<Summary>::make(const clang::FunctionDecl *F,
                                        std::unique_ptr<Summary> SoFar,
                                        Maker Make) {
  const size_t Index = Stack.size();
  Stack.push_back({F, std::move(SoFar), false, Index, {}});
  std::unique_ptr<Summary> Latest;
  for (unsigned Round = 0; Round < MaxRounds; ++Round) {
    Latest = Make();
    Making &Here = Stack[Index];
    // The outermost function of a cycle makes all of it again.
    if (!Here.Recurses || Here.Outermost < Index || !Latest->available() ||
        Latest->saysTheSame(*Here.SoFar))
      break;
    for (const clang::FunctionDecl *Other : Here.Dependent) {
      Made.erase(Other);
      WaitsFor.erase(Other);
    }
    Here.Dependent.clear();
    Here.SoFar = std::move(Latest);
    Latest = nullptr;
  }
  if (!Latest) // Still moving after the last round.
    Latest = std::move(Stack[Index].SoFar);
  Making Done = std::move(Stack.back());
  Stack.pop_back();
  if (Done.Outermost < Index) {
    std::vector<const clang::FunctionDecl *> &Dependent =
        Stack[Done.Outermost].Dependent;
    Dependent.push_back(F);
    llvm::append_range(Dependent, Done.Dependent);
    for (const clang::FunctionDecl *Other : Done.Dependent)
      WaitsFor[Other] = Done.Outermost;
    WaitsFor[F] = Done.Outermost;
  } else {
    for (const clang::FunctionDecl *Other : Done.Dependent)
      WaitsFor.erase(Other);
  }
  return set(F, std::move(Latest));
}

/// The message about a function that is given up, after its name.
inline constexpr llvm::StringLiteral BeyondLimits =
    "is too large to be analysed in full: findings that depend on where values "
    "go in it are not made";

/// The work of a unit's model, and the functions that it gave up.
struct Cost {
  unsigned Functions = 0; ///< Flows made, each round of a recursion.
  unsigned Skipped = 0;   ///< Functions without tensors, not looked at.
  unsigned Visits = 0;    ///< CFG blocks evaluated.
  double Seconds = 0;     ///< Wall time of all of it.
  /// A function that is beyond the limits of the analysis, as the user names
  /// it, and its place. The flow of values in it is unknown.
  struct Function {
    std::string Name, File;
    unsigned Line = 0;
    bool operator==(const Function &O) const {
      return Name == O.Name && File == O.File && Line == O.Line;
    }
  };
  std::vector<Function> GivenUp; ///< Each once.

  static Cost &of(clang::ASTContext &Context);
  /// The analysis of \p Context's unit counts in \p Host from now on, and the
  /// program that owns it reports what is given up. Without that, as under
  /// clang-tidy, giveUp() warns.
  static void countIn(clang::ASTContext &Context, Cost &Host);
  /// Notes that \p F is given up.
  static void giveUp(const clang::FunctionDecl *F);
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_FIXPOINT_H
