//===- Runner.cpp - The analysis of one translation unit ------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/engine/Runner.h"
#include "checks/LibtorchCheck.h"
#include "checks/flow/UnitModel.h"
#include "clang-tidy/ClangTidy.h"
#include "clang-tidy/ClangTidyModule.h"
#include "driver/engine/Scope.h"
#include "driver/engine/UnitInputs.h"
#include "driver/pch/LibraryPch.h"
#include "driver/project/HarmlessFlags.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"

using namespace clang;
using namespace clang::tidy;
using namespace clang::tooling;
using llvm::IntrusiveRefCntPtr;
using llvm::StringRef;

namespace libtorch_tidy::driver {

using DriverFinding = libtorch_tidy::driver::Finding;

namespace {

/// Writes down what checks say of their findings' strength.
class LevelRecorder : public LevelListener {
public:
  explicit LevelRecorder(LevelMap &Levels)
      : Levels(Levels), Previous(install(this)) {}
  ~LevelRecorder() override { install(Previous); }
  LevelRecorder(const LevelRecorder &) = delete;
  LevelRecorder &operator=(const LevelRecorder &) = delete;

  void heard(StringRef Check, StringRef Path, unsigned Offset,
             Level Strength) override {
    auto [It, New] =
        Levels.try_emplace({Check.str(), Path.str(), Offset}, Strength);
    if (!New)
      It->second = std::min(It->second, Strength);
  }

private:
  LevelMap &Levels;
  LevelListener *Previous;
};

/// Writes down where NOLINT comments are, and what the unit does not see.
class NolintRecorder : public PPCallbacks {
public:
  NolintRecorder(const SourceManager &SM, std::vector<NolintFile> &Result)
      : SM(SM), Library(SM), Result(Result) {}

  void FileChanged(SourceLocation Loc, FileChangeReason Reason,
                   SrcMgr::CharacteristicKind, FileID) override {
    if (Reason != EnterFile || Library.contains(Loc))
      return;
    const FileID File = SM.getFileID(Loc);
    if (!SM.getFileEntryRefForID(File) ||
        !SM.getBufferData(File).contains("NOLINT"))
      return;
    Index[File] = Result.size();
    Result.push_back({SM.getFilename(Loc).str(), {}});
  }

  void SourceRangeSkipped(SourceRange Range, SourceLocation) override {
    auto It = Index.find(SM.getFileID(Range.getBegin()));
    if (It != Index.end())
      Result[It->second].Skipped.emplace_back(
          SM.getFileOffset(Range.getBegin()), SM.getFileOffset(Range.getEnd()));
  }

private:
  const SourceManager &SM;
  LibraryCode Library;
  std::vector<NolintFile> &Result;
  llvm::DenseMap<FileID, size_t> Index;
};

/// A database of one command.
class OneCommand : public CompilationDatabase {
public:
  explicit OneCommand(const CompileCommand &Command) : Command(Command) {}
  std::vector<CompileCommand> getCompileCommands(StringRef) const override {
    return {Command};
  }

private:
  const CompileCommand &Command;
};

/// How a unit is run.
struct Manner {
  bool UseScope = true;
  const LibraryPch *Pch = nullptr;
  UnitInputs *Inputs = nullptr;
  llvm::StringSet<> *Includes = nullptr; ///< Goes with Inputs.
  std::vector<NolintFile> *NolintFiles = nullptr;
};

/// Runs the checks behind the narrowing of the scope.
class TidyAction : public ASTFrontendAction {
public:
  TidyAction(ClangTidyASTConsumerFactory &Factory, const Manner &How)
      : Factory(Factory), How(How) {}

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &Compiler,
                                                 StringRef File) override {
    if (How.Inputs)
      Compiler.getPreprocessor().addPPCallbacks(
          recordInputs(Compiler, *How.Inputs, *How.Includes));
    Compiler.getPreprocessor().addPPCallbacks(std::make_unique<NolintRecorder>(
        Compiler.getSourceManager(), *How.NolintFiles));
    std::vector<std::unique_ptr<ASTConsumer>> Consumers;
    if (How.UseScope)
      Consumers.push_back(createScopeConsumer(Compiler.getSourceManager()));
    Consumers.push_back(Factory.createASTConsumer(Compiler, File));
    return std::make_unique<MultiplexConsumer>(std::move(Consumers));
  }

private:
  ClangTidyASTConsumerFactory &Factory;
  const Manner &How;
};

class TidyActionFactory : public FrontendActionFactory {
public:
  TidyActionFactory(ClangTidyContext &Context,
                    IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS,
                    const Manner &How)
      : Factory(Context, std::move(FS)), How(How) {}

