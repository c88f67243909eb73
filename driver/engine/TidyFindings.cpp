//===- TidyFindings.cpp - Findings of what clang-tidy says ----------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/engine/TidyFindings.h"
#include "driver/findings/SourceText.h"
#include "driver/project/Paths.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using clang::tidy::ClangTidyError;
using clang::tooling::DiagnosticMessage;
using clang::tooling::FileByteRange;
using clang::tooling::Replacement;
using llvm::StringRef;

namespace libtorch_tidy::driver {

static FindingKind kindOf(StringRef Name) {
  if (Name.starts_with("clang-diagnostic-"))
    return FindingKind::CompileError;
  // clang-tidy-config, clang-tidy-nolint.
  if (Name.starts_with("clang-tidy-"))
    return FindingKind::Configuration;
  return FindingKind::Defect;
}

/// One past the token that starts at \p Offset; \p Offset itself between
/// tokens, where the compiler misses one.
static unsigned endOfToken(const SourceText &Text, unsigned Offset) {
  StringRef Buffer = Text.text();
  if (Offset >= Buffer.size() || llvm::isSpace(Buffer[Offset]))
    return std::min<size_t>(Offset, Buffer.size());
  clang::LangOptions Language;
  Language.CPlusPlus = Language.CPlusPlus11 = Language.CPlusPlus14 =
      Language.CPlusPlus17 = Language.Bool = true;
  clang::Lexer Raw(clang::SourceLocation(), Language, Buffer.begin(),
                   Buffer.begin() + Offset, Buffer.end());
  clang::Token Tok;
  Raw.LexFromRawLexer(Tok);
  return std::min<size_t>(Offset + std::max(Tok.getLength(), 1U),
                          Buffer.size());
}

namespace {

/// For the diagnostics of one compile command.
class Converter {
public:
  Converter(StringRef Folder, llvm::vfs::FileSystem &FS, SourceTexts &Texts)
      : Folder(Folder), FS(FS), Texts(Texts) {}

  Place place(const DiagnosticMessage &Message);
  static std::vector<Highlight> highlights(const DiagnosticMessage &Message);
  fixits::FileEdits fix(const DiagnosticMessage &Message);

private:
  StringRef Folder;
  llvm::vfs::FileSystem &FS;
  SourceTexts &Texts;
};

} // namespace

/// Where a message points: to the end of the highlighted range around it, or
/// of the token there.
Place Converter::place(const DiagnosticMessage &Message) {
  Place Result;
  Result.Path = canonicalPath(Message.FilePath, Folder, FS);
  if (Result.Path.empty())
    return Result;
  Result.Spelled = Message.FilePath;
  Result.Begin = Message.FileOffset;
  for (const FileByteRange &Range : Message.Ranges)
    if (Range.FileOffset <= Result.Begin &&
        Result.Begin < Range.FileOffset + Range.Length &&
        canonicalPath(Range.FilePath, Folder, FS) == Result.Path)
      Result.End = std::max(Result.End, Range.FileOffset + Range.Length);
  if (const SourceText *Text = Texts.get(Result.Path)) {
    const SourceText::Position At = Text->position(Result.Begin);
    Result.Line = At.Line;
    Result.Column = At.Column;
    if (!Result.End)
      Result.End = endOfToken(*Text, Result.Begin);
  }
  Result.End = std::max(Result.End, Result.Begin);
  return Result;
}

std::vector<Highlight> Converter::highlights(const DiagnosticMessage &Message) {
  std::vector<Highlight> Result;
  for (const FileByteRange &Range : Message.Ranges)
    Result.push_back({Range.FilePath, Range.FileOffset, Range.Length});
  return Result;
}

/// The compiler's paths of one file can differ from unit to unit (../a.h and
/// b/../a.h). Fixes must agree on one, or the file is changed twice.
fixits::FileEdits Converter::fix(const DiagnosticMessage &Message) {
  fixits::FileEdits Result;
  for (const auto &File : Message.Fix)
    for (const Replacement &R : File.second) {
      const std::string Path = canonicalPath(R.getFilePath(), Folder, FS);
      // Replacements of one file that conflict were dropped by the engine.
      llvm::consumeError(Result[Path].add(Replacement(
          Path, R.getOffset(), R.getLength(), R.getReplacementText())));
    }
  return Result;
}

std::vector<Finding> toFindings(llvm::ArrayRef<ClangTidyError> Errors,
                                const HeardFindings &Heard, FileSystem FS,
                                std::vector<NolintAudit::Heard> &Unreported) {
  SourceTexts Texts(FS);
  std::vector<Finding> Result;
  std::set<const HeardFinding *> Reported;
  for (const ClangTidyError &Error : Errors) {
    Converter Convert(Error.BuildDirectory, *FS, Texts);
    Finding &F = Result.emplace_back();
    F.Kind = kindOf(Error.DiagnosticName);
    F.Check = Error.DiagnosticName;
    F.AsError = Error.IsWarningAsError;
    F.IsError = Error.DiagLevel == ClangTidyError::Error;
    F.Message = Error.Message.Message;
    F.Where = Convert.place(Error.Message);
    F.Highlights = Convert.highlights(Error.Message);
    F.Fix = Convert.fix(Error.Message);
    F.Directory = Error.BuildDirectory;
    if (auto It = Heard.find(
            {F.Check, Error.Message.FilePath, Error.Message.FileOffset});
        It != Heard.end()) {
      F.Strength = It->second.Strength;
      F.Function = It->second.Function;
      F.Bytes = It->second.Bytes;
      F.Reasons = It->second.Reasons;
      Reported.insert(&It->second);
    }
    for (const DiagnosticMessage &Note : Error.Notes)
      F.Steps.push_back({Convert.place(Note), Note.Message,
                         Convert.highlights(Note), Convert.fix(Note)});
  }
  for (const auto &[Key, Said] : Heard)
    if (!Reported.count(&Said)) {
      const auto &[Check, Path, Offset] = Key;
      Unreported.push_back({Check, Path, Offset, Said.IsTooWeak});
    }
  return Result;
}

} // namespace libtorch_tidy::driver
