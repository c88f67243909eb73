//===- Fixpoint.cpp - One way to run a domain over a function -------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/flow/Fixpoint.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Analysis/Analyses/PostOrderCFGView.h"

using namespace clang;

namespace libtorch_tidy::flow {

std::optional<FlowGraph> FlowGraph::of(const FunctionDecl *F,
                                       code::Grain Elements) {
  FlowGraph Made;
  Made.Graph = code::buildGraph(F, Elements);
  if (!Made.Graph || Made.Graph->getNumBlockIDs() > MaxBlocks)
    return std::nullopt;

  const unsigned Size = Made.Graph->getNumBlockIDs();
  Made.Rank.assign(Size, ~0u);
  auto Append = [&](const CFGBlock *Block) {
    if (Made.Rank[Block->getBlockID()] != ~0u)
      return;
    Made.Rank[Block->getBlockID()] = Made.Order.size();
    Made.Order.push_back(Block);
  };
  PostOrderCFGView FromEntry(Made.Graph.get());
  for (const CFGBlock *Block : FromEntry)
    Append(Block);
  for (const CFGBlock *Block : *Made.Graph) // Handlers, and what they lead to.
    Append(Block);
  Made.Handlers.resize(Size);
  Made.findHandlers(F->getBody());
  return Made;
}

void FlowGraph::findHandlers(const Stmt *Body) {
  llvm::DenseMap<const Stmt *, const CFGBlock *> Catches;
  for (const CFGBlock *Block : *Graph)
    if (const auto *Catch = dyn_cast_or_null<CXXCatchStmt>(Block->getLabel()))
      Catches[Catch] = Block;
  if (Catches.empty())
    return;

  struct Finder : RecursiveASTVisitor<Finder> {
    llvm::SmallVector<const CXXTryStmt *, 2> Tries;
    /// The statements in each of them.
    std::vector<llvm::DenseSet<const Stmt *>> Within;
    llvm::SmallVector<unsigned, 2> Around; ///< Those around what is visited.

    /// A lambda's body is a function of its own.
    bool TraverseLambdaExpr(LambdaExpr *Lambda) {
      for (Expr *Init : Lambda->capture_inits())
        TraverseStmt(Init);
      return VisitStmt(Lambda);
    }
    bool TraverseCXXTryStmt(CXXTryStmt *Try) {
      Around.push_back(Tries.size());
      Tries.push_back(Try);
      Within.emplace_back();
      TraverseStmt(Try->getTryBlock());
      Around.pop_back();
      for (unsigned I = 0; I < Try->getNumHandlers(); ++I)
        TraverseStmt(Try->getHandler(I));
      return true;
    }
    bool VisitStmt(Stmt *S) {
      for (unsigned Try : Around)
        Within[Try].insert(S);
      return true;
    }
    bool shouldVisitImplicitCode() const { return true; }
  } Found;
  Found.TraverseStmt(const_cast<Stmt *>(Body));
  for (const CFGBlock *Block : *Graph)
    for (unsigned Try = 0; Try < Found.Tries.size(); ++Try) {
      const CXXTryStmt *Of = Found.Tries[Try];
      bool Inside = llvm::any_of(*Block, [&](const CFGElement &E) {
        auto AsStmt = E.getAs<CFGStmt>();
        return AsStmt && Found.Within[Try].contains(AsStmt->getStmt());
      });
      for (unsigned I = 0; Inside && I < Of->getNumHandlers(); ++I)
        if (const CFGBlock *Handler = Catches.lookup(Of->getHandler(I)))
          Handlers[Block->getBlockID()].push_back({Handler, Of});
    }
}

} // namespace libtorch_tidy::flow