  std::unique_ptr<FrontendAction> create() override {
    return std::make_unique<TidyAction>(Factory, How);
  }

  bool runInvocation(std::shared_ptr<CompilerInvocation> Invocation,
                     FileManager *Files,
                     std::shared_ptr<PCHContainerOperations> PCHOps,
                     DiagnosticConsumer *Consumer) override {
    keepParsingOnly(*Invocation);
    // As clang-tidy does: code may ask for __clang_analyzer__.
    Invocation->getPreprocessorOpts().SetUpStaticAnalyzer = true;
    Invocation->getFrontendOpts().SkipFunctionBodies = How.UseScope;
    // The process ends with the unit.
    Invocation->getFrontendOpts().DisableFree = true;
    if (How.Pch)
      Invocation->getPreprocessorOpts().ImplicitPCHInclude = How.Pch->Path;
    // Else the compiler counts "N warnings generated" on the standard error.
    Invocation->getDiagnosticOpts().ShowCarets = false;
    return FrontendActionFactory::runInvocation(std::move(Invocation), Files,
                                                std::move(PCHOps), Consumer);
  }

private:
  ClangTidyASTConsumerFactory Factory;
  const Manner &How;
};

} // namespace

FindingKind kindOf(const ClangTidyError &Error) {
  StringRef Name = Error.DiagnosticName;
  if (Name.starts_with("clang-diagnostic-"))
    return FindingKind::CompileError;
  // clang-tidy-config, clang-tidy-nolint.
  if (Name.starts_with("clang-tidy-"))
    return FindingKind::Configuration;
  return FindingKind::Defect;
}

ArgumentsAdjuster addExtraArgs(const CommandLine &Options) {
  return combineAdjusters(
      getInsertArgumentAdjuster(Options.ExtraArgsBefore,
                                ArgumentInsertPosition::BEGIN),
      getInsertArgumentAdjuster(Options.ExtraArgs,
                                ArgumentInsertPosition::END));
}

CommandLineArguments argumentsOf(const Unit &U, const CommandLine &Options,
                                 const ClangTidyOptions &FileOptions,
                                 const ArgumentsAdjuster &MakeOurs) {
  ArgumentsAdjuster All =
      combineAdjusters(combineAdjusters(getClangStripOutputAdjuster(),
                                        getClangSyntaxOnlyAdjuster()),
                       getClangStripDependencyFileAdjuster());
  All = combineAdjusters(std::move(All), addExtraArgs(Options));
  if (FileOptions.ExtraArgsBefore)
    All = combineAdjusters(std::move(All), getInsertArgumentAdjuster(
                                               *FileOptions.ExtraArgsBefore,
                                               ArgumentInsertPosition::BEGIN));
  if (FileOptions.ExtraArgs)
    All = combineAdjusters(
        std::move(All), getInsertArgumentAdjuster(*FileOptions.ExtraArgs,
                                                  ArgumentInsertPosition::END));
  All = combineAdjusters(std::move(All), getStripPluginsAdjuster());
  return MakeOurs(All(U.Command.CommandLine, U.Command.Filename),
                  U.Command.Directory);
}

/// What the flow model did, after clang-tidy's own table of the checks.
static void printCost(StringRef File, const flow::Cost &Cost) {
  llvm::errs() << "libtorch-tidy: flow model of '" << File
               << "': " << Cost.Functions << " functions analysed, "
               << Cost.Skipped << " without tensors, " << Cost.GivenUp.size()
               << " given up; " << Cost.Visits << " blocks evaluated in "
               << llvm::format("%.3f", Cost.Seconds) << " s\n";
  for (const std::string &Name : Cost.GivenUp)
    llvm::errs() << "libtorch-tidy: given up: '" << Name << "'\n";
}

