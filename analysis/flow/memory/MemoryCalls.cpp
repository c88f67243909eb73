//===- MemoryCalls.cpp - Calls in the memory domain -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Types.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/flow/memory/MemoryDomain.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Kept.h"
#include "analysis/torch/modules/Modules.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::flow {

using torch::Fresh;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The object of a method of an array reference that gives a part of it, or a
/// pointer to its elements; null for others.
static const Expr *partOfArrayRef(const cpp::Call &C) {
  const QualType T = C.E->getType();
  return isa<CXXMemberCallExpr>(C.E) && C.Object &&
                 torch::isArrayRef(C.Object->getType()) &&
                 (torch::isArrayRef(T) || T->isPointerType())
             ? C.Object
             : nullptr;
}

static const Expr *sameAs(const cpp::Call &C) {
  return C.doesStd(cpp::Std::Move | cpp::Std::Forward) && C.Args.size() == 1
             ? C.Args.front()
             : nullptr;
}

Borrows MemoryValues::readCall(const CallExpr *Call) const {
  using V = MemoryValues;
  const auto ReadSame = [](const V &Of, const cpp::Call &, const Expr *Object) {
    return Of.read(Object);
  };
  static const cpp::CallRule<const V, Borrows> Rules[] = {
      {&V::asBlob, &V::readBlob},
      {torch::asAccess, &V::readPart},
      {sameAs, ReadSame},
      {cpp::ofStd(cpp::Std::Tuple), &V::readTuple},
      {partOfArrayRef, ReadSame},
      {imageShownBy, ReadSame},
      {&V::asOperator, &V::readOperator},
      {cpp::anyCall, &V::readResult},
  };
  return *cpp::firstOf(Rules, *this, cpp::Call(Call));
}

Borrows MemoryValues::readBlob(const cpp::Call &C,
                               const torch::BlobCall &Blob) const {
  std::optional<Buffer> Of = bufferOf(Blob.Buffer);
  if (!Of)
    return {};
  Borrow B = Of->lent(Borrow::Blob, C.E);
  B.Traits = Blob.Traits;
  return {B};
}

/// How the tensor that \p E makes by operators lies, from one that is packed.
static torch::Layout layoutFromPacked(const Expr *E,
                                      const ASTContext &Context) {
  return torch::layoutOf(
      dyn_cast_or_null<CallExpr>(cpp::stripImplicit(E)), 0,
      [&](const Expr *Operand) { return layoutFromPacked(Operand, Context); },
      Context);
}

/// Is \p Call the contiguous() of what operators have left in another order?
/// That is a copy, unless the order is undone or dimensions have one element.
static bool packsOtherOrder(const CallExpr *Call, const ASTContext &Context) {
  const Expr *Packed = torch::packedBy(Call);
  const torch::Layout Lies =
      Packed ? layoutFromPacked(Packed, Context) : torch::Layout();
  return Lies.isStrided() && !Lies.hangsOnCuts();
}

/// The borrows of an operator that may share the memory of a tensor.
Borrows MemoryValues::readOperator(const cpp::Call &C,
                                   const torch::StorageUse &Of) const {
  Borrows Result;
  if (packsOtherOrder(C.expr(), Context))
    return Result;
  for (Borrow &B : read(Of.Of)) {
    if (B.What != Borrow::Blob)
      continue;
    const torch::StorageUse Use =
        torch::storageUse(C.expr(), B.Traits, Context);
    if (Use.How == torch::Sharing::None)
      continue;
    if (Use.How == torch::Sharing::Perhaps && B.Sure != Fresh::Perhaps) {
      B.Sure = Fresh::Perhaps;
      B.Through = C.Name.str();
    }
    B.Traits = Use.Traits;
    // It is written around Top, and is no variable that holds it.
    const Expr *Value = cpp::stripImplicit(Use.Of);
    if (cpp::peel(Value) == B.Top || Value == cpp::stripImplicit(B.Top))
      B.Top = C.E;
    Result.push_back(B);
  }
  return Result;
}

//===----------------------------------------------------------------------===//
// What functions of the unit lend
//===----------------------------------------------------------------------===//

const MemorySummary *summaryOf(const FunctionDecl *Callee,
                               MemorySummaries Callees) {
  // Another function may run instead.
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Callee);
  if (!Callee || !Callees || (Method && Method->isVirtual()))
    return nullptr;
  const MemorySummary *Known = Callees(Callee);
  return Known && Known->available() ? Known : nullptr;
}

const MemorySummary *MemoryValues::summaryOf(const cpp::Call &C) const {
  const MemorySummary *Known = flow::summaryOf(C.Callee, Callees);
  return Known && !Known->saysNothing() ? Known : nullptr;
}

