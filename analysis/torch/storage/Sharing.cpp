//===- Sharing.cpp - Whose memory a tensor has ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/storage/Sharing.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UnitContext.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/Effects.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"
#include "clang/AST/ASTContext.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

namespace {

/// x.to(...): what is asked, and whether a copy is asked for.
Sharing conversion(const CallExpr *Call, const TensorTraits &Input,
                   const ASTContext &Context, TensorTraits &Result) {
  Asked A;
  unsigned Flags = 0;
  bool MustCopy = false, Reshapes = false;
  for (const Expr *Arg : cpp::writtenArguments(Call)) {
    QualType T = Arg->getType();
    const Expr *Inner = cpp::stripImplicit(Arg);
    if (T->isBooleanType()) {
      // non_blocking, copy
      if (++Flags == 2) {
        std::optional<bool> Copy = cpp::constantBool(Arg, Context);
        MustCopy = Copy == true;
        A.Unknown |= !Copy;
      }
    } else if (isTensor(T)) {
      A.Unknown = true;
    } else if (Inner &&
               cpp::isOrDerivesFrom(Inner->getType(), "c10::nullopt_t")) {
      continue;
    } else if (Inner && (isScalarType(Inner->getType()) ||
                         isDeviceType(Inner->getType()) || isTensorOptions(T) ||
                         cpp::isOrDerivesFrom(T, "c10::Device"))) {
      readAsked(Arg, Context, A);
    } else {
      Reshapes = true; // A memory format.
    }
  }
  Result.Dtype = A.AnyDtype ? A.Dtype : A.Unknown ? std::nullopt : Input.Dtype;
  Result.OnHost = A.AnyDevice ? A.Cpu : !A.Unknown && !A.Cuda && Input.OnHost;
  Result.OnDevice = !A.Unknown && (A.Cuda || (!A.AnyDevice && Input.OnDevice));
  Result.Contiguous = Input.Contiguous && !Reshapes;
  if (MustCopy || (A.Dtype && Input.Dtype && *A.Dtype != *Input.Dtype) ||
      (A.Cuda && Input.OnHost) || (A.Cpu && Input.OnDevice))
    return Sharing::None;
  bool SameDtype =
      !A.AnyDtype || (A.Dtype && Input.Dtype && *A.Dtype == *Input.Dtype);
  bool SameDevice = !A.AnyDevice || (A.Cpu && Input.OnHost);
  return SameDtype && SameDevice && !Reshapes && !A.Unknown ? Sharing::Handle
                                                            : Sharing::Perhaps;
}

/// x.index({...}): a view, unless a tensor is among the indices.
Sharing indexing(const CallExpr *Call) {
  llvm::SmallVector<const Expr *, 4> Args = cpp::writtenArguments(Call);
  if (Args.size() != 1)
    return Sharing::Perhaps;
  llvm::SmallVector<const Expr *, 4> Indices = cpp::listElements(Args[0]);
  bool Plain = true;
  for (const Expr *Index : Indices) {
    QualType T = Index->getType();
    if (isTensor(T))
      return Sharing::None;
    Plain &= T->isIntegralOrEnumerationType() ||
             cpp::isOrDerivesFrom(T, {"at::indexing::Slice",
                                      "at::indexing::EllipsisIndexType",
                                      "c10::nullopt_t", "std::nullopt_t"}) ||
             isa<clang::StringLiteral>(Index);
  }
  return Plain && !Indices.empty() ? Sharing::Memory : Sharing::Perhaps;
}

/// x[i], x.narrow(0, ...), x.index({i, Slice()}): whole rows, next to each
/// other in memory.
bool takesRows(const CallExpr *Call, StringRef Name,
               const ASTContext &Context) {
  llvm::SmallVector<const Expr *, 4> Args = cpp::writtenArguments(Call);
  auto IsFirst = [&](const Expr *Dimension) {
    return cpp::constantInt(Dimension, Context) == 0;
  };
  if (isa<CXXOperatorCallExpr>(Call))
    return Args.size() == 1 && Args[0]->getType()->isIntegerType();
  if (Name == "select" || Name == "narrow")
    return !Args.empty() && IsFirst(Args[0]);
  if (Name == "slice")
    return Args.empty() || (Args.size() < 4 && IsFirst(Args[0]));
  if (Name != "index" || Args.size() != 1)
    return false;
  // Whole numbers, and one slice at the end.
  llvm::SmallVector<const Expr *, 4> Indices = cpp::listElements(Args[0]);
  return !Indices.empty() &&
         llvm::all_of(llvm::drop_end(Indices), [](const Expr *Index) {
           return Index->getType()->isIntegralOrEnumerationType();
         });
}

/// Functions of torch::nn::functional work in place when their options say so.
bool mayWorkInPlace(const CallExpr *Call) {
  return runsFunctional(Call) && cpp::writtenArguments(Call).size() > 1;
}

/// torch::rand({2}, torch::kCUDA): what the options ask for, also by default:
/// those of randint() are kLong.
TensorTraits madeWith(const CallExpr *Call, const ASTContext &Context) {
  TensorTraits Made;
  for (const Expr *Argument : Call->arguments()) {
    if (!isTensorOptions(Argument->getType()))
      continue;
    const auto *Default = dyn_cast<CXXDefaultArgExpr>(Argument);
    Asked A;
    readAsked(Default ? Default->getExpr() : Argument, Context, A);
    if (A.Unknown)
      continue;
    Made.OnDevice |= A.Cuda;
    Made.Dtype = A.Dtype;
  }
  return Made;
}

} // namespace