UnitResult analyse(const Unit &U, const CommandLineArguments &Arguments,
                   const CommandLine &Options, const Configuration &Config,
                   IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS,
                   const LibraryPch *Pch, UnitInputs *Inputs,
                   bool CompilerWarnings) {
  UnitResult Result;
  Result.File = U.File;
  Manner How;
  How.UseScope = Options.UseScope;
  How.Pch = Pch;
  How.NolintFiles = &Result.NolintFiles;
  IntrusiveRefCntPtr<ProbedFileSystem> Probed;
  llvm::StringSet<> Includes;
  if (Inputs) {
    How.Inputs = Inputs;
    How.Includes = &Includes;
    Probed = new ProbedFileSystem(std::move(FS));
    FS = new llvm::vfs::OverlayFileSystem(Probed);
  }
  if (Pch)
    Pch->mount(*FS);

  ClangTidyContext Context(Config.createProvider(FS, CompilerWarnings));
  Context.setEnableProfiling(Options.Stats);
  flow::Cost::ofThisThread() = flow::Cost();
  CompileCommand Command = U.Command;
  Command.CommandLine = Arguments;
  OneCommand DB(Command);
  ClangTool Tool(DB, {Result.File}, std::make_shared<PCHContainerOperations>(),
                 FS);
  Tool.clearArgumentsAdjusters();
  Tool.setPrintErrorMessage(false);

  ClangTidyDiagnosticConsumer Consumer(Context);
  DiagnosticsEngine Engine(new DiagnosticIDs, new DiagnosticOptions, &Consumer,
                           /*ShouldOwnClient=*/false);
  Context.setDiagnosticsEngine(&Engine);
  Tool.setDiagnosticConsumer(&Consumer);
  TidyActionFactory Factory(Context, FS, How);
  bool ToolFailed;
  {
    LevelRecorder Recorder(Result.Levels);
    ToolFailed = Tool.run(&Factory) != 0;
  }
  Result.Errors = Consumer.take();
  // The tool fails on every error, also on that of a malformed NOLINT comment,
  // and in silence when the unit could not even be started.
  auto IsError = [](const ClangTidyError &E) {
    return E.DiagLevel == ClangTidyError::Error;
  };
  Result.Failed = llvm::any_of(Result.Errors,
                               [](const ClangTidyError &E) {
                                 return kindOf(E) == FindingKind::CompileError;
                               }) ||
                  (ToolFailed && llvm::none_of(Result.Errors, IsError));
  // Of all that the compiler says, what is wrong with a precompiled header has
  // no place.
  Result.PchRejected =
      Pch && Result.Failed &&
      (Result.Errors.empty() ||
       llvm::any_of(Result.Errors, [](const ClangTidyError &E) {
         return kindOf(E) == FindingKind::CompileError &&
                E.Message.FilePath.empty();
       }));
  Result.Stats = Context.getStats();
  if (Options.Stats && !CompilerWarnings)
    printCost(Result.File, flow::Cost::ofThisThread());
  if (Inputs)
    Inputs->Missing = Probed->missing(Includes);
  return Result;
}

std::string canonicalPath(StringRef Path, StringRef Folder,
                          llvm::vfs::FileSystem &FS) {
  if (Path.empty())
    return {};
  llvm::SmallString<256> Absolute(Path);
  if (!Folder.empty())
    llvm::sys::fs::make_absolute(Folder, Absolute);
  FS.makeAbsolute(Absolute);
  llvm::sys::path::remove_dots(Absolute, /*remove_dot_dot=*/false);
  llvm::SmallString<256> Real;
  // Files that exist in an overlay only have no real path.
  if (!FS.getRealPath(Absolute, Real) && !Real.empty())
    return Real.str().str();
  llvm::sys::path::remove_dots(Absolute, /*remove_dot_dot=*/true);
  return Absolute.str().str();
}

