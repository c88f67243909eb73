//===- Answers.cpp - What is said of a document, and offered there --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/lsp/Answers.h"
#include "analysis/flow/Fixpoint.h"
#include "driver/engine/NolintWriter.h"
#include "driver/output/CheckDocs.h"
#include "driver/output/Reports.h"
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

static bool isBefore(const Json &A, const Json &B) {
  auto Key = [](const Json &P) {
    return std::pair(numberOf(at(P, {"line"})).value_or(0),
                     numberOf(at(P, {"character"})).value_or(0));
  };
  return Key(A) < Key(B);
}

/// Do two ranges have a position in common? Their ends count.
static bool touch(const Json &A, const Json &B) {
  return !isBefore(at(A, {"end"}), at(B, {"start"})) &&
         !isBefore(at(B, {"end"}), at(A, {"start"}));
}

/// Kinds form a tree: "source" has "source.fixAll" in it.
static bool isWithin(StringRef Kind, StringRef Wanted) {
  return Kind.consume_front(Wanted) && (Kind.empty() || Kind.front() == '.');
}

bool namesKind(const Json &Params, StringRef Kind) {
  return llvm::any_of(
      listOf(at(Params, {"context", "only"})),
      [&](const Json &One) { return isWithin(Kind, textOf(One)); });
}

bool wantsKind(const Json &Params, StringRef Kind) {
  return !at(Params, {"context", "only"}).is_array() || namesKind(Params, Kind);
}

/// \p Edits, by path, as a WorkspaceEdit.
static Json workspaceEdit(const Json &Edits, const Documents &Open,
                          const ClientAbilities &Client) {
  Json Changes = Json::object(), Versioned = Json::array();
  for (const auto &[Path, OfFile] : Edits.items()) {
    auto It = Open.find(Path);
    const bool IsOpen = It != Open.end();
    const std::string Uri = IsOpen ? It->second.Uri : uriOf(Path);
    Changes[Uri] = OfFile;
    Json Version = nullptr;
    if (IsOpen)
      Version = It->second.Version;
    Versioned.push_back(
        {{"textDocument", {{"uri", Uri}, {"version", std::move(Version)}}},
         {"edits", OfFile}});
  }
  if (Client.DocumentChanges)
    return {{"documentChanges", std::move(Versioned)}};
  return {{"changes", std::move(Changes)}};
}

static Json positionOf(const SourceText &Text, unsigned Offset,
                       PositionEncoding Encoding) {
  const SourceText::Position P = Encoding == PositionEncoding::Utf8
                                     ? Text.position(Offset)
                                     : Text.positionUtf16(Offset);
  return {{"line", P.Line - 1}, {"character", P.Column - 1}};
}

/// The range of bytes \p Begin to \p End.
static Json rangeOf(const SourceText &Text, unsigned Begin, unsigned End,
                    PositionEncoding Encoding) {
  return {{"start", positionOf(Text, Begin, Encoding)},
          {"end", positionOf(Text, std::max(Begin, End), Encoding)}};
}

/// \p Edits of \p Text as the protocol has them.
template <typename Edits>
static Json changesOf(const SourceText &Text, const Edits &All,
                      PositionEncoding Encoding) {
  Json Result = Json::array();
  for (const Replacement &E : All)
    Result.push_back(
        {{"range", rangeOf(Text, E.getOffset(), E.getOffset() + E.getLength(),
                           Encoding)},
         {"newText",
          fixits::withLineEndsOf(Text.text(), E.getReplacementText())}});
  return Result;
}

/// A comment that keeps a finding from being reported. Null where none fits.
static Json suppression(const Document &Doc, const SourceText &Text,
                        const Json &Diagnostic, PositionEncoding Encoding) {
  const std::optional<unsigned> Begin =
      offsetOf(Text, at(Diagnostic, {"range", "start"}), Encoding);
  if (!Begin)
    return nullptr;
  const std::vector<Replacement> Edits =
      nolintEdits(Text.text(), Doc.Path, *Begin,
                  {textOf(at(Diagnostic, {"code"}))}, /*Reason=*/"");
  if (Edits.empty())
    return nullptr;
  return {{Doc.Path, changesOf(Text, Edits, Encoding)}};
}

