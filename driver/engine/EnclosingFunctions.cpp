//===- EnclosingFunctions.cpp - The function around a place ---------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/engine/EnclosingFunctions.h"
#include "driver/project/Scope.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclFriend.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace libtorch_tidy::driver {

EnclosingFunctions::EnclosingFunctions(const ASTContext &Context)
    : SM(Context.getSourceManager()) {
  LibraryCode Library(SM);
  auto AddUsers = [&](const Decl *D) {
    if (D->getLocation().isValid() && !Library.contains(D->getLocation()))
      add(D);
  };
  // The scope is the whole unit, or what the user wrote of it.
  for (const Decl *D : Context.getTraversalScope())
    if (const auto *Whole = dyn_cast<TranslationUnitDecl>(D))
      llvm::for_each(Whole->decls(), AddUsers);
    else
      AddUsers(D);
}

void EnclosingFunctions::add(const Decl *D) {
  SourceRange Range = D->getSourceRange(); // From `template <...>` on.
  if (const auto *Friend = dyn_cast<FriendDecl>(D))
    D = Friend->getFriendDecl();
  if (const auto *Template = dyn_cast_or_null<TemplateDecl>(D))
    D = Template->getTemplatedDecl();
  if (!D || D->isImplicit())
    return;
  if (const auto *F = dyn_cast<FunctionDecl>(D)) {
    if (!F->doesThisDeclarationHaveABody() || F->isTemplateInstantiation())
      return;
    const auto [File, First] =
        SM.getDecomposedLoc(SM.getExpansionLoc(Range.getBegin()));
    const auto [LastFile, Last] =
        SM.getDecomposedLoc(SM.getExpansionRange(Range.getEnd()).getEnd());
    if (File == LastFile)
      Extents.push_back({File, First, Last, F});
    return;
  }
  // An instantiation has the places of its template.
  if (const auto *Class = dyn_cast<CXXRecordDecl>(D);
      Class && isTemplateInstantiation(Class->getTemplateSpecializationKind()))
    return;
  if (const auto *Context = dyn_cast<DeclContext>(D))
    for (const Decl *Inner : Context->decls())
      add(Inner);
}

/// The name without the arguments of a class template, which constructors and
/// destructors are named with.
static std::string unqualifiedName(const FunctionDecl &F) {
  if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(&F))
    return Constructor->getParent()->getNameAsString();
  if (const auto *Destructor = dyn_cast<CXXDestructorDecl>(&F))
    return "~" + Destructor->getParent()->getNameAsString();
  return F.getNameAsString();
}

std::string EnclosingFunctions::at(SourceLocation Loc) const {
  const auto [File, Offset] = SM.getDecomposedLoc(SM.getFileLoc(Loc));
  for (const Extent &E : Extents) {
    if (E.File != File || Offset < E.First || E.Last < Offset)
      continue;
    std::string Result = unqualifiedName(*E.Function);
    for (const DeclContext *Outer = E.Function->getDeclContext(); Outer;
         Outer = Outer->getParent())
      if (const auto *Named = dyn_cast<NamedDecl>(Outer);
          Named && Named->getDeclName())
        Result = Named->getNameAsString() + "::" + Result;
    return Result;
  }
  return {};
}

} // namespace libtorch_tidy::driver
