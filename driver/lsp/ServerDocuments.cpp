//===- ServerDocuments.cpp - Documents of the language server -------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/engine/Schedule.h"
#include "driver/lsp/Answers.h"
#include "driver/lsp/Server.h"
#include "driver/project/Paths.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include <set>
#include <utility>

using llvm::StringRef;

namespace libtorch_tidy::driver::lsp {

static std::string nameOf(StringRef Path) {
  return llvm::sys::path::filename(Path).str();
}

Document *Server::documentOf(const Json &Params) {
  const std::string Uri = textOf(at(Params, {"textDocument", "uri"}));
  for (auto &[Path, Doc] : Open)
    if (Doc.Uri == Uri)
      return &Doc;
  return nullptr;
}

void Server::open(const Json &Params) {
  const Json &Item = at(Params, {"textDocument"});
  Document Doc;
  Doc.Uri = textOf(at(Item, {"uri"}));
  Doc.Language = textOf(at(Item, {"languageId"}));
  Doc.Version = numberOf(at(Item, {"version"})).value_or(0);
  Doc.Text = textOf(at(Item, {"text"}));
  const std::string Path = pathOf(Doc.Uri);
  if (!Path.empty())
    Doc.Path = canonicalPath(Path, "", *Disk);
  if (Doc.Path.empty() || !Doc.isCxx()) {
    log(MessageType::Log,
        "'" + Doc.Uri + "' is not analysed: it is not a C++ file");
    return;
  }
  const std::string Key = Doc.Path;
  Document &Now = Open[Key] = std::move(Doc);
  Known[Key] = Findings();
  Work.ask(Key, std::chrono::milliseconds(0));
  analyseOthers(Now, ChangeDelay);
}

void Server::change(const Json &Params) {
  Document *Doc = documentOf(Params);
  if (!Doc)
    return;
  if (!Doc->change(at(Params, {"contentChanges"}), Client.Encoding))
    log(MessageType::Error, "a malformed change of '" + Doc->Uri +
                                "' is ignored: what is reported of it may be "
                                "wrong until it is opened again");
  Doc->Version = numberOf(at(Params, {"textDocument", "version"}))
                     .value_or(Doc->Version + 1);
  dropWaiting(Doc->Path);
  Work.ask(Doc->Path, ChangeDelay);
  analyseOthers(*Doc, ChangeDelay);
}

void Server::save(const Json &Params) {
  Document *Doc = documentOf(Params);
  if (!Doc)
    return;
  if (const Json &Text = at(Params, {"text"}); Text.is_string())
    Doc->Text = textOf(Text);
  Work.ask(Doc->Path, std::chrono::milliseconds(0));
  analyseOthers(*Doc, ChangeDelay);
}

void Server::close(const Json &Params) {
  Document *Doc = documentOf(Params);
  if (!Doc)
    return;
  const Document Gone = std::move(*Doc);
  Open.erase(Gone.Path);
  dropWaiting(Gone.Path);
  Work.forget(Gone.Path);
  const Json Files = std::move(Known[Gone.Path].Files);
  Known.erase(Gone.Path);
  // By the address that the client used, which need not be ours.
  if (Published.erase(Gone.Path))
    notify("textDocument/publishDiagnostics",
           {{"uri", Gone.Uri}, {"diagnostics", Json::array()}});
  for (const auto &[Path, Found] : Files.items())
    publish(Path, /*Always=*/false);
  analyseOthers(Gone, ChangeDelay);
}

void Server::analyseAll(std::chrono::milliseconds Delay) {
  for (const auto &[Path, Doc] : Open)
    Work.ask(Path, Delay);
}

/// Which files include a header is not known before they are analysed. Those
/// that do not have their results in the cache.
void Server::analyseOthers(const Document &Changed,
                           std::chrono::milliseconds Delay) {
  if (!isHeader(Changed.Path))
    return;
  for (const auto &[Path, Doc] : Open)
    if (Path != Changed.Path)
      Work.ask(Path, Delay);
  // The header itself goes first.
  if (Open.count(Changed.Path))
    Work.ask(Changed.Path, Delay);
}

void Server::dropWaiting(StringRef Path) {
  llvm::erase_if(Unanswered, [&](const Waiting &W) {
    if (W.Path != Path)
      return false;
    fail(W.Id, ErrorCode::ContentModified, "the document has changed");
    return true;
  });
}

/// What the analysis of a document found in it.
const Json &Server::foundIn(const Document &Doc) const {
  auto Own = Known.find(Doc.Path);
  static const Json None;
  return listOf(Own == Known.end() ? None
                                   : at(Own->second.Files, {Doc.Path.c_str()}));
}

void Server::codeAction(const Json &Id, const Json &Params) {
  const Document *Doc = documentOf(Params);
  if (!at(Params, {"range"}).is_object() ||
      !at(Params, {"textDocument", "uri"}).is_string())
    return fail(Id, ErrorCode::InvalidParams,
                "textDocument/codeAction needs a document and a range");
  if (!Doc || !Client.CodeActionLiterals ||
      !(wantsKind(Params, QuickFix) || namesKind(Params, FixAll)))
    return reply(Id, Json::array());
  Unanswered.push_back({Id, Doc->Path, Params});
}

/// Only fixes that were tried are offered, and only of the text as it is.
void Server::answerWaiting() {
  llvm::erase_if(Unanswered, [&](const Waiting &W) {
    if (!Work.isSettled(W.Path))
      return false;
    const Document &Doc = Open.find(W.Path)->second;
    reply(W.Id, codeActions(Doc, foundIn(Doc), Known[W.Path].All, W.Params,
                            Open, Client));
    return true;
  });
}

/// The folder of the workspace that \p Path is in: of nested ones the
/// innermost.
std::string Server::folderOf(StringRef Path) const {
  StringRef Result;
  for (StringRef Folder : Folders) {
    StringRef Rest = Path;
    if (Folder.size() > Result.size() && Rest.consume_front(Folder) &&
        (Rest.starts_with("/") || Folder.ends_with("/")))
      Result = Folder;
  }
  return Result.str();
}

/// Of each document each text once: it is analysed with each change.
void Server::logOnce(const std::string &Path, StringRef Text) {
  Text = Text.rtrim();
  if (!Text.empty() && Known[Path].Logged.insert(Text).second)
    log(MessageType::Info, Text);
}

bool Server::ended(const Analyses::Subject &Of, Analyses::End How) {
  auto Doc = Open.find(Of.Path);
  if (Doc == Open.end())
    return false;
  if (!Options.Quiet)
    logOnce(Of.Path, How.Errors);
  if (How.Cancelled) {
    log(MessageType::Info, "the analysis of '" + Of.Path + "' was cancelled");
    return false;
  }
  Json Answer;
  if (How.Finished) // Else it need not be whole.
    Answer = parseJson<Json>(How.Answer);
  if (Of.TryFixes && isTrue(at(Answer, {"failed"}))) {
    log(MessageType::Error,
        "the fixes of '" + Of.Path + "' could not be tried to the end");
    return false;
  }
  if (Answer.is_object()) {
    const bool Untried = isTrue(at(Answer, {"untried"}));
    take(Of, std::move(Answer));
    return Untried;
  }
  const std::string Trouble =
      "'" + nameOf(Of.Path) + "' could not be analysed: " + How.Trouble;
  log(MessageType::Error, Trouble);
  if (!Of.TryFixes)
    take(Of,
         {{"files",
           {{Of.Path, Json::array({{{"diagnostic",
                                     diagnosticOfFile(
                                         Trouble, Severity::Warning)}}})}}}});
  return false;
}

/// \p Answer replaces what was known.
void Server::take(const Analyses::Subject &Of, Json Answer) {
  for (const Json &Note : listOf(at(Answer, {"notes"})))
    logOnce(Of.Path, textOf(Note));
  Findings &Now = Known[Of.Path];
  const Json Before = std::move(Now.Files);
  Now.Files = at(Answer, {"files"});
  Now.All = at(Answer, {"all"});
  publish(Of.Path, /*Always=*/!Of.TryFixes);
  for (const Json *Files : {&Before, &std::as_const(Now.Files)})
    for (const auto &[Path, Found] : Files->items())
      if (Path != Of.Path)
        publish(Path, /*Always=*/false);
}

/// Sends the diagnostics of a file: of an open document those of its own
/// analysis, else what the analyses of all documents found there. An analysis
/// of a source file does not know what a header that changes will be.
void Server::publish(const std::string &Path, bool Always) {
  auto Doc = Open.find(Path);
  const bool IsOpen = Doc != Open.end();
  std::set<std::string> Seen;
  Json Diagnostics = Json::array();
  for (const auto &[Of, Found] : Known) {
    if (IsOpen && Of != Path)
      continue;
    for (const Json &One : listOf(at(Found.Files, {Path.c_str()})))
      if (const Json &Diagnostic = at(One, {"diagnostic"});
          Seen.insert(toText(Diagnostic)).second)
        Diagnostics.push_back(Diagnostic);
  }
  std::string Text = toText(Diagnostics);
  auto It = Published.find(Path);
  if (IsOpen && at(Known[Path].Files, {Path.c_str()}).is_null())
    return; // Its own analysis is to come.
  if (!Always &&
      (It == Published.end() ? Diagnostics.empty() : It->second == Text))
    return;
  if (Diagnostics.empty() && !IsOpen)
    Published.erase(Path);
  else
    Published[Path] = std::move(Text);
  Json Params = {{"uri", IsOpen ? Doc->second.Uri : uriOf(Path)},
                 {"diagnostics", std::move(Diagnostics)}};
  if (IsOpen)
    Params["version"] = Doc->second.Version;
  notify("textDocument/publishDiagnostics", std::move(Params));
}

void Server::slow(size_t Id, const Analyses::Subject &Of, StringRef Doing) {
  if (!Client.Progress)
    return;
  // What the units do is what everybody expects.
  const std::string Message =
      Doing == PrecompilingActivity ? Doing.str() : std::string();
  auto [It, New] = Shown.try_emplace(Id);
  ShownProgress &P = It->second;
  if (New) {
    P.Title =
        (Of.TryFixes ? "Trying fixes of " : "Analysing ") + nameOf(Of.Path);
    P.Doing = Message;
    request("progress/" + std::to_string(Id), "window/workDoneProgress/create",
            {{"token", std::to_string(Id)}});
  } else if (P.Doing != Message) {
    P.Doing = Message;
    if (P.Begun)
      progress(Id, {{"kind", "report"}, {"message", Message}});
  }
}

void Server::noLongerSlow(size_t Id) {
  auto It = Shown.find(Id);
  if (It == Shown.end())
    return;
  if (!It->second.Begun) {
    It->second.Ended = true; // The client has yet to answer.
    return;
  }
  progress(Id, {{"kind", "end"}});
  Shown.erase(It);
}

void Server::progress(size_t Id, Json Value) {
  notify("$/progress",
         {{"token", std::to_string(Id)}, {"value", std::move(Value)}});
}

} // namespace libtorch_tidy::driver::lsp
