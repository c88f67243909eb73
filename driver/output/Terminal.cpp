//===- Terminal.cpp - Markdown for a terminal -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/output/Terminal.h"
#include "driver/project/Messages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Locale.h"
#include "llvm/Support/Process.h"
#include <vector>

using llvm::StringRef;

namespace libtorch_tidy::driver {

TerminalForm formOfOutput() {
  TerminalForm Result;
  // Longer lines are hard to read.
  Result.Columns = std::min(outputColumns(), 100U);
  // https://no-color.org
  Result.Styled = llvm::sys::Process::StandardOutHasColors() &&
                  llvm::sys::Process::GetEnv("NO_COLOR").value_or("").empty();
  return Result;
}

namespace {

/// Marks in text whose styles are not written yet; the pages have none.
enum Mark : char { BoldOn = 1, BoldOff, CodeOn, CodeOff };

bool isMark(char C) { return C >= BoldOn && C <= CodeOff; }

unsigned widthOf(StringRef Text) {
  std::string Shown = Text.str();
  llvm::erase_if(Shown, isMark);
  return llvm::sys::locale::columnWidth(Shown);
}

/// A paragraph, a table, or another block: lines that belong together.
class Writer {
public:
  explicit Writer(const TerminalForm &Form) : Form(Form) {}

  std::string write(StringRef Markdown) {
    llvm::SmallVector<StringRef, 0> Lines;
    Markdown.split(Lines, '\n');
    for (size_t I = 0; I < Lines.size();) {
      if (Lines[I].trim().empty()) {
        ++I;
        continue;
      }
      if (!Result.empty())
        Result += '\n';
      I = block(Lines, I);
    }
    return std::move(Result);
  }

private:
  /// Writes the block that begins at \p I; the line after it.
  size_t block(llvm::ArrayRef<StringRef> Lines, size_t I) {
    if (Lines[I].starts_with("```")) {
      for (++I; I < Lines.size() && !Lines[I].starts_with("```"); ++I)
        put(Lines[I].empty() ? "" : "    " + coded(Lines[I]));
      return I + 1;
    }
    if (Lines[I].starts_with("#")) {
      heading(Lines[I]);
      return I + 1;
    }
    if (Lines[I].starts_with("|")) {
      const size_t First = I;
      while (I < Lines.size() && Lines[I].starts_with("|"))
        ++I;
      table(Lines.slice(First, I - First));
      return I;
    }
    std::string Text;
    unsigned Indent = 0;
    auto End = [&] {
      if (!Text.empty())
        paragraph(Text, Indent);
      Text.clear();
    };
    for (; I < Lines.size() && !Lines[I].trim().empty() &&
           !Lines[I].starts_with("```") && !Lines[I].starts_with("|");
         ++I) {
      if (const unsigned Width = bulletOf(Lines[I])) {
        End();
        Indent = Width;
        Text = Lines[I].rtrim().str();
      } else {
        Text += (Text.empty() ? "" : " ") + Lines[I].trim().str();
      }
    }
    End();
    return I;
  }

  /// How wide the sign of a list is that \p Line begins with, with the space
  /// around it; 0 if it begins with none.
  static unsigned bulletOf(StringRef Line) {
    StringRef Rest = Line.ltrim(' ');
    if (!Rest.consume_front("- ") && !Rest.consume_front("* ")) {
      const StringRef Number = Rest.take_while(llvm::isDigit);
      Rest = Rest.drop_front(Number.size());
      if (Number.empty() || !Rest.consume_front(". "))
        return 0;
    }
    return Line.size() - Rest.size();
  }

  void heading(StringRef Line) {
    const size_t Depth = Line.find_first_not_of('#');
    const std::string Text = inlines(Line.drop_front(Depth).trim());
    put(bold(Text));
    if (!Form.Styled)
      put(std::string(widthOf(Text), Depth == 1 ? '=' : '-'));
  }

  void paragraph(StringRef Text, unsigned Indent) {
    bool IsFirst = true;
    for (const std::string &Line : wrapped(Text.take_front(Indent).str() +
                                               inlines(Text.drop_front(Indent)),
                                           Form.Columns - Indent, Indent)) {
      put((IsFirst ? "" : std::string(Indent, ' ')) + Line);
      IsFirst = false;
    }
  }

  void table(llvm::ArrayRef<StringRef> Lines) {
    std::vector<std::vector<std::string>> Rows;
    std::vector<unsigned> Widths;
    for (const auto &[I, Line] : llvm::enumerate(Lines)) {
      if (I == 1)
        continue; // |---|
      Rows.push_back(cells(Line));
      Widths.resize(std::max(Widths.size(), Rows.back().size()));
      for (auto [Cell, Width] : llvm::zip(Rows.back(), Widths))
        Width = std::max(Width, widthOf(Cell));
    }
    // The widest column gives way.
    constexpr unsigned Gap = 2, Narrowest = 10;
    for (;;) {
      unsigned Sum = Gap * (Widths.size() - 1);
      for (unsigned Width : Widths)
        Sum += Width;
      auto Widest = llvm::max_element(Widths);
      if (Sum <= Form.Columns || *Widest <= Narrowest)
        break;
      --*Widest;
    }
    const bool HasHead = llvm::any_of(
        Rows.front(), [](const std::string &Cell) { return !Cell.empty(); });
    for (const auto &[I, Row] : llvm::enumerate(Rows)) {
      if (I || HasHead)
        tableRow(Row, Widths, /*IsHead=*/I == 0);
      if (I == 0 && HasHead && !Form.Styled) {
        std::string Rule;
        for (unsigned Width : Widths)
          Rule += (Rule.empty() ? "" : std::string(Gap, ' ')) +
                  std::string(Width, '-');
        put(Rule);
      }
    }
  }

