//===- KeptViews.cpp - Small tensors that hold large memory ---------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/lifetime/KeptViews.h"
#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "analysis/flow/memory/MemoryBody.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/autograd/GradGuards.h"
#include "analysis/torch/storage/Sharing.h"
#include "analysis/torch/storage/Storage.h"
#include "clang/AST/ASTContext.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy {

using torch::Fresh;

namespace {

/// Where a tensor that is kept comes from.
struct Chain {
  const CallExpr *Part = nullptr; ///< The call that takes a part.
  const CallExpr *Loss = nullptr;
  const VarDecl *Owner = nullptr; ///< Null: a temporary.
  const CallExpr *Made = nullptr; ///< That temporary.
  const Stmt *TakenIn = nullptr;  ///< The innermost loop around the part.
  bool MayBeWhole = false;
  bool MayBeCopied = false;
  bool Detached = false;
  bool OfModule = false;
};

class KeptFinder {
public:
  KeptFinder(const FunctionDecl *F, const ASTContext &Context)
      : F(F), Context(Context), In(cpp::Body::of(F)), Shared(F, Context) {}

  std::vector<KeptView> Found;

  void run() {
    // Lambdas are functions of their own.
    cpp::walk(
        F->getBody(), cpp::Lambdas::Skipped,
        [&](const Stmt *S) {
          if (const auto *Call = dyn_cast<CallExpr>(S))
            visit(Call);
          return true;
        },
        [&](const Decl *D) {
          if (const auto *Var = dyn_cast<VarDecl>(D))
            visit(Var);
          return true;
        });
  }

private:
  void visit(const VarDecl *Var) {
    if (Var->isStaticLocal() && Var->getInit() &&
        torch::isTensor(Var->getType()))
      kept(Var, Var->getInit(), /*Grows=*/false);
    Guarded |= torch::guardOf(Var) == torch::GradMode::Off;
  }

  void visit(const CallExpr *Call) {
    for (const Expr *Value : torch::savedTensors(Call))
      saved(Value);
    if (auto Added = cpp::asInsertion(Call);
        Added && Added->AtEnd && Call->getNumArgs() == 1 &&
        cpp::isStdDecl(Call->getDirectCallee()) &&
        torch::mayHoldTensor(Added->Into->getType()))
      kept(cpp::rootOf(Added->Into), Added->value(), /*Grows=*/true);
    if (!cpp::isAssignment(Call))
      return;
    const Expr *Target = cpp::peel(Call->getArg(0));
    if (!torch::isTensor(Target->getType()))
      return;
    if (const auto *Element = dyn_cast<CXXOperatorCallExpr>(Target)) {
      // `v[i] = x` of a container; of a tensor it copies the elements.
      if (Element->getOperator() == OO_Subscript &&
          !torch::isTensor(Element->getArg(0)->getType()))
        kept(cpp::rootOf(Element->getArg(0)), Call->getArg(1), /*Grows=*/true);
    } else if (isa<MemberExpr, DeclRefExpr>(Target)) {
      kept(cpp::rootOf(Target), Call->getArg(1), /*Grows=*/false);
    }
  }

  /// The innermost loop around the declaration of local variable \p Var.
  const Stmt *loopOf(const VarDecl *Var) const {
    return In.loopAround(In.declarationOf(Var));
  }

  /// A local tensor that is set once, by its declaration.
  bool isSetOnce(const VarDecl *Var) const {
    if (!Var->isLocalVarDecl() || Var->isStaticLocal() || !Var->hasInit() ||
        Var->getType()->isReferenceType() || !In.declarationOf(Var))
      return false;
    for (const cpp::Write &W : In.writesTo(Var))
      if (W.Kind != cpp::WriteKind::Changed || W.InLambda)
        return false;
    return true;
  }

