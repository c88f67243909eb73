//===- Plan.cpp - Which precompiled headers are worth making --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/pch/LibraryPch.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::driver {

/// A smaller cache cannot hold one precompiled LibTorch.
static constexpr unsigned LeastForPchs = 150;

/// Headers that one run leaves to be precompiled after it: half a minute of
/// work. Those of later runs come when these are there.
static constexpr size_t MostPostponed = 4;

/// A larger precompiled header saves each unit only a thirtieth of what making
/// it costs, so this many units have to use it.
static constexpr unsigned EnoughForMore = 32;

PchChoices choicesFor(StringRef File, IncludeScanner &Scanner,
                      LibraryPchs &Pchs,
                      const clang::tooling::CommandLineArguments &Arguments,
                      StringRef MainFile, StringRef Directory) {
  PchChoices Result;
  for (LibraryPrefix &Prefix : Scanner.libraryPrefixes(File)) {
    std::string Key = LibraryPchs::keyOf(Scanner, Prefix);
    const bool Ready = Pchs.find(Key) == LibraryPchs::State::Ready;
    // Another one would have the macro in it, too.
    if ((Ready && !Pchs.isUnaffectedByMacros(Key, Prefix)) ||
        (Prefix.BehindCode && Pchs.isUnfit(Key, File)))
      continue;
    if (Ready && !Pchs.isUnaffectedByFolders(Key, Prefix)) {
      // One of its own, then, made with its folders.
      Prefix.Folders.clear();
      Prefix.FolderPaths.clear();
      Key = LibraryPchs::keyOf(Scanner, Prefix);
    }
    Result.push_back({std::move(Key), std::move(Prefix), Arguments,
                      MainFile.str(), Directory.str()});
  }
  return Result;
}

namespace {
/// How many units would begin with a precompiled header.
struct Need {
  unsigned Units = 0;
  const PchRecipe *Recipe = nullptr;
};
} // namespace

static std::map<std::string, Need> needsOf(ArrayRef<PchChoices *> Units) {
  std::map<std::string, Need> Needs;
  for (const PchChoices *Unit : Units) {
    if (Unit->empty())
      continue;
    Need &N = Needs[Unit->front().Key];
    if (!N.Units++)
      N.Recipe = &Unit->front();
  }
  return Needs;
}

/// Units take the lesser of two headers when that is there anyway.
static void shareLesser(ArrayRef<PchChoices *> Units, LibraryPchs &Pchs,
                        const std::set<std::string> &WantedBefore) {
  std::map<std::string, Need> Needs = needsOf(Units);
  for (PchChoices *Unit : Units) {
    if (Unit->size() < 2)
      continue;
    const std::string &Key = Unit->front().Key, &Lesser = (*Unit)[1].Key;
    if (Pchs.find(Key) == LibraryPchs::State::Missing &&
        !WantedBefore.count(Key) && Needs[Key].Units < EnoughForMore &&
        (Needs.count(Lesser) || Pchs.find(Lesser) == LibraryPchs::State::Ready))
      Unit->pop_front();
  }
}

// A precompiled header takes nearly twice as long to make as a unit without it.
// Units that are all analysed at once are done sooner without: it is made after
// the run, for the next one; units wait for one that is nearly made, and one
// that does not get on is made by who wants it. Where nothing goes on after the
// run, it is made when it is sure to be used again: when a second unit of this
// run needs it, when one of an earlier run did, or when a later run will.
PchPlan planPchs(ArrayRef<PchChoices *> Units, LibraryPchs &Pchs,
                 const PchPolicy &Policy) {
  std::set<std::string> WantedBefore;
  for (const auto &[Key, N] : needsOf(Units))
    // Asked in any case: it notes that it was wanted.
    if (Pchs.find(Key) == LibraryPchs::State::Missing && Pchs.wantedBefore(Key))
      WantedBefore.insert(Key);
  shareLesser(Units, Pchs, WantedBefore);
  PchPlan Result;
  for (const auto &[Key, N] : needsOf(Units)) {
    if (Pchs.find(Key) != LibraryPchs::State::Missing)
      continue;
    if (Policy.MayPostpone && N.Units <= Policy.AtATime) {
      using Progress = BackgroundMaker::Progress;
      const Progress Made = Pchs.maker().progressOf(Key);
      // One that works for the cache, and has not come to this one since it was
      // wanted, keeps others from beginning with it.
      const bool IsKept = Made == Progress::None && WantedBefore.count(Key) &&
                          Pchs.maker().process();
      if (Made == Progress::NearlyDone || Made == Progress::Starved ||
          (IsKept && Pchs.isToBeMade(Key)))
        Result.Now.push_back(*N.Recipe);
      else if (Policy.CacheMegabytes >= LeastForPchs &&
               Result.Later.size() < MostPostponed && Pchs.isToBeMade(Key))
        Result.Later.push_back(*N.Recipe);
    } else if (N.Units > 1 || WantedBefore.count(Key) || Policy.WillRepeat) {
      Result.Now.push_back(*N.Recipe);
    }
  }
  return Result;
}

} // namespace libtorch_tidy::driver
