//===- StandardCalls.cpp - What functions of the standard library do ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Interpreter.h"
#include "analysis/cpp/Calls.h"
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
static Cell limitOf(StringRef Name, QualType Type, const ASTContext &Context,
                    const Cell &Nothing) {
  if (Type->isIntegerType()) {
    const unsigned Width = Context.getIntWidth(Type);
    const bool IsSigned = Type->isSignedIntegerType();
    if (Width > 64)
      return Nothing;
    const int64_t Most = ~0ULL >> (64 - Width + IsSigned);
    return llvm::StringSwitch<Cell>(Name)
        .Case("max", integer(Most))
        .Cases("min", "lowest", integer(IsSigned ? -Most - 1 : 0))
        .Default(Nothing);
  }
  if (!Type->isRealFloatingType())
    return Nothing;
  using llvm::APFloat;
  const llvm::fltSemantics &Kind = Context.getFloatTypeSemantics(Type);
  const int Digits = static_cast<int>(APFloat::semanticsPrecision(Kind));
  auto Number = llvm::StringSwitch<std::optional<APFloat>>(Name)
                    .Case("max", APFloat::getLargest(Kind))
                    .Case("lowest", APFloat::getLargest(Kind, true))
                    .Case("min", APFloat::getSmallestNormalized(Kind))
                    .Case("infinity", APFloat::getInf(Kind))
                    .Case("epsilon", scalbn(APFloat(Kind, 1), 1 - Digits,
                                            APFloat::rmNearestTiesToEven))
                    .Default(std::nullopt);
  if (!Number)
    return Nothing;
  bool Loses = false;
  Number->convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &Loses);
  return real(Number->convertToDouble());
}

//===----------------------------------------------------------------------===//
// Methods of texts, smart pointers and optionals
//===----------------------------------------------------------------------===//

static Cell hasValue(const LibraryCall &C) {
  return C.Object->What == Value::Unknown
             ? C.Object
             : integer(C.Object->What != Value::Null);
}
static Cell valueOr(const LibraryCall &C) {
  return C.Object->What == Value::Null && !C.Arguments.empty()
             ? C.Arguments.front()
             : C.Object;
}
static Cell reset(const LibraryCall &C) {
  *C.Object = *valueOf(Value::Null);
  return C.Object;
}

/// The text or the character that \p V is; nullopt for others.
static std::optional<std::string> textIn(const Cell &V) {
  if (V->What == Value::Text)
    return V->Name;
  if (V->What == Value::Integer)
    return std::string(1, static_cast<char>(V->Number));
  return std::nullopt;
}

/// A place in a text; std::string::npos is -1.
static Cell placeInText(size_t At) {
  return integer(At == std::string::npos ? -1 : static_cast<int64_t>(At));
}

/// text.find(part, from), text.rfind(part, from).
template <size_t (std::string::*Find)(const std::string &, size_t)
              const noexcept,
          size_t From>
static Cell findInText(const LibraryCall &C) {
  const std::optional<std::string> Part = textIn(C.Arguments[0]);
  const std::optional<int64_t> Start =
      C.Arguments.size() < 2 ? std::optional(static_cast<int64_t>(From))
      : C.Arguments[1]->What == Value::Integer
          ? std::optional(C.Arguments[1]->Number)
          : std::nullopt;
  if (C.Object->What != Value::Text || !Part || !Start)
    return nullptr;
  return placeInText((C.Object->Name.*Find)(*Part, *Start));
}

/// Does a text begin, or end, with a part?
template <bool AtEnd> static Cell hasInText(const LibraryCall &C) {
  const std::optional<std::string> Part = textIn(C.Arguments[0]);
  if (C.Object->What != Value::Text || !Part)
    return nullptr;
  const StringRef Text = C.Object->Name;
  return integer(AtEnd ? Text.ends_with(*Part) : Text.starts_with(*Part));
}

/// text.compare(other).
static Cell compareTexts(const LibraryCall &C) {
  return C.Object->What == Value::Text && C.Arguments[0]->What == Value::Text
             ? integer(StringRef(C.Object->Name).compare(C.Arguments[0]->Name))
             : nullptr;
}

/// text.substr(from, count).
static Cell partOfText(const LibraryCall &C) {
  size_t Bounds[] = {0, std::string::npos};
  for (size_t I = 0; I < C.Arguments.size(); ++I) {
    if (C.Arguments[I]->What != Value::Integer)
      return nullptr;
    Bounds[I] = C.Arguments[I]->Number;
  }
  if (C.Object->What != Value::Text || Bounds[0] > C.Object->Name.size())
    return nullptr;
  return text(C.Object->Name.substr(Bounds[0], Bounds[1]));
}

