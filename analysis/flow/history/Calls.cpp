//===- Calls.cpp - What calls mean for history ----------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls of LibTorch, of the standard library and of what the unit does not
// show. Those of the user's functions are in UserCalls.cpp.
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Callables.h"
#include "analysis/cpp/Compat.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/flow/history/Interpreter.h"
#include "analysis/flow/unit/FrozenModules.h"
#include "analysis/flow/unit/ScriptCalls.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/Effects.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/autograd/Hooks.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy::flow {

using cpp::Std;

/// What \p E runs of its arguments runs with the gradient mode of the call.
void Interpreter::noteCallables(const CallExpr *E) {
  if (torch::isTorchDecl(E->getDirectCallee()))
    return;
  for (unsigned I = 0; I < E->getNumArgs(); ++I) {
    const Expr *Arg = cpp::stripImplicit(E->getArg(I));
    const auto *Lambda = dyn_cast<LambdaExpr>(Arg);
    const FunctionDecl *Target =
        Lambda ? Lambda->getCallOperator() : onlyTargetOf(Arg);
    const auto *Op = dyn_cast<CXXOperatorCallExpr>(E);
    if (!Target || (Op && Op->getOperator() == OO_Call && I == 0))
      continue;
    if (cpp::runsArgument(E, I))
      Calls[Arg] = {Arg, Target, modeAt(E)};
  }
}

Value Interpreter::evalCall(const CallExpr *E) {
  noteCallables(E);
  if (std::optional<torch::ModuleCall> M = torch::asModuleCall(E))
    return evalModuleCall(*M);

  const FunctionDecl *Callee = E->getDirectCallee();
  CallInfo C{E, Callee, nullptr, false, {}};
  C.Args.assign(E->arg_begin(), E->arg_end());
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(E)) {
    C.Object = Member->getImplicitObjectArgument();
    C.OnThis = C.Object && isa<CXXThisExpr>(cpp::stripImplicit(C.Object));
  } else if (isa<CXXOperatorCallExpr>(E) &&
             isa_and_nonnull<CXXMethodDecl>(Callee) && !C.Args.empty()) {
    C.Object = C.Args.front();
    C.Args.erase(C.Args.begin());
  }

  if (std::optional<torch::BackwardCall> Back = torch::asBackward(E)) {
    Value All = evalAll(C.Args);
    if (C.Object)
      eval(C.Object);
    Value Roots = evalAll(Back->Roots);
    if (E != JustWalked) {
      consume(Roots, Label::Backward, E);
      spend(E, Roots);
      JustWalked = E;
    }
    trainsAt(E);
    // Gradients have history of their own only with create_graph.
    return Back->CreateGraph == torch::Flag::False ? Value() : Roots;
  }
  // What throws where a tensor has no history. A leaf always has.
  if (const Expr *Tensor = torch::needsHistory(E)) {
    const LabelSet Held = eval(Tensor).allLabels();
    bool IsLeaf = !Held.empty();
    for (LabelId L : Held)
      IsLeaf &= Out->Labels[L].K == Label::Leaf;
    if (!IsLeaf)
      trainsAt(E);
  }
  if (torch::isOptimizerStep(E)) {
    evalAll(C.Args);
    trainsAt(E);
    return {};
  }
  if (std::optional<GradMode> Mode = torch::setsGradMode(E)) {
    evalAll(C.Args);
    if (*Mode == GradMode::On)
      Training.insert(E); // Somebody asked for gradients.
    setMode(*Mode);
    return {};
  }
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(E))
    if (Op->getOperator() == OO_Equal && E->getNumArgs() == 2 &&
        !torch::isTensor(E->getArg(0)->getType()))
      return assignment(E, E->getArg(0), E->getArg(1));

  if (!Callee)
    return evalUnknownCall(C);
  if (torch::isTorchDecl(Callee))
    return evalTorchCall(E, C);
  if (cpp::isStdDecl(Callee))
    return evalStdCall(C);
  if (const FunctionFlow *Flow = Unit.flowOf(Callee);
      Flow && Flow->available() &&
      (!compat::isPureVirtual(Callee) || Flow->isAbroad())) {
    LabelId Fresh = label(Label::Helper, E, 0);
    return evalUserCall(C, *Flow, Fresh, false);
  }
  return evalUnknownCall(C);
}

