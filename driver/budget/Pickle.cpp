//===- Pickle.cpp - Values of Python's pickles ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/budget/Pickle.h"
#include "driver/project/Messages.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using llvm::StringRef;

namespace libtorch_tidy::driver {

namespace {

/// The machine that a pickle is a program of. What goes wrong is remembered,
/// and ends it.
class PickleReader {
public:
  explicit PickleReader(StringRef Left) : Left(Left) {}

  llvm::Expected<Pickle> read() {
    constexpr size_t MostValues = 4'000'000;
    while (Wrong.empty() && !IsDone) {
      step(static_cast<unsigned char>(take(1).empty() ? 0 : Last));
      if (Result.Values.size() > MostValues)
        fail("it has more than " + std::to_string(MostValues) + " values");
    }
    if (Wrong.empty() && Stack.size() != 1)
      fail("it does not leave one value");
    if (!Wrong.empty())
      return makeError("its pickle is not one of LibTorch's: " + Wrong);
    Result.Root = Stack.back();
    return std::move(Result);
  }

private:
  using Kind = PickleValue::Kind;

  void fail(const std::string &Why) {
    if (Wrong.empty())
      Wrong = Why;
  }

  /// The next \p Count bytes; none where there are too few.
  StringRef take(uint64_t Count) {
    if (Count > Left.size()) {
      fail("it ends too early");
      return {};
    }
    const StringRef Taken = Left.take_front(Count);
    Left = Left.drop_front(Count);
    if (Count == 1)
      Last = Taken.front();
    return Taken;
  }
  /// Of \p Count bytes, the lowest first, with a sign if \p IsSigned.
  int64_t number(unsigned Count, bool IsSigned = false) {
    const StringRef Digits = take(Count);
    uint64_t Number =
        IsSigned && !Digits.empty() && (Digits.back() & 0x80) ? ~0ULL : 0;
    for (const char C : llvm::reverse(Digits))
      Number = Number << 8 | static_cast<unsigned char>(C);
    return static_cast<int64_t>(Number);
  }
  StringRef line() {
    const size_t End = Left.find('\n');
    const StringRef Taken =
        take(End == StringRef::npos ? Left.size() + 1 : End);
    take(1);
    return Taken;
  }

  void push(PickleValue V) {
    Stack.push_back(static_cast<unsigned>(Result.Values.size()));
    Result.Values.push_back(std::move(V));
  }
  void push(Kind Is, std::vector<unsigned> Parts = {}) {
    PickleValue V;
    V.Is = Is;
    V.Parts = std::move(Parts);
    push(std::move(V));
  }
  void pushNumber(int64_t Number) {
    push(PickleValue::Number);
    Result.Values.back().Integer = Number;
  }
  void pushText(Kind Is, StringRef Letters) {
    push(Is);
    Result.Values.back().Letters = Letters.str();
  }

  /// The last \p Count values, which are no longer on the stack.
  std::vector<unsigned> pop(size_t Count) {
    const size_t Floor = Marks.empty() ? 0 : Marks.back();
    if (Count > Stack.size() - Floor) {
      fail("it takes more than there is");
      return std::vector<unsigned>(Count, unsigned());
    }
    std::vector<unsigned> Taken(Stack.end() - Count, Stack.end());
    Stack.resize(Stack.size() - Count);
    return Taken;
  }
  /// Those since the last mark.
  std::vector<unsigned> popToMark() {
    if (Marks.empty()) {
      fail("a mark is missing");
      return {};
    }
    std::vector<unsigned> Taken = pop(Stack.size() - Marks.back());
    Marks.pop_back();
    return Taken;
  }
  /// Adds \p Parts to the container on top.
  void add(Kind To, const std::vector<unsigned> &Parts) {
    const size_t Floor = Marks.empty() ? 0 : Marks.back();
    if (Stack.size() <= Floor || Result.Values[Stack.back()].Is != To ||
        (To == PickleValue::Dictionary && Parts.size() % 2))
      return fail("something is added to what cannot hold it");
    llvm::append_range(Result.Values[Stack.back()].Parts, Parts);
  }

