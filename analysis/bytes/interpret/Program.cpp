//===- Program.cpp - What main() makes and passes -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Elaboration.h"

using namespace clang;

namespace libtorch_tidy::bytes {

namespace {

/// Runs main(), with no arguments, and writes down the models that it makes,
/// and what it passes to them.
class ProgramRun {
public:
  ProgramRun(Interpreter &Running, ProgramSeen &Seen)
      : Running(Running), Seen(Seen) {
    Running.OnModule = [this](const ModulePtr &M, llvm::ArrayRef<Cell> Given,
                              SourceLocation At) {
      if (isFull())
        return;
      this->Seen.Made.push_back({M->Class, this->Running.copiesOf(Given), At});
    };
    Running.OnForward = [this](const ModulePtr &M, llvm::ArrayRef<Cell> Given,
                               SourceLocation At) {
      if (M->Class && !isFull() && Known.emplace(M->Class, At).second)
        this->Seen.Passed.push_back(
            {M->Class, this->Running.copiesOf(Given), At});
    };
  }

  void run(const FunctionDecl *Main) {
    // Without arguments, argv has the program's name.
    std::vector<Cell> Arguments = {integer(1), listOf({text("program")})};
    Arguments.resize(std::min<size_t>(Arguments.size(), Main->getNumParams()));
    Running.call(Main, Arguments, nullptr, Main->getLocation());
  }

private:
  bool isFull() const {
    constexpr size_t MaxSeen = 1'000;
    return Seen.Made.size() + Seen.Passed.size() > MaxSeen;
  }

  Interpreter &Running;
  ProgramSeen &Seen;
  /// Of the same call in a loop, the first counts.
  std::set<std::pair<const CXXRecordDecl *, SourceLocation>> Known;
};

} // namespace

ProgramSeen runProgram(Interpreter &Running,
                       llvm::ArrayRef<const FunctionDecl *> Defined) {
  ProgramSeen Seen;
  for (const FunctionDecl *F : Defined)
    if (F->isMain() && F->hasBody())
      ProgramRun(Running, Seen).run(F);
  Running.OnModule = nullptr;
  Running.OnForward = nullptr;
  return Seen;
}

} // namespace libtorch_tidy::bytes
