//===- TensorCalls.cpp - What LibTorch's functions do with tensors --------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/bytes/interpret/Interpreter.h"
#include "analysis/bytes/library/ModuleApi.h"
#include <cmath>

using namespace clang;
using llvm::ArrayRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

MaybeSizes sizesOf(const Cell &V) {
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

static bool isFactory(TensorAct Act) {
  return Act >= TensorAct::MakeSized && Act <= TensorAct::MakeList;
}

/// dtype(kHalf) and its like: a function, or a method of a tensor's options.
static Cell makeTensorOptions(const LibraryCall &C) {
  const Cell Options = valueOf(Value::Options);
  if (C.Object && C.Object->What == Value::Tensor) // Its options().
    Options->Element = C.Object->Handle->Shape.Type;
  if (setsRequiresGrad(C.F))
    Options->RequiresGrad =
        C.Arguments.empty() || truth(C.Arguments.front()).value_or(false);
  if (setsElementType(C.F) && !C.Arguments.empty()) {
    const Cell &Type = C.Arguments.back();
    if (Type->What == Value::Unknown)
      return Type;
    if (Type->What == Value::Type)
      Options->Element = Type->Element;
  }
  return Options;
}

namespace {

/// What the arguments of a factory ask for.
struct AskedElements {
  explicit AskedElements(ArrayRef<Cell> Arguments) {
    for (const Cell &Argument : Arguments) {
      const bool IsOptions = Argument->What == Value::Options;
      RequiresGrad |= IsOptions && Argument->RequiresGrad;
      if (Argument->What == Value::Type || (IsOptions && Argument->Element))
        Type = Argument->Element;
      IsOpen |=
          Argument->What == Value::Unknown && Argument != Arguments.front();
    }
  }

  /// The type itself, or that of options.
  std::optional<torch::ElementType> Type;
  bool IsOpen = false; ///< Something that may be a type is not known.
  bool RequiresGrad = false;
};

} // namespace

static std::optional<torch::ElementType>
factoryType(std::optional<bool> Integral) {
  if (!Integral)
    return std::nullopt;
  return *Integral ? torch::Int64 : torch::Float32;
}

/// arange([start,] end[, step]); nullopt where it is given no numbers.
static std::optional<torch::TensorShape> shapeOfRange(ArrayRef<Cell> Given) {
  const ArrayRef<Cell> Numbers = Given.take_while(isNumber);
  if (Numbers.empty())
    return std::nullopt;
  const double From = Numbers.size() > 1 ? realOf(Numbers[0]) : 0;
  const double To = realOf(Numbers[Numbers.size() > 1 ? 1 : 0]);
  const double Step = Numbers.size() > 2 ? realOf(Numbers[2]) : 1;
  const double Count = Step == 0 ? -1 : std::ceil((To - From) / Step);
  torch::TensorShape Shape;
  if (Count >= 0 && Count < 1e15)
    Shape.Sizes = std::vector<torch::Size>{static_cast<int64_t>(Count)};
  Shape.Type = factoryType(llvm::all_of(
      Numbers, [](const Cell &V) { return V->What == Value::Integer; }));
  return Shape;
}

/// The shape of tensor(values): that of the lists within each other.
static std::vector<torch::Size> sizesOfNested(const Cell &List) {
  std::vector<torch::Size> Result;
  for (Cell Level = List; Level->What == Value::List;) {
    Result.push_back(Level->Elements.size());
    if (Level->Elements.empty())
      break;
    Level = Cell(Level->Elements.front());
  }
  return Result;
}

/// What a factory makes where it is not asked for a type; nullopt for other
/// functions, and where that is not known.
static std::optional<torch::TensorShape> shapeMade(TensorAct Act,
                                                   ArrayRef<Cell> Given) {
  if (Given.empty())
    return std::nullopt;
  auto IsInteger = [&](unsigned I) {
    return I < Given.size() && Given[I]->What == Value::Integer;
  };
  torch::TensorShape Shape;
  switch (Act) {
  case TensorAct::MakeSized:
    Shape.Sizes = sizesOf(Given[0]);
    return Shape;
  case TensorAct::MakeFull:
    if (Given.size() < 2)
      return std::nullopt;
    Shape.Sizes = sizesOf(Given[0]);
    Shape.Type = factoryType(isIntegral(Given[1]));
    return Shape;
  case TensorAct::MakeSquare:
    if (!IsInteger(0))
      return std::nullopt;
    Shape.Sizes = std::vector<torch::Size>{Given[0]->Number,
                                           Given[IsInteger(1) ? 1 : 0]->Number};
    return Shape;
  case TensorAct::MakeRange:
    return shapeOfRange(Given);
  case TensorAct::MakeSteps:
    if (!IsInteger(2))
      return std::nullopt;
    Shape.Sizes = std::vector<torch::Size>{Given[2]->Number};
    return Shape;
  case TensorAct::MakeList:
    Shape.Sizes = sizesOfNested(Given[0]);
    Shape.Type = factoryType(isIntegral(Given[0]));
    return Shape;
  default:
    return std::nullopt;
  }
}

/// What a factory makes.
static Cell makeTensor(Interpreter &VM, torch::TensorShape Shape,
                       ArrayRef<Cell> Arguments, SourceLocation At) {
  const AskedElements Asked(Arguments);
  if (Asked.Type || Asked.IsOpen)
    Shape.Type = Asked.Type;
  auto T = std::make_shared<TensorInstance>();
  T->Shape = std::move(Shape);
  T->RequiresGrad = Asked.RequiresGrad;
  if (VM.Pass) {
    VM.setPlace(VM.current(), At);
    VM.Pass->place(*T);
  }
  return tensorValue(std::move(T));
}

/// The dimension that \p Arguments[I] names, of \p Count: from the end where it
/// is negative. nullopt when there is none.
static std::optional<size_t> dimensionAt(ArrayRef<Cell> Arguments, unsigned I,
                                         size_t Count) {
  if (I >= Arguments.size() || Arguments[I]->What != Value::Integer)
    return std::nullopt;
  const int64_t D = Arguments[I]->Number;
  const int64_t Real = D < 0 ? D + static_cast<int64_t>(Count) : D;
  if (Real < 0 || Real >= static_cast<int64_t>(Count))
    return std::nullopt;
  return Real;
}

/// set_data() of \p T, which is given \p Rest.
static void replaceData(Interpreter &VM, TensorInstance &T, ArrayRef<Cell> Rest,
                        SourceLocation At) {
  T.Memory = nullptr;
  if (!Rest.empty() && Rest.front()->What == Value::Tensor) {
    T.Shape = Rest.front()->Handle->Shape;
    return;
  }
  T.Shape = {};
  T.Shape.Type = std::nullopt;
  VM.note(At, "the data that 'set_data' sets are not known");
}

/// What \p Act asks of a tensor: sizes, types. \p Nothing: not known, or it is
/// no question.
static Cell askedOf(TensorAct Act, const torch::TensorShape &Shape,
                    ArrayRef<Cell> Rest, const Cell &Nothing) {
  switch (Act) {
  case TensorAct::IsDefined:
    return integer(Shape.Defined);
  case TensorAct::Fact:
    return valueOf(Value::Other);
  case TensorAct::TypeOf:
    return Shape.Type ? typeValue(*Shape.Type) : Nothing;
  case TensorAct::Elements: {
    const std::optional<uint64_t> All = Shape.elements();
    return All ? integer(static_cast<int64_t>(*All)) : Nothing;
  }
  default:
    break;
  }
  if (!Shape.Sizes)
    return Nothing;
  const auto Number = [&](const torch::Size &S) {
    return S ? integer(*S) : Nothing;
  };
  switch (Act) {
  case TensorAct::Size: {
    const std::optional<size_t> D = dimensionAt(Rest, 0, Shape.Sizes->size());
    return D ? Number((*Shape.Sizes)[*D]) : Nothing;
  }
  case TensorAct::Dimensions:
    return integer(Shape.Sizes->size());
  case TensorAct::AllSizes: {
    std::vector<Cell> All;
    for (const torch::Size &S : *Shape.Sizes)
      All.push_back(Number(S));
    return listOf(std::move(All));
  }
  default:
    return Nothing;
  }
}

static Cell callTensor(Interpreter &VM, LibraryCall C) {
  C.Nothing =
      unknown(C.At, "the tensor that '" + C.F->getNameAsString() + "' gives");
  const TensorAct Act = C.OnTensor;
  if (isFactory(Act)) {
    std::optional<torch::TensorShape> Shape = shapeMade(Act, C.Arguments);
    return Shape ? makeTensor(VM, std::move(*Shape), C.Arguments, C.At)
                 : C.Nothing;
  }
  // The others are of a tensor: the object, or the first argument.
  const Cell &Self = C.Object              ? C.Object
                     : C.Arguments.empty() ? C.Nothing
                                           : C.Arguments.front();
  if (!Self || Self->What == Value::Unknown)
    return Self ? Self : C.Nothing;
  const ArrayRef<Cell> Rest =
      C.Object || C.Arguments.empty() ? C.Arguments : C.Arguments.drop_front();
  if (Self->What != Value::Tensor)
    return C.Nothing;
  TensorInstance &T = *Self->Handle;
  switch (Act) {
  case TensorAct::Same:
    return Self;
  case TensorAct::RequireGrad:
    T.RequiresGrad =
        Rest.empty() ? std::optional<bool>(true) : truth(Rest.front());
    if (!T.RequiresGrad)
      VM.note(C.At, "whether a parameter gets a gradient is not known");
    return Self;
  case TensorAct::ReplaceData:
    replaceData(VM, T, Rest, C.At);
    return Self;
  default:
    return askedOf(Act, T.Shape, Rest, C.Nothing);
  }
}

/// A call that has to do with tensors or their options. Null for others.
Cell callWithTensors(Interpreter &VM, const LibraryCall &C) {
  const bool IsFollowed = !isFactory(C.OnTensor) && isTensorOperator(C.F);
  if (VM.Pass && IsFollowed)
    return callOperator(VM, C);
  if (setsElementType(C.F) || changesTensorOptions(C.F))
    return makeTensorOptions(C);
  if (C.OnTensor != TensorAct::Unknown)
    return callTensor(VM, C);
  return IsFollowed ? callOperator(VM, C) : nullptr;
}

} // namespace libtorch_tidy::bytes
