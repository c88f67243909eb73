//===- Std.cpp - What the standard library and others do ------------------===//
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
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::cpp {

static bool isAppend(StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases("push_back", "emplace_back", "push", "append", true)
      .Default(false);
}

bool isInsertion(StringRef Name) {
  return isAppend(Name) ||
         llvm::StringSwitch<bool>(Name)
             .Cases("insert", "emplace", "push_front", "emplace_front", true)
             .Cases("try_emplace", "emplace_hint", "insert_or_assign", true)
             .Case("assign", true)
             .Default(false);
}

bool isRemoval(StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases("pop_front", "pop_back", "pop", "erase", "extract", true)
      .Default(false);
}

bool isEmptying(StringRef Name) {
  return isRemoval(Name) ||
         llvm::StringSwitch<bool>(Name)
             .Cases("clear", "reset", "swap", "move", "exchange", true)
             .Default(false);
}

bool isElementAccess(StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases("at", "front", "back", "top", "data", "find", true)
      .Cases("begin", "end", "cbegin", "cend", "rbegin", "rend", true)
      .Default(false);
}

bool isRelease(const CallExpr *Call) {
  StringRef Name = calleeName(Call);
  return isa_and_nonnull<CXXMemberCallExpr>(Call) && Call->getNumArgs() == 0 &&
         (Name == "clear" || Name == "reset");
}

std::optional<Insertion> asInsertion(const Expr *E) {
  const auto *Call =
      E ? dyn_cast<CXXMemberCallExpr>(E->IgnoreParenImpCasts()) : nullptr;
  const Expr *Into = Call ? Call->getImplicitObjectArgument() : nullptr;
  StringRef Name = calleeName(Call);
  if (!Into || !isInsertion(Name))
    return std::nullopt;
  Insertion I{Call, Into, writtenArguments(Call), isAppend(Name)};
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

bool isStdCall(const Expr *E, llvm::ArrayRef<StringRef> Names) {
  const auto *Call = E ? dyn_cast<CallExpr>(E->IgnoreParenImpCasts()) : nullptr;
  return Call && llvm::is_contained(Names, calleeName(Call)) &&
         isStdDecl(Call->getDirectCallee());
}

bool isStdCall(const Expr *E, StringRef Name) {
  return isStdCall(E, llvm::ArrayRef(Name));
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

bool isStdClass(const CXXRecordDecl *R, llvm::ArrayRef<StringRef> Names) {
  return R && R->getIdentifier() && isStdDecl(R) &&
         llvm::is_contained(Names, R->getName());
}

bool isStdClass(QualType T, llvm::ArrayRef<StringRef> Names) {
  return isStdClass(recordOf(T), Names);
}

static bool isAnyOf(QualType T, llvm::ArrayRef<StringRef> QualifiedNames) {
  const CXXRecordDecl *R = recordOf(T);
  return R && llvm::any_of(QualifiedNames, [&](StringRef Name) {
           return isOrDerivesFrom(R, Name);
         });
}

bool ownsBuffer(QualType T) {
  return isAnyOf(T, {"std::vector", "std::array", "std::basic_string",
                     "std::deque", "std::valarray", "std::unique_ptr"});
}

bool isView(QualType T) {
  return isAnyOf(
      T, {"std::span", "std::basic_string_view", "gsl::span", "Eigen::Map"});
}

bool handsOutBuffer(StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases("data", "get", "ptr", "c_str", true)
      .Default(false);
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
