//===- WholeProgram.cpp - Units that hear of each other -------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/engine/WholeProgram.h"
#include "checks/flow/Program.h"
#include "driver/engine/UnitArchive.h"

namespace libtorch_tidy::driver {

/// How many files a chain of calls is followed through. What lies beyond counts
/// as code that cannot be seen.
static constexpr unsigned MaxRounds = 8;

/// What \p J said; of a unit that could not be analysed only that.
static flow::UnitFacts factsOf(const Job &J) {
  flow::UnitFacts Facts;
  if (J.Result)
    Facts = J.Result->Facts;
  Facts.File = J.U->File;
  // A unit without LibTorch says nothing, and there is nothing to say.
  Facts.Failed = J.State != Job::Skipped && (!J.Result || J.Result->Failed);
  return Facts;
}

void tellOfEachOther(std::vector<Job> &Jobs, const AnalysisJob &Work,
                     const fixits::FileTexts &Overlay) {
  // Pointers into this go to the jobs.
  std::vector<flow::ProgramFacts> Told(Jobs.size());
  std::vector<std::string> ToldBytes(Jobs.size());
  for (unsigned Round = 1; Round < MaxRounds; ++Round) {
    std::vector<flow::UnitFacts> Facts;
    for (const Job &J : Jobs)
      Facts.push_back(factsOf(J));
    std::vector<const flow::UnitFacts *> All;
    for (const flow::UnitFacts &Unit : Facts)
      All.push_back(&Unit);
    const flow::Program Linked(std::move(All));

    std::vector<size_t> Again;
    for (size_t I = 0; I < Jobs.size(); ++I) {
      if (Jobs[I].State == Job::Skipped)
        continue;
      flow::ProgramFacts Now = Linked.factsFor(I);
      std::string Bytes = toBytes(Now);
      if (Bytes == ToldBytes[I])
        continue;
      Told[I] = std::move(Now);
      ToldBytes[I] = std::move(Bytes);
      Again.push_back(I);
    }
    if (Again.empty())
      break;

    std::vector<Unit> Units;
    std::vector<const flow::ProgramFacts *> ToldAgain;
    for (size_t I : Again) {
      Units.push_back(Work.Units[I]);
      ToldAgain.push_back(&Told[I]);
    }
    AnalysisJob Part = Work;
    Part.Units = Units;
    Schedule Next(Part, Overlay, ToldAgain);
    Next.run();
    for (size_t N = 0; N < Again.size(); ++N) {
      Job &J = Next.Jobs[N];
      J.U = &Work.Units[Again[N]];
      Jobs[Again[N]] = std::move(J);
    }
  }
  for (Job &J : Jobs)
    J.Told = nullptr; // It is gone.
}

} // namespace libtorch_tidy::driver
