//===- Runner.cpp - The analysis of one translation unit ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/engine/Runner.h"
#include "analysis/cpp/Activity.h"
#include "analysis/cpp/Fields.h"
#include "analysis/cpp/Text.h"
#include "analysis/flow/Fixpoint.h"
#include "analysis/torch/api/Headers.h"
#include "analysis/torch/api/TorchTypes.h"
#include "checks/base/LibtorchCheck.h"
#include "checks/guards/Arbiter.h"
#include "clang-tidy/ClangTidy.h"
#include "clang-tidy/ClangTidyModule.h"
#include "driver/budget/BudgetReport.h"
#include "driver/cache/Archive.h"
#include "driver/engine/TidyFindings.h"
#include "driver/llvm/Compat.h"
#include "driver/pch/LibraryPch.h"
#include "driver/project/FileSystem.h"
#include "driver/project/HarmlessFlags.h"
#include "driver/project/Messages.h"
#include "driver/project/Paths.h"
#include "driver/project/Scope.h"
#include "driver/project/UnitInputs.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"

using namespace clang;
using namespace clang::tidy;
using namespace clang::tooling;
using llvm::IntrusiveRefCntPtr;
using llvm::StringRef;

namespace libtorch_tidy::driver {

namespace {

/// "clip at line 12", or "clip at ops.h:12" where that is in another file than
/// \p Loc.
std::string detailOf(const Because &Why, SourceLocation Loc,
                     const SourceManager &SM) {
  const SourceLocation At = SM.getFileLoc(Why.At);
  if (At.isInvalid())
    return Why.Detail;
  const bool IsHere = SM.getFileID(At) == SM.getFileID(SM.getFileLoc(Loc));
  return Why.Detail + (Why.Detail.empty() ? "" : " at ") +
         (IsHere ? "line " + std::to_string(SM.getSpellingLineNumber(At))
                 : cpp::lineOf(At, SM));
}

/// The constructors of \p Class as debug information names them.
std::string constructorOf(const CXXRecordDecl *Class) {
  PrintingPolicy Policy = Class->getASTContext().getPrintingPolicy();
  Policy.SuppressUnwrittenScope = true;
  std::string Name;
  llvm::raw_string_ostream Out(Name);
  Class->getNameForDiagnostic(Out, Policy, /*Qualified=*/true);
  Out << "::" << Class->getName();
  return Name;
}

/// Hears what the compiler and the checks say while a unit is analysed; which
/// of the findings are reported is clang-tidy's to decide.
class UnitListener : public FindingListener {
public:
  UnitListener(const Unit &U, const UnitOptions &Options, ToldWhenParsed Told,
               const LibraryPch *Pch, UnitInputs *Inputs, bool CompilerWarnings)
      : Options(Options), Told(Told), ReadAfter(U.ReadAfter), Pch(Pch),
        Inputs(Inputs), TakesFacts(Options.CollectFacts && !CompilerWarnings),
        TakesModels(Options.Budget && !CompilerWarnings),
        AsksWhy(Options.AsksWhy && !CompilerWarnings), Previous(install(this)) {
    Result.File = U.File;
  }
  ~UnitListener() override { install(Previous); }
  UnitListener(const UnitListener &) = delete;
  UnitListener &operator=(const UnitListener &) = delete;

