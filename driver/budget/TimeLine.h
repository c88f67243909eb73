//===- TimeLine.h - A picture of bytes in use over time ---------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_BUDGET_TIMELINE_H
#define LIBTORCH_TIDY_DRIVER_BUDGET_TIMELINE_H

#include "analysis/bytes/Bytes.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace libtorch_tidy::driver {

/// What is in use during the whole pass: a band of the picture.
struct Band {
  std::string Name, Class; ///< Class is a style's.
  uint64_t Bytes;
};

/// A pass over a model, to be drawn.
struct PassPicture {
  std::string Name; ///< "a later training step"
  const std::vector<bytes::TimeRow> &Line;
  const bytes::PeakRow &Peak;
  std::vector<Band> Floor; ///< From below.
  bool IsIncomplete;
};

/// An HTML figure with the line as SVG, its legend, and the places where most
/// is in use. Says so if there is nothing to draw.
void writeTimeLine(llvm::raw_ostream &OS, const PassPicture &Pass,
                   const std::vector<bytes::PlaceRow> &Places,
                   llvm::StringRef Folder);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_BUDGET_TIMELINE_H
