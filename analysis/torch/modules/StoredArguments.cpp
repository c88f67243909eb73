//===- StoredArguments.cpp - What a function leaves in its object ---------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/torch/modules/StoredArguments.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UnitContext.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/modules/Kept.h"
#include "analysis/torch/modules/Modules.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy::torch {

namespace {

class Finder {
public:
  explicit Finder(const FunctionDecl *F) : F(F), Body(F->getBody()) {
    if (const auto *Ctor = dyn_cast<CXXConstructorDecl>(F))
      for (const CXXCtorInitializer *Init : Ctor->inits())
        if (Init->isMemberInitializer() && Init->isWritten())
          intoField(Init->getMember(), Init->getInit());
    cpp::forEachStore(
        Body, [&](const CallExpr *, const Expr *To, const Expr *Value) {
          std::optional<cpp::Object> Place = cpp::objectOf(To, Body);
          if (Place && !Place->Root && Place->Fields.size() == 1)
            intoField(Place->Fields[0], Value);
        });
    cpp::forEach<CallExpr>(Body,
                           [&](const CallExpr *Call) { registers(Call); });
  }
  std::vector<StoredArgument> Found;

private:
  void intoField(const FieldDecl *Field, const Expr *Value) {
    // field(register_module("name", value))
    if (const auto *Call =
            dyn_cast_or_null<CallExpr>(cpp::stripImplicit(Value)))
      if (std::optional<Registration> R = asRegistration(Call); R && R->Value)
        Value = R->Value;
    if (cpp::isOwningType(Field->getType()) ||
        cpp::holdsFunctions(Field->getType()))
      add(Field, Value);
  }

  void registers(const CallExpr *Call) {
    std::optional<Registration> R = asRegistration(Call);
    if (R && R->What == Registration::Module && R->Value &&
        !cpp::receiverOf(Call))
      add(nullptr, R->Value);
  }

  void add(const FieldDecl *Field, const Expr *Value) {
    for (const Expr *Kept : keptBy(Value, Body)) {
      std::optional<cpp::Object> Named = cpp::objectOf(Kept, Body);
      const auto *Param =
          Named ? dyn_cast_or_null<ParmVarDecl>(Named->Root) : nullptr;
      if (Param && Named->Fields.empty() && Param->getDeclContext() == F)
        Found.push_back({Param->getFunctionScopeIndex(), Field});
    }
  }

  const FunctionDecl *F;
  const Stmt *Body;
};

} // namespace

std::vector<StoredArgument> storedArguments(const FunctionDecl *F) {
  const FunctionDecl *Definition = nullptr;
  if (F->hasBody(Definition))
    return Finder(Definition).Found;
  const auto &Elsewhere = cpp::ofUnit<StoredElsewhere>(F->getASTContext());
  return Elsewhere.Of ? Elsewhere.Of(F) : std::vector<StoredArgument>();
}

} // namespace libtorch_tidy::torch
