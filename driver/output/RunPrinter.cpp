//===- RunPrinter.cpp - The report of a run, for a reader -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/findings/RunReport.h"
#include "driver/output/Markup.h"
#include "driver/output/Reports.h"
#include "driver/project/Messages.h"
#include "driver/project/OutputFile.h"
#include "driver/project/Paths.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using llvm::Error;
using llvm::StringRef;

namespace libtorch_tidy::driver {

static constexpr llvm::StringLiteral RunStyle =
#include "driver/run.css.inc"
    ;

/// 65792 as "65,792"; with a decimal where that matters.
static std::string words(double Value) {
  const bool IsWhole =
      std::fabs(Value) >= 10 || std::fabs(Value - std::round(Value)) < 0.05;
  return grouped(decimal(Value, IsWhole ? 0 : 1));
}

static std::string megabytes(double Value) {
  return grouped(decimal(Value / 1e6, Value >= 1e7 ? 0 : 1)) + " MB";
}

/// "1 step", "2 steps".
static std::string amount(double Value, StringRef One) {
  const std::string Number = words(Value);
  return Number + " " + One.str() + (Number == "1" ? "" : "s");
}

static StringRef unitOf(const RunReport::Verdict &V) {
  if (V.countsNodes())
    return "nodes";
  return llvm::StringSwitch<StringRef>(V.Kind)
      .Cases("threads", "thread-per-call", "threads")
      .Default("bytes");
}

namespace {

/// What one line of the program made of the growth of a verdict.
struct Share {
  std::string Place;
  double Part = 0, PerStep = 0;
  std::vector<const RunReport::Site *> Sites;
};

/// An area of a chart; Class is a style's.
struct Layer {
  StringRef Class;
  std::vector<double> Values;
};

} // namespace

/// The verdict, and where most of what grows was made.
static std::string headline(const RunReport::Verdict &V,
                            llvm::ArrayRef<Share> Shares) {
  if (Shares.empty())
    return V.Text;
  const Share &First = Shares.front();
  if (First.Part > 0.5 || Shares.size() == 1)
    return V.Text + "; " + (First.Part > 0.95 ? "" : "most of it ") +
           "made at " + First.Place;
  std::string Places = First.Place;
  const size_t Named = std::min<size_t>(Shares.size(), 3);
  for (size_t I = 1; I < Named; ++I)
    Places += (I + 1 == Named ? " and " : ", ") + Shares[I].Place;
  return V.Text + "; made at " + Places;
}

/// The operators that made what a line made, the largest first.
static std::string operatorsOf(const Share &Made) {
  std::vector<std::string> Names;
  for (const RunReport::Site *S : Made.Sites)
    if (!S->Made.empty() && !llvm::is_contained(Names, S->Made))
      Names.push_back(S->Made);
  if (Names.size() > 3) {
    Names.resize(3);
    Names.push_back("...");
  }
  return llvm::join(Names, ", ");
}

namespace {

/// "; ended by SIGTERM", or nothing where it ended by itself.
std::string endOf(const RunReport &Run) {
  if (Run.End.empty() || Run.End == "exit" || Run.End == "running")
    return "";
  return "; ended by " + (Run.End == "exception" ? "an exception" : Run.End);
}

class RunPrinter {
public:
  RunPrinter(const RunReport &Run, StringRef Root) : Run(Run), Root(Root) {}

