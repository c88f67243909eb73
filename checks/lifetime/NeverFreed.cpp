//===- NeverFreed.cpp - Memory below a tensor that nothing frees ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/lifetime/NeverFreed.h"
#include "analysis/cpp/RawMemory.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/Owners.h"
#include "analysis/torch/storage/Storage.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy {

static bool mayKeepPointer(const CallExpr *Call, const Stmt *Argument,
                           cpp::Body &In, unsigned Depth);

/// May what is done with \p Mention, of a pointer, free its memory, or keep
/// the pointer where something else frees it?
static bool givesAway(const Expr *Mention, cpp::Body &In, unsigned Depth) {
  const Stmt *Child = Mention;
  for (const Stmt *S = In.parentOf(Child); S;
       Child = S, S = In.parentOf(Child)) {
    if (const auto *Cast = dyn_cast<CastExpr>(S)) {
      if (Cast->getType()->isPointerType())
        continue;
      return !Cast->getType()->isBooleanType() &&
             !Cast->getType()->isVoidType();
    }
    if (const auto *Unary = dyn_cast<UnaryOperator>(S))
      return Unary->getOpcode() != UO_Deref && Unary->getOpcode() != UO_LNot;
    if (const auto *Member = dyn_cast<MemberExpr>(S))
      return !Member->isArrow();
    if (const auto *Op = dyn_cast<BinaryOperator>(S)) {
      if (Op->isComparisonOp() ||
          (Op->isAssignmentOp() && Child == Op->getLHS()))
        return false;
      if (Op->isAdditiveOp())
        continue;
      return true;
    }
    if (const auto *Call = dyn_cast<CallExpr>(S))
      return mayKeepPointer(Call, Child, In, Depth);
    if (!isa<ParenExpr, ExprWithCleanups, MaterializeTemporaryExpr>(S))
      return !isa<ArraySubscriptExpr>(S);
  }
  return true;
}

/// Is \p Var mentioned in a way that givesAway(), or in a lambda?
static bool givesAway(const VarDecl *Var, cpp::Body &In, unsigned Depth) {
  return cpp::anyOf<DeclRefExpr>(In.root(), [&](const DeclRefExpr *Ref) {
    return Ref->getDecl() == Var &&
           (In.around<LambdaExpr>(Ref) || givesAway(Ref, In, Depth));
  });
}

/// The same for what \p Call gets as \p Argument.
static bool mayKeepPointer(const CallExpr *Call, const Stmt *Argument,
                           cpp::Body &In, unsigned Depth) {
  if (torch::freedBy(Call))
    return true;
  if (torch::wrapsMemory(Call)) {
    const auto Blob = torch::asAnyBlob(Call, In.context());
    return !Blob || Blob->Deleter;
  }
  if (cpp::onlyUsesBytes(Call))
    return false;
  const FunctionDecl *F = cpp::userDefinition(Call->getDirectCallee());
  if (!F || !Depth || cpp::virtuallyCalled(Call))
    return true;
  const cpp::Call C(Call);
  for (unsigned I = 0; I < C.Args.size() && I < F->getNumParams(); ++I)
    if (In.isWithin(cast<Expr>(Argument), C.Args[I])) {
      const ParmVarDecl *Param = F->getParamDecl(I);
      return !Param->getType()->isPointerType() ||
             givesAway(Param, cpp::Body::of(F), Depth - 1);
    }
  return true;
}

/// Does \p In free memory by a name that it has not allocated itself: what a
/// tensor's data_ptr() gave?
static bool freesOthers(cpp::Body &In) {
  return cpp::anyOf<Expr>(In.root(), [&](const Expr *E) {
    const Expr *Freed = torch::freedBy(E);
    const VarDecl *Var = Freed ? cpp::variableOf(cpp::peel(Freed)) : nullptr;
    return Freed && (!Var || !In.isOwn(Var) || !cpp::allocationOf(Var, In));
  });
}

bool freesTensorData(const FunctionDecl *F) {
  cpp::Body &In = cpp::Body::of(F);
  return cpp::anyOf<Expr>(In.root(), [&](const Expr *E) {
    const Expr *Freed = torch::freedBy(E);
    return Freed && torch::asAccess(dyn_cast_or_null<CallExpr>(
                        cpp::peel(In.originOf(cpp::peel(Freed)))));
  });
}