/// One behind the token that starts at \p Offset; \p Offset itself between
/// tokens, where the compiler misses one.
static unsigned endOfToken(const SourceText &Text, unsigned Offset) {
  StringRef Buffer = Text.text();
  if (Offset >= Buffer.size() || llvm::isSpace(Buffer[Offset]))
    return std::min<size_t>(Offset, Buffer.size());
  LangOptions Language;
  Language.CPlusPlus = Language.CPlusPlus11 = Language.CPlusPlus14 =
      Language.CPlusPlus17 = Language.Bool = true;
  Lexer Raw(SourceLocation(), Language, Buffer.begin(), Buffer.begin() + Offset,
            Buffer.end());
  Token Tok;
  Raw.LexFromRawLexer(Tok);
  return std::min<size_t>(Offset + std::max(Tok.getLength(), 1U),
                          Buffer.size());
}

static Place placeOf(StringRef Path, unsigned Begin, unsigned Length,
                     SourceTexts &Texts) {
  Place Result;
  Result.Path = Path.str();
  Result.Begin = Begin;
  Result.End = Begin + Length;
  if (const SourceText *Text = Texts.get(Path)) {
    auto Position = Text->position(Begin);
    Result.Line = Position.Line;
    Result.Column = Position.Column;
  }
  return Result;
}

/// Where a message points: to the end of the highlighted range around it, or
/// of the token there.
static Place placeOf(const DiagnosticMessage &Message, StringRef Folder,
                     llvm::vfs::FileSystem &FS, SourceTexts &Texts) {
  std::string Path = canonicalPath(Message.FilePath, Folder, FS);
  if (Path.empty())
    return {};
  unsigned End = 0;
  for (const FileByteRange &Range : Message.Ranges)
    if (Range.FileOffset <= Message.FileOffset &&
        Message.FileOffset < Range.FileOffset + Range.Length &&
        canonicalPath(Range.FilePath, Folder, FS) == Path)
      End = std::max(End, Range.FileOffset + Range.Length);
  if (!End)
    if (const SourceText *Text = Texts.get(Path))
      End = endOfToken(*Text, Message.FileOffset);
  End = std::max(End, Message.FileOffset);
  return placeOf(Path, Message.FileOffset, End - Message.FileOffset, Texts);
}

std::vector<DriverFinding> toFindings(const UnitResult &Unit,
                                      size_t FirstOrigin,
                                      llvm::vfs::FileSystem &FS,
                                      SourceTexts &Texts) {
  std::vector<DriverFinding> Result;
  for (const ClangTidyError &Error : Unit.Errors) {
    DriverFinding F;
    F.Kind = kindOf(Error);
    F.Check = Error.DiagnosticName;
    F.AsError = Error.IsWarningAsError;
    F.Message = Error.Message.Message;
    F.Where = placeOf(Error.Message, Error.BuildDirectory, FS, Texts);
    F.Origin = FirstOrigin + Result.size();
    if (const CatalogEntry *Entry = findInCatalog(F.Check))
      F.Strength = Entry->StrongestLevel;
    auto It = Unit.Levels.find(
        {F.Check, Error.Message.FilePath, Error.Message.FileOffset});
    if (It != Unit.Levels.end())
      F.Strength = It->second;
    for (const DiagnosticMessage &Note : Error.Notes)
      F.Steps.push_back(
          {placeOf(Note, Error.BuildDirectory, FS, Texts), Note.Message});
    for (const auto &File : Error.Message.Fix)
      for (const Replacement &R : File.second)
        F.Fix.push_back(
            {placeOf(canonicalPath(R.getFilePath(), Error.BuildDirectory, FS),
                     R.getOffset(), R.getLength(), Texts),
             R.getReplacementText().str()});
    if (!Unit.Trials.empty()) {
      const FixTrial &Trial = Unit.Trials[&Error - Unit.Errors.data()];
      F.Verdict = Trial.Alone.What;
      F.WhyNot = Trial.Alone.Reason;
      F.NotWithOthers = Trial.NotWithOthers;
    }
    // The engine keeps files in a hash table.
    llvm::stable_sort(F.Fix, [](const Edit &A, const Edit &B) {
      return std::tie(A.Where.Path, A.Where.Begin) <
             std::tie(B.Where.Path, B.Where.Begin);
    });
    Result.push_back(std::move(F));
  }
  return Result;
}

} // namespace libtorch_tidy::driver