static const CallRule TextRules[] = {
    {"find", findInText<&std::string::find, 0>, 1, 2},
    {"rfind", findInText<&std::string::rfind, std::string::npos>, 1, 2},
    {"find_first_of", findInText<&std::string::find_first_of, 0>, 1, 2},
    {"find_last_of", findInText<&std::string::find_last_of, std::string::npos>,
     1, 2},
    {"starts_with", hasInText<false>, 1, 1},
    {"ends_with", hasInText<true>, 1, 1},
    {"compare", compareTexts, 1, 1},
    {"substr", partOfText, 0, 2},
    {"size length", [](auto &C) { return integer(C.Object->Name.size()); }},
    {"empty", [](auto &C) { return integer(C.Object->Name.empty()); }},
    {"c_str data str", [](auto &C) { return C.Object; }},
};

static const CallRule HandleRules[] = {
    {"value", [](auto &C) { return targetOf(C.Object); }},
    {"get lock", [](auto &C) { return C.Object; }},
    {"has_value", hasValue},
    {"value_or", valueOr},
    {"reset", reset, 0, 0},
};

/// An operator of a text, a smart pointer or an optional. Null for others.
static Cell handleOperator(const LibraryCall &C) {
  switch (C.F->getOverloadedOperator()) {
  case OO_Star:
    return targetOf(C.Object);
  case OO_Arrow:
  case OO_LessLess:
    return C.Object;
  case OO_Subscript:
    return C.Arguments.empty() ? Cell()
                               : element(C.Object, C.Arguments.front(), C.E);
  case OO_PlusEqual:
    if (C.Arguments.size() != 1 || C.Object->What != Value::Text)
      return nullptr;
    C.VM.store(C.Object, arithmetic(C.VM, BO_Add, C.Object, C.Arguments[0],
                                    C.E->getType(), C.E));
    return C.Object;
  default:
    return nullptr;
  }
}

/// A method of a smart pointer, an optional, a text or a container. Null for
/// others.
static Cell callOfObject(const LibraryCall &C) {
  if (C.Object->What == Value::List)
    return callList(C);
  if (C.Object->What == Value::Iterator)
    if (Cell Result = iteratorOperator(C))
      return Result;
  if (C.F->getOverloadedOperator())
    return handleOperator(C);
  if (C.Object->What != Value::Text)
    return byRule(HandleRules, C);
  if (Cell Result = byRule(TextRules, C))
    return Result;
  if (!cast<CXXMethodDecl>(C.F)->isConst())
    *C.Object = *unknown(C.At, "a string after '" + C.Name + "'");
  return C.Nothing;
}

//===----------------------------------------------------------------------===//
// Functions of objects, pairs and tuples
//===----------------------------------------------------------------------===//

static Cell makeOwned(const LibraryCall &C) {
  const TemplateArgumentList *Args = C.F->getTemplateSpecializationArgs();
  const CXXRecordDecl *R =
      Args && Args->size() && Args->get(0).getKind() == TemplateArgument::Type
          ? C.VM.definitionOf(Args->get(0).getAsType()->getAsCXXRecordDecl())
          : nullptr;
  if (!R)
    return C.Nothing;
  const Cell Made =
      makeObject(C.VM, R, C.Arguments,
                 typesOf({C.E->getArgs(), C.E->getNumArgs()}), nullptr, C.At);
  return Made->What == Value::Module || Made->What == Value::Unknown
             ? Made
             : pointerTo(Made);
}

/// std::get<N>(tuple).
static Cell partOfTuple(const LibraryCall &C) {
  const TemplateArgumentList *Args = C.F->getTemplateSpecializationArgs();
  if (Args && Args->size() &&
      Args->get(0).getKind() == TemplateArgument::Integral)
    return element(C.Arguments.front(),
                   integer(Args->get(0).getAsIntegral().getExtValue()), C.E);
  return C.Nothing;
}

static Cell swapped(const LibraryCall &C) {
  std::swap(*C.Arguments[0], *C.Arguments[1]);
  return C.Nothing;
}

/// What gives its argument.
static Cell same(const LibraryCall &C) {
  return C.Arguments.empty() ? C.Nothing : C.Arguments.front();
}

//===----------------------------------------------------------------------===//
// Functions of numbers
//===----------------------------------------------------------------------===//

