//===- ModuleCalls.cpp - What LibTorch's functions do to modules ----------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/bytes/interpret/Interpreter.h"
#include "analysis/bytes/library/ModuleApi.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::bytes {

/// Of a child or tensor whose name is not known.
static constexpr char UnknownName[] = "?";

/// The name that a method is given first.
static std::string firstName(ArrayRef<Cell> Arguments) {
  return !Arguments.empty() && Arguments.front()->What == Value::Text
             ? Arguments.front()->Name
             : UnknownName;
}

/// The place of \p Name in \p From, children or tensors.
template <typename List> static auto findNamed(List &From, StringRef Name) {
  return llvm::find_if(From,
                       [&](const auto &Each) { return Each.Name == Name; });
}

/// Are children or tensors registered with that name?
template <typename List> static bool hasNamed(List &In, StringRef Name) {
  return Name != UnknownName && findNamed(In, Name) != In.end();
}

static bool mayRegister(Interpreter &VM, StringRef Name, StringRef What,
                        SourceLocation At) {
  if (Name == UnknownName || isRegistrableName(Name))
    return true;
  VM.fail(At,
          "a " + What + " cannot be registered as '" + Name + "': it throws");
  return false;
}

static void addChild(Interpreter &VM, ModuleInstance &M, StringRef Name,
                     const Cell &Child, SourceLocation At) {
  if (Child->What == Value::Null)
    return;
  if (Child->What != Value::Module) {
    M.IsIncomplete = true;
    VM.note(At, "what is registered as '" + Name + "' is not known" +
                    VM.because(Child));
    return;
  }
  if (hasNamed(M.Children, Name))
    return VM.fail(At, "'" + Name + "' is registered twice, which throws");
  M.Children.push_back({Name.str(), Child->Held});
}

static void addTensor(Interpreter &VM, ModuleInstance &M, bool IsParameter,
                      StringRef Name, const Cell &Given,
                      std::optional<bool> RequiresGrad, SourceLocation At) {
  TensorPtr Handle;
  if (Given->What == Value::Tensor) {
    Handle = Given->Handle;
  } else {
    Handle = std::make_shared<TensorInstance>();
    Handle->Shape.Type = std::nullopt;
  }
  if (!Handle->Shape.bytes()) {
    M.IsIncomplete = true;
    VM.note(At, "the size of '" + Name + "' is not known" + VM.because(Given));
  }
  auto &Tensors = IsParameter ? M.Parameters : M.Buffers;
  if (hasNamed(Tensors, Name))
    return VM.fail(At, "'" + Name + "' is registered twice, which throws");
  if (IsParameter && Handle->Shape.Defined) {
    Handle->RequiresGrad = RequiresGrad;
    if (!RequiresGrad)
      VM.note(At, "whether '" + Name + "' gets a gradient is not known");
  }
  Tensors.push_back({Name.str(), std::move(Handle)});
}

/// push_back(module), push_back(name, module), an element of a list of either.
void append(Interpreter &VM, ModuleInstance &M, ArrayRef<Cell> Arguments,
            SourceLocation At) {
  if (Arguments.empty())
    return;
  if (Arguments.size() == 1 && Arguments.front()->What == Value::List)
    return append(VM, M, Arguments.front()->Elements, At);
  const bool OfParameters = isParameterContainer(M.ClassName);
  std::string Name = std::to_string(elementCount(M));
  // A list of parameters does not keep the names that it is given.
  if (Arguments.size() > 1 && (!OfParameters || isDictionary(M.ClassName)))
    Name = firstName(Arguments);
  if (!mayRegister(VM, Name, OfParameters ? "tensor" : "module", At))
    return;
  const Cell &Added = Arguments.back();
  if (OfParameters)
    addTensor(VM, M, true, Name, Added,
              Added->What == Value::Tensor ? Added->Handle->RequiresGrad : true,
              At);
  else
    addChild(VM, M, Name, Added, At);
}