Borrows MemoryValues::lent(const MemorySummary::Lent &L,
                           const cpp::Call &C) const {
  if (L.Of >= C.Args.size() || L.Of >= C.Callee->getNumParams())
    return {};
  const Expr *Arg = C.Args[L.Of];
  if (L.What == Borrow::Given) {
    Borrows Passed = read(Arg);
    for (Borrow &B : Passed) {
      B.In = L.Field + B.In;
      if (L.Sure < B.Sure)
        B.doubt(Borrow::SomeWays), B.Lender = C.Callee;
    }
    return Passed;
  }
  const QualType T = C.Callee->getParamDecl(L.Of)->getType();
  std::optional<Borrow> B;
  if (torch::isTensor(T.getNonReferenceType())) {
    B = intoObject(L.What == Borrow::Blob ? Borrow::Data : L.What, Arg, C.E);
  } else {
    const Expr *Value = cpp::peel(Arg);
    const std::optional<Buffer> Of =
        T->isPointerType() ? bufferOf(Arg)
        : Value && Value->isPRValue() && isOwningContainer(Value->getType())
            ? Buffer{/*Owner=*/nullptr, Value}
            : bufferIn(Arg);
    if (Of && (L.What == Borrow::Blob || !Of->Heap))
      B = Of->lent(L.What, C.E);
  }
  if (!B)
    return {};
  B->What = L.What;
  B->In = L.Field;
  if (L.Sure < B->Sure) {
    B->Sure = L.Sure;
    B->Unless = Borrow::SomeWays;
    B->Through = L.Through;
  }
  B->Part = L.Part;
  B->AtStart &= L.AtStart;
  B->Traits = L.Traits;
  B->Lender = C.Callee;
  return {*B};
}

