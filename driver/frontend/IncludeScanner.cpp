//===- IncludeScanner.cpp - What #include lines say -----------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/frontend/IncludeScanner.h"
#include "checks/torch/Headers.h"
#include "checks/torch/TorchTypes.h"
#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Basic/TargetOptions.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/Utils.h"
#include "clang/Lex/DependencyDirectivesScanner.h"
#include "clang/Lex/HeaderSearch.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include <deque>
#include <optional>

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::driver {

/// The headers of the C++23 standard library, with those of C. They may be
/// included in any order, with the same result ([using.headers]), and include
/// no other library.
static bool isStandardHeader(StringRef Name) {
  static const llvm::StringSet<> Names = {
      "algorithm",
      "any",
      "array",
      "atomic",
      "barrier",
      "bit",
      "bitset",
      "cassert",
      "ccomplex",
      "cctype",
      "cerrno",
      "cfenv",
      "cfloat",
      "charconv",
      "chrono",
      "cinttypes",
      "ciso646",
      "climits",
      "clocale",
      "cmath",
      "codecvt",
      "compare",
      "complex",
      "concepts",
      "condition_variable",
      "coroutine",
      "csetjmp",
      "csignal",
      "cstdalign",
      "cstdarg",
      "cstdbool",
      "cstddef",
      "cstdint",
      "cstdio",
      "cstdlib",
      "cstring",
      "ctgmath",
      "ctime",
      "cuchar",
      "cwchar",
      "cwctype",
      "deque",
      "exception",
      "execution",
      "expected",
      "filesystem",
      "flat_map",
      "flat_set",
      "format",
      "forward_list",
      "fstream",
      "functional",
      "future",
      "generator",
      "initializer_list",
      "iomanip",
      "ios",
      "iosfwd",
      "iostream",
      "istream",
      "iterator",
      "latch",
      "limits",
      "list",
      "locale",
      "map",
      "mdspan",
      "memory",
      "memory_resource",
      "mutex",
      "new",
      "numbers",
      "numeric",
      "optional",
      "ostream",
      "print",
      "queue",
      "random",
      "ranges",
      "ratio",
      "regex",
      "scoped_allocator",
      "semaphore",
      "set",
      "shared_mutex",
      "source_location",
      "span",
      "spanstream",
      "sstream",
      "stack",
      "stacktrace",
      "stdexcept",
      "stdfloat",
      "stop_token",
      "streambuf",
      "string",
      "string_view",
      "strstream",
      "syncstream",
      "system_error",
      "thread",
      "tuple",
      "type_traits",
      "typeindex",
      "typeinfo",
      "unordered_map",
      "unordered_set",
      "utility",
      "valarray",
      "variant",
      "vector",
      "version",
      "assert.h",
      "complex.h",
      "ctype.h",
      "errno.h",
      "fenv.h",
      "float.h",
      "inttypes.h",
      "iso646.h",
      "limits.h",
      "locale.h",
      "math.h",
      "setjmp.h",
      "signal.h",
      "stdalign.h",
      "stdarg.h",
      "stdatomic.h",
      "stdbool.h",
      "stddef.h",
      "stdint.h",
      "stdio.h",
      "stdlib.h",
      "string.h",
      "tgmath.h",
      "time.h",
      "uchar.h",
      "wchar.h",
      "wctype.h",
  };
  return Names.contains(Name);
}

namespace {

/// One #include, as spelled.
struct Inclusion {
  StringRef Name;
  bool Angled = false;
};

/// The name in `<a/b.h>` or `"a/b.h"`; absent for a macro.
std::optional<Inclusion> parseInclusion(StringRef Text) {
  Text = Text.ltrim(" \t");
  if (Text.empty() || (Text.front() != '<' && Text.front() != '"'))
    return std::nullopt;
  Inclusion Result;
  Result.Angled = Text.front() == '<';
  size_t End = Text.find(Result.Angled ? '>' : '"', 1);
  if (End == StringRef::npos || Text.take_front(End).contains('\n'))
    return std::nullopt;
  Result.Name = Text.slice(1, End);
  return Result;
}

class Scanner : public IncludeScanner {
public:
  Scanner(std::unique_ptr<CompilerInvocation> Given,
          llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS)
      : Invocation(std::move(Given)),
        Files(Invocation->getFileSystemOpts(), std::move(FS)),
        Diags(new DiagnosticIDs, new DiagnosticOptions,
              new IgnoringDiagConsumer),
        Sources(Diags, Files),
        Headers(std::make_shared<HeaderSearchOptions>(
                    Invocation->getHeaderSearchOpts()),
                Sources, Diags, Invocation->getLangOpts(), /*Target=*/nullptr) {
    ApplyHeaderSearchOptions(Headers, Invocation->getHeaderSearchOpts(),
                             Invocation->getLangOpts(),
                             llvm::Triple(Invocation->getTargetOpts().Triple));
    for (const auto &Macro : Invocation->getPreprocessorOpts().Macros)
      GivenMacros.insert(StringRef(Macro.first).split('=').first);
    findFolders();
  }

  bool mayIncludeTorch(StringRef File) override;
  LibraryPrefix libraryPrefix(StringRef File) override;
  std::string meaning(ArrayRef<std::string> Without) const override;

private:
  friend class PrefixReader;

  void findFolders();

  /// The file that the inclusion finds. \p Includer: absent for flags.
  OptionalFileEntryRef find(const Inclusion &I, OptionalFileEntryRef Includer) {
    llvm::SmallVector<std::pair<OptionalFileEntryRef, DirectoryEntryRef>, 1>
        From;
    if (Includer) {
      Headers.getFileInfo(*Includer); // Nothing looked the source file up.
      From.emplace_back(Includer, Includer->getDir());
    } else if (auto Here = Files.getOptionalDirectoryRef("."))
      From.emplace_back(std::nullopt, *Here);
    return Headers.LookupFile(I.Name, SourceLocation(), I.Angled, nullptr,
                              nullptr, From, nullptr, nullptr, nullptr, nullptr,
                              nullptr, nullptr, /*SkipCache=*/false,
                              /*BuildSystemModule=*/false, /*OpenFile=*/false);
  }

  bool isSystem(FileEntryRef File) {
    return Headers.getFileDirFlavor(File) != SrcMgr::C_User;
  }

  std::optional<StringRef> textOf(FileEntryRef File) {
    auto [It, New] = Texts.try_emplace(File);
    if (New)
      if (auto Buffer = Files.getBufferForFile(File))
        It->second = std::move(*Buffer);
    if (!It->second)
      return std::nullopt;
    return It->second->getBuffer();
  }

  std::unique_ptr<CompilerInvocation> Invocation;
  FileManager Files;
  DiagnosticsEngine Diags;
  SourceManager Sources;
  HeaderSearch Headers;
  llvm::StringSet<> GivenMacros;
  /// See LibraryPrefix.
  std::vector<std::string> Folders, FolderPaths, TargetMacros;
  /// Of the user's headers, which many units share.
  llvm::DenseMap<const FileEntry *, std::unique_ptr<llvm::MemoryBuffer>> Texts;
  /// Files that cannot include LibTorch.
  llvm::DenseSet<const FileEntry *> WithoutTorch;
};

} // namespace

/// CMake's name for a shared library that is being built. No header of another
/// library has it.
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

void Scanner::findFolders() {
  for (StringRef Name : GivenMacros.keys())
    if (isTargetMacro(Name))
      TargetMacros.push_back(Name.str());
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
    Folders.push_back(Entry.Path);
    FolderPaths.push_back(Path.str().str());
  }
}