  /// Follows \p E through views and conversions down to what has the memory.
  /// nullopt where an operator may copy, or the way is lost.
  std::optional<Chain> follow(const Expr *E) {
    Chain C;
    C.TakenIn = In.loopAround(E);
    llvm::SmallVector<const VarDecl *, 2> Through;
    for (unsigned Steps = 0; Steps < cpp::MaxChase; ++Steps) {
      E = cpp::stripImplicit(E);
      if (const VarDecl *Var = cpp::variableOf(E)) {
        // A part or a loss with a name of its own.
        const bool Named =
            !C.Part && isSetOnce(Var) && torch::isTensor(Var->getType());
        const auto *Init =
            Named
                ? dyn_cast_or_null<CallExpr>(cpp::stripImplicit(Var->getInit()))
                : nullptr;
        if (Init && (torch::pinsUnreduced(Init, Context) || takesPart(Init))) {
          if (Shared.copies(Var) > 1 || loopOf(Var) != C.TakenIn)
            return std::nullopt;
          E = Init;
          continue;
        }
        C.Owner = Var;
        return C;
      }
      const auto *Call = dyn_cast_or_null<CallExpr>(E);
      if (!Call)
        return std::nullopt;
      if (torch::pinsUnreduced(Call, Context)) {
        C.Loss = Call;
        return C;
      }
      if (const Expr *Container = torch::containerOf(Call)) {
        // An element of x.chunk(n).
        const auto *List =
            dyn_cast_or_null<CallExpr>(cpp::stripImplicit(Container));
        torch::StorageUse Use = torch::storageUse(List, {}, Context);
        if (Use.How == torch::Sharing::Memory) {
          if (!C.Part)
            C.Part = Call;
          E = Use.Of;
          continue;
        }
        // The first result of x.sort().
        if (Use.How == torch::Sharing::None)
          return C;
        return std::nullopt;
      }
      torch::StorageUse Use = torch::storageUse(Call, {}, Context);
      switch (Use.How) {
      case torch::Sharing::Memory:
      case torch::Sharing::Handle:
        break;
      case torch::Sharing::None:
        C.Made = Call;
        return C;
      default:
        // Only what takes a part of a fresh value is of interest.
        if (C.Part &&
            torch::freshMemory(Call, Context, NoLocals) == Fresh::Likely) {
          C.OfModule = true;
          return C;
        }
        // x[0].contiguous(), x[0].to(torch::kFloat32) return x[0] itself where
        // it is contiguous and of that type already, as most tensors are.
        if (Use.How != torch::Sharing::Perhaps ||
            torch::storageUse(Call, usualTraits(Use.Of), Context).How !=
                torch::Sharing::Handle)
          return std::nullopt;
        C.MayBeCopied = true;
      }
      C.Detached |= torch::dropsHistory(Call);
      if (Use.IsPart) {
        C.Part = Call;
        C.MayBeWhole |= torch::takesFirst(Call, Context);
      }
      E = Use.Of;
    }
    return std::nullopt;
  }

  /// Of \p E if what it starts from is as most tensors are: of the default
  /// type and contiguous.
  torch::TensorTraits usualTraits(const Expr *E, unsigned Depth = 0) const {
    torch::TensorTraits Usual;
    Usual.Dtype = torch::DefaultDtype;
    Usual.Contiguous = true;
    if (Depth == cpp::MaxChase)
      return Usual;
    if (const VarDecl *Var = cpp::variableOf(E))
      return isSetOnce(Var) ? usualTraits(Var->getInit(), Depth + 1) : Usual;
    const auto *Call = dyn_cast_or_null<CallExpr>(cpp::stripImplicit(E));
    if (!Call || torch::containerOf(Call))
      return Usual;
    torch::StorageUse Use = torch::storageUse(Call, {}, Context);
    if (Use.How == torch::Sharing::Unknown)
      return Usual;
    if (Use.How == torch::Sharing::None) {
      Usual.Dtype = Use.Traits.Dtype; // Comparisons, argmax().
      return Usual;
    }
    return torch::storageUse(Call, usualTraits(Use.Of, Depth + 1), Context)
        .Traits;
  }

  static std::pair<Fresh, torch::TensorTraits> NoLocals(const VarDecl *) {
    return {Fresh::No, {}};
  }

  bool takesPart(const CallExpr *Call) const {
    torch::StorageUse Use = torch::storageUse(Call, {}, Context);
    return Use.IsPart && Use.How == torch::Sharing::Memory;
  }

  /// Does \p Root live on when \p C.Owner, or a temporary made here, is gone?
  bool outlivesOwner(const ValueDecl *Root, const Chain &C) const {
    const auto *Var = dyn_cast<VarDecl>(Root);
    if (!Var) // A member of `*this`.
      return true;
    if (!Var->isLocalVarDeclOrParm() || Var->isStaticLocal())
      return true;
    if (isa<ParmVarDecl>(Var))
      return Var->getType()->isLValueReferenceType() &&
             !Var->getType()->getPointeeType().isConstQualified();
    // A local tensor holds one at a time, and goes with the function.
    if (torch::isTensor(Var->getType()))
      return false;
    // A local container: over the iterations of a loop in which the owner, or
    // the temporary, is made anew.
    if (Var->getType()->isReferenceType() || !In.declarationOf(Var))
      return false;
    const Stmt *Made = C.Owner ? loopOf(C.Owner) : C.TakenIn;
    return Made && Made != loopOf(Var);
  }

