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

#include "analysis/torch/api/TensorTraits.h"
#include <map>
#include <string>

namespace libtorch_tidy::bytes {

using torch::Bool;
using torch::broadcast;
using torch::ElementType;
using torch::Float32;
using torch::Int64;
using torch::isFloating;
using torch::Size;
using torch::TensorShape;

/// The value of one option of a module.
struct OptionValue {
  enum Kind {
    Unknown,
    None,    ///< nullptr, nullopt.
    Integer, ///< Booleans, too.
    Real,
    List, ///< Of integers.
    Tensor,
    Module, ///< One that the caller knows by its number.
    Other,  ///< Known, and of no interest here: a text, an enumerator.
  } What = Unknown;
  int64_t Number = 0;
  double RealNumber = 0;
  std::vector<Size> Numbers;
  TensorShape Shape;
  std::string Text; ///< Of others: an enumerator.
  size_t ModuleNumber = 0;

  static OptionValue integer(int64_t Value);
  static OptionValue real(double Value);
  static OptionValue none();
};

/// Options by the names of their setters.
using OptionValues = std::map<std::string, OptionValue>;

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
  std::optional<size_t> Given;
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
llvm::ArrayRef<llvm::StringRef> positionalOptions(llvm::StringRef Class);

/// The default of an option that decides shapes, and is no constructor
/// argument; Unknown for others.
OptionValue defaultOption(llvm::StringRef Class, llvm::StringRef Option);

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
