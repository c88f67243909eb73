//===- Memory.cpp - References to memory that others own ------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/flow/memory/Memory.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "analysis/flow/memory/MemoryDomain.h"
#include "analysis/torch/api/TorchTypes.h"

using namespace clang;

namespace libtorch_tidy::flow {

using namespace cpp;

void MemoryReports::add(Dangling D, SourceLocation At) {
  auto [It, New] = BySource.insert({D.What.Source, {At, D}});
  if (!New && comesBefore(D.What.Source, At, It->second.first))
    It->second = {At, std::move(D)};
}

bool MemoryReports::comesBefore(const Expr *Source, SourceLocation A,
                                SourceLocation B) const {
  // In a loop the expression itself may be the next to read what it keeps.
  const SourceLocation Made = Source->getEndLoc();
  const bool AIsLater = !SM.isBeforeInTranslationUnit(A, Made);
  const bool BIsLater = !SM.isBeforeInTranslationUnit(B, Made);
  return AIsLater != BIsLater ? AIsLater : SM.isBeforeInTranslationUnit(A, B);
}

std::vector<Dangling> MemoryReports::take() {
  auto All = BySource.takeVector();
  llvm::stable_sort(All, [&](const auto &A, const auto &B) {
    return SM.isBeforeInTranslationUnit(A.first->getBeginLoc(),
                                        B.first->getBeginLoc());
  });
  std::vector<Dangling> Sorted;
  for (auto &[Source, Report] : All)
    Sorted.push_back(std::move(Report.second));
  return Sorted;
}

/// Notes the parameters whose tensors may have other holders after \p F.
static void noteKept(const FunctionDecl *F, const Sharing &Shared,
                     MemorySummary &Into) {
  for (const ParmVarDecl *Param : F->parameters()) {
    if (Shared.isCopied(Param) || Shared.leaves(Param))
      Into.Keeps.insert(Param->getFunctionScopeIndex());
    if (Shared.isOperand(Param))
      Into.Operands.insert(Param->getFunctionScopeIndex());
  }
}

MemoryOf analyseMemory(const FunctionDecl *F, ASTContext &Context,
                       MemorySummaries Callees) {
  MemoryOf Result;
  const MemoryBody Body(F, Callees);
  const bool Takes =
      llvm::any_of(F->parameters(), [](const ParmVarDecl *Param) {
        return torch::mayHoldTensor(Param->getType()) ||
               holdsMat(Param->getType());
      });
  if (!Body.isConcerned() && !Takes)
    return Result;
  const Sharing Shared(F, Context, Callees);
  noteKept(F, Shared, Result.Summary);
  if (!Body.isConcerned())
    return Result;
  std::optional<FlowGraph> Graph = FlowGraph::of(F, cpp::Grain::Everything);
  MemoryDomain Domain(F, Context, Callees, Body, Shared);
  auto In = Graph ? runToFixpoint(*Graph, Domain, Domain.start(), Result.Visits)
                  : std::nullopt;
  Result.Summary.Available = In.has_value();
  if (In)
    Domain.report(*Graph, *In, Result);
  return Result;
}

std::vector<Dangling> findDangling(const VarDecl *Var,
                                   const ASTContext &Context,
                                   MemorySummaries Callees) {
  std::vector<Dangling> Found;
  if (!Var->hasInit() || Var->getType()->isDependentType())
    return Found;
  const Sharing Nothing(nullptr, Context, Callees);
  MemoryValues Values(Context, Callees, Nothing);
  for (const Borrow &B : Values.read(Var->getInit(), MemoryState())) {
    if (B.Owner || !MemoryValues::carries(Var->getType(), B))
      continue;
    Found.push_back({Dangling::Temporary, B, Var->getNameAsString(),
                     Var->getLocation(), /*Statement=*/nullptr, /*EndsAt=*/{},
                     /*UsedAt=*/{}, /*Body=*/nullptr});
    break;
  }
  return Found;
}

} // namespace libtorch_tidy::flow
