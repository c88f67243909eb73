//===- Diagnostics.cpp - What the editor is told of findings --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/lsp/Answers.h"
#include "driver/lsp/Server.h"
#include "driver/project/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"
#include <set>

using llvm::StringRef;

namespace libtorch_tidy::driver::lsp {

void Server::dropWaiting(StringRef Path) {
  llvm::erase_if(Unanswered, [&](const Waiting &W) {
    if (W.Path != Path)
      return false;
    if (W.Of == Waiting::Kind::Diagnostics)
      fail(W.Id, ErrorCode::ServerCancelled, "the document has changed",
           {{"retriggerRequest", true}});
    else
      fail(W.Id, ErrorCode::ContentModified, "the document has changed");
    return true;
  });
}

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
  Unanswered.push_back({Waiting::Kind::Actions, Id, Doc->Path, Params});
}

void Server::diagnostic(const Json &Id, const Json &Params) {
  if (!at(Params, {"textDocument", "uri"}).is_string())
    return fail(Id, ErrorCode::InvalidParams,
                "textDocument/diagnostic needs a document");
  if (const Document *Doc = documentOf(Params))
    Unanswered.push_back({Waiting::Kind::Diagnostics, Id, Doc->Path, Params});
  else // Nothing is said of what is not analysed.
    reply(Id, {{"kind", "full"}, {"items", Json::array()}});
}

/// The result is named after what it says, so that a client which has the same
/// from before is told that.
Json Server::diagnosticReport(const Waiting &Asked) {
  Json Diagnostics = diagnosticsOf(Asked.Path);
  std::string &Text = Published[Asked.Path] = toText(Diagnostics);
  std::string Name = llvm::utohexstr(llvm::xxh3_64bits(Text));
  if (textOf(at(Asked.Params, {"previousResultId"})) == Name)
    return {{"kind", "unchanged"}, {"resultId", std::move(Name)}};
  return {{"kind", "full"},
          {"resultId", std::move(Name)},
          {"items", std::move(Diagnostics)}};
}

void Server::resolve(const Json &Id, const Json &Params) {
  const Json &Of = at(Params, {"data"});
  const Document *Doc = documentOf({{"textDocument", Of}});
  if (at(Params, {"edit"}).is_object())
    return reply(Id, Params);
  if (!Doc || numberOf(at(Of, {"version"})) != Doc->Version)
    return fail(Id, ErrorCode::ContentModified, "the document has changed");
  Unanswered.push_back({Waiting::Kind::Resolve, Id, Doc->Path, Params});
}

/// False when it has to wait.
bool Server::tryToAnswer(const Waiting &Asked) {
  const bool IsSettled = Work.isSettled(Asked.Path);
  if (!Work.isFound(Asked.Path))
    return false;
  const Document &Doc = Open.find(Asked.Path)->second;
  switch (Asked.Of) {
  case Waiting::Kind::Diagnostics:
    reply(Asked.Id, diagnosticReport(Asked));
    return true;
  case Waiting::Kind::Actions:
    if (!IsSettled && !canAnswerUntried(Asked.Params, Client))
      return false;
    reply(Asked.Id, codeActions(Doc, foundIn(Doc), Known[Asked.Path].All,
                                Asked.Params, Open, Client));
    return true;
  case Waiting::Kind::Resolve:
    if (!IsSettled)
      return false;
    if (Json Action =
            resolvedAction(Doc, foundIn(Doc), Asked.Params, Open, Client);
        !Action.is_null())
      reply(Asked.Id, std::move(Action));
    else
      fail(Asked.Id, ErrorCode::RequestFailed,
           "this fix is not offered any more: it was tried, and the changed "
           "code does not compile, or has other findings");
    return true;
  }
  llvm_unreachable("all kinds are answered");
}

/// Only fixes that were tried are applied, and only to the text as it is.
void Server::answerWaiting() {
  llvm::erase_if(Unanswered, [&](const Waiting &W) { return tryToAnswer(W); });
}

/// Of each document each text once: it is analysed with each change.
void Server::logOnce(const std::string &Path, StringRef Text) {
  Text = Text.rtrim();
  if (!Text.empty() && Known[Path].Logged.insert(Text).second)
    log(MessageType::Info, Text);
}

bool Server::ended(const Analyses::Subject &Of, const Workers::Outcome &Said,
                   bool Cancelled) {
  auto Doc = Open.find(Of.Path);
  if (Doc == Open.end())
    return false;
  if (!Options.Quiet)
    logOnce(Of.Path, Said.Errors);
  if (Cancelled) {
    log(MessageType::Info, "the analysis of '" + Of.Path + "' was cancelled");
    return false;
  }
  Json Answer;
  if (Said.Finished) // Else it need not be whole.
    Answer = parseJson<Json>(Said.Result);
  if (Of.TryFixes && isTrue(at(Answer, {"failed"}))) {
    log(MessageType::Error,
        "the fixes of '" + Of.Path + "' could not all be tried");
    return false;
  }
  if (Answer.is_object()) {
    const bool Untried = isTrue(at(Answer, {"untried"}));
    take(Of, std::move(Answer));
    return Untried;
  }
  std::string Trouble = "'" + llvm::sys::path::filename(Of.Path).str() +
                        "' could not be analysed: ";
  if (!Said.Finished)
    Trouble += Said.Met != WorkCap::None ? "the analysis took too long"
                                         : "the analysis crashed";
  if (!Said.Finished && !Said.Doing.empty())
    Trouble += " in " + Said.Doing;
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

/// Of an open document those of its own analysis, else what the analyses of all
/// documents found there. An analysis of a source file does not know what a
/// header that changes will be.
Json Server::diagnosticsOf(const std::string &Path) const {
  std::set<std::string> Seen;
  Json Result = Json::array();
  for (const auto &[Of, Found] : Known) {
    if (Open.count(Path) && Of != Path)
      continue;
    for (const Json &One : listOf(at(Found.Files, {Path.c_str()})))
      if (const Json &Diagnostic = at(One, {"diagnostic"});
          Seen.insert(toText(Diagnostic)).second)
        Result.push_back(Diagnostic);
  }
  return Result;
}

/// Sends the diagnostics of a file, unless the client asks for them.
void Server::publish(const std::string &Path, bool Always) {
  auto Doc = Open.find(Path);
  const bool IsOpen = Doc != Open.end();
  if (IsOpen && at(Known[Path].Files, {Path.c_str()}).is_null())
    return; // Its own analysis is to come.
  Json Diagnostics = diagnosticsOf(Path);
  std::string Text = toText(Diagnostics);
  auto It = Published.find(Path);
  const bool Shown =
      It == Published.end() ? Diagnostics.empty() : It->second == Text;
  if (Shown && !Always)
    return;
  if (IsOpen && Client.PullsDiagnostics) {
    if (!Shown)
      refresh(Path);
    return;
  }
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

/// Has the client ask again for the diagnostics of \p Path, unless it has asked
/// already: after a change of another file, it need not know that there is a
/// reason.
void Server::refresh(const std::string &Path) {
  if (Client.RefreshesDiagnostics &&
      llvm::none_of(Unanswered, [&](const Waiting &W) {
        return W.Of == Waiting::Kind::Diagnostics && W.Path == Path;
      }))
    request("refresh/" + std::to_string(++Refreshes),
            "workspace/diagnostic/refresh", nullptr);
}

} // namespace libtorch_tidy::driver::lsp
