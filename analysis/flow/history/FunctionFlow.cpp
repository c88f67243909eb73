//===- FunctionFlow.cpp - How tensors move in one function ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/flow/history/FunctionFlow.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "clang/AST/DeclCXX.h"

using namespace clang;

namespace libtorch_tidy::flow {

using namespace cpp;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

LabelSet Value::allLabels() const {
  LabelSet All = Labels;
  for (const auto &[S, V] : Parts)
    All |= V.allLabels();
  return All;
}

bool Value::anyUnknown() const {
  return Unknown || llvm::any_of(Parts, [](const auto &Part) {
           return Part.second.anyUnknown();
         });
}

Value Value::flat() const { return {allLabels(), anyUnknown(), {}}; }

const Value *Value::knownPart(Selector S) const {
  for (const auto &[Own, V] : Parts)
    if (Own == S)
      return &V;
  return nullptr;
}

Value Value::part(Selector S) const {
  const Value *Known = knownPart(S);
  return Known ? *Known : Value{Labels, Unknown, {}};
}

void Value::addEverywhere(LabelId L) {
  Labels.set(L);
  for (auto &[S, V] : Parts)
    V.addEverywhere(L);
}

Value &Value::apart(Selector S) {
  const Value *Known = knownPart(S);
  return Known ? const_cast<Value &>(*Known) : setPart(S, part(S));
}

Value &Value::setPart(Selector S, Value V) {
  auto It = llvm::lower_bound(Parts, S, [](const auto &Part, Selector Key) {
    return Part.first < Key;
  });
  if (It == Parts.end() || !(It->first == S))
    It = Parts.insert(It, {S, Value()});
  return It->second = std::move(V);
}

bool Value::join(const Value &Other) {
  bool Grew = Labels |= Other.Labels;
  if (Other.Unknown && !Unknown)
    Grew = Unknown = true;
  // A part that only one side lists is, on the other, what its whole carries.
  for (auto &[S, V] : Parts)
    Grew |= V.join(Other.part(S));
  for (const auto &[S, V] : Other.Parts) {
    if (llvm::any_of(Parts, [S = S](const auto &P) { return P.first == S; }))
      continue;
    Value Joined = part(S);
    Joined.join(V);
    setPart(S, std::move(Joined));
    Grew = true;
  }
  return Grew;
}

//===----------------------------------------------------------------------===//
// Flows
//===----------------------------------------------------------------------===//

std::unique_ptr<FunctionFlow> FunctionFlow::nothing(const FunctionDecl *F) {
  std::unique_ptr<FunctionFlow> Flow = givenUp(F);
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
         ExitFromOff == Other.ExitFromOff && LeftOffBy == Other.LeftOffBy &&
         SwitchesIfThrown == Other.SwitchesIfThrown && Return == Other.Return &&
         Exit == Other.Exit &&
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

std::optional<unsigned> FunctionFlow::indexOf(const VarDecl *D) const {
  const auto *Param = dyn_cast_or_null<ParmVarDecl>(D);
  return Param && Param->getDeclContext() == F
             ? std::optional(Param->getFunctionScopeIndex())
             : std::nullopt;
}

std::string FunctionFlow::nameOf(PlaceId P) const {
  const Place &Here = Places[P];
  if (!Here.Parent)
    return Here.Root ? Here.Root->getNameAsString() : "this";
  std::string Base = nameOf(*Here.Parent);
  const FieldDecl *Field = Here.Part->Field;
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
  for (; Places[P].Parent; P = *Places[P].Parent)
    if (const FieldDecl *Field = Places[P].Part->Field)
      return Field;
  return nullptr;
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
  const QualType T = Root->getType();
  const bool Refers = T->isReferenceType() || T->isPointerType();
  const bool Points = !cpp::pointeeOf(T).isNull();
  if (indexOf(Root))
    return Refers || Points || isFolded(P);
  if (!declarationOf(Root) || Root->isStaticLocal())
    return true;
  return (Refers || (Points && !torch::isModule(T))) && !ownsPointee(Root);
}

bool FunctionFlow::isFolded(PlaceId P) const {
  const VarDecl *Root = rootOf(P);
  return Root && Body && Root == Body->foldedInto();
}

bool FunctionFlow::isPartOf(PlaceId P, PlaceId Whole) const {
  std::optional<PlaceId> At = P;
  while (At && *At != Whole)
    At = Places[*At].Parent;
  return At.has_value();
}

bool FunctionFlow::addsToEntry(const Accumulation &A) const {
  for (LabelId L : Labels[A.Carry].Assigned)
    if (Labels[L].K == Label::Entry && overlap(Labels[L].Where, A.Where))
      return true;
  return false;
}

std::optional<LabelId> FunctionFlow::keptIn(const Value &V, PlaceId P) const {
  if (!outlivesFunction(P)) // The caller's, too, by what is done in place.
    return std::nullopt;
  for (const auto &[Key, A] : Accumulations)
    if (overlap(A.Where, P) && (A.How == Accumulation::Slot || addsToEntry(A)))
      return std::nullopt;
  for (LabelId L : V.Labels)
    if (Labels[L].K == Label::Entry && Labels[L].Where == P)
      return L;
  return std::nullopt;
}

const Stmt *FunctionFlow::loopFor(const Stmt *S, PlaceId Where) const {
  const VarDecl *Root = rootOf(Where);
  const Stmt *Declared =
      Root && !Root->isStaticLocal() ? declarationOf(Root) : nullptr;
  const Stmt *Child = S;
  for (const Stmt *P = parentOf(S); P; Child = P, P = parentOf(P)) {
    if (!isLoop(P) || cpp::runsOnce(P, Child))
      continue;
    const auto *For = dyn_cast<ForStmt>(P);
    if (!Declared || !isWithin(Declared, P) ||
        (For && isWithin(Declared, For->getInit())))
      return P;
  }
  // The body of a lambda that an algorithm repeats.
  const bool IsOutside =
      !Declared && (!indexOf(Root) || Root == Body->foldedInto());
  return Body && Child != S && Body->repeatedBy() && IsOutside ? Child
                                                               : nullptr;
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
    const bool IsElement = indexOf(Var) && A.Loop == Body->root();
    return IsElement || (Declared && isWithin(Declared, A.Loop)) ||
           llvm::any_of(Body->writesTo(Var), [&](const cpp::Write &W) {
             return W.Kind != cpp::WriteKind::Escaped &&
                    isWithin(W.Where, A.Loop);
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

FunctionFlow::Carried FunctionFlow::recordedBy(const Expr *E) const {
  auto It = Recorded.find(cpp::peel(E));
  return It == Recorded.end() ? Carried::Seen : It->second;
}

bool FunctionFlow::frees(const Label &L, const Stmt *With) const {
  if (!(L.Consumers & Label::Freed) || !L.BackwardAt)
    return Abroad && (L.Consumers & Label::Freed);
  // Up to the statement that holds both: a branch, a loop or a handler may
  // leave the call out.
  const Stmt *Both = L.BackwardAt;
  for (; parentOf(Both) && !(With && isWithin(With, Both));
       Both = parentOf(Both))
    if (isa<IfStmt, SwitchStmt, AbstractConditionalOperator, CXXTryStmt,
            CXXCatchStmt>(Both) ||
        isLoop(Both))
      return false;
  const SourceManager &SM = F->getASTContext().getSourceManager();
  // So may a jump on the way to it.
  return !cpp::anyOf<Stmt>(
      Both,
      [&](const Stmt *Jump) {
        return (isa<ReturnStmt>(Jump) ||
                (With && isa<BreakStmt, ContinueStmt>(Jump))) &&
               cpp::comesBefore(Jump, L.BackwardAt, SM) &&
               (!With || cpp::comesBefore(With, Jump, SM));
      },
      cpp::Lambdas::Skipped);
}

bool FunctionFlow::freesInSome(const Label &L, const Accumulation &A) const {
  if (!(L.Consumers & Label::Freed) || !L.BackwardAt || !A.Loop ||
      !isWithin(L.BackwardAt, A.Loop))
    return false;
  const SourceManager &SM = F->getASTContext().getSourceManager();
  auto Varies = [&](const Expr *Condition) {
    return cpp::anyOf<DeclRefExpr>(Condition, [&](const DeclRefExpr *Ref) {
      const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
      return Var && (cpp::isWithin(Var->getLocation(), A.Loop, SM) ||
                     (indexOf(Var) && A.Loop == Body->root()));
    });
  };
  auto Leaves = [](const Stmt *S) {
    return isa<ReturnStmt, BreakStmt, ContinueStmt, GotoStmt, CXXThrowExpr>(S);
  };
  const Stmt *Child = L.BackwardAt;
  for (const Stmt *P = parentOf(Child); P && !isWithin(A.Site, Child);
       Child = P, P = parentOf(P)) {
    const auto *If = dyn_cast<IfStmt>(P);
    if (isa<SwitchStmt, AbstractConditionalOperator, CXXTryStmt, CXXCatchStmt>(
            P) ||
        isLoop(P))
      return false;
    if (If && Child != If->getCond() &&
        (isWithin(A.Site, If) || !Varies(If->getCond()) ||
         cpp::anyOf<Stmt>(Child, Leaves, cpp::Lambdas::Skipped)))
      return false;
  }
  // A jump between the two may go past the call in all rounds.
  return !cpp::anyOf<Stmt>(
      A.Loop,
      [&](const Stmt *S) {
        return Leaves(S) && cpp::comesBefore(A.Site, S, SM) &&
               cpp::comesBefore(S, L.BackwardAt, SM);
      },
      cpp::Lambdas::Skipped);
}

bool FunctionFlow::isWithin(const Stmt *S, const Stmt *Ancestor) const {
  return Body ? Body->isWithin(S, Ancestor) : S && S == Ancestor;
}

const Expr *FunctionFlow::switchedAfter(const Stmt *S) const {
  const bool LeavesNone =
      ExitMode == GradMode::On && ExitFromOff == GradMode::Off;
  if (Body && S == Body->root() && (LeavesNone || F->isMain()))
    return nullptr;
  return Switched.lookup(S);
}

//===----------------------------------------------------------------------===//
// Carried graphs
//===----------------------------------------------------------------------===//

/// May something cut the history of \p D, on some paths only? The flow has
/// followed what every iteration does.
static bool mayBeCut(const ValueDecl *D, const CarriedGraph &Graph,
                     const FunctionFlow &Flow) {
  // A branch, or a loop without the statement that makes the new value.
  auto ConditionOf = [&](const Stmt *S) -> const Stmt * {
    for (; S && S != Graph.Loop; S = Flow.parentOf(S))
      if (isa<IfStmt>(S) ||
          ((isa<SwitchStmt, AbstractConditionalOperator>(S) || isLoop(S)) &&
           !Flow.isWithin(Graph.Made->Site, S)))
        return S;
    return nullptr;
  };
  for (const Write &W : writesTo(D, Graph.Loop)) {
    // The flow has followed calls that are given a reference to it.
    if (W.InLambda)
      return true;
    if ((W.Kind != WriteKind::Assigned && W.Kind != WriteKind::Released) ||
        Flow.isWithin(Graph.Made->Site, W.Where))
      continue;
    const Stmt *Condition = ConditionOf(W.Where);
    const auto *If = dyn_cast_or_null<IfStmt>(Condition);
    if (Condition && !(If && tellsFirstRound(If->getCond())))
      return true;
  }
  return anyOf<Stmt>(Graph.Loop, [&](const Stmt *S) {
    // for (auto &s : state) s = s.detach();
    if (const auto *For = dyn_cast<CXXForRangeStmt>(S))
      return rootOf(For->getRangeInit()) == D;
    // h.detach_() and similar; h = h.detach() is a write.
    const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
    return Call && torch::dropsHistory(Call) &&
           cpp::calleeName(Call).ends_with("_") &&
           rootOf(Call->getImplicitObjectArgument()) == D && ConditionOf(Call);
  });
}

/// Does \p S run in one round of \p Loop at most, below `if (i == n - 1)`?
static bool runsInOneRound(const Stmt *S, const Stmt *Loop,
                           const FunctionFlow &Flow) {
  for (const Stmt *Child = S; S && S != Loop; Child = S, S = Flow.parentOf(S))
    if (const auto *If = dyn_cast<IfStmt>(S);
        If && If->getThen() == Child && holdsInOneRound(If->getCond(), Loop))
      return true;
  return false;
}

/// Does what \p A carries on share the graph that backward call \p Spent went
/// through? Its place did, when it was assigned before the call; a variable of
/// the iteration did, when it is assigned from that after the call, which in
/// the next iteration goes through what was carried on.
static bool sharesSpent(const Label &Spent, const Accumulation &A,
                        const FunctionFlow &Flow) {
  if (Flow.isPartOf(Spent.Where, A.Where))
    return true;
  const VarDecl *Root = Flow.rootOf(Spent.Where);
  const Stmt *Declared = Root ? Flow.declarationOf(Root) : nullptr;
  if (!Declared || !A.Loop || !Flow.isWithin(Declared, A.Loop))
    return false;
  return llvm::any_of(Flow.labels(), [&](const Label &L) {
    return L.K == Label::Spent && L.Site == Spent.Site &&
           L.Assigned.test(A.Carry);
  });
}

llvm::SmallVector<CarriedGraph, 2> carriedGraphs(const FunctionFlow &Flow) {
  llvm::SmallVector<CarriedGraph, 2> Found;
  for (const auto &[Key, A] : Flow.accumulations()) {
    if ((A.How != Accumulation::Rebind && A.How != Accumulation::InPlace) ||
        A.Mode != GradMode::On || !A.Loop || A.Added.anyUnknown())
      continue;
    CarriedGraph Graph;
    Graph.Made = &A;
    const VarDecl *Root = Flow.rootOf(A.Where);
    const Stmt *Declared = Root ? Flow.declarationOf(Root) : nullptr;
    for (LabelId Id : Flow.label(A.Carry).Assigned) {
      const Label &L = Flow.label(Id);
      if (L.K != Label::Spent || !(L.Consumers & Label::Backward) || L.Unseen ||
          !L.BackwardAt || !sharesSpent(L, A, Flow))
        continue;
      const Stmt *Loop = A.Loop;
      // A loop further out may repeat what a single round back-propagates.
      while (Loop && !(isLoop(Loop) && Flow.isWithin(L.Site, Loop) &&
                       !runsInOneRound(L.BackwardAt, Loop, Flow)))
        Loop = Flow.parentOf(Loop);
      // The place must live on over the iterations of that loop, too.
      if (!Loop || !Flow.isWithin(L.BackwardAt, Loop) ||
          (Declared && Flow.isWithin(Declared, Loop)))
        continue;
      Graph.Spent = &L;
      Graph.Loop = Loop;
    }
    if (!Graph.Spent)
      continue;
    for (LabelId Id : Flow.label(A.Carry).Assigned)
      if (const Label &L = Flow.label(Id);
          L.bringsGraph() && Flow.isWithin(L.Site, Graph.Loop))
        Graph.Module = &L;
    const ValueDecl *D =
        Root ? static_cast<const ValueDecl *>(Root) : Flow.fieldOf(A.Where);
    Graph.MayBeCut = D && mayBeCut(D, Graph, Flow);
    Found.push_back(Graph);
  }
  return Found;
}

} // namespace libtorch_tidy::flow
