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

Cell Interpreter::callStandard(const CallExpr *E, const FunctionDecl *F,
                               const Cell &Object, ArrayRef<Cell> Arguments) {
  const SourceLocation At = E->Stmt::getBeginLoc();
  const StringRef Name = torch::calleeName(E);
  const Cell Nothing =
      unknown(At, "what '" + F->getNameAsString() + "' returns");
  if (Object) {
    if (Object->What == Value::List)
      return callList(E, Object, Arguments);
    if (Object->What == Value::Iterator)
      if (Cell Result = iteratorOperator(E, F, Object, Arguments))
        return Result;
    if (Object->What == Value::Text && !F->getOverloadedOperator()) {
      if (Name == "size" || Name == "length")
        return integer(Object->Name.size());
      if (Name == "empty")
        return integer(Object->Name.empty());
      if (Name == "c_str" || Name == "data" || Name == "str")
        return Object;
      if (!cast<CXXMethodDecl>(F)->isConst())
        *Object = *unknown(At, "a string after '" + Name + "'");
      return Nothing;
    }
    // Smart pointers and optionals: what they lead to.
    const auto Op = F->getOverloadedOperator();
    if (Op == OO_Star || Op == OO_Arrow || Name == "get" || Name == "value" ||
        Name == "lock") {
      if (Object->What == Value::Pointer && Op != OO_Arrow && Name != "get" &&
          Name != "lock")
        return Object->Target;
      return Object;
    }
    if (Name == "has_value") {
      if (Object->What == Value::Null)
        return integer(0);
      return Object->What == Value::Unknown ? Object : integer(1);
    }
    if (Name == "value_or")
      return Object->What == Value::Null && !Arguments.empty()
                 ? Arguments.front()
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
    if (Op == OO_LessLess)
      return Object;
  }
  if (const auto Op = F->getOverloadedOperator()) {
    llvm::SmallVector<Cell, 2> Operands;
    if (Object)
      Operands.push_back(Object);
    Operands.append(Arguments.begin(), Arguments.end());
    if (Operands.size() == 2)
      switch (Op) {
      case OO_Plus:
        return arithmetic(BO_Add, Operands[0], Operands[1], E->getType(), E);
      case OO_EqualEqual:
        return arithmetic(BO_EQ, Operands[0], Operands[1], Context.BoolTy, E);
      case OO_ExclaimEqual:
        return arithmetic(BO_NE, Operands[0], Operands[1], Context.BoolTy, E);
      case OO_Less:
        return arithmetic(BO_LT, Operands[0], Operands[1], Context.BoolTy, E);
      case OO_Greater:
        return arithmetic(BO_GT, Operands[0], Operands[1], Context.BoolTy, E);
      case OO_Minus:
        return arithmetic(BO_Sub, Operands[0], Operands[1], E->getType(), E);
      case OO_LessEqual:
        return arithmetic(BO_LE, Operands[0], Operands[1], Context.BoolTy, E);
      case OO_GreaterEqual:
        return arithmetic(BO_GE, Operands[0], Operands[1], Context.BoolTy, E);
      case OO_LessLess:
        return Operands[0];
      default:
        break;
      }
    return Nothing;
  }
  if (const auto *Method = dyn_cast<CXXMethodDecl>(F);
      Method && code::isStdClass(Method->getParent(), {"numeric_limits"}))
    return limitOf(Name, F->getReturnType(), Nothing);
  if (Name == "make_shared" || Name == "make_unique") {
    const QualType Type = firstTypeArgument(F);
    const CXXRecordDecl *R =
        definitionOf(Type.isNull() ? nullptr : Type->getAsCXXRecordDecl());
    if (!R)
      return Nothing;
    llvm::SmallVector<QualType, 4> Types;
    for (const Expr *Arg : E->arguments())
      Types.push_back(Arg->getType());
    const Cell Made = makeObject(R, Arguments, Types, nullptr, At);
    if (Made->What == Value::Module || Made->What == Value::Unknown)
      return Made;
    Value V;
    V.What = Value::Pointer;
    V.Target = Made;
    return cell(std::move(V));
  }
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
  if (Name == "make_pair" || Name == "make_tuple" ||
      Name == "forward_as_tuple") {
    std::vector<Cell> Parts;
    for (const Cell &Part : Arguments)
      Parts.push_back(copyOf(Part));
    return listOf(std::move(Parts));
  }
  if (Name == "max" || Name == "min") {
    std::vector<Cell> From(Arguments.begin(), Arguments.end());
    if (From.size() == 1 && From.front()->What == Value::List)
      From = std::vector(From.front()->Elements);
    if (From.empty())
      return Nothing;
    Cell Unknown;
    const std::optional<size_t> Best = bestOf(From, Name == "max", E, Unknown);
    return Best ? From[*Best] : Unknown;
  }
  if (Name == "abs" && Arguments.size() == 1) {
    if (Arguments[0]->What == Value::Integer &&
        Arguments[0]->Number > INT64_MIN)
      return integer(std::abs(Arguments[0]->Number));
    if (Arguments[0]->What == Value::Real)
      return real(std::abs(Arguments[0]->RealNumber));
    return Arguments[0];
  }
  if ((Name == "gcd" || Name == "lcm") && Arguments.size() == 2 &&
      Arguments[0]->What == Value::Integer &&
      Arguments[1]->What == Value::Integer) {
    const int64_t A = Arguments[0]->Number, B = Arguments[1]->Number;
    // What does not overflow.
    if (std::abs(A) < (1LL << 31) && std::abs(B) < (1LL << 31))
      return integer(Name == "gcd" ? std::gcd(A, B) : std::lcm(A, B));
    return Nothing;
  }
  if (Name == "clamp" && Arguments.size() == 3) {
    for (const Cell &Argument : Arguments)
      if (Argument->What == Value::Unknown)
        return Argument;
    const std::optional<bool> Below =
        truth(arithmetic(BO_LT, Arguments[0], Arguments[1], Context.BoolTy, E));
    const std::optional<bool> Above =
        truth(arithmetic(BO_LT, Arguments[2], Arguments[0], Context.BoolTy, E));
    if (!Below || !Above)
      return Nothing;
    return *Below ? Arguments[1] : *Above ? Arguments[2] : Arguments[0];
  }
  if (Name == "to_string" && Arguments.size() == 1)
    return Arguments[0]->What == Value::Integer
               ? text(std::to_string(Arguments[0]->Number))
               : Nothing;
  if (Name == "swap" && Arguments.size() == 2) {
    std::swap(*Arguments[0], *Arguments[1]);
    return Nothing;
  }
  if (Name == "move" || Name == "forward" || Name == "as_const" ||
      Name == "ref" || Name == "cref" || Name == "addressof" ||
      Name == "static_pointer_cast" || Name == "dynamic_pointer_cast")
    return Arguments.empty() ? Nothing : Arguments.front();
  if (!Arguments.empty() && Arguments.size() <= 2) {
    double Numbers[2] = {0, 0};
    bool Known = true;
    for (unsigned I = 0; I < Arguments.size(); ++I) {
      if (Arguments[I]->What == Value::Integer)
        Numbers[I] = static_cast<double>(Arguments[I]->Number);
      else if (Arguments[I]->What == Value::Real)
        Numbers[I] = Arguments[I]->RealNumber;
      else
        Known = false;
    }
    if (Known)
      if (std::optional<double> Result = computed(Name, Numbers[0], Numbers[1]))
        return convert(real(*Result), F->getReturnType());
  }
  if (Arguments.size() == 1 && Arguments[0]->What == Value::List)
    if (Cell Place = boundOf(Name, Arguments[0]))
      return Place;
  if (Cell Result = callAlgorithm(E, F, Name, Arguments))
    return Result;
  // Whatever else may change what it is given.
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

} // namespace libtorch_tidy::model
