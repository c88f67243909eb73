//===- LibraryModules.cpp - LibTorch's modules, and their options ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Interpreter.h"

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

/// Of one model: a thousand times what large ones have.
static constexpr unsigned MaxModules = 50'000;

ModulePtr newModule(Interpreter &VM, StringRef ClassName,
                    const CXXRecordDecl *Class, SourceLocation At) {
  auto M = std::make_shared<ModuleInstance>();
  M->ClassName = ClassName.str();
  M->Class = Class;
  M->Made = At;
  if (++VM.Modules > MaxModules)
    VM.limit(At, "there are more than " + Twine(MaxModules) +
                     " modules; no more are followed");
  return M;
}

std::vector<std::pair<std::string, Cell>> elementsOf(const ModuleInstance &M) {
  std::vector<std::pair<std::string, Cell>> Result;
  if (!isParameterContainer(M.ClassName))
    for (const auto &[Name, Module] : M.Children)
      Result.emplace_back(Name, moduleValue(Module));
  else
    for (const auto &[Name, Handle] : M.Parameters)
      Result.emplace_back(Name, tensorValue(Handle));
  return Result;
}

Cell elementOf(const ModuleInstance &M, size_t Index) {
  const bool OfParameters = isParameterContainer(M.ClassName);
  const Cell Element = OfParameters ? tensorValue(M.Parameters[Index].Handle)
                                    : moduleValue(M.Children[Index].Module);
  const std::string &Name =
      OfParameters ? M.Parameters[Index].Name : M.Children[Index].Name;
  return givesPairs(M.ClassName) ? listOf({text(Name), Element}) : Element;
}

size_t elementCount(const ModuleInstance &M) {
  return isParameterContainer(M.ClassName) ? M.Parameters.size()
                                           : M.Children.size();
}

TensorPtr undefinedTensor() {
  auto T = std::make_shared<TensorInstance>();
  T->Shape.Defined = false;
  return T;
}

/// A copy of all that \p M has, as clone() makes it.
ModulePtr cloneOf(Interpreter &VM, const ModulePtr &M) {
  ModulePtr Copy = newModule(VM, M->ClassName, M->Class, M->Made);
  Copy->Settings = M->Settings;
  Copy->Members = M->Members;
  Copy->IsIncomplete = M->IsIncomplete;
  if (VM.Halted)
    return Copy;
  for (auto List : {&ModuleInstance::Children, &ModuleInstance::Unlisted})
    for (const ModuleInstance::Child &Child : (*M).*List)
      ((*Copy).*List).push_back({Child.Name, cloneOf(VM, Child.Module)});
  for (auto List : {&ModuleInstance::Parameters, &ModuleInstance::Buffers})
    for (const auto &[Name, Handle] : (*M).*List) {
      auto T = std::make_shared<TensorInstance>(); // Without its memory.
      T->Shape = Handle->Shape;
      T->RequiresGrad = Handle->RequiresGrad;
      ((*Copy).*List).push_back({Name, std::move(T)});
    }
  // Its members are handles of what it has.
  for (auto &[Field, Member] : Copy->Members) {
    for (auto List : {&ModuleInstance::Parameters, &ModuleInstance::Buffers})
      for (size_t I = 0; I < ((*M).*List).size(); ++I)
        if (Member->What == Value::Tensor &&
            Member->Handle == ((*M).*List)[I].Handle)
          Member = tensorValue(((*Copy).*List)[I].Handle);
    if (Member->What == Value::Module)
      for (size_t I = 0; I < M->Children.size(); ++I)
        if (M->Children[I].Module == Member->Held)
          Member = moduleValue(Copy->Children[I].Module);
  }
  return Copy;
}

/// Registers what LibTorch's \p Class registers with the settings of \p M.
static void fillLibraryModule(Interpreter &VM, ModuleInstance &M,
                              StringRef Class, SourceLocation At) {
  OptionValues Options = M.Settings;
  for (auto &[Name, Setting] : Options)
    if (Setting->What == Value::Options) {
      // TransformerEncoder makes a layer of the options of one.
      const ModulePtr Layer = newModule(VM, Setting->Name, nullptr, At);
      Layer->Settings = Setting->Settings;
      fillLibraryModule(VM, *Layer, Setting->Name, At);
      Setting = moduleValue(Layer);
    }
  if (!registerContents(VM, M, Class, Options)) {
    M.IsIncomplete = true;
    VM.note(At, "what '" + Class + "' registers is not known");
    return;
  }
  // The weight that it is given is its parameter.
  if (const Cell Weight = settingOf(M.Settings, "_weight");
      Weight && Weight->What == Value::Tensor)
    for (ModuleInstance::Tensor &T : M.Parameters)
      if (T.Name == "weight") {
        T.Handle = Weight->Handle;
        T.Handle->RequiresGrad = true;
      }
}

