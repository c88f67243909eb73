//===- FreedTwice.cpp - Deleters of memory that others free ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/lifetime/FreedTwice.h"
#include "analysis/cpp/Body.h"
#include "analysis/torch/storage/Owners.h"
#include "analysis/torch/storage/Storage.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy {

/// Does \p Body, of a function, free \p Pointer on all its ways?
static bool surelyFrees(const Stmt *Body, const VarDecl *Pointer) {
  const auto *Block = dyn_cast_or_null<CompoundStmt>(Body);
  return Block && Pointer && llvm::any_of(Block->body(), [&](const Stmt *S) {
           const auto *E = dyn_cast<Expr>(S);
           const Expr *Freed = E ? torch::freedBy(cpp::peel(E)) : nullptr;
           return Freed && cpp::variableOf(cpp::peel(Freed)) == Pointer;
         });
}

/// Does \p Deleter free what it is given, or \p Buffer, a variable that it
/// captures?
static bool frees(const Expr *Deleter, const VarDecl *Buffer) {
  const Expr *E = cpp::stripImplicit(Deleter);
  if (const auto *Lambda = dyn_cast_or_null<LambdaExpr>(E)) {
    const CXXMethodDecl *Call = Lambda->getCallOperator();
    return (Call->getNumParams() == 1 &&
            surelyFrees(Lambda->getBody(), Call->getParamDecl(0))) ||
           surelyFrees(Lambda->getBody(), Buffer);
  }
  if (const auto *Address = dyn_cast_or_null<UnaryOperator>(E))
    E = Address->getSubExpr()->IgnoreParenImpCasts();
  const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E);
  const auto *F = Ref ? dyn_cast<FunctionDecl>(Ref->getDecl()) : nullptr;
  if (!F || F->getNumParams() != 1)
    return false;
  const FunctionDecl *Defined = nullptr;
  if (F->hasBody(Defined))
    return surelyFrees(Defined->getBody(), Defined->getParamDecl(0));
  return (cpp::kindsOf(F) & cpp::Std::Free) != cpp::Std();
}

/// The local object that frees what \p Buffer leads to when it ends:
/// `v` in v.data(), `p` in p.get(). Null when it gives the memory up.
static const VarDecl *ownerOf(const Expr *Buffer, cpp::Body &In) {
  const auto *Call = dyn_cast_or_null<CXXMemberCallExpr>(cpp::peel(Buffer));
  const VarDecl *Var =
      Call && cpp::does(Call, cpp::Std::Buffer | cpp::Std::Target)
          ? cpp::variableOf(Call->getImplicitObjectArgument())
          : nullptr;
  if (!Var || !In.isOwn(Var) ||
      !cpp::isStdClass(Var->getType(), {"vector", "unique_ptr", "string"}))
    return nullptr;
  const bool GivesUp =
      llvm::any_of(In.writesTo(Var),
                   [](const cpp::Write &W) {
                     return W.Kind != cpp::WriteKind::Changed;
                   }) ||
      cpp::anyOf<CXXMemberCallExpr>(In.root(), [&](const CallExpr *Other) {
        return cpp::does(Other, cpp::Std::Release) &&
               cpp::variableOf(cpp::calledOn(Other)) == Var;
      });
  return GivesUp ? nullptr : Var;
}

llvm::SmallVector<FreedTwice, 1> freedTwice(const CallExpr *Call,
                                            ASTContext &Context) {
  llvm::SmallVector<FreedTwice, 1> Found;
  const auto Blob = torch::asAnyBlob(Call, Context);
  cpp::Body *In =
      Blob && Blob->Deleter ? cpp::Body::around(Call, Context) : nullptr;
  if (!In)
    return Found;
  const VarDecl *Pointer = cpp::variableOf(cpp::peel(Blob->Buffer));
  if (!frees(Blob->Deleter, Pointer))
    return Found;
  const Expr *Deleter = Blob->Deleter;
  if (!Pointer || !Pointer->getType()->isPointerType()) {
    if (const VarDecl *Owner = ownerOf(Blob->Buffer, *In))
      Found.push_back({Owner, Deleter, nullptr});
    return Found;
  }
  const auto *Block = In->around<CompoundStmt>(Call);
  cpp::forEach<Expr>(
      In->root(),
      [&](const Expr *Free) {
        const Expr *Freed = torch::freedBy(Free);
        if (!Freed || cpp::variableOf(cpp::peel(Freed)) != Pointer)
          return;
        const auto IsFree = [&](const Stmt *S) { return S == Free; };
        if (In->paths().holdsUntil(Pointer, Call, IsFree)) {
          Found.push_back(
              {Pointer, Deleter, Free, !Block || !In->isWithin(Free, Block)});
          return;
        }
        // A handler begins with what the try block has done so far.
        const auto *Handler = In->around<CXXCatchStmt>(Free);
        const auto *Try =
            Handler ? dyn_cast_or_null<CXXTryStmt>(In->parentOf(Handler))
                    : nullptr;
        if (Try && In->isWithin(Call, Try->getTryBlock()) &&
            !cpp::isReassigned(Pointer, Try))
          Found.push_back({Pointer, Deleter, Free, true});
      },
      cpp::Lambdas::Skipped);
  return Found;
}

} // namespace libtorch_tidy
