//===- Arbiter.cpp - Who reports a missing guard --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/guards/Arbiter.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Compat.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/ProgramNames.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Text.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UnitContext.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/GradGuards.h"
#include "analysis/torch/modules/Kept.h"
#include "analysis/torch/modules/Modules.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/MapVector.h"
#include <utility>

using namespace clang;

namespace libtorch_tidy {

using flow::FunctionFlow;
using flow::GradMode;
using flow::Label;

Arbiter &Arbiter::of(ASTContext &Context) {
  return cpp::ofUnit<Arbiter>(Context);
}

bool Arbiter::isClosed(const flow::UnitModel &Unit) {
  return Unit.program() && Unit.program()->Closed;
}

namespace {

/// How much a function reads of the tensor, or of the elements of the tuple,
/// that an expression makes, and of what is computed of it.
enum class Reads { Nothing, Shape, Data };

class ReadsOf {
public:
  /// \p Depth: how far the functions that are given the tensor are followed.
  explicit ReadsOf(cpp::Body &In, unsigned Depth = 2) : In(In), Depth(Depth) {}

  Reads of(const Expr *E) {
    const Stmt *User = In.userOf(E);
    if (const auto *Member = dyn_cast_or_null<MemberExpr>(User))
      User = In.parentOf(Member);
    if (const auto *Call = dyn_cast_or_null<CallExpr>(User))
      return throughCall(Call, E);
    if (const VarDecl *Var = cpp::declaredBy(User))
      return Var->isImplicit() ? Reads::Data // What a loop runs over.
                               : of(Var);
    return isa_and_nonnull<CompoundStmt>(User) ? Reads::Nothing : Reads::Data;
  }

private:
  /// What a function of the user reads of \p E, which \p C hands to it.
  Reads inFunction(const cpp::Call &C, const FunctionDecl *F, const Expr *E) {
    for (unsigned I = 0; Depth && I < C.Args.size() && I < F->getNumParams();
         ++I)
      if (In.isWithin(E, C.Args[I]))
        return ReadsOf(cpp::Body::of(F), Depth - 1).of(F->getParamDecl(I));
    return Reads::Data;
  }

  Reads throughCall(const CallExpr *Call, const Expr *E) {
    if (cpp::isAssignment(Call)) { // A variable is given it, or replaced.
      const VarDecl *Var = cpp::variableOf(Call->getArg(0));
      return Var && Var->isLocalVarDecl() && !Var->isStaticLocal() &&
                     !Var->getType()->isReferenceType() &&
                     isa_and_nonnull<CompoundStmt>(In.userOf(Call))
                 ? of(Var, Call)
                 : Reads::Data;
    }
    if (const FunctionDecl *F = cpp::userDefinition(Call->getDirectCallee()))
      return inFunction(cpp::Call(Call), F, E);
    const torch::OpFacts *Facts = torch::opFacts(Call->getDirectCallee());
    if (Facts && Facts->Metadata)
      return Reads::Shape;
    // output.cpu().sizes(); what item() gives may be dropped.
    const bool ReadsOn = Facts && !Facts->InPlace;
    return ReadsOn || cpp::isStdCall(Call, cpp::Std::Part | cpp::Std::Target) ||
                   torch::readsTensor(Call)
               ? of(Call)
               : Reads::Data;
  }

  /// What all that name \p Var, or a part of it, read; with \p Given, what they
  /// read of what that assigns: not those before it, as in `x = net(x)`.
  Reads of(const VarDecl *Var, const CallExpr *Given = nullptr) {
    const SourceManager &SM = In.context().getSourceManager();
    if (Given && In.loopAround(Given))
      Given = nullptr;
    if (auto [It, New] = Asked.try_emplace(Var, Given); !New) {
      const CallExpr *Before = It->second;
      if (!Before || (Given && !cpp::comesBefore(Given, Before, SM)))
        return Reads::Nothing; // That has been told.
      It->second = Given;
    }
    Reads Most = Reads::Nothing;
    for (const DeclRefExpr *Ref : In.mentionsOf(Var))
      if (!Given ||
          (!In.isWithin(Ref, Given) && !cpp::comesBefore(Ref, Given, SM)))
        Most = std::max(Most, of(Ref));
    return Most;
  }

