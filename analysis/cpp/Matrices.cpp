//===- Matrices.cpp - Images and matrices of other libraries --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Matrices.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::cpp {

bool isGpuMat(QualType T) { return isOrDerivesFrom(T, "cv::cuda::GpuMat"); }

static bool isImage(QualType T) {
  return isMat(T) || isGpuMat(T) || isMat(pointeeOf(T)) ||
         isGpuMat(pointeeOf(T));
}

const Expr *elementsOf(const Expr *Pointer) {
  const Expr *E = peel(Pointer);
  if (const auto *Member = dyn_cast_or_null<MemberExpr>(E))
    return nameOf(Member->getMemberDecl()) == "data" &&
                   isImage(Member->getBase()->getType())
               ? peel(Member->getBase())
               : nullptr;
  const auto *Call = dyn_cast_or_null<CXXMemberCallExpr>(E);
  // Of the class that it is, not of a base that has the method.
  const Expr *Object = Call ? peel(Call->getImplicitObjectArgument()) : nullptr;
  if (!Object)
    return nullptr;
  const auto Args = writtenArguments(Call);
  if (isImage(Object->getType()))
    return calleeName(Call) == "ptr" && Args.empty() ? Object : nullptr;
  return calleeName(Call) == "data" && eigenType(Object->getType()) ? Object
                                                                    : nullptr;
}

std::optional<ExtentOf> asExtent(const Expr *E) {
  E = peel(E);
  const auto Named = [](StringRef Name) {
    return llvm::StringSwitch<std::optional<Extent>>(Name)
        .Cases("rows", "height", Extent::Rows)
        .Cases("cols", "width", Extent::Columns)
        .Case("channels", Extent::Channels)
        .Default(std::nullopt);
  };
  if (const auto *Member = dyn_cast_or_null<MemberExpr>(E)) {
    const auto Which = Named(nameOf(Member->getMemberDecl()));
    const Expr *Object = peel(Member->getBase());
    // image.size().height: size is an object of class MatSize.
    if (const auto *Size = dyn_cast<CallExpr>(Object);
        Size && isOrDerivesFrom(Size->getType(), {"cv::Size_", "cv::Size"})) {
      const auto *Method = dyn_cast<CXXMemberCallExpr>(Size);
      Object = Method ? Method->getImplicitObjectArgument()
                      : dyn_cast_or_null<MemberExpr>(peel(calledOn(Size)));
      if (const auto *Part = dyn_cast_or_null<MemberExpr>(Object))
        Object = Part->getBase();
    }
    return Which && Object && isImage(Object->getType())
               ? std::optional(ExtentOf{*Which, Object})
               : std::nullopt;
  }
  const auto *Call = dyn_cast_or_null<CXXMemberCallExpr>(E);
  const Expr *Object = Call ? peel(Call->getImplicitObjectArgument()) : nullptr;
  if (!Object || (!isImage(Object->getType()) && !eigenType(Object->getType())))
    return std::nullopt;
  const auto Which = Named(calleeName(Call));
  return Which ? std::optional(ExtentOf{*Which, Object}) : std::nullopt;
}

/// What \p E is made of, if it is an object of OpenCV's class \p Name.
static llvm::SmallVector<const Expr *, 4> partsOf(const Expr *E,
                                                  StringRef Name) {
  // Rect is Rect_<int>.
  const auto *Made = dyn_cast_or_null<CXXConstructExpr>(stripImplicit(E));
  const CXXRecordDecl *R = Made ? recordOf(Made->getType()) : nullptr;
  if (!R || !nameOf(R).starts_with(Name))
    return {};
  return writtenArguments(Made);
}

std::optional<Crop>
asCrop(const Expr *E, const ASTContext &Context,
       llvm::function_ref<const Expr *(const Expr *)> Origin) {
  const auto *Call = dyn_cast_or_null<CallExpr>(stripImplicit(E));
  const Expr *Image = Call ? calledOn(Call) : nullptr;
  if (!Image || !isImage(Image->getType()) || !isImage(Call->getType()))
    return std::nullopt;
  const auto Args = writtenArguments(Call);
  const auto At = [&](const Expr *Number) {
    return constantInt(Origin(Number), Context);
  };
  const auto IsAllColumns = [&](const Expr *First, const Expr *Number) {
    const auto Of = asExtent(Origin(Number));
    return Of && Of->Which == Extent::Columns && At(First) == 0;
  };
  const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call);
  if (!Op) {
    if (calleeName(Call) == "col" && Args.size() == 1)
      return Crop{Image, true};
    if (calleeName(Call) != "colRange" || Args.empty())
      return std::nullopt;
    return Crop{Image, Args.size() == 2 && At(Args[0]).value_or(0) > 0};
  }
  if (Op->getOperator() != OO_Call)
    return std::nullopt;
  if (Args.size() == 2) { // Ranges of rows and columns.
    const Expr *Columns = stripImplicit(Origin(Args[1]));
    const auto Range = partsOf(Columns, "Range");
    if (calleeName(dyn_cast_or_null<CallExpr>(Columns)) == "all" ||
        (Range.size() == 2 && IsAllColumns(Range[0], Range[1])))
      return std::nullopt;
    return Crop{Image, Range.size() == 2 && At(Range[0]).value_or(0) > 0};
  }
  if (Args.size() != 1)
    return std::nullopt;
  // Rect(x, y, width, height)
  const auto Rect = partsOf(Origin(Args[0]), "Rect");
  if (Rect.size() != 4)
    return Crop{Image, false};
  if (At(Rect[3]) == 1 || IsAllColumns(Rect[0], Rect[2]))
    return std::nullopt;
  return Crop{Image, At(Rect[0]).value_or(0) > 0};
}

bool isEigenMatrix(QualType T) {
  return isOrDerivesFrom(T, {"Eigen::Matrix", "Eigen::Array"});
}

bool assignsElements(QualType T) {
  return isEigenMatrix(T) || isOrDerivesFrom(T, "Eigen::Map");
}

std::optional<EigenType> eigenType(QualType T) {
  const CXXRecordDecl *R = recordOf(T);
  if (isOrDerivesFrom(R, "Eigen::Map")) {
    const auto *Map = dyn_cast<ClassTemplateSpecializationDecl>(R);
    // Map<Matrix, options, Stride<0, 0>>: with another stride, it says how.
    if (Map && Map->getTemplateArgs().size() > 2)
      if (const CXXRecordDecl *Stride = recordOf(typeArgument(Map, 2)))
        if (const auto *S = dyn_cast<ClassTemplateSpecializationDecl>(Stride))
          for (const TemplateArgument &A : S->getTemplateArgs().asArray())
            if (A.getKind() == TemplateArgument::Integral &&
                A.getAsIntegral() != 0)
              return std::nullopt;
    return eigenType(firstArgument(R));
  }
  if (!isEigenMatrix(T))
    return std::nullopt;
  const auto *Made = dyn_cast<ClassTemplateSpecializationDecl>(R);
  if (!Made || Made->getTemplateArgs().size() < 4)
    return std::nullopt;
  const auto Args = Made->getTemplateArgs().asArray();
  for (const TemplateArgument &A : Args.slice(1, 3))
    if (A.getKind() != TemplateArgument::Integral)
      return std::nullopt;
  return EigenType{Args[1].getAsIntegral().getExtValue(),
                   Args[2].getAsIntegral().getExtValue(),
                   (Args[3].getAsIntegral().getExtValue() & 1) != 0};
}

} // namespace libtorch_tidy::cpp
