//===- BackgroundMaker.h - Who makes headers after a run --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A process that goes on after a run (engine/Background) gives way to all
/// others, so that on a busy machine a header may take minutes. A run that
/// wants this header cannot give the priority back, for which a user has no
/// right; but it can see how far the other one has come, wait for it, or take
/// its place.

#ifndef LIBTORCH_TIDY_DRIVER_PCH_BACKGROUNDMAKER_H
#define LIBTORCH_TIDY_DRIVER_PCH_BACKGROUNDMAKER_H

#include "driver/cache/CacheFolder.h"

namespace libtorch_tidy::driver {

class BackgroundMaker {
public:
  explicit BackgroundMaker(const CacheFolder &Folder) : Folder(Folder) {}

  /// The right to be the one that works for the cache. It ends with the
  /// process, however that ends.
  bool becomeIt() const;

  /// Notes that this process, a child of the maker, begins with the header
  /// \p Key, which is expected to take \p Seconds of processor time.
  void note(llvm::StringRef Key, double Seconds) const;
  /// The cache entry of such a note. It stays when the header was not made.
  static std::string noteOf(llvm::StringRef Key) {
    return "pch/" + Key.str() + ".tried";
  }

  enum class Progress {
    None,       ///< Nobody makes the header in the background.
    NearlyDone, ///< To wait is no more than an analysis without the header.
    OnTheWay,   ///< The next run will have it.
    Starved,    ///< To make it anew is sooner.
  };
  Progress progressOf(llvm::StringRef Key) const;

  /// For who needs the header \p Key now. Waits until it is made; ends the
  /// maker when that is starved. True: the caller is to make it.
  bool leavesToUs(llvm::StringRef Key) const;

  /// The process that has the right; 0: none, or it cannot be seen from here.
  int process() const;

private:
  const CacheFolder &Folder;
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PCH_BACKGROUNDMAKER_H
