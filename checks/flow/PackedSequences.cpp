//===- PackedSequences.cpp - Where a PackedSequence was packed ------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/flow/PackedSequences.h"
#include "checks/flow/Writes.h"
#include "checks/torch/Rnn.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;

namespace libtorch_tidy::flow {

namespace {

/// Collects every packing that a value may come from.
class Tracer {
public:
  explicit Tracer(const FunctionDecl *Function) : Function(Function) {}

  const CallExpr *onlyPacking() const {
    return !Unknown && Found.size() == 1 ? Found.front() : nullptr;
  }

  /// \p E is a PackedSequence.
  void sequence(const Expr *E) {
    E = valueOf(E);
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      if (const auto *Bound = dyn_cast<BindingDecl>(Ref->getDecl()))
        return boundFirst(Bound);
      return variable(Ref->getDecl(), &Tracer::sequence);
    }
    if (const auto *Cast = dyn_cast<CXXFunctionalCastExpr>(E))
      return sequence(Cast->getSubExpr());
    if (const auto *Method = dyn_cast<CXXMemberCallExpr>(E)) {
      if (torch::keepsPacking(Method->getMethodDecl()))
        return sequence(Method->getImplicitObjectArgument());
    } else if (const auto *Call = dyn_cast<CallExpr>(E)) {
      const FunctionDecl *Callee = Call->getDirectCallee();
      if (torch::isPackPaddedSequence(Callee)) {
        if (!llvm::is_contained(Found, Call))
          Found.push_back(Call);
        return;
      }
      if (isGetFirst(Callee) && Call->getNumArgs() == 1)
        return outputAndState(Call->getArg(0));
    } else if (const auto *Ctor = dyn_cast<CXXConstructExpr>(E)) {
      // PackedSequence(data, other.batch_sizes(), ...).
      if (Ctor->getNumArgs() >= 2)
        if (const auto *Sizes =
                dyn_cast<CXXMemberCallExpr>(valueOf(Ctor->getArg(1)));
            Sizes && torch::isBatchSizes(Sizes->getMethodDecl()))
          return sequence(Sizes->getImplicitObjectArgument());
    }
    Unknown = true;
  }

private:
  /// \p E is what a recurrent layer returns: (packed output, state).
  void outputAndState(const Expr *E) {
    E = valueOf(E);
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      return variable(Ref->getDecl(), &Tracer::outputAndState);
    const auto *Call = dyn_cast<CallExpr>(E);
    if (Call && torch::isForwardWithPackedInput(Call->getDirectCallee()) &&
        Call->getNumArgs() > 0)
      return sequence(Call->getArg(0));
    Unknown = true;
  }

  void boundFirst(const BindingDecl *Bound) {
    const auto *Tuple = dyn_cast<DecompositionDecl>(Bound->getDecomposedDecl());
    if (Tuple && Tuple->getInit() && !Tuple->bindings().empty() &&
        Tuple->bindings().front() == Bound && isOwn(Tuple) &&
        onlyReleased(Bound))
      return outputAndState(Tuple->getInit());
    Unknown = true;
  }

  /// Goes on with every value that \p D is ever given.
  void variable(const ValueDecl *D, void (Tracer::*Next)(const Expr *)) {
    const auto *Var = dyn_cast<VarDecl>(D);
    if (!Var || isa<ParmVarDecl>(Var) || !isOwn(Var)) {
      Unknown = true;
      return;
    }
    // packed = layer(packed): what it was before is being looked at.
    if (!Visited.insert(Var).second)
      return;
    if (Var->getInit())
      (this->*Next)(Var->getInit());
    for (const Write &W : writesTo(Var, Function->getBody())) {
      if (W.Kind == WriteKind::Released)
        continue;
      if (W.Kind != WriteKind::Assigned || W.InLambda)
        Unknown = true;
      else if (W.Value)
        (this->*Next)(W.Value);
      else
        tied(W.Where, Var);
    }
  }

  /// std::tie(Var, state) = layer->forward_with_packed_input(x).
  void tied(const Expr *Assignment, const VarDecl *Var) {
    const auto *Op = dyn_cast<CXXOperatorCallExpr>(Assignment);
    const auto *Tie = Op ? dyn_cast<CallExpr>(valueOf(Op->getArg(0))) : nullptr;
    if (Tie && Tie->getNumArgs() > 0 && rootOf(Tie->getArg(0)) == Var)
      return outputAndState(Op->getArg(1));
    Unknown = true;
  }

  bool onlyReleased(const ValueDecl *D) const {
    return llvm::all_of(writesTo(D, Function->getBody()), [](const Write &W) {
      return W.Kind == WriteKind::Released;
    });
  }

  bool isOwn(const VarDecl *Var) const {
    return Var->isLocalVarDecl() && !Var->isStaticLocal() &&
           Var->getParentFunctionOrMethod() == Function;
  }

  static bool isGetFirst(const FunctionDecl *Callee) {
    if (!Callee || !Callee->isInStdNamespace() || !Callee->getIdentifier() ||
        Callee->getName() != "get")
      return false;
    const TemplateArgumentList *Args = Callee->getTemplateSpecializationArgs();
    return Args && Args->size() > 0 &&
           ((Args->get(0).getKind() == TemplateArgument::Integral &&
             Args->get(0).getAsIntegral() == 0) ||
            (Args->get(0).getKind() == TemplateArgument::Type &&
             torch::isPackedSequence(Args->get(0).getAsType())));
  }

  const FunctionDecl *Function;
  llvm::SmallVector<const CallExpr *, 2> Found;
  llvm::SmallPtrSet<const VarDecl *, 4> Visited;
  bool Unknown = false;
};

} // namespace

const CallExpr *packingOf(const Expr *Sequence, const FunctionDecl *Function) {
  Tracer T(Function);
  T.sequence(Sequence);
  return T.onlyPacking();
}

} // namespace libtorch_tidy::flow
