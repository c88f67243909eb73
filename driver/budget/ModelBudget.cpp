//===- ModelBudget.cpp - The models of a unit, instead of findings --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Compat.h"
#include "driver/budget/BudgetReport.h"
#include "driver/budget/ScriptArchive.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Sema/Scope.h"
#include "clang/Sema/Sema.h"
#include "clang/Sema/SemaConsumer.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace clang;

namespace libtorch_tidy::driver {

namespace {

class BudgetTaker : public SemaConsumer {
public:
  BudgetTaker(const bytes::BudgetRequest &Request, unsigned OwnText,
              bytes::UnitBudget &Answer)
      : Request(Request), OwnText(OwnText), Answer(Answer) {}

  void InitializeSema(Sema &S) override { TheSema = &S; }
  void ForgetSema() override { TheSema = nullptr; }

  void HandleTranslationUnit(ASTContext &Context) override {
    if (Context.getDiagnostics().hasErrorOccurred())
      return;
    if (!TheSema)
      return answer(Context, {});
    // The parser has left the unit's scope already. Instantiations want one.
    Scope UnitScope(nullptr, Scope::DeclScope, TheSema->getDiagnostics());
    UnitScope.setEntity(Context.getTranslationUnitDecl());
    llvm::SaveAndRestore Current(TheSema->TUScope, &UnitScope);
    answer(Context, [this](NamedDecl &D) { define(D); });
  }

private:
  void answer(ASTContext &Context,
              const std::function<void(NamedDecl &)> &Define) {
    auto Make = [&](const bytes::BudgetRequest &Asked) {
      return bytes::elaborate(Context, Asked, OwnText, Define);
    };
    Answer = Make(Request);
    bytes::addRemedies(Answer, Request, Make);
    FileManager &Files = Context.getSourceManager().getFileManager();
    for (const bytes::LoadedFile &Each : Answer.Loaded)
      readLoaded(Each, Files);
  }

  /// Adds the model of an archive, whose path is that of the program.
  void readLoaded(const bytes::LoadedFile &File, FileManager &Files) {
    const std::string Title = bytes::titleOfArchive(File.Path);
    auto Refuse = [&](const std::string &Why) {
      Answer.Refused.push_back(
          {Title, File.Where, "'" + File.Path + "' cannot be read: " + Why});
    };
    const auto Bytes = Files.getBufferForFile(File.Path, /*isVolatile=*/false,
                                              /*RequiresNullTerminator=*/false);
    if (!Bytes)
      return Refuse(Bytes.getError().message());
    llvm::Expected<bytes::ModelRows> Model =
        readScriptArchive((*Bytes)->getBuffer(), Request.Type);
    if (!Model)
      return Refuse(toString(Model.takeError()));
    Model->Title = Title;
    Model->Archive = {File.Path, 0};
    Model->Made = File.Where.File.empty() ? Model->Archive : File.Where;
    Model->Modules.front().Made = Model->Made;
    for (bytes::MissingRow &M : Model->Missing)
      M.Where = Model->Archive;
    Answer.Models.push_back(std::move(*Model));
  }

  /// What only the library asks for is not there: its bodies are skipped.
  void define(NamedDecl &D) {
    DiagnosticsEngine &Diags = TheSema->getDiagnostics();
    const bool Before = Diags.getSuppressAllDiagnostics();
    Diags.setSuppressAllDiagnostics(true);
    DiagnosticErrorTrap Trap(Diags);
    if (auto *F = dyn_cast<FunctionDecl>(&D))
      TheSema->InstantiateFunctionDefinition(F->getLocation(), F,
                                             /*Recursive=*/true,
                                             /*DefinitionRequired=*/false,
                                             /*AtEndOfTU=*/true);
    else if (auto *R = dyn_cast<CXXRecordDecl>(&D))
      TheSema->isCompleteType(R->getLocation(), compat::recordType(R));
    Diags.setSuppressAllDiagnostics(Before);
    if (Trap.hasErrorOccurred())
      D.setInvalidDecl();
  }

  const bytes::BudgetRequest &Request;
  const unsigned OwnText;
  bytes::UnitBudget &Answer;
  Sema *TheSema = nullptr;
};

} // namespace

std::unique_ptr<ASTConsumer>
createBudgetConsumer(const bytes::BudgetRequest &Request, unsigned OwnText,
                     bytes::UnitBudget &Answer) {
  return std::make_unique<BudgetTaker>(Request, OwnText, Answer);
}

} // namespace libtorch_tidy::driver
