//===- CudaUnits.cpp - The host side of CUDA files ------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/project/CudaUnits.h"
#include "analysis/torch/api/Headers.h"
#include "driver/llvm/Compat.h"
#include "clang/AST/Attr.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <algorithm>

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
          torch::KernelMacros)
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
      llvm::SmallString<128> Path(
          Word.empty() && I + 1 < Args.size() ? Args[I + 1] : Word);
      compat::makeAbsolute(Folder, Path);
      Result.push_back(Path.str().str());
      break;
    }
  return Result;
}

/// Where a toolkit can be. What the project or the user names is the only
/// place.
static std::vector<std::string> toolkits(const CommandLineArguments &Args,
                                         StringRef Folder) {
  for (StringRef Word : llvm::drop_begin(Args))
    if (Word.consume_front("--cuda-path=")) {
      llvm::SmallString<128> Path(Word);
      compat::makeAbsolute(Folder, Path);
      return {Path.str().str()};
    }
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

} // namespace libtorch_tidy::driver