  void heard(StringRef Check, const libtorch_tidy::Finding &F,
             SourceLocation Loc, const SourceManager &SM,
             bool IsTooWeak) override {
    auto [It, New] = Heard.try_emplace(
        {Check.str(), SM.getFilename(Loc).str(), SM.getFileOffset(Loc)},
        HeardFinding{Loc, F.Strength, IsTooWeak, {}, F.Bytes, {}, {}});
    auto LinesOf = [&](SourceRange R) {
      return R.isValid() ? std::optional(LineRange{
                               SM.getExpansionLineNumber(R.getBegin()),
                               SM.getExpansionLineNumber(R.getEnd())})
                         : std::nullopt;
    };
    if (F.Makes.isValid())
      It->second.MadeBy.Lines = LinesOf(F.Makes);
    if (F.Runs.isValid() || F.Makes.isValid())
      It->second.MadeBy.Runs = LinesOf(F.Runs.isValid() ? F.Runs : F.Makes);
    for (const CXXRecordDecl *Class : F.Keeps)
      It->second.MadeBy.Constructors.push_back(constructorOf(Class));
    for (const Step &S : F.Steps)
      if (const SourceLocation At = SM.getFileLoc(S.Loc);
          S.IsMember && At.isValid())
        It->second.Members.try_emplace(
            {SM.getFilename(At).str(), SM.getFileOffset(At)}, S.Text);
    // The first that is reported has the message.
    if (New || (It->second.IsTooWeak && !IsTooWeak)) {
      It->second.Bytes = F.Bytes;
      It->second.Reasons.clear();
      if (AsksWhy)
        for (const Because &Why : F.Reasons)
          It->second.Reasons.push_back(
              {Why.Row->Name.str(), detailOf(Why, Loc, SM)});
    }
    if (!New && F.Strength < It->second.Strength) {
      It->second.Strength = F.Strength;
      It->second.IsTooWeak = IsTooWeak;
    }
  }

  void silenced(SourceLocation Loc, Because Why) override {
    Silenced.emplace_back(Loc, std::move(Why));
  }
  bool asksWhy() const override { return AsksWhy; }

  /// After the checks: looks up the functions around what they found, whether
  /// there was anything to find, and what other units ask for.
  void checked(ASTContext &Context, bool IsLibrary) {
    // Only what was included can be missed.
    Result.LacksTorch = Result.LacksTorch && !torch::declaresTorch(Context);
    takeSilences(Context.getSourceManager());
    if (!Heard.empty() || !NolintFiles.empty()) {
      const EnclosingFunctions Functions(Context);
      for (auto &[Key, Said] : Heard)
        Said.Function = Functions.at(Said.Loc);
      nameFunctions(NolintFiles, Context.getSourceManager(), Functions);
    }
    if (!TakesFacts)
      return;
    flow::UnitModel &Unit = flow::UnitModel::of(Context);
    if (Unit.errors().areInFunctions())
      Result.Facts =
          flow::factsOf(Unit, Arbiter::of(Context).reported(), IsLibrary);
  }

  // How the unit is run.
  const UnitOptions &Options;
  const ToldWhenParsed Told;                   ///< See analyse().
  const llvm::ArrayRef<std::string> ReadAfter; ///< See Unit.
  const LibraryPch *const Pch;                 ///< Or null, as Inputs.
  UnitInputs *const Inputs;
  const bool TakesFacts, TakesModels; ///< TakesModels: and no findings.
  const bool AsksWhy;
  IntrusiveRefCntPtr<ProbedFileSystem> Probed; ///< Goes with Inputs.
  unsigned OwnText = 0;                        ///< See bytes::elaborate().

  // What is heard of it.
  UnitResult Result;
  bool Begun = false; ///< The parser met the first file.
  flow::Cost Spent;
  HeardFindings Heard;
  std::vector<NolintFile> NolintFiles;

private:
  void takeSilences(const SourceManager &SM) {
    for (const auto &[Said, Why] : Silenced) {
      const SourceLocation Loc = SM.getFileLoc(Said);
      const CatalogEntry *Check = findCheckWith(*Why.Row);
      if (Loc.isInvalid() || !Check)
        continue;
      Silence &S = Result.Silences.emplace_back();
      S.Check = Check->Name.str();
      S.Where.Spelled = SM.getFilename(Loc).str();
      S.Where.Line = SM.getSpellingLineNumber(Loc);
      S.Why = {Why.Row->Name.str(), detailOf(Why, Loc, SM)};
    }
  }

  std::vector<std::pair<SourceLocation, Because>> Silenced;
  FindingListener *const Previous;
};

/// Records how far the compiler has come, for reports of crashes and timeouts.
class ParseWatch : public ASTConsumer {
public:
  ParseWatch() { cpp::Activity::say("the compiler"); }

