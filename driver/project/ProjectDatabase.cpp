//===- ProjectDatabase.cpp - Commands as databases have them --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/project/ProjectDatabase.h"
#include "driver/llvm/Compat.h"
#include "driver/project/Json.h"
#include "driver/project/Messages.h"
#include "clang/Tooling/JSONCompilationDatabase.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"

using namespace clang::tooling;
using llvm::Error;
using llvm::StringRef;
namespace path = llvm::sys::path;

namespace libtorch_tidy::driver {

llvm::ArrayRef<llvm::StringLiteral> databaseNames() {
  static constexpr llvm::StringLiteral Names[] = {
      "compile_commands.json",
      "build/compile_commands.json",
      "out/compile_commands.json",
      "cmake-build-debug/compile_commands.json",
      "_build/compile_commands.json",
      "builddir/compile_commands.json",
      "build/Debug/compile_commands.json",
      "build/Release/compile_commands.json",
      "build/debug/compile_commands.json",
      "build/release/compile_commands.json",
      "out/build/compile_commands.json",
      "cmake-build-release/compile_commands.json",
      "compile_flags.txt"};
  return Names;
}

std::vector<std::string>
databasesBelow(StringRef Folder, llvm::vfs::FileSystem &FS, bool &IsAll) {
  constexpr size_t Most = 20000;
  std::vector<std::string> Result, ToRead = {Folder.str()};
  for (size_t Read = 0; !ToRead.empty(); ++Read) {
    if (Read == Most) {
      IsAll = false;
      break;
    }
    const std::string Here = std::move(ToRead.back());
    ToRead.pop_back();
    auto Found = llvm::find_if(databaseNames(), [&](StringRef Name) {
      return FS.exists(Here + "/" + Name);
    });
    if (Found != databaseNames().end()) {
      Result.push_back((Here + "/" + *Found).str());
      continue;
    }
    std::error_code EC;
    for (llvm::vfs::directory_iterator It = FS.dir_begin(Here, EC), End;
         !EC && It != End; It.increment(EC))
      if (It->type() == llvm::sys::fs::file_type::directory_file &&
          !path::filename(It->path()).starts_with("."))
        ToRead.push_back(It->path().str());
  }
  llvm::sort(Result);
  return Result;
}

namespace {

/// A program in front of a compiler that passes the rest of its arguments on.
struct Launcher {
  llvm::StringLiteral Name;
  llvm::StringLiteral WithValue; ///< Its options whose value is a word.
  unsigned Operands;             ///< Words of its own after the options.
};

constexpr Launcher Launchers[] = {
    {"buildcache", "", 0}, {"ccache", "", 0},  {"distcc", "", 0},
    {"env", "uC", 0},      {"gomacc", "", 0},  {"icecc", "", 0},
    {"ionice", "cnp", 0},  {"nice", "n", 0},   {"nohup", "", 0},
    {"rewrapper", "", 0},  {"sccache", "", 0}, {"stdbuf", "ioe", 0},
    {"taskset", "", 1},    {"time", "fo", 0},  {"timeout", "ks", 1}};

/// NAME=VALUE, as env has it in front of a program, and ccache, too.
bool isSetting(StringRef Word) {
  const StringRef Name = Word.split('=').first;
  return Name.size() < Word.size() && !Name.empty() &&
         llvm::all_of(
             Name, [](char C) { return llvm::isAlnum(C) || C == '_'; });
}

/// The number of words in front of the program that \p Words, a command line,
/// launches. 0 when they launch none.
size_t lengthOfLauncher(llvm::ArrayRef<std::string> Words) {
  if (Words.size() < 2)
    return 0;
  const StringRef Name = path::stem(Words.front());
  size_t I = 1;
  const Launcher *Known = llvm::find_if(
      Launchers, [&](const Launcher &L) { return L.Name == Name; });
  StringRef WithValue;
  unsigned Operands = 0;
  if (Name == "cmake" && Words.size() > 3 && Words[1] == "-E") {
    if (Words[2] != "env" && Words[2] != "time" &&
        Words[2] != "__run_co_compile")
      return 0;
    I = 3;
  } else if (Known != std::end(Launchers)) {
    WithValue = Known->WithValue;
    Operands = Known->Operands;
  } else {
    return 0;
  }
  for (; I < Words.size(); ++I) {
    const StringRef Word = Words[I];
    if (Word == "--") {
      ++I;
      break;
    }
    if (Word.starts_with("-"))
      I += Word == "--modify" ||
           (Word.size() == 2 && WithValue.contains(Word.back()));
    else if (!isSetting(Word))
      break;
  }
  I += Operands;
  return I < Words.size() && !StringRef(Words[I]).starts_with("-") ? I : 0;
}

void dropLaunchers(std::vector<std::string> &Words) {
  while (const size_t Length = lengthOfLauncher(Words))
    Words.erase(Words.begin(), Words.begin() + Length);
}

/// Takes the options of Intel's compilers out that Clang takes for others: -x
/// names a processor there, not a language, and some values are words.
void translateIntel(std::vector<std::string> &Words) {
  if (Words.empty() || !llvm::StringSwitch<bool>(path::stem(Words.front()))
                            .Cases("icx", "icpx", "dpcpp", "icc", "icpc", true)
                            .Default(false))
    return;
  std::vector<std::string> Result = {Words.front()};
  for (size_t I = 1; I < Words.size(); ++I) {
    StringRef Word = Words[I];
    if (Word == "--") {
      Result.insert(Result.end(), Words.begin() + I, Words.end());
      break;
    }
    if (Word == "-fp-model" || Word == "-fp-speculation" ||
        (Word.starts_with("-diag-") && !Word.contains('=')))
      ++I;
    else if (Word == "-qopenmp" || Word == "-fiopenmp")
      Result.push_back("-fopenmp");
    else if (!Word.starts_with("-ax") &&
             !(Word.consume_front("-x") && !Word.empty() &&
               llvm::isUpper(Word.front())))
      Result.push_back(Words[I]);
  }
  Words = std::move(Result);
}

/// CMake names a response file for the modules of a unit, which the build
/// writes. Until then there are none.
void dropUnmadeModuleMaps(CompileCommand &Command, llvm::vfs::FileSystem &FS) {
  llvm::erase_if(Command.CommandLine, [&](StringRef Word) {
    return Word.ends_with(".modmap") && Word.consume_front("@") &&
           !FS.exists(compat::absolutePath(Command.Directory, Word));
  });
}

/// \p Text with each "directory" that is relative to \p Folder, that of the
/// database, made absolute; empty when there is none. Few have any, and the
/// largest ones are long.
std::string withFolders(StringRef Text, StringRef Folder) {
  static constexpr llvm::StringLiteral Key = "\"directory\"";
  bool IsAny = false;
  for (size_t At = Text.find(Key); At != StringRef::npos && !IsAny;
       At = Text.find(Key, At + 1)) {
    StringRef Value = Text.substr(At + Key.size()).ltrim(" \t\r\n:");
    IsAny = Value.consume_front("\"") && !path::is_absolute(Value) &&
            !path::is_absolute(Value, path::Style::windows);
  }
  if (!IsAny)
    return "";
  Json All = parseJson(Text);
  for (Json &Entry : All)
    if (at(Entry, {"directory"}).is_string()) {
      const std::string Given = textOf(at(Entry, {"directory"}));
      auto Path = compat::absolutePath(Folder, Given.empty() ? "." : Given);
      path::remove_dots(Path, /*remove_dot_dot=*/true);
      Entry["directory"] = Path.str().str();
    }
  return written(All);
}

} // namespace

/// Why \p Text is not YAML, with the line; empty when it is.
static std::string yamlError(StringRef Text) {
  std::string Message;
  llvm::SourceMgr Sources;
  Sources.setDiagHandler(keepFirstMessage, &Message);
  llvm::yaml::Stream(Text, Sources).skip();
  return Message;
}

static std::unique_ptr<JSONCompilationDatabase>
parseCommands(StringRef Text, StringRef Folder, std::string &Message) {
  // Clang reads YAML. Nearly all databases are JSON, which is seen much faster,
  // and in which `-` is no level.
  const bool IsJson = Json::accept(Text.begin(), Text.end());
  if (IsJson ? isJsonNestedTooDeep(Text) : isNestedTooDeep(Text))
    Message = "it is nested too deeply";
  else if (!IsJson)
    Message = yamlError(Text);
  if (!Message.empty())
    return nullptr;
  const std::string Anchored = IsJson ? withFolders(Text, Folder) : "";
  return JSONCompilationDatabase::loadFromBuffer(
      Anchored.empty() ? Text : Anchored, Message,
      JSONCommandLineSyntax::AutoDetect);
}

namespace {

/// The commands of a database, with what is in their response files. (Clang's
/// own class prints LLVM's errors as they are.)
class ExpandedCommands : public CompilationDatabase {
public:
  ExpandedCommands(std::unique_ptr<CompilationDatabase> Base,
                   llvm::IntrusiveRefCntPtr<FewFiles> Files)
      : Base(std::move(Base)), Files(std::move(Files)) {}

