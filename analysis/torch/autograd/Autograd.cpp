//===- Autograd.cpp - What makes, uses and drops history ------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/torch/autograd/Autograd.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

static Flag flagOf(const Expr *E, const ASTContext &Context) {
  std::optional<bool> Value = cpp::constantBool(E, Context);
  return !Value ? Flag::Unknown : *Value ? Flag::True : Flag::False;
}

/// A method of at::Tensor called \p Call, with its object as written.
static const Expr *tensorObject(const CallExpr *Call) {
  const auto *Member = dyn_cast_or_null<CXXMemberCallExpr>(Call);
  if (!Member || !isTorchDecl(Member->getMethodDecl()))
    return nullptr;
  const Expr *Object = Member->getImplicitObjectArgument();
  if (!Object)
    return nullptr;
  QualType T = Object->getType();
  if (!isTensor(T) && !isTensor(cpp::pointeeOf(T)))
    return nullptr;
  return cpp::stripImplicit(Object);
}

/// Parameter \p Index of \p Call's callee; null when omitted or a default.
static const Expr *written(const CallExpr *Call, unsigned Index) {
  if (Index >= Call->getNumArgs() ||
      isa<CXXDefaultArgExpr>(Call->getArg(Index)))
    return nullptr;
  return Call->getArg(Index);
}

std::optional<BackwardCall> asBackward(const CallExpr *Call) {
  StringRef Name = cpp::calleeName(Call);
  if (Name != "backward" && Name != "grad")
    return std::nullopt;
  const FunctionDecl *Callee = Call->getDirectCallee();
  const ASTContext &Context = Callee->getASTContext();
  BackwardCall Result;
  // The argument that asks for inputs, and those of retain and create_graph.
  const Expr *Inputs = nullptr, *Retain = nullptr, *Create = nullptr;
  if (const Expr *Object = tensorObject(Call)) {
    // backward(gradient, retain_graph, create_graph, inputs)
    if (Name != "backward")
      return std::nullopt;
    Result.Roots.push_back(Object);
    Retain = written(Call, 1);
    Create = written(Call, 2);
    Inputs = written(Call, 3);
  } else {
    if (isa<CXXMethodDecl>(Callee) || !isTorchDecl(Callee) ||
        Call->getNumArgs() < 1)
      return std::nullopt;
    const auto *Scope = dyn_cast<NamespaceDecl>(
        Callee->getDeclContext()->getEnclosingNamespaceContext());
    if (!Scope || !Scope->getIdentifier() || Scope->getName() != "autograd")
      return std::nullopt;
    for (const Expr *Root : cpp::listElements(Call->getArg(0)))
      Result.Roots.push_back(Root);
    Result.ReturnsGradients = Name == "grad";
    // backward(tensors, grad_tensors, retain_graph, create_graph, inputs)
    // grad(outputs, inputs, grad_outputs, retain_graph, create_graph, ...)
    unsigned First = Result.ReturnsGradients ? 3 : 2;
    Retain = written(Call, First);
    Create = written(Call, First + 1);
    Inputs = written(Call, Result.ReturnsGradients ? 1 : 4);
  }
  if (Inputs)
    for (const Expr *Input : cpp::listElements(Inputs))
      Result.Inputs.push_back(Input);
  if (Create)
    Result.CreateGraph = flagOf(Create, Context);
  Result.Retain = Retain;
  Result.Create = Create;
  Result.RetainGraph = Retain ? flagOf(Retain, Context) : Result.CreateGraph;
  return Result;
}

bool isBackward(const CallExpr *Call) { return asBackward(Call).has_value(); }

bool isOptimizerType(QualType T) {
  return cpp::isOrDerivesFrom(cpp::recordOf(cpp::finalPointee(T)),
                              "torch::optim::Optimizer");
}

bool isOptimizerStep(const CallExpr *Call) {
  if (cpp::calleeName(Call) != "step")
    return false;
  const auto *Method = dyn_cast<CXXMethodDecl>(Call->getDirectCallee());
  return Method &&
         cpp::isOrDerivesFrom(Method->getParent(), "torch::optim::Optimizer");
}

