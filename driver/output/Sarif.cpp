//===- Sarif.cpp - Findings as SARIF 2.1.0 --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/flow/Fixpoint.h"
#include "driver/findings/NolintAudit.h"
#include "driver/output/CheckDocs.h"
#include "driver/output/Reports.h"
#include "driver/project/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/SHA256.h"
#include <cmath>
#include <map>

using clang::tooling::Replacement;
using llvm::StringRef;

namespace libtorch_tidy::driver {

/// "libtorch-oom-catch-type" -> "OomCatchType".
static std::string pascalCase(StringRef Check) {
  Check.consume_front("libtorch-");
  std::string Result;
  for (StringRef Word : llvm::split(Check, '-'))
    if (!Word.empty())
      Result += llvm::toUpper(Word.front()) + Word.drop_front().str();
  return Result;
}

/// GitHub's words for the same.
static const char *problemSeverity(Level L) {
  return L == Level::Advisory ? "recommendation" : severityWord(L);
}

static const char *precision(Level L) {
  return wordFor(L, {"very-high", "high", "medium"});
}

/// The higher, the more important: the level first, then the bytes. Level 0 has
/// the ranks from 70, level 1 those from 40, level 2 those from 10; twice the
/// bytes are 0.469 more.
static double rank(const Finding &F) {
  const double Base = 70 - 30.0 * static_cast<unsigned>(F.Strength);
  const double Doublings =
      std::min(std::log2(1 + static_cast<double>(F.Bytes.value_or(0))), 63.0);
  // Without the last digits, in which mathematical libraries differ.
  return std::round((Base + 30 * Doublings / 64) * 1000) / 1000;
}

/// \p Text with a full stop at its end.
static std::string asSentence(StringRef Text) {
  Text = Text.rtrim();
  return Text.str() +
         (Text.ends_with(".") || Text.ends_with("!") || Text.ends_with("?")
              ? ""
              : ".");
}

static Json message(StringRef Text) { return {{"text", Text.str()}}; }

static Json locations(Json Physical) {
  return Json::array({{{"physicalLocation", std::move(Physical)}}});
}

/// A notification; \p Physical is null when it is about no place.
static Json notification(const char *Level, StringRef Text,
                         Json Physical = nullptr) {
  Json Result = {{"level", Level}, {"message", message(asSentence(Text))}};
  if (!Physical.is_null())
    Result["locations"] = locations(std::move(Physical));
  return Result;
}

static Json rule(const CatalogEntry &Entry) {
  const std::string Help = documentationOf(Entry);
  Json Tags = {"libtorch", "memory"};
  for (StringRef Tag : Entry.Tags)
    Tags.push_back(Tag.str());
  const std::string Summary = capitalized(asSentence(Entry.Summary));
  Json Result = {{"id", Entry.Name.str()},
                 {"name", pascalCase(Entry.Name)},
                 {"shortDescription", message(Summary)},
                 {"fullDescription", message(Entry.Why)},
                 {"help", {{"text", Help}, {"markdown", Help}}}};
  if (std::string Page = checkPage(Entry.Name); !Page.empty())
    Result["helpUri"] = std::move(Page);
  Result["defaultConfiguration"] = {
      {"level", severityWord(Entry.StrongestLevel)}};
  Result["properties"] = {
      {"tags", std::move(Tags)},
      {"precision", precision(Entry.StrongestLevel)},
      {"problem.severity", problemSeverity(Entry.StrongestLevel)}};
  return Result;
}

/// The function around a finding; null outside functions.
static Json logicalLocations(StringRef Function) {
  if (Function.empty())
    return nullptr;
  size_t Colons = Function.rfind("::");
  StringRef Name =
      Colons == StringRef::npos ? Function : Function.drop_front(Colons + 2);
  return Json::array({{{"name", Name.str()},
                       {"fullyQualifiedName", Function.str()},
                       {"kind", "function"}}});
}

static Json driver(Json Rules) {
  Json Driver = {{"name", "libtorch-tidy"},
                 {"fullName", "libtorch-tidy " LIBTORCH_TIDY_VERSION
                              " (LLVM " LLVM_VERSION_STRING ")"},
                 {"version", LIBTORCH_TIDY_VERSION},
                 {"semanticVersion", LIBTORCH_TIDY_VERSION}};
  if (StringRef Home = LIBTORCH_TIDY_HOMEPAGE; !Home.empty())
    Driver["informationUri"] = Home.str();
  Driver["rules"] = std::move(Rules);
  return Driver;
}

namespace {

/// Writes one run; knows the files it names.
class SarifWriter {
public:
  explicit SarifWriter(const Report &Run)
      : Run(Run), Texts(Run.Texts), Findings(Run.Findings.vec()) {
    llvm::stable_sort(Findings, [&](const Finding &A, const Finding &B) {
      return fileKey(A.Where.Path) < fileKey(B.Where.Path);
    });
  }

