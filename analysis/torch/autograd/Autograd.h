//===- Autograd.h - What makes, uses and drops history ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Calls that build, consume or drop autograd history: backward and grad,
/// requires_grad, detach and similar operators, casts that cannot carry
/// gradients, and optimizers.

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_AUTOGRAD_AUTOGRAD_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_AUTOGRAD_AUTOGRAD_H

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace libtorch_tidy::cpp {
class Body;
} // namespace libtorch_tidy::cpp

namespace libtorch_tidy::torch {

/// A boolean argument as far as it can be computed.
enum class Flag { False, True, Unknown };
Flag flagOf(const clang::Expr *E, const clang::ASTContext &Context);

struct BackwardCall {
  /// The tensors whose history is consumed: `loss` in loss.backward(), the
  /// elements of {a, b} in autograd::backward({a, b}), or the whole list
  /// expression where it is not written at the call.
  llvm::SmallVector<const clang::Expr *, 2> Roots;
  /// The tensors that gradients are asked for, where the call names them.
  llvm::SmallVector<const clang::Expr *, 2> Inputs;
  /// As passed; an omitted retain_graph is what create_graph is.
  Flag RetainGraph = Flag::False;
  Flag CreateGraph = Flag::False;
  /// The arguments as written; null when omitted.
  const clang::Expr *Retain = nullptr, *Create = nullptr;
  /// torch::autograd::grad: gradients are returned, not accumulated.
  bool ReturnsGradients = false;
};

/// t.backward(...), torch::autograd::backward(...), torch::autograd::grad(...).
/// nullopt for anything else and for null.
std::optional<BackwardCall> asBackward(const clang::CallExpr *Call);

bool isBackward(const clang::CallExpr *Call);

/// The name of the methods and functions that are not grad(), for matchers.
inline constexpr llvm::StringLiteral BackwardName = "backward";

/// torch::optim::Optimizer, a class derived from it, or a pointer to one.
bool isOptimizerType(clang::QualType T);
/// optimizer.step(), step(closure).
bool isOptimizerStep(const clang::CallExpr *Call);
/// Does step(closure) of an \p Optimizer call the closure several times, and
/// keep more than a few copies of the parameters? LBFGS.
bool searchesAlongLine(const clang::CXXRecordDecl *Optimizer);
/// The list of parameters that the optimizer works on: group.params() of a
/// parameter group, optimizer.parameters(). The list is the optimizer's own,
/// and a write to it replaces parameters.
struct ParameterList {
  const clang::CXXMemberCallExpr *Call = nullptr;
  /// The group or the optimizer it is asked of, as written.
  const clang::Expr *Object = nullptr;
  bool OfGroup = false;
};
ParameterList asParameterList(const clang::CallExpr *Call);

/// optimizer.param_groups(): the optimizer; null for anything else.
const clang::Expr *optimizerOfGroups(const clang::Expr *E);

/// optimizer.add_param_group(...), optimizer.add_parameters(...).
bool addsParameters(const clang::CallExpr *Call);

/// The names of parameter lists and of what adds to them, for matchers.
extern const llvm::ArrayRef<llvm::StringRef> ParameterMethods;

/// optimizer.state(): what is kept for each parameter, under the address of its
/// tensor (a string in 1.13, a pointer in 2.x).
bool isOptimizerState(const clang::CallExpr *Call);

/// Does \p Optimizer, in \p In, keep nothing for a parameter? SGD does not,
/// where no momentum is seen in what it is made of.
bool keepsNoState(const clang::Expr *Optimizer, cpp::Body &In);

/// optimizer.zero_grad(), module.zero_grad().
bool isZeroGrad(const clang::CallExpr *Call);

/// x.requires_grad_(b), x.set_requires_grad(b): the value. nullopt when \p
/// Call is neither. The default argument of requires_grad_ is true.
std::optional<Flag> setsRequiresGrad(const clang::CallExpr *Call);
/// The same, and False for x.detach_(): what each does to a leaf.
std::optional<Flag> switchesLeaf(const clang::CallExpr *Call);
/// The same by its name, of a \p Call in a template: its object has any type.
std::optional<Flag> maySwitchLeaf(const clang::CallExpr *Call,
                                  const clang::ASTContext &Context);

/// The requires_grad of the TensorOptions among the arguments of a factory
/// call: torch::requires_grad(), torch::dtype(...).requires_grad(true), or a
/// variable initialised with such. False without options; Unknown when they
/// come from elsewhere.
Flag factoryRequiresGrad(const clang::CallExpr *Call);

/// Is \p E, a tensor, made to require gradients where it is made:
/// torch::randn({2}).requires_grad_(), or by the options of a factory?
bool isMadeLeaf(const clang::Expr *E);

/// register_parameter("w", tensor, requires_grad = true): what the registered
/// tensor's requires_grad becomes. nullopt when \p Call is not one.
std::optional<Flag> registersParameter(const clang::CallExpr *Call);

/// The result of \p Call has no history although its object or argument may:
/// detach, detach_, data, tensor_data, variable_data, item.
bool dropsHistory(const clang::CallExpr *Call);

/// A cast to an integral or boolean dtype, whose result never carries
/// history: to(torch::kLong), toType(torch::kInt), to(device, torch::kByte),
/// to(torch::dtype(torch::kInt64)).
bool isIntegralCast(const clang::CallExpr *Call);

/// parameters(), named_parameters(), buffers(), named_buffers() of a module or
/// parameters() of an optimizer or TorchScript module: what the call yields.
enum class ModuleState { Parameters, Buffers };
std::optional<ModuleState> asModuleState(const clang::CallExpr *Call);
/// The call yields tensors that are leaves and require gradients by default.
bool isParametersCall(const clang::CallExpr *Call);

/// children(), modules() of a module and the same with names: does \p Call list
/// all its layers?
bool listsLayers(const clang::CallExpr *Call);

/// t.grad(), t.mutable_grad(): the object; null when \p Call is neither.
const clang::Expr *gradOf(const clang::CallExpr *Call);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_AUTOGRAD_AUTOGRAD_H