bool isZeroGrad(const CallExpr *Call) {
  if (cpp::calleeName(Call) != "zero_grad")
    return false;
  const auto *Method = dyn_cast<CXXMethodDecl>(Call->getDirectCallee());
  return Method &&
         (cpp::isOrDerivesFrom(Method->getParent(),
                               "torch::optim::Optimizer") ||
          cpp::isOrDerivesFrom(Method->getParent(), "torch::nn::Module"));
}

std::optional<Flag> setsRequiresGrad(const CallExpr *Call) {
  StringRef Name = cpp::calleeName(Call);
  if ((Name != "requires_grad_" && Name != "set_requires_grad") ||
      Call->getNumArgs() != 1 || !tensorObject(Call))
    return std::nullopt;
  return flagOf(Call->getArg(0), Call->getDirectCallee()->getASTContext());
}

static bool isTensorOptions(QualType T) {
  return cpp::isOrDerivesFrom(cpp::recordOf(T), "c10::TensorOptions");
}

/// The variable that \p E names, with the expression it starts with.
static const Expr *initialiserOf(const Expr *E) {
  const VarDecl *Var = cpp::variableOf(E);
  return Var && !isa<ParmVarDecl>(Var) ? Var->getAnyInitializer() : nullptr;
}

/// Follows a chain that builds TensorOptions from its end to its start and
/// hands each call or constructor to \p Visit until that returns true. False
/// when the chain starts somewhere that cannot be seen.
template <typename Callback>
static bool walkOptions(const Expr *E, Callback Visit) {
  // A variable may be initialised from itself: bound the walk.
  for (unsigned Steps = 0; Steps < cpp::MaxChase; ++Steps) {
    E = cpp::peel(E);
    if (!E)
      return false;
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
      if (!Construct->getConstructor()->isCopyOrMoveConstructor()) {
        Visit(E);
        return true;
      }
      E = Construct->getArg(0);
    } else if (const auto *Member = dyn_cast<CXXMemberCallExpr>(E)) {
      if (Visit(E))
        return true;
      const Expr *Object = Member->getImplicitObjectArgument();
      // tensor.options() says nothing of requires_grad.
      if (!Object || !isTensorOptions(Object->getType()))
        return Object && isTensor(Object->getType());
      E = Object;
    } else if (const auto *Call = dyn_cast<CallExpr>(E)) {
      if (Visit(E))
        return true;
      const FunctionDecl *Callee = Call->getDirectCallee();
      if (Callee && (Callee->getBuiltinID() != 0) && Call->getNumArgs() == 1)
        E = Call->getArg(0); // std::move
      else
        return isTorchDecl(Callee);
    } else if (const Expr *Init = initialiserOf(E)) {
      E = Init;
    } else {
      return false;
    }
  }
  return false;
}

Flag factoryRequiresGrad(const CallExpr *Call) {
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  if (!Callee)
    return Flag::Unknown;
  const ASTContext &Context = Callee->getASTContext();
  for (const Expr *Arg : cpp::writtenArguments(Call)) {
    if (!isTensorOptions(Arg->getType()))
      continue;
    std::optional<Flag> Found;
    bool Seen = walkOptions(Arg, [&](const Expr *Part) {
      const auto *Setter = dyn_cast<CallExpr>(Part);
      if (!Setter || cpp::calleeName(Setter) != "requires_grad" ||
          Setter->getNumArgs() != 1)
        return false;
      Found = flagOf(Setter->getArg(0), Context);
      return true;
    });
    return Found ? *Found : Seen ? Flag::False : Flag::Unknown;
  }
  return Flag::False;
}

std::optional<Flag> registersParameter(const CallExpr *Call) {
  if (!callsTorch(Call, "register_parameter") || Call->getNumArgs() < 3)
    return std::nullopt;
  return flagOf(Call->getArg(2), Call->getDirectCallee()->getASTContext());
}