  std::string write() {
    Json Rules = rules(), Files = artifacts(), Results = Json::array();
    Json Invocation = invocation(Results);
    Json TheRun = {
        {"tool", {{"driver", driver(std::move(Rules))}}},
        {"automationDetails", {{"id", "libtorch-tidy/"}}},
        {"invocations", Json::array({std::move(Invocation)})},
        {"originalUriBaseIds",
         {{"%SRCROOT%",
           {{"description", message("The root of the source tree.")}}}}},
        {"columnKind", "utf16CodeUnits"},
        {"artifacts", std::move(Files)},
        {"results", std::move(Results)}};
    if (!Run.Repository.empty()) {
      Json Control = {{"repositoryUri", Run.Repository}};
      if (!Run.Revision.empty())
        Control["revisionId"] = Run.Revision;
      Control["mappedTo"] = {{"uriBaseId", "%SRCROOT%"}};
      TheRun["versionControlProvenance"] = Json::array({std::move(Control)});
    }
    Json Log = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                {"version", "2.1.0"},
                {"runs", Json::array({std::move(TheRun)})}};
    return written(Log, 2) + "\n";
  }

private:
  Json rules() {
    Json Rules = Json::array();
    auto AddRule = [&](const CatalogEntry &Entry) {
      RuleIndex[Entry.Name] = Rules.size();
      Rules.push_back(rule(Entry));
    };
    llvm::for_each(catalog(), AddRule);
    const CatalogEntry &Audit = nolintAuditEntry();
    auto IsOfAudit = [&](const Finding &F) { return F.Check == Audit.Name; };
    if (llvm::any_of(Findings, IsOfAudit) ||
        llvm::any_of(Run.Vanished, IsOfAudit))
      AddRule(Audit);
    return Rules;
  }

  Json artifacts() {
    for (const std::string &Unit : llvm::make_first_range(Run.FailedUnits))
      nameFile(Unit);
    for (const GivenUpFunction &F : Run.GivenUp)
      nameFile(F.Where.Path);
    for (const Finding &F : Findings) {
      nameFile(F.Where.Path);
      for (const FindingStep &Step : F.Steps)
        nameFile(Step.Where.Path);
      for (const auto &[Path, Edits] : F.Fix)
        nameFile(Path);
    }
    for (const Finding &F : Run.Vanished)
      nameFile(F.Where.Path);
    unsigned Next = 0;
    for (auto &Entry : Artifacts)
      Entry.second = Next++;
    Json Files = Json::array();
    for (const auto &[Key, Index] : Artifacts) {
      const std::string &Path = Key.second;
      Json Where = artifactLocation(Path);
      Where.erase("index");
      Json File = {{"location", std::move(Where)}};
      // A viewer can tell whether it shows the text that was analysed.
      if (const SourceText *Text = Texts.get(Path))
        File["hashes"] = {
            {"sha-256", llvm::toHex(llvm::SHA256::hash(
                            llvm::arrayRefFromStringRef(Text->text())))}};
      Files.push_back(std::move(File));
    }
    return Files;
  }

