//===- Expressions.cpp - Values of expressions ----------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/code/Body.h"
#include "checks/code/Std.h"
#include "checks/code/Writes.h"
#include "checks/llvm/Compat.h"
#include "checks/model/Interpreter.h"
#include "checks/torch/Calls.h"
#include "checks/torch/ModuleApi.h"
#include "checks/torch/Modules.h"
#include "checks/torch/Sharing.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/Builtins.h"
#include "llvm/ADT/ScopeExit.h"
#include <cmath>

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::model {

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Cell Interpreter::convert(const Cell &From, QualType To) {
  if (To->isReferenceType() || To->isDependentType())
    return From;
  if (To->isBooleanType()) {
    const std::optional<bool> Known = truth(From);
    return Known ? integer(*Known) : From;
  }
  if (To->isRealFloatingType()) {
    if (From->What != Value::Integer && From->What != Value::Real)
      return From;
    const double Given = From->What == Value::Integer
                             ? static_cast<double>(From->Number)
                             : From->RealNumber;
    return real(To->isSpecificBuiltinType(BuiltinType::Float)
                    ? static_cast<float>(Given)
                    : Given);
  }
  if (!To->isIntegralOrEnumerationType())
    return From;
  int64_t Number;
  if (From->What == Value::Integer) {
    Number = From->Number;
  } else if (From->What == Value::Real) {
    if (!(std::abs(From->RealNumber) < 9e18))
      return unknown(From->Where, "a number that is too large");
    Number = static_cast<int64_t>(From->RealNumber);
  } else {
    return From;
  }
  const uint64_t Width = Context.getIntWidth(To);
  const bool Signed = To->isSignedIntegerOrEnumerationType();
  if (Width >= 64)
    // Beyond what the interpreter counts with.
    return Signed || Number >= 0
               ? integer(Number)
               : unknown(From->Where, "a negative number as an unsigned one");
  const uint64_t Bits = static_cast<uint64_t>(Number) & ((1ULL << Width) - 1);
  if (Signed && Bits >> (Width - 1))
    return integer(static_cast<int64_t>(Bits | ~((1ULL << Width) - 1)));
  return integer(static_cast<int64_t>(Bits));
}

static Cell truthValue(bool Known) { return integer(Known); }

static bool compares(BinaryOperatorKind Op) {
  return BinaryOperator::isComparisonOp(Op);
}

template <typename T> static bool compared(BinaryOperatorKind Op, T A, T B) {
  switch (Op) {
  case BO_LT:
    return A < B;
  case BO_GT:
    return A > B;
  case BO_LE:
    return A <= B;
  case BO_GE:
    return A >= B;
  case BO_EQ:
    return A == B;
  default:
    return A != B;
  }
}

Cell Interpreter::arithmetic(BinaryOperatorKind Op, const Cell &A,
                             const Cell &B, QualType Type, const Expr *E) {
  if (A->What == Value::Unknown)
    return A;
  if (B->What == Value::Unknown)
    return B;
  const Cell Nothing = unknown(E->getExprLoc(), "the result of an operator");
  if (A->What == Value::Text && B->What == Value::Text) {
    if (compares(Op))
      return truthValue(compared<StringRef>(Op, A->Name, B->Name));
    if (Op != BO_Add || A->Name.size() + B->Name.size() > MaxElements)
      return Nothing;
    return text(A->Name + B->Name);
  }
  if (A->What == Value::Iterator || B->What == Value::Iterator)
    return iteratorArithmetic(Op, A, B, E);
  const bool IsEquality = Op == BO_EQ || Op == BO_NE;
  if (IsEquality && A->What == Value::Type && B->What == Value::Type &&
      A->Element && B->Element)
    return truthValue((A->Element->Name == B->Element->Name) == (Op == BO_EQ));
  if (IsEquality && A->What == Value::List && B->What == Value::List) {
    bool Equal = A->Elements.size() == B->Elements.size();
    for (size_t I = 0; Equal && I < A->Elements.size(); ++I) {
      if (!step(E->getExprLoc()))
        return Nothing;
      const std::optional<bool> Same = truth(
          arithmetic(BO_EQ, A->Elements[I], B->Elements[I], Context.BoolTy, E));
      if (!Same)
        return Nothing;
      Equal = *Same;
    }
    return truthValue(Equal == (Op == BO_EQ));
  }
  if (A->What == Value::Null || B->What == Value::Null) {
    const std::optional<bool> Left = truth(A), Right = truth(B);
    if (!IsEquality || !Left || !Right)
      return Nothing;
    return truthValue((*Left == *Right) == (Op == BO_EQ));
  }
  const bool IsReal = A->What == Value::Real || B->What == Value::Real;
  if ((A->What != Value::Integer && A->What != Value::Real) ||
      (B->What != Value::Integer && B->What != Value::Real))
    return Nothing;
  if (IsReal) {
    const double X =
        A->What == Value::Real ? A->RealNumber : static_cast<double>(A->Number);
    const double Y =
        B->What == Value::Real ? B->RealNumber : static_cast<double>(B->Number);
    if (compares(Op))
      return truthValue(compared(Op, X, Y));
    switch (Op) {
    case BO_Add:
      return convert(real(X + Y), Type);
    case BO_Sub:
      return convert(real(X - Y), Type);
    case BO_Mul:
      return convert(real(X * Y), Type);
    case BO_Div:
      return convert(real(X / Y), Type);
    default:
      return Nothing;
    }
  }
  const int64_t X = A->Number, Y = B->Number;
  if (compares(Op))
    return truthValue(compared(Op, X, Y));
  int64_t Result = 0;
  bool Overflows = false;
  switch (Op) {
  case BO_Add:
    Overflows = __builtin_add_overflow(X, Y, &Result);
    break;
  case BO_Sub:
    Overflows = __builtin_sub_overflow(X, Y, &Result);
    break;
  case BO_Mul:
    Overflows = __builtin_mul_overflow(X, Y, &Result);
    break;
  case BO_Div:
  case BO_Rem:
    if (Y == 0 || (Y == -1 && X == INT64_MIN))
      return unknown(E->getExprLoc(), "a division by zero");
    Result = Op == BO_Div ? X / Y : X % Y;
    break;
  case BO_And:
    Result = X & Y;
    break;
  case BO_Or:
    Result = X | Y;
    break;
  case BO_Xor:
    Result = X ^ Y;
    break;
  case BO_Shl:
    if (X < 0 || Y < 0 || Y > 62 || X > (INT64_MAX >> Y))
      return Nothing;
    Result = X << Y;
    break;
  case BO_Shr:
    if (Y < 0 || Y > 63)
      return Nothing;
    Result = X >> Y;
    break;
  default:
    return Nothing;
  }
  if (Overflows)
    return unknown(E->getExprLoc(), "a number that is too large");
  return convert(integer(Result), Type);
}

Cell Interpreter::evalBinary(const BinaryOperator *E) {
  const BinaryOperatorKind Op = E->getOpcode();
  if (Op == BO_LAnd || Op == BO_LOr) {
    const Cell A = eval(E->getLHS());
    const std::optional<bool> Left = truth(A);
    if (Left && *Left == (Op == BO_LOr))
      return truthValue(*Left);
    const Cell B = eval(E->getRHS());
    const std::optional<bool> Right = truth(B);
    if (Right && *Right == (Op == BO_LOr))
      return truthValue(*Right);
    if (!Left)
      return A;
    return Right ? truthValue(*Right) : B;
  }
  if (Op == BO_Comma) {
    eval(E->getLHS());
    return eval(E->getRHS());
  }
  if (Op == BO_Assign) {
    const Cell From = eval(E->getRHS());
    const Cell To = eval(E->getLHS());
    store(To, From);
    return To;
  }
  if (E->isCompoundAssignmentOp()) {
    const Cell By = eval(E->getRHS());
    const Cell To = eval(E->getLHS());
    const auto *Compound = cast<CompoundAssignOperator>(E);
    const Cell Left = convert(To, Compound->getComputationLHSType());
    store(To,
          convert(arithmetic(BinaryOperator::getOpForCompoundAssignment(Op),
                             Left, By, Compound->getComputationResultType(), E),
                  E->getType()));
    return To;
  }
  const Cell A = eval(E->getLHS());
  const Cell B = eval(E->getRHS());
  return arithmetic(Op, A, B, E->getType(), E);
}

Cell Interpreter::evalUnary(const UnaryOperator *E) {
  const Cell Of = eval(E->getSubExpr());
  switch (E->getOpcode()) {
  case UO_Plus:
    return Of;
  case UO_Minus:
    if (Of->What == Value::Real)
      return real(-Of->RealNumber);
    return arithmetic(BO_Sub, integer(0), Of, E->getType(), E);
  case UO_Not:
    return Of->What == Value::Integer
               ? convert(integer(~Of->Number), E->getType())
               : Of;
  case UO_LNot: {
    const std::optional<bool> Known = truth(Of);
    return Known ? truthValue(!*Known) : Of;
  }
  case UO_AddrOf: {
    if (Of->What == Value::Module || Of->What == Value::Function)
      return Of;
    Value V;
    V.What = Value::Pointer;
    V.Target = Of;
    return cell(std::move(V));
  }
  case UO_Deref:
    if (Of->What == Value::List) // An array.
      return element(Of, integer(0), E);
    return Of->What == Value::Pointer ? Of->Target : Of;
  case UO_PreInc:
  case UO_PreDec:
  case UO_PostInc:
  case UO_PostDec: {
    const Cell Before = copyOf(Of);
    const bool Adds = E->isIncrementOp();
    store(Of, arithmetic(Adds ? BO_Add : BO_Sub, Before, integer(1),
                         E->getType(), E));
    return E->isPrefix() ? Of : Before;
  }
  default:
    return evalConstant(E);
  }
}

/// What the compiler can compute by itself.
Cell Interpreter::evalConstant(const Expr *E) {
  if (!E->isValueDependent() && !E->isTypeDependent() && !E->containsErrors()) {
    Expr::EvalResult Result;
    if (E->getType()->isIntegralOrEnumerationType() &&
        E->EvaluateAsInt(Result, Context) &&
        Result.Val.getInt().isRepresentableByInt64())
      return integer(Result.Val.getInt().getExtValue());
    llvm::APFloat Number(0.0);
    if (E->getType()->isRealFloatingType() &&
        E->EvaluateAsFloat(Number, Context)) {
      bool Lost;
      Number.convert(llvm::APFloat::IEEEdouble(),
                     llvm::APFloat::rmNearestTiesToEven, &Lost);
      return real(Number.convertToDouble());
    }
  }
  return unknown(E->getExprLoc(), "an expression");
}

//===----------------------------------------------------------------------===//
// Names, members, elements
//===----------------------------------------------------------------------===//

/// Is there nothing in \p F that changes a part of \p Var, and with it what the
/// interpreter knows: of a tensor its size, not its elements? Modules are
/// counted as they are made.
static bool keepsContents(const VarDecl *Var, const FunctionDecl *F) {
  const CXXRecordDecl *R = torch::recordOf(Var->getType());
  if (torch::isModule(Var->getType()) ||
      torch::isModule(torch::pointeeOf(Var->getType())))
    return true;
  const bool IsTensor = torch::modelClass(R) == torch::ModelClass::Tensor;
  return llvm::none_of(
      code::Body::of(F).writesTo(Var), [&](const code::Write &W) {
        return W.Kind == code::WriteKind::Changed &&
               (!IsTensor ||
                torch::resizesInPlace(dyn_cast<CallExpr>(W.Where)));
      });
}

/// Of a variable that is not one of the function that is followed.
bool Interpreter::keepsInitialValue(const VarDecl *Definition) const {
  if (Definition->isConstexpr() || Definition->getType().isConstQualified() ||
      Definition->getType()->isReferenceType())
    return true;
  if (Definition->hasLocalStorage()) {
    const auto *F = dyn_cast<FunctionDecl>(Definition->getDeclContext());
    const FunctionDecl *Defined = F ? F->getDefinition() : nullptr;
    return Defined && code::Body::of(Defined).isSetOnce(Definition) &&
           keepsContents(Definition, Defined);
  }
  // Other units may write to what they can name. A static member of a class is
  // there for its methods.
  return (!Definition->isExternallyVisible() ||
          Definition->isStaticDataMember()) &&
         llvm::all_of(All, [&](const Stmt *Body) {
           return code::writesTo(Definition, Body).empty();
         });
}

Cell Interpreter::evalName(const ValueDecl *D, const Expr *E) {
  const auto *Canonical = cast<ValueDecl>(D->getCanonicalDecl());
  if (!Frames.empty()) {
    auto &Variables = Frames.back()->Variables;
    if (auto It = Variables.find(Canonical); It != Variables.end())
      return It->second;
  }
  if (std::optional<torch::ElementType> Type = torch::namedElementType(D)) {
    Value V;
    V.What = Value::Type;
    V.Element = Type;
    return cell(std::move(V));
  }
  if (const auto *Constant = dyn_cast<EnumConstantDecl>(D))
    return Constant->getInitVal().isRepresentableByInt64()
               ? integer(Constant->getInitVal().getExtValue())
               : evalConstant(E);
  if (const auto *F = dyn_cast<FunctionDecl>(D)) {
    Value V;
    V.What = Value::Function;
    V.Callee = F;
    return cell(std::move(V));
  }
  const Cell Nothing = unknown(D->getLocation(), "'" + D->getName() + "'");
  const auto *Var = dyn_cast<VarDecl>(D);
  if (!Var || isa<ParmVarDecl>(Var))
    return Nothing;
  if (torch::isStdDecl(Var) || torch::isTorchDecl(Var)) {
    if (code::isStdClass(Var->getType(), {"nullopt_t"}) ||
        Var->getName() == "nullopt")
      return valueOf(Value::Null);
    const Cell Known = evalConstant(E);
    if (Known->What != Value::Unknown)
      return Known;
    const Cell Named = valueOf(Value::Other);
    Named->Name = Var->getName().str(); // torch::kNearest
    return Named;
  }
  const VarDecl *Definition = nullptr;
  const Expr *Init = Var->getAnyInitializer(Definition);
  if (!Init)
    return Nothing;
  auto [It, New] = Globals.try_emplace(Definition->getCanonicalDecl(), Nothing);
  if (New && keepsInitialValue(Definition)) {
    // It is evaluated where it stands, not in the function that names it.
    Frame Outside;
    Frames.push_back(&Outside);
    const Cell Given = copyOf(convert(eval(Init), Definition->getType()));
    Frames.pop_back();
    Globals[Definition->getCanonicalDecl()] = Given;
    return Given;
  }
  return It->second;
}

Cell Interpreter::memberOf(const Cell &Base, const ValueDecl *Member,
                           const Expr *E) {
  if (const auto *Var = dyn_cast<VarDecl>(Member))
    return evalName(Var, E);
  const auto *Field = dyn_cast<FieldDecl>(Member);
  const Cell Object = Base->What == Value::Pointer ? Base->Target : Base;
  const Cell Nothing = unknown(E ? E->getExprLoc() : Member->getLocation(),
                               "'" + Member->getNameAsString() + "'");
  if (!Field)
    return Nothing;
  switch (Object->What) {
  case Value::Module: {
    ModuleInstance &M = *Object->Held;
    if (auto It = M.Members.find(Field->getCanonicalDecl());
        It != M.Members.end())
      return It->second;
    if (torch::isOptionsField(Field))
      return optionsOf(M);
    if (torch::isTorchDecl(Field)) {
      for (auto *Tensors : {&M.Parameters, &M.Buffers})
        for (const ModuleInstance::Tensor &T : *Tensors)
          if (T.Name == Field->getName())
            return tensorValue(T.Handle);
      for (const ModuleInstance::Child &Child : M.Children)
        if (Child.Name == Field->getName())
          return moduleValue(Child.Module);
      return Nothing;
    }
    return M.Members[Field->getCanonicalDecl()] = Nothing;
  }
  case Value::Record: {
    auto [It, New] =
        Object->Members.try_emplace(Field->getCanonicalDecl(), Nothing);
    return It->second;
  }
  case Value::List: // std::pair, a struct of the library's.
    return Field->getFieldIndex() < Object->Elements.size()
               ? Object->Elements[Field->getFieldIndex()]
               : Nothing;
  case Value::Unknown:
    return Object->Why.empty() ? Nothing : Object;
  default:
    return Nothing;
  }
}

Cell Interpreter::evalMember(const MemberExpr *E) {
  return memberOf(eval(E->getBase()), E->getMemberDecl(), E);
}

Cell Interpreter::element(const Cell &Of, const Cell &Index, const Expr *E) {
  const Cell Object = Of->What == Value::Pointer ? Of->Target : Of;
  const Cell Nothing = unknown(E->getExprLoc(), "an element of a container");
  if (Object->What == Value::Unknown)
    return Object;
  if (Index->What == Value::Unknown)
    return Index;
  if (Object->What == Value::Module) {
    const ModuleInstance &M = *Object->Held;
    if (Index->What == Value::Integer && Index->Number >= 0 &&
        static_cast<uint64_t>(Index->Number) < elementCount(M))
      return torch::isParameterContainer(M.ClassName)
                 ? tensorValue(M.Parameters[Index->Number].Handle)
                 : moduleValue(M.Children[Index->Number].Module);
    if (Index->What == Value::Text)
      for (const auto &[Name, Element] : elementsOf(M))
        if (Name == Index->Name)
          return Element;
    return Nothing;
  }
  if (Object->What == Value::Text && Index->What == Value::Integer &&
      Index->Number >= 0 &&
      static_cast<uint64_t>(Index->Number) < Object->Name.size())
    return integer(Object->Name[Index->Number]);
  if (Object->What != Value::List)
    return Nothing;
  if (Index->What == Value::Integer) {
    if (Index->Number >= 0 &&
        static_cast<uint64_t>(Index->Number) < Object->Elements.size())
      return Object->Elements[Index->Number];
  }
  return Nothing;
}

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

Cell Interpreter::coerced(const Cell &Given, QualType To, SourceLocation At) {
  To = To.getNonReferenceType();
  const CXXRecordDecl *R = To->getAsCXXRecordDecl();
  if (!R || Given->What == Value::Unknown)
    return Given;
  R = R->getDefinition();
  const torch::ModelClass Kind = torch::modelClass(R);
  // A list in a text of the command line can stand for an object.
  const bool IsUsers =
      R && !torch::isStdDecl(R) && !torch::isTorchDecl(R) && !R->isLambda();
  if (Given->What == Value::List && IsUsers &&
      Kind == torch::ModelClass::Other && !Given->Settings.empty()) {
    // With names: {.width = 64}.
    const Cell Object = makeObject(R, {}, {}, nullptr, At);
    for (const auto &[Name, Setting] : Given->Settings) {
      const FieldDecl *Named = nullptr;
      for (const FieldDecl *Field : R->fields())
        if (Field->getName() == Name)
          Named = Field;
      if (!Named || Object->What != Value::Record)
        return unknown(At, "'" + Name + "', which no '" + R->getNameAsString() +
                               "' has");
      Object->Members[Named->getCanonicalDecl()] = copyOf(
          coerced(convert(Setting, Named->getType()), Named->getType(), At));
    }
    return Object;
  }
  if (Given->What == Value::List && IsUsers && Kind == torch::ModelClass::Other)
    return makeObject(R, Given->Elements, {}, nullptr, At);
  if (Kind == torch::ModelClass::Options && Given->What != Value::Options)
    return makeOptions(R, {Given});
  return Given;
}

Cell Interpreter::defaultValue(QualType Type, SourceLocation At) {
  if (const auto *Array =
          dyn_cast<ConstantArrayType>(Type.getCanonicalType())) {
    const uint64_t Size = Array->getSize().getLimitedValue(MaxElements + 1);
    if (Size > MaxElements)
      return unknown(At, "an array that is too large");
    std::vector<Cell> Elements;
    for (uint64_t I = 0; I < Size && step(At); ++I)
      Elements.push_back(defaultValue(Array->getElementType(), At));
    return listOf(std::move(Elements));
  }
  const CXXRecordDecl *R = Type->getAsCXXRecordDecl();
  R = definitionOf(R);
  if (!R)
    return unknown(At, "what is not initialised");
  return makeObject(R, {}, {}, nullptr, At);
}

QualType typeArgument(const CXXRecordDecl *Class, unsigned Index) {
  const auto *Special =
      dyn_cast_or_null<ClassTemplateSpecializationDecl>(Class);
  if (!Special || Index >= Special->getTemplateArgs().size())
    return {};
  const TemplateArgument &Arg = Special->getTemplateArgs()[Index];
  return Arg.getKind() == TemplateArgument::Type ? Arg.getAsType() : QualType();
}

/// An element of \p Type, null when that is not known, that a container makes
/// by itself.
Cell Interpreter::newElement(QualType Type, SourceLocation At) {
  if (Type.isNull())
    return unknown(At, "an element");
  return Type->isArithmeticType() ? convert(integer(0), Type)
                                  : defaultValue(Type, At);
}

Cell Interpreter::makeObject(const CXXRecordDecl *Class,
                             ArrayRef<Cell> Arguments, ArrayRef<QualType> Types,
                             const CXXConstructorDecl *Constructor,
                             SourceLocation At) {
  const Cell Only = Arguments.size() == 1 ? Arguments.front() : nullptr;
  switch (torch::modelClass(Class)) {
  case torch::ModelClass::Holder: {
    const CXXRecordDecl *Held = torch::heldBy(Class);
    Held = definitionOf(Held);
    if (!Held)
      return unknown(At, "a module of a class that is not defined here");
    auto IsHeld = [&](const CXXRecordDecl *R) {
      return R && R->hasDefinition() &&
             (R->getDefinition() == Held || R->isDerivedFrom(Held));
    };
    if (Only) {
      if (Only->What == Value::Null)
        return Only;
      if (Only->What == Value::Module && IsHeld(Only->Held->Class))
        return Only;
      if (Only->What == Value::Unknown && !Types.empty() &&
          torch::isModule(Types.front()) &&
          IsHeld(torch::recordOf(torch::pointeeOf(Types.front()))))
        return Only;
    }
    const bool IsLibrary =
        torch::modelClass(Held) == torch::ModelClass::LibraryModule;
    if (Arguments.empty() && !IsLibrary && !constructorFor(Held, {}) &&
        !Held->needsImplicitDefaultConstructor())
      return valueOf(Value::Null);
    if (Arguments.empty() && IsLibrary &&
        !torch::positionalOptions(torch::modelClassName(Held)).empty() &&
        !constructorFor(Held, {}))
      return valueOf(Value::Null);
    return makeObject(Held, Arguments, Types, nullptr, At);
  }
  case torch::ModelClass::LibraryModule: {
    const ModulePtr M =
        makeLibraryModule(torch::modelClassName(Class), Arguments, At);
    M->Class = Class;
    return moduleValue(M);
  }
  case torch::ModelClass::Base:
    return moduleValue(newModule("Module", Class, At));
  case torch::ModelClass::UserModule: {
    if (!Constructor || Constructor->getParent() != Class)
      Constructor = constructorFor(Class, Arguments, Types);
    // It is copied, or moved: its tensors stay where they are.
    if (!Constructor && Only && Only->What == Value::Module &&
        Only->Held->Class == Class)
      return Only;
    if (!Constructor &&
        !(Arguments.empty() && Class->needsImplicitDefaultConstructor())) {
      note(At, "no constructor of '" + Class->getNameAsString() +
                   "' is seen to take what is given");
      return unknown(At, "a '" + Class->getNameAsString() + "'");
    }
    const ModulePtr M = newModule(shownName(Class), Class, At);
    if (Halted)
      return moduleValue(M);
    construct(moduleValue(M), Class, Constructor, Arguments, At);
    M->Class = Class;
    return moduleValue(M);
  }
  case torch::ModelClass::AnyModule:
    return Only ? Only : valueOf(Value::Null);
  case torch::ModelClass::NamedModule:
    return Only ? Only : listOf(Arguments.vec());
  case torch::ModelClass::Options:
    return makeOptions(Class, Arguments);
  case torch::ModelClass::Tensor: {
    if (Only)
      return Only;
    TensorPtr T = std::make_shared<TensorInstance>();
    T->Shape.Defined = false;
    return tensorValue(std::move(T));
  }
  case torch::ModelClass::TensorOptions: {
    Value V;
    V.What = Value::Options;
    if (Only && (Only->What == Value::Type || Only->What == Value::Options))
      V.Element = Only->Element;
    else if (Only && Only->What == Value::Unknown && !Types.empty() &&
             torch::decidesElementType(Types.front()))
      return Only;
    return cell(std::move(V));
  }
  case torch::ModelClass::Dictionary:
    return Only ? Only : listOf(Arguments.vec());
  case torch::ModelClass::Other:
    break;
  }
  if (torch::isStdDecl(Class)) {
    if (code::isStdClass(Class, {"pair", "tuple"})) {
      std::vector<Cell> Parts;
      for (const Cell &Part : Arguments)
        Parts.push_back(copyOf(Part));
      return Only && Only->What == Value::List ? Only
                                               : listOf(std::move(Parts));
    }
    if (code::isStdClass(Class, {"basic_string", "basic_string_view"}))
      return Arguments.empty()                        ? text("")
             : Arguments.front()->What == Value::Text ? Arguments.front()
                                                      : unknown(At, "a string");
    if (code::isStdClass(Class, {"vector", "deque", "list", "array", "map",
                                 "unordered_map", "set", "initializer_list"})) {
      if (Arguments.empty())
        return listOf({});
      const Cell &First = Arguments.front();
      if (First->What == Value::Unknown ||
          (First->What == Value::List && Arguments.size() == 1))
        return First;
      if (Arguments.size() == 2)
        if (std::optional<std::vector<Cell>> Range =
                elementsBetween(First, Arguments[1])) {
          for (Cell &Element : *Range)
            Element = copyOf(Element);
          return listOf(std::move(*Range));
        }
      if (First->What == Value::Integer && First->Number >= 0 &&
          Arguments.size() <= 2) {
        if (static_cast<uint64_t>(First->Number) > MaxElements)
          return unknown(At, "a container that is too large");
        const QualType Element = typeArgument(Class, 0);
        std::vector<Cell> Elements;
        for (int64_t I = 0; I < First->Number && step(At); ++I)
          Elements.push_back(Arguments.size() == 2 ? copyOf(Arguments[1])
                                                   : newElement(Element, At));
        return listOf(std::move(Elements));
      }
      return unknown(At, "a container");
    }
    return Only                ? Only
           : Arguments.empty() ? valueOf(Value::Null)
                               : unknown(At, "an object");
  }
  if (torch::isSliceClass(Class)) {
    const Cell Slice = valueOf(Value::Slice);
    Slice->Elements = Arguments.vec();
    return Slice;
  }
  if (Pass && torch::isTorchDecl(Class))
    if (Cell Guard = guardOf(Class, Arguments))
      return Guard;
  if (torch::isTorchDecl(Class))
    // ExpandingArray, ArrayRef, optional, Device.
    return Only                ? Only
           : Arguments.empty() ? valueOf(Value::Null)
                               : valueOf(Value::Other);
  // A user's class.
  Value V;
  V.What = Value::Record;
  V.Class = Class;
  const Cell Object = cell(std::move(V));
  if (!Constructor)
    Constructor = constructorFor(Class, Arguments);
  if (!Constructor && Class->isAggregate()) {
    unsigned I = 0;
    for (const FieldDecl *Field : Class->fields()) {
      Cell Given;
      if (I < Arguments.size())
        Given = coerced(convert(Arguments[I], Field->getType()),
                        Field->getType(), At);
      else if (Field->hasInClassInitializer() && Field->getInClassInitializer())
        Given = convert(eval(Field->getInClassInitializer()), Field->getType());
      else if (Field->getType()->isArithmeticType() && !Arguments.empty())
        Given = convert(integer(0), Field->getType());
      else
        Given = defaultValue(Field->getType(), Field->getLocation());
      Object->Members[Field->getCanonicalDecl()] = copyOf(Given);
      ++I;
    }
    return Object;
  }
  if (!Constructor && !Class->needsImplicitDefaultConstructor())
    return unknown(At, "a '" + Class->getNameAsString() + "'");
  construct(Object, Class, Constructor, Arguments, At);
  Object->Class = Class;
  return Object;
}

Cell Interpreter::evalConstruct(const CXXConstructExpr *E) {
  const CXXConstructorDecl *Constructor = E->getConstructor();
  if (Constructor->isCopyOrMoveConstructor() && E->getNumArgs() >= 1) {
    const Cell From = eval(E->getArg(0));
    // What is moved from holds nothing any more.
    if (Pass && Constructor->isMoveConstructor() &&
        From->What == Value::Tensor && E->getArg(0)->isXValue()) {
      const Cell Moved = copyOf(From);
      From->Handle = std::make_shared<TensorInstance>();
      From->Handle->Shape.Defined = false;
      return Moved;
    }
    return From->What == Value::List || From->What == Value::Record ||
                   From->What == Value::Options
               ? copyOf(From)
               : From;
  }
  llvm::SmallVector<Cell, 4> Arguments;
  llvm::SmallVector<QualType, 4> Types;
  for (const Expr *Arg : torch::writtenArguments(E)) {
    Arguments.push_back(eval(Arg));
    Types.push_back(Arg->getType());
  }
  if (Halted)
    return unknown(E->getExprLoc(), "");
  if (E->getType()->isArrayType())
    return defaultValue(E->getType(), E->getExprLoc());
  return makeObject(Constructor->getParent(), Arguments, Types, Constructor,
                    E->getBeginLoc());
}

Cell Interpreter::evalList(const InitListExpr *E) {
  if (!E->isSemanticForm() && E->getSemanticForm())
    E = E->getSemanticForm();
  const QualType T = E->getType();
  const CXXRecordDecl *R = T->getAsCXXRecordDecl();
  if (R && !torch::isStdDecl(R) && !torch::isTorchDecl(R)) {
    Value V;
    V.What = Value::Record;
    V.Class = R;
    const Cell Object = cell(std::move(V));
    unsigned I = R->getNumBases();
    for (const FieldDecl *Field : R->fields()) {
      if (compat::isUnnamedBitField(Field))
        continue;
      Object->Members[Field->getCanonicalDecl()] =
          I < E->getNumInits()
              ? copyOf(convert(eval(E->getInit(I)), Field->getType()))
              : defaultValue(Field->getType(), Field->getLocation());
      ++I;
    }
    return Object;
  }
  if (R) // std::array has an array in it.
    return E->getNumInits() == 1 ? eval(E->getInit(0)) : listOf({});
  if (!T->isArrayType()) {
    if (E->getNumInits() == 0)
      return T->isPointerType() ? valueOf(Value::Null) : convert(integer(0), T);
    return convert(eval(E->getInit(0)), T);
  }
  std::vector<Cell> Elements;
  for (const Expr *Init : E->inits())
    Elements.push_back(copyOf(eval(Init)));
  if (const auto *Array = dyn_cast<ConstantArrayType>(T.getCanonicalType())) {
    const uint64_t Size = Array->getSize().getLimitedValue(MaxElements + 1);
    if (Size > MaxElements)
      return unknown(E->getExprLoc(), "an array that is too large");
    while (Elements.size() < Size && step(E->getExprLoc()))
      Elements.push_back(E->getArrayFiller()
                             ? copyOf(eval(E->getArrayFiller()))
                             : unknown(E->getExprLoc(), "an element"));
  }
  return listOf(std::move(Elements));
}

Cell Interpreter::evalLambda(const LambdaExpr *E) {
  Value V;
  V.What = Value::Function;
  V.Callee = E->getCallOperator();
  if (!Frames.empty())
    V.This = Frames.back()->This;
  for (const auto [Capture, Init] :
       llvm::zip(E->captures(), E->capture_inits())) {
    if (!Capture.capturesVariable())
      continue;
    const ValueDecl *Var = Capture.getCapturedVar();
    Cell Given;
    if (E->isInitCapture(&Capture) && isa<VarDecl>(Var) &&
        cast<VarDecl>(Var)->hasInit())
      Given = eval(cast<VarDecl>(Var)->getInit());
    else
      Given = evalName(Var, Init);
    V.Captures[cast<ValueDecl>(Var->getCanonicalDecl())] =
        Capture.getCaptureKind() == LCK_ByCopy ? copyOf(Given) : Given;
  }
  return cell(std::move(V));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// What std::tie() makes.
static bool isTupleOfReferences(const CXXRecordDecl *R) {
  return code::isStdClass(R, {"tuple"}) &&
         torch::anyTypeArgument(
             R, [](QualType T) { return T->isLValueReferenceType(); });
}

/// What a pass follows as an operator; the others make tensors, or ask.
static bool isFollowedOperator(const FunctionDecl *F) {
  switch (torch::tensorAct(F)) {
  case torch::TensorAct::MakeSized:
  case torch::TensorAct::MakeFull:
  case torch::TensorAct::MakeSquare:
  case torch::TensorAct::MakeRange:
  case torch::TensorAct::MakeSteps:
  case torch::TensorAct::MakeList:
  case torch::TensorAct::Size:
  case torch::TensorAct::Dimensions:
  case torch::TensorAct::Elements:
  case torch::TensorAct::AllSizes:
  case torch::TensorAct::TypeOf:
  case torch::TensorAct::IsDefined:
  case torch::TensorAct::Fact:
    return false;
  default:
    return torch::isTensorOperator(F);
  }
}

Cell Interpreter::evalCall(const CallExpr *E) {
  const FunctionDecl *F = E->getDirectCallee();
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(F);
  const SourceLocation At = E->Stmt::getBeginLoc();
  Cell Object;
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(E)) {
    if (Method && !Method->isStatic())
      Object = eval(Member->getImplicitObjectArgument());
  } else if (isa<CXXOperatorCallExpr>(E) && Method && !Method->isStatic()) {
    Object = eval(E->getArg(0));
  }
  llvm::SmallVector<Cell, 4> Arguments;
  for (const Expr *Arg : torch::writtenArguments(E))
    Arguments.push_back(eval(Arg));
  if (Halted)
    return unknown(At, "");
  if (!F) {
    const Cell Callee = eval(E->getCallee());
    return Callee->What == Value::Function
               ? callClosure(Callee, nullptr, Arguments, At)
               : unknown(At, "what a function object returns");
  }
  if (F->isNoReturn() || torch::alwaysThrows(F)) {
    fail(At, torch::alwaysThrows(F)
                 ? "a check in " + running() + " fails, and throws"
                 : running() + " ends in '" + F->getNameAsString() + "'");
    return unknown(At, "");
  }
  if (F->getBuiltinID() == Builtin::BI__builtin_expect && !Arguments.empty())
    return Arguments.front();
  if (Object && Object->What == Value::Function &&
      F->getOverloadedOperator() == OO_Call)
    return callClosure(Object, F, Arguments, At);
  if (isa<CXXConversionDecl>(F) && Object) {
    const CXXRecordDecl *R = Method->getParent();
    if (torch::isTorchDecl(R) || torch::isStdDecl(R) || R->isLambda()) {
      std::optional<bool> Known = truth(Object);
      // An optional holds it.
      if (!Known && Object->What != Value::Unknown &&
          torch::modelClass(R) != torch::ModelClass::Tensor)
        Known = true;
      return F->getReturnType()->isBooleanType()
                 ? (Known ? truthValue(*Known) : Object)
                 : Object;
    }
  }
  // Assignments that copy: those of the library, and those the compiler makes.
  if (Object && F->getOverloadedOperator() == OO_Equal &&
      Arguments.size() == 1 &&
      (torch::isTorchDecl(F) || torch::isStdDecl(F) || F->isImplicit() ||
       F->isDefaulted() ||
       torch::modelClass(Method->getParent()) == torch::ModelClass::Holder)) {
    const Cell &From = Arguments.front();
    // std::tie(a, b) = f() sets a and b.
    if (isTupleOfReferences(Method->getParent()) &&
        Object->What == Value::List) {
      for (size_t I = 0; I < Object->Elements.size(); ++I)
        store(Object->Elements[I],
              From->What == Value::List && I < From->Elements.size()
                  ? From->Elements[I]
              : From->What == Value::Unknown
                  ? From
                  : unknown(At, "a part of a tuple"));
      return Object;
    }
    store(Object, From);
    return Object;
  }
  if (Object && Object->What == Value::Unknown &&
      torch::moduleAct(F) == torch::ModuleAct::Unknown &&
      (torch::isTorchDecl(F) || torch::isStdDecl(F)))
    return Object;
  if (torch::moduleAct(F) != torch::ModuleAct::Unknown)
    return callModule(E, F, Object, Arguments);
  if (Object && Object->What == Value::Options && torch::isTorchDecl(F))
    return callOptions(E, Object, Arguments);
  if (Pass && isFollowedOperator(F))
    return callOperator(F, Object, Arguments, At);
  if (torch::tensorAct(F) != torch::TensorAct::Unknown ||
      torch::setsElementType(F) || torch::changesTensorOptions(F)) {
    const Cell Result = callTensor(E, F, Object, Arguments);
    if (Result->What != Value::Unknown || !isFollowedOperator(F))
      return Result;
    const Cell Made = makeByOperator(F, Object, Arguments);
    return Made ? Made : Result;
  }
  if (isFollowedOperator(F))
    if (Cell Made = makeByOperator(F, Object, Arguments))
      return Made;
  // std::round(double) is that of C.
  if (torch::isStdDecl(F) || torch::isTorchDecl(F) || F->getBuiltinID())
    return callStandard(E, F, Object, Arguments);

  // The user's. A method of a base may be overridden.
  Cell This =
      Object && Object->What == Value::Pointer ? Object->Target : Object;
  if (Method && This && Method->isVirtual() &&
      !(isa<CXXMemberCallExpr>(E) &&
        isa<MemberExpr>(E->getCallee()->IgnoreParens()) &&
        cast<MemberExpr>(E->getCallee()->IgnoreParens())->hasQualifier())) {
    const CXXRecordDecl *Dynamic = This->What == Value::Module
                                       ? This->Held->Class
                                   : This->What == Value::Record ? This->Class
                                                                 : nullptr;
    if (Dynamic && Dynamic->hasDefinition())
      if (const CXXMethodDecl *Final =
              Method->getCorrespondingMethodInClass(Dynamic, true))
        F = Final;
  }
  if (!definitionOf(F)) {
    auto IsModule = [](const Cell &Given) {
      return Given && Given->What == Value::Module;
    };
    if (IsModule(This) || llvm::any_of(Arguments, IsModule))
      note(At, "'" + F->getNameAsString() +
                   "', which is given a module, is defined in another file");
    for (unsigned I = 0; I < Arguments.size() && I < F->getNumParams(); ++I) {
      const QualType T = F->getParamDecl(I)->getType();
      if (Arguments[I]->Target && !IsModule(Arguments[I]->Target))
        *Arguments[I]->Target =
            *unknown(At, "what '" + F->getNameAsString() + "' changes");
      if (T->isLValueReferenceType() &&
          !T.getNonReferenceType().isConstQualified() &&
          !IsModule(Arguments[I]))
        *Arguments[I] =
            *unknown(At, "what '" + F->getNameAsString() + "' changes");
    }
    const Cell Known = evalConstant(E);
    return Known->What == Value::Unknown
               ? unknown(At, "what '" + F->getNameAsString() + "' returns")
               : Known;
  }
  return call(F, Arguments, This, At);
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Cell Interpreter::evalCast(const CastExpr *E) {
  switch (E->getCastKind()) {
  case CK_IntegralCast:
  case CK_IntegralToFloating:
  case CK_FloatingToIntegral:
  case CK_FloatingCast:
  case CK_BooleanToSignedIntegral:
    return convert(eval(E->getSubExpr()), E->getType());
  case CK_IntegralToBoolean:
  case CK_FloatingToBoolean:
  case CK_PointerToBoolean:
    return convert(eval(E->getSubExpr()), Context.BoolTy);
  case CK_NullToPointer:
    return valueOf(Value::Null);
  case CK_LValueToRValue:
    return copyOf(eval(E->getSubExpr()));
  default:
    // Conversions of classes are calls and constructions below.
    return eval(E->getSubExpr());
  }
}

Cell Interpreter::eval(const Expr *E) {
  if (!E)
    return unknown({}, "");
  if (!step(E->getExprLoc()))
    return unknown(E->getExprLoc(), "");
  ++Nesting;
  const auto Leave = llvm::make_scope_exit([&] { --Nesting; });
  if (Nesting > MaxNesting) {
    limit(E->getExprLoc(), "this is nested too deep, and was not followed");
    return unknown(E->getExprLoc(), "");
  }
  const Cell Result = evalInside(E);
  return Result ? Result : unknown(E->getExprLoc(), "an expression");
}

Cell Interpreter::evalInside(const Expr *E) {
  if (const auto *Cast = dyn_cast<CastExpr>(E))
    return evalCast(Cast);
  switch (E->getStmtClass()) {
  case Stmt::ParenExprClass:
    return eval(cast<ParenExpr>(E)->getSubExpr());
  case Stmt::ExprWithCleanupsClass:
  case Stmt::ConstantExprClass: {
    const size_t Living = Temporaries.size();
    const Cell Result = eval(cast<FullExpr>(E)->getSubExpr());
    Temporaries.resize(Living);
    return Result;
  }
  case Stmt::MaterializeTemporaryExprClass: {
    const Cell Made = eval(cast<MaterializeTemporaryExpr>(E)->getSubExpr());
    if (Pass)
      Temporaries.push_back(Made);
    return Made;
  }
  case Stmt::CXXBindTemporaryExprClass:
    return eval(cast<CXXBindTemporaryExpr>(E)->getSubExpr());
  case Stmt::SubstNonTypeTemplateParmExprClass:
    return eval(cast<SubstNonTypeTemplateParmExpr>(E)->getReplacement());
  case Stmt::CXXDefaultArgExprClass:
    return eval(cast<CXXDefaultArgExpr>(E)->getExpr());
  case Stmt::CXXDefaultInitExprClass:
    return eval(cast<CXXDefaultInitExpr>(E)->getExpr());
  case Stmt::CXXStdInitializerListExprClass:
    return eval(cast<CXXStdInitializerListExpr>(E)->getSubExpr());
  case Stmt::CXXRewrittenBinaryOperatorClass:
    return eval(cast<CXXRewrittenBinaryOperator>(E)->getSemanticForm());
  case Stmt::OpaqueValueExprClass:
    return eval(cast<OpaqueValueExpr>(E)->getSourceExpr());
  case Stmt::CXXBoolLiteralExprClass:
    return integer(cast<CXXBoolLiteralExpr>(E)->getValue());
  case Stmt::CharacterLiteralClass:
    return integer(cast<CharacterLiteral>(E)->getValue());
  case Stmt::StringLiteralClass: {
    const auto *Literal = cast<StringLiteral>(E);
    return Literal->getCharByteWidth() == 1 ? text(Literal->getString())
                                            : valueOf(Value::Other);
  }
  case Stmt::CXXNullPtrLiteralExprClass:
  case Stmt::GNUNullExprClass:
    return valueOf(Value::Null);
  case Stmt::ImplicitValueInitExprClass:
  case Stmt::CXXScalarValueInitExprClass:
    if (E->getType()->isArithmeticType() || E->getType()->isEnumeralType())
      return convert(integer(0), E->getType());
    return E->getType()->isPointerType()
               ? valueOf(Value::Null)
               : defaultValue(E->getType(), E->getExprLoc());
  case Stmt::CXXThisExprClass:
    return !Frames.empty() && Frames.back()->This
               ? Frames.back()->This
               : unknown(E->getExprLoc(), "'this'");
  case Stmt::DeclRefExprClass:
    return evalName(cast<DeclRefExpr>(E)->getDecl(), E);
  case Stmt::MemberExprClass:
    return evalMember(cast<MemberExpr>(E));
  case Stmt::ArraySubscriptExprClass: {
    const auto *Subscript = cast<ArraySubscriptExpr>(E);
    const Cell Base = eval(Subscript->getBase());
    return element(Base, eval(Subscript->getIdx()), E);
  }
  case Stmt::BinaryOperatorClass:
  case Stmt::CompoundAssignOperatorClass:
    return evalBinary(cast<BinaryOperator>(E));
  case Stmt::UnaryOperatorClass:
    return evalUnary(cast<UnaryOperator>(E));
  case Stmt::ConditionalOperatorClass: {
    const auto *Choice = cast<ConditionalOperator>(E);
    const Cell Condition = eval(Choice->getCond());
    if (std::optional<bool> Known = truth(Condition))
      return eval(*Known ? Choice->getTrueExpr() : Choice->getFalseExpr());
    for (const Expr *Skipped : {Choice->getTrueExpr(), Choice->getFalseExpr()})
      if (forget(Skipped, unknown(E->getExprLoc(), "a condition")) || Pass)
        note(E->getExprLoc(),
             "the condition of this '?:' is not known" + because(Condition));
    return Condition->Why.empty()
               ? unknown(E->getExprLoc(), "the condition of a '?:'")
               : Condition;
  }
  case Stmt::InitListExprClass:
    return evalList(cast<InitListExpr>(E));
  case Stmt::CXXParenListInitExprClass: {
    const auto *List = cast<CXXParenListInitExpr>(E);
    llvm::SmallVector<Cell, 4> Elements;
    for (const Expr *Init : List->getInitExprs())
      Elements.push_back(eval(Init));
    const CXXRecordDecl *R = E->getType()->getAsCXXRecordDecl();
    return R ? makeObject(R, Elements, {}, nullptr, E->getExprLoc())
             : listOf({Elements.begin(), Elements.end()});
  }
  case Stmt::LambdaExprClass:
    return evalLambda(cast<LambdaExpr>(E));
  case Stmt::CXXConstructExprClass:
  case Stmt::CXXTemporaryObjectExprClass:
    return evalConstruct(cast<CXXConstructExpr>(E));
  case Stmt::CXXNewExprClass: {
    const auto *New = cast<CXXNewExpr>(E);
    if (New->isArray() || !New->getInitializer())
      return unknown(E->getExprLoc(), "a 'new'");
    const Cell Made = eval(New->getInitializer());
    if (Made->What == Value::Module)
      return Made;
    Value V;
    V.What = Value::Pointer;
    V.Target = Made;
    return cell(std::move(V));
  }
  case Stmt::CallExprClass:
  case Stmt::CXXMemberCallExprClass:
  case Stmt::CXXOperatorCallExprClass:
  case Stmt::UserDefinedLiteralClass:
    return evalCall(cast<CallExpr>(E));
  case Stmt::CXXThrowExprClass:
    fail(E->getExprLoc(), running() + " throws");
    return unknown(E->getExprLoc(), "");
  default:
    return evalConstant(E);
  }
}

} // namespace libtorch_tidy::model
