//===- ImageTypes.cpp - Images read with another type ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/layout/ImageTypes.h"
#include "analysis/cpp/Matrices.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/torch/storage/Elements.h"
#include "analysis/torch/storage/Sharing.h"
#include "clang/AST/ASTContext.h"

using namespace clang;

namespace libtorch_tidy {

namespace {

/// May \p Size be a number of rows or columns times the size of an element?
bool isProduct(const Expr *Size) {
  return cpp::anyOf<BinaryOperator>(
      Size, [](const BinaryOperator *Op) { return Op->isMultiplicativeOp(); });
}

/// Is the number of bytes of an element asked for in \p Size?
bool asksBytes(const Expr *Size) {
  return cpp::anyOf<Expr>(Size, [](const Expr *E) {
    const auto *Member = dyn_cast<MemberExpr>(E);
    return Member && cpp::isOneOf(cpp::nameOf(Member->getMemberDecl()),
                                  {"elemSize", "elemSize1", "step", "total"});
  });
}

} // namespace

std::optional<OtherType> otherTypeThan(const Expr *Image,
                                       const torch::BlobCall &Blob,
                                       llvm::ArrayRef<const Expr *> Sizes,
                                       cpp::Body &In) {
  const auto Read =
      Blob.Traits.Dtype ? torch::elementSize(*Blob.Traits.Dtype) : std::nullopt;
  const auto P = Read && Sizes.size() > 1 ? cpp::pixelsOf(Image, Blob.Call, In)
                                          : std::nullopt;
  if (!P || P->Bytes == Read->second)
    return std::nullopt;
  bool HasRows = false, HasColumns = false, HasOthers = false,
       HasChannels = false;
  int64_t Constants = 1;
  for (const Expr *Size : Sizes) {
    const auto Of = cpp::asExtent(Size);
    const auto Number = cpp::constantInt(Size, In.context());
    if (isProduct(Size) || asksBytes(Size))
      return std::nullopt;
    if (Of && cpp::isSameName(Of->Object, Image)) {
      HasRows |= Of->Which == cpp::Extent::Rows;
      HasColumns |= Of->Which == cpp::Extent::Columns;
      HasChannels |= Of->Which == cpp::Extent::Channels;
    } else if (Number && *Number > 0 && *Number < 1 << 20) {
      Constants *= *Number;
    } else {
      HasOthers = true;
    }
  }
  const bool SameShape = HasRows && HasColumns && !HasOthers;
  // Four bytes of a pixel as one number: {rows, cols} of CV_8UC4 as kInt32.
  const unsigned Channels = P->Channels ? P->Channels : 4;
  if (!HasChannels && Constants * Read->second == Channels * P->Bytes)
    return std::nullopt;
  return OtherType{Image, *P, Read->first.str(), Read->second, SameShape};
}

std::optional<OtherType> overTensor(const CXXConstructExpr *Made,
                                    cpp::Body &In) {
  const auto P =
      cpp::isMat(Made->getType()) ? cpp::typeGiven(Made, In) : std::nullopt;
  if (!P)
    return std::nullopt;
  const auto Args = cpp::writtenArguments(Made);
  const auto Data = llvm::find_if(
      Args, [](const Expr *Arg) { return Arg->getType()->isPointerType(); });
  if (Data == Args.end())
    return std::nullopt;
  const auto To = torch::elementsAt(*Data, In);
  if (!To.Of || !To.Has || To.Has->Bytes == P->Bytes ||
      To.Has->Bytes == P->Bytes * P->Channels)
    return std::nullopt;
  // Rows and columns, or one cv::Size of them, stand before the type.
  llvm::SmallVector<const Expr *, 4> Extents;
  for (const Expr *Arg : llvm::ArrayRef(Args.begin(), Data))
    if (const auto *Size = dyn_cast<CXXConstructExpr>(
            cpp::stripImplicit(In.originOf(cpp::peel(Arg)))))
      llvm::append_range(Extents, cpp::writtenArguments(Size));
    else
      Extents.push_back(Arg);
  unsigned Asked = 0;
  for (const Expr *Extent : Extents) {
    const Expr *Origin = cpp::peel(In.originOf(cpp::peel(Extent)));
    if (!Origin || isProduct(Origin))
      return std::nullopt;
    const auto Size = torch::askedForSize(Origin);
    Asked += Size.Of && cpp::isSameName(Size.Of, To.Of);
  }
  return OtherType{To.Of, *P, To.Has->Type, To.Has->Bytes, Asked == 2};
}

} // namespace libtorch_tidy
