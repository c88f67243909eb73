//===- StandardCalls.cpp - What functions of the standard library do ------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/code/Std.h"
#include "checks/model/Interpreter.h"
#include "checks/torch/Calls.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <numeric>

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::model {

/// The type that is the first template argument of \p F or of its class.
static QualType firstTypeArgument(const FunctionDecl *F) {
  if (const TemplateArgumentList *Args = F->getTemplateSpecializationArgs())
    if (Args->size() && Args->get(0).getKind() == TemplateArgument::Type)
      return Args->get(0).getAsType();
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  return typeArgument(Method ? Method->getParent() : nullptr, 0);
}

/// Functions of numbers.
static std::optional<double> computed(StringRef Name, double X, double Y) {
  return llvm::StringSwitch<std::optional<double>>(Name)
      .Cases("sqrt", "sqrtf", std::sqrt(X))
      .Cases("floor", "floorf", std::floor(X))
      .Cases("ceil", "ceilf", std::ceil(X))
      .Cases("round", "lround", "llround", std::round(X))
      .Case("trunc", std::trunc(X))
      .Case("log", std::log(X))
      .Case("log2", std::log2(X))
      .Case("log10", std::log10(X))
      .Case("exp", std::exp(X))
      .Case("exp2", std::exp2(X))
      .Cases("pow", "powf", std::pow(X, Y))
      .Case("fmod", std::fmod(X, Y))
      .Cases("fabs", "fabsf", std::fabs(X))
      .Default(std::nullopt);
}

/// std::numeric_limits<\p Type>::\p Name(), whose body is the library's.
Cell Interpreter::limitOf(StringRef Name, QualType Type,
                          const Cell &Nothing) const {
  if (Type->isIntegerType()) {
    const unsigned Width = Context.getIntWidth(Type);
    const bool IsSigned = Type->isSignedIntegerType();
    const llvm::APInt Most = IsSigned ? llvm::APInt::getSignedMaxValue(Width)
                                      : llvm::APInt::getMaxValue(Width);
    if (Name == "max" && Most.isIntN(63))
      return integer(static_cast<int64_t>(Most.getZExtValue()));
    if (Name == "min" || Name == "lowest")
      return integer(
          IsSigned ? llvm::APInt::getSignedMinValue(Width).getSExtValue() : 0);
    return Nothing;
  }
  if (!Type->isRealFloatingType())
    return Nothing;
  const llvm::fltSemantics &Kind = Context.getFloatTypeSemantics(Type);
  llvm::APFloat Number = llvm::APFloat::getLargest(Kind);
  if (Name == "lowest")
    Number.changeSign();
  else if (Name == "min")
    Number = llvm::APFloat::getSmallestNormalized(Kind);
  else if (Name == "infinity")
    Number = llvm::APFloat::getInf(Kind);
  else if (Name == "epsilon")
    Number =
        scalbn(llvm::APFloat(Kind, 1),
               1 - static_cast<int>(llvm::APFloat::semanticsPrecision(Kind)),
               llvm::APFloat::rmNearestTiesToEven);
  else if (Name != "max")
    return Nothing;
  bool Loses = false;
  Number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &Loses);
  return real(Number.convertToDouble());
}

/// A method of a smart pointer, an optional, a text or a container. Null for
/// others.
Cell Interpreter::callOfObject(const CallExpr *E, const FunctionDecl *F,
                               const Cell &Object, ArrayRef<Cell> Arguments,
                               const Cell &Nothing) {
  const StringRef Name = torch::calleeName(E);
  const OverloadedOperatorKind Op = F->getOverloadedOperator();
  if (Object->What == Value::List)
    return callList(E, Object, Arguments);
  if (Object->What == Value::Iterator)
    if (Cell Result = iteratorOperator(E, F, Object, Arguments))
      return Result;
  if (Object->What == Value::Text && !Op) {
    if (Name == "size" || Name == "length")
      return integer(Object->Name.size());
    if (Name == "empty")
      return integer(Object->Name.empty());
    if (Name == "c_str" || Name == "data" || Name == "str")
      return Object;
    if (!cast<CXXMethodDecl>(F)->isConst())
      *Object =
          *unknown(E->Stmt::getBeginLoc(), "a string after '" + Name + "'");
    return Nothing;
  }
  // Smart pointers and optionals: what they lead to.
  if (Op == OO_Star || Name == "value")
    return Object->What == Value::Pointer ? Object->Target : Object;
  if (Op == OO_Arrow || Op == OO_LessLess || Name == "get" || Name == "lock")
    return Object;
  if (Name == "has_value") {
    if (Object->What == Value::Null)
      return integer(0);
    return Object->What == Value::Unknown ? Object : integer(1);
  }
  if (Name == "value_or")
    return Object->What == Value::Null && !Arguments.empty() ? Arguments.front()
                                                             : Object;
  if (Name == "reset" && Arguments.empty()) {
    *Object = *valueOf(Value::Null);
    return Object;
  }
  if (Op == OO_Subscript && !Arguments.empty())
    return element(Object, Arguments.front(), E);
  if (Op == OO_PlusEqual && Arguments.size() == 1 &&
      Object->What == Value::Text) {
    store(Object, arithmetic(BO_Add, Object, Arguments[0], E->getType(), E));
    return Object;
  }
  return nullptr;
}