  void remember(uint64_t Place) {
    if (Stack.empty())
      return fail("nothing is there to be remembered");
    Memo[Place] = Stack.back();
  }
  void recall(uint64_t Place) {
    const auto It = Memo.find(Place);
    if (It == Memo.end())
      return fail("nothing was remembered there");
    Stack.push_back(It->second);
  }

  // Opcodes have the names of Python's pickletools.
  void step(unsigned char Opcode) {
    switch (Opcode) {
    case 0x80: // PROTO
      take(1);
      return;
    case '.': // STOP
      IsDone = true;
      return;
    case '(': // MARK
      return Marks.push_back(Stack.size());
    case '0': // POP
      pop(1);
      return;
    case 'q': // BINPUT
      return remember(number(1));
    case 'r': // LONG_BINPUT
      return remember(number(4));
    case 'h': // BINGET
      return recall(number(1));
    case 'j': // LONG_BINGET
      return recall(number(4));
    case 'N': // NONE
      return push(PickleValue::Other);
    case 'G': // BINFLOAT
      take(8);
      return push(PickleValue::Other);
    case 0x88: // NEWTRUE
    case 0x89: // NEWFALSE
      return pushNumber(Opcode == 0x88);
    case 'K': // BININT1
      return pushNumber(number(1));
    case 'M': // BININT2
      return pushNumber(number(2));
    case 'J': // BININT
      return pushNumber(number(4, /*IsSigned=*/true));
    case 0x8a: { // LONG1
      const int64_t Count = number(1);
      if (Count > 8)
        return fail("a number is too large");
      return pushNumber(number(static_cast<unsigned>(Count), true));
    }
    case 'U': // SHORT_BINSTRING
      return pushText(PickleValue::Text, take(number(1)));
    case 'T': // BINSTRING
    case 'X': // BINUNICODE
      return pushText(PickleValue::Text, take(number(4)));
    case ']': // EMPTY_LIST
    case ')': // EMPTY_TUPLE
      return push(PickleValue::Sequence);
    case '}': // EMPTY_DICT
      return push(PickleValue::Dictionary);
    case 't': // TUPLE
      return push(PickleValue::Sequence, popToMark());
    case 0x85: // TUPLE1
    case 0x86: // TUPLE2
    case 0x87: // TUPLE3
      return push(PickleValue::Sequence, pop(Opcode - 0x84));
    case 'a': // APPEND
      return add(PickleValue::Sequence, pop(1));
    case 'e': // APPENDS
      return add(PickleValue::Sequence, popToMark());
    case 's': // SETITEM
      return add(PickleValue::Dictionary, pop(2));
    case 'u': // SETITEMS
      return add(PickleValue::Dictionary, popToMark());
    case 'c': { // GLOBAL
      const StringRef Module = line();
      return pushText(PickleValue::Name, (Module + "." + line()).str());
    }
    case 0x81: { // NEWOBJ
      const std::vector<unsigned> Taken = pop(2);
      return push(PickleValue::Object, {Taken.front()});
    }
    case 'R': // REDUCE
      return push(PickleValue::Call, pop(2));
    case 'Q': // BINPERSID
      return push(PickleValue::Outside, pop(1));
    case 'b': { // BUILD
      const unsigned State = pop(1).front();
      return add(PickleValue::Object, {State});
    }
    default:
      return fail("opcode " + std::to_string(Opcode));
    }
  }

  StringRef Left;
  char Last = 0;
  bool IsDone = false;
  std::string Wrong;
  std::vector<unsigned> Stack;
  std::vector<size_t> Marks; ///< The size of the stack when each was set.
  std::map<uint64_t, unsigned> Memo;
  Pickle Result;
};

} // namespace

llvm::Expected<Pickle> readPickle(StringRef Bytes) {
  return PickleReader(Bytes).read();
}

} // namespace libtorch_tidy::driver
