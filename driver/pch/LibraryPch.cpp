//===- LibraryPch.cpp - Precompiled library headers -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/pch/LibraryPch.h"
#include "driver/cache/Archive.h"
#include "driver/project/CompileCommands.h"
#include "driver/project/FileSystem.h"
#include "driver/project/HarmlessFlags.h"
#include "driver/project/Scope.h"
#include "driver/project/UnitInputs.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"
#include <chrono>
#include <set>

using namespace clang;
using namespace clang::tooling;
using llvm::StringRef;
namespace fs = llvm::sys::fs;

namespace libtorch_tidy::driver {

/// Headers that did not compile are not tried again sooner.
static constexpr std::chrono::minutes TryAgainAfter(10);

namespace {

/// `a` of `#include <a/b.h>`, which is no identifier.
uint64_t hashOfIncluded(StringRef Beginning) {
  return llvm::xxh3_64bits(("<" + Beginning).str());
}

uint64_t hashOfMacro(StringRef Name) {
  return llvm::xxh3_64bits(("#" + Name).str());
}

/// Collected while a precompiled header is made.
struct PchRecord {
  UnitInputs Inputs;
  llvm::StringSet<> Includes;
  ProbedFileSystem *Probed = nullptr;
  PchNames Names;
  llvm::ArrayRef<std::string> Folders; ///< See LibraryPrefix.
};

class PchAction : public GeneratePCHAction {
public:
  explicit PchAction(PchRecord *Facts) : Facts(Facts) {}

protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &Compiler,
                                                 StringRef File) override {
    if (Facts)
      Compiler.getPreprocessor().addPPCallbacks(
          recordInputs(Compiler, Facts->Inputs, &Facts->Includes));
    std::vector<std::unique_ptr<ASTConsumer>> Consumers;
    Consumers.push_back(createSkipBodiesConsumer(Compiler.getSourceManager()));
    Consumers.push_back(createForgetSpecializationsConsumer(Compiler));
    Consumers.push_back(GeneratePCHAction::CreateASTConsumer(Compiler, File));
    if (!Consumers.back())
      return nullptr;
    return std::make_unique<MultiplexConsumer>(std::move(Consumers));
  }

  void EndSourceFileAction() override {
    if (Facts) {
      auto &[Hashes, Beginnings] = Facts->Names;
      for (const auto &Entry :
           getCompilerInstance().getPreprocessor().getIdentifierTable()) {
        Hashes.push_back(llvm::xxh3_64bits(Entry.getKey()));
        if (Entry.getValue()->hadMacroDefinition())
          Hashes.push_back(hashOfMacro(Entry.getKey()));
      }
      for (StringRef Name : Facts->Includes.keys())
        Beginnings.insert(
            (Name.starts_with(".") ? Name : Name.split('/').first).str());
      for (const std::string &Beginning : Beginnings)
        Hashes.push_back(hashOfIncluded(Beginning));
      llvm::sort(Hashes);
    }
    GeneratePCHAction::EndSourceFileAction();
  }

private:
  PchRecord *Facts;
};

class PchActionFactory : public FrontendActionFactory {
public:
  explicit PchActionFactory(StringRef Output, PchRecord *Facts = nullptr)
      : Output(Output), Facts(Facts) {}

  std::unique_ptr<FrontendAction> create() override {
    return std::make_unique<PchAction>(Facts);
  }

  bool runInvocation(std::shared_ptr<CompilerInvocation> Invocation,
                     FileManager *Files,
                     std::shared_ptr<PCHContainerOperations> PCHOps,
                     DiagnosticConsumer *Consumer) override {
    keepParsingOnly(*Invocation);
    FrontendOptions &Options = Invocation->getFrontendOpts();
    Options.OutputFile = Output;
    Options.ProgramAction = frontend::GeneratePCH;
    Options.SkipFunctionBodies = true;
    if (Facts) {
      Facts->Probed->driverEnded();
      // As the units that will start from it: see TidyActionFactory.
      Invocation->getPreprocessorOpts().SetUpStaticAnalyzer = true;
      Invocation->getDiagnosticOpts().ShowCarets = false;
      takeAway(Facts->Folders, *Invocation);
    }
    auto Seen = filesOf(*Invocation, *Files, Consumer);
    return FrontendActionFactory::runInvocation(
        std::move(Invocation), Seen.get(), std::move(PCHOps), Consumer);
  }

private:
  std::string Output;
  PchRecord *Facts;
};

} // namespace

/// A database of \p Command, which compiles a header.
static OneCommand ofHeader(CompileCommand Command) {
  // Before the file: -x holds for what follows it.
  Command.CommandLine.insert(Command.CommandLine.begin() + 1,
                             {"-x", "c++-header"});
  return OneCommand(std::move(Command));
}

