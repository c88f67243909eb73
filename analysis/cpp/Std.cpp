//===- Std.cpp - What the standard library does ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Std.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "clang/Basic/Builtins.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::cpp {

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

namespace {

enum class Of { Methods, Functions, Both };

/// What the functions of some names do.
struct FunctionRow {
  Of Whose;
  Std Kinds;
  StringRef Names; ///< With a space between two.
};

struct ClassRow {
  StdClass Kinds;
  StringRef Names;
};

} // namespace

static const FunctionRow FunctionRows[] = {
    // Growing.
    {Of::Methods, Std::Insert | Std::AtEnd, "push_back push append"},
    {Of::Methods, Std::Insert | Std::AtEnd | Std::Emplace, "emplace_back"},
    {Of::Methods, Std::Insert, "insert"},
    {Of::Methods, Std::Insert | Std::First, "push_front"},
    {Of::Methods, Std::Insert | Std::Overwrite, "assign"},
    {Of::Both, Std::Overwrite, "fill"},
    {Of::Methods, Std::Insert | Std::Assign, "insert_or_assign"},
    {Of::Methods, Std::Insert | Std::Emplace,
     "emplace try_emplace emplace_hint"},
    {Of::Methods, Std::Insert | Std::First | Std::Emplace, "emplace_front"},
    {Of::Methods, Std::Reserve, "reserve shrink_to_fit"},
    {Of::Methods, Std::Reserve | Std::Resize, "resize"},
    // Shrinking. Users have functions of these names, too.
    {Of::Both, Std::Remove | Std::Empty, "pop erase"},
    {Of::Both, Std::Remove | Std::Empty | Std::Release, "extract"},
    {Of::Both, Std::Remove | Std::First | Std::Empty, "pop_front"},
    {Of::Both, Std::Remove | Std::AtEnd | Std::Empty, "pop_back"},
    {Of::Both, Std::Clear | Std::Empty, "clear"},
    {Of::Both, Std::Reset | Std::Empty, "reset"},
    {Of::Both, Std::Swap | Std::Empty, "swap"},
    {Of::Both, Std::Exchange | Std::Empty, "exchange"},
    {Of::Both, Std::Empty, "move"},
    {Of::Methods, Std::Release, "release"},
    // Elements.
    {Of::Methods, Std::Access | Std::Element, "at back top"},
    {Of::Methods, Std::Access | Std::Element | Std::First, "front"},
    {Of::Methods, Std::Access | Std::Iterator, "find"},
    {Of::Both, Std::Access | Std::Iterator | Std::Begin, "begin"},
    {Of::Both, Std::Access | Std::Iterator | Std::Begin | Std::Const, "cbegin"},
    {Of::Both, Std::Access | Std::Iterator | Std::End, "end cend"},
    {Of::Both, Std::Access | Std::Iterator, "rbegin rend"},
    {Of::Methods, Std::Access | Std::Buffer, "data"},
    {Of::Methods, Std::Buffer, "c_str"},
    {Of::Functions, Std::Advance, "next prev advance distance"},
    {Of::Both, Std::Size, "size"},
    {Of::Methods, Std::Size, "length"},
    // Handles; the last two names are of other libraries.
    {Of::Methods, Std::Target, "get value lock ptr as"},
    {Of::Methods, Std::Buffer, "get ptr"},
    // The same object.
    {Of::Functions, Std::Same, "move forward ref cref as_const addressof"},
    {Of::Functions, Std::Move, "move"},
    {Of::Functions, Std::Forward, "forward"},
    {Of::Functions, Std::Refer, "ref cref"},
    {Of::Functions, Std::PointerCast,
     "static_pointer_cast dynamic_pointer_cast const_pointer_cast"},
    // Objects that are made of others.
    {Of::Functions, Std::Tuple, "make_pair make_tuple"},
    {Of::Functions, Std::Tie, "tie forward_as_tuple"},
    {Of::Functions, Std::Part, "get"},
    {Of::Functions, Std::Bind, "bind"},
    {Of::Functions, Std::Make, "make_shared make_unique"},
    {Of::Both, Std::Write, "getline"},
    // Functions that run what they are given.
    {Of::Both, Std::Run, "invoke apply visit call_once"},
    {Of::Both, Std::Run | Std::Each,
     "for_each for_each_n transform transform_reduce generate generate_n "
     "all_of any_of none_of find_if find_if_not count_if copy_if remove_if "
     "partition sort stable_sort min_element max_element"},
    {Of::Both, Std::Run | Std::Each | Std::Fold, "accumulate reduce"},
    {Of::Functions, Std::Inserter, "back_inserter front_inserter inserter"},
    {Of::Both, Std::Invoke, "invoke"},
    {Of::Functions, Std::Async, "async"},
    // Memory of C.
    {Of::Both, Std::Allocate, "malloc calloc"},
    {Of::Both, Std::Free, "free"},
    {Of::Functions, Std::CopyBytes,
     "memcpy memmove cudaMemcpy cudaMemcpyAsync hipMemcpy hipMemcpyAsync"},
    {Of::Methods, Std::StreamBytes, "write read"},
};