/// The place of the first of the most, or of the least, of some values. Absent
/// when one of them is \p Unknown.
static std::optional<size_t> bestOf(Interpreter &VM, ArrayRef<Cell> Of,
                                    bool IsMost, const Expr *E, Cell &Unknown) {
  size_t Best = 0;
  for (size_t I = 1; I < Of.size(); ++I) {
    Unknown = arithmetic(VM, BO_LT, Of[IsMost ? Best : I],
                         Of[IsMost ? I : Best], VM.Context.BoolTy, E);
    const std::optional<bool> IsBetter = truth(Unknown);
    if (!IsBetter)
      return std::nullopt;
    Best = *IsBetter ? I : Best;
  }
  return Best;
}

/// std::max() and std::min() of arguments, or of a list.
template <bool IsMost> static Cell best(const LibraryCall &C) {
  ArrayRef<Cell> From = C.Arguments;
  if (From.size() == 1 && From.front()->What == Value::List)
    From = From.front()->Elements;
  if (From.empty())
    return C.Nothing;
  Cell Unknown;
  const std::optional<size_t> Best = bestOf(C.VM, From, IsMost, C.E, Unknown);
  return Best ? From[*Best] : Unknown;
}

/// std::clamp(v, least, most).
static Cell clamped(const LibraryCall &C) {
  const Cell &V = C.Arguments[0], &Least = C.Arguments[1],
             &Most = C.Arguments[2];
  for (const Cell &Argument : C.Arguments)
    if (Argument->What == Value::Unknown)
      return Argument;
  auto IsLess = [&](const Cell &A, const Cell &B) {
    return truth(arithmetic(C.VM, BO_LT, A, B, C.VM.Context.BoolTy, C.E));
  };
  const std::optional<bool> Below = IsLess(V, Least), Above = IsLess(Most, V);
  if (!Below || !Above)
    return C.Nothing;
  return *Below ? Least : *Above ? Most : V;
}

static bool isInteger(const Cell &V) { return V->What == Value::Integer; }

static Cell absolute(const LibraryCall &C) {
  const Cell &Of = C.Arguments[0];
  if (isInteger(Of) && Of->Number > INT64_MIN)
    return integer(std::abs(Of->Number));
  return Of->What == Value::Real ? real(std::abs(Of->RealNumber)) : Of;
}

static Cell asText(const LibraryCall &C) {
  const Cell &Of = C.Arguments[0];
  return isInteger(Of) ? text(std::to_string(Of->Number)) : C.Nothing;
}

/// std::gcd() and std::lcm(), by \p Compute, of what does not overflow.
template <int64_t (*Compute)(int64_t, int64_t)>
static Cell divisor(const LibraryCall &C) {
  if (!llvm::all_of(C.Arguments, isInteger))
    return nullptr;
  const int64_t A = C.Arguments[0]->Number, B = C.Arguments[1]->Number;
  if (std::abs(A) < (1LL << 31) && std::abs(B) < (1LL << 31))
    return integer(Compute(A, B));
  return C.Nothing;
}

/// Functions of real numbers. Null for others.
static Cell callOfNumbers(const LibraryCall &C) {
  if (C.Arguments.empty() || C.Arguments.size() > 2 ||
      !llvm::all_of(C.Arguments, isNumber))
    return nullptr;
  const double X = realOf(C.Arguments.front());
  const double Y = C.Arguments.size() == 2 ? realOf(C.Arguments[1]) : 0;
  const std::optional<double> Result = computed(C.Name, X, Y);
  return Result ? convert(C.VM, real(*Result), C.F->getReturnType()) : nullptr;
}

/// An operator of two values of the library's classes. Null for others.
static Cell callOverloaded(const LibraryCall &C, const Cell &A, const Cell &B) {
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
    return arithmetic(C.VM, Kind, A, B,
                      BinaryOperator::isComparisonOp(Kind) ? C.VM.Context.BoolTy
                                                           : C.E->getType(),
                      C.E);
  }
  case OO_LessLess:
    return A;
  default:
    return nullptr;
  }
}

//===----------------------------------------------------------------------===//
// Functions of containers, and of iterators
//===----------------------------------------------------------------------===//

/// begin(), end() and size() of a container. Null for others.
static Cell boundOfArgument(const LibraryCall &C) {
  return C.Arguments[0]->What == Value::List ? boundOf(C.Name, C.Arguments[0])
                                             : nullptr;
}

