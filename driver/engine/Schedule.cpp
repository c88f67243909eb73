//===- Schedule.cpp - Which unit is analysed when, and from what ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/engine/Schedule.h"
#include "analysis/cpp/Activity.h"
#include "driver/cache/Archive.h"
#include "driver/engine/FixRounds.h"
#include "driver/engine/Runner.h"
#include "driver/llvm/Compat.h"
#include "driver/project/Messages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <set>

using clang::tidy::ClangTidyOptions;
using clang::tooling::CommandLineArguments;
using llvm::Expected;
using llvm::StringRef;

namespace libtorch_tidy::driver {

namespace {

/// Back to the first column, and everything from there on erased.
constexpr llvm::StringLiteral StartLine = "\r\033[K";

/// Prints `[12/87] src/net.cpp  3 findings` on the standard error: on a
/// terminal, as one line that is overwritten and gone in the end, when there
/// are several units; elsewhere only if the user asks, a line per unit.
class Progress {
public:
  Progress(const ProgressOptions &Options, size_t Total,
           llvm::vfs::FileSystem &FS)
      : Total(Total), OnTerminal(llvm::errs().is_displayed()),
        Shown(
            Options.Show.value_or(OnTerminal && Total > 1 && !Options.Quiet)) {
    if (auto Folder = FS.getCurrentWorkingDirectory())
      Here = *Folder + "/";
  }
  ~Progress() {
    if (Shown && OnTerminal)
      llvm::errs() << StartLine;
  }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// \p J is done. \p How: where its result comes from, if that is special.
  void finished(const Job &J, StringRef How) {
    unsigned Findings = 0;
    if (J.Result)
      Findings = llvm::count_if(J.Result->Findings, [](const Finding &F) {
        return F.Kind == FindingKind::Defect;
      });
    if (J.State == Job::Done && (!J.Result || J.Result->Failed))
      How = J.Result                   ? "does not compile"
            : J.Met == WorkCap::None   ? "crashed"
            : J.Met == WorkCap::Memory ? "took too much memory"
                                       : "took too long";
    ++Count;
    StringRef File = J.U->File;
    File.consume_front(Here);
    tell(printable(File) + "  " + counted(Findings, "finding") +
         (How.empty() ? "" : ", ") + How);
  }