  cpp::Body &In;
  const unsigned Depth;
  /// The variables that were looked at, from which assignment on: null for all.
  llvm::DenseMap<const VarDecl *, const CallExpr *> Asked;
};

/// Are all tensors that \p E is made of made in it, or where a variable of it
/// is declared: torch::zeros({1, 3, 8, 8})?
bool hasNoData(const Expr *E, cpp::Body &In, unsigned Depth = 3) {
  return !cpp::anyOf<Expr>(E, [&](const Expr *Part) {
    if (!isa<DeclRefExpr, MemberExpr>(Part) ||
        !torch::mayHoldTensor(Part->getType()))
      return false;
    const Expr *Origin = In.originOf(Part);
    return Origin == Part || isa<DeclRefExpr, MemberExpr>(Origin) || !Depth ||
           !hasNoData(Origin, In, Depth - 1);
  });
}

} // namespace

/// Why the forward passes \p Passes only show whether they work, once: in a
/// test case, or in a function or pass that is given no data, nothing but
/// shapes of the result is read; or nothing at all, in a warm-up or a
/// measurement. In a step of training that is a slip. Null where one does more.
static const Reason *trialOf(llvm::ArrayRef<const Label *> Passes,
                             const FunctionFlow &Flow) {
  const FunctionDecl *F = Flow.function();
  if (cpp::isTestCase(F))
    return &InferenceWithoutNoGrad.TestCase;
  cpp::Body &In = cpp::Body::of(F);
  const bool NeverHasData =
      F->isMain() || (F->param_empty() && !isa<CXXMethodDecl>(F));
  auto HasNoData = [&](const Label &L) {
    const auto *Pass = dyn_cast<CallExpr>(L.Site);
    return NeverHasData ||
           (L.K == Label::Forward && Pass &&
            llvm::all_of(cpp::writtenArguments(Pass),
                         [&](const Expr *Arg) { return hasNoData(Arg, In); }));
  };
  Reads Most = Reads::Nothing;
  ReadsOf WithData(In), WithoutData(In);
  for (const Label *L : Passes) {
    const bool IsTrial =
        HasNoData(*L)
            ? (Most = std::max(Most, WithoutData.of(L->Site))) != Reads::Data
            : !Flow.trains() && WithData.of(L->Site) == Reads::Nothing;
    if (!IsTrial)
      return nullptr;
  }
  return Most == Reads::Nothing && !Flow.trains()
             ? &InferenceWithoutNoGrad.Unread
             : &InferenceWithoutNoGrad.OnlyShape;
}

/// Does \p L stand for a call that runs a module of which this function gets
/// a tensor?
static bool handsTensorOut(const Label &L) {
  const auto *Call = dyn_cast<CallExpr>(L.Site);
  if (L.K != Label::Helper || !Call || torch::mayHoldTensor(Call->getType()) ||
      cpp::isStdCall(Call, cpp::Std::Run)) // To what it puts it into.
    return true;
  // void predict(const Tensor &x, Tensor &out). What an object keeps for
  // itself is a matter of its class.
  const FunctionDecl *Callee = Call->getDirectCallee();
  return Callee &&
         llvm::any_of(Callee->parameters(), [](const ParmVarDecl *Param) {
           QualType To = Param->getType()->getPointeeType();
           return !To.isNull() && !To.isConstQualified() &&
                  torch::mayHoldTensor(To) && !torch::isModule(To);
         });
}

/// May \p F be called from code that this unit does not show?
static bool isEntryPoint(const FunctionDecl *F) {
  return F->isExternallyVisible() && F->getAccess() != AS_private;
}

/// The eval() before \p Forward of \p Module that a train() after it takes
/// back: what runs between them is not for training.
static const CallExpr *evalAround(const Expr *Forward, const ValueDecl *Module,
                                  cpp::Body &In) {
  const SourceManager &SM = In.context().getSourceManager();
  const CallExpr *Eval = nullptr;
  bool IsTakenBack = false;
  cpp::forEachCall(In.root(), [&](const CallExpr *Call) {
    if (!torch::isModuleEval(Call) && !torch::isModuleTrain(Call))
      return;
    if (!llvm::is_contained(torch::modulesNamed(cpp::receiverOf(Call), In),
                            Module))
      return;
    if (torch::isModuleEval(Call) && cpp::comesBefore(Call, Forward, SM))
      Eval = Call;
    IsTakenBack |=
        torch::isModuleTrain(Call) && cpp::comesBefore(Forward, Call, SM);
  });
  return IsTakenBack ? Eval : nullptr;
}

/// Is \p F the forward() or an operator of its class?
static bool isForward(const FunctionDecl *F) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  return Method &&
         (Method->isOverloadedOperator() || cpp::nameOf(Method) == "forward");
}

