//===- Archive.h - Values as bytes, and back --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What workers send to their parent, and what the cache keeps. Readers of the
/// bytes are the same build of the program, so there are no versions in it; a
/// reader that meets wrong bytes all the same turns bad and gives empty values.
///
/// toBytes() and fromBytes() take numbers, texts, containers, and structs of
/// these with all their members (see cpp::fieldsOf()). Other types have
/// overloads of archive() and restore().

#ifndef LIBTORCH_TIDY_DRIVER_CACHE_ARCHIVE_H
#define LIBTORCH_TIDY_DRIVER_CACHE_ARCHIVE_H

#include "analysis/cpp/Fields.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include <map>
#include <string>
#include <vector>

namespace libtorch_tidy::driver {

class ArchiveWriter {
public:
  void number(uint64_t Value) {
    char Bytes[sizeof(Value)];
    llvm::support::endian::write64le(Bytes, Value);
    Out.append(Bytes, sizeof(Bytes));
  }
  void text(llvm::StringRef Value) {
    number(Value.size());
    Out.append(Value.data(), Value.size());
  }
  /// The number of elements, and \p One of each.
  template <typename Range, typename Function>
  void list(const Range &Elements, Function One) {
    number(std::size(Elements));
    for (const auto &Element : Elements)
      One(Element);
  }

  std::string take() { return std::move(Out); }

private:
  std::string Out;
};

class ArchiveReader {
public:
  explicit ArchiveReader(llvm::StringRef In) : In(In) {}

  uint64_t number() {
    if (In.size() < sizeof(uint64_t)) {
      Bad = true;
      return 0;
    }
    uint64_t Value = llvm::support::endian::read64le(In.data());
    In = In.drop_front(sizeof(uint64_t));
    return Value;
  }
  llvm::StringRef text() {
    uint64_t Size = number();
    if (Size > In.size()) {
      Bad = true;
      return {};
    }
    llvm::StringRef Value = In.take_front(Size);
    In = In.drop_front(Size);
    return Value;
  }
  /// Calls \p One for each element, which reads it.
  template <typename Function> void list(Function One) {
    for (uint64_t Left = number(); Left && !Bad; --Left)
      One();
  }

  /// All was read, and nothing but what was expected.
  bool finished() const { return !Bad && In.empty(); }

private:
  llvm::StringRef In;
  bool Bad = false;
};

inline void archive(ArchiveWriter &Out, const std::string &Value) {
  Out.text(Value);
}
inline void restore(ArchiveReader &In, std::string &Value) {
  Value = In.text().str();
}

template <typename T>
void archive(ArchiveWriter &Out, const std::optional<T> &Value) {
  Out.number(Value.has_value());
  if (Value)
    archive(Out, *Value);
}
template <typename T> void restore(ArchiveReader &In, std::optional<T> &Value) {
  if (In.number())
    restore(In, Value.emplace());
}

template <typename T> using BeginOf = decltype(std::begin(std::declval<T &>()));

template <typename T>
void restore(ArchiveReader &In, std::map<std::string, T> &Elements) {
  In.list([&] { restore(In, Elements[In.text().str()]); });
}

template <typename T> void archive(ArchiveWriter &Out, const T &Value) {
  if constexpr (std::is_same_v<T, double>)
    Out.number(llvm::bit_cast<uint64_t>(Value));
  else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
    Out.number(static_cast<uint64_t>(Value));
  else if constexpr (llvm::is_detected<BeginOf, T>::value)
    Out.list(Value, [&](const auto &Element) { archive(Out, Element); });
  else
    std::apply([&](const auto &...Field) { (archive(Out, Field), ...); },
               cpp::fieldsOf(Value));
}
template <typename T> void restore(ArchiveReader &In, T &Value) {
  if constexpr (std::is_same_v<T, double>)
    Value = llvm::bit_cast<double>(In.number());
  else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
    Value = static_cast<T>(In.number());
  else if constexpr (llvm::is_detected<BeginOf, T>::value)
    In.list([&] {
      typename T::value_type Element{};
      restore(In, Element);
      Value.insert(Value.end(), std::move(Element));
    });
  else
    std::apply([&](auto &...Field) { (restore(In, Field), ...); },
               cpp::fieldsOf(Value));
}

template <typename T> std::string toBytes(const T &Value) {
  ArchiveWriter Out;
  archive(Out, Value);
  return Out.take();
}

/// Absent when there are no \p Bytes, or they are not what toBytes() makes of a
/// \c T.
template <typename T>
std::optional<T> fromBytes(std::optional<llvm::StringRef> Bytes) {
  if (!Bytes)
    return std::nullopt;
  ArchiveReader In(*Bytes);
  std::optional<T> Result(std::in_place);
  restore(In, *Result);
  if (!In.finished())
    Result.reset();
  return Result;
}

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_CACHE_ARCHIVE_H
