//===- WatchedRun.cpp - What a run of the program kept --------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/findings/WatchedRun.h"
#include "checks/base/Catalog.h"
#include "driver/llvm/Compat.h"
#include "driver/project/Error.h"
#include "driver/project/Nesting.h"
#include "driver/project/Paths.h"
#include "driver/project/Printable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/DebugInfo/DIContext.h"
#include "llvm/DebugInfo/Symbolize/Symbolize.h"
#include "llvm/Support/FileSystem.h"
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using nlohmann::json;

namespace libtorch_tidy::driver {

static constexpr const char *ReportFormat = "libtorch-tidy watch";
static constexpr unsigned ReportVersion = 1;

/// Headers of LibTorch and of the system, and the watch's own.
static bool isLibrary(StringRef File) {
  return File.empty() || File == "<invalid>" || File.starts_with("??") ||
         File.starts_with("/usr/") || File.contains("/c++/") ||
         File.contains("/libtorch-tidy/watch") || File.contains("/ATen/") ||
         File.contains("/c10/") || File.contains("/torch/csrc/");
}

/// The number at \p Key; 0 when there is none.
static double numberAt(const json &Object, const char *Key) {
  auto It = Object.find(Key);
  return It != Object.end() && It->is_number() ? It->get<double>() : 0;
}

static std::string textAt(const json &Object, const char *Key) {
  auto It = Object.find(Key);
  return It != Object.end() && It->is_string() ? It->get<std::string>()
                                               : std::string();
}

/// The list at \p Key; an empty one when there is none.
static const json &listAt(const json &Object, const char *Key) {
  static const json None = json::array();
  if (!Object.is_object())
    return None;
  auto It = Object.find(Key);
  return It != Object.end() && It->is_array() ? *It : None;
}

/// "(anonymous namespace)::Machine::step(long)" as "Machine::step".
static std::string withoutArguments(std::string Function) {
  static constexpr StringRef Anonymous = "(anonymous namespace)::";
  static constexpr StringRef Call = "operator()";
  for (size_t At; (At = Function.find(Anonymous.data())) != std::string::npos;)
    Function.erase(At, Anonymous.size());
  const size_t Operator = Function.rfind(Call.data());
  const size_t Begin =
      Operator == std::string::npos ? 0 : Operator + Call.size();
  return Function.substr(0, Function.find('(', Begin));
}

namespace {

/// Asks the programs of a report for the lines of their addresses.
class Symbolizer {
public:
  explicit Symbolizer(const json &Report) {
    for (const json &Module : listAt(Report, "modules"))
      Modules.push_back(Module.is_string() ? Module.get<std::string>() : "");
  }

