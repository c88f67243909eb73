//===- ModuleCalls.cpp - What LibTorch's functions do to modules ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Interpreter.h"
#include "analysis/cpp/Calls.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

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
  // The register functions throw otherwise.
  if (Name == UnknownName || (!Name.empty() && !Name.contains('.')))
    return true;
  VM.throws(At, "a " + What + " cannot be registered as '" + Name + "'");
  return false;
}

static void addChild(Interpreter &VM, ModuleInstance &M, StringRef Name,
                     const Cell &Child, SourceLocation At) {
  if (!mayRegister(VM, Name, "module", At) || Child->What == Value::Null)
    return;
  if (Child->What != Value::Module) {
    M.IsIncomplete = true;
    VM.note(At, "what is registered as '" + Name + "' is not known" +
                    VM.because(Child));
    return;
  }
  if (hasNamed(M.Children, Name))
    return VM.throws(At, "'" + Name + "' is registered twice");
  M.Children.push_back({Name.str(), Child->Held});
}

static void addTensor(Interpreter &VM, ModuleInstance &M, bool IsParameter,
                      StringRef Name, const Cell &Given,
                      std::optional<bool> RequiresGrad, SourceLocation At) {
  if (!mayRegister(VM, Name, "tensor", At))
    return;
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
    return VM.throws(At, "'" + Name + "' is registered twice");
  if (IsParameter && Handle->Shape.Defined) {
    Handle->RequiresGrad = RequiresGrad;
    if (!RequiresGrad)
      VM.note(At, "whether '" + Name + "' gets a gradient is not known");
  }
  Tensors.push_back({Name.str(), std::move(Handle)});
}

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

static void visitModules(const ModulePtr &M, const std::string &Prefix,
                         std::set<const ModuleInstance *> &Seen,
                         VisitModule Visit) {
  if (!Seen.insert(M.get()).second)
    return;
  Visit(M, Prefix);
  for (const ModuleInstance::Child &Child : M->Children)
    visitModules(Child.Module, Prefix + Child.Name + ".", Seen, Visit);
}

void forEachModule(const ModulePtr &M, VisitModule Visit) {
  std::set<const ModuleInstance *> Seen;
  visitModules(M, "", Seen, Visit);
}

void convertModule(const ModulePtr &Root, std::optional<ElementType> Type) {
  forEachModule(Root, [&](const ModulePtr &M, StringRef) {
    for (auto *Tensors : {&M->Parameters, &M->Buffers})
      for (ModuleInstance::Tensor &T : *Tensors) {
        T.Handle->Shape.Type = Type;
        T.Handle->Memory = nullptr;
      }
  });
}

//===----------------------------------------------------------------------===//
// Methods that change what is registered
//===----------------------------------------------------------------------===//

static Cell registerModule(const LibraryCall &C) {
  addChild(C.VM, *C.Object->Held, firstName(C.Arguments), C.Arguments[1], C.At);
  return C.Arguments[1];
}

template <bool IsParameter> static Cell registerTensor(const LibraryCall &C) {
  addTensor(C.VM, *C.Object->Held, IsParameter, firstName(C.Arguments),
            C.Arguments[1],
            C.Arguments.size() > 2 ? truth(C.Arguments[2]) : true, C.At);
  return C.Arguments[1];
}

static Cell replaceModule(const LibraryCall &C) {
  ModuleInstance &M = *C.Object->Held;
  const auto It = findNamed(M.Children, firstName(C.Arguments));
  if (It == M.Children.end() || C.Arguments[1]->What != Value::Module) {
    C.VM.fail(C.At, "what '" + C.Name + "' replaces is not known");
    return C.Nothing;
  }
  It->Module = C.Arguments[1]->Held;
  return C.Arguments[1];
}

/// By its name; it is given.
static Cell unregister(const LibraryCall &C) {
  ModuleInstance &M = *C.Object->Held;
  const auto Elements = elementsOf(M);
  const auto It =
      llvm::find_if(Elements, [Name = firstName(C.Arguments)](const auto &E) {
        return E.first == Name;
      });
  if (It == Elements.end()) {
    C.VM.fail(C.At, "what '" + C.Name + "' takes away is not known");
    return C.Nothing;
  }
  const auto Place = It - Elements.begin();
  if (isParameterContainer(M.ClassName))
    M.Parameters.erase(M.Parameters.begin() + Place);
  else
    M.Children.erase(M.Children.begin() + Place);
  return It->second;
}