  /// How the run went. Takes what it found into \p Results.
  Json invocation(Json &Results) {
    Json Tool = Json::array(), Config = Json::array();
    for (const auto &[Unit, Trouble] : Run.FailedUnits)
      Tool.push_back(notification(
          "error",
          "The translation unit could not be analysed in full because " +
              Trouble,
          {{"artifactLocation", artifactLocation(Unit)}}));
    for (const GivenUpFunction &F : Run.GivenUp)
      Tool.push_back(notification(
          "warning", ("Function '" + F.Name + "' " + flow::BeyondLimits).str(),
          {{"artifactLocation", artifactLocation(F.Where.Path)},
           {"region", {{"startLine", F.Where.Line}}}}));
    const std::vector<std::string> Names =
        uniqueFingerprints(Findings, Run.Root, Texts);
    for (auto [F, Name] : llvm::zip_equal(Findings, Names))
      if (F.Kind == FindingKind::Defect)
        Results.push_back(result(F, Name));
      else
        (F.Kind == FindingKind::CompileError ? Tool : Config)
            .push_back(notification(
                "error", F.Message,
                F.Where.Path.empty()
                    ? Json()
                    : physicalLocation(F.Where, /*WithContext=*/false)));
    // What the baseline holds and is not found any more.
    for (const Finding &F : Run.Vanished) {
      Json &Result = Results.emplace_back(beginOf(F));
      Result["locations"] =
          locations({{"artifactLocation", artifactLocation(F.Where.Path)}});
      Result["baselineState"] = "absent";
    }
    if (Run.LeftOut)
      Tool.push_back(notification(
          "warning", (llvm::Twine(Run.LeftOut) +
                      " of the weakest findings are left out: the limit is " +
                      llvm::Twine(Results.size()) + " results.")
                         .str()));

    Json Invocation = {{"executionSuccessful", Run.FailedUnits.empty()},
                       {"exitCode", Run.ExitCode}};
    if (!Tool.empty())
      Invocation["toolExecutionNotifications"] = std::move(Tool);
    if (!Config.empty())
      Invocation["toolConfigurationNotifications"] = std::move(Config);
    return Invocation;
  }

  Json artifactLocation(StringRef Path) {
    Json Result;
    const auto Key = fileKey(Path);
    if (const bool Outside = Key.first; Outside)
      Result = {{"uri", "file://" + percentEncode(Path)}};
    else
      Result = {{"uri", percentEncode(Path.drop_front(Run.Root.size() + 1))},
                {"uriBaseId", "%SRCROOT%"}};
    if (auto It = Artifacts.find(Key); It != Artifacts.end())
      Result["index"] = It->second;
    return Result;
  }

  Json region(const Place &Where, bool WithSnippet) {
    const SourceText *Text = Texts.get(Where.Path);
    if (!Text)
      return nullptr;
    auto Begin = Text->positionUtf16(Where.Begin);
    auto End = Text->positionUtf16(std::max(Where.Begin, Where.End));
    Json Result = {{"startLine", Begin.Line},
                   {"startColumn", Begin.Column},
                   {"endLine", End.Line},
                   {"endColumn", End.Column}};
    if (StringRef Snippet = Text->text().slice(Where.Begin, Where.End);
        WithSnippet && !Snippet.empty())
      Result["snippet"] = message(Snippet);
    return Result;
  }

  Json physicalLocation(const Place &Where, bool WithContext) {
    Json Result = {{"artifactLocation", artifactLocation(Where.Path)}};
    Json Region = region(Where, /*WithSnippet=*/true);
    if (Region.is_null())
      return Result;
    Result["region"] = std::move(Region);
    if (WithContext) {
      const SourceText *Text = Texts.get(Where.Path);
      unsigned First = Where.Line > 2 ? Where.Line - 2 : 1;
      unsigned Last =
          std::min(Text->position(Where.End).Line + 2, Text->lineCount());
      // To a reader, the last line end begins no empty line.
      if (Last > First && Text->lines(Last, Last).empty())
        --Last;
      Result["contextRegion"] = {
          {"startLine", First},
          {"endLine", Last},
          {"snippet", message(Text->lines(First, Last))}};
    }
    return Result;
  }

  Json location(const Place &Where, StringRef Text) {
    return {
        {"physicalLocation", physicalLocation(Where, /*WithContext=*/false)},
        {"message", message(asSentence(Text))}};
  }

  Json fixes(const Finding &F) {
    std::vector<std::string> Words;
    Json Changes = Json::array();
    for (const auto &[Path, Edits] : F.Fix) {
      Json Replacements = Json::array();
      for (const Replacement &E : Edits) {
        Words.push_back(inWords(E, Texts));
        Json Deleted = region(
            {Path, E.getOffset(), E.getOffset() + E.getLength(), 0, 0, {}},
            /*WithSnippet=*/false);
        if (Deleted.is_null())
          return nullptr;
        Json Change = {{"deletedRegion", std::move(Deleted)}};
        if (!E.getReplacementText().empty())
          Change["insertedContent"] = message(E.getReplacementText());
        Replacements.push_back(std::move(Change));
      }
      Changes.push_back({{"artifactLocation", artifactLocation(Path)},
                         {"replacements", std::move(Replacements)}});
    }
    const std::string Description =
        capitalized(asSentence(llvm::join(Words, "; ")));
    return Json::array({{{"description", message(Description)},
                         {"artifactChanges", std::move(Changes)}}});
  }

