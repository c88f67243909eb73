//===- NolintView.cpp - What a unit says about NOLINT comments ------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/engine/NolintView.h"
#include "clang-tidy/GlobList.h"
#include "driver/llvm/Compat.h"
#include "driver/project/Paths.h"
#include "driver/project/Scope.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclFriend.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace clang;
using clang::tidy::ClangTidyOptions;
using llvm::StringRef;

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
    auto It = Index.find(SM.getFileID(Range.getBegin()));
    if (It != Index.end())
      Result[It->second].Skipped.emplace_back(
          SM.getFileOffset(Range.getBegin()), SM.getFileOffset(Range.getEnd()));
  }

private:
  const SourceManager &SM;
  LibraryCode Library;
  std::vector<NolintFile> &Result;
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
  if (Files.empty())
    return View;
  llvm::Expected<ClangTidyOptions> Options = Config.optionsFor(U.File);
  if (!Options) {
    // It was fine a moment ago. Without one, all is undecided.
    llvm::consumeError(Options.takeError());
    Options = ClangTidyOptions();
  }
  llvm::StringMap<std::string> Canonical;
  auto Name = [&](StringRef Path) -> const std::string & {
    auto [It, New] = Canonical.try_emplace(Path);
    if (New)
      It->second = canonicalPath(Path, U.Command.Directory, FS);
    return It->second;
  };
  for (NolintFile &Read : Files) {
    llvm::SmallString<256> Spelled(Read.Path);
    compat::makeAbsolute(U.Command.Directory, Spelled);
    llvm::sys::path::remove_dots(Spelled, /*remove_dot_dot=*/true);
    const std::string &Path = Name(Read.Path);
    const bool IsReported =
        Path == View.Unit || Configuration::filterTakes(*Options, Read.Path);
    View.Files.push_back({Path, Spelled.str().str(), std::move(Read.Skipped),
                          std::move(Read.Functions), IsReported});
  }
  View.Said = std::move(Unreported);
  for (NolintAudit::Heard &Said : View.Said)
    Said.Path = Name(Said.Path);
  for (const std::string &Check : Configuration::enabledChecks(*Options))
    // One with weak findings only need not look for them.
    if (const CatalogEntry *Entry = findInCatalog(Check);
        Entry &&
        Entry->StrongestLevel <= Configuration::weakestLevel(*Options, Check))
      View.LookedFor.push_back(Check);
  View.AsError = Options->WarningsAsErrors &&
                 clang::tidy::GlobList(*Options->WarningsAsErrors)
                     .contains(nolintAuditEntry().Name);
  return View;
}

} // namespace libtorch_tidy::driver
