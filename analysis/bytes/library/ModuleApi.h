//===- ModuleApi.h - What calls do to modules and tensors -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// LibTorch's functions as a constructor of a module uses them: which methods
/// register something, which classes hold a module or its options, which
/// functions make a tensor of given sizes. Names and signatures of 1.13.1,
/// which 2.x shares. For those who follow what constructors do
/// (analysis/bytes).

#ifndef LIBTORCH_TIDY_ANALYSIS_BYTES_LIBRARY_MODULEAPI_H
#define LIBTORCH_TIDY_ANALYSIS_BYTES_LIBRARY_MODULEAPI_H

#include "analysis/bytes/TensorShape.h"
#include "clang/AST/DeclCXX.h"

namespace libtorch_tidy::bytes {

/// What a class is to somebody who makes modules.
enum class ModelClass : unsigned char {
  Other,
  LibraryModule, ///< One of torch::nn's own: LinearImpl.
  UserModule,    ///< Any other class that derives from torch::nn::Module.
  Base,          ///< torch::nn::Module, Cloneable<T>: they register nothing.
  Holder,        ///< ModuleHolder, what TORCH_MODULE makes, Sequential.
  AnyModule,     ///< AnyModule: holds any module.
  NamedModule,   ///< NamedAnyModule: a name and a module.
  Options,       ///< LinearOptions.
  Tensor,
  TensorOptions,
  Dictionary, ///< OrderedDict: pairs of a name and a value.
};
ModelClass modelClass(const clang::CXXRecordDecl *R);

/// The name that the table of ModuleParameters.h has for \p R, a library module
/// or its options: "Conv2d" for Conv2dImpl, "Conv" for ConvOptions<2>.
std::string modelClassName(const clang::CXXRecordDecl *R);

/// The module class that holder \p R holds; null when it is not one.
const clang::CXXRecordDecl *heldBy(const clang::CXXRecordDecl *R);

/// Is \p F an operator: of tensors, or of modules' functional forms, that gives
/// tensors? And its name, as Simulation::run() takes it: "add" of
/// `operator+`.
bool isTensorOperator(const clang::FunctionDecl *F);
std::string operatorName(const clang::FunctionDecl *F);

/// Is it called forward?
bool isForward(const clang::FunctionDecl *F);

/// ArrayRef, with parts by slice(from[, count]) and vec().
bool isArrayRef(const clang::CXXRecordDecl *R);

/// dtype(), which makes or changes TensorOptions.
bool setsElementType(const clang::FunctionDecl *F);
/// Does an argument of type \p T decide the type of elements: an element type,
/// TensorOptions, a tensor? A device does not.
bool decidesElementType(clang::QualType T);
/// A number that an operator takes, c10::Scalar.
bool isScalar(clang::QualType T);
/// A method or function that makes or changes TensorOptions in another way:
/// device(), requires_grad().
bool changesTensorOptions(const clang::FunctionDecl *F);
/// requires_grad(), a function or method that gives TensorOptions.
bool setsRequiresGrad(const clang::FunctionDecl *F);
/// The same of the order of elements, a c10::MemoryFormat: TensorOptions and
/// functions that take one call it so.
inline constexpr llvm::StringLiteral OrderOption = "memory_format";
bool setsElementOrder(const clang::FunctionDecl *F);

/// The part of a pair of an OrderedDict that a method gives: 0 for key(), 1 for
/// value() and *; nullopt for others.
std::optional<unsigned> partOfItem(const clang::FunctionDecl *F);

/// Is \p Class, as modelClassName() gives it, a container that holds the
/// modules it is made of: Sequential, ModuleList, ModuleDict?
bool isModuleContainer(llvm::StringRef Class);
/// One of tensors: ParameterList, ParameterDict.
bool isParameterContainer(llvm::StringRef Class);
/// One whose elements have names of the user's: ModuleDict, ParameterDict.
bool isDictionary(llvm::StringRef Class);
/// One whose loops go through names and elements, and not elements alone.
bool givesPairs(llvm::StringRef Class);

/// TORCH_CHECK and similar: functions that always throw.
bool alwaysThrows(const clang::FunctionDecl *F);

} // namespace libtorch_tidy::bytes

#endif // LIBTORCH_TIDY_ANALYSIS_BYTES_LIBRARY_MODULEAPI_H
