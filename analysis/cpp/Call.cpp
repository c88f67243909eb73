//===- Call.cpp - A call, taken apart once --------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Call.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Library.h"
#include "analysis/cpp/Types.h"

using namespace clang;

namespace libtorch_tidy::cpp {

Call::Call(const Expr *E, const FunctionDecl *Callee, const Expr *Object,
           llvm::ArrayRef<const Expr *> Args)
    : E(E), Callee(Callee), Name(nameOf(Callee)), Object(Object),
      OnThis(isa_and_nonnull<CXXThisExpr>(stripImplicit(Object))),
      Args(Args.begin(), Args.end()), Written(Args.size()),
      Kinds(isa<CallExpr>(E) ? kindsOf(Callee) : Std()) {
  while (Written && isa<CXXDefaultArgExpr>(Args[Written - 1]))
    --Written;
  if (Callee)
    Of = library::declares(Callee) ? Whose::Library
         : isStdDecl(Callee)       ? Whose::Std
                                   : Whose::User;
}

Call::Call(const CallExpr *E)
    : Call(E, E->getDirectCallee(), calledOn(E),
           llvm::ArrayRef(E->getArgs(), E->getNumArgs())
               .drop_front(isMemberOperator(E))) {}

Call::Call(const CXXConstructExpr *E)
    : Call(E, E->getConstructor(), nullptr,
           llvm::ArrayRef(E->getArgs(), E->getNumArgs())) {}

std::optional<Call> Call::of(const Expr *E) {
  if (const auto *Made = dyn_cast_or_null<CXXConstructExpr>(E))
    return Call(Made);
  if (const auto *Called = dyn_cast_or_null<CallExpr>(E))
    return Call(Called);
  return std::nullopt;
}

OverloadedOperatorKind Call::op() const {
  const auto *Operator = dyn_cast<CXXOperatorCallExpr>(E);
  return Operator ? Operator->getOperator() : OO_None;
}

} // namespace libtorch_tidy::cpp
