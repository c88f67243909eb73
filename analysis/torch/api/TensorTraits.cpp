//===- TensorTraits.cpp - What is known of a tensor unrun -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/api/TensorTraits.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

/// LibTorch's enumeration \p Name.
static bool isEnum(QualType T, StringRef Name) {
  const auto *Enum = T.getNonReferenceType()->getAs<EnumType>();
  return Enum && Enum->getDecl()->getName() == Name &&
         isTorchDecl(Enum->getDecl());
}

bool isScalarType(QualType T) { return isEnum(T, "ScalarType"); }

bool isDtype(QualType T) {
  return isScalarType(T) || cpp::isOrDerivesFrom(T, "caffe2::TypeMeta");
}

bool isDeviceType(QualType T) {
  return cpp::isOrDerivesFrom(T, "c10::Device") || isEnum(T, "DeviceType");
}

bool isTensorOptions(QualType T) {
  return cpp::isOrDerivesFrom(T, "c10::TensorOptions");
}

/// Is \p Number, of enumeration \p T, a dtype of whole numbers, or bool? By
/// name: the numbers are not the same in all versions.
static bool isIntegral(QualType T, int64_t Number) {
  // Up to Clang 21 a type's declaration is its definition by itself.
  const EnumDecl *Enum = T->castAs<EnumType>()->getDecl()->getDefinition();
  return Enum &&
         llvm::any_of(Enum->enumerators(), [&](const EnumConstantDecl *Dtype) {
           return Dtype->getInitVal().getExtValue() == Number &&
                  cpp::isOneOf(Dtype->getName(),
                               {"Byte", "Char", "Short", "Int", "Long", "Bool",
                                "UInt16", "UInt32", "UInt64"});
         });
}

/// How device \p E is named: kCUDA, CUDA, "cuda:1". Empty when it is not seen.
static StringRef deviceNamed(const Expr *E) {
  while (const auto *Construct =
             dyn_cast_or_null<CXXConstructExpr>(cpp::stripImplicit(E))) {
    if (Construct->getNumArgs() == 0)
      return {};
    E = Construct->getArg(0);
  }
  E = cpp::stripImplicit(E);
  const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E);
  const auto *Literal = dyn_cast_or_null<clang::StringLiteral>(E);
  return Ref && isTorchDecl(Ref->getDecl()) ? cpp::nameOf(Ref->getDecl())
         : Literal && Literal->isOrdinary() ? Literal->getString()
                                            : StringRef();
}

bool namesCpu(const Expr *E) {
  const StringRef Name = deviceNamed(E);
  return Name == "kCPU" || Name == "CPU" || Name.starts_with("cpu");
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
    if (std::optional<int64_t> Number = cpp::constantInt(E, Context)) {
      A.Dtype = *Number;
      A.Integral = isIntegral(T, *Number);
    }
    return;
  }
  if (isDeviceType(T)) {
    const StringRef Name = deviceNamed(E);
    A.AnyDevice = true;
    A.Cpu = Name == "kCPU" || Name == "CPU" || Name == "cpu";
    A.Cuda = Name == "kCUDA" || Name == "CUDA" || Name.starts_with("cuda");
    return;
  }
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
    for (const Expr *Arg : cpp::writtenArguments(Construct))
      readAsked(Arg, Context, A, Depth + 1);
    return;
  }
  const auto *Call = dyn_cast<CallExpr>(E);
  const StringRef Name = cpp::calleeName(Call);
  // options() are those of another tensor.
  if (isTensorOptions(T) && Call && isTorchDecl(Call->getDirectCallee()) &&
      Name != "options") {
    if (const auto *Method = dyn_cast<CXXMemberCallExpr>(Call))
      readAsked(Method->getImplicitObjectArgument(), Context, A, Depth + 1);
    if (Name == "dtype" || Name == "device")
      for (const Expr *Arg : cpp::writtenArguments(Call))
        readAsked(Arg, Context, A, Depth + 1);
    return;
  }
  // Options that change later than their declaration do so by assignment.
  if (const VarDecl *Var = cpp::variableOf(E);
      Var && Var->hasInit() && isTensorOptions(T) && !isa<ParmVarDecl>(Var))
    return readAsked(Var->getInit(), Context, A, Depth + 1);
  A.Unknown = true;
}

void readAsked(const Expr *E, const ASTContext &Context, Asked &A) {
  readAsked(E, Context, A, /*Depth=*/0);
}

// c10/core/ScalarType.h; the values are part of the file format.
std::optional<DtypeFacts> dtypeFacts(int64_t Dtype) {
  static constexpr std::pair<int64_t, DtypeFacts> Known[] = {
      {2, {"kInt16", 2, false, "int16_t"}},
      {3, {"kInt32", 4, false, "int32_t"}},
      {4, {"kInt64", 8, false, "int64_t"}},
      {6, {"kFloat32", 4, true, "float"}},
      {7, {"kFloat64", 8, true, "double"}}};
  for (const auto &[Number, Facts] : Known)
    if (Number == Dtype)
      return Facts;
  return std::nullopt;
}

std::optional<std::pair<StringRef, unsigned>> elementSize(int64_t Dtype) {
  using Size = std::pair<StringRef, unsigned>;
  if (const auto Facts = dtypeFacts(Dtype))
    return Size(Facts->Name, Facts->Bytes);
  switch (Dtype) {
  case 0:
    return Size("kUInt8", 1);
  case 1:
    return Size("kInt8", 1);
  case 5:
    return Size("kFloat16", 2);
  case 11:
    return Size("kBool", 1);
  case 15:
    return Size("kBFloat16", 2);
  default:
    return std::nullopt;
  }
}

bool hasOneByte(int64_t Dtype) {
  // Byte, Char, Bool, QInt8, QUInt8, QUInt4x2, QUInt2x4, then Bits1x8 to Bits8
  // and the types of eight floating bits.
  static constexpr int64_t OneByte[] = {0,  1,  11, 12, 13, 16, 17, 18,
                                        19, 20, 21, 23, 24, 25, 26, 44};
  return llvm::is_contained(OneByte, Dtype);
}

const Expr *askedForDtype(const Expr *E) {
  const auto *Call = dyn_cast_or_null<CallExpr>(cpp::peel(E));
  return cpp::isOneOf(cpp::calleeName(Call), {"scalar_type", "dtype"})
             ? tensorAskedBy(Call)
             : nullptr;
}

const Expr *askedForElementSize(const Expr *E) {
  const auto *Call = dyn_cast_or_null<CallExpr>(cpp::peel(E));
  const StringRef Name = cpp::calleeName(Call);
  if (cpp::isOneOf(Name, {"element_size", "itemsize"}))
    if (const Expr *Tensor = tensorAskedBy(Call))
      return Tensor;
  // t.dtype().itemsize(), elementSize(t.scalar_type())
  return Name == "itemsize"                ? askedForDtype(cpp::calledOn(Call))
         : callsTorch(Call, "elementSize") ? askedForDtype(Call->getArg(0))
                                           : nullptr;
}

} // namespace libtorch_tidy::torch