/// A deleter for what \p Made allocated; empty when its text is not simple.
static std::string deleterFor(const Expr *Made, const ASTContext &Context) {
  const std::string Head = "[](void *memory) { ";
  if (isa<CallExpr>(Made))
    return Head + "free(memory); }";
  const auto *New = cast<CXXNewExpr>(Made);
  const QualType T = New->getAllocatedType();
  if (!T->isBuiltinType())
    return "";
  return Head + (New->isArray() ? "delete[]" : "delete") + " static_cast<" +
         T.getAsString(Context.getPrintingPolicy()) + " *>(memory); }";
}

/// Gives \p Blob a deleter. It frees the memory with the last tensor over it,
/// so nothing may come to the memory afterwards, nor another tensor.
static fixits::Edits addDeleter(const torch::BlobCall &Blob,
                                const NeverFreed &Of, cpp::Body &In) {
  ASTContext &Context = In.context();
  const std::string Deleter = deleterFor(Of.Made, Context);
  if (Deleter.empty() || torch::isStableTensor(Blob.Call->getType()))
    return {};
  if (Of.Pointer) {
    const Stmt *Declared = In.declarationOf(Of.Pointer);
    const auto *Block = dyn_cast_or_null<CompoundStmt>(
        Declared ? In.parentOf(Declared) : nullptr);
    const Stmt *Top = Blob.Call;
    while (Top && In.parentOf(Top) != Block)
      Top = In.parentOf(Top);
    const SourceManager &SM = Context.getSourceManager();
    if (!Block || !Top || Of.Pointer->getInit() == nullptr ||
        cpp::peel(Of.Pointer->getInit()) != Of.Made ||
        In.loopAround(Blob.Call) != In.loopAround(Declared) ||
        In.around<CompoundStmt>(Blob.Call) != Block ||
        cpp::anyOf<DeclRefExpr>(In.root(), [&](const DeclRefExpr *Ref) {
          return Ref->getDecl() == Of.Pointer &&
                 !In.isWithin(Ref, Blob.Buffer) &&
                 !cpp::comesBefore(Ref, Blob.Call, SM);
        }))
      return {};
  }
  const Expr *Before = Blob.Strides ? Blob.Strides : Blob.Sizes;
  const llvm::StringRef Text =
      fixits::sourceText(Before->getSourceRange(), Context);
  if (Text.empty())
    return {};
  return fixits::replaceExpression(Before, (Text + ", " + Deleter).str(),
                                   Context);
}

std::optional<NeverFreed> neverFreed(const CallExpr *Call,
                                     ASTContext &Context) {
  const auto Blob = torch::asAnyBlob(Call, Context);
  cpp::Body *In =
      Blob && !Blob->Deleter ? cpp::Body::around(Call, Context) : nullptr;
  if (!In)
    return std::nullopt;
  const Expr *Buffer = cpp::peel(Blob->Buffer);
  NeverFreed Found = {nullptr, Buffer, {}};
  if (!cpp::allocates(Buffer)) {
    Found.Pointer = cpp::variableOf(Buffer);
    if (!Found.Pointer || isa<ParmVarDecl>(Found.Pointer) ||
        !Found.Pointer->getType()->isPointerType() || !In->isOwn(Found.Pointer))
      return std::nullopt;
    Found.Made = cpp::allocationOf(Found.Pointer, *In);
    if (!Found.Made || givesAway(Found.Pointer, *In, /*Depth=*/2))
      return std::nullopt;
    // One finding for all tensors over it.
    const SourceManager &SM = Context.getSourceManager();
    if (cpp::anyOf<CallExpr>(In->root(), [&](const CallExpr *Other) {
          const auto Earlier = torch::asAnyBlob(Other, Context);
          return Earlier && Other != Call &&
                 cpp::comesBefore(Other, Call, SM) &&
                 cpp::variableOf(cpp::peel(Earlier->Buffer)) == Found.Pointer;
        }))
      return std::nullopt;
  }
  if (freesOthers(*In))
    return std::nullopt;
  Found.InMain = In->function()->isMain() && !In->loopAround(Call);
  Found.Deleter = addDeleter(*Blob, Found, *In);
  return Found;
}

} // namespace libtorch_tidy