  bool HandleTopLevelDecl(DeclGroupRef Group) override {
    for (const Decl *D : Group)
      if (const auto *Named = dyn_cast<NamedDecl>(D))
        if (D->getASTContext().getSourceManager().isWrittenInMainFile(
                D->getLocation()))
          cpp::Activity::say("the compiler, after '" +
                             Named->getQualifiedNameAsString() + "'");
    return true;
  }
};

/// Comes between the parser and the checks.
class ParsedConsumer : public ASTConsumer {
public:
  explicit ParsedConsumer(ToldWhenParsed Told) : Told(Told) {}

  void HandleTranslationUnit(ASTContext &Context) override {
    flow::ProgramFacts::tell(Context, Told());
    cpp::Activity::say("the checks");
  }

private:
  const ToldWhenParsed Told;
};

/// Notes that the parser has begun, and whether a header is included that is
/// called like one of LibTorch's.
class IncludeWatch : public PPCallbacks {
public:
  explicit IncludeWatch(UnitListener &To) : To(To) {}

  void FileChanged(SourceLocation, FileChangeReason, SrcMgr::CharacteristicKind,
                   FileID) override {
    To.Begun = true;
  }
  void InclusionDirective(SourceLocation, const Token &, StringRef FileName,
                          bool, CharSourceRange, OptionalFileEntryRef,
                          StringRef, StringRef, const Module *, bool,
                          SrcMgr::CharacteristicKind) override {
    To.Result.LacksTorch |= torch::namesTorchHeader(
        llvm::sys::path::remove_leading_dotslash(FileName));
  }

private:
  UnitListener &To;
};

/// A header without an include guard that one of the files of ReadAfter, or the
/// unit, has included is not included again by those that follow: each of them
/// alone includes it once.
class HeadersOnce : public PPCallbacks {
public:
  HeadersOnce(Preprocessor &PP, unsigned OwnText) : PP(PP), OwnText(OwnText) {}

  void InclusionDirective(SourceLocation Hash, const Token &, StringRef, bool,
                          CharSourceRange, OptionalFileEntryRef File, StringRef,
                          StringRef, const Module *, bool,
                          SrcMgr::CharacteristicKind Kind) override {
    const SourceManager &SM = PP.getSourceManager();
    if (SM.isInMainFile(Hash) && SM.getFileOffset(Hash) >= OwnText) {
      for (const auto &[Header, Times] : Included)
        if (Times == 1)
          PP.getHeaderSearchInfo().MarkFileIncludeOnce(Header);
      Included.clear();
    } else if (File && !SrcMgr::isSystem(Kind) &&
               llvm::sys::path::extension(File->getName()).starts_with(".h")) {
      ++Included.try_emplace(*File).first->second;
    }
  }

private:
  Preprocessor &PP;
  const unsigned OwnText;
  llvm::DenseMap<FileEntryRef, unsigned> Included;
};

/// CMake defines <target>_EXPORTS when it compiles a shared library (property
/// DEFINE_SYMBOL).
static bool isOfSharedLibrary(const PreprocessorOptions &Options) {
  return llvm::any_of(Options.Macros, [](const auto &Macro) {
    const bool IsUndef = Macro.second;
    return !IsUndef &&
           StringRef(Macro.first).split('=').first.ends_with("_EXPORTS");
  });
}

/// Comes after the checks.
class CheckedConsumer : public ASTConsumer {
public:
  CheckedConsumer(UnitListener &To, bool IsLibrary)
      : To(To), IsLibrary(IsLibrary) {}