  std::string text() const {
    std::string Result, Line;
    auto Say = [&](const std::string &Text) {
      Result += printable(Text) + "\n";
    };
    for (const RunReport::Steps &S : Run.Series)
      Line += (Line.empty() ? "" : ", ") + amount(S.Count, "step") + " of '" +
              S.Name + "'";
    Line += (Line.empty() ? "no step was taken" : "") +
            std::string(" (LibTorch ") + Run.Torch + ")" + endOf(Run);
    Say(Line);
    constexpr size_t MaxPlaces = 5;
    for (const RunReport::Verdict &V : Run.Verdicts) {
      const std::vector<Share> Shares = sharesOf(V);
      Say(V.Series + ": " + headline(V, Shares));
      for (const Share &Each : llvm::ArrayRef(Shares).take_front(MaxPlaces)) {
        const std::string Operators = operatorsOf(Each);
        Say((V.isSampled() ? "  about " : "  ") +
            (V.countsNodes() ? amount(Each.PerStep, "node")
                             : words(Each.PerStep) + " bytes") +
            " a step made at " + Each.Place +
            (Operators.empty() ? "" : ": " + Operators));
        const std::vector<std::string> Stack = stackOf(*Each.Sites.front());
        for (const std::string &Call :
             llvm::ArrayRef(Stack).drop_front().take_front(4))
          Say("    called from " + Call);
      }
      if (Shares.size() > MaxPlaces)
        Say("  and at " +
            amount(double(Shares.size() - MaxPlaces), "other place"));
      if (!V.Advice.empty())
        Say("  " + V.Advice);
    }
    for (const RunReport::Region &R : Run.Regions) {
      const double Times = std::max(R.Times - 1, 1.0);
      Say("region '" + R.Name + "': " + amount(R.Times, "time") + ", keeps " +
          words(R.Bytes / Times) + " bytes of tensors and " +
          amount(R.Nodes / Times, "graph node") + " each time");
    }
    return Result;
  }

  std::string page() {
    beginPage(OS, "Memory of a run", RunStyle, /*HasScript=*/false);
    OS << "<main>\n<h1>Memory of a run</h1>\n<p class=\"meta\">LibTorch "
       << escapeForeign(Run.Torch) << ", process " << decimal(Run.Process, 0)
       << ", began " << escapeForeign(Run.Began) << ", "
       << amount(Run.Seconds, "second") << "</p>\n";
    for (const RunReport::Steps &S : Run.Series) {
      OS << "<h2>" << amount(S.Count, "step") << " of “"
         << escapeForeign(S.Name) << "”</h2>\n";
      for (const RunReport::Verdict &V : Run.Verdicts)
        if (V.Series == S.Name)
          writeVerdict(V);
      if (S.Points.size() > 1)
        writeCharts(S);
    }
    OS << "</main>\n";
    endPage(OS, "");
    return std::move(Out);
  }

private:
  std::string lineOf(const RunReport::Call &C) const {
    return relativePath(C.File, Root).str() + ":" + std::to_string(C.Line);
  }

  std::string placeOf(const RunReport::Site &S) const {
    if (!S.Calls.empty())
      return lineOf(S.Calls.front());
    return S.Where.empty() ? "a thread of LibTorch's" : S.Where;
  }

  /// "net.cpp:12 in train", the innermost call first.
  std::vector<std::string> stackOf(const RunReport::Site &S) const {
    std::vector<std::string> Result;
    for (const RunReport::Call &C : S.Calls)
      Result.push_back(lineOf(C) + " in " + C.Function);
    if (Result.empty())
      Result.push_back(S.Where);
    return Result;
  }

  /// The largest first.
  std::vector<Share> sharesOf(const RunReport::Verdict &V) const {
    std::map<std::string, Share> ByPlace;
    double Sum = 0;
    for (const RunReport::Growth &G : V.Sites) {
      const double PerStep = V.countsNodes() ? G.Nodes : G.Bytes;
      Share &Here = ByPlace[placeOf(*G.Maker)];
      Here.PerStep += PerStep;
      Here.Sites.push_back(G.Maker);
      Sum += PerStep;
    }
    std::vector<Share> Result;
    for (auto &[Place, Each] : ByPlace) {
      Each.Place = Place;
      Each.Part = Sum ? Each.PerStep / Sum : 0;
      // Stacks are a sample: what they show stands for all of the growth.
      if (V.isSampled())
        Each.PerStep = Each.Part * V.PerStep;
      Result.push_back(std::move(Each));
    }
    llvm::stable_sort(
        Result, [](const Share &A, const Share &B) { return A.Part > B.Part; });
    return Result;
  }