StorageUse storageUse(const CallExpr *Call, const TensorTraits &Input,
                      const ASTContext &Context) {
  StorageUse Use;
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  const OpFacts *Facts = opFacts(Callee);
  if (!Facts || !mayHoldTensor(Call->getType()))
    return Use;
  StringRef Name = Facts->Name;
  const auto *Method = dyn_cast<CXXMethodDecl>(Callee);
  if (Method && !isTensorClass(Method->getParent()))
    return Use;
  Use.Of = cpp::calledOn(Call);
  if (!Use.Of && Call->getNumArgs() > 0)
    Use.Of = Call->getArg(0);

  switch (Facts->Shares) {
  case Sharing::Unknown:
    return Use;
  case Sharing::Handle:
    Use.How = Sharing::Handle;
    Use.Traits = Input;
    return Use;
  case Sharing::None:
    if (Call->isPRValue() && !mayWorkInPlace(Call))
      Use.How = Sharing::None;
    Use.Traits = madeWith(Call, Context);
    return Use;
  case Sharing::Perhaps:
  case Sharing::Memory:
    break;
  }
  // What follows depends on the arguments and on the tensor.
  Use.How = Facts->Shares;
  Use.IsPart = Facts->TakesPart;
  Use.NewHandle =
      Use.How == Sharing::Memory || Name == "index" || Name == "reshape";
  Use.Traits = Input;
  if (Use.How == Sharing::Memory) {
    Use.Traits.Contiguous &=
        Facts->KeepsLayout || takesRows(Call, Name, Context);
    // view(dtype) has another one.
    if (Name == "view")
      for (const Expr *Arg : cpp::writtenArguments(Call))
        if (isScalarType(Arg->getType()))
          Use.Traits.Dtype = std::nullopt;
  } else if (Name == "index") {
    Use.How = indexing(Call);
    Use.Traits.Contiguous &= takesRows(Call, Name, Context);
  } else if (Name == "to" || Name == "toType") {
    Use.How = conversion(Call, Input, Context, Use.Traits);
  } else if (Name == "cpu") {
    Use.How = Input.OnHost     ? Sharing::Handle
              : Input.OnDevice ? Sharing::None
                               : Sharing::Perhaps;
    Use.Traits.OnHost = true;
    Use.Traits.OnDevice = false;
  } else if (Name == "cuda") {
    Use.How = Input.OnHost ? Sharing::None : Sharing::Perhaps;
    Use.Traits.OnHost = Use.Traits.Contiguous = false;
    Use.Traits.OnDevice = true;
  } else if (Name == "contiguous") {
    Use.Traits.Contiguous = cpp::writtenArguments(Call).empty();
    Use.How = Input.Contiguous && Use.Traits.Contiguous ? Sharing::Handle
                                                        : Sharing::Perhaps;
  } else if (Name == "reshape" || Name == "flatten") {
    if (Input.Contiguous)
      Use.How = Sharing::Memory;
  } else {
    Use.Traits = {};
  }
  return Use;
}