  /// \p Value becomes what variable or member \p Root holds, or a part of it.
  void kept(const ValueDecl *Root, const Expr *Value, bool Grows) {
    if (!Root || !torch::isTensor(cpp::peel(Value)->getType()))
      return;
    std::optional<Chain> C = follow(Value);
    if (!C || !(C->Part || C->Loss) || !outlivesOwner(Root, *C))
      return;
    KeptView K;
    K.Keeper = Root->getNameAsString();
    if (C->Part && !C->Loss && C->Owner && !ownerDies(*C))
      return;
    if (isWrittenThrough(Root))
      return;
    if (C->Loss && !C->Detached && !Guarded)
      return; // Its graph is the larger matter.
    K.What = C->Loss ? KeptView::Loss : KeptView::Part;
    K.Kept = Value;
    K.Source = C->Loss ? C->Loss : C->Part;
    K.Owner = C->Owner;
    K.Temporary = C->Made;
    K.Grows = Grows;
    K.ChangesLater = C->Owner && isWrittenAfter(C->Owner, Value);
    K.MayBeWhole = C->MayBeWhole;
    K.MayBeCopied = C->MayBeCopied;
    K.MayCarryGraph = C->OfModule && !C->Detached && !Guarded;
    Found.push_back(std::move(K));
  }

  /// Nothing but what is kept holds the memory of C.Owner when it is gone, and
  /// one part of it only.
  bool ownerDies(Chain &C) {
    const VarDecl *Owner = C.Owner;
    if (!torch::isTensor(Owner->getType()) || !isSetOnce(Owner) ||
        Shared.copies(Owner) != 1 || loopOf(Owner) != C.TakenIn)
      return false;
    Fresh Made = torch::freshMemory(Owner->getInit(), Context, NoLocals);
    C.OfModule |= Made == Fresh::Likely;
    return Made >= Fresh::Likely;
  }

  bool isWrittenAfter(const VarDecl *Owner, const Expr *Kept) const {
    const SourceManager &SM = Context.getSourceManager();
    return llvm::any_of(In.writesTo(Owner), [&](const cpp::Write &W) {
      return cpp::comesBefore(Kept, W.Where, SM);
    });
  }

  /// Is an in-place operator called on elements of \p Root?
  bool isWrittenThrough(const ValueDecl *Root) const {
    return cpp::anyOf<CXXMemberCallExpr>(
        F->getBody(), [&](const CXXMemberCallExpr *Call) {
          const Expr *Object = Call->getImplicitObjectArgument();
          if (!Object || !torch::isTensor(Object->getType()) ||
              !cpp::calleeName(Call).ends_with("_"))
            return false;
          while (const auto *Inner = dyn_cast_or_null<CXXMemberCallExpr>(
                     cpp::stripImplicit(Object)))
            Object = Inner->getImplicitObjectArgument();
          return cpp::rootOf(Object) == Root;
        });
  }

  void saved(const Expr *Value) {
    std::optional<Chain> C = follow(Value);
    if (!C || !C->Part || C->Loss)
      return;
    KeptView K;
    K.What = KeptView::Saved;
    K.Kept = Value;
    K.Source = C->Part;
    K.Owner = C->Owner;
    K.Temporary = C->Made;
    K.MayBeWhole = C->MayBeWhole;
    K.MayBeCopied = C->MayBeCopied;
    Found.push_back(std::move(K));
  }

  const FunctionDecl *F;
  const ASTContext &Context;
  cpp::Body &In;
  flow::Sharing Shared;
  bool Guarded = false; ///< A guard has been declared so far.
};

} // namespace

std::vector<KeptView> findKeptViews(const FunctionDecl *F,
                                    const ASTContext &Context) {
  if (!F->hasBody() || F->isDependentContext())
    return {};
  KeptFinder Look(F, Context);
  Look.run();
  return std::move(Look.Found);
}

} // namespace libtorch_tidy
