//===- NvccFlags.cpp - The command lines of nvcc --------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/project/NvccFlags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"
#include <deque>

using clang::tooling::CommandLineArguments;
using llvm::StringRef;

namespace libtorch_tidy::driver {

/// The name of an option, without its dashes and the value after `=`: nvcc
/// takes long ones with one dash and with two, short ones with a value in the
/// next word and after `=`.
static StringRef nameOf(StringRef Word) {
  return Word.consume_front("-") ? Word.ltrim('-').split('=').first
                                 : StringRef();
}

bool isForNvcc(const CommandLineArguments &Args) {
  if (Args.empty())
    return false;
  if (llvm::sys::path::filename(Args.front()).contains("nvcc"))
    return true;
  for (size_t I = 1; I < Args.size() && Args[I] != "--"; ++I) {
    StringRef Name = nameOf(Args[I]);
    if (llvm::is_contained({"gencode", "generate-code", "ccbin",
                            "compiler-bindir", "Xcompiler", "compiler-options",
                            "Xptxas", "ptxas-options", "expt-extended-lambda",
                            "expt-relaxed-constexpr"},
                           Name) ||
        (Name == "x" && I + 1 < Args.size() && Args[I + 1] == "cu"))
      return true;
  }
  return false;
}

/// Options whose value says nothing of how the host reads the file.
static bool isForOthers(StringRef Name) {
  static const llvm::StringSet<> Names = {
      "Xarchive", "Xcudafe", "Xfatbinary", "Xlinker", "Xnvlink", "Xptxas",
      "archive-options", "cudafe-options", "fatbinary-options",
      "linker-options", "nvlink-options", "ptxas-options",
      // Code of the device.
      "arch", "code", "compress-mode", "default-stream", "entries", "e", "fmad",
      "ftz", "gencode", "generate-code", "gpu-architecture", "gpu-code",
      "jump-table-density", "jtd", "maxrregcount", "prec-div", "prec-sqrt",
      "rdc", "relocatable-device-code", "split-compile",
      "split-compile-extended", "sptc",
      // Programs, and what they write.
      "ar", "archiver-binary", "ccbin", "compiler-bindir", "cudadevrt",
      "cudart", "dependency-drive-prefix", "ddp", "dopt", "drive-prefix", "dp",
      "fdevice-time-trace", "host-linker-script", "hls", "idp",
      "input-drive-prefix", "keep-dir", "kp", "ldir", "libdevice-directory",
      "lib-ddp", "objtemp", "odir", "output-directory", "output-file",
      "run-args", "t", "target-directory", "tdir", "dependency-output",
      "threads", "time",
      // Diagnostics.
      "diag-error", "diag-suppress", "diag-warn", "diag_error", "diag_suppress",
      "diag_warn"};
  return Names.contains(Name);
}

/// Clang's word for an option with a value; empty for others.
static StringRef clangsWord(StringRef Name) {
  return llvm::StringSwitch<StringRef>(Name)
      .Cases("I", "include-path", "-I")
      .Cases("isystem", "system-include", "-isystem")
      .Cases("D", "define-macro", "-D")
      .Cases("U", "undefine-macro", "-U")
      .Cases("include", "pre-include", "-include")
      .Case("std", "-std=")
      .Cases("m", "machine", "-m")
      .Cases("O", "optimize", "-O")
      .Default("");
}

namespace {

class Translation {
public:
  Translation(llvm::ArrayRef<std::string> Words, StringRef Folder,
              llvm::vfs::FileSystem &FS)
      : Words(Words.begin(), Words.end()), Folder(Folder), FS(FS) {}

  CommandLineArguments run();

private:
  void option(StringRef Word, StringRef Name);
  std::optional<std::string> value(StringRef Word);
  void readFiles(StringRef Names);

  std::deque<std::string> Words;
  StringRef Folder;
  llvm::vfs::FileSystem &FS;
  /// Files of options can name each other.
  unsigned MostFiles = 16;
  CommandLineArguments Result;
};

} // namespace

/// What follows `=`, or the next word.
std::optional<std::string> Translation::value(StringRef Word) {
  if (Word.contains('='))
    return Word.split('=').second.str();
  if (Words.empty())
    return std::nullopt;
  std::string Next = std::move(Words.front());
  Words.pop_front();
  return Next;
}

/// \p Names are separated by commas. What is in them comes next.
void Translation::readFiles(StringRef Names) {
  std::vector<std::string> Found;
  for (StringRef Name : llvm::split(Names, ',')) {
    if (Name.empty() || !MostFiles)
      continue;
    --MostFiles;
    llvm::BumpPtrAllocator Allocator;
    llvm::cl::ExpansionContext Context(Allocator,
                                       llvm::cl::TokenizeGNUCommandLine);
    Context.setVFS(&FS).setCurrentDir(Folder);
    const std::string File = ("@" + Name).str();
    llvm::SmallVector<const char *, 16> Read = {File.c_str()};
    // What cannot be read stays, and would be a file to analyse.
    llvm::consumeError(Context.expandResponseFiles(Read));
    for (StringRef Word : Read)
      if (Word != File)
        Found.push_back(Word.str());
  }
  Words.insert(Words.begin(), Found.begin(), Found.end());
}

void Translation::option(StringRef Word, StringRef Name) {
  StringRef Clangs = clangsWord(Name);
  if (isForOthers(Name)) {
    (void)value(Word);
  } else if (Name == "Xcompiler" || Name == "compiler-options") {
    const std::string Flags = value(Word).value_or("");
    for (StringRef Flag : llvm::split(Flags, ','))
      if (StringRef Bare = Flag.trim(" \"'"); !Bare.empty())
        Result.push_back(Bare.str());
  } else if (Name == "optf" || Name == "options-file") {
    readFiles(value(Word).value_or(""));
  } else if (Name == "x") {
    const std::string Language = value(Word).value_or("c++");
    Result.insert(Result.end(), {"-x", Language == "cu" ? "cuda" : Language});
  } else if (!Clangs.empty()) {
    if (std::optional<std::string> Value = value(Word)) {
      const bool IsPath = Clangs == "-isystem" || Clangs == "-include";
      if (IsPath)
        Result.push_back(Clangs.str());
      Result.push_back((IsPath ? "" : Clangs.str()) + *Value);
    }
  } else if (Name == "Werror" && !Words.empty() &&
             llvm::is_contained({"all-warnings", "cross-execution-space-call",
                                 "default-stream-launch",
                                 "deprecated-declarations",
                                 "ext-lambda-captures-this", "reorder"},
                                Words.front())) {
    Words.pop_front();
  } else if (Name != "G") { // Debugging; Clang's has a value.
    Result.push_back(Word.str());
  }
}

CommandLineArguments Translation::run() {
  while (!Words.empty()) {
    const std::string Word = std::move(Words.front());
    Words.pop_front();
    if (Word == "--") {
      Result.push_back(Word);
      llvm::append_range(Result, Words);
      break;
    }
    if (StringRef Name = nameOf(Word); !Name.empty())
      option(Word, Name);
    else
      Result.push_back(Word);
  }
  return std::move(Result);
}

CommandLineArguments fromNvcc(const CommandLineArguments &Args,
                              StringRef Folder, llvm::vfs::FileSystem &FS) {
  CommandLineArguments Result =
      Translation(llvm::ArrayRef(Args).drop_front(), Folder, FS).run();
  Result.insert(Result.begin(), Args.front());
  return Result;
}

} // namespace libtorch_tidy::driver
