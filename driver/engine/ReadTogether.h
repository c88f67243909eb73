//===- ReadTogether.h - Models over several files ---------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_ENGINE_READTOGETHER_H
#define LIBTORCH_TIDY_DRIVER_ENGINE_READTOGETHER_H

#include "driver/engine/Schedule.h"

namespace libtorch_tidy::driver {

/// Follows constructors into other files. \p Jobs, units of \p Work, were asked
/// for their models, each on its own. Where they call what one of them or of
/// \p Others defines, that file is read at the end of the calling one, as a
/// unity build would, and the models are asked for again, until nothing more is
/// found. A file that does not compile there is left out, and the models name
/// it among what is not known. \p Jobs then has the last answers.
void readTogether(std::vector<Job> &Jobs, const AnalysisJob &Work,
                  llvm::ArrayRef<Unit> Others,
                  const fixits::FileTexts &Overlay);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_READTOGETHER_H