static Cell clearModule(const LibraryCall &C) {
  ModuleInstance &M = *C.Object->Held;
  M.Children.clear();
  if (isParameterContainer(M.ClassName))
    M.Parameters.clear();
  return C.Nothing;
}

static Cell appendOne(const LibraryCall &C) {
  append(C.VM, *C.Object->Held, C.Arguments, C.At);
  return C.Object;
}

static Cell extendModule(const LibraryCall &C) {
  appendAll(C.VM, *C.Object->Held, C.Arguments.front(), C.At);
  return C.Object;
}

/// insert(place, module), or insert(key, element) of a dictionary.
static Cell insertInto(const LibraryCall &C) {
  ModuleInstance &M = *C.Object->Held;
  if (C.Arguments[0]->What == Value::Text) {
    append(C.VM, M, C.Arguments, C.At);
    return isParameterContainer(M.ClassName) ? C.Arguments[1] : C.Object;
  }
  const size_t Before = M.Children.size();
  append(C.VM, M, {C.Arguments[1]}, C.At);
  // The others move up, and are renamed.
  const std::optional<size_t> Place = indexIn(C.Arguments[0], Before + 1);
  if (Place && M.Children.size() > Before) {
    std::rotate(M.Children.begin() + *Place, M.Children.end() - 1,
                M.Children.end());
    for (size_t I = 0; I < M.Children.size(); ++I)
      M.Children[I].Name = std::to_string(I);
  }
  return C.Object;
}

static Cell convertTo(const LibraryCall &C) {
  std::optional<ElementType> Type;
  for (const Cell &Argument : C.Arguments)
    if (Argument->What == Value::Type)
      Type = Argument->Element;
  if (!Type)
    C.VM.note(C.At, "the type that 'to' converts to is not known");
  convertModule(C.Object->Held, Type);
  return C.Nothing;
}

/// train(on) and eval().
template <bool On> static Cell train(const LibraryCall &C) {
  const bool Trains =
      On && (C.Arguments.empty() || truth(C.Arguments.front()).value_or(true));
  forEachModule(C.Object->Held, [&](const ModulePtr &Each, StringRef) {
    Each->IsTraining = Trains;
  });
  return C.Nothing;
}

//===----------------------------------------------------------------------===//
// Methods that ask
//===----------------------------------------------------------------------===//

/// The module itself.
static Cell sameModule(const LibraryCall &C) { return C.Object; }

static Cell moduleElement(const LibraryCall &C) {
  return C.Arguments.empty() ? C.Object
                             : element(C.Object, C.Arguments.front(), C.E);
}

static Cell containsKey(const LibraryCall &C) {
  const std::string Key = firstName(C.Arguments);
  if (Key == UnknownName)
    return C.Nothing;
  return integer(
      llvm::any_of(elementsOf(*C.Object->Held),
                   [&](const auto &Element) { return Element.first == Key; }));
}

/// A holder or AnyModule asks whether it holds something.
static Cell isModuleEmpty(const LibraryCall &C) {
  const ModelClass Kind = modelClass(cast<CXXMethodDecl>(C.F)->getParent());
  if (Kind == ModelClass::Holder || Kind == ModelClass::AnyModule)
    return integer(0);
  const ModuleInstance &M = *C.Object->Held;
  return M.IsIncomplete && !elementCount(M) ? C.Nothing
                                            : integer(!elementCount(M));
}

/// size(), begin() and end(), where all elements are known.
static Cell moduleBound(const LibraryCall &C) {
  const ModuleInstance &M = *C.Object->Held;
  const auto Size = static_cast<int64_t>(elementCount(M));
  if (M.IsIncomplete)
    return C.Nothing;
  return C.Name == "size" ? integer(Size)
                          : iteratorAt(C.Object, C.Name == "end" ? Size : 0);
}

template <bool Keys> static Cell elementsListed(const LibraryCall &C) {
  std::vector<Cell> All;
  for (const auto &[Name, Element] : elementsOf(*C.Object->Held))
    All.push_back(Keys ? text(Name) : Element);
  return listOf(std::move(All));
}

