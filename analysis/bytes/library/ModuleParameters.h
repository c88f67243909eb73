//===- ModuleParameters.h - LibTorch's modules and optimizers ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The options of torch::nn's modules, what their forward() runs, and what
/// optimizers keep. From the headers and sources of LibTorch 1.13.1, which 2.x
/// agrees with; test/budget compares every row with the real library.

#ifndef LIBTORCH_TIDY_ANALYSIS_BYTES_LIBRARY_MODULEPARAMETERS_H
#define LIBTORCH_TIDY_ANALYSIS_BYTES_LIBRARY_MODULEPARAMETERS_H

#include "analysis/bytes/interpret/Value.h"

namespace libtorch_tidy::bytes {

/// Takes the number of dimensions off the end of \p Name: 2 of "Conv2d" and
/// "conv2d"; 0 where there is none.
unsigned takeDimensions(llvm::StringRef &Name);

/// The names of the options that the constructor of module \p Class, or of its
/// options class, takes by position.
llvm::SmallVector<llvm::StringRef, 8> positionalOptions(llvm::StringRef Class);

/// The default of an option that decides shapes, and is no constructor
/// argument; unknown for others.
Cell defaultOption(llvm::StringRef Class, llvm::StringRef Option);

// ModuleRuns.cpp.

/// What forward() of a module of LibTorch's does.
struct ModuleRun {
  /// It runs that with its options and tensors as arguments, and with its
  /// inputs. Empty: not known.
  std::string Operator;
  llvm::SmallVector<llvm::StringRef, 8> Inputs; ///< Their names.
  /// Instead of an operator, steps with ";" between them. Each has the variable
  /// that it sets, of the last the result, with "&" where the next step is part
  /// of the same expression; what it runs; and variables that are its inputs.
  /// It runs a child by its name; with "*" all children of that one after each
  /// other; "+" adds; "=" stands before an option that is an activation. A
  /// child that is not there gives its first input.
  llvm::StringRef Steps;
};
ModuleRun runOfModule(llvm::StringRef Class);

/// The operator of an enumerator that names an activation: "gelu" of kGELU;
/// "relu" of others.
llvm::StringRef activationNamed(llvm::StringRef Enumerator);

/// What step() keeps of a parameter in tensors; counters are numbers.
struct Optimizer {
  llvm::StringRef Name; ///< As --optimizer spells it.
  /// How many times the bytes of a parameter it keeps from its first step on.
  unsigned Copies = 0;
  /// How many copies of a parameter step() makes for the moment, at most;
  /// parameters are worked on one by one.
  unsigned Scratch = 0;
  bool AtOnce = false; ///< It keeps them from its construction on.
};
inline constexpr Optimizer Optimizers[] = {
    {"sgd"},                 // Without momentum, nothing.
    {"sgd-momentum", 1, 0},  // momentum_buffer
    {"adam", 2, 2},          // exp_avg, exp_avg_sq
    {"adamw", 2, 2},         // The same.
    {"amsgrad", 3, 2},       // Adam or AdamW with amsgrad: max_exp_avg_sq, too.
    {"rmsprop", 1, 1},       // square_avg; neither centered nor with momentum
    {"adagrad", 1, 1, true}, // sum
};
inline std::optional<Optimizer> optimizerNamed(llvm::StringRef Name) {
  for (const Optimizer &Each : Optimizers)
    if (Each.Name == Name)
      return Each;
  return std::nullopt;
}

} // namespace libtorch_tidy::bytes

#endif // LIBTORCH_TIDY_ANALYSIS_BYTES_LIBRARY_MODULEPARAMETERS_H