void appendAll(Interpreter &VM, ModuleInstance &M, const Cell &Elements,
               SourceLocation At) {
  if (Elements->What == Value::Module) {
    for (const auto &[Name, Element] : elementsOf(*Elements->Held)) {
      if (isDictionary(M.ClassName))
        append(VM, M, {text(Name), Element}, At);
      else
        append(VM, M, {Element}, At);
    }
    return;
  }
  if (Elements->What != Value::List) {
    M.IsIncomplete = true;
    VM.note(At, "the elements of a list are not known" + VM.because(Elements));
    return;
  }
  for (const Cell &Element : std::vector(Elements->Elements)) {
    if (!VM.step(At))
      return;
    append(VM, M, {Element}, At);
  }
}

using VisitModule = llvm::function_ref<void(const ModulePtr &, StringRef)>;

static void visitModules(const ModulePtr &M, const std::string &Prefix,
                         std::set<const ModuleInstance *> &Seen,
                         VisitModule Visit) {
  if (!Seen.insert(M.get()).second)
    return;
  Visit(M, Prefix);
  for (const ModuleInstance::Child &Child : M->Children)
    visitModules(Child.Module, Prefix + Child.Name + ".", Seen, Visit);
}

/// Calls \p Visit for \p M and what is below it, each once, with what the names
/// in it begin with.
static void forEachModule(const ModulePtr &M, VisitModule Visit) {
  std::set<const ModuleInstance *> Seen;
  visitModules(M, "", Seen, Visit);
}

void convertModule(const ModulePtr &Root,
                   std::optional<torch::ElementType> Type) {
  forEachModule(Root, [&](const ModulePtr &M, StringRef) {
    for (auto *Tensors : {&M->Parameters, &M->Buffers})
      for (ModuleInstance::Tensor &T : *Tensors) {
        T.Handle->Shape.Type = Type;
        T.Handle->Memory = nullptr;
      }
  });
}

/// The list that \p Act asks \p M for.
static std::vector<Cell> listed(ModuleAct Act, const ModulePtr &M) {
  std::vector<Cell> Found;
  switch (Act) {
  case ModuleAct::Keys:
  case ModuleAct::Values:
    for (const auto &[Name, Element] : elementsOf(*M))
      Found.push_back(Act == ModuleAct::Keys ? text(Name) : Element);
    return Found;
  case ModuleAct::Modules:
    forEachModule(M, [&](const ModulePtr &Each, StringRef) {
      Found.push_back(moduleValue(Each));
    });
    return Found;
  case ModuleAct::Children:
  case ModuleAct::NamedChildren:
    for (const ModuleInstance::Child &Child : M->Children) {
      const Cell Module = moduleValue(Child.Module);
      Found.push_back(Act == ModuleAct::Children
                          ? Module
                          : listOf({text(Child.Name), Module}));
    }
    return Found;
  default:
    break;
  }
  const bool Named =
      Act == ModuleAct::NamedParameters || Act == ModuleAct::NamedBuffers;
  const bool OfParameters =
      Act == ModuleAct::NamedParameters || Act == ModuleAct::Parameters;
  forEachModule(M, [&](const ModulePtr &Each, StringRef Prefix) {
    for (const ModuleInstance::Tensor &T :
         OfParameters ? Each->Parameters : Each->Buffers) {
      const Cell Handle = tensorValue(T.Handle);
      Found.push_back(Named ? listOf({text(Prefix.str() + T.Name), Handle})
                            : Handle);
    }
  });
  return Found;
}

/// What is registered as \p Name is taken away, and given. Null: there is none.
static Cell takenFrom(ModuleInstance &M, StringRef Name) {
  auto TakeFrom = [&](auto &List, auto ToCell) -> Cell {
    const auto It = findNamed(List, Name);
    if (It == List.end())
      return nullptr;
    const Cell Taken = ToCell(*It);
    List.erase(It);
    return Taken;
  };
  if (isParameterContainer(M.ClassName))
    return TakeFrom(M.Parameters, [](const ModuleInstance::Tensor &T) {
      return tensorValue(T.Handle);
    });
  return TakeFrom(M.Children, [](const ModuleInstance::Child &C) {
    return moduleValue(C.Module);
  });
}

