//===- TimeLine.cpp - A picture of bytes in use over time -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/base/Amounts.h"
#include "driver/budget/Document.h"
#include "driver/output/Markup.h"
#include "driver/project/Messages.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <set>

using libtorch_tidy::bytes::PeakRow;
using libtorch_tidy::bytes::TimeRow;
using llvm::StringRef;

namespace libtorch_tidy::driver {

// In pixels: the height does not depend on the width of the page.
static constexpr unsigned Top = 30, Height = 240;

namespace {

/// What was in use while something ran, and where that is.
struct Column {
  PeakRow At; ///< With the most.
  uint64_t After;
};

class Picture {
public:
  Picture(llvm::raw_ostream &OS, const PassPicture &Pass,
          const std::vector<bytes::PlaceRow> &Places, StringRef Folder)
      : OS(OS), Pass(Pass), Folder(Folder) {
    for (const TimeRow &Point : Pass.Line) {
      const bytes::PlaceRow &Where = Places[Point.Place];
      All.push_back({{Point.Most, Where.Where, Where.Module, Point.IsBackward},
                     Point.After});
    }
    // The step of an optimizer has no line of its own, and a pass without
    // operators has none at all.
    if (Pass.Peak.IsOptimizer || All.empty())
      All.push_back(
          {Pass.Peak, All.empty() ? Pass.Peak.Bytes : All.back().After});
    for (const auto &[I, Each] : llvm::enumerate(All)) {
      Least = std::min(Least, Each.After);
      if (Each.At.Bytes > Most) {
        Most = Each.At.Bytes;
        Highest = I;
      }
    }
    uint64_t Below = 0;
    for (Total Each : Pass.Floor) {
      // A parameter that gets no gradient after all counts in the sums only.
      Each.Bytes = std::min(Each.Bytes, Least - Below);
      Below += Each.Bytes;
      if (Each.Bytes)
        Bands.push_back(std::move(Each));
    }
  }

  void write() {
    OS << "<figure>\n<figcaption>During " << Pass.Name;
    if (!Most) {
      OS << " nothing is in use.</figcaption>\n</figure>\n";
      return;
    }
    const StringRef Says = Pass.Says == Bound::AtLeast  ? "at least "
                           : Pass.Says == Bound::AtMost ? "at most "
                           : Pass.Says == Bound::Exact  ? ""
                                                        : "about ";
    OS << " " << Says << "<b>" << readableBytes(Most) << "</b> "
       << (Most < 1024 ? "" : "(" + grouped(Most) + " bytes) ")
       << "are in use at the peak, " << escapeHtml(place(All[Highest].At))
       << "."
       << "</figcaption>\n<div class=\"chart\">\n";
    axis();
    plot();
    OS << "</div>\n";
    legend();
    highest();
    OS << "</figure>\n";
  }

private:
  /// Round numbers of the unit that the most has.
  void axis() {
    const ByteUnit Unit = unitFor(Most);
    const double Value = static_cast<double>(Most) / Unit.Bytes;
    // 1, 2 or 5 of a power of ten, at most five times.
    double Step = std::pow(10, std::floor(std::log10(Value / 5)));
    for (const double Factor : {2.0, 2.5, 2.0})
      if (Step * 5 < Value)
        Step *= Factor;
    if (Unit.Bytes == 1)
      Step = std::max(1.0, std::floor(Step));
    const unsigned Digits = Step >= 1 ? 0 : 1;
    OS << "<svg class=\"axis\" aria-hidden=\"true\">";
    for (unsigned I = 0; Step * I <= Value; ++I) {
      const double Level = Top + Height - Height * Step * I / Value;
      Ticks.emplace_back(Level, I ? decimal(Step * I, Digits) + " " + Unit.Name
                                  : std::string("0"));
      OS << "<text x=\"100%\" y=\"" << decimal(Level + 4, 1) << "\">"
         << Ticks.back().second << "</text>";
    }
    OS << "</svg>\n";
  }

  void plot() {
    const std::string Stretched = llvm::formatv(
        R"(<svg y="{0}" width="100%" height="{1}" viewBox="0 0 {2} {1}" )"
        R"(preserveAspectRatio="none">)"
        "\n",
        Top, Height, All.size());
    OS << "<svg class=\"plot\" role=\"img\" aria-label=\"Bytes in use during "
       << Pass.Name << ": " << readableBytes(Most) << " at the peak\">\n"
       << Stretched;
    areas();
    OS << "</svg>\n";
    for (const auto &[Level, Text] : Ticks)
      OS << "<line class=\"grid\" x2=\"100%\" y1=\"" << decimal(Level, 1)
         << "\" y2=\"" << decimal(Level, 1) << "\"/>";
    OS << "\n";
    labels();
    // Above all else, what a pointer over the picture is told.
    OS << Stretched;
    for (const auto &[I, Each] : llvm::enumerate(All))
      OS << "<rect class=\"hit\" x=\"" << I << "\" width=\"1\" height=\""
         << Height << "\"><title>" << escapeHtml(place(Each.At)) << "\nat most "
         << grouped(Each.At.Bytes) << " bytes (" << readableBytes(Each.At.Bytes)
         << ")\nthen " << grouped(Each.After) << " bytes</title></rect>\n";
    OS << "</svg>\n</svg>\n";
  }

