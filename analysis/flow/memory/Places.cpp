//===- Places.cpp - Where a pointer can be stored -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/flow/memory/Places.h"
#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/Storage.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::flow {

using namespace cpp;

const VarDecl *namedBy(const Expr *E) {
  const auto *Ref = dyn_cast_or_null<DeclRefExpr>(cpp::peel(E));
  return Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

/// Loops of more rounds than this are not gone through one by one.
static constexpr int64_t MaxNumbered = 64;

/// The step from a pointer to what lies an unknown way further on.
static constexpr llvm::StringLiteral SomePointee = "*?";

StringRef takeStep(StringRef &Path) {
  const size_t End = Path.find_first_of(".[<*", 1);
  // The star of an element that is not known belongs to its step.
  const StringRef Step = Path.starts_with(SomeElement)
                             ? Path.take_front(SomeElement.size())
                             : Path.take_front(End);
  Path = Path.drop_front(Step.size());
  return Step;
}

/// An element, or what a pointer leads to.
static bool isIndexed(StringRef Step) {
  return Step[0] == '[' || Step[0] == '*';
}

/// Is \p Step the same wherever it is written?
static bool isConstant(StringRef Step) {
  return !isIndexed(Step) || Step == "*" || isdigit(Step[1]) || Step[1] == '-';
}

/// \p Whole leads to the place that is asked for.
static bool isSameStep(StringRef Part, StringRef Whole, bool Surely) {
  if (Surely)
    return (Part == Whole && Part != SomeElement && Part != SomePointee) ||
           (Whole == EachElement && Part[0] == '[');
  return Part == Whole || (isIndexed(Part) && Part[0] == Whole[0] &&
                           !(isConstant(Part) && isConstant(Whole)));
}

bool surelyMeet(StringRef A, StringRef B, bool SameNames) {
  while (!A.empty() && !B.empty()) {
    const StringRef One = takeStep(A), Other = takeStep(B);
    if (One == EachElement || Other == EachElement)
      continue;
    if (One != Other || One == SomeElement || One == SomePointee ||
        !(SameNames || isConstant(One)))
      return false;
  }
  return true;
}

std::string withoutNames(StringRef Path) {
  std::string Result;
  while (!Path.empty()) {
    const StringRef Step = takeStep(Path);
    Result += isConstant(Step) || Step == EachElement ? Step
              : Step[0] == '['                        ? StringRef(SomeElement)
                                                      : StringRef(SomePointee);
  }
  return Result;
}

std::optional<StringRef> pathWithin(StringRef Part, StringRef Whole,
                                    bool Surely) {
  while (!Whole.empty())
    if (Part.empty() || !isSameStep(takeStep(Part), takeStep(Whole), Surely))
      return std::nullopt;
  return Part;
}

bool isDeep(StringRef Path) {
  unsigned Steps = 0;
  for (; !Path.empty(); takeStep(Path))
    ++Steps;
  return Steps > 6;
}

bool leadsOut(StringRef Path) {
  while (!Path.empty())
    if (takeStep(Path)[0] == '*')
      return true;
  return false;
}

std::string tupleStep(unsigned I) { return "<" + std::to_string(I) + ">"; }

std::string fieldStep(const FieldDecl *Field) {
  const auto *R = dyn_cast<CXXRecordDecl>(Field->getParent());
  if (isStdClass(R, StdClass::Tuple))
    return tupleStep(cpp::nameOf(Field) == "second");
  return "." + Field->getNameAsString();
}

/// What \p Index is in each run, as a text that begins with a digit or a sign;
/// empty for all else.
static std::string constantText(const Expr *Index) {
  if (const auto *Number = dyn_cast<IntegerLiteral>(Index))
    return llvm::toString(Number->getValue(), 10, false);
  if (const auto *Truth = dyn_cast<CXXBoolLiteralExpr>(Index))
    return Truth->getValue() ? "1" : "0";
  if (const auto *Character = dyn_cast<CharacterLiteral>(Index))
    return std::to_string(Character->getValue());
  if (const auto *Text = dyn_cast<StringLiteral>(Index))
    return "0x" + llvm::toHex(Text->getBytes());
  const auto *Ref = dyn_cast<DeclRefExpr>(Index);
  if (const auto *One =
          Ref ? dyn_cast<EnumConstantDecl>(Ref->getDecl()) : nullptr)
    return llvm::toString(One->getInitVal(), 10);
  const VarDecl *Var = namedBy(Ref);
  Expr::EvalResult Value;
  return Var && Var->getType().isConstQualified() &&
                 Var->getType()->isIntegralOrEnumerationType() &&
                 !Ref->isValueDependent() &&
                 Ref->EvaluateAsInt(Value, Var->getASTContext())
             ? llvm::toString(Value.Val.getInt(), 10)
             : std::string();
}

/// `1`, `i`, `i % 2`; empty for what cannot be a step.
static std::string indexText(const Expr *Index) {
  Index = cpp::peel(Index);
  // std::string("key")
  if (const auto *Made = dyn_cast_or_null<CXXConstructExpr>(Index)) {
    const auto Written = writtenArguments(Made);
    Index = Written.size() == 1 ? cpp::peel(Written[0]) : nullptr;
  }
  if (!Index)
    return {};
  if (std::string Constant = constantText(Index); !Constant.empty())
    return Constant;
  if (const VarDecl *Var = namedBy(Index))
    return Var->getNameAsString();
  const auto *Op = dyn_cast_or_null<BinaryOperator>(Index);
  if (!Op || (!Op->isAdditiveOp() && Op->getOpcode() != BO_Rem))
    return {};
  const std::string Left = indexText(Op->getLHS());
  const std::string Right = indexText(Op->getRHS());
  // Not a number at the front, which would tell it from others.
  return Left.empty() || Right.empty()
             ? std::string()
             : "(" + Left + Op->getOpcodeStr().str() + Right + ")";
}

std::string elementStep(const Expr *Index) {
  const std::string Text = indexText(Index);
  return Text.empty() ? SomeElement.str() : "[" + Text + "]";
}

std::string numberStep(unsigned N) { return "[" + std::to_string(N) + "]"; }

/// The step from a pointer to what lies \p Index further on.
static std::string pointeeStep(const Expr *Index) {
  const std::string Text = indexText(Index);
  return Text == "0" ? "*" : Text.empty() ? SomePointee.str() : "*" + Text;
}

//===----------------------------------------------------------------------===//
// Steps of expressions
//===----------------------------------------------------------------------===//

const CallExpr *iteratorOf(const Expr *E) {
  E = E ? cpp::stripImplicit(E) : nullptr;
  while (const auto *Converted = dyn_cast_or_null<CXXConstructExpr>(E)) {
    E = cpp::onlyArgument(Converted);
    E = E ? cpp::stripImplicit(E) : nullptr;
  }
  const auto *Call = dyn_cast_or_null<CallExpr>(E);
  return does(Call, Std::Iterator) ? Call : nullptr;
}

const Expr *iteratedBy(const Expr *E) {
  const CallExpr *Call = iteratorOf(E);
  if (!Call)
    return nullptr;
  if (const auto *Method = dyn_cast<CXXMemberCallExpr>(Call))
    return Method->getImplicitObjectArgument();
  return isStdCall(Call, Std::Iterator) && Call->getNumArgs() == 1
             ? Call->getArg(0)
             : nullptr;
}

bool isSamePlace(const Expr *A, const Expr *B) {
  const std::optional<Keeper> One = A ? Keeper::of(A) : std::nullopt;
  const std::optional<Keeper> Other = B ? Keeper::of(B) : std::nullopt;
  return One && Other && *One == *Other;
}

/// The condition of \p Loop, where it asks whether \p Var is less than
/// something, or another: that.
static const Expr *boundOf(const ForStmt *Loop, const VarDecl *Var) {
  const Expr *Test = Loop->getCond() ? cpp::peel(Loop->getCond()) : nullptr;
  if (const auto *Op = dyn_cast_or_null<BinaryOperator>(Test))
    return (Op->getOpcode() == BO_LT || Op->getOpcode() == BO_NE) &&
                   cpp::variableOf(Op->getLHS()) == Var
               ? Op->getRHS()
               : nullptr;
  if (const auto *Rewritten =
          dyn_cast_or_null<CXXRewrittenBinaryOperator>(Test))
    return Rewritten->getOperator() == BO_NE &&
                   cpp::variableOf(Rewritten->getLHS()) == Var
               ? Rewritten->getRHS()
               : nullptr;
  const auto *Call = dyn_cast_or_null<CXXOperatorCallExpr>(Test);
  return Call && Call->getOperator() == OO_ExclaimEqual &&
                 cpp::variableOf(Call->getArg(0)) == Var
             ? Call->getArg(1)
             : nullptr;
}

/// What \p Var is compared with in the loop whose rounds it counts, through
/// variables that are set once; null for others.
static const Expr *boundOf(const VarDecl *Var) {
  if (!Var || Var->isImplicit() || !Var->isLocalVarDecl() || !Var->hasInit() ||
      Var->getType()->isReferenceType())
    return nullptr;
  const ForStmt *Loop = cpp::loopCountedBy(Var);
  const Expr *Bound = Loop ? boundOf(Loop, Var) : nullptr;
  const auto *F = cast<FunctionDecl>(Var->getDeclContext());
  return Bound ? Body::of(F).originOf(Bound) : nullptr;
}

const Expr *rangeOf(const Expr *E) {
  const VarDecl *Begin = namedBy(E);
  if (!Begin || !Begin->hasInit())
    return nullptr;
  const Expr *Init = cpp::valueOf(Begin->getInit());
  const CallExpr *Call = iteratorOf(Init);
  const Expr *Range = does(Call, Std::Begin) ? iteratedBy(Call) : nullptr;
  if (!Begin->isImplicit()) {
    const Expr *End = Range ? boundOf(Begin) : nullptr;
    return does(iteratorOf(End), Std::End) &&
                   isSamePlace(Range, iteratedBy(End))
               ? Range
               : nullptr;
  }
  return Range                                    ? Range
         : Init && Init->getType()->isArrayType() ? Init
                                                  : nullptr;
}

/// Does the variable \p Index lead to all elements of \p Container, one after
/// the other?
static bool leadsThrough(const Expr *Index, const Expr *Container) {
  const VarDecl *Var = Index ? namedBy(Index) : nullptr;
  if (!Var || !Var->getType()->isIntegerType() || !Var->isLocalVarDecl() ||
      !Var->hasInit() || isa<ParmVarDecl>(Var))
    return false;
  const ASTContext &Context = Var->getASTContext();
  const Expr *Bound = boundOf(Var);
  if (!Bound || cpp::constantInt(Var->getInit(), Context) != 0)
    return false;
  if (const auto Number = cpp::constantInt(Bound, Context))
    return Number == cpp::constantLength(cpp::peel(Container), Context);
  const auto *Call = dyn_cast<CallExpr>(Bound);
  if (!does(Call, Std::Size))
    return false;
  const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
  return isSamePlace(Container, Method ? Method->getImplicitObjectArgument()
                                : Call->getNumArgs() == 1 ? Call->getArg(0)
                                                          : nullptr);
}

/// The element of \p Container at \p Index, which may be null. An element of a
/// map is a pair, and this its second part.
static PartOf elementOf(const Expr *Container, const Expr *Index) {
  if (leadsThrough(Index, Container))
    return {Container, EachElement.str()};
  const bool InPair = isStdClass(Container->getType(), StdClass::Map);
  return {Container, elementStep(Index) + (InPair ? tupleStep(1) : ""), Index};
}

/// Does the subscript, at() or back() of a \p T lead to elements that it owns?
static bool ownsElements(QualType T) {
  const CXXRecordDecl *R = cpp::recordOf(T);
  return R && !torch::isTensor(T) && !torch::isArrayRef(T) &&
         !torch::isAccessor(T) && !isStdClass(R, StdClass::NotOwning) &&
         !isView(T) && !isMat(T);
}

bool hasLastElement(QualType Container) {
  return ownsElements(Container) && !isStdClass(Container, {"priority_queue"});
}

static PartOf partOf(const CXXOperatorCallExpr *Op) {
  const Expr *Object = Op->getArg(0);
  const bool Arrow = Op->getOperator() == OO_Arrow;
  if (Op->getOperator() == OO_Subscript && Op->getNumArgs() == 2 &&
      ownsElements(Object->getType()))
    return elementOf(Object, Op->getArg(1));
  if (!Arrow && (Op->getOperator() != OO_Star || Op->getNumArgs() != 1))
    return {};
  if (const Expr *Range = rangeOf(Object))
    return {Range, EachElement.str()};
  // Arrow leads to a pointer, and the member that it is for goes on from it.
  return isStdClass(Object->getType(), StdClass::Box)
             ? PartOf{Object, Arrow ? "" : "*"}
             : PartOf();
}

/// The step to what \p Call adds to a \p Container.
static std::string stepOfInserted(const CallExpr *Call, QualType Container) {
  return (!hasLastElement(Container) ? SomeElement
          : does(Call, Std::AtEnd)   ? LastElement
          : does(Call, Std::First)   ? FirstElement
                                     : SomeElement)
      .str();
}

static PartOf partOf(const CallExpr *Call) {
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call))
    return partOf(Op);
  if (isStdCall(Call, Std::Part) && Call->getNumArgs() == 1) {
    const auto *Args = Call->getDirectCallee()->getTemplateSpecializationArgs();
    const bool ByNumber = Args && Args->size() > 0 &&
                          Args->get(0).getKind() == TemplateArgument::Integral;
    return ByNumber
               ? PartOf{Call->getArg(0),
                        tupleStep(Args->get(0).getAsIntegral().getZExtValue())}
               : PartOf();
  }
  const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
  const Expr *Object = Method ? Method->getImplicitObjectArgument() : nullptr;
  if (!Object || Object->getType()->isPointerType() ||
      !isOfLibrary(Call->getDirectCallee()))
    return {};
  if (does(Call, Std::Target) && isStdClass(Object->getType(), StdClass::Box))
    return {Object, Call->getType()->isPointerType() ? "" : "*"};
  if (Call->isLValue() && ownsElements(Object->getType())) {
    if (does(Call, Std::Element)) {
      const Expr *Index = Call->getNumArgs() == 1 ? Call->getArg(0) : nullptr;
      if (Index || !hasLastElement(Object->getType()))
        return elementOf(Object, Index);
      return {Object,
              (does(Call, Std::First) ? FirstElement : LastElement).str()};
    }
    if (does(Call, Std::Insert))
      return {Object, stepOfInserted(Call, Object->getType())};
  }
  return {};
}

