//===- TensorTraits.cpp - What is known of a tensor unrun -----------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/torch/api/TensorTraits.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::torch {

bool isScalarType(QualType T) {
  const auto *Enum = T.getNonReferenceType()->getAs<EnumType>();
  return Enum && Enum->getDecl()->getName() == "ScalarType" &&
         isTorchDecl(Enum->getDecl());
}

bool isDeviceType(QualType T) {
  const auto *Enum = T.getNonReferenceType()->getAs<EnumType>();
  return cpp::isOrDerivesFrom(T, "c10::Device") ||
         (Enum && Enum->getDecl()->getName() == "DeviceType" &&
          isTorchDecl(Enum->getDecl()));
}

static void readDevice(const Expr *E, Asked &A) {
  A.AnyDevice = true;
  while (const auto *Construct =
             dyn_cast_or_null<CXXConstructExpr>(cpp::stripImplicit(E))) {
    if (Construct->getNumArgs() == 0)
      return;
    E = Construct->getArg(0);
  }
  E = cpp::stripImplicit(E);
  const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E);
  const auto *Literal = dyn_cast_or_null<clang::StringLiteral>(E);
  StringRef Name =
      Ref && Ref->getDecl()->getIdentifier() && isTorchDecl(Ref->getDecl())
          ? Ref->getDecl()->getName()
      : Literal && Literal->isOrdinary() ? Literal->getString()
                                         : StringRef();
  A.Cpu = Name == "kCPU" || Name == "CPU" || Name == "cpu";
  A.Cuda = Name == "kCUDA" || Name == "CUDA" || Name.starts_with("cuda");
}

static void readAsked(const Expr *E, const ASTContext &Context, Asked &A,
                      unsigned Depth) {
  E = cpp::stripImplicit(E);
  if (!E || Depth > cpp::MaxChase) {
    A.Unknown = true;
    return;
  }
  QualType T = E->getType();
  if (isScalarType(T)) {
    A.AnyDtype = true;
    if (std::optional<int64_t> Number = cpp::constantInt(E, Context))
      A.Dtype = *Number;
    return;
  }
  if (isDeviceType(T))
    return readDevice(E, A);
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
    for (const Expr *Arg : Construct->arguments())
      if (!isa<CXXDefaultArgExpr>(Arg))
        readAsked(Arg, Context, A, Depth + 1);
    return;
  }
  if (const auto *Call = dyn_cast<CallExpr>(E)) {
    StringRef Name = cpp::calleeName(Call);
    if (!isTorchDecl(Call->getDirectCallee()) ||
        !cpp::isOrDerivesFrom(T, "c10::TensorOptions")) {
      A.Unknown = true;
      return;
    }
    if (Name == "options") { // Those of another tensor.
      A.Unknown = true;
      return;
    }
    if (const auto *Method = dyn_cast<CXXMemberCallExpr>(Call))
      readAsked(Method->getImplicitObjectArgument(), Context, A, Depth + 1);
    if (Name == "dtype" || Name == "device")
      for (const Expr *Arg : cpp::writtenArguments(Call))
        readAsked(Arg, Context, A, Depth + 1);
    return;
  }
  // Options that change later than their declaration do so by assignment.
  if (const VarDecl *Var = cpp::variableOf(E);
      Var && Var->hasInit() && cpp::isOrDerivesFrom(T, "c10::TensorOptions") &&
      !isa<ParmVarDecl>(Var))
    return readAsked(Var->getInit(), Context, A, Depth + 1);
  A.Unknown = true;
}

void readAsked(const Expr *E, const ASTContext &Context, Asked &A) {
  readAsked(E, Context, A, /*Depth=*/0);
}

// c10/core/ScalarType.h; the values are part of the file format.
std::optional<DtypeFacts> dtypeFacts(int64_t Dtype) {
  switch (Dtype) {
  case 2:
    return DtypeFacts{"kInt16", 2, false};
  case 3:
    return DtypeFacts{"kInt32", 4, false};
  case 4:
    return DtypeFacts{"kInt64", 8, false};
  case 6:
    return DtypeFacts{"kFloat32", 4, true};
  case 7:
    return DtypeFacts{"kFloat64", 8, true};
  default:
    return std::nullopt;
  }
}

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

} // namespace libtorch_tidy::torch
