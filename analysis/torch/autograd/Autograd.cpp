//===- Autograd.cpp - What makes, uses and drops history ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/autograd/Autograd.h"
#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TensorTraits.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"
#include "clang/AST/ASTContext.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

Flag flagOf(const Expr *E, const ASTContext &Context) {
  std::optional<bool> Value = cpp::constantBool(E, Context);
  return !Value ? Flag::Unknown : *Value ? Flag::True : Flag::False;
}

/// A method of at::Tensor called \p Call, with its object as written.
static const Expr *tensorObject(const CallExpr *Call) {
  const auto *Member = dyn_cast_or_null<CXXMemberCallExpr>(Call);
  if (!Member || !isTorchDecl(Member->getMethodDecl()))
    return nullptr;
  const Expr *Object = Member->getImplicitObjectArgument();
  return Object && (isTensor(Object->getType()) ||
                    isTensor(cpp::pointeeOf(Object->getType())))
             ? cpp::stripImplicit(Object)
             : nullptr;
}

/// Parameter \p Index of \p Call's callee; null when omitted or a default.
static const Expr *written(const CallExpr *Call, unsigned Index) {
  return Index < Call->getNumArgs() &&
                 !isa<CXXDefaultArgExpr>(Call->getArg(Index))
             ? Call->getArg(Index)
             : nullptr;
}

std::optional<BackwardCall> asBackward(const CallExpr *Call) {
  StringRef Name = cpp::calleeName(Call);
  if (Name != "backward" && Name != "grad")
    return std::nullopt;
  const FunctionDecl *Callee = Call->getDirectCallee();
  const ASTContext &Context = Callee->getASTContext();
  BackwardCall Result;
  const Expr *Inputs = nullptr; // The argument that asks for them.
  if (const Expr *Object = tensorObject(Call)) {
    // backward(gradient, retain_graph, create_graph, inputs)
    if (Name != "backward")
      return std::nullopt;
    Result.Roots.push_back(Object);
    Result.Retain = written(Call, 1);
    Result.Create = written(Call, 2);
    Inputs = written(Call, 3);
  } else {
    if (isa<CXXMethodDecl>(Callee) || !isTorchDecl(Callee) ||
        Call->getNumArgs() < 1)
      return std::nullopt;
    if (cpp::nameOf(dyn_cast<NamespaceDecl>(
            Callee->getDeclContext()->getEnclosingNamespaceContext())) !=
        "autograd")
      return std::nullopt;
    llvm::append_range(Result.Roots, cpp::listElements(Call->getArg(0)));
    Result.ReturnsGradients = Name == "grad";
    // backward(tensors, grad_tensors, retain_graph, create_graph, inputs)
    // grad(outputs, inputs, grad_outputs, retain_graph, create_graph, ...)
    unsigned First = Result.ReturnsGradients ? 3 : 2;
    Result.Retain = written(Call, First);
    Result.Create = written(Call, First + 1);
    Inputs = written(Call, Result.ReturnsGradients ? 1 : 4);
  }
  if (Inputs)
    llvm::append_range(Result.Inputs, cpp::listElements(Inputs));
  if (Result.Create)
    Result.CreateGraph = flagOf(Result.Create, Context);
  Result.RetainGraph =
      Result.Retain ? flagOf(Result.Retain, Context) : Result.CreateGraph;
  return Result;
}

bool isBackward(const CallExpr *Call) { return asBackward(Call).has_value(); }

bool isOptimizerType(QualType T) {
  return cpp::isOrDerivesFrom(cpp::finalPointee(T), "torch::optim::Optimizer");
}

bool isOptimizerStep(const CallExpr *Call) {
  return cpp::callsMethod(Call, "step", {"torch::optim::Optimizer"});
}

bool searchesAlongLine(const CXXRecordDecl *Optimizer) {
  return Optimizer && cpp::isOrDerivesFrom(Optimizer, "torch::optim::LBFGS");
}

static constexpr StringRef ParameterNames[] = {
    "params", "parameters", "add_param_group", "add_parameters"};
const llvm::ArrayRef<StringRef> ParameterMethods = ParameterNames;

/// A method of LibTorch's optimizer classes.
static const CXXMemberCallExpr *optimizerCall(const CallExpr *Call,
                                              StringRef Name) {
  const auto *Member = dyn_cast_or_null<CXXMemberCallExpr>(Call);
  return Member && cpp::calleeName(Call) == Name &&
                 isTorchDecl(Call->getDirectCallee()) &&
                 cpp::isOrDerivesFrom(Member->getRecordDecl(),
                                      "torch::optim::Optimizer")
             ? Member
             : nullptr;
}

