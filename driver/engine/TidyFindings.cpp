//===- TidyFindings.cpp - What clang-tidy says of a unit ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/engine/TidyFindings.h"
#include "clang-tidy/GlobList.h"
#include "driver/findings/SourceText.h"
#include "driver/llvm/Compat.h"
#include "driver/project/Paths.h"
#include "driver/project/Scope.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclFriend.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using clang::tidy::ClangTidyError;
using clang::tooling::DiagnosticMessage;
using clang::tooling::FileByteRange;
using clang::tooling::Replacement;
using llvm::StringRef;
using namespace clang;
using clang::tidy::ClangTidyOptions;

namespace libtorch_tidy::driver {

static FindingKind kindOf(StringRef Name) {
  if (Name.starts_with("clang-diagnostic-"))
    return FindingKind::CompileError;
  // clang-tidy-config, clang-tidy-nolint.
  if (Name.starts_with("clang-tidy-"))
    return FindingKind::Configuration;
  return FindingKind::Defect;
}

/// One past the token that starts at \p Offset; \p Offset itself between
/// tokens, where the compiler misses one.
static unsigned endOfToken(const SourceText &Text, unsigned Offset) {
  StringRef Buffer = Text.text();
  if (Offset >= Buffer.size() || llvm::isSpace(Buffer[Offset]))
    return std::min<size_t>(Offset, Buffer.size());
  clang::LangOptions Language;
  Language.CPlusPlus = Language.CPlusPlus11 = Language.CPlusPlus14 =
      Language.CPlusPlus17 = Language.Bool = true;
  clang::Lexer Raw(clang::SourceLocation(), Language, Buffer.begin(),
                   Buffer.begin() + Offset, Buffer.end());
  clang::Token Tok;
  Raw.LexFromRawLexer(Tok);
  return std::min<size_t>(Offset + std::max(Tok.getLength(), 1U),
                          Buffer.size());
}

namespace {

/// For the diagnostics of one compile command.
class Converter {
public:
  Converter(StringRef Folder, llvm::vfs::FileSystem &FS, SourceTexts &Texts)
      : Folder(Folder), FS(FS), Texts(Texts) {}

  /// The place of a byte.
  Place place(StringRef Path, unsigned Offset) {
    DiagnosticMessage Message;
    Message.FilePath = Path.str();
    Message.FileOffset = Offset;
    return place(Message);
  }

  /// Where a message points: to the end of the highlighted range around it, or
  /// of the token there.
  Place place(const DiagnosticMessage &Message) {
    Place Result;
    Result.Path = canonicalPath(Message.FilePath, Folder, FS);
    if (Result.Path.empty())
      return Result;
    Result.Spelled = Message.FilePath;
    Result.Begin = Message.FileOffset;
    for (const FileByteRange &Range : Message.Ranges)
      if (Range.FileOffset <= Result.Begin &&
          Result.Begin < Range.FileOffset + Range.Length &&
          canonicalPath(Range.FilePath, Folder, FS) == Result.Path)
        Result.End = std::max(Result.End, Range.FileOffset + Range.Length);
    if (const SourceText *Text = Texts.get(Result.Path)) {
      const SourceText::Position At = Text->position(Result.Begin);
      Result.Line = At.Line;
      Result.Column = At.Column;
      if (!Result.End)
        Result.End = endOfToken(*Text, Result.Begin);
    }
    Result.End = std::max(Result.End, Result.Begin);
    return Result;
  }

  static std::vector<Highlight> highlights(const DiagnosticMessage &Message) {
    std::vector<Highlight> Result;
    for (const FileByteRange &Range : Message.Ranges)
      Result.push_back({Range.FilePath, Range.FileOffset, Range.Length});
    return Result;
  }

  /// The compiler's paths of one file can differ from unit to unit (../a.h and
  /// b/../a.h). Fixes must agree on one, or the file is changed twice.
  fixits::FileEdits fix(const DiagnosticMessage &Message) {
    fixits::FileEdits Result;
    for (const auto &File : Message.Fix)
      for (const Replacement &R : File.second) {
        const std::string Path = canonicalPath(R.getFilePath(), Folder, FS);
        // Replacements of one file that conflict were dropped by the engine.
        llvm::consumeError(Result[Path].add(Replacement(
            Path, R.getOffset(), R.getLength(), R.getReplacementText())));
      }
    return Result;
  }

private:
  StringRef Folder;
  llvm::vfs::FileSystem &FS;
  SourceTexts &Texts;
};

} // namespace

std::vector<Finding> toFindings(llvm::ArrayRef<ClangTidyError> Errors,
                                const HeardFindings &Heard, FileSystem FS,
                                std::vector<NolintAudit::Heard> &Unreported) {
  SourceTexts Texts(FS);
  std::vector<Finding> Result;
  std::set<const HeardFinding *> Reported;
  for (const ClangTidyError &Error : Errors) {
    Converter Convert(Error.BuildDirectory, *FS, Texts);
    Finding &F = Result.emplace_back();
    F.Kind = kindOf(Error.DiagnosticName);
    F.Check = Error.DiagnosticName;
    F.AsError = Error.IsWarningAsError;
    F.IsError = Error.DiagLevel == ClangTidyError::Error;
    F.Message = Error.Message.Message;
    F.Where = Convert.place(Error.Message);
    F.Highlights = Convert.highlights(Error.Message);
    F.Fix = Convert.fix(Error.Message);
    F.Directory = Error.BuildDirectory;
    if (auto It = Heard.find(
            {F.Check, Error.Message.FilePath, Error.Message.FileOffset});
        It != Heard.end()) {
      F.Strength = It->second.Strength;
      F.Function = It->second.Function;
      F.Bytes = It->second.Bytes;
      F.Reasons = It->second.Reasons;
      F.MadeBy = It->second.MadeBy;
      for (const auto &[At, Text] : It->second.Members)
        F.Members.push_back({Convert.place(At.first, At.second), Text});
      Reported.insert(&It->second);
    }
    for (const DiagnosticMessage &Note : Error.Notes)
      F.Steps.push_back({Convert.place(Note), Note.Message,
                         Convert.highlights(Note), Convert.fix(Note)});
  }
  for (const auto &[Key, Said] : Heard)
    if (!Reported.count(&Said)) {
      const auto &[Check, Path, Offset] = Key;
      Unreported.push_back({Check, Path, Offset, Said.IsTooWeak});
    }
  return Result;
}

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

namespace {

class NolintRecorder : public PPCallbacks {
public:
  NolintRecorder(const SourceManager &SM, std::vector<NolintFile> &Result)
      : SM(SM), Library(SM), Result(Result) {}