bool emitLibraryPch(const CompileCommand &Command, StringRef Header,
                    StringRef Output, const ArgumentsAdjuster &AddExtra,
                    const ArgumentsAdjuster &MakeOurs,
                    llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS) {
  // The compiler writes relative to the command's folder.
  llvm::SmallString<256> Absolute(Output);
  FS->makeAbsolute(Absolute);
  const OneCommand DB = ofHeader(Command);
  ClangTool Tool(DB, {Header.str()}, std::make_shared<PCHContainerOperations>(),
                 FS);
  Tool.appendArgumentsAdjuster(AddExtra);
  Tool.appendArgumentsAdjuster(getStripPluginsAdjuster());
  Tool.appendArgumentsAdjuster(
      [&](const CommandLineArguments &Args, StringRef) {
        return MakeOurs(Args, Command.Directory);
      });
  PchActionFactory Factory(Absolute);
  return Tool.run(&Factory) == 0;
}

/// A file in memory at \p Path.
static void mountFile(llvm::vfs::OverlayFileSystem &FS, StringRef Path,
                      StringRef Content) {
  llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> Memory(
      new llvm::vfs::InMemoryFileSystem);
  Memory->addFileNoOwn(Path, /*ModificationTime=*/0,
                       llvm::MemoryBufferRef(Content, Path));
  FS.pushOverlay(std::move(Memory));
}

namespace {

/// One large file. LLVM's InMemoryFileSystem would read all of it to hash it,
/// and that of a precompiled header is mostly never looked at.
class LargeFile : public llvm::vfs::FileSystem {
public:
  LargeFile(StringRef Path, llvm::MemoryBufferRef Content)
      : Content(Content),
        Facts(Path, llvm::vfs::getNextVirtualUniqueID(),
              llvm::sys::TimePoint<>(), /*User=*/0, /*Group=*/0,
              Content.getBufferSize(), fs::file_type::regular_file,
              fs::perms::all_read) {}

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine &Path) override {
    llvm::SmallString<256> Wanted;
    Path.toVector(Wanted);
    if (std::error_code EC = makeAbsolute(Wanted))
      return EC;
    if (Wanted != Facts.getName())
      return llvm::errc::no_such_file_or_directory;
    return Facts;
  }

  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>>
  openFileForRead(const llvm::Twine &Path) override {
    llvm::ErrorOr<llvm::vfs::Status> Found = status(Path);
    if (!Found)
      return Found.getError();
    return std::make_unique<Opened>(*this);
  }

  llvm::vfs::directory_iterator dir_begin(const llvm::Twine &,
                                          std::error_code &EC) override {
    EC = llvm::errc::no_such_file_or_directory;
    return {};
  }

  std::error_code setCurrentWorkingDirectory(const llvm::Twine &Path) override {
    Folder = Path.str();
    return {};
  }
  llvm::ErrorOr<std::string> getCurrentWorkingDirectory() const override {
    return Folder;
  }

private:
  struct Opened : llvm::vfs::File {
    explicit Opened(const LargeFile &Of) : Of(Of) {}
    llvm::ErrorOr<llvm::vfs::Status> status() override { return Of.Facts; }
    llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>
    getBuffer(const llvm::Twine &, int64_t, bool, bool) override {
      return llvm::MemoryBuffer::getMemBuffer(Of.Content,
                                              /*RequiresNullTerminator=*/false);
    }
    std::error_code close() override { return {}; }
    const LargeFile &Of;
  };

  llvm::MemoryBufferRef Content;
  llvm::vfs::Status Facts;
  std::string Folder;
};

} // namespace

void LibraryPch::mount(llvm::vfs::OverlayFileSystem &FS) const {
  mountFile(FS, HeaderPath, Facts.HeaderText);
  llvm::SmallString<256> Absolute(Path);
  if (!FS.makeAbsolute(Absolute))
    FS.pushOverlay(llvm::makeIntrusiveRefCnt<LargeFile>(
        Absolute, Content->getMemBufferRef()));
}

/// In memory only, and the same wherever the cache is.
static std::string headerPath(StringRef Key) {
  return ("/libtorch-tidy/" + Key + ".h").str();
}

static std::string headerText(const LibraryPrefix &Prefix) {
  std::string Result;
  for (const std::string &Header : Prefix.Headers)
    Result += "#include <" + Header + ">\n";
  return Result;
}

std::string LibraryPchs::keyOf(const IncludeScanner &Flags,
                               const LibraryPrefix &Prefix) {
  return digest(
      {programIdentity(), Flags.meaning(Prefix.Folders), headerText(Prefix)});
}

LibraryPchs::State LibraryPchs::find(StringRef Key) {
  auto [It, New] = Known.try_emplace(Key.str());
  if (New)
    It->second = load(Key);
  return It->second.S;
}

