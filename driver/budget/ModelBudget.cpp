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
    for (bytes::ModelRows &Model : Answer.Models)
      readHeld(Model, Files);
    for (const bytes::LoadedFile &Each : Answer.Loaded)
      readLoaded(Each, Files);
  }

  llvm::Expected<bytes::ModelRows> readArchive(const std::string &Path,
                                               FileManager &Files) {
    const auto Bytes = Files.getBufferForFile(Path, /*isVolatile=*/false,
                                              /*RequiresNullTerminator=*/false);
    if (!Bytes)
      return llvm::createStringError(Bytes.getError(),
                                     Bytes.getError().message());
    return readScriptArchive((*Bytes)->getBuffer(), Request.Type);
  }

  /// Adds what TorchScript modules have that are members of \p Model.
  void readHeld(bytes::ModelRows &Model, FileManager &Files) {
    uint64_t Added = 0;
    std::vector<bytes::ModuleRow> Rows;
    for (bytes::ModuleRow &Owner : Model.Modules) {
      if (!Owner.Archive) {
        Rows.push_back(std::move(Owner));
        continue;
      }
      auto Lack = [&](const std::string &Why) {
        Model.Missing.push_back({Owner.Made, "what TorchScript module '" +
                                                 Owner.Path + "' has" + Why});
        Rows.push_back(std::move(Owner));
      };
      if (Owner.Archive->empty()) {
        Lack(": which file it is loaded from is not known");
        continue;
      }
      llvm::Expected<bytes::ModelRows> Read =
          readArchive(*Owner.Archive, Files);
      if (!Read) {
        Lack(": '" + *Owner.Archive +
             "' cannot be read: " + toString(Read.takeError()));
        continue;
      }
      for (bytes::MissingRow &M : Read->Missing)
        Model.Missing.push_back({{*Owner.Archive, 0}, std::move(M.Text)});
      for (bytes::ModuleRow &Row : Read->Modules) {
        auto Below = [&](const std::string &Path) {
          return Path.empty() ? Owner.Path : Owner.Path + "." + Path;
        };
        if (Row.Path.empty())
          Row.Name = Owner.Path;
        Row.Path = Below(Row.Path);
        if (Row.IsRepeated)
          Row.SameAs = Below(Row.SameAs);
        Row.Depth += Owner.Depth;
        Row.Made = Owner.Made;
        Row.IsUnlisted = true;
        for (bytes::TensorRow &T : Row.Tensors) {
          T.GetsGradient = false;
          Added += T.Bytes;
        }
        Rows.push_back(std::move(Row));
      }
    }
    Model.Modules = std::move(Rows);
    if (!Model.HasStep || !Added)
      return;
    // They are there during each pass.
    bytes::StepRows &Step = Model.Step;
    for (bytes::PeakRow *Peak :
         {&Step.Inference, &Step.Unguarded, &Step.FirstStep, &Step.LaterSteps})
      Peak->Bytes += Added;
    for (auto *Line : {&Step.InferenceLine, &Step.LaterLine})
      for (bytes::TimeRow &Point : *Line) {
        Point.Most += Added;
        Point.After += Added;
      }
    Step.Batch = {};
  }

  /// Adds the model of an archive, whose path is that of the program.
  void readLoaded(const bytes::LoadedFile &File, FileManager &Files) {
    const std::string Title = bytes::titleOfArchive(File.Path);
    auto Refuse = [&](const std::string &Why) {
      Answer.Refused.push_back(
          {Title, File.Where, "'" + File.Path + "' cannot be read: " + Why});
    };
    llvm::Expected<bytes::ModelRows> Model = readArchive(File.Path, Files);
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
