//===- LibraryPrefixes.cpp - Library headers that can be precompiled ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/UserCode.h"
#include "analysis/torch/api/Headers.h"
#include "driver/project/CudaUnits.h"
#include "driver/project/IncludeScanner.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::driver {

/// Is it CMake's macro for a shared library that is being built? No header of
/// another library uses it.
static bool isTargetMacro(StringRef Name) { return Name.ends_with("_EXPORTS"); }

void takeAway(ArrayRef<std::string> Folders, CompilerInvocation &Invocation) {
  PreprocessorOptions &Options = Invocation.getPreprocessorOpts();
  Options.Includes.clear();
  llvm::erase_if(Options.Macros, [](const auto &Macro) {
    return isTargetMacro(StringRef(Macro.first).split('=').first);
  });
  llvm::erase_if(Invocation.getHeaderSearchOpts().UserEntries,
                 [&](const HeaderSearchOptions::Entry &Entry) {
                   return Entry.Group == frontend::Angled &&
                          llvm::is_contained(Folders, Entry.Path);
                 });
}

LibraryPrefix IncludeScanner::prefixOfFlags() const {
  LibraryPrefix Result;
  for (StringRef Name : GivenMacros.keys())
    if (isTargetMacro(Name))
      Result.Macros.push_back({Name.str()});
  for (const HeaderSearchOptions::Entry &Entry :
       Invocation->getHeaderSearchOpts().UserEntries) {
    llvm::SmallString<256> Path(Entry.Path);
    if (Entry.Group != frontend::Angled || Entry.IsFramework ||
        Files.getVirtualFileSystem().makeAbsolute(Path))
      continue;
    bool HasTorch = false;
    std::error_code EC;
    for (llvm::vfs::directory_iterator
             It = Files.getVirtualFileSystem().dir_begin(Path, EC),
             End;
         It != End && !EC && !HasTorch; It.increment(EC))
      HasTorch = torch::namesTorchHeader(
          (llvm::sys::path::filename(It->path()) + "/").str());
    if (HasTorch)
      continue;
    Result.Folders.push_back(Entry.Path);
    Result.FolderPaths.push_back(Path.str().str());
  }
  return Result;
}

static bool isLarge(StringRef Name) {
  return torch::isWholeFrontend(Name) || torch::isLargeBesideFrontend(Name);
}

namespace {

/// Reads the beginning of a unit in the order of the preprocessor.
class PrefixReader {
public:
  explicit PrefixReader(IncludeScanner &S) : S(S) {}

  struct Header {
    std::string Name;
    const FileEntry *File;
    size_t MacrosBefore;
  };
  std::vector<Header> Headers;
  /// In the order of their directives.
  std::vector<LibraryPrefix::Macro> Macros;

  /// False when there is more than can be read here.
  bool read(FileEntryRef File) {
    auto [It, New] = States.try_emplace(File, Reading);
    if (!New)
      return It->second == ReadGuarded;
    const Directives *Read = S.directivesOf(File);
    if (!Read)
      return false;
    Frame F;
    for (size_t At = 0; At < Read->Lines.size(); ++At)
      if (Read->isAfterCode(At, S.Invocation->getLangOpts()) ||
          !take(Read->Lines[At], File, F))
        return false;
    if (F.Depth)
      return false;
    States[File] =
        F.Once || (F.HasGuard && !F.AfterGuard) ? ReadGuarded : ReadOnce;
    return true;
  }

  bool include(const Inclusion &I, OptionalFileEntryRef Includer) {
    OptionalFileEntryRef Found = S.find(I, Includer);
    if (!Found)
      return false;
    if (!S.isSystem(*Found) && !S.isTorch(*Found) &&
        !cpp::isInstalledHeader(Found->getName()))
      return read(*Found);
    if (!S.isFoundByName(I, *Found))
      return false;
    if (llvm::none_of(Headers, [&](const Header &H) {
          return H.File == &Found->getFileEntry();
        }))
      Headers.push_back({I.Name.str(), &Found->getFileEntry(), Macros.size()});
    return true;
  }

private:
  /// The state of the include guard and of the conditions of a file.
  struct Frame {
    unsigned Depth = 0;
    bool Once = false, HasGuard = false, AfterGuard = false;
  };

