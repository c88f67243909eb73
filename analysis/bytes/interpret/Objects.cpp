//===- Objects.cpp - Objects of classes -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Interpreter.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/DeclTemplate.h"

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::bytes {

/// The enumerator of \p Type that a text of the command line calls \p Name.
static Cell enumeratorOf(const EnumDecl *Type, StringRef Name,
                         SourceLocation At) {
  for (const EnumConstantDecl *Each : Type->enumerators())
    if (Each->getName() == Name)
      return integer(Each->getInitVal().getExtValue());
  return unknown(At, "'" + Name + "', which is no '" + Type->getName() + "'");
}

/// The elements of a list of the command line, as the container \p R takes
/// them.
static Cell coercedElements(Interpreter &VM, const Cell &List,
                            const CXXRecordDecl *R, SourceLocation At) {
  const QualType T =
      cpp::isStdClass(R, {"vector", "array", "initializer_list", "deque"})
          ? typeArgument(R, 0)
          : QualType();
  const CXXRecordDecl *Of = T.isNull() ? nullptr : T->getAsCXXRecordDecl();
  const bool IsOfUsers = Of && !cpp::isOfLibrary(Of);
  if (T.isNull() || !(IsOfUsers || T->isEnumeralType()) ||
      llvm::none_of(List->Elements, [](const Cell &V) {
        return V->What == Value::List || V->What == Value::Other;
      }))
    return List;
  std::vector<Cell> Elements;
  for (const Cell &V : List->Elements)
    Elements.push_back(coerced(VM, V, T, At));
  return listOf(std::move(Elements));
}

/// The object of \p R whose members are those of \p List, as titles of models
/// show one; \p Otherwise where it has not as many.
static Cell ofMembers(Interpreter &VM, const Cell &List, const CXXRecordDecl *R,
                      SourceLocation At, const Cell &Otherwise) {
  if (List->Elements.size() !=
      size_t(std::distance(R->field_begin(), R->field_end())))
    return Otherwise;
  const Cell Object = valueOf(Value::Record, &Value::Class, R);
  for (const auto &[Field, V] : llvm::zip(R->fields(), List->Elements))
    Object->Members[Field->getCanonicalDecl()] =
        VM.copyOf(coerced(VM, V, Field->getType(), At));
  return Object;
}

Cell coerced(Interpreter &VM, const Cell &From, QualType To,
             SourceLocation At) {
  const Cell Given = convert(VM, From, To);
  To = To.getNonReferenceType();
  if (const auto *Enum = dyn_cast_or_null<EnumDecl>(To->getAsTagDecl());
      Enum && Given->What == Value::Other && !Given->Name.empty())
    return enumeratorOf(Enum, Given->Name, At);
  const CXXRecordDecl *R = To->getAsCXXRecordDecl();
  if (!R || Given->What == Value::Unknown)
    return Given;
  R = R->getDefinition();
  const ModelClass Kind = modelClass(R);
  if (Given->What == Value::List && R && cpp::isStdDecl(R))
    return coercedElements(VM, Given, R, At);
  // A list in a text of the command line can stand for an object.
  const bool IsUsers = R && !cpp::isOfLibrary(R) && !R->isLambda();
  if (Given->What == Value::List && IsUsers && Kind == ModelClass::Other) {
    if (Given->Settings.empty()) {
      const Cell Made = makeObject(VM, R, Given->Elements, {}, nullptr, At);
      return Made->What == Value::Unknown ? ofMembers(VM, Given, R, At, Made)
                                          : Made;
    }
    // With names: {.width = 64}.
    const Cell Object = makeObject(VM, R, {}, {}, nullptr, At);
    for (const auto &[Name, Setting] : Given->Settings) {
      const FieldDecl *Named = nullptr;
      for (const FieldDecl *Field : R->fields())
        if (Field->getName() == Name)
          Named = Field;
      if (!Named || Object->What != Value::Record)
        return unknown(At, "'" + Name + "', which no '" + R->getNameAsString() +
                               "' has");
      Object->Members[Named->getCanonicalDecl()] =
          VM.copyOf(coerced(VM, Setting, Named->getType(), At));
    }
    return Object;
  }
  if (Kind == ModelClass::Options && Given->What != Value::Options)
    return makeOptions(VM, R, {Given});
  return Given;
}

Cell defaultValue(Interpreter &VM, QualType Type, SourceLocation At) {
  if (const auto *Array =
          dyn_cast<ConstantArrayType>(Type.getCanonicalType())) {
    const uint64_t Size = Array->getSize().getLimitedValue(MaxElements + 1);
    if (Size > MaxElements)
      return unknown(At, "an array that is too large");
    std::vector<Cell> Elements;
    for (uint64_t I = 0; I < Size && VM.step(At); ++I)
      Elements.push_back(defaultValue(VM, Array->getElementType(), At));
    return listOf(std::move(Elements));
  }
  const CXXRecordDecl *R = VM.definitionOf(Type->getAsCXXRecordDecl());
  return R ? makeObject(VM, R, {}, {}, nullptr, At)
           : unknown(At, "what is not initialised");
}

Cell newElement(Interpreter &VM, QualType Type, SourceLocation At) {
  if (Type.isNull())
    return unknown(At, "an element");
  return Type->isArithmeticType() ? convert(VM, integer(0), Type)
                                  : defaultValue(VM, Type, At);
}

/// A holder of what it is given, or of a new module.
static Cell makeHolder(Interpreter &VM, const CXXRecordDecl *Class,
                       ArrayRef<Cell> Arguments, ArrayRef<QualType> Types,
                       SourceLocation At) {
  const CXXRecordDecl *Held = VM.definitionOf(heldBy(Class));
  if (!Held)
    return unknown(At, "a module of a class that is not defined here");
  auto IsHeld = [&](const CXXRecordDecl *R) {
    return R && R->hasDefinition() &&
           (R->getDefinition() == Held || R->isDerivedFrom(Held));
  };
  if (Arguments.size() == 1) {
    const Cell &Only = Arguments.front();
    if (Only->What == Value::Null ||
        (Only->What == Value::Module && IsHeld(Only->Held->Class)) ||
        (Only->What == Value::Unknown && !Types.empty() &&
         torch::isModule(Types.front()) &&
         IsHeld(cpp::recordOf(cpp::pointeeOf(Types.front())))))
      return Only;
  }
  // One that nothing can be made for holds nothing.
  if (Arguments.empty() && !constructorFor(Held, {})) {
    const bool NeedsOptions =
        modelClass(Held) == ModelClass::LibraryModule
            ? !positionalOptions(modelClassName(Held)).empty()
            : !Held->needsImplicitDefaultConstructor();
    if (NeedsOptions)
      return valueOf(Value::Null);
  }
  return makeObject(VM, Held, Arguments, Types, nullptr, At);
}

static Cell makeUserModule(Interpreter &VM, const CXXRecordDecl *Class,
                           ArrayRef<Cell> Arguments, ArrayRef<QualType> Types,
                           const CXXConstructorDecl *Constructor,
                           SourceLocation At) {
  if (!Constructor || Constructor->getParent() != Class)
    Constructor = constructorFor(Class, Arguments, Types);
  // It is copied, or moved: its tensors stay where they are.
  if (!Constructor && Arguments.size() == 1 &&
      Arguments.front()->What == Value::Module &&
      Arguments.front()->Held->Class == Class)
    return Arguments.front();
  const std::string Name = "'" + Class->getNameAsString() + "'";
  if (!Constructor && !libraryConstructs(Class) &&
      !(Arguments.empty() && Class->needsImplicitDefaultConstructor())) {
    VM.note(At, "no constructor of " + Name + " is seen to take what is given");
    return unknown(At, "a " + Name);
  }
  const ModulePtr M = newModule(VM, shownName(Class), Class, At);
  if (VM.Halted)
    return moduleValue(M);
  if (VM.OnModule && !VM.current())
    VM.OnModule(M, Arguments, At);
  construct(VM, moduleValue(M), Class, Constructor, Arguments, At);
  M->Class = Class;
  return moduleValue(M);
}

/// A container, of elements, of a range or of a number of elements.
static Cell makeContainer(Interpreter &VM, const CXXRecordDecl *Class,
                          ArrayRef<Cell> Arguments, SourceLocation At) {
  if (Arguments.empty())
    return listOf({});
  const Cell &First = Arguments.front();
  const size_t Count = Arguments.size();
  if (First->What == Value::Unknown ||
      (First->What == Value::List && Count == 1))
    return First;
  if (Count == 2)
    if (std::optional<std::vector<Cell>> Range =
            elementsBetween(First, Arguments[1]))
      return listOf(VM.copiesOf(*Range));
  if (First->What != Value::Integer || First->Number < 0 || Count > 2)
    return unknown(At, "a container");
  if (static_cast<uint64_t>(First->Number) > MaxElements)
    return unknown(At, "a container that is too large");
  const QualType Element = typeArgument(Class, 0);
  std::vector<Cell> Elements;
  for (int64_t I = 0; I < First->Number && VM.step(At); ++I)
    Elements.push_back(Count == 2 ? VM.copyOf(Arguments[1])
                                  : newElement(VM, Element, At));
  return listOf(std::move(Elements));
}

/// An object of a class of the standard library.
static Cell makeStandard(Interpreter &VM, const CXXRecordDecl *Class,
                         ArrayRef<Cell> Arguments, SourceLocation At) {
  const Cell Only = Arguments.size() == 1 ? Arguments.front() : nullptr;
  if (cpp::isStdClass(Class, cpp::StdClass::Tuple)) {
    std::vector<Cell> Parts = VM.copiesOf(Arguments);
    return Only && Only->What == Value::List ? Only : listOf(std::move(Parts));
  }
  if (cpp::isStdClass(Class, {"basic_string", "basic_string_view"}))
    return Arguments.empty()                        ? text("")
           : Arguments.front()->What == Value::Text ? Arguments.front()
                                                    : unknown(At, "a string");
  if (cpp::isStdClass(Class, {"basic_ifstream", "basic_fstream"}))
    return unknown(At, "what a file has");
  if (cpp::isStdClass(Class, {"vector", "deque", "list", "array", "map",
                              "unordered_map", "set", "initializer_list"}))
    return makeContainer(VM, Class, Arguments, At);
  return Only                ? Only
         : Arguments.empty() ? valueOf(Value::Null)
                             : unknown(At, "an object");
}

/// An object of another class of LibTorch's: ExpandingArray, ArrayRef,
/// optional, Device.
static Cell makeOfLibrary(Interpreter &VM, const CXXRecordDecl *Class,
                          ArrayRef<Cell> Arguments) {
  if (Arguments.empty() && isArrayRef(Class))
    return listOf({});
  if (Cell Guard = guardOf(VM, Class, Arguments))
    return Guard;
  if (Cell Data = makeData(VM, Class, Arguments))
    return Data;
  if (Cell Optimizer = makeOptimizer(Class, Arguments))
    return Optimizer;
  return Arguments.size() == 1
             ? Arguments.front()
             : valueOf(Arguments.empty() ? Value::Null : Value::Other);
}

Cell initialValue(Interpreter &VM, const FieldDecl *Field) {
  if (const Expr *Init = Field->getInClassInitializer())
    return convert(VM, VM.eval(Init), Field->getType());
  return defaultValue(VM, Field->getType(), Field->getLocation());
}

/// The fields of an aggregate, from \p Arguments in their order.
static void fillAggregate(Interpreter &VM, const Cell &Object,
                          const CXXRecordDecl *Class, ArrayRef<Cell> Arguments,
                          SourceLocation At) {
  unsigned I = 0;
  for (const FieldDecl *Field : Class->fields()) {
    const QualType Type = Field->getType();
    Cell Given;
    if (I < Arguments.size())
      Given = coerced(VM, Arguments[I], Type, At);
    else if (Type->isArithmeticType() && !Arguments.empty() &&
             !Field->getInClassInitializer())
      Given = convert(VM, integer(0), Type);
    else
      Given = initialValue(VM, Field);
    Object->Members[Field->getCanonicalDecl()] = VM.copyOf(Given);
    ++I;
  }
}

/// An object of a class of the user's that is not a module.
static Cell makeRecord(Interpreter &VM, const CXXRecordDecl *Class,
                       ArrayRef<Cell> Arguments,
                       const CXXConstructorDecl *Constructor,
                       SourceLocation At) {
  const Cell Object = valueOf(Value::Record, &Value::Class, Class);
  if (!Constructor)
    Constructor = constructorFor(Class, Arguments);
  if (!Constructor && Class->isAggregate()) {
    fillAggregate(VM, Object, Class, Arguments, At);
    return Object;
  }
  if (!Constructor && !Class->needsImplicitDefaultConstructor())
    return unknown(At, "a '" + Class->getNameAsString() + "'");
  construct(VM, Object, Class, Constructor, Arguments, At);
  Object->Class = Class;
  return Object;
}

/// TensorOptions of \p Arguments of \p Types.
static Cell tensorOptions(ArrayRef<Cell> Arguments, ArrayRef<QualType> Types) {
  const Cell Options = valueOf(Value::Options);
  const Cell Only = Arguments.size() == 1 ? Arguments.front() : nullptr;
  if (Only && (Only->What == Value::Type || Only->What == Value::Options))
    Options->Element = Only->Element;
  else if (Only && Only->What == Value::Unknown && !Types.empty() &&
           decidesElementType(Types.front()))
    return Only;
  return Options;
}

Cell makeObject(Interpreter &VM, const CXXRecordDecl *Class,
                ArrayRef<Cell> Arguments, ArrayRef<QualType> Types,
                const CXXConstructorDecl *Constructor, SourceLocation At) {
  const Cell Only = Arguments.size() == 1 ? Arguments.front() : nullptr;
  switch (modelClass(Class)) {
  case ModelClass::Holder:
    return makeHolder(VM, Class, Arguments, Types, At);
  case ModelClass::LibraryModule: {
    const ModulePtr M =
        makeLibraryModule(VM, modelClassName(Class), Arguments, At);
    M->Class = Class;
    if (VM.OnModule && !VM.current())
      VM.OnModule(M, Arguments, At);
    return moduleValue(M);
  }
  case ModelClass::Base:
    return moduleValue(newModule(VM, "Module", Class, At));
  case ModelClass::UserModule:
    return makeUserModule(VM, Class, Arguments, Types, Constructor, At);
  case ModelClass::AnyModule:
    return Only ? Only : valueOf(Value::Null);
  case ModelClass::NamedModule:
  case ModelClass::Dictionary:
    return Only ? Only : listOf(Arguments.vec());
  case ModelClass::Options:
    return makeOptions(VM, Class, Arguments);
  case ModelClass::Tensor:
    return Only ? Only : tensorValue(undefinedTensor());
  case ModelClass::TensorOptions:
    return tensorOptions(Arguments, Types);
  case ModelClass::Other:
    break;
  }
  if (cpp::isStdDecl(Class))
    return makeStandard(VM, Class, Arguments, At);
  if (!torch::isTorchDecl(Class))
    return makeRecord(VM, Class, Arguments, Constructor, At);
  return cpp::nameOf(Class) == "Slice" // torch::indexing::Slice
             ? valueOf(Value::Slice, &Value::Elements, Arguments.vec())
             : makeOfLibrary(VM, Class, Arguments);
}

} // namespace libtorch_tidy::bytes
