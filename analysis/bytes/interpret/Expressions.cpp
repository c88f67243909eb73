//===- Expressions.cpp - Values of expressions ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Interpreter.h"
#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Compat.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/Sharing.h"
#include "llvm/ADT/ScopeExit.h"

using namespace clang;
using llvm::ArrayRef;

namespace libtorch_tidy::bytes {

Cell evalConstant(Interpreter &VM, const Expr *E) {
  if (!E->isValueDependent() && !E->isTypeDependent() && !E->containsErrors()) {
    Expr::EvalResult Result;
    if (E->getType()->isIntegralOrEnumerationType() &&
        E->EvaluateAsInt(Result, VM.Context) &&
        Result.Val.getInt().getBitWidth() <= 64)
      return integer(Result.Val.getInt().extend(64).getSExtValue());
    llvm::APFloat Number(0.0);
    if (E->getType()->isRealFloatingType() &&
        E->EvaluateAsFloat(Number, VM.Context)) {
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
  const CXXRecordDecl *R = cpp::recordOf(Var->getType());
  if (torch::isModule(Var->getType()) ||
      torch::isModule(cpp::pointeeOf(Var->getType())))
    return true;
  const bool IsTensor = modelClass(R) == ModelClass::Tensor;
  return llvm::none_of(
      cpp::Body::of(F).writesTo(Var), [&](const cpp::Write &W) {
        return W.Kind == cpp::WriteKind::Changed &&
               (!IsTensor ||
                torch::resizesInPlace(dyn_cast<CallExpr>(W.Where)));
      });
}

/// Of a variable that is not one of the function that is followed.
static bool keepsInitialValue(Interpreter &VM, const VarDecl *Definition) {
  if (Definition->isConstexpr() || Definition->getType().isConstQualified() ||
      Definition->getType()->isReferenceType())
    return true;
  if (Definition->hasLocalStorage()) {
    const auto *F = dyn_cast<FunctionDecl>(Definition->getDeclContext());
    const FunctionDecl *Defined = F ? F->getDefinition() : nullptr;
    return Defined && cpp::Body::of(Defined).isSetOnce(Definition) &&
           keepsContents(Definition, Defined);
  }
  // Other units may write to what they can name. A static member of a class is
  // there for its methods.
  return (!Definition->isExternallyVisible() ||
          Definition->isStaticDataMember()) &&
         llvm::all_of(VM.All, [&](const Stmt *Body) {
           return cpp::writesTo(Definition, Body).empty();
         });
}

static Cell evalName(Interpreter &VM, const ValueDecl *D, const Expr *E) {
  const auto *Canonical = cast<ValueDecl>(D->getCanonicalDecl());
  if (!VM.Frames.empty()) {
    auto &Variables = VM.Frames.back()->Variables;
    if (auto It = Variables.find(Canonical); It != Variables.end())
      return It->second;
  }
  // torch::kHalf
  if (torch::isTorchDecl(D) && isa<VarDecl, EnumConstantDecl>(D) &&
      torch::isScalarType(D->getType()))
    if (std::optional<ElementType> Type = elementType(cpp::nameOf(D)))
      return typeValue(*Type);
  if (const auto *Constant = dyn_cast<EnumConstantDecl>(D))
    return Constant->getInitVal().isRepresentableByInt64()
               ? integer(Constant->getInitVal().getExtValue())
               : evalConstant(VM, E);
  if (const auto *F = dyn_cast<FunctionDecl>(D))
    return valueOf(Value::Function, &Value::Callee, F);
  const Cell Nothing = unknown(D->getLocation(), "'" + D->getName() + "'");
  const auto *Var = dyn_cast<VarDecl>(D);
  if (!Var || isa<ParmVarDecl>(Var))
    return Nothing;
  if (cpp::isOfLibrary(Var)) {
    if (cpp::isStdClass(Var->getType(), {"nullopt_t"}) ||
        Var->getName() == "nullopt")
      return valueOf(Value::Null);
    const Cell Known = evalConstant(VM, E);
    if (Known->What != Value::Unknown)
      return Known;
    // torch::kNearest
    return valueOf(Value::Other, &Value::Name, Var->getName().str());
  }
  const VarDecl *Definition = nullptr;
  const Expr *Init = Var->getAnyInitializer(Definition);
  if (!Init)
    return Nothing;
  auto [It, New] =
      VM.Globals.try_emplace(Definition->getCanonicalDecl(), Nothing);
  if (New && keepsInitialValue(VM, Definition)) {
    // It is evaluated where it stands, not in the function that names it.
    Frame Outside;
    VM.Frames.push_back(&Outside);
    It->second = VM.copyOf(convert(VM, VM.eval(Init), Definition->getType()));
    VM.Frames.pop_back();
  }
  return It->second;
}

/// The options that \p M was made with.
static Cell optionsOf(const ModuleInstance &M) {
  const Cell Options = valueOf(Value::Options);
  Options->Name = M.ClassName;
  Options->Settings = M.Settings;
  return Options;
}

Cell memberOf(Interpreter &VM, const Cell &Base, const ValueDecl *Member,
              const Expr *E) {
  if (const auto *Var = dyn_cast<VarDecl>(Member))
    return evalName(VM, Var, E);
  const auto *Field = dyn_cast<FieldDecl>(Member);
  const Cell Object = targetOf(Base);
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
    if (torch::isTorchDecl(Field)) {
      if (Field->getName() == "options")
        return optionsOf(M);
      for (auto *Tensors : {&M.Parameters, &M.Buffers})
        for (const ModuleInstance::Tensor &T : *Tensors)
          if (T.Name == Field->getName())
            // The member: another tensor can be assigned to it.
            return M.Members[Field->getCanonicalDecl()] = tensorValue(T.Handle);
      for (const ModuleInstance::Child &Child : M.Children)
        if (Child.Name == Field->getName())
          return moduleValue(Child.Module);
      return Nothing;
    }
    return M.Members[Field->getCanonicalDecl()] = Nothing;
  }
  case Value::Record:
    return Object->Members.try_emplace(Field->getCanonicalDecl(), Nothing)
        .first->second;
  case Value::List: // std::pair, a struct of the library's.
    return Field->getFieldIndex() < Object->Elements.size()
               ? Object->Elements[Field->getFieldIndex()]
               : Nothing;
  case Value::Unknown: {
    if (Object->Why.empty())
      return Nothing;
    // A part of it may be given.
    const Cell Part = cell(*Object);
    Part->Name.clear();
    return Part;
  }
  default:
    return Nothing;
  }
}

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

static Cell evalConstruct(Interpreter &VM, const CXXConstructExpr *E) {
  const CXXConstructorDecl *Constructor = E->getConstructor();
  if (Constructor->isCopyOrMoveConstructor() && E->getNumArgs() >= 1) {
    const Cell From = VM.eval(E->getArg(0));
    // What is moved from holds nothing any more.
    if (VM.Pass && Constructor->isMoveConstructor() &&
        From->What == Value::Tensor && E->getArg(0)->isXValue()) {
      const Cell Moved = VM.copyOf(From);
      From->Handle = undefinedTensor();
      return Moved;
    }
    return From->What == Value::List || From->What == Value::Record ||
                   From->What == Value::Options
               ? VM.copyOf(From)
               : From;
  }
  const auto Written = cpp::writtenArguments(E);
  const std::vector<Cell> Arguments = VM.evalAll(Written);
  if (VM.Halted)
    return unknown(E->getExprLoc(), "");
  if (E->getType()->isArrayType())
    return defaultValue(VM, E->getType(), E->getExprLoc());
  return makeObject(VM, Constructor->getParent(), Arguments, typesOf(Written),
                    Constructor, E->getBeginLoc());
}

static Cell evalList(Interpreter &VM, const InitListExpr *E) {
  if (!E->isSemanticForm() && E->getSemanticForm())
    E = E->getSemanticForm();
  const QualType T = E->getType();
  const CXXRecordDecl *R = T->getAsCXXRecordDecl();
  if (R && !cpp::isOfLibrary(R)) {
    const Cell Object = valueOf(Value::Record, &Value::Class, R);
    unsigned I = R->getNumBases();
    for (const FieldDecl *Field : R->fields()) {
      if (compat::isUnnamedBitField(Field))
        continue;
      Object->Members[Field->getCanonicalDecl()] =
          I < E->getNumInits()
              ? VM.copyOf(convert(VM, VM.eval(E->getInit(I)), Field->getType()))
              : defaultValue(VM, Field->getType(), Field->getLocation());
      ++I;
    }
    return Object;
  }
  if (R) // std::array has an array in it.
    return E->getNumInits() == 1 ? VM.eval(E->getInit(0)) : listOf({});
  if (!T->isArrayType()) {
    if (E->getNumInits() == 0)
      return T->isPointerType() ? valueOf(Value::Null)
                                : convert(VM, integer(0), T);
    return convert(VM, VM.eval(E->getInit(0)), T);
  }
  std::vector<Cell> Elements;
  for (const Expr *Init : E->inits())
    Elements.push_back(VM.copyOf(VM.eval(Init)));
  if (const auto *Array = dyn_cast<ConstantArrayType>(T.getCanonicalType())) {
    const uint64_t Size = Array->getSize().getLimitedValue(MaxElements + 1);
    if (Size > MaxElements)
      return unknown(E->getExprLoc(), "an array that is too large");
    while (Elements.size() < Size && VM.step(E->getExprLoc()))
      Elements.push_back(E->getArrayFiller()
                             ? VM.copyOf(VM.eval(E->getArrayFiller()))
                             : unknown(E->getExprLoc(), "an element"));
  }
  return listOf(std::move(Elements));
}

static Cell evalLambda(Interpreter &VM, const LambdaExpr *E) {
  const Cell Closure = valueOf(Value::Function);
  Closure->Callee = E->getCallOperator();
  if (!VM.Frames.empty())
    Closure->This = VM.Frames.back()->This;
  for (const auto [Capture, Init] :
       llvm::zip(E->captures(), E->capture_inits())) {
    if (!Capture.capturesVariable())
      continue;
    const ValueDecl *Var = Capture.getCapturedVar();
    const auto *Own =
        E->isInitCapture(&Capture) ? dyn_cast<VarDecl>(Var) : nullptr;
    const Cell Given = Own && Own->hasInit() ? VM.eval(Own->getInit())
                                             : evalName(VM, Var, Init);
    Closure->Captures[cast<ValueDecl>(Var->getCanonicalDecl())] =
        Capture.getCaptureKind() == LCK_ByCopy ? VM.copyOf(Given) : Given;
  }
  return Closure;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

static Cell evalCast(Interpreter &VM, const CastExpr *E) {
  switch (E->getCastKind()) {
  case CK_IntegralToFloating:
    return convert(
        VM, asReal(VM, VM.eval(E->getSubExpr()), E->getSubExpr()->getType()),
        E->getType());
  case CK_IntegralCast:
  case CK_FloatingToIntegral:
  case CK_FloatingCast:
  case CK_BooleanToSignedIntegral:
    return convert(VM, VM.eval(E->getSubExpr()), E->getType());
  case CK_IntegralToBoolean:
  case CK_FloatingToBoolean:
  case CK_PointerToBoolean:
    return convert(VM, VM.eval(E->getSubExpr()), VM.Context.BoolTy);
  case CK_NullToPointer:
    return valueOf(Value::Null);
  case CK_LValueToRValue:
    return VM.copyOf(VM.eval(E->getSubExpr()));
  default:
    // Conversions of classes are calls and constructions below.
    return VM.eval(E->getSubExpr());
  }
}

std::vector<Cell> Interpreter::evalAll(ArrayRef<const Expr *> Each) {
  std::vector<Cell> Result;
  for (const Expr *E : Each)
    Result.push_back(eval(E));
  return Result;
}

llvm::SmallVector<QualType, 4> typesOf(ArrayRef<const Expr *> Each) {
  llvm::SmallVector<QualType, 4> Result;
  for (const Expr *E : Each)
    Result.push_back(E->getType());
  return Result;
}

/// What \p E is only written around: parentheses and other wrappers; it may be
/// null. nullopt for others.
static std::optional<const Expr *> wrappedBy(const Expr *E) {
  switch (E->getStmtClass()) {
  case Stmt::ParenExprClass:
    return cast<ParenExpr>(E)->getSubExpr();
  case Stmt::CXXBindTemporaryExprClass:
    return cast<CXXBindTemporaryExpr>(E)->getSubExpr();
  case Stmt::SubstNonTypeTemplateParmExprClass:
    return cast<SubstNonTypeTemplateParmExpr>(E)->getReplacement();
  case Stmt::CXXDefaultArgExprClass:
    return cast<CXXDefaultArgExpr>(E)->getExpr();
  case Stmt::CXXDefaultInitExprClass:
    return cast<CXXDefaultInitExpr>(E)->getExpr();
  case Stmt::CXXStdInitializerListExprClass:
    return cast<CXXStdInitializerListExpr>(E)->getSubExpr();
  case Stmt::CXXRewrittenBinaryOperatorClass:
    return cast<CXXRewrittenBinaryOperator>(E)->getSemanticForm();
  case Stmt::OpaqueValueExprClass:
    return cast<OpaqueValueExpr>(E)->getSourceExpr();
  default:
    return std::nullopt;
  }
}

/// Does running \p E change something besides what it gives?
static bool changesSomething(const Expr *E) {
  return cpp::anyOf<Stmt>(
      E,
      [](const Stmt *Part) {
        if (const auto *Op = dyn_cast<BinaryOperator>(Part))
          return Op->isAssignmentOp();
        if (const auto *Op = dyn_cast<UnaryOperator>(Part))
          return Op->isIncrementDecrementOp();
        if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Part))
          return Op->isAssignmentOp();
        const auto *Call = dyn_cast<CallExpr>(Part);
        const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
        return F && cpp::nameOf(F).ends_with("_");
      },
      cpp::Lambdas::Skipped);
}

