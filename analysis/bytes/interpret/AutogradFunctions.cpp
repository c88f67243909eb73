//===- AutogradFunctions.cpp - Calls of custom autograd functions ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// F::apply() of a class F that derives from torch::autograd::Function: its
/// forward() is followed when it is called, and its backward() when the
/// simulation comes to its node. What it saves lives as long as the node.

#include "analysis/bytes/interpret/Interpreter.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Hooks.h"

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::bytes {

/// F of F::apply(); null for other functions.
static const CXXRecordDecl *appliedBy(const FunctionDecl *F) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (!Method || cpp::nameOf(F) != "apply" || !torch::isTorchDecl(F) ||
      cpp::nameOf(Method->getParent()) != "Function")
    return nullptr;
  const QualType T = typeArgument(Method->getParent(), 0);
  const CXXRecordDecl *R = T.isNull() ? nullptr : T->getAsCXXRecordDecl();
  return R ? R->getDefinition() : nullptr;
}

static const CXXMethodDecl *methodOf(const CXXRecordDecl *R, StringRef Name) {
  for (const CXXMethodDecl *Method : R->methods())
    if (cpp::nameOf(Method) == Name)
      return Method;
  return nullptr;
}

/// An AutogradContext: its saved_data are a member, and what is saved for
/// backward is the only element.
static Cell makeContext(const CXXMethodDecl *Taker) {
  const CXXRecordDecl *R =
      Taker->getNumParams()
          ? cpp::recordOf(cpp::pointeeOf(Taker->getParamDecl(0)->getType()))
          : nullptr;
  const Cell Context = valueOf(Value::Record, &Value::Class, R);
  Context->Elements = {listOf({})};
  if (R && R->hasDefinition())
    for (const FieldDecl *Field : R->getDefinition()->fields())
      if (Field->getName() == "saved_data")
        Context->Members[Field->getCanonicalDecl()] = listOf({});
  return Context;
}

/// What is saved has no part in the graph: a result would keep itself alive,
/// and an input a chain as long as the graph.
static void cutGraph(const Cell &Saved, ArrayRef<TensorPtr> Results) {
  if (Saved->What == Value::Tensor &&
      (Saved->Handle->Maker || llvm::is_contained(Results, Saved->Handle))) {
    Saved->Handle = std::make_shared<TensorInstance>(*Saved->Handle);
    Saved->Handle->Maker = nullptr;
  }
  forEachPart(*Saved, [&](Cell &Part) { cutGraph(Part, Results); });
}

/// Runs \p Backward, and returns the gradients of the arguments \p Wanted of
/// forward(); null for those that it gives none.
static std::vector<TensorPtr>
runBackward(Interpreter &VM, const CXXMethodDecl *Backward, const Cell &Context,
            ArrayRef<unsigned> Wanted, ArrayRef<TensorPtr> Given,
            SourceLocation At) {
  std::vector<TensorPtr> Result(Wanted.size());
  const Cell Gradients = listOf({});
  for (const TensorPtr &T : Given)
    Gradients->Elements.push_back(tensorValue(T));
  const bool GradMode = std::exchange(VM.Pass->GradMode, false);
  // A backward() within this one is not that of the program.
  auto Outside = std::exchange(VM.OnBackward, nullptr);
  const size_t Living = VM.Temporaries.size();
  ++VM.InBackward;
  const Cell All = VM.call(Backward, {pointerTo(Context), Gradients}, nullptr,
                           Backward->getLocation());
  --VM.InBackward;
  VM.OnBackward = std::move(Outside);
  VM.Pass->GradMode = GradMode;
  VM.Temporaries.resize(std::min(Living, VM.Temporaries.size()));
  bool IsKnown = All->What == Value::List || All->What == Value::Tensor;
  for (size_t I = 0; I < Wanted.size() && IsKnown; ++I) {
    const Cell Each = All->What == Value::Tensor ? All
                      : Wanted[I] < All->Elements.size()
                          ? All->Elements[Wanted[I]]
                          : unknown(At, "");
    IsKnown = Each->What == Value::Tensor || Each->What == Value::Null;
    if (Each->What == Value::Tensor && Each->Handle->Shape.Defined)
      Result[I] = Each->Handle;
  }
  if (!IsKnown && !VM.Halted)
    VM.note(Backward->getLocation(),
            "what backward() returns is not known" + VM.because(All));
  return Result;
}

