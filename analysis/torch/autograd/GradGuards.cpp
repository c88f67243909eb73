//===- GradGuards.cpp - Who switches grad mode and autocast ---------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/torch/autograd/GradGuards.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/GuardEffects.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ParentMapContext.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

std::optional<GradMode> guardOf(const VarDecl *V) {
  MaybeEffect Found = effectOf(V);
  return Found ? std::optional(Found->Mode) : std::nullopt;
}

std::optional<GradMode> guardOf(const CXXRecordDecl *R) {
  MaybeEffect Found = effectOf(R);
  return Found ? std::optional(Found->Mode) : std::nullopt;
}

bool isInferenceMode(const VarDecl *V) {
  MaybeEffect Found = effectOf(V);
  return Found && Found->Inference;
}

bool declaresNoGradGuard(ASTContext &Context) {
  llvm::SmallVector<StringRef, 2> Names;
  spelling::NoGradGuard.split(Names, "::");
  const DeclContext *In = Context.getTranslationUnitDecl();
  for (StringRef Name : Names) {
    const auto Found = In->lookup(&Context.Idents.get(Name));
    if (Found.empty())
      return false;
    if (const auto *NS = dyn_cast<NamespaceDecl>(Found.front()))
      In = NS;
  }
  return true;
}

std::optional<bool> gradientsUnder(const CXXRecordDecl *R,
                                   std::optional<bool> Enabled) {
  switch (decides(R)) {
  case Decides::AlwaysOff:
    return false;
  case Decides::ByEnabled:
    // NoGradGuard derives from AutoGradMode, and has a case of its own.
    return Enabled;
  case Decides::ByInference:
    return Enabled.value_or(true) ? std::optional(false) : std::nullopt;
  case Decides::No:
    break;
  }
  return std::nullopt;
}

bool isGuardType(QualType T) {
  return decides(cpp::recordOf(T)) != Decides::No;
}

/// Does the object \p E makes die at the end of its full expression?
static bool diesWithFullExpression(const Expr *E, ASTContext &Context) {
  DynTypedNode Node = DynTypedNode::create(*E);
  while (true) {
    DynTypedNodeList Parents = Context.getParents(Node);
    if (Parents.size() != 1)
      return false;
    Node = Parents[0];
    if (const auto *Temporary = Node.get<MaterializeTemporaryExpr>();
        Temporary && Temporary->getExtendingDecl())
      return false;
    if (Node.get<ExprWithCleanups>() || Node.get<CXXBindTemporaryExpr>() ||
        Node.get<MaterializeTemporaryExpr>() || Node.get<CastExpr>() ||
        Node.get<ParenExpr>() || Node.get<ConditionalOperator>())
      continue;
    if (const auto *Construct = Node.get<CXXConstructExpr>()) {
      if (!Construct->getConstructor()->isCopyOrMoveConstructor())
        return false; // Given to an owner.
      continue;
    }
    if (const auto *Comma = Node.get<BinaryOperator>())
      return Comma->getOpcode() == BO_Comma;
    // A declaration is a variable, or a constructor with its initialisers.
    return !Node.get<Decl>() && !Node.get<InitListExpr>() &&
           !Node.get<ReturnStmt>() && !Node.get<CXXNewExpr>() &&
           !Node.get<LambdaExpr>() && !Node.get<CXXDefaultInitExpr>();
  }
}

bool isTemporaryGuard(const Expr *E) {
  E = cpp::peel(E);
  const auto *Construct = dyn_cast_or_null<CXXConstructExpr>(E);
  if (!Construct || Construct->getConstructor()->isCopyOrMoveConstructor())
    return false;
  const CXXRecordDecl *R = Construct->getConstructor()->getParent();
  if (decides(R) == Decides::No && (boxed(R) || !guardOf(R)))
    return false;
  return diesWithFullExpression(E, R->getASTContext());
}

/// The method \p Name of one of \p Classes of LibTorch's that \p Call calls;
/// null for other calls.
static const CXXMethodDecl *methodOf(const CallExpr *Call, StringRef Name,
                                     llvm::ArrayRef<StringRef> Classes) {
  if (cpp::calleeName(Call) != Name)
    return nullptr;
  const auto *Method = dyn_cast<CXXMethodDecl>(Call->getDirectCallee());
  return Method &&
                 llvm::is_contained(Classes,
                                    cpp::nameOf(Method->getParent())) &&
                 isTorchDecl(Method)
             ? Method
             : nullptr;
}

std::optional<GradMode> setsGradMode(const CallExpr *Call) {
  const CXXMethodDecl *Method =
      methodOf(Call, "set_enabled", {"GradMode", "AutoGradMode"});
  if (!Method || Call->getNumArgs() != 1)
    return std::nullopt;
  std::optional<bool> On =
      cpp::constantBool(Call->getArg(0), Method->getASTContext());
  return !On ? GradMode::Unknown : *On ? GradMode::On : GradMode::Off;
}

static constexpr StringRef AutocastNames[] = {
    "::at::autocast::set_enabled",
    "::at::autocast::set_cpu_enabled",
    "::at::autocast::set_xpu_enabled",
    "::at::autocast::set_ipu_enabled",
    "::at::autocast::set_hpu_enabled",
    "::at::autocast::set_xla_enabled",
    "::at::autocast::set_privateuseone_enabled",
    "::at::autocast::set_autocast_enabled",
    "::at::autocast::set_autocast_cache_enabled",
    "::at::autocast::clear_cache",
};
const llvm::ArrayRef<StringRef> AutocastFunctions(AutocastNames);

std::optional<AutocastUse> autocastUse(const CallExpr *Call,
                                       const ASTContext &Context) {
  StringRef Name = cpp::calleeName(Call);
  if (Name.empty())
    return std::nullopt;
  std::string Qualified =
      "::" + Call->getDirectCallee()->getQualifiedNameAsString();
  if (!llvm::is_contained(AutocastNames, StringRef(Qualified)))
    return std::nullopt;
  if (Name == "clear_cache")
    return AutocastUse::ClearCache;
  // The value comes last, after the device that set_autocast_enabled takes.
  if (Call->getNumArgs() == 0)
    return std::nullopt;
  std::optional<bool> Value =
      cpp::constantBool(Call->getArg(Call->getNumArgs() - 1), Context);
  if (Name == "set_autocast_cache_enabled")
    return Value == true ? std::nullopt : std::optional(AutocastUse::CacheOff);
  if (!Value)
    return AutocastUse::Set;
  return *Value ? AutocastUse::On : AutocastUse::Off;
}

} // namespace libtorch_tidy::torch
