//===- Errors.cpp - Where code does not compile ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Errors.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace clang;

namespace libtorch_tidy::cpp {

namespace {

/// Passes everything on, and notes where errors stand.
class ErrorPlaces : public DiagnosticConsumer {
public:
  using All = std::map<const DiagnosticsEngine *, ErrorPlaces *>;
  static All &known() {
    // Thread-local because errors come before there is a syntax tree to find a
    // UnitContext by, and a client does not tell whether it is one of these.
    // Each engine has its own.
    static thread_local All Known;
    return Known;
  }

  explicit ErrorPlaces(DiagnosticsEngine &Engine)
      : Engine(Engine), Owned(Engine.takeClient()), Next(Engine.getClient()) {
    known()[&Engine] = this;
  }
  ~ErrorPlaces() override { known().erase(&Engine); }

  void HandleDiagnostic(DiagnosticsEngine::Level Level,
                        const Diagnostic &Info) override {
    DiagnosticConsumer::HandleDiagnostic(Level, Info);
    if (Level >= DiagnosticsEngine::Error)
      Places.push_back(Info.getLocation());
    Next->HandleDiagnostic(Level, Info);
  }
  void BeginSourceFile(const LangOptions &Options,
                       const Preprocessor *PP) override {
    Next->BeginSourceFile(Options, PP);
  }
  void EndSourceFile() override {
    Next->EndSourceFile();
    // clang-tidy's own findings reach it by another engine. The compiler prints
    // what the client of its engine has counted.
    NumWarnings = Next->getNumWarnings();
    NumErrors = Next->getNumErrors();
  }
  void finish() override { Next->finish(); }
  void clear() override {
    DiagnosticConsumer::clear();
    Next->clear();
  }
  bool IncludeInDiagnosticCounts() const override {
    return Next->IncludeInDiagnosticCounts();
  }

  std::vector<SourceLocation> Places;

private:
  DiagnosticsEngine &Engine;
  std::unique_ptr<DiagnosticConsumer> Owned;
  DiagnosticConsumer *Next;
};

} // namespace

void noteErrors(DiagnosticsEngine &Engine) {
  if (Engine.getClient() && !ErrorPlaces::known().count(&Engine))
    Engine.setClient(new ErrorPlaces(Engine), /*ShouldOwnClient=*/true);
}

bool Errors::none(const ASTContext &Context) {
  return !Context.getDiagnostics().hasUncompilableErrorOccurred();
}

Errors::Errors(const ASTContext &Context,
               llvm::ArrayRef<const FunctionDecl *> Functions)
    : SM(Context.getSourceManager()) {
  if (none(Context))
    return;
  auto Places = ErrorPlaces::known().find(&Context.getDiagnostics());
  // After a fatal error nothing more is looked at.
  if (Places == ErrorPlaces::known().end() ||
      Context.getDiagnostics().hasFatalErrorOccurred()) {
    InFunctions = false;
    return;
  }
  std::vector<Range> All;
  for (const FunctionDecl *F : Functions)
    if (std::optional<Range> R = rangeOf(F))
      All.push_back(*R);
  for (SourceLocation Place : Places->second->Places) {
    const auto [File, Offset] = SM.getDecomposedLoc(SM.getFileLoc(Place));
    bool IsIn = false;
    for (const Range &R : All)
      if (Place.isValid() && R.File == File && R.Begin <= Offset &&
          Offset < R.End) {
        IsIn = true;
        Broken.push_back(R);
      }
    InFunctions &= IsIn;
  }
  for (const Range &R : Broken) {
    bool Invalid = false;
    const llvm::StringRef Text = SM.getBufferData(R.File, &Invalid);
    if (Invalid)
      continue;
    Lexer Words(SM.getLocForStartOfFile(R.File), Context.getLangOpts(),
                Text.begin(), Text.begin() + R.Begin, Text.end());
    Token Word;
    do {
      Words.LexFromRawLexer(Word);
      if (Word.is(tok::raw_identifier))
        Names.insert(Word.getRawIdentifier());
    } while (Word.isNot(tok::eof) &&
             SM.getFileOffset(Word.getLocation()) < R.End);
  }
}

std::optional<Errors::Range> Errors::rangeOf(const Decl *D) const {
  const auto [File, Begin] =
      SM.getDecomposedLoc(SM.getFileLoc(D->getBeginLoc()));
  const auto [EndFile, End] =
      SM.getDecomposedLoc(SM.getFileLoc(D->getEndLoc()));
  if (File != EndFile || End < Begin)
    return std::nullopt;
  return Range{File, Begin, End + 1};
}

bool Errors::touch(const FunctionDecl *F) const {
  if (Broken.empty())
    return false;
  if (F->isInvalidDecl())
    return true;
  const std::optional<Range> Own = rangeOf(F);
  return !Own || llvm::any_of(Broken, [&](const Range &R) {
    return R.File == Own->File && R.Begin <= Own->Begin && Own->End <= R.End;
  });
}

bool Errors::mayUse(const NamedDecl *D) const {
  if (Broken.empty())
    return false;
  const IdentifierInfo *Id = D->getIdentifier();
  return !Id || Names.contains(Id->getName());
}

} // namespace libtorch_tidy::cpp