const Expr *containerOf(const CallExpr *Call) {
  if (!cpp::isOfLibrary(Call->getDirectCallee()))
    return nullptr;
  const Expr *Object = cpp::calledOn(Call);
  if (!Object)
    return cpp::isStdCall(Call, cpp::Std::Part) && Call->getNumArgs() == 1
               ? Call->getArg(0)
               : nullptr;
  bool Takes = false;
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call))
    Takes = Op->getOperator() == OO_Subscript ||
            Op->getOperator() == OO_Arrow || Op->getOperator() == OO_Star;
  else
    Takes = cpp::isOneOf(cpp::calleeName(Call),
                         {"at", "front", "back", "get", "value", "elements",
                          "toTuple", "toTupleRef", "toTensor", "toTensorVector",
                          "toTensorList", "toList", "toListRef",
                          "toGenericDict", "vec", "asArrayRef"});
  return Takes && !isTensor(Object->getType()) ? Object : nullptr;
}

/// The reduction that a function is called with: its default, or a constant
/// other than none.
static bool reducesToNumber(const CallExpr *Call, const ASTContext &Context) {
  llvm::SmallVector<const Expr *, 4> Args = cpp::writtenArguments(Call);
  if (Args.size() < 2)
    return false;
  for (const Expr *Arg : llvm::ArrayRef(Args).drop_front(2)) {
    if (isTensor(Arg->getType()))
      continue; // Weights.
    if (!Arg->getType()->isIntegerType() ||
        cpp::constantInt(Arg, Context).value_or(0) == 0)
      return false;
  }
  return true;
}

/// Is \p E a criterion that is made without options, in its declaration?
static bool hasDefaultOptions(const Expr *E) {
  const VarDecl *Var = cpp::variableOf(cpp::stripPointers(E));
  if (!Var || isa<ParmVarDecl>(Var) || !Var->hasInit())
    return false;
  const auto *Construct =
      dyn_cast_or_null<CXXConstructExpr>(cpp::stripImplicit(Var->getInit()));
  return Construct && cpp::writtenArguments(Construct).empty();
}

bool pinsUnreduced(const CallExpr *Call, const ASTContext &Context) {
  const OpFacts *Facts = opFacts(Call);
  if (Facts && Facts->PinsBuffer)
    return reducesToNumber(Call, Context);
  std::optional<ModuleCall> M = asModuleCall(Call);
  return M && M->Module && hasDefaultOptions(M->Module) &&
         cpp::isOrDerivesFrom(
             heldClass(M->Module->getType()),
             {"torch::nn::MSELossImpl", "torch::nn::SmoothL1LossImpl",
              "torch::nn::BCELossImpl", "torch::nn::SoftMarginLossImpl"});
}

