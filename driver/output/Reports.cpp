//===- Reports.cpp - All outputs of a run ---------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/output/Reports.h"
#include "driver/output/CiFormats.h"
#include "driver/output/Html.h"
#include "driver/output/Sarif.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace libtorch_tidy::driver {

llvm::Expected<Reports> Reports::open(const ReportOptions &Options) {
  Reports Result;
  llvm::Error Problems = llvm::Error::success();
  auto Add = [&](std::string (*Make)(const Report &), llvm::StringRef Path) {
    if (Path.empty())
      return;
    if (llvm::Expected<OutputFile> File = OutputFile::open(Path))
      Result.Outputs.push_back({Make, std::move(*File), {}});
    else
      Problems = joinErrors(std::move(Problems), File.takeError());
  };
  Add(toSarif, Options.Sarif);
  Result.SarifLimit = Options.SarifLimit;
  Result.SarifOfAll = Options.SarifIncludeBaselined;
  Add(toHtml, Options.Html);
  switch (Options.Format) {
  case OutputFormat::Text:
    break;
  case OutputFormat::Gitlab:
    Add(toGitlab, Options.Output);
    break;
  case OutputFormat::Github:
    Add(toGithub, Options.Output);
    break;
  case OutputFormat::Rdjsonl:
    Add(toRdjsonl, Options.Output);
    break;
  case OutputFormat::Junit:
    Add(toJunit, Options.Output);
    break;
  }
  if (Problems)
    return Problems;
  return Result;
}

bool Reports::useStdout() const {
  return llvm::any_of(Outputs,
                      [](const Output &O) { return O.File.isStdout(); });
}

void Reports::make(const Report &R) {
  // What the baseline holds is no news: only SARIF has a word for it, and
  // services that track findings themselves do not know that word.
  std::vector<Finding> New;
  llvm::copy_if(R.Findings, std::back_inserter(New),
                [](const Finding &F) { return !F.Known; });
  Report OfNew = R;
  OfNew.Findings = New;
  OfNew.Vanished.clear();
  // The strongest stay when there are more than GitHub takes.
  Report OfSarif = SarifOfAll ? R : OfNew;
  std::vector<Finding> Kept = OfSarif.Findings.vec();
  llvm::stable_sort(Kept, [](const Finding &A, const Finding &B) {
    return std::pair(A.Kind != FindingKind::Defect, A.Strength) <
           std::pair(B.Kind != FindingKind::Defect, B.Strength);
  });
  const size_t Defects = llvm::count_if(
      Kept, [](const Finding &F) { return F.Kind == FindingKind::Defect; });
  if (Defects > SarifLimit) {
    OfSarif.LeftOut = Defects - SarifLimit;
    Kept.erase(Kept.begin() + SarifLimit, Kept.begin() + Defects);
    OfSarif.Findings = Kept;
  }
  for (Output &O : Outputs) {
    if (O.Make == toSarif && OfSarif.LeftOut)
      llvm::errs() << "libtorch-tidy: warning: SARIF holds " << SarifLimit
                   << " findings, and " << OfSarif.LeftOut
                   << " of the weakest are left out: GitHub refuses files with "
                      "more than 25000. Analyse less at once, or raise "
                      "--sarif-limit for other services\n";
    O.Content = O.Make(O.Make == toSarif ? OfSarif : OfNew);
  }
}

llvm::Error Reports::write() {
  llvm::Error Problems = llvm::Error::success();
  for (Output &O : Outputs)
    Problems = joinErrors(std::move(Problems), O.File.write(O.Content));
  return Problems;
}

} // namespace libtorch_tidy::driver
