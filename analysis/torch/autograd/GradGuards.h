//===- GradGuards.h - Who switches grad mode and autocast -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The RAII guards and functions that switch autograd and autocast on and off.
/// What a guard does lasts as long as its variable; where that is, is for the
/// caller to say.

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_AUTOGRAD_GRADGUARDS_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_AUTOGRAD_GRADGUARDS_H

#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include <optional>

namespace libtorch_tidy::torch {

enum class GradMode { On, Off, Unknown };

/// What the lifetime of variable \p V does to gradient mode. Off for
/// NoGradGuard, AutoGradMode(false), InferenceMode, AutoDispatchBelowAutograd,
/// AutoDispatchBelowADInplaceOrView and AutoNonVariableTypeMode; On for
/// AutoGradMode(true); Unknown when it depends on a value that is not constant
/// or on whether an optional, a smart pointer or a list is filled. Looks
/// through `auto`, references bound to a temporary, std::unique_ptr,
/// std::shared_ptr, optionals and factory functions, and into classes that own
/// a guard as a member or base, recursively. nullopt when V is not a guard, and
/// for InferenceMode(false), which leaves gradient mode of the scope on. A
/// reference or raw pointer to a guard that lives elsewhere is not a guard.
std::optional<GradMode> guardOf(const clang::VarDecl *V);

/// What the lifetime of an object of class \p R does to gradient mode, by its
/// own type, bases and members: methods of a class that owns a guard run
/// guarded. nullopt for null, incomplete and all other classes.
std::optional<GradMode> guardOf(const clang::CXXRecordDecl *R);

/// Is \p V an InferenceMode, or does it own one? Then gradients stay off, or as
/// unknown as guardOf() is, even under a nested AutoGradMode(true), and tensors
/// made in its scope can never be saved for backward.
bool isInferenceMode(const clang::VarDecl *V);

/// What an expression does to the guard in an object that may hold one or none:
/// an optional, a smart pointer, a pointer.
struct GuardChange {
  const clang::VarDecl *Of = nullptr; ///< Null where it is no variable.
  /// The mode of the guard that it holds from then on; nullopt when it holds
  /// no guard.
  std::optional<GradMode> Begins;
  bool Inference = false; ///< That is an InferenceMode.
  /// What it held ends before the other begins, as in emplace(). A pointer lets
  /// go of it afterwards: what that brings back is what holds then.
  bool EndsFirst = false;
};
/// What \p E itself does: `g.emplace()`, `g.reset()`, `g = nullptr`,
/// `g = std::make_unique<NoGradGuard>()`, `delete g`. nullopt for all others.
std::optional<GuardChange> guardChange(const clang::Expr *E);

/// Can others than its declaration give \p V a guard, or take it away? See
/// GuardChange.
bool isGuardBox(const clang::VarDecl *V);

/// Is \p E, a value for such a variable, none: no guard is in it?
bool holdsNoGuard(const clang::Expr *E);

/// Is \p E an unnamed guard: a temporary that dies at the end of its full
/// expression? `torch::NoGradGuard();` guards nothing, in
/// `(torch::NoGradGuard(), net(x))` it guards the call. False for a temporary
/// that initialises a variable: ask guardOf() for that.
bool isTemporaryGuard(const clang::Expr *E);

/// Is \p T, without references, one of LibTorch's own guard classes (or an
/// alias of it)? For checks of how guards are declared. InferenceMode and
/// AutoGradMode count, whatever their argument.
bool isGuardType(clang::QualType T);

/// Are gradients on while an object of class \p R lives that was made with
/// \p Enabled, if with anything? nullopt when it is not a guard, or leaves
/// them as they are.
std::optional<bool> gradientsUnder(const clang::CXXRecordDecl *R,
                                   std::optional<bool> Enabled);

/// What a call does to the gradient mode of the thread from there on:
/// GradMode::set_enabled and AutoGradMode's old static form, in any of their
/// namespaces. nullopt when \p Call (may be null) is not such a call.
std::optional<GradMode> setsGradMode(const clang::CallExpr *Call);

/// Does \p E, its operands apart, switch or read gradient mode and nothing
/// else? That never throws.
bool onlySwitchesGradMode(const clang::Expr *E);

/// Is \p E, without implicit nodes, a call that reads gradient mode?
bool readsGradMode(const clang::Expr *E);

/// What a call of namespace at::autocast does. LibTorch has no guard class for
/// it: these functions are the whole interface.
enum class AutocastUse {
  On,         ///< set_enabled(true) and the same for other devices;
              ///< set_autocast_enabled(device, true) from 2.4 on.
  Off,        ///< The same with false.
  Set,        ///< The same with a value that is not constant.
  ClearCache, ///< clear_cache()
  CacheOff,   ///< set_autocast_cache_enabled with false or an unknown value.
};
/// nullopt for all other calls and for null.
std::optional<AutocastUse> autocastUse(const clang::CallExpr *Call,
                                       const clang::ASTContext &Context);

/// Their names, for matchers.
extern const llvm::ArrayRef<llvm::StringRef> AutocastFunctions;

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_AUTOGRAD_GRADGUARDS_H
