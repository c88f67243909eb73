//===- Calls.cpp - What calls mean for history ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of what the domain understands of calls, and the handlers of what
// trains, of modules and of functions that no library declares. Calls of
// functions with a flow are put in terms of the caller in CallHandlers.cpp.
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Callables.h"
#include "analysis/cpp/Compat.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/flow/history/Interpreter.h"
#include "analysis/flow/unit/UnitModel.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/Effects.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/autograd/Hooks.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy::flow {

using cpp::anyCall;
using cpp::Std;
using cpp::Whose;

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

static bool isTensorObject(const cpp::Call &C) {
  return C.Object && torch::isTensor(C.Object->getType());
}

/// `a = b`, which lets \p a name another value. Assignment to a tensor may
/// write into it instead.
static bool isRebinding(const cpp::Call &C) {
  return cpp::isAssignment(C.expr()) &&
         !torch::isTensor(C.expr()->getArg(0)->getType());
}

static bool isOperator(const cpp::Call &C) { return C.op() != OO_None; }

static bool isComparison(const cpp::Call &C) {
  return cast<CXXOperatorCallExpr>(C.E)->isComparisonOp();
}

static bool changesTensor(const cpp::Call &C) {
  switch (C.op()) {
  case OO_PlusEqual:
  case OO_MinusEqual:
  case OO_StarEqual:
  case OO_SlashEqual:
    return C.expr()->getNumArgs() == 2 &&
           torch::isTensor(C.expr()->getArg(0)->getType());
  default:
    return false;
  }
}

static bool isAccess(const cpp::Call &C) {
  return C.op() == OO_Arrow || C.op() == OO_Star || C.op() == OO_Subscript;
}

static bool isMethod(const cpp::Call &C) { return C.Object; }

static bool dropsHistory(const cpp::Call &C) {
  return torch::dropsHistory(C.expr()) || torch::isIntegralCast(C.expr());
}

/// Those of register_parameter() and parameters() that hasNoHistory() leaves.
static bool makesLeaf(const cpp::Call &C) {
  return torch::registersParameter(C.expr()) ||
         torch::isParametersCall(C.expr()) ||
         torch::factoryRequiresGrad(C.expr()) == torch::Flag::True;
}

/// add_(a, b) and a.add_(b).
static const Expr *changedInPlace(const cpp::Call &C) {
  const torch::OpFacts *Facts = torch::opFacts(C.Callee);
  if (!Facts || !Facts->InPlace)
    return nullptr;
  return isTensorObject(C) ? C.Object
         : C.Args.empty()  ? nullptr
                           : C.Args.front();
}

/// add_out(out, a, b).
static bool writesFirstArgument(const cpp::Call &C) {
  return !C.Object && C.Name.ends_with("_out") && C.Args.size() > 1 &&
         torch::isTensor(C.Args.front()->getType());
}

static bool isTensorOperator(const cpp::Call &C) {
  return isTensorObject(C) || torch::opFacts(C.Callee) ||
         (!C.Object && torch::isTensor(C.E->getType()));
}

Value Interpreter::evalCall(const CallExpr *E) {
  using I = Interpreter;
  static const cpp::CallRule<I, Value> Rules[] = {
      {torch::asModuleCall, &I::moduleCall},
      {torch::asBackward, &I::backward},
      {torch::needsHistory, &I::noteNeed},
      {torch::isOptimizerStep, &I::optimizerStep},
      {torch::setsGradMode, &I::modeSwitch},
      {isRebinding, &I::assignmentCall},
      {Whose::Library, &I::libraryCall},
      {Whose::Std, &I::stdCall},
      {Whose::User, &I::userCall},
      {Whose::Unknown, &I::functionObject},
      {anyCall, &I::unknownCall},
  };
  const cpp::Call C(E);
  noteCallables(C);
  Value Result = *cpp::firstOf(Rules, *this, C);
  freeze(C.E);
  return Result;
}

