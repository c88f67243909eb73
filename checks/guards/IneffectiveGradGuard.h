//===- IneffectiveGradGuard.h - Guards that do not guard --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What decides on libtorch-ineffective-grad-guard, and where gradient mode is
/// left off.

#ifndef LIBTORCH_TIDY_CHECKS_GUARDS_INEFFECTIVEGRADGUARD_H
#define LIBTORCH_TIDY_CHECKS_GUARDS_INEFFECTIVEGRADGUARD_H

#include "analysis/flow/unit/UnitModel.h"
#include "checks/base/Finding.h"

namespace libtorch_tidy {

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
               "function; or `set_enabled(false)` in a function that runs no "
               "tensor work after it."};
  Reason TrainsElsewhere{"trains-elsewhere", Effect::Likely,
                         "What trains is another function, or the same when it "
                         "is called again: that it runs afterwards is not "
                         "seen."};
  Reason CallersRestore{"callers-restore", Effect::Silent,
                        "All callers in the file set the mode again, or train "
                        "nothing after `set_enabled(false)`; or a thread, or "
                        "somebody else, is handed the function."};
  Reason NothingTrains{
      "nothing-trains", Effect::Silent,
      "`set_enabled(false)` stays, and no function of the file "
      "trains with the mode that it finds; of the class, when "
      "a constructor calls it."};
  Reason SwitchedBack{"switched-back-elsewhere", Effect::Silent,
                      "Another function switches gradient mode on, where this "
                      "one never does, or what was there before is saved "
                      "outside of it."};
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
  Reason SetAgain{"set-again", Effect::NoFix,
                  "The function sets gradient mode in several places, or "
                  "`set_enabled(false)` stands in a branch of it."};
  Reason NamedBody{"named-function", Effect::NoFix,
                   "The thread runs a named function, which others may call."};
} IneffectiveGradGuard{};

/// A call that switches gradient mode off without a way back: set_enabled(), or
/// a function that does nothing else.
struct ModeLeftOff {
  const clang::CallExpr *By;
  const flow::FunctionFlow *In;
  /// A call through which a function of the unit comes to run what trains, and
  /// what that is: a forward pass that is back-propagated, or a call of a
  /// function that trains. Null when only another function is known to train.
  const clang::Expr *Reached = nullptr, *Trains = nullptr;
};

/// All of them in \p Unit that are to be reported, in source order.
std::vector<ModeLeftOff> modesLeftOff(flow::UnitModel &Unit);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_GUARDS_INEFFECTIVEGRADGUARD_H
