//===- Modules.h - Module calls and their parameters ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Which expressions run a module, on what inputs, and whether a module has
/// parameters that make its results carry autograd history.

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_MODULES_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_MODULES_H

#include "analysis/cpp/Body.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace libtorch_tidy::torch {

struct ModuleCall {
  const clang::Expr *Call = nullptr;
  /// The object expression, without implicit nodes and without the pointer or
  /// holder's `->` and `*`: `net` in net->forward(x), net(x), (*net)(x) and
  /// net.get()->forward(x); `list[i]` in list[i]->as<T>()->forward(x). Null
  /// when it is `this`.
  const clang::Expr *Module = nullptr;
  /// A TorchScript module: torch::jit::Module, script::Module, Method.
  bool Script = false;
  /// A model that AOTInductor compiled, see isCompiledModel(): what it returns
  /// has no history, whatever goes in.
  bool Compiled = false;
  /// The arguments, without default ones. For TorchScript, the elements where
  /// the list of inputs is written at the call, else the list itself.
  llvm::SmallVector<const clang::Expr *, 4> Inputs;
  /// The user's method that runs: forward of the module's class for net(x).
  /// Null when unknown, for LibTorch's own modules, and when the method is
  /// virtual and overridden in this unit.
  const clang::FunctionDecl *Method = nullptr;
  /// Its definition. Null where that is not visible, too.
  const clang::FunctionDecl *Body = nullptr;
};

/// Recognises a call that runs a module: forward and other methods of a user's
/// module class that take and return tensors (encode, sample, act), a
/// ModuleHolder's operator(), Sequential, AnyModule, functional call objects
/// (user structs that own modules or tensors and have such a forward),
/// torch::nn::parallel::data_parallel (whose replicas may run on other
/// threads, where a guard of the caller does not reach), TorchScript's forward,
/// operator(), run_method and get_method("...")(...), run and boxed_run of a
/// compiled model. Copies and accessors (clone, to, parameters, ...) are not
/// calls. Implicit nodes around the call are looked through; null is allowed.
std::optional<ModuleCall> asModuleCall(const clang::Expr *E);

/// The name of what module call \p E runs: `net` in net->forward(x). Empty when
/// it has none.
std::string calledModule(const clang::Expr *E);

/// A conversion of what TorchScript returned to something that holds no tensor:
/// toDouble(), toStringRef(); also toList() and toGenericDict(), which may hold
/// some, but not where none went in.
bool readsNoTensor(const clang::CallExpr *Call);
/// toTensor(), toTuple(), toTensorVector() of what TorchScript returned.
bool readsTensor(const clang::CallExpr *Call);

enum class Parameters { None, Some, Unknown };

/// Does a module of type \p T (itself, a holder, a pointer) own trainable
/// parameters as built? LibTorch's classes by name; user classes through
/// their members and bases; containers, AnyModule and what cannot be seen are
/// Unknown. TorchScript modules: Some, their parameters require gradients
/// after load(). (TrainableParameters.cpp.)
Parameters parametersOf(clang::QualType T);

/// Does the result of \p Call hold a module whose parameters do not require
/// gradients: torch::jit::freeze, freeze_module and optimize_for_inference,
/// which freezes first; Embedding::from_pretrained?
bool isFreezeCall(const clang::CallExpr *Call);
/// torch::jit::freeze_module_inplace(&module): the argument; null for others.
const clang::Expr *frozenInPlaceBy(const clang::CallExpr *Call);

/// setGraphExecutorOptimize, getProfilingMode and getExecutorMode: choose how
/// TorchScript runs. With its optimisations off, no call remembers the gradient
/// mode of an earlier one.
bool setsScriptExecutor(const clang::CallExpr *Call);

/// net->eval(), net->train(false), module.eval(): puts a module in evaluation
/// mode, which leaves gradients on.
bool isModuleEval(const clang::CallExpr *Call);
/// net->train(), net->train(true) or with a value that is not constant.
bool isModuleTrain(const clang::CallExpr *Call);
/// Does \p F, a method of a module, convert its parameters to another type:
/// to(dtype), to(device, dtype)?
bool convertsModule(const clang::FunctionDecl *F);

/// eval(), train(false), or train(x) with a value that is not constant.
bool mayEndTraining(const clang::CallExpr *Call);
/// net->is_training(), is_training() of a module.
bool isTrainingQuery(const clang::CallExpr *Call);

/// register_module, register_parameter, register_buffer of a module: which
/// expression is registered. Null when \p Call is not such a call.
struct Registration {
  enum Kind { Module, Parameter, Buffer } What;
  const clang::Expr *Value; ///< Null when default constructed.
};
std::optional<Registration> asRegistration(const clang::CallExpr *Call);

/// The name of the base class, for matchers.
inline constexpr llvm::StringLiteral ModuleClass = "::torch::nn::Module";

/// torch::nn::Module or a class derived from it. \p R may be null.
bool isModuleClass(const clang::CXXRecordDecl *R);

/// The class of what \p T, a holder, a pointer or a pointer to one, leads to;
/// its own for others, null where it has none.
const clang::CXXRecordDecl *heldClass(clang::QualType T);

/// torch::nn::ModuleHolder and what derives from it, as TORCH_MODULE makes it.
/// \p R may be null.
bool isModuleHolder(const clang::CXXRecordDecl *R);

/// torch::jit::Module and its base Object. \p R may be null.
bool isScriptClass(const clang::CXXRecordDecl *R);
/// The same of a type.
bool isScriptModule(clang::QualType T);

/// A model that AOTInductor compiled (2.x, torch/csrc/inductor):
/// AOTIModelPackageLoader, AOTIModelContainerRunner and those of devices that
/// derive from it, or a pointer to one. It owns its parameters, and its kernels
/// run below autograd.
bool isCompiledModel(clang::QualType T);
/// The class of one itself. \p R may be null.
bool isCompiledClass(const clang::CXXRecordDecl *R);

/// The module of LibTorch's whose weight \p E is: `fc` in fc->weight. Null for
/// others.
const clang::ValueDecl *moduleOfWeight(const clang::Expr *E);

/// The variable or field that names a module: `net` in net->parameters(),
/// `critic_` in *this->critic_. Null when there is none.
const clang::ValueDecl *moduleNamed(const clang::Expr *E);

/// All names, in function \p In, of the module that \p E is: moduleNamed(), the
/// same of what that always holds and, where it stands for each element of a
/// list in turn, of the list. \p InAll: what is done to one of these is done
/// to all; otherwise lists are left out. Parts of a module are no list.
llvm::SmallVector<const clang::ValueDecl *, 4>
modulesNamed(const clang::Expr *E, cpp::Body &In, bool InAll = true);

/// torch::load, torch::jit::load.
bool loadsModule(const clang::CallExpr *Call);
/// torch::jit::load.
bool loadsScript(const clang::CallExpr *Call);

/// The arguments with which \p E loads a compiled model (isCompiledModel())
/// from a file: the construction of one, or make_unique and make_shared of one.
/// None for other expressions.
llvm::ArrayRef<const clang::Expr *> loadsCompiledModel(const clang::Expr *E);

/// One of torch::nn's modules that has neither parameters nor modules: an
/// activation, a dropout. Not the families: pooling, padding, losses.
bool isPlainFunction(llvm::StringRef Class);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_MODULES_MODULES_H