/// As torch::autograd::Function<F>::apply() does it.
static Cell apply(const LibraryCall &C, const CXXRecordDecl *F) {
  Interpreter &VM = C.VM;
  const CXXMethodDecl *Forward = methodOf(F, torch::ForwardMethod);
  const CXXMethodDecl *Backward = methodOf(F, torch::BackwardMethod);
  if (!VM.Pass || !Forward || !Backward)
    return unknown(C.At, "what '" + F->getNameAsString() + "' returns");
  expireTemporaries(C);
  std::vector<TensorPtr> Inputs;
  std::vector<unsigned> Wanted; ///< Their places, of those with a gradient.
  for (unsigned I = 0; I < C.Arguments.size(); ++I) {
    if (C.Arguments[I]->What != Value::Tensor ||
        !C.Arguments[I]->Handle->Shape.Defined)
      continue;
    Inputs.push_back(C.Arguments[I]->Handle);
    if (Inputs.back()->needsGradient())
      Wanted.push_back(I);
  }
  const bool NeedsGradient = !Wanted.empty() && VM.Pass->GradMode;
  VM.setPlace(VM.current(), C.At);
  const NodePtr Node = VM.Pass->makeNode();
  const Cell Context = makeContext(Forward);
  std::vector<Cell> Arguments = {pointerTo(Context)};
  llvm::append_range(Arguments, C.Arguments);
  const bool GradMode = std::exchange(VM.Pass->GradMode, false);
  const size_t Living = VM.Temporaries.size();
  const Cell Result = VM.copyOf(VM.call(Forward, Arguments, nullptr, C.At));
  // The context, too, goes with the call, unless the node has it.
  VM.Temporaries.resize(std::min(Living, VM.Temporaries.size()));
  VM.Pass->GradMode = GradMode;
  if (VM.Halted || unknownIn(Result))
    return Result;
  // An input that is given back is a view of it.
  std::vector<Cell> Parts =
      Result->What == Value::List ? Result->Elements : std::vector{Result};
  for (const Cell &Part : Parts)
    if (Part->What == Value::Tensor && llvm::is_contained(Inputs, Part->Handle))
      Part->Handle = std::make_shared<TensorInstance>(*Part->Handle);
  if (!NeedsGradient) {
    for (const TensorPtr &T : tensorsIn(Parts))
      T->Maker = nullptr;
    return Result;
  }
  const std::vector<TensorPtr> Results = tensorsIn(Parts);
  cutGraph(Context, Results);
  Node->Run = [&VM, Backward, Context, Wanted,
               At = C.At](ArrayRef<TensorPtr> Given) {
    return runBackward(VM, Backward, Context, Wanted, Given, At);
  };
  VM.Pass->record(Node, Inputs, Results);
  return Result;
}

/// x.grad() of \p X.
static TensorPtr gradientOf(const TensorPtr &X) {
  if (!X->Gradient)
    return nullptr;
  auto T = std::make_shared<TensorInstance>();
  T->Shape = X->Shape;
  T->Strides = X->Strides.empty() ? contiguousStrides(T->sizes()) : X->Strides;
  T->Memory = X->Gradient;
  return T;
}

Cell runCheckpointed(Interpreter &VM, const Cell &Input, SourceLocation At,
                     std::function<Cell(const Cell &)> Forward) {
  VM.setPlace(VM.current(), At);
  const NodePtr Node = VM.Pass->makeNode();
  VM.Pass->GradMode = false;
  const Cell Result = VM.copyOf(Forward(Input));
  VM.Pass->GradMode = true;
  if (VM.Halted || Result->What != Value::Tensor)
    return Result;
  const Cell Saved = tensorValue(Input->Handle);
  cutGraph(Saved, {});
  Node->Run = [&VM, Saved, Forward](ArrayRef<TensorPtr> Given) {
    const auto X = std::make_shared<TensorInstance>(*Saved->Handle);
    X->RequiresGrad = true;
    X->Gradient = nullptr;
    const bool GradMode = std::exchange(VM.Pass->GradMode, true);
    const Cell Again = VM.copyOf(Forward(tensorValue(X)));
    VM.Pass->GradMode = GradMode;
    VM.Pass->backward(tensorsIn(Again), Given);
    return std::vector<TensorPtr>{gradientOf(X)};
  };
  VM.Pass->record(Node, {Input->Handle}, {Result->Handle});
  return Result;
}

/// saved_data[\p Key], which is added if it is missing.
static Cell savedData(const Cell &Data, const Cell &Key) {
  for (const Cell &Each : Data->Elements)
    if (Each->Elements.front()->Name == Key->Name)
      return Each->Elements.back();
  Data->Elements.push_back(listOf({text(Key->Name), valueOf(Value::Null)}));
  return Data->Elements.back()->Elements.back();
}

/// A method of the context \p Context. Null for those that change nothing here.
static Cell callContext(const LibraryCall &C, const Cell &Context) {
  Cell &Saved = Context->Elements.front();
  if (C.Name == "get_saved_variables")
    return C.VM.copyOf(Saved);
  if (C.Name == "save_for_backward" && !C.Arguments.empty())
    Saved = C.VM.copyOf(C.Arguments.front());
  return valueOf(Value::Other);
}