/// What tells a diagnostic of a document from its others. Clients do not give
/// back all of it.
static Json identityOf(const Json &Diagnostic) {
  return {{"code", at(Diagnostic, {"code"})},
          {"message", at(Diagnostic, {"message"})},
          {"range", at(Diagnostic, {"range"})}};
}

bool canAnswerUntried(const Json &Params, const ClientAbilities &Client) {
  return Client.ResolvesEdits && !namesKind(Params, FixAll);
}

Json codeActions(const Document &Doc, const Json &Found, const Json &All,
                 const Json &Params, const Documents &Open,
                 const ClientAbilities &Client) {
  Json Fixes = Json::array(), Comments = Json::array();
  const SourceText Text(Doc.Text);
  for (const Json &One : listOf(Found)) {
    const Json &Diagnostic = at(One, {"diagnostic"});
    const std::string Check = textOf(at(Diagnostic, {"code"}));
    if (!wantsKind(Params, QuickFix) || !findRule(Check) ||
        !touch(at(Diagnostic, {"range"}), at(Params, {"range"})))
      continue;
    auto Add = [&](Json &List, const std::string &Title, const Json &Edits) {
      List.push_back({{"title", Title},
                      {"kind", QuickFix},
                      {"diagnostics", Json::array({Diagnostic})}});
      if (Edits.is_object())
        List.back()["edit"] = workspaceEdit(Edits, Open, Client);
      else // For resolvedAction().
        List.back()["data"] = {{"uri", Doc.Uri},
                               {"version", Doc.Version},
                               {"of", identityOf(Diagnostic)}};
    };
    const Json &Fix = at(One, {"fix"}), &Edits = at(Fix, {"edits"});
    if (Fix.is_object() &&
        (Edits.is_object() || canAnswerUntried(Params, Client))) {
      Add(Fixes, textOf(at(Fix, {"title"})) + " [" + Check + "]", Edits);
      Fixes.back()["isPreferred"] = true;
    }
    if (Json Edits = suppression(Doc, Text, Diagnostic, Client.Encoding);
        !Edits.is_null())
      Add(Comments, "Suppress " + Check + " on this line", Edits);
  }
  for (Json &Comment : Comments)
    Fixes.push_back(std::move(Comment));
  if (namesKind(Params, FixAll) && All.is_object() && !All.empty())
    Fixes.push_back({{"title", "Apply all fixes of libtorch-tidy"},
                     {"kind", FixAll},
                     {"edit", workspaceEdit(All, Open, Client)}});
  return Fixes;
}

Json resolvedAction(const Document &Doc, const Json &Found, Json Action,
                    const Documents &Open, const ClientAbilities &Client) {
  for (const Json &One : listOf(Found)) {
    const Json &Edits = at(One, {"fix", "edits"});
    if (!Edits.is_object() ||
        at(Action, {"data", "of"}) != identityOf(at(One, {"diagnostic"})))
      continue;
    Action["edit"] = workspaceEdit(Edits, Open, Client);
    return Action;
  }
  return nullptr;
}

Json hover(const Json &Found, const Json &Params,
           const ClientAbilities &Client) {
  const Json &Position = at(Params, {"position"});
  std::vector<std::string> Checks;
  std::string Pages;
  Json Range;
  for (const Json &One : listOf(Found)) {
    const Json &Diagnostic = at(One, {"diagnostic"});
    const CatalogEntry *Entry = findRule(textOf(at(Diagnostic, {"code"})));
    if (!Entry || llvm::is_contained(Checks, Entry->Name) ||
        !touch(at(Diagnostic, {"range"}),
               {{"start", Position}, {"end", Position}}))
      continue;
    Checks.push_back(Entry->Name.str());
    Pages += (Pages.empty() ? "" : "\n---\n\n") + documentationOf(*Entry);
    if (Range.is_null())
      Range = at(Diagnostic, {"range"});
  }
  if (Pages.empty())
    return nullptr;
  return {{"contents",
           {{"kind", Client.MarkdownHover ? "markdown" : "plaintext"},
            {"value", std::move(Pages)}}},
          {"range", std::move(Range)}};
}

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