/// insert(place, module), or insert(key, element) of the dictionary \p This.
static Cell insertInto(Interpreter &VM, const Cell &This,
                       ArrayRef<Cell> Arguments, SourceLocation At) {
  ModuleInstance &M = *This->Held;
  if (Arguments[0]->What == Value::Text) {
    append(VM, M, Arguments, At);
    return isParameterContainer(M.ClassName) ? Arguments[1] : This;
  }
  const size_t Before = M.Children.size();
  append(VM, M, {Arguments[1]}, At);
  // The others move up, and are renamed.
  const std::optional<size_t> Place = indexIn(Arguments[0], Before + 1);
  if (Place && M.Children.size() > Before) {
    std::rotate(M.Children.begin() + *Place, M.Children.end() - 1,
                M.Children.end());
    for (size_t I = 0; I < M.Children.size(); ++I)
      M.Children[I].Name = std::to_string(I);
  }
  return This;
}

/// A call of a module's method where the module is not known.
static Cell callOfNoModule(Interpreter &VM, const LibraryCall &C,
                           const Cell &This) {
  if (C.OnModule == ModuleAct::Same)
    return This ? This : C.Nothing;
  if (C.OnModule == ModuleAct::IsEmpty && This && This->What == Value::Null)
    return integer(1);
  if (addsToModule(C.OnModule))
    VM.note(C.At, "the module that '" + C.Name + "' adds to is not known" +
                      (This ? VM.because(This) : ""));
  return This && This->What == Value::Unknown ? This : C.Nothing;
}

/// A change of what is registered in \p This. Null for other calls.
static Cell changeModule(Interpreter &VM, const LibraryCall &C,
                         const Cell &This) {
  ModuleInstance &M = *This->Held;
  const std::string Name = firstName(C.Arguments);
  const Cell Second = C.Arguments.size() < 2 ? nullptr : C.Arguments[1];
  switch (C.OnModule) {
  case ModuleAct::RegisterModule:
    if (!Second)
      return C.Nothing;
    if (mayRegister(VM, Name, "module", C.At))
      addChild(VM, M, Name, Second, C.At);
    return Second;
  case ModuleAct::RegisterParameter:
  case ModuleAct::RegisterBuffer:
    if (!Second)
      return C.Nothing;
    if (mayRegister(VM, Name, "tensor", C.At))
      addTensor(VM, M, C.OnModule == ModuleAct::RegisterParameter, Name, Second,
                C.Arguments.size() > 2 ? truth(C.Arguments[2]) : true, C.At);
    return Second;
  case ModuleAct::ReplaceModule: {
    if (!Second)
      return C.Nothing;
    const auto It = findNamed(M.Children, Name);
    if (It == M.Children.end() || Second->What != Value::Module) {
      VM.fail(C.At, "what '" + C.Name + "' replaces is not known");
      return C.Nothing;
    }
    It->Module = Second->Held;
    return Second;
  }
  case ModuleAct::Unregister: {
    const Cell Taken = takenFrom(M, Name);
    if (!Taken)
      VM.fail(C.At, "what '" + C.Name + "' takes away is not known");
    return Taken ? Taken : C.Nothing;
  }
  case ModuleAct::Clear:
    M.Children.clear();
    if (isParameterContainer(M.ClassName))
      M.Parameters.clear();
    return C.Nothing;
  case ModuleAct::Append:
    append(VM, M, C.Arguments, C.At);
    return This;
  case ModuleAct::Extend:
  case ModuleAct::Update:
    if (!C.Arguments.empty())
      appendAll(VM, M, C.Arguments.front(), C.At);
    return This;
  case ModuleAct::Insert:
    return Second ? insertInto(VM, This, C.Arguments, C.At) : C.Nothing;
  default:
    return nullptr;
  }
}