/// An operator of two values of the library's classes. Null for others.
Cell Interpreter::callOverloaded(const CallExpr *E, OverloadedOperatorKind Op,
                                 const Cell &A, const Cell &B) {
  switch (Op) {
  case OO_Plus:
  case OO_Minus:
  case OO_EqualEqual:
  case OO_ExclaimEqual:
  case OO_Less:
  case OO_Greater:
  case OO_LessEqual:
  case OO_GreaterEqual: {
    const BinaryOperatorKind Kind = BinaryOperator::getOverloadedOpcode(Op);
    return arithmetic(Kind, A, B,
                      BinaryOperator::isComparisonOp(Kind) ? Context.BoolTy
                                                           : E->getType(),
                      E);
  }
  case OO_LessLess:
    return A;
  default:
    return nullptr;
  }
}

/// make_shared<T>() and make_unique<T>().
Cell Interpreter::makeOwned(const CallExpr *E, const FunctionDecl *F,
                            ArrayRef<Cell> Arguments, const Cell &Nothing) {
  const QualType Type = firstTypeArgument(F);
  const CXXRecordDecl *R =
      definitionOf(Type.isNull() ? nullptr : Type->getAsCXXRecordDecl());
  if (!R)
    return Nothing;
  const Cell Made =
      makeObject(R, Arguments, typesOf({E->getArgs(), E->getNumArgs()}),
                 nullptr, E->Stmt::getBeginLoc());
  return Made->What == Value::Module || Made->What == Value::Unknown
             ? Made
             : pointerTo(Made);
}

/// Functions of pairs and tuples. Null for others.
Cell Interpreter::callOfTuple(const CallExpr *E, const FunctionDecl *F,
                              ArrayRef<Cell> Arguments, const Cell &Nothing) {
  const StringRef Name = torch::calleeName(E);
  if (Name == "get" && Arguments.size() == 1) {
    const TemplateArgumentList *Args = F->getTemplateSpecializationArgs();
    if (Args && Args->size() &&
        Args->get(0).getKind() == TemplateArgument::Integral)
      return element(Arguments.front(),
                     integer(Args->get(0).getAsIntegral().getExtValue()), E);
    return Nothing;
  }
  if (Name == "tie")
    return listOf(Arguments.vec());
  if (Name == "make_pair" || Name == "make_tuple" || Name == "forward_as_tuple")
    return listOf(copiesOf(Arguments));
  return nullptr;
}

/// std::clamp(\p V, \p Least, \p Most).
Cell Interpreter::clamped(const CallExpr *E, const Cell &V, const Cell &Least,
                          const Cell &Most, const Cell &Nothing) {
  for (const Cell &Argument : {V, Least, Most})
    if (Argument->What == Value::Unknown)
      return Argument;
  const std::optional<bool> Below =
      truth(arithmetic(BO_LT, V, Least, Context.BoolTy, E));
  const std::optional<bool> Above =
      truth(arithmetic(BO_LT, Most, V, Context.BoolTy, E));
  if (!Below || !Above)
    return Nothing;
  return *Below ? Least : *Above ? Most : V;
}

