//===- Fixpoint.cpp - One way to run a domain over a function -------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/flow/Fixpoint.h"
#include "analysis/cpp/Body.h"
#include "clang/AST/ASTContext.h"
#include "clang/Analysis/Analyses/PostOrderCFGView.h"

using namespace clang;

namespace libtorch_tidy::flow {

std::optional<FlowGraph> FlowGraph::of(const FunctionDecl *F,
                                       cpp::Grain Elements) {
  FlowGraph Made;
  Made.Graph = cpp::buildGraph(F, Elements);
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
  Made.findHandlers(F);
  return Made;
}

void FlowGraph::findHandlers(const FunctionDecl *F) {
  llvm::DenseMap<const Stmt *, const CFGBlock *> Catches;
  for (const CFGBlock *Block : *Graph)
    if (const auto *Catch = dyn_cast_or_null<CXXCatchStmt>(Block->getLabel()))
      Catches[Catch] = Block;
  if (Catches.empty())
    return;

  llvm::SmallVector<const CXXTryStmt *, 2> Tries;
  cpp::forEach<CXXTryStmt>(
      F->getBody(), [&](const CXXTryStmt *Try) { Tries.push_back(Try); },
      cpp::Lambdas::Skipped);
  const cpp::Body &In = cpp::Body::of(F);
  for (const CFGBlock *Block : *Graph) {
    llvm::SmallPtrSet<const Stmt *, 4> Around; ///< Compound statements.
    for (const CFGElement &E : *Block)
      if (auto AsStmt = E.getAs<CFGStmt>())
        for (const Stmt *S = AsStmt->getStmt(); S; S = In.parentOf(S))
          if (isa<CompoundStmt>(S) && !Around.insert(S).second)
            break; // What is around it is known.
    for (const CXXTryStmt *Try : Tries)
      for (unsigned I = 0;
           Around.contains(Try->getTryBlock()) && I < Try->getNumHandlers();
           ++I)
        if (const CFGBlock *Handler = Catches.lookup(Try->getHandler(I)))
          Handlers[Block->getBlockID()].push_back({Handler, Try});
  }
}

} // namespace libtorch_tidy::flow