  void tableRow(llvm::ArrayRef<std::string> Cells,
                llvm::ArrayRef<unsigned> Widths, bool IsHead) {
    std::vector<std::vector<std::string>> Wrapped;
    size_t Height = 0;
    for (auto [Cell, Width] : llvm::zip(Cells, Widths)) {
      Wrapped.push_back(wrapped(IsHead ? bold(Cell) : Cell, Width));
      Height = std::max(Height, Wrapped.back().size());
    }
    for (size_t I = 0; I < Height; ++I) {
      std::string Line;
      unsigned Pad = 0;
      for (auto [Cell, Width] : llvm::zip(Wrapped, Widths)) {
        const std::string Part = I < Cell.size() ? Cell[I] : "";
        if (!Part.empty()) {
          Line += std::string(Pad, ' ') + Part;
          Pad = 0;
        }
        const unsigned Has = widthOf(Part);
        Pad += 2 + (Width > Has ? Width - Has : 0);
      }
      put(Line);
    }
  }

  /// A bar in code or after a backslash ends no cell.
  std::vector<std::string> cells(StringRef Line) const {
    std::vector<std::string> Result;
    std::string Cell;
    for (StringRef Rest = Line.trim().drop_front(); !Rest.empty();
         Rest = Rest.drop_front()) {
      if (Rest.consume_front("\\|"))
        Cell += '|';
      if (Rest.empty())
        break;
      if (Rest.front() != '|') {
        Cell += Rest.front();
        continue;
      }
      Result.push_back(inlines(StringRef(Cell).trim()));
      Cell.clear();
    }
    return Result;
  }

  static std::string bold(StringRef Text) {
    return (llvm::Twine(char(BoldOn)) + Text + llvm::Twine(char(BoldOff)))
        .str();
  }
  static std::string coded(StringRef Text) {
    return (llvm::Twine(char(CodeOn)) + Text + llvm::Twine(char(CodeOff)))
        .str();
  }

  /// Bold type, code, links and pictures.
  std::string inlines(StringRef Text) const {
    std::string Result;
    for (bool IsBold = false; !Text.empty();) {
      if (Text.consume_front("**")) {
        IsBold = !IsBold;
        Result += IsBold ? BoldOn : BoldOff;
        continue;
      }
      if (Text.starts_with("`")) {
        const auto [Code, Rest] = Text.drop_front().split('`');
        // Without colours, only the signs say that it is code.
        const char *const Sign = Form.Styled ? "" : "`";
        Result += coded((Sign + Code + Sign).str());
        Text = Rest;
        continue;
      }
      const bool IsPicture = Text.starts_with("![");
      const size_t Middle = Text.find("](");
      const size_t End = Text.find(')', Middle);
      if ((IsPicture || Text.starts_with("[")) && End != StringRef::npos &&
          !Text.drop_front(IsPicture + 1).take_front(Middle).contains("[")) {
        const StringRef Label = Text.slice(IsPicture ? 2 : 1, Middle);
        const std::string Address =
            Form.Address ? Form.Address(Label, Text.slice(Middle + 2, End))
                         : "";
        Result += (IsPicture ? "Figure: " : "") + inlines(Label) +
                  (Address.empty() ? "" : " (" + Address + ")");
        Text = Text.drop_front(End + 1);
        continue;
      }
      Result += Text.front();
      Text = Text.drop_front();
    }
    return Result;
  }

  /// \p Text in lines of \p Width columns, the first of which is longer by
  /// \p Hanging. A style that goes on is switched off at the end of a line.
  static std::vector<std::string> wrapped(StringRef Text, unsigned Width,
                                          unsigned Hanging = 0) {
    std::vector<std::string> Result = {""};
    unsigned Column = 0;
    char Open = 0;
    llvm::SmallVector<StringRef, 32> Words;
    // The sign of a list is no word of its own.
    const StringRef Sign = Text.take_front(Hanging);
    Text.drop_front(Hanging).split(Words, ' ', -1, /*KeepEmpty=*/false);
    Result.back() = Sign.str();
    for (StringRef Word : Words) {
      const unsigned Wide = widthOf(Word);
      if (Column && Column + 1 + Wide > Width) {
        if (Open)
          Result.back() += char(Open + 1);
        Result.push_back(Open ? std::string(1, Open) : "");
        Column = 0;
      }
      Result.back() += (Column ? " " : "") + Word.str();
      Column += Wide + (Column ? 1 : 0);
      for (char C : Word)
        if (isMark(C))
          Open = C == BoldOn || C == CodeOn ? C : 0;
    }
    return Result;
  }

  void put(StringRef Line) {
    for (char C : Line)
      if (!isMark(C))
        Result += C;
      else if (Form.Styled)
        Result += C == BoldOn   ? "\x1b[1m"
                  : C == CodeOn ? "\x1b[36m"
                                : "\x1b[0m";
    Result += '\n';
  }

  const TerminalForm &Form;
  std::string Result;
};

} // namespace

std::string inTerminal(StringRef Markdown, const TerminalForm &Form) {
  return Writer(Form).write(Markdown);
}

} // namespace libtorch_tidy::driver
