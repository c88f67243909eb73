//===- Factories.cpp - Who makes tensors and moves them -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/api/Factories.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TensorTraits.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

namespace {

enum class Holds { Nothing, Dtype, Device, Cpu, Unknown };

Holds holdsDevice(const Expr *E) {
  return namesCpu(E) ? Holds::Cpu : Holds::Device;
}

/// whatHolds(), by the initialisers of variables alone; \p MayChange is set
/// when one of them may hold something else later.
Holds initiallyHolds(const Expr *E, IsSetOnce IsFixed, bool &MayChange) {
  Holds Known = Holds::Nothing;
  // Chains and variables are short; the bound guards against odd code.
  for (unsigned Steps = 0; E && Steps < cpp::MaxChase; ++Steps) {
    E = cpp::stripImplicit(E);
    if (!E)
      break;
    QualType T = E->getType();
    if (isDtype(T))
      return Known == Holds::Nothing ? Holds::Dtype : Known;
    if (isDeviceType(T))
      return holdsDevice(E);
    if (!isTensorOptions(T))
      return isa<StringLiteral>(E) ? holdsDevice(E) : Holds::Unknown;
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
      return cpp::writtenArguments(Construct).empty() ? Known : Holds::Unknown;
    if (const auto *List = dyn_cast<InitListExpr>(E))
      return List->getNumInits() == 0 ? Known : Holds::Unknown;
    if (const VarDecl *Var = cpp::variableOf(E)) {
      if (!Var->hasInit() || isa<ParmVarDecl>(Var))
        return Holds::Unknown;
      MayChange |= !IsFixed(Var);
      E = Var->getInit();
      continue;
    }
    const auto *Call = dyn_cast<CallExpr>(E);
    if (!Call || !isTorchDecl(Call->getDirectCallee()))
      return Holds::Unknown;
    StringRef Name = cpp::calleeName(Call);
    const auto *Member = dyn_cast<CXXMemberCallExpr>(Call);
    const Expr *Object = Member ? Member->getImplicitObjectArgument() : nullptr;
    if (Name == "device" && Call->getNumArgs() >= 1)
      return holdsDevice(Call->getArg(0));
    if (Name == "dtype") {
      if (Known == Holds::Nothing)
        Known = Holds::Dtype;
      if (!Object)
        return Known;
    } else if (Name == "requires_grad" && Call->getNumArgs() == 1 &&
               cpp::constantBool(Call->getArg(0),
                                 Call->getDirectCallee()->getASTContext()) ==
                   false) {
      if (!Object)
        return Known;
    } else if (Name == "options" && Object && isTensor(Object->getType())) {
      // The options of a tensor that has a device.
      return Holds::Device;
    } else {
      return Holds::Unknown;
    }
    E = Object;
  }
  return Holds::Unknown;
}

/// What is known of options, or of what is converted to them.
Holds whatHolds(const Expr *E, IsSetOnce IsFixed = isConstVariable) {
  bool MayChange = false;
  Holds Known = initiallyHolds(E, IsFixed, MayChange);
  // `if (cuda) options = options.device(...)` is how a device is often added.
  bool Lacks = Known == Holds::Nothing || Known == Holds::Dtype;
  return Lacks && MayChange ? Holds::Unknown : Known;
}

/// May \p Call, which makes a tensor of another, stand between a factory and
/// its move?
bool isPassedThrough(const CallExpr *Call, IsSetOnce IsFixed) {
  if (!isTorchDecl(Call->getDirectCallee()) || setsRequiresGrad(Call))
    return false;
  StringRef Name = cpp::calleeName(Call);
  if (Name == "to") {
    auto Written = cpp::writtenArguments(Call);
    return !Written.empty() && whatHolds(Written[0], IsFixed) == Holds::Dtype;
  }
  if (cpp::isOneOf(Name, {"cpu", "cuda", "pin_memory", "set_", "data"}))
    return false;
  if (Name == "toType" || Name == "repeat")
    return true;
  const OpFacts *Facts = opFacts(Call);
  return Facts && (Facts->mayShare() || Facts->InPlace ||
                   cpp::isOneOf(Facts->Name,
                                {"add", "sub", "mul", "div", "neg", "rsub"}));
}

} // namespace

bool isConstVariable(const VarDecl *Var) {
  return Var->getType().isConstQualified();
}

