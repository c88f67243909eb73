//===- MemoryValues.cpp - The memory that expressions refer to ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Matrices.h"
#include "analysis/cpp/Types.h"
#include "analysis/flow/memory/MemoryDomain.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/Owners.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::flow {

using namespace cpp;

using torch::Fresh;

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// Is \p Var a reference to a temporary that lives as long as it?
static bool keepsTemporary(const VarDecl *Var) {
  return Var->isLocalVarDecl() && Var->hasInit() &&
         isa<ExprWithCleanups>(Var->getInit()) &&
         cpp::peel(Var->getInit())->isPRValue();
}

bool isOwn(const VarDecl *Var) {
  return Var && Var->isLocalVarDeclOrParm() && !Var->isStaticLocal() &&
         Var->getTLSKind() == VarDecl::TLS_None &&
         (!Var->getType()->isReferenceType() || keepsTemporary(Var)) &&
         !Var->getType()->isDependentType();
}

const Expr *pointerMoved(const Expr *E) {
  const auto *Binary = dyn_cast_or_null<BinaryOperator>(cpp::peel(E));
  if (!Binary || !Binary->isAdditiveOp() || !Binary->getType()->isPointerType())
    return nullptr;
  return Binary->getLHS()->getType()->isPointerType() ? Binary->getLHS()
                                                      : Binary->getRHS();
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

std::optional<Borrow> MemoryValues::readAccess(const torch::Access &A) const {
  std::optional<Borrow> B =
      intoObject(A.What == torch::Access::Data    ? Borrow::Data
                 : A.What == torch::Access::Shape ? Borrow::Shape
                                                  : Borrow::Elements,
                 A.Object, A.Call);
  if (B)
    B->Part = A.Name.str();
  return B;
}

/// \p Source refers to a part of tensor or tuple \p Object.
std::optional<Borrow> MemoryValues::intoObject(Borrow::Kind What,
                                               const Expr *Object,
                                               const Expr *Source) const {
  Borrow B;
  B.Source = B.Top = Source;
  B.What = What;
  // The tensor of a local variable, or a view of its memory.
  const VarDecl *Root = namedBy(Object);
  const Alone Of = aloneIn(Object);
  if (!Root && What == Borrow::Data && Of.Memory == Fresh::No)
    Root = torch::memoryRoot(Object, Context);
  if (Root) {
    if (!S.Tensors.count(Root) || What == Borrow::Elements)
      return std::nullopt;
    B.Owner = Root;
    return B;
  }
  B.Sure = What == Borrow::Shape ? Of.Handle : Of.Memory;
  if (B.Sure == Fresh::No)
    return std::nullopt;
  B.Temporary = Object;
  if (B.Sure == Fresh::Perhaps)
    B.Through = decidingOperator(Object).str();
  return B;
}

/// The first operator that may or may not copy on the way to \p E's tensor.
StringRef MemoryValues::decidingOperator(const Expr *E) const {
  while (const auto *Call = dyn_cast_or_null<CallExpr>(cpp::stripImplicit(E))) {
    torch::StorageUse Use = torch::storageUse(Call, {}, Context);
    if (Use.How == torch::Sharing::Perhaps)
      return cpp::calleeName(Call);
    if (Use.How == torch::Sharing::Unknown || Use.How == torch::Sharing::None)
      return {};
    E = Use.Of;
  }
  return {};
}

/// An ArrayRef that is made of a list, vector, array or single element.
Borrows MemoryValues::readList(const CXXConstructExpr *Construct) const {
  if (Construct->getNumArgs() == 0 ||
      isa<CXXDefaultArgExpr>(Construct->getArg(0)))
    return {};
  const Expr *Arg = Construct->getArg(0);
  Borrow B;
  B.What = Borrow::List;
  B.Source = B.Top = Construct;
  const Expr *Inner = cpp::peel(Arg);
  if (Construct->getNumArgs() == 2 && Arg->getType()->isPointerType()) {
    const std::optional<Buffer> Of = bufferOf(Arg);
    if (!Of || Of->Heap)
      return {};
    B.Owner = Of->Owner;
    B.Temporary = Of->Temporary;
  } else if (!Inner || Construct->getNumArgs() != 1) {
    return {};
  } else if (torch::isArrayRef(Inner->getType())) {
    return read(Inner);
  } else if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(Inner)) {
    const auto *Elements =
        dyn_cast_or_null<InitListExpr>(cpp::peel(List->getSubExpr()));
    if (!Elements || Elements->getNumInits() == 0)
      return {};
    B.Temporary = List;
  } else if (const VarDecl *Var = namedBy(Inner)) {
    if (!isOwner(Var) || Var->getType()->isPointerType())
      return {};
    B.Owner = Var;
  } else {
    // A temporary that is materialised here dies here.
    const QualType T = Inner->getType();
    if (!Inner->isPRValue() ||
        !(isOwningContainer(T) || T->isArithmeticType() ||
          torch::isTensor(T)) ||
        Construct->getConstructor()->isCopyOrMoveConstructor())
      return {};
    B.Temporary = Inner;
  }
  return {B};
}