/// What the cache says of the precompiled header at \p Entry.
static std::optional<PchFacts> factsOf(StringRef Entry,
                                       const CacheFolder &Folder) {
  return fromBytes<PchFacts>(Folder.read((Entry + ".facts").str()));
}

LibraryPchs::Entry LibraryPchs::load(StringRef Key) {
  Entry Result;
  std::optional<PchFacts> Kept = factsOf(entryOf(Key), Folder);
  if (!Kept || !Sets.unchanged(Kept->Files))
    return Result;
  Folder.touch(entryOf(Key) + ".facts");
  if (!Kept->Usable) {
    Result.S = State::Unusable;
    return Result;
  }
  auto Pch = std::make_unique<LibraryPch>();
  Pch->Facts = std::move(*Kept);
  Pch->HeaderPath = headerPath(Key);
  Pch->Path = Folder.pathOf(Pch->Facts.Output);
  std::optional<FileStamp> Now =
      stampOf(Pch->Path, *llvm::vfs::getRealFileSystem());
  auto Content = llvm::MemoryBuffer::getFile(Pch->Path, /*IsText=*/false,
                                             /*RequiresNullTerminator=*/false);
  // A copy of the cache has other times; then every byte is compared.
  if (!Now || !Content || (*Content)->getBufferSize() != Pch->Facts.Size ||
      (Now->Changed != Pch->Facts.Changed &&
       llvm::xxh3_64bits((*Content)->getBuffer()) != Pch->Facts.Sum))
    return Result;
  Pch->Content = std::move(*Content);
  Result.Pch = std::move(Pch);
  Result.S = State::Ready;
  return Result;
}

const PchNames &LibraryPchs::namesOf(StringRef Key) {
  Entry &E = Known[Key.str()];
  if (!E.Names)
    E.Names = fromBytes<PchNames>(Folder.read(E.Pch->Facts.Names))
                  .value_or(PchNames());
  return *E.Names;
}

static bool isAmong(const std::vector<uint64_t> &Sorted, uint64_t Hash) {
  return std::binary_search(Sorted.begin(), Sorted.end(), Hash);
}

bool LibraryPchs::isUnaffectedByMacros(StringRef Key,
                                       const LibraryPrefix &Prefix) {
  const std::vector<uint64_t> &Names = namesOf(Key).Hashes;
  return !Names.empty() &&
         llvm::none_of(Prefix.Macros, [&](const LibraryPrefix::Macro &M) {
           return isAmong(Names, M.IsUndefined ? hashOfMacro(M.Name)
                                               : llvm::xxh3_64bits(M.Name));
         });
}

bool LibraryPchs::isUnaffectedByFolders(StringRef Key,
                                        const LibraryPrefix &Prefix) {
  const std::vector<uint64_t> &Names = namesOf(Key).Hashes;
  if (Names.empty())
    return false;
  for (const std::string &Path : Prefix.FolderPaths) {
    auto [It, New] = Listings.try_emplace(Path);
    std::error_code EC;
    if (New)
      for (fs::directory_iterator Entry(Path, EC), End; Entry != End && !EC;
           Entry.increment(EC))
        It->second.push_back(
            hashOfIncluded(llvm::sys::path::filename(Entry->path())));
    if (llvm::any_of(It->second,
                     [&](uint64_t Name) { return isAmong(Names, Name); }))
      return false;
  }
  return true;
}

const LibraryPch *LibraryPchs::fitting(const PchRecipe &Recipe) {
  return find(Recipe.Key) == State::Ready &&
                 isUnaffectedByMacros(Recipe.Key, Recipe.Prefix) &&
                 isUnaffectedByFolders(Recipe.Key, Recipe.Prefix)
             ? Known[Recipe.Key].Pch.get()
             : nullptr;
}

std::string LibraryPchs::notInFolders(StringRef Key,
                                      const LibraryPrefix &Prefix) {
  std::vector<FileStamp> Result;
  for (StringRef Path : Prefix.FolderPaths)
    for (const std::string &Name : namesOf(Key).Beginnings)
      Result.push_back(FileStamp::missing((Path + "/" + Name).str()));
  return FileSets::store(FileSets::pack(std::move(Result)), Folder);
}

void LibraryPchs::discard(StringRef Key) {
  // Processes that use it have it in memory.
  if (const auto Kept = factsOf(entryOf(Key), Folder))
    for (StringRef File : {Kept->Names, Kept->Output})
      Folder.remove(File);
  Folder.remove(entryOf(Key) + ".facts");
  Known[Key.str()] = Entry();
}

