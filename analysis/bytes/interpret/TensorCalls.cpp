//===- TensorCalls.cpp - What LibTorch's functions do with tensors --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Interpreter.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Compat.h"
#include "analysis/cpp/Std.h"
#include "analysis/torch/api/TorchTypes.h"
#include <cmath>

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::bytes {

MaybeSizes sizesOf(const Cell &V) {
  if (V->What == Value::Integer)
    return std::vector<Size>{V->Number};
  if (V->What != Value::List)
    return std::nullopt;
  std::vector<Size> Result;
  for (const Cell &Element : V->Elements)
    Result.push_back(Element->What == Value::Integer ? Size(Element->Number)
                                                     : std::nullopt);
  return Result;
}

/// What a factory makes of numbers like those in \p V; nullopt where that is
/// not known.
static std::optional<ElementType> typeOfNumbers(const Cell &V) {
  if (V->What == Value::Integer)
    return Int64;
  if (V->What == Value::Real)
    return Float32;
  return V->What == Value::List && !V->Elements.empty()
             ? typeOfNumbers(V->Elements.front())
             : std::nullopt;
}

/// dtype(kHalf) and its like: a function, or a method of a tensor's options.
static Cell makeTensorOptions(const LibraryCall &C) {
  const Cell Options = valueOf(Value::Options);
  if (C.Object && C.Object->What == Value::Tensor) // Its options().
    Options->Element = C.Object->Handle->Shape.Type;
  if (setsRequiresGrad(C.F))
    Options->RequiresGrad =
        C.Arguments.empty() || truth(C.Arguments.front()).value_or(false);
  if (setsElementOrder(C.F) && !C.Arguments.empty())
    Options->Settings[OrderOption.str()] = C.Arguments.front();
  if (setsElementType(C.F) && !C.Arguments.empty()) {
    const Cell &Type = C.Arguments.back();
    if (Type->What == Value::Unknown)
      return Type;
    if (Type->What == Value::Type)
      Options->Element = Type->Element;
  }
  return Options;
}

/// Is a factory asked for an image whose channels are last? Those that take no
/// order do not look for one in their options.
static bool asksForChannelsLast(const LibraryCall &C) {
  for (unsigned I = 0; I < C.F->getNumParams(); ++I) {
    if (C.F->getParamDecl(I)->getName() != OrderOption)
      continue;
    for (size_t Given = 0; Given < C.Arguments.size(); ++Given) {
      const Cell &V = C.Arguments[Given];
      const Cell Order = Given == I ? V : settingOf(V->Settings, OrderOption);
      if (Order && Order->What == Value::Integer &&
          Order->Number == ChannelsLast)
        return true;
    }
  }
  return false;
}

/// What a factory makes, unless it is asked for another type.
static Cell makeTensor(const LibraryCall &C, MaybeSizes Sizes,
                       std::optional<ElementType> Type) {
  std::optional<ElementType> Asked; // The type itself, or of options.
  bool IsOpen = false; // Something that may be a type is not known.
  bool RequiresGrad = false;
  for (const Cell &Argument : C.Arguments) {
    const bool IsOptions = Argument->What == Value::Options;
    RequiresGrad |= IsOptions && Argument->RequiresGrad;
    if (Argument->What == Value::Type || (IsOptions && Argument->Element))
      Asked = Argument->Element;
    IsOpen |=
        Argument->What == Value::Unknown && Argument != C.Arguments.front();
  }
  auto T = std::make_shared<TensorInstance>();
  T->Shape = {std::move(Sizes), Asked || IsOpen ? Asked : Type};
  T->RequiresGrad = RequiresGrad;
  if (C.VM.Pass) {
    C.VM.setPlace(C.VM.current(), C.At);
    C.VM.Pass->place(*T);
  }
  if (asksForChannelsLast(C) && T->Shape.Sizes && T->Shape.Sizes->size() == 4 &&
      T->Shape.bytes()) {
    if (!C.VM.Pass)
      C.VM.Making.place(*T);
    T->Strides = channelsLastStrides(T->sizes());
  }
  return tensorValue(std::move(T));
}

/// torch::eye(n, [m,] options).
static Cell makeSquare(const LibraryCall &C) {
  const ArrayRef<Cell> Numbers = C.Arguments.take_while(
      [](const Cell &V) { return V->What == Value::Integer; });
  if (Numbers.empty())
    return C.Nothing;
  const Cell &Columns = Numbers[Numbers.size() > 1 ? 1 : 0];
  return makeTensor(C, std::vector<Size>{Numbers[0]->Number, Columns->Number},
                    Float32);
}

/// torch::arange([start,] end[, step], options).
static Cell makeRange(const LibraryCall &C) {
  const ArrayRef<Cell> Numbers = C.Arguments.take_while(isNumber);
  if (Numbers.empty())
    return C.Nothing;
  const double From = Numbers.size() > 1 ? realOf(Numbers[0]) : 0;
  const double To = realOf(Numbers[Numbers.size() > 1 ? 1 : 0]);
  const double Step = Numbers.size() > 2 ? realOf(Numbers[2]) : 1;
  const double Count = Step == 0 ? -1 : std::ceil((To - From) / Step);
  MaybeSizes Sizes;
  if (Count >= 0 && Count < 1e15)
    Sizes = std::vector<Size>{static_cast<int64_t>(Count)};
  const bool HasReal = llvm::any_of(
      Numbers, [](const Cell &V) { return V->What == Value::Real; });
  return makeTensor(C, std::move(Sizes), HasReal ? Float32 : Int64);
}

/// torch::randint([low,] high, sizes, options), and randperm(n, options).
static Cell makeIntegers(const LibraryCall &C) {
  const auto Sizes = llvm::find_if(
      C.Arguments, [](const Cell &V) { return V->What == Value::List; });
  if (Sizes != C.Arguments.end())
    return makeTensor(C, sizesOf(*Sizes), Int64);
  if (C.Name == "randperm")
    return makeTensor(C, sizesOf(C.Arguments[0]), Int64);
  // A number alone is the only size, the last of two or three numbers.
  const ArrayRef<Cell> Numbers = C.Arguments.take_while([](const Cell &V) {
    return V->What == Value::Integer || V->What == Value::Unknown;
  });
  return Numbers.size() > 1 && Numbers.back()->What == Value::Integer
             ? makeTensor(C, sizesOf(Numbers.back()), Int64)
             : C.Nothing;
}

/// torch::linspace(start, end, steps, options).
static Cell makeSteps(const LibraryCall &C) {
  const Cell &Steps = C.Arguments[2];
  return Steps->What == Value::Integer ? makeTensor(C, sizesOf(Steps), Float32)
                                       : C.Nothing;
}

/// What torch::tensor() is given, as it is written: a number, the first of
/// those in braces, or a container.
static const Expr *writtenValues(const LibraryCall &C) {
  const Expr *Given = C.E && C.E->getNumArgs() ? C.E->getArg(0) : nullptr;
  // What is written is converted on the way.
  while (Given) {
    Given = Given->IgnoreImplicit();
    const auto *List = dyn_cast<InitListExpr>(Given);
    const auto *Made = dyn_cast<CXXConstructExpr>(Given);
    if (const auto *Braces = dyn_cast<CXXStdInitializerListExpr>(Given))
      Given = Braces->getSubExpr();
    else if (List && List->getNumInits())
      Given = List->getInit(0);
    else if (Made && Made->getNumArgs() &&
             torch::isTorchDecl(Made->getConstructor()))
      Given = Made->getArg(0);
    else
      break;
  }
  return Given;
}

/// The type that torch::tensor() gives numbers of \p Type, or the elements of a
/// container of them; nullopt of others.
static std::optional<ElementType> typeOfWritten(QualType Type) {
  if (const CXXRecordDecl *R = Type->getAsCXXRecordDecl())
    Type = cpp::isOfLibrary(R) ? typeArgument(R, 0) : QualType();
  if (Type.isNull() || !Type->isArithmeticType())
    return std::nullopt;
  return Type->isRealFloatingType() ? Float32
         : Type->isBooleanType()    ? Bool
                                    : Int64;
}

/// torch::tensor(values, options): its shape is that of the lists within each
/// other.
static Cell makeOfValues(const LibraryCall &C) {
  std::vector<Size> Sizes;
  const Expr *Values = writtenValues(C);
  const std::optional<ElementType> Written =
      Values ? typeOfWritten(Values->getType()) : std::nullopt;
  // A number or a container that is not known.
  if (C.Arguments[0]->What == Value::Unknown) {
    if (Written && !Values->getType()->isRecordType())
      return makeTensor(C, Sizes, Written);
    return makeTensor(C, Written ? MaybeSizes({std::nullopt}) : MaybeSizes(),
                      Written);
  }
  for (Cell Level = C.Arguments[0]; Level->What == Value::List;) {
    Sizes.push_back(Level->Elements.size());
    if (Level->Elements.empty())
      break;
    Level = Cell(Level->Elements.front());
  }
  const std::optional<ElementType> Given = typeOfNumbers(C.Arguments[0]);
  return makeTensor(C, std::move(Sizes), Given ? Given : Written);
}

/// torch::from_blob(data, sizes, options): memory that the library has not
/// allocated. Strides or a deleter leave it unknown.
static Cell makeOverMemory(const LibraryCall &C) {
  if (llvm::any_of(C.Arguments.drop_front(2), [](const Cell &V) {
        return V->What != Value::Options && V->What != Value::Type;
      }))
    return C.Nothing;
  const Cell Made = makeTensor(C, sizesOf(C.Arguments[1]), Float32);
  if (Made->Handle->Memory)
    Made->Handle->Memory = C.VM.Pass->scratch(0);
  return Made;
}

static const CallRule FactoryRules[] = {
    // Of sizes, and options.
    {"zeros ones empty rand randn",
     [](auto &C) { return makeTensor(C, sizesOf(C.Arguments[0]), Float32); },
     1},
    // Of sizes, a value, and options.
    {"full",
     [](auto &C) {
       return makeTensor(C, sizesOf(C.Arguments[0]),
                         typeOfNumbers(C.Arguments[1]));
     },
     2},
    // Of a mean, a deviation, sizes, and options.
    {"normal",
     [](auto &C) { return makeTensor(C, sizesOf(C.Arguments[2]), Float32); },
     3},
    {"eye", makeSquare, 1},
    {"arange", makeRange, 1},
    {"linspace logspace", makeSteps, 3},
    {"randint randperm", makeIntegers, 1},
    {"tensor", makeOfValues, 1},
    {"from_blob", makeOverMemory, 2},
};

//===----------------------------------------------------------------------===//
// Methods of a tensor, and functions whose first argument is one
//===----------------------------------------------------------------------===//

static Cell sameTensor(const LibraryCall &C) { return C.Object; }

static Cell requireGrad(const LibraryCall &C) {
  std::optional<bool> &Requires = C.Object->Handle->RequiresGrad;
  Requires = C.Arguments.empty() ? std::optional<bool>(true)
                                 : truth(C.Arguments.front());
  if (!Requires) {
    C.VM.OpenGradients[C.Object->Handle.get()] = C.At;
    C.VM.note(C.At, GradientIsOpen);
  }
  return C.Object;
}

static Cell replaceData(const LibraryCall &C) {
  TensorInstance &T = *C.Object->Handle;
  T.Memory = nullptr;
  if (!C.Arguments.empty() && C.Arguments.front()->What == Value::Tensor) {
    T.Shape = C.Arguments.front()->Handle->Shape;
    return C.Object;
  }
  T.Shape = {std::nullopt, std::nullopt};
  C.VM.note(C.At, "the data that 'set_data' sets are not known");
  return C.Object;
}

static Cell typeOf(const LibraryCall &C) {
  const auto &Type = C.Object->Handle->Shape.Type;
  return Type ? typeValue(*Type) : C.Nothing;
}

static Cell numberOfElements(const LibraryCall &C) {
  const std::optional<uint64_t> All = C.Object->Handle->Shape.elements();
  return All ? integer(static_cast<int64_t>(*All)) : C.Nothing;
}

static Cell sizeAt(const LibraryCall &C) {
  const MaybeSizes &Sizes = C.Object->Handle->Shape.Sizes;
  if (!Sizes || C.Arguments.empty() || C.Arguments[0]->What != Value::Integer)
    return C.Nothing;
  // From the end where it is negative.
  const auto Count = static_cast<int64_t>(Sizes->size());
  const int64_t D = C.Arguments[0]->Number;
  if (D < -Count || D >= Count)
    return C.Nothing;
  const Size &Found = (*Sizes)[D < 0 ? D + Count : D];
  return Found ? integer(*Found) : C.Nothing;
}

/// slice() and narrow() of a dimension whose size is not known give as much as
/// they are asked for.
static Cell partOfUnknown(const LibraryCall &C) {
  const TensorShape &Whole = C.Object->Handle->Shape;
  const size_t Count = C.Arguments.size();
  for (const Cell &Argument : C.Arguments)
    if (Argument->What != Value::Integer)
      return nullptr;
  const auto D = Whole.Sizes && Count >= 3
                     ? indexIn(C.Arguments[0], Whole.Sizes->size())
                     : std::nullopt;
  if (!D || (*Whole.Sizes)[*D] || (Count > 3 && C.Arguments[3]->Number != 1))
    return nullptr;
  const int64_t From = C.Arguments[1]->Number, Last = C.Arguments[2]->Number;
  const int64_t Length = C.Name == "narrow" ? Last : Last - From;
  if (From < 0 || Length < 0)
    return nullptr;
  auto T = std::make_shared<TensorInstance>();
  T->Shape = Whole;
  (*T->Shape.Sizes)[*D] = Length;
  return tensorValue(std::move(T));
}

static Cell dimensions(const LibraryCall &C) {
  const MaybeSizes &Sizes = C.Object->Handle->Shape.Sizes;
  return Sizes ? integer(Sizes->size()) : C.Nothing;
}

static Cell allSizes(const LibraryCall &C) {
  if (!C.Object->Handle->Shape.Sizes)
    return C.Nothing;
  std::vector<Cell> All;
  for (const Size &S : *C.Object->Handle->Shape.Sizes)
    All.push_back(S ? integer(*S) : C.Nothing);
  return listOf(std::move(All));
}

static const CallRule MethodRules[] = {
    {"requires_grad_ set_requires_grad", requireGrad},
    {"set_data", replaceData},
    {"size", sizeAt},
    {"dim ndimension", dimensions},
    {"numel", numberOfElements},
    {"sizes", allSizes},
    {"scalar_type dtype", typeOf},
    {"defined",
     [](auto &C) { return integer(C.Object->Handle->Shape.Defined); }},
    // Known of every tensor here.
    {"device is_cuda is_cpu requires_grad",
     [](auto &) { return valueOf(Value::Other); }},
    {"contiguous data cuda cpu variable_data tensor_data", sameTensor},
};

/// torch::nn::init fills what it is given.
static const CallRule FillRules[] = {
    {"xavier_uniform_ xavier_normal_ kaiming_uniform_ kaiming_normal_ "
     "orthogonal_ uniform_ normal_ constant_ zeros_ ones_ eye_ dirac_ sparse_",
     sameTensor},
};

/// The rule for \p F, one of LibTorch's that takes a tensor; null for others.
static const CallRule *tensorRule(const FunctionDecl *F) {
  const StringRef Name = cpp::nameOf(F);
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (!torch::isTorchDecl(F) ||
      (Method && !torch::isTensor(compat::recordType(Method->getParent()))))
    return nullptr;
  switch (F->getOverloadedOperator()) {
  case OO_None:
    break;
  case OO_PlusEqual:
  case OO_MinusEqual:
  case OO_StarEqual:
  case OO_SlashEqual:
    return FillRules;
  default:
    return nullptr;
  }
  if (!Method)
    return ruleNamed(FillRules, Name);
  if (const CallRule *Rule = ruleNamed(MethodRules, Name))
    return Rule;
  // In place, sizes change by few methods.
  constexpr StringRef Reshaping = "set_ t_ transpose_ squeeze_ unsqueeze_ "
                                  "swapaxes_ swapdims_ as_strided_";
  return Name.ends_with("_") && !Name.starts_with("resize_") &&
                 !llvm::is_contained(llvm::split(Reshaping, ' '), Name)
             ? FillRules
             : nullptr;
}

Cell callWithTensors(LibraryCall C) {
  const bool IsFollowed = isTensorOperator(C.F);
  const bool IsFactory = !IsFollowed && torch::isTorchDecl(C.F) &&
                         !isa<CXXMethodDecl>(C.F) &&
                         ruleNamed(FactoryRules, cpp::nameOf(C.F));
  if (C.VM.Pass && IsFollowed)
    return callOperator(C);
  if (C.Object && C.Object->What == Value::Tensor &&
      (C.Name == "slice" || C.Name == "narrow"))
    if (Cell Part = partOfUnknown(C))
      return Part;
  if (setsElementType(C.F) || changesTensorOptions(C.F))
    return makeTensorOptions(C);
  const CallRule *Rule = tensorRule(C.F);
  if (!Rule && !IsFactory)
    return IsFollowed ? callOperator(C) : nullptr;
  C.Nothing =
      unknown(C.At, "the tensor that '" + C.F->getNameAsString() + "' gives");
  if (IsFactory) {
    const Cell Made = byRule(FactoryRules, C);
    return Made ? Made : C.Nothing;
  }
  if (!C.Object && !C.Arguments.empty()) {
    C.Object = C.Arguments.front();
    C.Arguments = C.Arguments.drop_front();
  }
  if (!C.Object)
    return C.Nothing;
  if (C.Object->What == Value::Unknown)
    return C.Object;
  return C.Object->What == Value::Tensor ? Rule->Handle(C) : C.Nothing;
}

} // namespace libtorch_tidy::bytes