  /// False when the line is more than can be read here.
  bool take(const Directives::Line &L, FileEntryRef File, Frame &F) {
    using namespace dependency_directives_scan;
    const bool IsEnd = L.Kind == pp_eof || L.Kind == tokens_present_before_eof;
    F.AfterGuard |= F.HasGuard && !F.Depth && !IsEnd;
    switch (L.Kind) {
    case pp_include:
      return L.Included && include(*L.Included, File);
    case pp_define:
    case pp_undef:
      Macros.push_back({L.Word.str(), /*IsUndefined=*/L.Kind == pp_undef});
      return !L.Word.empty();
    case pp_ifndef:
      F.HasGuard = L.BeginsGuard && !isDefined(L.Word);
      ++F.Depth;
      return F.HasGuard;
    case pp_ifdef:
      ++F.Depth;
      return L.Word == "__cplusplus";
    case pp_endif:
      return F.Depth-- > 0;
    case pp_pragma_once:
      F.Once = true;
      return true;
    case pp_pragma_system_header:
      return true;
    default:
      return IsEnd; // isAfterCode() looks at what stands there.
    }
  }

  bool isDefined(StringRef Name) const {
    return S.GivenMacros.contains(Name) ||
           llvm::any_of(Macros, [&](const LibraryPrefix::Macro &M) {
             return M.Name == Name;
           });
  }

  IncludeScanner &S;
  enum State { Reading, ReadOnce, ReadGuarded };
  llvm::DenseMap<const FileEntry *, State> States;
};

/// Finds the large headers of LibTorch that a unit includes for certain,
/// wherever they stand in the user's files.
class LargeHeaderReader {
public:
  explicit LargeHeaderReader(IncludeScanner &S) : S(S) {}

  /// Names as spelled, in alphabetic order.
  std::set<std::string> Found;
  /// All macros that the user's files define or undefine, in any branch.
  std::vector<LibraryPrefix::Macro> Macros;
  size_t MacrosBefore = 0; ///< How many precede the last one found.

  /// False when what follows is not to be looked at. \p Certain: this file is
  /// included whatever macros are defined.
  bool read(FileEntryRef File, bool Certain = true) {
    auto [It, New] = Seen.try_emplace(File, Certain);
    if (!New && (It->second || !Certain))
      return true;
    It->second = Certain;
    const Directives *Read = S.directivesOf(File);
    if (!Read)
      return false;
    using namespace dependency_directives_scan;
    // Conditions that make nothing uncertain: an include guard, __cplusplus.
    llvm::SmallVector<bool, 8> Plain;
    for (const Directives::Line &L : Read->Lines)
      switch (L.Kind) {
      case pp_include:
      case pp_import:
        if (!L.Included ||
            !include(*L.Included, File,
                     Certain && llvm::all_of(Plain, [](bool B) { return B; })))
          return false;
        break;
      case pp_define:
      case pp_undef:
        Macros.push_back({L.Word.str(), /*IsUndefined=*/L.Kind == pp_undef});
        break;
      case pp_ifndef:
        Plain.push_back(L.BeginsGuard && !S.GivenMacros.contains(L.Word));
        break;
      case pp_ifdef:
        Plain.push_back(L.Word == "__cplusplus");
        break;
      case pp_if:
        Plain.push_back(false);
        break;
      case pp_elif:
      case pp_elifdef:
      case pp_elifndef:
      case pp_else:
        if (!Plain.empty())
          Plain.back() = false;
        break;
      case pp_endif:
        if (!Plain.empty())
          Plain.pop_back();
        break;
      case pp_none:
      case pp_pragma_once:
      case pp_pragma_system_header:
      case tokens_present_before_eof:
      case pp_eof:
        break;
      default:
        return false; // Modules, #pragma push_macro, #include_next.
      }
    return true;
  }

  bool include(const Inclusion &I, OptionalFileEntryRef Includer,
               bool Certain = true) {
    OptionalFileEntryRef File = S.find(I, Includer);
    if (!File)
      return !Certain;
    if (S.isTorch(*File)) {
      if (Certain && isLarge(I.Name)) {
        if (!S.isFoundByName(I, *File))
          return false;
        Found.insert(I.Name.str());
        MacrosBefore = Macros.size();
      }
      return true;
    }
    // Another library's macros are not known here.
    if (!S.isSystem(*File))
      return read(*File, Certain);
    return S.isCompilers(*File) && isStandardHeader(I.Name);
  }

private:
  IncludeScanner &S;
  /// Files that were read, and whether as certain.
  llvm::DenseMap<const FileEntry *, bool> Seen;
};

} // namespace

