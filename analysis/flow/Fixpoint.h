//===- Fixpoint.h - One way to run a domain over a function -----*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The engine of the flow analyses: a forward fixpoint over the control-flow
/// graph of one function. What is followed through it is a *domain*: a kind of
/// state, how two states join where paths meet, and what each block does to
/// one. A domain is a class with
///
///   using State = ...;
///   /// What \p Block makes of \p In.
///   State transfer(const clang::CFGBlock &Block, State In);
///   /// \p Into becomes what holds when either holds; returns whether that
///   /// changed \p Into. Must come to rest: each join goes one way only.
///   bool join(State &Into, const State &From);
///   /// Can control go from \p Block to \p Successor?
///   bool isTaken(const clang::CFGBlock &Block,
///                const clang::CFGBlock &Successor);
///   /// What may hold in a handler of \p Try when one of the statements of a
///   /// block in it throws.
///   State atThrow(const State &Before, const State &After,
///                 const clang::CXXTryStmt &Try);
///
/// What a domain reports it does in a visit of the states found, after the
/// fixpoint: a block is visited several times before that.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_FIXPOINT_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_FIXPOINT_H

#include "analysis/cpp/Paths.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Analysis/CFG.h"
#include "llvm/ADT/BitVector.h"
#include <optional>
#include <queue>
#include <vector>

namespace libtorch_tidy::flow {

/// The control-flow graph of a function, in the order in which the fixpoint
/// visits its blocks.
class FlowGraph {
public:
  /// Beyond that many blocks a function is given up.
  static constexpr unsigned MaxBlocks = 3000;

  /// Nullopt when there is no graph or it is too large.
  static std::optional<FlowGraph> of(const clang::FunctionDecl *F,
                                     cpp::Grain Elements);

  const clang::CFG &cfg() const { return *Graph; }
  /// Every block, loops' heads before their bodies.
  llvm::ArrayRef<const clang::CFGBlock *> order() const { return Order; }
  /// Where \p Block stands in order().
  unsigned rank(const clang::CFGBlock *Block) const {
    return Rank[Block->getBlockID()];
  }
  /// Where control goes when \p Block throws. Handlers have no predecessors
  /// in Clang's graph: edges of exceptions would end the life of every local
  /// variable at every call.
  struct Handler {
    const clang::CFGBlock *Block;
    const clang::CXXTryStmt *Try;
  };
  llvm::ArrayRef<Handler> handlersOf(const clang::CFGBlock *Block) const {
    return Handlers[Block->getBlockID()];
  }

private:
  void findHandlers(const clang::FunctionDecl *F);

  std::unique_ptr<clang::CFG> Graph;
  std::vector<const clang::CFGBlock *> Order;
  std::vector<unsigned> Rank;                          ///< By block id.
  std::vector<llvm::SmallVector<Handler, 0>> Handlers; ///< By block id.
};

/// What may hold at the start of each block, by block id; nullopt for blocks
/// that control does not reach.
template <typename State> using States = std::vector<std::optional<State>>;

/// A block that is visited more often makes the function given up.
constexpr unsigned MaxVisits = 40;

/// Runs \p Over from state \p Start at the entry until nothing changes.
/// Nullopt when it does not come to rest within MaxVisits of a block. \p
/// Visited counts the blocks evaluated.
template <typename Domain>
std::optional<States<typename Domain::State>>
runToFixpoint(const FlowGraph &Graph, Domain &Over,
              typename Domain::State Start, unsigned &Visited) {
  using State = typename Domain::State;
  const unsigned Size = Graph.cfg().getNumBlockIDs();
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
    const unsigned Rank = Graph.rank(To);
    if (!Queued.test(Rank)) {
      Queued.set(Rank);
      Work.push(Rank);
    }
  };

  Flow(&Graph.cfg().getEntry(), Start);
  while (!Work.empty()) {
    const clang::CFGBlock *Block = Graph.order()[Work.top()];
    Queued.reset(Work.top());
    Work.pop();
    ++Visited;
    if (++Visits[Block->getBlockID()] > MaxVisits)
      return std::nullopt;
    const State &Before = *In[Block->getBlockID()];
    const State After = Over.transfer(*Block, Before);
    // A block may be its own successor: Before is not to be used after this.
    llvm::SmallVector<std::pair<const clang::CFGBlock *, State>, 0> Thrown;
    for (const FlowGraph::Handler &H : Graph.handlersOf(Block))
      Thrown.emplace_back(H.Block, Over.atThrow(Before, After, *H.Try));
    for (const clang::CFGBlock *Successor : Block->succs())
      if (Successor && Over.isTaken(*Block, *Successor))
        Flow(Successor, After);
    for (const auto &[Handler, State] : Thrown)
      Flow(Handler, State);
  }
  return In;
}

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_FIXPOINT_H