  void writeVerdict(const RunReport::Verdict &V) {
    const std::vector<Share> Shares = sharesOf(V);
    OS << "<div class=\"verdict " << escapeForeign(V.Kind) << "\">\n<p>"
       << escapeForeign(headline(V, Shares)) << "</p>\n";
    if (!V.Advice.empty())
      OS << "<p class=\"meta\">" << escapeForeign(V.Advice) << "</p>\n";
    OS << "</div>\n";
    if (Shares.empty())
      return;
    OS << "<table>\n<thead><tr><th scope=\"col\">" << unitOf(V)
       << " a step</th><th scope=\"col\">made at</th></tr></thead>\n<tbody>\n";
    for (const Share &Each : Shares) {
      OS << "<tr><td class=\"count\">" << words(Each.PerStep)
         << "<svg viewBox=\"0 0 100 6\" aria-hidden=\"true\"><rect "
            "class=\"bar\" "
            "width=\""
         << decimal(Each.Part * 100, 0) << "\" height=\"6\"/></svg></td><td>";
      if (const std::string Operators = operatorsOf(Each); !Operators.empty())
        OS << "<code>" << escapeForeign(Operators) << "</code>";
      OS << "<pre>";
      for (const std::string &Call : stackOf(*Each.Sites.front()))
        OS << escapeForeign(Call) << "\n";
      OS << "</pre></td></tr>\n";
    }
    OS << "</tbody>\n</table>\n";
  }

  void writeCharts(const RunReport::Steps &S) {
    const std::vector<double> Steps = column(S, "step");
    std::vector<Layer> Layers = {{"tensors", column(S, "cpu tensorBytes")},
                                 {"heap", column(S, "heapUsed")},
                                 {"kept", column(S, "heapKept")},
                                 {"other", column(S, "rss")}};
    auto SubtractFrom = [&](std::vector<double> &All,
                            const std::vector<double> &Part) {
      for (size_t I = 0; I < All.size(); ++I)
        All[I] = std::max(All[I] - Part[I], 0.0);
    };
    for (const Layer &Each : llvm::ArrayRef(Layers).drop_back())
      SubtractFrom(Layers.back().Values, Each.Values);
    OS << "<figure>\n";
    writeChart(Steps, Layers, megabytes,
               "Memory of the process by owner over the steps");
    OS << "<figcaption>Memory of the process:";
    for (const auto &[Class, Name] :
         {std::pair("tensors", "CPU tensors"),
          {"heap", "the rest of the heap in use"},
          {"kept", "free, kept by glibc"},
          {"other", "not on the heap: code, stacks, files"}})
      OS << "<svg class=\"key\" viewBox=\"0 0 1 1\"><rect class=\"" << Class
         << "\" width=\"1\" height=\"1\"/></svg>" << Name;
    OS << "</figcaption>\n</figure>\n";
    for (StringRef Device : Run.Columns) {
      if (!Device.consume_back(" tensorBytes") || Device == "cpu")
        continue;
      const std::vector<double> Used = column(S, Device.str() + " tensorBytes");
      std::vector<double> Cache = column(S, Device.str() + " cacheReserved");
      SubtractFrom(Cache, Used);
      OS << "<figure>\n";
      writeChart(Steps, {{"tensors", Used}, {"other", Cache}}, megabytes,
                 "Memory of " + Device.str());
      OS << "<figcaption>" << escapeForeign(Device)
         << ": tensors, and above them what its allocator has reserved"
            "</figcaption>\n</figure>\n";
    }
    const std::vector<double> Nodes = column(S, "graphNodes");
    if (llvm::none_of(Nodes, [](double Each) { return Each > 0; }))
      return;
    OS << "<figure>\n";
    writeChart(Steps, {}, words, "Graph nodes over the steps", Nodes);
    OS << "<figcaption>Nodes of autograd graphs that are alive</figcaption>\n"
          "</figure>\n";
  }