std::pair<Fresh, TensorTraits> freshMemory(const Expr *E,
                                           const ASTContext &Context,
                                           LocalTensors Local, bool OfHandle,
                                           FreshCalls Calls) {
  using State = std::pair<Fresh, TensorTraits>;
  E = cpp::stripImplicit(E);
  if (!E)
    return {Fresh::No, {}};
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
    return Var && Local ? Local(Var) : State(Fresh::No, {});
  }
  if (const auto *Either = dyn_cast<ConditionalOperator>(E)) {
    State A =
        freshMemory(Either->getTrueExpr(), Context, Local, OfHandle, Calls);
    State B =
        freshMemory(Either->getFalseExpr(), Context, Local, OfHandle, Calls);
    // It may be the one that is alone.
    return {A.first == B.first ? A.first : Fresh::Perhaps, {}};
  }
  const auto *Call = dyn_cast<CallExpr>(E);
  if (!Call)
    return {Fresh::No, {}};
  if (const Expr *Container = containerOf(Call))
    return {freshMemory(Container, Context, Local, OfHandle, Calls).first, {}};
  const Fresh Known = Calls ? Calls(Call) : Fresh::No;
  if (Known != Fresh::No)
    return {Known, {}};
  if (Call->isPRValue())
    if (std::optional<ModuleCall> M = asModuleCall(Call))
      return {M->Script ? Fresh::Yes : Fresh::Likely, {}};
  StorageUse Use = storageUse(Call, {}, Context);
  if (Use.How == Sharing::Unknown)
    return {Fresh::No, {}};
  if (Use.How == Sharing::None)
    return {Fresh::Yes, Use.Traits};
  State Input = freshMemory(Use.Of, Context, Local, OfHandle, Calls);
  Use = storageUse(Call, Input.second, Context);
  if (Use.How == Sharing::None || (OfHandle && Use.NewHandle))
    return {Fresh::Yes, Use.Traits};
  if (Use.How == Sharing::Perhaps)
    return {std::max(Input.first, Fresh::Perhaps), Use.Traits};
  return {Input.first, Use.Traits};
}

/// What memoryRoot() has said of calls: who asks for each link of a chain would
/// walk the rest of it each time.
struct MemoryRoots {
  llvm::DenseMap<const CallExpr *, const VarDecl *> Of;
};

const VarDecl *memoryRoot(const Expr *E, const ASTContext &Context) {
  auto &Known = cpp::ofUnit<MemoryRoots>(const_cast<ASTContext &>(Context)).Of;
  llvm::SmallVector<const CallExpr *, 8> Asked;
  const VarDecl *Root = nullptr;
  while ((E = cpp::stripImplicit(E))) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      Root = dyn_cast<VarDecl>(Ref->getDecl());
    const auto *Call = dyn_cast<CallExpr>(E);
    if (!Call)
      break;
    if (auto It = Known.find(Call); It != Known.end()) {
      Root = It->second;
      break;
    }
    Asked.push_back(Call);
    if (const Expr *Container = containerOf(Call)) {
      E = Container;
      continue;
    }
    StorageUse Use = storageUse(Call, {}, Context);
    if (Use.How == Sharing::Unknown || Use.How == Sharing::None)
      break;
    E = Use.Of;
  }
  for (const CallExpr *Call : Asked)
    Known[Call] = Root;
  return Root;
}

const Expr *viewedBy(const CallExpr *Call) {
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  const OpFacts *Facts = opFacts(Callee);
  if (!Facts)
    return nullptr;
  StorageUse Use = storageUse(Call, {}, Callee->getASTContext());
  bool Shares = Use.How == Sharing::Memory || Use.How == Sharing::Handle ||
                (Use.How == Sharing::Perhaps && Facts->CopiesRarely);
  return Shares ? Use.Of : nullptr;
}

const Expr *viewOf(const CallExpr *Call) {
  const OpFacts *Facts = opFacts(Call);
  if (!Facts || Facts->Shares != Sharing::Memory ||
      Facts->neverDifferentiable() || !isTensor(Call->getType()))
    return nullptr;
  return cpp::calledOn(Call);
}