static const ClassRow ClassRows[] = {
    {StdClass::Container,
     "vector deque list forward_list map multimap unordered_map "
     "unordered_multimap set multiset unordered_set valarray"},
    {StdClass::Sequence, "vector deque list forward_list array stack queue"},
    {StdClass::Buffer, "vector array basic_string deque valarray unique_ptr"},
    {StdClass::Tuple, "pair tuple"},
    {StdClass::Box, "unique_ptr shared_ptr optional"},
    {StdClass::Shared, "shared_ptr"},
    {StdClass::NotOwning, "weak_ptr reference_wrapper span"},
    {StdClass::Function, "function move_only_function"},
    {StdClass::Thread, "thread jthread"},
    {StdClass::Map, "map multimap unordered_map unordered_multimap"},
};

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The kinds of methods and of other functions of a name.
using KindsByName = llvm::StringMap<std::pair<Std, Std>>;

static KindsByName byName() {
  KindsByName Table;
  for (const FunctionRow &Row : FunctionRows)
    for (const StringRef Name : llvm::split(Row.Names, ' ')) {
      auto &[OfMethods, OfFunctions] = Table[Name];
      if (Row.Whose != Of::Functions)
        OfMethods |= Row.Kinds;
      if (Row.Whose != Of::Methods)
        OfFunctions |= Row.Kinds;
    }
  return Table;
}

Std kindsOf(const FunctionDecl *Callee) {
  static const KindsByName Table = byName();
  const StringRef Name = nameOf(Callee);
  auto Row = Name.empty() ? Table.end() : Table.find(Name);
  if (Row == Table.end())
    return Std();
  const auto *Method = dyn_cast<CXXMethodDecl>(Callee);
  return Method && !Method->isStatic() ? Row->second.first : Row->second.second;
}

bool does(const CallExpr *Call, Std Kinds) {
  return Call && (kindsOf(Call->getDirectCallee()) & Kinds) != Std();
}

bool isStdCall(const Expr *E, Std Kinds) {
  const auto *Call = E ? dyn_cast<CallExpr>(E->IgnoreParenImpCasts()) : nullptr;
  return does(Call, Kinds) && isStdDecl(Call->getDirectCallee());
}

bool isRelease(const CallExpr *Call) {
  return isa_and_nonnull<CXXMemberCallExpr>(Call) && Call->getNumArgs() == 0 &&
         does(Call, Std::Clear | Std::Reset);
}

std::optional<Insertion> asInsertion(const Expr *E) {
  const auto *Call =
      E ? dyn_cast<CXXMemberCallExpr>(E->IgnoreParenImpCasts()) : nullptr;
  const Expr *Into = Call ? Call->getImplicitObjectArgument() : nullptr;
  if (!Into || !does(Call, Std::Insert))
    return std::nullopt;
  Insertion I{Call, Into, writtenArguments(Call), does(Call, Std::AtEnd)};
  if (I.Given.empty())
    return std::nullopt;
  return I;
}

bool isAssignment(const CallExpr *Call) {
  const auto *Op = dyn_cast_or_null<CXXOperatorCallExpr>(Call);
  return Op && Op->getOperator() == OO_Equal && Op->getNumArgs() == 2;
}

void forEachStore(
    const Stmt *S,
    llvm::function_ref<void(const CallExpr *, const Expr *, const Expr *)>
        Visit) {
  forEach<CallExpr>(S, [&](const CallExpr *Call) {
    if (isAssignment(Call))
      Visit(Call, Call->getArg(0), Call->getArg(1));
    if (auto Added = asInsertion(Call))
      for (const Expr *Given : Added->Given)
        Visit(Call, Added->Into, Given);
  });
}

const Expr *movedBy(const Expr *E) {
  const auto *Call = E ? dyn_cast<CallExpr>(E->IgnoreParenImpCasts()) : nullptr;
  if (!Call || Call->getNumArgs() != 1)
    return nullptr;
  unsigned Builtin = Call->getBuiltinCallee();
  return Builtin == Builtin::BImove || Builtin == Builtin::BIforward
             ? Call->getArg(0)
             : nullptr;
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

static llvm::StringMap<StdClass> classesByName() {
  llvm::StringMap<StdClass> Table;
  for (const ClassRow &Row : ClassRows)
    for (const StringRef Name : llvm::split(Row.Names, ' '))
      Table[Name] |= Row.Kinds;
  return Table;
}

bool isStdClass(const CXXRecordDecl *R, StdClass Kinds) {
  static const llvm::StringMap<StdClass> Table = classesByName();
  return (Table.lookup(nameOf(R)) & Kinds) != StdClass() && isStdDecl(R);
}

bool isStdClass(QualType T, StdClass Kinds) {
  return isStdClass(recordOf(T), Kinds);
}

bool isStdClass(const CXXRecordDecl *R, llvm::ArrayRef<StringRef> Names) {
  return isOneOf(nameOf(R), Names) && isStdDecl(R);
}

bool isStdClass(QualType T, llvm::ArrayRef<StringRef> Names) {
  return isStdClass(recordOf(T), Names);
}

bool isView(QualType T) {
  return isOrDerivesFrom(
      T, {"std::span", "std::basic_string_view", "gsl::span", "Eigen::Map"});
}

bool makesMat(StringRef Name) {
  return isOneOf(Name, {"imread", "imdecode", "clone"});
}

bool isMat(QualType T) { return isOrDerivesFrom(T, {"cv::Mat", "cv::Mat_"}); }

bool holdsMat(QualType T) {
  const CXXRecordDecl *R = recordOf(T);
  return isMat(T) || (isStdDecl(R) && isMat(firstArgument(R)));
}

} // namespace libtorch_tidy::cpp