/// What a call asks \p This for. Null for other calls.
static Cell askModule(const LibraryCall &C, const Cell &This) {
  const ModulePtr &M = This->Held;
  switch (C.OnModule) {
  case ModuleAct::Element:
    return C.Arguments.empty() ? This : element(This, C.Arguments.front(), C.E);
  case ModuleAct::Same:
    return This;
  case ModuleAct::Size:
    return integer(elementCount(*M));
  case ModuleAct::Contains: {
    const std::string Key = firstName(C.Arguments);
    if (Key == UnknownName)
      return C.Nothing;
    return integer(llvm::any_of(elementsOf(*M), [&](const auto &Element) {
      return Element.first == Key;
    }));
  }
  case ModuleAct::IsEmpty: {
    // A holder or AnyModule asks whether it holds something.
    const ModelClass Kind = modelClass(cast<CXXMethodDecl>(C.F)->getParent());
    return integer(Kind != ModelClass::Holder &&
                   Kind != ModelClass::AnyModule && !elementCount(*M));
  }
  case ModuleAct::IsTraining:
    return integer(M->IsTraining);
  case ModuleAct::Modules: {
    std::vector<Cell> All = listed(C.OnModule, M);
    if (!C.Arguments.empty() && truth(C.Arguments.front()) == false)
      All.erase(All.begin());
    return listOf(std::move(All));
  }
  case ModuleAct::Keys:
  case ModuleAct::Values:
  case ModuleAct::Parameters:
  case ModuleAct::NamedParameters:
  case ModuleAct::Buffers:
  case ModuleAct::NamedBuffers:
  case ModuleAct::Children:
  case ModuleAct::NamedChildren:
    return listOf(listed(C.OnModule, M));
  default:
    return nullptr;
  }
}

Cell callModule(Interpreter &VM, LibraryCall C) {
  const Cell This = targetOf(C.Object);
  C.Nothing = unknown(C.At, "what '" + C.Name + "' returns");
  const auto *Method = cast<CXXMethodDecl>(C.F);
  if (C.OnModule == ModuleAct::FromPretrained)
    return moduleValue(makePretrained(VM, Method, C.Arguments, C.At));
  if (!This || This->What != Value::Module)
    return callOfNoModule(VM, C, This);
  if (Cell Result = changeModule(VM, C, This))
    return Result;
  if (Cell Result = askModule(C, This))
    return Result;
  const ModulePtr M = This->Held;
  switch (C.OnModule) {
  case ModuleAct::Clone:
    return moduleValue(cloneOf(VM, M));
  case ModuleAct::Convert: {
    std::optional<torch::ElementType> Type;
    for (const Cell &Argument : C.Arguments)
      if (Argument->What == Value::Type)
        Type = Argument->Element;
    if (!Type)
      VM.note(C.At, "the type that 'to' converts to is not known");
    convertModule(M, Type);
    return C.Nothing;
  }
  case ModuleAct::Forward: {
    if (!VM.Pass)
      return C.Nothing;
    // A class of LibTorch's names its own forward(), which is not virtual.
    const CXXRecordDecl *Own = Method->getParent();
    const bool IsDerived = M->Class && !torch::isTorchDecl(M->Class);
    return torch::isModuleClass(Own) && IsDerived
               ? forwardOfLibrary(VM, M, modelClassName(Own), C.Arguments, C.At)
               : forward(VM, M, C.Arguments, C.At);
  }
  case ModuleAct::Train:
  case ModuleAct::Eval: {
    const bool On =
        C.OnModule == ModuleAct::Train &&
        (C.Arguments.empty() || truth(C.Arguments.front()).value_or(true));
    forEachModule(
        M, [&](const ModulePtr &Each, StringRef) { Each->IsTraining = On; });
    return C.Nothing;
  }
  default:
    skipClosures(VM, C.Arguments, C.At); // apply(function)
    return C.Nothing;
  }
}

} // namespace libtorch_tidy::bytes
