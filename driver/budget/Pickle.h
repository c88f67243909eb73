//===- Pickle.h - Values of Python's pickles --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Reads the pickles that LibTorch writes as data: what a pickle would call or
/// make is named, and nothing is called or made.

#ifndef LIBTORCH_TIDY_DRIVER_BUDGET_PICKLE_H
#define LIBTORCH_TIDY_DRIVER_BUDGET_PICKLE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace libtorch_tidy::driver {

struct PickleValue {
  enum Kind : unsigned char {
    Other,  ///< None, or a real number.
    Number, ///< An integer or a truth.
    Text,
    Sequence,   ///< A list or a tuple.
    Dictionary, ///< Parts: a key, its value, the next key ...
    Name,       ///< Of a class or function: "torch.FloatStorage".
    Object,     ///< Parts: its class, and its state, if it has one.
    Call,       ///< Parts: what is called, and a sequence of arguments.
    Outside,    ///< Part: a sequence that names something outside.
  } Is = Other;
  int64_t Integer = 0;
  std::string Letters;         ///< Of a text or a name.
  std::vector<unsigned> Parts; ///< Among all values; may lead back here.
};

struct Pickle {
  std::vector<PickleValue> Values;
  unsigned Root = 0;

  const PickleValue &operator[](unsigned Of) const { return Values[Of]; }
};

/// \p Bytes may be anything.
llvm::Expected<Pickle> readPickle(llvm::StringRef Bytes);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_BUDGET_PICKLE_H
