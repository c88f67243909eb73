//===- Std.cpp - What the standard library does ---------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Std.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/Builtins.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::cpp {

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

namespace {

enum class Of { Methods, Functions, Both };

struct FunctionRow {
  StringRef Name;
  Of Whose;
  Std Kinds;
};

struct ClassRow {
  StringRef Name;
  StdClass Kinds;
};

} // namespace

static const FunctionRow FunctionRows[] = {
    // Growing.
    {"push_back", Of::Methods, Std::Insert | Std::AtEnd},
    {"emplace_back", Of::Methods, Std::Insert | Std::AtEnd | Std::Emplace},
    {"push", Of::Methods, Std::Insert | Std::AtEnd},
    {"append", Of::Methods, Std::Insert | Std::AtEnd},
    {"insert", Of::Methods, Std::Insert},
    {"emplace", Of::Methods, Std::Insert | Std::Emplace},
    {"push_front", Of::Methods, Std::Insert},
    {"emplace_front", Of::Methods, Std::Insert | Std::Emplace},
    {"try_emplace", Of::Methods, Std::Insert | Std::Emplace},
    {"emplace_hint", Of::Methods, Std::Insert | Std::Emplace},
    {"insert_or_assign", Of::Methods, Std::Insert},
    {"assign", Of::Methods, Std::Insert},
    // Shrinking. Users have functions of these names, too.
    {"pop_front", Of::Both, Std::Remove | Std::Empty},
    {"pop_back", Of::Both, Std::Remove | Std::Empty},
    {"pop", Of::Both, Std::Remove | Std::Empty},
    {"erase", Of::Both, Std::Remove | Std::Empty},
    {"extract", Of::Both, Std::Remove | Std::Empty},
    {"clear", Of::Both, Std::Clear | Std::Empty},
    {"reset", Of::Both, Std::Reset | Std::Empty},
    {"swap", Of::Both, Std::Swap | Std::Empty},
    {"exchange", Of::Both, Std::Exchange | Std::Empty},
    {"release", Of::Methods, Std::Release},
    {"reserve", Of::Methods, Std::Reserve},
    {"shrink_to_fit", Of::Methods, Std::Reserve},
    // Elements.
    {"at", Of::Methods, Std::Access | Std::Element},
    {"front", Of::Methods, Std::Access | Std::Element | Std::First},
    {"back", Of::Methods, Std::Access | Std::Element},
    {"top", Of::Methods, Std::Access | Std::Element},
    {"find", Of::Methods, Std::Access},
    {"data", Of::Methods, Std::Access | Std::Buffer | Std::First},
    {"c_str", Of::Methods, Std::Buffer | Std::First},
    {"begin", Of::Both, Std::Access | Std::Begin | Std::First},
    {"cbegin", Of::Both, Std::Access | Std::Begin | Std::First | Std::Const},
    {"rbegin", Of::Both, Std::Access},
    {"end", Of::Both, Std::Access | Std::End},
    {"cend", Of::Both, Std::Access | Std::End | Std::Const},
    {"rend", Of::Both, Std::Access},
    {"size", Of::Both, Std::Size},
    {"length", Of::Methods, Std::Size},
    {"empty", Of::Both, Std::AsksEmpty},
    {"count", Of::Methods, Std::Contains},
    {"contains", Of::Methods, Std::Contains},
    // Handles; the last two are of other libraries.
    {"get", Of::Methods, Std::Target | Std::Buffer},
    {"value", Of::Methods, Std::Target},
    {"lock", Of::Methods, Std::Target},
    {"ptr", Of::Methods, Std::Target | Std::Buffer},
    {"as", Of::Methods, Std::Target},
    // The same object.
    {"move", Of::Methods, Std::Empty},
    {"move", Of::Functions, Std::Same | Std::Move | Std::Empty},
    {"forward", Of::Functions, Std::Same | Std::Forward},
    {"ref", Of::Functions, Std::Same | Std::Refer},
    {"cref", Of::Functions, Std::Same | Std::Refer},
    {"as_const", Of::Functions, Std::Same},
    {"addressof", Of::Functions, Std::Same},
    {"static_pointer_cast", Of::Functions, Std::PointerCast},
    {"dynamic_pointer_cast", Of::Functions, Std::PointerCast},
    {"const_pointer_cast", Of::Functions, Std::PointerCast},
    // Objects that are made of others.
    {"make_pair", Of::Functions, Std::Tuple},
    {"make_tuple", Of::Functions, Std::Tuple},
    {"tie", Of::Functions, Std::Tie},
    {"forward_as_tuple", Of::Functions, Std::Tie},
    {"get", Of::Functions, Std::Part},
    {"bind", Of::Functions, Std::Bind},
    {"make_shared", Of::Functions, Std::Make},
    {"make_unique", Of::Functions, Std::Make},
    {"getline", Of::Functions, Std::Write},
    // Algorithms.
    {"for_each", Of::Functions, Std::Run},
    {"for_each_n", Of::Functions, Std::Run},
    {"transform", Of::Functions, Std::Run},
    {"transform_reduce", Of::Functions, Std::Run},
    {"generate", Of::Functions, Std::Run},
    {"generate_n", Of::Functions, Std::Run},
    {"accumulate", Of::Functions, Std::Run | Std::Read},
    {"reduce", Of::Functions, Std::Run},
    {"all_of", Of::Functions, Std::Run | Std::Read},
    {"any_of", Of::Functions, Std::Run | Std::Read},
    {"none_of", Of::Functions, Std::Run | Std::Read},
    {"find_if", Of::Functions, Std::Run | Std::Read},
    {"count_if", Of::Functions, Std::Run | Std::Read},
    {"copy_if", Of::Functions, Std::Run},
    {"remove_if", Of::Functions, Std::Run},
    {"partition", Of::Functions, Std::Run},
    {"sort", Of::Functions, Std::Run},
    {"find", Of::Functions, Std::Read},
    {"count", Of::Functions, Std::Read},
    {"distance", Of::Functions, Std::Read},
    {"max_element", Of::Functions, Std::Read},
    {"min_element", Of::Functions, Std::Read},
    {"equal", Of::Functions, Std::Read},
    // Other functions that run what they are given.
    {"invoke", Of::Functions, Std::Run | Std::Invoke},
    {"async", Of::Functions, Std::Async},
    {"apply", Of::Functions, Std::Run},
    {"visit", Of::Functions, Std::Run},
    {"call_once", Of::Functions, Std::Run},
    // Memory of C.
    {"malloc", Of::Both, Std::Allocate},
    {"calloc", Of::Both, Std::Allocate},
    {"free", Of::Both, Std::Free},
};

