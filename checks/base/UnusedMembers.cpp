//===- UnusedMembers.cpp - Members of class templates that nobody calls ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The compiler instantiates a member function of a class template when it is
/// called. A header with `template <class Model> class Trainer` has its defects
/// whether or not the unit at hand calls predict(), so members of the user's
/// class templates are instantiated here, too, as the checks read
/// instantiations. Done in front of clang-tidy's own work, in both front ends,
/// as a plugin of Clang's that is always on.

#include "analysis/cpp/UserCode.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "clang/Sema/Scope.h"
#include "clang/Sema/Sema.h"
#include "clang/Sema/SemaConsumer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace clang;

namespace libtorch_tidy {

namespace {

/// More are left alone: the rest of the unit is to be analysed in time.
constexpr unsigned MaxMembers = 1000;

/// A class of Clang's with more virtual functions could not be loaded by a
/// clang-tidy of another version, not even to say so.
class UnusedMembers : public SemaConsumer {
public:
  void InitializeSema(Sema &S) override { TheSema = &S; }
  void ForgetSema() override { TheSema = nullptr; }

  /// What the parser has just read, and nothing out of a precompiled header.
  bool HandleTopLevelDecl(DeclGroupRef Group) override {
    for (Decl *D : Group)
      collect(D);
    return true;
  }

  void HandleTranslationUnit(ASTContext &Context) override {
    // Half a class makes errors that say nothing of the user's code.
    if (!TheSema || TheSema->getDiagnostics().hasErrorOccurred() ||
        Templates.empty() || !torch::declaresTensor(Context))
      return;
    // The parser has left the unit's scope already. Instantiations want one.
    Scope UnitScope(nullptr, Scope::DeclScope, TheSema->getDiagnostics());
    UnitScope.setEntity(Context.getTranslationUnitDecl());
    llvm::SaveAndRestore Current(TheSema->TUScope, &UnitScope);
    for (const ClassTemplateDecl *Template : Templates)
      instantiateMembers(*Template);
  }

private:
  void collect(Decl *D) {
    if (!isa<ClassTemplateDecl, NamespaceDecl, LinkageSpecDecl>(D) ||
        !cpp::isUserCode(D->getLocation(),
                         D->getASTContext().getSourceManager()))
      return;
    if (const auto *Template = dyn_cast<ClassTemplateDecl>(D))
      Templates.push_back(Template->getCanonicalDecl());
    else
      for (Decl *Inner : cast<DeclContext>(D)->noload_decls())
        collect(Inner);
  }

  void instantiateMembers(const ClassTemplateDecl &Template) {
    // One instantiation stands for the template. Prefer those that the unit
    // made.
    llvm::SmallPtrSet<const FunctionDecl *, 16> Made;
    std::vector<std::pair<const FunctionDecl *, CXXMethodDecl *>> Missing;
    for (ClassTemplateSpecializationDecl *Class : Template.specializations()) {
      if (Class->getSpecializationKind() != TSK_ImplicitInstantiation ||
          !Class->isCompleteDefinition())
        continue;
      for (CXXMethodDecl *Member : Class->methods()) {
        const FunctionDecl *Pattern = Member->getTemplateInstantiationPattern();
        if (Member->getTemplateSpecializationKind() !=
                TSK_ImplicitInstantiation ||
            Member->isInvalidDecl() || Member->getTrailingRequiresClause() ||
            !Pattern || !Pattern->doesThisDeclarationHaveABody())
          continue;
        if (Member->isDefined())
          Made.insert(Pattern);
        else
          Missing.emplace_back(Pattern, Member);
      }
    }
    for (auto [Pattern, Member] : Missing)
      if (Left && Made.insert(Pattern).second) {
        --Left;
        instantiate(*Member);
      }
  }

  void instantiate(CXXMethodDecl &Member) {
    DiagnosticsEngine &Diags = TheSema->getDiagnostics();
    const bool Before = Diags.getSuppressAllDiagnostics();
    Diags.setSuppressAllDiagnostics(true);
    DiagnosticErrorTrap Trap(Diags);
    TheSema->InstantiateFunctionDefinition(Member.getLocation(), &Member,
                                           /*Recursive=*/true,
                                           /*DefinitionRequired=*/false,
                                           /*AtEndOfTU=*/true);
    Diags.setSuppressAllDiagnostics(Before);
    // It is not made for this argument: nobody can call it.
    if (Trap.hasErrorOccurred())
      Member.setInvalidDecl();
  }

  Sema *TheSema = nullptr;
  std::vector<const ClassTemplateDecl *> Templates;
  unsigned Left = MaxMembers;
};

class UnusedMembersAction : public PluginASTAction {
public:
  ActionType getActionType() override { return AddBeforeMainAction; }
  bool ParseArgs(const CompilerInstance &,
                 const std::vector<std::string> &) override {
    return true;
  }

protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &,
                                                 llvm::StringRef) override {
    return std::make_unique<UnusedMembers>();
  }
};

FrontendPluginRegistry::Add<UnusedMembersAction>
    Registered("libtorch-unused-members",
               "Instantiates members of class templates that nobody calls.");

} // namespace

} // namespace libtorch_tidy
