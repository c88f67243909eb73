//===- UnusedMembers.cpp - Templates that no code of the user calls -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The compiler instantiates a member function of a class template when it is
/// called. A header with `template <class Model> class Trainer` has its defects
/// whether or not the unit at hand calls predict(), so members of the user's
/// class templates are instantiated here, too, as the checks read
/// instantiations. So are generic lambdas that std::for_each and its like run:
/// the bodies of these, which call them, are skipped with the library's. Done
/// in front of clang-tidy's own work, in both front ends, as a plugin of
/// Clang's that is always on.

#include "analysis/cpp/Callables.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecursiveASTVisitor.h"
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

/// The type of what \p E, an iterator, leads to; null where that is not known.
QualType elementOf(const Expr *E) {
  QualType T = E->getType().getNonReferenceType();
  // vector<T>::iterator, torch::data::Iterator<Batch>
  if (const CXXRecordDecl *Iterator = cpp::recordOf(T))
    T = cpp::nameOf(Iterator).contains_insensitive("iterator")
            ? cpp::firstArgument(Iterator)
            : QualType();
  if (!T.isNull() && T->isPointerType())
    T = T->getPointeeType();
  return T.isNull() ? T : T.getUnqualifiedType();
}

/// The generic lambdas that algorithms of the standard library run, with the
/// arguments that these have for them.
class RunByAlgorithms : public RecursiveASTVisitor<RunByAlgorithms> {
public:
  struct Use {
    FunctionTemplateDecl *Generic;
    llvm::SmallVector<TemplateArgument, 2> With;
  };
  std::vector<Use> Found;

  bool VisitCallExpr(CallExpr *Call) {
    if (!cpp::isStdCall(Call, cpp::Std::Each))
      return true;
    for (const Expr *Arg : Call->arguments())
      if (const FunctionDecl *Pattern = cpp::patternOf(Arg))
        add(Pattern->getDescribedFunctionTemplate(), Call);
    return true;
  }

private:
  void add(FunctionTemplateDecl *Generic, const CallExpr *Call) {
    const auto Given = cpp::givenByAlgorithm(Call);
    const FunctionDecl *Pattern = Generic->getTemplatedDecl();
    const unsigned Number = Generic->getTemplateParameters()->size();
    if (!Generic->specializations().empty() ||
        Pattern->getNumParams() > Given.size() ||
        Generic->getDeclContext()->isDependentContext())
      return;
    Use U = {Generic, {}};
    U.With.resize(Number);
    for (const ParmVarDecl *Param : Pattern->parameters()) {
      const unsigned I = Param->getFunctionScopeIndex();
      const auto *Auto = dyn_cast<TemplateTypeParmType>(
          Param->getType().getNonReferenceType().getUnqualifiedType());
      const bool IsStart = I == 0 && cpp::does(Call, cpp::Std::Fold);
      QualType T = IsStart ? Given[I]->getType().getUnqualifiedType()
                           : elementOf(Given[I]);
      if (!Auto || T.isNull() || Auto->getIndex() >= Number)
        continue;
      if (Param->getType()->isRValueReferenceType()) // auto &&
        T = Generic->getASTContext().getLValueReferenceType(T);
      U.With[Auto->getIndex()] = TemplateArgument(T);
    }
    if (llvm::none_of(U.With,
                      [](const TemplateArgument &A) { return A.isNull(); }))
      Found.push_back(std::move(U));
  }
};

/// A class of Clang's with more virtual functions could not be loaded by a
/// clang-tidy of another version, not even to say so.
class UnusedMembers : public SemaConsumer {
public:
  void InitializeSema(Sema &S) override { TheSema = &S; }
  void ForgetSema() override { TheSema = nullptr; }

  /// What the parser has just read, and nothing out of a precompiled header.
  bool HandleTopLevelDecl(DeclGroupRef Group) override {
    for (Decl *D : Group) {
      collect(D);
      if (isUsers(*D))
        Written.push_back(D);
    }
    return true;
  }

  void HandleTranslationUnit(ASTContext &Context) override {
    // Half a class makes errors that say nothing of the user's code.
    if (!TheSema || TheSema->getDiagnostics().hasErrorOccurred() ||
        !torch::declaresTensor(Context))
      return;
    RunByAlgorithms Lambdas;
    for (Decl *D : Written)
      Lambdas.TraverseDecl(D);
    if (Templates.empty() && Lambdas.Found.empty())
      return;
    // The parser has left the unit's scope already. Instantiations want one.
    Scope UnitScope(nullptr, Scope::DeclScope, TheSema->getDiagnostics());
    UnitScope.setEntity(Context.getTranslationUnitDecl());
    llvm::SaveAndRestore Current(TheSema->TUScope, &UnitScope);
    for (const ClassTemplateDecl *Template : Templates)
      instantiateMembers(*Template);
    for (const auto &[Generic, With] : Lambdas.Found)
      instantiate(*Generic, With);
  }

private:
  static bool isUsers(const Decl &D) {
    return cpp::isUserCode(D.getLocation(),
                           D.getASTContext().getSourceManager());
  }

  void collect(Decl *D) {
    if (!isa<ClassTemplateDecl, NamespaceDecl, LinkageSpecDecl>(D) ||
        !isUsers(*D))
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

  void instantiate(FunctionTemplateDecl &Generic,
                   llvm::ArrayRef<TemplateArgument> With) {
    DiagnosticsEngine &Diags = TheSema->getDiagnostics();
    const bool Before = Diags.getSuppressAllDiagnostics();
    Diags.setSuppressAllDiagnostics(true);
    FunctionDecl *Call = TheSema->InstantiateFunctionDeclaration(
        &Generic,
        TemplateArgumentList::CreateCopy(Generic.getASTContext(), With),
        Generic.getLocation());
    Diags.setSuppressAllDiagnostics(Before);
    if (Call && !Call->isDefined())
      instantiate(*Call);
  }

  void instantiate(FunctionDecl &F) {
    DiagnosticsEngine &Diags = TheSema->getDiagnostics();
    const bool Before = Diags.getSuppressAllDiagnostics();
    Diags.setSuppressAllDiagnostics(true);
    DiagnosticErrorTrap Trap(Diags);
    TheSema->InstantiateFunctionDefinition(F.getLocation(), &F,
                                           /*Recursive=*/true,
                                           /*DefinitionRequired=*/false,
                                           /*AtEndOfTU=*/true);
    Diags.setSuppressAllDiagnostics(Before);
    // It is not made for these arguments: nobody can call it.
    if (Trap.hasErrorOccurred())
      F.setInvalidDecl();
  }

  Sema *TheSema = nullptr;
  std::vector<const ClassTemplateDecl *> Templates;
  std::vector<Decl *> Written; ///< What the user wrote, at file level.
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