/// Reads the headers that flags include, and then the unit.
template <typename Reader>
static void readUnit(FileEntryRef Main, const IncludeScanner &S, Reader &To) {
  if (llvm::all_of(S.Invocation->getPreprocessorOpts().Includes,
                   [&](StringRef Forced) {
                     return To.include({Forced, false}, std::nullopt);
                   }))
    (void)To.read(Main);
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

std::vector<LibraryPrefix> IncludeScanner::libraryPrefixes(StringRef Path) {
  const PreprocessorOptions &Options = Invocation->getPreprocessorOpts();
  const LangOptions &Language = Invocation->getLangOpts();
  OptionalFileEntryRef Main = Files.getOptionalFileRef(Path);
  if (!Options.ImplicitPCHInclude.empty() || !Options.MacroIncludes.empty() ||
      !Language.CPlusPlus || Language.ObjC || isCuda(Options) ||
      Language.OpenCL || usesModules(*Invocation) || !Main)
    return {};
  std::vector<LibraryPrefix> Result;
  auto Add = [&](std::vector<std::string> Names,
                 ArrayRef<LibraryPrefix::Macro> Macros, bool BehindCode) {
    LibraryPrefix &New = Result.emplace_back(OfFlags);
    New.Headers = std::move(Names);
    New.Macros.insert(New.Macros.begin(), Macros.begin(), Macros.end());
    New.BehindCode = BehindCode;
  };

  PrefixReader Reader(*this);
  readUnit(*Main, *this, Reader);
  // Drop what follows LibTorch's last header.
  auto IsTorch = [&](const PrefixReader::Header &H) {
    return torch::isTorchHeader(H.File->tryGetRealPathName(),
                                Files.getVirtualFileSystem()) ||
           torch::namesTorchHeader(H.Name);
  };
  std::vector<PrefixReader::Header> &Read = Reader.Headers;
  while (!Read.empty() && !IsTorch(Read.back()))
    Read.pop_back();
  ArrayRef<LibraryPrefix::Macro> Macros(Reader.Macros);
  Macros = Macros.take_front(Read.empty() ? 0 : Read.back().MacrosBefore);
  // Few distinct lists make few precompiled headers. Standard headers can be
  // included in any order. So can LibTorch's, which include what they need;
  // after its whole frontend, most of them add next to nothing.
  llvm::erase_if(Read, [](const PrefixReader::Header &H) {
    return isStandardHeader(H.Name);
  });
  const bool OnlyTorch = llvm::all_of(Read, IsTorch);
  std::set<std::string> Large;
  for (const PrefixReader::Header &H : Read)
    if (isLarge(H.Name))
      Large.insert(H.Name);

  if (OnlyTorch) {
    LargeHeaderReader Rest(*this);
    readUnit(*Main, *this, Rest);
    if (Rest.Found.size() > Large.size())
      Add({Rest.Found.begin(), Rest.Found.end()},
          ArrayRef(Rest.Macros).take_front(Rest.MacrosBefore),
          /*BehindCode=*/true);
  }
  if (Read.empty())
    return Result;
  std::vector<std::string> Frontend;
  llvm::copy_if(Large, std::back_inserter(Frontend), torch::isWholeFrontend);
  if (OnlyTorch && !Frontend.empty()) {
    Add({Large.begin(), Large.end()}, Macros, /*BehindCode=*/false);
    if (Frontend.size() < Large.size())
      Add(std::move(Frontend), Macros, /*BehindCode=*/false);
    return Result;
  }
  std::vector<std::string> Names;
  for (PrefixReader::Header &H : Read)
    Names.push_back(std::move(H.Name));
  Add(std::move(Names), Macros, /*BehindCode=*/false);
  // The other libraries may lie in these.
  for (auto *List : {&Result.back().Folders, &Result.back().FolderPaths})
    llvm::erase_if(*List, [](StringRef Folder) {
      return cpp::isInstalledHeader((Folder + "/").str());
    });
  return Result;
}

} // namespace libtorch_tidy::driver