  /// What is in use between operators, and above it what is while they run.
  void areas() {
    OS << "<path class=\"while\" d=\"M0 " << Height;
    for (const auto &[I, Each] : llvm::enumerate(All))
      OS << "V" << decimal(level(Each.At.Bytes), 1) << "H" << I + 1;
    OS << "V" << Height << "z\"/>\n<path class=\"kept\" d=\"M0 " << Height
       << "L0 " << decimal(level(Least), 1);
    for (const auto &[I, Each] : llvm::enumerate(All))
      OS << "L" << I + 1 << " " << decimal(level(Each.After), 1);
    OS << "V" << Height << "z\"/>\n";
    uint64_t Below = 0;
    for (const Total &Each : Bands) {
      const uint64_t End = Below + Each.Bytes;
      OS << "<rect class=\"" << Each.Style << "\" y=\""
         << decimal(level(End), 1) << "\" width=\"" << All.size()
         << "\" height=\"" << decimal(level(Below) - level(End), 1) << "\"/>\n";
      Below = End;
    }
  }

  /// What is not to be stretched with the width.
  void labels() {
    const auto Turn = llvm::find_if(All, [](const Column &C) {
      return C.At.IsBackward || C.At.IsOptimizer;
    });
    if (Turn != All.end())
      OS << "<line class=\"turn\" x1=\"" << percent(Turn - All.begin())
         << "\" x2=\"" << percent(Turn - All.begin()) << "\" y1=\"" << Top
         << "\" y2=\"" << Top + Height + 20 << "\"/>";
    OS << "<text x=\"0\" y=\"" << Top + Height + 17 << "\">forward</text>";
    if (Turn != All.end())
      OS << "<text class=\"last\" x=\"100%\" y=\"" << Top + Height + 17
         << (Turn->At.IsOptimizer ? "\">optimizer</text>"
                                  : "\">backward</text>");
    const double At = Highest + 0.5;
    OS << "\n<circle cx=\"" << percent(At) << "\" cy=\"" << Top
       << "\" r=\"4\"/><text class=\"peak"
       << (2 * At > All.size() ? " last" : "") << "\" x=\"" << percent(At)
       << "\" y=\"" << Top - 10 << "\">peak " << readableBytes(Most);
    // As much as has room next to it on a wide page.
    constexpr size_t MaxLabel = 56;
    std::string Where = place(All[Highest].At);
    if (Where.size() > MaxLabel)
      Where = lineOf(All[Highest].At.Where, Folder);
    if (!Where.empty() && Where.size() <= MaxLabel)
      OS << "<tspan class=\"wide\"> " << escapeHtml(Where) << "</tspan>";
    OS << "</text>\n";
  }

  void legend() {
    OS << "<ul class=\"legend\">\n";
    for (const Total &Each : Bands)
      OS << "<li><span class=\"chip " << Each.Style << "\"></span> "
         << escapeHtml(Each.Name) << "</li>\n";
    OS << "<li><span class=\"chip kept\"></span> made by operators, and in use "
          "until a later one</li>\n<li><span class=\"chip while\"></span> only "
          "while an operator runs</li>\n</ul>\n";
  }

  /// For those who cannot point at it.
  void highest() {
    std::vector<const Column *> Order;
    for (const Column &Each : All)
      Order.push_back(&Each);
    // Those of equal bytes in the order of time.
    llvm::stable_sort(Order, [](const Column *A, const Column *B) {
      return A->At.Bytes > B->At.Bytes;
    });
    OS << "<details class=\"highest\"><summary>Where most is in use</summary>\n"
       << "<table>\n<thead><tr><th scope=\"col\">Place</th><th scope=\"col\" "
          "class=\"count\">Bytes</th></tr></thead>\n<tbody>\n";
    constexpr size_t MaxPlaces = 10;
    std::set<std::tuple<StringRef, unsigned, StringRef, bool, bool>> Places;
    for (const Column *Each : Order) {
      const PeakRow &At = Each->At;
      if (Places.size() < MaxPlaces &&
          Places
              .emplace(At.Where.File, At.Where.Line, At.Module, At.IsBackward,
                       At.IsOptimizer)
              .second)
        OS << "<tr><td>" << escapeHtml(place(At)) << "</td><td class=\"count\">"
           << grouped(At.Bytes) << "</td></tr>\n";
    }
    OS << "</tbody>\n</table>\n</details>\n";
  }

  std::string place(const PeakRow &At) const {
    const std::string Text = placeOf(At, Folder);
    return Text.empty() ? "before the first operator" : Text;
  }
  /// In the plot, from above.
  double level(uint64_t Bytes) const {
    return Height -
           Height * static_cast<double>(Bytes) / static_cast<double>(Most);
  }
  std::string percent(double Columns) const {
    return decimal(100 * Columns / static_cast<double>(All.size()), 2) + "%";
  }

  llvm::raw_ostream &OS;
  const PassPicture &Pass;
  const StringRef Folder;
  std::vector<Column> All;
  uint64_t Most = 0, Least = UINT64_MAX; ///< Of all time.
  size_t Highest = 0;                    ///< The column that has the most.
  std::vector<Total> Bands;              ///< That have bytes.
  std::vector<std::pair<double, std::string>> Ticks; ///< Levels.
};

} // namespace

void writeTimeLine(llvm::raw_ostream &OS, const PassPicture &Pass,
                   const std::vector<bytes::PlaceRow> &Places,
                   StringRef Folder) {
  Picture(OS, Pass, Places, Folder).write();
}

} // namespace libtorch_tidy::driver