static Cell modulesListed(const LibraryCall &C) {
  std::vector<Cell> All;
  forEachModule(C.Object->Held, [&](const ModulePtr &Each, StringRef) {
    All.push_back(moduleValue(Each));
  });
  if (!C.Arguments.empty() && truth(C.Arguments.front()) == false)
    All.erase(All.begin());
  return listOf(std::move(All));
}

template <bool Named> static Cell childrenListed(const LibraryCall &C) {
  std::vector<Cell> All;
  for (const ModuleInstance::Child &Child : C.Object->Held->Children) {
    const Cell Module = moduleValue(Child.Module);
    All.push_back(Named ? listOf({text(Child.Name), Module}) : Module);
  }
  return listOf(std::move(All));
}

template <std::vector<ModuleInstance::Tensor> ModuleInstance::*Tensors,
          bool Named>
static Cell tensorsListed(const LibraryCall &C) {
  std::vector<Cell> All;
  forEachModule(C.Object->Held, [&](const ModulePtr &Each, StringRef Prefix) {
    for (const ModuleInstance::Tensor &T : (*Each).*Tensors) {
      const Cell Handle = tensorValue(T.Handle);
      All.push_back(Named ? listOf({text(Prefix.str() + T.Name), Handle})
                          : Handle);
    }
  });
  return listOf(std::move(All));
}

static Cell pretrained(const LibraryCall &C) {
  return moduleValue(
      makePretrained(C.VM, cast<CXXMethodDecl>(C.F), C.Arguments, C.At));
}

void expireTemporaries(const LibraryCall &C) {
  if (!C.E)
    return;
  const auto Written = cpp::Call(C.E).written();
  for (size_t I = 0; I < Written.size() && I < C.Arguments.size(); ++I) {
    const Cell &Given = C.Arguments[I];
    const Expr *E = Written[I]->IgnoreParens();
    // A temporary that nothing but its expression holds.
    constexpr long HeldByExpression = 2;
    const auto *Made = dyn_cast<MaterializeTemporaryExpr>(E);
    if (Given->What == Value::Tensor &&
        (Made ? Given.use_count() <= HeldByExpression : E->isXValue()))
      Given->IsExpiring = true;
  }
}

static Cell runForward(const LibraryCall &C) {
  if (C.VM.isInProgram())
    C.VM.OnForward(C.Object->Held, C.Arguments, C.At);
  if (C.VM.Halted)
    return C.Nothing;
  if (!C.VM.Pass)
    return sizesOfForward(C.VM, C.Object->Held, C.Arguments, C.At);
  // A class of LibTorch's names its own forward(), which is not virtual.
  const ModulePtr M = C.Object->Held;
  const CXXRecordDecl *Own = cast<CXXMethodDecl>(C.F)->getParent();
  expireTemporaries(C);
  const bool IsDerived = M->Class && !torch::isTorchDecl(M->Class);
  if (torch::isModuleClass(Own) && IsDerived)
    return forwardOfLibrary(C.VM, M, modelClassName(Own), C.Arguments, C.At);
  // It is the library that calls forward(), and ends its parameters.
  const size_t Living = C.VM.Temporaries.size();
  const Cell Result = forward(C.VM, M, C.Arguments, C.At);
  C.VM.Temporaries.resize(std::min(Living, C.VM.Temporaries.size()));
  return Result;
}

/// What has nothing to do with what there is, apply(function) among it.
static Cell nothing(const LibraryCall &C) {
  skipClosures(C.VM, C.Arguments, C.At);
  return C.Nothing;
}

static Cell zeroGrad(const LibraryCall &C) {
  std::vector<TensorPtr> All;
  forEachModule(C.Object->Held, [&](const ModulePtr &Each, StringRef) {
    for (const ModuleInstance::Tensor &T : Each->Parameters)
      All.push_back(T.Handle);
  });
  return zeroGradients(C, All);
}

//===----------------------------------------------------------------------===//
// All methods
//===----------------------------------------------------------------------===//

