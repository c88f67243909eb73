//===- HeldMemory.cpp - Memory that is held though dead -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/history/HeldMemory.h"
#include "analysis/cpp/Compat.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/autograd/GradGuards.h"
#include "analysis/torch/storage/Owners.h"
#include "checks/history/HeldStates.h"
#include "clang/Analysis/CFG.h"
#include "llvm/ADT/BitVector.h"

using namespace clang;

namespace libtorch_tidy {

using flow::FunctionFlow;
using Carried = FunctionFlow::Carried;
using flow::Label;

namespace {

using Use = MemoryNames::Use;

/// A function with more variables times values is not looked at.
constexpr size_t MostBits = 1 << 16;

/// The least history in \p F that a graph is recorded for; nullopt where its
/// callers have switched gradient mode off, and none is. Where nothing trains,
/// what a function that is not of a module gets has no history.
std::optional<Carried> leastOfGraphs(const FunctionDecl *F,
                                     const FunctionFlow &Flow,
                                     flow::UnitModel &Unit) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  const bool IsOff =
      Unit.isCalledOnlyGuarded(F) ||
      (Method && torch::guardOf(Method->getParent()) == torch::GradMode::Off);
  if (IsOff &&
      llvm::none_of(Flow.labels(), [](const Label &L) { return L.OnAnyway; }))
    return std::nullopt;
  return Unit.trains() ||
                 (Method &&
                  torch::isModule(compat::recordType(Method->getParent())))
             ? Carried::Entry
             : Carried::Seen;
}

class HeldWalk {
public:
  HeldWalk(const FunctionDecl *F, flow::UnitModel &Unit, MemoryNamesOf &Known,
           bool WithHolders)
      : F(F), Unit(Unit), Names(MemoryNames::of(F, Unit, Known)),
        In(cpp::Body::of(F)), Flow(Unit.flowOf(F)),
        Least(Flow ? leastOfGraphs(F, *Flow, Unit) : std::nullopt),
        WithHolders(WithHolders) {}

  std::vector<HeldMemory> run();

private:
  using State = HeldState;
  using Live = LiveVariables;
  /// What an element does to a variable.
  struct Event {
    unsigned Var;
    enum { Replace, Give, Drop, Read, Number, Keep, KeepPart, KeepInLoop } What;
    const MemoryNames::Gift *New = nullptr;
    bool Recorded = false; ///< A graph may hold what is read.
  };

  void collectThings();
  bool holds(const State &At, unsigned Var, unsigned Thing) const {
    return At.Held[Var * Things.size() + Thing];
  }
  void letGo(State &Of, unsigned Var) const {
    Of.Held.reset(Var * Things.size(), (Var + 1) * Things.size());
  }
  /// All that \p Var holds.
  template <typename Function>
  void forThings(const State &At, unsigned Var, Function Visit) const {
    for (unsigned I = 0; I < Things.size(); ++I)
      if (holds(At, Var, I))
        Visit(I);
  }
  void give(const MemoryNames::Gift &New, unsigned Var, State &To) const;
  bool isRecordedBy(const Expr *E) const;
  bool mayBeRecorded(const Expr *Read) const;
  bool isHeavy(const CallExpr *Call);
  bool isRepeated(const MemoryNames::Mention &M) const;
  void collectEvents();
  void forward(const CFGElement &Element, State &To) const;
  void backward(const Stmt *S, Live &To) const;
  void solve();
  void lookAt(const CallExpr *Call, const State &Before, const Live &After);
  void lookAt(const CallExpr *Call, unsigned Thing, const State &Before,
              const Live &After);
  bool isInUse(const CallExpr *Call, unsigned Var, const Live &After) const;
  const Expr *movedBy(const CallExpr *Call, unsigned Var) const;
  void describe(HeldMemory &Found, ArrayRef<unsigned> Holding) const;
  const Stmt *topOf(const Stmt *S) const;

