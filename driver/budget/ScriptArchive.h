//===- ScriptArchive.h - The bytes of a TorchScript archive -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_BUDGET_SCRIPTARCHIVE_H
#define LIBTORCH_TIDY_DRIVER_BUDGET_SCRIPTARCHIVE_H

#include "analysis/bytes/Bytes.h"
#include "llvm/Support/Error.h"

namespace libtorch_tidy::driver {

/// The modules and tensors that torch::jit::load() makes of \p Bytes, which may
/// be anything: sizes are read, and no code is. With \p Type, to() converts
/// them to it. Memory that tensors share counts once. The result has neither a
/// title nor places.
llvm::Expected<bytes::ModelRows> readScriptArchive(llvm::StringRef Bytes,
                                                   llvm::StringRef Type);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_BUDGET_SCRIPTARCHIVE_H
