//===- IncludeScanner.cpp - What #include lines say -----------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/project/IncludeScanner.h"
#include "analysis/torch/api/Headers.h"
#include "driver/project/CudaUnits.h"
#include "driver/project/HarmlessFlags.h"
#include "driver/project/IncludeSearch.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/Path.h"
#include <deque>

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::driver {

namespace {

class Scanner : public IncludeScanner, IncludeSearch {
public:
  using IncludeSearch::IncludeSearch;

  bool mayIncludeTorch(StringRef File) override;
  std::vector<LibraryPrefix> libraryPrefixes(StringRef File) override;
  std::string meaning(ArrayRef<std::string> Without) const override;

private:
  /// What one unit includes.
  struct Search {
    /// The user's files in front: they tell soonest.
    std::deque<FileEntryRef> ToRead;
    /// By name: what a file includes depends on the folder it is found in, and
    /// links make one file of two.
    llvm::StringSet<> Seen;
  };

  bool mayBeTorch(const Inclusion &I, OptionalFileEntryRef Includer,
                  Search &All);
  bool mayIncludeTorch(FileEntryRef File, Search &All);

  const LibraryPrefix OfFlags = prefixOfFlags(*this);
  /// Files that cannot include LibTorch.
  llvm::StringSet<> WithoutTorch;
};

} // namespace

std::string Scanner::meaning(ArrayRef<std::string> Without) const {
  CompilerInvocation Plain(*Invocation);
  Plain.getFrontendOpts() = plainFrontendOptions();
  compat::dropCodeGeneration(Plain);
  Plain.getDiagnosticOpts().Warnings.clear();
  Plain.getDiagnosticOpts().Remarks.clear();
  Plain.getDependencyOutputOpts() = DependencyOutputOptions();
  takeAway(Without, Plain);
  std::string Result = llvm::join(Plain.getCC1CommandLine(), "\n");
  // The folder of the command counts only where something is relative to it.
  if (llvm::any_of(Plain.getHeaderSearchOpts().UserEntries,
                   [](const HeaderSearchOptions::Entry &Entry) {
                     return !llvm::sys::path::is_absolute(Entry.Path);
                   }))
    if (auto Here = Files.getVirtualFileSystem().getCurrentWorkingDirectory())
      Result += "\n" + *Here;
  return Result;
}

bool Scanner::mayBeTorch(const Inclusion &I, OptionalFileEntryRef Includer,
                         Search &All) {
  if (torch::namesTorchHeader(llvm::sys::path::remove_leading_dotslash(I.Name)))
    return true;
  OptionalFileEntryRef Found = find(I, Includer);
  const bool FromUser = !Includer || !isSystem(*Includer);
  if (!Found)
    return FromUser;
  if (isTorch(*Found))
    return true;
  const bool System = isSystem(*Found);
  if ((isCompilers(*Found) && isStandardHeader(I.Name)) ||
      WithoutTorch.contains(Found->getName()) ||
      !All.Seen.insert(Found->getName()).second)
    return false;
  if (System)
    All.ToRead.push_back(*Found);
  else
    All.ToRead.push_front(*Found);
  return false;
}

bool Scanner::mayIncludeTorch(FileEntryRef File, Search &All) {
  const Directives *Read = directivesOf(File);
  if (!Read)
    return true;
  using namespace dependency_directives_scan;
  for (const Directives::Line &L : Read->Lines)
    switch (L.Kind) {
    case pp_include:
    case pp___include_macros:
    case pp_import:
    case pp_include_next:
      // What comes after the folder of this file is not looked up here. The
      // library's own headers ask for standard ones so.
      if (!L.Included || mayBeTorch(*L.Included, File, All) ||
          (L.Kind == pp_include_next &&
           !(isCompilers(File) && isStandardHeader(L.Included->Name))))
        return true;
      break;
    case pp_pragma_import:
    case pp_pragma_include_alias:
    case decl_at_import:
    case cxx_import_decl:
    case cxx_export_import_decl:
      return true;
    default:
      break;
    }
  if (isSystem(File))
    forget(File);
  return false;
}

bool Scanner::mayIncludeTorch(StringRef Path) {
  const PreprocessorOptions &Options = Invocation->getPreprocessorOpts();
  // Macros of -imacros are rare, and a PCH may hold anything.
  if (!Options.ImplicitPCHInclude.empty() || !Options.MacroIncludes.empty())
    return true;
  // Files are not where these have them.
  if (!Invocation->getHeaderSearchOpts().VFSOverlayFiles.empty())
    return true;
  OptionalFileEntryRef Main = Files.getOptionalFileRef(Path);
  if (!Main)
    return true;

  Search All;
  for (StringRef Forced : Options.Includes)
    if (mayBeTorch({Forced, false}, std::nullopt, All))
      return true;
  All.Seen.insert(Main->getName());
  All.ToRead.push_front(*Main);
  while (!All.ToRead.empty()) {
    FileEntryRef File = All.ToRead.front();
    All.ToRead.pop_front();
    if (mayIncludeTorch(File, All))
      return true;
  }
  for (StringRef Name : All.Seen.keys())
    WithoutTorch.insert(Name);
  return false;
}

/// C++20 has the language of modules switched on. What the flags name is what a
/// unit can import.
static bool usesModules(const CompilerInvocation &Invocation) {
  const HeaderSearchOptions &Search = Invocation.getHeaderSearchOpts();
  const FrontendOptions &Frontend = Invocation.getFrontendOpts();
  return Search.ImplicitModuleMaps || !Search.PrebuiltModuleFiles.empty() ||
         !Search.PrebuiltModulePaths.empty() || !Frontend.ModuleFiles.empty() ||
         !Frontend.ModuleMapFiles.empty();
}

std::vector<LibraryPrefix> Scanner::libraryPrefixes(StringRef Path) {
  const PreprocessorOptions &Options = Invocation->getPreprocessorOpts();
  const LangOptions &Language = Invocation->getLangOpts();
  if (!Options.ImplicitPCHInclude.empty() || !Options.MacroIncludes.empty() ||
      !Language.CPlusPlus || Language.ObjC || isCuda(Options) ||
      Language.OpenCL || usesModules(*Invocation))
    return {};
  OptionalFileEntryRef Main = Files.getOptionalFileRef(Path);
  if (!Main)
    return {};
  return prefixesOf(*Main, *this, OfFlags);
}

std::unique_ptr<IncludeScanner>
IncludeScanner::create(ArrayRef<std::string> Arguments,
                       llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS) {
  std::vector<const char *> Args;
  for (const std::string &Argument : Arguments)
    Args.push_back(Argument.c_str());
  CreateInvocationOptions Options;
  const compat::Diagnostics Diags(new IgnoringDiagConsumer);
  Options.Diags = Diags.shared();
  Options.VFS = FS;
  // Some values of flags end Clang's driver, by an exception where it expects
  // a number. Not this process: the one of the unit will, and is reported.
  std::unique_ptr<CompilerInvocation> Invocation;
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext Guard;
  (void)Guard.RunSafely(
      [&] { Invocation = createInvocation(Args, std::move(Options)); });
  llvm::CrashRecoveryContext::Disable();
  if (!Invocation)
    return nullptr;
  return std::make_unique<Scanner>(std::move(Invocation), Arguments,
                                   std::move(FS));
}

} // namespace libtorch_tidy::driver
