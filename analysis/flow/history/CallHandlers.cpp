//===- CallHandlers.cpp - What known functions do to history --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The handlers of calls of LibTorch and the standard library; the tables that
// name them are in Calls.cpp.
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Types.h"
#include "analysis/flow/history/Interpreter.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy::flow {

using cpp::Std;

//===----------------------------------------------------------------------===//
// LibTorch
//===----------------------------------------------------------------------===//

/// One value for each of an operator's outputs, as far as they differ.
static Value outputsOf(const torch::OpFacts *Facts, const Value &Inputs) {
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

/// \p V is what \p Object holds from here on, if that has a name.
void Interpreter::overwrite(const Expr *Object, const Value &V) {
  if (Object)
    if (std::optional<Target> P = placeOf(Object))
      write(P->P, V, !P->Element);
}

/// Is the result of \p C a tensor that requires no gradients? A gradient has no
/// history of its own here: see backward().
bool Interpreter::hasNoHistory(const cpp::Call &C) {
  return torch::gradOf(C.expr()) ||
         torch::registersParameter(C.expr()) == torch::Flag::False ||
         (torch::isParametersCall(C.expr()) && isFrozen(C.Object));
}

Value Interpreter::requiresGrad(const cpp::Call &C, torch::Flag Requires,
                                const Operands &Of) {
  if (Requires == torch::Flag::False)
    return Of.Object;
  Value Leaf = Of.Object;
  arise(label(Label::Leaf, C.E, 0), Leaf);
  overwrite(C.Object, Leaf);
  return Leaf;
}

Value Interpreter::dropHistory(const cpp::Call &C, const Operands &) {
  if (C.Name.ends_with("_"))
    overwrite(C.Object, Value());
  return {};
}

Value Interpreter::newLeaf(const cpp::Call &C, const Operands &) {
  Value Leaf;
  arise(label(Label::Leaf, C.E, 0), Leaf);
  return Leaf;
}

Value Interpreter::inPlace(const cpp::Call &C, const Expr *Self,
                           const Operands &Of) {
  const bool OnTensor = Self == C.Object;
  const auto Others = ArrayRef(C.Args).drop_front(!OnTensor);
  const Value Added = OnTensor ? Of.Args : evalAll(Others);
  auto Addend = llvm::find_if(
      Others, [](const Expr *Arg) { return torch::isTensor(Arg->getType()); });
  accumulate(C.E, Self, Added, Accumulation::InPlace,
             Addend == Others.end() ? nullptr : *Addend);
  Value Result = eval(Self);
  Result.join(produced(Added));
  return Result;
}

Value Interpreter::intoFirst(const cpp::Call &C, const Operands &) {
  const Value Added = evalAll(ArrayRef(C.Args).drop_front());
  accumulate(C.E, C.Args.front(), Added, Accumulation::InPlace, nullptr);
  return eval(C.Args.front());
}

/// Hooks and saved data keep what they are given somewhere else.
Value Interpreter::keepArguments(const cpp::Call &C, const Operands &Of) {
  consume(Of.Args, Label::Escaped, C.E);
  return {};
}

Value Interpreter::tensorOperator(const cpp::Call &C, const Operands &Of) {
  const torch::OpFacts *Facts = torch::opFacts(C.Callee);
  Value Inputs = Of.Args;
  Inputs.join(Of.Object.flat());
  // An operator that the table does not know, of a later LibTorch: as much is
  // known of it as of a function that another file defines.
  if (!Facts && C.E->isPRValue() && torch::isTensor(C.E->getType())) {
    consume(Inputs, Label::Computed, C.E);
    Inputs.Unknown = true;
  }
  return produced(outputsOf(Facts, Inputs));
}

/// c10::List and its like grow as containers of the standard library do.
Value Interpreter::insertion(const cpp::Call &C, const Operands &Of) {
  if (C.Object && mayCarry(C.Object->getType()))
    accumulate(C.E, C.Object, Of.Args, Accumulation::Contain,
               C.Args.empty() ? nullptr : C.Args.back());
  return {};
}

Value Interpreter::wrapper(const cpp::Call &, const Operands &Of) {
  Value All = Of.Object.Parts.empty() ? Of.Object : Of.Object.flat();
  All.join(Of.Args);
  return All;
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Value Interpreter::comparison(const cpp::Call &C) {
  for (const Expr *Operand : C.expr()->arguments())
    eval(Operand);
  return {};
}

/// `t[i] = x` writes into t; `t = x` lets t name another tensor.
Value Interpreter::assignmentCall(const cpp::Call &C) {
  const Expr *Left = C.expr()->getArg(0), *Right = C.expr()->getArg(1);
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(C.Callee);
  if (!Method || Method->getRefQualifier() != RQ_RValue ||
      !torch::isTensor(Left->getType()))
    return assignment(C.E, Left, Right);
  Value V = eval(Right);
  accumulate(C.E, Left, V, Accumulation::InPlace, Right);
  return V;
}

Value Interpreter::compound(const cpp::Call &C) {
  const Expr *Left = C.expr()->getArg(0), *Right = C.expr()->getArg(1);
  accumulate(C.E, Left, eval(Right), Accumulation::InPlace,
             torch::isTensor(Right->getType()) ? Right : nullptr);
  return eval(Left);
}

std::optional<Value> Interpreter::access(const cpp::Call &C) {
  std::optional<Target> P = placeOf(C.E);
  if (!P)
    return std::nullopt;
  if (C.expr()->getNumArgs() > 1)
    eval(C.expr()->getArg(1));
  return read(P->P);
}

Value Interpreter::computedOperator(const cpp::Call &C) {
  const auto *E = cast<CXXOperatorCallExpr>(C.E);
  Value All;
  for (unsigned I = 0; I < std::min(E->getNumArgs(), 2u); ++I)
    All.join(eval(E->getArg(I)).flat());
  return torch::isTensor(E->getArg(0)->getType()) ||
                 torch::isTensor(E->getType())
             ? produced(All)
             : All;
}

//===----------------------------------------------------------------------===//
// The standard library
//===----------------------------------------------------------------------===//

/// A call of a std::function, or through a pointer.
Value Interpreter::functionObject(const cpp::Call &C) {
  const FunctionDecl *Target =
      onlyTargetOf(C.Object ? C.Object : C.expr()->getCallee());
  const FunctionFlow *Flow = Target ? Unit.flowOf(Target) : nullptr;
  if (!Flow || !Flow->available())
    return unknownCall(C);
  cpp::Call Inner(C.E, Target, nullptr, C.Args);
  Inner.OnThis = true;
  return evalUserCall(Inner, *Flow, label(Label::Helper, C.E, 0), false);
}

static bool isMap(QualType T) {
  return cpp::isStdClass(cpp::finalPointee(T.getNonReferenceType()),
                         cpp::StdClass::Map);
}

static bool isTuple(QualType T) {
  return cpp::isStdClass(T.getNonReferenceType(), cpp::StdClass::Tuple);
}

/// Is \p T the class of the elements of \p Container, so that its parts are
/// theirs?
static bool isElementOf(QualType Container, QualType T) {
  const CXXRecordDecl *Given = cpp::recordOf(T.getNonReferenceType());
  if (Given && isMap(Container))
    return isTuple(T);
  return Given &&
         cpp::anyTypeArgument(
             cpp::recordOf(cpp::finalPointee(Container.getNonReferenceType())),
             [&](QualType Of) { return cpp::recordOf(Of) == Given; });
}

/// What an insertion adds.
Value Interpreter::insertedBy(const cpp::Call &C) {
  const QualType Into = C.Object->getType();
  Value Added;
  // emplace_back(a, b) of a tuple; emplace(key, value) of a map.
  const bool OfTuples =
      C.does(Std::Emplace) && C.Written > 1 &&
      cpp::anyTypeArgument(
          cpp::recordOf(cpp::finalPointee(Into.getNonReferenceType())),
          isTuple);
  const bool OfMap =
      isMap(Into) && C.Written == 2 && !mayCarry(C.Args.front()->getType());
  for (unsigned I = 0; I < C.Args.size(); ++I) {
    Value V = eval(C.Args[I]);
    if (OfTuples || OfMap)
      Added.setPart(Selector::element(I), std::move(V));
    else
      Added.join(isElementOf(Into, C.Args[I]->getType()) ? V : V.flat());
  }
  return Added;
}

Value Interpreter::stdInsertion(const cpp::Call &C) {
  Value Added = insertedBy(C);
  const Expr *Addend = nullptr;
  for (const Expr *Arg : C.Args)
    if (mayCarry(Arg->getType()))
      Addend = Arg;
  if (auto Into = placeOf(C.Object); Into && reusesElement(C.E, Into->P))
    assign(C.E, {Into->P, true}, Added, Accumulation::Rebind, Addend);
  else if (mayCarry(C.Object->getType()))
    accumulate(C.E, C.Object, Added, Accumulation::Contain,
               C.Args.size() <= 2 ? Addend : nullptr);
  return Added;
}

void Interpreter::noteRemoval(const cpp::Call &C) {
  if (C.Object)
    if (std::optional<Target> P = placeOf(C.Object))
      Bounded.insert(P->P);
}

std::optional<Value> Interpreter::clearing(const cpp::Call &C) {
  const std::optional<Target> P = C.Object ? placeOf(C.Object) : std::nullopt;
  if (!P || P->Element)
    return std::nullopt;
  evalAll(C.Args);
  assign(C.E, *P, Value(), Accumulation::Rebind, nullptr);
  return Value();
}

Value Interpreter::stdMethod(const cpp::Call &C) {
  if (std::optional<Target> Inside = placeOf(C.E)) {
    evalAll(C.Args);
    return read(Inside->P);
  }
  // Any other method that can change its object may pass its arguments on: a
  // promise, a function object, an output iterator.
  if (const auto *Method = dyn_cast<CXXMethodDecl>(C.Callee);
      Method && !Method->isConst())
    consume(evalAll(C.Args), Label::Escaped, C.E);
  return allOperands(C);
}

std::optional<Value> Interpreter::tuplePart(const cpp::Call &C) {
  if (C.Args.empty())
    return std::nullopt;
  Value Whole = eval(C.Args.front());
  std::optional<unsigned> Index = tupleIndex(C.Callee);
  return Index ? Whole.part(Selector::element(*Index)) : Whole.flat();
}

Value Interpreter::tuple(const cpp::Call &C) {
  Value Tuple;
  for (unsigned I = 0; I < C.Args.size(); ++I)
    Tuple.setPart(Selector::element(I), eval(C.Args[I]));
  return Tuple;
}

std::optional<Value> Interpreter::sameObject(const cpp::Call &C) {
  return C.Args.size() == 1 ? std::optional(eval(C.Args.front()))
                            : std::nullopt;
}

std::optional<Value> Interpreter::swap(const cpp::Call &C) {
  if (C.Args.size() != 2)
    return std::nullopt;
  std::optional<Target> A = placeOf(C.Args[0]), B = placeOf(C.Args[1]);
  Value Both = evalAll(C.Args);
  if (A)
    write(A->P, Both, false);
  if (B)
    write(B->P, Both, false);
  return Value();
}

Value Interpreter::allOperands(const cpp::Call &C) {
  Value All = evalAll(C.Args);
  if (C.Object)
    All.join(eval(C.Object).flat());
  return All;
}

} // namespace libtorch_tidy::flow
