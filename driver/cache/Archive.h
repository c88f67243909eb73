//===- Archive.h - Values as bytes, and back --------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What workers send to their parent, and what the cache keeps. Readers of the
/// bytes are the same build of the program, so there are no versions in it; a
/// reader that meets wrong bytes all the same turns bad and gives empty values.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_CACHE_ARCHIVE_H
#define LIBTORCH_TIDY_DRIVER_CACHE_ARCHIVE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Endian.h"
#include <string>

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

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_CACHE_ARCHIVE_H