  const FunctionDecl *F;
  flow::UnitModel &Unit;
  const MemoryNames &Names;
  cpp::Body &In;
  const FunctionFlow *Flow;
  const std::optional<Carried> Least; ///< See leastOfGraphs().
  const bool WithHolders;
  /// What makes memory; the number of a thing is its bit.
  std::vector<const MemoryNames::Gift *> Things;
  llvm::DenseMap<const MemoryNames::Gift *, unsigned> ThingOf;
  std::unique_ptr<CFG> Graph;
  llvm::DenseMap<const Stmt *, llvm::SmallVector<Event, 1>> Events;
  llvm::DenseMap<const Stmt *, bool> Heavies; ///< Does it run a module?
  /// The variables that a full expression mentions without overwriting them.
  llvm::DenseMap<const Stmt *, llvm::SmallVector<unsigned, 4>> MentionedIn;
  std::vector<State> Entries;
  std::vector<Live> Exits;
  llvm::MapVector<unsigned, HeldMemory> Found; ///< By the first variable.
};

const Stmt *HeldWalk::topOf(const Stmt *S) const {
  for (const Stmt *Outer = In.parentOf(S); isa_and_nonnull<Expr>(Outer);
       Outer = In.parentOf(S))
    S = Outer;
  return S;
}

void HeldWalk::collectThings() {
  auto Add = [&](const MemoryNames::Gift &New) {
    if (New.Fresh < Amount::Filled)
      return;
    ThingOf[&New] = Things.size();
    Things.push_back(&New);
  };
  for (unsigned Var = 0; Var < Names.vars().size(); ++Var) {
    Add(Names.startOf(Var));
    llvm::for_each(Names.givenTo(Var), Add);
  }
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

/// May a graph that outlives \p E hold what it reads?
bool HeldWalk::isRecordedBy(const Expr *E) const {
  if (Flow->recordedBy(E) >= *Least)
    return true;
  const auto *Call = dyn_cast<CallExpr>(E);
  const std::optional<torch::ModuleCall> M = torch::asModuleCall(Call);
  const FunctionDecl *Callee =
      cpp::userDefinition(M && M->Body ? M->Body
                          : Call       ? Call->getDirectCallee()
                                       : nullptr);
  const FunctionFlow *There = Callee ? Unit.flowOf(Callee) : nullptr;
  return There && llvm::any_of(There->labels(), [](const Label &L) {
           return L.bringsHistory() && L.Mode != torch::GradMode::Off &&
                  (L.Consumers & (Label::Stored | Label::Escaped));
         });
}

/// May a graph hold what \p Read, a mention of a variable, reads?
bool HeldWalk::mayBeRecorded(const Expr *Read) const {
  for (const Stmt *S = Read; isa_and_nonnull<Expr>(S); S = In.parentOf(S))
    if (isa<CallExpr, LambdaExpr>(S) && isRecordedBy(cast<Expr>(S)))
      return true;
  return false;
}

/// Does \p M, in a loop, name what is declared before the loop, or a part of
/// it?
bool HeldWalk::isRepeated(const MemoryNames::Mention &M) const {
  const Stmt *Loop = In.loopAround(M.Ref);
  return Loop && llvm::any_of(Names.groupOf(M.Var).Vars, [&](unsigned Var) {
           const Stmt *Scope = In.scopeOf(Names.vars()[Var]);
           return !Scope || !In.isWithin(Scope, Loop);
         });
}

void HeldWalk::collectEvents() {
  for (unsigned Var = 0; Var < Names.vars().size(); ++Var) {
    for (const MemoryNames::Gift &New : Names.givenTo(Var))
      Events[New.Where].push_back(
          {Var, New.Whole ? Event::Replace : Event::Give, &New});
    for (const Expr *Where : Names.dropsOf(Var))
      Events[Where].push_back({Var, Event::Drop});
  }
  for (const MemoryNames::Mention &M : Names.mentions()) {
    if (M.How == Use::Overwritten)
      continue;
    Events[M.Ref].push_back({M.Var,
                             M.How == Use::Number ? Event::Number : Event::Read,
                             nullptr, Least && mayBeRecorded(M.Ref)});
    if (M.Stores != MemoryNames::Mention::Kept::Nothing)
      Events[M.Ref].push_back(
          {M.Var, isRepeated(M) ? Event::KeepInLoop
                  : M.Stores == MemoryNames::Mention::Kept::All
                      ? Event::Keep
                      : Event::KeepPart});
    MentionedIn[topOf(M.Ref)].push_back(M.Var);
  }
}

/// \p Var gets what \p New gives it.
void HeldWalk::give(const MemoryNames::Gift &New, unsigned Var,
                    State &To) const {
  llvm::SmallVector<unsigned, 4> Gets;
  for (unsigned From : New.From)
    forThings(To, From, [&](unsigned I) { Gets.push_back(I); });
  const bool IsSmall =
      !New.Sizes.empty() && llvm::all_of(New.Sizes, [&](unsigned From) {
        bool HoldsAny = false;
        forThings(To, From, [&](unsigned) { HoldsAny = true; });
        return !HoldsAny;
      });
  if (New.Whole)
    letGo(To, Var);
  if (auto It = ThingOf.find(&New); It != ThingOf.end() && !IsSmall) {
    const unsigned I = It->second;
    // That of the last round is gone, unless another variable holds it.
    bool IsHeld = false;
    for (unsigned Other = 0; Other < Names.vars().size(); ++Other)
      IsHeld |= holds(To, Other, I);
    To.make(I, /*IsNew=*/!IsHeld);
    if (Least && (!New.Value || Flow->recordedBy(New.Value) >= *Least))
      To.Graph.set(I);
    Gets.push_back(I);
  }
  for (unsigned I : Gets)
    To.Held.set(Var * Things.size() + I);
}

void HeldWalk::forward(const CFGElement &Element, State &To) const {
  if (auto End = Element.getAs<CFGLifetimeEnds>())
    if (auto Var = Names.indexOf(End->getVarDecl());
        Var && Names.vars()[*Var] == End->getVarDecl()) // Not a reference.
      letGo(To, *Var);
  auto Any = Element.getAs<CFGStmt>();
  if (!Any)
    return;
  const Stmt *S = Any->getStmt();
  if (const auto *Declaration = dyn_cast<DeclStmt>(S))
    for (const Decl *D : Declaration->decls())
      if (const auto *Var = dyn_cast<VarDecl>(D))
        if (auto I = Names.indexOf(Var); I && Names.vars()[*I] == Var)
          // S may be the graph's own, of one variable of several.
          give(Names.startOf(*I), *I, To);
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
    case Event::Give:
      give(*E.New, E.Var, To);
      break;
    case Event::Drop:
      letGo(To, E.Var);
      break;
    case Event::Read:
      if (E.Recorded)
        forThings(To, E.Var, [&](unsigned I) { To.Graph.set(I); });
      break;
    case Event::KeepPart:
      forThings(To, E.Var, [&](unsigned I) {
        Things[I]->OneFresh ? To.store(I, /*InLoop=*/false) : To.storePart(I);
      });
      break;
    case Event::Keep:
    case Event::KeepInLoop:
      forThings(To, E.Var,
                [&](unsigned I) { To.store(I, E.What == Event::KeepInLoop); });
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
    case Event::KeepPart:
    case Event::Keep:
    case Event::KeepInLoop:
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
  const unsigned M = Things.size();
  Entries.assign(Blocks, State(N, M));
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

/// Does \p Call, or what comes after it, use what \p Var holds?
bool HeldWalk::isInUse(const CallExpr *Call, unsigned Var,
                       const Live &After) const {
  return After.All[Var] ||
         llvm::any_of(Names.loopsOver(Var), [&](const Stmt *Loop) {
           return In.isWithin(Call, Loop);
         });
}

void HeldWalk::lookAt(const CallExpr *Call, unsigned Thing, const State &Before,
                      const Live &After) {
  auto It = MentionedIn.find(topOf(Call));
  llvm::SmallVector<unsigned, 2> Holding;
  HeldMemory New;
  if (Before.isStored(Thing))
    New.Else = MemoryNames::Holder::Other;
  else
    New.SomePaths = Before.Stored[Thing];
  New.OfPart = Before.PartStored[Thing];
  for (unsigned Var = 0; Var < Names.vars().size(); ++Var) {
    if (!holds(Before, Var, Thing))
      continue;
    const VarDecl *V = Names.vars()[Var];
    const Stmt *Scope = In.scopeOf(V);
    if (V->getType()->isReferenceType())
      return; // The caller has it, too.
    if (!isa<ParmVarDecl>(V) && (!Scope || !In.isWithin(Call, Scope)))
      continue;
    Holding.push_back(Var);
    New.Else = std::max(New.Else, Names.sharerOf(Var));
    New.OnlyNumber |= After.Number[Var];
    New.Unseen |= Names.groupOf(Var).Unseen;
    if (isInUse(Call, Var, After))
      return;
  }
  for (unsigned Var : Holding) {
    const size_t Mentions =
        It == MentionedIn.end() ? 0 : llvm::count(It->second, Var);
    if (Mentions == 1 && Holding.size() == 1)
      New.Moved = movedBy(Call, Var);
    if (Mentions && !New.Moved)
      return;
    forThings(Before, Var, [&](unsigned I) {
      New.Size = std::max(New.Size, Things[I]->Fresh);
    });
  }
  if (Holding.empty() ||
      (New.Else != MemoryNames::Holder::None && !WithHolders))
    return;
  New.Heavy = Call;
  New.RunsModule = Heavies.lookup(Call);
  describe(New, Holding);
  HeldMemory &Old = Found[Holding.front()];
  // The strongest: a loop before a call, all of it before a number.
  auto Rank = [](const HeldMemory &H) {
    return (H.Heavy ? 1 : 0) + (H.RunsModule ? 2 : 0) + (H.Loop ? 4 : 0) +
           (H.OnlyNumber ? 0 : 8) + (H.SomePaths || H.OfPart ? 0 : 16) +
           (H.Else == MemoryNames::Holder::None ? 32 : 0);
  };
  if (!Old.Heavy || Rank(New) > Rank(Old))
    Old = std::move(New);
}

void HeldWalk::lookAt(const CallExpr *Call, const State &Before,
                      const Live &After) {
  for (unsigned I = 0; I < Things.size(); ++I)
    if (!Before.Graph[I])
      lookAt(Call, I, Before, After);
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
    if (M.Var == First)
      Of.Reads.push_back(M.Ref);
    if (M.Stores != MemoryNames::Mention::Kept::Nothing && !Of.KeptBy &&
        (Of.SomePaths || Of.OfPart))
      Of.KeptBy = M.Ref;
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
  collectThings();
  if (Things.empty() || Things.size() * Names.vars().size() > MostBits || !Flow)
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
  for (auto &[First, Held] : Found)
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
        S == Declared ||
        llvm::any_of(Held.Reads,
                     [&](const Expr *Read) { return In.isWithin(Read, S); }) ||
        cpp::anyOf<DeclRefExpr>(S, [&](const DeclRefExpr *R) {
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