/// Does a constructor leave what it is given in \p Field?
static bool isGivenToConstructor(const FieldDecl *Field) {
  const auto *Class = dyn_cast<CXXRecordDecl>(Field->getParent());
  return Class &&
         llvm::any_of(Class->ctors(), [&](const CXXConstructorDecl *Ctor) {
           return llvm::any_of(torch::storedArguments(Ctor),
                               [&](const auto &S) { return S.Field == Field; });
         });
}

/// The C++ module that \p L runs, if it comes from callers that this unit does
/// not show; null otherwise. They may have a guard, as a loop that evaluates
/// has; around a step of training nobody has one.
static const ValueDecl *lentByOthers(const Label &L, const FunctionFlow &Flow,
                                     flow::UnitModel &Unit) {
  const FunctionDecl *F = Flow.function();
  const std::optional<torch::ModuleCall> M =
      L.K == Label::Forward ? torch::asModuleCall(L.Site) : std::nullopt;
  if (!M || !M->Module || M->Script || Unit.program() || Flow.trains() ||
      F->isMain() || !isEntryPoint(F) || !Unit.callersOf(F).empty())
    return nullptr;
  const auto Names = torch::modulesNamed(M->Module, cpp::Body::of(F));
  if (Names.empty() || llvm::any_of(Names, [&](const ValueDecl *Name) {
        return Unit.scan().calls().Evals.count(Name);
      }))
    return nullptr;
  const ValueDecl *Module = Names.back();
  const QualType T = Module->getType().getNonReferenceType();
  if (!torch::isModule(T) &&
      !cpp::anyTypeArgument(cpp::recordOf(T), torch::isModule))
    return nullptr;
  const auto *Field = dyn_cast<FieldDecl>(Module);
  const bool IsLent =
      Field ? isGivenToConstructor(Field)
            : isa<ParmVarDecl>(Module) && Module->getDeclContext() == F;
  return IsLent ? Module : nullptr;
}

/// Does \p F make of its class what a module is: a tensor goes into its
/// forward(), and a tensor comes out?
static bool standsForModule(const FunctionDecl *F) {
  return isForward(F) && torch::mayHoldTensor(F->getReturnType()) &&
         llvm::any_of(F->parameters(), [](const ParmVarDecl *Param) {
           return torch::mayHoldTensor(Param->getType().getNonReferenceType());
         });
}

/// The evidence for forward pass \p L, whose result goes where this unit does
/// not show what becomes of it. Callers come first where all of them are shown.
std::optional<Arbiter::Evidence> Arbiter::evidenceOf(const Label &L,
                                                     const FunctionFlow &Flow) {
  const FunctionDecl *F = Flow.function();
  const std::optional<torch::ModuleCall> M =
      L.K == Label::Forward && !(L.Consumers & Label::Backward)
          ? torch::asModuleCall(L.Site)
          : std::nullopt;
  if (!M || Flow.trains() ||
      (!isEntryPoint(F) &&
       flow::anyCallOf(F, *Unit,
                       [&](const Label &L, const FunctionFlow &Caller) {
                         return L.bringsGraph() && !silenceOf(L, Caller);
                       })))
    return std::nullopt;
  const bool Trains = Unit->trains();
  const flow::UnitCalls &Calls = Unit->scan().calls();
  if (Trains && flow::anyCallerTrains(F, *Unit))
    return std::nullopt;
  auto Found = [&](const Reason &Row, std::optional<Step> Shown) {
    Evidence E{{{&Row, "", Shown ? Shown->Loc : SourceLocation()}}, Shown};
    // Whoever runs a module decides on gradient mode, and so for a class that
    // is used like one. Its callers are in other files.
    if (!isClosed(*Unit) && standsForModule(F) &&
        llvm::all_of(Unit->callersOf(F), [](const auto &C) {
          return standsForModule(C.Caller->function());
        }))
      E.Why.push_back({&InferenceWithoutNoGrad.StandIn});
    return E;
  };
  cpp::Body &In = cpp::Body::of(F);
  if (M->Module)
    for (const ValueDecl *Module : torch::modulesNamed(M->Module, In)) {
      if (const CallExpr *Eval = Trains ? evalAround(L.Site, Module, In)
                                        : Calls.Evals.lookup(Module))
        return Found(InferenceWithoutNoGrad.Eval,
                     Step{Eval->getExprLoc(),
                          quoted(Module) + " is put in evaluation mode here, "
                                           "which leaves gradients on"});
      const std::string Elsewhere =
          Trains ? "" : flow::fieldElsewhere(Module).EvalAt;
      if (!Elsewhere.empty())
        return Found(InferenceWithoutNoGrad.Eval,
                     Step{Module->getLocation(),
                          quoted(Module) + " is put in evaluation mode at " +
                              Elsewhere + ", which leaves gradients on"});
    }
  if (isClosed(*Unit) && !Trains)
    return Found(InferenceWithoutNoGrad.NothingTrains,
                 Step{L.Site->getExprLoc(),
                      "nothing in this program back-propagates, makes an "
                      "optimizer or trains a module"});
  if (!M->Script || Trains)
    return std::nullopt;
  if (const CallExpr *Load = Calls.ScriptLoad)
    return Found(InferenceWithoutNoGrad.ScriptLoaded,
                 Step{Load->getExprLoc(),
                      "a TorchScript module is loaded here, and nothing in "
                      "this " +
                          std::string(Unit->program() ? "program" : "file") +
                          " trains one"});
  return Found(InferenceWithoutNoGrad.ScriptGiven, std::nullopt);
}

