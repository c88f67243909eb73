//===- ModuleParameters.h - What LibTorch's modules register ----*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The parameters and buffers that each module of torch::nn registers, with
/// their shapes, as a function of its options. From the headers and sources of
/// LibTorch 1.13.1, which 2.x agrees with; test/budget compares every row with
/// the real library.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_BYTES_LIBRARY_MODULEPARAMETERS_H
#define LIBTORCH_TIDY_ANALYSIS_BYTES_LIBRARY_MODULEPARAMETERS_H

#include "analysis/bytes/interpret/Value.h"

namespace libtorch_tidy::bytes {

using torch::Bool;
using torch::broadcast;
using torch::ElementType;
using torch::Float32;
using torch::Int64;
using torch::isFloating;
using torch::Size;
using torch::TensorShape;

/// A tensor that a module registers.
struct RegisteredTensor {
  std::string Name;
  TensorShape Shape;
};

/// A module that a module registers.
struct RegisteredModule {
  std::string Name;
  /// One of LibTorch's by its class, as "Linear", and its options.
  std::string Class;
  OptionValues Options;
  /// Instead: a module that an option holds, or a copy of it.
  ModulePtr Given;
  bool IsCopy = false;
  std::vector<RegisteredModule> Children; ///< Of a ModuleList or Sequential.
};

/// What a module registers.
struct ModuleContents {
  std::vector<RegisteredTensor> Parameters, Buffers;
  std::vector<RegisteredModule> Children;
  /// Modules that its options keep alive, and that no parameters() lists.
  std::vector<RegisteredModule> Unlisted;
  /// Options whose value decides what there is, and is not known. What they
  /// decide is left out, or has unknown sizes.
  std::vector<std::string> Missing;
};

/// Takes the number of dimensions off the end of \p Name: 2 of "Conv2d" and
/// "conv2d"; 0 where there is none.
unsigned takeDimensions(llvm::StringRef &Name);

/// LibTorch's module \p Class, as "Conv2d", with \p Options. Options that are
/// not given have their defaults. nullopt when this table does not know the
/// class.
std::optional<ModuleContents> contentsOf(llvm::StringRef Class,
                                         const OptionValues &Options);

// ModuleOptions.cpp.

/// The names of the options that the constructor of module \p Class, or of its
/// options class, takes by position.
llvm::SmallVector<llvm::StringRef, 8> positionalOptions(llvm::StringRef Class);

/// The default of an option that decides shapes, and is no constructor
/// argument; unknown for others.
Cell defaultOption(llvm::StringRef Class, llvm::StringRef Option);

// ModuleRuns.cpp.

/// A line of a forward() that runs other modules.
struct ModuleStep {
  llvm::StringRef Result; ///< The variable that is set; of the last, returned.
  /// A child by its name; with "*" all children of that one after each other;
  /// "+" adds; the name of an option, with "=", that is an activation. A child
  /// that is not there gives its first input.
  llvm::StringRef Runs;
  /// Variables, inputs, "true", "false".
  llvm::SmallVector<llvm::StringRef, 8> Inputs;
  /// The next step is part of the same expression, so this result stays alive.
  bool Continues = false;
};

/// What forward() of a module of LibTorch's does.
struct ModuleRun {
  /// It runs that with its options and tensors as arguments, and with its
  /// inputs under these names. Empty: not known.
  std::string Operator;
  llvm::SmallVector<llvm::StringRef, 8> Inputs;
  OptionValues Defaults;         ///< Where they are not those of Operator.
  bool IsFunctional = false;     ///< It calls a function that it was given.
  bool NestsState = false;       ///< It returns (a, (b, c)), not (a, b, c).
  bool AddsLoss = false;         ///< It returns (a, number), not a.
  std::vector<ModuleStep> Steps; ///< Instead of an operator.
};
ModuleRun runOfModule(llvm::StringRef Class);

/// The operator of an enumerator that names an activation: "gelu" of kGELU;
/// "relu" of others.
llvm::StringRef activationNamed(llvm::StringRef Enumerator);

// OptimizerState.cpp.

/// How many times the bytes of a parameter \p Optimizer keeps for it from its
/// first step on. As --optimizer spells them: sgd, sgd-momentum, adam, adamw,
/// amsgrad, rmsprop, adagrad; nullopt for others.
std::optional<unsigned> optimizerCopies(llvm::StringRef Optimizer);
/// How many copies of a parameter its step() makes for the moment, at most;
/// parameters are worked on one by one.
unsigned optimizerScratch(llvm::StringRef Optimizer);
/// Does it have its state before its first step()?
bool hasOptimizerStateAtOnce(llvm::StringRef Optimizer);
/// All names that optimizerCopies() takes.
llvm::ArrayRef<llvm::StringRef> knownOptimizers();

} // namespace libtorch_tidy::bytes

#endif // LIBTORCH_TIDY_ANALYSIS_BYTES_LIBRARY_MODULEPARAMETERS_H
