//===- HarmlessFlags.h - Compiler flags that only read ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Compiler flags come from the analysed project, which may be a stranger's. An
/// analysis reads: no flag may make it run a program or write a file. Clang's
/// driver runs programs to find graphics cards, and both it and the front end
/// write files in many ways. So nothing is let through but what says how the
/// source is read: the language, macros, folders of headers, the target.

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_HARMLESSFLAGS_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_HARMLESSFLAGS_H

#include "clang/Tooling/ArgumentsAdjusters.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace clang {
class CompilerInvocation;
class FrontendOptions;
} // namespace clang

namespace llvm::opt {
class Option;
} // namespace llvm::opt

namespace libtorch_tidy::driver {

/// What becomes of an option of Clang.
enum class FlagFate : unsigned char {
  Kept,    ///< It says how the source is read.
  Useless, ///< Left out: it says nothing about what the source means.
  Refused, ///< Left out, though the source may mean something else with it.
};

/// The fate of every option of Clang's table. Those that hold other options
/// (-Xclang, -Wp,) count as kept: what they hold is judged by itself.
FlagFate fateOf(const llvm::opt::Option &Option);

/// The flags of \p Args, a command line with its compiler, that are kept. Flags
/// of other compilers are dropped. Configuration files, given with --config= or
/// lying next to the compiler, are read here and judged like flags. \p Drop is
/// called with each flag that is left out.
clang::tooling::CommandLineArguments
keepHarmlessFlags(const clang::tooling::CommandLineArguments &Args,
                  llvm::StringRef Folder, llvm::vfs::FileSystem &FS,
                  llvm::function_ref<void(llvm::StringRef, FlagFate)> Drop);

/// The second wall: takes everything out of \p Invocation but what the parser
/// reads. No output is left in it, however it came to be there.
void keepParsingOnly(clang::CompilerInvocation &Invocation);

/// Those of a command line without flags. Clang 19's constructor leaves some of
/// them as the memory happened to be.
clang::FrontendOptions plainFrontendOptions();

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_HARMLESSFLAGS_H
