//===- Pixels.h - What the pixels of an image are made of -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The type of the numbers in an image of OpenCV, which its class does not say:
/// it is given by whatever filled the image last.

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_PIXELS_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_PIXELS_H

#include "analysis/cpp/Body.h"
#include "llvm/ADT/StringRef.h"

namespace libtorch_tidy::cpp {

/// The numbers of an image. Each pixel has one for each channel.
struct Pixels {
  llvm::StringRef Depth; ///< In OpenCV's words: CV_8U, CV_32F.
  unsigned Bytes;        ///< Of one number.
  unsigned Channels = 0; ///< Of one pixel; 0 where it is not known.
  /// False of the frames of a camera, which are bytes unless it is told
  /// otherwise.
  bool Sure = true;
  const clang::Expr *From = nullptr; ///< What gives the image its type.
};

/// The numbers that image \p Image has where control comes to \p At, a call of
/// \p In, the same on all ways; nullopt where they are not known.
std::optional<Pixels> pixelsOf(const clang::Expr *Image, const clang::Expr *At,
                               Body &In);

/// The numbers of a pixel by the type that \p Made, a construction of an image
/// or a call, is given: CV_32FC3. nullopt where it has no type, or one that is
/// not constant.
std::optional<Pixels> typeGiven(const clang::Expr *Made, Body &In);

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_PIXELS_H