/// Where it depends on values which of two tensors of one shape an expression
/// gives, the one that takes more counts. Null for others.
static Cell evalLarger(Interpreter &VM, const ConditionalOperator *E) {
  const Expr *Arms[] = {E->getTrueExpr(), E->getFalseExpr()};
  if (!VM.Pass || llvm::any_of(Arms, changesSomething))
    return nullptr;
  uint64_t Bytes[2] = {};
  TensorShape Shapes[2];
  for (const unsigned I : {0, 1}) {
    const uint64_t Before = VM.Pass->memory().live();
    const size_t Living = VM.Temporaries.size();
    const Cell Given = VM.copyOf(VM.eval(Arms[I]));
    Bytes[I] = VM.Pass->memory().live() - Before;
    VM.Temporaries.resize(Living);
    if (VM.Halted || Given->What != Value::Tensor ||
        !Given->Handle->Shape.Defined || !Given->Handle->Shape.bytes())
      return nullptr;
    Shapes[I] = Given->Handle->Shape;
  }
  if (Shapes[0].Sizes != Shapes[1].Sizes ||
      Shapes[0].Type->Name != Shapes[1].Type->Name)
    return nullptr;
  VM.setPlace(VM.current(), E->getExprLoc());
  VM.Pass->atMost("which of two tensors it is depends on values: the one that "
                  "takes more counts");
  return VM.eval(Arms[Bytes[1] > Bytes[0]]);
}