  void HandleTranslationUnit(ASTContext &Context) override {
    To.checked(Context, IsLibrary);
  }

private:
  UnitListener &To;
  const bool IsLibrary;
};

/// Runs the checks after the narrowing of the scope.
class TidyAction : public ASTFrontendAction {
public:
  TidyAction(ClangTidyASTConsumerFactory &Factory, ClangTidyContext &Context,
             UnitListener &To)
      : Factory(Factory), Context(Context), To(To) {}

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &Compiler,
                                                 StringRef File) override {
    ASTContext &AST = Compiler.getASTContext();
    flow::Cost::countIn(AST, To.Spent);
    Preprocessor &PP = Compiler.getPreprocessor();
    if (To.Inputs)
      PP.addPPCallbacks(recordInputs(Compiler, *To.Inputs));
    PP.addPPCallbacks(std::make_unique<IncludeWatch>(To));
    if (!To.ReadAfter.empty())
      PP.addPPCallbacks(std::make_unique<HeadersOnce>(PP, To.OwnText));
    PP.addPPCallbacks(
        recordNolintFiles(Compiler.getSourceManager(), To.NolintFiles));
    std::vector<std::unique_ptr<ASTConsumer>> Consumers;
    Consumers.push_back(std::make_unique<ParseWatch>());
    if (To.Options.UseScope)
      Consumers.push_back(createScopeConsumer(Compiler.getSourceManager()));
    Consumers.push_back(std::make_unique<ParsedConsumer>(To.Told));
    if (To.TakesModels) {
      // What the factory does for the diagnostics.
      Context.setSourceManager(&Compiler.getSourceManager());
      Context.setCurrentFile(File);
      Context.setASTContext(&AST);
      Consumers.push_back(createBudgetConsumer(*To.Options.Budget, To.OwnText,
                                               To.Result.Budget));
    } else {
      Consumers.push_back(Factory.createASTConsumer(Compiler, File));
    }
    Consumers.push_back(std::make_unique<CheckedConsumer>(
        To, isOfSharedLibrary(Compiler.getPreprocessorOpts())));
    return std::make_unique<MultiplexConsumer>(std::move(Consumers));
  }

private:
  ClangTidyASTConsumerFactory &Factory;
  ClangTidyContext &Context;
  UnitListener &To;
};

/// Has \p More read at the end of the unit. Returns the bytes of its own text.
static unsigned readAfter(CompilerInvocation &Invocation, FileManager &Files,
                          llvm::ArrayRef<std::string> More) {
  const StringRef Main = Invocation.getFrontendOpts().Inputs.front().getFile();
  auto Own = Files.getBufferForFile(Main);
  if (More.empty() || !Own)
    return std::numeric_limits<unsigned>::max();
  std::string Text = (*Own)->getBuffer().str();
  for (StringRef File : More)
    Text += ("\n#include \"" + File + "\"").str();
  Text += '\n';
  Invocation.getPreprocessorOpts().addRemappedFile(
      Main, llvm::MemoryBuffer::getMemBufferCopy(Text, Main).release());
  return static_cast<unsigned>((*Own)->getBufferSize());
}

class TidyActionFactory : public FrontendActionFactory {
public:
  TidyActionFactory(ClangTidyContext &Context,
                    IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS,
                    UnitListener &To)
      : Factory(Context, std::move(FS)), Context(Context), To(To) {}

  std::unique_ptr<FrontendAction> create() override {
    return std::make_unique<TidyAction>(Factory, Context, To);
  }

  bool runInvocation(std::shared_ptr<CompilerInvocation> Invocation,
                     FileManager *Files,
                     std::shared_ptr<PCHContainerOperations> PCHOps,
                     DiagnosticConsumer *Consumer) override {
    if (To.Probed)
      To.Probed->driverEnded();
    keepParsingOnly(*Invocation);
    // As clang-tidy does: code may ask for __clang_analyzer__.
    Invocation->getPreprocessorOpts().SetUpStaticAnalyzer = true;
    Invocation->getFrontendOpts().SkipFunctionBodies = To.Options.UseScope;
    // As a rule the process ends with the unit.
    Invocation->getFrontendOpts().DisableFree = !To.Options.FreesMemory;
    if (To.Pch)
      Invocation->getPreprocessorOpts().ImplicitPCHInclude = To.Pch->Path;
    // Else the compiler counts "N warnings generated" on the standard error.
    Invocation->getDiagnosticOpts().ShowCarets = false;
    auto Seen = filesOf(*Invocation, *Files, Consumer);
    To.OwnText = readAfter(*Invocation, *Seen, To.ReadAfter);
    return FrontendActionFactory::runInvocation(
        std::move(Invocation), Seen.get(), std::move(PCHOps), Consumer);
  }

private:
  ClangTidyASTConsumerFactory Factory;
  ClangTidyContext &Context;
  UnitListener &To;
};

} // namespace

