//===- StandardCalls.cpp - What functions of the standard library do ------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/bytes/interpret/Interpreter.h"
#include "analysis/cpp/Std.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <numeric>

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::bytes {

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
Cell Interpreter::callOfObject(const LibraryCall &C) {
  const OverloadedOperatorKind Op = C.F->getOverloadedOperator();
  if (C.Object->What == Value::List)
    return callList(C);
  if (C.Object->What == Value::Iterator)
    if (Cell Result = iteratorOperator(C))
      return Result;
  if (C.Object->What == Value::Text && !Op) {
    if (C.Name == "size" || C.Name == "length")
      return integer(C.Object->Name.size());
    if (C.Name == "empty")
      return integer(C.Object->Name.empty());
    if (C.Name == "c_str" || C.Name == "data" || C.Name == "str")
      return C.Object;
    if (!cast<CXXMethodDecl>(C.F)->isConst())
      *C.Object = *unknown(C.At, "a string after '" + C.Name + "'");
    return C.Nothing;
  }
  // Smart pointers and optionals: what they lead to.
  if (Op == OO_Star || C.Name == "value")
    return targetOf(C.Object);
  if (Op == OO_Arrow || Op == OO_LessLess || C.Name == "get" ||
      C.Name == "lock")
    return C.Object;
  if (C.Name == "has_value") {
    if (C.Object->What == Value::Null)
      return integer(0);
    return C.Object->What == Value::Unknown ? C.Object : integer(1);
  }
  if (C.Name == "value_or")
    return C.Object->What == Value::Null && !C.Arguments.empty()
               ? C.Arguments.front()
               : C.Object;
  if (C.Name == "reset" && C.Arguments.empty()) {
    *C.Object = *valueOf(Value::Null);
    return C.Object;
  }
  if (Op == OO_Subscript && !C.Arguments.empty())
    return element(C.Object, C.Arguments.front(), C.E);
  if (Op == OO_PlusEqual && C.Arguments.size() == 1 &&
      C.Object->What == Value::Text) {
    store(C.Object,
          arithmetic(BO_Add, C.Object, C.Arguments[0], C.E->getType(), C.E));
    return C.Object;
  }
  return nullptr;
}

/// An operator of two values of the library's classes. Null for others.
Cell Interpreter::callOverloaded(const LibraryCall &C, const Cell &A,
                                 const Cell &B) {
  switch (C.F->getOverloadedOperator()) {
  case OO_Plus:
  case OO_Minus:
  case OO_EqualEqual:
  case OO_ExclaimEqual:
  case OO_Less:
  case OO_Greater:
  case OO_LessEqual:
  case OO_GreaterEqual: {
    const BinaryOperatorKind Kind =
        BinaryOperator::getOverloadedOpcode(C.F->getOverloadedOperator());
    return arithmetic(Kind, A, B,
                      BinaryOperator::isComparisonOp(Kind) ? Context.BoolTy
                                                           : C.E->getType(),
                      C.E);
  }
  case OO_LessLess:
    return A;
  default:
    return nullptr;
  }
}

/// make_shared<T>() and make_unique<T>().
Cell Interpreter::makeOwned(const LibraryCall &C) {
  const QualType Type = firstTypeArgument(C.F);
  const CXXRecordDecl *R =
      definitionOf(Type.isNull() ? nullptr : Type->getAsCXXRecordDecl());
  if (!R)
    return C.Nothing;
  const Cell Made =
      makeObject(R, C.Arguments, typesOf({C.E->getArgs(), C.E->getNumArgs()}),
                 nullptr, C.At);
  return Made->What == Value::Module || Made->What == Value::Unknown
             ? Made
             : pointerTo(Made);
}

/// Functions of pairs and tuples. Null for others.
Cell Interpreter::callOfTuple(const LibraryCall &C) {
  if (C.Name == "get" && C.Arguments.size() == 1) {
    const TemplateArgumentList *Args = C.F->getTemplateSpecializationArgs();
    if (Args && Args->size() &&
        Args->get(0).getKind() == TemplateArgument::Integral)
      return element(C.Arguments.front(),
                     integer(Args->get(0).getAsIntegral().getExtValue()), C.E);
    return C.Nothing;
  }
  if (C.Name == "tie")
    return listOf(C.Arguments.vec());
  if (C.Name == "make_pair" || C.Name == "make_tuple" ||
      C.Name == "forward_as_tuple")
    return listOf(copiesOf(C.Arguments));
  return nullptr;
}

/// std::clamp(v, least, most).
Cell Interpreter::clamped(const LibraryCall &C) {
  const Cell &V = C.Arguments[0], &Least = C.Arguments[1],
             &Most = C.Arguments[2];
  for (const Cell &Argument : C.Arguments)
    if (Argument->What == Value::Unknown)
      return Argument;
  const std::optional<bool> Below =
      truth(arithmetic(BO_LT, V, Least, Context.BoolTy, C.E));
  const std::optional<bool> Above =
      truth(arithmetic(BO_LT, Most, V, Context.BoolTy, C.E));
  if (!Below || !Above)
    return C.Nothing;
  return *Below ? Least : *Above ? Most : V;
}

/// Functions of numbers. Null for others.
Cell Interpreter::callOfNumbers(const LibraryCall &C) {
  const size_t Count = C.Arguments.size();
  if (C.Name == "max" || C.Name == "min") {
    ArrayRef<Cell> From = C.Arguments;
    if (Count == 1 && C.Arguments.front()->What == Value::List)
      From = C.Arguments.front()->Elements;
    if (From.empty())
      return C.Nothing;
    Cell Unknown;
    const std::optional<size_t> Best =
        bestOf(From, C.Name == "max", C.E, Unknown);
    return Best ? From[*Best] : Unknown;
  }
  if (C.Name == "clamp" && Count == 3)
    return clamped(C);
  if (Count == 0 || Count > 2)
    return nullptr;
  const Cell &First = C.Arguments[0];
  const bool AreIntegers = llvm::all_of(
      C.Arguments, [](const Cell &V) { return V->What == Value::Integer; });
  if (C.Name == "abs" && Count == 1) {
    if (AreIntegers && First->Number > INT64_MIN)
      return integer(std::abs(First->Number));
    return First->What == Value::Real ? real(std::abs(First->RealNumber))
                                      : First;
  }
  if (C.Name == "to_string" && Count == 1)
    return AreIntegers ? text(std::to_string(First->Number)) : C.Nothing;
  if ((C.Name == "gcd" || C.Name == "lcm") && Count == 2 && AreIntegers) {
    const int64_t A = First->Number, B = C.Arguments[1]->Number;
    // What does not overflow.
    if (std::abs(A) < (1LL << 31) && std::abs(B) < (1LL << 31))
      return integer(C.Name == "gcd" ? std::gcd(A, B) : std::lcm(A, B));
    return C.Nothing;
  }
  if (!llvm::all_of(C.Arguments, isNumber))
    return nullptr;
  const std::optional<double> Result =
      computed(C.Name, realOf(First), Count == 2 ? realOf(C.Arguments[1]) : 0);
  return Result ? convert(real(*Result), C.F->getReturnType()) : nullptr;
}

/// A function that is not followed: it may change what it is given.
Cell Interpreter::skipStandard(const LibraryCall &C) {
  if (!llvm::StringSwitch<bool>(C.Name)
           .Cases("accumulate", "count", "count_if", "distance", true)
           .Cases("find", "find_if", "max_element", "min_element", true)
           .Cases("all_of", "any_of", "none_of", "equal", true)
           .Default(torch::isTorchDecl(C.F)))
    for (const Cell &Argument : C.Arguments) {
      const Cell Changed = unknown(C.At, "a container after '" + C.Name + "'");
      if (Argument->What == Value::List)
        *Argument = *Changed;
      else if (Argument->What == Value::Iterator)
        *Argument->Target = *Changed;
    }
  skipClosures(C.Arguments, C.At);
  for (const Cell &Argument : C.Arguments)
    if (Argument->What == Value::Unknown && !Argument->Why.empty())
      return Argument;
  return C.Nothing;
}

Cell Interpreter::callStandard(LibraryCall C) {
  C.Nothing = unknown(C.At, "what '" + C.F->getNameAsString() + "' returns");
  if (C.Object)
    if (Cell Result = callOfObject(C))
      return Result;
  if (const OverloadedOperatorKind Op = C.F->getOverloadedOperator()) {
    std::vector<Cell> Operands = C.Arguments.vec();
    if (C.Object)
      Operands.insert(Operands.begin(), C.Object);
    const Cell Result = Operands.size() == 2
                            ? callOverloaded(C, Operands[0], Operands[1])
                            : nullptr;
    return Result ? Result : C.Nothing;
  }
  if (const auto *Method = dyn_cast<CXXMethodDecl>(C.F);
      Method && cpp::isStdClass(Method->getParent(), {"numeric_limits"}))
    return limitOf(C.Name, C.F->getReturnType(), C.Nothing);
  if (C.Name == "make_shared" || C.Name == "make_unique")
    return makeOwned(C);
  if (Cell Result = callOfTuple(C))
    return Result;
  if (Cell Result = callOfNumbers(C))
    return Result;
  if (C.Name == "swap" && C.Arguments.size() == 2) {
    std::swap(*C.Arguments[0], *C.Arguments[1]);
    return C.Nothing;
  }
  if (C.Name == "move" || C.Name == "forward" || C.Name == "as_const" ||
      C.Name == "ref" || C.Name == "cref" || C.Name == "addressof" ||
      C.Name == "static_pointer_cast" || C.Name == "dynamic_pointer_cast")
    return C.Arguments.empty() ? C.Nothing : C.Arguments.front();
  if (C.Arguments.size() == 1 && C.Arguments[0]->What == Value::List)
    if (Cell Place = boundOf(C.Name, C.Arguments[0]))
      return Place;
  if (Cell Result = callAlgorithm(C))
    return Result;
  return skipStandard(C);
}

} // namespace libtorch_tidy::bytes