  /// Areas on top of each other, or one line, as SVG.
  void writeChart(llvm::ArrayRef<double> Steps, llvm::ArrayRef<Layer> Layers,
                  std::string (*Unit)(double), StringRef Title,
                  llvm::ArrayRef<double> Line = {}) {
    constexpr double Width = 750, Bottom = 216, Left = 84, Top = 10;
    double Most = 1;
    for (size_t I = 0; I < Steps.size(); ++I) {
      double Sum = 0;
      for (const Layer &L : Layers)
        Sum += L.Values[I];
      Most = std::max({Most, Sum, Line.empty() ? 0 : Line[I]});
    }
    Most *= 1.05;
    const double Span = std::max(Steps.back() - Steps.front(), 1e-9);
    auto Write = [&](size_t I, double Value) {
      OS << decimal(Left + (Steps[I] - Steps.front()) / Span * (Width - Left),
                    1)
         << "," << decimal(Bottom - Value / Most * (Bottom - Top), 1) << " ";
    };
    OS << "<svg viewBox=\"0 0 760 240\" role=\"img\" aria-label=\""
       << escapeForeign(Title) << "\">\n";
    for (int I = 0; I < 5; ++I) {
      const double Y = Bottom - I / 4.0 * (Bottom - Top);
      OS << "<line class=\"axis\" x1=\"84\" x2=\"750\" y1=\"" << decimal(Y, 1)
         << "\" y2=\"" << decimal(Y, 1) << "\"/><text x=\"78\" y=\""
         << decimal(Y + 4, 1) << "\" text-anchor=\"end\">" << Unit(Most * I / 4)
         << "</text>\n";
    }
    std::vector<double> Below(Steps.size());
    for (const Layer &L : Layers) {
      OS << "<polygon class=\"" << L.Class << "\" points=\"";
      for (size_t I = 0; I < Steps.size(); ++I)
        Write(I, Below[I] + L.Values[I]);
      for (size_t I = Steps.size(); I--; Below[I] += L.Values[I])
        Write(I, Below[I]);
      OS << "\"/>\n";
    }
    if (!Line.empty()) {
      OS << "<polyline class=\"nodes\" points=\"";
      for (size_t I = 0; I < Steps.size(); ++I)
        Write(I, Line[I]);
      OS << "\"/>\n";
    }
    OS << "<text x=\"84\" y=\"234\">step " << decimal(Steps.front(), 0)
       << "</text><text x=\"750\" y=\"234\" text-anchor=\"end\">step "
       << decimal(Steps.back(), 0) << "</text></svg>\n";
  }

  /// The figure \p Name of each step; the one before where it is not known.
  std::vector<double> column(const RunReport::Steps &S, StringRef Name) const {
    const size_t At = llvm::find(Run.Columns, Name) - Run.Columns.begin();
    std::vector<double> Result;
    for (const std::vector<double> &Point : S.Points) {
      const double Value = At < Point.size() ? Point[At] : 0;
      const double Before = Result.empty() ? 0 : Result.back();
      Result.push_back(Value >= 0 ? Value : Before);
    }
    return Result;
  }

  const RunReport &Run;
  const StringRef Root;
  std::string Out;
  llvm::raw_string_ostream OS{Out};
};

} // namespace

Error printRun(const WatchReportOptions &Options, llvm::vfs::FileSystem &FS) {
  if (Error E =
          checkDistinct({{"--html", Options.Html}, {"--json", Options.Json}},
                        {{"the report of a run", Options.File}}))
    return E;
  llvm::Expected<RunReport> Run =
      RunReport::read(Options.File, FS, /*AllSites=*/!Options.Json.empty());
  if (!Run)
    return Run.takeError();
  llvm::SmallString<256> Root(Options.Root.empty() ? "." : Options.Root);
  if (FS.makeAbsolute(Root) || FS.getRealPath(Root.str().str(), Root))
    Root = Options.Root;
  RunPrinter Printer(*Run, Root);
  const bool UsesStdout = Options.Html == "-" || Options.Json == "-";
  (UsesStdout ? llvm::errs() : llvm::outs()) << Printer.text();
  auto Write = [](StringRef Name,
                  llvm::function_ref<std::string()> Content) -> Error {
    if (Name.empty())
      return Error::success();
    llvm::Expected<OutputFile> File = OutputFile::open(Name);
    return File ? File->write(Content()) : File.takeError();
  };
  if (Error E = Write(Options.Html, [&] { return Printer.page(); }))
    return E;
  return Write(Options.Json, [&] { return Run->withLines(Root); });
}

} // namespace libtorch_tidy::driver