/// std::next() and std::prev(): \p Op moves there.
template <BinaryOperatorKind Op> static Cell moved(const LibraryCall &C) {
  if (!isIterator(C.Arguments[0]))
    return nullptr;
  return iteratorArithmetic(
      C.VM, Op, C.Arguments[0],
      C.Arguments.size() == 2 ? C.Arguments[1] : integer(1), C.E);
}

static Cell advance(const LibraryCall &C) {
  if (!isIterator(C.Arguments[0]))
    return nullptr;
  C.VM.store(C.Arguments[0], iteratorArithmetic(C.VM, BO_Add, C.Arguments[0],
                                                C.Arguments[1], C.E));
  return C.Arguments[0];
}

static Cell distance(const LibraryCall &C) {
  return isIterator(C.Arguments[0])
             ? iteratorArithmetic(C.VM, BO_Sub, C.Arguments[1], C.Arguments[0],
                                  C.E)
             : nullptr;
}

/// The elements that an algorithm is given by its first two arguments.
static std::optional<std::vector<Cell>> rangeOf(const LibraryCall &C) {
  return elementsBetween(C.Arguments[0], C.Arguments[1]);
}

/// The place in the container that is \p Index of the range of \p C.
static Cell placeIn(const LibraryCall &C, size_t Index) {
  return iteratorAt(C.Arguments[0]->Target,
                    C.Arguments[0]->Number + static_cast<int64_t>(Index));
}

static Cell accumulate(const LibraryCall &C) {
  const auto Range = rangeOf(C);
  if (!Range)
    return nullptr;
  Cell Sum = C.Arguments[2];
  for (const Cell &Element : *Range)
    Sum = arithmetic(C.VM, BO_Add, Sum, Element, C.F->getReturnType(), C.E);
  return Sum;
}

static Cell reverse(const LibraryCall &C) {
  if (!rangeOf(C))
    return nullptr;
  const auto Begin = C.Arguments[0]->Target->Elements.begin();
  std::reverse(Begin + C.Arguments[0]->Number, Begin + C.Arguments[1]->Number);
  return C.Arguments[0];
}

static Cell fill(const LibraryCall &C) {
  const auto Range = rangeOf(C);
  if (!Range)
    return nullptr;
  for (const Cell &Element : *Range)
    C.VM.store(Element, C.Arguments[2]);
  return C.Arguments[0];
}

static Cell iota(const LibraryCall &C) {
  const auto Range = rangeOf(C);
  if (!Range || !isInteger(C.Arguments[2]))
    return nullptr;
  int64_t Next = C.Arguments[2]->Number;
  for (const Cell &Element : *Range)
    C.VM.store(Element, integer(Next++));
  return C.Arguments[0];
}

template <bool IsMost> static Cell bestElement(const LibraryCall &C) {
  const auto Range = rangeOf(C);
  Cell Unknown;
  const std::optional<size_t> Best =
      Range ? bestOf(C.VM, *Range, IsMost, C.E, Unknown) : std::nullopt;
  return Best ? placeIn(C, *Best) : nullptr;
}

static Cell find(const LibraryCall &C) {
  const auto Range = rangeOf(C);
  Cell Unknown;
  const std::optional<size_t> Place =
      Range ? placeOf(C.VM, C.Arguments[2], *Range, C.E, Unknown)
            : std::nullopt;
  return Place ? placeIn(C, *Place) : nullptr;
}

//===----------------------------------------------------------------------===//
// All functions
//===----------------------------------------------------------------------===//

static const CallRule FunctionRules[] = {
    {"make_shared make_unique", makeOwned},
    {"get", partOfTuple, 1, 1},
    {"tie", [](auto &C) { return listOf(C.Arguments.vec()); }},
    {"make_pair make_tuple forward_as_tuple",
     [](auto &C) { return listOf(C.VM.copiesOf(C.Arguments)); }},
    {"swap", swapped, 2, 2},
    {"move forward as_const ref cref addressof static_pointer_cast "
     "dynamic_pointer_cast",
     same},
    {"max", best<true>},
    {"min", best<false>},
    {"clamp", clamped, 3, 3},
    {"abs", absolute, 1, 1},
    {"to_string", asText, 1, 1},
    {"gcd", divisor<std::gcd<int64_t, int64_t>>, 2, 2},
    {"lcm", divisor<std::lcm<int64_t, int64_t>>, 2, 2},
    {"begin cbegin end cend rbegin crbegin rend crend size", boundOfArgument, 1,
     1},
    {"next", moved<BO_Add>, 1, 2},
    {"prev", moved<BO_Sub>, 1, 2},
    {"advance", advance, 2, 2},
    {"distance", distance, 2, 2},
    {"accumulate", accumulate, 3, 3},
    {"reverse", reverse, 2, 2},
    {"fill", fill, 3, 3},
    {"iota", iota, 3, 3},
    {"max_element", bestElement<true>, 2, 2},
    {"min_element", bestElement<false>, 2, 2},
    {"find", find, 3, 3},
};