/// Functions of numbers. Null for others.
Cell Interpreter::callOfNumbers(const CallExpr *E, const FunctionDecl *F,
                                ArrayRef<Cell> Arguments, const Cell &Nothing) {
  const StringRef Name = torch::calleeName(E);
  const size_t Count = Arguments.size();
  if (Name == "max" || Name == "min") {
    ArrayRef<Cell> From = Arguments;
    if (Count == 1 && Arguments.front()->What == Value::List)
      From = Arguments.front()->Elements;
    if (From.empty())
      return Nothing;
    Cell Unknown;
    const std::optional<size_t> Best = bestOf(From, Name == "max", E, Unknown);
    return Best ? From[*Best] : Unknown;
  }
  if (Name == "clamp" && Count == 3)
    return clamped(E, Arguments[0], Arguments[1], Arguments[2], Nothing);
  if (Count == 0 || Count > 2)
    return nullptr;
  const Cell &First = Arguments[0];
  const bool AreIntegers = llvm::all_of(
      Arguments, [](const Cell &V) { return V->What == Value::Integer; });
  if (Name == "abs" && Count == 1) {
    if (AreIntegers && First->Number > INT64_MIN)
      return integer(std::abs(First->Number));
    return First->What == Value::Real ? real(std::abs(First->RealNumber))
                                      : First;
  }
  if (Name == "to_string" && Count == 1)
    return AreIntegers ? text(std::to_string(First->Number)) : Nothing;
  if ((Name == "gcd" || Name == "lcm") && Count == 2 && AreIntegers) {
    const int64_t A = First->Number, B = Arguments[1]->Number;
    // What does not overflow.
    if (std::abs(A) < (1LL << 31) && std::abs(B) < (1LL << 31))
      return integer(Name == "gcd" ? std::gcd(A, B) : std::lcm(A, B));
    return Nothing;
  }
  if (!llvm::all_of(Arguments, isNumber))
    return nullptr;
  const std::optional<double> Result =
      computed(Name, realOf(First), Count == 2 ? realOf(Arguments[1]) : 0);
  return Result ? convert(real(*Result), F->getReturnType()) : nullptr;
}

/// A function that is not followed: it may change what it is given.
Cell Interpreter::skipStandard(const FunctionDecl *F, StringRef Name,
                               ArrayRef<Cell> Arguments, SourceLocation At,
                               const Cell &Nothing) {
  if (!llvm::StringSwitch<bool>(Name)
           .Cases("accumulate", "count", "count_if", "distance", true)
           .Cases("find", "find_if", "max_element", "min_element", true)
           .Cases("all_of", "any_of", "none_of", "equal", true)
           .Default(torch::isTorchDecl(F)))
    for (const Cell &Argument : Arguments) {
      const Cell Changed = unknown(At, "a container after '" + Name + "'");
      if (Argument->What == Value::List)
        *Argument = *Changed;
      else if (Argument->What == Value::Iterator)
        *Argument->Target = *Changed;
    }
  skipClosures(Arguments, At);
  for (const Cell &Argument : Arguments)
    if (Argument->What == Value::Unknown && !Argument->Why.empty())
      return Argument;
  return Nothing;
}

Cell Interpreter::callStandard(const CallExpr *E, const FunctionDecl *F,
                               const Cell &Object, ArrayRef<Cell> Arguments) {
  const SourceLocation At = E->Stmt::getBeginLoc();
  const StringRef Name = torch::calleeName(E);
  const Cell Nothing =
      unknown(At, "what '" + F->getNameAsString() + "' returns");
  if (Object)
    if (Cell Result = callOfObject(E, F, Object, Arguments, Nothing))
      return Result;
  if (const OverloadedOperatorKind Op = F->getOverloadedOperator()) {
    std::vector<Cell> Operands = Arguments.vec();
    if (Object)
      Operands.insert(Operands.begin(), Object);
    const Cell Result = Operands.size() == 2
                            ? callOverloaded(E, Op, Operands[0], Operands[1])
                            : nullptr;
    return Result ? Result : Nothing;
  }
  if (const auto *Method = dyn_cast<CXXMethodDecl>(F);
      Method && code::isStdClass(Method->getParent(), {"numeric_limits"}))
    return limitOf(Name, F->getReturnType(), Nothing);
  if (Name == "make_shared" || Name == "make_unique")
    return makeOwned(E, F, Arguments, Nothing);
  if (Cell Result = callOfTuple(E, F, Arguments, Nothing))
    return Result;
  if (Cell Result = callOfNumbers(E, F, Arguments, Nothing))
    return Result;
  if (Name == "swap" && Arguments.size() == 2) {
    std::swap(*Arguments[0], *Arguments[1]);
    return Nothing;
  }
  if (Name == "move" || Name == "forward" || Name == "as_const" ||
      Name == "ref" || Name == "cref" || Name == "addressof" ||
      Name == "static_pointer_cast" || Name == "dynamic_pointer_cast")
    return Arguments.empty() ? Nothing : Arguments.front();
  if (Arguments.size() == 1 && Arguments[0]->What == Value::List)
    if (Cell Place = boundOf(Name, Arguments[0]))
      return Place;
  if (Cell Result = callAlgorithm(E, F, Name, Arguments))
    return Result;
  return skipStandard(F, Name, Arguments, At, Nothing);
}

} // namespace libtorch_tidy::model
