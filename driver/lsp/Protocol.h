//===- Protocol.h - Values of the Language Server Protocol ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// JSON as the Language Server Protocol 3.17 has it: errors, positions,
/// addresses of files. What a client sends can be anything: nothing here
/// expects a member to be there, or to be of the right kind.

#ifndef LIBTORCH_TIDY_DRIVER_LSP_PROTOCOL_H
#define LIBTORCH_TIDY_DRIVER_LSP_PROTOCOL_H

#include "driver/findings/SourceText.h"
#include "driver/options/CommandLine.h"
#include "driver/project/Json.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace libtorch_tidy::driver::lsp {

using Json = nlohmann::json;

/// Of JSON-RPC and of the protocol.
enum class ErrorCode : int {
  ParseError = -32700,
  InvalidRequest = -32600,
  MethodNotFound = -32601,
  InvalidParams = -32602,
  ServerNotInitialized = -32002,
  RequestCancelled = -32800,
  ServerCancelled = -32802,
  RequestFailed = -32803,
  ContentModified = -32801,
};

enum class Severity : int { Error = 1, Warning, Information, Hint };

/// Of window/logMessage.
enum class MessageType : int { Error = 1, Warning, Info, Log };

/// What a character of a position is.
enum class PositionEncoding : unsigned char { Utf8, Utf16 };

/// The byte that a position names. One past the end of its line, or of the
/// text, is that end. Absent when it is not one.
std::optional<unsigned> offsetOf(const SourceText &Text, const Json &Position,
                                 PositionEncoding Encoding);

/// What the client can do, as far as what it is sent depends on that.
struct ClientAbilities {
  PositionEncoding Encoding = PositionEncoding::Utf16;
  bool RelatedInformation = false, CodeDescription = false;
  bool MarkdownHover = false;
  bool CodeActionLiterals = false, DocumentChanges = false;
  bool ResolvesEdits = false; ///< Of code actions, when the user takes one.
  bool Progress = false, WatchesFiles = false;
  /// It asks for the diagnostics of open documents, and does so again when it
  /// is told that there are others.
  bool PullsDiagnostics = false, RefreshesDiagnostics = false;

  /// Of the parameters of `initialize`.
  static ClientAbilities of(const Json &Params);
};

/// \p Value as text on one line.
inline std::string toText(const Json &Value) { return written(Value); }

/// The path of a `file:` address, absolute; empty when it is another address.
std::string pathOf(llvm::StringRef Uri);
std::string uriOf(llvm::StringRef Path);

/// A diagnostic about a file as a whole, on its first line.
Json diagnosticOfFile(llvm::StringRef Message, Severity How);

/// A text that the editor holds: it counts, not what is on the disk.
struct Document {
  std::string Uri; ///< As the client spells it.
  /// Further spellings by which the client has it open.
  std::vector<std::string> Others;
  std::string Path; ///< Canonical; empty when it is not a file.
  std::string Language;
  int64_t Version = 0;
  std::string Text;

  /// Is it of a language that is analysed?
  bool isCxx() const;

  /// Makes the changes of `textDocument/didChange`, one after the other, of
  /// ranges or of the whole text. False, and nothing is changed, when one of
  /// them is malformed.
  bool change(const Json &Changes, PositionEncoding Encoding);
};

/// By canonical path.
using Documents = std::map<std::string, Document, std::less<>>;

/// The settings of `initializationOptions` and of
/// `workspace/didChangeConfiguration`. What is absent is as on the command line
/// of the server.
struct Settings {
  std::optional<Level> WeakestLevel;            ///< "level"
  std::optional<std::string> Checks, BuildPath; ///< "checks", "buildPath"
  std::vector<std::string> Before, After; ///< "extraArgsBefore", "extraArgs"

  /// Reads \p Value, or its member "libtorch-tidy" if it has one. What is wrong
  /// with it is said in \p Problems, and is not used.
  static Settings of(const Json &Value, std::vector<std::string> &Problems);

  void applyTo(CommandLine &Options) const;
};

} // namespace libtorch_tidy::driver::lsp

#endif // LIBTORCH_TIDY_DRIVER_LSP_PROTOCOL_H
