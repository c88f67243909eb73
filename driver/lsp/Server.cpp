//===- Server.cpp - The language server -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/lsp/Server.h"
#include "driver/engine/Schedule.h"
#include "driver/lsp/Answers.h"
#include "driver/project/Json.h"
#include "driver/project/Paths.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <utility>

using llvm::StringRef;

namespace libtorch_tidy::driver::lsp {

/// One that hangs holds up neither what the user waits for nor trials of fixes.
static constexpr unsigned FewestAnalyses = 3, MostAnalyses = 4;

static unsigned analysesAtATime(const AnalysisOptions &Options) {
  const unsigned Wanted = Options.Jobs
                              ? Options.Jobs
                              : std::min(Workers::defaultCount(), MostAnalyses);
  return std::max(Wanted, FewestAnalyses);
}

Server::Server(CommandLine Given, const char *Argv0, void *MainAddress, int In,
               int Out)
    : Options(std::move(Given)), Argv0(Argv0), MainAddress(MainAddress),
      Wire(In, Out), Disk(llvm::vfs::getRealFileSystem()),
      Work(analysesAtATime(Options.Analysis), Options.Analysis.Limits, *this) {}

/// This process is a copy, so that nothing is taken from the server here.
std::string Server::work(const Analyses::Subject &Of) {
  Given.applyTo(Options);
  return answer({Of.Path, folderOf(Of.Path), Open, Of.TryFixes, Client, Argv0,
                 MainAddress},
                Options);
}

int Server::run() {
  bool HadShutdown = false;
  while (Life != State::Exited) {
    std::vector<pollfd> Ends = {{Wire.input(), POLLIN, 0}};
    if (Wire.hasOutput())
      Ends.push_back({Wire.output(), POLLOUT, 0});
    Work.step(Ends);
    if (Ends.front().revents && !Wire.read())
      break; // The editor is gone.
    while (Life != State::Exited) {
      std::optional<Transport::Message> Message = Wire.next();
      if (!Message)
        break;
      receive(*Message);
      HadShutdown |= Life == State::ShutDown;
    }
    answerWaiting();
    if (!Wire.flush())
      break;
  }
  return Life == State::Exited && HadShutdown ? ExitClean : ExitFindings;
}

void Server::receive(const Transport::Message &Received) {
  if (!Received.Problem.empty())
    return fail(nullptr, ErrorCode::InvalidRequest, Received.Problem);
  if (isJsonNestedTooDeep(Received.Body))
    return fail(nullptr, ErrorCode::InvalidRequest,
                "the message is nested too deeply");
  const Json Message = parseJson<Json>(Received.Body);
  if (Message.is_discarded())
    return fail(nullptr, ErrorCode::ParseError, "the message is not JSON");
  const Json &Id = at(Message, {"id"}), &Method = at(Message, {"method"}),
             &Params = at(Message, {"params"});
  const bool HasId = Message.is_object() && Message.contains("id");
  if (HasId && Method.is_null() &&
      (Message.contains("result") || Message.contains("error")))
    return handleResponse(Message);
  if (!Method.is_string() ||
      (HasId && !Id.is_string() && !Id.is_number_integer()))
    return fail(Id.is_string() || Id.is_number_integer() ? Id : Json(),
                ErrorCode::InvalidRequest,
                "the message is not a request, notification or response");
  if (HasId)
    handleRequest(Id, textOf(Method), Params);
  else
    handleNotification(textOf(Method), Params);
}

void Server::handleRequest(const Json &Id, StringRef Method,
                           const Json &Params) {
  if (Life == State::ShutDown)
    return fail(Id, ErrorCode::InvalidRequest, "the server is shut down");
  if (Method == "initialize") {
    if (Life != State::Fresh)
      return fail(Id, ErrorCode::InvalidRequest,
                  "the server is initialized already");
    return reply(Id, initialize(Params));
  }
  if (Life == State::Fresh)
    return fail(Id, ErrorCode::ServerNotInitialized,
                "the first request must be 'initialize'");
  if (Method == "shutdown") {
    Life = State::ShutDown;
    for (const Waiting &W : std::exchange(Unanswered, {}))
      fail(W.Id, ErrorCode::RequestCancelled, "the server is shut down");
    return reply(Id, nullptr);
  }
  if (Method == "textDocument/codeAction")
    return codeAction(Id, Params);
  if (Method == "codeAction/resolve")
    return resolve(Id, Params);
  if (Method == "textDocument/diagnostic")
    return diagnostic(Id, Params);
  if (Method == "textDocument/hover") {
    const Document *Doc = documentOf(Params);
    return reply(Id, Doc ? hover(foundIn(*Doc), Params, Client) : Json());
  }
  fail(Id, ErrorCode::MethodNotFound, ("there is no '" + Method + "'").str());
}

void Server::handleNotification(StringRef Method, const Json &Params) {
  if (Method == "exit") {
    Life = State::Exited;
    return;
  }
  // As the protocol demands: all others are dropped.
  if (Life != State::Running)
    return;
  using Handler = void (Server::*)(const Json &);
  static const std::pair<StringRef, Handler> Handlers[] = {
      {"textDocument/didOpen", &Server::open},
      {"textDocument/didChange", &Server::change},
      {"textDocument/didSave", &Server::save},
      {"textDocument/didClose", &Server::close}};
  for (const auto &[Name, Handle] : Handlers)
    if (Method == Name)
      return (this->*Handle)(Params);
  if (Method == "initialized")
    initialized();
  else if (Method == "$/cancelRequest")
    cancel(at(Params, {"id"}));
  else if (Method == "window/workDoneProgress/cancel") {
    size_t Id;
    if (!StringRef(textOf(at(Params, {"token"}))).getAsInteger(10, Id))
      Work.cancel(Id);
  } else if (Method == "workspace/didChangeConfiguration") {
    set(at(Params, {"settings"}));
    analyseAll();
  } else if (Method == "workspace/didChangeWorkspaceFolders") {
    changeFolders(at(Params, {"event"}));
    analyseAll();
  } else if (Method == "workspace/didChangeWatchedFiles") {
    analyseAll();
  }
}

/// What the client says to a request of ours.
void Server::handleResponse(const Json &Message) {
  size_t Id;
  const std::string Name = textOf(at(Message, {"id"}));
  StringRef Token = Name;
  if (!Token.consume_front("progress/") || Token.getAsInteger(10, Id))
    return;
  auto It = Shown.find(Id);
  if (It == Shown.end())
    return;
  ShownProgress &P = It->second;
  if (Message.contains("error") || P.Ended) {
    Shown.erase(It);
    return;
  }
  P.Begun = true;
  progress(Id, {{"kind", "begin"},
                {"title", P.Title},
                {"message", P.Doing},
                {"cancellable", true}});
}

void Server::reply(const Json &Id, Json Result) {
  Wire.send(
      toText({{"jsonrpc", "2.0"}, {"id", Id}, {"result", std::move(Result)}}));
}

void Server::fail(const Json &Id, ErrorCode Code, StringRef Message,
                  Json Data) {
  Json Error = {{"code", static_cast<int>(Code)}, {"message", Message.str()}};
  if (!Data.is_null())
    Error["data"] = std::move(Data);
  Wire.send(
      toText({{"jsonrpc", "2.0"}, {"id", Id}, {"error", std::move(Error)}}));
}

void Server::notify(const char *Method, Json Params) {
  Wire.send(toText(
      {{"jsonrpc", "2.0"}, {"method", Method}, {"params", std::move(Params)}}));
}

void Server::request(const std::string &Id, const char *Method, Json Params) {
  Json Message = {{"jsonrpc", "2.0"}, {"id", Id}, {"method", Method}};
  if (!Params.is_null())
    Message["params"] = std::move(Params);
  Wire.send(toText(Message));
}

void Server::log(MessageType Type, StringRef Text) {
  notify("window/logMessage",
         {{"type", static_cast<int>(Type)}, {"message", Text.str()}});
}

Json Server::initialize(const Json &Params) {
  Life = State::Running;
  Client = ClientAbilities::of(Params);
  set(at(Params, {"initializationOptions"}));
  if (const Json &All = at(Params, {"workspaceFolders"}); All.is_array())
    changeFolders({{"added", All}});
  else if (std::string Root = pathOf(textOf(at(Params, {"rootUri"})));
           !Root.empty())
    Folders = {canonicalPath(Root, "", *Disk)};
  const bool Utf8 = Client.Encoding == PositionEncoding::Utf8;
  Json Actions = true;
  if (Client.CodeActionLiterals)
    Actions = {{"codeActionKinds", {QuickFix, FixAll}},
               {"resolveProvider", Client.ResolvesEdits}};
  Json Capabilities = {
      {"positionEncoding", Utf8 ? "utf-8" : "utf-16"},
      {"textDocumentSync",
       {{"openClose", true},
        {"change", 2 /* incremental */},
        {"save", {{"includeText", false}}}}},
      {"hoverProvider", true},
      {"codeActionProvider", std::move(Actions)},
      {"workspace",
       {{"workspaceFolders",
         {{"supported", true}, {"changeNotifications", true}}}}}};
  if (Client.PullsDiagnostics)
    Capabilities["diagnosticProvider"] = {{"identifier", "libtorch-tidy"},
                                          {"interFileDependencies", true},
                                          {"workspaceDiagnostics", false}};
  return {{"serverInfo",
           {{"name", "libtorch-tidy"}, {"version", LIBTORCH_TIDY_VERSION}}},
          {"capabilities", std::move(Capabilities)}};
}

/// From now on the server may ask, too.
void Server::initialized() {
  if (!Client.WatchesFiles)
    return;
  Json Watchers = Json::array();
  for (const char *Glob :
       {"**/.clang-tidy", "**/compile_commands.json", "**/compile_flags.txt",
        "**/*.{h,hh,hpp,hxx,cuh,inc,inl,ipp,tcc,tpp}"})
    Watchers.push_back({{"globPattern", Glob}});
  request("watch", "client/registerCapability",
          {{"registrations",
            Json::array({{{"id", "watch"},
                          {"method", "workspace/didChangeWatchedFiles"},
                          {"registerOptions",
                           {{"watchers", std::move(Watchers)}}}}})}});
}

void Server::set(const Json &Value) {
  std::vector<std::string> Problems;
  Given = Settings::of(Value, Problems);
  for (const std::string &Problem : Problems)
    notify("window/showMessage",
           {{"type", static_cast<int>(MessageType::Error)},
            {"message", "libtorch-tidy: " + Problem}});
}

void Server::changeFolders(const Json &Event) {
  auto PathIn = [&](const Json &Folder) {
    const std::string Path = pathOf(textOf(at(Folder, {"uri"})));
    return Path.empty() ? Path : canonicalPath(Path, "", *Disk);
  };
  for (const Json &Folder : listOf(at(Event, {"removed"})))
    llvm::erase(Folders, PathIn(Folder));
  for (const Json &Folder : listOf(at(Event, {"added"})))
    if (std::string Path = PathIn(Folder); !Path.empty())
      Folders.push_back(std::move(Path));
}

void Server::cancel(const Json &Id) {
  auto It =
      llvm::find_if(Unanswered, [&](const Waiting &W) { return W.Id == Id; });
  if (It == Unanswered.end())
    return;
  fail(Id, ErrorCode::RequestCancelled, "the request is cancelled");
  Unanswered.erase(It);
}

Document *Server::documentOf(const Json &Params) {
  const std::string Uri = textOf(at(Params, {"textDocument", "uri"}));
  for (auto &[Path, Doc] : Open)
    if (Doc.Uri == Uri || llvm::is_contained(Doc.Others, Uri))
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
  if (auto Before = Open.find(Key);
      Before != Open.end() && Before->second.Uri != Doc.Uri) {
    Doc.Others = std::move(Before->second.Others);
    llvm::erase(Doc.Others, Doc.Uri);
    Doc.Others.push_back(Before->second.Uri);
    clearPublished(Before->second);
  }
  Document &Now = Open[Key] = std::move(Doc);
  Known[Key] = Findings();
  // It asks for these from now on, and would show both.
  if (Client.PullsDiagnostics)
    clearPublished(Now);
  Work.ask(Key, std::chrono::milliseconds(0));
  analyseOthers(Now);
}

void Server::change(const Json &Params) {
  Document *Doc = documentOf(Params);
  if (!Doc)
    return;
  if (!Doc->change(at(Params, {"contentChanges"}), Client.Encoding))
    log(MessageType::Error,
        "a malformed change of '" + Doc->Uri +
            "' is ignored: its findings may be wrong until it is opened again");
  Doc->Version = numberOf(at(Params, {"textDocument", "version"}))
                     .value_or(Doc->Version + 1);
  dropWaiting(Doc->Path);
  Work.ask(Doc->Path, ChangeDelay);
  analyseOthers(*Doc);
}

void Server::save(const Json &Params) {
  Document *Doc = documentOf(Params);
  if (!Doc)
    return;
  if (const Json &Text = at(Params, {"text"}); Text.is_string())
    Doc->Text = textOf(Text);
  Work.ask(Doc->Path, std::chrono::milliseconds(0));
  analyseOthers(*Doc);
}

void Server::clearPublished(const Document &Of) {
  // By the address that the client used, which need not be ours.
  if (Published.erase(Of.Path))
    notify("textDocument/publishDiagnostics",
           {{"uri", Of.Uri}, {"diagnostics", Json::array()}});
}

void Server::close(const Json &Params) {
  Document *Doc = documentOf(Params);
  if (!Doc)
    return;
  const std::string Uri = textOf(at(Params, {"textDocument", "uri"}));
  if (Doc->Uri != Uri) {
    llvm::erase(Doc->Others, Uri);
    return;
  }
  if (!Doc->Others.empty()) { // It stays open by another address.
    clearPublished(*Doc);
    Doc->Uri = Doc->Others.back();
    Doc->Others.pop_back();
    Work.ask(Doc->Path, std::chrono::milliseconds(0));
    return;
  }
  const Document Gone = std::move(*Doc);
  Open.erase(Gone.Path);
  dropWaiting(Gone.Path);
  Work.forget(Gone.Path);
  const Json Files = std::move(Known[Gone.Path].Files);
  Known.erase(Gone.Path);
  clearPublished(Gone);
  for (const auto &[Path, Found] : Files.items())
    publish(Path, /*Always=*/false);
  analyseOthers(Gone);
}

void Server::analyseAll() {
  for (const auto &[Path, Doc] : Open)
    Work.ask(Path, ChangeDelay);
}

/// Which files include a header is not known before they are analysed, so all
/// open ones are; those that do not include it have results in the cache.
void Server::analyseOthers(const Document &Changed) {
  if (!isHeader(Changed.Path))
    return;
  for (const auto &[Path, Doc] : Open)
    if (Path != Changed.Path)
      Work.ask(Path, ChangeDelay);
  // The header itself goes first.
  if (Open.count(Changed.Path))
    Work.ask(Changed.Path, ChangeDelay);
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

void Server::slow(size_t Id, const Analyses::Subject &Of, StringRef Doing) {
  if (!Client.Progress)
    return;
  // What the units do is what everybody expects.
  const std::string Message =
      Doing == PrecompilingActivity ? Doing.str() : std::string();
  auto [It, New] = Shown.try_emplace(Id);
  ShownProgress &P = It->second;
  if (New) {
    P.Title = (Of.TryFixes ? "Trying fixes of " : "Analysing ") +
              llvm::sys::path::filename(Of.Path).str();
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

int serve(CommandLine Options, const char *Argv0, void *MainAddress) {
  // What a library prints must not come between messages.
  const int In = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3),
            Out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3),
            Nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(Nothing, STDIN_FILENO);
  ::close(Nothing);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  ::signal(SIGPIPE, SIG_IGN);
  return Server(std::move(Options), Argv0, MainAddress, In, Out).run();
}

} // namespace libtorch_tidy::driver::lsp
