//===- IncludeScanner.cpp - What #include lines say -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/project/IncludeScanner.h"
#include "analysis/torch/api/Headers.h"
#include "driver/project/HarmlessFlags.h"
#include "clang/Basic/TargetOptions.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "clang/Tooling/Inclusions/StandardLibrary.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/Path.h"

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::driver {

bool isStandardHeader(StringRef Name) {
  namespace stdlib = clang::tooling::stdlib;
  // These have no symbols of their own, are too new for Clang, or are of POSIX.
  static const llvm::StringSet<> Others = {
      "ccomplex",     "ciso646",        "cstdalign",    "cstdbool",
      "ctgmath",      "expected",       "flat_map",     "flat_set",
      "generator",    "mdspan",         "print",        "stdfloat",
      "version",      "stdbool.h",      "tgmath.h",     "arpa/inet.h",
      "dirent.h",     "dlfcn.h",        "fcntl.h",      "glob.h",
      "netdb.h",      "netinet/in.h",   "poll.h",       "pthread.h",
      "sched.h",      "semaphore.h",    "strings.h",    "sys/mman.h",
      "sys/select.h", "sys/resource.h", "sys/socket.h", "sys/stat.h",
      "sys/time.h",   "sys/types.h",    "sys/un.h",     "sys/utsname.h",
      "sys/wait.h",   "termios.h",      "unistd.h"};
  const std::string Angled = ("<" + Name + ">").str();
  return stdlib::Header::named(Angled, stdlib::Lang::CXX) ||
         stdlib::Header::named(Angled, stdlib::Lang::C) ||
         Others.contains(Name);
}

bool isRecentHeader(StringRef Name) {
  static const llvm::StringSet<> Names = {
      "barrier",         "bit",        "compare",    "concepts",   "coroutine",
      "expected",        "flat_map",   "flat_set",   "format",     "generator",
      "latch",           "mdspan",     "numbers",    "print",      "ranges",
      "source_location", "span",       "spanstream", "stacktrace", "stdfloat",
      "stop_token",      "syncstream", "version"};
  return Names.contains(Name);
}

/// The name in `<a/b.h>` or `"a/b.h"`; absent for a macro.
static std::optional<Inclusion> parseInclusion(StringRef Text) {
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

static bool isPlain(StringRef Text) {
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

std::optional<Directives> Directives::read(StringRef Text) {
  using namespace dependency_directives_scan;
  llvm::SmallVector<dependency_directives_scan::Token, 256> Tokens;
  llvm::SmallVector<Directive, 64> Found;
  if (!isPlain(Text) || scanSourceForDependencyDirectives(Text, Tokens, Found))
    return std::nullopt;
  Directives Result;
  Result.Text = Text;
  for (const Directive &D : Found) {
    Line &L = Result.Lines.emplace_back();
    L.Kind = D.Kind;
    L.Begin = D.Tokens.empty() ? Text.size() : D.Tokens.front().Offset;
    L.End = D.Tokens.empty() ? Text.size() : D.Tokens.back().getEnd();
    if (D.Tokens.size() < 3)
      continue;
    // #, the name of the directive, the word.
    L.Word = Text.substr(D.Tokens[2].Offset, D.Tokens[2].Length);
    L.Included = parseInclusion(Text.drop_front(D.Tokens[2].Offset));
    if (Result.Lines.size() < 2 || L.Kind != pp_define)
      continue;
    Line &Before = Result.Lines[Result.Lines.size() - 2];
    Before.BeginsGuard =
        Before.Kind == pp_ifndef && Before.Word == L.Word &&
        llvm::all_of(llvm::ArrayRef(Result.Lines).drop_back(2),
                     [](const Line &L) { return L.Kind == pp_pragma_once; });
  }
  return Result;
}

/// Is the rest of a line after `#` one that only warnings heed, or none?
static bool isAboutWarnings(StringRef Rest) {
  llvm::SmallVector<StringRef, 8> Words;
  llvm::SplitString(Rest, Words);
  return Words.empty() ||
         (Words.size() > 2 && Words[0] == "pragma" &&
          (Words[1] == "GCC" || Words[1] == "clang") &&
          (Words[2] == "diagnostic" || Words[2] == "system_header") &&
          !Words.back().ends_with("\\"));
}

bool Directives::isAfterCode(size_t At, const LangOptions &Language) const {
  Lexer Raw(SourceLocation(), Language, Text.begin(), Text.begin(), Text.end());
  if (At)
    Raw.seek(Lines[At - 1].End, /*IsAtStartOfLine=*/true);
  clang::Token Tok;
  while (true) {
    Raw.LexFromRawLexer(Tok);
    if (Tok.is(tok::eof) || Raw.getCurrentBufferOffset() > Lines[At].Begin)
      return false;
    if (Tok.isNot(tok::hash) || !Tok.isAtStartOfLine())
      return true;
    StringRef Rest =
        Text.drop_front(Raw.getCurrentBufferOffset()).take_until([](char C) {
          return C == '\n';
        });
    if (!isAboutWarnings(Rest))
      return true;
    Raw.seek(Rest.end() - Text.begin(), /*IsAtStartOfLine=*/false);
  }
}

IncludeScanner::IncludeScanner(
    std::unique_ptr<CompilerInvocation> Given, ArrayRef<std::string> Arguments,
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
  OfFlags = prefixOfFlags();
}

void IncludeScanner::findGivenFolders(ArrayRef<std::string> Arguments) {
  llvm::StringMap<unsigned> Entries;
  const HeaderSearchOptions &Options = Invocation->getHeaderSearchOpts();
  for (const HeaderSearchOptions::Entry &Entry : Options.UserEntries) {
    ++Entries[Entry.Path];
    // These come from the environment.
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
    // A folder that is listed more often is the compiler's own, too.
    if (llvm::count_if(Arguments, [&](StringRef Argument) {
          return Names(Argument, Entry.first());
        }) >= Entry.second)
      GivenFolders.insert(Entry.first().rtrim('/'));
}

OptionalFileEntryRef IncludeScanner::find(const Inclusion &I,
                                          OptionalFileEntryRef Includer) {
  llvm::SmallVector<std::pair<OptionalFileEntryRef, DirectoryEntryRef>, 1> From;
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

bool IncludeScanner::isFoundByName(const Inclusion &I, FileEntryRef Found) {
  OptionalFileEntryRef ByName =
      I.Angled ? Found : find({I.Name, /*Angled=*/true}, std::nullopt);
  return ByName && *ByName == Found;
}

bool IncludeScanner::isTorch(FileEntryRef File) {
  return torch::isTorchHeader(File.getName(), Files.getVirtualFileSystem());
}

bool IncludeScanner::isCompilers(FileEntryRef File) {
  StringRef Folder = llvm::sys::path::parent_path(File.getName());
  // <sys/types.h> lies one deeper.
  return isSystem(File) && !GivenFolders.contains(Folder) &&
         !GivenFolders.contains(llvm::sys::path::parent_path(Folder));
}

const Directives *IncludeScanner::directivesOf(FileEntryRef File) {
  std::unique_ptr<ReadFile> &Known = ReadFiles[File];
  if (!Known) {
    Known = std::make_unique<ReadFile>();
    if (auto Buffer = Files.getBufferForFile(File)) {
      Known->Text = std::move(*Buffer);
      Known->Lines = Directives::read(Known->Text->getBuffer());
    }
  }
  return Known->Lines ? &*Known->Lines : nullptr;
}

std::string IncludeScanner::meaning(ArrayRef<std::string> Without) const {
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

bool IncludeScanner::mayBeTorch(const Inclusion &I,
                                OptionalFileEntryRef Includer, Search &All) {
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

bool IncludeScanner::mayIncludeTorch(FileEntryRef File, Search &All) {
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
    ReadFiles.erase(File);
  return false;
}

bool IncludeScanner::mayIncludeTorch(StringRef Path) {
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
  return std::unique_ptr<IncludeScanner>(
      new IncludeScanner(std::move(Invocation), Arguments, std::move(FS)));
}

} // namespace libtorch_tidy::driver
