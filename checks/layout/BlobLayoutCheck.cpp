//===- BlobLayoutCheck.cpp ------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Matrices.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/Layout.h"
#include "analysis/torch/storage/Sharing.h"
#include "analysis/torch/storage/Storage.h"
#include "checks/base/LibtorchCheck.h"
#include "checks/layout/ImageTypes.h"
#include "checks/lifetime/BlobLength.h"
#include "clang/AST/ASTContext.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

namespace {

constexpr struct BlobLayoutReasons {
  Reason AllColumns{"may-have-all-columns", Effect::Likely,
                    "The part of the image is not seen to leave out columns: "
                    "one of all columns is in one piece."};
  Reason Padded{"padded-rows", Effect::Likely,
                "The image is a `cv::cuda::GpuMat`, which pads its rows as "
                "the device likes it."};
  Reason Planes{"planes", Effect::Likely,
                "The shape has the channels before rows and columns."};
  Reason ColumnMajor{"column-major", Effect::Likely,
                     "It is a matrix of Eigen: one that is symmetric reads the "
                     "same both ways."};
  Reason ShapeByName{"shape-by-name", Effect::Likely,
                     "The shape is given by names or numbers that are not seen "
                     "to be those of the image."};
  Reason Camera{"camera", Effect::Likely,
                "The image is a frame of a camera or a film, whose pixels are "
                "bytes unless it is told otherwise."};
  Reason AsksType{"asks-type", Effect::Silent,
                  "The function asks `type()`, `depth()` or `elemSize()` of "
                  "the image."};
  Reason AsksContinuous{"asks-continuous", Effect::Silent,
                        "The function asks `isContinuous()` of the image, or "
                        "makes it by `createContinuous`."};
  Reason OtherUse{"elements-used", Effect::Silent,
                  "The function uses the elements of the image otherwise, too: "
                  "it may have written planes."};
  Reason TurnedBack{
      "turned-back", Effect::Silent,
      "The tensor or the matrix is transposed again, or the matrix "
      "is made by `transpose()`."};
} BlobLayout{};

/// What is wrong with a tensor over a buffer, or a matrix over a tensor.
struct Misread {
  enum Kind { Crop, Padded, Planes, FromEigen, ToEigen, Short, Type } What;
  const Expr *At;
  const Expr *Object;          ///< The image, the matrix or the tensor.
  const Reason *Why = nullptr; ///< Of level 0 without one.
  std::optional<ShortBuffer> Buffer = std::nullopt;
  llvm::StringRef Dtype = ""; ///< Short only.
  unsigned Bytes = 0;
  std::optional<OtherType> Other = std::nullopt;
};

/// The sizes of \p Shape, seen through variables; the text of each.
llvm::SmallVector<const Expr *, 4> sizesOf(const Expr *Shape, cpp::Body &In) {
  llvm::SmallVector<const Expr *, 4> Sizes;
  const Expr *List = cpp::stripImplicit(Shape);
  if (const VarDecl *Var = cpp::variableOf(List);
      Var && Var->hasInit() && In.isSetOnce(Var))
    List = Var->getInit();
  else
    List = Shape;
  for (const Expr *Size : cpp::listElements(List))
    Sizes.push_back(cpp::peel(In.originOf(cpp::peel(Size))));
  return Sizes;
}

/// Is \p E number \p Which of \p Object?
bool isExtent(const Expr *E, cpp::Extent Which, const Expr *Object) {
  const auto Of = cpp::asExtent(E);
  return Of && Of->Which == Which && cpp::isSameName(Of->Object, Object);
}

/// Is \p Image asked for the type of its numbers?
bool asksType(const Expr *Image, cpp::Body &In) {
  return cpp::anyOf<CallExpr>(In.root(), [&](const CallExpr *Call) {
    return cpp::isOneOf(cpp::calleeName(Call),
                        {"type", "depth", "elemSize", "elemSize1"}) &&
           cpp::isSameName(cpp::calledOn(Call), Image);
  });
}

bool asksContinuous(const Expr *Image, cpp::Body &In) {
  return cpp::anyOf<CallExpr>(In.root(), [&](const CallExpr *Call) {
    const llvm::StringRef Name = cpp::calleeName(Call);
    if (Name == "isContinuous")
      return cpp::isSameName(cpp::calledOn(Call), Image);
    return Name == "createContinuous" &&
           llvm::any_of(Call->arguments(), [&](const Expr *Arg) {
             return cpp::anyOf<Expr>(Arg, [&](const Expr *Part) {
               return cpp::isSameName(Part, Image);
             });
           });
  });
}

/// Is what \p Made makes, or the variable that it initialises, turned round
/// somewhere: t(), transpose(), permute()?
bool isTurned(const Expr *Made, cpp::Body &In) {
  const auto Turns = [](const CallExpr *Call) {
    return torch::turnsDimensions(Call) ||
           (cpp::isOneOf(cpp::calleeName(Call),
                         {"transpose", "transposeInPlace", "adjoint"}));
  };
  for (const Expr *E = Made;;) {
    const CallExpr *User = In.callOn(E);
    if (!User)
      break;
    if (Turns(User))
      return true;
    if (!torch::isTensor(User->getType()))
      break;
    E = User;
  }
  const auto *Declaration = In.around<DeclStmt>(Made);
  if (!Declaration)
    return false;
  return llvm::any_of(Declaration->decls(), [&](const Decl *D) {
    const auto *Var = dyn_cast<VarDecl>(D);
    return Var && cpp::anyOf<CallExpr>(In.root(), [&](const CallExpr *Call) {
             const Expr *On = cpp::calledOn(Call);
             return Turns(Call) && (cpp::variableOf(On) == Var ||
                                    (Call->getNumArgs() > 0 &&
                                     cpp::variableOf(Call->getArg(0)) == Var) ||
                                    (On && cpp::mentions(On, Var)));
           });
  });
}

/// Is matrix \p Object made by transpose()?
bool isMadeTurned(const Expr *Object, cpp::Body &In) {
  const VarDecl *Var = cpp::variableOf(Object);
  return Var && llvm::any_of(In.valuesOf(Var).Given, [](const Expr *Value) {
           return cpp::anyOf<CallExpr>(Value, [](const CallExpr *Call) {
             return cpp::isOneOf(cpp::calleeName(Call),
                                 {"transpose", "adjoint"});
           });
         });
}

/// Are the elements of \p Image used by something else than tensors over them?
bool isUsedOtherwise(const Expr *Image, const torch::BlobCall &Blob,
                     cpp::Body &In) {
  return cpp::anyOf<Expr>(In.root(), [&](const Expr *E) {
    const Expr *Of =
        isa<MemberExpr, CXXMemberCallExpr>(E) ? cpp::elementsOf(E) : nullptr;
    return Of && cpp::isSameName(Of, Image) && In.originOf(Blob.Buffer) != E &&
           !torch::wrapsMemory(In.callOn(E));
  });
}

/// The construction of the variable \p Object; null for others.
const CXXConstructExpr *madeWith(const Expr *Object) {
  const VarDecl *Var = cpp::variableOf(Object);
  return dyn_cast_or_null<CXXConstructExpr>(
      Var && Var->hasInit() ? cpp::peel(Var->getInit()) : nullptr);
}

/// An image or part of one.
std::optional<Misread> overImage(const torch::BlobCall &Blob, const Expr *Image,
                                 cpp::Body &In) {
  const ASTContext &Context = In.context();
  const auto Sizes = sizesOf(Blob.Sizes, In);
  const size_t N = Sizes.size();
  // {.., channels, rows, columns}; an element of cv::Mat_<float> has one.
  const QualType Pixel = cpp::firstArgument(cpp::recordOf(Image->getType()));
  const bool OneChannel = !Pixel.isNull() && Pixel->isArithmeticType();
  if (N >= 3 && !OneChannel &&
      isExtent(Sizes[N - 1], cpp::Extent::Columns, Image) &&
      isExtent(Sizes[N - 2], cpp::Extent::Rows, Image) &&
      (cpp::constantInt(Sizes[N - 3], Context).value_or(0) > 1 ||
       isExtent(Sizes[N - 3], cpp::Extent::Channels, Image)))
    return Misread{Misread::Planes, Blob.Call, Image, &BlobLayout.Planes};
  if (cpp::isGpuMat(Image->getType())) {
    const CXXConstructExpr *Made = madeWith(Image);
    if (Made && llvm::any_of(Made->arguments(), [](const Expr *Arg) {
          return Arg->getType()->isPointerType() &&
                 !isa<CXXDefaultArgExpr>(Arg);
        }))
      return std::nullopt;
    return Misread{Misread::Padded, Blob.Call, Image, &BlobLayout.Padded};
  }
  const Expr *Origin = In.originOf(Image);
  const auto Part = cpp::asCrop(Origin, Context, [&](const Expr *E) {
    return In.originOf(cpp::peel(E));
  });
  if (!Part || (N == 3 && cpp::constantInt(Sizes[0], Context) == 1))
    return std::nullopt;
  return Misread{Misread::Crop, Blob.Call, Image,
                 Part->Narrower ? nullptr : &BlobLayout.AllColumns};
}

/// \p Other, found at \p At.
Misread ofType(const OtherType &Other, const Expr *At) {
  Misread M{Misread::Type, At, Other.Object};
  M.Why = !Other.Image.Sure  ? &BlobLayout.Camera
          : !Other.SameShape ? &BlobLayout.ShapeByName
                             : nullptr;
  M.Other = Other;
  return M;
}

/// Are the last two of \p Sizes the rows and columns of \p Matrix, of type
/// \p T, in this order?
bool isRowsByColumns(llvm::ArrayRef<const Expr *> Sizes, const Expr *Matrix,
                     const cpp::EigenType &T, cpp::Body &In) {
  if (Sizes.size() < 2)
    return false;
  const CXXConstructExpr *Made = madeWith(Matrix);
  const auto Args =
      Made ? cpp::writtenArguments(Made) : llvm::SmallVector<const Expr *, 4>();
  const auto Is = [&](const Expr *Size, cpp::Extent Which) {
    const bool Rows = Which == cpp::Extent::Rows;
    if (isExtent(Size, Which, Matrix))
      return true;
    const int64_t Known = Rows ? T.Rows : T.Columns;
    if (Known > 0)
      return cpp::constantInt(Size, In.context()) == Known;
    // MatrixXf m(h, w)
    return Args.size() == 2 && Args[0]->getType()->isIntegerType() &&
           cpp::isSameName(
               cpp::peel(In.originOf(cpp::peel(Args[Rows ? 0 : 1]))), Size);
  };
  return Is(Sizes[Sizes.size() - 2], cpp::Extent::Rows) &&
         Is(Sizes.back(), cpp::Extent::Columns);
}

std::optional<Misread> decideOn(const CallExpr *Call, ASTContext &Context) {
  const auto Blob = torch::asAnyBlob(Call, Context);
  cpp::Body *In = Blob ? cpp::Body::around(Call, Context) : nullptr;
  if (!In || Blob->Strides || torch::isStableTensor(Call->getType()))
    return std::nullopt;
  if (auto Buffer = shortBuffer(*Blob, *In)) {
    const auto Read = torch::dtypeFacts(*Blob->Traits.Dtype);
    // Other elements are the matter of libtorch-dangling-from-blob.
    if (Buffer->Bytes != 1 && Buffer->Bytes != Read->Bytes)
      return std::nullopt;
    return Misread{Misread::Short, Blob->Buffer, nullptr,    nullptr,
                   Buffer,         Read->Name,   Read->Bytes};
  }
  const Expr *Object = cpp::elementsOf(In->originOf(cpp::peel(Blob->Buffer)));
  if (!Object)
    return std::nullopt;
  std::optional<Misread> Found;
  if (const auto T = cpp::eigenType(Object->getType())) {
    if (T->RowMajor || T->isVector() ||
        !isRowsByColumns(sizesOf(Blob->Sizes, *In), Object, *T, *In))
      return std::nullopt;
    if (isTurned(Call, *In) || isMadeTurned(Object, *In)) {
      silent(Call, BlobLayout.TurnedBack);
      return std::nullopt;
    }
    return Misread{Misread::FromEigen, Call, Object, &BlobLayout.ColumnMajor};
  }
  if (const auto Other =
          otherTypeThan(Object, *Blob, sizesOf(Blob->Sizes, *In), *In)) {
    if (!asksType(Object, *In))
      return ofType(*Other, Call);
    silent(Call, BlobLayout.AsksType);
    return std::nullopt;
  }
  Found = overImage(*Blob, Object, *In);
  if (Found && Found->What == Misread::Planes &&
      isUsedOtherwise(Object, *Blob, *In)) {
    silent(Call, BlobLayout.OtherUse);
    return std::nullopt;
  }
  if (Found && Found->What != Misread::Planes && asksContinuous(Object, *In)) {
    silent(Call, BlobLayout.AsksContinuous);
    return std::nullopt;
  }
  return Found;
}

/// Eigen::Map<MatrixXf>(t.data_ptr<float>(), t.size(0), t.size(1)), and
/// cv::Mat(t.size(0), t.size(1), CV_32FC3, t.data_ptr<float>()).
std::optional<Misread> decideOn(const CXXConstructExpr *Map,
                                ASTContext &Context) {
  if (cpp::isMat(Map->getType())) {
    cpp::Body *In = cpp::Body::around(Map, Context);
    const auto Other = In ? overTensor(Map, *In) : std::nullopt;
    return Other ? std::optional(ofType(*Other, Map)) : std::nullopt;
  }
  const auto T = cpp::isView(Map->getType()) ? cpp::eigenType(Map->getType())
                                             : std::nullopt;
  const auto Args = cpp::writtenArguments(Map);
  cpp::Body *In =
      T && Args.size() >= 3 ? cpp::Body::around(Map, Context) : nullptr;
  if (!In || T->RowMajor || T->isVector())
    return std::nullopt;
  const auto Data = torch::asAccess(
      dyn_cast_or_null<CallExpr>(cpp::peel(In->originOf(cpp::peel(Args[0])))));
  if (!Data || Data->What != torch::Access::Data)
    return std::nullopt;
  for (unsigned I : {0u, 1u}) {
    const auto Size =
        torch::askedForSize(cpp::peel(In->originOf(cpp::peel(Args[I + 1]))));
    if (!Size.Of || !cpp::isSameName(Size.Of, Data->Object) ||
        cpp::constantInt(Size.Dimension, Context) != I)
      return std::nullopt;
  }
  // A tensor that is itself turned round has its columns one after the other.
  const auto *Made = dyn_cast_or_null<CallExpr>(
      cpp::stripImplicit(In->originOf(Data->Object)));
  if (isTurned(Map, *In) || (Made && torch::turnsDimensions(Made))) {
    silent(Map, BlobLayout.TurnedBack);
    return std::nullopt;
  }
  // Gaps are the matter of libtorch-strided-access.
  if (Made &&
      torch::layoutOf(
          Made, 0, [](const Expr *) { return torch::Layout(); }, Context)
          .isStrided())
    return std::nullopt;
  return Misread{Misread::ToEigen, Map, Data->Object, &BlobLayout.ColumnMajor};
}

std::string shownAs(const Expr *Object) {
  const ValueDecl *Root = cpp::rootOf(Object);
  return Root ? quoted(Root) : "this";
}

std::string inBytes(unsigned Number) {
  return std::to_string(Number) + (Number == 1 ? " byte" : " bytes");
}

Finding wordedType(Finding &F, const OtherType &T) {
  const bool OfImage = cpp::isMat(T.Object->getType());
  const unsigned Has = OfImage ? T.Image.Bytes : T.Bytes,
                 Reads = OfImage ? T.Bytes : T.Image.Bytes;
  const std::string Type = T.Type.empty() ? "uint8_t" : T.Type;
  F.says("wrong bytes: the numbers in " + shownAs(T.Object) + " are " +
         (OfImage ? T.Image.Depth.str() : Type) + ", " + inBytes(Has) +
         " each, and the " + (OfImage ? "tensor" : "image") +
         " reads as many of " + (OfImage ? Type : T.Image.Depth.str()) + ", " +
         inBytes(Reads) + " each" +
         (Reads > Has ? ", past the end of the memory" : "") + "; " +
         (OfImage ? "name the type that the image has, or convertTo() the "
                    "other one first"
                  : "make the image of the type that the tensor has, or "
                    "convert the tensor with to() first"));
  if (OfImage && T.Image.From)
    F.note(T.Image.From, shownAs(T.Object) + " gets its numbers here");
  return F;
}

Finding worded(const Misread &M) {
  Finding F = Finding::at(M.At).because(M.Why);
  switch (M.What) {
  case Misread::Crop:
    return F.says("wrong layout: " + shownAs(M.Object) +
                  " is a part of an image, whose rows are further apart than "
                  "its own; give from_blob the strides, or clone() the part");
  case Misread::Padded:
    return F.says("wrong layout: the rows of " + shownAs(M.Object) +
                  ", a GpuMat, are 'step' bytes apart, not one row after the "
                  "other; give from_blob the strides");
  case Misread::Planes:
    return F.says(
        "wrong layout: the shape says that " + shownAs(M.Object) +
        " has one plane for each channel, and its pixels have all channels "
        "next to each other; use {rows, columns, channels} and permute()");
  case Misread::FromEigen:
    return F.says("wrong layout: Eigen stores " + shownAs(M.Object) +
                  " column by column, and the tensor reads it row by row, "
                  "transposed; use {columns, rows} and t()");
  case Misread::ToEigen:
    return F.says("wrong layout: the matrix reads " + shownAs(M.Object) +
                  " column by column, and the tensor has it row by row; map "
                  "it as a row-major matrix");
  case Misread::Type:
    return wordedType(F, *M.Other);
  case Misread::Short:
    break;
  }
  const ShortBuffer &B = *M.Buffer;
  if (B.SameNumber)
    return F.says("wrong bytes: the elements of " + quoted(B.Of) + " have " +
                  llvm::Twine(B.Bytes) + (B.Bytes == 1 ? " byte" : " bytes") +
                  " each, and the tensor reads as many of " + M.Dtype + ", " +
                  llvm::Twine(M.Bytes) +
                  " bytes each, past the end of the buffer; name the type of "
                  "the elements");
  return F.says("wrong bytes: the tensor has " +
                (B.Asked ? llvm::Twine(*B.Asked) + " bytes and " +
                               quoted(B.Of) + " has " + llvm::Twine(*B.Has)
                         : "more elements than " + llvm::Twine(quoted(B.Of))) +
                ": it is read past its end");
}

/// docs/checks/libtorch-blob-layout.md says what it finds and why.
class BlobLayoutCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

  void registerMatchers(MatchFinder *Finder) override {
    Finder->addMatcher(callExpr().bind("call"), this);
    Finder->addMatcher(cxxConstructExpr().bind("map"), this);
  }

  void checkMatch(const Match &Result) override {
    const auto *Call = Result.Nodes.getNodeAs<CallExpr>("call");
    auto Found = Call
                     ? decideOn(Call, context())
                     : decideOn(Result.Nodes.getNodeAs<CXXConstructExpr>("map"),
                                context());
    if (Found)
      report(worded(*Found));
  }
};

} // namespace

LIBTORCH_CHECK(BlobLayoutCheck, BlobLayout);

} // namespace libtorch_tidy