ParameterList asParameterList(const CallExpr *Call) {
  if (const CXXMemberCallExpr *Own = optimizerCall(Call, "parameters"))
    return {Own, Own->getImplicitObjectArgument(), false};
  const auto *Member = dyn_cast_or_null<CXXMemberCallExpr>(Call);
  if (!Member || cpp::calleeName(Call) != "params" ||
      !cpp::isOrDerivesFrom(Member->getRecordDecl(),
                            "torch::optim::OptimizerParamGroup"))
    return {};
  return {Member, Member->getImplicitObjectArgument(), true};
}

const Expr *optimizerOfGroups(const Expr *E) {
  const auto *Call = dyn_cast_or_null<CallExpr>(cpp::stripImplicit(E));
  const CXXMemberCallExpr *Groups = optimizerCall(Call, "param_groups");
  return Groups ? Groups->getImplicitObjectArgument() : nullptr;
}

bool addsParameters(const CallExpr *Call) {
  return optimizerCall(Call, "add_param_group") ||
         optimizerCall(Call, "add_parameters");
}

bool isOptimizerState(const CallExpr *Call) {
  return optimizerCall(Call, "state");
}

/// Is \p E `options.momentum(0.9)` or `options.momentum() = 0.9`, on
/// \p Options where that is given, and not zero?
static bool givesMomentum(const Expr *E, const VarDecl *Options,
                          const ASTContext &Context) {
  const Expr *Value = nullptr;
  if (const auto *Assign = dyn_cast<BinaryOperator>(E);
      Assign && Assign->getOpcode() == BO_Assign) {
    Value = Assign->getRHS();
    E = cpp::stripImplicit(Assign->getLHS());
  }
  const auto *Call = dyn_cast<CXXMemberCallExpr>(E);
  if (!Call || cpp::calleeName(Call) != "momentum" ||
      !isTorchDecl(Call->getMethodDecl()) ||
      (Options && cpp::rootOf(Call->getImplicitObjectArgument()) != Options))
    return false;
  if (!Value && Call->getNumArgs())
    Value = Call->getArg(0);
  return Value && cpp::constantBool(Value, Context) != false;
}

bool keepsNoState(const Expr *Optimizer, cpp::Body &In) {
  const Expr *Bare = cpp::stripPointers(Optimizer);
  if (!cpp::isOrDerivesFrom(heldClass(Bare->getType()), "torch::optim::SGD"))
    return false;
  const ValueDecl *Root = cpp::rootOf(Bare);
  const auto *Var = dyn_cast_or_null<VarDecl>(Root);
  const auto *Field = dyn_cast_or_null<FieldDecl>(Root);
  const cpp::Values Made = Var     ? In.valuesOf(Var)
                           : Field ? cpp::valuesOf(Field)
                                   : cpp::Values();
  auto Gives = [&](const Stmt *S, const VarDecl *Options) {
    return cpp::anyOf<Expr>(S, [&](const Expr *E) {
      return givesMomentum(E, Options, In.context());
    });
  };
  return llvm::none_of(Made.Given, [&](const Expr *Value) {
    return Gives(Value, nullptr) ||
           cpp::anyOf<DeclRefExpr>(Value, [&](const DeclRefExpr *Ref) {
             // Options that have a name.
             const auto *Options = dyn_cast<VarDecl>(Ref->getDecl());
             return Options &&
                    cpp::isOrDerivesFrom(Options->getType(),
                                         "torch::optim::SGDOptions") &&
                    (Gives(Options->getInit(), nullptr) ||
                     Gives(In.root(), Options));
           });
  });
}

bool isZeroGrad(const CallExpr *Call) {
  return cpp::callsMethod(Call, "zero_grad",
                          {"torch::optim::Optimizer", "torch::nn::Module"});
}

static bool isRequiresGradSetter(StringRef Name) {
  return Name == "requires_grad_" || Name == "set_requires_grad";
}

std::optional<Flag> setsRequiresGrad(const CallExpr *Call) {
  if (!isRequiresGradSetter(cpp::calleeName(Call)) || Call->getNumArgs() != 1 ||
      !tensorObject(Call))
    return std::nullopt;
  return flagOf(Call->getArg(0), Call->getDirectCallee()->getASTContext());
}

std::optional<Flag> switchesLeaf(const CallExpr *Call) {
  if (cpp::calleeName(Call) == "detach_" && tensorObject(Call))
    return Flag::False;
  return setsRequiresGrad(Call);
}

std::optional<Flag> maySwitchLeaf(const CallExpr *Call,
                                  const ASTContext &Context) {
  const auto *Member = dyn_cast<CXXDependentScopeMemberExpr>(Call->getCallee());
  const IdentifierInfo *Id =
      Member ? Member->getMember().getAsIdentifierInfo() : nullptr;
  if (!Id)
    return std::nullopt;
  if (Id->getName() == "detach_")
    return Flag::False;
  return isRequiresGradSetter(Id->getName()) && Call->getNumArgs() == 1
             ? std::optional(flagOf(Call->getArg(0), Context))
             : std::nullopt;
}

