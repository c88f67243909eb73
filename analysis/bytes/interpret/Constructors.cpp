//===- Constructors.cpp - Follows constructors of classes -----------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/bytes/interpret/Interpreter.h"
#include "analysis/bytes/library/ModuleApi.h"
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
  switch (Given->What) {
  case Value::Unknown:
    // By its type, where that says something.
    if (!Written.isNull() && !R &&
        Written.getNonReferenceType()->isArithmeticType() &&
        !Type->isArithmeticType())
      return std::nullopt;
    return 1;
  case Value::Integer:
    if (Type->isBooleanType())
      return Given->Number == 0 || Given->Number == 1 ? 2 : 1;
    if (Type->isIntegralOrEnumerationType())
      return 3;
    if (Type->isFloatingType())
      return 2;
    return R ? std::optional<unsigned>(1) : std::nullopt;
  case Value::Real:
    if (Type->isFloatingType())
      return 3;
    if (Type->isIntegralOrEnumerationType())
      return 1;
    return R ? std::optional<unsigned>(1) : std::nullopt;
  case Value::Text:
    if (R)
      return R->getIdentifier() && R->getName().contains("string") ? 3 : 1;
    return Type->isPointerType() ? std::optional<unsigned>(2) : std::nullopt;
  case Value::List:
    if (R)
      return 2;
    return Type->isArrayType() || Type->isPointerType()
               ? std::optional<unsigned>(1)
               : std::nullopt;
  case Value::Module: {
    const CXXRecordDecl *Held = heldBy(R);
    if (torch::isModule(Type))
      return Held && Held == Given->Held->Class ? 3 : 2;
    return R || Type->isPointerType() ? std::optional<unsigned>(1)
                                      : std::nullopt;
  }
  case Value::Options:
    return R && modelClass(R) == ModelClass::Options
               ? std::optional<unsigned>(3)
               : std::nullopt;
  case Value::Record:
    return R && (R->getCanonicalDecl() == Given->Class->getCanonicalDecl() ||
                 (R->hasDefinition() && Given->Class->hasDefinition() &&
                  Given->Class->isDerivedFrom(R)))
               ? std::optional<unsigned>(3)
               : std::nullopt;
  default:
    return Type->isArithmeticType() ? std::nullopt : std::optional<unsigned>(1);
  }
}