PartOf partOf(const Expr *E) {
  E = cpp::peel(E);
  if (const auto *Member = dyn_cast_or_null<MemberExpr>(E)) {
    const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
    if (!Field || isa<CXXThisExpr>(cpp::peel(Member->getBase())))
      return {};
    // The arrow of an iterator leads to the element itself.
    const auto *Arrow =
        dyn_cast<CXXOperatorCallExpr>(cpp::peel(Member->getBase()));
    const bool ByPointer =
        Member->isArrow() && !(Arrow && rangeOf(Arrow->getArg(0)));
    return {Member->getBase(), (ByPointer ? "*" : "") + fieldStep(Field)};
  }
  if (const auto *Subscript = dyn_cast_or_null<ArraySubscriptExpr>(E)) {
    const Expr *Base = Subscript->getBase();
    const Expr *Index = Subscript->getIdx();
    return cpp::peel(Base)->getType()->isArrayType()
               ? elementOf(cpp::peel(Base), Index)
               : PartOf{Base, pointeeStep(Index), Index};
  }
  if (const auto *Unary = dyn_cast_or_null<UnaryOperator>(E)) {
    if (Unary->getOpcode() != UO_Deref)
      return {};
    const Expr *Pointer = cpp::peel(Unary->getSubExpr());
    if (const Expr *Range = rangeOf(Pointer))
      return {Range, EachElement.str()};
    if (const auto *Address = dyn_cast<UnaryOperator>(Pointer);
        Address && Address->getOpcode() == UO_AddrOf)
      return {Address->getSubExpr(), ""};
    return {Pointer, "*"};
  }
  if (const Expr *Moved = E ? movedBy(E) : nullptr)
    return {Moved, ""};
  const auto *Call = dyn_cast_or_null<CallExpr>(E);
  return Call ? partOf(Call) : PartOf();
}

