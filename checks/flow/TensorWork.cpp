//===- TensorWork.cpp - Which code runs tensor work -----------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/flow/TensorWork.h"
#include "checks/torch/Headers.h"
#include "checks/torch/Owners.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;
using libtorch_tidy::torch::Work;

namespace libtorch_tidy::flow {

namespace {

/// Walks what runs when a statement runs.
template <typename Derived>
class RunsVisitor : public RecursiveASTVisitor<Derived> {
public:
  bool TraverseLambdaExpr(LambdaExpr *L) {
    for (Expr *Init : L->capture_inits())
      if (Init && !this->TraverseStmt(Init))
        return false;
    return true;
  }
  bool TraverseDecl(Decl *D) {
    // A local class's methods do not run where it stands.
    return isa_and_nonnull<TagDecl>(D)
               ? true
               : RecursiveASTVisitor<Derived>::TraverseDecl(D);
  }
};

struct CallVisitor : RunsVisitor<CallVisitor> {
  llvm::function_ref<void(const CallExpr *)> Visit;
  explicit CallVisitor(llvm::function_ref<void(const CallExpr *)> Visit)
      : Visit(Visit) {}
  bool VisitCallExpr(CallExpr *Call) {
    Visit(Call);
    return true;
  }
};

struct ThrowVisitor : RunsVisitor<ThrowVisitor> {
  TensorWork::Throws Found;
  bool TraverseCXXTryStmt(CXXTryStmt *) { return true; }
  bool VisitCXXThrowExpr(CXXThrowExpr *Throw) {
    if (Throw->getSubExpr() &&
        torch::ownsTensors(Throw->getSubExpr()->getType()))
      Found.push_back(Throw);
    return true;
  }
};

/// ThrowVisitor's rule for calls: those in a nested try are not followed.
struct FreeCallVisitor : RunsVisitor<FreeCallVisitor> {
  llvm::SmallVector<const CallExpr *, 8> Calls;
  bool TraverseCXXTryStmt(CXXTryStmt *) { return true; }
  bool VisitCallExpr(CallExpr *Call) {
    if (Call->getDirectCallee())
      Calls.push_back(Call);
    return true;
  }
};

/// The body of \p F where the unit has one and it is not a library's.
const FunctionDecl *userDefinition(const FunctionDecl *F) {
  const FunctionDecl *Definition = F->getDefinition();
  return Definition && Definition->hasBody() &&
                 !Definition->isDependentContext() &&
                 torch::isUserCode(Definition->getLocation(),
                                   F->getASTContext().getSourceManager())
             ? Definition
             : nullptr;
}

using Way = llvm::SmallVector<const CallExpr *, 2>;

bool findWay(const Stmt *S, llvm::function_ref<bool(const CallExpr *)> IsGoal,
             llvm::SmallPtrSetImpl<const FunctionDecl *> &Seen, Way &Taken) {
  FreeCallVisitor Visitor;
  Visitor.TraverseStmt(const_cast<Stmt *>(S));
  for (const CallExpr *Call : Visitor.Calls) {
    Taken.push_back(Call);
    if (IsGoal(Call))
      return true;
    const FunctionDecl *Callee = userDefinition(Call->getDirectCallee());
    if (Callee && Seen.insert(Callee).second &&
        findWay(Callee->getBody(), IsGoal, Seen, Taken))
      return true;
    Taken.pop_back();
  }
  return false;
}

} // namespace

void forEachCall(const Stmt *S,
                 llvm::function_ref<void(const CallExpr *)> Visit) {
  CallVisitor(Visit).TraverseStmt(const_cast<Stmt *>(S));
}

Way wayToFreeCall(const Stmt *S,
                  llvm::function_ref<bool(const CallExpr *)> IsGoal) {
  Way Taken;
  llvm::SmallPtrSet<const FunctionDecl *, 8> Seen;
  findWay(S, IsGoal, Seen, Taken);
  return Taken;
}

static const CallExpr *
findRunCall(const Stmt *S, llvm::function_ref<bool(const CallExpr *)> IsGoal,
            llvm::SmallPtrSetImpl<const FunctionDecl *> &Seen) {
  const CallExpr *Found = nullptr;
  forEachCall(S, [&](const CallExpr *Call) {
    if (Found)
      return;
    if (IsGoal(Call)) {
      Found = Call;
      return;
    }
    const FunctionDecl *Callee = Call->getDirectCallee();
    const FunctionDecl *Definition = Callee ? userDefinition(Callee) : nullptr;
    if (Definition && Seen.insert(Definition).second)
      Found = findRunCall(Definition->getBody(), IsGoal, Seen);
  });
  return Found;
}

const CallExpr *findRunCall(const Stmt *S,
                            llvm::function_ref<bool(const CallExpr *)> IsGoal) {
  llvm::SmallPtrSet<const FunctionDecl *, 8> Seen;
  return findRunCall(S, IsGoal, Seen);
}

Work TensorWork::of(const CallExpr *Call) {
  Work Own = torch::workOf(Call);
  const FunctionDecl *Callee = Call->getDirectCallee();
  return Own == Work::Heavy || !Callee ? Own : std::max(Own, of(Callee).Amount);
}

Work TensorWork::of(const Stmt *S) {
  Work Most = Work::None;
  forEachCall(S, [&](const CallExpr *Call) {
    if (Most != Work::Heavy)
      Most = std::max(Most, of(Call));
  });
  return Most;
}

TensorWork::Throws TensorWork::ownersThrownBy(const Stmt *S) {
  ThrowVisitor Direct;
  Direct.TraverseStmt(const_cast<Stmt *>(S));
  FreeCallVisitor Calls;
  Calls.TraverseStmt(const_cast<Stmt *>(S));
  for (const CallExpr *Call : Calls.Calls)
    Direct.Found.append(of(Call->getDirectCallee()).Thrown);
  return Direct.Found;
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
