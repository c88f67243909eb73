//===- StaticLink.cpp - In place of what the bundle does not need ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The bundle's program has LLVM, Clang and C++'s library inside. These
/// functions stand in for others: of Z3, which no analysis here asks, and of
/// the newest of glibc, so that the program starts on older systems, too.

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/SMTAPI.h"
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <sys/random.h>

// All that LLVM's Z3Solver.cpp defines: its object is not linked then.
llvm::SMTSolverRef llvm::CreateZ3Solver() {
  llvm::report_fatal_error("this program has no Z3");
}
void llvm::SMTSort::dump() const {}
void llvm::SMTExpr::dump() const {}
void llvm::SMTSolver::dump() const {}
#if LLVM_VERSION_MAJOR >= 19
void llvm::SMTSolverStatistics::dump() const {}
#endif

extern "C" {

// Of glibc 2.36.
[[gnu::visibility("hidden")]] uint32_t arc4random() noexcept {
  uint32_t Result;
  if (getrandom(&Result, sizeof(Result), 0) != sizeof(Result))
    std::abort();
  return Result;
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE
// Of glibc 2.35: where the tables for exceptions are of the code at an address.
[[gnu::visibility("hidden")]] int
_dl_find_object(void *Address, dl_find_object *Result) noexcept {
  struct Query {
    ElfW(Addr) Address;
    dl_find_object *Result;
  } Asked{reinterpret_cast<ElfW(Addr)>(Address), Result};
  auto Answer = [](dl_phdr_info *Object, size_t, void *Data) {
    const Query &Q = *static_cast<Query *>(Data);
    bool Contains = false;
    *Q.Result = {};
    for (int I = 0; I < Object->dlpi_phnum; ++I) {
      const ElfW(Phdr) &Segment = Object->dlpi_phdr[I];
      const ElfW(Addr) Begin = Object->dlpi_addr + Segment.p_vaddr;
      if (Segment.p_type == PT_GNU_EH_FRAME)
        Q.Result->dlfo_eh_frame = reinterpret_cast<void *>(Begin);
      else if (Segment.p_type == PT_LOAD && Q.Address >= Begin &&
               Q.Address - Begin < Segment.p_memsz)
        Contains = true;
    }
    return int(Contains && Q.Result->dlfo_eh_frame);
  };
  return dl_iterate_phdr(Answer, &Asked) ? 0 : -1;
}
#endif

} // extern "C"