bool Interpreter::isFrozen(const Expr *Module) {
  while (Module) {
    Module = cpp::stripImplicit(Module);
    if (const auto *Ref = dyn_cast<DeclRefExpr>(Module))
      return FrozenModules.count(Ref->getDecl());
    if (const auto *Member = dyn_cast<MemberExpr>(Module)) {
      if (FrozenModules.count(Member->getMemberDecl()))
        return true;
      Module = Member->getBase();
    } else {
      return false;
    }
  }
  return false;
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

Value Interpreter::evalModuleCall(const torch::ModuleCall &M) {
  if (M.Compiled || isQuery(M, *Out->Body)) {
    if (M.Module)
      eval(M.Module);
    evalAll(M.Inputs);
    return {};
  }
  const GradMode Mode = modeAt(M.Call);
  torch::Parameters Trainable = torch::Parameters::Some;
  if (!M.Script) {
    QualType T;
    if (M.Module)
      T = M.Module->getType();
    else if (const auto *Method = dyn_cast<CXXMethodDecl>(Out->F))
      T = compat::recordType(Method->getParent());
    if (!T.isNull())
      Trainable = flow::FrozenModules::parametersOf(T);
  }
  const auto *Member = dyn_cast_or_null<MemberExpr>(M.Module);
  if ((M.Module && isFrozen(M.Module)) ||
      (M.Script && Member &&
       FrozenModules::isSetFrozen(
           dyn_cast<FieldDecl>(Member->getMemberDecl()))))
    Trainable = torch::Parameters::None;

  if (M.Script && Trainable != torch::Parameters::None)
    if (auto [It, New] = Out->ScriptCalls.insert({M.Call, Mode});
        !New && It->second != Mode)
      It->second = GradMode::Unknown;

  const bool BringsHistory =
      Mode == GradMode::On && Trainable != torch::Parameters::None;
  std::optional<LabelId> Fresh;
  if (BringsHistory)
    Fresh = label(Label::Forward, M.Call, 0);
  else if (auto It = LabelIds.find({Label::Forward, M.Call, 0});
           It != LabelIds.end())
    Out->Labels[It->second].Mode = GradMode::Unknown; // On by another path.

  Value Result;
  const FunctionFlow *Flow = M.Method ? Unit.flowOf(M.Method) : nullptr;
  if (Flow && Flow->available()) {
    CallInfo C{M.Call, M.Method, M.Module, M.Module == nullptr, {}};
    C.Args.assign(M.Inputs.begin(), M.Inputs.end());
    // Tensors of its own are parameters only where it surely has some.
    Result = evalUserCall(
        C, *Flow, Fresh, BringsHistory && Trainable == torch::Parameters::Some);
  } else {
    if (M.Method)
      UnseenCalls[M.Call] = {M.Call, M.Method, Mode};
    if (M.Module)
      eval(M.Module);
    // Any part of what comes out can be computed from all that goes in.
    Result = evalAll(M.Inputs).flat();
    if (Fresh)
      arise(*Fresh, Result);
  }
  // The module itself needs the history.
  if (Fresh && differentiates(M, evalAll(M.Inputs)))
    consume(Value::of(*Fresh), Label::Escaped, M.Call);
  if (Mode == GradMode::Off)
    return {};
  if (Mode == GradMode::Unknown)
    return Value::unknown();
  return Result;
}

/// One value for each of an operator's outputs, as far as they differ.
Value Interpreter::outputsOf(const torch::OpFacts *Facts, const Value &Inputs) {
  if (!Facts || Facts->Factory || Facts->neverDifferentiable())
    return Facts ? Value() : Inputs;
  if (Facts->Outputs < 2 || !Facts->NonDifferentiable)
    return Inputs;
  Value V = Inputs;
  for (unsigned I = 0; I < Facts->Outputs; ++I)
    V.setPart(Selector::element(I),
              Facts->NonDifferentiable >> I & 1 ? Value() : Inputs);
  return V;
}

Value Interpreter::evalTorchCall(const CallExpr *E, const CallInfo &C) {
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(E))
    return evalOperator(Op);

  Value Object = C.Object ? eval(C.Object) : Value();
  if (torch::gradOf(E))
    return {};
  if (std::optional<torch::Flag> Requires = torch::setsRequiresGrad(E)) {
    if (*Requires == torch::Flag::False)
      return Object;
    Value Leaf = Object;
    arise(label(Label::Leaf, E, 0), Leaf);
    if (C.Object)
      if (std::optional<Target> P = placeOf(C.Object))
        write(P->P, Leaf, !P->Element);
    return Leaf;
  }
  if (std::optional<torch::Flag> Parameter = torch::registersParameter(E)) {
    evalAll(C.Args);
    return *Parameter == torch::Flag::False ? Value()
                                            : fresh(label(Label::Leaf, E, 0));
  }
  if (torch::asModuleState(E) == torch::ModuleState::Parameters) {
    if (C.Object && isFrozen(C.Object))
      return {};
    return fresh(label(Label::Leaf, E, 0));
  }

  Value Args = evalAll(C.Args);
  StringRef Name = cpp::calleeName(E);
  if (torch::dropsHistory(E) || torch::isIntegralCast(E)) {
    if (Name.ends_with("_") && C.Object)
      if (std::optional<Target> P = placeOf(C.Object))
        write(P->P, Value(), !P->Element);
    return {};
  }
  if (torch::factoryRequiresGrad(E) == torch::Flag::True)
    return fresh(label(Label::Leaf, E, 0));

  const bool OnTensor = C.Object && torch::isTensor(C.Object->getType());
  const torch::OpFacts *Facts = torch::opFacts(C.Callee);
  if (Facts && Facts->InPlace) {
    const Expr *Self = OnTensor         ? C.Object
                       : C.Args.empty() ? nullptr
                                        : C.Args.front();
    if (Self) {
      Value Added = OnTensor ? Args : evalAll(ArrayRef(C.Args).drop_front());
      const Expr *Addend = nullptr;
      for (const Expr *Arg :
           OnTensor ? ArrayRef(C.Args) : ArrayRef(C.Args).drop_front())
        if (!Addend && torch::isTensor(Arg->getType()))
          Addend = Arg;
      accumulate(E, Self, Added, Accumulation::InPlace, Addend);
      Value Result = eval(Self);
      Result.join(produced(Added));
      return Result;
    }
  }
  // add_out(out, a, b): in place on the first argument.
  if (!C.Object && Name.ends_with("_out") && C.Args.size() > 1 &&
      torch::isTensor(C.Args.front()->getType())) {
    Value Added = evalAll(ArrayRef(C.Args).drop_front());
    accumulate(E, C.Args.front(), Added, Accumulation::InPlace, nullptr);
    return eval(C.Args.front());
  }
  // Hooks and saved data keep what they are given somewhere else.
  if (torch::keepsArguments(E)) {
    consume(Args, Label::Escaped, E);
    return {};
  }

  if (OnTensor || Facts || (!C.Object && torch::isTensor(E->getType()))) {
    Value Inputs = Args;
    Inputs.join(Object.flat());
    // An operator that the table does not know, of a later LibTorch: as much is
    // known of it as of a function that another file defines.
    if (!Facts && E->isPRValue() && torch::isTensor(E->getType())) {
      consume(Inputs, Label::Computed, E);
      Inputs.Unknown = true;
    }
    return produced(outputsOf(Facts, Inputs));
  }

  // Containers and wrappers of LibTorch (IValue, List, Dict, optional): what
  // goes in comes out. c10::List and friends grow like std containers.
  if (C.Object && cpp::does(E, Std::Insert)) {
    if (mayCarry(C.Object->getType()))
      accumulate(E, C.Object, Args, Accumulation::Contain,
                 C.Args.empty() ? nullptr : C.Args.back());
    return {};
  }
  Value All = Object.Parts.empty() ? Object : Object.flat();
  All.join(Args);
  return All;
}