/// What is held by \p K, by a part of it, or by what it is a part of.
Borrows MemoryValues::readPlace(const Keeper &K) const {
  Borrows Result;
  const bool IsWhole = K.Type.isNull() || cpp::recordOf(K.Type) ||
                       K.Type->isArrayType() || K.Type->isReferenceType();
  for (const Held &H : S.Env) {
    if (H.By.Root != K.Root || H.isReplacedIn(K.Path))
      continue;
    Borrow B = H.What;
    if (!H.isSurelyIn(K))
      B.doubt(Borrow::Element);
    if (std::optional<StringRef> In = pathWithin(H.By.Path, K.Path)) {
      B.In = IsWhole ? In->str() : "";
    } else {
      // A part of a value that holds it somewhere, but not what it points to.
      const auto Rest = pathWithin(K.Path, H.By.Path);
      if (!Rest || leadsOut(*Rest))
        continue;
    }
    if (!B.In.empty() || carriesSomewhere(K.Type, B))
      Result.push_back(std::move(B));
  }
  return Result;
}

/// What \p All hold in the part that \p Step leads to.
Borrows inPart(Borrows All, StringRef Step) {
  Borrows Result;
  for (Borrow &B : All) {
    const auto In = pathWithin(B.In, Step);
    if (!In && !B.In.empty())
      continue;
    if (In && !surelyMeet(B.In, Step, /*SameNames=*/false))
      B.doubt(Borrow::Element);
    B.In = In ? In->str() : "";
    Result.push_back(std::move(B));
  }
  return Result;
}

/// Adds \p From, which are in the part that \p Step leads to.
static void addPart(Borrows &Into, Borrows From, StringRef Step) {
  for (Borrow &B : From) {
    B.In = Step.str() + B.In;
    Into.push_back(std::move(B));
  }
}

Borrows MemoryValues::read(const Expr *E) const {
  E = cpp::peel(E);
  if (!E || E->isTypeDependent())
    return {};
  if (std::optional<Keeper> K = S.place(E)) {
    K->Type = E->getType();
    return readPlace(*K);
  }
  if (const PartOf Part = partOf(E); Part.Whole) {
    Borrows Result = inPart(read(Part.Whole), Part.Step);
    llvm::erase_if(Result, [&](const Borrow &B) {
      return B.In.empty() && !carriesSomewhere(E->getType(), B);
    });
    return Result;
  }
  if (const auto *Either = dyn_cast<ConditionalOperator>(E)) {
    Borrows A = read(Either->getTrueExpr());
    A.append(read(Either->getFalseExpr()));
    return A;
  }
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
    return readConstruct(Construct);
  if (const auto *List = dyn_cast<InitListExpr>(E))
    return readInits(List);
  if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(E))
    return read(List->getSubExpr());
  if (const auto *Lambda = dyn_cast<LambdaExpr>(E))
    return readCaptures(Lambda);
  if (const auto *New = dyn_cast<CXXNewExpr>(E)) {
    Borrows Result;
    addPart(Result, read(New->getInitializer()), "*");
    return Result;
  }
  if (const Expr *Pointer = pointerMoved(E))
    return read(Pointer);
  if (const auto *Unary = dyn_cast<UnaryOperator>(E)) { // &p[i]
    const auto *Subscript =
        dyn_cast_or_null<ArraySubscriptExpr>(cpp::peel(Unary->getSubExpr()));
    return Subscript && Unary->getOpcode() == UO_AddrOf
               ? read(Subscript->getBase())
               : Borrows();
  }
  const auto *Call = dyn_cast<CallExpr>(E);
  return Call ? readCall(Call) : Borrows();
}

/// The borrows of a struct, array or list in braces.
Borrows MemoryValues::readInits(const InitListExpr *List) const {
  Borrows Result;
  const CXXRecordDecl *R = List->getType()->getAsCXXRecordDecl();
  const unsigned Bases = R && R->hasDefinition() ? R->getNumBases() : 0;
  auto Field = R && R->hasDefinition() ? R->field_begin()
                                       : CXXRecordDecl::field_iterator();
  for (unsigned I = 0; I < List->getNumInits(); ++I) {
    std::string Step;
    if (!R && List->getType()->isArrayType()) {
      Step = "[" + std::to_string(I) + "]";
    } else if (R && I >= Bases) {
      if (Field == R->field_end())
        break;
      Step = fieldStep(*Field++);
    }
    Borrows Of = read(List->getInit(I));
    llvm::erase_if(Of, [&](const Borrow &B) {
      return B.In.empty() && !carries(List->getInit(I)->getType(), B);
    });
    addPart(Result, std::move(Of), Step);
  }
  return Result;
}