/// Calls of LibTorch. Containers and wrappers (IValue, List, Dict, optional)
/// are in the last rows: what goes in comes out.
Value Interpreter::libraryCall(const cpp::Call &C) {
  using I = Interpreter;
  const auto Nothing = [](I &, const cpp::Call &, const Operands &) {
    return Value();
  };
  // Whoever prints or walks the graph needs it.
  const auto Asked = [](I &At, const cpp::Call &C, const Operands &Of) {
    At.consume(Of.Object, Label::Escaped, C.E);
    return Value();
  };
  static const cpp::CallRule<I, Value, const Operands &> Rules[] = {
      {&I::hasNoHistory, Nothing},
      {torch::asksForGraph, Asked},
      {torch::setsRequiresGrad, &I::requiresGrad},
      {dropsHistory, &I::dropHistory},
      {makesLeaf, &I::newLeaf},
      {changedInPlace, &I::inPlace},
      {writesFirstArgument, &I::intoFirst},
      {torch::keepsArguments, &I::keepArguments},
      {isTensorOperator, &I::tensorOperator},
      {Std::Insert, &I::insertion},
      {anyCall, &I::wrapper},
  };
  if (isOperator(C))
    return operatorCall(C);
  const Operands Of{C.Object ? eval(C.Object) : Value(), evalAll(C.Args)};
  return *cpp::firstOf(Rules, *this, C, Of);
}

/// Operators of LibTorch's and the standard library's classes.
Value Interpreter::operatorCall(const cpp::Call &C) {
  using I = Interpreter;
  static const cpp::CallRule<I, Value> Rules[] = {
      {isComparison, &I::comparison},  {OO_Equal, &I::assignmentCall},
      {changesTensor, &I::compound},   {isAccess, &I::access},
      {anyCall, &I::computedOperator},
  };
  return *cpp::firstOf(Rules, *this, C);
}