std::string Scanner::meaning(ArrayRef<std::string> Without) const {
  CompilerInvocation Plain(*Invocation);
  Plain.getFrontendOpts() = FrontendOptions();
  Plain.getCodeGenOpts() = CodeGenOptions();
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

bool Scanner::mayIncludeTorch(StringRef Path) {
  const PreprocessorOptions &Options = Invocation->getPreprocessorOpts();
  // Macros of -imacros are rare, and a PCH may hold anything.
  if (!Options.ImplicitPCHInclude.empty() || !Options.MacroIncludes.empty())
    return true;
  OptionalFileEntryRef Main = Files.getOptionalFileRef(Path);
  if (!Main)
    return true;

  // The user's files in front: they tell soonest.
  std::deque<FileEntryRef> ToRead;
  llvm::DenseSet<const FileEntry *> Seen;
  auto MayBeTorch = [&](const Inclusion &I, OptionalFileEntryRef Includer) {
    if (torch::namesTorchHeader(I.Name))
      return true;
    OptionalFileEntryRef Found = find(I, Includer);
    const bool FromUser = !Includer || !isSystem(*Includer);
    if (!Found)
      return FromUser;
    if (torch::isTorchHeader(Found->getName()))
      return true;
    const bool System = isSystem(*Found);
    if ((System && isStandardHeader(I.Name)) || WithoutTorch.contains(*Found) ||
        !Seen.insert(*Found).second)
      return false;
    if (System)
      ToRead.push_back(*Found);
    else
      ToRead.push_front(*Found);
    return false;
  };

  for (StringRef Forced : Options.Includes)
    if (MayBeTorch({Forced, false}, std::nullopt))
      return true;
  Seen.insert(*Main);
  ToRead.push_front(*Main);
  using namespace dependency_directives_scan;
  while (!ToRead.empty()) {
    FileEntryRef File = ToRead.front();
    ToRead.pop_front();
    std::optional<StringRef> Text = textOf(File);
    if (!Text)
      return true;
    llvm::SmallVector<dependency_directives_scan::Token, 256> Tokens;
    llvm::SmallVector<Directive, 64> Directives;
    if (scanSourceForDependencyDirectives(*Text, Tokens, Directives))
      return true;
    for (const Directive &D : Directives)
      switch (D.Kind) {
      case pp_include:
      case pp___include_macros:
      case pp_import:
      case pp_include_next: {
        // #, include, the name.
        std::optional<Inclusion> I;
        if (D.Tokens.size() > 2)
          I = parseInclusion(Text->drop_front(D.Tokens[2].Offset));
        if (!I || MayBeTorch(*I, File))
          return true;
        break;
      }
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
      Texts.erase(File);
  }
  WithoutTorch.insert(Seen.begin(), Seen.end());
  return false;
}

namespace {

/// Reads the beginning of a unit in the order of the preprocessor.
class PrefixReader {
public:
  explicit PrefixReader(Scanner &S) : S(S) {}

  struct Header {
    std::string Name;
    const FileEntry *File;
    size_t MacrosBefore;
  };
  std::vector<Header> Headers;
  /// In the order of their definition.
  std::vector<std::string> Macros;

  /// False when there is more than can be read here.
  bool read(FileEntryRef File);
  bool include(const Inclusion &I, OptionalFileEntryRef Includer);

private:
  /// One directive, from its name on.
  struct Line {
    StringRef Keyword;
    llvm::SmallVector<StringRef, 4> Words;
    std::optional<Inclusion> Included;
  };

  bool isDefined(StringRef Name) const {
    return S.GivenMacros.contains(Name) || llvm::is_contained(Macros, Name);
  }

  Scanner &S;
  enum State { Reading, Read, ReadGuarded };
  llvm::DenseMap<const FileEntry *, State> States;
};

} // namespace

bool PrefixReader::include(const Inclusion &I, OptionalFileEntryRef Includer) {
  OptionalFileEntryRef Found = S.find(I, Includer);
  if (!Found)
    return false;
  if (!S.isSystem(*Found) && !torch::isTorchHeader(Found->getName()))
    return read(*Found);
  // The precompiled header will ask for it by <name>.
  OptionalFileEntryRef ByName =
      I.Angled ? Found : S.find({I.Name, /*Angled=*/true}, std::nullopt);
  if (!ByName || *ByName != *Found)
    return false;
  if (llvm::none_of(Headers, [&](const Header &H) {
        return H.File == &Found->getFileEntry();
      }))
    Headers.push_back({I.Name.str(), &Found->getFileEntry(), Macros.size()});
  return true;
}

bool PrefixReader::read(FileEntryRef File) {
  auto [It, New] = States.try_emplace(File, Reading);
  if (!New)
    return It->second == ReadGuarded;
  std::optional<StringRef> Text = S.textOf(File);
  if (!Text)
    return false;

  LangOptions Language = S.Invocation->getLangOpts();
  Lexer Raw(SourceLocation(), Language, Text->begin(), Text->begin(),
            Text->end());
  Token Tok;
  Raw.LexFromRawLexer(Tok);
  auto SpellingOf = [&](const Token &T) {
    return Text->substr(Raw.getCurrentBufferOffset() - T.getLength(),
                        T.getLength());
  };
  std::string Guard; // The name after the #ifndef the file begins with.
  unsigned Depth = 0, Directives = 0;
  bool GuardOpen = false, Once = false, AfterGuard = false;
  while (Tok.isNot(tok::eof)) {
    if (Tok.isNot(tok::hash) || !Tok.isAtStartOfLine() || Tok.needsCleaning())
      return false;
    Line L;
    bool Clean = true;
    Raw.LexFromRawLexer(Tok);
    const bool Named = Tok.is(tok::raw_identifier) && !Tok.isAtStartOfLine();
    if (Named) {
      Clean &= !Tok.needsCleaning();
      L.Keyword = SpellingOf(Tok);
      if (L.Keyword == "include") {
        StringRef Rest = Text->drop_front(Raw.getCurrentBufferOffset());
        L.Included = parseInclusion(Rest);
        if (!L.Included)
          return false;
        // <a/b.h> is no sequence of tokens.
        Raw.seek(L.Included->Name.end() + 1 - Text->begin(),
                 /*IsAtStartOfLine=*/false);
      }
      Raw.LexFromRawLexer(Tok);
      for (; Tok.isNot(tok::eof) && !Tok.isAtStartOfLine();
           Raw.LexFromRawLexer(Tok)) {
        if (L.Words.size() < 4) {
          Clean &= !Tok.needsCleaning();
          L.Words.push_back(SpellingOf(Tok));
        }
      }
    } else if (Tok.isNot(tok::eof) && !Tok.isAtStartOfLine()) {
      return false;
    } else {
      continue; // `#` alone.
    }
    if (!Clean)
      return false;

    const bool First = Directives++ == 0;
    AfterGuard |= !Guard.empty() && !GuardOpen;
    StringRef Word = L.Words.empty() ? "" : L.Words.front();
    if (GuardOpen && Guard == "?") {
      // Behind the #ifndef, its #define.
      if (L.Keyword != "define" || L.Words.empty() || Word != Macros.back())
        return false;
      Guard = Word;
      continue;
    }
    if (L.Included) {
      if (!include(*L.Included, File))
        return false;
    } else if (L.Keyword == "pragma") {
      if (Word == "once") {
        Once = true;
        // What follows may still be the frame of a guard.
        --Directives;
      } else if ((Word != "GCC" && Word != "clang") || L.Words.size() < 2 ||
                 (L.Words[1] != "diagnostic" &&
                  L.Words[1] != "system_header")) {
        return false;
      }
    } else if (L.Keyword == "define" || L.Keyword == "undef") {
      if (Word.empty())
        return false;
      Macros.push_back(Word.str());
    } else if (L.Keyword == "ifndef" && First && L.Words.size() == 1) {
      if (isDefined(Word))
        return false;
      Macros.push_back(Word.str());
      Guard = "?";
      GuardOpen = true;
      ++Depth;
    } else if (L.Keyword == "ifdef" && L.Words.size() == 1 &&
               Word == "__cplusplus") {
      ++Depth;
    } else if (L.Keyword == "endif" && Depth) {
      if (--Depth == 0 && GuardOpen)
        GuardOpen = false;
    } else {
      return false;
    }
  }
  if (Depth)
    return false;
  States[File] = Once || (!Guard.empty() && !AfterGuard) ? ReadGuarded : Read;
  return true;
}

LibraryPrefix Scanner::libraryPrefix(StringRef Path) {
  LibraryPrefix Result;
  const PreprocessorOptions &Options = Invocation->getPreprocessorOpts();
  const LangOptions &Language = Invocation->getLangOpts();
  if (!Options.ImplicitPCHInclude.empty() || !Options.MacroIncludes.empty() ||
      !Language.CPlusPlus || Language.ObjC || Language.CUDA ||
      Language.OpenCL || Language.Modules)
    return Result;
  OptionalFileEntryRef Main = Files.getOptionalFileRef(Path);
  if (!Main)
    return Result;
  PrefixReader Reader(*this);
  bool More = llvm::all_of(Options.Includes, [&](StringRef Forced) {
    return Reader.include({Forced, false}, std::nullopt);
  });
  if (More)
    (void)Reader.read(*Main);

  // Up to LibTorch's last header.
  auto IsTorch = [](const PrefixReader::Header &H) {
    return torch::isTorchHeader(H.File->tryGetRealPathName()) ||
           torch::namesTorchHeader(H.Name);
  };
  size_t End = Reader.Headers.size();
  while (End && !IsTorch(Reader.Headers[End - 1]))
    --End;
  if (!End)
    return Result;
  Reader.Headers.resize(End);
  // Few distinct lists make few precompiled headers. Standard headers can be
  // included in any order. So can LibTorch's, which include what they need;
  // behind its whole frontend, most of them add next to nothing.
  llvm::erase_if(Reader.Headers, [](const PrefixReader::Header &H) {
    return isStandardHeader(H.Name);
  });
  auto IsWhole = [](const PrefixReader::Header &H) {
    return torch::isWholeFrontend(H.Name);
  };
  size_t Macros = Reader.Headers.back().MacrosBefore;
  if (llvm::all_of(Reader.Headers, IsTorch) &&
      llvm::any_of(Reader.Headers, IsWhole)) {
    llvm::erase_if(Reader.Headers, [&](const PrefixReader::Header &H) {
      return !IsWhole(H) && !torch::isLargeBesideFrontend(H.Name);
    });
    llvm::sort(Reader.Headers,
               [](const auto &A, const auto &B) { return A.Name < B.Name; });
    if (!llvm::all_of(Reader.Headers, IsWhole))
      for (const PrefixReader::Header &H : Reader.Headers)
        if (IsWhole(H))
          Result.Common.push_back(H.Name);
  }
  for (PrefixReader::Header &H : Reader.Headers)
    Result.Headers.push_back(std::move(H.Name));
  Result.Macros.assign(Reader.Macros.begin(), Reader.Macros.begin() + Macros);
  llvm::append_range(Result.Macros, TargetMacros);
  Result.Folders = Folders;
  Result.FolderPaths = FolderPaths;
  return Result;
}

std::unique_ptr<IncludeScanner>
IncludeScanner::create(ArrayRef<std::string> Arguments,
                       llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS) {
  std::vector<const char *> Args;
  for (const std::string &Argument : Arguments)
    Args.push_back(Argument.c_str());
  CreateInvocationOptions Options;
  Options.Diags = new DiagnosticsEngine(
      new DiagnosticIDs, new DiagnosticOptions, new IgnoringDiagConsumer);
  Options.VFS = FS;
  std::unique_ptr<CompilerInvocation> Invocation =
      createInvocation(Args, std::move(Options));
  if (!Invocation)
    return nullptr;
  return std::make_unique<Scanner>(std::move(Invocation), std::move(FS));
}

} // namespace libtorch_tidy::driver