  void FileChanged(SourceLocation Loc, FileChangeReason Reason,
                   SrcMgr::CharacteristicKind, FileID) override {
    if (Reason != EnterFile || Library.contains(Loc))
      return;
    const FileID File = SM.getFileID(Loc);
    if (!SM.getFileEntryRefForID(File) ||
        !SM.getBufferData(File).contains("NOLINT"))
      return;
    Index[File] = Result.size();
    Result.push_back({File, SM.getFilename(Loc).str(), {}, {}});
  }

  void SourceRangeSkipped(SourceRange Range, SourceLocation) override {
    const auto [File, Begin] = SM.getDecomposedLoc(Range.getBegin());
    if (auto It = Index.find(File); It != Index.end())
      Result[It->second].Skipped.emplace_back(Begin,
                                              SM.getFileOffset(Range.getEnd()));
  }

private:
  const SourceManager &SM;
  LibraryCode Library;
  std::vector<NolintFile> &Result;
  /// A header can be entered thousands of times, and skip as many ranges.
  llvm::DenseMap<FileID, size_t> Index;
};

} // namespace

std::unique_ptr<PPCallbacks>
recordNolintFiles(const SourceManager &SM, std::vector<NolintFile> &Result) {
  return std::make_unique<NolintRecorder>(SM, Result);
}

void nameFunctions(std::vector<NolintFile> &Files, const SourceManager &SM,
                   const EnclosingFunctions &Functions) {
  for (NolintFile &File : Files)
    for (const NolintComment &Comment :
         nolintComments(SM.getBufferData(File.Id)))
      File.Functions.push_back(
          Functions.at(SM.getComposedLoc(File.Id, Comment.Offset)));
}

NolintAudit::View nolintView(const Unit &U, std::vector<NolintFile> Files,
                             std::vector<NolintAudit::Heard> Unreported,
                             const Configuration &Config,
                             llvm::vfs::FileSystem &FS) {
  NolintAudit::View View;
  View.Unit = canonicalPath(U.File, "", FS);
  if (Files.empty() && Unreported.empty())
    return View;
  // It was fine a moment ago. Without one, all is undecided.
  const ClangTidyOptions Options =
      llvm::expectedToOptional(Config.optionsFor(U.File))
          .value_or(ClangTidyOptions());
  llvm::StringMap<std::string> Canonical;
  auto Name = [&](StringRef Path) -> const std::string & {
    auto [It, New] = Canonical.try_emplace(Path);
    if (New)
      It->second = canonicalPath(Path, U.Command.Directory, FS);
    return It->second;
  };
  auto IsReported = [&](StringRef Path) {
    return Name(Path) == View.Unit || Configuration::filterTakes(Options, Path);
  };
  for (NolintFile &Read : Files) {
    auto Spelled = compat::absolutePath(U.Command.Directory, Read.Path);
    llvm::sys::path::remove_dots(Spelled, /*remove_dot_dot=*/true);
    const std::string &Path = Name(Read.Path);
    View.Files.push_back({Path, Spelled.str().str(), std::move(Read.Skipped),
                          std::move(Read.Functions), IsReported(Read.Path)});
  }
  View.Said = std::move(Unreported);
  for (NolintAudit::Heard &Said : View.Said) {
    Said.IsReported = IsReported(Said.Path);
    Said.Path = Name(Said.Path);
  }
  for (const std::string &Check : Configuration::enabledChecks(Options))
    // One with weak findings only need not look for them.
    if (const CatalogEntry *Entry = findInCatalog(Check);
        Entry &&
        Entry->StrongestLevel <= Configuration::weakestLevel(Options, Check))
      View.LookedFor.push_back(Check);
  View.AsError = Options.WarningsAsErrors &&
                 clang::tidy::GlobList(*Options.WarningsAsErrors)
                     .contains(nolintAuditEntry().Name);
  return View;
}

} // namespace libtorch_tidy::driver