Value Interpreter::stdCall(const cpp::Call &C) {
  using I = Interpreter;
  static const cpp::CallRule<I, Value> Rules[] = {
      {OO_Call, &I::functionObject},
      {isOperator, &I::operatorCall},
      {Std::Insert, &I::stdInsertion},
      {Std::Remove, &I::noteRemoval},
      {Std::Clear | Std::Reset, &I::clearing},
      {isMethod, &I::stdMethod},
      {Std::Part, &I::tuplePart},
      {Std::Tuple | Std::Tie, &I::tuple},
      {Std::Same, &I::sameObject},
      {Std::Swap, &I::swap},
      {Std::Each, &I::algorithm},
      {anyCall, &I::allOperands},
  };
  noteConstructor(C.E);
  return *cpp::firstOf(Rules, *this, C);
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

/// Narrows \p Noted, the site of a function object that \p Runner is given for
/// \p Param, to the mode in which it runs that.
static void runIn(const FunctionFlow &Runner, const ParmVarDecl *Param,
                  CallSite &Noted) {
  std::optional<GradMode> Mode;
  bool UnderInference = true;
  for (ArrayRef<CallSite> Sites : {Runner.calls(), Runner.unseenCalls()})
    for (const CallSite &Site : Sites) {
      const auto *Run = dyn_cast_or_null<CallExpr>(Site.Call);
      const Expr *Object = Run ? cpp::calledOn(Run) : nullptr;
      if (!Run || cpp::variableOf(Object ? Object : Run->getCallee()) != Param)
        continue;
      Mode = !Mode || *Mode == Site.Mode ? Site.Mode : GradMode::Unknown;
      UnderInference &= Site.UnderInference;
    }
  if (!Mode || *Mode == GradMode::On)
    return;
  Noted.Mode = *Mode;
  Noted.OnAnyway = false;
  Noted.UnderInference |= UnderInference;
}

/// What \p C runs of its arguments runs with the gradient mode of the call, and
/// of the function that runs it.
void Interpreter::noteCallables(const cpp::Call &C) {
  if (C.Of == Whose::Library)
    return;
  for (unsigned I = C.op() == OO_Call; I < C.expr()->getNumArgs(); ++I) {
    const Expr *Arg = cpp::stripImplicit(C.expr()->getArg(I));
    const FunctionDecl *Target = targetOfArgument(Arg);
    if (Target && cpp::runsArgument(C.expr(), I)) {
      CallSite &Noted = Calls[{Arg, Target}] = siteAt(C.E, Target);
      Noted.Call = Arg;
      const FunctionFlow *Runner =
          C.Of == Whose::User ? Unit.flowOf(C.Callee) : nullptr;
      if (Runner && Runner->available() && I < C.Callee->getNumParams())
        runIn(*Runner, Runner->function()->getParamDecl(I), Noted);
    }
  }
}

Value Interpreter::backward(const cpp::Call &C,
                            const torch::BackwardCall &Back) {
  allOperands(C);
  Value Roots = evalAll(Back.Roots);
  if (C.E != JustWalked) {
    const bool Frees = Back.RetainGraph == torch::Flag::False &&
                       Back.CreateGraph == torch::Flag::False;
    consume(Roots, Label::Backward | (Frees ? Label::Freed : 0), C.E);
    spend(C.E, Roots);
    for (const Expr *Root : Back.Roots)
      prove(C.expr(), Root);
    JustWalked = C.E;
  }
  trainsAt(C.E);
  // Gradients have history of their own only with create_graph.
  return Back.CreateGraph == torch::Flag::False ? Value() : Roots;
}

/// backward() throws where its root has no history.
void Interpreter::prove(const CallExpr *Backward, const Expr *Root) {
  const std::optional<Target> To = placeOf(Root);
  if (!To || S.Mode == GradMode::Off || !torch::isTensor(Root->getType()))
    return;
  Value V = read(To->P).flat();
  // What it was given is of callers: told of variables of its own alone.
  bool IsKnown = !V.Unknown && (V.Labels.empty() ||
                                !Out->declarationOf(Out->Places[To->P].Root));
  for (LabelId L : V.Labels)
    IsKnown |= Out->Labels[L].bringsHistory();
  if (IsKnown)
    return;
  V.Unknown = false;
  arise(label(Label::Proven, Root, To->P), V);
  consume(V, Label::Backward | Label::Freed, Backward);
  write(To->P, V, /*Strong=*/!To->Element);
}

/// \p C throws where \p Tensor has no history. A leaf always has.
void Interpreter::noteNeed(const cpp::Call &C, const Expr *Tensor) {
  const LabelSet Held = eval(Tensor).allLabels();
  bool IsLeaf = !Held.empty();
  for (LabelId L : Held)
    IsLeaf &= Out->Labels[L].K == Label::Leaf;
  if (!IsLeaf)
    trainsAt(C.E);
}

/// step(closure) returns what the closure does, after its backward().
Value Interpreter::optimizerStep(const cpp::Call &C) {
  evalAll(C.Args);
  trainsAt(C.E);
  const FunctionDecl *Target =
      C.Written ? targetOfArgument(C.Args.front()) : nullptr;
  const FunctionFlow *Flow = Target ? Unit.flowOf(Target) : nullptr;
  if (!Flow || !Flow->available())
    return {};
  cpp::Call Inner(C.E, Target, nullptr, {});
  Inner.OnThis = true;
  const LabelId Fresh = label(Label::Helper, C.E, 0);
  Value Loss = evalUserCall(Inner, *Flow, Fresh, false);
  consume(Value::of(Fresh), Label::Backward, C.E);
  return Loss;
}

Value Interpreter::modeSwitch(const cpp::Call &C, GradMode Mode) {
  evalAll(C.Args);
  // `set_enabled(before)`, with what is_enabled() said then.
  const VarDecl *Before =
      C.Args.empty() ? nullptr : cpp::variableOf(C.Args.front());
  if (auto It = S.Saved.find(Before);
      It != S.Saved.end() && Out->Body->isSetOnce(Before)) {
    static_cast<Switches &>(S) = It->second;
    Lasting.insert(C.E);
    return {};
  }
  if (Mode == GradMode::On)
    Training.insert(C.E); // Somebody asked for gradients.
  switchMode(C.E, Mode, Mode, Mode == GradMode::Off);
  return {};
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

bool Interpreter::isAmong(const std::set<const ValueDecl *> &Frozen,
                          const Expr *Module) {
  Module = cpp::stripPointers(Module);
  if (!Module)
    return false;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(Module)) {
    if (Frozen.count(Ref->getDecl()))
      return true;
    // Another name of a module.
    const Expr *Origin = cpp::stripPointers(Out->Body->originOf(Module));
    return Origin != Module &&
           isa_and_nonnull<DeclRefExpr, MemberExpr>(Origin) &&
           isAmong(Frozen, Origin);
  }
  const auto *Member = dyn_cast<MemberExpr>(Module);
  if (!Member)
    return false;
  const Expr *Base = cpp::stripImplicit(Member->getBase());
  const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
  return (Field && (Frozen.count(Field) ||
                    (!isa<CXXThisExpr>(Base) && Unit.staysFrozen(Field)))) ||
         isAmong(Frozen, Base);
}

/// Notes what \p At does to the parameters of modules.
void Interpreter::freeze(const Stmt *At) {
  auto It = Freezes->find(At);
  if (It == Freezes->end())
    return;
  for (const auto &[Module, Off, Perhaps] : It->second) {
    for (auto *Frozen : {&S.Frozen, &S.PerhapsFrozen}) {
      if (!Off)
        Frozen->erase(Module);
      else if (!Perhaps || Frozen == &S.PerhapsFrozen)
        Frozen->insert(Module);
    }
  }
}

bool Interpreter::differentiates(const torch::ModuleCall &M,
                                 const Value &Inputs) {
  if (M.Script) {
    for (LabelId L : Inputs.allLabels())
      if (Out->Labels[L].K == Label::Leaf)
        return true; // Why else would it require gradients?
    if (!NamesDerivatives)
      NamesDerivatives = namesDerivatives(*Out->Body);
    return *NamesDerivatives;
  }
  const FunctionFlow *Flow = M.Method ? Unit.flowOf(M.Method) : nullptr;
  if (Flow && Flow->available())
    return Flow->trains();
  return M.Method && handsOutDerivative(M, *Out->Body);
}

torch::Parameters Interpreter::trainableIn(const torch::ModuleCall &M) {
  const auto *Member = dyn_cast_or_null<MemberExpr>(M.Module);
  if (isFrozen(M.Module) || (M.Script && Member &&
                             Unit.frozenModules().isSetFrozen(
                                 dyn_cast<FieldDecl>(Member->getMemberDecl()))))
    return torch::Parameters::None;
  const auto *Method = dyn_cast<CXXMethodDecl>(Out->F);
  if (M.Script || (!M.Module && !Method))
    return torch::Parameters::Some;
  if (!M.Module)
    return flow::FrozenModules::parametersOf(
        compat::recordType(Method->getParent()));
  const QualType T = M.Module->getType();
  const auto Call = cpp::Call::of(M.Call);
  const auto *Run = dyn_cast_or_null<CXXMethodDecl>(
      Call && !torch::isModule(T) ? Call->Callee : nullptr);
  // Of what an iterator leads to, the method knows the class.
  return flow::FrozenModules::parametersOf(
      Run ? compat::recordType(Run->getParent()) : T);
}

/// The label of what \p M computes; nullopt where that has no history.
std::optional<LabelId> Interpreter::forwardLabel(const torch::ModuleCall &M,
                                                 GradMode Mode,
                                                 torch::Parameters Trainable) {
  if (M.Script && Trainable != torch::Parameters::None)
    if (auto [It, New] = Out->ScriptCalls.insert({M.Call, Mode});
        !New && It->second != Mode)
      It->second = GradMode::Unknown;
  if (Mode == GradMode::On && Trainable != torch::Parameters::None) {
    const LabelId Id = label(Label::Forward, M.Call, 0);
    Out->Labels[Id].PerhapsFrozen |= isAmong(S.PerhapsFrozen, M.Module);
    return Id;
  }
  if (auto It = LabelIds.find({Label::Forward, M.Call, 0});
      It != LabelIds.end())
    Out->Labels[It->second].Mode = GradMode::Unknown; // On by another path.
  return std::nullopt;
}

Value Interpreter::moduleCall(const cpp::Call &, const torch::ModuleCall &M) {
  if (M.Compiled || isQuery(M, *Out->Body)) {
    eval(M.Module);
    evalAll(M.Inputs);
    return {};
  }
  const GradMode Mode = modeAt(M.Call);
  noteRun(M.Call);
  const torch::Parameters Trainable = trainableIn(M);
  const std::optional<LabelId> Fresh = forwardLabel(M, Mode, Trainable);
  Value Result;
  const FunctionFlow *Flow = M.Method ? Unit.flowOf(M.Method) : nullptr;
  if (Flow && Flow->available()) {
    cpp::Call Forward(M.Call, M.Method, M.Module, M.Inputs);
    Forward.OnThis = !M.Module;
    // Tensors of its own are parameters only where it surely has some.
    Result = evalUserCall(Forward, *Flow, Fresh,
                          Fresh && Trainable == torch::Parameters::Some);
  } else {
    if (M.Method)
      UnseenCalls[M.Call] = siteAt(M.Call, M.Method);
    eval(M.Module);
    // Any part of what comes out can be computed from all that goes in.
    Result = evalAll(M.Inputs).flat();
    if (Fresh)
      arise(*Fresh, Result);
  }
  if (Fresh) {
    const Value In = evalAll(M.Inputs);
    Label &Pass = Out->Labels[*Fresh];
    Pass.Assigned |= In.allLabels();
    Pass.Unseen |= In.anyUnknown();
    // The module itself needs the history.
    if (differentiates(M, In))
      consume(Value::of(*Fresh), Label::Escaped, M.Call);
  }
  if (Mode == GradMode::Off)
    return {};
  return Mode == GradMode::Unknown ? Value::unknown() : Result;
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

std::optional<Value> Interpreter::userCall(const cpp::Call &C) {
  const UnitModel::Targets Targets = Unit.targetsOf(C);
  if (!Targets.AreAll) {
    for (const FunctionFlow *Flow : Targets.Seen)
      noteCall(C.E, Flow->function());
    return std::nullopt;
  }
  // Each of them may run: their effects are joined.
  const State Before = S;
  Value Result;
  for (const FunctionFlow *Flow : Targets.Seen) {
    State After = std::exchange(S, Before);
    Result.join(evalUserCall(C, *Flow, label(Label::Helper, C.E, 0), false));
    if (Flow != Targets.Seen.front())
      join(S, After);
  }
  return Result;
}

Value Interpreter::unknownCall(const cpp::Call &C) {
  if (C.Callee)
    UnseenCalls[C.E] = siteAt(C.E, C.Callee);
  // Tensors in, tensor out, nothing kept: most likely it only computes.
  const bool MakesTensor = mayCarry(C.E->getType());
  bool SeesTensors = false;
  Value Result;
  auto Hand = [&](const Expr *Arg) {
    Value V = eval(Arg);
    const bool Holds = mayCarry(Arg->getType());
    SeesTensors |= Holds || torch::isModule(Arg->getType());
    // By reference to non-const: it may hold anything afterwards.
    const Expr *Bare = cpp::peel(Arg);
    const bool MayChange = Holds && Arg->isLValue() && Bare->isLValue() &&
                           !Arg->getType().isConstQualified();
    const std::optional<Target> P = MayChange ? placeOf(Arg) : std::nullopt;
    // What an object of this function keeps for itself ends with it.
    const bool KeepsForItself =
        Arg == C.Object && P && !Out->outlivesFunction(P->P);
    handOver(V,
             MakesTensor && (!MayChange || KeepsForItself) ? Label::Computed
                                                           : Label::Escaped,
             C.E);
    if (P)
      write(P->P, Value::unknown(), false);
    Result.join(V.flat());
  };
  for (const Expr *Arg : C.Args)
    Hand(Arg);
  if (C.Object && !C.OnThis)
    Hand(C.Object);
  if (SeesTensors || C.OnThis)
    Training.insert(C.E); // It may be.
  if (!MakesTensor)
    return {};
  if (torch::drawsSample(C.Callee))
    Result = {};
  Result.Unknown = true;
  return produced(std::move(Result));
}

/// std::for_each and its like: the function object runs for all elements.
Value Interpreter::algorithm(const cpp::Call &C) {
  Value Result = allOperands(C);
  const auto Given = cpp::givenByAlgorithm(C.expr());
  for (const Expr *Arg : C.Args) {
    const FunctionDecl *Run = targetOfArgument(Arg);
    const FunctionFlow *Flow = Run ? Unit.flowOf(Run) : nullptr;
    if (!Flow || !Flow->available())
      continue;
    cpp::Call Inner(C.E, Run, nullptr, Given);
    Inner.OnThis = true;
    const Value Made =
        evalUserCall(Inner, *Flow, label(Label::Helper, C.E, 0), false);
    const Expr *Output = cpp::outputOf(C.expr());
    if (!Output)
      Result.join(Made.flat());
    else if (cpp::isStdCall(cpp::stripImplicit(Output), Std::Inserter))
      accumulate(C.E, Output, Made.flat(), Accumulation::Contain, nullptr);
    else if (const std::optional<Target> To = placeOf(Output))
      write(To->P, Made.flat(), /*Strong=*/false);
  }
  return Result;
}

const FunctionDecl *Interpreter::targetOfArgument(const Expr *Arg) const {
  Arg = cpp::stripImplicit(Arg);
  while (const auto *Wrapper = dyn_cast<CXXConstructExpr>(Arg)) {
    if (!cpp::isStdClass(Wrapper->getType(), cpp::StdClass::Function) ||
        Wrapper->getNumArgs() != 1)
      break;
    Arg = cpp::stripImplicit(Wrapper->getArg(0));
  }
  return isa<LambdaExpr>(Arg) ? cpp::functionOf(Arg) : onlyTargetOf(Arg);
}

/// The lambda or function in a function object, or that a pointer points to,
/// that is never given another target.
const FunctionDecl *Interpreter::onlyTargetOf(const Expr *Object) const {
  const VarDecl *V = cpp::variableOf(cpp::stripPointers(Object));
  if (!V || !V->getInit() || !Out->declarationOf(V) || V->isStaticLocal())
    return nullptr;
  const Expr *Init = cpp::peel(V->getInit());
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(Init))
    Init = Construct->getNumArgs() == 1 ? cpp::peel(Construct->getArg(0))
                                        : nullptr;
  const auto *Lambda = dyn_cast_or_null<LambdaExpr>(Init);
  if (const auto *Named = dyn_cast_or_null<DeclRefExpr>(
          cpp::stripPointers(Init)); // p = f, p = &f
      Named && Out->Body->isSetOnce(V))
    return dyn_cast<FunctionDecl>(Named->getDecl());
  // A closure stays what it is, whoever refers to it.
  return Lambda && (cpp::recordOf(V->getType()) == Lambda->getLambdaClass() ||
                    Out->Body->isSetOnce(V))
             ? cpp::functionOf(Lambda)
             : nullptr;
}

} // namespace libtorch_tidy::flow
