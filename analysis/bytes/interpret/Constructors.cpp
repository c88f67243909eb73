//===- Constructors.cpp - Follows constructors of classes -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Interpreter.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/ScopeExit.h"

using namespace clang;
using llvm::ArrayRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

/// How well \p Given fits a parameter of \p Type; nullopt when it does not.
static std::optional<unsigned> fit(const Cell &Given, QualType Written,
                                   QualType Type) {
  Type = Type.getNonReferenceType().getCanonicalType().getUnqualifiedType();
  if (!Written.isNull() &&
      Written.getNonReferenceType().getCanonicalType().getUnqualifiedType() ==
          Type)
    return 4;
  const CXXRecordDecl *R = Type->getAsCXXRecordDecl();
  auto When = [](bool Fits, unsigned How) {
    return Fits ? std::optional(How) : std::nullopt;
  };
  switch (Given->What) {
  case Value::Unknown:
    // By its type, where that says something.
    return When(Written.isNull() || R || Type->isArithmeticType() ||
                    !Written.getNonReferenceType()->isArithmeticType(),
                1);
  case Value::Integer:
    if (Type->isBooleanType())
      return Given->Number == 0 || Given->Number == 1 ? 2 : 1;
    if (Type->isIntegralOrEnumerationType())
      return 3;
    return Type->isFloatingType() ? When(true, 2) : When(R, 1);
  case Value::Real:
    if (Type->isIntegralOrEnumerationType())
      return 1;
    return Type->isFloatingType() ? When(true, 3) : When(R, 1);
  case Value::Text:
    if (R)
      return R->getIdentifier() && R->getName().contains("string") ? 3 : 1;
    return When(Type->isPointerType(), 2);
  case Value::List:
    return R ? When(true, 2)
             : When(Type->isArrayType() || Type->isPointerType(), 1);
  case Value::Module: {
    const CXXRecordDecl *Held = heldBy(R);
    if (torch::isModule(Type))
      return Held && Held == Given->Held->Class ? 3 : 2;
    return When(R || Type->isPointerType(), 1);
  }
  case Value::Options:
    return When(modelClass(R) == ModelClass::Options, 3);
  case Value::Record:
    return When(
        R && (R->getCanonicalDecl() == Given->Class->getCanonicalDecl() ||
              (R->hasDefinition() && Given->Class->hasDefinition() &&
               Given->Class->isDerivedFrom(R))),
        3);
  case Value::Other:
    if (const auto *Enum = dyn_cast_or_null<EnumDecl>(Type->getAsTagDecl()))
      return When(llvm::any_of(Enum->enumerators(),
                               [&](const EnumConstantDecl *Each) {
                                 return Each->getName() == Given->Name;
                               }),
                  3);
    [[fallthrough]];
  default:
    return When(!Type->isArithmeticType(), 1);
  }
}

const CXXConstructorDecl *constructorFor(const CXXRecordDecl *Class,
                                         ArrayRef<Cell> Arguments,
                                         ArrayRef<QualType> Types) {
  const CXXConstructorDecl *Best = nullptr;
  unsigned BestFit = 0;
  auto Consider = [&](const CXXConstructorDecl *Constructor) {
    if (Constructor->isDeleted() || Constructor->isCopyOrMoveConstructor() ||
        Arguments.size() < Constructor->getMinRequiredArguments() ||
        Arguments.size() > Constructor->getNumParams())
      return;
    unsigned Sum = 1;
    for (unsigned I = 0; I < Arguments.size(); ++I) {
      const std::optional<unsigned> Fit =
          fit(Arguments[I], I < Types.size() ? Types[I] : QualType(),
              Constructor->getParamDecl(I)->getType());
      if (!Fit)
        return;
      Sum += *Fit;
    }
    if (Sum > BestFit) {
      Best = Constructor;
      BestFit = Sum;
    }
  };
  for (const CXXConstructorDecl *Constructor : Class->ctors())
    Consider(Constructor);
  if (Best)
    return Best;
  // Those of a base, by a using-declaration; the compiler makes its own of them
  // where they are called, and the library's calls are not parsed.
  for (const Decl *D : Class->decls())
    if (const auto *Shadow = dyn_cast<ConstructorUsingShadowDecl>(D))
      if (const auto *OfBase =
              dyn_cast<CXXConstructorDecl>(Shadow->getTargetDecl()))
        Consider(OfBase);
  if (Best)
    return Best;
  // Templates, in the forms that the unit has made.
  for (const Decl *D : Class->decls())
    if (const auto *Template = dyn_cast<FunctionTemplateDecl>(D))
      for (const FunctionDecl *F : Template->specializations())
        if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(F))
          Consider(Constructor);
  return Best;
}

