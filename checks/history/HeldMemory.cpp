//===- HeldMemory.cpp - Memory that is held though dead -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/history/HeldMemory.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/autograd/GradGuards.h"
#include "analysis/torch/storage/Owners.h"
#include "clang/Analysis/CFG.h"
#include "llvm/ADT/BitVector.h"

using namespace clang;

namespace libtorch_tidy {

namespace {

using Use = MemoryNames::Use;

/// Where a function runs with gradient mode off for sure.
class OffRegions {
public:
  OffRegions(const FunctionDecl *F, flow::UnitModel &Unit)
      : In(cpp::Body::of(F)), SM(F->getASTContext().getSourceManager()) {
    const auto *Method = dyn_cast<CXXMethodDecl>(F);
    All =
        Unit.isCalledOnlyGuarded(F) ||
        (Method && torch::guardOf(Method->getParent()) == torch::GradMode::Off);
    cpp::forEach<VarDecl>(
        In.root(),
        [&](const VarDecl *Var) {
          const std::optional<torch::GradMode> Mode = torch::guardOf(Var);
          if (Mode == torch::GradMode::Off)
            Guards.push_back(Var);
          else
            SwitchesOn |= Mode.has_value();
        },
        cpp::Lambdas::Skipped);
    SwitchesOn |= cpp::anyOf<CallExpr>(In.root(), [](const CallExpr *Call) {
      return torch::setsGradMode(Call).has_value();
    });
  }
  bool any() const { return !SwitchesOn && (All || !Guards.empty()); }
  bool has(const Stmt *S) const {
    return !SwitchesOn &&
           (All || llvm::any_of(Guards, [&](const VarDecl *Guard) {
              const Stmt *Scope = In.scopeOf(Guard);
              return Scope && In.isWithin(S, Scope) &&
                     SM.isBeforeInTranslationUnit(Guard->getLocation(),
                                                  S->getBeginLoc());
            }));
  }

private:
  const cpp::Body &In;
  const SourceManager &SM;
  llvm::SmallVector<const VarDecl *, 2> Guards;
  bool All = false, SwitchesOn = false;
};

/// Adds the bits of \p From. Returns whether there were new ones.
bool addTo(llvm::BitVector &Into, const llvm::BitVector &From) {
  const bool IsNew = From.test(Into);
  Into |= From;
  return IsNew;
}

class HeldWalk {
public:
  HeldWalk(const FunctionDecl *F, flow::UnitModel &Unit, MemoryNamesOf &Known,
           bool WithHolders)
      : F(F), Unit(Unit), Names(MemoryNames::of(F, Unit, Known)),
        In(cpp::Body::of(F)), Off(F, Unit), WithHolders(WithHolders) {}

  std::vector<HeldMemory> run();

private:
  /// Bit I speaks of variable I of Names.
  struct State {
    llvm::BitVector Held;  ///< It holds something.
    llvm::BitVector Graph; ///< A graph may hold that, too.
    bool join(const State &O) {
      const bool Grew = addTo(Held, O.Held);
      return addTo(Graph, O.Graph) || Grew;
    }
  };
  struct Live {
    llvm::BitVector All, Number;
    bool join(const Live &O) {
      const bool Grew = addTo(All, O.All);
      return addTo(Number, O.Number) || Grew;
    }
  };
  /// What an element does to a variable.
  struct Event {
    unsigned Var;
    enum { Replace, Give, Drop, Read, Number } What;
  };

  bool isCandidate(const MemoryNames::Group &G) const;
  bool isHeavy(const CallExpr *Call);
  void collectEvents();
  void forward(const CFGElement &Element, State &To) const;
  void backward(const Stmt *S, Live &To) const;
  void solve();
  void lookAt(const CallExpr *Call, const State &Before, const Live &After);
  const Expr *movedBy(const CallExpr *Call, unsigned Var) const;
  void describe(HeldMemory &Found, ArrayRef<unsigned> Holding) const;
  const Stmt *topOf(const Stmt *S) const;