/// A number for which nothing is called.
static bool isPlainNumber(const Expr *E) {
  return E->getType()->isArithmeticType() &&
         !cpp::anyOf<CallExpr>(
             E, [](const CallExpr *) { return true; }, cpp::Lambdas::Skipped);
}

/// `c ? a : b`.
static Cell evalChoice(Interpreter &VM, const ConditionalOperator *E) {
  const Cell Condition = VM.eval(E->getCond());
  if (std::optional<bool> Known = truth(Condition))
    return VM.eval(*Known ? E->getTrueExpr() : E->getFalseExpr());
  if (Cell Larger = evalLarger(VM, E))
    return Larger;
  for (const Expr *Skipped : {E->getTrueExpr(), E->getFalseExpr()})
    if (forget(VM, Skipped, unknown(E->getExprLoc(), "a condition")) ||
        (VM.Pass && !VM.isInProgram() && !isPlainNumber(Skipped)))
      VM.note(E->getExprLoc(), "the condition of this '?:' is not known" +
                                   VM.because(Condition));
  return Condition->Why.empty()
             ? unknown(E->getExprLoc(), "the condition of a '?:'")
             : Condition;
}

static Cell evalNew(Interpreter &VM, const CXXNewExpr *E) {
  if (E->isArray() || !E->getInitializer())
    return unknown(E->getExprLoc(), "a 'new'");
  const Cell Made = VM.eval(E->getInitializer());
  return Made->What == Value::Module ? Made : pointerTo(Made);
}