static const ClassRow ClassRows[] = {
    {"vector", StdClass::Container | StdClass::Sequence | StdClass::Buffer},
    {"deque", StdClass::Container | StdClass::Sequence | StdClass::Buffer},
    {"list", StdClass::Container | StdClass::Sequence},
    {"forward_list", StdClass::Container | StdClass::Sequence},
    {"map", StdClass::Container | StdClass::Map},
    {"multimap", StdClass::Container},
    {"unordered_map", StdClass::Container | StdClass::Map},
    {"unordered_multimap", StdClass::Container},
    {"set", StdClass::Container | StdClass::Set},
    {"multiset", StdClass::Container},
    {"unordered_set", StdClass::Container | StdClass::Set},
    {"valarray", StdClass::Container | StdClass::Buffer},
    {"array", StdClass::Sequence | StdClass::Buffer},
    {"stack", StdClass::Sequence},
    {"queue", StdClass::Sequence},
    {"basic_string", StdClass::Buffer},
    {"pair", StdClass::Tuple},
    {"tuple", StdClass::Tuple},
    {"unique_ptr", StdClass::Box | StdClass::Buffer},
    {"shared_ptr", StdClass::Box | StdClass::Shared},
    {"optional", StdClass::Box},
    {"weak_ptr", StdClass::NotOwning},
    {"reference_wrapper", StdClass::NotOwning},
    {"span", StdClass::NotOwning},
    {"function", StdClass::Function},
    {"move_only_function", StdClass::Function},
    {"thread", StdClass::Thread},
    {"jthread", StdClass::Thread},
};

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The kinds of methods and of other functions of a name.
using KindsByName = llvm::StringMap<std::pair<Std, Std>>;

static KindsByName byName() {
  KindsByName Table;
  for (const FunctionRow &Row : FunctionRows) {
    auto &[OfMethods, OfFunctions] = Table[Row.Name];
    if (Row.Whose != Of::Functions)
      OfMethods |= Row.Kinds;
    if (Row.Whose != Of::Methods)
      OfFunctions |= Row.Kinds;
  }
  return Table;
}

Std kindsOf(const CallExpr *Call) {
  static const KindsByName Table = byName();
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  const StringRef Name = nameOf(Callee);
  auto Row = Name.empty() ? Table.end() : Table.find(Name);
  if (Row == Table.end())
    return Std();
  const auto *Method = dyn_cast<CXXMethodDecl>(Callee);
  return Method && !Method->isStatic() ? Row->second.first : Row->second.second;
}

bool does(const CallExpr *Call, Std Kinds) {
  return (kindsOf(Call) & Kinds) != Std();
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

bool isStdClass(const CXXRecordDecl *R, StdClass Kinds) {
  const StringRef Name = nameOf(R);
  return !Name.empty() && isStdDecl(R) &&
         llvm::any_of(ClassRows, [&](const ClassRow &Row) {
           return Row.Name == Name && (Row.Kinds & Kinds) != StdClass();
         });
}

bool isStdClass(QualType T, StdClass Kinds) {
  return isStdClass(recordOf(T), Kinds);
}

bool isStdClass(const CXXRecordDecl *R, llvm::ArrayRef<StringRef> Names) {
  return R && R->getIdentifier() && isStdDecl(R) &&
         llvm::is_contained(Names, R->getName());
}

bool isStdClass(QualType T, llvm::ArrayRef<StringRef> Names) {
  return isStdClass(recordOf(T), Names);
}

bool ownsBuffer(QualType T) {
  auto Owns = [](const CXXRecordDecl *R) {
    return isStdClass(R, StdClass::Buffer);
  };
  const CXXRecordDecl *R = recordOf(T);
  return R && (Owns(R) || anyBase(R, Owns));
}

bool isView(QualType T) {
  const CXXRecordDecl *R = recordOf(T);
  return isOrDerivesFrom(R, "std::span") ||
         isOrDerivesFrom(R, "std::basic_string_view") ||
         isOrDerivesFrom(R, "gsl::span") || isOrDerivesFrom(R, "Eigen::Map");
}

bool makesMat(StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases("imread", "imdecode", "clone", true)
      .Default(false);
}

bool isMat(QualType T) {
  const CXXRecordDecl *R = recordOf(T);
  return isOrDerivesFrom(R, "cv::Mat") || isOrDerivesFrom(R, "cv::Mat_");
}

bool holdsMat(QualType T) {
  if (isMat(T))
    return true;
  const auto *Spec =
      dyn_cast_or_null<ClassTemplateSpecializationDecl>(recordOf(T));
  return Spec && isStdDecl(Spec) && Spec->getTemplateArgs().size() > 0 &&
         Spec->getTemplateArgs()[0].getKind() == TemplateArgument::Type &&
         isMat(Spec->getTemplateArgs()[0].getAsType());
}

} // namespace libtorch_tidy::cpp
