//===- DocumentAnalysis.cpp - What is to be said of a document ------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/lsp/DocumentAnalysis.h"
#include "analysis/flow/Fixpoint.h"
#include "driver/output/CheckDocs.h"
#include "driver/output/Reports.h"
#include "driver/project/Paths.h"
#include "fixits/Verifier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <unistd.h>

using clang::tooling::Replacement;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace libtorch_tidy::driver::lsp {

namespace {

/// Writes findings as the protocol has them.
class Writer {
public:
  Writer(const Question &Q, SourceTexts &Texts) : Q(Q), Texts(Texts) {
    Files[Q.File] = Json::array();
  }

  void add(const Finding &F);
  void add(const GivenUpFunction &F);
  void addAboutFile(StringRef Message, Severity How) {
    Files[Q.File].push_back({{"diagnostic", diagnosticOfFile(Message, How)}});
  }
  void addNote(std::string Text) { Notes.push_back(std::move(Text)); }
  /// There are fixes to try.
  void sayUntried() { Untried = true; }
  void sayFailed() { Failed = true; }
  std::string text();

private:
  Json range(const Place &Where);
  Json uri(StringRef Path) const;
  Json diagnostic(const Finding &F);
  Json edits(const fixits::FileEdits &Fix);
  Json fix(const Finding &F);

  const Question &Q;
  SourceTexts &Texts;
  std::map<std::string, Json> Files;
  fixits::FileEdits All;
  bool Untried = false, Failed = false;
  Json Notes = Json::array();
};

} // namespace

static Severity severityOf(const Finding &F) {
  if (F.IsError || F.AsError)
    return Severity::Error;
  if (F.Kind == FindingKind::Defect && F.Strength == Level::Advisory)
    return Severity::Information;
  return Severity::Warning;
}

/// The compiler speaks of a byte: its name, or that character.
static unsigned endOfWord(StringRef Text, unsigned Begin) {
  StringRef Rest = Text.substr(Begin);
  const size_t Length =
      Rest.take_while([](char C) { return llvm::isAlnum(C) || C == '_'; })
          .size();
  if (Length)
    return Begin + Length;
  return Begin + (!Rest.empty() && llvm::isPrint(Rest.front()));
}

Json Writer::range(const Place &Where) {
  const SourceText *Text = Texts.get(Where.Path);
  if (!Text)
    return nullptr;
  const unsigned End = Where.End > Where.Begin
                           ? Where.End
                           : endOfWord(Text->text(), Where.Begin);
  return rangeOf(*Text, Where.Begin, End, Q.Client.Encoding);
}

Json Writer::uri(StringRef Path) const {
  auto It = Q.Open.find(Path);
  return It == Q.Open.end() ? uriOf(Path) : It->second.Uri;
}

Json Writer::diagnostic(const Finding &F) {
  Json Result = diagnosticOfFile(F.Message, severityOf(F));
  if (Json Range = range(F.Where); !Range.is_null())
    Result["range"] = std::move(Range);
  Result["code"] = F.Check;
  if (F.Kind != FindingKind::Defect)
    return Result;
  Result["data"] = {{"level", static_cast<int>(F.Strength)}};
  if (F.Bytes)
    Result["data"]["bytes"] = *F.Bytes;
  if (std::string Page = checkPage(F.Check);
      !Page.empty() && Q.Client.CodeDescription)
    Result["codeDescription"] = {{"href", std::move(Page)}};
  Json Steps = Json::array();
  std::string Story;
  for (const FindingStep &Step : F.Steps) {
    Json Range = range(Step.Where);
    if (Range.is_null())
      continue;
    Story += ("\n" + llvm::sys::path::filename(Step.Where.Path) + ":" +
              llvm::Twine(Step.Where.Line) + ":" +
              llvm::Twine(Step.Where.Column) + ": note: " + Step.Text)
                 .str();
    Steps.push_back(
        {{"location",
          {{"uri", uri(Step.Where.Path)}, {"range", std::move(Range)}}},
         {"message", Step.Text}});
  }
  if (Steps.empty())
    return Result;
  if (Q.Client.RelatedInformation)
    Result["relatedInformation"] = std::move(Steps);
  else
    Result["message"] = F.Message + "\n" + Story;
  return Result;
}

Json Writer::edits(const fixits::FileEdits &Fix) {
  Json Result = Json::object();
  for (const auto &[Path, Edits] : Fix) {
    const SourceText *Text = Texts.get(Path);
    if (!Text)
      return nullptr;
    Json Changes = Json::array();
    for (const Replacement &E : Edits)
      Changes.push_back(
          {{"range", rangeOf(*Text, E.getOffset(),
                             E.getOffset() + E.getLength(), Q.Client.Encoding)},
           {"newText",
            fixits::withLineEndsOf(Text->text(), E.getReplacementText())}});
    Result[Path] = std::move(Changes);
  }
  return Result;
}

Json Writer::fix(const Finding &F) {
  Json Edits = edits(F.Fix);
  if (Edits.is_null())
    return nullptr;
  std::vector<std::string> Words;
  for (const auto &[Path, Changes] : F.Fix)
    for (const Replacement &E : Changes)
      Words.push_back(inWords(E, Texts));
  return {{"title", capitalized(llvm::join(Words, "; "))},
          {"edits", std::move(Edits)}};
}

void Writer::add(const Finding &F) {
  if (F.Known)
    return;
  Json One = {{"diagnostic", diagnostic(F)}};
  if (F.Verdict == fixits::Verdict::Verified && !F.Fix.empty()) {
    if (Json Fix = fix(F); !Fix.is_null())
      One["fix"] = std::move(Fix);
    if (F.NotWithOthers.empty())
      (void)fixits::mergeEdits(All, F.Fix); // What does not fit waits.
  }
  const bool HasPlace = !F.Where.Path.empty() && Texts.get(F.Where.Path);
  Files[HasPlace ? F.Where.Path : Q.File].push_back(std::move(One));
}

void Writer::add(const GivenUpFunction &F) {
  Finding Said;
  Said.Kind = FindingKind::Configuration;
  Said.Message = "function '" + F.Name + "' " + flow::BeyondLimits.str();
  Said.Where = F.Where;
  if (const SourceText *Text = Texts.get(F.Where.Path)) {
    StringRef Line = Text->line(F.Where.Line);
    Said.Where.Begin =
        Line.data() + Line.find_first_not_of(" \t") - Text->text().data();
    Said.Where.End = Line.data() + Line.size() - Text->text().data();
  }
  Json What = diagnostic(Said);
  What.erase("code");
  What["severity"] = static_cast<int>(Severity::Information);
  Files[F.Where.Path].push_back({{"diagnostic", std::move(What)}});
}

std::string Writer::text() {
  Json Result = {{"files", Files},
                 {"untried", Untried},
                 {"failed", Failed},
                 {"notes", Notes}};
  if (Json Edits = edits(All); !Edits.is_null())
    Result["all"] = std::move(Edits);
  return toText(Result);
}

namespace {

/// One analysis of a document, as the run of the program that the command line
/// asks for, but of one file and without outputs.
class DocumentRun {
public:
  DocumentRun(const Question &Q, CommandLine &Options)
      : Q(Q), Options(Options) {}

  std::string run();

private:
  Error prepare();
  Error analyse();
  void report(Writer &Out);
  void reportFailure(Writer &Out);

  const Question &Q;
  CommandLine &Options;
  fixits::FileTexts Overlay;
  FileSystem FS;
  std::optional<SourceTexts> Texts;
  std::optional<Configuration> Config;
  std::optional<CompileCommands> Commands;
  std::optional<Units> Analysed;
  Analysis All;
};

} // namespace

Error DocumentRun::prepare() {
  if (!Q.Folder.empty())
    (void)::chdir(Q.Folder.c_str()); // Else where the editor was started.
  Expected<FileSystem> Disk = createFileSystem(Options.VfsOverlay);
  if (!Disk)
    return Disk.takeError();
  // A text that is as on the disk has the results of the command line.
  for (const auto &[Path, Open] : Q.Open) {
    auto Saved = (*Disk)->getBufferForFile(Path);
    if (!Saved || (*Saved)->getBuffer() != Open.Text)
      Overlay[Path] = Open.Text;
  }
  FS = withTexts(std::move(*Disk), Overlay);
  Texts.emplace(FS);
  Expected<Configuration> Configured =
      Configuration::create(Options.Configuration, FS);
  if (!Configured)
    return Configured.takeError();
  Config = std::move(*Configured);
  Expected<CompileCommands> Listed =
      CompileCommands::create(std::move(Options.Commands), FS);
  if (!Listed)
    return Listed.takeError();
  Commands = std::move(*Listed);
  Expected<Units> Made = unitsToAnalyse({Q.File}, *Config, *Commands, FS);
  if (!Made)
    return Made.takeError();
  Analysed = std::move(*Made);
  return Error::success();
}

Error DocumentRun::analyse() {
  AnalysisOptions &How = Options.Analysis;
  How.VerifyFixes = Q.TryFixes;
  How.WillRepeat = true;
  How.Background = false; // The server makes it while the editor runs.
  How.Progress.Show = false;
  const AnalysisJob Work = {
      Analysed->List,
      How,
      *Config,
      makeCommandsOurs(Q.Argv0, Q.MainAddress, FS, Options.Quiet),
      Options.VfsOverlay,
      [this](const Unit &U, const Finding &F) {
        return Analysed->askFor(U, F, *Config);
      }};
  All = analyseAll(Work, *Texts, Overlay);
  const std::vector<std::string> Files = {Q.File};
  Expected<Selection> Selected =
      Selection::create(Options.Selection, Files, FS);
  if (!Selected)
    return Selected.takeError();
  CodeOutlines Outlines(*Texts);
  Selected->apply(All.Findings, Analysed->sources(*FS), All.FailedUnits,
                  *Config, *Texts, Outlines);
  return Error::success();
}

/// That a unit was not analysed in full is said in the document itself, also
/// when the reason lies in another file. An error in the document stands where
/// it is.
void DocumentRun::reportFailure(Writer &Out) {
  for (const auto &[File, Trouble] : All.FailedUnits)
    if (llvm::none_of(All.Findings, [&, &Failed = File](const Finding &F) {
          return F.Kind == FindingKind::CompileError && F.IsError &&
                 F.Unit == Failed && F.Where.Path == Q.File;
        }))
      Out.addAboutFile("'" + llvm::sys::path::filename(File).str() +
                           "' could not be analysed in full: " + Trouble,
                       Severity::Warning);
}

void DocumentRun::report(Writer &Out) {
  if (!All.FailedUnits.empty())
    Out.sayFailed();
  reportFailure(Out);
  for (const Finding &F : All.Findings)
    Out.add(F);
  for (const GivenUpFunction &F : All.GivenUp)
    Out.add(F);
  if (!Q.TryFixes && All.FailedUnits.empty() &&
      llvm::any_of(All.Findings, [](const Finding &F) {
        return F.Kind == FindingKind::Defect && !F.Known && !F.Fix.empty();
      }))
    Out.sayUntried();
  const std::string Name = "'" + Q.File + "'";
  if (!Analysed->WithoutChecks.empty())
    Out.addNote(Name + " is left out: its configuration enables no check");
  if (All.SkippedUnits)
    Out.addNote(Name + " includes no header of LibTorch, and was skipped");
  if (!All.UnitsWithoutTorch.empty())
    Out.addNote(Name +
                " includes headers called torch/, ATen/, c10/ or caffe2/ that "
                "have nothing of LibTorch, and no finding is possible there");
  for (StringRef File : Config->filesAboutOtherPrograms())
    Out.addNote(("'" + File +
                 "' names checks of other programs only, so all of libtorch-* "
                 "run; 'Checks: -*' alone switches them off")
                    .str());
}

std::string DocumentRun::run() {
  Error Problem = prepare();
  if (!Problem)
    Problem = analyse();
  if (!Texts)
    Texts.emplace(llvm::vfs::getRealFileSystem());
  Writer Out(Q, *Texts);
  if (Problem)
    Out.addAboutFile("this file is not analysed: " +
                         llvm::toString(std::move(Problem)),
                     Severity::Warning);
  else
    report(Out);
  return Out.text();
}

std::string answer(const Question &Q, CommandLine &Options) {
  return DocumentRun(Q, Options).run();
}

} // namespace libtorch_tidy::driver::lsp