const Reason *Arbiter::silenceOf(const Label &L, const FunctionFlow &Flow) {
  if (L.Mode != GradMode::On)
    return &InferenceWithoutNoGrad.Guarded;
  if (!handsTensorOut(L) || isReportedInside(L, Flow))
    return &InferenceWithoutNoGrad.Inside;
  // Kept for code that this unit does not show.
  if ((Unit->consumersOf(L, Flow) & ~Label::Computed) &&
      (Unit->consumersHere(L, Flow) & ~Label::Computed) &&
      !evidenceOf(L, Flow) && !untrained(L, Flow))
    return &InferenceWithoutNoGrad.Used;
  return cpp::isExpectedToThrow(L.Site, Unit->context())
             ? &InferenceWithoutNoGrad.Throws
             : nullptr;
}

/// The class of \p F, when it is a method of a module.
static const CXXMethodDecl *asLayerMethod(const FunctionDecl *F) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  return Method && torch::isModule(compat::recordType(Method->getParent()))
             ? Method
             : nullptr;
}

const Reason *Arbiter::leftToCallers(const FunctionFlow &Flow,
                                     flow::UnitModel &Unit) {
  if (const CXXMethodDecl *Method = asLayerMethod(Flow.function())) {
    // A layer leaves the choice to whoever runs it.
    if (isForward(Method))
      return &InferenceWithoutNoGrad.Forward;
    // So does a method that hands history on.
    if (llvm::any_of(Flow.labels(), [&](const Label &L) {
          return L.bringsGraph() &&
                 (Unit.consumersOf(L, Flow) & Label::Returned);
        }))
      return &InferenceWithoutNoGrad.HandedOn;
  }
  return nullptr;
}

/// For a run that asks why: the calls of modules that a guard covers.
static void tellGuarded(const FunctionFlow &Flow) {
  const cpp::Body &In = cpp::Body::of(Flow.function());
  // Another guard may switch gradients on again.
  auto HasHistory = [&](const CallExpr *Call) {
    return llvm::any_of(Flow.labels(), [&](const Label &L) {
      return L.Site == Call && L.bringsGraph();
    });
  };
  auto Tell = [&](const VarDecl *Guard) {
    if (torch::guardOf(Guard) != GradMode::Off)
      return;
    cpp::forEach<CallExpr>(In.scopeOf(Guard), [&](const CallExpr *Call) {
      if (torch::asModuleCall(Call) && !HasHistory(Call) &&
          In.context().getSourceManager().isBeforeInTranslationUnit(
              Guard->getLocation(), Call->getExprLoc()))
        silent(Call, InferenceWithoutNoGrad.Guarded, Guard);
    });
  };
  cpp::forEach<VarDecl>(In.root(), Tell, cpp::Lambdas::Skipped);
}

/// The method that runs at \p L, when it cannot be seen and need not be the
/// forward() of its class: those that sample and render have guards of their
/// own. Null for others.
static const FunctionDecl *unseenMethodOf(const Label &L) {
  const std::optional<torch::ModuleCall> M =
      L.K == Label::Forward ? torch::asModuleCall(L.Site) : std::nullopt;
  return M && M->Method && !M->Body && !isForward(M->Method) ? M->Method
                                                             : nullptr;
}

