//===- Main.cpp - The program libtorch-tidy -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Run.h"
#include "driver/lsp/Server.h"
#include "driver/project/Messages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#ifdef __linux__
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

using namespace libtorch_tidy::driver;

/// Signals that the caller ignores, as nohup does. LLVM's handlers would remove
/// what is half written and go on.
static void keepIgnoredSignals(llvm::function_ref<void()> InstallHandlers) {
  llvm::SmallVector<int, 3> Ignored;
  for (int Signal : {SIGHUP, SIGINT, SIGQUIT}) {
    struct sigaction Before;
    if (!::sigaction(Signal, nullptr, &Before) && Before.sa_handler == SIG_IGN)
      Ignored.push_back(Signal);
  }
  InstallHandlers();
  for (int Signal : Ignored)
    ::signal(Signal, SIG_IGN);
}

/// The command line, as a shell reads it.
static std::string asTyped(llvm::ArrayRef<const char *> Arguments) {
  std::string Result = "libtorch-tidy";
  llvm::raw_string_ostream OS(Result);
  for (const char *Argument : llvm::drop_begin(Arguments))
    llvm::sys::printArg(OS << ' ', Argument, /*Quote=*/false);
  return OS.str();
}

/// Clang analyses nothing with a SOURCE_DATE_EPOCH that it cannot read.
/// Findings do not depend on the date.
static void dropUnreadableDate() {
  constexpr char Name[] = "SOURCE_DATE_EPOCH";
  constexpr uint64_t Latest = 253402300799; // The last second of 9999.
  const char *Date = std::getenv(Name);
  uint64_t Seconds;
  if (!Date ||
      (!llvm::StringRef(Date).getAsInteger(10, Seconds) && Seconds <= Latest))
    return;
  tellWarning() << Name << " is not a number of seconds up to " << Latest
                << ", and is ignored\n";
  ::unsetenv(Name);
}

/// Syntax trees take hundreds of megabytes. Where the system hands memory out
/// by 2 MB for who asks, the processor finds it sooner: an analysis takes a
/// tenth less. Only what is touched counts as taken. (With twice the reserve,
/// precompiling took 100 MB more.) Where anything fails, nothing changes.
static void askForHugePages() {
#if defined(__linux__) && defined(__GLIBC__)
  constexpr size_t Reserve = size_t(256) << 20, Page = size_t(2) << 20;
  // Larger blocks would be apart, and what is free at the end given back.
  ::mallopt(M_MMAP_THRESHOLD, Page / 4);
  ::mallopt(M_TRIM_THRESHOLD, INT_MAX);
  ::mallopt(M_TOP_PAD, Reserve);
  const auto Before = reinterpret_cast<uintptr_t>(::sbrk(0));
  void *volatile Block = std::malloc(Page / 8); // The end of the heap moves.
  std::free(Block);
  const auto After = reinterpret_cast<uintptr_t>(::sbrk(0));
  ::mallopt(M_TOP_PAD, 0);
  if (const uintptr_t From = llvm::alignTo(Before, Page); From < After)
    ::madvise(reinterpret_cast<void *>(From), After - From, MADV_HUGEPAGE);
#endif
}

int main(int Argc, const char **Argv) {
  askForHugePages();
  std::optional<llvm::InitLLVM> Init;
  keepIgnoredSignals([&] {
    // A reader that is gone. InitLLVM does so, too, which is too late in 22.
    llvm::sys::SetOneShotPipeSignalFunction(
        llvm::sys::DefaultOneShotPipeSignalHandler);
    Init.emplace(Argc, Argv);
  });
  llvm::setBugReportMsg("libtorch-tidy crashed: please report it with the file "
                        "that was analysed and its compiler flags.\n");
  dropUnreadableDate();
  std::optional<CommandLine> Options = parseCommandLine(Argc, Argv);
  if (!Options)
    return ExitUsage;
  Options->Reports.CommandLine = asTyped(llvm::ArrayRef(Argv, Argc));
  // The names of cross compilers begin with those of targets.
  llvm::InitializeAllTargetInfos();
#if LLVM_HAS_X86_TARGET
  // Clang parses the assembly of MSVC for it, and asks no other target.
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmParser();
#endif
  static int Anchor;
  if (Options->Lsp)
    return lsp::serve(std::move(*Options), Argv[0], &Anchor);
  int Code = run(std::move(*Options), Argv[0], &Anchor);
  // Otherwise the stream ends the process with words of its own.
  llvm::outs().flush();
  if (std::error_code EC = llvm::outs().error()) {
    llvm::outs().clear_error();
    tellError() << "cannot write the standard output: " << EC.message() << '\n';
    Code = ExitUsage;
  }
  return Code;
}