  std::vector<std::string> getAllFiles() const override {
    return Base->getAllFiles();
  }
  std::vector<CompileCommand>
  getCompileCommands(StringRef File) const override {
    return expanded(Base->getCompileCommands(File));
  }
  std::vector<CompileCommand> getAllCompileCommands() const override {
    return expanded(Base->getAllCompileCommands());
  }

private:
  std::vector<CompileCommand>
  expanded(std::vector<CompileCommand> Commands) const {
    for (CompileCommand &Command : Commands) {
      dropLaunchers(Command.CommandLine);
      translateIntel(Command.CommandLine);
      dropUnmadeModuleMaps(Command, *Files);
      if (llvm::none_of(Command.CommandLine, [](StringRef Argument) {
            return Argument.starts_with("@");
          }))
        continue;
      llvm::BumpPtrAllocator Allocator;
      llvm::cl::ExpansionContext Context(Allocator,
                                         llvm::cl::TokenizeGNUCommandLine);
      Context.setVFS(Files.get()).setCurrentDir(Command.Directory);
      llvm::SmallVector<const char *, 20> Arguments;
      for (const std::string &Argument : Command.CommandLine)
        Arguments.push_back(Argument.c_str());
      if (Error E = Context.expandResponseFiles(Arguments)) {
        const std::string Trouble = troubleWithOptionFile(std::move(E));
        // That is an error, which commandsFor() makes.
        if (!Files->isExhausted())
          tellWarning() << "in the command for '" << printable(Command.Filename)
                        << "': " << Trouble << '\n';
      }
      // Not at once: the arguments point into it.
      std::vector<std::string> All(Arguments.begin(), Arguments.end());
      Command.CommandLine = std::move(All);
    }
    return Commands;
  }

  std::unique_ptr<CompilationDatabase> Base;
  llvm::IntrusiveRefCntPtr<FewFiles> Files;
};

} // namespace

std::unique_ptr<CompilationDatabase>
readDatabase(StringRef Text, StringRef Folder,
             llvm::IntrusiveRefCntPtr<FewFiles> Files, std::string &Message) {
  auto Listed = parseCommands(Text, Folder, Message);
  if (!Listed)
    return nullptr;
  return std::make_unique<ExpandedCommands>(std::move(Listed),
                                            std::move(Files));
}

} // namespace libtorch_tidy::driver