/// Names the function that cannot be seen and takes what \p L gives.
static Because unseenCalleeOf(const Label &L, const FunctionFlow &Flow) {
  Because Why = {&InferenceWithoutNoGrad.UnseenCallee};
  if (!asksWhy())
    return Why;
  const cpp::Body &In = cpp::Body::of(Flow.function());
  const VarDecl *Var = cpp::declaredBy(In.userOf(L.Site));
  for (const flow::CallSite &Site : Flow.unseenCalls())
    if (Site.Callee &&
        (In.isWithin(L.Site, Site.Call) ||
         (Var && cpp::anyOf<DeclRefExpr>(Site.Call, [&](const DeclRefExpr *R) {
            return R->getDecl() == Var;
          }))))
      return {Why.Row, quoted(Site.Callee), Site.Callee->getLocation()};
  return Why;
}

/// Why a finding of \p L, in a function that \p MayTrain, is weaker than
/// others. Absent when it is not.
static std::optional<Because> weaknessOf(const Label &L,
                                         const FunctionFlow &Flow,
                                         flow::UnitModel &Unit, bool MayTrain,
                                         bool IsPrediction) {
  if (MayTrain)
    return Because{&InferenceWithoutNoGrad.Layer};
  if (const FunctionDecl *Method = unseenMethodOf(L))
    return Because{&InferenceWithoutNoGrad.UnseenMethod, quoted(Method),
                   Method->getLocation()};
  const unsigned Consumers = Unit.consumersOf(L, Flow);
  if (Consumers && !IsPrediction)
    return Consumers & ~Label::Computed
               ? Because{&InferenceWithoutNoGrad.KeptByCaller}
               : unseenCalleeOf(L, Flow);
  const ValueDecl *Module = lentByOthers(L, Flow, Unit);
  if (!Module)
    return std::nullopt;
  return Because{&InferenceWithoutNoGrad.Lent, quoted(Module),
                 Module->getLocation()};
}

/// The statement of the block around \p Site that \p Site is in, if all from
/// there to the end of the block can run under a guard; null otherwise.
static const Stmt *guardableFrom(const Expr *Site, const FunctionFlow &Flow,
                                 flow::UnitModel &Unit) {
  const Stmt *First = Site;
  while (First && !isa_and_nonnull<CompoundStmt>(Flow.parentOf(First)))
    First = Flow.parentOf(First);
  const auto *Block =
      First ? cast<CompoundStmt>(Flow.parentOf(First)) : nullptr;
  // Jumps may not pass its initialisation.
  if (!Block || isa<SwitchCase>(First) || First->getBeginLoc().isMacroID() ||
      isa_and_nonnull<SwitchStmt>(Flow.parentOf(Block)))
    return nullptr;
  // Who switches gradients on wants them.
  const auto Begin = llvm::find(Block->body(), First);
  if (std::any_of(Block->body_begin(), Begin, [](const Stmt *S) {
        return cpp::anyOf<VarDecl>(S, [](const VarDecl *Var) {
          return torch::guardOf(Var) == torch::GradMode::On;
        });
      }))
    return nullptr;
  for (auto It = Begin; It != Block->body_end(); ++It)
    if (flow::needsHistory(*It, Flow, Unit) || Flow.switchedAfter(*It) ||
        cpp::anyOf<LabelStmt>(*It, [](const LabelStmt *) { return true; }))
      return nullptr;
  return First;
}

/// The methods that leave gradient mode off for what is called after them, by
/// callers that cannot be seen.
static std::vector<const CXXMethodDecl *> leavingOff(flow::UnitModel &Unit) {
  std::vector<const CXXMethodDecl *> Result;
  Unit.forEachFlow([&](const FunctionFlow &Flow) {
    const auto *Method = dyn_cast<CXXMethodDecl>(Flow.function());
    if (Method && Flow.leftOffBy() && Flow.exitMode() == GradMode::Off &&
        Flow.runsOff().empty() && Unit.callersOf(Method).empty())
      Result.push_back(Method);
  });
  return Result;
}

const CXXMethodDecl *Arbiter::leavesOffBefore(const FunctionDecl *F) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (!Method)
    return nullptr;
  if (!LeavingOff)
    LeavingOff = leavingOff(*Unit);
  const auto It = llvm::find_if(*LeavingOff, [&](const CXXMethodDecl *By) {
    return By != Method &&
           (By->getParent() == Method->getParent() ||
            Method->getParent()->isDerivedFrom(By->getParent()));
  });
  return It == LeavingOff->end() ? nullptr : *It;
}

