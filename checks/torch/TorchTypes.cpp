//===- TorchTypes.cpp - LibTorch's types by name --------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/TorchTypes.h"
#include "checks/llvm/Compat.h"
#include "checks/torch/Classes.h"
#include "checks/torch/Headers.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

/// So deep in namespaces, classes and functions are only lambdas in lambdas of
/// users, never the declarations of a library.
static constexpr unsigned MaxDepth = 32;

bool isTorchDecl(const Decl *D) {
  if (!D)
    return false;
  const DeclContext *Outermost = nullptr;
  unsigned Depth = 0;
  for (const DeclContext *DC = D->getDeclContext();
       DC && !DC->isTranslationUnit(); DC = DC->getParent()) {
    if (++Depth > MaxDepth)
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
  return !isUserCode(D->getLocation(), D->getASTContext().getSourceManager());
}

bool declaresTorch(ASTContext &Context) {
  for (StringRef Name : {"at", "c10", "torch", "caffe2"})
    for (const NamedDecl *D :
         Context.getTranslationUnitDecl()->lookup(&Context.Idents.get(Name)))
      if (llvm::any_of(D->redecls(), isTorchDecl))
        return true;
  return false;
}

bool isStdDecl(const Decl *D) {
  if (!D)
    return false;
  unsigned Depth = 0;
  for (const DeclContext *DC = D->getDeclContext(); DC && ++Depth <= MaxDepth;
       DC = DC->getParent())
    if (const auto *NS = dyn_cast<NamespaceDecl>(DC))
      if (NS->isStdNamespace() ||
          (NS->getIdentifier() && NS->getName() == "__gnu_cxx"))
        return true;
  return false;
}

const CXXRecordDecl *recordOf(QualType T) {
  if (T.isNull())
    return nullptr;
  return T.getNonReferenceType()->getAsCXXRecordDecl();
}

/// The namespaces and classes around \p R and its name, without inline and
/// anonymous namespaces: compared from the inside out, no string is built.
static bool isNamed(const NamedDecl *R, StringRef QualifiedName) {
  const IdentifierInfo *Id = R->getIdentifier();
  auto [Scope, Own] = QualifiedName.rsplit("::");
  if (Own.empty())
    std::swap(Scope, Own);
  if (!Id || Id->getName() != Own)
    return false;
  const DeclContext *DC = R->getDeclContext();
  while (const auto *NS = dyn_cast<NamespaceDecl>(DC)) {
    if (!NS->isInline() && !NS->isAnonymousNamespace())
      break;
    DC = DC->getParent();
  }
  if (Scope.empty())
    return DC->isTranslationUnit();
  const auto *Outer = dyn_cast<NamedDecl>(DC);
  return Outer && isNamed(Outer, Scope);
}

/// Whether classes derive from those of some names, as far as it was asked.
using KnownBases =
    llvm::DenseMap<const CXXRecordDecl *,
                   llvm::SmallVector<std::pair<StringRef, bool>, 8>>;

bool isOrDerivesFrom(const CXXRecordDecl *R, StringRef QualifiedName) {
  if (!R)
    return false;
  if (isNamed(R, QualifiedName))
    return true;
  R = R->getDefinition();
  if (!R || !R->getNumBases())
    return false;
  auto &Known = rememberedFor<KnownBases>(R->getASTContext());
  for (const auto &[Name, Answer] : Known[R])
    if (Name == QualifiedName)
      return Answer;
  const bool Found =
      llvm::any_of(R->bases(), [&](const CXXBaseSpecifier &Base) {
        return isOrDerivesFrom(Base.getType()->getAsCXXRecordDecl(),
                               QualifiedName);
      });
  Known[R].emplace_back(QualifiedName, Found);
  return Found;
}

bool anyBase(const CXXRecordDecl *R,
             llvm::function_ref<bool(const CXXRecordDecl *)> Matches) {
  llvm::SmallPtrSet<const CXXRecordDecl *, 8> Seen;
  llvm::SmallVector<const CXXRecordDecl *, 8> Waiting = {R};
  while (!Waiting.empty()) {
    const CXXRecordDecl *Derived = Waiting.pop_back_val();
    if (!Derived || !Derived->hasDefinition())
      continue;
    for (const CXXBaseSpecifier &Base : Derived->bases())
      if (const CXXRecordDecl *B = Base.getType()->getAsCXXRecordDecl();
          B && Seen.insert(B->getCanonicalDecl()).second) {
        if (Matches(B))
          return true;
        Waiting.push_back(B);
      }
  }
  return false;
}

bool isOrDerivesFrom(QualType T, StringRef QualifiedName) {
  return isOrDerivesFrom(recordOf(T), QualifiedName);
}

bool declaresTensor(ASTContext &Context) {
  auto Find = [&](const DeclContext *Where, llvm::StringRef Name) {
    const NamedDecl *Found = nullptr;
    if (Where)
      for (const NamedDecl *D : Where->lookup(&Context.Idents.get(Name)))
        Found = D;
    return Found;
  };
  auto Scope = [&](const DeclContext *Where, llvm::StringRef Name) {
    return dyn_cast_or_null<NamespaceDecl>(Find(Where, Name));
  };
  const DeclContext *All = Context.getTranslationUnitDecl();
  return Find(Scope(All, "at"), "Tensor") ||
         Find(Scope(Scope(All, "torch"), "stable"), "Tensor");
}

static constexpr StringRef StableTensor = "torch::stable::Tensor";

bool isTensorClass(const CXXRecordDecl *R) {
  return isOrDerivesFrom(R, "at::TensorBase") ||
         isOrDerivesFrom(R, StableTensor);
}

bool isTensor(QualType T) { return isTensorClass(recordOf(T)); }

bool isStableTensor(QualType T) {
  return isOrDerivesFrom(recordOf(T), StableTensor);
}

bool anyTypeArgument(const CXXRecordDecl *R,
                     llvm::function_ref<bool(QualType)> Matches) {
  const auto *Spec = dyn_cast_or_null<ClassTemplateSpecializationDecl>(R);
  if (!Spec)
    return false;
  for (const TemplateArgument &Arg : Spec->getTemplateArgs().asArray()) {
    if (Arg.getKind() == TemplateArgument::Type && Matches(Arg.getAsType()))
      return true;
    if (Arg.getKind() == TemplateArgument::Pack)
      for (const TemplateArgument &Inner : Arg.pack_elements())
        if (Inner.getKind() == TemplateArgument::Type &&
            Matches(Inner.getAsType()))
          return true;
  }
  return false;
}

static bool
mayHoldTensor(QualType T,
              llvm::SmallPtrSetImpl<const CXXRecordDecl *> &Visiting) {
  if (T.isNull())
    return false;
  T = T.getNonReferenceType();
  if (const Type *Pointee = T->getPointeeOrArrayElementType();
      Pointee && Pointee != T.getTypePtr())
    return mayHoldTensor(QualType(Pointee, 0), Visiting);
  const CXXRecordDecl *R = T->getAsCXXRecordDecl();
  if (!R || !Visiting.insert(R).second)
    return false;
  static constexpr StringRef Holders[] = {
      "at::TensorBase",
      "c10::IValue",
      "at::OptionalTensorRef",
      "torch::nn::utils::rnn::PackedSequence",
      "c10::intrusive_ptr",
      "c10::ivalue::Tuple",
      "c10::ivalue::TupleElements",
      StableTensor};
  if (llvm::any_of(Holders,
                   [&](StringRef Name) { return isOrDerivesFrom(R, Name); }))
    return true;
  if (anyTypeArgument(
          R, [&](QualType Arg) { return mayHoldTensor(Arg, Visiting); }))
    return true;
  if (isModule(T) || !R->hasDefinition() ||
      !isUserCode(R->getLocation(), R->getASTContext().getSourceManager()))
    return false;
  for (const FieldDecl *Field : R->fields())
    if (mayHoldTensor(Field->getType(), Visiting))
      return true;
  for (const CXXBaseSpecifier &Base : R->bases())
    if (mayHoldTensor(Base.getType(), Visiting))
      return true;
  return false;
}

bool mayHoldTensor(QualType T) {
  llvm::SmallPtrSet<const CXXRecordDecl *, 8> Visiting;
  return mayHoldTensor(T, Visiting);
}

QualType pointeeOf(QualType T) {
  if (T.isNull())
    return {};
  T = T.getNonReferenceType();
  if (T->isPointerType())
    return T->getPointeeType();
  static constexpr StringRef Pointers[] = {"std::unique_ptr", "std::shared_ptr",
                                           "c10::intrusive_ptr",
                                           "torch::nn::ModuleHolder"};
  const CXXRecordDecl *R = T->getAsCXXRecordDecl();
  if (const auto *Special =
          dyn_cast_or_null<ClassTemplateSpecializationDecl>(R);
      Special && llvm::any_of(Pointers, [&](StringRef Name) {
        return isNamed(Special, Name);
      })) {
    const TemplateArgument &Arg = Special->getTemplateArgs().get(0);
    return Arg.getKind() == TemplateArgument::Type ? Arg.getAsType()
                                                   : QualType();
  }
  if (!R || R->isInStdNamespace())
    return {};
  // TORCH_MODULE(Net): class Net : public ModuleHolder<NetImpl>; it may be a
  // template, too.
  QualType Inner;
  anyBase(R, [&](const CXXRecordDecl *Base) {
    if (isa<ClassTemplateSpecializationDecl>(Base))
      Inner = pointeeOf(compat::recordType(Base));
    return !Inner.isNull();
  });
  return Inner;
}

QualType finalPointee(QualType T) {
  llvm::SmallPtrSet<const Type *, 4> Seen;
  for (QualType Next = pointeeOf(T); !Next.isNull(); Next = pointeeOf(T)) {
    T = Next;
    if (!Seen.insert(T->getUnqualifiedDesugaredType()).second)
      return {};
  }
  return T;
}

bool isModule(QualType T) {
  const CXXRecordDecl *R = recordOf(finalPointee(T));
  return isOrDerivesFrom(R, "torch::nn::Module") ||
         isOrDerivesFrom(R, "torch::jit::Module") ||
         isOrDerivesFrom(R, "torch::nn::AnyModule");
}

} // namespace libtorch_tidy::torch
