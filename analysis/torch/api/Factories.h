//===- Factories.h - Who makes tensors and moves them -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Functions that make a tensor out of a few numbers (zeros, randn, arange),
/// the device they make it on, and calls that move a tensor to a device.

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_API_FACTORIES_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_API_FACTORIES_H

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace libtorch_tidy::torch {

struct Factory {
  const clang::CallExpr *Call;
  llvm::StringRef Name;
  /// Draws numbers: each device has its own stream of them.
  bool Random;
  /// Makes bitwise the same values on every device.
  bool SameValues;
  /// No options are passed; else they hold a dtype and nothing more.
  bool NoOptions;
};

/// Does a variable always hold what its declaration gives it? Asked of those
/// that hold the options of a factory.
using IsSetOnce = llvm::function_ref<bool(const clang::VarDecl *)>;
bool isConstVariable(const clang::VarDecl *Var);

/// Does \p Call (may be null) make a plain tensor on the CPU, by torch::zeros,
/// ones, empty, full, eye, arange, range, linspace, logspace, rand, randn,
/// randint, randperm or normal? Not a function that takes host data or another
/// tensor (tensor, from_blob, zeros_like), or a generator, or options that ask
/// for requires_grad or come from elsewhere.
bool makesOnCpu(const clang::CallExpr *Call);

/// The call at the start of \p E that makesOnCpu(), with options that name no
/// device: itself, or through views, casts to another
/// dtype, in-place changes and arithmetic with numbers. nullopt when another
/// tensor takes part, a gradient is asked for, or \p E is moved on the way.
std::optional<Factory> cpuFactoryUnder(const clang::Expr *E,
                                       IsSetOnce Options = isConstVariable);

/// t.to(device), t.to(options with a device), t.to(device, dtype), t.to(other),
/// t.cuda().
struct DeviceMove {
  const clang::Expr *Object; ///< As written.
  /// The only argument, a torch::Device or device type; null for others.
  const clang::Expr *Device;
  bool ToCuda; ///< cuda(): the device is the current one.
  /// The tensor whose device it is; null for others.
  const clang::Expr *Other = nullptr;
};

/// nullopt when \p Call (may be null) is not such a call, when it moves to the
/// CPU, and when it is not seen that the argument has a device.
std::optional<DeviceMove> asDeviceMove(const clang::CallExpr *Call);

/// net->to(device) and module.to(device, dtype): all parameters and buffers of
/// a module are copied to another device.
struct ModuleMove {
  const clang::Expr *Module; ///< As written.
  bool ToCpu;                ///< The CPU by name; else what may be any device.
};

/// nullopt when \p Call (may be null) is not such a call, and when only a dtype
/// is given.
std::optional<ModuleMove> asModuleMove(const clang::CallExpr *Call);

/// Is \p E a variable, a chain of members, a device type's name, the device()
/// of such a tensor, or a torch::Device of constants: can it be evaluated
/// elsewhere in the expression?
bool isPlainDevice(const clang::Expr *E);

/// How the namespace of \p F spells the device type of CUDA.
llvm::StringRef cudaNear(const Factory &F);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_API_FACTORIES_H
