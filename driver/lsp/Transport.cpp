//===- Transport.cpp - Messages over a pair of pipes ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/lsp/Transport.h"
#include "llvm/Support/Errno.h"
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

using llvm::StringRef;

namespace libtorch_tidy::driver::lsp {

static constexpr llvm::StringLiteral LengthField = "content-length:";
/// Clients send two short fields.
static constexpr size_t LargestHeader = 4096;
/// What says that it is longer is no message that is worth waiting for its end.
static constexpr uint64_t LargestSkip = uint64_t(1) << 32;

Transport::Transport(int In, int Out) : In(In), Out(Out) {
  ::fcntl(Out, F_SETFL, ::fcntl(Out, F_GETFL) | O_NONBLOCK);
}

bool Transport::read() {
  char Buffer[1 << 16], *Begin = Buffer;
  const ssize_t Count =
      llvm::sys::RetryAfterSignal(-1, ::read, In, Begin, sizeof(Buffer));
  if (Count < 0)
    return errno == EAGAIN || errno == EWOULDBLOCK;
  Read.append(Buffer, Count);
  return Count > 0;
}

void Transport::send(StringRef Body) {
  Waiting += "Content-Length: " + std::to_string(Body.size()) + "\r\n\r\n";
  Waiting += Body;
}

bool Transport::flush() {
  size_t Done = 0;
  while (Done < Waiting.size()) {
    const ssize_t Count = llvm::sys::RetryAfterSignal(
        -1, ::write, Out, Waiting.data() + Done, Waiting.size() - Done);
    if (Count < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
      return false;
    if (Count <= 0)
      break;
    Done += Count;
  }
  Waiting.erase(0, Done);
  return true;
}

std::optional<Transport::Message>
Transport::resynchronize(std::string Problem) {
  Lost = true;
  return Message{{}, std::move(Problem)};
}

/// After something that is no message: drops what comes before the next header.
bool Transport::findHeader() {
  const size_t At = StringRef(Read).find_insensitive(LengthField);
  if (At == StringRef::npos) {
    // It may have come in part.
    Read.erase(0, Read.size() - std::min(Read.size(), LengthField.size()));
    return false;
  }
  Read.erase(0, At);
  Lost = false;
  return true;
}

std::optional<Transport::Message> Transport::next() {
  const size_t Skipped = std::min<uint64_t>(Skip, Read.size());
  Read.erase(0, Skipped);
  Skip -= Skipped;
  if (Skip || (Lost && !findHeader()))
    return std::nullopt;

  // What follows may be megabytes that come bit by bit: they are not searched.
  const StringRef Head = StringRef(Read).take_front(LargestHeader + 4);
  StringRef Ending = "\r\n\r\n";
  size_t End = Head.find(Ending);
  // A script's lines may end as its own.
  if (const size_t Bare = Head.take_front(End).find("\n\n");
      Bare != StringRef::npos) {
    Ending = "\n\n";
    End = Bare;
  }
  if (std::min(End, Read.size()) > LargestHeader) {
    Read.erase(0, 1); // Not the same again.
    return resynchronize("the header of a message has no end");
  }
  if (End == StringRef::npos)
    return std::nullopt;
  std::optional<uint64_t> Length;
  for (StringRef Left = Head.take_front(End); !Left.empty();) {
    StringRef Field;
    std::tie(Field, Left) = Left.split('\n');
    uint64_t Number;
    if (Field.consume_front_insensitive(LengthField) &&
        !Field.trim().getAsInteger(10, Number))
      Length = Number;
  }
  const size_t Start = End + Ending.size();
  if (!Length || *Length > LargestSkip) {
    Read.erase(0, Start);
    return resynchronize("the header of a message has no valid Content-Length");
  }
  if (*Length > LargestMessage) {
    Read.erase(0, Start);
    Skip = *Length;
    return Message{{},
                   "a message of " + std::to_string(*Length) +
                       " bytes is refused: the limit is " +
                       std::to_string(LargestMessage)};
  }
  if (Read.size() - Start < *Length)
    return std::nullopt;
  Message Result{Read.substr(Start, *Length), {}};
  Read.erase(0, Start + *Length);
  return Result;
}

} // namespace libtorch_tidy::driver::lsp