//===----------------------------------------------------------------------===//
// Keepers
//===----------------------------------------------------------------------===//

/// What local reference \p Var is another name of; null for others.
static const Expr *sameAs(const VarDecl *Var) {
  const bool IsName = Var->isLocalVarDecl() && Var->hasInit() &&
                      Var->getType()->isReferenceType();
  return IsName && !isa<ExprWithCleanups>(Var->getInit()) ? Var->getInit()
                                                          : nullptr;
}

static void addVariables(const Expr *Index,
                         llvm::SmallVectorImpl<const VarDecl *> &To) {
  forEach<DeclRefExpr>(Index, [&](const DeclRefExpr *Ref) {
    if (const auto *Var = dyn_cast<VarDecl>(Ref->getDecl()))
      To.push_back(Var);
  });
}

void Keeper::enter(const Expr *Index) {
  Path += elementStep(Index);
  addVariables(Index, Indices);
}

std::optional<Keeper> Keeper::of(const Expr *E) {
  std::string Path;
  llvm::SmallVector<const VarDecl *, 1> Indices;
  const QualType Type = E ? cpp::peel(E)->getType() : QualType();
  for (unsigned Depth = 0; E && Depth < MaxChase; ++Depth) {
    E = cpp::peel(E);
    if (PartOf Part = flow::partOf(E); Part.Whole) {
      Path = Part.Step + Path;
      addVariables(Part.Index, Indices);
      E = Part.Whole;
      continue;
    }
    if (const auto *Member = dyn_cast<MemberExpr>(E)) {
      const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
      return Field ? std::optional(Keeper{Field, Path, Type, Indices})
                   : std::nullopt;
    }
    const auto *Ref = dyn_cast<DeclRefExpr>(E);
    const ValueDecl *D = Ref ? Ref->getDecl() : nullptr;
    if (const auto *Bound = dyn_cast_or_null<BindingDecl>(D)) {
      if (!Bound->getHoldingVar()) {
        E = Bound->getBinding();
        continue;
      }
      const auto *Whole = cast<DecompositionDecl>(Bound->getDecomposedDecl());
      const auto At = llvm::find(Whole->bindings(), Bound);
      Path = tupleStep(At - Whole->bindings().begin()) + Path;
      D = Whole;
    }
    const auto *Var = dyn_cast_or_null<VarDecl>(D);
    if (!Var)
      return std::nullopt;
    E = sameAs(Var);
    // A reference to a result is a place of its own.
    std::optional<Keeper> Named = E ? Keeper::of(E) : std::nullopt;
    if (!Named)
      return Keeper{Var, Path, Type, Indices};
    Named->ByReference |= !Named->Indices.empty();
    Named->Path += Path;
    Named->Type = Type;
    Named->Indices.append(Indices);
    return Named;
  }
  return std::nullopt;
}