static const CallRule Rules[] = {
    {"register_module", registerModule, 2, CallRule::Any, CallRule::Adds},
    {"register_parameter", registerTensor<true>, 2, CallRule::Any,
     CallRule::Adds},
    {"register_buffer", registerTensor<false>, 2, CallRule::Any,
     CallRule::Adds},
    {"replace_module", replaceModule, 2, CallRule::Any, CallRule::TakesBack},
    {"unregister_module pop", unregister, 0, CallRule::Any,
     CallRule::TakesBack},
    {"clear", clearModule, 0, CallRule::Any, CallRule::TakesBack},
    {"push_back append", appendOne, 0, CallRule::Any, CallRule::Adds},
    {"extend update", extendModule, 1, CallRule::Any, CallRule::Adds},
    {"insert", insertInto, 2, CallRule::Any, CallRule::Adds},
    {"to", convertTo, 0, CallRule::Any, CallRule::TakesBack},
    {"train", train<true>},
    {"eval", train<false>},
    {"as shared_from_this", sameModule},
    {"at", moduleElement},
    {"size begin end", moduleBound},
    {"contains", containsKey},
    {"is_empty empty", isModuleEmpty},
    {"is_training",
     [](auto &C) { return integer(C.Object->Held->IsTraining); }},
    {"keys", elementsListed<true>},
    {"values", elementsListed<false>},
    {"modules", modulesListed},
    {"children", childrenListed<false>},
    {"named_children", childrenListed<true>},
    {"parameters", tensorsListed<&ModuleInstance::Parameters, false>},
    {"named_parameters", tensorsListed<&ModuleInstance::Parameters, true>},
    {"buffers", tensorsListed<&ModuleInstance::Buffers, false>},
    {"named_buffers", tensorsListed<&ModuleInstance::Buffers, true>},
    {"clone",
     [](auto &C) { return moduleValue(cloneOf(C.VM, C.Object->Held)); }},
    {"from_pretrained", pretrained},
    {"forward any_forward forward_with_packed_input", runForward},
    {"zero_grad", zeroGrad},
    {"name pretty_print save load apply reset_parameters reset "
     "flatten_parameters _reset_parameters",
     nothing},
};

/// The row that \p Method, one of a module or of what holds one, has in Rules.
static StringRef rowName(const CXXMethodDecl *Method, bool OfModule) {
  const StringRef Name = cpp::nameOf(Method);
  const OverloadedOperatorKind Op = Method->getOverloadedOperator();
  if (Op == OO_Subscript)
    return "at";
  // ptr() is the module itself, ptr(i) an element.
  if (Name == "ptr" || Name == "get")
    return OfModule && Method->getNumParams() ? "at" : "as";
  if (OfModule)
    return Name == "to" && !torch::convertsModule(Method) ? "name" : Name;
  if (Op == OO_Arrow || Op == OO_Star)
    return "as";
  if (Op == OO_Call)
    return "forward";
  return llvm::StringSwitch<StringRef>(Name)
      .Cases("forward", "any_forward", "as", "is_empty", "clone",
             "from_pretrained", Name)
      .Default("");
}

const CallRule *moduleRule(const FunctionDecl *F) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(F);
  if (!Method || !torch::isTorchDecl(Method) ||
      isa<CXXConversionDecl>(Method)) // To bool.
    return nullptr;
  const bool OfModule = torch::isModuleClass(Method->getParent());
  const ModelClass Kind = modelClass(Method->getParent());
  if (!OfModule && Kind != ModelClass::Holder && Kind != ModelClass::AnyModule)
    return nullptr;
  return ruleNamed(Rules, rowName(Method, OfModule));
}

Cell callModule(LibraryCall C) {
  C.Object = targetOf(C.Object);
  C.Nothing = unknown(C.At, "what '" + C.Name + "' returns");
  const CallRule &Rule = *C.OnModule;
  const Value::Kind What = C.Object ? C.Object->What : Value::Other;
  if (What == Value::Module || Rule.Handle == pretrained)
    return C.Arguments.size() < Rule.Least ? C.Nothing : Rule.Handle(C);
  // The module is not known.
  if (Rule.Handle == sameModule)
    return C.Object ? C.Object : C.Nothing;
  if (Rule.Handle == isModuleEmpty && What == Value::Null)
    return integer(1);
  if (Rule.Does == CallRule::Adds)
    C.VM.note(C.At, "the module that '" + C.Name + "' adds to is not known" +
                        (C.Object ? C.VM.because(C.Object) : ""));
  return What == Value::Unknown ? C.Object : C.Nothing;
}

} // namespace libtorch_tidy::bytes