  const FunctionDecl *F;
  flow::UnitModel &Unit;
  const MemoryNames &Names;
  cpp::Body &In;
  OffRegions Off;
  const bool WithHolders;
  std::unique_ptr<CFG> Graph;
  llvm::DenseMap<const Stmt *, llvm::SmallVector<Event, 1>> Events;
  llvm::DenseMap<const Stmt *, bool> Heavies; ///< Does it run a module?
  /// The variables that a full expression mentions without overwriting them.
  llvm::DenseMap<const Stmt *, llvm::SmallVector<unsigned, 4>> MentionedIn;
  std::vector<State> Entries;
  std::vector<Live> Exits;
  llvm::MapVector<unsigned, HeldMemory> Found; ///< By the group's leader.
};

const Stmt *HeldWalk::topOf(const Stmt *S) const {
  for (const Stmt *Outer = In.parentOf(S); isa_and_nonnull<Expr>(Outer);
       Outer = In.parentOf(S))
    S = Outer;
  return S;
}

bool HeldWalk::isCandidate(const MemoryNames::Group &G) const {
  return (WithHolders || G.Else == MemoryNames::Holder::None) &&
         G.From.isOwn() && G.Size >= Amount::Filled &&
         llvm::none_of(G.Vars, [&](unsigned Var) {
           return isa<ParmVarDecl>(Names.vars()[Var]);
         });
}

/// A call of a module that computes much.
bool HeldWalk::isHeavy(const CallExpr *Call) {
  if (std::optional<torch::ModuleCall> M = torch::asModuleCall(Call)) {
    if (M->Script || M->Compiled)
      return !flow::isQuery(*M, In);
    if (!M->Module)
      return true;
    return torch::parametersOf(M->Module->getType()) !=
               torch::Parameters::None &&
           !torch::namesLoss(
               cpp::nameOf(torch::heldClass(M->Module->getType())));
  }
  return cpp::userDefinition(Call->getDirectCallee()) &&
         Unit.work().of(Call) == torch::Work::Heavy;
}

void HeldWalk::collectEvents() {
  for (unsigned Var = 0; Var < Names.vars().size(); ++Var) {
    for (const MemoryNames::Gift &New : Names.givenTo(Var))
      Events[New.Where].push_back(
          {Var, New.Whole ? Event::Replace : Event::Give});
    for (const Expr *Where : Names.dropsOf(Var))
      Events[Where].push_back({Var, Event::Drop});
  }
  for (const MemoryNames::Mention &M : Names.mentions()) {
    if (M.How == Use::Overwritten)
      continue;
    Events[M.Ref].push_back(
        {M.Var, M.How == Use::Number ? Event::Number : Event::Read});
    MentionedIn[topOf(M.Ref)].push_back(M.Var);
  }
}

void HeldWalk::forward(const CFGElement &Element, State &To) const {
  if (auto End = Element.getAs<CFGLifetimeEnds>())
    if (auto Var = Names.indexOf(End->getVarDecl()))
      To.Held.reset(*Var);
  auto Any = Element.getAs<CFGStmt>();
  if (!Any)
    return;
  const Stmt *S = Any->getStmt();
  if (const auto *Declaration = dyn_cast<DeclStmt>(S))
    for (const Decl *D : Declaration->decls())
      if (const auto *Var = dyn_cast<VarDecl>(D))
        if (auto I = Names.indexOf(Var); I && Names.vars()[*I] == Var) {
          const Expr *Init = Var->getInit();
          To.Held[*I] = Init && !cpp::isEmptyValue(Init);
          To.Graph[*I] = To.Held[*I] && !Off.has(Init);
        }
  if (const auto *Call = dyn_cast<CallExpr>(S))
    if (std::optional<torch::BackwardCall> B = torch::asBackward(Call))
      if (cpp::writtenArguments(Call).size() < 2)
        To.Graph.reset();
  auto It = Events.find(S);
  if (It == Events.end())
    return;
  for (const Event &E : It->second)
    switch (E.What) {
    case Event::Replace:
      To.Graph.reset(E.Var);
      [[fallthrough]];
    case Event::Give:
      To.Held.set(E.Var);
      To.Graph[E.Var] = To.Graph[E.Var] || !Off.has(S);
      break;
    case Event::Drop:
      To.Held.reset(E.Var);
      break;
    case Event::Read:
      if (!Off.has(S))
        To.Graph.set(E.Var);
      break;
    case Event::Number:
      break;
    }
}

void HeldWalk::backward(const Stmt *S, Live &To) const {
  auto Over = [&](unsigned Var) {
    To.All.reset(Var);
    To.Number.reset(Var);
  };
  if (const auto *Declaration = dyn_cast<DeclStmt>(S))
    for (const Decl *D : Declaration->decls())
      if (const auto *Var = dyn_cast<VarDecl>(D))
        if (auto I = Names.indexOf(Var); I && Names.vars()[*I] == Var)
          Over(*I);
  auto It = Events.find(S);
  if (It == Events.end())
    return;
  for (const Event &E : It->second)
    switch (E.What) {
    case Event::Give:
      break;
    case Event::Replace:
    case Event::Drop:
      Over(E.Var);
      break;
    case Event::Read:
      To.All.set(E.Var);
      break;
    case Event::Number:
      To.Number.set(E.Var);
      break;
    }
}

void HeldWalk::solve() {
  const unsigned N = Names.vars().size(), Blocks = Graph->getNumBlockIDs();
  Entries.assign(Blocks, {llvm::BitVector(N), llvm::BitVector(N)});
  Exits.assign(Blocks, {llvm::BitVector(N), llvm::BitVector(N)});
  auto Run = [&](auto Step) {
    for (bool Changed = true; Changed;) {
      Changed = false;
      Step(Changed);
    }
  };
  // Blocks are numbered against the flow of control.
  std::vector<const CFGBlock *> Order(Graph->begin(), Graph->end());
  llvm::sort(Order, [](const CFGBlock *A, const CFGBlock *B) {
    return A->getBlockID() > B->getBlockID();
  });
  Run([&](bool &Changed) {
    for (const CFGBlock *Block : Order) {
      State At = Entries[Block->getBlockID()];
      for (const CFGElement &Element : *Block)
        forward(Element, At);
      for (const CFGBlock *Next : Block->succs())
        if (Next)
          Changed |= Entries[Next->getBlockID()].join(At);
    }
  });
  Run([&](bool &Changed) {
    for (const CFGBlock *Block : llvm::reverse(Order)) {
      Live At = Exits[Block->getBlockID()];
      for (const CFGElement &Element : llvm::reverse(*Block))
        if (auto S = Element.getAs<CFGStmt>())
          backward(S->getStmt(), At);
      for (const CFGBlock *Before : Block->preds())
        if (Before)
          Changed |= Exits[Before->getBlockID()].join(At);
    }
  });
}

/// The argument of \p Call that copies variable \p Var for a parameter that the
/// callee replaces before it computes much.
const Expr *HeldWalk::movedBy(const CallExpr *Call, unsigned Var) const {
  const std::optional<torch::ModuleCall> M = torch::asModuleCall(Call);
  const cpp::Call C(Call);
  const FunctionDecl *Callee =
      cpp::userDefinition(M && M->Body ? M->Body : C.Callee);
  if (!Callee)
    return nullptr;
  llvm::ArrayRef<const Expr *> Args = C.Args;
  if (M)
    Args = M->Inputs;
  for (unsigned I = 0; I < Args.size() && I < Callee->getNumParams(); ++I) {
    const ParmVarDecl *Param = Callee->getParamDecl(I);
    const auto *Ref = dyn_cast<DeclRefExpr>(cpp::stripImplicit(Args[I]));
    if (!Ref || Ref->getDecl() != Names.vars()[Var] || cpp::movedBy(Args[I]) ||
        !torch::isTensor(Param->getType()) ||
        Param->getType()->isReferenceType())
      continue;
    cpp::Body &There = cpp::Body::of(Callee);
    bool Replaced = false;
    for (const Stmt *S : There.root()->children()) {
      if (Replaced && Unit.work().of(S) == torch::Work::Heavy)
        return Ref;
      Replaced |= llvm::any_of(There.writesTo(Param), [&](const cpp::Write &W) {
        return W.Overwritten && isa<Expr>(S) && There.isWithin(W.Where, S);
      });
    }
  }
  return nullptr;
}

void HeldWalk::lookAt(const CallExpr *Call, const State &Before,
                      const Live &After) {
  const Stmt *Top = topOf(Call);
  auto It = MentionedIn.find(Top);
  for (const auto &[Leader, G] : Names.groups()) {
    if (!isCandidate(G))
      continue;
    llvm::SmallVector<unsigned, 2> Holding;
    bool InUse = false, Number = false, Kept = false;
    const Expr *Moved = nullptr;
    for (unsigned Var : G.Vars) {
      const VarDecl *V = Names.vars()[Var];
      const Stmt *Scope = In.scopeOf(V);
      if (!Before.Held[Var] || !Scope || !In.isWithin(Call, Scope))
        continue;
      Holding.push_back(Var);
      Kept |= Before.Graph[Var];
      Number |= After.Number[Var];
      const size_t Mentions =
          It == MentionedIn.end() ? 0 : llvm::count(It->second, Var);
      if (Mentions == 1 && G.Vars.size() == 1)
        Moved = movedBy(Call, Var);
      InUse |= After.All[Var] || (Mentions && !Moved) ||
               llvm::any_of(Names.loopsOver(Var), [&](const Stmt *Loop) {
                 return In.isWithin(Call, Loop);
               });
    }
    if (Holding.empty() || InUse || Kept)
      continue;
    HeldMemory New;
    New.Heavy = Call;
    New.Names = &G;
    New.OnlyNumber = Number;
    New.Moved = Moved;
    New.RunsModule = Heavies.lookup(Call);
    describe(New, Holding);
    HeldMemory &Old = Found[Leader];
    // The strongest: a loop before a call, all of it before a number.
    auto Rank = [](const HeldMemory &H) {
      return (H.Heavy ? 1 : 0) + (H.RunsModule ? 2 : 0) + (H.Loop ? 4 : 0) +
             (H.OnlyNumber ? 0 : 8);
    };
    if (!Old.Heavy || Rank(New) > Rank(Old))
      Old = std::move(New);
  }
}

void HeldWalk::describe(HeldMemory &Of, ArrayRef<unsigned> Holding) const {
  const SourceManager &SM = F->getASTContext().getSourceManager();
  for (unsigned Var : Holding)
    Of.Vars.push_back(Names.vars()[Var]);
  const unsigned First = Holding.front();
  Of.Value = Names.vars()[First]->getInit();
  for (const MemoryNames::Gift &New : Names.givenTo(First))
    if (New.Value && (!Of.Value || cpp::isEmptyValue(Of.Value) ||
                      cpp::comesBefore(New.Where, Of.Heavy, SM)))
      Of.Value = New.Value;
  bool Earlier = false;
  for (const MemoryNames::Mention &M : Names.mentions()) {
    if (!llvm::is_contained(Holding, M.Var) || M.How == Use::Overwritten)
      continue;
    const bool Before = cpp::comesBefore(M.Ref, Of.Heavy, SM);
    if (Of.OnlyNumber && !Before)
      continue;
    // What stands after the call ran in the round before.
    if (Before || !Earlier)
      Of.LastRead = M.Ref;
    Earlier |= Before;
  }
  Of.OfLastRound = Of.LastRead && !Earlier;
  const Stmt *Scope = In.scopeOf(Of.Vars.front());
  for (const Stmt *Loop = In.loopAround(Of.Heavy);
       Loop && Loop != Scope && In.isWithin(Loop, Scope);
       Loop = In.loopAround(Loop)) {
    if (llvm::any_of(Names.mentions(), [&](const MemoryNames::Mention &M) {
          return llvm::is_contained(Holding, M.Var) && In.isWithin(M.Ref, Loop);
        }))
      break;
    Of.Loop = Loop;
  }
}

std::vector<HeldMemory> HeldWalk::run() {
  if (llvm::none_of(Names.groups(),
                    [&](const auto &G) { return isCandidate(G.second); }) ||
      !(Off.any() || cpp::anyOf<CallExpr>(In.root(), torch::isBackward)))
    return {};
  cpp::forEach<CallExpr>(
      In.root(),
      [&](const CallExpr *Call) {
        if (isHeavy(Call))
          Heavies[Call] = true;
        else if (const torch::OpFacts *Facts = torch::opFacts(Call);
                 Facts && Facts->Heavy)
          Heavies[Call] = false;
      },
      cpp::Lambdas::Made);
  if (Heavies.empty())
    return {};
  Graph = cpp::buildGraph(F, cpp::Grain::Everything);
  if (!Graph)
    return {};
  collectEvents();
  solve();
  for (const CFGBlock *Block : *Graph) {
    // The states after each element, from its end on, and before it.
    Live After = Exits[Block->getBlockID()];
    std::vector<Live> Then(Block->size());
    for (unsigned I = Block->size(); I-- > 0;) {
      Then[I] = After;
      if (auto S = (*Block)[I].getAs<CFGStmt>())
        backward(S->getStmt(), After);
    }
    State Before = Entries[Block->getBlockID()];
    for (unsigned I = 0; I < Block->size(); ++I) {
      if (auto S = (*Block)[I].getAs<CFGStmt>();
          S && Heavies.count(S->getStmt()))
        lookAt(cast<CallExpr>(S->getStmt()), Before, Then[I]);
      forward((*Block)[I], Before);
    }
  }
  std::vector<HeldMemory> All;
  for (auto &[Leader, Held] : Found)
    if (Held.Heavy)
      All.push_back(std::move(Held));
  llvm::sort(All, [](const HeldMemory &A, const HeldMemory &B) {
    return A.Vars.front()->getLocation() < B.Vars.front()->getLocation();
  });
  return All;
}

} // namespace

std::vector<HeldMemory> heldThoughDead(const FunctionDecl *F,
                                       flow::UnitModel &Unit,
                                       MemoryNamesOf &Known, bool WithHolders) {
  return HeldWalk(F, Unit, Known, WithHolders).run();
}

const Stmt *lastUseBefore(const HeldMemory &Held, const FunctionDecl *F) {
  const VarDecl *V = Held.Vars.front();
  const cpp::Body &In = cpp::Body::of(F);
  const Stmt *Declared = In.declarationOf(V);
  const auto *Block =
      Declared ? dyn_cast_or_null<CompoundStmt>(In.parentOf(Declared))
               : nullptr;
  if (!Block)
    return nullptr;
  const Stmt *Last = nullptr;
  bool IsPast = false; // The heavy point.
  for (const Stmt *S : Block->body()) {
    const bool Mentions =
        S == Declared || cpp::anyOf<DeclRefExpr>(S, [&](const DeclRefExpr *R) {
          return cpp::wholeOf(R->getDecl()) == V;
        });
    IsPast |= In.isWithin(Held.Heavy, S);
    if (Mentions && IsPast)
      return nullptr;
    if (Mentions)
      Last = S;
  }
  return IsPast ? Last : nullptr;
}

} // namespace libtorch_tidy
