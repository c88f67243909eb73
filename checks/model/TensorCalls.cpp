//===- TensorCalls.cpp - What LibTorch's functions do with tensors --------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/model/Interpreter.h"
#include "checks/torch/ModuleApi.h"
#include <cmath>

using namespace clang;
using llvm::ArrayRef;
using llvm::Twine;

namespace libtorch_tidy::model {

std::optional<std::vector<torch::Size>> sizesOf(const Cell &V) {
  if (V->What == Value::Integer)
    return std::vector<torch::Size>{V->Number};
  if (V->What != Value::List)
    return std::nullopt;
  std::vector<torch::Size> Result;
  for (const Cell &Element : V->Elements)
    Result.push_back(Element->What == Value::Integer
                         ? torch::Size(Element->Number)
                         : std::nullopt);
  return Result;
}

/// Is a number of \p V an integer, as far as a factory's type depends on it?
static std::optional<bool> isIntegral(const Cell &V) {
  if (V->What == Value::Integer)
    return true;
  if (V->What == Value::Real)
    return false;
  if (V->What == Value::List && !V->Elements.empty())
    return isIntegral(V->Elements.front());
  return std::nullopt;
}

Cell Interpreter::callTensor(const CallExpr *E, const FunctionDecl *F,
                             const Cell &Object, ArrayRef<Cell> Arguments) {
  const SourceLocation At = E->Stmt::getBeginLoc();
  const Cell Nothing =
      unknown(At, "the tensor that '" + F->getNameAsString() + "' gives");
  if (torch::setsElementType(F) || torch::changesTensorOptions(F)) {
    Value V;
    V.What = Value::Options;
    if (Object && Object->What == Value::Tensor) // Its options().
      V.Element = Object->Handle->Shape.Type;
    if (torch::setsRequiresGrad(F))
      V.RequiresGrad =
          Arguments.empty() || truth(Arguments.front()).value_or(false);
    if (torch::setsElementType(F) && !Arguments.empty()) {
      const Cell &Type = Arguments.back();
      if (Type->What == Value::Unknown)
        return Type;
      if (Type->What == Value::Type)
        V.Element = Type->Element;
    }
    return cell(std::move(V));
  }
  // A type among the arguments: the type itself, or options with one.
  std::optional<torch::ElementType> Asked;
  bool HasOptions = false, RequiresGrad = false;
  for (const Cell &Argument : Arguments) {
    RequiresGrad |= Argument->What == Value::Options && Argument->RequiresGrad;
    if (Argument->What == Value::Type ||
        (Argument->What == Value::Options && Argument->Element))
      Asked = Argument->Element;
    HasOptions |=
        Argument->What == Value::Unknown && Argument != Arguments.front();
  }
  auto Made = [&](std::optional<std::vector<torch::Size>> Sizes,
                  std::optional<torch::ElementType> Default) {
    auto T = std::make_shared<TensorInstance>();
    T->Shape.Sizes = std::move(Sizes);
    T->Shape.Type = Asked ? Asked : HasOptions ? std::nullopt : Default;
    T->RequiresGrad = RequiresGrad;
    if (Pass) {
      setPlace(current(), At);
      Pass->place(*T);
    }
    return tensorValue(std::move(T));
  };
  auto TypeOf = [&](std::optional<bool> Integral) {
    return !Integral ? std::nullopt
                     : std::optional(*Integral ? torch::Int64 : torch::Float32);
  };
  const torch::TensorAct Act = torch::tensorAct(F);
  switch (Act) {
  case torch::TensorAct::MakeSized:
    return Arguments.empty() ? Nothing
                             : Made(sizesOf(Arguments[0]), torch::Float32);
  case torch::TensorAct::MakeFull:
    return Arguments.size() < 2
               ? Nothing
               : Made(sizesOf(Arguments[0]), TypeOf(isIntegral(Arguments[1])));
  case torch::TensorAct::MakeSquare: {
    if (Arguments.empty() || Arguments[0]->What != Value::Integer)
      return Nothing;
    const torch::Size Rows = Arguments[0]->Number;
    const torch::Size Columns =
        Arguments.size() > 1 && Arguments[1]->What == Value::Integer
            ? torch::Size(Arguments[1]->Number)
            : Rows;
    return Made(std::vector{Rows, Columns}, torch::Float32);
  }
  case torch::TensorAct::MakeRange: {
    llvm::SmallVector<double, 3> Numbers;
    bool Integral = true;
    for (const Cell &Argument : Arguments) {
      if (Argument->What == Value::Integer)
        Numbers.push_back(static_cast<double>(Argument->Number));
      else if (Argument->What == Value::Real)
        Numbers.push_back(Argument->RealNumber);
      else
        break;
      Integral &= Argument->What == Value::Integer;
    }
    if (Numbers.empty())
      return Nothing;
    const double From = Numbers.size() > 1 ? Numbers[0] : 0;
    const double To = Numbers.size() > 1 ? Numbers[1] : Numbers[0];
    const double Step = Numbers.size() > 2 ? Numbers[2] : 1;
    const double Count = Step == 0 ? -1 : std::ceil((To - From) / Step);
    return Made(Count >= 0 && Count < 1e15
                    ? std::optional(
                          std::vector<torch::Size>{static_cast<int64_t>(Count)})
                    : std::nullopt,
                TypeOf(Integral));
  }
  case torch::TensorAct::MakeSteps:
    return Arguments.size() < 3 || Arguments[2]->What != Value::Integer
               ? Nothing
               : Made(std::vector<torch::Size>{Arguments[2]->Number},
                      torch::Float32);
  case torch::TensorAct::MakeList: {
    if (Arguments.empty())
      return Nothing;
    std::vector<torch::Size> Sizes;
    for (Cell Level = Arguments[0]; Level->What == Value::List;) {
      Sizes.push_back(Level->Elements.size());
      if (Level->Elements.empty())
        break;
      Level = Cell(Level->Elements.front());
    }
    return Made(std::move(Sizes), TypeOf(isIntegral(Arguments[0])));
  }
  default:
    break;
  }
  // The others are of a tensor: the object, or the first argument.
  const Cell &Self = Object              ? Object
                     : Arguments.empty() ? Nothing
                                         : Arguments.front();
  if (!Self || Self->What == Value::Unknown)
    return Self ? Self : Nothing;
  const ArrayRef<Cell> Rest =
      Object || Arguments.empty() ? Arguments : Arguments.drop_front();
  if (Self->What != Value::Tensor) {
    // number * tensor.
    if (Act == torch::TensorAct::Combine && !Rest.empty() &&
        Rest.front()->What == Value::Tensor)
      return tensorValue(clonedTensor(Rest.front()->Handle));
    return Nothing;
  }
  const TensorPtr &T = Self->Handle;
  auto Changed = [&](std::optional<std::vector<torch::Size>> Sizes) {
    TensorPtr Copy = clonedTensor(T);
    Copy->Shape.Sizes = std::move(Sizes);
    Copy->RequiresGrad = false;
    return tensorValue(std::move(Copy));
  };
  // A dimension from the end is negative.
  auto Dimension = [&](unsigned I, size_t Count) -> std::optional<size_t> {
    if (I >= Rest.size() || Rest[I]->What != Value::Integer)
      return std::nullopt;
    const int64_t D = Rest[I]->Number;
    const int64_t Real = D < 0 ? D + static_cast<int64_t>(Count) : D;
    if (Real < 0 || Real >= static_cast<int64_t>(Count))
      return std::nullopt;
    return Real;
  };
  switch (Act) {
  case torch::TensorAct::MakeLike: {
    const Cell Result = Changed(T->Shape.Sizes);
    if (Asked || HasOptions)
      Result->Handle->Shape.Type = Asked;
    return Result;
  }
  case torch::TensorAct::Same:
    return Self;
  case torch::TensorAct::SameShape:
    return Changed(T->Shape.Sizes);
  case torch::TensorAct::ToType: {
    const Cell Result = Changed(T->Shape.Sizes);
    for (const auto &[Given, Param] : llvm::zip(Rest, F->parameters()))
      if (Given->What == Value::Tensor)
        Result->Handle->Shape.Type = Given->Handle->Shape.Type;
      else if (Given->What == Value::Unknown &&
               torch::decidesElementType(Param->getType()))
        Result->Handle->Shape.Type = std::nullopt;
    if (Asked)
      Result->Handle->Shape.Type = Asked;
    return Result;
  }
  case torch::TensorAct::Combine: {
    if (Rest.empty())
      return Nothing;
    const Cell &Other = Rest.front();
    if (Other->What == Value::Integer || Other->What == Value::Real) {
      const Cell Result = Changed(T->Shape.Sizes);
      // An integer tensor and a real number give real numbers.
      if (Other->What == Value::Real && T->Shape.Type &&
          T->Shape.Type->Name.contains("int"))
        Result->Handle->Shape.Type = torch::Float32;
      return Result;
    }
    if (Other->What != Value::Tensor || !T->Shape.Sizes ||
        !Other->Handle->Shape.Sizes)
      return Nothing;
    const Cell Result =
        Changed(torch::broadcast(*T->Shape.Sizes, *Other->Handle->Shape.Sizes));
    if (!T->Shape.Type || !Other->Handle->Shape.Type ||
        T->Shape.Type->Name != Other->Handle->Shape.Type->Name)
      Result->Handle->Shape.Type = std::nullopt;
    return Result;
  }
  case torch::TensorAct::RequireGrad:
    T->RequiresGrad =
        Rest.empty() ? std::optional<bool>(true) : truth(Rest.front());
    if (!T->RequiresGrad)
      note(At, "whether a parameter gets a gradient is not known");
    return Self;
  case torch::TensorAct::ReplaceData:
    T->Memory = nullptr;
    if (!Rest.empty() && Rest.front()->What == Value::Tensor) {
      T->Shape = Rest.front()->Handle->Shape;
    } else {
      T->Shape = {};
      T->Shape.Type = std::nullopt;
      note(At, "the data that 'set_data' sets are not known");
    }
    return Self;
  case torch::TensorAct::Unsqueeze: {
    if (!T->Shape.Sizes)
      return Nothing;
    std::vector<torch::Size> Sizes = *T->Shape.Sizes;
    const std::optional<size_t> D = Dimension(0, Sizes.size() + 1);
    if (!D)
      return Nothing;
    Sizes.insert(Sizes.begin() + *D, torch::Size(1));
    return Changed(std::move(Sizes));
  }
  case torch::TensorAct::Transpose:
  case torch::TensorAct::Reverse: {
    if (!T->Shape.Sizes)
      return Nothing;
    std::vector<torch::Size> Sizes = *T->Shape.Sizes;
    if (Act == torch::TensorAct::Reverse) {
      std::reverse(Sizes.begin(), Sizes.end());
      return Changed(std::move(Sizes));
    }
    const std::optional<size_t> A = Dimension(0, Sizes.size()),
                                B = Dimension(1, Sizes.size());
    if (!A || !B)
      return Nothing;
    std::swap(Sizes[*A], Sizes[*B]);
    return Changed(std::move(Sizes));
  }
  case torch::TensorAct::Reshape: {
    if (Rest.empty())
      return Nothing;
    std::optional<std::vector<torch::Size>> Sizes = sizesOf(Rest.front());
    const std::optional<uint64_t> All = T->Shape.elements();
    if (!Sizes || !All)
      return Nothing;
    uint64_t Known = 1;
    torch::Size *Open = nullptr;
    for (torch::Size &S : *Sizes) {
      if (!S || *S < -1 || (*S == -1 && Open))
        return Nothing;
      if (*S == -1)
        Open = &S;
      else if (__builtin_mul_overflow(Known, static_cast<uint64_t>(*S), &Known))
        return Nothing;
    }
    if (Open) {
      if (!Known || *All % Known)
        return Nothing;
      *Open = static_cast<int64_t>(*All / Known);
    } else if (Known != *All) {
      fail(At, "a tensor of " + Twine(*All) + " elements is viewed as " +
                   Twine(Known) + ", which throws");
    }
    return Changed(std::move(Sizes));
  }
  case torch::TensorAct::Size: {
    if (!T->Shape.Sizes)
      return Nothing;
    const std::optional<size_t> D = Dimension(0, T->Shape.Sizes->size());
    return D && (*T->Shape.Sizes)[*D] ? integer(*(*T->Shape.Sizes)[*D])
                                      : Nothing;
  }
  case torch::TensorAct::Dimensions:
    return T->Shape.Sizes ? integer(T->Shape.Sizes->size()) : Nothing;
  case torch::TensorAct::AllSizes: {
    if (!T->Shape.Sizes)
      return Nothing;
    std::vector<Cell> All;
    for (const torch::Size &S : *T->Shape.Sizes)
      All.push_back(S ? integer(*S) : Nothing);
    return listOf(std::move(All));
  }
  case torch::TensorAct::TypeOf: {
    if (!T->Shape.Type)
      return Nothing;
    const Cell Type = valueOf(Value::Type);
    Type->Element = T->Shape.Type;
    return Type;
  }
  case torch::TensorAct::IsDefined:
    return integer(T->Shape.Defined);
  case torch::TensorAct::Fact:
    return valueOf(Value::Other);
  case torch::TensorAct::Elements: {
    const std::optional<uint64_t> All = T->Shape.elements();
    return All ? integer(static_cast<int64_t>(*All)) : Nothing;
  }
  default:
    return Nothing;
  }
}

} // namespace libtorch_tidy::model