/// What a function object keeps: copies of variables, not references.
Borrows MemoryValues::readCaptures(const LambdaExpr *Lambda) const {
  Borrows Result;
  auto Init = Lambda->capture_init_begin();
  for (const LambdaCapture &Capture : Lambda->captures()) {
    const Expr *Value = *Init++;
    if (Capture.capturesVariable() && Capture.getCaptureKind() == LCK_ByCopy)
      addPart(Result, read(Value),
              "." + Capture.getCapturedVar()->getNameAsString());
  }
  return Result;
}

Borrows MemoryValues::readTuple(const cpp::Call &C) const {
  Borrows Result;
  for (unsigned I = 0; I < C.Args.size(); ++I)
    addPart(Result, read(C.Args[I]), tupleStep(I));
  return Result;
}

/// The borrows of a container, tuple, optional or function object of the
/// standard library, or of a list or sample of tensors.
Borrows MemoryValues::readHolder(const CXXConstructExpr *E) const {
  const QualType T = E->getType();
  Borrows Result;
  for (unsigned I = 0; I < E->getNumArgs(); ++I) {
    const Expr *Arg = E->getArg(I);
    const bool SameKind = E->getNumArgs() == 1 &&
                          cpp::recordOf(Arg->getType()) &&
                          cpp::recordOf(Arg->getType())->getDeclName() ==
                              cpp::recordOf(T)->getDeclName();
    std::string Step;
    if (SameKind || cpp::isFunctionObject(T))
      ;
    else if (isStdClass(T, StdClass::Tuple))
      Step = tupleStep(I);
    else if (isStdClass(T, StdClass::Box))
      Step = Arg->getType()->isPointerType() && !isStdClass(T, {"optional"})
                 ? ""
                 : "*";
    else if (isStdClass(T, StdClass::Container) &&
             !isa<CXXStdInitializerListExpr>(cpp::peel(Arg)))
      Step = SomeElement.str();
    addPart(Result, read(Arg), Step);
  }
  return Result;
}

Borrows MemoryValues::readConstruct(const CXXConstructExpr *Construct) const {
  const QualType T = Construct->getType();
  const bool Copies = Construct->getConstructor()->isCopyOrMoveConstructor();
  if (torch::isArrayRef(T))
    return Copies ? read(Construct->getArg(0)) : readList(Construct);
  Borrows Result;
  if (Copies) {
    Result = read(Construct->getArg(0));
  } else if (isViewClass(T) || torch::isAccessor(T)) {
    for (const Expr *Arg : Construct->arguments())
      if (Arg->getType()->isPointerType())
        for (const Borrow &B : read(Arg))
          if (B.What == Borrow::Data || B.What == Borrow::Given)
            return {B};
    return {};
  } else if ((torch::mayHoldTensor(T) && !torch::isModule(T)) ||
             isStdClass(T, StdClass::Container | StdClass::Tuple |
                               StdClass::Box | StdClass::Function)) {
    Result = readHolder(Construct);
  }
  if (!Copies && Result.empty())
    Result = readLent(cpp::Call(Construct), MemorySummary::This);
  llvm::erase_if(Result,
                 [&](const Borrow &B) { return !carriesSomewhere(T, B); });
  return Result;
}

//===----------------------------------------------------------------------===//
// Owners
//===----------------------------------------------------------------------===//

bool isOwningContainer(QualType T) {
  auto IsBuffer = [](const CXXRecordDecl *R) {
    return isStdClass(R, StdClass::Buffer);
  };
  return isStdClass(T, StdClass::Buffer) || anyBase(recordOf(T), IsBuffer) ||
         torch::isSmallVector(T);
}

bool isViewClass(QualType T) {
  return isMat(T) || isView(T) || torch::isStringView(T);
}

bool isOwnAssignment(const CXXOperatorCallExpr *Op) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Op->getDirectCallee());
  return Method && !Method->isCopyAssignmentOperator() &&
         !Method->isMoveAssignmentOperator() && !isOfLibrary(Method) &&
         !isViewClass(Op->getArg(0)->getType());
}

const Expr *imageShownBy(const CallExpr *Call) {
  if (!Call || !isMat(Call->getType()))
    return nullptr;
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call))
    return Op->getOperator() == OO_Call && isMat(Op->getArg(0)->getType())
               ? Op->getArg(0)
               : nullptr;
  const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
  const Expr *Image = Method ? Method->getImplicitObjectArgument() : nullptr;
  if (!Image || !isMat(Image->getType()))
    return nullptr;
  return llvm::StringSwitch<bool>(cpp::calleeName(Call))
                 .Cases("reshape", "row", "col", "rowRange", "colRange", true)
                 .Case("diag", true)
                 .Default(false)
             ? Image
             : nullptr;
}

