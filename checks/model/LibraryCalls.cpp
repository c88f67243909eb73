//===- LibraryCalls.cpp - What LibTorch and the standard library do -------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/code/Std.h"
#include "checks/model/Interpreter.h"
#include "checks/torch/Calls.h"
#include "checks/torch/ModuleApi.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <numeric>

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::model {

/// Of one model: a thousand times what large ones have.
static constexpr unsigned MaxModules = 50'000;

static StringRef nameOf(const FunctionDecl *F) {
  return F->getIdentifier() ? F->getName() : StringRef();
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

ModulePtr Interpreter::newModule(StringRef ClassName,
                                 const CXXRecordDecl *Class,
                                 SourceLocation At) {
  auto M = std::make_shared<ModuleInstance>();
  M->ClassName = ClassName.str();
  M->Class = Class;
  M->Made = At;
  if (++Modules > MaxModules)
    limit(At, "there are more than " + Twine(MaxModules) +
                  " modules; no more are followed");
  return M;
}

std::vector<std::pair<std::string, Cell>> elementsOf(const ModuleInstance &M) {
  std::vector<std::pair<std::string, Cell>> Result;
  if (torch::isParameterContainer(M.ClassName))
    for (const ModuleInstance::Tensor &T : M.Parameters)
      Result.emplace_back(T.Name, tensorValue(T.Handle));
  else
    for (const ModuleInstance::Child &Child : M.Children)
      Result.emplace_back(Child.Name, moduleValue(Child.Module));
  return Result;
}

size_t elementCount(const ModuleInstance &M) {
  return torch::isParameterContainer(M.ClassName) ? M.Parameters.size()
                                                  : M.Children.size();
}

TensorPtr Interpreter::cloneOf(const TensorPtr &T) {
  auto Copy = std::make_shared<TensorInstance>();
  Copy->Shape = T->Shape;
  Copy->RequiresGrad = T->RequiresGrad;
  return Copy;
}

/// A copy of all that \p M has, as clone() makes it.
ModulePtr Interpreter::cloneOf(const ModulePtr &M) {
  ModulePtr Copy = newModule(M->ClassName, M->Class, M->Made);
  Copy->Settings = M->Settings;
  Copy->Members = M->Members;
  Copy->IsIncomplete = M->IsIncomplete;
  if (Halted)
    return Copy;
  for (const ModuleInstance::Child &Child : M->Children)
    Copy->Children.push_back({Child.Name, cloneOf(Child.Module)});
  for (const ModuleInstance::Child &Child : M->Unlisted)
    Copy->Unlisted.push_back({Child.Name, cloneOf(Child.Module)});
  for (const ModuleInstance::Tensor &T : M->Parameters)
    Copy->Parameters.push_back({T.Name, cloneOf(T.Handle)});
  for (const ModuleInstance::Tensor &T : M->Buffers)
    Copy->Buffers.push_back({T.Name, cloneOf(T.Handle)});
  // Its members are handles of what it has.
  for (auto &[Field, Member] : Copy->Members)
    if (Member->What == Value::Module)
      for (size_t I = 0; I < M->Children.size(); ++I)
        if (M->Children[I].Module == Member->Held)
          Member = moduleValue(Copy->Children[I].Module);
  return Copy;
}

/// A number or text of an option; for a module its number in \p Given.
torch::OptionValue Interpreter::optionOf(const Cell &Setting,
                                         std::vector<ModulePtr> &Given,
                                         SourceLocation At) {
  torch::OptionValue Result;
  switch (Setting->What) {
  case Value::Unknown:
    break;
  case Value::Null:
    Result.What = torch::OptionValue::None;
    break;
  case Value::Integer:
    Result.What = torch::OptionValue::Integer;
    Result.Number = Setting->Number;
    break;
  case Value::Real:
    Result.What = torch::OptionValue::Real;
    Result.RealNumber = Setting->RealNumber;
    break;
  case Value::List:
    Result.What = torch::OptionValue::List;
    Result.Numbers = *sizesOf(Setting);
    break;
  case Value::Tensor:
    Result.What = Setting->Handle->Shape.Defined ? torch::OptionValue::Tensor
                                                 : torch::OptionValue::None;
    Result.Shape = Setting->Handle->Shape;
    break;
  case Value::Module:
  case Value::Options: {
    ModulePtr M = Setting->Held;
    if (!M) { // TransformerEncoder makes a layer of the options of one.
      M = newModule(Setting->Name, nullptr, At);
      M->Settings = Setting->Settings;
      fillLibraryModule(*M, Setting->Name, At);
    }
    Result.What = torch::OptionValue::Module;
    Result.ModuleNumber = Given.size();
    Given.push_back(std::move(M));
    break;
  }
  default:
    Result.What = torch::OptionValue::Other;
    Result.Text = Setting->Name;
    break;
  }
  return Result;
}

/// What an option of a part was set to.
static Cell settingOf(const torch::OptionValue &Option) {
  switch (Option.What) {
  case torch::OptionValue::None:
    return valueOf(Value::Null);
  case torch::OptionValue::Integer:
    return integer(Option.Number);
  case torch::OptionValue::Real:
    return real(Option.RealNumber);
  case torch::OptionValue::List: {
    std::vector<Cell> Numbers;
    for (const torch::Size &N : Option.Numbers)
      Numbers.push_back(N ? integer(*N) : valueOf(Value::Unknown));
    return listOf(std::move(Numbers));
  }
  case torch::OptionValue::Other: {
    Cell Named = valueOf(Value::Other);
    Named->Name = Option.Text;
    return Named;
  }
  default:
    return valueOf(Value::Unknown);
  }
}

ModulePtr Interpreter::makePart(const torch::RegisteredModule &Part,
                                ArrayRef<ModulePtr> Given, SourceLocation At) {
  if (Part.Given) {
    const ModulePtr &M = Given[*Part.Given];
    return Part.IsCopy ? cloneOf(M) : M;
  }
  ModulePtr M = newModule(Part.Class, nullptr, At);
  if (Halted)
    return M;
  if (!Part.Children.empty()) {
    for (const torch::RegisteredModule &Child : Part.Children)
      M->Children.push_back({Child.Name, makePart(Child, Given, At)});
    return M;
  }
  for (const auto &[Name, Option] : Part.Options)
    M->Settings[Name] = settingOf(Option);
  if (std::optional<torch::ModuleContents> Contents =
          torch::contentsOf(Part.Class, Part.Options))
    fill(*M, *Contents, Given, At);
  return M;
}

void Interpreter::fill(ModuleInstance &M, const torch::ModuleContents &Contents,
                       ArrayRef<ModulePtr> Given, SourceLocation At) {
  for (const torch::RegisteredTensor &T : Contents.Parameters) {
    auto Handle = std::make_shared<TensorInstance>();
    Handle->Shape = T.Shape;
    Handle->RequiresGrad = true;
    M.Parameters.push_back({T.Name, std::move(Handle)});
  }
  for (const torch::RegisteredTensor &T : Contents.Buffers) {
    auto Handle = std::make_shared<TensorInstance>();
    Handle->Shape = T.Shape;
    M.Buffers.push_back({T.Name, std::move(Handle)});
  }
  for (const torch::RegisteredModule &Child : Contents.Children)
    M.Children.push_back({Child.Name, makePart(Child, Given, At)});
  for (const torch::RegisteredModule &Child : Contents.Unlisted)
    M.Unlisted.push_back({Child.Name, makePart(Child, Given, At)});
}

/// Registers what LibTorch's \p Class registers with the settings of \p M.
void Interpreter::fillLibraryModule(ModuleInstance &M, StringRef Class,
                                    SourceLocation At) {
  torch::OptionValues Options;
  std::vector<ModulePtr> Given;
  for (const auto &[Name, Setting] : M.Settings)
    Options[Name] = optionOf(Setting, Given, At);
  const std::optional<torch::ModuleContents> Contents =
      torch::contentsOf(Class, Options);
  if (!Contents) {
    M.IsIncomplete = true;
    note(At, "what '" + Class + "' registers is not known");
    return;
  }
  for (const std::string &Option : Contents->Missing) {
    M.IsIncomplete = true;
    auto It = M.Settings.find(Option);
    const bool IsKnown =
        It != M.Settings.end() && It->second->What == Value::Integer;
    note(At, "'" + Option + "' of " + M.ClassName +
                 (IsKnown ? " is too large" : " is not known") +
                 (It == M.Settings.end() ? "" : because(It->second)));
  }
  fill(M, *Contents, Given, At);
  // The weight that it is given is its parameter.
  if (auto It = M.Settings.find(torch::WeightOption);
      It != M.Settings.end() && It->second->What == Value::Tensor)
    for (ModuleInstance::Tensor &T : M.Parameters)
      if (T.Name == torch::WeightParameter) {
        T.Handle = It->second->Handle;
        T.Handle->RequiresGrad = true;
      }
}

/// Embedding::from_pretrained(weight, options), or of an EmbeddingBag.
ModulePtr Interpreter::makePretrained(const CXXMethodDecl *Method,
                                      ArrayRef<Cell> Arguments,
                                      SourceLocation At) {
  const CXXRecordDecl *Held = torch::heldBy(Method->getParent());
  const CXXRecordDecl *Class = Held ? Held : Method->getParent();
  const ModulePtr M = newModule(torch::modelClassName(Class), Class, At);
  if (Halted || Arguments.empty())
    return M;
  if (Arguments.size() > 1)
    for (const auto &[Name, Setting] : Arguments[1]->Settings)
      M->Settings[Name] = copyOf(Setting);
  const Cell &Weight = Arguments.front();
  const ArrayRef<StringRef> Sizes = torch::positionalOptions(M->ClassName);
  for (size_t I = 0; I < Sizes.size(); ++I) {
    const auto *Known = Weight->What == Value::Tensor &&
                                Weight->Handle->Shape.Sizes &&
                                Weight->Handle->Shape.Sizes->size() == 2
                            ? &*Weight->Handle->Shape.Sizes
                            : nullptr;
    M->Settings[Sizes[I].str()] =
        Known && (*Known)[I] ? integer(*(*Known)[I]) : Weight;
  }
  M->Settings[torch::WeightOption] = Weight;
  fillLibraryModule(*M, M->ClassName, At);
  std::optional<bool> Freezes = true;
  if (auto It = M->Settings.find(torch::FreezeOption); It != M->Settings.end())
    Freezes = truth(It->second);
  for (ModuleInstance::Tensor &T : M->Parameters)
    T.Handle->RequiresGrad =
        Freezes ? std::optional<bool>(!*Freezes) : std::nullopt;
  if (!Freezes)
    note(At, "whether the weight of " + M->ClassName +
                 " gets a gradient is not known");
  return M;
}

ModulePtr Interpreter::makeLibraryModule(StringRef Class,
                                         ArrayRef<Cell> Arguments,
                                         SourceLocation At) {
  const ModulePtr M = newModule(Class, nullptr, At);
  if (Halted)
    return M;
  if (torch::isModuleContainer(Class) || torch::isParameterContainer(Class)) {
    // One list of elements, or of pairs of a name and an element; else
    // elements.
    if (Arguments.size() == 1 && Arguments.front()->What == Value::List) {
      appendAll(*M, Arguments.front(), At);
    } else {
      for (const Cell &Argument : Arguments)
        if (Argument->What == Value::List)
          append(*M, Argument->Elements, At);
        else
          append(*M, {Argument}, At);
    }
    return M;
  }
  const Cell Only = Arguments.size() == 1 ? Arguments.front() : nullptr;
  if (Only && Only->What == Value::Options) {
    for (const auto &[Name, Setting] : Only->Settings)
      M->Settings[Name] = copyOf(Setting);
  } else {
    const ArrayRef<StringRef> Names = torch::positionalOptions(Class);
    // Layers without parameters take options of no interest here.
    for (unsigned I = 0; I < Arguments.size() && I < Names.size(); ++I)
      M->Settings[Names[I].str()] = copyOf(Arguments[I]);
  }
  fillLibraryModule(*M, Class, At);
  return M;
}

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
  const Cell Nothing = unknown(At, "what '" + nameOf(F) + "' returns");
  const torch::ModuleAct Act = torch::moduleAct(F);
  if (Act == torch::ModuleAct::FromPretrained)
    return moduleValue(makePretrained(cast<CXXMethodDecl>(F), Arguments, At));
  if (!This || This->What != Value::Module) {
    if (Act == torch::ModuleAct::Same)
      return This ? This : Nothing;
    if (Act == torch::ModuleAct::IsEmpty && This && This->What == Value::Null)
      return integer(1);
    if (torch::addsToModule(Act))
      note(At, "the module that '" + nameOf(F) + "' adds to is not known" +
                   (This ? because(This) : ""));
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
      fail(At, "what '" + nameOf(F) + "' replaces is not known");
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
        fail(At, "what '" + nameOf(F) + "' takes away is not known");
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

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

Cell Interpreter::makeOptions(const CXXRecordDecl *Class,
                              ArrayRef<Cell> Arguments) {
  const std::string Name = torch::modelClassName(Class);
  if (Arguments.size() == 1 && Arguments.front()->What == Value::Options &&
      Arguments.front()->Name == Name)
    return copyOf(Arguments.front());
  Value V;
  V.What = Value::Options;
  V.Name = Name;
  const ArrayRef<StringRef> Names = torch::positionalOptions(Name);
  for (unsigned I = 0; I < Arguments.size() && I < Names.size(); ++I)
    V.Settings[Names[I].str()] = copyOf(Arguments[I]);
  return cell(std::move(V));
}

Cell Interpreter::optionsOf(ModuleInstance &M) {
  Value V;
  V.What = Value::Options;
  V.Name = M.ClassName;
  V.Settings = M.Settings;
  return cell(std::move(V));
}

/// options.stride(2) sets and returns the options, options.stride() asks.
Cell Interpreter::callOptions(const CallExpr *E, const Cell &Object,
                              ArrayRef<Cell> Arguments) {
  const std::string Name = torch::calleeName(E).str();
  if (Object->Name.empty()) { // TensorOptions.
    const Cell Result = copyOf(Object);
    if (torch::setsRequiresGrad(E->getDirectCallee()) && !Arguments.empty())
      Result->RequiresGrad = truth(Arguments.front()).value_or(false);
    if (torch::setsElementType(E->getDirectCallee()) && !Arguments.empty()) {
      const Cell &Type = Arguments.front();
      if (Type->What == Value::Unknown)
        return Type;
      Result->Element =
          Type->What == Value::Type ? Type->Element : std::nullopt;
    }
    return Result;
  }
  if (!Arguments.empty()) {
    Object->Settings[Name] = copyOf(Arguments.front());
    return Object;
  }
  if (auto It = Object->Settings.find(Name); It != Object->Settings.end())
    return It->second;
  const torch::OptionValue Default = torch::defaultOption(Object->Name, Name);
  switch (Default.What) {
  case torch::OptionValue::Integer:
    return integer(Default.Number);
  case torch::OptionValue::Real:
    return real(Default.RealNumber);
  case torch::OptionValue::None:
    return valueOf(Value::Null);
  default:
    return unknown(E->getExprLoc(), "'" + Name + "'");
  }
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

std::optional<std::vector<torch::Size>> Interpreter::sizesOf(const Cell &V) {
  if (V->What == Value::Integer)
    return std::vector<torch::Size>{V->Number};
  if (V->What != Value::List)
    return std::nullopt;
  std::vector<torch::Size> Result;
  for (const Cell &Element : V->Elements)
    Result.push_back(Element->What == Value::Integer
                         ? torch::Size(Element->Number)
                         : std::nullopt);
  return Result;
}

/// Is a number of \p V an integer, as far as a factory's type depends on it?
static std::optional<bool> isIntegral(const Cell &V) {
  if (V->What == Value::Integer)
    return true;
  if (V->What == Value::Real)
    return false;
  if (V->What == Value::List && !V->Elements.empty())
    return isIntegral(V->Elements.front());
  return std::nullopt;
}

Cell Interpreter::callTensor(const CallExpr *E, const FunctionDecl *F,
                             const Cell &Object, ArrayRef<Cell> Arguments) {
  const SourceLocation At = E->Stmt::getBeginLoc();
  const Cell Nothing =
      unknown(At, "the tensor that '" + F->getNameAsString() + "' gives");
  if (torch::setsElementType(F) || torch::changesTensorOptions(F)) {
    Value V;
    V.What = Value::Options;
    if (Object && Object->What == Value::Tensor) // Its options().
      V.Element = Object->Handle->Shape.Type;
    if (torch::setsRequiresGrad(F))
      V.RequiresGrad =
          Arguments.empty() || truth(Arguments.front()).value_or(false);
    if (torch::setsElementType(F) && !Arguments.empty()) {
      const Cell &Type = Arguments.back();
      if (Type->What == Value::Unknown)
        return Type;
      if (Type->What == Value::Type)
        V.Element = Type->Element;
    }
    return cell(std::move(V));
  }
  // A type among the arguments: the type itself, or options with one.
  std::optional<torch::ElementType> Asked;
  bool HasOptions = false, RequiresGrad = false;
  for (const Cell &Argument : Arguments) {
    RequiresGrad |= Argument->What == Value::Options && Argument->RequiresGrad;
    if (Argument->What == Value::Type ||
        (Argument->What == Value::Options && Argument->Element))
      Asked = Argument->Element;
    HasOptions |=
        Argument->What == Value::Unknown && Argument != Arguments.front();
  }
  auto Made = [&](std::optional<std::vector<torch::Size>> Sizes,
                  std::optional<torch::ElementType> Default) {
    auto T = std::make_shared<TensorInstance>();
    T->Shape.Sizes = std::move(Sizes);
    T->Shape.Type = Asked ? Asked : HasOptions ? std::nullopt : Default;
    T->RequiresGrad = RequiresGrad;
    if (Pass) {
      setPlace(current(), At);
      Pass->place(*T);
    }
    return tensorValue(std::move(T));
  };
  auto TypeOf = [&](std::optional<bool> Integral) {
    return !Integral ? std::nullopt
                     : std::optional(*Integral ? torch::Int64 : torch::Float32);
  };
  const torch::TensorAct Act = torch::tensorAct(F);
  switch (Act) {
  case torch::TensorAct::MakeSized:
    return Arguments.empty() ? Nothing
                             : Made(sizesOf(Arguments[0]), torch::Float32);
  case torch::TensorAct::MakeFull:
    return Arguments.size() < 2
               ? Nothing
               : Made(sizesOf(Arguments[0]), TypeOf(isIntegral(Arguments[1])));
  case torch::TensorAct::MakeSquare: {
    if (Arguments.empty() || Arguments[0]->What != Value::Integer)
      return Nothing;
    const torch::Size Rows = Arguments[0]->Number;
    const torch::Size Columns =
        Arguments.size() > 1 && Arguments[1]->What == Value::Integer
            ? torch::Size(Arguments[1]->Number)
            : Rows;
    return Made(std::vector{Rows, Columns}, torch::Float32);
  }
  case torch::TensorAct::MakeRange: {
    llvm::SmallVector<double, 3> Numbers;
    bool Integral = true;
    for (const Cell &Argument : Arguments) {
      if (Argument->What == Value::Integer)
        Numbers.push_back(static_cast<double>(Argument->Number));
      else if (Argument->What == Value::Real)
        Numbers.push_back(Argument->RealNumber);
      else
        break;
      Integral &= Argument->What == Value::Integer;
    }
    if (Numbers.empty())
      return Nothing;
    const double From = Numbers.size() > 1 ? Numbers[0] : 0;
    const double To = Numbers.size() > 1 ? Numbers[1] : Numbers[0];
    const double Step = Numbers.size() > 2 ? Numbers[2] : 1;
    const double Count = Step == 0 ? -1 : std::ceil((To - From) / Step);
    return Made(Count >= 0 && Count < 1e15
                    ? std::optional(
                          std::vector<torch::Size>{static_cast<int64_t>(Count)})
                    : std::nullopt,
                TypeOf(Integral));
  }
  case torch::TensorAct::MakeSteps:
    return Arguments.size() < 3 || Arguments[2]->What != Value::Integer
               ? Nothing
               : Made(std::vector<torch::Size>{Arguments[2]->Number},
                      torch::Float32);
  case torch::TensorAct::MakeList: {
    if (Arguments.empty())
      return Nothing;
    std::vector<torch::Size> Sizes;
    for (Cell Level = Arguments[0]; Level->What == Value::List;) {
      Sizes.push_back(Level->Elements.size());
      if (Level->Elements.empty())
        break;
      Level = Cell(Level->Elements.front());
    }
    return Made(std::move(Sizes), TypeOf(isIntegral(Arguments[0])));
  }
  default:
    break;
  }
  // The others are of a tensor: the object, or the first argument.
  const Cell &Self = Object              ? Object
                     : Arguments.empty() ? Nothing
                                         : Arguments.front();
  if (!Self || Self->What == Value::Unknown)
    return Self ? Self : Nothing;
  const ArrayRef<Cell> Rest =
      Object || Arguments.empty() ? Arguments : Arguments.drop_front();
  if (Self->What != Value::Tensor) {
    // number * tensor.
    if (Act == torch::TensorAct::Combine && !Rest.empty() &&
        Rest.front()->What == Value::Tensor)
      return tensorValue(cloneOf(Rest.front()->Handle));
    return Nothing;
  }
  const TensorPtr &T = Self->Handle;
  auto Changed = [&](std::optional<std::vector<torch::Size>> Sizes) {
    TensorPtr Copy = cloneOf(T);
    Copy->Shape.Sizes = std::move(Sizes);
    Copy->RequiresGrad = false;
    return tensorValue(std::move(Copy));
  };
  // A dimension from the end is negative.
  auto Dimension = [&](unsigned I, size_t Count) -> std::optional<size_t> {
    if (I >= Rest.size() || Rest[I]->What != Value::Integer)
      return std::nullopt;
    const int64_t D = Rest[I]->Number;
    const int64_t Real = D < 0 ? D + static_cast<int64_t>(Count) : D;
    if (Real < 0 || Real >= static_cast<int64_t>(Count))
      return std::nullopt;
    return Real;
  };
  switch (Act) {
  case torch::TensorAct::MakeLike: {
    const Cell Result = Changed(T->Shape.Sizes);
    if (Asked || HasOptions)
      Result->Handle->Shape.Type = Asked;
    return Result;
  }
  case torch::TensorAct::Same:
    return Self;
  case torch::TensorAct::SameShape:
    return Changed(T->Shape.Sizes);
  case torch::TensorAct::ToType: {
    const Cell Result = Changed(T->Shape.Sizes);
    for (const auto &[Given, Param] : llvm::zip(Rest, F->parameters()))
      if (Given->What == Value::Tensor)
        Result->Handle->Shape.Type = Given->Handle->Shape.Type;
      else if (Given->What == Value::Unknown &&
               torch::decidesElementType(Param->getType()))
        Result->Handle->Shape.Type = std::nullopt;
    if (Asked)
      Result->Handle->Shape.Type = Asked;
    return Result;
  }
  case torch::TensorAct::Combine: {
    if (Rest.empty())
      return Nothing;
    const Cell &Other = Rest.front();
    if (Other->What == Value::Integer || Other->What == Value::Real) {
      const Cell Result = Changed(T->Shape.Sizes);
      // An integer tensor and a real number give real numbers.
      if (Other->What == Value::Real && T->Shape.Type &&
          T->Shape.Type->Name.contains("int"))
        Result->Handle->Shape.Type = torch::Float32;
      return Result;
    }
    if (Other->What != Value::Tensor || !T->Shape.Sizes ||
        !Other->Handle->Shape.Sizes)
      return Nothing;
    const Cell Result =
        Changed(torch::broadcast(*T->Shape.Sizes, *Other->Handle->Shape.Sizes));
    if (!T->Shape.Type || !Other->Handle->Shape.Type ||
        T->Shape.Type->Name != Other->Handle->Shape.Type->Name)
      Result->Handle->Shape.Type = std::nullopt;
    return Result;
  }
  case torch::TensorAct::RequireGrad:
    T->RequiresGrad =
        Rest.empty() ? std::optional<bool>(true) : truth(Rest.front());
    if (!T->RequiresGrad)
      note(At, "whether a parameter gets a gradient is not known");
    return Self;
  case torch::TensorAct::ReplaceData:
    T->Memory = nullptr;
    if (!Rest.empty() && Rest.front()->What == Value::Tensor) {
      T->Shape = Rest.front()->Handle->Shape;
    } else {
      T->Shape = {};
      T->Shape.Type = std::nullopt;
      note(At, "the data that 'set_data' sets are not known");
    }
    return Self;
  case torch::TensorAct::Unsqueeze: {
    if (!T->Shape.Sizes)
      return Nothing;
    std::vector<torch::Size> Sizes = *T->Shape.Sizes;
    const std::optional<size_t> D = Dimension(0, Sizes.size() + 1);
    if (!D)
      return Nothing;
    Sizes.insert(Sizes.begin() + *D, torch::Size(1));
    return Changed(std::move(Sizes));
  }
  case torch::TensorAct::Transpose:
  case torch::TensorAct::Reverse: {
    if (!T->Shape.Sizes)
      return Nothing;
    std::vector<torch::Size> Sizes = *T->Shape.Sizes;
    if (Act == torch::TensorAct::Reverse) {
      std::reverse(Sizes.begin(), Sizes.end());
      return Changed(std::move(Sizes));
    }
    const std::optional<size_t> A = Dimension(0, Sizes.size()),
                                B = Dimension(1, Sizes.size());
    if (!A || !B)
      return Nothing;
    std::swap(Sizes[*A], Sizes[*B]);
    return Changed(std::move(Sizes));
  }
  case torch::TensorAct::Reshape: {
    if (Rest.empty())
      return Nothing;
    std::optional<std::vector<torch::Size>> Sizes = sizesOf(Rest.front());
    const std::optional<uint64_t> All = T->Shape.elements();
    if (!Sizes || !All)
      return Nothing;
    uint64_t Known = 1;
    torch::Size *Open = nullptr;
    for (torch::Size &S : *Sizes) {
      if (!S || *S < -1 || (*S == -1 && Open))
        return Nothing;
      if (*S == -1)
        Open = &S;
      else if (__builtin_mul_overflow(Known, static_cast<uint64_t>(*S), &Known))
        return Nothing;
    }
    if (Open) {
      if (!Known || *All % Known)
        return Nothing;
      *Open = static_cast<int64_t>(*All / Known);
    } else if (Known != *All) {
      fail(At, "a tensor of " + Twine(*All) + " elements is viewed as " +
                   Twine(Known) + ", which throws");
    }
    return Changed(std::move(Sizes));
  }
  case torch::TensorAct::Size: {
    if (!T->Shape.Sizes)
      return Nothing;
    const std::optional<size_t> D = Dimension(0, T->Shape.Sizes->size());
    return D && (*T->Shape.Sizes)[*D] ? integer(*(*T->Shape.Sizes)[*D])
                                      : Nothing;
  }
  case torch::TensorAct::Dimensions:
    return T->Shape.Sizes ? integer(T->Shape.Sizes->size()) : Nothing;
  case torch::TensorAct::AllSizes: {
    if (!T->Shape.Sizes)
      return Nothing;
    std::vector<Cell> All;
    for (const torch::Size &S : *T->Shape.Sizes)
      All.push_back(S ? integer(*S) : Nothing);
    return listOf(std::move(All));
  }
  case torch::TensorAct::TypeOf: {
    if (!T->Shape.Type)
      return Nothing;
    const Cell Type = valueOf(Value::Type);
    Type->Element = T->Shape.Type;
    return Type;
  }
  case torch::TensorAct::IsDefined:
    return integer(T->Shape.Defined);
  case torch::TensorAct::Fact:
    return valueOf(Value::Other);
  case torch::TensorAct::Elements: {
    const std::optional<uint64_t> All = T->Shape.elements();
    return All ? integer(static_cast<int64_t>(*All)) : Nothing;
  }
  default:
    return Nothing;
  }
}

//===----------------------------------------------------------------------===//
// The standard library
//===----------------------------------------------------------------------===//

/// The type that is the first template argument of \p F or of its class.
static QualType firstTypeArgument(const FunctionDecl *F) {
  if (const TemplateArgumentList *Args = F->getTemplateSpecializationArgs())
    if (Args->size() && Args->get(0).getKind() == TemplateArgument::Type)
      return Args->get(0).getAsType();
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  return typeArgument(Method ? Method->getParent() : nullptr, 0);
}

/// Functions of numbers.
static std::optional<double> computed(StringRef Name, double X, double Y) {
  return llvm::StringSwitch<std::optional<double>>(Name)
      .Cases("sqrt", "sqrtf", std::sqrt(X))
      .Cases("floor", "floorf", std::floor(X))
      .Cases("ceil", "ceilf", std::ceil(X))
      .Cases("round", "lround", "llround", std::round(X))
      .Case("trunc", std::trunc(X))
      .Case("log", std::log(X))
      .Case("log2", std::log2(X))
      .Case("log10", std::log10(X))
      .Case("exp", std::exp(X))
      .Case("exp2", std::exp2(X))
      .Cases("pow", "powf", std::pow(X, Y))
      .Case("fmod", std::fmod(X, Y))
      .Cases("fabs", "fabsf", std::fabs(X))
      .Default(std::nullopt);
}

/// What begin(), end() or size() of \p List is, as a method or a function; null
/// for others.
static Cell boundOf(StringRef Name, const Cell &List) {
  const auto Size = static_cast<int64_t>(List->Elements.size());
  if (Name == "begin" || Name == "cbegin")
    return iteratorAt(List, 0);
  if (Name == "end" || Name == "cend")
    return iteratorAt(List, Size);
  return Name == "size" ? integer(Size) : nullptr;
}

Cell Interpreter::callList(const CallExpr *E, StringRef Name,
                           const Cell &Object, ArrayRef<Cell> Arguments) {
  const SourceLocation At = E->Stmt::getBeginLoc();
  std::vector<Cell> &Elements = Object->Elements;
  const auto *Method = cast<CXXMethodDecl>(E->getDirectCallee());
  const bool IsMap =
      code::isStdClass(Method->getParent(), {"map", "unordered_map"});
  if (IsMap && !Arguments.empty() &&
      (Name == "at" || Name == "count" || Name == "contains" ||
       Method->getOverloadedOperator() == OO_Subscript)) {
    for (const Cell &Pair : Elements)
      if (Pair->What == Value::List && Pair->Elements.size() == 2) {
        const Cell Equal = arithmetic(BO_EQ, Pair->Elements[0],
                                      Arguments.front(), Context.BoolTy, E);
        if (!truth(Equal))
          return Equal;
        if (*truth(Equal))
          return Name == "count" || Name == "contains" ? integer(1)
                                                       : Pair->Elements[1];
      }
    if (Name == "count" || Name == "contains")
      return integer(0);
    if (Name == "at") {
      fail(At, "'at' finds no such element, and throws");
      return unknown(At, "");
    }
    const Cell New = newElement(typeArgument(Method->getParent(), 1), At);
    Elements.push_back(listOf({copyOf(Arguments.front()), New}));
    return New;
  }
  if (code::isStdClass(Method->getParent(), {"set", "unordered_set"}) &&
      !Arguments.empty() &&
      (Name == "find" || Name == "count" || Name == "contains")) {
    size_t Place = 0;
    for (; Place < Elements.size(); ++Place) {
      const Cell Equal = arithmetic(BO_EQ, Elements[Place], Arguments.front(),
                                    Context.BoolTy, E);
      if (!truth(Equal))
        return Equal;
      if (*truth(Equal))
        break;
    }
    return Name == "find" ? iteratorAt(Object, static_cast<int64_t>(Place))
                          : integer(Place < Elements.size());
  }
  if (const std::optional<torch::Part> Part = torch::partOfArray(Method);
      Part && llvm::all_of(Arguments, [](const Cell &Given) {
        return Given->What == Value::Integer && Given->Number >= 0;
      })) {
    const size_t From = std::min<size_t>(
        Elements.size(), *Part == torch::Part::Slice && !Arguments.empty()
                             ? Arguments[0]->Number
                             : 0);
    const size_t Count = Arguments.size() > 1
                             ? static_cast<size_t>(Arguments[1]->Number)
                             : Elements.size();
    return listOf({Elements.begin() + From,
                   Elements.begin() + std::min(Elements.size(), From + Count)});
  }
  if (Method->getOverloadedOperator() == OO_Subscript || Name == "at")
    return Arguments.empty() ? Object : element(Object, Arguments.front(), E);
  if (Cell Place = boundOf(Name, Object))
    return Place;
  if (Name == "empty")
    return integer(Elements.empty());
  if (Name == "front" || Name == "back") {
    if (Elements.empty())
      return unknown(At, "an element of an empty container");
    return Name == "front" ? Elements.front() : Elements.back();
  }
  if (const std::optional<unsigned> Part = torch::partOfItem(Method))
    return Elements.size() == 2 ? Elements[*Part] : unknown(At, "an element");
  if (Name == "data" || Name == "vec")
    return Object;
  if (Name == "reserve" || Name == "shrink_to_fit")
    return Object;
  if (Name == "push_back" || Name == "emplace_back") {
    if (Elements.size() >= MaxElements) {
      limit(At,
            "a container has more than " + Twine(MaxElements) + " elements");
      return Object;
    }
    const QualType Type = firstTypeArgument(Method);
    const QualType Contained =
        Name == "push_back" ||
                !isa<ClassTemplateSpecializationDecl>(Method->getParent())
            ? Type
            : cast<ClassTemplateSpecializationDecl>(Method->getParent())
                  ->getTemplateArgs()[0]
                  .getAsType();
    const CXXRecordDecl *R = definitionOf(
        Contained.isNull() ? nullptr : Contained->getAsCXXRecordDecl());
    Cell New;
    if (Name == "emplace_back" && R)
      New = makeObject(R, Arguments, {}, nullptr, At);
    else if (Arguments.size() == 1)
      New = Contained.isNull() ? Arguments.front()
                               : convert(Arguments.front(), Contained);
    else
      New = unknown(At, "an element");
    Elements.push_back(copyOf(New));
    return Elements.back();
  }
  if (Name == "pop_back") {
    if (!Elements.empty())
      Elements.pop_back();
    return Object;
  }
  if (Name == "clear") {
    Elements.clear();
    return Object;
  }
  if (Name == "resize" && !Arguments.empty() &&
      Arguments.front()->What == Value::Integer &&
      Arguments.front()->Number >= 0 &&
      static_cast<uint64_t>(Arguments.front()->Number) <= MaxElements) {
    const QualType Type = firstTypeArgument(Method);
    const size_t Size = Arguments.front()->Number;
    Elements.resize(std::min(Elements.size(), Size));
    while (Elements.size() < Size && step(At))
      Elements.push_back(Arguments.size() > 1 ? copyOf(Arguments[1])
                                              : newElement(Type, At));
    return Object;
  }
  if (!IsMap)
    if (Cell Changed = changeList(Name, Object, Arguments))
      return Changed;
  // Whatever else a method does to the container.
  const Cell Nothing = unknown(At, "what '" + torch::calleeName(E) + "' gives");
  if (!Method->isConst() && !code::isElementAccess(Name) && Name != "rbegin" &&
      Name != "rend")
    *Object = *unknown(At, "a container after '" + torch::calleeName(E) + "'");
  return Nothing;
}

/// std::numeric_limits<\p Type>::\p Name(), whose body is the library's.
Cell Interpreter::limitOf(StringRef Name, QualType Type,
                          const Cell &Nothing) const {
  if (Type->isIntegerType()) {
    const unsigned Width = Context.getIntWidth(Type);
    const bool IsSigned = Type->isSignedIntegerType();
    const llvm::APInt Most = IsSigned ? llvm::APInt::getSignedMaxValue(Width)
                                      : llvm::APInt::getMaxValue(Width);
    if (Name == "max" && Most.isIntN(63))
      return integer(static_cast<int64_t>(Most.getZExtValue()));
    if (Name == "min" || Name == "lowest")
      return integer(
          IsSigned ? llvm::APInt::getSignedMinValue(Width).getSExtValue() : 0);
    return Nothing;
  }
  if (!Type->isRealFloatingType())
    return Nothing;
  const llvm::fltSemantics &Kind = Context.getFloatTypeSemantics(Type);
  llvm::APFloat Number = llvm::APFloat::getLargest(Kind);
  if (Name == "lowest")
    Number.changeSign();
  else if (Name == "min")
    Number = llvm::APFloat::getSmallestNormalized(Kind);
  else if (Name == "infinity")
    Number = llvm::APFloat::getInf(Kind);
  else if (Name == "epsilon")
    Number =
        scalbn(llvm::APFloat(Kind, 1),
               1 - static_cast<int>(llvm::APFloat::semanticsPrecision(Kind)),
               llvm::APFloat::rmNearestTiesToEven);
  else if (Name != "max")
    return Nothing;
  bool Loses = false;
  Number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &Loses);
  return real(Number.convertToDouble());
}

Cell Interpreter::callStandard(const CallExpr *E, const FunctionDecl *F,
                               const Cell &Object, ArrayRef<Cell> Arguments) {
  const SourceLocation At = E->Stmt::getBeginLoc();
  const StringRef Name = nameOf(F);
  const Cell Nothing =
      unknown(At, "what '" + F->getNameAsString() + "' returns");
  if (Object) {
    if (Object->What == Value::List)
      return callList(E, Name, Object, Arguments);
    if (Object->What == Value::Iterator)
      if (Cell Result = iteratorOperator(E, F, Object, Arguments))
        return Result;
    if (Object->What == Value::Text && !F->getOverloadedOperator()) {
      if (Name == "size" || Name == "length")
        return integer(Object->Name.size());
      if (Name == "empty")
        return integer(Object->Name.empty());
      if (Name == "c_str" || Name == "data" || Name == "str")
        return Object;
      if (!cast<CXXMethodDecl>(F)->isConst())
        *Object = *unknown(At, "a string after '" + Name + "'");
      return Nothing;
    }
    // Smart pointers and optionals: what they lead to.
    const auto Op = F->getOverloadedOperator();
    if (Op == OO_Star || Op == OO_Arrow || Name == "get" || Name == "value" ||
        Name == "lock") {
      if (Object->What == Value::Pointer && Op != OO_Arrow && Name != "get" &&
          Name != "lock")
        return Object->Target;
      return Object;
    }
    if (Name == "has_value") {
      if (Object->What == Value::Null)
        return integer(0);
      return Object->What == Value::Unknown ? Object : integer(1);
    }
    if (Name == "value_or")
      return Object->What == Value::Null && !Arguments.empty()
                 ? Arguments.front()
                 : Object;
    if (Name == "reset" && Arguments.empty()) {
      *Object = *valueOf(Value::Null);
      return Object;
    }
    if (Op == OO_Subscript && !Arguments.empty())
      return element(Object, Arguments.front(), E);
    if (Op == OO_PlusEqual && Arguments.size() == 1 &&
        Object->What == Value::Text) {
      store(Object, arithmetic(BO_Add, Object, Arguments[0], E->getType(), E));
      return Object;
    }
    if (Op == OO_LessLess)
      return Object;
  }
  if (const auto Op = F->getOverloadedOperator()) {
    llvm::SmallVector<Cell, 2> Operands;
    if (Object)
      Operands.push_back(Object);
    Operands.append(Arguments.begin(), Arguments.end());
    if (Operands.size() == 2)
      switch (Op) {
      case OO_Plus:
        return arithmetic(BO_Add, Operands[0], Operands[1], E->getType(), E);
      case OO_EqualEqual:
        return arithmetic(BO_EQ, Operands[0], Operands[1], Context.BoolTy, E);
      case OO_ExclaimEqual:
        return arithmetic(BO_NE, Operands[0], Operands[1], Context.BoolTy, E);
      case OO_Less:
        return arithmetic(BO_LT, Operands[0], Operands[1], Context.BoolTy, E);
      case OO_Greater:
        return arithmetic(BO_GT, Operands[0], Operands[1], Context.BoolTy, E);
      case OO_Minus:
        return arithmetic(BO_Sub, Operands[0], Operands[1], E->getType(), E);
      case OO_LessEqual:
        return arithmetic(BO_LE, Operands[0], Operands[1], Context.BoolTy, E);
      case OO_GreaterEqual:
        return arithmetic(BO_GE, Operands[0], Operands[1], Context.BoolTy, E);
      case OO_LessLess:
        return Operands[0];
      default:
        break;
      }
    return Nothing;
  }
  if (const auto *Method = dyn_cast<CXXMethodDecl>(F);
      Method && code::isStdClass(Method->getParent(), {"numeric_limits"}))
    return limitOf(Name, F->getReturnType(), Nothing);
  if (Name == "make_shared" || Name == "make_unique") {
    const QualType Type = firstTypeArgument(F);
    const CXXRecordDecl *R =
        definitionOf(Type.isNull() ? nullptr : Type->getAsCXXRecordDecl());
    if (!R)
      return Nothing;
    llvm::SmallVector<QualType, 4> Types;
    for (const Expr *Arg : E->arguments())
      Types.push_back(Arg->getType());
    const Cell Made = makeObject(R, Arguments, Types, nullptr, At);
    if (Made->What == Value::Module || Made->What == Value::Unknown)
      return Made;
    Value V;
    V.What = Value::Pointer;
    V.Target = Made;
    return cell(std::move(V));
  }
  if (Name == "get" && Arguments.size() == 1) {
    const TemplateArgumentList *Args = F->getTemplateSpecializationArgs();
    if (Args && Args->size() &&
        Args->get(0).getKind() == TemplateArgument::Integral)
      return element(Arguments.front(),
                     integer(Args->get(0).getAsIntegral().getExtValue()), E);
    return Nothing;
  }
  if (Name == "tie")
    return listOf(Arguments.vec());
  if (Name == "make_pair" || Name == "make_tuple" ||
      Name == "forward_as_tuple") {
    std::vector<Cell> Parts;
    for (const Cell &Part : Arguments)
      Parts.push_back(copyOf(Part));
    return listOf(std::move(Parts));
  }
  if (Name == "max" || Name == "min") {
    std::vector<Cell> From(Arguments.begin(), Arguments.end());
    if (From.size() == 1 && From.front()->What == Value::List)
      From = std::vector(From.front()->Elements);
    if (From.empty())
      return Nothing;
    Cell Unknown;
    const std::optional<size_t> Best = bestOf(From, Name == "max", E, Unknown);
    return Best ? From[*Best] : Unknown;
  }
  if (Name == "abs" && Arguments.size() == 1) {
    if (Arguments[0]->What == Value::Integer &&
        Arguments[0]->Number > INT64_MIN)
      return integer(std::abs(Arguments[0]->Number));
    if (Arguments[0]->What == Value::Real)
      return real(std::abs(Arguments[0]->RealNumber));
    return Arguments[0];
  }
  if ((Name == "gcd" || Name == "lcm") && Arguments.size() == 2 &&
      Arguments[0]->What == Value::Integer &&
      Arguments[1]->What == Value::Integer) {
    const int64_t A = Arguments[0]->Number, B = Arguments[1]->Number;
    // What does not overflow.
    if (std::abs(A) < (1LL << 31) && std::abs(B) < (1LL << 31))
      return integer(Name == "gcd" ? std::gcd(A, B) : std::lcm(A, B));
    return Nothing;
  }
  if (Name == "clamp" && Arguments.size() == 3) {
    for (const Cell &Argument : Arguments)
      if (Argument->What == Value::Unknown)
        return Argument;
    const std::optional<bool> Below =
        truth(arithmetic(BO_LT, Arguments[0], Arguments[1], Context.BoolTy, E));
    const std::optional<bool> Above =
        truth(arithmetic(BO_LT, Arguments[2], Arguments[0], Context.BoolTy, E));
    if (!Below || !Above)
      return Nothing;
    return *Below ? Arguments[1] : *Above ? Arguments[2] : Arguments[0];
  }
  if (Name == "to_string" && Arguments.size() == 1)
    return Arguments[0]->What == Value::Integer
               ? text(std::to_string(Arguments[0]->Number))
               : Nothing;
  if (Name == "swap" && Arguments.size() == 2) {
    std::swap(*Arguments[0], *Arguments[1]);
    return Nothing;
  }
  if (Name == "move" || Name == "forward" || Name == "as_const" ||
      Name == "ref" || Name == "cref" || Name == "addressof" ||
      Name == "static_pointer_cast" || Name == "dynamic_pointer_cast")
    return Arguments.empty() ? Nothing : Arguments.front();
  if (!Arguments.empty() && Arguments.size() <= 2) {
    double Numbers[2] = {0, 0};
    bool Known = true;
    for (unsigned I = 0; I < Arguments.size(); ++I) {
      if (Arguments[I]->What == Value::Integer)
        Numbers[I] = static_cast<double>(Arguments[I]->Number);
      else if (Arguments[I]->What == Value::Real)
        Numbers[I] = Arguments[I]->RealNumber;
      else
        Known = false;
    }
    if (Known)
      if (std::optional<double> Result = computed(Name, Numbers[0], Numbers[1]))
        return convert(real(*Result), F->getReturnType());
  }
  if (Arguments.size() == 1 && Arguments[0]->What == Value::List)
    if (Cell Place = boundOf(Name, Arguments[0]))
      return Place;
  if (Cell Result = callAlgorithm(E, F, Name, Arguments))
    return Result;
  // Whatever else may change what it is given.
  if (!llvm::StringSwitch<bool>(Name)
           .Cases("accumulate", "count", "count_if", "distance", true)
           .Cases("find", "find_if", "max_element", "min_element", true)
           .Cases("all_of", "any_of", "none_of", "equal", true)
           .Default(torch::isTorchDecl(F)))
    for (const Cell &Argument : Arguments) {
      const Cell Changed = unknown(At, "a container after '" + Name + "'");
      if (Argument->What == Value::List)
        *Argument = *Changed;
      else if (Argument->What == Value::Iterator)
        *Argument->Target = *Changed;
    }
  skipClosures(Arguments, At);
  for (const Cell &Argument : Arguments)
    if (Argument->What == Value::Unknown && !Argument->Why.empty())
      return Argument;
  return Nothing;
}

/// What runs \p Arguments, function objects, and how often, is not followed.
void Interpreter::skipClosures(ArrayRef<Cell> Arguments, SourceLocation At) {
  for (const Cell &Argument : Arguments) {
    const FunctionDecl *F =
        Argument->What == Value::Function ? Argument->Callee : nullptr;
    const FunctionDecl *Definition = F ? definitionOf(F) : nullptr;
    if (Definition && !torch::isStdDecl(Definition) &&
        forget(Definition->getBody(), unknown(At, "a function object")))
      note(At, "how often this calls a function object is not known");
  }
}

} // namespace libtorch_tidy::model
