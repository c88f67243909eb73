//===- Types.cpp - What values of a type own ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Types.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Compat.h"
#include "analysis/cpp/Library.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/UnitContext.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::cpp {

bool isStdDecl(const Decl *D) {
  if (!D)
    return false;
  unsigned Depth = 0;
  for (const DeclContext *DC = D->getDeclContext();
       DC && ++Depth <= MaxContexts; DC = DC->getParent())
    if (const auto *NS = dyn_cast<NamespaceDecl>(DC))
      if (NS->isStdNamespace() ||
          (NS->getIdentifier() && NS->getName() == "__gnu_cxx"))
        return true;
  return false;
}

const CXXRecordDecl *recordOf(QualType T) {
  return T.isNull() ? nullptr : T.getNonReferenceType()->getAsCXXRecordDecl();
}

/// Compares from the inside out.
bool isNamed(const NamedDecl *R, StringRef QualifiedName) {
  auto [Scope, Own] = QualifiedName.rsplit("::");
  if (Own.empty())
    std::swap(Scope, Own);
  if (nameOf(R) != Own)
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

static bool isOrDerivesFrom(const CXXRecordDecl *R, StringRef QualifiedName,
                            KnownBases *Asked) {
  if (!R)
    return false;
  if (isNamed(R, QualifiedName))
    return true;
  R = R->getDefinition();
  if (!R || !R->getNumBases())
    return false;
  // Most classes have no bases, and need no look into the unit's answers.
  KnownBases &Known = Asked ? *Asked : ofUnit<KnownBases>(R->getASTContext());
  for (const auto &[Name, Answer] : Known[R])
    if (Name == QualifiedName)
      return Answer;
  const bool Found =
      llvm::any_of(R->bases(), [&](const CXXBaseSpecifier &Base) {
        return isOrDerivesFrom(Base.getType()->getAsCXXRecordDecl(),
                               QualifiedName, &Known);
      });
  Known[R].emplace_back(QualifiedName, Found);
  return Found;
}

bool isOrDerivesFrom(const CXXRecordDecl *R, StringRef QualifiedName) {
  return isOrDerivesFrom(R, QualifiedName, nullptr);
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

bool anyPart(const CXXRecordDecl *R,
             llvm::function_ref<bool(QualType)> Matches) {
  R = R ? R->getDefinition() : nullptr;
  auto Is = [&](const auto &Part) { return Matches(Part.getType()); };
  return R && (llvm::any_of(R->bases(), Is) ||
               llvm::any_of(R->fields(), [&](const FieldDecl *Field) {
                 return Is(*Field);
               }));
}

bool isOrDerivesFrom(QualType T, StringRef QualifiedName) {
  return isOrDerivesFrom(recordOf(T), QualifiedName);
}

bool isOrDerivesFrom(const CXXRecordDecl *R, llvm::ArrayRef<StringRef> Names) {
  return llvm::any_of(Names,
                      [&](StringRef Name) { return isOrDerivesFrom(R, Name); });
}

bool isOrDerivesFrom(QualType T, llvm::ArrayRef<StringRef> Names) {
  return isOrDerivesFrom(recordOf(T), Names);
}

bool anyTypeArgument(const CXXRecordDecl *R,
                     llvm::function_ref<bool(QualType)> Matches) {
  const auto *Spec = dyn_cast_or_null<ClassTemplateSpecializationDecl>(R);
  if (!Spec)
    return false;
  auto IsMatch = [&](const TemplateArgument &Arg) {
    return Arg.getKind() == TemplateArgument::Type && Matches(Arg.getAsType());
  };
  return llvm::any_of(Spec->getTemplateArgs().asArray(),
                      [&](const TemplateArgument &Arg) {
                        return Arg.getKind() == TemplateArgument::Pack
                                   ? llvm::any_of(Arg.pack_elements(), IsMatch)
                                   : IsMatch(Arg);
                      });
}

QualType typeArgument(const CXXRecordDecl *R, unsigned I) {
  const auto *Spec = dyn_cast_or_null<ClassTemplateSpecializationDecl>(R);
  if (!Spec || I >= Spec->getTemplateArgs().size())
    return {};
  const TemplateArgument &Arg = Spec->getTemplateArgs().get(I);
  return Arg.getKind() == TemplateArgument::Type ? Arg.getAsType() : QualType();
}

bool isOfLibrary(const Decl *D) { return isStdDecl(D) || library::declares(D); }

QualType pointeeOf(QualType T) {
  if (T.isNull())
    return {};
  T = T.getNonReferenceType();
  if (T->isPointerType())
    return T->getPointeeType();
  const CXXRecordDecl *R = T->getAsCXXRecordDecl();
  if (isa_and_nonnull<ClassTemplateSpecializationDecl>(R) &&
      (isNamed(R, "std::unique_ptr") || isNamed(R, "std::shared_ptr") ||
       library::isPointer(R)))
    return firstArgument(R);
  if (!R || R->isInStdNamespace())
    return {};
  // class Net : public Holder<NetImpl>; it may be a template, too.
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

Owner ownerKind(QualType T) {
  if (T.isNull() || T->isPointerType() || T->isMemberPointerType() ||
      isStdClass(T, StdClass::NotOwning) || library::isReference(T))
    return Owner::None;
  return isStdClass(T, StdClass::Shared) || library::isSharedHandle(T)
             ? Owner::Shared
             : Owner::Alone;
}

bool isOwningType(QualType T) {
  if (T.isNull() || T->isReferenceType() || ownerKind(T) == Owner::None)
    return false;
  const CXXRecordDecl *R = recordOf(T);
  return !isOfLibrary(R) || !anyTypeArgument(R, [](QualType Arg) {
    return ownerKind(Arg) == Owner::None;
  });
}

bool isFunctionObject(QualType T) { return isStdClass(T, StdClass::Function); }

bool holdsFunctions(QualType T) {
  const CXXRecordDecl *R = recordOf(T);
  return isFunctionObject(T) ||
         (isStdDecl(R) && anyTypeArgument(R, isFunctionObject));
}

bool isIterator(QualType T) {
  return nameOf(recordOf(T)) == "__normal_iterator";
}

bool leadsToElements(QualType T) {
  const CXXRecordDecl *R = recordOf(T);
  const llvm::StringRef Name = nameOf(R);
  if (isIterator(T))
    return true;
  if (!R || !isStdDecl(R) || Name == "move_iterator")
    return false;
  return Name == "reverse_iterator" ||
         llvm::any_of(
             R->lookup(&R->getASTContext().Idents.get("iterator_category")),
             [](const NamedDecl *D) { return isa<TypedefNameDecl>(D); });
}

bool isContainer(const CXXRecordDecl *R) {
  return isStdClass(R, StdClass::Container);
}

void forEachArgument(const CXXRecordDecl *R,
                     llvm::function_ref<void(QualType)> Visit) {
  anyTypeArgument(R, [&](QualType Arg) {
    Visit(Arg);
    return false;
  });
}

const FieldDecl *findField(const CXXRecordDecl *R,
                           llvm::function_ref<bool(const FieldDecl *)> Is) {
  R = R ? R->getDefinition() : nullptr;
  if (!R)
    return nullptr;
  for (const FieldDecl *Field : R->fields())
    if (Is(Field))
      return Field;
  for (const CXXBaseSpecifier &Base : R->bases())
    if (const FieldDecl *Field =
            findField(Base.getType()->getAsCXXRecordDecl(), Is))
      return Field;
  return nullptr;
}

const FieldDecl *fieldNamed(const CXXRecordDecl *R, llvm::StringRef Name) {
  return findField(R, [&](const FieldDecl *Field) {
    return Name.ends_with(nameOf(Field)) &&
           Field->getQualifiedNameAsString() == Name;
  });
}

} // namespace libtorch_tidy::cpp
