//===- Shards.cpp - One run on several machines ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/cache/Archive.h"
#include "driver/engine/WholeProgram.h"
#include "driver/project/ChangedLines.h"
#include "driver/project/Messages.h"
#include "driver/project/OutputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace libtorch_tidy::driver {

namespace {

/// What a shard leaves of one unit.
struct ShardJob {
  std::string Identity; ///< See ShardFolder::identityOf().
  std::string Told;     ///< See ShardFolder.
  bool IsDone = false;  ///< Else it was skipped.
  std::string Trouble, Errors;
  WorkCap Met = WorkCap::None;
  std::string Result; ///< See toBytes(); empty: there is none.
  std::optional<ResultInputs> Inputs;
};

/// The file of a shard.
struct ShardFile {
  std::string Digest; ///< Of the rest.
  std::string Jobs;   ///< A list of ShardJob, as bytes.
  std::string Sets;   ///< A list of FileSetCopy: what the jobs refer to.
};

/// The files of one run in its folder.
class ShardFolder {
public:
  ShardFolder(const AnalysisJob &Work, Schedule &All)
      : Told(Work.Units.size(), toldNothing()), Options(Work.Options.Shards),
        TriesFixes(Work.Options.VerifyFixes), All(All) {}

  /// The last round of which shard \p Index has left a good file; 0: none.
  unsigned lastRound(unsigned Index) {
    unsigned Last = 0;
    while (Last < MostRounds && read(Last + 1, Index, /*Keep=*/false))
      ++Last;
    return Last;
  }

  /// Fills the jobs with what all shards left of \p Round.
  Error readAll(unsigned Round) {
    std::vector<std::string> Missing;
    // Where many are missing, the number is wrong: the first are enough.
    constexpr unsigned Most = 10;
    for (unsigned Index = 1; Index <= Options.Count && Missing.size() <= Most;
         ++Index)
      if (!read(Round, Index, /*Keep=*/true))
        Missing.push_back("'" + nameOf(Round, Index) + "'");
    if (Missing.empty())
      return Error::success();
    if (Missing.size() > Most)
      Missing.back() = "and perhaps others";
    return makeError(
        llvm::join(Missing, ", ") +
        (Missing.size() == 1 ? " is missing or cut off, or was"
                             : " are missing or cut off, or were") +
        " made with other options, of other files or by another version: run " +
        (Missing.size() == 1 ? "that shard" : "those shards") + " again");
  }

  /// Leaves the jobs of shard \p Index.
  Error write(unsigned Round, unsigned Index) {
    std::vector<ShardJob> Jobs;
    std::map<std::string, FileSetCopy> Sets;
    for (size_t I = Index - 1; I < All.Jobs.size(); I += Options.Count) {
      const Job &J = All.Jobs[I];
      Jobs.push_back({identityOf(J), Told[I], J.State == Job::Done, J.Trouble,
                      J.Errors, J.Met, J.Result ? toBytes(*J.Result) : "",
                      J.Inputs});
      for (const auto &Set : J.Sets)
        if (Set && !Sets.count(Set->Name)) {
          All.sets().add(*Set);
          Sets[Set->Name] =
              Set->Texts.empty() ? All.sets().withTexts(*Set) : *Set;
        }
    }
    std::vector<FileSetCopy> SetList;
    for (auto &[Name, Set] : Sets)
      SetList.push_back(std::move(Set));
    const std::string Content = toBytes(Jobs), SetBytes = toBytes(SetList);
    const std::string Name = nameOf(Round, Index);
    if (std::error_code EC = llvm::sys::fs::create_directories(
            llvm::sys::path::parent_path(Name)))
      return makeError("cannot make the folder for '" + Name +
                       "': " + EC.message());
    Expected<OutputFile> File = OutputFile::open(Name);
    if (!File)
      return File.takeError();
    return File->write(
        toBytes(ShardFile{digest({Content, SetBytes}), Content, SetBytes}));
  }

  /// What each unit was told in the round that readAll() read.
  std::vector<std::string> Told;

private:
  std::string nameOf(unsigned Round, unsigned Index) const {
    llvm::SmallString<256> Path(Options.Folder);
    llvm::sys::path::append(
        Path, llvm::formatv("round-{0}", Round).str(),
        llvm::formatv("shard-{0}-of-{1}", Index, Options.Count).str());
    return Path.str().str();
  }

  /// False when the file is missing or cut off, or was made with other options,
  /// of other files or by another version.
  bool read(unsigned Round, unsigned Index, bool Keep) {
    // A stranger's folder can have a pipe or an endless device by that name.
    auto Text =
        All.files().getBufferForFile(nameOf(Round, Index), /*FileSize=*/-1,
                                     /*RequiresNullTerminator=*/false);
    if (!Text)
      return false;
    const auto Whole = fromBytes<ShardFile>((*Text)->getBuffer());
    if (!Whole || digest({Whole->Jobs, Whole->Sets}) != Whole->Digest)
      return false;
    auto Jobs = fromBytes<std::vector<ShardJob>>(Whole->Jobs);
    auto Sets = fromBytes<std::vector<FileSetCopy>>(Whole->Sets);
    if (!Jobs || !Sets)
      return false;
    for (FileSetCopy &Set : *Sets)
      All.sets().add(std::move(Set));
    size_t Next = 0;
    for (size_t I = Index - 1; I < All.Jobs.size(); I += Options.Count) {
      if (Next == Jobs->size())
        return false;
      Job &J = All.Jobs[I];
      ShardJob &Read = (*Jobs)[Next++];
      std::optional<UnitResult> Result;
      if (Read.Identity != identityOf(J) || !isUpToDate(I, Read) ||
          (!Read.Result.empty() &&
           !(Result = unitResultFromBytes(Read.Result))))
        return false;
      if (!Keep)
        continue;
      Told[I] = std::move(Read.Told);
      J.State = Read.IsDone ? Job::Done : Job::Skipped;
      J.Trouble = std::move(Read.Trouble);
      J.Errors = std::move(Read.Errors);
      J.Met = Read.Met;
      J.Result = std::move(Result);
      J.Inputs = std::move(Read.Inputs);
      J.Sets.clear();
      if (J.Inputs)
        for (StringRef Name : J.Inputs->Libraries)
          J.Sets.push_back(All.sets().find(Name));
    }
    return Next == Jobs->size();
  }