bool dropsHistory(const CallExpr *Call) {
  StringRef Name = cpp::calleeName(Call);
  bool Known = llvm::StringSwitch<bool>(Name)
                   .Cases("detach", "detach_", "data", "item", true)
                   .Cases("tensor_data", "variable_data", true)
                   .Default(false);
  if (!Known || !isTorchDecl(Call->getDirectCallee()))
    return false;
  // Both x.detach() and torch::detach(x).
  return tensorObject(Call) ||
         (!isa<CXXMethodDecl>(Call->getDirectCallee()) &&
          Call->getNumArgs() == 1 && isTensor(Call->getArg(0)->getType()));
}

/// Is \p E a constant ScalarType that cannot carry gradients?
static std::optional<bool> isIntegralDtype(const Expr *E,
                                           const ASTContext &Context) {
  E = cpp::stripImplicit(E);
  if (!E || E->isValueDependent() || E->isTypeDependent())
    return std::nullopt;
  const auto *Type = E->getType()->getAs<EnumType>();
  // Up to Clang 21 a type's declaration is its definition by itself.
  const EnumDecl *Enum = Type ? Type->getDecl()->getDefinition() : nullptr;
  if (!Enum || !Enum->getIdentifier() || Enum->getName() != "ScalarType")
    return std::nullopt;
  const std::optional<int64_t> Value = cpp::constantInt(E, Context);
  if (!Value)
    return std::nullopt;
  // By name: the numbers are not the same in all versions.
  for (const EnumConstantDecl *Constant : Enum->enumerators())
    if (Constant->getInitVal().getExtValue() == *Value)
      return llvm::StringSwitch<bool>(Constant->getName())
          .Cases("Byte", "Char", "Short", "Int", "Long", "Bool", true)
          .Cases("UInt16", "UInt32", "UInt64", true)
          .Default(false);
  return std::nullopt;
}

bool isIntegralCast(const CallExpr *Call) {
  StringRef Name = cpp::calleeName(Call);
  if ((Name != "to" && Name != "toType") || !tensorObject(Call))
    return false;
  const ASTContext &Context = Call->getDirectCallee()->getASTContext();
  for (const Expr *Arg : cpp::writtenArguments(Call)) {
    std::optional<bool> Integral;
    if (!isTensorOptions(Arg->getType()))
      Integral = isIntegralDtype(Arg, Context);
    else
      walkOptions(Arg, [&](const Expr *Part) {
        const Expr *Value = nullptr;
        if (const auto *Construct = dyn_cast<CXXConstructExpr>(Part))
          Value = Construct->getNumArgs() ? Construct->getArg(0) : nullptr;
        else if (const auto *Setter = dyn_cast<CallExpr>(Part);
                 cpp::calleeName(Setter) == "dtype" &&
                 Setter->getNumArgs() == 1)
          Value = Setter->getArg(0);
        Integral = isIntegralDtype(Value, Context);
        return Integral.has_value();
      });
    if (Integral)
      return *Integral;
  }
  return false;
}

std::optional<ModuleState> asModuleState(const CallExpr *Call) {
  auto State =
      llvm::StringSwitch<std::optional<ModuleState>>(cpp::calleeName(Call))
          .Cases("parameters", "named_parameters", ModuleState::Parameters)
          .Cases("buffers", "named_buffers", ModuleState::Buffers)
          .Default(std::nullopt);
  if (!State)
    return std::nullopt;
  const auto *Method = dyn_cast<CXXMethodDecl>(Call->getDirectCallee());
  if (!Method)
    return std::nullopt;
  for (StringRef Owner : {"torch::nn::Module", "torch::jit::Module",
                          "torch::jit::Object", "torch::optim::Optimizer"})
    if (cpp::isOrDerivesFrom(Method->getParent(), Owner))
      return State;
  return std::nullopt;
}

bool isParametersCall(const CallExpr *Call) {
  return asModuleState(Call) == ModuleState::Parameters;
}

const Expr *gradOf(const CallExpr *Call) {
  StringRef Name = cpp::calleeName(Call);
  if (Name != "grad" && Name != "mutable_grad")
    return nullptr;
  return tensorObject(Call);
}

} // namespace libtorch_tidy::torch