/// Is a parameter of \p F a reference only to be passed on, `T &&`?
static bool isPassedOn(const FunctionDecl *F, unsigned I) {
  const FunctionDecl *Pattern = F->getTemplateInstantiationPattern();
  if (!Pattern || !Pattern->getNumParams())
    return false;
  QualType T = Pattern->getParamDecl(std::min(I, Pattern->getNumParams() - 1))
                   ->getType();
  if (const auto *Pack = T->getAs<PackExpansionType>())
    T = Pack->getPattern();
  return T->isRValueReferenceType();
}

void forgetTaken(const LibraryCall &C) {
  auto IsPlace = [&](unsigned I) {
    if (I >= C.F->getNumParams())
      return C.Arguments[I]->What == Value::Pointer; // As of scanf().
    if (isPassedOn(C.F, I))
      return false;
    const QualType T = C.F->getParamDecl(I)->getType();
    // What a stream has left is not known from the start.
    return letsChange(T) ? !cpp::isStdClass(T.getNonReferenceType(),
                                            {"basic_istream", "basic_ostream"})
                         : C.Arguments[I]->What == Value::Pointer &&
                               !cpp::pointeeOf(T).isConstQualified();
  };
  const unsigned First = isa<CXXOperatorCallExpr>(C.E) && C.Object ? 1 : 0;
  for (unsigned I = 0; I < C.Arguments.size(); ++I) {
    const Cell Changed = targetOf(C.Arguments[I]);
    if (!IsPlace(I) || Changed->What == Value::Module ||
        Changed->What == Value::Tensor || Changed->What == Value::Iterator)
      continue;
    *Changed = *unknown(C.At, "what '" + C.F->getNameAsString() + "' reads");
    const Expr *Written = cpp::peel(C.E->getArg(First + I));
    if (const auto *Address = dyn_cast<UnaryOperator>(Written);
        Address && Address->getOpcode() == UO_AddrOf)
      Written = Address->getSubExpr();
    C.VM.named(Changed, Written);
  }
}

/// A function that is not followed: it may change what it is given.
static Cell skipStandard(const LibraryCall &C) {
  if (!llvm::StringSwitch<bool>(C.Name)
           .Cases("accumulate", "count", "count_if", "distance", true)
           .Cases("find", "find_if", "max_element", "min_element", true)
           .Cases("all_of", "any_of", "none_of", "equal", true)
           .Default(torch::isTorchDecl(C.F))) {
    forgetTaken(C);
    for (const Cell &Argument : C.Arguments) {
      const Cell Changed = unknown(C.At, "a container after '" + C.Name + "'");
      if (Argument->What == Value::List)
        *Argument = *Changed;
      else if (Argument->What == Value::Iterator)
        *Argument->Target = *Changed;
    }
  }
  skipClosures(C.VM, C.Arguments, C.At);
  for (const Cell &Argument : C.Arguments)
    if (Argument->What == Value::Unknown && !Argument->Why.empty())
      return Argument;
  return C.Nothing;
}

Cell callStandard(LibraryCall C) {
  C.Nothing = unknown(C.At, "what '" + C.F->getNameAsString() + "' returns");
  if (C.Object)
    if (Cell Result = callOfObject(C))
      return Result;
  if (C.F->getOverloadedOperator()) {
    const Cell Result =
        C.Arguments.size() == (C.Object ? 1 : 2)
            ? callOverloaded(C, C.Object ? C.Object : C.Arguments.front(),
                             C.Arguments.back())
            : nullptr;
    if (!Result)
      forgetTaken(C);
    return Result ? Result : C.Nothing;
  }
  if (const auto *Method = dyn_cast<CXXMethodDecl>(C.F);
      Method && cpp::isStdClass(Method->getParent(), {"numeric_limits"}))
    return limitOf(C.Name, C.F->getReturnType(), C.VM.Context, C.Nothing);
  if (Cell Result = byRule(FunctionRules, C))
    return Result;
  if (Cell Result = callOfNumbers(C))
    return Result;
  return skipStandard(C);
}

} // namespace libtorch_tidy::bytes