/// What \p E, TensorOptions, say of requires_grad: Unknown where they come from
/// elsewhere.
static Flag requiresGradOf(const Expr *E, const ASTContext &Context) {
  // A variable may be initialised from itself: bound the walk.
  for (unsigned Steps = 0; Steps < cpp::MaxChase; ++Steps) {
    E = cpp::peel(E);
    const VarDecl *Var = cpp::variableOf(E);
    if (const auto *Construct = dyn_cast_or_null<CXXConstructExpr>(E)) {
      if (!Construct->getConstructor()->isCopyOrMoveConstructor())
        return Flag::False;
      E = Construct->getArg(0);
    } else if (const auto *Call = dyn_cast_or_null<CallExpr>(E)) {
      if (cpp::calleeName(Call) == "requires_grad" && Call->getNumArgs() == 1)
        return flagOf(Call->getArg(0), Context);
      if (isa<CXXMemberCallExpr>(Call)) {
        E = cpp::calledOn(Call);
        // tensor.options() says nothing of requires_grad.
        if (!E || !isTensorOptions(E->getType()))
          return E && isTensor(E->getType()) ? Flag::False : Flag::Unknown;
      } else if (const Expr *Moved = cpp::movedBy(Call)) {
        E = Moved;
      } else {
        return isTorchDecl(Call->getDirectCallee()) ? Flag::False
                                                    : Flag::Unknown;
      }
    } else if (Var && !isa<ParmVarDecl>(Var)) {
      E = Var->getAnyInitializer();
    } else {
      return Flag::Unknown;
    }
  }
  return Flag::Unknown;
}

Flag factoryRequiresGrad(const CallExpr *Call) {
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  if (!Callee)
    return Flag::Unknown;
  for (const Expr *Arg : cpp::writtenArguments(Call))
    if (isTensorOptions(Arg->getType()))
      return requiresGradOf(Arg, Callee->getASTContext());
  return Flag::False;
}

bool isMadeLeaf(const Expr *E) {
  const auto *Call = dyn_cast_or_null<CallExpr>(cpp::stripImplicit(E));
  return setsRequiresGrad(Call) == Flag::True ||
         (Call && factoryRequiresGrad(Call) == Flag::True);
}

std::optional<Flag> registersParameter(const CallExpr *Call) {
  if (!callsTorch(Call, "register_parameter") || Call->getNumArgs() < 3)
    return std::nullopt;
  return flagOf(Call->getArg(2), Call->getDirectCallee()->getASTContext());
}

bool dropsHistory(const CallExpr *Call) {
  if (!callsTorch(Call, {"detach", "detach_", "data", "item", "tensor_data",
                         "variable_data"}))
    return false;
  // Both x.detach() and torch::detach(x).
  return tensorObject(Call) ||
         (!isa<CXXMethodDecl>(Call->getDirectCallee()) &&
          Call->getNumArgs() == 1 && isTensor(Call->getArg(0)->getType()));
}

bool isIntegralCast(const CallExpr *Call) {
  if (!cpp::isOneOf(cpp::calleeName(Call), {"to", "toType"}) ||
      !tensorObject(Call))
    return false;
  Asked A;
  for (const Expr *Arg : cpp::writtenArguments(Call))
    readAsked(Arg, Call->getDirectCallee()->getASTContext(), A);
  return A.Integral;
}

std::optional<ModuleState> asModuleState(const CallExpr *Call) {
  const StringRef Name = cpp::calleeName(Call);
  if (!cpp::isOneOf(Name, {"parameters", "named_parameters", "buffers",
                           "named_buffers"}) ||
      !cpp::callsMethod(Call, Name,
                        {"torch::nn::Module", "torch::jit::Module",
                         "torch::jit::Object", "torch::optim::Optimizer"}))
    return std::nullopt;
  return Name.ends_with("parameters") ? ModuleState::Parameters
                                      : ModuleState::Buffers;
}

bool isParametersCall(const CallExpr *Call) {
  return asModuleState(Call) == ModuleState::Parameters;
}

bool listsLayers(const CallExpr *Call) {
  const StringRef Name = cpp::calleeName(Call);
  return cpp::isOneOf(Name, {"children", "named_children", "modules",
                             "named_modules"}) &&
         cpp::callsMethod(Call, Name,
                          {"torch::nn::Module", "torch::jit::Module"});
}

const Expr *gradOf(const CallExpr *Call) {
  return cpp::isOneOf(cpp::calleeName(Call), {"grad", "mutable_grad"})
             ? tensorObject(Call)
             : nullptr;
}

} // namespace libtorch_tidy::torch