std::vector<Keeper> Keeper::inRoundsOf(const VarDecl *Var) const {
  const Expr *Bound = Indices.size() == 1 && Indices[0] == Var &&
                              Var->getType()->isIntegerType()
                          ? boundOf(Var)
                          : nullptr;
  const ASTContext &Context = Root->getASTContext();
  const auto First =
      cpp::constantInt(Bound ? Var->getInit() : nullptr, Context);
  const auto End = cpp::constantInt(Bound, Context);
  std::vector<Keeper> All;
  if (!First || !End || *First < 0 || *End - *First > MaxNumbered)
    return All;
  for (int64_t Number = *First; Number < *End; ++Number) {
    Keeper One{Root, {}, Type};
    const std::string Name = Var->getNameAsString(),
                      At = std::to_string(Number);
    for (StringRef Rest = Path; !Rest.empty();) {
      const StringRef Step = takeStep(Rest);
      One.Path += Step == "[" + Name + "]" ? "[" + At + "]"
                  : Step != "*" + Name     ? Step.str()
                  : Number                 ? "*" + At
                                           : "*";
    }
    All.push_back(std::move(One));
  }
  return All;
}

std::optional<Keeper> Keeper::pointedToBy(const Expr *E) {
  E = cpp::peel(E);
  const auto *Address = dyn_cast_or_null<UnaryOperator>(E);
  if (Address && Address->getOpcode() == UO_AddrOf)
    return of(Address->getSubExpr());
  std::optional<Keeper> K = of(E);
  if (!K || E->getType()->isArrayType())
    return K;
  K->Path += "*";
  K->Type = {};
  return K;
}

