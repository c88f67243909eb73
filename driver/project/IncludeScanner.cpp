//===- IncludeScanner.cpp - What #include lines say -----------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/project/IncludeScanner.h"
#include "checks/torch/Headers.h"
#include "checks/torch/TorchTypes.h"
#include "driver/llvm/Compat.h"
#include "driver/project/CudaUnits.h"
#include "driver/project/HarmlessFlags.h"
#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Basic/TargetOptions.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Lex/DependencyDirectivesScanner.h"
#include "clang/Lex/HeaderSearch.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/Path.h"
#include <deque>
#include <optional>
#include <set>

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::driver {

/// The headers of the C++23 standard library, with those of C and of POSIX.
/// They may be included in any order, with the same result ([using.headers]),
/// and include no other library.
static bool isStandardHeader(StringRef Name) {
  static const llvm::StringSet<> Names = [] {
    llvm::StringSet<> Result;
    llvm::SmallVector<StringRef, 0> All;
    llvm::SplitString(
        "algorithm any array atomic barrier bit bitset cassert ccomplex cctype "
        "cerrno cfenv cfloat charconv chrono cinttypes ciso646 climits clocale "
        "cmath codecvt compare complex concepts condition_variable coroutine "
        "csetjmp csignal cstdalign cstdarg cstdbool cstddef cstdint cstdio "
        "cstdlib cstring ctgmath ctime cuchar cwchar cwctype deque exception "
        "execution expected filesystem flat_map flat_set format forward_list "
        "fstream functional future generator initializer_list iomanip ios "
        "iosfwd iostream istream iterator latch limits list locale map mdspan "
        "memory memory_resource mutex new numbers numeric optional ostream "
        "print queue random ranges ratio regex scoped_allocator semaphore set "
        "shared_mutex source_location span spanstream sstream stack stacktrace "
        "stdexcept stdfloat stop_token streambuf string string_view strstream "
        "syncstream system_error thread tuple type_traits typeindex typeinfo "
        "unordered_map unordered_set utility valarray variant vector version "
        "assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h iso646.h "
        "limits.h locale.h math.h setjmp.h signal.h stdalign.h stdarg.h "
        "stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h "
        "tgmath.h time.h uchar.h wchar.h wctype.h arpa/inet.h dirent.h dlfcn.h "
        "fcntl.h glob.h netdb.h netinet/in.h poll.h pthread.h sched.h "
        "semaphore.h strings.h sys/mman.h sys/resource.h sys/select.h "
        "sys/socket.h sys/stat.h sys/time.h sys/types.h sys/un.h sys/utsname.h "
        "sys/wait.h termios.h unistd.h",
        All);
    Result.insert(All.begin(), All.end());
    return Result;
  }();
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

/// The directives of a file, with those of all branches.
struct Directives {
  llvm::SmallVector<dependency_directives_scan::Token, 256> Tokens;
  llvm::SmallVector<dependency_directives_scan::Directive, 64> Lines;

  /// True on success.
  bool read(StringRef Text) {
    return !scanSourceForDependencyDirectives(Text, Tokens, Lines);
  }
};

/// The word after `#define` and the like; empty when there is none.
StringRef wordOf(const dependency_directives_scan::Directive &D,
                 StringRef Text) {
  // #, the name of the directive, the word.
  return D.Tokens.size() > 2
             ? Text.substr(D.Tokens[2].Offset, D.Tokens[2].Length)
             : "";
}

/// What an #include names; absent for a macro.
std::optional<Inclusion>
inclusionOf(const dependency_directives_scan::Directive &D, StringRef Text) {
  if (D.Tokens.size() < 3)
    return std::nullopt;
  return parseInclusion(Text.drop_front(D.Tokens[2].Offset));
}

/// Can the directives of \p Text be read as they are? Not in UTF-16, with a
/// NUL, or where `#` is spelled `%:` or `?\?=`.
bool isPlain(StringRef Text) {
  if (Text.starts_with("\xFE\xFF") || Text.starts_with("\xFF\xFE") ||
      Text.contains('\0') || Text.contains("?\?="))
    return false;
  for (size_t At = Text.find("%:"); At != StringRef::npos;
       At = Text.find("%:", At + 1)) {
    StringRef Before = Text.take_front(At).rtrim(" \t\v\f\r");
    if (Before.empty() || Before.ends_with("\n") || Before.ends_with("*/"))
      return false;
  }
  return true;
}

class Scanner : public IncludeScanner {
public:
  Scanner(std::unique_ptr<CompilerInvocation> Given,
          ArrayRef<std::string> Arguments,
          llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS)
      : Invocation(std::move(Given)),
        Files(Invocation->getFileSystemOpts(), std::move(FS)),
        Diags(new IgnoringDiagConsumer), Sources(*Diags, Files),
        Headers(compat::headerSearchOptions(*Invocation), Sources, *Diags,
                Invocation->getLangOpts(), /*Target=*/nullptr) {
    ApplyHeaderSearchOptions(Headers, Invocation->getHeaderSearchOpts(),
                             Invocation->getLangOpts(),
                             llvm::Triple(Invocation->getTargetOpts().Triple));
    for (const auto &Macro : Invocation->getPreprocessorOpts().Macros)
      GivenMacros.insert(StringRef(Macro.first).split('=').first);
    findGivenFolders(Arguments);
    findFolders();
  }

  bool mayIncludeTorch(StringRef File) override;
  std::vector<LibraryPrefix> libraryPrefixes(StringRef File) override;
  std::string meaning(ArrayRef<std::string> Without) const override;

private:
  friend class PrefixReader;
  friend class LargeHeaderReader;

  void findGivenFolders(ArrayRef<std::string> Arguments);
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

  /// Will a precompiled header that asks for it by <name> find this file?
  bool isFoundByName(const Inclusion &I, FileEntryRef Found) {
    OptionalFileEntryRef ByName =
        I.Angled ? Found : find({I.Name, /*Angled=*/true}, std::nullopt);
    return ByName && *ByName == Found;
  }

  bool isSystem(FileEntryRef File) {
    return Headers.getFileDirFlavor(File) != SrcMgr::C_User;
  }

  bool isTorch(FileEntryRef File) {
    return torch::isTorchHeader(File.getName(), Files.getVirtualFileSystem());
  }

  /// Does \p File lie in a folder of the compiler's own? In one that a flag
  /// names, anything can have a standard name.
  bool isCompilers(FileEntryRef File) {
    StringRef Folder = llvm::sys::path::parent_path(File.getName());
    // <sys/types.h> lies one deeper.
    return isSystem(File) && !GivenFolders.contains(Folder) &&
           !GivenFolders.contains(llvm::sys::path::parent_path(Folder));
  }

  bool isLibrary(FileEntryRef File) {
    return isSystem(File) || isTorch(File) ||
           torch::isInstalledHeader(File.getName());
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
  compat::Diagnostics Diags;
  SourceManager Sources;
  HeaderSearch Headers;
  llvm::StringSet<> GivenMacros;
  /// See LibraryPrefix.
  std::vector<std::string> Folders, FolderPaths, TargetMacros;
  /// Of the user's headers, which many units share.
  llvm::DenseMap<const FileEntry *, std::unique_ptr<llvm::MemoryBuffer>> Texts;
  /// Files that cannot include LibTorch.
  llvm::StringSet<> WithoutTorch;
  /// The folders of headers that a flag names, as it spells them.
  llvm::StringSet<> GivenFolders;
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

void Scanner::findGivenFolders(ArrayRef<std::string> Arguments) {
  llvm::StringMap<unsigned> Entries;
  const HeaderSearchOptions &Options = Invocation->getHeaderSearchOpts();
  for (const HeaderSearchOptions::Entry &Entry : Options.UserEntries) {
    ++Entries[Entry.Path];
    // From the environment.
    if (Entry.Group == frontend::CSystem || Entry.Group == frontend::CXXSystem)
      GivenFolders.insert(StringRef(Entry.Path).rtrim('/'));
  }
  auto Names = [](StringRef Argument, StringRef Path) {
    if (!Argument.consume_back(Path))
      return false;
    return Argument.empty() ||
           (Argument.starts_with("-") && !Argument.contains('/'));
  };
  for (const auto &Entry : Entries)
    // More often than flags say: it is the compiler's own, too.
    if (llvm::count_if(Arguments, [&](StringRef Argument) {
          return Names(Argument, Entry.first());
        }) >= Entry.second)
      GivenFolders.insert(Entry.first().rtrim('/'));
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

  // The user's files in front: they tell soonest.
  std::deque<FileEntryRef> ToRead;
  // By name: what a file includes depends on the folder it is found in, and
  // links make one file of two.
  llvm::StringSet<> Seen;
  auto MayBeTorch = [&](const Inclusion &I, OptionalFileEntryRef Includer) {
    if (torch::namesTorchHeader(
            llvm::sys::path::remove_leading_dotslash(I.Name)))
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
        !Seen.insert(Found->getName()).second)
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
  Seen.insert(Main->getName());
  ToRead.push_front(*Main);
  using namespace dependency_directives_scan;
  while (!ToRead.empty()) {
    FileEntryRef File = ToRead.front();
    ToRead.pop_front();
    std::optional<StringRef> Text = textOf(File);
    if (!Text || !isPlain(*Text))
      return true;
    Directives Read;
    if (!Read.read(*Text))
      return true;
    for (const Directive &D : Read.Lines)
      switch (D.Kind) {
      case pp_include:
      case pp___include_macros:
      case pp_import:
      case pp_include_next: {
        std::optional<Inclusion> I = inclusionOf(D, *Text);
        // What comes after the folder of this file is not looked up here. The
        // library's own headers ask for standard ones so.
        if (!I || MayBeTorch(*I, File) ||
            (D.Kind == pp_include_next &&
             !(isCompilers(File) && isStandardHeader(I->Name))))
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
  for (StringRef Name : Seen.keys())
    WithoutTorch.insert(Name);
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
  /// In their order.
  std::vector<LibraryPrefix::Macro> Macros;

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
    return S.GivenMacros.contains(Name) ||
           llvm::any_of(Macros, [&](const LibraryPrefix::Macro &M) {
             return M.Name == Name;
           });
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
  if (!S.isLibrary(*Found))
    return read(*Found);
  if (!S.isFoundByName(I, *Found))
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
        // <a/b.h> is not a sequence of tokens.
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
      // After the #ifndef, its #define.
      if (L.Keyword != "define" || L.Words.empty() ||
          Word != Macros.back().Name)
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
      Macros.push_back({Word.str(), /*IsUndefined=*/L.Keyword == "undef"});
    } else if (L.Keyword == "ifndef" && First && L.Words.size() == 1) {
      if (isDefined(Word))
        return false;
      Macros.push_back({Word.str()});
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

static bool isLarge(StringRef Name) {
  return torch::isWholeFrontend(Name) || torch::isLargeBesideFrontend(Name);
}

namespace {

/// Finds the large headers of LibTorch that a unit includes for certain,
/// wherever they stand in the user's files.
class LargeHeaderReader {
public:
  explicit LargeHeaderReader(Scanner &S) : S(S) {}

  /// As spelled, in the order of their names.
  std::set<std::string> Found;
  /// All macros that the user's files define or undefine, in any branch.
  std::vector<LibraryPrefix::Macro> Macros;
  size_t MacrosBefore = 0; ///< The last one found.

  /// False when what follows is not to be looked at. \p Certain: this file is
  /// included whatever macros are defined.
  bool read(FileEntryRef File, bool Certain);
  bool include(const Inclusion &I, OptionalFileEntryRef Includer, bool Certain);

private:
  Scanner &S;
  /// With whether it was read as certain.
  llvm::DenseMap<const FileEntry *, bool> Seen;
};

} // namespace

bool LargeHeaderReader::include(const Inclusion &I,
                                OptionalFileEntryRef Includer, bool Certain) {
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

bool LargeHeaderReader::read(FileEntryRef File, bool Certain) {
  auto [It, New] = Seen.try_emplace(File, Certain);
  if (!New && (It->second || !Certain))
    return true;
  It->second = Certain;
  std::optional<StringRef> Text = S.textOf(File);
  Directives Read;
  if (!Text || !isPlain(*Text) || !Read.read(*Text))
    return false;
  using namespace dependency_directives_scan;
  // Conditions that make nothing uncertain: an include guard, __cplusplus.
  llvm::SmallVector<bool, 8> Plain;
  bool Begun = false;
  for (size_t At = 0; At < Read.Lines.size(); ++At) {
    const Directive &D = Read.Lines[At];
    const bool First = !Begun;
    Begun |= D.Kind != pp_pragma_once;
    switch (D.Kind) {
    case pp_include:
    case pp_import: {
      std::optional<Inclusion> I = inclusionOf(D, *Text);
      if (!I || !include(*I, File, Certain && llvm::all_of(Plain, [](bool B) {
                                     return B;
                                   })))
        return false;
      break;
    }
    case pp_define:
    case pp_undef:
      Macros.push_back(
          {wordOf(D, *Text).str(), /*IsUndefined=*/D.Kind == pp_undef});
      break;
    case pp_ifndef: {
      StringRef Guard = wordOf(D, *Text);
      Plain.push_back(First && !S.GivenMacros.contains(Guard) &&
                      At + 1 < Read.Lines.size() &&
                      Read.Lines[At + 1].Kind == pp_define &&
                      wordOf(Read.Lines[At + 1], *Text) == Guard);
      break;
    }
    case pp_ifdef:
      Plain.push_back(wordOf(D, *Text) == "__cplusplus");
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
  }
  return true;
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
  std::vector<LibraryPrefix> Result;
  const PreprocessorOptions &Options = Invocation->getPreprocessorOpts();
  const LangOptions &Language = Invocation->getLangOpts();
  if (!Options.ImplicitPCHInclude.empty() || !Options.MacroIncludes.empty() ||
      !Language.CPlusPlus || Language.ObjC || isCuda(Options) ||
      Language.OpenCL || usesModules(*Invocation))
    return Result;
  OptionalFileEntryRef Main = Files.getOptionalFileRef(Path);
  if (!Main)
    return Result;
  auto Add = [&](std::vector<std::string> Names,
                 ArrayRef<LibraryPrefix::Macro> Macros, bool BehindCode) {
    LibraryPrefix New;
    New.Headers = std::move(Names);
    New.Macros = Macros;
    for (const std::string &Name : TargetMacros)
      New.Macros.push_back({Name});
    New.Folders = Folders;
    New.FolderPaths = FolderPaths;
    New.BehindCode = BehindCode;
    Result.push_back(std::move(New));
  };

  PrefixReader Reader(*this);
  bool More = llvm::all_of(Options.Includes, [&](StringRef Forced) {
    return Reader.include({Forced, false}, std::nullopt);
  });
  if (More)
    (void)Reader.read(*Main);
  // Up to LibTorch's last header.
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
    if (llvm::all_of(Options.Includes, [&](StringRef Forced) {
          return Rest.include({Forced, false}, std::nullopt, /*Certain=*/true);
        }))
      (void)Rest.read(*Main, /*Certain=*/true);
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
      return torch::isInstalledHeader((Folder + "/").str());
    });
  return Result;
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