  void tell(const llvm::Twine &Text) {
    if (!Shown)
      return;
    const std::string Line =
        ("[" + llvm::Twine(Count) + "/" + llvm::Twine(Total) + "] " + Text)
            .str();
    // Written at once: lines of several processes on a terminal stay whole.
    llvm::errs() << (OnTerminal ? StartLine.str() + Line : Line + "\n");
  }

private:
  const size_t Total;
  size_t Count = 0;
  std::string Here; ///< The working directory, with a slash.
  const bool OnTerminal, Shown;
};

} // namespace

Schedule::Schedule(const AnalysisJob &Work, const fixits::FileTexts &Overlay,
                   llvm::ArrayRef<const flow::ProgramFacts *> Programs)
    : Work(Work), Overlay(Overlay), Programs(Programs), FS(makeFileSystem()),
      Folder(CacheFolder::open(Work.Options.Cache)), Sets(Folder, FS),
      Now(Sets, FS) {
  const CacheOptions &Cache = Work.Options.Cache;
  if (Folder) {
    if (!Work.Options.Unit.Stats && !Work.Options.Examines)
      Results.emplace(*Folder, Sets, FS);
    // With stock clang-tidy's scope, the bodies of library functions matter.
    if (Work.Options.Unit.UseScope)
      Pchs.emplace(*Folder, Sets);
  } else if (Cache.Use && !Cache.Folder.empty() &&
             !Work.Options.Progress.Quiet) {
    llvm::errs() << "libtorch-tidy: note: the cache folder '" << Cache.Folder
                 << "' cannot be used; going on without it\n";
  }
  Jobs.resize(Work.Units.size());
  for (size_t I = 0; I < Jobs.size(); ++I) {
    if (!Programs.empty())
      Jobs[I].Told = Programs[I];
    describe(Jobs[I], Work.Units[I]);
  }
}

/// The argument that names the source file. Empty when none does.
static std::string mainArgument(const CommandLineArguments &Arguments,
                                const Unit &U) {
  auto Spelled = [&](StringRef Path) {
    auto Result = compat::absolutePath(U.Command.Directory, Path);
    llvm::sys::path::remove_dots(Result, /*remove_dot_dot=*/true);
    return Result;
  };
  const llvm::SmallString<256> File = Spelled(U.File);
  for (StringRef Argument : llvm::reverse(llvm::drop_begin(Arguments)))
    if (Argument == U.Command.Filename ||
        (!Argument.starts_with("-") && Spelled(Argument) == File))
      return Argument.str();
  return {};
}

FileSystem Schedule::makeFileSystem() const {
  auto Own = llvm::expectedToOptional(createFileSystem(Work.VfsOverlay));
  if (!Own) // It was fine when the run began.
    Own = FileSystem(new llvm::vfs::OverlayFileSystem(
        llvm::vfs::createPhysicalFileSystem()));
  return withTexts(std::move(*Own), Overlay);
}

void Schedule::describe(Job &J, const Unit &U) {
  J.U = &U;
  auto FileOptions = llvm::expectedToOptional(Work.Config.optionsFor(U.File));
  J.Arguments =
      argumentsOf(U, Work.Options.Extra,
                  FileOptions.value_or(ClangTidyOptions()), Work.MakeOurs);
  if (!FileOptions) // It was fine a moment ago. The analysis will report it.
    return;
  // No check of ours asks for the user, who differs between machines.
  FileOptions->User.reset();
  std::vector<std::string> Question = J.Arguments;
  // Flags after `--` have "." for a folder.
  llvm::SmallString<256> Directory(U.Command.Directory);
  (void)FS->makeAbsolute(Directory);
  Question.push_back(Directory.str().str());
  Question.push_back(U.File);
  Question.push_back(clang::tidy::configurationAsText(*FileOptions));
  Question.push_back(Work.Config.lineFilter().str());
  Question.push_back(toBytes(Work.Options.Unit));
  llvm::append_range(Question, U.ReadAfter);
  // What the compiler asks besides the flags: Clang's driver, its toolchains
  // and its preprocessor.
  for (const char *Name :
       {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH",
        "OBJCPLUS_INCLUDE_PATH", "SDKROOT", "SYSROOT", "SOURCE_DATE_EPOCH",
        "COMPILER_PATH", "MACOSX_DEPLOYMENT_TARGET", "INCLUDE",
        "EXTERNAL_INCLUDE", "CUDA_PATH", "HIP_PATH", "ROCM_PATH",
        "HIP_DEVICE_LIB_PATH"})
    Question.push_back(llvm::sys::Process::GetEnv(Name).value_or(""));
  std::vector<StringRef> Parts(Question.begin(), Question.end());
  J.Question = digest(Parts);
}

std::string Schedule::resultKey(const Job &J, bool Tried) const {
  return Results->keyOf(
      digest({J.Question, J.Told ? toBytes(*J.Told) : std::string(),
              Tried ? "verify" : ""}),
      J.U->File);
}

/// Looks the result up in the cache; where fixes are to be tried, also what an
/// earlier run found that tried none.
void Schedule::lookUp(Job &J) {
  const bool TriesFixes = Work.Options.VerifyFixes;
  if (!Results || J.Question.empty() ||
      (J.ResultKey = resultKey(J, TriesFixes)).empty())
    return;
  std::optional<ResultCache::Entry> Found;
  std::optional<UnitResult> Result;
  auto Has = [&](StringRef Key) {
    return (Found = Results->find(Key)) &&
           (Result = unitResultFromBytes(Found->Result));
  };
  if (!Has(J.ResultKey)) {
    // A copy that was parked has its code parsed already.
    if (!TriesFixes || J.Copy || !Has(resultKey(J, /*Tried=*/false)))
      return;
    if (llvm::any_of(Result->Findings, proposesFix)) {
      J.Untried = {std::move(*Result), std::move(Found->In)};
      return;
    }
  }
  J.Result = std::move(Result);
  J.State = Job::Done;
  J.Read = Found->In.Files;
  J.Inputs = std::move(Found->In);
}

IncludeScanner *Schedule::scannerFor(const Job &J) {
  std::vector<StringRef> Flags = {J.U->Command.Directory,
                                  llvm::sys::path::extension(J.MainArgument)};
  for (StringRef Argument : J.Arguments)
    if (Argument != J.MainArgument)
      Flags.push_back(Argument);
  auto [It, New] = Scanners.try_emplace(digest(Flags));
  if (New) {
    FileSystem Own = makeFileSystem();
    if (!Own->setCurrentWorkingDirectory(J.U->Command.Directory))
      It->second = IncludeScanner::create(J.Arguments, Own);
  }
  return It->second.get();
}

bool Schedule::isUnrelated(Job &J) {
  J.MainArgument = mainArgument(J.Arguments, *J.U);
  if (J.MainArgument.empty() || !Work.Options.SkipUnrelated)
    return false;
  IncludeScanner *Scanner = scannerFor(J);
  return Scanner && !Scanner->mayIncludeTorch(J.U->File);
}

void Schedule::scan(Job &J) {
  if (isUnrelated(J)) {
    J.State = Job::Skipped;
    return;
  }
  if (J.MainArgument.empty() || !Pchs)
    return;
  if (IncludeScanner *Scanner = scannerFor(J))
    J.Pchs = choicesFor(J.U->File, *Scanner, *Pchs, J.Arguments, J.MainArgument,
                        J.U->Command.Directory);
}

PchPlan Schedule::planOfPchs(unsigned AtATime) {
  std::vector<PchChoices *> Open;
  for (Job &J : Jobs)
    if (J.State == Job::Open)
      Open.push_back(&J.Pchs);
  // Texts that are not on the disk are analysed in rounds of one run.
  return planPchs(Open, *Pchs,
                  {AtATime, Work.Options.WillRepeat,
                   Work.Options.Background && Overlay.empty(),
                   Work.Options.Cache.Megabytes});
}

/// A precompiled header takes as many times as long as a unit without it.
static constexpr double HeaderPerUnit = 2;

/// Drops the headers that were made meanwhile, for trials of fixes, and those
/// that would not compile.
void Schedule::dropPostponed() {
  llvm::erase_if(Postponed, [&](PchRecipe &R) {
    const auto From = llvm::find_if(Jobs, [&](const Job &J) {
      return J.MainArgument == R.MainFile && J.Arguments == R.Arguments &&
             J.Result && !J.Result->Failed;
    });
    if (From == Jobs.end() || !Pchs->isToBeMade(R.Key))
      return true;
    R.Seconds = HeaderPerUnit * From->Took.Processor;
    return false;
  });
}

/// Null when it cannot be made, or does not fit the unit.
const LibraryPch *Schedule::makeForTrials(const PchRecipe &Recipe) {
  Workers::beginAnew();
  cpp::Activity::say(PrecompilingActivity);
  Pchs->buildOrAwait(Recipe, makeFileSystem());
  Pchs->forget(Recipe.Key); // Look again.
  return Pchs->fitting(Recipe);
}

namespace {
/// What the process of a unit that was parked is to do next.
struct NextRound {
  std::optional<flow::ProgramFacts> Told;
  std::string ResultKey;
  bool TriesFixes = false;
};

/// What the process of a unit says.
struct UnitAnswer {
  std::string Result; ///< See toBytes().
  std::optional<ResultInputs> Inputs;
  std::vector<PathAndText> Read; ///< See Job.
  std::vector<FileSetCopy> Sets; ///< That need not be in the cache.
};
} // namespace

/// Runs in a process of its own.
std::string Schedule::analyseHere(Job &J, const LibraryPch *Pch,
                                  const PchRecipe *ForTrials) {
  UnitInputs Inputs;
  const bool Keep = !J.ResultKey.empty(), ForOthers = Work.Options.Shards.Count;
  UnitOptions Options = Work.Options.Unit;
  Options.FreesMemory = Work.Options.VerifyFixes;
  bool TriesFixes = Work.Options.VerifyFixes;
  NextRound Next;
  auto Told = [&] {
    if (std::optional<std::string> Message = Workers::park()) {
      // Else the parent is not of this build.
      Next = fromBytes<NextRound>(*Message).value_or(NextRound());
      J.Told = Next.Told ? &*Next.Told : nullptr;
      J.ResultKey = Next.ResultKey;
      TriesFixes = Next.TriesFixes;
    }
    return J.Told;
  };
  UnitResult Result = J.Untried
                          ? J.Untried->Result
                          : analyse(*J.U, J.Arguments, Options, Work.Config,
                                    Told, makeFileSystem(), Pch, &Inputs);
  if (TriesFixes && !Result.Failed) {
    // Making a header takes as long as two trials without it, and one is
    // mostly all there is.
    unsigned Trials = 0;
    const LibraryPch *Made = nullptr;
    auto Again = [&](const LibraryPch *With, FileSystem Edited) {
      Workers::beginAnew();
      return analyse(
          *J.U, J.Arguments, Options, Work.Config, [&] { return J.Told; },
          Edited, With, /*Inputs=*/nullptr, /*CompilerWarnings=*/true);
    };
    tryFixes(
        Result, [&] { return makeFileSystem(); },
        [&](FileSystem Edited) {
          if (ForTrials && ++Trials == 2)
            Made = makeForTrials(*ForTrials);
          if (Made)
            if (UnitResult Tried = Again(Made, Edited); !Tried.Failed)
              return Tried;
          // Perhaps only the new header made it fail.
          return Again(Pch, Edited);
        });
  }
  UnitAnswer Answer = {
      toBytes(Result), {}, J.Untried ? J.Untried->In.Files : Inputs.User, {}};
  // A unit that does not compile is analysed again in the next run.
  if (ForOthers || (Keep && !Result.Failed)) {
    ResultInputs In = J.Untried
                          ? J.Untried->In
                          : inputsOf(J, std::move(Inputs), Pch, Answer.Sets);
    if (Keep && !Result.Failed && !llvm::is_contained(In.Libraries, ""))
      Results->store({J.ResultKey, In, Answer.Result});
    if (ForOthers)
      Answer.Inputs = std::move(In);
  }
  return toBytes(Answer);
}

/// \p ForOthers receives the sets that are not of \p Pch.
ResultInputs Schedule::inputsOf(const Job &J, UnitInputs Read,
                                const LibraryPch *Pch,
                                std::vector<FileSetCopy> &ForOthers) {
  ResultInputs Result{std::move(Read.User),
                      std::move(Read.Missing),
                      std::move(Read.Folders),
                      {}};
  llvm::append_range(Result.Files, Read.Others);
  for (auto *Stamps : {&Read.Library, &Read.Driver}) {
    ForOthers.push_back(FileSets::pack(std::move(*Stamps)));
    const FileSetCopy &Set = ForOthers.back();
    Result.Libraries.push_back(Folder ? FileSets::store(Set, *Folder)
                                      : Set.Name);
  }
  if (Pch) {
    Result.Libraries.push_back(Pch->Facts.Files);
    Result.Libraries.push_back(
        Pchs->notInFolders(J.pchKey(), J.Pchs.front().Prefix));
  }
  return Result;
}

/// Until others have the memory again that was left to them.
void Schedule::dropCopies() {
  for (Job &J : Jobs)
    if (J.State == Job::Done && J.Copy) {
      J.Copy = Parked();
      if (!Copies->isExceeded())
        return;
    }
}

void Schedule::startUnit(size_t Id, Workers &Pool) {
  Job &J = Jobs[Id];
  if (J.Copy) {
    NextRound Next = {J.Told ? std::optional(*J.Told) : std::nullopt,
                      J.ResultKey, Work.Options.VerifyFixes};
    Pool.resume(Id, std::move(J.Copy), toBytes(Next), J.Took);
    return;
  }
  // A header that is not worth making for the unit may be worth it for its
  // trials.
  std::optional<PchRecipe> Missing;
  const LibraryPch *Pch = nullptr;
  for (; !J.Pchs.empty() && !(Pch = Pchs->fitting(J.Pchs.front()));
       J.Pchs.pop_front())
    if (!Missing && !Builds.count(J.pchKey().str()) &&
        Pchs->find(J.pchKey()) == LibraryPchs::State::Missing)
      Missing = J.Pchs.front();
  const PchRecipe *ForTrials = Missing && !Pch ? &*Missing : nullptr;
  if (Copies && Copies->isExceeded())
    dropCopies();
  Pool.start(
      Id, [&] { return analyseHere(J, Pch, ForTrials); }, J.Took,
      Copies && Copies->mayPark());
}

/// Describes why a unit has no result.
std::string Schedule::troubleOf(const Workers::Outcome &Said) const {
  const WorkLimits &Limits = Work.Options.Limits;
  std::string Text, Last = ", the last of them in ";
  switch (Said.Met) {
  case WorkCap::None:
    Text = "the analysis crashed";
    Last = " in ";
    break;
  case WorkCap::Processor:
    Text = llvm::formatv("it took longer than --timeout={0} seconds",
                         Limits.Processor);
    break;
  case WorkCap::Clock:
    Text = llvm::formatv("it took longer than --wall-timeout={0} seconds",
                         Limits.Clock);
    break;
  case WorkCap::Memory:
    Text =
        llvm::formatv("it took more than --max-memory={0} MB", Limits.Memory);
    break;
  }
  return Said.Doing.empty() ? Text : Text + Last + Said.Doing;
}

bool Schedule::finishUnit(Job &J, Workers::Outcome Said) {
  std::optional<UnitResult> Result;
  std::optional<UnitAnswer> Answer;
  if (Said.Finished && (Answer = fromBytes<UnitAnswer>(Said.Result)))
    Result = unitResultFromBytes(Answer->Result);
  if (!Said.Finished && Said.Doing == PrecompilingActivity)
    return true; // Try again without a header for its trials.
  J.Took = Said.Took;
  if (Said.Resumed && !Result && Said.Met == WorkCap::None) {
    // Perhaps the copy was ended when the machine had no memory left.
    scan(J);
    return true;
  }
  // A second try of one that met a limit would take as much.
  const bool MayRetry = !J.Pchs.empty() && Said.Met == WorkCap::None;
  if (MayRetry && (!Result || Result->PchRejected)) {
    // Whatever the reason is: try again without.
    J.Suspect = J.pchKey();
    J.Pchs.clear();
    return true;
  }
  if (MayRetry && Result->Failed && J.Pchs.front().Prefix.BehindCode) {
    // Perhaps it failed only because the headers come too early.
    J.Unfit = J.Pchs.front().Key;
    J.Pchs.pop_front();
    return true;
  }
  // A unit that fails without the header, too, proves nothing against it.
  if (!J.Suspect.empty() && Result && !Result->Failed)
    Pchs->discard(J.Suspect);
  if (!J.Unfit.empty() && Result && !Result->Failed)
    Pchs->noteUnfit(J.Unfit, J.U->File);
  J.Result = std::move(Result);
  if (!J.Result) {
    J.Trouble = troubleOf(Said);
  } else {
    J.Inputs = std::move(Answer->Inputs);
    J.Read = std::move(Answer->Read);
  }
  if (Answer)
    for (FileSetCopy &Set : Answer->Sets)
      Sets.add(std::move(Set));
  J.Met = Said.Met;
  J.Copy = std::move(Said.Copy);
  J.Errors = std::move(Said.Errors);
  J.State = Job::Done;
  return false;
}

/// Keeps the cache within its limit.
void Schedule::tidyCache() {
  if (Wrote && Pchs)
    Pchs->removeOrphans();
  if (Wrote && Folder)
    Folder->shrink(uint64_t(Work.Options.Cache.Megabytes) << 20);
  if (Folder && Work.Options.Unit.Stats) {
    const CacheFolder::Contents Has = Folder->contents();
    llvm::errs() << "libtorch-tidy: the cache takes " << (Has.Bytes >> 20)
                 << " of " << Work.Options.Cache.Megabytes
                 << " MB: " << counted(Has.Pchs, "precompiled header")
                 << ", results of " << counted(Has.Results, "unit") << '\n';
  }
}

void Schedule::run() {
  Progress Told(Work.Options.Progress, Jobs.size(), *FS);
  for (Job &J : Jobs) {
    lookUp(J);
    if (J.State == Job::Open && !J.Copy)
      scan(J);
    if (J.State != Job::Open)
      Told.finished(J, J.State == Job::Done ? "from the cache" : "skipped");
  }

  const unsigned AtATime =
      Work.Options.Jobs ? Work.Options.Jobs : Workers::defaultCount();
  if (Work.Options.WholeProgram && !Work.Options.Shards.Count)
    Copies.emplace(AtATime);
  PchPlan Plan = Pchs ? planOfPchs(AtATime) : PchPlan();
  const std::vector<PchRecipe> &ToBuild = Plan.Now;
  Postponed = std::move(Plan.Later);
  std::deque<size_t> Ready;
  std::map<std::string, std::vector<size_t>> Waiting; // By what they wait for.
  for (const PchRecipe &R : ToBuild) {
    Waiting[R.Key];
    Builds.insert(R.Key);
  }
  for (size_t I = 0; I < Jobs.size(); ++I) {
    if (Jobs[I].State != Job::Open)
      continue;
    auto It = Waiting.find(Jobs[I].pchKey().str());
    if (It != Waiting.end())
      It->second.push_back(I);
    else
      Ready.push_back(I);
  }

  Workers Pool(AtATime, Work.Options.Limits);
  size_t NextBuild = 0;
  while (NextBuild < ToBuild.size() || !Ready.empty() || !Pool.idle()) {
    while (!Pool.full() && NextBuild < ToBuild.size()) {
      Told.tell(PrecompilingActivity);
      cpp::Activity::say(PrecompilingActivity);
      Pool.start(Jobs.size() + NextBuild, [&]() -> std::string {
        Pchs->buildOrAwait(ToBuild[NextBuild], makeFileSystem());
        return "";
      });
      ++NextBuild;
      Wrote = true;
    }
    while (!Pool.full() && !Ready.empty()) {
      cpp::Activity::say(AnalysingActivity);
      startUnit(Ready.front(), Pool);
      Ready.pop_front();
      Wrote |= Folder.has_value();
    }
    Workers::Outcome Said = Pool.wait();
    if (Said.Id >= Jobs.size()) {
      const std::string &Key = ToBuild[Said.Id - Jobs.size()].Key;
      Pchs->forget(Key); // Look again.
      llvm::append_range(Ready, Waiting[Key]);
    } else if (Job &J = Jobs[Said.Id]; finishUnit(J, std::move(Said))) {
      Ready.push_front(&J - Jobs.data());
    } else {
      Told.finished(J, J.Untried ? "only its fixes were tried" : "");
    }
  }
  if (Work.Options.Shards.Count)
    for (Job &J : Jobs)
      if (J.Inputs)
        for (StringRef Name : J.Inputs->Libraries)
          J.Sets.push_back(Sets.find(Name));
  dropPostponed();
  if (!Postponed.empty())
    Told.tell("the library headers are precompiled after this run");
  tidyCache();
}

} // namespace libtorch_tidy::driver
