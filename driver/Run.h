//===- Run.h - One run of the program ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_RUN_H
#define LIBTORCH_TIDY_DRIVER_RUN_H

#include "driver/options/CommandLine.h"

namespace libtorch_tidy::driver {

/// Does what \p Options say, but for --lsp; the exit code. \p Argv0 and
/// \p MainAddress locate this program.
int run(CommandLine Options, const char *Argv0, void *MainAddress);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_RUN_H
