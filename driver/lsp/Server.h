//===- Server.h - The language server ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_LSP_SERVER_H
#define LIBTORCH_TIDY_DRIVER_LSP_SERVER_H

#include "driver/lsp/Analyses.h"
#include "driver/lsp/Protocol.h"
#include "driver/lsp/Transport.h"
#include "driver/options/CommandLine.h"
#include "llvm/ADT/StringSet.h"
#include <deque>

namespace libtorch_tidy::driver::lsp {

/// `libtorch-tidy lsp`: what an editor and the engine say to each other. The
/// server reads messages, keeps the open texts and what was found in them, and
/// answers. It looks at no file and at no code: Analyses has that done in
/// processes of their own.
class Server : private Analyses::Owner {
public:
  /// Talks over the open files \p In and \p Out. \p Argv0 and \p MainAddress
  /// locate this program.
  Server(CommandLine Options, const char *Argv0, void *MainAddress, int In,
         int Out);

  /// Until the client ends it. The exit code of the program: 0 when the client
  /// had said so before, as the protocol demands.
  int run();

private:
  /// What is known of a document.
  struct Findings {
    Json Files = Json::object(); ///< See answer().
    Json All = Json::object();
    llvm::StringSet<> Logged;
  };
  /// A request that waits for the analysis of a document.
  struct Waiting {
    enum class Kind : unsigned char { Diagnostics, Actions, Resolve } Of;
    Json Id;
    std::string Path;
    Json Params;
  };
  /// Of an analysis that is slow, by its number.
  struct ShownProgress {
    std::string Title;
    bool Begun = false; ///< The client agreed to show it.
    bool Ended = false;
    std::string Doing;
  };
  /// From a change to its analysis: for those who go on typing.
  static constexpr std::chrono::milliseconds ChangeDelay{150};

  enum class State : unsigned char { Fresh, Running, ShutDown, Exited };

  // Messages.
  void receive(const Transport::Message &Received);
  void handleRequest(const Json &Id, llvm::StringRef Method,
                     const Json &Params);
  void handleNotification(llvm::StringRef Method, const Json &Params);
  void handleResponse(const Json &Message);
  void reply(const Json &Id, Json Result);
  void fail(const Json &Id, ErrorCode Code, llvm::StringRef Message,
            Json Data = nullptr);
  void notify(const char *Method, Json Params);
  void request(const std::string &Id, const char *Method, Json Params);
  void log(MessageType Type, llvm::StringRef Text);

  // The life of the server.
  Json initialize(const Json &Params);
  void initialized();
  void set(const Json &Settings);
  void changeFolders(const Json &Event);
  void cancel(const Json &Id);

  // Documents.
  void open(const Json &Params);
  void change(const Json &Params);
  void save(const Json &Params);
  void close(const Json &Params);
  /// Takes the diagnostics of a document back.
  void clearPublished(const Document &Of);
  Document *documentOf(const Json &Params);
  void analyseAll();
  void analyseOthers(const Document &Changed);
  void dropWaiting(llvm::StringRef Path);

  // Answers.
  void codeAction(const Json &Id, const Json &Params);
  void resolve(const Json &Id, const Json &Params);
  void diagnostic(const Json &Id, const Json &Params);
  bool tryToAnswer(const Waiting &Asked);
  void answerWaiting();
  const Json &foundIn(const Document &Doc) const;
  std::string work(const Analyses::Subject &Of) override;
  bool ended(const Analyses::Subject &Of, const Workers::Outcome &Said,
             bool Cancelled) override;
  void take(const Analyses::Subject &Of, Json Answer);
  void logOnce(const std::string &Path, llvm::StringRef Text);
  std::string folderOf(llvm::StringRef Path) const;
  Json diagnosticsOf(const std::string &Path) const;
  Json diagnosticReport(const Waiting &Asked);
  void publish(const std::string &Path, bool Always);
  void refresh(const std::string &Path);

  // Progress.
  void slow(size_t Id, const Analyses::Subject &Of,
            llvm::StringRef Doing) override;
  void noLongerSlow(size_t Id) override;
  void progress(size_t Id, Json Value);

  CommandLine Options;
  const char *const Argv0;
  void *const MainAddress;
  Transport Wire;
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Disk;
  State Life = State::Fresh;
  ClientAbilities Client;
  Settings Given;
  std::vector<std::string> Folders; ///< Of the workspace; canonical.
  Documents Open;
  std::map<std::string, Findings, std::less<>> Known; ///< By document.
  /// What the client shows, by path, as text. Of what it asked for, too.
  std::map<std::string, std::string> Published;
  std::deque<Waiting> Unanswered;
  std::map<size_t, ShownProgress> Shown;
  size_t Refreshes = 0; ///< That were asked for.
  Analyses Work;
};

/// `libtorch-tidy lsp` over the standard input and output; the exit code.
int serve(CommandLine Options, const char *Argv0, void *MainAddress);

} // namespace libtorch_tidy::driver::lsp

#endif // LIBTORCH_TIDY_DRIVER_LSP_SERVER_H
