//===- CudaUnits.cpp - The host side of CUDA files ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/project/CudaUnits.h"
#include "analysis/torch/api/Headers.h"
#include "driver/llvm/Compat.h"
#include "driver/project/FileSystem.h"
#include "clang/AST/Attr.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <algorithm>
#include <deque>

using clang::tooling::CommandLineArguments;
using llvm::StringRef;
namespace path = llvm::sys::path;

namespace libtorch_tidy::driver {

static constexpr llvm::StringLiteral
    WithToolkit = "/libtorch-tidy/cuda-host.h",
    WithoutToolkit = "/libtorch-tidy/cuda-host-without-toolkit.h",
    RuntimeHeader = "cuda_runtime.h", DeviceMark = "libtorch-tidy: device",
    HostMark = "libtorch-tidy: host";

/// What nvcc includes by itself.
static constexpr llvm::StringLiteral IncludeToolkit = R"(
#include <cuda_runtime.h>
#if __has_include(<device_launch_parameters.h>)
#include <device_launch_parameters.h>
#endif
)";

/// The little that a kernel and its call need.
static constexpr llvm::StringLiteral InsteadOfToolkit = R"(
#include <stddef.h>
struct uint3 { unsigned x, y, z; };
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned X = 1, unsigned Y = 1, unsigned Z = 1)
      : x(X), y(Y), z(Z) {}
};
typedef struct CUstream_st *cudaStream_t;
extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
)";

/// For the host, functions for the device are functions. (A reserved name, as
/// nvcc has them.) Clang asks for the last declaration where a kernel is
/// called.
static constexpr llvm::StringLiteral Macros = R"(
#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __managed__
#undef __grid_constant__
#undef __launch_bounds__
#define __global__ __attribute__((global))
#define __device__ __attribute__((annotate("libtorch-tidy: device")))
#define __host__ __attribute__((annotate("libtorch-tidy: host")))
#define __shared__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#ifndef __forceinline__
#define __forceinline__ inline
#endif
#ifndef __noinline__
#define __noinline__
#endif
#if !defined(CUDART_VERSION) || CUDART_VERSION >= 10010
extern "C" int cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
#endif
)";

static std::string headerText(StringRef Beginning) {
  return ("#pragma once\n#pragma GCC system_header\n" + Beginning + Macros +
          torch::ForKernels)
      .str();
}

void mountCudaHeaders(llvm::vfs::OverlayFileSystem &FS) {
  static const std::string With = headerText(IncludeToolkit),
                           Without = headerText(InsteadOfToolkit);
  auto Memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  Memory->addFileNoOwn(WithToolkit, /*ModificationTime=*/0,
                       llvm::MemoryBufferRef(With, WithToolkit));
  Memory->addFileNoOwn(WithoutToolkit, /*ModificationTime=*/0,
                       llvm::MemoryBufferRef(Without, WithoutToolkit));
  FS.pushOverlay(std::move(Memory));
}

/// The words up to `--`, after which there are files only.
static size_t endOfFlags(const CommandLineArguments &Args) {
  return llvm::find(Args, "--") - Args.begin();
}

/// The language of the file, if the flags say it; takes it out of them.
static std::optional<std::string> takeLanguage(CommandLineArguments &Args) {
  std::optional<std::string> Result;
  for (size_t I = 1; I < endOfFlags(Args);) {
    StringRef Word = Args[I];
    const bool Joined = Word.consume_front("-x") && !Word.empty();
    if (Args[I] == "-x" && I + 1 < Args.size()) {
      Result = Args[I + 1];
      Args.erase(Args.begin() + I, Args.begin() + I + 2);
    } else if (Joined && !Word.starts_with("clang")) {
      Result = Word.str();
      Args.erase(Args.begin() + I);
    } else {
      ++I;
    }
  }
  return Result;
}

static bool isCudaFile(StringRef Word) {
  return !Word.starts_with("-") && path::extension(Word) == ".cu";
}

static bool compilesCuda(const CommandLineArguments &Args) {
  CommandLineArguments Copy = Args;
  if (std::optional<std::string> Language = takeLanguage(Copy))
    return *Language == "cuda";
  return llvm::any_of(llvm::drop_begin(Args), isCudaFile);
}

/// The folders of headers among the flags, and those that all compilers have.
static std::vector<std::string> includeFolders(const CommandLineArguments &Args,
                                               StringRef Folder) {
  std::vector<std::string> Result = {"/usr/local/include", "/usr/include"};
  for (size_t I = 1; I < endOfFlags(Args); ++I)
    for (StringRef Flag : {"-isystem", "-idirafter", "-iquote", "-I"}) {
      StringRef Word = Args[I];
      if (!Word.consume_front(Flag))
        continue;
      if (Word.empty() && I + 1 < Args.size())
        Word = Args[I + 1];
      Result.push_back(compat::absolutePath(Folder, Word).str().str());
      break;
    }
  return Result;
}