  /// Calls \p Found for each call at \p Frame, the innermost inlined one first.
  void ask(const json &Frame,
           llvm::function_ref<void(const llvm::DILineInfo &)> Found) {
    if (!Frame.is_array() || Frame.size() != 2 ||
        !Frame[0].is_number_integer() || !Frame[1].is_number_unsigned())
      return;
    const int64_t Module = Frame[0].get<int64_t>();
    if (Module < 0 || size_t(Module) >= Modules.size())
      return;
    Expected<llvm::DIInliningInfo> Calls = Asked.symbolizeInlinedCode(
        Modules[Module], {Frame[1].get<uint64_t>(),
                          llvm::object::SectionedAddress::UndefSection});
    if (!Calls) // Moved, or built anew: it says nothing.
      return llvm::consumeError(Calls.takeError());
    for (unsigned I = 0; I < Calls->getNumberOfFrames(); ++I)
      Found(Calls->getFrame(I));
  }

private:
  std::vector<std::string> Modules;
  llvm::symbolize::LLVMSymbolizer Asked;
};

} // namespace

Expected<WatchedRun>
WatchedRun::read(StringRef File, StringRef Folder,
                 llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS) {
  auto Text = FS->getBufferForFile(File);
  if (!Text)
    return makeError("cannot read '" + File +
                     "': " + Text.getError().message());
  auto Malformed = [&](const llvm::Twine &Why) {
    return makeError("malformed report '" + File + "': " + Why);
  };
  StringRef Written = (*Text)->getBuffer();
  if (isNestedTooDeep(Written))
    return Malformed("it is nested too deeply");
  const json Report = json::parse(Written.begin(), Written.end(), nullptr,
                                  /*allow_exceptions=*/false);
  if (Report.is_discarded())
    return Malformed("it is not JSON");
  if (!Report.is_object() || textAt(Report, "format") != ReportFormat)
    return Malformed("it is not a report of libtorch-tidy's watch");
  if (numberAt(Report, "version") != ReportVersion)
    return Malformed("it is of a version that this program does not know");

  WatchedRun Result;
  Result.Folder = Folder.str();
  auto Add = [&](Growth &G, StringRef Name, unsigned Number,
                 StringRef Function) {
    if (isLibrary(Name) || !Number)
      return;
    llvm::SmallString<256> Path(Name);
    compat::makeAbsolute(Folder, Path);
    G.Calls.push_back({canonicalPath(Path, "", *FS), Number,
                       withoutArguments(Function.str())});
  };
  std::map<int64_t, const json *> Sites;
  for (const json &Site : listAt(Report, "sites"))
    if (Site.is_object())
      Sites[int64_t(numberAt(Site, "site"))] = &Site;
  Symbolizer Symbols(Report);
  for (const json &Verdict : listAt(Report, "verdicts"))
    for (const json &Grown : listAt(Verdict, "sites")) {
      auto Site = Grown.is_object()
                      ? Sites.find(int64_t(numberAt(Grown, "site")))
                      : Sites.end();
      if (Site == Sites.end())
        continue;
      Growth G;
      // The verdict says which of the two grows; the other one varies.
      if (textAt(Verdict, "kind") == "graph")
        G.PerStep.Nodes = numberAt(Grown, "nodesPerStep");
      else
        G.PerStep.Bytes = numberAt(Grown, "bytesPerStep");
      G.PerStep.Steps = textAt(Verdict, "series");
      for (const json &Call : listAt(*Site->second, "calls"))
        if (Call.is_object())
          Add(G, textAt(Call, "file"), unsigned(numberAt(Call, "line")),
              textAt(Call, "function"));
      if (!Site->second->contains("calls"))
        for (const json &Frame : listAt(*Site->second, "frames"))
          Symbols.ask(Frame, [&](const llvm::DILineInfo &Info) {
            Add(G, Info.FileName, Info.Line, Info.FunctionName);
          });
      Result.add(std::move(G));
    }
  return Result;
}

void WatchedRun::add(Growth New) {
  auto Same = llvm::find_if(Growths, [&](const Growth &Old) {
    return Old.PerStep.Steps == New.PerStep.Steps &&
           std::equal(Old.Calls.begin(), Old.Calls.end(), New.Calls.begin(),
                      New.Calls.end(), [](const Line &A, const Line &B) {
                        return A.Path == B.Path && A.Number == B.Number;
                      });
  });
  if (Same == Growths.end()) {
    Growths.push_back(std::move(New));
    return;
  }
  Same->PerStep.Bytes += New.PerStep.Bytes;
  Same->PerStep.Nodes += New.PerStep.Nodes;
}

/// Is the check about memory that is kept?
static bool isAboutWhatIsKept(const Finding &F) {
  const CatalogEntry *Entry = findInCatalog(F.Check);
  return F.Kind == FindingKind::Defect && Entry &&
         llvm::is_contained(Entry->Tags, "external/cwe/cwe-401");
}

/// Is \p L the line of \p F or of one of its steps?
static bool isOnLineOf(const Finding &F, StringRef Path, unsigned Line) {
  auto IsAt = [&](const Place &Where) {
    return Line == Where.Line && Path == Where.Path;
  };
  return IsAt(F.Where) || llvm::any_of(F.Steps, [&](const FindingStep &S) {
           return IsAt(S.Where);
         });
}

void WatchedRun::confirm(std::vector<Finding> &Findings) {
  for (Finding &F : Findings) {
    if (!isAboutWhatIsKept(F))
      continue;
    // The functions that its lines are in.
    std::set<std::tuple<StringRef, StringRef, StringRef>> Around;
    for (Growth &G : Growths) {
      auto On = llvm::find_if(G.Calls, [&](const Line &L) {
        return isOnLineOf(F, L.Path, L.Number);
      });
      if (On == G.Calls.end())
        continue;
      Around.insert({G.PerStep.Steps, On->Path, On->Function});
      G.Explained = true;
      if (!F.Confirmed)
        F.Confirmed = Measured{0, 0, G.PerStep.Steps};
      F.Confirmed->Bytes += G.PerStep.Bytes;
      F.Confirmed->Nodes += G.PerStep.Nodes;
    }
    if (!F.Confirmed)
      continue;
    // A graph that is kept has nodes of the lines in between as well.
    for (Growth &G : Growths)
      if (G.PerStep.Bytes <= F.Confirmed->Bytes &&
          G.PerStep.Nodes <= F.Confirmed->Nodes &&
          llvm::any_of(G.Calls, [&](const Line &L) {
            return Around.count({G.PerStep.Steps, L.Path, L.Function});
          }))
        G.Explained = true;
    F.Steps.push_back({F.Where, "a run of the program kept " +
                                    printable(amountInWords(*F.Confirmed)) +
                                    ", made on the lines of this finding"});
  }
}

std::vector<std::string> WatchedRun::unexplained() const {
  std::vector<std::string> Result;
  for (const Growth &G : Growths) {
    if (G.Explained)
      continue;
    std::string Text = printable(amountInWords(G.PerStep));
    if (G.Calls.empty())
      Text += ", made at a place that is not known";
    else
      Text += ", made at " +
              printable(relativePath(G.Calls.front().Path, Folder)) + ":" +
              std::to_string(G.Calls.front().Number) + " in " +
              printable(G.Calls.front().Function);
    Result.push_back(std::move(Text));
  }
  return Result;
}

} // namespace libtorch_tidy::driver