/// A literal, or a value that nothing is written for. Null for others.
static Cell evalLiteral(Interpreter &VM, const Expr *E) {
  switch (E->getStmtClass()) {
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
      return convert(VM, integer(0), E->getType());
    return E->getType()->isPointerType()
               ? valueOf(Value::Null)
               : defaultValue(VM, E->getType(), E->getExprLoc());
  default:
    return nullptr;
  }
}

static Cell evalInside(Interpreter &VM, const Expr *E) {
  if (const auto *Cast = dyn_cast<CastExpr>(E))
    return evalCast(VM, Cast);
  if (const std::optional<const Expr *> Inner = wrappedBy(E))
    return VM.eval(*Inner);
  if (Cell Literal = evalLiteral(VM, E))
    return Literal;
  switch (E->getStmtClass()) {
  case Stmt::ExprWithCleanupsClass:
  case Stmt::ConstantExprClass: {
    const size_t Living = VM.Temporaries.size();
    const Cell Result = VM.eval(cast<FullExpr>(E)->getSubExpr());
    VM.Temporaries.resize(Living);
    return Result;
  }
  case Stmt::MaterializeTemporaryExprClass: {
    const Cell Made = VM.eval(cast<MaterializeTemporaryExpr>(E)->getSubExpr());
    VM.Temporaries.push_back(Made);
    return Made;
  }
  case Stmt::CXXThisExprClass:
    return !VM.Frames.empty() && VM.Frames.back()->This
               ? VM.Frames.back()->This
               : unknown(E->getExprLoc(), "'this'");
  case Stmt::DeclRefExprClass:
    return evalName(VM, cast<DeclRefExpr>(E)->getDecl(), E);
  case Stmt::MemberExprClass: {
    const auto *Member = cast<MemberExpr>(E);
    return memberOf(VM, VM.eval(Member->getBase()), Member->getMemberDecl(), E);
  }
  case Stmt::ArraySubscriptExprClass: {
    const auto *Subscript = cast<ArraySubscriptExpr>(E);
    const Cell Base = VM.eval(Subscript->getBase());
    return element(Base, VM.eval(Subscript->getIdx()), E);
  }
  case Stmt::BinaryOperatorClass:
  case Stmt::CompoundAssignOperatorClass:
    return evalBinary(VM, cast<BinaryOperator>(E));
  case Stmt::UnaryOperatorClass:
    return evalUnary(VM, cast<UnaryOperator>(E));
  case Stmt::ConditionalOperatorClass:
    return evalChoice(VM, cast<ConditionalOperator>(E));
  case Stmt::InitListExprClass:
    return evalList(VM, cast<InitListExpr>(E));
  case Stmt::CXXParenListInitExprClass: {
    const auto *List = cast<CXXParenListInitExpr>(E);
    std::vector<Cell> Elements = VM.evalAll(List->getInitExprs());
    const CXXRecordDecl *R = E->getType()->getAsCXXRecordDecl();
    return R ? makeObject(VM, R, Elements, {}, nullptr, E->getExprLoc())
             : listOf(std::move(Elements));
  }
  case Stmt::LambdaExprClass:
    return evalLambda(VM, cast<LambdaExpr>(E));
  case Stmt::CXXConstructExprClass:
  case Stmt::CXXTemporaryObjectExprClass:
    return evalConstruct(VM, cast<CXXConstructExpr>(E));
  case Stmt::CXXNewExprClass:
    return evalNew(VM, cast<CXXNewExpr>(E));
  case Stmt::CallExprClass:
  case Stmt::CXXMemberCallExprClass:
  case Stmt::CXXOperatorCallExprClass:
  case Stmt::UserDefinedLiteralClass:
    return evalCall(VM, cast<CallExpr>(E));
  case Stmt::CXXThrowExprClass:
    VM.throws(E->getExprLoc(), VM.running() + " throws", "");
    return unknown(E->getExprLoc(), "");
  default:
    return evalConstant(VM, E);
  }
}

Cell Interpreter::eval(const Expr *E) {
  if (!E)
    return unknown({}, "");
  if (!step(E->getExprLoc()))
    return unknown(E->getExprLoc(), "");
  ++Nesting;
  const auto Leave = llvm::make_scope_exit([&] { --Nesting; });
  if (isTooDeep(E->getExprLoc()))
    return unknown(E->getExprLoc(), "");
  const Cell Result = evalInside(*this, E);
  if (!Result)
    return unknown(E->getExprLoc(), "an expression");
  return isa<DeclRefExpr, MemberExpr>(E) ? named(Result, E) : Result;
}

} // namespace libtorch_tidy::bytes
