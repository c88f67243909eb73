//===- StoredFunctions.h - Hooks and functions in fields --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_CHECKS_CYCLES_STOREDFUNCTIONS_H
#define LIBTORCH_TIDY_CHECKS_CYCLES_STOREDFUNCTIONS_H

#include "analysis/cpp/Object.h"
#include "analysis/flow/unit/UnitModel.h"
#include "analysis/torch/autograd/Hooks.h"
#include "checks/base/Finding.h"
#include "clang/AST/ExprCXX.h"
#include <optional>

namespace libtorch_tidy {

inline constexpr struct HookCaptureCycleReasons {
  Reason MayReplace{
      "may-be-replaced", Effect::Likely,
      "The hooked tensor is no registered parameter of the owner "
      "that the hook keeps: the next forward pass may replace it."};
  Reason Computed{
      "computed-from-hooked", Effect::Likely,
      "The hook keeps a tensor that LibTorch's operators or modules "
      "compute from the hooked one."};
  Reason Elsewhere{"used-elsewhere", Effect::Likely,
                   "Other files may clear the field of the stored function."};
  Reason LetsGo{"hook-lets-go", Effect::Silent,
                "The function is `mutable` and lets go of what it captured."};
  Reason Changed{"captured-before-change", Effect::Silent,
                 "The captured variable is given another value before the "
                 "function is stored."};
  Reason GradMode{
      "switches-grad-mode", Effect::Silent,
      "A tensor that is computed from the hooked one, in a function "
      "that switches gradient mode."};
  Reason HandleUsed{"handle-used", Effect::Silent,
                    "The handle that `register_hook` returns is used again."};
  Reason Removed{"hook-removed", Effect::Silent,
                 "`remove_hook` is called in this function."};
  Reason Released{"released-somewhere", Effect::Silent,
                  "The field of the stored function is set to null, cleared, "
                  "moved away or swapped anywhere in the file, perhaps through "
                  "its setter."};
  Reason UsedBefore{"used-before-end", Effect::Silent,
                    "A hook refers to a variable of the function, but the "
                    "function itself calls `backward()`, which runs the hook, "
                    "or other code that may remove it."};
  Reason NoCapture{"no-plain-capture", Effect::NoFix,
                   "The hook keeps its tensor, but a lambda does not capture "
                   "that as a variable: `std::bind`, a function object, a "
                   "container, a shared pointer to the tensor."};
  Reason OnNode{"on-graph-node", Effect::NoFix,
                "The hook is one of a graph node (`grad_fn()`)."};
  Reason Template{"in-template", Effect::NoFix, "The function is a template."};
  Reason MoreThanValues{"more-than-values", Effect::NoFix,
                        "The hook uses `grad()` or `is_leaf()`, changes the "
                        "tensor or hands it on: a detached copy gives only its "
                        "values."};
  Reason OtherData{"data-replaced", Effect::NoFix,
                   "The function gives the tensor other memory (`set_data()`, "
                   "`module->to(device)`)."};
  Reason CreatesGraphs{"creates-graphs", Effect::NoFix,
                       "The file asks for `create_graph`: a gradient of the "
                       "gradient may go through the tensor."};
} HookCaptureCycle{};

/// A function object that a call stores: as the hook of a tensor, or in a field
/// of an object.
struct StoredFunction {
  const clang::CallExpr *Call;
  const clang::Expr *Function;
  const clang::FunctionDecl *In;
  /// The tensor or the field, by what it is and by its name.
  cpp::Object Place, Named;
  const clang::LambdaExpr *Lambda; ///< Null when it is none.
  std::optional<torch::HookRegistration> Hook = {};

  clang::SourceLocation loc() const { return Call->Stmt::getBeginLoc(); }
  const clang::FieldDecl *field() const {
    return Hook ? nullptr : Place.Fields.back();
  }
};

/// The function that \p Call makes a hook, assigns to a field, adds to one, or
/// gives a setter of one.
std::optional<StoredFunction> asStoredFunction(const clang::CallExpr *Call,
                                               clang::ASTContext &Context);

/// What takes \p S away again, or may do so; nullopt for nothing.
std::optional<Because> removalOf(const StoredFunction &S,
                                 const flow::UnitModel &Unit);

/// A variable that a hook refers to and that may have ended when it runs.
struct LostCapture {
  const clang::VarDecl *Var;
  clang::SourceLocation Loc;
  /// After the end of the variable; null: after the function has returned.
  const clang::CallExpr *Backward = nullptr;
  /// While the variable lives, a backward() that runs the hook, or a call that
  /// may take it away: then nothing is lost.
  const clang::CallExpr *UsedBy = nullptr;
};

/// The first that \p S, a hook, refers to.
std::optional<LostCapture> lostCapture(const StoredFunction &S);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_CYCLES_STOREDFUNCTIONS_H
