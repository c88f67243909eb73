//===- WholeProgram.cpp - Units that hear of each other -------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/engine/WholeProgram.h"
#include "analysis/flow/program/ProgramLink.h"
#include "driver/engine/UnitArchive.h"

namespace libtorch_tidy::driver {

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

std::string toldNothing() { return digest({toBytes(flow::ProgramFacts())}); }

std::vector<size_t> whatIsNew(llvm::ArrayRef<Job> Jobs,
                              std::vector<std::string> &Told,
                              std::vector<flow::ProgramFacts> &Facts) {
  std::vector<flow::UnitFacts> Said;
  for (const Job &J : Jobs)
    Said.push_back(factsOf(J));
  std::vector<const flow::UnitFacts *> All;
  for (const flow::UnitFacts &Unit : Said)
    All.push_back(&Unit);
  const flow::ProgramLink Linked(std::move(All));
  Facts.resize(Jobs.size());
  std::vector<std::string> Now(Jobs.size());
  std::vector<size_t> New;
  for (size_t I = 0; I < Jobs.size(); ++I) {
    if (Jobs[I].State == Job::Skipped)
      continue;
    Facts[I] = Linked.factsFor(I);
    Now[I] = digest({toBytes(Facts[I])});
    if (Now[I] != Told[I])
      New.push_back(I);
  }
  // A unit would hear more when the files that it calls have.
  New = Linked.calleesFirst(New);
  for (size_t I : New)
    Told[I] = Now[I];
  return New;
}

void tellOfEachOther(std::vector<Job> &Jobs, const AnalysisJob &Work,
                     const fixits::FileTexts &Overlay) {
  std::vector<std::string> Told(Jobs.size(), toldNothing());
  for (unsigned Round = 2; Round <= MostRounds; ++Round) {
    std::vector<flow::ProgramFacts> Facts;
    const std::vector<size_t> Again = whatIsNew(Jobs, Told, Facts);
    if (Again.empty())
      break;
    std::vector<Unit> Units;
    std::vector<const flow::ProgramFacts *> ToldAgain;
    for (size_t I : Again) {
      Units.push_back(Work.Units[I]);
      ToldAgain.push_back(&Facts[I]);
    }
    AnalysisJob Part = Work;
    Part.Units = Units;
    Schedule Next(Part, Overlay, ToldAgain);
    Next.run();
    for (size_t N = 0; N < Again.size(); ++N) {
      Job &J = Next.Jobs[N];
      J.U = &Work.Units[Again[N]];
      J.Told = nullptr; // It ends with the round.
      Jobs[Again[N]] = std::move(J);
    }
  }
}

} // namespace libtorch_tidy::driver
