//===- ModuleCalls.cpp - What LibTorch's functions do to modules ----------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/model/Interpreter.h"
#include "checks/torch/Calls.h"
#include "checks/torch/ModuleApi.h"
#include "checks/torch/Modules.h"
#include "checks/torch/TorchTypes.h"

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::model {

bool Interpreter::mayRegister(StringRef Name, StringRef What,
                              SourceLocation At) {
  if (torch::isRegistrableName(Name))
    return true;
  fail(At, "a " + What + " cannot be registered as '" + Name + "': it throws");
  return false;
}

void Interpreter::addChild(ModuleInstance &M, StringRef Name, const Cell &Child,
                           SourceLocation At) {
  if (Child->What == Value::Null)
    return;
  if (Child->What != Value::Module) {
    M.IsIncomplete = true;
    note(At,
         "what is registered as '" + Name + "' is not known" + because(Child));
    return;
  }
  for (const ModuleInstance::Child &Other : M.Children)
    if (Other.Name == Name && Name != "?") {
      fail(At, "'" + Name + "' is registered twice, which throws");
      return;
    }
  M.Children.push_back({Name.str(), Child->Held});
}

void Interpreter::addTensor(ModuleInstance &M, bool IsParameter, StringRef Name,
                            const Cell &Given, std::optional<bool> RequiresGrad,
                            SourceLocation At) {
  TensorPtr Handle;
  if (Given->What == Value::Tensor) {
    Handle = Given->Handle;
  } else {
    Handle = std::make_shared<TensorInstance>();
    Handle->Shape.Type = std::nullopt;
  }
  if (!Handle->Shape.bytes()) {
    M.IsIncomplete = true;
    note(At, "the size of '" + Name + "' is not known" + because(Given));
  }
  auto &Tensors = IsParameter ? M.Parameters : M.Buffers;
  for (const ModuleInstance::Tensor &Other : Tensors)
    if (Other.Name == Name && Name != "?") {
      fail(At, "'" + Name + "' is registered twice, which throws");
      return;
    }
  if (IsParameter && Handle->Shape.Defined) {
    Handle->RequiresGrad = RequiresGrad;
    if (!RequiresGrad)
      note(At, "whether '" + Name + "' gets a gradient is not known");
  }
  Tensors.push_back({Name.str(), std::move(Handle)});
}

/// push_back(module), push_back(name, module), an element of a list of either.
void Interpreter::append(ModuleInstance &M, ArrayRef<Cell> Arguments,
                         SourceLocation At) {
  if (Arguments.empty())
    return;
  if (Arguments.size() == 1 && Arguments.front()->What == Value::List)
    return append(M, Arguments.front()->Elements, At);
  const bool OfParameters = torch::isParameterContainer(M.ClassName);
  std::string Name = std::to_string(elementCount(M));
  // A list of parameters does not keep the names that it is given.
  if (Arguments.size() > 1 &&
      (!OfParameters || torch::isDictionary(M.ClassName)))
    Name =
        Arguments.front()->What == Value::Text ? Arguments.front()->Name : "?";
  if (Name != "?" && !mayRegister(Name, OfParameters ? "tensor" : "module", At))
    return;
  const Cell &Added = Arguments.back();
  if (OfParameters)
    addTensor(M, true, Name, Added,
              Added->What == Value::Tensor ? Added->Handle->RequiresGrad : true,
              At);
  else
    addChild(M, Name, Added, At);
}

void Interpreter::appendAll(ModuleInstance &M, const Cell &Elements,
                            SourceLocation At) {
  if (Elements->What == Value::Module) {
    for (const auto &[Name, Element] : elementsOf(*Elements->Held)) {
      if (torch::isDictionary(M.ClassName))
        append(M, {text(Name), Element}, At);
      else
        append(M, {Element}, At);
    }
    return;
  }
  if (Elements->What != Value::List) {
    M.IsIncomplete = true;
    note(At, "the elements of a list are not known" + because(Elements));
    return;
  }
  for (const Cell &Element : std::vector(Elements->Elements)) {
    if (!step(At))
      return;
    append(M, {Element}, At);
  }
}

/// The tensors of \p M and what is below it, each once.
static void collectTensors(const ModulePtr &M, bool OfParameters,
                           StringRef Prefix, std::vector<Cell> &Result,
                           std::set<const ModuleInstance *> &Seen, bool Named) {
  if (!Seen.insert(M.get()).second)
    return;
  for (const ModuleInstance::Tensor &T :
       OfParameters ? M->Parameters : M->Buffers) {
    const Cell Handle = tensorValue(T.Handle);
    Result.push_back(Named ? listOf({text(Prefix.str() + T.Name), Handle})
                           : Handle);
  }
  for (const ModuleInstance::Child &Child : M->Children)
    collectTensors(Child.Module, OfParameters, Prefix.str() + Child.Name + ".",
                   Result, Seen, Named);
}

static void collectModules(const ModulePtr &M, std::vector<Cell> &Result,
                           std::set<const ModuleInstance *> &Seen) {
  if (!Seen.insert(M.get()).second)
    return;
  Result.push_back(moduleValue(M));
  for (const ModuleInstance::Child &Child : M->Children)
    collectModules(Child.Module, Result, Seen);
}

/// to(dtype) converts all parameters and buffers, integers, too.
static void convertTensors(const ModulePtr &M,
                           std::optional<torch::ElementType> Type,
                           std::set<const ModuleInstance *> &Seen) {
  if (!Seen.insert(M.get()).second)
    return;
  for (auto *Tensors : {&M->Parameters, &M->Buffers})
    for (ModuleInstance::Tensor &T : *Tensors) {
      T.Handle->Shape.Type = Type;
      T.Handle->Memory = nullptr;
    }
  for (const ModuleInstance::Child &Child : M->Children)
    convertTensors(Child.Module, Type, Seen);
}

void Interpreter::convertModule(const ModulePtr &M, torch::ElementType Type) {
  std::set<const ModuleInstance *> Seen;
  convertTensors(M, Type, Seen);
}

Cell Interpreter::callModule(const CallExpr *E, const FunctionDecl *F,
                             const Cell &Object, ArrayRef<Cell> Arguments) {
  const SourceLocation At = E->Stmt::getBeginLoc();
  const Cell This =
      Object && Object->What == Value::Pointer ? Object->Target : Object;
  const Cell Nothing =
      unknown(At, "what '" + torch::calleeName(E) + "' returns");
  const torch::ModuleAct Act = torch::moduleAct(F);
  if (Act == torch::ModuleAct::FromPretrained)
    return moduleValue(makePretrained(cast<CXXMethodDecl>(F), Arguments, At));
  if (!This || This->What != Value::Module) {
    if (Act == torch::ModuleAct::Same)
      return This ? This : Nothing;
    if (Act == torch::ModuleAct::IsEmpty && This && This->What == Value::Null)
      return integer(1);
    if (torch::addsToModule(Act))
      note(At, "the module that '" + torch::calleeName(E) +
                   "' adds to is not known" + (This ? because(This) : ""));
    return This && This->What == Value::Unknown ? This : Nothing;
  }
  const ModulePtr Handle = This->Held;
  ModuleInstance &M = *Handle;
  auto NameAt = [&](unsigned I) -> std::string {
    return I < Arguments.size() && Arguments[I]->What == Value::Text
               ? Arguments[I]->Name
               : "?";
  };
  std::set<const ModuleInstance *> Seen;
  std::vector<Cell> Found;
  switch (Act) {
  case torch::ModuleAct::RegisterModule:
    if (Arguments.size() < 2)
      return Nothing;
    if (NameAt(0) == "?" || mayRegister(NameAt(0), "module", At))
      addChild(M, NameAt(0), Arguments[1], At);
    return Arguments[1];
  case torch::ModuleAct::RegisterParameter:
  case torch::ModuleAct::RegisterBuffer: {
    if (Arguments.size() < 2)
      return Nothing;
    const bool IsParameter = Act == torch::ModuleAct::RegisterParameter;
    std::optional<bool> RequiresGrad = true;
    if (Arguments.size() > 2)
      RequiresGrad = truth(Arguments[2]);
    if (NameAt(0) == "?" || mayRegister(NameAt(0), "tensor", At))
      addTensor(M, IsParameter, NameAt(0), Arguments[1], RequiresGrad, At);
    return Arguments[1];
  }
  case torch::ModuleAct::ReplaceModule: {
    if (Arguments.size() < 2)
      return Nothing;
    auto It = llvm::find_if(M.Children, [&](const ModuleInstance::Child &C) {
      return C.Name == NameAt(0);
    });
    if (It == M.Children.end() || Arguments[1]->What != Value::Module) {
      fail(At, "what '" + torch::calleeName(E) + "' replaces is not known");
      return Nothing;
    }
    It->Module = Arguments[1]->Held;
    return Arguments[1];
  }
  case torch::ModuleAct::Clear:
    M.Children.clear();
    if (torch::isParameterContainer(M.ClassName))
      M.Parameters.clear();
    return Nothing;
  case torch::ModuleAct::Unregister: {
    auto TakeFrom = [&](auto &List, auto ToCell) {
      auto It = llvm::find_if(
          List, [&](const auto &Element) { return Element.Name == NameAt(0); });
      if (It == List.end()) {
        fail(At, "what '" + torch::calleeName(E) + "' takes away is not known");
        return Nothing;
      }
      const Cell Taken = ToCell(*It);
      List.erase(It);
      return Taken;
    };
    if (torch::isParameterContainer(M.ClassName))
      return TakeFrom(M.Parameters, [](const ModuleInstance::Tensor &T) {
        return tensorValue(T.Handle);
      });
    return TakeFrom(M.Children, [](const ModuleInstance::Child &C) {
      return moduleValue(C.Module);
    });
  }
  case torch::ModuleAct::Append:
    append(M, Arguments, At);
    return This;
  case torch::ModuleAct::Extend:
  case torch::ModuleAct::Update:
    if (!Arguments.empty())
      appendAll(M, Arguments.front(), At);
    return This;
  case torch::ModuleAct::Insert: {
    if (Arguments.size() < 2)
      return Nothing;
    if (Arguments[0]->What == Value::Text) {
      append(M, Arguments, At); // Of a dictionary.
      return torch::isParameterContainer(M.ClassName) ? Arguments[1] : This;
    }
    const size_t Before = M.Children.size();
    append(M, {Arguments[1]}, At);
    // The others move up, and are renamed.
    if (M.Children.size() > Before && Arguments[0]->What == Value::Integer &&
        Arguments[0]->Number >= 0 &&
        static_cast<uint64_t>(Arguments[0]->Number) <= Before) {
      std::rotate(M.Children.begin() + Arguments[0]->Number,
                  M.Children.end() - 1, M.Children.end());
      for (size_t I = 0; I < M.Children.size(); ++I)
        M.Children[I].Name = std::to_string(I);
    }
    return This;
  }
  case torch::ModuleAct::Element:
    return Arguments.empty() ? This : element(This, Arguments.front(), E);
  case torch::ModuleAct::Same:
    return This;
  case torch::ModuleAct::Size:
    return integer(elementCount(M));
  case torch::ModuleAct::Contains:
    if (NameAt(0) == "?")
      return Nothing;
    return integer(llvm::any_of(elementsOf(M), [&](const auto &Element) {
      return Element.first == NameAt(0);
    }));
  case torch::ModuleAct::Keys:
  case torch::ModuleAct::Values:
    for (const auto &[Name, Element] : elementsOf(M))
      Found.push_back(Act == torch::ModuleAct::Keys ? text(Name) : Element);
    return listOf(std::move(Found));
  case torch::ModuleAct::IsEmpty: {
    // A holder or AnyModule asks whether it holds something.
    const auto *Method = cast<CXXMethodDecl>(F);
    const torch::ModelClass Kind = torch::modelClass(Method->getParent());
    return integer(Kind != torch::ModelClass::Holder &&
                   Kind != torch::ModelClass::AnyModule && !elementCount(M));
  }
  case torch::ModuleAct::Clone:
    return moduleValue(cloneOf(Handle));
  case torch::ModuleAct::Parameters:
  case torch::ModuleAct::NamedParameters:
    collectTensors(Handle, true, "", Found, Seen,
                   Act == torch::ModuleAct::NamedParameters);
    return listOf(std::move(Found));
  case torch::ModuleAct::Buffers:
  case torch::ModuleAct::NamedBuffers:
    collectTensors(Handle, false, "", Found, Seen,
                   Act == torch::ModuleAct::NamedBuffers);
    return listOf(std::move(Found));
  case torch::ModuleAct::Modules:
    collectModules(Handle, Found, Seen);
    if (!Arguments.empty() && truth(Arguments.front()) == false)
      Found.erase(Found.begin());
    return listOf(std::move(Found));
  case torch::ModuleAct::Children:
  case torch::ModuleAct::NamedChildren:
    for (const ModuleInstance::Child &Child : M.Children)
      Found.push_back(
          Act == torch::ModuleAct::Children
              ? moduleValue(Child.Module)
              : listOf({text(Child.Name), moduleValue(Child.Module)}));
    return listOf(std::move(Found));
  case torch::ModuleAct::Convert: {
    std::optional<torch::ElementType> Type;
    for (const Cell &Argument : Arguments)
      if (Argument->What == Value::Type)
        Type = Argument->Element;
    if (!Type)
      note(At, "the type that 'to' converts to is not known");
    convertTensors(Handle, Type, Seen);
    return Nothing;
  }
  case torch::ModuleAct::Forward: {
    if (!Pass)
      return Nothing;
    // A class of LibTorch's names its own forward(), which is not virtual.
    const CXXRecordDecl *Own = cast<CXXMethodDecl>(F)->getParent();
    const bool IsDerived = M.Class && !torch::isTorchDecl(M.Class);
    return torch::isModuleClass(Own) && IsDerived
               ? forwardOfLibrary(Handle, torch::modelClassName(Own), Arguments,
                                  At)
               : forward(Handle, Arguments, At);
  }
  case torch::ModuleAct::IsTraining:
    return integer(M.IsTraining);
  case torch::ModuleAct::Train:
  case torch::ModuleAct::Eval: {
    const std::optional<bool> On =
        Act == torch::ModuleAct::Eval ? std::optional(false)
        : Arguments.empty()           ? std::optional(true)
                                      : truth(Arguments.front());
    collectModules(Handle, Found, Seen);
    for (const Cell &Each : Found)
      Each->Held->IsTraining = On.value_or(true);
    return Nothing;
  }
  case torch::ModuleAct::Nothing:
    skipClosures(Arguments, At); // apply(function)
    return Nothing;
  case torch::ModuleAct::FromPretrained: // Has no object.
  case torch::ModuleAct::Unknown:
    return Nothing;
  }
  llvm_unreachable("all acts are handled");
}

} // namespace libtorch_tidy::model