static Fields &membersOf(const Cell &Object) {
  return Object->What == Value::Module ? Object->Held->Members
                                       : Object->Members;
}

static void setField(Interpreter &VM, Fields &Of, const FieldDecl *Field,
                     const Cell &Given) {
  Of[Field->getCanonicalDecl()] =
      Field->getType()->isReferenceType() ? Given : VM.copyOf(Given);
}

/// Fields as they are without a constructor's list.
static void initialiseFields(Interpreter &VM, const Cell &Object,
                             const CXXRecordDecl *Class) {
  Fields &Members = membersOf(Object);
  for (const FieldDecl *Field : Class->fields()) {
    if (VM.Halted)
      return;
    setField(VM, Members, Field, initialValue(VM, Field));
  }
}

/// A user's class that derives from one of LibTorch's modules has what that
/// registers.
static void inheritLibraryModule(Interpreter &VM, const Cell &Object,
                                 const CXXRecordDecl *Base,
                                 ArrayRef<Cell> Arguments, SourceLocation At) {
  if (Object->What != Value::Module)
    return;
  const ModulePtr Made =
      makeLibraryModule(VM, modelClassName(Base), Arguments, At);
  ModuleInstance &M = *Object->Held;
  llvm::append_range(M.Children, Made->Children);
  llvm::append_range(M.Parameters, Made->Parameters);
  llvm::append_range(M.Buffers, Made->Buffers);
  llvm::append_range(M.Unlisted, Made->Unlisted);
  M.Settings = Made->Settings;
  M.IsIncomplete |= Made->IsIncomplete;
}

static void constructBase(Interpreter &VM, const Cell &Object, QualType Base,
                          const Expr *Init, SourceLocation At) {
  const CXXRecordDecl *R = Base->getAsCXXRecordDecl();
  R = R ? R->getDefinition() : nullptr;
  if (!R || cpp::isStdDecl(R))
    return;
  const ModelClass Kind = modelClass(R);
  if (Kind == ModelClass::Base)
    return;
  const auto *Construct =
      dyn_cast_or_null<CXXConstructExpr>(Init ? cpp::peel(Init) : nullptr);
  llvm::SmallVector<const Expr *, 4> Written;
  if (Construct)
    Written = cpp::writtenArguments(Construct);
  const std::vector<Cell> Arguments = VM.evalAll(Written);
  if (Kind == ModelClass::LibraryModule) {
    inheritLibraryModule(VM, Object, R, Arguments, At);
    return;
  }
  if (torch::isTorchDecl(R))
    return;
  // A field of the base belongs to the same object; so do its virtual calls.
  const CXXConstructorDecl *Constructor =
      Construct ? Construct->getConstructor() : nullptr;
  if (!Constructor)
    Constructor = constructorFor(R, Arguments, typesOf(Written));
  const CXXRecordDecl *&Dynamic =
      Object->What == Value::Module ? Object->Held->Class : Object->Class;
  const CXXRecordDecl *Derived = Dynamic;
  Dynamic = R;
  construct(VM, Object, R, Constructor, Arguments, At);
  Dynamic = Derived;
}

/// What a defaulted constructor does: bases and fields in their order.
static void constructPlainly(Interpreter &VM, const Cell &Object,
                             const CXXRecordDecl *Class, SourceLocation At) {
  for (const CXXBaseSpecifier &Base : Class->bases())
    constructBase(VM, Object, Base.getType(), nullptr, At);
  initialiseFields(VM, Object, Class);
}

/// The constructor of a base that runs where \p Class is made by
/// \p Constructor; null where it has its own.
static const CXXConstructorDecl *
inheritedBy(const CXXRecordDecl *Class, const CXXConstructorDecl *Constructor) {
  if (!Constructor)
    return nullptr;
  if (Constructor->getParent()->getCanonicalDecl() != Class->getCanonicalDecl())
    return Constructor;
  return Constructor->isInheritingConstructor()
             ? Constructor->getInheritedConstructor().getConstructor()
             : nullptr;
}

