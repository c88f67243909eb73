//===- OpenPaths.cpp - Ways through a program that depend on values -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Of main() and what it calls, the ways to a training step are followed
/// whatever they depend on: on an argument, a file, what an environment says.

#include "analysis/bytes/interpret/Elaboration.h"
#include "analysis/bytes/interpret/Snapshot.h"
#include "analysis/bytes/interpret/Statements.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Loops.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"

using namespace clang;

namespace libtorch_tidy::bytes {

namespace {

/// What code comes to, in itself or in functions of the user's that it calls.
struct Reach {
  bool Backward = false; ///< Of the library.
  bool Forward = false;  ///< Of a module.
  bool Wanted = false;   ///< The call that is looked for.
};

} // namespace

static void addReach(Interpreter &VM, const Stmt *Body, Reach &Of,
                     std::set<const FunctionDecl *> &Seen) {
  if (!Body)
    return;
  cpp::anyOf<CallExpr>(
      Body,
      [&](const CallExpr *Call) {
        Of.Wanted |= Call->Stmt::getBeginLoc() == VM.Wanted;
        Of.Forward |= asPassedInputs(Call).has_value();
        const FunctionDecl *F = Call->getDirectCallee();
        if (!F)
          return false;
        Of.Backward |=
            torch::isTorchDecl(F) && cpp::nameOf(F) == torch::BackwardName;
        if (!cpp::isOfLibrary(F) && Seen.insert(F->getCanonicalDecl()).second)
          if (const FunctionDecl *Definition = VM.definitionOf(F))
            addReach(VM, Definition->getBody(), Of, Seen);
        return false;
      },
      cpp::Lambdas::Entered);
}

static Reach reachOf(Interpreter &VM, const Stmt *Body) {
  Reach Of;
  std::set<const FunctionDecl *> Seen;
  addReach(VM, Body, Of, Seen);
  return Of;
}

std::optional<Flow> execOpenIf(Interpreter &VM, const Stmt *Then,
                               const Stmt *Else, SourceLocation At) {
  if (!VM.isInProgram())
    return std::nullopt;
  const Reach A = reachOf(VM, Then), B = reachOf(VM, Else);
  const Stmt *Chosen = A.Wanted != B.Wanted       ? (A.Wanted ? Then : Else)
                       : A.Backward != B.Backward ? (A.Backward ? Then : Else)
                                                  : nullptr;
  // What the others call is seen, and taken back.
  for (const auto &[Branch, Of] : {std::pair(Then, A), std::pair(Else, B)})
    if (VM.Wanted.isInvalid() && Branch != Chosen && Of.Forward) {
      const Snapshot Start(VM);
      exec(VM, Branch);
      Start.restore();
      if (VM.Failure)
        VM.restoreGaps(VM.gapsOfPass());
    }
  if (!Chosen || VM.Halted)
    return VM.Halted ? std::optional(Flow::Halt) : std::nullopt;
  const Flow Next = exec(VM, Chosen);
  if (VM.Halted)
    return Flow::Halt;
  VM.MayHaveEnded |= Next == Flow::Break;
  if (VM.Pass) {
    VM.setPlace(VM.current(), At);
    VM.Pass->atMost("whether this branch runs is not known: it counts as run");
  }
  return Flow::Next;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

OpenLoop::OpenLoop(Interpreter &VM, const Stmt *Loop)
    : VM(VM), Loop(Loop), Outer(std::exchange(VM.MayHaveEnded, false)) {}

OpenLoop::~OpenLoop() {
  // It may have used up all steps.
  constexpr unsigned Many = 50;
  if (VM.Halted && Rounds >= Many && VM.Wanted.isInvalid() && collects())
    giveUp();
  if (std::exchange(VM.MayHaveEnded, Outer) && VM.Pass && !VM.Halted) {
    VM.setPlace(VM.current(), Loop->getBeginLoc());
    VM.Pass->atMost("how often this loop runs depends on values: as often as "
                    "it may");
  }
}

bool OpenLoop::trains() {
  if (!Trains)
    Trains = reachOf(VM, cpp::bodyOf(Loop)).Backward;
  return *Trains;
}

bool OpenLoop::collects() {
  if (!Collects)
    Collects = !trains() && reachOf(VM, cpp::bodyOf(Loop)).Forward;
  return *Collects;
}

bool OpenLoop::isEndless() const {
  return !VM.Endless || VM.Endless->count(Loop);
}

bool OpenLoop::goesOn() {
  if (!VM.isInProgram() || (!trains() && !collects()))
    return false;
  IsOpen = true;
  VM.MayHaveEnded |= trains() || !isEndless();
  return true;
}

bool OpenLoop::isOver() {
  constexpr unsigned MaxRounds = 2'000, MaxCollected = 1'000;
  if (!VM.MayHaveEnded)
    return false;
  ++Rounds;
  if (Rounds < MaxCollected || !VM.isInProgram() || !collects())
    return Rounds >= MaxRounds;
  giveUp();
  return true;
}

void OpenLoop::giveUp() {
  if (!VM.Endless || !VM.Endless->insert(Loop).second)
    return;
  VM.HasFoundEndless = VM.Halted = true;
}

bool OpenLoop::isOneRound() {
  if (!VM.isInProgram() || !isEndless() || !(IsOpen || VM.MayHaveEnded) ||
      !collects())
    return false;
  VM.MayHaveEnded = false;
  VM.OneRound.push_back({"how often this loop runs is not known: it counts as "
                         "one round",
                         Loop->getBeginLoc()});
  return true;
}

} // namespace libtorch_tidy::bytes
