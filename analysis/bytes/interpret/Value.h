//===- Value.h - What an expression of a constructor gives ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The values that the interpreter of constructors (Interpreter.h) knows, that
/// operators are given and that LibTorch's modules have as options, and the
/// modules that are made of them.

#ifndef LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_VALUE_H
#define LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_VALUE_H

#include "analysis/bytes/TensorShape.h"
#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/Twine.h"
#include <map>
#include <memory>

namespace libtorch_tidy::bytes {

struct Value;
/// Where a value lies. Variables, fields and elements are cells, so that a
/// reference to one is the cell itself.
using Cell = std::shared_ptr<Value>;
using Fields = std::map<const clang::FieldDecl *, Cell>;
/// Options of a module of LibTorch's, by the names of their setters.
using OptionValues = std::map<std::string, Cell>;

struct TensorInstance;
using TensorPtr = std::shared_ptr<TensorInstance>;

/// A module. Copies of a handle share it.
struct ModuleInstance {
  struct Child {
    std::string Name;
    std::shared_ptr<ModuleInstance> Module;
  };
  struct Tensor {
    std::string Name;
    TensorPtr Handle;
  };

  std::string ClassName; ///< As a reader says it: "Linear", "ResNet".
  /// While a constructor of a base runs: the base.
  const clang::CXXRecordDecl *Class = nullptr;
  clang::SourceLocation Made;
  Fields Members;
  std::vector<Child> Children; ///< In the order of their registration.
  std::vector<Tensor> Parameters, Buffers;
  /// Kept alive by its options, and listed nowhere.
  std::vector<Child> Unlisted;
  /// What its options were set to, of one of LibTorch's.
  OptionValues Settings;
  bool IsTraining = true; ///< As train() and eval() leave it.
  /// There may be more than is counted.
  bool IsIncomplete = false;
};
using ModulePtr = std::shared_ptr<ModuleInstance>;

struct Value {
  enum Kind : unsigned char {
    Unknown,
    Null,    ///< nullptr, nullopt, an empty smart pointer or holder.
    Integer, ///< Booleans, enumerators, characters.
    Real,
    Text,
    List,    ///< Arrays, containers, pairs and tuples; maps as lists of pairs.
    Record,  ///< An object of the user's class that is not a module.
    Module,  ///< A module, or whatever leads to it: pointer, holder.
    Options, ///< Options of a module of LibTorch's, or TensorOptions.
    Tensor,
    Type,     ///< An element type: torch::kHalf.
    Pointer,  ///< To a cell.
    Iterator, ///< A place in a container.
    Function, ///< A function or a lambda.
    Other,    ///< Known, and of no interest: a device. Name: an enumerator.
    Slice,    ///< Of an index of a tensor: Elements are its bounds.
    /// A data set, a transform or a loader of torch::data, by its Name; of what
    /// is made of others, Elements are these. Of a loader, Number is the batch
    /// size, -1 where that is not known.
    Data,
  } What = Unknown;

  int64_t Number = 0; ///< Of an iterator, the index; the end is the size.
  double RealNumber = 0;
  /// Text. The class of options. Of a truth, how the command line writes it. Of
  /// what is not known, see below.
  std::string Name;
  std::vector<Cell> Elements;                  ///< List.
  Fields Members;                              ///< Record.
  const clang::CXXRecordDecl *Class = nullptr; ///< Record.
  OptionValues Settings;                       ///< Options.
  ModulePtr Held;                              ///< Module.
  TensorPtr Handle;                            ///< Tensor.
  /// Of a type, and of TensorOptions.
  std::optional<ElementType> Element;
  bool RequiresGrad = false; ///< Of TensorOptions.
  Cell Target;               ///< Pointer. The container of an iterator.
  const clang::FunctionDecl *Callee = nullptr;
  std::map<const clang::ValueDecl *, Cell> Captures;
  Cell This; ///< Of a lambda.
  /// Of a guard: what it set is set back when its last owner goes. Of what is
  /// not known: a tensor that it holds.
  std::shared_ptr<void> Guard;
  /// A tensor that nobody reads again: who takes it by value takes it over.
  bool IsExpiring = false;
  bool IsReverse = false; ///< Of an iterator: Number is that of its element.

