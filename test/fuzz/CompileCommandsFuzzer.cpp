//===- CompileCommandsFuzzer.cpp - Any database, and any flags ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/llvm/Compat.h"
#include "driver/project/CompileCommands.h"
#include "driver/project/HarmlessFlags.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include <cstdint>
#include <cstdlib>

using namespace libtorch_tidy::driver;

/// What is kept was judged harmless, flag by flag.
static void requireHarmless(const clang::tooling::CommandLineArguments &Kept) {
  llvm::SmallVector<const char *, 64> Flags;
  for (const std::string &Flag : llvm::drop_begin(Kept))
    Flags.push_back(Flag.c_str());
  unsigned Index, Count;
  llvm::opt::InputArgList Parsed =
      libtorch_tidy::compat::optionTable().ParseArgs(
          Flags, Index, Count,
          llvm::opt::Visibility(libtorch_tidy::compat::options::ClangOption));
  for (const llvm::opt::Arg *A : Parsed)
    if (A->getOption().getKind() != llvm::opt::Option::UnknownClass &&
        fateOf(A->getOption()) == FlagFate::Refused)
      std::abort();
}

/// A compile database, in which /src/a.cpp is looked for.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  const llvm::StringRef Text(reinterpret_cast<const char *>(Data), Size);
  llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> FS(
      new llvm::vfs::InMemoryFileSystem);
  auto Add = [&](const llvm::Twine &Path, llvm::StringRef Content) {
    FS->addFile(Path, 0, llvm::MemoryBuffer::getMemBufferCopy(Content));
  };
  Add("/src/a.cpp", "int A;\n");
  Add("/src/flags", "-DX -Wp,-MD,x.d -fplugin=y @flags");
  Add("/src/x.cfg", "-load y -DY");
  Add("/src/compile_commands.json", Text);
  FS->setCurrentWorkingDirectory("/src");
  CompileCommandOptions Options;
  Options.BuildPath = "/src";
  Options.Quiet = true;
  llvm::Expected<CompileCommands> Commands =
      CompileCommands::create(std::move(Options), FS);
  if (!Commands) {
    llvm::consumeError(Commands.takeError());
    return 0;
  }
  auto Found = Commands->commandsFor("/src/a.cpp");
  if (!Found) {
    llvm::consumeError(Found.takeError());
    return 0;
  }
  for (const clang::tooling::CompileCommand &Command : *Found) {
    // The driver of cl and the front end have other tables.
    auto IsOther = [](llvm::StringRef Flag) {
      return Flag == "-cc1" || Flag.starts_with("--driver-mode=");
    };
    const auto Kept = keepHarmlessFlags(Command.CommandLine, Command.Directory,
                                        *FS, [](llvm::StringRef, FlagFate) {});
    if (!Kept.empty() && llvm::none_of(Command.CommandLine, IsOther) &&
        llvm::none_of(Kept, IsOther))
      requireHarmless(Kept);
  }
  return 0;
}
