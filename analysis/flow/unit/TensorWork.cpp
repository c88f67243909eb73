//===- TensorWork.cpp - Which code runs tensor work -----------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/flow/unit/TensorWork.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/storage/Owners.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;
using libtorch_tidy::torch::Work;

namespace libtorch_tidy::flow {

using namespace cpp;

namespace {

/// Visits code whose exceptions leave the statement that is visited.
Way free() {
  Way How = Lambdas::Made;
  How.OutsideTry = true;
  return How;
}

using Calls = llvm::SmallVector<const CallExpr *, 2>;

/// Adds the way to the first call that \p IsGoal accepts to \p Taken.
bool findWay(const Stmt *S, llvm::function_ref<bool(const CallExpr *)> IsGoal,
             Way How, llvm::SmallPtrSetImpl<const FunctionDecl *> &Seen,
             Calls &Taken) {
  return anyOf<CallExpr>(
      S,
      [&](const CallExpr *Call) {
        if (!Call->getDirectCallee())
          return false;
        Taken.push_back(Call);
        const FunctionDecl *Callee = userDefinition(Call->getDirectCallee());
        if (IsGoal(Call) ||
            (Callee && Seen.insert(Callee).second &&
             findWay(Callee->getBody(), IsGoal, How, Seen, Taken)))
          return true;
        Taken.pop_back();
        return false;
      },
      How);
}

} // namespace

Calls wayToFreeCall(const Stmt *S,
                    llvm::function_ref<bool(const CallExpr *)> IsGoal) {
  Calls Taken;
  llvm::SmallPtrSet<const FunctionDecl *, 8> Seen;
  findWay(S, IsGoal, free(), Seen, Taken);
  return Taken;
}

const CallExpr *findRunCall(const Stmt *S,
                            llvm::function_ref<bool(const CallExpr *)> IsGoal) {
  Calls Taken;
  llvm::SmallPtrSet<const FunctionDecl *, 8> Seen;
  findWay(S, IsGoal, Lambdas::Made, Seen, Taken);
  return Taken.empty() ? nullptr : Taken.back();
}

Work TensorWork::of(const CallExpr *Call) {
  Work Own = torch::workOf(Call);
  const FunctionDecl *Callee = Call->getDirectCallee();
  return Own == Work::Heavy || !Callee ? Own : std::max(Own, of(Callee).Amount);
}

Work TensorWork::of(const Stmt *S) {
  Work Most = Work::None;
  anyOf<CallExpr>(
      S,
      [&](const CallExpr *Call) {
        Most = std::max(Most, of(Call));
        return Most == Work::Heavy;
      },
      Lambdas::Made);
  return Most;
}

TensorWork::Throws TensorWork::ownersThrownBy(const Stmt *S) {
  Throws Found;
  forEach<CXXThrowExpr>(
      S,
      [&](const CXXThrowExpr *Throw) {
        if (Throw->getSubExpr() &&
            torch::ownsTensors(Throw->getSubExpr()->getType()))
          Found.push_back(Throw);
      },
      free());
  forEach<CallExpr>(
      S,
      [&](const CallExpr *Call) {
        if (const FunctionDecl *Callee = Call->getDirectCallee())
          Found.append(of(Callee).Thrown);
      },
      free());
  return Found;
}

TensorWork::Summary TensorWork::of(const FunctionDecl *F) {
  const FunctionDecl *Definition = userDefinition(F);
  if (!Definition)
    return {};
  // A recursive call adds nothing to what its function does otherwise.
  auto [It, New] = Known.try_emplace(Definition);
  if (!New)
    return It->second;
  Summary Result;
  Result.Amount = of(Definition->getBody());
  Result.Thrown = ownersThrownBy(Definition->getBody());
  return Known[Definition] = Result;
}

} // namespace libtorch_tidy::flow
