//===- FunctionFlow.cpp - How tensors move in one function ----------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/flow/history/FunctionFlow.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace libtorch_tidy::flow {

std::unique_ptr<FunctionFlow> FunctionFlow::nothing(const FunctionDecl *F) {
  auto Flow = std::make_unique<FunctionFlow>();
  Flow->F = F;
  Flow->Available = true;
  return Flow;
}

std::unique_ptr<FunctionFlow> FunctionFlow::givenUp(const FunctionDecl *F) {
  auto Flow = std::make_unique<FunctionFlow>();
  Flow->F = F;
  return Flow;
}

bool FunctionFlow::saysTheSame(const FunctionFlow &Other) const {
  // The order of evaluation, and so the numbers, are the same in each round.
  return Trains == Other.Trains && ExitMode == Other.ExitMode &&
         Return == Other.Return && Exit == Other.Exit &&
         Accumulations.size() == Other.Accumulations.size() &&
         std::equal(Labels.begin(), Labels.end(), Other.Labels.begin(),
                    Other.Labels.end(), [](const Label &A, const Label &B) {
                      return A.K == B.K && A.Site == B.Site &&
                             A.Where == B.Where && A.Consumers == B.Consumers &&
                             A.Arises == B.Arises;
                    });
}

const VarDecl *FunctionFlow::rootOf(PlaceId P) const {
  while (Places[P].Parent)
    P = *Places[P].Parent;
  return Places[P].Root;
}

std::string FunctionFlow::nameOf(PlaceId P) const {
  const Place &Here = Places[P];
  if (!Here.Parent)
    return Here.Root ? Here.Root->getNameAsString() : "this";
  std::string Base = nameOf(*Here.Parent);
  const FieldDecl *Field = Here.Part->asField();
  if (!Field) // An element of a tuple: name the tuple.
    return Base;
  std::string Name = Field->getNameAsString();
  if (Base == "this" || Base.empty())
    return Name;
  const VarDecl *Root = Places[*Here.Parent].Root;
  bool IsPointer = Root && Root->getType()->isPointerType();
  return Base + (IsPointer ? "->" : ".") + Name;
}

const FieldDecl *FunctionFlow::fieldOf(PlaceId P) const {
  for (;;) {
    const Place &Here = Places[P];
    if (!Here.Parent)
      return nullptr;
    if (const FieldDecl *Field = Here.Part->asField())
      return Field;
    P = *Here.Parent;
  }
}

/// Does a local pointer or reference own what it points to, as far as one can
/// tell from its initialiser?
static bool ownsPointee(const VarDecl *V) {
  const Expr *Init = V->getInit();
  if (!Init)
    return true; // Assigned later; declared empty.
  if (V->getType()->isReferenceType() && !Init->isLValue())
    return true; // A temporary whose life is extended.
  Init = cpp::peel(Init);
  if (isa<CXXNewExpr, CXXNullPtrLiteralExpr, CXXConstructExpr>(Init))
    return true;
  const auto *Call = dyn_cast<CallExpr>(Init);
  return Call && cpp::calleeName(Call).starts_with("make_");
}

bool FunctionFlow::outlivesFunction(PlaceId P) const {
  const VarDecl *Root = rootOf(P);
  if (!Root)
    return true; // this
  if (const auto *Param = dyn_cast<ParmVarDecl>(Root);
      Param && Param->getDeclContext() == F) {
    QualType T = Param->getType();
    return T->isReferenceType() || T->isPointerType() ||
           !cpp::pointeeOf(T).isNull();
  }
  if (!declarationOf(Root) || Root->isStaticLocal())
    return true;
  QualType T = Root->getType();
  bool Points = T->isReferenceType() || T->isPointerType() ||
                (!cpp::pointeeOf(T).isNull() && !torch::isModule(T));
  return Points && !ownsPointee(Root);
}

std::optional<LabelId> FunctionFlow::entryIn(const Value &V, PlaceId P) const {
  for (LabelId L : V.Labels)
    if (Labels[L].K == Label::Entry && Labels[L].Where == P)
      return L;
  return std::nullopt;
}