ArgumentsAdjuster addExtraArgs(const ExtraArguments &Extra) {
  return combineAdjusters(
      getInsertArgumentAdjuster(Extra.Before, ArgumentInsertPosition::BEGIN),
      getInsertArgumentAdjuster(Extra.After, ArgumentInsertPosition::END));
}

CommandLineArguments argumentsOf(const Unit &U, const ExtraArguments &Extra,
                                 const ClangTidyOptions &FileOptions,
                                 const ArgumentsAdjuster &MakeOurs) {
  const std::vector<std::string> None;
  ArgumentsAdjuster All = getClangStripOutputAdjuster();
  for (const ArgumentsAdjuster &Next :
       {getClangSyntaxOnlyAdjuster(), getClangStripDependencyFileAdjuster(),
        addExtraArgs(Extra),
        addExtraArgs({FileOptions.ExtraArgsBefore.value_or(None),
                      FileOptions.ExtraArgs.value_or(None)}),
        getStripPluginsAdjuster()})
    All = combineAdjusters(std::move(All), Next);
  return MakeOurs(All(U.Command.CommandLine, U.Command.Filename),
                  U.Command.Directory);
}

/// What the flow model did, after clang-tidy's own table of the checks.
static void printCost(StringRef File, const flow::Cost &Cost) {
  llvm::errs() << "libtorch-tidy: flow model of '" << printable(File)
               << "': " << Cost.Functions << " functions analysed, "
               << Cost.Skipped << " without tensors, " << Cost.GivenUp.size()
               << " given up; " << Cost.Visits << " blocks evaluated in "
               << llvm::format("%.3f", Cost.Seconds) << " s\n";
}

/// Calls \p Do for all places in \p Value, in its parts and in theirs.
template <typename T, typename Function>
static void forEachSpot(T &Value, Function Do) {
  if constexpr (std::is_same_v<T, bytes::Spot>)
    Do(Value);
  else if constexpr (std::is_aggregate_v<T>)
    std::apply([&](auto &...Field) { (forEachSpot(Field, Do), ...); },
               cpp::fieldsOf(Value));
  else if constexpr (llvm::is_detected<BeginOf, T>::value)
    for (auto &Element : Value)
      forEachSpot(Element, Do);
}

static bool isCompileError(const Finding &F) {
  return F.Kind == FindingKind::CompileError;
}

namespace {

/// Also keeps the first error: clang-tidy orders them by their places.
class UnitConsumer : public ClangTidyDiagnosticConsumer {
public:
  using ClangTidyDiagnosticConsumer::ClangTidyDiagnosticConsumer;

  void HandleDiagnostic(DiagnosticsEngine::Level Level,
                        const clang::Diagnostic &Said) override {
    if (Level >= DiagnosticsEngine::Error && FirstError.empty())
      Said.FormatDiagnostic(FirstError);
    ClangTidyDiagnosticConsumer::HandleDiagnostic(Level, Said);
  }

  llvm::SmallString<128> FirstError;
};

} // namespace

/// The tool fails on every error, also on that of a malformed NOLINT comment,
/// and in silence when the unit could not even be started.
static bool isFailure(llvm::ArrayRef<Finding> Findings, bool ToolFailed) {
  return llvm::any_of(Findings, isCompileError) ||
         (ToolFailed &&
          llvm::none_of(Findings, [](const Finding &F) { return F.IsError; }));
}

/// Can the precompiled header be the reason? A unit that is broken by itself
/// has errors without a place, too.
static bool blamesPch(const Finding &F) {
  StringRef Message = F.Message;
  return isCompileError(F) && F.Where.Path.empty() &&
         (Message.contains("AST file") || Message.contains("PCH") ||
          Message.contains("precompiled"));
}

