//===- RunReport.cpp - A run of the program, as its watch saw it ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/findings/RunReport.h"
#include "checks/base/Catalog.h"
#include "driver/llvm/Compat.h"
#include "driver/project/Json.h"
#include "driver/project/Messages.h"
#include "driver/project/Paths.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/DebugInfo/DIContext.h"
#include "llvm/DebugInfo/Symbolize/Symbolize.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <set>
#include <tuple>

using llvm::Expected;
using llvm::StringRef;

namespace libtorch_tidy::driver {

static constexpr const char *ReportFormat = "libtorch-tidy watch";
static constexpr unsigned ReportVersion = 1;

static double numberAt(const Json &Object, const char *Key) {
  return realOf(at(Object, {Key}));
}

static std::string textAt(const Json &Object, const char *Key) {
  return textOf(at(Object, {Key}));
}

static const Json &listAt(const Json &Object, const char *Key) {
  return listOf(at(Object, {Key}));
}

static auto objectsAt(const Json &Object, const char *Key) {
  return llvm::make_filter_range(
      listAt(Object, Key), [](const Json &Each) { return Each.is_object(); });
}

/// Is \p File, a path without dots, a header of LibTorch, of the system, or of
/// the watch?
static bool isLibrary(StringRef File) {
  static constexpr StringRef Parts[] = {"/c++/",        "/libtorch-tidy/watch",
                                        "/ATen/",       "/c10/",
                                        "/torch/csrc/", "torch/include/"};
  return File.empty() || File == "<invalid>" || File.starts_with("??") ||
         File.starts_with("/usr/include/") || File.starts_with("/usr/lib") ||
         llvm::any_of(Parts, [&](StringRef P) { return File.contains(P); });
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

/// The operator that a function of the dispatcher calls: "relu". The name of
/// any other function stays as it is.
static std::string operatorOf(const std::string &Function) {
  const std::string Name = withoutArguments(Function);
  const StringRef Rest = StringRef(Name).split("_ops::").second;
  const StringRef Operator =
      Rest.take_while([](char C) { return llvm::isAlnum(C) || C == '_'; });
  if (!Operator.empty() && Rest.drop_front(Operator.size()).starts_with("::"))
    return Operator.str();
  const bool IsUnknown =
      StringRef(Name).starts_with("??") || Name == "<invalid>";
  return IsUnknown ? std::string() : StringRef(Name).trim().str();
}

namespace {

/// Reads the sites of a report, and asks the programs that it names for the
/// lines of their addresses.
class SiteReader {
public:
  explicit SiteReader(const Json &Report)
      : Modules(listAt(Report, "modules")) {}

  RunReport::Site read(const Json &Site) {
    RunReport::Site Result;
    std::vector<Address> Frames;
    for (const Json &Frame : listAt(Site, "frames"))
      if (std::optional<Address> At = addressOf(Frame))
        Frames.push_back(*At);
    const bool HasOperator = isTrue(at(Site, {"operator"})) && !Frames.empty();
    const bool HasLines = Site.contains("calls");
    Result.Made = textAt(Site, "made");
    if (HasOperator && !HasLines)
      if (const auto Calls = callsAt(Frames[0]); Calls.getNumberOfFrames())
        Result.Made = operatorOf(
            Calls.getFrame(Calls.getNumberOfFrames() - 1).FunctionName);
    if (HasOperator)
      Frames.erase(Frames.begin());
    for (size_t I = 0; I < std::min<size_t>(Frames.size(), 3); ++I)
      Result.Where +=
          (I ? " < " : "") + llvm::sys::path::filename(Frames[I].Module).str() +
          "+0x" + llvm::utohexstr(Frames[I].Offset, /*LowerCase=*/true);
    for (const Json &Call : objectsAt(Site, "calls"))
      add(Result.Calls, Call);
    if (HasLines)
      return Result;
    for (const Address &At : Frames)
      add(Result.Calls, At);
    return Result;
  }

  /// \p Frames are addresses, or have their lines already.
  std::vector<RunReport::Call> reached(const Json &Frames) {
    std::vector<RunReport::Call> Result;
    for (const Json &Frame : Frames)
      if (const std::optional<Address> At = addressOf(Frame))
        add(Result, *At);
      else if (Frame.is_object())
        add(Result, Frame);
    return Result;
  }

private:
  struct Address {
    std::string Module; ///< A file, or "?".
    uint64_t Offset;
  };

  std::optional<Address> addressOf(const Json &Frame) const {
    if (!Frame.is_array() || Frame.size() != 2 ||
        !Frame[0].is_number_integer() || !Frame[1].is_number_unsigned())
      return std::nullopt;
    const auto Module = Frame[0].get<int64_t>();
    const bool IsKnown = Module >= 0 && size_t(Module) < Modules.size();
    return Address{IsKnown ? textOf(Modules[size_t(Module)]) : "?",
                   Frame[1].get<uint64_t>()};
  }

  /// The innermost inlined one first. A program that has moved, or that was
  /// built anew, says nothing.
  llvm::DIInliningInfo callsAt(const Address &At) {
    if (!llvm::sys::fs::is_regular_file(At.Module))
      return {};
    Expected<llvm::DIInliningInfo> Calls = Symbolizer.symbolizeInlinedCode(
        At.Module, {At.Offset, llvm::object::SectionedAddress::UndefSection});
    if (Calls)
      return std::move(*Calls);
    llvm::consumeError(Calls.takeError());
    return {};
  }

  void add(std::vector<RunReport::Call> &Calls, const Address &At) {
    const llvm::DIInliningInfo Inlined = callsAt(At);
    for (unsigned I = 0; I < Inlined.getNumberOfFrames(); ++I) {
      const llvm::DILineInfo &Info = Inlined.getFrame(I);
      add(Calls, Info.FileName, Info.Line, withoutArguments(Info.FunctionName));
    }
  }

  static void add(std::vector<RunReport::Call> &Calls, const Json &Call) {
    if (const Json &Line = at(Call, {"line"}); Line.is_number_unsigned())
      add(Calls, textAt(Call, "file"), Line.get<unsigned>(),
          textAt(Call, "function"));
  }

  static void add(std::vector<RunReport::Call> &Calls, StringRef File,
                  unsigned Line, std::string Function) {
    llvm::SmallString<256> Path(File);
    llvm::sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
    if (!isLibrary(Path) && Line)
      Calls.push_back({std::move(Function), Path.str().str(), Line});
  }

  const Json &Modules;
  llvm::symbolize::LLVMSymbolizer Symbolizer;
};

} // namespace

Expected<RunReport> RunReport::read(StringRef File, llvm::vfs::FileSystem &FS,
                                    bool AllSites) {
  Expected<Json> Read = readJson(File, FS);
  if (!Read)
    return Read.takeError();
  auto Malformed = [&](const llvm::Twine &Why) {
    return makeError("malformed report '" + File + "': " + Why);
  };
  RunReport Result;
  Result.Written = std::move(*Read);
  const Json &Report = Result.Written;
  if (!Report.is_object() || textAt(Report, "format") != ReportFormat)
    return Malformed("it is not a report of libtorch-tidy's watch");
  if (numberAt(Report, "version") != ReportVersion)
    return Malformed("this program does not know its version");

  Result.Torch = textAt(Report, "torch");
  Result.Began = textAt(Report, "began");
  Result.End = textAt(Report, "end");
  Result.Process = numberAt(Report, "pid");
  Result.Seconds = numberAt(Report, "seconds");
  std::map<double, const Json *> Known;
  for (const Json &Site : objectsAt(Report, "sites"))
    Known[numberAt(Site, "site")] = &Site;
  SiteReader Reader(Report);
  auto SiteOf = [&](double Number) -> const Site * {
    auto It = Known.find(Number);
    if (It == Known.end())
      return nullptr;
    auto [Here, New] = Result.Sites.try_emplace(Number);
    if (New)
      Here->second = Reader.read(*It->second);
    return &Here->second;
  };
  for (const auto &[Number, Site] : Known)
    if (AllSites)
      SiteOf(Number);
  for (const Json &Said : objectsAt(Report, "verdicts")) {
    Verdict &V =
        Result.Verdicts.emplace_back(Verdict{textAt(Said, "kind"),
                                             textAt(Said, "series"),
                                             textAt(Said, "text"),
                                             textAt(Said, "advice"),
                                             numberAt(Said, "perStep"),
                                             numberAt(Said, "explained"),
                                             0,
                                             {}});
    V.Nodes = Said.contains("graphNodesPerStep")
                  ? numberAt(Said, "graphNodesPerStep")
                  : -1;
    for (const Json &Grown : objectsAt(Said, "sites"))
      if (const Site *Maker = SiteOf(numberAt(Grown, "site")))
        V.Sites.push_back({Maker, numberAt(Grown, "bytesPerStep"),
                           numberAt(Grown, "nodesPerStep")});
  }
  Result.ReachedAll = isTrue(at(Report, {"reachedAll"}));
  Result.Reached = Reader.reached(listAt(Report, "reached"));
  for (const Json &R : objectsAt(Report, "regions"))
    Result.Regions.push_back({textAt(R, "name"), numberAt(R, "times"),
                              numberAt(R, "bytesKept"),
                              numberAt(R, "nodesKept")});
  for (const Json &Column : listAt(Report, "columns"))
    Result.Columns.push_back(textOf(Column));
  for (const Json &Taken : objectsAt(Report, "series")) {
    Steps &S = Result.Series.emplace_back(
        Steps{textAt(Taken, "name"), numberAt(Taken, "steps"), {}});
    for (const Json &Point : listAt(Taken, "points")) {
      std::vector<double> &Row = S.Points.emplace_back();
      for (const Json &Value : listOf(Point))
        Row.push_back(realOf(Value));
    }
  }
  return Result;
}

std::string RunReport::withLines(StringRef Root) const {
  auto AsJson = [&](const std::vector<Call> &Calls) {
    Json Result = Json::array();
    for (const Call &C : Calls)
      Result.push_back({{"function", C.Function},
                        {"file", relativePath(C.File, Root).str()},
                        {"line", C.Line}});
    return Result;
  };
  Json Report = Written, None;
  if (Report.contains("reached"))
    Report["reached"] = AsJson(Reached);
  for (Json &Site : Report.contains("sites") ? Report["sites"] : None) {
    auto It =
        Site.is_object() ? Sites.find(numberAt(Site, "site")) : Sites.end();
    if (It == Sites.end())
      continue;
    const RunReport::Site &Known = It->second;
    Site["made"] = Known.Made;
    Site["calls"] = AsJson(Known.Calls);
    Site["where"] = Known.Where;
  }
  return written(Report, 1, /*OnlyAscii=*/true) + "\n";
}

Expected<WatchedRun>
WatchedRun::read(StringRef File, StringRef Folder,
                 llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS) {
  Expected<RunReport> Report = RunReport::read(File, *FS, /*AllSites=*/false);
  if (!Report)
    return Report.takeError();
  WatchedRun Result;
  Result.Folder = Folder.str();
  auto Locate = [&](std::vector<RunReport::Call> &Calls) {
    for (RunReport::Call &Call : Calls)
      Call.File =
          canonicalPath(compat::absolutePath(Folder, Call.File), "", *FS);
  };
  if (Report->ReachedAll)
    Result.Reached = std::move(Report->Reached);
  Locate(Result.Reached);
  for (const RunReport::Verdict &Said : Report->Verdicts)
    for (const RunReport::Growth &Grown : Said.Sites) {
      Growth G;
      // The verdict says which of the two grows; the other one varies. A
      // sample stands for the whole.
      const bool IsSample = Said.isSampled() && Said.Explained > 0;
      const double Scale = IsSample ? 1 / Said.Explained : 1;
      if (Said.countsNodes())
        G.PerStep.Nodes = Grown.Nodes * Scale;
      else
        G.PerStep.Bytes = Grown.Bytes * Scale;
      G.PerStep.Steps = Said.Series;
      G.PerStep.IsEstimate = IsSample;
      G.HasGraph = Said.countsNodes() || Said.Nodes != 0;
      G.HasTensors = !Said.countsNodes();
      G.Explained = Said.mayBeInputs();
      G.Calls = Grown.Maker->Calls;
      Locate(G.Calls);
      // Operators of one line, called in the same way, are one place.
      auto Same = llvm::find_if(Result.Growths, [&](const Growth &Old) {
        return Old.PerStep.Steps == G.PerStep.Steps &&
               Old.HasTensors == G.HasTensors &&
               llvm::equal(
                   Old.Calls, G.Calls,
                   [](const RunReport::Call &A, const RunReport::Call &B) {
                     return A.File == B.File && A.Line == B.Line;
                   });
      });
      if (Same == Result.Growths.end()) {
        Result.Growths.push_back(std::move(G));
        continue;
      }
      Same->PerStep.Bytes += G.PerStep.Bytes;
      Same->PerStep.Nodes += G.PerStep.Nodes;
    }
  return Result;
}

static bool hasTag(const Finding &F, StringRef Tag) {
  const CatalogEntry *Entry = findInCatalog(F.Check);
  return F.Kind == FindingKind::Defect && Entry &&
         llvm::is_contained(Entry->Tags, Tag);
}

static bool isAboutWhatIsKept(const Finding &F) {
  return hasTag(F, "external/cwe/cwe-401");
}

/// Is it graphs that \p F keeps, with or without the tensors they save? Others
/// keep tensors, with or without graphs.
static bool keepsGraphs(const Finding &F) {
  return hasTag(F, "autograd-graph");
}

/// Is it part of a graph that \p F keeps, which has tensors that any caller has
/// made?
static bool keepsNode(const Finding &F) {
  return hasTag(F, "autograd") && !keepsGraphs(F);
}

static bool isAt(const RunReport::Call &C, const Place &Where) {
  return C.Line == Where.Line && C.File == Where.Path;
}

/// Is \p C on one of \p Lines, which are of the file of \p F?
static bool isIn(const std::optional<LineRange> &Lines, const Finding &F,
                 const RunReport::Call &C) {
  return Lines && C.Line >= Lines->First && C.Line <= Lines->Last &&
         C.File == F.Where.Path;
}

/// Is \p C on a line on which \p F makes what it keeps?
static bool isMadeBy(const Finding &F, const RunReport::Call &C) {
  return isIn(F.MadeBy.Lines, F, C);
}

/// Is \p C on the line of \p F or of one of its steps?
static bool isOnLineOf(const Finding &F, const RunReport::Call &C) {
  return isAt(C, F.Where) || isMadeBy(F, C) ||
         llvm::any_of(F.Steps,
                      [&](const FindingStep &S) { return isAt(C, S.Where); });
}

/// Does \p C make an object that \p F says is kept?
static bool isConstructorOf(const Finding &F, const RunReport::Call &C) {
  return llvm::is_contained(F.MadeBy.Constructors, C.Function);
}

std::optional<WatchedRun::Fit> WatchedRun::fitOf(const Finding &F,
                                                 const Growth &G) const {
  if ((keepsGraphs(F) ? !G.HasGraph : !G.HasTensors) || isUnreached(F))
    return std::nullopt;
  const auto On = llvm::find_if(G.Calls, [&](const RunReport::Call &C) {
    return isOnLineOf(F, C) || isConstructorOf(F, C);
  });
  if (On == G.Calls.end())
    return std::nullopt;
  const bool HasMade = llvm::any_of(Growths, [&](const Growth &Other) {
    return Other.PerStep.Steps == G.PerStep.Steps &&
           llvm::any_of(Other.Calls, [&](const RunReport::Call &C) {
             return isMadeBy(F, C);
           });
  });
  return Fit{size_t(On - G.Calls.begin()), !F.MadeBy.Lines ? 1U
                                           : HasMade       ? 0U
                                                           : 2U};
}

bool WatchedRun::isUnreached(const Finding &F) const {
  return F.MadeBy.Runs && !Reached.empty() &&
         llvm::none_of(Reached, [&](const RunReport::Call &C) {
           return isIn(F.MadeBy.Runs, F, C);
         });
}

void WatchedRun::explain(const Finding &F, llvm::ArrayRef<Growth *> Kept) {
  std::set<std::tuple<StringRef, StringRef, StringRef>> Around;
  for (Growth *G : Kept) {
    G->Explained = true;
    // What is kept has references to what the caller made for it; a node those
    // to what its graph was made of, somewhere below main().
    const auto Callers =
        llvm::ArrayRef(G->Calls).drop_front(fitOf(F, *G)->Depth);
    const size_t Count = keepsGraphs(F) ? 1
                         : keepsNode(F)
                             ? std::max<size_t>(Callers.size(), 3) - 1
                             : 2;
    for (const RunReport::Call &C : Callers.take_front(Count))
      Around.insert({G->PerStep.Steps, C.File, C.Function});
  }
  // Of a graph that is made elsewhere, most may be.
  const bool OfAnySize = keepsNode(F) && !F.MadeBy.Lines;
  for (Growth &G : Growths)
    if ((OfAnySize || (G.PerStep.Bytes <= F.Confirmed->Bytes &&
                       G.PerStep.Nodes <= F.Confirmed->Nodes)) &&
        llvm::any_of(G.Calls, [&](const RunReport::Call &C) {
          return Around.count({G.PerStep.Steps, C.File, C.Function});
        }))
      G.Explained = true;
}

std::string WatchedRun::makersOf(const Finding &F,
                                 llvm::ArrayRef<Growth *> Kept) {
  std::set<std::string> Makers;
  for (const Growth *G : Kept) {
    const auto On = llvm::find_if(
        G->Calls, [&](const RunReport::Call &C) { return isOnLineOf(F, C); });
    const auto Constructor =
        llvm::find_if(G->Calls, [&](const RunReport::Call &C) {
          return isConstructorOf(F, C);
        });
    Makers.insert(On != G->Calls.end()
                      ? "on the lines of this finding"
                      : "in " + printable(Constructor->Function));
  }
  return llvm::join(Makers, " and ");
}

void WatchedRun::confirm(std::vector<Finding> &Findings) {
  std::map<Finding *, std::vector<Growth *>> Kept;
  for (Growth &G : Growths) {
    std::optional<Fit> Best;
    Finding *Of = nullptr;
    for (Finding &F : Findings)
      if (isAboutWhatIsKept(F))
        if (const std::optional<Fit> Next = fitOf(F, G);
            Next && (!Best || *Next < *Best)) {
          Best = Next;
          Of = &F;
        }
    if (Of)
      Kept[Of].push_back(&G);
  }
  for (auto &[F, Of] : Kept) {
    F->Confirmed = Measured{0, 0, Of.front()->PerStep.Steps};
    for (const Growth *G : Of) {
      F->Confirmed->Bytes += G->PerStep.Bytes;
      F->Confirmed->Nodes += G->PerStep.Nodes;
      F->Confirmed->IsEstimate |= G->PerStep.IsEstimate;
    }
    explain(*F, Of);
    F->Steps.push_back({F->Where, "a run of the program kept " +
                                      printable(amountInWords(*F->Confirmed)) +
                                      ", made " + makersOf(*F, Of)});
  }
  for (Finding &F : Findings)
    if (isAboutWhatIsKept(F) && !F.Confirmed && isUnreached(F))
      F.Steps.push_back({F.Where, "not reached by the run that was watched"});
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
              printable(relativePath(G.Calls.front().File, Folder)) + ":" +
              std::to_string(G.Calls.front().Line) + " in " +
              printable(G.Calls.front().Function);
    Result.push_back(std::move(Text));
  }
  return Result;
}

} // namespace libtorch_tidy::driver