namespace {

/// Writes findings as the protocol has them.
class Writer {
public:
  Writer(const Question &Q, SourceTexts &Texts) : Q(Q), Texts(Texts) {
    Files[Q.File] = Json::array();
  }

  void add(const Finding &F) {
    if (F.Known)
      return;
    Json One = {{"diagnostic", diagnostic(F)}};
    const bool IsTried = F.Verdict == fixits::Verdict::Verified;
    if (!F.Fix.empty() && (IsTried || !Q.TryFixes)) {
      if (Json Fix = fix(F); !Fix.is_null()) {
        if (!IsTried)
          Fix.erase("edits");
        One["fix"] = std::move(Fix);
      }
      if (IsTried && F.NotWithOthers.empty())
        (void)fixits::mergeEdits(All, F.Fix); // What does not fit waits.
    }
    const bool HasPlace = !F.Where.Path.empty() && Texts.get(F.Where.Path);
    Files[HasPlace ? F.Where.Path : Q.File].push_back(std::move(One));
  }

  void add(const GivenUpFunction &F) {
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

  void addAboutFile(StringRef Message, Severity How) {
    Files[Q.File].push_back({{"diagnostic", diagnosticOfFile(Message, How)}});
  }
  void addNote(std::string Text) { Notes.push_back(std::move(Text)); }

  std::string text() {
    Json Result = {{"files", Files},
                   {"untried", Untried},
                   {"failed", Failed},
                   {"notes", Notes}};
    if (Json Edits = edits(All); !Edits.is_null())
      Result["all"] = std::move(Edits);
    return toText(Result);
  }

  /// Are there fixes to try, and units that were not analysed in full?
  bool Untried = false, Failed = false;

private:
  Json range(const Place &Where) {
    const SourceText *Text = Texts.get(Where.Path);
    if (!Text)
      return nullptr;
    const unsigned End = Where.End > Where.Begin
                             ? Where.End
                             : endOfWord(Text->text(), Where.Begin);
    return rangeOf(*Text, Where.Begin, End, Q.Client.Encoding);
  }

  Json uri(StringRef Path) const {
    auto It = Q.Open.find(Path);
    return It == Q.Open.end() ? uriOf(Path) : It->second.Uri;
  }

  /// Unlike a report, an editor reads where the program is installed.
  static std::string pageOf(StringRef Check) {
    std::string Home = checkPage(Check);
    const std::string File = Home.empty() ? installedPage(Check) : "";
    return File.empty() ? Home : uriOf(File);
  }

  Json diagnostic(const Finding &F) {
    Json Result = diagnosticOfFile(F.Message, severityOf(F));
    if (Json Range = range(F.Where); !Range.is_null())
      Result["range"] = std::move(Range);
    Result["code"] = F.Check;
    if (F.Kind != FindingKind::Defect)
      return Result;
    Result["data"] = {{"level", static_cast<int>(F.Strength)}};
    if (F.Bytes)
      Result["data"]["bytes"] = *F.Bytes;
    if (std::string Page = pageOf(F.Check);
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

  Json edits(const fixits::FileEdits &Fix) {
    Json Result = Json::object();
    for (const auto &[Path, Edits] : Fix) {
      const SourceText *Text = Texts.get(Path);
      if (!Text)
        return nullptr;
      Result[Path] = changesOf(*Text, Edits, Q.Client.Encoding);
    }
    return Result;
  }

  Json fix(const Finding &F) {
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

  const Question &Q;
  SourceTexts &Texts;
  std::map<std::string, Json> Files;
  fixits::FileEdits All;
  Json Notes = Json::array();
};

} // namespace

/// That a unit was not analysed in full is said in the document itself, also
/// when the reason lies in another file. An error in the document stands where
/// it is.
static void reportFailure(const Question &Q, const Analysis &All, Writer &Out) {
  for (const auto &[File, Trouble] : All.FailedUnits)
    if (llvm::none_of(All.Findings, [&, &Failed = File](const Finding &F) {
          return F.Kind == FindingKind::CompileError && F.IsError &&
                 F.Unit == Failed && F.Where.Path == Q.File;
        }))
      Out.addAboutFile("'" + llvm::sys::path::filename(File).str() +
                           "' could not be analysed in full because " + Trouble,
                       Severity::Warning);
}

static void report(const Question &Q, const Analysis &All,
                   const Units &Analysed, const Configuration &Config,
                   Writer &Out) {
  Out.Failed = !All.FailedUnits.empty();
  reportFailure(Q, All, Out);
  for (const Finding &F : All.Findings)
    Out.add(F);
  for (const GivenUpFunction &F : All.GivenUp)
    Out.add(F);
  Out.Untried = !Q.TryFixes && !Out.Failed &&
                llvm::any_of(All.Findings, [](const Finding &F) {
                  return proposesFix(F) && !F.Known;
                });
  const std::string Name = "'" + Q.File + "'";
  if (!Analysed.WithoutChecks.empty())
    Out.addNote(Name + " is left out: its configuration enables no check");
  if (All.SkippedUnits)
    Out.addNote(Name + " includes no header of LibTorch, and was skipped");
  if (!All.UnitsWithoutTorch.empty())
    Out.addNote(Name +
                " includes headers called torch/, ATen/, c10/ or caffe2/ that "
                "are not LibTorch's: no finding is possible there");
  for (StringRef File : Config.filesAboutOtherPrograms())
    Out.addNote(("'" + File +
                 "' names checks of other programs only, so all of libtorch-* "
                 "run; 'Checks: -*' alone switches them off")
                    .str());
}

/// As the run of the program that the command line asks for, but of one file
/// and without outputs.
static Error analyse(const Question &Q, CommandLine &Options, FileSystem FS,
                     const fixits::FileTexts &Overlay, SourceTexts &Texts,
                     Writer &Out) {
  Expected<Configuration> Config =
      Configuration::create(Options.Configuration, FS);
  if (!Config)
    return Config.takeError();
  Options.Commands.InferForNewFiles = true;
  Expected<CompileCommands> Commands =
      CompileCommands::create(std::move(Options.Commands), FS);
  if (!Commands)
    return Commands.takeError();
  Expected<Units> Analysed =
      unitsToAnalyse({Q.File}, /*Named=*/true, *Config, *Commands, FS);
  if (!Analysed)
    return Analysed.takeError();
  AnalysisOptions &How = Options.Analysis;
  How.VerifyFixes = Q.TryFixes;
  How.WillRepeat = true;
  How.Background = false; // The server makes it while the editor runs.
  How.Progress.Show = false;
  const AnalysisJob Work = {Analysed->List,
                            How,
                            *Config,
                            makeCommandsOurs(Q.Argv0, Q.MainAddress, FS,
                                             noteLostFlags(Options.Quiet)),
                            Options.VfsOverlay,
                            *Analysed};
  Analysis All = analyseAll(Work, Texts, Overlay);
  Expected<Selection> Selected =
      Selection::create(Options.Selection, {Q.File}, FS);
  if (!Selected)
    return Selected.takeError();
  Selected->apply(All.Findings, Analysed->sources(*FS), All.FailedUnits,
                  *Config, Texts);
  report(Q, All, *Analysed, *Config, Out);
  return Error::success();
}

std::string answer(const Question &Q, CommandLine &Options) {
  if (!Q.Folder.empty())
    (void)::chdir(Q.Folder.c_str()); // Else where the editor was started.
  Expected<FileSystem> Disk = createFileSystem(Options.VfsOverlay);
  fixits::FileTexts Overlay;
  FileSystem FS;
  if (Disk) {
    // A text that is as on the disk has the results of the command line.
    for (const auto &[Path, Open] : Q.Open) {
      auto Saved = (*Disk)->getBufferForFile(Path);
      if (!Saved || (*Saved)->getBuffer() != Open.Text)
        Overlay[Path] = Open.Text;
    }
    FS = withTexts(std::move(*Disk), Overlay);
  }
  SourceTexts Texts(FS ? FS : llvm::vfs::getRealFileSystem());
  Writer Out(Q, Texts);
  if (Error Problem = Disk ? analyse(Q, Options, FS, Overlay, Texts, Out)
                           : Disk.takeError())
    Out.addAboutFile("this file is not analysed: " +
                         llvm::toString(std::move(Problem)),
                     Severity::Warning);
  return Out.text();
}

} // namespace libtorch_tidy::driver::lsp
