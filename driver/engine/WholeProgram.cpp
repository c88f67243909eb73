//===- WholeProgram.cpp - Units that are analysed together ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/engine/WholeProgram.h"
#include "analysis/flow/program/Program.h"
#include "driver/engine/Runner.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using llvm::StringRef;

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

/// The jobs of \p Units, when they are done as \p Work says. \p Before has
/// their last rounds, which lose the copies of their processes.
static std::vector<Job>
runUnits(llvm::ArrayRef<Unit> Units, AnalysisJob Work,
         const fixits::FileTexts &Overlay,
         llvm::ArrayRef<const flow::ProgramFacts *> Told = {},
         llvm::ArrayRef<Job *> Before = {}) {
  Work.Units = Units;
  Schedule All(Work, Overlay, Told);
  for (auto [J, Earlier] : llvm::zip(All.Jobs, Before)) {
    J.Took = Earlier->Took;
    J.Copy = std::move(Earlier->Copy);
  }
  All.run();
  return std::move(All.Jobs);
}

void analyseUnits(llvm::ArrayRef<size_t> Numbers,
                  llvm::ArrayRef<flow::ProgramFacts> Facts,
                  llvm::ArrayRef<std::string> Digests, std::vector<Job> &Jobs,
                  const AnalysisJob &Work, const fixits::FileTexts &Overlay) {
  std::vector<Unit> Units;
  std::vector<const flow::ProgramFacts *> Told;
  std::vector<Job *> Before;
  const std::string Nothing = toldNothing();
  for (size_t I : Numbers) {
    Units.push_back(Work.Units[I]);
    Before.push_back(&Jobs[I]);
    if (!Facts.empty())
      Told.push_back(Digests[I] == Nothing ? nullptr : &Facts[I]);
  }
  std::vector<Job> Next = runUnits(Units, Work, Overlay, Told, Before);
  for (auto [I, J] : llvm::zip_equal(Numbers, Next)) {
    J.U = &Work.Units[I];
    J.Told = nullptr; // It ends with Facts.
    Jobs[I] = std::move(J);
  }
}

void tellOfEachOther(std::vector<Job> &Jobs, const AnalysisJob &Work,
                     const fixits::FileTexts &Overlay) {
  std::vector<std::string> Told(Jobs.size(), toldNothing());
  std::vector<flow::ProgramFacts> Facts;
  AnalysisJob OneRound = Work;
  OneRound.Options.VerifyFixes = false;
  for (unsigned Round = 2; Round <= MostRounds; ++Round) {
    const std::vector<size_t> Again = whatIsNew(Jobs, Told, Facts);
    if (Again.empty())
      break;
    analyseUnits(Again, Facts, Told, Jobs, OneRound, Overlay);
  }
  if (!Work.Options.VerifyFixes)
    return;
  std::vector<size_t> WithFixes;
  for (auto [I, J] : llvm::enumerate(Jobs))
    if (J.Result && !J.U->OnlyForFacts &&
        llvm::any_of(J.Result->Findings, proposesFix))
      WithFixes.push_back(I);
  analyseUnits(WithFixes, Facts, Told, Jobs, Work, Overlay);
}

/// Bounds how many files a chain of constructors is followed through, and how
/// often a unit is read again with one file less.
static constexpr unsigned MaxRounds = 16;
/// Read after one unit.
static constexpr size_t MaxFiles = 100;

namespace {

/// Where functions are defined.
class Definitions {
public:
  void add(const Job &J) {
    if (!J.Result || J.Result->Failed)
      return;
    for (const bytes::SharedFunction &F : J.Result->Budget.Defines)
      Found[F.Name].emplace(F.Declared.File, J.U->File);
  }

  /// Empty: nobody defines it, or there are several, and nothing says which.
  std::string fileOf(const bytes::SharedFunction &Wanted) const {
    auto It = Found.find(Wanted.Name);
    if (It == Found.end())
      return {};
    // Programs of one database may have the same names in them.
    std::set<std::string> Same, All;
    for (const auto &[Declared, File] : It->second) {
      All.insert(File);
      if (Declared == Wanted.Declared.File)
        Same.insert(File);
    }
    if (Same.size() == 1)
      return *Same.begin();
    return Same.empty() && All.size() == 1 ? *All.begin() : std::string();
  }

private:
  /// By name: the file that declares it, and the one that has its body.
  std::map<std::string, std::set<std::pair<std::string, std::string>>> Found;
};

/// A unit and what is read after it.
struct Extended {
  std::vector<std::string> Files;
  std::set<std::string> Tried;
  bool OneAtATime = false;
};

} // namespace