bool FunctionFlow::overlap(PlaceId A, PlaceId B) const {
  auto IsPart = [&](PlaceId Part, PlaceId Whole) {
    for (std::optional<PlaceId> At = Part; At; At = Places[*At].Parent)
      if (*At == Whole)
        return true;
    return false;
  };
  return IsPart(A, B) || IsPart(B, A);
}

bool FunctionFlow::addsToEntry(const Accumulation &A) const {
  for (LabelId L : Labels[A.Carry].Assigned)
    if (Labels[L].K == Label::Entry && overlap(Labels[L].Where, A.Where))
      return true;
  return false;
}

bool FunctionFlow::addsNothingTo(PlaceId P) const {
  if (!outlivesFunction(P))
    return false; // The caller's, too, by what is done in place.
  return llvm::none_of(Accumulations, [&](const auto &Entry) {
    const Accumulation &A = Entry.second;
    return overlap(A.Where, P) &&
           (A.How == Accumulation::Slot || addsToEntry(A));
  });
}

const Stmt *FunctionFlow::loopFor(const Stmt *S, PlaceId Where) const {
  const VarDecl *Root = rootOf(Where);
  const Stmt *Declared =
      Root && !Root->isStaticLocal() ? declarationOf(Root) : nullptr;
  const Stmt *Child = S;
  for (const Stmt *P = parentOf(S); P; Child = P, P = parentOf(P)) {
    if (!isLoop(P) || cpp::runsOnce(P, Child))
      continue;
    if (!Declared)
      return P;
    const Stmt *RunsOnce = nullptr;
    if (const auto *For = dyn_cast<ForStmt>(P))
      RunsOnce = For->getInit();
    if (!isWithin(Declared, P) || (RunsOnce && isWithin(Declared, RunsOnce)))
      return P;
  }
  return nullptr;
}

/// Is \p T a module, an owner of one, or a struct of the user's that has one?
static bool holdsModule(QualType T) {
  T = T.getNonReferenceType();
  if (torch::isModule(T))
    return true;
  const CXXRecordDecl *R =
      cpp::recordOf(T->isPointerType() ? T->getPointeeType() : T);
  return R && R->hasDefinition() && !torch::isTorchDecl(R) &&
         !cpp::isStdDecl(R) &&
         llvm::any_of(R->fields(), [](const FieldDecl *Field) {
           return torch::isModule(Field->getType());
         });
}

bool FunctionFlow::appliesLayers(const Accumulation &A) const {
  const VarDecl *Through = rootOf(A.Where);
  if (!Through || A.How != Accumulation::Rebind || !A.Loop ||
      loopFor(A.Loop, A.Where))
    return false;
  // A module that is only handed to a helper by reference stays the same.
  auto ChangesInLoop = [&](const DeclRefExpr *Ref) {
    const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
    if (!Var || Var == Through)
      return false;
    const Stmt *Declared = declarationOf(Var);
    return (Declared && isWithin(Declared, A.Loop)) ||
           llvm::any_of(cpp::writesTo(Var, A.Loop), [](const cpp::Write &W) {
             return W.Kind != cpp::WriteKind::Escaped;
           });
  };
  auto IsLayer = [&](const Expr *E) {
    return E && holdsModule(E->getType()) &&
           cpp::anyOf<DeclRefExpr>(E, ChangesInLoop);
  };
  return cpp::anyOf<CallExpr>(A.Site, [&](const CallExpr *Call) {
    const auto Given = cpp::writtenArguments(Call);
    return (IsLayer(cpp::receiverOf(Call)) || llvm::any_of(Given, IsLayer)) &&
           llvm::any_of(
               Given, [&](const Expr *E) { return cpp::mentions(E, Through); });
  });
}

bool FunctionFlow::isWithin(const Stmt *S, const Stmt *Ancestor) const {
  return Body ? Body->isWithin(S, Ancestor) : S && S == Ancestor;
}

} // namespace libtorch_tidy::flow
