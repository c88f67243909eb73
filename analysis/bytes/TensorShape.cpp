//===- TensorShape.cpp - Sizes and element types of tensors ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/TensorShape.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::bytes {

std::optional<ElementType> elementType(StringRef Name) {
  // kFloat64 and kFloat, Float, float32 are spellings of scalar types.
  Name.consume_front("k");
  return llvm::StringSwitch<std::optional<ElementType>>(Name)
      .Cases("Float", "Float32", "float32", "F32", Float32)
      .Cases("Double", "Float64", "float64", "F64", ElementType{"float64", 8})
      .Cases("Half", "Float16", "float16", "F16", ElementType{"float16", 2})
      .Cases("BFloat16", "bfloat16", ElementType{"bfloat16", 2})
      .Cases("Long", "Int64", "int64", "I64", Int64)
      .Cases("Int", "Int32", "int32", "I32", ElementType{"int32", 4})
      .Cases("Short", "Int16", "int16", "I16", ElementType{"int16", 2})
      .Cases("Char", "Int8", "int8", "I8", ElementType{"int8", 1})
      .Cases("Byte", "UInt8", "uint8", "U8", ElementType{"uint8", 1})
      .Cases("Bool", "bool", Bool)
      .Cases("ComplexFloat", "complex64", ElementType{"complex64", 8})
      .Cases("ComplexDouble", "complex128", ElementType{"complex128", 16})
      .Default(std::nullopt);
}

bool isFloating(ElementType Type) {
  return Type.Name.contains("float") || Type.Name.contains("complex");
}

/// Beyond that nothing is a tensor, and sums of many could overflow.
static constexpr uint64_t MostElements = 1ULL << 48;

std::optional<uint64_t> TensorShape::elements() const {
  if (!Defined)
    return 0;
  if (!Sizes)
    return std::nullopt;
  uint64_t Product = 1;
  bool IsEmpty = false;
  for (const Size &S : *Sizes) {
    if (!S || *S < 0)
      return std::nullopt;
    if (*S == 0) {
      IsEmpty = true;
      continue;
    }
    if (static_cast<uint64_t>(*S) > MostElements / Product)
      return std::nullopt;
    Product *= static_cast<uint64_t>(*S);
  }
  return IsEmpty ? 0 : Product;
}

std::optional<std::vector<Size>> broadcast(ArrayRef<Size> A, ArrayRef<Size> B) {
  std::vector<Size> Result(std::max(A.size(), B.size()));
  for (size_t I = 0; I < Result.size(); ++I) {
    const Size X = I < A.size() ? A[A.size() - 1 - I] : 1;
    const Size Y = I < B.size() ? B[B.size() - 1 - I] : 1;
    if (X && Y && *X != *Y && *X != 1 && *Y != 1)
      return std::nullopt;
    Result[Result.size() - 1 - I] = X == Size(1) ? Y : X;
  }
  return Result;
}

std::optional<uint64_t> TensorShape::bytes() const {
  const std::optional<uint64_t> Elements = elements();
  if (!Elements || (!Type && *Elements))
    return std::nullopt;
  return *Elements ? *Elements * Type->Bytes : 0;
}

} // namespace libtorch_tidy::bytes
