//===- Std.h - What the standard library does -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What the functions and classes of the standard library do, by kinds, and of
/// OpenCV, which many programs use next to it. Containers of other libraries
/// grow and shrink by the same names (c10::List::push_back), so that most
/// questions about a call do not ask whose function it is.

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_STD_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_STD_H

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitmaskEnum.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace libtorch_tidy::cpp {

LLVM_ENABLE_BITMASK_ENUMS_IN_NAMESPACE();

/// What a function of the standard library does. A function has several kinds:
/// push_back() is Insert and AtEnd. The table is in Std.cpp; analyses ask for
/// kinds, and spell no names.
enum class Std : uint64_t {
  // Methods of containers.
  Insert = 1ull << 0,  ///< Adds elements, and keeps what is there.
  AtEnd = 1ull << 1,   ///< Insert, Remove: the last element.
  Emplace = 1ull << 2, ///< Insert: the element is made of the arguments.
  Remove = 1ull << 3,  ///< Takes single elements out.
  Clear = 1ull << 4,   ///< Takes all elements out.
  Reset = 1ull << 5,   ///< reset(): drops what a handle or optional holds.
  Empty = 1ull << 6,   ///< Remove, Clear, Reset, swap(), move(), exchange(): an
                       ///< object may hold less than before.
  Access = 1ull << 7,  ///< Leads to elements: Element, Iterator, data().
  Element = 1ull << 8, ///< A reference to one element: at(), front().
  First = 1ull << 9,   ///< Element, Insert, Remove: the first one.
  Iterator = 1ull << 10, ///< begin(), find().
  Begin = 1ull << 11,    ///< Iterator: to the first element.
  Const = 1ull << 12,    ///< Iterator: elements cannot be written by it.
  Buffer = 1ull << 13,   ///< A pointer to the elements: data(), c_str().
  Reserve = 1ull << 14,  ///< Changes the capacity, not the elements.
  Size = 1ull << 15,     ///< How many elements there are.
  // Methods of smart pointers, optionals and other handles.
  Target = 1ull << 16,  ///< What it leads to: get(), value(), lock().
  Release = 1ull << 17, ///< The object gives up what it owns, alive.
  // Functions.
  Same = 1ull << 18,    ///< The result is the argument: ref(), as_const().
  Move = 1ull << 19,    ///< std::move.
  Forward = 1ull << 20, ///< std::forward.
  Refer = 1ull << 21,   ///< The result refers to the argument: ref(), cref().
  PointerCast = 1ull << 22, ///< The same object by a pointer of another type.
  Tuple = 1ull << 23,       ///< Makes a pair or tuple of its arguments.
  Tie = 1ull << 24,         ///< Makes a tuple of references to its arguments.
  Part = 1ull << 25,        ///< std::get: a part of a tuple.
  Bind = 1ull << 26,      ///< Makes a function object that keeps its arguments.
  Swap = 1ull << 27,      ///< Two objects exchange their values.
  Exchange = 1ull << 28,  ///< std::exchange.
  Write = 1ull << 29,     ///< Writes to an argument: getline().
  Make = 1ull << 30,      ///< Makes an object, and a smart pointer to it.
  Run = 1ull << 31,       ///< Runs a function object before it returns.
  Invoke = 1ull << 32,    ///< std::invoke: runs its first argument.
  Async = 1ull << 33,     ///< std::async.
  Allocate = 1ull << 34,  ///< malloc() and its like.
  Free = 1ull << 35,      ///< free().
  CopyBytes = 1ull << 36, ///< memcpy(to, from, bytes) and its like.
  StreamBytes = 1ull << 37, ///< Methods: write(from, bytes), read(to, bytes).
  Assign = 1ull << 38,      ///< Insert: in place of what the key has.
  Overwrite = 1ull << 39,   ///< Gives all elements another value: fill().
  Advance = 1ull << 40,     ///< Another place, or how far it is: next().
  End = 1ull << 41,         ///< Iterator: past the last element.
  Resize =
      1ull << 42,    ///< Reserve: adds elements at the end, or takes them out.
  Each = 1ull << 43, ///< Run: for each element, as a loop over them does.
  Fold = 1ull << 44, ///< Each: the function object gets, as its first argument,
                     ///< what it returned for the element before.
  Inserter = 1ull << 45, ///< An iterator that inserts: back_inserter().
  LLVM_MARK_AS_BITMASK_ENUM(Inserter)
};

/// The kinds of \p Callee, by its plain name: the containers of libraries and
/// users have the same names. None for operators and null.
Std kindsOf(const clang::FunctionDecl *Callee);
/// Does \p Call do one of \p Kinds, whosever the function is?
bool does(const clang::CallExpr *Call, Std Kinds);
/// Is \p E, also through parentheses and casts, a call of a function of the
/// standard library that does one of \p Kinds?
bool isStdCall(const clang::Expr *E, Std Kinds);

/// A call that puts elements into a container.
struct Insertion {
  const clang::CXXMemberCallExpr *Call;
  const clang::Expr *Into; ///< The container, as written.
  /// What goes in, or what an element is made of: the arguments that are
  /// written, positions and keys included.
  llvm::SmallVector<const clang::Expr *, 4> Given;
  bool AtEnd; ///< As the last element: push_back and its like.

  /// The element: the last argument, after positions and keys.
  const clang::Expr *value() const { return Given.back(); }
};

/// The insertion that \p E is: v.push_back(x), m.emplace(k, x),
/// list.append(x). nullopt for others, and for insertions of nothing.
/// Assignments (m[k] = x) are not calls of a method.
std::optional<Insertion> asInsertion(const clang::Expr *E);

/// Does \p Call, of a method, let go of all that its object holds: clear(),
/// reset() without an argument?
bool isRelease(const clang::CallExpr *Call);

/// Everything in \p S that puts a value into an object: `to = value` of
/// classes, `to.push_back(value)`; for each argument of an insertion.
void forEachStore(
    const clang::Stmt *S,
    llvm::function_ref<void(const clang::CallExpr *, const clang::Expr *To,
                            const clang::Expr *Value)>
        Visit);

/// `to = value` of classes: an operator= of one argument.
bool isAssignment(const clang::CallExpr *Call);

/// std::move(x) or std::forward<T>(x): x; null for others.
const clang::Expr *movedBy(const clang::Expr *E);

/// What a class template of the standard library is; several kinds for one.
enum class StdClass : unsigned {
  Container = 1 << 0, ///< Owns elements and grows: vector, map, set.
  Sequence = 1 << 1,  ///< Elements in an order of the user's: vector, array.
  Buffer = 1 << 2,    ///< Elements in memory of its own, which pointers lead
                      ///< to: vector, array, string, unique_ptr.
  Tuple = 1 << 3,     ///< pair, tuple.
  Box = 1 << 4,       ///< One object or none: smart pointers, optional.
  Shared = 1 << 5,    ///< Copies own the same object: shared_ptr.
  NotOwning = 1 << 6, ///< Refers to an object: weak_ptr, span.
  Function = 1 << 7,  ///< function, move_only_function.
  Thread = 1 << 8,    ///< thread, jthread.
  Map = 1 << 9,       ///< Elements are pairs of a key and a value.
  LLVM_MARK_AS_BITMASK_ENUM(Map)
};

/// Is the class of \p T, or \p R, of the standard library and of one of
/// \p Kinds? Not one that derives from it.
bool isStdClass(clang::QualType T, StdClass Kinds);
bool isStdClass(const clang::CXXRecordDecl *R, StdClass Kinds);
/// The same for classes std::\p Name, for one of \p Names.
bool isStdClass(clang::QualType T, llvm::ArrayRef<llvm::StringRef> Names);
bool isStdClass(const clang::CXXRecordDecl *R,
                llvm::ArrayRef<llvm::StringRef> Names);

/// A class that refers to the elements of another object: std::span,
/// std::string_view, gsl::span, Eigen::Map.
bool isView(clang::QualType T);
/// cv::Mat, whose copies share the pixels.
bool isMat(clang::QualType T);
/// cv::Mat, or a container of the standard library of them.
bool holdsMat(clang::QualType T);
/// Is \p Name a function or method that makes a cv::Mat of its own: clone,
/// imread, imdecode?
bool makesMat(llvm::StringRef Name);

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_STD_H