Value Interpreter::evalOperator(const CXXOperatorCallExpr *E) {
  const OverloadedOperatorKind Kind = E->getOperator();
  const Expr *Left = E->getArg(0);
  const Expr *Right = E->getNumArgs() > 1 ? E->getArg(1) : nullptr;
  const bool OnTensor = torch::isTensor(Left->getType());
  if (E->isComparisonOp()) {
    eval(Left);
    eval(Right);
    return {};
  }
  switch (Kind) {
  case OO_Equal: {
    const auto *Method = dyn_cast_or_null<CXXMethodDecl>(E->getDirectCallee());
    // t[i] = x writes into t; t = x lets t name another tensor.
    bool IntoSlot =
        OnTensor && Method && Method->getRefQualifier() == RQ_RValue;
    if (!IntoSlot)
      return assignment(E, Left, Right);
    Value V = eval(Right);
    accumulate(E, Left, V, Accumulation::InPlace, Right);
    return V;
  }
  case OO_PlusEqual:
  case OO_MinusEqual:
  case OO_StarEqual:
  case OO_SlashEqual:
    if (OnTensor && Right) {
      Value V = eval(Right);
      accumulate(E, Left, V, Accumulation::InPlace,
                 torch::isTensor(Right->getType()) ? Right : nullptr);
      return eval(Left);
    }
    break;
  case OO_Arrow:
  case OO_Star:
  case OO_Subscript:
    if (std::optional<Target> P = placeOf(E)) {
      if (Right)
        eval(Right);
      return read(P->P);
    }
    break;
  default:
    break;
  }
  Value All = eval(Left).flat();
  if (Right)
    All.join(eval(Right).flat());
  return OnTensor || torch::isTensor(E->getType()) ? produced(All) : All;
}