  /// Unknown: what it comes from, as "'width'", and where that is. Name is what
  /// --set gives it by: "config.width".
  std::string Why;
  clang::SourceLocation Where;
};

inline Cell cell(Value V) { return std::make_shared<Value>(std::move(V)); }

/// A value that is not known: what it comes from, and where that is.
inline Cell unknown(clang::SourceLocation Where, const llvm::Twine &Why) {
  Value V;
  V.Why = Why.str();
  V.Where = Where;
  return cell(std::move(V));
}
inline Cell valueOf(Value::Kind What) {
  Value V;
  V.What = What;
  return cell(std::move(V));
}
/// A value of which \p Part is \p Given.
template <typename T, typename U>
Cell valueOf(Value::Kind What, T Value::*Part, U Given) {
  Cell Result = valueOf(What);
  (*Result).*Part = std::move(Given);
  return Result;
}
inline Cell integer(int64_t Number) {
  return valueOf(Value::Integer, &Value::Number, Number);
}
inline Cell real(double Number) {
  return valueOf(Value::Real, &Value::RealNumber, Number);
}
inline Cell text(llvm::StringRef Text) {
  return valueOf(Value::Text, &Value::Name, Text.str());
}
inline Cell listOf(std::vector<Cell> Elements) {
  return valueOf(Value::List, &Value::Elements, std::move(Elements));
}
inline Cell moduleValue(ModulePtr M) {
  const Value::Kind What = M ? Value::Module : Value::Null;
  return valueOf(What, &Value::Held, std::move(M));
}
inline Cell tensorValue(TensorPtr T) {
  return valueOf(Value::Tensor, &Value::Handle, std::move(T));
}
inline Cell typeValue(ElementType Type) {
  return valueOf(Value::Type, &Value::Element, Type);
}
inline Cell pointerTo(Cell Target) {
  return valueOf(Value::Pointer, &Value::Target, std::move(Target));
}

/// Not null, and a number.
inline bool isNumber(const Cell &V) {
  return V && (V->What == Value::Integer || V->What == Value::Real);
}
/// The number of one that isNumber().
inline double realOf(const Cell &Number) {
  return Number->What == Value::Real ? Number->RealNumber
                                     : static_cast<double>(Number->Number);
}

/// Of a tensor: nullopt where not even its dimensions are known.
using MaybeSizes = std::optional<std::vector<Size>>;
/// The sizes that \p V, a list or one number, says; nullopt for others.
MaybeSizes sizesOf(const Cell &V);

/// What `if (V)` decides by; nullopt where that is not known.
std::optional<bool> truth(const Cell &V);

/// What a pointer leads to; other values, and null, as they are.
inline Cell targetOf(const Cell &V) {
  return V && V->What == Value::Pointer ? V->Target : V;
}
/// The index that \p V is, of \p Count; nullopt for others.
inline std::optional<size_t> indexIn(const Cell &V, size_t Count) {
  if (V->What != Value::Integer || V->Number < 0 ||
      static_cast<uint64_t>(V->Number) >= Count)
    return std::nullopt;
  return V->Number;
}

/// What a container has, by its names: modules, or parameters.
std::vector<std::pair<std::string, Cell>> elementsOf(const ModuleInstance &M);
/// The element \p Index as an iterator gives it: of a dictionary a pair.
Cell elementOf(const ModuleInstance &M, size_t Index);
/// How many these are, without making a list of them.
size_t elementCount(const ModuleInstance &M);

/// Calls \p Visit for the values that \p V holds: elements, members, settings.
/// What a member that is a reference names is not held.
void forEachPart(Value &V, llvm::function_ref<void(Cell &)> Visit);
/// The first value in \p V that is not known; null when all are.
const Value *unknownIn(const Cell &V);
/// An option that \p Settings have; null when they do not.
Cell settingOf(const OptionValues &Settings, llvm::StringRef Name);

/// What a tensor is that nothing has been assigned to.
TensorPtr undefinedTensor();

/// The place of the element \p Index of \p Container.
Cell iteratorAt(const Cell &Container, int64_t Index, bool IsReverse = false);
/// What begin(), end() or size() of the container \p List gives, as a method or
/// a function; null for others.
Cell boundOf(llvm::StringRef Name, const Cell &List);
/// The elements from \p First up to \p Last, iterators; nullopt when they are
/// not, or do not belong together.
std::optional<std::vector<Cell>> elementsBetween(const Cell &First,
                                                 const Cell &Last);

} // namespace libtorch_tidy::bytes

#endif // LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_VALUE_H
