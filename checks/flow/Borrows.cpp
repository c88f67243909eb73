//===- Borrows.cpp - What refers to memory it does not own ----------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/flow/Borrows.h"
#include "checks/code/Object.h"
#include "checks/code/Paths.h"
#include "checks/code/Std.h"
#include "checks/code/Walk.h"
#include "checks/code/Writes.h"
#include "checks/flow/Sharing.h"
#include "checks/torch/Calls.h"
#include "checks/torch/Modules.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::flow {

using namespace code;

using torch::Fresh;

namespace {

bool isClass(QualType T, llvm::ArrayRef<StringRef> Names) {
  const CXXRecordDecl *R = torch::recordOf(T);
  return R && llvm::any_of(Names, [&](StringRef Name) {
           return torch::isOrDerivesFrom(R, Name);
         });
}

/// Owns its elements; a copy has its own.
bool isOwningContainer(QualType T) {
  return isClass(T, {"std::vector", "std::array", "std::basic_string",
                     "std::deque", "std::valarray", "std::unique_ptr",
                     "c10::SmallVectorTemplateCommon"});
}

/// A class that is made from a pointer and does not own what it points to.
bool isViewClass(QualType T) {
  return isMat(T) || isClass(T, {"Eigen::Map", "std::span", "gsl::span",
                                 "c10::string_view", "std::basic_string_view"});
}

/// A variable that dies with its scope and is no alias.
bool isOwn(const VarDecl *Var) {
  return Var && Var->isLocalVarDeclOrParm() && !Var->isStaticLocal() &&
         Var->getTLSKind() == VarDecl::TLS_None &&
         !Var->getType()->isReferenceType() &&
         !Var->getType()->isDependentType();
}

bool isStdFunction(const CallExpr *Call, StringRef Name) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  return Callee && torch::isStdDecl(Callee) && torch::calleeName(Call) == Name;
}

