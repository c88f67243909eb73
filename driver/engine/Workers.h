//===- Workers.h - Work in processes of its own -----------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A compiler front end can crash on the code it reads. Each piece of work runs
/// in a copy of the process, which costs a millisecond: a crash is the end of
/// that piece only, and pieces run next to each other without sharing anything.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_ENGINE_WORKERS_H
#define LIBTORCH_TIDY_DRIVER_ENGINE_WORKERS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>
#include <vector>

namespace libtorch_tidy::driver {

class Workers {
public:
  /// What became of a piece of work.
  struct Outcome {
    size_t Id = 0;
    bool Finished = false; ///< Else it crashed, or could not be begun.
    std::string Result;    ///< What the work returned.
    std::string Errors;    ///< What it wrote to the standard error.
  };

  explicit Workers(unsigned Most) : Most(Most) {}
  Workers(const Workers &) = delete;
  Workers &operator=(const Workers &) = delete;
  /// Ends what still runs.
  ~Workers();

  bool idle() const { return Running.empty(); }
  bool full() const { return Running.size() >= Most; }

  /// Begins \p Work, whose outcome wait() gives.
  void start(size_t Id, llvm::function_ref<std::string()> Work);

  /// Waits for one to end. There must be one.
  Outcome wait();

  /// As many as the machine has cores, and memory for.
  static unsigned defaultCount();

private:
  struct Worker {
    int Process = -1;
    int ResultPipe = -1, ErrorPipe = -1; ///< -1 when at their end.
    Outcome Sofar;
  };

  unsigned Most;
  std::vector<Worker> Running;
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_WORKERS_H