/// The borrows that the callee of \p C lends to \p To.
Borrows MemoryValues::readLent(const cpp::Call &C, unsigned To) const {
  Borrows Result;
  if (const MemorySummary *Known = summaryOf(C))
    for (const MemorySummary::Lent &L : Known->Lends)
      if (L.To == To)
        Result.append(lent(L, C));
  return Result;
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

/// The object of a method after which it holds less than before.
static const Expr *emptiedBy(const cpp::Call &C) {
  return isa<CXXMemberCallExpr>(C.E) &&
                 ((C.does(cpp::Std::Empty) && !C.does(cpp::Std::Remove)) ||
                  (torch::resizesInPlace(C.expr()) &&
                   !torch::mayMoveElements(C.expr())))
             ? C.Object
             : nullptr;
}

/// The tensor of a method that may move its elements.
static const VarDecl *resizedBy(const cpp::Call &C) {
  const VarDecl *Var =
      isa<CXXMemberCallExpr>(C.E) && torch::mayMoveElements(C.expr())
          ? namedBy(C.Object)
          : nullptr;
  return Var && torch::isTensor(Var->getType()) ? Var : nullptr;
}

static const Expr *freedBy(const cpp::Call &C) {
  return C.does(cpp::Std::Free) && C.Args.size() == 1 ? C.Args.front()
                                                      : nullptr;
}

/// The container that \p C takes single elements out of.
static const Expr *removedFrom(const cpp::Call &C) {
  return isa<CXXMemberCallExpr>(C.E) && C.does(cpp::Std::Remove) &&
                 C.Of != cpp::Whose::User
             ? C.Object
             : nullptr;
}

/// The container that \p C gives another number of elements.
static const Expr *countedBy(const cpp::Call &C) {
  return isa<CXXMemberCallExpr>(C.E) && C.does(cpp::Std::Resize) &&
                 C.Written > 0 && C.Of != cpp::Whose::User
             ? C.Object
             : nullptr;
}

/// The container whose elements all get another value by \p C.
static const Expr *overwrittenBy(const cpp::Call &C) {
  if (!C.doesStd(cpp::Std::Overwrite))
    return nullptr;
  if (C.Object)
    return C.Object;
  const Expr *All = C.Written == 3 ? iteratedBy(C.Args[0]) : nullptr;
  return All && cpp::does(iteratorOf(C.Args[0]), cpp::Std::Begin) &&
                 isSamePlace(All, iteratedBy(C.Args[1]))
             ? All
             : nullptr;
}

static bool swaps(const cpp::Call &C) {
  return C.doesStd(cpp::Std::Swap) &&
         (C.Object ? C.Written == 1 : C.Written == 2);
}

void MemoryDomain::visitCall(const CallExpr *Call) {
  using M = MemoryDomain;
  static const cpp::CallRule<M, cpp::Done> Rules[] = {
      {cpp::anyCall, &M::visitObject},
      {overwrittenBy, &M::overwriting},
      {cpp::asInsertion, &M::insertion},
      {removedFrom, &M::removal},
      {countedBy, &M::resizing},
      {swaps, &M::swap},
      {emptiedBy, &M::forget},
      {resizedBy, &M::resized},
      {freedBy,
       [](M &D, const cpp::Call &C, const Expr *Pointer) {
         D.freed(Pointer, C.E->getBeginLoc());
       }},
      {torch::asRegistration, &M::registration},
      {cpp::anyCall, &M::visitArguments},
      {cpp::anyCall, &M::visitSummary},
  };
  cpp::firstOf(Rules, *this, cpp::Call(Call));
}

void MemoryDomain::forget(const cpp::Call &C, const Expr *Object) {
  std::optional<Keeper> K = Object ? Keeper::of(Object) : std::nullopt;
  if (!K)
    return;
  const auto *Var = dyn_cast<VarDecl>(K->Root);
  if (Var && K->Path.empty() && Object == C.Object && C.Written == 0 &&
      torch::isTensor(Var->getType()))
    dropTensor(Var, C.E->getBeginLoc());
  S.forget(*K);
  if (Var && K->Path.empty() && C.does(cpp::Std::Clear) && isCounted(Var))
    S.Sizes[Var] = 0;
  // smart.reset(new T{...})
  if (Object == C.Object && C.Written == 1 && C.does(cpp::Std::Reset))
    keep(*K, C.Args.front(), C.E->getBeginLoc(), As::Assigned);
}

void MemoryDomain::resized(const cpp::Call &C, const VarDecl *Tensor) {
  // A memory format may ask for another order. A callee may resize it only on
  // some of its ways.
  if (C.Object && C.Written == 1 && namedBy(C.Object) == Tensor)
    S.Contiguous.insert(Tensor);
  else
    S.Contiguous.erase(Tensor);
  S.end(Tensor, Dangling::Resized, C.E->getBeginLoc(), [](Borrow &B) {
    B.doubt(Borrow::Resize);
    return B.What == Borrow::Data;
  });
  if (std::optional<unsigned> Index = indexOf(Tensor); Index && Out)
    Out->Resizes.insert(*Index);
}

void MemoryDomain::registration(const cpp::Call &C,
                                const torch::Registration &R) {
  if (!R.Value || R.What == torch::Registration::Module)
    return;
  const SourceLocation At = C.E->getBeginLoc();
  for (Borrow &B : read(R.Value))
    if (B.What == Borrow::Blob && ownerDies(B))
      report({Dangling::Stored, B, "the module", At}, At);
}

/// The image that \p Arg, for a parameter of type \p T, hands to a function of
/// OpenCV to be replaced; null for others. An image that is drawn on stays.
static const Expr *madeAnew(const Expr *Arg, QualType T) {
  const CXXRecordDecl *R = cpp::recordOf(T.getNonReferenceType());
  if (!cpp::isOrDerivesFrom(R, "cv::_OutputArray") ||
      cpp::isOrDerivesFrom(R, "cv::_InputOutputArray"))
    return nullptr;
  const auto *Wrapped = dyn_cast_or_null<CXXConstructExpr>(cpp::peel(Arg));
  return Wrapped && Wrapped->getNumArgs() > 0 ? Wrapped->getArg(0) : nullptr;
}

/// The object of a method may come back with other values, and a container with
/// another last element. What the method is known to store comes after this.
void MemoryDomain::visitObject(const cpp::Call &C) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(C.Callee);
  if (!Method || !C.Object || Method->isConst() ||
      !isa<CXXMemberCallExpr>(C.E) || C.OnThis)
    return;
  const bool IsUsers = C.Of == cpp::Whose::User;
  if (!IsUsers &&
      (C.doesStd(cpp::Std::Access) || !hasLastElement(C.Object->getType())))
    return;
  const std::optional<Keeper> K = C.Object->getType()->isPointerType()
                                      ? Keeper::pointedToBy(C.Object)
                                      : Keeper::of(C.Object);
  if (K && IsUsers)
    return S.forget(*K);
  // What adds at the front or takes out is handled on its own, and so is what
  // is counted.
  if (!K || C.does(cpp::Std::Remove | cpp::Std::First | cpp::Std::Reserve))
    return;
  S.lastMoved(*K);
  if (S.sizeOf(*K) && !C.does(cpp::Std::Insert | cpp::Std::Clear))
    S.Sizes.erase(cast<VarDecl>(K->Root));
}