/// What the analysis of \p U gave up, in files that are reported on.
static std::vector<GivenUpFunction>
givenUpIn(const Unit &U, StringRef CanonicalUnit, const Configuration &Config,
          const flow::Cost &Spent, llvm::vfs::FileSystem &FS) {
  std::vector<GivenUpFunction> Result;
  for (const flow::Cost::Function &F : Spent.GivenUp) {
    GivenUpFunction Given;
    Given.Name = F.Name;
    Given.Where.Path = canonicalPath(F.File, U.Command.Directory, FS);
    Given.Where.Spelled = F.File;
    Given.Where.Line = F.Line;
    if (Given.Where.Path == CanonicalUnit || Config.filterTakes(U.File, F.File))
      Result.push_back(std::move(Given));
  }
  return Result;
}

UnitResult analyse(const Unit &U, const CommandLineArguments &Arguments,
                   const UnitOptions &Options, const Configuration &Config,
                   ToldWhenParsed Told, FileSystem FS, const LibraryPch *Pch,
                   UnitInputs *Inputs, bool CompilerWarnings) {
  UnitListener Listener(U, Options, Told, Pch, Inputs, CompilerWarnings);
  UnitResult &Result = Listener.Result;
  if (Inputs) {
    Listener.Probed = new ProbedFileSystem(std::move(FS));
    FS = new llvm::vfs::OverlayFileSystem(Listener.Probed);
  }
  if (Pch)
    Pch->mount(*FS);

  ClangTidyContext Context(Config.createProvider(FS, CompilerWarnings));
  Context.setEnableProfiling(Options.Stats);
  CompileCommand Command = U.Command;
  Command.CommandLine = Arguments;
  const OneCommand DB(std::move(Command));
  ClangTool Tool(DB, {Result.File}, std::make_shared<PCHContainerOperations>(),
                 FS);
  Tool.clearArgumentsAdjusters();
  Tool.setPrintErrorMessage(false);

  // The consumer takes the header filters of the file that is current when it
  // is made; without one that would be the working directory.
  Context.setCurrentFile(Result.File);
  UnitConsumer Consumer(Context);
  const compat::Diagnostics Engine(&Consumer, /*OwnsConsumer=*/false);
  compat::setDiagnostics(Context, Engine);
  Tool.setDiagnosticConsumer(&Consumer);
  TidyActionFactory Factory(Context, FS, Listener);
  const bool ToolFailed = Tool.run(&Factory) != 0;
  if (Inputs)
    Listener.Probed->complete(*Inputs);
  std::vector<NolintAudit::Heard> Unreported;
  Result.Findings = toFindings(Consumer.take(), Listener.Heard, FS, Unreported);
  Result.Nolint = nolintView(U, std::move(Listener.NolintFiles),
                             std::move(Unreported), Config, *FS);
  Result.Failed = isFailure(Result.Findings, ToolFailed);
  if (auto First = llvm::find_if(Result.Findings,
                                 [&](const Finding &F) {
                                   return isCompileError(F) &&
                                          F.Message ==
                                              Consumer.FirstError.str();
                                 });
      First != Result.Findings.end())
    std::rotate(Result.Findings.begin(), First, std::next(First));
  Result.PchRejected =
      Pch && Result.Failed &&
      (!Listener.Begun || llvm::any_of(Result.Findings, blamesPch));
  forEachSpot(Result.Budget, [&](bytes::Spot &At) {
    if (!At.File.empty())
      At.File = canonicalPath(At.File, U.Command.Directory, *FS);
  });
  for (Silence &S : Result.Silences)
    S.Where.Path = canonicalPath(S.Where.Spelled, U.Command.Directory, *FS);
  Result.Stats = Context.getStats();
  Result.GivenUp =
      givenUpIn(U, Result.Nolint.Unit, Config, Listener.Spent, *FS);
  if (Options.Stats && !CompilerWarnings)
    printCost(Result.File, Listener.Spent);
  return std::move(Result);
}

} // namespace libtorch_tidy::driver