bool isMetadataAccess(const CallExpr *Call) {
  const OpFacts *Facts = opFacts(Call);
  if ((Facts && Facts->Metadata) ||
      cpp::isOneOf(cpp::calleeName(Call), {"size", "empty", "has_value"}))
    return true;
  // torch::dtype(...), options.device(...): says what a tensor is to be.
  return Call && isTorchDecl(Call->getDirectCallee()) &&
         isTensorOptions(Call->getType());
}

bool takesFirst(const CallExpr *Call, const ASTContext &Context) {
  llvm::SmallVector<const Expr *, 4> Args = cpp::writtenArguments(Call);
  if (Args.empty())
    return true;
  const Expr *Index = Args.back();
  if (cpp::calleeName(Call) == "index")
    Index = cpp::listElements(Args[0]).front();
  else if (cpp::isOneOf(cpp::calleeName(Call), {"narrow", "slice"}))
    return false;
  return Index->getType()->isIntegerType() &&
         cpp::constantInt(Index, Context).value_or(0) == 0;
}

bool takesOpenLength(const CallExpr *Call, const ASTContext &Context) {
  llvm::SmallVector<const Expr *, 4> Bounds = cpp::writtenArguments(Call);
  const StringRef Name = cpp::calleeName(Call);
  if (Name == "index" && !Bounds.empty())
    Bounds = cpp::listElements(Bounds.front());
  if (Name == "narrow") // The last of them is the length.
    Bounds.erase(Bounds.begin(), Bounds.end() - !Bounds.empty());
  else if (Name == "index")
    llvm::erase_if(Bounds, [](const Expr *Index) {
      return !cpp::isOrDerivesFrom(Index->getType(), "at::indexing::Slice");
    });
  else if (Name != "slice")
    return false;
  return llvm::any_of(Bounds, [&](const Expr *Bound) {
    return cpp::anyOf<Expr>(Bound, [&](const Expr *E) {
      return isa<DeclRefExpr, MemberExpr>(E) && E->getType()->isIntegerType() &&
             !cpp::constantInt(E, Context);
    });
  });
}

bool onlyReads(const CallExpr *Call) {
  const OpFacts *Facts = opFacts(Call);
  if (!Facts || Facts->InPlace || Facts->KeepsArguments || Facts->Resizes)
    return false;
  return Facts->Metadata || Facts->neverDifferentiable() ||
         (Facts->Shares == Sharing::None && isTensor(Call->getType()) &&
          Call->isPRValue());
}

const Expr *sameShapeObject(const CallExpr *Call) {
  const OpFacts *Facts = opFacts(Call);
  return Facts && Facts->SameElements ? tensorOf(Call) : nullptr;
}

bool showsWhole(const CallExpr *View) {
  const OpFacts *Facts = opFacts(View);
  return Facts && Facts->ShowsWhole;
}

bool turnsDimensions(const CallExpr *Call) {
  const OpFacts *Facts = opFacts(Call);
  return Facts && cpp::isOneOf(Facts->Name,
                               {"t", "t_", "transpose", "transpose_",
                                "swapaxes", "swapdims", "permute", "movedim",
                                "moveaxis", "mT", "mH", "numpy_T", "adjoint"});
}

SizeAsked askedForSize(const Expr *E) {
  const auto *Call = dyn_cast_or_null<CallExpr>(E);
  const auto Args =
      Call ? cpp::writtenArguments(Call) : llvm::SmallVector<const Expr *, 4>();
  if (Args.size() != 1 || cpp::calleeName(Call) != "size")
    return {};
  return {tensorAskedBy(Call), Args[0]};
}

bool resizesInPlace(const CallExpr *Call) {
  const OpFacts *Facts = opFacts(Call);
  return Facts && Facts->Resizes && tensorOf(Call);
}

bool mayMoveElements(const CallExpr *Call) {
  return resizesInPlace(Call) && cpp::calleeName(Call).starts_with("resize_");
}

} // namespace libtorch_tidy::torch
