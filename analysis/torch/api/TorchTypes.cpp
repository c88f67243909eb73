//===- TorchTypes.cpp - LibTorch's types by name --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/api/TorchTypes.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Compat.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UnitContext.h"
#include "analysis/cpp/UserCode.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

bool isTorchDecl(const Decl *D) {
  if (!D)
    return false;
  const DeclContext *Outermost = nullptr;
  unsigned Depth = 0;
  for (const DeclContext *DC = D->getDeclContext();
       DC && !DC->isTranslationUnit(); DC = DC->getParent()) {
    if (++Depth > cpp::MaxContexts)
      return false;
    Outermost = DC;
  }
  if (const auto *Own = dyn_cast<NamespaceDecl>(D); Own && !Outermost)
    Outermost = Own;
  const auto *NS = dyn_cast_or_null<NamespaceDecl>(Outermost);
  if (!NS || !NS->getIdentifier())
    return false;
  StringRef Name = NS->getName();
  if (Name != "at" && Name != "c10" && Name != "torch" && Name != "caffe2")
    return false;
  return !cpp::isUserCode(D->getLocation(),
                          D->getASTContext().getSourceManager());
}

bool declaresTorch(ASTContext &Context) {
  for (StringRef Name : {"at", "c10", "torch", "caffe2"})
    for (const NamedDecl *D :
         Context.getTranslationUnitDecl()->lookup(&Context.Idents.get(Name)))
      if (llvm::any_of(D->redecls(), isTorchDecl))
        return true;
  return false;
}

static constexpr StringRef StableTensor = "torch::stable::Tensor";

const NamedDecl *declared(ASTContext &Context, StringRef Qualified) {
  const DeclContext *In = Context.getTranslationUnitDecl();
  const NamedDecl *Last = nullptr;
  while (In && !Qualified.empty()) {
    const auto [Name, Rest] = Qualified.split("::");
    const auto Found = In->lookup(&Context.Idents.get(Name));
    if (Found.empty())
      return nullptr;
    Last = Found.front();
    In = dyn_cast<NamespaceDecl>(Last);
    Qualified = Rest;
  }
  return Qualified.empty() ? Last : nullptr;
}

bool declaresTensor(ASTContext &Context) {
  return declared(Context, "at::Tensor") || declared(Context, StableTensor);
}

bool declaresNoGradGuard(ASTContext &Context) {
  return declared(Context, spelling::NoGradGuard);
}

bool isTensorClass(const CXXRecordDecl *R) {
  return cpp::isOrDerivesFrom(R, {"at::TensorBase", StableTensor});
}

bool isTensor(QualType T) { return isTensorClass(cpp::recordOf(T)); }

bool isStableTensor(QualType T) {
  return cpp::isOrDerivesFrom(T, StableTensor);
}

/// The class that \p T is, or leads to through references, pointers and arrays;
/// null for others.
static const CXXRecordDecl *referredClass(QualType T) {
  if (T.isNull())
    return nullptr;
  T = T.getNonReferenceType();
  const Type *Pointee = T->getPointeeOrArrayElementType();
  return Pointee && Pointee != T.getTypePtr()
             ? referredClass(QualType(Pointee, 0))
             : T->getAsCXXRecordDecl();
}

static bool isOfUser(const CXXRecordDecl *R) {
  return cpp::isUserCode(R->getLocation(),
                         R->getASTContext().getSourceManager());
}

static bool
mayHoldTensor(const CXXRecordDecl *R,
              llvm::SmallPtrSetImpl<const CXXRecordDecl *> &Visiting) {
  if (!R || !Visiting.insert(R).second)
    return false;
  if (cpp::isOrDerivesFrom(R, {"at::TensorBase", "c10::IValue",
                               "at::OptionalTensorRef",
                               "torch::nn::utils::rnn::PackedSequence",
                               "c10::intrusive_ptr", "c10::ivalue::Tuple",
                               "c10::ivalue::TupleElements", StableTensor}))
    return true;
  auto MayHold = [&](QualType Part) {
    return mayHoldTensor(referredClass(Part), Visiting);
  };
  if (cpp::anyTypeArgument(R, MayHold))
    return true;
  return !isModule(compat::recordType(R)) && R->hasDefinition() &&
         isOfUser(R) && cpp::anyPart(R, MayHold);
}

bool mayHoldTensor(QualType T) {
  const CXXRecordDecl *R = referredClass(T);
  if (!R)
    return false;
  // Nearly every expression of a program is asked about, few classes are.
  struct Answers : llvm::DenseMap<const CXXRecordDecl *, bool> {};
  auto &Known = cpp::ofUnit<Answers>(R->getASTContext());
  if (const auto It = Known.find(R); It != Known.end())
    return It->second;
  llvm::SmallPtrSet<const CXXRecordDecl *, 8> Visiting;
  return Known[R] = mayHoldTensor(R, Visiting);
}

bool hasTensorParts(QualType T) {
  const CXXRecordDecl *R = referredClass(T);
  if (!R || isTensorClass(R) || !mayHoldTensor(T))
    return false;
  auto IsList = [](const CXXRecordDecl *Class) {
    return cpp::isContainer(Class) &&
           !cpp::isStdClass(Class, cpp::StdClass::Box);
  };
  if (IsList(R) || cpp::isOrDerivesFrom(
                       R, {"c10::ivalue::Tuple", "c10::ivalue::TupleElements"}))
    return true;
  unsigned Tensors = 0;
  auto Count = [&](QualType Part) {
    Tensors += mayHoldTensor(Part);
    return Tensors > 1 || (mayHoldTensor(Part) && IsList(cpp::recordOf(Part)));
  };
  return cpp::anyTypeArgument(R, Count) ||
         (R->hasDefinition() && isOfUser(R) && cpp::anyPart(R, Count));
}

bool isModule(QualType T) {
  return cpp::isOrDerivesFrom(
      cpp::finalPointee(T),
      {"torch::nn::Module", "torch::jit::Module", "torch::nn::AnyModule"});
}

bool callsTorch(const CallExpr *Call, StringRef Name) {
  return cpp::calleeName(Call) == Name && isTorchDecl(Call->getDirectCallee());
}

bool callsTorch(const CallExpr *Call, llvm::ArrayRef<StringRef> Names) {
  return cpp::isOneOf(cpp::calleeName(Call), Names) &&
         isTorchDecl(Call->getDirectCallee());
}

const Expr *tensorOf(const CallExpr *Call) {
  const auto *Member = dyn_cast_or_null<CXXMemberCallExpr>(Call);
  const Expr *Object = Member ? Member->getImplicitObjectArgument() : nullptr;
  return Object && isTensor(Object->getType()) &&
                 isTorchDecl(Call->getDirectCallee())
             ? Object
             : nullptr;
}

const Expr *tensorAskedBy(const CallExpr *Call) {
  const auto *Member = dyn_cast_or_null<CXXMemberCallExpr>(Call);
  return Member && isTensorClass(Member->getRecordDecl())
             ? Member->getImplicitObjectArgument()
             : nullptr;
}

} // namespace libtorch_tidy::torch
