//===- StoredArguments.cpp - What a function leaves in its object ---------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/code/StoredArguments.h"
#include "checks/code/Kept.h"
#include "checks/code/Object.h"
#include "checks/code/Std.h"
#include "checks/code/Types.h"
#include "checks/code/Walk.h"
#include "checks/torch/Calls.h"
#include "checks/torch/Modules.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy::code {

static thread_local const StoredElsewhere::Source *Installed = nullptr;

StoredElsewhere::StoredElsewhere(Source Say)
    : Say(std::move(Say)), Outer(Installed) {
  Installed = &this->Say;
}
StoredElsewhere::~StoredElsewhere() { Installed = Outer; }

namespace {

class Finder {
public:
  explicit Finder(const FunctionDecl *F) : F(F), Body(F->getBody()) {
    if (const auto *Ctor = dyn_cast<CXXConstructorDecl>(F))
      for (const CXXCtorInitializer *Init : Ctor->inits())
        if (Init->isMemberInitializer() && Init->isWritten())
          intoField(Init->getMember(), Init->getInit());
    forEachStore(Body,
                 [&](const CallExpr *, const Expr *To, const Expr *Value) {
                   std::optional<Object> Place = objectOf(To, Body);
                   if (Place && !Place->Root && Place->Fields.size() == 1)
                     intoField(Place->Fields[0], Value);
                 });
    forEach<CallExpr>(Body, [&](const CallExpr *Call) { registers(Call); });
  }
  std::vector<StoredArgument> Found;

private:
  void intoField(const FieldDecl *Field, const Expr *Value) {
    // field(register_module("name", value))
    if (const auto *Call =
            dyn_cast_or_null<CallExpr>(torch::stripImplicit(Value)))
      if (std::optional<torch::Registration> R = torch::asRegistration(Call);
          R && R->Value)
        Value = R->Value;
    if (isOwningType(Field->getType()) || holdsFunctions(Field->getType()))
      add(Field, Value);
  }

  void registers(const CallExpr *Call) {
    std::optional<torch::Registration> R = torch::asRegistration(Call);
    if (R && R->What == torch::Registration::Module && R->Value &&
        !torch::objectOf(Call))
      add(nullptr, R->Value);
  }

  void add(const FieldDecl *Field, const Expr *Value) {
    for (const Expr *Kept : keptBy(Value, Body)) {
      std::optional<Object> Named = objectOf(Kept, Body);
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
  return Installed ? (*Installed)(F) : std::vector<StoredArgument>();
}

} // namespace libtorch_tidy::code