/// The lambda in a function object that is never given another target.
const FunctionDecl *Interpreter::onlyTargetOf(const Expr *Object) const {
  const VarDecl *V = cpp::variableOf(Object);
  if (!V || !V->getInit() || !Out->declarationOf(V) || V->isStaticLocal())
    return nullptr;
  const Expr *Init = cpp::peel(V->getInit());
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(Init))
    Init = Construct->getNumArgs() == 1 ? cpp::peel(Construct->getArg(0))
                                        : nullptr;
  const auto *Lambda = dyn_cast_or_null<LambdaExpr>(Init);
  // A closure stays what it is, whoever refers to it.
  return Lambda && (cpp::recordOf(V->getType()) == Lambda->getLambdaClass() ||
                    Out->Body->isSetOnce(V))
             ? Lambda->getCallOperator()
             : nullptr;
}

Value Interpreter::evalStdCall(const CallInfo &C) {
  const auto *E = cast<CallExpr>(C.Call);
  noteConstructor(E);
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(E)) {
    if (Op->getOperator() == OO_Call) { // std::function
      const FunctionDecl *Target = onlyTargetOf(Op->getArg(0));
      const FunctionFlow *Flow = Target ? Unit.flowOf(Target) : nullptr;
      if (!Flow || !Flow->available())
        return evalUnknownCall(C);
      CallInfo Inner{E, Target, nullptr, /*OnThis=*/true, C.Args};
      return evalUserCall(Inner, *Flow, label(Label::Helper, E, 0), false);
    }
    return evalOperator(Op);
  }
  if (C.Object) {
    if (cpp::does(E, Std::Insert)) {
      Value Added = evalAll(C.Args);
      const bool Holds = mayCarry(C.Object->getType());
      const Expr *Addend = nullptr;
      for (const Expr *Arg : C.Args)
        if (mayCarry(Arg->getType()))
          Addend = Arg;
      if (Holds)
        accumulate(E, C.Object, Added, Accumulation::Contain,
                   C.Args.size() <= 2 ? Addend : nullptr);
      return Added;
    }
    std::optional<Target> P = placeOf(C.Object);
    if (P && cpp::does(E, Std::Remove))
      Bounded.insert(P->P);
    if (P && !P->Element && cpp::does(E, Std::Clear | Std::Reset)) {
      evalAll(C.Args);
      if (cpp::does(E, Std::Reset)) // a guard in a smart pointer or optional
        if (const VarDecl *Root = Out->Places[P->P].Root;
            Root && S.Guards.count(Root))
          S.Mode = GradMode::Unknown;
      write(P->P, Value(), true);
      return {};
    }
    if (std::optional<Target> Inside = placeOf(E)) {
      evalAll(C.Args);
      return read(Inside->P);
    }
    // Anything else that can change its object may keep what it is given for
    // somebody: a promise, a function object, an output iterator.
    if (const auto *Method = dyn_cast<CXXMethodDecl>(C.Callee);
        Method && !Method->isConst())
      consume(evalAll(C.Args), Label::Escaped, E);
  } else {
    if (cpp::does(E, Std::Part) && !C.Args.empty()) {
      Value Whole = eval(C.Args.front());
      std::optional<unsigned> Index = tupleIndex(C.Callee);
      return Index ? Whole.part(Selector::element(*Index)) : Whole.flat();
    }
    if (cpp::does(E, Std::Tuple | Std::Tie)) {
      Value Tuple;
      for (unsigned I = 0; I < C.Args.size(); ++I)
        Tuple.setPart(Selector::element(I), eval(C.Args[I]));
      return Tuple;
    }
    if (cpp::does(E, Std::Same) && C.Args.size() == 1)
      return eval(C.Args.front());
    if (cpp::does(E, Std::Swap) && C.Args.size() == 2) {
      std::optional<Target> A = placeOf(C.Args[0]), B = placeOf(C.Args[1]);
      Value Both = evalAll(C.Args);
      if (A)
        write(A->P, Both, false);
      if (B)
        write(B->P, Both, false);
      return {};
    }
  }
  Value All = evalAll(C.Args);
  if (C.Object)
    All.join(eval(C.Object).flat());
  return All;
}

