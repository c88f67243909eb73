//===- ZipFile.cpp - The records of a zip archive -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/budget/ZipFile.h"
#include "driver/project/Messages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include <optional>
#include <vector>
#include <zlib.h>

using llvm::StringRef;

namespace libtorch_tidy::driver {

namespace {

/// Reads numbers from the front of bytes; too few of them are told at the end.
class Numbers {
public:
  explicit Numbers(StringRef Left) : Left(Left) {}

  bool isShort() const { return Short; }
  StringRef left() const { return Left; }

  StringRef take(uint64_t Count) {
    Short |= Count > Left.size();
    const StringRef Result = Short ? StringRef() : Left.take_front(Count);
    Left = Left.drop_front(Result.size());
    return Result;
  }
  /// A number of \p Count bytes, the lowest first.
  uint64_t number(unsigned Count) {
    uint64_t Result = 0;
    for (const char C : llvm::reverse(take(Count)))
      Result = Result << 8 | static_cast<unsigned char>(C);
    return Result;
  }
  bool begins(StringRef Signature) { return take(4) == Signature; }

private:
  StringRef Left;
  bool Short = false;
};

/// The part of \p Bytes that a header speaks of; nullopt outside of them.
std::optional<StringRef> part(StringRef Bytes, uint64_t At, uint64_t Size) {
  if (At > Bytes.size() || Size > Bytes.size() - At)
    return std::nullopt;
  return Bytes.substr(At, Size);
}

} // namespace

// What a field of 32 bits says where the number stands in a longer one.
static constexpr uint64_t InLonger = 0xFFFFFFFF;

/// The directory of the archive; nullopt without one.
static std::optional<StringRef> directoryOf(StringRef Bytes) {
  constexpr uint64_t EndSize = 22, LongestComment = 0xFFFF, LocatorSize = 20;
  const StringRef Tail = Bytes.take_back(EndSize + LongestComment);
  const size_t Found = Tail.rfind("PK\5\6");
  if (Found == StringRef::npos)
    return std::nullopt;
  Numbers End(Tail.substr(Found + 12));
  uint64_t Size = End.number(4), At = End.number(4);
  End.take(End.number(2)); // A comment.
  if (End.isShort())
    return std::nullopt;
  // Archives with more than 4 GB have an end of their own in front of that.
  const uint64_t EndAt = Bytes.size() - Tail.size() + Found;
  if (EndAt >= LocatorSize) {
    Numbers Locator(Bytes.substr(EndAt - LocatorSize, LocatorSize));
    if (Locator.begins("PK\6\7")) {
      Locator.take(4);
      Numbers Long(Bytes.substr(Locator.number(8)));
      if (!Long.begins("PK\6\6"))
        return std::nullopt;
      Long.take(36);
      Size = Long.number(8);
      At = Long.number(8);
      if (Long.isShort())
        return std::nullopt;
    }
  }
  return part(Bytes, At, Size);
}

/// Takes the numbers of 64 bits from what \p Extra holds, for those of
/// \p Fields that have no room for theirs.
static bool takeLonger(StringRef Extra, llvm::ArrayRef<uint64_t *> Fields) {
  if (llvm::none_of(Fields, [](uint64_t *F) { return *F == InLonger; }))
    return true;
  for (Numbers All(Extra); !All.left().empty();) {
    const uint64_t Kind = All.number(2);
    Numbers Each(All.take(All.number(2)));
    if (All.isShort())
      return false;
    if (Kind != 1)
      continue;
    for (uint64_t *Field : Fields)
      if (*Field == InLonger)
        *Field = Each.number(8);
    return !Each.isShort();
  }
  return false;
}

llvm::Expected<ZipFile> ZipFile::read(StringRef Bytes) {
  constexpr unsigned MostRecords = 1U << 20;
  const std::optional<StringRef> Directory = directoryOf(Bytes);
  if (!Directory)
    return makeError("it is not a whole zip archive");
  ZipFile Result;
  std::vector<StringRef> Parts;
  for (Numbers In(*Directory); !In.left().empty();) {
    auto Broken = [&](const llvm::Twine &Why) {
      return makeError("its directory is damaged: " + Why);
    };
    if (!In.begins("PK\1\2"))
      return Broken("there is no record where one must be");
    In.take(4);
    const uint64_t Flags = In.number(2), Method = In.number(2);
    In.take(8);
    uint64_t Packed = In.number(4), Size = In.number(4);
    const uint64_t NameSize = In.number(2), ExtraSize = In.number(2),
                   CommentSize = In.number(2);
    In.take(8);
    uint64_t At = In.number(4);
    const StringRef Name = In.take(NameSize), Extra = In.take(ExtraSize);
    In.take(CommentSize);
    if (In.isShort() || !takeLonger(Extra, {&Size, &Packed, &At}))
      return Broken("it ends within a record");
    auto Wrong = [&](const llvm::Twine &Why) {
      return makeError("record '" + Name + "' " + Why);
    };
    const std::optional<StringRef> Header = part(Bytes, At, 30);
    if (!Header || !Header->starts_with("PK\3\4"))
      return Wrong("is not where the directory says");
    Numbers Local(Header->drop_front(26));
    const uint64_t LocalName = Local.number(2), LocalExtra = Local.number(2);
    const uint64_t Begin = At + 30 + LocalName + LocalExtra;
    const std::optional<StringRef> Data = part(Bytes, Begin, Packed);
    if (!Data)
      return Wrong("reaches beyond the end of the file");
    if (Bytes.substr(At + 30, LocalName) != Name)
      return Wrong("has another name in its own header");
    // Bit 0: encrypted. Deflated bytes become at most 1,032 times as many.
    const bool IsDeflated = Method == 8;
    if ((Flags & 1) || (Method != 0 && !IsDeflated))
      return Wrong("is packed in a way that LibTorch does not use");
    if (IsDeflated ? Size / 1032 > Packed : Size != Packed)
      return Wrong("cannot hold as many bytes as the directory says");
    if (!Result.Records.try_emplace(Name, Record{Size, *Data, IsDeflated})
             .second)
      return Wrong("is there twice");
    if (Result.Records.size() > MostRecords)
      return makeError("it has more than " + llvm::Twine(MostRecords) +
                       " records");
    Parts.push_back(Bytes.slice(At, Begin + Packed));
  }
  llvm::sort(Parts,
             [](StringRef A, StringRef B) { return A.data() < B.data(); });
  for (size_t I = 1; I < Parts.size(); ++I)
    if (Parts[I - 1].end() > Parts[I].begin())
      return makeError("its records overlap");
  return std::move(Result);
}

const ZipFile::Record *ZipFile::find(StringRef Name) const {
  const auto It = Records.find(Name);
  return It == Records.end() ? nullptr : &It->second;
}

llvm::Expected<std::string> contentsOf(const ZipFile::Record &R,
                                       uint64_t Most) {
  if (R.Size > Most || R.Data.size() > Most)
    return makeError("it holds " + llvm::Twine(R.Size) +
                     " bytes, which is more than can be read");
  if (!R.IsDeflated)
    return R.Data.str();
  z_stream Stream = {};
  if (inflateInit2(&Stream, -MAX_WBITS) != Z_OK)
    return makeError("zlib cannot be started");
  const auto End = llvm::make_scope_exit([&] { inflateEnd(&Stream); });
  // One more than there should be, to see that there is not.
  std::string Result(R.Size + 1, '\0');
  Stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(R.Data.data()));
  Stream.avail_in = static_cast<uInt>(R.Data.size());
  Stream.next_out = reinterpret_cast<Bytef *>(Result.data());
  Stream.avail_out = static_cast<uInt>(Result.size());
  if (inflate(&Stream, Z_FINISH) != Z_STREAM_END || Stream.total_out != R.Size)
    return makeError("it does not unpack to what the directory says");
  Result.pop_back();
  return Result;
}

} // namespace libtorch_tidy::driver
