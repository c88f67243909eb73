//===- Fixpoint.cpp - One way to run a domain over a function -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/flow/Fixpoint.h"
#include "analysis/cpp/Body.h"
#include "analysis/cpp/UnitContext.h"
#include "clang/AST/ASTContext.h"
#include "clang/Analysis/Analyses/PostOrderCFGView.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/Support/WithColor.h"

using namespace clang;

namespace libtorch_tidy::flow {

static void findHandlers(const FunctionDecl *F, FlowGraph &In) {
  llvm::DenseMap<const Stmt *, const CFGBlock *> Catches;
  for (const CFGBlock *Block : *In.Cfg)
    if (const auto *Catch = dyn_cast_or_null<CXXCatchStmt>(Block->getLabel()))
      Catches[Catch] = Block;
  if (Catches.empty())
    return;

  llvm::SmallVector<const CXXTryStmt *, 2> Tries;
  cpp::forEach<CXXTryStmt>(
      F->getBody(), [&](const CXXTryStmt *Try) { Tries.push_back(Try); },
      cpp::Lambdas::Skipped);
  const cpp::Body &Body = cpp::Body::of(F);
  for (const CFGBlock *Block : *In.Cfg) {
    llvm::SmallPtrSet<const Stmt *, 4> Around; ///< Compound statements.
    for (const CFGElement &E : *Block)
      if (auto AsStmt = E.getAs<CFGStmt>())
        for (const Stmt *S = AsStmt->getStmt(); S; S = Body.parentOf(S))
          if (isa<CompoundStmt>(S) && !Around.insert(S).second)
            break; // What is around it is known.
    for (const CXXTryStmt *Try : Tries)
      for (unsigned I = 0;
           Around.contains(Try->getTryBlock()) && I < Try->getNumHandlers();
           ++I)
        if (const CFGBlock *Handler = Catches.lookup(Try->getHandler(I)))
          In.Handlers[Block->getBlockID()].push_back({Handler, Try});
  }
}

std::optional<FlowGraph> FlowGraph::of(const FunctionDecl *F,
                                       cpp::Grain Elements) {
  FlowGraph Made;
  Made.Cfg = cpp::buildGraph(F, Elements);
  if (!Made.Cfg || Made.Cfg->getNumBlockIDs() > MaxBlocks)
    return std::nullopt;

  const unsigned Size = Made.Cfg->getNumBlockIDs();
  Made.Rank.assign(Size, ~0u);
  auto Append = [&](const CFGBlock *Block) {
    if (Made.Rank[Block->getBlockID()] != ~0u)
      return;
    Made.Rank[Block->getBlockID()] = Made.Order.size();
    Made.Order.push_back(Block);
  };
  PostOrderCFGView FromEntry(Made.Cfg.get());
  for (const CFGBlock *Block : FromEntry)
    Append(Block);
  for (const CFGBlock *Block : *Made.Cfg) // Handlers, and what they lead to.
    Append(Block);
  Made.Handlers.resize(Size);
  findHandlers(F, Made);
  return Made;
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

namespace {

/// The part of a unit's context that counts.
struct UnitCost {
  Cost Own;
  Cost *Host = nullptr;
};

} // namespace

Cost &Cost::of(ASTContext &Context) {
  auto &Known = cpp::ofUnit<UnitCost>(Context);
  return Known.Host ? *Known.Host : Known.Own;
}

void Cost::countIn(ASTContext &Context, Cost &Host) {
  cpp::ofUnit<UnitCost>(Context).Host = &Host;
}

void Cost::giveUp(const FunctionDecl *F) {
  ASTContext &Context = F->getASTContext();
  const SourceManager &SM = Context.getSourceManager();
  const SourceLocation Where = SM.getFileLoc(F->getLocation());
  Function Given = {F->getQualifiedNameAsString(), SM.getFilename(Where).str(),
                    SM.getSpellingLineNumber(Where)};
  std::vector<Function> &GivenUp = of(Context).GivenUp;
  if (llvm::is_contained(GivenUp, Given))
    return;
  if (!cpp::ofUnit<UnitCost>(Context).Host)
    (llvm::WithColor::warning(llvm::errs(), "libtorch-tidy")
     << "function '" << Given.Name << "' (")
            .write_escaped(Given.File)
        << ':' << Given.Line << ") " << BeyondLimits << '\n';
  GivenUp.push_back(std::move(Given));
}

} // namespace libtorch_tidy::flow