  /// \p Name is the unique fingerprint of \p F.
  Json result(const Finding &F, StringRef Name) {
    Json Result = beginOf(F);
    Result["locations"] = Json::array();
    if (!F.Where.Path.empty()) {
      Json Location = {{"physicalLocation",
                        physicalLocation(F.Where, /*WithContext=*/true)}};
      if (Json Logical = logicalLocations(F.Function); !Logical.is_null())
        Location["logicalLocations"] = std::move(Logical);
      Result["locations"].push_back(std::move(Location));
    }
    Json Prints = Json::object();
    if (const std::string *Hash = lineHash(F.Where))
      Prints["primaryLocationLineHash"] = *Hash;
    Prints["libtorchTidy/v1"] = Name.str();
    Result["partialFingerprints"] = std::move(Prints);
    if (Run.HasBaseline)
      Result["baselineState"] = F.Known ? "unchanged" : "new";
    // The steps in execution order, and the finding itself as the last one.
    Json Flow = Json::array(), Related = Json::array();
    for (const FindingStep &Step : placedSteps(F)) {
      const Json Here = location(Step.Where, Step.Text);
      Flow.push_back({{"location", Here}});
      Related.push_back({{"id", Related.size() + 1}});
      Related.back().update(Here);
    }
    if (!Related.empty()) {
      Flow.push_back({{"location", location(F.Where, F.Message)}});
      Result["codeFlows"] = Json::array(
          {{{"threadFlows", Json::array({{{"locations", Flow}}})}}});
      Result["relatedLocations"] = std::move(Related);
    }
    if (Json Fixes = F.Fix.empty() ? Json() : fixes(F); !Fixes.is_null())
      Result["fixes"] = std::move(Fixes);
    Result["rank"] = rank(F);
    Result["properties"] = {{"level", static_cast<unsigned>(F.Strength)}};
    if (F.Bytes)
      Result["properties"]["bytes"] = *F.Bytes;
    if (F.Confirmed) {
      Result["properties"]["confirmed"] = true;
      Result["properties"]["bytesPerStep"] = std::llround(F.Confirmed->Bytes);
      Result["properties"]["nodesPerStep"] = std::llround(F.Confirmed->Nodes);
    }
    static constexpr const char *Verdicts[] = {"unverified", "verified",
                                               "rejected"};
    if (!F.Fix.empty() || F.Verdict != fixits::Verdict::Unverified)
      Result["properties"]["fix"] = Verdicts[static_cast<unsigned>(F.Verdict)];
    if (F.Verdict == fixits::Verdict::Rejected)
      Result["properties"]["fixRejectedBecause"] = F.WhyNot;
    return Result;
  }

  /// The members that all results begin with.
  Json beginOf(const Finding &F) {
    Json Result = {{"ruleId", F.Check}};
    if (auto It = RuleIndex.find(F.Check); It != RuleIndex.end())
      Result["ruleIndex"] = It->second;
    Result["level"] = F.AsError ? "error" : severityWord(F.Strength);
    Result["message"] = message(asSentence(F.Message));
    return Result;
  }

  /// Files in order: those of the project first, so that the order does not
  /// depend on where the project lies.
  std::pair<bool, std::string> fileKey(StringRef Path) const {
    StringRef Rest = Path;
    const bool Inside = Rest.consume_front(Run.Root) && Rest.starts_with("/");
    return {!Inside, Path.str()};
  }
  void nameFile(StringRef Path) {
    if (!Path.empty())
      Artifacts.emplace(fileKey(Path), 0);
  }

  const std::string *lineHash(const Place &Where) {
    auto [It, New] = LineHashes.try_emplace(Where.Path);
    if (New)
      if (const SourceText *Text = Texts.get(Where.Path))
        It->second = lineHashes(Text->text());
    if (!Where.Line || Where.Line > It->second.size())
      return nullptr;
    return &It->second[Where.Line - 1];
  }

  const Report &Run;
  SourceTexts &Texts;
  std::vector<Finding> Findings; ///< In order of their files.
  std::map<std::pair<bool, std::string>, unsigned> Artifacts;
  std::map<std::string, std::vector<std::string>> LineHashes;
  std::map<StringRef, unsigned> RuleIndex;
};

} // namespace

std::string toSarif(const Report &R) { return SarifWriter(R).write(); }

} // namespace libtorch_tidy::driver