const CXXRecordDecl *libraryConstructs(const CXXRecordDecl *Class) {
  for (const Decl *D : Class->decls())
    if (const auto *Shadow = dyn_cast<ConstructorUsingShadowDecl>(D))
      if (const auto *Base = dyn_cast<CXXRecordDecl>(
              Shadow->getTargetDecl()->getDeclContext());
          modelClass(Base) == ModelClass::LibraryModule)
        return Base;
  return nullptr;
}

/// What \p Class inherits from \p Base, it hands on. Null: a constructor of
/// the library's, which may be a template.
static void constructInherited(Interpreter &VM, const Cell &Object,
                               const CXXRecordDecl *Class,
                               const CXXRecordDecl *Base,
                               const CXXConstructorDecl *Inherited,
                               ArrayRef<Cell> Arguments, SourceLocation At) {
  for (const CXXBaseSpecifier &B : Class->bases())
    if (const CXXRecordDecl *R = B.getType()->getAsCXXRecordDecl();
        R && R->getCanonicalDecl() != Base->getCanonicalDecl())
      constructBase(VM, Object, B.getType(), nullptr, At);
  if (modelClass(Base) == ModelClass::LibraryModule)
    inheritLibraryModule(VM, Object, Base, Arguments, At);
  else
    construct(VM, Object, Base->getDefinition(), Inherited, Arguments, At);
  initialiseFields(VM, Object, Class);
}

/// What \p Definition lists before its body, and the fields that it leaves as
/// they are.
static void runInitialisers(Interpreter &VM, const Cell &Object,
                            const CXXRecordDecl *Class,
                            const CXXConstructorDecl *Definition,
                            SourceLocation At) {
  Fields &Members = membersOf(Object);
  for (const CXXCtorInitializer *Init : Definition->inits()) {
    if (VM.Halted)
      return;
    if (Init->isDelegatingInitializer()) {
      if (const auto *To =
              dyn_cast<CXXConstructExpr>(cpp::peel(Init->getInit())))
        construct(VM, Object, Class, To->getConstructor(),
                  VM.evalAll(cpp::writtenArguments(To)), At);
    } else if (Init->isBaseInitializer()) {
      constructBase(VM, Object, QualType(Init->getBaseClass(), 0),
                    Init->getInit(), At);
    } else if (const FieldDecl *Field = Init->getAnyMember()) {
      setField(VM, Members, Field,
               coerced(VM, VM.eval(Init->getInit()), Field->getType(),
                       Field->getLocation()));
    }
  }
  for (const FieldDecl *Field : Class->fields())
    if (!Members.count(Field->getCanonicalDecl()))
      Members[Field->getCanonicalDecl()] =
          defaultValue(VM, Field->getType(), Field->getLocation());
}

void construct(Interpreter &VM, const Cell &Object, const CXXRecordDecl *Class,
               const CXXConstructorDecl *Constructor, ArrayRef<Cell> Arguments,
               SourceLocation At) {
  Frame Callee;
  Callee.This = Object;
  VM.Frames.push_back(&Callee);
  ++VM.Calls;
  const auto Leave = llvm::make_scope_exit([&] {
    VM.Frames.pop_back();
    --VM.Calls;
  });
  if (VM.Calls > MaxCalls) {
    VM.note(At, "constructors nest deeper than " + Twine(MaxCalls) +
                    ", and were followed no further");
    return;
  }
  if (const CXXConstructorDecl *Inherited = inheritedBy(Class, Constructor))
    return constructInherited(VM, Object, Class, Inherited->getParent(),
                              Inherited, Arguments, At);
  if (const CXXRecordDecl *Base =
          Constructor || Arguments.empty() ? nullptr : libraryConstructs(Class))
    return constructInherited(VM, Object, Class, Base, nullptr, Arguments, At);
  if (!Constructor || (Constructor->isDefaulted() && Arguments.empty()) ||
      Constructor->isImplicit())
    return constructPlainly(VM, Object, Class, At);
  const auto *Definition =
      dyn_cast_or_null<CXXConstructorDecl>(VM.definitionOf(Constructor));
  if (!Definition) {
    VM.note(Constructor->getLocation(), "the constructor of '" +
                                            Class->getNameAsString() +
                                            "' is defined in another file");
    return;
  }
  if (!bindParameters(VM, Callee, Definition, Arguments))
    return;
  runInitialisers(VM, Object, Class, Definition, At);
  if (!VM.Halted)
    follow(VM, Definition->getBody());
}

} // namespace libtorch_tidy::bytes
