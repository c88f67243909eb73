//===- Reports.cpp - What a run has found, and its outputs ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/output/Reports.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using llvm::StringRef;

namespace libtorch_tidy::driver {

std::string percentEncode(StringRef Path) {
  std::string Result;
  for (unsigned char C : Path) {
    if (llvm::isAlnum(C) || StringRef("/-._~").contains(C))
      Result += C;
    else
      Result += {'%', llvm::hexdigit(C >> 4), llvm::hexdigit(C & 15)};
  }
  return Result;
}

std::string capitalized(std::string Sentence) {
  StringRef FirstWord = StringRef(Sentence).split(' ').first;
  if (llvm::all_of(FirstWord, llvm::isAlpha))
    Sentence.front() = llvm::toUpper(Sentence.front());
  return Sentence;
}

std::string inWords(const clang::tooling::Replacement &E, SourceTexts &Texts) {
  auto Quote = [](StringRef Text) {
    Text = Text.trim();
    auto [Line, More] = Text.split('\n');
    std::string Short = Line.rtrim().substr(0, 60).str();
    if (Short.size() < Text.size())
      Short += " ...";
    return "'" + Short + "'";
  };
  const SourceText *Text = Texts.get(E.getFilePath());
  StringRef Old = Text ? Text->text().substr(E.getOffset(), E.getLength()) : "";
  if (E.getReplacementText().empty())
    return "remove " + Quote(Old);
  if (!E.getLength())
    return "insert " + Quote(E.getReplacementText());
  return "replace " + Quote(Old) + " with " + Quote(E.getReplacementText());
}

/// SARIF of the strongest findings, when there are more than GitHub takes.
static std::string sarifWithin(const Report &R, size_t Limit) {
  std::vector<Finding> Kept = R.Findings.vec();
  llvm::stable_sort(Kept, [](const Finding &A, const Finding &B) {
    return std::pair(A.Kind != FindingKind::Defect, A.Strength) <
           std::pair(B.Kind != FindingKind::Defect, B.Strength);
  });
  const size_t Defects = llvm::count_if(
      Kept, [](const Finding &F) { return F.Kind == FindingKind::Defect; });
  if (Defects <= Limit)
    return toSarif(R);
  Kept.erase(Kept.begin() + Limit, Kept.begin() + Defects);
  Report Cut = R;
  Cut.Findings = Kept;
  Cut.LeftOut = Defects - Limit;
  llvm::errs() << "libtorch-tidy: warning: SARIF holds " << Limit
               << " findings, and " << Cut.LeftOut
               << " of the weakest are left out: GitHub refuses files with "
                  "more than 25000. Analyse less at once, or raise "
                  "--sarif-limit for other services\n";
  return toSarif(Cut);
}

llvm::Expected<Reports> Reports::open(const ReportOptions &Options) {
  Reports Result;
  llvm::Error Problems = llvm::Error::success();
  auto Add = [&](Maker Make, StringRef Path, bool HasKnown = false) {
    if (Path.empty())
      return;
    if (llvm::Expected<OutputFile> File = OutputFile::open(Path))
      Result.Outputs.push_back(
          {std::move(Make), HasKnown, std::move(*File), {}});
    else
      Problems = joinErrors(std::move(Problems), File.takeError());
  };
  Add([Limit = Options.SarifLimit](
          const Report &R) { return sarifWithin(R, Limit); },
      Options.Sarif, Options.SarifIncludeBaselined);
  Add(toHtml, Options.Html);
  // In the order of OutputFormat, of which the text has no output of its own.
  static constexpr std::string (*Forms[])(const Report &) = {
      nullptr, toGitlab, toGithub, toRdjsonl, toJunit};
  if (Options.Format != OutputFormat::Text)
    Add(Forms[static_cast<unsigned>(Options.Format)], Options.Output);
  if (Problems)
    return Problems;
  return Result;
}

bool Reports::useStdout() const {
  return llvm::any_of(Outputs,
                      [](const Output &O) { return O.File.isStdout(); });
}

void Reports::make(const Report &All) {
  std::vector<Finding> New;
  llvm::copy_if(All.Findings, std::back_inserter(New),
                [](const Finding &F) { return !F.Known; });
  Report OfNew = All;
  OfNew.Findings = New;
  OfNew.Vanished.clear();
  for (Output &O : Outputs)
    O.Content = O.Make(O.HasKnown ? All : OfNew);
}

llvm::Error Reports::write() {
  llvm::Error Problems = llvm::Error::success();
  for (Output &O : Outputs)
    Problems = joinErrors(std::move(Problems), O.File.write(O.Content));
  return Problems;
}

} // namespace libtorch_tidy::driver
