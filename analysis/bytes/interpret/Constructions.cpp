//===- Constructions.cpp - Where a unit makes modules --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Elaboration.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/autograd/Hooks.h"
#include "analysis/torch/modules/Modules.h"
#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;

namespace libtorch_tidy::bytes {

namespace {

/// Finds module classes, and where the program makes modules: not in the
/// methods of modules, where parts are made.
class Finder : public RecursiveASTVisitor<Finder> {
public:
  /// \p WithInputs: what forward() is passed is looked for, too.
  Finder(const Interpreter::DefineDecl &Define, const SourceManager &SM,
         unsigned OwnText, bool WithInputs)
      : Define(Define), SM(SM), OwnText(OwnText), WithInputs(WithInputs) {}

  UnitModels Found;

  bool shouldVisitTemplateInstantiations() const { return true; }

  bool TraverseDecl(Decl *D) {
    // The driver has left the library out; a check in the plugin has not.
    if (D && D->getLexicalDeclContext() &&
        D->getLexicalDeclContext()->isTranslationUnit() &&
        !cpp::isUserCode(D->getLocation(), SM))
      return true;
    const auto *Method = dyn_cast_or_null<CXXMethodDecl>(D);
    const auto *Field = dyn_cast_or_null<FieldDecl>(D);
    const bool IsInside =
        (Method && torch::isModuleClass(Method->getParent())) ||
        (Field &&
         torch::isModuleClass(dyn_cast<CXXRecordDecl>(Field->getParent())));
    const bool IsCustom = Method && torch::isCustomBackward(Method);
    Inside += IsInside;
    InCustom += IsCustom;
    const bool Result = RecursiveASTVisitor::TraverseDecl(D);
    Inside -= IsInside;
    InCustom -= IsCustom;
    return Result;
  }

  bool VisitFunctionDecl(FunctionDecl *F) {
    if (F->doesThisDeclarationHaveABody() && F->getBody() &&
        !F->isDependentContext())
      Found.Bodies.push_back(F->getBody());
    if (F->isMain() && F->doesThisDeclarationHaveABody())
      Found.Mains.push_back(F);
    if (F->isThisDeclarationADefinition() && !F->isInlined() &&
        !F->isDependentContext() && !F->isTemplateInstantiation() &&
        isOwn(F->getLocation()))
      Found.Defined.push_back(F);
    return true;
  }

  bool VisitCXXRecordDecl(CXXRecordDecl *R) {
    if (isOwn(R->getLocation()) && R->isThisDeclarationADefinition() &&
        !R->isDependentContext() && modelClass(R) == ModelClass::UserModule)
      Found.Classes.push_back(R);
    return true;
  }

  bool VisitCXXConstructExpr(CXXConstructExpr *E) {
    const CXXConstructorDecl *Constructor = E->getConstructor();
    if (Inside || Constructor->isCopyOrMoveConstructor() ||
        E->isTypeDependent() || !isOwn(E->getBeginLoc()))
      return true;
    const CXXRecordDecl *R = Constructor->getParent();
    const CXXRecordDecl *Class = heldBy(R) ? heldBy(R) : R;
    // A holder of what is there: no arguments of the module.
    if (Class != R && E->getNumArgs() == 1) {
      const QualType Given = E->getArg(0)->getType();
      if (Given->isNullPtrType() || torch::isModule(Given))
        return true;
    }
    add(Class, llvm::ArrayRef(E->getArgs(), E->getNumArgs()), E->getBeginLoc());
    return true;
  }

  bool VisitCallExpr(CallExpr *E) {
    if (E->isTypeDependent())
      return true;
    // What is made here may be run in another file.
    if (!Inside && WithInputs)
      if (std::optional<PassedInputs> Inputs = asPassedInputs(E))
        Found.Passed.push_back(std::move(*Inputs));
    if (const auto Ends = torch::asBackward(E);
        Ends && !Ends->ReturnsGradients && !InCustom && WithInputs)
      Found.Backwards.push_back(E->Stmt::getBeginLoc());
    if (!isOwn(E->Stmt::getBeginLoc()))
      return true;
    if (E->getNumArgs() && torch::loadsScript(E))
      Found.Loads.push_back({E->getArg(0), E->Stmt::getBeginLoc()});
    if (Inside || !cpp::isStdCall(E, cpp::Std::Make))
      return true;
    add(cpp::recordOf(cpp::pointeeOf(E->getType())),
        llvm::ArrayRef(E->getArgs(), E->getNumArgs()), E->Stmt::getBeginLoc());
    return true;
  }

private:
  /// Else it comes from the files that were read after the unit's own text.
  bool isOwn(SourceLocation Loc) const {
    Loc = SM.getExpansionLoc(Loc);
    FileID File = SM.getFileID(Loc);
    while (File != SM.getMainFileID()) {
      Loc = SM.getIncludeLoc(File);
      if (Loc.isInvalid())
        return true;
      File = SM.getFileID(Loc);
    }
    return SM.getFileOffset(Loc) < OwnText;
  }

  void add(const CXXRecordDecl *Class, llvm::ArrayRef<const Expr *> Arguments,
           SourceLocation At) {
    Class = definitionOf(Class, Define);
    if (!Class || Class->isDependentContext() ||
        modelClass(Class) != ModelClass::UserModule)
      return;
    Construction C{Class, {}, At};
    for (const Expr *Argument : Arguments)
      if (!isa<CXXDefaultArgExpr>(Argument))
        C.Arguments.push_back(Argument);
    Found.Made.push_back(std::move(C));
  }

  const Interpreter::DefineDecl &Define;
  const SourceManager &SM;
  const unsigned OwnText;
  const bool WithInputs;
  unsigned Inside = 0, InCustom = 0;
};

} // namespace

UnitModels findModels(const ASTContext &Context,
                      const Interpreter::DefineDecl &Define, unsigned OwnText,
                      bool WithInputs) {
  Finder Finds(Define, Context.getSourceManager(), OwnText, WithInputs);
  for (Decl *D : Context.getTraversalScope())
    Finds.TraverseDecl(D);
  return std::move(Finds.Found);
}

} // namespace libtorch_tidy::bytes