  /// Of the headers: would unit \p I be skipped again, or give the same result?
  /// One that crashed has none to compare.
  bool isUpToDate(size_t I, const ShardJob &Read) {
    if (Read.IsDone)
      return !Read.Inputs || All.inputs().are(*Read.Inputs);
    auto [It, New] = Unrelated.try_emplace(I);
    if (New)
      It->second = All.isUnrelated(All.Jobs[I]);
    return It->second;
  }

  /// Whatever the result of a unit depends on, but for its headers.
  std::string identityOf(const Job &J) const {
    auto Text = All.files().getBufferForFile(J.U->File);
    return digest({programIdentity(), J.Question, TriesFixes ? "verify" : "",
                   Text ? (*Text)->getBuffer() : StringRef()});
  }

  const ShardOptions &Options;
  const bool TriesFixes;
  Schedule &All;
  std::map<size_t, bool> Unrelated; ///< See Schedule::isUnrelated().
};

} // namespace

/// That nobody wrote the results in \p Folder but the shards.
static Error checkOrigin(const ShardOptions &Options) {
  StringRef Folder = Options.Folder;
  Expected<std::string> Tracked = trackedBelow(Folder, Options.GitSeconds);
  if (!Tracked)
    return makeError("it is not known whether the sources brought files of '" +
                     Folder +
                     "' along, and what they say of shards is not "
                     "believed: " +
                     llvm::toString(Tracked.takeError()) +
                     "; name a folder outside of the work tree");
  if (Tracked->empty())
    return Error::success();
  return makeError("'" + *Tracked +
                   "' is a file of the sources, and what they say of shards is "
                   "not believed; name a folder in which git tracks nothing");
}

Error runShard(const AnalysisJob &Work) {
  if (Error E = checkOrigin(Work.Options.Shards))
    return E;
  const unsigned Index = Work.Options.Shards.Index;
  Schedule All(Work, {});
  ShardFolder Folder(Work, All);
  const unsigned Round = Folder.lastRound(Index) + 1;
  std::vector<size_t> Numbers;
  std::vector<flow::ProgramFacts> Facts;
  if (Round == 1) {
    llvm::append_range(Numbers, llvm::seq<size_t>(0, All.Jobs.size()));
  } else {
    if (Error E = Folder.readAll(Round - 1))
      return E;
    if (Work.Options.WholeProgram && Round <= MostRounds)
      Numbers = whatIsNew(All.Jobs, Folder.Told, Facts);
    if (Numbers.empty()) {
      if (!Work.Options.Progress.Quiet)
        llvm::errs() << "libtorch-tidy: note: all shards are done after round "
                     << Round - 1 << '\n';
      return Error::success();
    }
  }
  llvm::erase_if(Numbers, [&](size_t I) {
    return I % Work.Options.Shards.Count != Index - 1;
  });
  analyseUnits(Numbers, Facts, Folder.Told, All.Jobs, Work, {});
  return Folder.write(Round, Index);
}

Expected<unsigned> shardsIn(StringRef Folder) {
  llvm::SmallString<256> First(Folder);
  llvm::sys::path::append(First, "round-1");
  std::set<unsigned> Counts;
  std::error_code EC;
  for (llvm::sys::fs::directory_iterator I(First, EC), End; !EC && I != End;
       I.increment(EC)) {
    const StringRef Name = llvm::sys::path::filename(I->path());
    unsigned Count = 0;
    if (Name.starts_with("shard-") &&
        !Name.rsplit("-of-").second.getAsInteger(10, Count) && Count)
      Counts.insert(Count);
  }
  if (Counts.size() == 1)
    return *Counts.begin();
  return makeError("'" + Folder +
                   (Counts.empty() ? "' holds no results of a shard"
                                   : "' holds the shards of several runs"));
}

Error mergeShards(Schedule &All, const AnalysisJob &Work) {
  if (Error E = checkOrigin(Work.Options.Shards))
    return E;
  ShardFolder Folder(Work, All);
  unsigned Round = 0;
  for (unsigned Index = 1; Index <= Work.Options.Shards.Count; ++Index)
    Round = std::max(Round, Folder.lastRound(Index));
  if (Error E = Folder.readAll(std::max(Round, 1U)))
    return E;
  std::vector<flow::ProgramFacts> Facts;
  if (Work.Options.WholeProgram && Round < MostRounds &&
      !whatIsNew(All.Jobs, Folder.Told, Facts).empty())
    return makeError(llvm::formatv(
        "round {0} is not the last one: run all shards once more", Round));
  return Error::success();
}

} // namespace libtorch_tidy::driver
