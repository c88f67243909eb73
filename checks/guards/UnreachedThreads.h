//===- UnreachedThreads.h - Threads that a guard does not reach -*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_GUARDS_UNREACHEDTHREADS_H
#define LIBTORCH_TIDY_CHECKS_GUARDS_UNREACHEDTHREADS_H

#include "checks/base/Finding.h"

namespace libtorch_tidy {

/// What decides on libtorch-ineffective-grad-guard.
inline constexpr struct IneffectiveGradGuardReasons {
  Reason ParallelFor{"parallel-for", Effect::Likely,
                     "It is a thread in `at::parallel_for`: on how many "
                     "threads it runs is a matter of the build."};
  Reason ThreadLocal{"thread-local", Effect::Likely,
                     "The guard is `thread_local`: each thread that comes "
                     "there switches its own mode."};
  Reason Measured{"measured-alone", Effect::Silent,
                  "The guard is alone in the body of a loop, a lambda or a "
                  "`try`: such code measures or tests the guard itself."};
  Reason LeftOut{"code-left-out", Effect::Silent,
                 "Something else is written in the block that the "
                 "preprocessor left out."};
  Reason TestCase{"test-case", Effect::Silent,
                  "It is in a test case: GoogleTest, Catch2, doctest, "
                  "Boost.Test."};
  Reason FunctionUsed{"function-used", Effect::Silent,
                      "The function that is declared is also called, defined "
                      "or declared elsewhere."};
  Reason Lasts{"meant-to-last", Effect::Silent,
               "It is a static guard in `main`, or the last thing in its "
               "function."};
  Reason Guarded{"guard-active", Effect::Silent,
                 "The thread or the parallel region has a guard of its own, "
                 "or sets gradient mode."};
  Reason Trains{"thread-trains", Effect::Silent, "The thread trains."};
  Reason Freezes{"freezes-parameters", Effect::Silent,
                 "The function freezes parameters, whose forward pass needs no "
                 "graph."};
  Reason Alone{"nothing-to-cover", Effect::NoFix,
               "The guard has a name, and ends too early: what it should "
               "cover is not known."};
  Reason Last{"nothing-follows", Effect::NoFix,
              "Nothing follows in the block, so that a named guard would "
              "guard nothing either."};
  Reason BlockTrains{"block-trains", Effect::NoFix,
                     "Something in the rest of the block trains, itself or in "
                     "a function that it calls, or makes what is "
                     "back-propagated later: the guard would break it."};
  Reason Jump{"jumped-over", Effect::NoFix,
              "The block is the body of a `switch`, or a label follows: jumps "
              "may not pass an initialisation."};
  Reason Wrapped{"in-parentheses", Effect::NoFix,
                 "The guard is in parentheses, or cast."};
  Reason Again{"function-again", Effect::NoFix,
               "The result would be read as a function again "
               "(`torch::AutoGradMode guard(bool(x));`), or the class cannot "
               "be made without an argument."};
  Reason NamedBody{"named-function", Effect::NoFix,
                   "The thread runs a named function, which others may call."};
} IneffectiveGradGuard{};

/// The finding for code that other threads run, which \p S, a call, a
/// construction or an OpenMP directive, starts under a guard that is for this
/// thread; nullopt where there is none. The unit compiles.
std::optional<Finding> unreachedThread(const clang::Stmt *S,
                                       clang::ASTContext &Context);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_GUARDS_UNREACHEDTHREADS_H