void Arbiter::decideOn(const FunctionFlow &Flow) {
  const bool IsLayer = asLayerMethod(Flow.function());
  const Reason *NoneHere = leftToCallers(Flow, *Unit);
  if (NoneHere && !asksWhy())
    return;
  if (asksWhy())
    tellGuarded(Flow);
  llvm::SmallVector<const Label *, 4> Forwards;
  std::optional<Evidence> ToPredict;
  for (const Label &L : Flow.labels()) {
    if (!L.bringsGraph())
      continue;
    const Reason *Why = NoneHere ? NoneHere : silenceOf(L, Flow);
    if (!Why && isToBeGuarded(L.Site, Flow))
      Why = &InferenceWithoutNoGrad.GuardToBe;
    if (Why) {
      silent(L.Site, *Why);
      continue;
    }
    Forwards.push_back(&L);
    if (!ToPredict && (Unit->consumersHere(L, Flow) & ~Label::Computed))
      ToPredict = evidenceOf(L, Flow);
  }
  // A method of a module may be one of a step of training, which is elsewhere.
  const bool MayTrain = IsLayer && (!isClosed(*Unit) || Unit->trains());
  // One report covers all forwards that the same guard would cover.
  llvm::MapVector<std::pair<const Stmt *, unsigned>, Scope> ByBlock;
  for (const Label *L : Forwards) {
    const Reason *NobodyTrains = untrained(*L, Flow);
    // Where nothing trains, nothing needs the history of the whole function.
    const auto *Whole = dyn_cast<CompoundStmt>(Flow.function()->getBody());
    const CompoundStmt *Guardable =
        (ToPredict || (IsLayer && !MayTrain)) && !Flow.switchedAfter(Whole)
            ? Whole
            : flow::guardableBlock(L->Site, Flow, *Unit);
    Scope &S = ByBlock[{Guardable ? Guardable
                                  : cpp::Body::of(Flow.function())
                                        .around<CompoundStmt>(L->Site),
                        NobodyTrains != nullptr}];
    S.Flow = &Flow;
    S.Guardable = Guardable;
    S.ToPredict = ToPredict;
    S.Forwards.push_back(L);
    S.IsKept |= (Unit->consumersOf(*L, Flow) & ~Label::Computed) != 0;
    S.IsUntrained = NobodyTrains != nullptr;
    if (NobodyTrains)
      S.Why = {Because{NobodyTrains}};
    else if (auto Weak =
                 weaknessOf(*L, Flow, *Unit, MayTrain, ToPredict.has_value()))
      S.Why = {*Weak};
    else if (ToPredict)
      S.Why = ToPredict->Why;
  }
  std::vector<Scope> Decided;
  // As the pass runs in the callers' mode, and where the function switches it
  // on.
  std::optional<bool> IsGuarded[2];
  const SourceManager &SM = Unit->context().getSourceManager();
  for (auto &[Block, S] : ByBlock) {
    sortPasses(S.Forwards, SM);
    // A call that switches gradients on in the function has its way.
    const bool OnAnyway = S.Forwards.front()->OnAnyway;
    if (!IsGuarded[OnAnyway])
      IsGuarded[OnAnyway] =
          Unit->isCalledOnlyGuarded(Flow.function(), OnAnyway);
    if (*IsGuarded[OnAnyway]) {
      silent(S.Forwards.front()->Site, InferenceWithoutNoGrad.CallersGuard,
             Flow.function());
      continue;
    }
    if (const FunctionDecl *By =
            OnAnyway ? nullptr : leavesOffBefore(Flow.function())) {
      silent(S.Forwards.front()->Site, InferenceWithoutNoGrad.LeftOff, By);
      continue;
    }
    if ((S.Tries = trialOf(S.Forwards, Flow)))
      S.Why.push_back({S.Tries});
    if (!S.Guardable)
      S.GuardFrom = guardableFrom(S.Forwards.front()->Site, Flow, *Unit);
    Decided.push_back(std::move(S));
  }
  for (Scope &S : joined(std::move(Decided), SM)) {
    for (const Label *L : S.Forwards)
      ScopeOf[L] = Scopes.size();
    Scopes.push_back(std::move(S));
  }
}

} // namespace libtorch_tidy