std::string Keeper::name() const {
  std::string Name = Root->getNameAsString();
  bool Pointer = false;
  StringRef Rest = Path;
  // `auto [a, b] = pair`: the name of a part.
  if (const auto *Whole = dyn_cast<DecompositionDecl>(Root);
      Whole && !Rest.empty()) {
    const StringRef First = takeStep(Rest);
    for (unsigned I = 0; I < Whole->bindings().size(); ++I) {
      const BindingDecl *Bound = Whole->bindings()[I];
      if (First == (Bound->getHoldingVar()
                        ? tupleStep(I)
                        : flow::partOf(Bound->getBinding()).Step))
        Name = Bound->getNameAsString();
    }
  }
  while (!Rest.empty()) {
    const StringRef Step = takeStep(Rest);
    if (Step[0] == '*') {
      Pointer = true;
    } else if (Step[0] == '.' || Step[0] == '<') {
      if (Step[0] == '.')
        Name += (Pointer ? "->" : ".") + Step.drop_front().str();
      Pointer = false;
    }
  }
  return (Pointer ? "*" : "") + Name;
}

bool Keeper::mayMove() const {
  return llvm::any_of(Indices, [&](const VarDecl *Var) {
    const auto *F = dyn_cast<FunctionDecl>(Var->getDeclContext());
    if (!F || !Var->isLocalVarDeclOrParm() || Var->isStaticLocal() ||
        Var->getType()->isReferenceType())
      return true;
    const llvm::ArrayRef<Write> Writes = Body::of(F).writesTo(Var);
    return llvm::any_of(Writes, [&](const Write &W) {
      return ByReference || W.InLambda || W.Kind == WriteKind::Escaped ||
             !Var->getType()->isArithmeticType();
    });
  });
}

bool Keeper::outlives() const {
  const auto *Var = dyn_cast<VarDecl>(Root);
  if (!Var || !Var->isLocalVarDeclOrParm() || Var->isStaticLocal())
    return true;
  if (!isa<ParmVarDecl>(Var))
    return false;
  const QualType T = Var->getType();
  if (T->isReferenceType())
    return T->isLValueReferenceType();
  return leadsOut(Path) && !isStdClass(T, {"unique_ptr", "optional"});
}

} // namespace libtorch_tidy::flow