/// The variable that \p E names, without implicit nodes; null for others.
const VarDecl *namedBy(const Expr *E) {
  const auto *Ref = dyn_cast_or_null<DeclRefExpr>(torch::peel(E));
  return Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

/// A variable, a field of `*this`, a field of a variable, or what a pointer
/// variable points to.
struct Place {
  const ValueDecl *Root = nullptr;
  const FieldDecl *Field = nullptr;
  bool Pointee = false;
  bool operator==(const Place &O) const {
    return Root == O.Root && Field == O.Field && Pointee == O.Pointee;
  }
};

struct Held {
  Place Where;
  Borrow What;
  SourceLocation KeptAt;
  const Stmt *Statement = nullptr;
  std::optional<Dangling::How> Ended; ///< The owner is gone.
  SourceLocation EndsAt;
};

class Walk {
public:
  Walk(const FunctionDecl *F, const ASTContext &Context)
      : F(F), Context(Context), Shared(F, Context) {}

  std::vector<Dangling> Found;

  void run() {
    Scopes.emplace_back();
    for (const ParmVarDecl *Param : F->parameters())
      Scopes.back().push_back(Param);
    if (const auto *Ctor = dyn_cast<CXXConstructorDecl>(F))
      for (const CXXCtorInitializer *Init : Ctor->inits())
        if (Init->isMemberInitializer() && Init->isWritten()) {
          visit(Init->getInit());
          keep({Init->getMember()}, Init->getInit(), Init->getSourceLocation(),
               As::Declared);
        }
    visit(F->getBody());
    leaveScope(F->getBody()->getEndLoc());
    for (Held &H : Env)
      if (H.Ended && outlives(H.Where))
        report(H, *H.Ended == Dangling::Scope ? Dangling::Stored : *H.Ended,
               {});
  }

  void runGlobal(const VarDecl *Var) {
    if (std::optional<Borrow> B = eval(Var->getInit());
        B && !B->Owner && carries(Var->getType(), *B)) {
      Held H{{Var}, *B, Var->getLocation(), nullptr, std::nullopt, {}};
      report(H, Dangling::Temporary, {});
    }
  }

private:
  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  /// How sure is it that the tensor of \p Var is there alone?
  std::pair<Fresh, Fresh> stateOf(const VarDecl *Var) const {
    auto It = Tensors.find(Var);
    if (It == Tensors.end() || Shared.isCopied(Var))
      return {Fresh::No, Fresh::No};
    return It->second;
  }
  /// What a value is worth. What living variables hold is theirs, but for
  /// \p Self, which is about to be overwritten.
  Fresh freshMemory(const Expr *E, const VarDecl *Self = nullptr) const {
    return torch::freshMemory(E, Context, [&](const VarDecl *Var) {
      return std::pair(Var == Self ? stateOf(Var).first : Fresh::No,
                       torch::TensorTraits());
    });
  }
  Fresh freshHandle(const Expr *E, const VarDecl *Self = nullptr) const {
    return torch::freshHandle(E, Context, [&](const VarDecl *Var) {
      return std::pair(Var == Self ? stateOf(Var).second : Fresh::No,
                       torch::TensorTraits());
    });
  }

  struct Buffer {
    const VarDecl *Owner = nullptr;
    const Expr *Temporary = nullptr;
    bool Heap = false, AtStart = true;
    Fresh Sure = Fresh::Yes;
    StringRef Through;
  };

  static bool isZero(const Expr *E, const ASTContext &Context) {
    Expr::EvalResult Result;
    return !E->isValueDependent() && E->EvaluateAsInt(Result, Context) &&
           Result.Val.getInt() == 0;
  }

  /// The variable that \p E is, or is a part of by value: `v[0]`, `s.pixels`.
  std::optional<Buffer> partOf(const Expr *E) const {
    Buffer B;
    while ((E = torch::peel(E))) {
      if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
        B.Owner = dyn_cast<VarDecl>(Ref->getDecl());
        return isOwn(B.Owner) && !B.Owner->getType()->isPointerType()
                   ? std::optional(B)
                   : std::nullopt;
      }
      if (const auto *Member = dyn_cast<MemberExpr>(E)) {
        if (Member->isArrow())
          return std::nullopt;
        E = Member->getBase();
      } else if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E)) {
        if (!torch::peel(Subscript->getBase())->getType()->isArrayType())
          return std::nullopt;
        B.AtStart &= isZero(Subscript->getIdx(), Context);
        E = Subscript->getBase();
      } else if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(E);
                 Op && Op->getOperator() == OO_Subscript) {
        if (!isOwningContainer(Op->getArg(0)->getType()))
          return std::nullopt;
        B.AtStart &= isZero(Op->getArg(1), Context);
        E = Op->getArg(0);
      } else if (const auto *Call = dyn_cast<CXXMemberCallExpr>(E)) {
        StringRef Name = torch::calleeName(Call);
        const Expr *Object = Call->getImplicitObjectArgument();
        if (!Object || !isOwningContainer(Object->getType()) ||
            (Name != "at" && Name != "front" && Name != "back"))
          return std::nullopt;
        B.AtStart &= Name == "front";
        E = Object;
      } else {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  /// Who owns what pointer \p E points to.
  std::optional<Buffer> bufferOf(const Expr *E) {
    E = torch::peel(E);
    if (!E)
      return std::nullopt;
    if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
      if (Unary->getOpcode() == UO_AddrOf)
        return partOf(Unary->getSubExpr());
      return std::nullopt;
    }
    if (const auto *Binary = dyn_cast<BinaryOperator>(E)) {
      if (!Binary->isAdditiveOp() || !Binary->getType()->isPointerType())
        return std::nullopt;
      const Expr *Pointer = Binary->getLHS()->getType()->isPointerType()
                                ? Binary->getLHS()
                                : Binary->getRHS();
      std::optional<Buffer> B = bufferOf(Pointer);
      if (B)
        B->AtStart = false;
      return B;
    }
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
      if (!isOwn(Var))
        return std::nullopt;
      if (Var->getType()->isArrayType())
        return partOf(E);
      if (auto It = Pointers.find(Var); It != Pointers.end())
        return It->second;
      return std::nullopt;
    }
    // int rows[2][3]: rows[0]
    if (isa<ArraySubscriptExpr>(E) && E->getType()->isArrayType())
      return partOf(E);
    if (const auto *Member = dyn_cast<MemberExpr>(E)) {
      if (E->getType()->isArrayType())
        return partOf(E);
      // cv::Mat::data
      return isMat(Member->getBase()->getType()) && !Member->isArrow()
                 ? partOf(Member->getBase())
                 : std::nullopt;
    }
    const auto *Call = dyn_cast<CallExpr>(E);
    if (!Call)
      return std::nullopt;
    if (std::optional<torch::Access> A = torch::asAccess(Call)) {
      if (A->What != torch::Access::Data)
        return std::nullopt;
      std::optional<Borrow> Data = evalAccess(*A);
      if (!Data)
        return std::nullopt;
      Buffer B;
      B.Owner = Data->Owner;
      B.Temporary = Data->Temporary;
      B.Sure = Data->Sure;
      B.Through = Data->Through;
      return B;
    }
    const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
    const Expr *Object = Method ? Method->getImplicitObjectArgument() : nullptr;
    if (!Object)
      return std::nullopt;
    StringRef Name = torch::calleeName(Call);
    bool Hands =
        Name == "data" || Name == "get" || Name == "ptr" || Name == "c_str";
    if (!Hands ||
        !(isOwningContainer(Object->getType()) || isMat(Object->getType())) ||
        Method->getImplicitObjectArgument()->getType()->isPointerType())
      return std::nullopt;
    const Expr *Of = torch::peel(Object);
    if (Of->isPRValue() && isa<CallExpr, CXXConstructExpr>(Of)) {
      if (!isOwningContainer(Of->getType()))
        return std::nullopt;
      Buffer B;
      B.Temporary = Of;
      return B;
    }
    std::optional<Buffer> B = partOf(Object);
    if (B && Name == "ptr" && Call->getNumArgs() > 0)
      B->AtStart &= isZero(Call->getArg(0), Context);
    return B;
  }

  std::optional<Borrow> evalAccess(const torch::Access &A) {
    Borrow B;
    B.Source = B.Top = A.Call;
    B.What = A.What == torch::Access::Data    ? Borrow::Data
             : A.What == torch::Access::Shape ? Borrow::Shape
                                              : Borrow::Elements;
    // The tensor of a local variable, or a view of its memory.
    const VarDecl *Root = namedBy(A.Object);
    if (!Root && B.What == Borrow::Data && freshMemory(A.Object) == Fresh::No)
      Root = torch::memoryRoot(A.Object, Context);
    if (Root) {
      if (!Tensors.count(Root) || B.What == Borrow::Elements)
        return std::nullopt;
      B.Owner = Root;
      return B;
    }
    B.Sure =
        B.What == Borrow::Shape ? freshHandle(A.Object) : freshMemory(A.Object);
    if (B.Sure == Fresh::No)
      return std::nullopt;
    B.Temporary = A.Object;
    if (B.Sure == Fresh::Perhaps)
      B.Through = decidingOperator(A.Object);
    return B;
  }

  /// The first operator that may or may not copy on the way to \p E's tensor.
  StringRef decidingOperator(const Expr *E) const {
    while (const auto *Call =
               dyn_cast_or_null<CallExpr>(torch::stripImplicit(E))) {
      torch::StorageUse Use = torch::storageUse(Call, {}, Context);
      if (Use.How == torch::Sharing::Perhaps)
        return torch::calleeName(Call);
      if (Use.How == torch::Sharing::Unknown || Use.How == torch::Sharing::None)
        return {};
      E = Use.Of;
    }
    return {};
  }

  /// An ArrayRef that is made of a list, vector, array or single element.
  std::optional<Borrow> evalList(const CXXConstructExpr *Construct) {
    if (Construct->getNumArgs() == 0 ||
        isa<CXXDefaultArgExpr>(Construct->getArg(0)))
      return std::nullopt;
    const Expr *Arg = Construct->getArg(0);
    Borrow B;
    B.What = Borrow::List;
    B.Source = B.Top = Construct;
    if (Construct->getNumArgs() == 2 && Arg->getType()->isPointerType()) {
      std::optional<Buffer> Of = bufferOf(Arg);
      if (!Of || Of->Heap)
        return std::nullopt;
      B.Owner = Of->Owner;
      B.Temporary = Of->Temporary;
      return B;
    }
    const Expr *Inner = torch::peel(Arg);
    if (!Inner || Construct->getNumArgs() != 1)
      return std::nullopt;
    if (torch::isArrayRef(Inner->getType()))
      return eval(Inner);
    if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(Inner)) {
      const auto *Elements =
          dyn_cast_or_null<InitListExpr>(torch::peel(List->getSubExpr()));
      if (!Elements || Elements->getNumInits() == 0)
        return std::nullopt;
      B.Temporary = List;
      return B;
    }
    if (const VarDecl *Var = namedBy(Inner)) {
      if (!isOwn(Var) || Var->getType()->isPointerType())
        return std::nullopt;
      B.Owner = Var;
      return B;
    }
    // What is materialised here dies here.
    bool Owns = isOwningContainer(Inner->getType()) ||
                Inner->getType()->isArithmeticType() ||
                torch::isTensor(Inner->getType());
    if (Inner->isPRValue() && Owns &&
        !Construct->getConstructor()->isCopyOrMoveConstructor()) {
      B.Temporary = Inner;
      return B;
    }
    return std::nullopt;
  }

  /// What \p E refers to, if it refers to memory of something else.
  std::optional<Borrow> eval(const Expr *E) {
    E = torch::peel(E);
    if (!E || E->isTypeDependent())
      return std::nullopt;
    if (isa<DeclRefExpr, MemberExpr>(E)) {
      std::optional<Place> P = placeOf(E);
      if (const Held *H = P ? find(*P) : nullptr)
        return Borrow(H->What);
      // A local struct with such a member.
      if (P && !P->Field)
        for (const Held &H : Env)
          if (H.Where.Root == P->Root && H.What.What == Borrow::Blob)
            return Borrow(H.What);
      return std::nullopt;
    }
    if (const auto *Either = dyn_cast<ConditionalOperator>(E)) {
      std::optional<Borrow> A = eval(Either->getTrueExpr());
      std::optional<Borrow> B = eval(Either->getFalseExpr());
      // One of them is enough for a defect, but not on every run.
      return A && B ? A : std::nullopt;
    }
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
      return evalConstruct(Construct);
    if (const auto *List = dyn_cast<InitListExpr>(E))
      return torch::mayHoldTensor(E->getType()) ? evalAny(List->inits())
                                                : std::nullopt;
    if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(E))
      return eval(List->getSubExpr());
    if (const auto *Binary = dyn_cast<BinaryOperator>(E)) {
      if (!Binary->isAdditiveOp() || !E->getType()->isPointerType())
        return std::nullopt;
      return eval(Binary->getLHS()->getType()->isPointerType()
                      ? Binary->getLHS()
                      : Binary->getRHS());
    }
    if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
      if (Unary->getOpcode() != UO_AddrOf)
        return std::nullopt;
      const auto *Subscript = dyn_cast_or_null<ArraySubscriptExpr>(
          torch::peel(Unary->getSubExpr()));
      return Subscript ? eval(Subscript->getBase()) : std::nullopt;
    }
    const auto *Call = dyn_cast<CallExpr>(E);
    return Call ? evalCall(Call) : std::nullopt;
  }

  template <typename Range> std::optional<Borrow> evalAny(Range Values) {
    for (const Expr *Value : Values)
      if (std::optional<Borrow> B = eval(Value); B && B->What == Borrow::Blob)
        return B;
    return std::nullopt;
  }

  std::optional<Borrow> evalConstruct(const CXXConstructExpr *Construct) {
    QualType T = Construct->getType();
    if (torch::isArrayRef(T))
      return Construct->getConstructor()->isCopyOrMoveConstructor()
                 ? eval(Construct->getArg(0))
                 : evalList(Construct);
    if (Construct->getConstructor()->isCopyOrMoveConstructor()) {
      std::optional<Borrow> B = eval(Construct->getArg(0));
      return B && carries(T, *B) ? B : std::nullopt;
    }
    if (isViewClass(T)) {
      for (const Expr *Arg : Construct->arguments())
        if (Arg->getType()->isPointerType())
          if (std::optional<Borrow> B = eval(Arg); B && B->What == Borrow::Data)
            return B;
      return std::nullopt;
    }
    // A pair, a sample, a list of tensors.
    if (torch::mayHoldTensor(T) && !torch::isModule(T))
      return evalAny(Construct->arguments());
    return std::nullopt;
  }

  std::optional<Borrow> evalCall(const CallExpr *Call) {
    if (std::optional<torch::BlobCall> Blob =
            torch::asFromBlob(Call, Context)) {
      std::optional<Buffer> Of = bufferOf(Blob->Buffer);
      if (!Of)
        return std::nullopt;
      Borrow B;
      B.What = Borrow::Blob;
      B.Source = B.Top = Call;
      B.Owner = Of->Owner;
      B.Temporary = Of->Temporary;
      B.Heap = Of->Heap;
      B.Sure = Of->Sure;
      B.Through = Of->Through;
      B.AtStart = Of->AtStart;
      B.Traits = Blob->Traits;
      return B;
    }
    if (std::optional<torch::Access> A = torch::asAccess(Call))
      return evalAccess(*A);
    if (isStdFunction(Call, "move") || isStdFunction(Call, "forward"))
      return Call->getNumArgs() == 1 ? eval(Call->getArg(0)) : std::nullopt;
    if (isStdFunction(Call, "make_pair") || isStdFunction(Call, "make_tuple"))
      return evalAny(Call->arguments());
    // Parts of array references, and pointers to their elements.
    if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call)) {
      const Expr *Object = Member->getImplicitObjectArgument();
      if (Object && torch::isArrayRef(Object->getType()))
        return torch::isArrayRef(Call->getType()) ||
                       Call->getType()->isPointerType()
                   ? eval(Object)
                   : std::nullopt;
    }
    torch::StorageUse Use = torch::storageUse(Call, {}, Context);
    if (Use.How == torch::Sharing::Unknown || !Use.Of)
      return std::nullopt;
    std::optional<Borrow> B = eval(Use.Of);
    if (!B || B->What != Borrow::Blob)
      return std::nullopt;
    Use = torch::storageUse(Call, B->Traits, Context);
    if (Use.How == torch::Sharing::None)
      return std::nullopt;
    if (Use.How == torch::Sharing::Perhaps && B->Sure != Fresh::Perhaps) {
      B->Sure = Fresh::Perhaps;
      B->Through = torch::calleeName(Call);
    }
    B->Traits = Use.Traits;
    if (namesTop(Use.Of, B->Top))
      B->Top = Call;
    return B;
  }

  /// Is \p E written around \p Top, rather than being a variable that holds it?
  static bool namesTop(const Expr *E, const Expr *Top) {
    return torch::peel(torch::stripImplicit(E)) == Top ||
           torch::stripImplicit(E) == torch::stripImplicit(Top);
  }

  /// Can a value of \p T hold the borrow, rather than a copy of the data?
  static bool carries(QualType T, const Borrow &B) {
    if (T->isReferenceType()) {
      // A reference to what is borrowed, or to a temporary that borrows.
      return true;
    }
    switch (B.What) {
    case Borrow::Blob:
      return torch::mayHoldTensor(T);
    case Borrow::Data:
      return T->isPointerType() || torch::isAccessor(T) || isViewClass(T);
    default:
      return T->isPointerType() || torch::isArrayRef(T);
    }
  }

  //===--------------------------------------------------------------------===//
  // Places
  //===--------------------------------------------------------------------===//

  static std::optional<Place> placeOf(const Expr *E) {
    E = torch::peel(E);
    if (!E)
      return std::nullopt;
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      if (!isa<VarDecl>(Ref->getDecl()))
        return std::nullopt;
      return Place{Ref->getDecl()};
    }
    if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
      const VarDecl *Var = namedBy(Unary->getSubExpr());
      if (Unary->getOpcode() == UO_Deref && Var)
        return Place{Var, nullptr, true};
      return std::nullopt;
    }
    const auto *Member = dyn_cast<MemberExpr>(E);
    const auto *Field =
        Member ? dyn_cast<FieldDecl>(Member->getMemberDecl()) : nullptr;
    if (!Field)
      return std::nullopt;
    const Expr *Base = torch::peel(Member->getBase());
    if (isa<CXXThisExpr>(Base))
      return Place{Field};
    if (const VarDecl *Var = namedBy(Base))
      return Place{Var, Field, Member->isArrow()};
    return std::nullopt;
  }

  /// Is it there when the function is over?
  static bool outlives(const Place &P) {
    const auto *Var = dyn_cast<VarDecl>(P.Root);
    if (!Var)
      return true;
    if (!Var->isLocalVarDeclOrParm() || Var->isStaticLocal())
      return true;
    return isa<ParmVarDecl>(Var) &&
           (P.Pointee ? Var->getType()->isPointerType()
                      : Var->getType()->isLValueReferenceType());
  }

  static std::string nameOf(const Place &P) {
    std::string Name = P.Root->getNameAsString();
    if (isa<FieldDecl>(P.Root))
      return Name;
    if (P.Field)
      return Name + (P.Pointee ? "->" : ".") + P.Field->getNameAsString();
    return (P.Pointee ? "*" : "") + Name;
  }

  Held *find(const Place &P) {
    for (Held &H : Env)
      if (H.Where == P)
        return &H;
    return nullptr;
  }
  void forget(const ValueDecl *Root) {
    llvm::erase_if(Env, [&](const Held &H) { return H.Where.Root == Root; });
  }
  void forget(const Place &P) {
    if (!P.Field)
      return forget(P.Root);
    llvm::erase_if(Env, [&](const Held &H) { return H.Where == P; });
  }

  enum class As { Declared, Assigned, Element };
  /// \p P gets the value of \p Value. \p S is the declaration, if it is a
  /// statement of its own.
  void keep(Place P, const Expr *Value, SourceLocation At, As How,
            const Stmt *S = nullptr) {
    std::optional<Borrow> B = eval(Value);
    QualType T = P.Field ? P.Field->getType() : P.Root->getType();
    const auto *Var = dyn_cast<VarDecl>(P.Root);
    if (How != As::Element)
      forget(P);
    if (!B)
      return;
    // Another name for what is followed under its own.
    if (Var && Var->isLocalVarDecl() && T->isReferenceType() &&
        (How == As::Assigned ||
         isa<DeclRefExpr, MemberExpr>(torch::peel(Value))))
      return;
    if (How == As::Element ? find(P) != nullptr : !P.Pointee && !carries(T, *B))
      return;
    Held H{P, *B, At, S, std::nullopt, {}};
    if (!B->Owner) {
      H.Ended = Dangling::Temporary;
      H.EndsAt = B->Source->getEndLoc();
    }
    Env.push_back(H);
  }

  //===--------------------------------------------------------------------===//
  // The owner goes
  //===--------------------------------------------------------------------===//

  /// Does the memory of \p B die with its owner? Lowers B.Sure.
  bool ownerDies(Borrow &B) const {
    if (!B.Owner)
      return true;
    if (!isOwn(B.Owner) || B.Heap)
      return false;
    switch (B.What) {
    case Borrow::Data:
    case Borrow::Shape: {
      auto [Memory, Handle] = stateOf(B.Owner);
      B.Sure = std::min(B.Sure, B.What == Borrow::Shape ? Handle : Memory);
      return B.Sure != Fresh::No;
    }
    case Borrow::Blob:
      if (auto It = Tensors.find(B.Owner); It != Tensors.end()) {
        B.Sure = std::min(B.Sure, stateOf(B.Owner).first);
        return B.Sure != Fresh::No;
      }
      if (holdsMat(B.Owner->getType()))
        return isOwnMat(B.Owner);
      return !Shared.leaves(B.Owner);
    default:
      return !Shared.leaves(B.Owner);
    }
  }

  /// A cv::Mat that was made here and that nobody else holds.
  bool isOwnMat(const VarDecl *Var) const {
    if (isa<ParmVarDecl>(Var) || Shared.isCopied(Var) || Shared.leaves(Var) ||
        SharedMats.count(Var))
      return false;
    return !Var->hasInit() || makesMat(Var->getInit());
  }
  static bool makesMat(const Expr *E) {
    E = torch::peel(E);
    if (const auto *Construct = dyn_cast_or_null<CXXConstructExpr>(E)) {
      if (Construct->getConstructor()->isCopyOrMoveConstructor() &&
          Construct->getNumArgs() == 1)
        return makesMat(Construct->getArg(0));
      return llvm::none_of(Construct->arguments(), [](const Expr *Arg) {
        return Arg->getType()->isPointerType() || holdsMat(Arg->getType());
      });
    }
    const auto *Call = dyn_cast_or_null<CallExpr>(E);
    StringRef Name = torch::calleeName(Call);
    return Name == "imread" || Name == "imdecode" || Name == "clone";
  }

  void end(const VarDecl *Owner, Dangling::How How, SourceLocation At,
           llvm::function_ref<bool(Borrow &)> Dies) {
    for (Held &H : Env)
      if (H.What.Owner == Owner && !H.Ended && Dies(H.What)) {
        H.Ended = How;
        H.EndsAt = At;
      }
  }

  void leaveScope(SourceLocation At) {
    for (const VarDecl *Var : Scopes.back()) {
      end(Var, Dangling::Scope, At, [&](Borrow &B) { return ownerDies(B); });
      if (!outlives({Var}) && !outlives({Var, nullptr, true}))
        forget(Var);
    }
    Scopes.pop_back();
  }

  void report(const Held &H, Dangling::How Why, SourceLocation UsedAt) {
    if (!Reported.insert(H.What.Source).second)
      return;
    Dangling D;
    D.Why = Why;
    D.What = H.What;
    D.Keeper = nameOf(H.Where);
    D.KeptAt = H.KeptAt;
    D.Statement = H.Statement;
    D.EndsAt = H.EndsAt;
    D.UsedAt = UsedAt;
    D.Body = F ? F->getBody() : nullptr;
    Found.push_back(std::move(D));
  }

  void reportNow(const Borrow &B, Dangling::How Why, SourceLocation At,
                 std::string Keeper = {}, const Stmt *Statement = nullptr) {
    if (!Reported.insert(B.Source).second)
      return;
    Dangling D;
    D.Why = Why;
    D.What = B;
    D.Keeper = std::move(Keeper);
    D.KeptAt = At;
    D.Statement = Statement;
    D.Body = F->getBody();
    Found.push_back(std::move(D));
  }

  /// \p D is read at \p At.
  void used(const ValueDecl *D, SourceLocation At) {
    for (Held &H : Env)
      if (H.Where.Root == D && H.Ended)
        report(H, *H.Ended, At);
  }

  //===--------------------------------------------------------------------===//
  // Statements
  //===--------------------------------------------------------------------===//

  void visitAll(const Stmt *S) {
    for (const Stmt *Child : S->children())
      visit(Child);
  }

  void visitScoped(const Stmt *S) {
    Scopes.emplace_back();
    visitAll(S);
    leaveScope(S->getEndLoc());
  }

  void visit(const Stmt *S) {
    if (!S)
      return;
    switch (S->getStmtClass()) {
    case Stmt::CompoundStmtClass:
      for (const Stmt *Child : S->children())
        if (isa_and_nonnull<DeclStmt, CXXForRangeStmt>(Child) &&
            !SwitchBodies.count(S))
          InBlock.insert(Child);
      return visitScoped(S);
    case Stmt::SwitchStmtClass:
      // A variable between its labels would be jumped over.
      SwitchBodies.insert(cast<SwitchStmt>(S)->getBody());
      [[fallthrough]];
    case Stmt::IfStmtClass:
    case Stmt::CXXTryStmtClass:
    case Stmt::CXXCatchStmtClass:
      ++Branches;
      visitScoped(S);
      --Branches;
      return;
    case Stmt::ForStmtClass:
    case Stmt::WhileStmtClass:
    case Stmt::DoStmtClass:
      ++Branches;
      Loops.push_back(S);
      visitScoped(S);
      Loops.pop_back();
      --Branches;
      return;
    case Stmt::CXXForRangeStmtClass:
      return visitRangeFor(cast<CXXForRangeStmt>(S));
    case Stmt::DeclStmtClass:
      for (const Decl *D : cast<DeclStmt>(S)->decls())
        if (const auto *Var = dyn_cast<VarDecl>(D))
          declare(Var, InBlock.count(S) && cast<DeclStmt>(S)->isSingleDecl()
                           ? S
                           : nullptr);
      return;
    case Stmt::ReturnStmtClass:
      return visitReturn(cast<ReturnStmt>(S));
    case Stmt::LambdaExprClass: // A function of its own.
      return;
    default:
      if (const auto *E = dyn_cast<Expr>(S))
        return visitExpr(E);
      visitAll(S);
    }
  }

  void declare(const VarDecl *Var, const Stmt *S) {
    Scopes.back().push_back(Var);
    forget(Var);
    Pointers.erase(Var);
    const Expr *Init = Var->getInit();
    if (!Init)
      return;
    visit(Init);
    setTensor(Var, Init, /*Sure=*/true);
    if (Var->getType()->isPointerType() && isOwn(Var))
      setPointer(Var, Init);
    keep({Var}, Init, Var->getLocation(), As::Declared, S);
    // A static keeps what it is made of for good.
    if (Held *H = find({Var}); H && Var->isStaticLocal() && H->Ended)
      report(*H, *H->Ended, {});
  }

  /// \p Var, a tensor, gets the value of \p Value.
  void setTensor(const VarDecl *Var, const Expr *Value, bool Sure) {
    QualType T = Var->getType();
    if (!torch::isTensor(T) || !Var->isLocalVarDeclOrParm() ||
        Var->isStaticLocal())
      return;
    // A reference may keep a temporary alive; else it is an alias.
    if (T->isReferenceType() &&
        !(isa<ExprWithCleanups>(Value) && torch::peel(Value)->isPRValue()))
      return;
    std::pair<Fresh, Fresh> Now{freshMemory(Value, Var),
                                freshHandle(Value, Var)};
    if (isEmptyValue(Value))
      Now = {Fresh::Yes, Fresh::Yes};
    auto It = Tensors.find(Var);
    std::pair<Fresh, Fresh> Before =
        It == Tensors.end() ? std::pair(Fresh::No, Fresh::No) : It->second;
    if (!Sure)
      Now = {std::min(Now.first, Before.first),
             std::min(Now.second, Before.second)};
    Tensors[Var] = Now;
  }

  /// Pointers to buffers: `float *p = v.data();`, `auto *p = new float[n];`.
  void setPointer(const VarDecl *Var, const Expr *Value) {
    Pointers.erase(Var);
    const Expr *E = torch::peel(Value);
    Buffer B;
    const auto *Call = dyn_cast_or_null<CallExpr>(E);
    StringRef Name = torch::calleeName(Call);
    if (isa_and_nonnull<CXXNewExpr>(E) || Name == "malloc" ||
        Name == "calloc") {
      B.Owner = Var;
      B.Heap = true;
      Pointers[Var] = B;
    } else if (E && !torch::asAccess(Call)) {
      if (std::optional<Buffer> Of = bufferOf(Value); Of && !Of->Heap)
        Pointers[Var] = *Of;
    }
  }

  void visitRangeFor(const CXXForRangeStmt *For) {
    visit(For->getInit());
    const Expr *Range = For->getRangeInit();
    visit(Range);
    // C++23 keeps the temporaries of the range alive.
    if (!Context.getLangOpts().CPlusPlus23)
      if (std::optional<Borrow> B = eval(Range);
          B && !B->Owner && B->What != Borrow::Blob)
        reportNow(*B, Dangling::Loop, For->getForLoc(), {},
                  InBlock.count(For) ? For : nullptr);
    ++Branches;
    Loops.push_back(For);
    Scopes.emplace_back();
    if (const VarDecl *Var = For->getLoopVariable()) {
      Scopes.back().push_back(Var);
      forget(Var);
    }
    visit(For->getBody());
    leaveScope(For->getEndLoc());
    Loops.pop_back();
    --Branches;
  }

  void visitReturn(const ReturnStmt *Return) {
    const Expr *Value = Return->getRetValue();
    if (!Value)
      return;
    visit(Value);
    std::optional<Borrow> B = eval(Value);
    if (B && carries(F->getReturnType(), *B) && ownerDies(*B))
      reportNow(*B, Dangling::Returned,
                contains(Value, B->Source) ? SourceLocation()
                                           : Return->getBeginLoc());
  }

  //===--------------------------------------------------------------------===//
  // Expressions
  //===--------------------------------------------------------------------===//

  /// A pointer that is only compared, or a size: the memory is not read.
  static bool readsNothing(const Expr *E) {
    if (const auto *Cast = dyn_cast<CastExpr>(E))
      return (Cast->getCastKind() == CK_PointerToBoolean ||
              Cast->getCastKind() == CK_ToVoid) &&
             namedBy(Cast->getSubExpr());
    if (const auto *Binary = dyn_cast<BinaryOperator>(E))
      return Binary->isComparisonOp() &&
             (namedBy(Binary->getLHS()) || namedBy(Binary->getRHS())) &&
             Binary->getLHS()->getType()->isPointerType();
    const auto *Call = dyn_cast<CXXMemberCallExpr>(E);
    if (!Call || !namedBy(Call->getImplicitObjectArgument()))
      return false;
    return isInsertion(torch::calleeName(Call)) ||
           llvm::StringSwitch<bool>(torch::calleeName(Call))
               .Cases("size", "empty", "sizes", "dim", "numel", "defined", true)
               .Cases("ndimension", "reset", "clear", "device", "dtype", true)
               .Case("reserve", true)
               .Default(false);
  }

  void visitExpr(const Expr *E) {
    if (isa<UnaryExprOrTypeTraitExpr, CXXNoexceptExpr>(E))
      return;
    if (readsNothing(E)) {
      if (const auto *Call = dyn_cast<CallExpr>(E)) {
        for (const Expr *Arg : Call->arguments())
          visit(Arg);
        visitCall(Call);
      }
      return;
    }
    if (const auto *Op = dyn_cast<BinaryOperator>(E);
        Op && Op->getOpcode() == BO_Assign) {
      visit(Op->getRHS());
      return assign(Op->getLHS(), Op->getRHS(), Op->getBeginLoc());
    }
    if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(E);
        Op && Op->getOperator() == OO_Equal && Op->getNumArgs() == 2) {
      visit(Op->getArg(1));
      return assign(Op->getArg(0), Op->getArg(1), Op->getBeginLoc());
    }
    if (isa<ConditionalOperator>(E) ||
        (isa<BinaryOperator>(E) && cast<BinaryOperator>(E)->isLogicalOp())) {
      ++Branches;
      visitAll(E);
      --Branches;
      return;
    }
    if (const auto *Delete = dyn_cast<CXXDeleteExpr>(E))
      return freed(Delete->getArgument(), Delete->getBeginLoc());
    visitAll(E);
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      return used(Ref->getDecl(), Ref->getLocation());
    if (const auto *Member = dyn_cast<MemberExpr>(E);
        Member && isa<CXXThisExpr>(torch::peel(Member->getBase())))
      return used(Member->getMemberDecl(), Member->getMemberLoc());
    if (const auto *Call = dyn_cast<CallExpr>(E))
      visitCall(Call);
  }

  void freed(const Expr *Pointer, SourceLocation At) {
    const VarDecl *Var = namedBy(Pointer);
    if (Var)
      end(Var, Dangling::Freed, At, [](Borrow &B) { return B.Heap; });
  }

  void assign(const Expr *Left, const Expr *Right, SourceLocation At) {
    const Expr *Target = torch::peel(Left);
    // `v[i] = x` of a container; of a tensor it copies elements.
    if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Target)) {
      visit(Target);
      if (Op->getOperator() == OO_Subscript &&
          !torch::isTensor(Op->getArg(0)->getType()))
        store(Op->getArg(0), Right, At);
      return;
    }
    std::optional<Place> P = placeOf(Target);
    if (!P) {
      visit(Target);
      return;
    }
    const auto *Var =
        P->Field || P->Pointee ? nullptr : dyn_cast<VarDecl>(P->Root);
    if (Var) {
      if (Var->getType()->isPointerType() && isOwn(Var))
        setPointer(Var, Right);
      if (holdsMat(Var->getType()) && !makesMat(Right))
        SharedMats.insert(Var);
      if (Tensors.count(Var) || torch::isTensor(Var->getType()))
        replaceTensor(Var, Right, At);
    }
    keep(*P, Right, At, As::Assigned);
  }

  void replaceTensor(const VarDecl *Var, const Expr *Right, SourceLocation At) {
    bool NewMemory = freshMemory(Right) >= Fresh::Likely;
    if (NewMemory)
      end(Var, Dangling::Assigned, At, [&](Borrow &B) {
        if (B.What != Borrow::Data && B.What != Borrow::Shape)
          return false;
        if (!ownerDies(B))
          return false;
        // A backward that is still to come may hold it.
        if (Shared.isOperand(Var))
          B.Sure = std::min(B.Sure, Fresh::Likely);
        return true;
      });
    // Borrows of what it held before are not of what it holds now.
    llvm::erase_if(
        Env, [&](const Held &H) { return H.What.Owner == Var && !H.Ended; });
    setTensor(Var, Right, /*Sure=*/Branches == 0);
  }

  /// \p Container gets \p Value as an element.
  void store(const Expr *Container, const Expr *Value, SourceLocation At) {
    std::optional<Place> P = placeOf(Container);
    std::optional<Borrow> B = eval(Value);
    if (!P || !B || B->What != Borrow::Blob)
      return;
    if (isReused(*B, *P)) {
      reportNow(*B, Dangling::Reused, At, nameOf(*P));
      return;
    }
    keep(*P, Value, At, As::Element);
  }

  /// In a loop, over a buffer that is declared before the loop and written in
  /// each iteration, into a container that collects them?
  bool isReused(const Borrow &B, const Place &P) const {
    if (Loops.empty() || !B.Owner || !B.AtStart || B.Heap ||
        Tensors.count(B.Owner))
      return false;
    const Stmt *Loop = Loops.back();
    const SourceManager &SM = Context.getSourceManager();
    auto Within = [&](SourceLocation Loc) {
      Loc = SM.getFileLoc(Loc);
      return !SM.isBeforeInTranslationUnit(
                 Loc, SM.getFileLoc(Loop->getBeginLoc())) &&
             !SM.isBeforeInTranslationUnit(SM.getFileLoc(Loop->getEndLoc()),
                                           Loc);
    };
    const auto *Into = dyn_cast<VarDecl>(P.Root);
    if (!Within(B.Source->getBeginLoc()) || Within(B.Owner->getLocation()) ||
        (Into && Within(Into->getLocation())) || Shared.leaves(B.Owner) ||
        Shared.isCopied(B.Owner))
      return false;
    // Taken out again in each iteration: they are used while they are right.
    struct Mentions : RecursiveASTVisitor<Mentions> {
      const ValueDecl *Of;
      unsigned Count = 0;
      bool VisitDeclRefExpr(DeclRefExpr *Ref) {
        Count += Ref->getDecl() == Of;
        return true;
      }
      bool VisitMemberExpr(MemberExpr *Member) {
        Count += Member->getMemberDecl() == Of;
        return true;
      }
    } M;
    M.Of = P.Root;
    M.TraverseStmt(const_cast<Stmt *>(Loop));
    return M.Count == 1 && isWrittenIn(B.Owner, Loop);
  }

  /// Does \p Loop write into buffer \p Var?
  static bool isWrittenIn(const VarDecl *Var, const Stmt *Loop) {
    if (!writesTo(Var, Loop).empty())
      return true;
    struct Finder : RecursiveASTVisitor<Finder> {
      const VarDecl *Var;
      bool Found = false;
      bool VisitCXXForRangeStmt(CXXForRangeStmt *For) {
        const VarDecl *Element = For->getLoopVariable();
        Found |= Element && namedBy(For->getRangeInit()) == Var &&
                 Element->getType()->isLValueReferenceType() &&
                 !Element->getType().getNonReferenceType().isConstQualified();
        return !Found;
      }
      // fill(buf.data(), n), in.read(buf, n), std::fill(v.begin(), ...)
      bool VisitCallExpr(CallExpr *Call) {
        const FunctionDecl *Callee = Call->getDirectCallee();
        if (!Callee || torch::isTorchDecl(Callee))
          return true;
        unsigned Shift =
            isa<CXXOperatorCallExpr>(Call) && isa<CXXMethodDecl>(Callee);
        for (unsigned I = Shift; I < Call->getNumArgs(); ++I) {
          if (I - Shift >= Callee->getNumParams())
            break;
          QualType T = Callee->getParamDecl(I - Shift)->getType();
          bool Writes =
              (T->isPointerType() && !T->getPointeeType().isConstQualified()) ||
              isIterator(T);
          Found |= Writes && pointsInto(Call->getArg(I));
        }
        return !Found;
      }
      static bool isIterator(QualType T) {
        const CXXRecordDecl *R = torch::recordOf(T);
        return R && R->getIdentifier() && R->getName() == "__normal_iterator";
      }
      bool pointsInto(const Expr *E) const {
        E = torch::peel(E);
        if (namedBy(E) == Var)
          return true;
        if (const auto *Unary = dyn_cast_or_null<UnaryOperator>(E))
          return Unary->getOpcode() == UO_AddrOf &&
                 rootOf(Unary->getSubExpr()) == Var;
        const auto *Call = dyn_cast_or_null<CXXMemberCallExpr>(
            E ? torch::stripImplicit(E) : nullptr);
        StringRef Name = torch::calleeName(Call);
        return Call && (Name == "data" || Name == "begin" || Name == "get") &&
               namedBy(Call->getImplicitObjectArgument()) == Var;
      }
    } F;
    F.Var = Var;
    F.TraverseStmt(const_cast<Stmt *>(Loop));
    return F.Found;
  }

  void visitCall(const CallExpr *Call) {
    StringRef Name = torch::calleeName(Call);
    if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call)) {
      const Expr *Object = Member->getImplicitObjectArgument();
      std::optional<Place> P = Object ? placeOf(Object) : std::nullopt;
      if (P && isInsertion(Name)) {
        for (const Expr *Arg : Call->arguments())
          store(Object, Arg, Call->getBeginLoc());
        return;
      }
      if (P && (Name == "clear" || Name == "reset" || Name == "swap" ||
                Name == "set_data"))
        forget(*P);
      const VarDecl *Var = Object ? namedBy(Object) : nullptr;
      if (Var && torch::isTensor(Var->getType()) &&
          (Name == "resize_" || Name == "resize_as_"))
        end(Var, Dangling::Resized, Call->getBeginLoc(), [](Borrow &B) {
          B.Sure = std::min(B.Sure, Fresh::Likely);
          return B.What == Borrow::Data;
        });
    }
    if (Name == "free" && Call->getNumArgs() == 1)
      freed(Call->getArg(0), Call->getBeginLoc());
    if (std::optional<torch::Registration> R = torch::asRegistration(Call);
        R && R->Value && R->What != torch::Registration::Module) {
      std::optional<Borrow> B = eval(R->Value);
      if (B && B->What == Borrow::Blob && ownerDies(*B))
        reportNow(*B, Dangling::Stored, Call->getBeginLoc(), "the module");
    }
    // What is passed by reference may come back with another value.
    const FunctionDecl *Callee = Call->getDirectCallee();
    bool Operator = Callee && torch::isTorchDecl(Callee);
    unsigned Shift = isa<CXXOperatorCallExpr>(Call) &&
                     isa_and_nonnull<CXXMethodDecl>(Callee);
    for (unsigned I = Shift; Callee && I < Call->getNumArgs(); ++I) {
      if (I - Shift >= Callee->getNumParams())
        break;
      QualType T = Callee->getParamDecl(I - Shift)->getType();
      std::optional<Place> P = placeOf(Call->getArg(I));
      if (!P || !T->isLValueReferenceType() ||
          T->getPointeeType().isConstQualified() || Operator)
        continue;
      forget(*P);
      if (const VarDecl *Var = namedBy(Call->getArg(I))) {
        Tensors.erase(Var);
        Pointers.erase(Var);
      }
    }
  }

  const FunctionDecl *F;
  const ASTContext &Context;
  Sharing Shared;

  std::vector<Held> Env;
  /// Local tensors: is their memory, and the tensor itself, theirs alone?
  llvm::DenseMap<const VarDecl *, std::pair<Fresh, Fresh>> Tensors;
  llvm::DenseMap<const VarDecl *, Buffer> Pointers;
  llvm::DenseSet<const VarDecl *> SharedMats;
  llvm::SmallVector<llvm::SmallVector<const VarDecl *, 8>, 8> Scopes;
  llvm::SmallVector<const Stmt *, 4> Loops;
  llvm::DenseSet<const Stmt *> InBlock; ///< Whole statements of a block.
  llvm::DenseSet<const Stmt *> SwitchBodies;
  llvm::DenseSet<const Expr *> Reported;
  unsigned Branches = 0;
};

} // namespace

std::vector<Dangling> findDangling(const FunctionDecl *F,
                                   const ASTContext &Context) {
  if (!F->hasBody() || F->isDependentContext())
    return {};
  Walk W(F, Context);
  W.run();
  return std::move(W.Found);
}

std::vector<Dangling> findDangling(const VarDecl *Var,
                                   const ASTContext &Context) {
  if (!Var->hasInit() || Var->getType()->isDependentType())
    return {};
  Walk W(nullptr, Context);
  W.runGlobal(Var);
  return std::move(W.Found);
}

} // namespace libtorch_tidy::flow