Value Interpreter::evalUnknownCall(const CallInfo &C) {
  if (C.Callee)
    UnseenCalls[C.Call] = {C.Call, C.Callee, modeAt(C.Call)};
  // Tensors in, tensor out, nothing kept: most likely it only computes.
  const bool MakesTensor = mayCarry(C.Call->getType());
  bool SeesTensors = false;
  Value Result;
  auto Hand = [&](const Expr *Arg) {
    Value V = eval(Arg);
    const bool Holds = mayCarry(Arg->getType());
    SeesTensors |= Holds || torch::isModule(Arg->getType());
    // By reference to non-const: it may hold anything afterwards.
    const Expr *Bare = cpp::peel(Arg);
    bool MayChange = Holds && Arg->isLValue() && Bare->isLValue() &&
                     !Arg->getType().isConstQualified();
    std::optional<Target> P;
    if (MayChange)
      P = placeOf(Arg);
    // What an object of this function keeps for itself ends with it.
    const bool KeepsForItself =
        Arg == C.Object && P && !Out->outlivesFunction(P->P);
    consume(V,
            MakesTensor && (!MayChange || KeepsForItself) ? Label::Computed
                                                          : Label::Escaped,
            C.Call);
    if (P)
      write(P->P, Value::unknown(), false);
    Result.join(V.flat());
  };
  for (const Expr *Arg : C.Args)
    Hand(Arg);
  if (C.Object && !C.OnThis)
    Hand(C.Object);
  if (SeesTensors || C.OnThis)
    Training.insert(C.Call); // It may be.
  if (!MakesTensor)
    return {};
  if (torch::drawsSample(C.Callee))
    Result = {};
  Result.Unknown = true;
  return produced(std::move(Result));
}

} // namespace libtorch_tidy::flow