/// Embedding::from_pretrained(weight, options), or of an EmbeddingBag.
ModulePtr makePretrained(Interpreter &VM, const CXXMethodDecl *Method,
                         ArrayRef<Cell> Arguments, SourceLocation At) {
  const CXXRecordDecl *Held = heldBy(Method->getParent());
  const CXXRecordDecl *Class = Held ? Held : Method->getParent();
  const ModulePtr M = newModule(VM, modelClassName(Class), Class, At);
  if (VM.Halted || Arguments.empty())
    return M;
  if (Arguments.size() > 1)
    for (const auto &[Name, Setting] : Arguments[1]->Settings)
      M->Settings[Name] = VM.copyOf(Setting);
  const Cell &Weight = Arguments.front();
  const MaybeSizes Known = Weight->What == Value::Tensor
                               ? Weight->Handle->Shape.Sizes
                               : MaybeSizes();
  for (const auto &[I, Name] : llvm::enumerate(positionalOptions(M->ClassName)))
    M->Settings[Name.str()] = Known && Known->size() == 2 && (*Known)[I]
                                  ? integer(*(*Known)[I])
                                  : Weight;
  M->Settings["_weight"] = Weight;
  fillLibraryModule(VM, *M, M->ClassName, At);
  const Cell Freeze = settingOf(M->Settings, "freeze");
  const std::optional<bool> Freezes = Freeze ? truth(Freeze) : true;
  for (ModuleInstance::Tensor &T : M->Parameters)
    T.Handle->RequiresGrad =
        Freezes ? std::optional<bool>(!*Freezes) : std::nullopt;
  if (!Freezes)
    VM.note(At, "whether the weight of " + M->ClassName +
                    " gets a gradient is not known");
  return M;
}

/// The options of \p Class that \p Arguments are.
static OptionValues byPosition(Interpreter &VM, StringRef Class,
                               ArrayRef<Cell> Arguments) {
  OptionValues Result;
  for (const auto &[Name, Given] :
       llvm::zip(positionalOptions(Class), Arguments))
    Result[Name.str()] = VM.copyOf(Given);
  return Result;
}

ModulePtr makeLibraryModule(Interpreter &VM, StringRef Class,
                            ArrayRef<Cell> Arguments, SourceLocation At) {
  const ModulePtr M = newModule(VM, Class, nullptr, At);
  if (VM.Halted)
    return M;
  if (isModuleContainer(Class) || isParameterContainer(Class)) {
    // One list of elements, or of pairs of a name and an element; else
    // elements.
    if (Arguments.size() == 1 && Arguments.front()->What == Value::List)
      appendAll(VM, *M, Arguments.front(), At);
    else
      for (const Cell &Argument : Arguments)
        append(VM, *M, {Argument}, At);
    return M;
  }
  const Cell Only = Arguments.size() == 1 ? Arguments.front() : nullptr;
  if (Only && Only->What == Value::Options) {
    for (const auto &[Name, Setting] : Only->Settings)
      M->Settings[Name] = VM.copyOf(Setting);
  } else {
    // Layers without parameters take options of no interest here.
    M->Settings = byPosition(VM, Class, Arguments);
  }
  fillLibraryModule(VM, *M, Class, At);
  return M;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

Cell makeOptions(Interpreter &VM, const CXXRecordDecl *Class,
                 ArrayRef<Cell> Arguments) {
  const std::string Name = modelClassName(Class);
  if (Arguments.size() == 1 && Arguments.front()->What == Value::Options &&
      Arguments.front()->Name == Name)
    return VM.copyOf(Arguments.front());
  const Cell Options = valueOf(Value::Options);
  Options->Name = Name;
  Options->Settings = byPosition(VM, Name, Arguments);
  return Options;
}

/// options.stride(2) sets and returns the options, options.stride() asks.
Cell callOptions(const LibraryCall &C) {
  const std::string Name = C.Name.str();
  if (C.Object->Name.empty()) { // TensorOptions.
    const Cell Result = C.VM.copyOf(C.Object);
    if (setsRequiresGrad(C.F) && !C.Arguments.empty())
      Result->RequiresGrad = truth(C.Arguments.front()).value_or(false);
    if (setsElementOrder(C.F) && !C.Arguments.empty())
      Result->Settings[Name] = C.VM.copyOf(C.Arguments.front());
    if (setsElementType(C.F) && !C.Arguments.empty()) {
      const Cell &Type = C.Arguments.front();
      if (Type->What == Value::Unknown)
        return Type;
      Result->Element =
          Type->What == Value::Type ? Type->Element : std::nullopt;
    }
    return Result;
  }
  if (!C.Arguments.empty()) {
    C.Object->Settings[Name] = C.VM.copyOf(C.Arguments.front());
    return C.Object;
  }
  if (Cell Set = settingOf(C.Object->Settings, Name))
    return Set;
  const Cell Default = defaultOption(C.Object->Name, Name);
  return Default->What == Value::Unknown
             ? unknown(C.E->getExprLoc(), "'" + Name + "'")
             : Default;
}

} // namespace libtorch_tidy::bytes
