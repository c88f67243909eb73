//===- LibtorchCheck.cpp --------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/base/LibtorchCheck.h"
#include "analysis/bytes/Bytes.h"
#include "analysis/cpp/Activity.h"
#include "analysis/cpp/Errors.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"
#include "clang-tidy/NoLintDirectiveHandler.h"
#include "clang/AST/ASTContext.h"
#include "clang/ASTMatchers/ASTMatchers.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Tooling/Core/Diagnostic.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace clang::ast_matchers;
using namespace clang::tidy;

namespace libtorch_tidy {

LibtorchCheck::LibtorchCheck(StringRef Name, ClangTidyContext *Context)
    : ClangTidyCheck(Name, Context), Run(*Context) {
  unsigned Value =
      Options.getLocalOrGlobal("Level", static_cast<unsigned>(DefaultLevel));
  if (Value > 2) {
    configurationDiag("invalid value '%0' of option '%1.Level': expected 0, 1 "
                      "or 2; using 1")
        << Value << Name;
    Value = static_cast<unsigned>(DefaultLevel);
  }
  Weakest = static_cast<Level>(Value);
}

bool LibtorchCheck::isEnabled(StringRef Name) const {
  return Run.isCheckEnabled(Name);
}

void LibtorchCheck::storeOptions(ClangTidyOptions::OptionMap &Opts) {
  Options.store(Opts, "Level", static_cast<unsigned>(Weakest));
}

void LibtorchCheck::registerPPCallbacks(const SourceManager &, Preprocessor *PP,
                                        Preprocessor *) {
  if (const CatalogEntry *Entry = findInCatalog(name()))
    IsLookedFor = looksFor(Entry->StrongestLevel);
  cpp::noteErrors(PP->getDiagnostics());
}

/// Names what a check of the unit matches: one definition is enough to find it.
static constexpr StringRef AnyDefinition = "any definition";

void LibtorchCheck::registerMatchers(MatchFinder *Finder) {
  Finder->addMatcher(
      decl(anyOf(functionDecl(isDefinition()), varDecl(hasGlobalStorage())))
          .bind(AnyDefinition),
      this);
}

void LibtorchCheck::check(const Match &Result) {
  if (!IsLookedFor)
    return;
  Context = Result.Context;
  const cpp::Activity Here(name(), *Context);
  if (Result.Nodes.getNodeAs<Decl>(AnyDefinition)) {
    HasDefinition = true;
    return;
  }
  auto IsOfUser = [&](const auto &Bound) {
    return cpp::isUserCode(Bound.second.getSourceRange().getBegin(),
                           *Result.SourceManager);
  };
  if (llvm::all_of(Result.Nodes.getMap(), IsOfUser)) {
    HasMatch = true;
    checkMatch(Result);
  }
}

void LibtorchCheck::onEndOfTranslationUnit() {
  if (!Context) // Nothing was matched.
    return;
  const cpp::Activity Here(name(), *Context);
  if (HasDefinition && (isWhole() || unit().errors().areInFunctions()))
    checkUnit(unit());
  if (HasMatch)
    checkMatched();
}

void LibtorchCheck::checkUnit(flow::UnitModel &Unit) {
  Unit.forEachFlow(
      [&](const flow::FunctionFlow &Flow) { checkFunction(Flow, Unit); });
}

bool LibtorchCheck::isWhole() const { return cpp::Errors::none(*Context); }

bool LibtorchCheck::isWhole(const FunctionDecl *F) {
  return isWhole() ||
         (unit().errors().areInFunctions() && !unit().errors().touch(F));
}

flow::UnitModel &LibtorchCheck::unit() { return flow::UnitModel::of(*Context); }

/// Null where the unit is not whole: sizes are not certain then.
bytes::KnownSizes *LibtorchCheck::knownSizes() {
  if (!isWhole())
    return nullptr;
  if (!Sizes)
    Sizes = std::make_shared<bytes::KnownSizes>(unit().context(),
                                                unit().functions());
  return Sizes.get();
}

std::optional<uint64_t> LibtorchCheck::bytesOf(const Expr *E) {
  bytes::KnownSizes *Known = knownSizes();
  return Known ? Known->bytesOf(E) : std::nullopt;
}

std::optional<uint64_t> LibtorchCheck::keptBy(const Expr *Forward,
                                              bool Training, bool InputsGo) {
  bytes::KnownSizes *Known = knownSizes();
  return Known ? Known->keptBy(Forward, Training, InputsGo) : std::nullopt;
}

Step LibtorchCheck::originStep(const flow::Label &L) {
  switch (L.K) {
  case flow::Label::Forward: {
    std::string Name = torch::calledModule(L.Site);
    return {L.Site->getExprLoc(),
            (Name.empty() ? "this module" : "'" + Name + "'") +
                " runs with gradient mode on here, so its result holds an "
                "autograd graph"};
  }
  case flow::Label::Proven:
    return {L.Site->getExprLoc(),
            "backward() runs on it here, so it holds an autograd graph"};
  case flow::Label::Leaf:
    return {L.Site->getExprLoc(), "this tensor requires gradients"};
  default:
    return {L.Site->getExprLoc(),
            (torch::mayHoldTensor(L.Site->getType())
                 ? "the result of this call holds an autograd graph"
                 : "this call fills a tensor that holds an autograd graph") +
                (L.From.empty() ? "" : ", which arises at " + L.From)};
  }
}

Step LibtorchCheck::memberStep(const FieldDecl *Field) {
  return {Field->getLocation(),
          "member " + quoted(Field) + " lives as long as its object"};
}

Step LibtorchCheck::declarationStep(const VarDecl *Var, bool OutsideLoop) {
  return {Var->getLocation(), quoted(Var) + " is declared here" +
                                  (OutsideLoop ? ", outside the loop" : "")};
}

bool isSuppressed(StringRef Check, SourceLocation Loc, ASTContext &Context) {
  const SourceManager &SM = Context.getSourceManager();
  Loc = SM.getFileLoc(Loc);
  if (Loc.isInvalid() ||
      !SM.getBufferData(SM.getFileID(Loc)).contains("NOLINT"))
    return false;
  // Clang-tidy asks of a diagnostic in flight, so one is sent to this listener.
  struct : DiagnosticConsumer {
    StringRef Check;
    bool IsHidden = false;
    void HandleDiagnostic(DiagnosticsEngine::Level Level,
                          const Diagnostic &Said) override {
      SmallVector<tooling::Diagnostic, 1> Malformed; // Reported elsewhere.
      IsHidden = NoLintDirectiveHandler().shouldSuppress(
          Level, Said, Check, Malformed, /*AllowIO=*/true,
          /*EnableNoLintBlocks=*/true);
    }
  } Listener;
  Listener.Check = Check;
  DiagnosticsEngine &Engine = Context.getDiagnostics();
  DiagnosticConsumer *const Client = Engine.getClient();
  const bool IsOwner = Engine.ownsClient();
  (void)Engine.takeClient().release();
  Engine.setClient(&Listener, /*ShouldOwnClient=*/false);
  Engine.Report(Loc, Engine.getCustomDiagID(DiagnosticsEngine::Warning, "%0"))
      << Check;
  Engine.setClient(Client, IsOwner);
  return Listener.IsHidden;
}

/// Edits are offered only where the text at hand is what the compiler sees.
static bool isEditable(const FixItHint &Hint, const SourceManager &SM) {
  for (SourceLocation Loc :
       {Hint.RemoveRange.getBegin(), Hint.RemoveRange.getEnd()})
    if (Loc.isInvalid() || Loc.isMacroID() || !cpp::isUserCode(Loc, SM))
      return false;
  return true;
}

/// A story that is short enough to be read: the beginning and the end of a
/// longer one, with one step that stands for what is left out.
static llvm::SmallVector<Step, 8> elided(llvm::ArrayRef<Step> Steps) {
  constexpr size_t Longest = 8, Beginning = 4;
  llvm::SmallVector<Step, 8> Story;
  llvm::copy_if(Steps, std::back_inserter(Story),
                [](const Step &S) { return S.Loc.isValid(); });
  if (Story.size() <= Longest)
    return Story;
  const size_t LeftOut = Story.size() - (Longest - 1);
  Story[Beginning].Text =
      "(" + std::to_string(LeftOut) + " steps like these are left out)";
  Story.erase(Story.begin() + Beginning + 1,
              Story.begin() + Beginning + LeftOut);
  return Story;
}

void LibtorchCheck::report(Finding F) {
  const SourceManager &SM = Context->getSourceManager();
  SourceLocation Loc = SM.getFileLoc(F.Loc);
  if (Loc.isInvalid())
    return;
  if (const Because *Why = F.silence())
    return silent(F.Loc, *Why->Row, Why->Detail, Why->At);
  if (const CatalogEntry *Entry = findInCatalog(name()))
    F.Strength = std::max(F.Strength, Entry->StrongestLevel);
  if (F.Measured && reports(F.Strength))
    F.Bytes = bytesOf(F.Measured);
  if (FindingListener *Listener = FindingListener::current())
    Listener->heard(name(), F, Loc, SM, /*IsTooWeak=*/!reports(F.Strength));
  if (!reports(F.Strength) || !Reported.insert(Loc).second)
    return;
  {
    // The message is data, not a format: names in it may hold '%'.
    DiagnosticBuilder Warning = diag(Loc, "%0") << F.Message;
    if (F.Highlight.isValid() && !F.Highlight.getBegin().isMacroID() &&
        !F.Highlight.getEnd().isMacroID())
      Warning << F.Highlight;
    if (F.hasFix() && llvm::all_of(F.Fix, [&](const FixItHint &H) {
          return isEditable(H, SM);
        }))
      for (const FixItHint &Hint : F.Fix)
        Warning << Hint;
  }
  for (const Step &S : elided(F.Steps))
    diag(SM.getFileLoc(S.Loc), "%0", DiagnosticIDs::Note) << S.Text;
}

} // namespace libtorch_tidy
