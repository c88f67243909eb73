//===- Fixpoint.cpp - One way to run a domain over a function -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/flow/Fixpoint.h"
#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/UnitContext.h"
#include "analysis/torch/autograd/GradGuards.h"
#include "clang/AST/ASTContext.h"
#include "clang/Analysis/Analyses/PostOrderCFGView.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/Support/WithColor.h"

using namespace clang;

namespace libtorch_tidy::flow {

namespace {

/// The try statements around the statements of a function.
class TriesAround {
public:
  explicit TriesAround(const cpp::Body &Body) : Body(Body) {}

  /// The innermost of whose block \p S is a part; null for none.
  const CXXTryStmt *of(const Stmt *S) {
    const CXXTryStmt *Found = nullptr;
    llvm::SmallVector<const Stmt *, 8> Blocks; // Those on the way.
    for (; S && !Found; S = Body.parentOf(S)) {
      if (!isa<CompoundStmt>(S))
        continue;
      if (auto It = Known.find(S); It != Known.end()) {
        Found = It->second;
        break;
      }
      Blocks.push_back(S);
      const auto *Try = dyn_cast_or_null<CXXTryStmt>(Body.parentOf(S));
      if (Try && Try->getTryBlock() == S)
        Found = Try;
    }
    for (const Stmt *Block : Blocks)
      Known[Block] = Found;
    return Found;
  }

  /// Does nothing get past the handlers of \p Try?
  static bool catchesAll(const CXXTryStmt *Try) {
    for (unsigned I = 0; I < Try->getNumHandlers(); ++I)
      if (!Try->getHandler(I)->getExceptionDecl())
        return true;
    return false;
  }

private:
  const cpp::Body &Body;
  llvm::DenseMap<const Stmt *, const CXXTryStmt *> Known;
};

} // namespace

bool mayThrow(const Expr *E) {
  return cpp::mayThrow(E) && !torch::onlySwitchesGradMode(E);
}

/// In a graph of whole statements, an element has its operands in it.
static bool mayThrow(const Stmt *S, cpp::Grain Elements) {
  const auto *E = dyn_cast<Expr>(S);
  if (Elements != cpp::Grain::Statements)
    return E && mayThrow(E);
  return cpp::anyOf<Expr>(
      S, [](const Expr *Part) { return mayThrow(Part); },
      cpp::Lambdas::Skipped);
}

static void findHandlers(const FunctionDecl *F, cpp::Grain Elements,
                         FlowGraph &In) {
  llvm::DenseMap<const Stmt *, const CFGBlock *> Catches;
  for (const CFGBlock *Block : *In.Cfg)
    if (const auto *Catch = dyn_cast_or_null<CXXCatchStmt>(Block->getLabel()))
      Catches[Catch] = Block;
  if (Catches.empty())
    return;

  const cpp::Body &Body = cpp::Body::of(F);
  TriesAround Tries(Body);
  for (const CFGBlock *Block : *In.Cfg) {
    auto &Handlers = In.Handlers[Block->getBlockID()];
    const CXXTryStmt *Innermost = nullptr;
    for (unsigned I = 0; I < Block->size(); ++I) {
      const auto AsStmt = (*Block)[I].getAs<CFGStmt>();
      const CXXTryStmt *Try = AsStmt ? Tries.of(AsStmt->getStmt()) : nullptr;
      if (Try && mayThrow(AsStmt->getStmt(), Elements))
        In.Throwing.insert({Block->getBlockID(), I});
      if (!Try || std::exchange(Innermost, Try) == Try)
        continue;
      for (; Try; Try = TriesAround::catchesAll(Try)
                            ? nullptr
                            : Tries.of(Body.parentOf(Try))) {
        if (llvm::any_of(Handlers, [&](const auto &H) { return H.Try == Try; }))
          break; // And so are those around it.
        for (unsigned H = 0; H < Try->getNumHandlers(); ++H)
          if (const CFGBlock *Handler = Catches.lookup(Try->getHandler(H)))
            Handlers.push_back({Handler, Try, I});
      }
    }
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
  findHandlers(F, Elements, Made);
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
