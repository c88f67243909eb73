//===- Fixpoint.cpp - One way to run a domain over a function -------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/flow/Fixpoint.h"
#include "checks/code/Body.h"
#include "clang/AST/ASTContext.h"
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

  // A lambda's body is a function of its own.
  const code::Body &In = code::Body::of(F);
  code::forEach<CXXTryStmt>(
      F->getBody(),
      [&](const CXXTryStmt *Try) {
        for (const CFGBlock *Block : *Graph) {
          if (llvm::none_of(*Block, [&](const CFGElement &E) {
                auto AsStmt = E.getAs<CFGStmt>();
                return AsStmt &&
                       In.isWithin(AsStmt->getStmt(), Try->getTryBlock());
              }))
            continue;
          for (unsigned I = 0; I < Try->getNumHandlers(); ++I)
            if (const CFGBlock *Handler = Catches.lookup(Try->getHandler(I)))
              Handlers[Block->getBlockID()].push_back({Handler, Try});
        }
      },
      code::Lambdas::Skipped);
}

} // namespace libtorch_tidy::flow
