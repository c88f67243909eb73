//===- Branches.cpp - Branches that depend on values ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Snapshot.h"
#include "analysis/bytes/interpret/Statements.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/TorchTypes.h"

using namespace clang;

namespace libtorch_tidy::bytes {

namespace {

/// What one branch of an `if` leaves.
struct BranchEnd {
  Flow Next = Flow::Halt;
  uint64_t Live = 0, Peak = 0;
  std::map<Cell, std::string> Changes; ///< As Snapshot has them.
  std::string Result;                  ///< Sizes of what it returns.
  bool returns() const { return Next == Flow::Return; }
};

/// While a branch of the program is tried, nobody is told of what it does: it
/// is not followed where somebody would be.
class Untold {
public:
  explicit Untold(Interpreter &VM) : VM(VM) {
    if (!VM.isInProgram())
      return;
    replace(VM.OnModule);
    replace(VM.OnForward);
    replace(VM.OnLoad);
    replace(VM.OnBackward);
    replace(VM.OnOptimizerStep);
    replace(VM.OnZeroGrad);
  }
  ~Untold() {
    for (const auto &Restore : Before)
      Restore();
    if (IsTold)
      VM.Halted = false;
  }
  Untold(const Untold &) = delete;
  Untold &operator=(const Untold &) = delete;
  bool IsTold = false;

private:
  template <typename F> void replace(F &Told) {
    if (!Told)
      return;
    Before.push_back([&Told, Was = Told] { Told = Was; });
    Told = [this](auto &&...) { IsTold = VM.Halted = true; };
  }

  Interpreter &VM;
  std::vector<std::function<void()>> Before;
};

} // namespace

/// Runs \p Branch, and goes back to \p Start. nullopt where it is not followed.
static std::optional<BranchEnd> tryBranch(Interpreter &VM, const Stmt *Branch,
                                          const Snapshot &Start) {
  Memory &InUse = VM.simulation().memory();
  const Memory::Course Before = InUse.course();
  const size_t Gaps = VM.gapsOfPass();
  BranchEnd End;
  const Untold Aside(VM);
  InUse.restartPeak();
  End.Next = exec(VM, Branch);
  End.Live = End.returns() ? VM.Frames.back()->LiveAtReturn : InUse.live();
  End.Peak = InUse.peak();
  const auto Changes = Start.changes();
  if (const Cell &Result = VM.Frames.back()->Result;
      End.returns() && Result && !unknownIn(Result))
    End.Result = shownSizes(Result);
  const bool IsFollowed = !VM.Halted && VM.gapsOfPass() == Gaps && Changes &&
                          (!End.returns() || !End.Result.empty());
  Start.restore();
  InUse.setCourse(Before);
  // At a limit, its note stays.
  if (!VM.Halted || VM.Failure)
    VM.restoreGaps(Gaps);
  if (!IsFollowed)
    return std::nullopt;
  End.Changes = *Changes;
  return End;
}

/// The values that differ after \p A and \p B, and that somebody may read.
static std::vector<Cell> differing(const Interpreter &VM, BranchEnd &A,
                                   BranchEnd &B, const Snapshot &Start) {
  for (auto *Each : {&A, &B})
    for (const auto &[V, Now] : Each->Changes)
      (Each == &A ? B : A).Changes.try_emplace(V, Start.before(V));
  std::set<Cell> Gone; ///< After a return.
  if (A.returns() || B.returns())
    for (const auto &[D, V] : VM.Frames.back()->Variables)
      if (!D->getType()->isReferenceType())
        Gone.insert(V);
  std::vector<Cell> Result;
  for (const auto &[V, Now] : A.Changes)
    if (Now != B.Changes[V] && !Gone.count(V))
      Result.push_back(V);
  return Result;
}

std::optional<Flow> execEither(Interpreter &VM, const Stmt *Then,
                               const Stmt *Else, SourceLocation At,
                               const Cell &Unknown) {
  std::optional<BranchEnd> Ends[2];
  std::vector<Cell> Differing;
  {
    const Snapshot Start(VM);
    for (const unsigned I : {0, 1})
      if (!(Ends[I] = tryBranch(VM, I ? Else : Then, Start)))
        return VM.Halted ? std::optional(Flow::Halt) : std::nullopt;
    Differing = differing(VM, *Ends[0], *Ends[1], Start);
  }
  const BranchEnd &A = *Ends[0], &B = *Ends[1];
  const bool OneReturns = A.returns() != B.returns();
  if (OneReturns ? (A.returns() ? B : A).Next != Flow::Next
                 : A.Next != B.Next || A.Result != B.Result)
    return std::nullopt;
  const bool HasTensors = llvm::any_of(
      Differing, [](const Cell &V) { return V->What == Value::Tensor; });
  // A program may go on without knowing which tensor it is.
  if (HasTensors && !VM.isInProgram())
    return std::nullopt;
  // What the program does then, it goes past.
  if (VM.isInProgram() && (OneReturns || A.Next != Flow::Next))
    return std::nullopt;
  // The end of the function says whether to go on was the larger one.
  const unsigned Larger = OneReturns ? A.returns() : B.Live > A.Live;
  if (OneReturns)
    VM.Frames.back()->Early.push_back(
        {Ends[!Larger]->Result, Ends[!Larger]->Live, At});
  if (VM.Pass &&
      (HasTensors || A.Live != B.Live || A.Peak != B.Peak || VM.current())) {
    VM.setPlace(VM.current(), At);
    VM.Pass->atMost("which branch of an 'if' runs depends on values: the one "
                    "that takes more counts");
  }
  const Flow Next = exec(VM, Larger ? Else : Then);
  for (const Cell &V : Differing) {
    // It holds as much.
    const TensorPtr Held = V->What == Value::Tensor ? V->Handle : nullptr;
    *V = *Unknown;
    V->Guard = Held;
  }
  Memory &InUse = VM.simulation().memory();
  if (const uint64_t Other = Ends[!Larger]->Peak; Other > InUse.peak()) {
    Memory::Course Now = InUse.course();
    Now.Peak = Other;
    InUse.setCourse(std::move(Now));
  }
  return Next;
}

bool setsTensor(const Stmt *S) {
  return cpp::anyOf<CXXOperatorCallExpr>(
      S,
      [](const CXXOperatorCallExpr *Call) {
        return Call->isAssignmentOp() && Call->getNumArgs() &&
               torch::isTensor(Call->getArg(0)->getType());
      },
      cpp::Lambdas::Skipped);
}

} // namespace libtorch_tidy::bytes