/// Where a toolkit can be. What the project or the user names is the only
/// place.
static std::vector<std::string> toolkits(const CommandLineArguments &Args,
                                         StringRef Folder) {
  for (StringRef Word : llvm::drop_begin(Args))
    if (Word.consume_front("--cuda-path="))
      return {compat::absolutePath(Folder, Word).str().str()};
  for (const char *Name : {"CUDA_PATH", "CUDA_HOME"})
    if (auto Path = llvm::sys::Process::GetEnv(Name); Path && !Path->empty())
      return {*Path};
  std::vector<std::string> Result = {"/usr/local/cuda", "/opt/cuda",
                                     "/usr/lib/cuda"};
  // nvcc's own.
  StringRef Compiler = Args.front();
  if (path::is_absolute(Compiler))
    Result.insert(Result.begin(),
                  path::parent_path(path::parent_path(Compiler)).str());
  return Result;
}

void dropDeviceFlags(CommandLineArguments &Args) {
  auto IsForDevice = [](StringRef Word) {
    return llvm::any_of(
        std::initializer_list<StringRef>{"--cuda-", "--no-cuda-", "--offload-",
                                         "-nogpu", "-nocuda", "-fcuda-",
                                         "-fgpu-", "-fno-gpu-"},
        [&](StringRef Begin) { return Word.starts_with(Begin); });
  };
  const auto End = Args.begin() + endOfFlags(Args);
  Args.erase(std::remove_if(Args.begin(), End, IsForDevice), End);
}

static bool hasRuntime(llvm::vfs::FileSystem &FS, const llvm::Twine &Folder) {
  return FS.exists(Folder + "/" + RuntimeHeader);
}

CommandLineArguments takeHostSide(CommandLineArguments &Args, StringRef Folder,
                                  llvm::vfs::FileSystem &FS) {
  if (Args.empty() || !compilesCuda(Args))
    return {};
  CommandLineArguments Result = {"-U__CUDA__"};
  bool Has = llvm::any_of(includeFolders(Args, Folder), [&](StringRef Include) {
    return hasRuntime(FS, Include);
  });
  if (!Has)
    for (const std::string &Toolkit : toolkits(Args, Folder))
      if (hasRuntime(FS, Toolkit + "/include")) {
        Has = true;
        Result.insert(Result.end(), {"-isystem", Toolkit + "/include"});
        break;
      }
  Result.insert(Result.end(),
                {"-include", Has ? WithToolkit.str() : WithoutToolkit.str()});
  (void)takeLanguage(Args);
  dropDeviceFlags(Args);
  Args.insert(Args.begin() + 1, {"-x", "c++"});
  return Result;
}

bool isCuda(const clang::PreprocessorOptions &Options) {
  return llvm::any_of(Options.Includes, [](StringRef File) {
    return File == WithToolkit || File == WithoutToolkit;
  });
}

bool lacksCudaToolkit(const CommandLineArguments &Args) {
  return llvm::is_contained(Args, WithoutToolkit);
}

bool isForDevice(const clang::Decl &D) {
  // A template has no attributes; its pattern has them.
  const clang::FunctionDecl *F = D.getAsFunction();
  if (!F)
    return false;
  auto IsMarked = [&](StringRef Mark) {
    return llvm::any_of(F->specific_attrs<clang::AnnotateAttr>(),
                        [&](const clang::AnnotateAttr *A) {
                          return A->getAnnotation() == Mark;
                        });
  };
  return F->hasAttr<clang::CUDAGlobalAttr>() ||
         (IsMarked(DeviceMark) && !IsMarked(HostMark));
}

/// The name of an option, without its dashes and the value after `=`: nvcc
/// takes long ones with one dash and with two, short ones with a value in the
/// next word and after `=`.
static StringRef nameOf(StringRef Word) {
  return Word.consume_front("-") ? Word.ltrim('-').split('=').first
                                 : StringRef();
}

/// Is \p Args a command line of nvcc, or of a program that passes its flags on?
static bool isForNvcc(const CommandLineArguments &Args) {
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
      : Words(Words.begin(), Words.end()), Folder(Folder), Files(&FS) {}

  CommandLineArguments run() {
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

private:
  void option(StringRef Word, StringRef Name) {
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

  /// What follows `=`, or the next word.
  std::optional<std::string> value(StringRef Word) {
    if (Word.contains('='))
      return Word.split('=').second.str();
    if (Words.empty())
      return std::nullopt;
    std::string Next = std::move(Words.front());
    Words.pop_front();
    return Next;
  }

  /// \p Names are separated by commas. What is in them comes next.
  void readFiles(StringRef Names) {
    std::vector<std::string> Found;
    for (StringRef Name : llvm::split(Names, ',')) {
      if (Name.empty() || !MostFiles)
        continue;
      --MostFiles;
      llvm::BumpPtrAllocator Allocator;
      llvm::cl::ExpansionContext Context(Allocator,
                                         llvm::cl::TokenizeGNUCommandLine);
      Context.setVFS(&Files).setCurrentDir(Folder);
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

  std::deque<std::string> Words;
  StringRef Folder;
  FewFiles Files;
  /// Files of options can name each other.
  unsigned MostFiles = 16;
  CommandLineArguments Result;
};

} // namespace

void translateNvcc(CommandLineArguments &Args, StringRef Folder,
                   llvm::vfs::FileSystem &FS) {
  if (!isForNvcc(Args))
    return;
  CommandLineArguments Flags =
      Translation(llvm::ArrayRef(Args).drop_front(), Folder, FS).run();
  Args.resize(1);
  llvm::append_range(Args, Flags);
}

} // namespace libtorch_tidy::driver