bool isOwner(const VarDecl *Var) {
  return isOwn(Var) ||
         (isa_and_nonnull<ParmVarDecl>(Var) &&
          Var->getType()->isLValueReferenceType() &&
          isOwningContainer(Var->getType().getNonReferenceType()));
}

Alone MemoryValues::aloneIn(const Expr *E, const VarDecl *Self) const {
  auto Local = [&](Fresh Alone::*Part) {
    return [&, Part](const VarDecl *Var) {
      torch::TensorTraits Traits;
      Traits.OnDevice = S.Tensors.lookup(Var).OnDevice;
      Traits.Contiguous = S.Contiguous.contains(Var);
      return std::pair(Var == Self ? stateOf(Var).*Part : Fresh::No, Traits);
    };
  };
  auto Made = [&](const CallExpr *Call) { return madeBy(Call, Callees); };
  const auto [Memory, Traits] = torch::freshMemory(
      E, Context, Local(&Alone::Memory), /*OfHandle=*/false, Made);
  return {Memory,
          torch::freshMemory(E, Context, Local(&Alone::Handle),
                             /*OfHandle=*/true, Made)
              .first,
          Traits.OnDevice};
}

bool MemoryValues::ownerDies(Borrow &B) const {
  if (!B.Owner)
    return true;
  if (!isOwn(B.Owner) || B.Heap)
    return false;
  const bool IsBlob = B.What == Borrow::Blob;
  if (B.What == Borrow::Data || B.What == Borrow::Shape ||
      (IsBlob && S.Tensors.count(B.Owner))) {
    const Alone Owner = stateOf(B.Owner);
    B.Sure =
        std::min(B.Sure, B.What == Borrow::Shape ? Owner.Handle : Owner.Memory);
    return B.Sure != Fresh::No;
  }
  if (IsBlob && holdsMat(B.Owner->getType()))
    return isOwnMat(B.Owner);
  return !Shared.Leaving.contains(B.Owner);
}

/// Is it a cv::Mat that was made here and has no other owner?
bool MemoryValues::isOwnMat(const VarDecl *Var) const {
  if (isa<ParmVarDecl>(Var) || Shared.isCopied(Var) ||
      Shared.Leaving.contains(Var) || S.SharedMats.count(Var))
    return false;
  return !Var->hasInit() || makesMat(Var->getInit());
}

bool MemoryValues::makesMat(const Expr *E) {
  E = cpp::peel(E);
  if (const auto *Construct = dyn_cast_or_null<CXXConstructExpr>(E)) {
    if (Construct->getConstructor()->isCopyOrMoveConstructor() &&
        Construct->getNumArgs() == 1)
      return makesMat(Construct->getArg(0));
    return llvm::none_of(Construct->arguments(), [](const Expr *Arg) {
      return Arg->getType()->isPointerType() || holdsMat(Arg->getType());
    });
  }
  return cpp::makesMat(cpp::calleeName(dyn_cast_or_null<CallExpr>(E)));
}

bool MemoryValues::carries(QualType T, const Borrow &B) {
  // A reference to what is borrowed, or to a temporary that borrows.
  if (T->isReferenceType())
    return true;
  switch (B.What) {
  case Borrow::Blob:
    return torch::mayHoldTensor(T);
  case Borrow::Data:
    return T->isPointerType() || torch::isAccessor(T) || isViewClass(T);
  case Borrow::Given:
    return T->isPointerType() || torch::isAccessor(T) || isViewClass(T) ||
           torch::isArrayRef(T) || torch::mayHoldTensor(T);
  default:
    return T->isPointerType() || torch::isArrayRef(T);
  }
}

bool MemoryValues::carriesSomewhere(QualType T, const Borrow &B,
                                    unsigned Depth) {
  if (T.isNull() || T->isDependentType() || Depth > 3 ||
      (Depth > 0 && T->isReferenceType()))
    return false;
  if (const auto *Array = T->getAsArrayTypeUnsafe())
    T = Array->getElementType();
  if (carries(T, B))
    return true;
  auto InPart = [&](QualType Part) {
    return carriesSomewhere(Part, B, Depth + 1);
  };
  const CXXRecordDecl *R = cpp::recordOf(T);
  if (!R || torch::isTensor(T) || cpp::isEigenMatrix(T))
    return false;
  if (R->isLambda() || cpp::isFunctionObject(T))
    return !B.In.empty() || R->isLambda();
  return isOfLibrary(R) ? anyTypeArgument(R, InPart) : anyPart(R, InPart);
}

} // namespace libtorch_tidy::flow
