//===- ReadTogether.cpp - Models over several files -----------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/engine/ReadTogether.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using llvm::StringRef;

namespace libtorch_tidy::driver {

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
  AnalysisOptions OnlyDefines = Work.Options;
  OnlyDefines.Unit.Budget->Model.clear();
  OnlyDefines.Unit.Budget->OnlyDefines = true;
  const AnalysisJob Ask{Others,        OnlyDefines,     Work.Config,
                        Work.MakeOurs, Work.VfsOverlay, Work.IsAskedFor};
  Schedule Asked(Ask, Overlay);
  Asked.run();
  for (const Job &J : Asked.Jobs)
    Defined.add(J);

  // That a file does not compile with another one is no news about it.
  AnalysisOptions InSilence = Work.Options;
  InSilence.Progress.Show = false;
  AnalysisJob Part{{},
                   InSilence,
                   Work.Config,
                   Work.MakeOurs,
                   Work.VfsOverlay,
                   Work.IsAskedFor};
  std::vector<Extended> Units(Jobs.size());
  std::vector<std::vector<bytes::MissingRow>> Trouble(Jobs.size());
  for (unsigned Round = 0; Round < MaxRounds; ++Round) {
    std::vector<size_t> Again;
    std::vector<std::vector<std::string>> More;
    std::vector<Unit> Longer;
    for (size_t I = 0; I < Jobs.size(); ++I) {
      std::vector<std::string> New = newFilesFor(Jobs[I], Units[I], Defined);
      if (New.empty())
        continue;
      Again.push_back(I);
      Longer.push_back(Work.Units[I]);
      Longer.back().ReadAfter = Units[I].Files;
      llvm::append_range(Longer.back().ReadAfter, New);
      More.push_back(std::move(New));
    }
    if (Again.empty())
      break;
    Part.Units = Longer;
    Schedule Next(Part, Overlay);
    Next.run();
    for (size_t N = 0; N < Again.size(); ++N) {
      const size_t I = Again[N];
      Job &J = Next.Jobs[N];
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