const CXXConstructorDecl *
Interpreter::constructorFor(const CXXRecordDecl *Class,
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

ModulePtr Interpreter::make(const CXXRecordDecl *Class,
                            ArrayRef<Cell> Arguments, SourceLocation At) {
  const Cell Made =
      makeObject(Class, Arguments, /*Types=*/{}, /*Constructor=*/nullptr, At);
  return Made->What == Value::Module ? Made->Held : nullptr;
}

static Fields &membersOf(const Cell &Object) {
  return Object->What == Value::Module ? Object->Held->Members
                                       : Object->Members;
}

void Interpreter::setField(Fields &Of, const FieldDecl *Field,
                           const Cell &Given) {
  Of[Field->getCanonicalDecl()] =
      Field->getType()->isReferenceType() ? Given : copyOf(Given);
}

/// Fields as they are without a constructor's list.
void Interpreter::initialiseFields(const Cell &Object,
                                   const CXXRecordDecl *Class) {
  Fields &Members = membersOf(Object);
  for (const FieldDecl *Field : Class->fields()) {
    if (Halted)
      return;
    setField(Members, Field, initialValue(Field));
  }
}

/// What a defaulted constructor does: bases and fields in their order.
void Interpreter::constructPlainly(const Cell &Object,
                                   const CXXRecordDecl *Class,
                                   SourceLocation At) {
  for (const CXXBaseSpecifier &Base : Class->bases())
    constructBase(Object, Base.getType(), nullptr, At);
  initialiseFields(Object, Class);
}

/// A user's class that derives from one of LibTorch's modules has what that
/// registers.
void Interpreter::inheritLibraryModule(const Cell &Object,
                                       const CXXRecordDecl *Base,
                                       ArrayRef<Cell> Arguments,
                                       SourceLocation At) {
  if (Object->What != Value::Module)
    return;
  const ModulePtr Made = makeLibraryModule(modelClassName(Base), Arguments, At);
  ModuleInstance &M = *Object->Held;
  llvm::append_range(M.Children, Made->Children);
  llvm::append_range(M.Parameters, Made->Parameters);
  llvm::append_range(M.Buffers, Made->Buffers);
  llvm::append_range(M.Unlisted, Made->Unlisted);
  M.Settings = Made->Settings;
  M.IsIncomplete |= Made->IsIncomplete;
}

void Interpreter::constructBase(const Cell &Object, QualType Base,
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
  const std::vector<Cell> Arguments = evalAll(Written);
  if (Kind == ModelClass::LibraryModule) {
    inheritLibraryModule(Object, R, Arguments, At);
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
  construct(Object, R, Constructor, Arguments, At);
  Dynamic = Derived;
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

/// What it inherits from a base, it hands on.
void Interpreter::constructInherited(const Cell &Object,
                                     const CXXRecordDecl *Class,
                                     const CXXConstructorDecl *Inherited,
                                     ArrayRef<Cell> Arguments,
                                     SourceLocation At) {
  const CXXRecordDecl *Base = Inherited->getParent();
  for (const CXXBaseSpecifier &B : Class->bases())
    if (const CXXRecordDecl *R = B.getType()->getAsCXXRecordDecl();
        R && R->getCanonicalDecl() != Base->getCanonicalDecl())
      constructBase(Object, B.getType(), nullptr, At);
  if (modelClass(Base) == ModelClass::LibraryModule)
    inheritLibraryModule(Object, Base, Arguments, At);
  else
    construct(Object, Base->getDefinition(), Inherited, Arguments, At);
  initialiseFields(Object, Class);
}

/// What \p Definition lists before its body, and the fields that it leaves as
/// they are.
void Interpreter::runInitialisers(const Cell &Object,
                                  const CXXRecordDecl *Class,
                                  const CXXConstructorDecl *Definition,
                                  SourceLocation At) {
  Fields &Members = membersOf(Object);
  for (const CXXCtorInitializer *Init : Definition->inits()) {
    if (Halted)
      return;
    if (Init->isDelegatingInitializer()) {
      if (const auto *To =
              dyn_cast<CXXConstructExpr>(cpp::peel(Init->getInit())))
        construct(Object, Class, To->getConstructor(),
                  evalAll(cpp::writtenArguments(To)), At);
    } else if (Init->isBaseInitializer()) {
      constructBase(Object, QualType(Init->getBaseClass(), 0), Init->getInit(),
                    At);
    } else if (const FieldDecl *Field = Init->getAnyMember()) {
      setField(Members, Field,
               coerced(convert(eval(Init->getInit()), Field->getType()),
                       Field->getType(), Field->getLocation()));
    }
  }
  for (const FieldDecl *Field : Class->fields())
    if (!Members.count(Field->getCanonicalDecl()))
      Members[Field->getCanonicalDecl()] =
          defaultValue(Field->getType(), Field->getLocation());
}

void Interpreter::construct(const Cell &Object, const CXXRecordDecl *Class,
                            const CXXConstructorDecl *Constructor,
                            ArrayRef<Cell> Arguments, SourceLocation At) {
  Frame Callee;
  Callee.This = Object;
  Frames.push_back(&Callee);
  ++Calls;
  const auto Leave = llvm::make_scope_exit([&] {
    Frames.pop_back();
    --Calls;
  });
  if (Calls > MaxCalls) {
    note(At, "constructors nest deeper than " + Twine(MaxCalls) +
                 ", and were followed no further");
    return;
  }
  if (const CXXConstructorDecl *Inherited = inheritedBy(Class, Constructor))
    return constructInherited(Object, Class, Inherited, Arguments, At);
  if (!Constructor || (Constructor->isDefaulted() && Arguments.empty()) ||
      Constructor->isImplicit())
    return constructPlainly(Object, Class, At);
  const auto *Definition =
      dyn_cast_or_null<CXXConstructorDecl>(definitionOf(Constructor));
  if (!Definition) {
    note(Constructor->getLocation(), "the constructor of '" +
                                         Class->getNameAsString() +
                                         "' is defined in another file");
    return;
  }
  if (!bindParameters(Callee, Definition, Arguments))
    return;
  runInitialisers(Object, Class, Definition, At);
  if (!Halted)
    exec(Definition->getBody());
}

} // namespace libtorch_tidy::bytes