void LibraryPchs::removeOrphans() const {
  std::error_code EC;
  for (fs::directory_iterator It(Folder.pathOf("pch"), EC), End;
       It != End && !EC; It.increment(EC)) {
    StringRef Name = llvm::sys::path::filename(It->path());
    fs::file_status Status;
    // Another process may be making it.
    if ((!Name.ends_with(".pch") && !Name.ends_with(".names")) ||
        fs::status(It->path(), Status) ||
        Status.getLastModificationTime() + std::chrono::hours(1) >
            std::chrono::system_clock::now())
      continue;
    const std::string Of = entryOf(Name.split('-').first);
    const auto Kept = factsOf(Of, Folder);
    const std::string Entry = ("pch/" + Name).str();
    // What cannot be read may be another version's.
    if (Kept ? Entry != Kept->Names && Entry != Kept->Output
             : !fs::exists(Folder.pathOf(Of + ".facts")))
      fs::remove(It->path());
  }
}

bool LibraryPchs::wantedBefore(StringRef Key) {
  const std::string Mark = entryOf(Key) + ".wanted";
  if (Folder.read(Mark))
    return true;
  Folder.write(Mark, "");
  return false;
}

bool LibraryPchs::isToBeMade(StringRef Key) {
  forget(Key);
  if (find(Key) != State::Missing)
    return false;
  fs::file_status Status;
  if (fs::status(Folder.pathOf(BackgroundMaker::noteOf(Key)), Status))
    return true;
  // The clock can have been turned back.
  const auto Now = std::chrono::system_clock::now(),
             Tried = Status.getLastModificationTime();
  return Tried > Now || Tried + TryAgainAfter < Now;
}

bool LibraryPchs::build(
    const PchRecipe &Recipe,
    llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS) const {
  auto Probed = llvm::makeIntrusiveRefCnt<ProbedFileSystem>(std::move(FS));
  FS = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(Probed);
  // Names of its own: another process may be making the same.
  llvm::SmallString<128> Own;
  fs::createUniquePath(entryOf(Recipe.Key) + "-%%%%%%%%", Own,
                       /*MakeAbsolute=*/false);
  const std::string Output = (Own + ".pch").str(),
                    Names = (Own + ".names").str();
  const std::string Header = headerPath(Recipe.Key);
  const std::string Text = headerText(Recipe.Prefix);
  if (fs::create_directories(Folder.pathOf("pch")))
    return false;
  mountFile(*FS, Header, Text);

  CompileCommand Command(Recipe.Directory, Header, Recipe.Arguments, "");
  for (std::string &Argument : Command.CommandLine)
    if (Argument == Recipe.MainFile)
      Argument = Header;
  const OneCommand DB = ofHeader(std::move(Command));
  ClangTool Tool(DB, {Header}, std::make_shared<PCHContainerOperations>(), FS);
  Tool.clearArgumentsAdjusters();
  Tool.setPrintErrorMessage(false);
  IgnoringDiagConsumer Ignored;
  Tool.setDiagnosticConsumer(&Ignored);
  PchRecord Facts;
  Facts.Probed = Probed.get();
  Facts.Folders = Recipe.Prefix.Folders;
  PchActionFactory Factory(Folder.pathOf(Output), &Facts);
  if (Tool.run(&Factory))
    return false;

  std::optional<FileStamp> Stamp =
      stampOf(Folder.pathOf(Output), *llvm::vfs::getRealFileSystem());
  auto Content =
      llvm::MemoryBuffer::getFile(Folder.pathOf(Output), /*IsText=*/false,
                                  /*RequiresNullTerminator=*/false);
  if (!Stamp || !Content)
    return false;
  // The list of #includes itself counts as the user's. Anything else there is a
  // header whose findings would be lost. (What else was read belongs to the
  // flags, and each unit asks for it, too.)
  const bool Usable =
      llvm::all_of(Facts.Inputs.User,
                   [&](const PathAndText &F) { return F.first == Header; });
  Probed->complete(Facts.Inputs);
  for (std::string &Path : Facts.Inputs.Missing)
    Facts.Inputs.Library.push_back(FileStamp::missing(std::move(Path)));
  const std::string Files =
      FileSets::store(FileSets::pack(std::move(Facts.Inputs.Library)), Folder);
  if (Files.empty() || !Folder.write(Names, toBytes(Facts.Names)))
    return false;

  // Processes that use the old one have it in memory.
  const std::optional<PchFacts> Replaced = factsOf(entryOf(Recipe.Key), Folder);
  if (!Usable)
    Folder.remove(Output);
  if (!Folder.write(
          entryOf(Recipe.Key) + ".facts",
          toBytes(PchFacts{Usable, Files, Text, Names, Output, Stamp->Size,
                           Stamp->Changed,
                           llvm::xxh3_64bits((*Content)->getBuffer())})))
    return false;
  if (Replaced)
    for (StringRef Old : {Replaced->Names, Replaced->Output})
      Folder.remove(Old);
  Folder.remove(BackgroundMaker::noteOf(Recipe.Key));
  return true;
}

} // namespace libtorch_tidy::driver