//===----------------------------------------------------------------------===//
// Autocast
//===----------------------------------------------------------------------===//

ElementType Interpreter::AutocastState::type() const {
  return Type ? *Type
              : *elementType(Device == DeviceKind::Cuda ? "float16"
                                                        : "bfloat16");
}

/// Is \p C, a function of at::autocast, one for the device of the figures?
static bool isForDevice(const LibraryCall &C) {
  const bool OnCuda = C.VM.Autocast.Device == DeviceKind::Cuda;
  if (C.F->getNumParams() &&
      C.F->getParamDecl(0)->getType()->isEnumeralType() &&
      !decidesElementType(C.F->getParamDecl(0)->getType())) {
    const Cell &Device = C.Arguments.front();
    constexpr int64_t Cuda = 1; // Of c10::DeviceType; that of the CPU is 0.
    return Device->What != Value::Integer ||
           Device->Number == (OnCuda ? Cuda : 0);
  }
  // Those that name no device are for GPUs.
  return llvm::StringSwitch<bool>(C.Name)
      .Cases("set_cpu_enabled", "is_cpu_enabled", "set_autocast_cpu_dtype",
             "get_autocast_cpu_dtype", !OnCuda)
      .Cases("set_enabled", "is_enabled", "set_autocast_gpu_dtype",
             "get_autocast_gpu_dtype", OnCuda)
      .Default(false);
}

Cell callAutocast(const LibraryCall &C) {
  const auto *Around =
      dyn_cast<NamespaceDecl>(C.F->getEnclosingNamespaceContext());
  if (!torch::isTorchDecl(C.F) || isa<CXXMethodDecl>(C.F) || !Around ||
      Around->getName() != "autocast")
    return nullptr;
  Interpreter::AutocastState &Now = C.VM.Autocast;
  const Cell Last = C.Arguments.empty() ? nullptr : C.Arguments.back();
  const std::optional<bool> On = Last ? truth(Last) : std::nullopt;
  if (C.Name == "increment_nesting")
    return integer(++Now.Nesting);
  if (C.Name == "decrement_nesting")
    return integer(--Now.Nesting);
  if (C.Name == "clear_cache" && C.VM.Pass)
    C.VM.Pass->clearCasts();
  if (C.Name == "set_autocast_cache_enabled")
    Now.Caches = On.value_or(true);
  else if (!isForDevice(C))
    return valueOf(Value::Other);
  else if (C.Name.starts_with("is_"))
    return integer(Now.IsOn);
  else if (C.Name.starts_with("get_"))
    return typeValue(Now.type());
  else if (C.Name.ends_with("_dtype"))
    Now.Type = Last && Last->What == Value::Type ? Last->Element : std::nullopt;
  else
    Now.IsOn = On.value_or(false);
  if (C.VM.Pass) {
    if (C.Name.ends_with("_enabled") && !On)
      C.VM.note(C.At, "whether this switches autocast on is not known");
    C.VM.Pass->setAutocast(Now.inUse(), Now.Caches);
  }
  return valueOf(Value::Other);
}

Cell callAutograd(const LibraryCall &C) {
  if (const CXXRecordDecl *F = appliedBy(C.F))
    return apply(C, F);
  const Cell Object = C.Object ? targetOf(C.Object) : nullptr;
  if (!Object || !C.VM.Pass)
    return nullptr;
  const auto *Method = dyn_cast<CXXMethodDecl>(C.F);
  if (Object->What == Value::Record && Method && !Object->Elements.empty() &&
      cpp::nameOf(Method->getParent()) == "AutogradContext")
    return callContext(C, Object);
  if (Object->What == Value::List && !C.Arguments.empty() &&
      C.Arguments.front()->What == Value::Text && torch::savedDataKey(C.E))
    return savedData(Object, C.Arguments.front());
  // A value that saved_data has.
  if (Method && cpp::nameOf(Method->getParent()) == "IValue" &&
      C.Name.starts_with("to"))
    return C.Object;
  if (Object->What != Value::Tensor || !torch::isTorchDecl(C.F))
    return nullptr;
  if (C.Name == "requires_grad_" || C.Name == "set_requires_grad") {
    Object->Handle->RequiresGrad =
        C.Arguments.empty() ? true : truth(C.Arguments.front()).value_or(true);
    return C.Object;
  }
  if (C.Name == "grad") {
    const TensorPtr Gradient = gradientOf(Object->Handle);
    return tensorValue(Gradient ? Gradient : undefinedTensor());
  }
  if (C.VM.InBackward && C.Name == "backward") {
    C.VM.Pass->backward(Object->Handle,
                        C.Arguments.empty()
                            ? std::vector<TensorPtr>()
                            : tensorsIn(C.Arguments.take_front()));
    return valueOf(Value::Other);
  }
  return nullptr;
}

} // namespace libtorch_tidy::bytes