/// See makesOnCpu(); options may name the CPU with \p CpuNamed.
static std::optional<Factory> asFactory(const CallExpr *Call, bool CpuNamed,
                                        IsSetOnce IsFixed) {
  if (!Call || isa<CXXMemberCallExpr, CXXOperatorCallExpr>(Call) ||
      !isTorchDecl(Call->getDirectCallee()) || !isTensor(Call->getType()) ||
      isa<CXXMethodDecl>(Call->getDirectCallee()))
    return std::nullopt;
  Factory F{Call, cpp::calleeName(Call), false, false, true};
  enum Kind { None, Same, Computed, Random };
  Kind What = llvm::StringSwitch<Kind>(F.Name)
                  .Cases("zeros", "ones", "empty", "full", "eye", Same)
                  .Case("arange", Same)
                  .Cases("range", "linspace", "logspace", Computed)
                  .Cases("rand", "randn", "randint", "randperm", Random)
                  .Case("normal", Random)
                  .Default(None);
  if (What == None)
    return std::nullopt;
  F.Random = What == Random;
  F.SameValues = What == Same;
  for (const Expr *Arg : cpp::writtenArguments(Call)) {
    QualType T = Arg->getType();
    if (isTensorOptions(T)) {
      Holds Options = whatHolds(Arg, IsFixed);
      if (Options != Holds::Nothing && Options != Holds::Dtype &&
          (Options != Holds::Cpu || !CpuNamed))
        return std::nullopt;
      F.NoOptions = false;
      continue;
    }
    // A generator belongs to a device; the overloads that take the options one
    // by one wrap each in an optional.
    if (isTensor(T) || isDeviceType(T) ||
        cpp::isOrDerivesFrom(T, "at::Generator") ||
        cpp::nameOf(cpp::recordOf(T)) == "optional")
      return std::nullopt;
    // Devices round the steps of a floating-point range in their own way.
    const Expr *Number = cpp::stripImplicit(Arg);
    if (F.Name == "arange" && (!Number || !Number->getType()->isIntegerType()))
      F.SameValues = false;
  }
  return F;
}

bool makesOnCpu(const CallExpr *Call) {
  return asFactory(Call, /*CpuNamed=*/true, isConstVariable).has_value();
}

std::optional<Factory> cpuFactoryUnder(const Expr *E, IsSetOnce Options) {
  while ((E = cpp::stripImplicit(E))) {
    const auto *Call = dyn_cast<CallExpr>(E);
    if (!Call || !Call->getDirectCallee())
      return std::nullopt;
    if (auto F = asFactory(Call, /*CpuNamed=*/false, Options))
      return F;
    if (!isPassedThrough(Call, Options))
      return std::nullopt;
    const Expr *Tensor = nullptr;
    if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call))
      Tensor = Member->getImplicitObjectArgument();
    if (Tensor && !isTensor(Tensor->getType()))
      return std::nullopt;
    for (const Expr *Arg : Call->arguments()) {
      if (isa<CXXDefaultArgExpr>(Arg) || !mayHoldTensor(Arg->getType()))
        continue;
      if (Tensor || !isTensor(Arg->getType()))
        return std::nullopt;
      Tensor = Arg;
    }
    E = Tensor;
  }
  return std::nullopt;
}

std::optional<DeviceMove> asDeviceMove(const CallExpr *Call) {
  const Expr *Object = tensorOf(Call);
  if (!Object)
    return std::nullopt;
  StringRef Name = cpp::calleeName(Call);
  auto Written = cpp::writtenArguments(Call);
  if (Name == "cuda" && Written.empty())
    return DeviceMove{Object, nullptr, true};
  if (Name == "to" && !Written.empty() && isTensor(Written[0]->getType()))
    return DeviceMove{Object, nullptr, false, cpp::stripImplicit(Written[0])};
  if (Name != "to" || Written.empty() || whatHolds(Written[0]) != Holds::Device)
    return std::nullopt;
  const Expr *Device = cpp::stripImplicit(Written[0]);
  bool Only = Written.size() == 1 && isDeviceType(Device->getType());
  return DeviceMove{Object, Only ? Device : nullptr, false};
}

std::optional<ModuleMove> asModuleMove(const CallExpr *Call) {
  const Expr *Object = cpp::receiverOf(Call);
  const auto Written = cpp::writtenArguments(Call);
  if (!Object || Written.empty() || !callsTorch(Call, "to") ||
      !isModule(Object->getType()))
    return std::nullopt;
  Holds Known = whatHolds(Written[0]);
  if (Known != Holds::Device && Known != Holds::Cpu)
    return std::nullopt;
  return ModuleMove{Object, Known == Holds::Cpu};
}

bool isPlainDevice(const Expr *E) {
  E = cpp::stripImplicit(E);
  if (!E)
    return false;
  if (isa<DeclRefExpr, CXXThisExpr, IntegerLiteral>(E))
    return true;
  if (const auto *Member = dyn_cast<MemberExpr>(E))
    return isPlainDevice(Member->getBase());
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
    return isDeviceType(E->getType()) &&
           llvm::all_of(Construct->arguments(), [](const Expr *A) {
             return isa<CXXDefaultArgExpr>(A) || isPlainDevice(A);
           });
  const auto *Call = dyn_cast<CXXMemberCallExpr>(E);
  return Call && cpp::calleeName(Call) == "device" && tensorOf(Call) &&
         isPlainDevice(Call->getImplicitObjectArgument());
}

StringRef cudaNear(const Factory &F) {
  std::string Name = F.Call->getDirectCallee()->getQualifiedNameAsString();
  return StringRef(Name).starts_with("torch::") ? "torch::kCUDA" : "at::kCUDA";
}

} // namespace libtorch_tidy::torch