/// A name that a line of #include can hold.
static bool canBeIncluded(StringRef File) {
  return !File.empty() && llvm::none_of(File, [](unsigned char C) {
    return C < 32 || C == '"';
  });
}

static std::vector<std::string> newFilesFor(const Job &J, const Extended &E,
                                            const Definitions &Defined) {
  std::vector<std::string> Result;
  if (!J.Result || J.Result->Failed)
    return Result;
  for (const bytes::SharedFunction &Wanted : J.Result->Budget.Wants) {
    std::string File = Defined.fileOf(Wanted);
    if (canBeIncluded(File) && File != J.U->File && !E.Tried.count(File) &&
        !llvm::is_contained(Result, File) &&
        E.Files.size() + Result.size() < MaxFiles)
      Result.push_back(std::move(File));
    if (E.OneAtATime && !Result.empty())
      break;
  }
  return Result;
}

/// What did not compile, as the models' readers are told.
static bytes::MissingRow troubleWith(StringRef File, const Job &Together) {
  bytes::MissingRow Row;
  Row.Text = ("'" + llvm::sys::path::filename(File) +
              "' cannot be read together with this file")
                 .str();
  if (!Together.Result)
    return Row;
  for (const Finding &F : Together.Result->Findings)
    if (F.Kind == FindingKind::CompileError) {
      Row.Where = {F.Where.Path, F.Where.Line};
      Row.Text += ": " + F.Message;
      break;
    }
  return Row;
}

void readTogether(std::vector<Job> &Jobs, const AnalysisJob &Work,
                  llvm::ArrayRef<Unit> Others,
                  const fixits::FileTexts &Overlay) {
  auto IsWanting = [](const Job &J) {
    return J.Result && !J.Result->Failed && !J.Result->Budget.Wants.empty();
  };
  if (llvm::none_of(Jobs, IsWanting))
    return;
  Definitions Defined;
  for (const Job &J : Jobs)
    Defined.add(J);
  AnalysisJob Ask = Work;
  Ask.Options.Unit.Budget->Model.clear();
  Ask.Options.Unit.Budget->OnlyDefines = true;
  for (const Job &J : runUnits(Others, Ask, Overlay))
    Defined.add(J);

  // That a file does not compile with another one is no news about it.
  AnalysisJob Part = Work;
  Part.Options.Progress.Show = false;
  std::vector<Extended> Units(Jobs.size());
  std::vector<std::vector<bytes::MissingRow>> Trouble(Jobs.size());
  for (unsigned Round = 0; Round < MaxRounds; ++Round) {
    std::vector<size_t> Again;
    std::vector<std::vector<std::string>> More;
    std::vector<Unit> Longer;
    std::vector<Job *> Before;
    for (size_t I = 0; I < Jobs.size(); ++I) {
      std::vector<std::string> New = newFilesFor(Jobs[I], Units[I], Defined);
      if (New.empty())
        continue;
      Again.push_back(I);
      Before.push_back(&Jobs[I]);
      Longer.push_back(Work.Units[I]);
      Longer.back().ReadAfter = Units[I].Files;
      llvm::append_range(Longer.back().ReadAfter, New);
      More.push_back(std::move(New));
    }
    if (Again.empty())
      break;
    std::vector<Job> Next = runUnits(Longer, Part, Overlay, {}, Before);
    for (size_t N = 0; N < Again.size(); ++N) {
      const size_t I = Again[N];
      Job &J = Next[N];
      Jobs[I].Took = J.Took;
      if (J.Result && !J.Result->Failed) {
        Units[I].Files = std::move(Longer[N].ReadAfter);
        Units[I].Tried.insert(More[N].begin(), More[N].end());
        J.U = &Work.Units[I];
        Jobs[I] = std::move(J);
      } else if (More[N].size() > 1) {
        Units[I].OneAtATime = true;
      } else {
        Units[I].Tried.insert(More[N].front());
        Trouble[I].push_back(troubleWith(More[N].front(), J));
      }
    }
  }
  for (size_t I = 0; I < Jobs.size(); ++I)
    if (Jobs[I].Result)
      for (bytes::ModelRows &Model : Jobs[I].Result->Budget.Models)
        if (!Model.Missing.empty())
          llvm::append_range(Model.Missing, Trouble[I]);
}

} // namespace libtorch_tidy::driver
