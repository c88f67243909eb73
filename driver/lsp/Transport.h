//===- Transport.h - Messages over a pair of pipes --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_LSP_TRANSPORT_H
#define LIBTORCH_TIDY_DRIVER_LSP_TRANSPORT_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace libtorch_tidy::driver::lsp {

/// Frames messages as the protocol does, with `Content-Length:`. Never waits:
/// whoever owns it polls the two open files.
class Transport {
public:
  /// The largest message that is read, in bytes.
  static constexpr uint64_t LargestMessage = 64 << 20;

  Transport(int In, int Out);

  int input() const { return In; }
  int output() const { return Out; }

  /// Reads what there is, and there must be something. False at the end.
  bool read();

  /// A message, or why what came is not one. What follows is read all the same.
  struct Message {
    std::string Body;
    std::string Problem; ///< Empty when there is a body.
  };
  /// The next one that is here as a whole.
  std::optional<Message> next();

  /// Sends \p Body, perhaps later.
  void send(llvm::StringRef Body);
  bool hasOutput() const { return !Waiting.empty(); }
  /// Writes what the other side takes now. False when nobody reads any more.
  bool flush();

private:
  std::optional<Message> resynchronize(std::string Problem);
  bool findHeader();

  int In, Out;
  std::string Read, Waiting;
  uint64_t Skip = 0; ///< Bytes of a message that was refused.
  bool Lost = false; ///< Where the next message begins is not known.
};

} // namespace libtorch_tidy::driver::lsp

#endif // LIBTORCH_TIDY_DRIVER_LSP_TRANSPORT_H