/// Arguments that are passed by reference may come back with another value.
void MemoryDomain::visitArguments(const cpp::Call &C) {
  // transpose_() and others give it another order.
  if (C.Object &&
      torch::storageUse(C.expr(), {}, Context).How == torch::Sharing::Handle)
    S.Contiguous.erase(namedBy(C.Object));
  if (!C.Callee || C.Of == cpp::Whose::Library)
    return;
  // The result is the argument, or a part of it.
  if (C.doesStd(cpp::Std::Part | cpp::Std::Tie | cpp::Std::Same |
                cpp::Std::Refer | cpp::Std::Move | cpp::Std::Forward))
    return;
  for (unsigned I = 0; I < C.Args.size() && I < C.Callee->getNumParams(); ++I) {
    QualType T = C.Callee->getParamDecl(I)->getType();
    forget(C, madeAnew(C.Args[I], T));
    if (T->isPointerType() && !T->getPointeeType().isConstQualified()) {
      const auto *Address =
          dyn_cast_or_null<UnaryOperator>(cpp::peel(C.Args[I]));
      if (Address && Address->getOpcode() == UO_AddrOf)
        forget(C, Address->getSubExpr());
    }
    if (!T->isLValueReferenceType() || T->getPointeeType().isConstQualified())
      continue;
    if (std::optional<Keeper> K = Keeper::of(C.Args[I]))
      S.forget(*K);
    if (const VarDecl *Var = namedBy(C.Args[I])) {
      S.Tensors.erase(Var);
      S.Pointers.erase(Var);
      S.Contiguous.erase(Var);
    }
  }
}

/// Takes `*` off the front of \p Path, if that is its first step.
static bool consumeStar(StringRef &Path) {
  StringRef Rest = Path;
  if (Rest.empty() || takeStep(Rest) != "*")
    return false;
  Path = Rest;
  return true;
}

/// The keeper of \p L here, after \p C; nullopt for results, and for objects
/// that have no name here.
static std::optional<Keeper> keeperOf(const MemorySummary::Lent &L,
                                      const cpp::Call &C) {
  const Expr *To = L.To == MemorySummary::This ? C.Object
                   : L.To < C.Args.size()      ? C.Args[L.To]
                                               : nullptr;
  if (!To)
    return std::nullopt;
  StringRef Path = L.Field;
  // A method of our own object: its fields are ours.
  if (isa<CXXThisExpr>(cpp::peel(To))) {
    if (Path.empty())
      return std::nullopt;
    const StringRef Name = takeStep(Path).drop_front();
    const FieldDecl *Field = cpp::findField(
        cpp::recordOf(To->getType()->getPointeeType()),
        [&](const FieldDecl *Own) { return cpp::nameOf(Own) == Name; });
    return Field ? std::optional(Keeper{Field, Path.str(), {}}) : std::nullopt;
  }
  const bool ByPointer = To->getType()->isPointerType();
  // p[1] of a pointer that is given an array.
  std::string OfArray;
  if (Path.starts_with("*") && cpp::peel(To)->getType()->isArrayType()) {
    const StringRef Index = takeStep(Path).drop_front();
    OfArray = "[" +
              (Index.empty()  ? StringRef("0")
               : Index == "?" ? StringRef("*")
                              : Index)
                  .str() +
              "]" + Path.str();
    Path = OfArray;
  }
  std::optional<Keeper> K =
      ByPointer && (L.To == MemorySummary::This || consumeStar(Path))
          ? Keeper::pointedToBy(To)
          : Keeper::of(To);
  if (!K)
    return std::nullopt;
  K->Path += Path;
  K->Type = {};
  return K;
}

/// Applies the callee's effects on the memory of its arguments, if known.
void MemoryDomain::visitSummary(const cpp::Call &C) {
  const MemorySummary *Known = summaryOf(C);
  if (!Known)
    return;
  for (unsigned Index : Known->Resizes)
    if (const VarDecl *Var =
            Index < C.Args.size() ? namedBy(C.Args[Index]) : nullptr)
      resized(C, Var);
  for (unsigned Index : Known->Frees)
    if (Index < C.Args.size())
      freed(C.Args[Index], C.E->getBeginLoc());
  for (const MemorySummary::Lent &L : Known->Lends)
    if (L.To != MemorySummary::Result)
      if (std::optional<Keeper> K = keeperOf(L, C))
        for (Borrow &B : lent(L, C)) {
          // The path in the keeper has it.
          B.In = B.In.substr(L.Field.size());
          keep(*K, std::move(B), C.E->getBeginLoc());
        }
}

} // namespace libtorch_tidy::flow
