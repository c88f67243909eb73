//===- ModuleRows.h - The tree of a module as plain data --------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_BYTES_LIBRARY_MODULEROWS_H
#define LIBTORCH_TIDY_ANALYSIS_BYTES_LIBRARY_MODULEROWS_H

#include "analysis/bytes/interpret/Elaboration.h"

namespace libtorch_tidy::bytes {

/// The paths of the modules that have rows.
using RowPaths = std::map<const ModuleInstance *, std::string>;

/// Adds the rows of \p Root and what is below it to \p Rows. \p Stopped:
/// members that are not registered may have been, later.
RowPaths addRows(const ModulePtr &Root, bool Stopped,
                 const clang::SourceManager &SM, std::vector<ModuleRow> &Rows);

} // namespace libtorch_tidy::bytes

#endif // LIBTORCH_TIDY_ANALYSIS_BYTES_LIBRARY_MODULEROWS_H
