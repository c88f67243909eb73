//===- Pixels.cpp - What the pixels of an image are made of ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Pixels.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::cpp {

namespace {

/// Of a type as opencv2/core/hal/interface.h makes it: the depth in the lowest
/// three bits, then the channels less one.
std::optional<Pixels> pixelsOfType(int64_t Type) {
  static constexpr std::pair<llvm::StringLiteral, unsigned> Depths[] = {
      {"CV_8U", 1},  {"CV_8S", 1},  {"CV_16U", 2}, {"CV_16S", 2},
      {"CV_32S", 4}, {"CV_32F", 4}, {"CV_64F", 8}, {"CV_16F", 2}};
  if (Type < 0 || Type >= 8 * 512)
    return std::nullopt;
  const auto &[Name, Bytes] = Depths[Type & 7];
  return Pixels{Name, Bytes, unsigned(Type >> 3) + 1};
}

/// Of cv::Mat_<float>, cv::Mat_<cv::Vec3b>.
std::optional<Pixels> pixelsOfClass(QualType Image, const ASTContext &Context) {
  const CXXRecordDecl *R = recordOf(Image);
  if (!isOrDerivesFrom(R, "cv::Mat_"))
    return std::nullopt;
  QualType Number = firstArgument(R);
  unsigned Channels = 1;
  if (const CXXRecordDecl *Vector =
          Number.isNull() ? nullptr : recordOf(Number)) {
    const auto *Made = dyn_cast<ClassTemplateSpecializationDecl>(Vector);
    Number =
        isOrDerivesFrom(Vector, "cv::Vec") ? firstArgument(Vector) : QualType();
    Channels = Made && Made->getTemplateArgs().size() > 1 &&
                       Made->getTemplateArgs()[1].getKind() ==
                           TemplateArgument::Integral
                   ? Made->getTemplateArgs()[1].getAsIntegral().getZExtValue()
                   : 0;
  }
  if (Number.isNull() || !Number->isArithmeticType())
    return std::nullopt;
  const bool Signed = Number->isSignedIntegerType();
  switch (Context.getTypeSizeInChars(Number).getQuantity()) {
  case 1:
    return Pixels{Signed ? "CV_8S" : "CV_8U", 1, Channels};
  case 2:
    return Pixels{Signed ? "CV_16S" : "CV_16U", 2, Channels};
  case 4:
    return Pixels{Signed ? "CV_32S" : "CV_32F", 4, Channels};
  case 8:
    return Pixels{"CV_64F", 8, Channels};
  default:
    return std::nullopt;
  }
}

/// The argument for the parameter with one of \p Names; null for others.
template <typename CallOrConstruct>
const Expr *argumentNamed(const CallOrConstruct *E, const FunctionDecl *F,
                          llvm::ArrayRef<StringRef> Names) {
  const unsigned Shift = isa<CXXOperatorCallExpr>(E) && isa<CXXMethodDecl>(F);
  for (unsigned I = 0; F && I < F->getNumParams(); ++I)
    if (I + Shift < E->getNumArgs() &&
        isOneOf(nameOf(F->getParamDecl(I)), Names))
      return E->getArg(I + Shift);
  return nullptr;
}

const Expr *typeArgument(const Expr *Made) {
  static constexpr StringRef Names[] = {"type", "rtype", "ddepth"};
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(Made))
    return argumentNamed(Construct, Construct->getConstructor(), Names);
  const auto *Call = dyn_cast<CallExpr>(Made);
  return Call ? argumentNamed(Call, Call->getDirectCallee(), Names) : nullptr;
}

/// Functions of OpenCV that fill their second argument with numbers of the type
/// that the first one has.
bool keepsDepth(StringRef Name) {
  return isOneOf(Name,
                 {"resize", "cvtColor", "flip", "rotate", "transpose",
                  "copyMakeBorder", "warpAffine", "warpPerspective", "remap",
                  "GaussianBlur", "medianBlur", "blur", "bilateralFilter",
                  "undistort", "pyrDown", "pyrUp", "repeat"});
}

/// cv::Mat, and what operators make of one.
bool isImageValue(QualType T) {
  return isMat(T) || isOrDerivesFrom(T, "cv::MatExpr");
}

/// The call that fills an image by \p W; null for others.
const CallExpr *fillingCall(const Write &W, const Body &In) {
  const auto *Made = dyn_cast<CXXConstructExpr>(W.Where);
  return !Made ? dyn_cast<CallExpr>(W.Where)
         : isOrDerivesFrom(Made->getType(), "cv::_OutputArray")
             ? In.callOn(Made)
             : nullptr;
}

bool isOfOpenCV(const FunctionDecl *F) {
  const auto *Space =
      F ? dyn_cast<NamespaceDecl>(
              F->getDeclContext()->getEnclosingNamespaceContext())
        : nullptr;
  return Space && nameOf(Space) == "cv";
}

/// Where an image gets its numbers.
class Finder {
public:
  explicit Finder(Body &In) : In(In) {}

  /// Of \p E, an image or an expression of one, where control comes to \p At.
  std::optional<Pixels> of(const Expr *E, const Stmt *At) {
    E = peel(E);
    if (!E || ++Steps > MaxSteps)
      return std::nullopt;
    const VarDecl *Var = variableOf(E);
    if (const auto ByClass = pixelsOfClass(E->getType(), In.context()))
      return Var && isHandedOn(Var) ? std::nullopt : ByClass;
    if (Var)
      return heldBy(Var, At);
    if (const auto *Made = dyn_cast<CXXConstructExpr>(E))
      return Made->getNumArgs() == 0 ? std::nullopt
             : typeArgument(Made)    ? given(Made)
             : isImageValue(peel(Made->getArg(0))->getType())
                 ? of(Made->getArg(0), Made)
                 : std::nullopt;
    const auto *Call = dyn_cast<CallExpr>(E);
    return Call ? returnedBy(Call) : std::nullopt;
  }

  /// By the type that \p Made is given.
  std::optional<Pixels> given(const Expr *Made) {
    const Expr *Type = typeArgument(Made);
    const auto Number = Type ? number(Type) : std::nullopt;
    auto P = Number ? pixelsOfType(*Number) : std::nullopt;
    if (P)
      P->From = Made;
    return P;
  }

private:
  std::optional<int64_t> number(const Expr *E) {
    return constantInt(In.originOf(peel(E)), In.context());
  }

  std::optional<Pixels> returnedBy(const CallExpr *Call) {
    const StringRef Name = calleeName(Call);
    if (isOneOf(Name, {"imread", "imdecode"})) {
      const Expr *Flags =
          argumentNamed(Call, Call->getDirectCallee(), {"flags"});
      const auto Asked = Flags ? number(Flags) : std::nullopt;
      // Negative is IMREAD_UNCHANGED, 2 IMREAD_ANYDEPTH, 4 IMREAD_ANYCOLOR.
      if (!Asked || *Asked < 0 || *Asked & 2)
        return std::nullopt;
      return Pixels{"CV_8U", 1,
                    *Asked & 4   ? 0u
                    : *Asked & 1 ? 3u
                                 : 1u,
                    true, Call};
    }
    if (typeArgument(Call))
      return given(Call);
    const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call);
    if (Op && Op->getOperator() != OO_Call)
      return computedBy(Op);
    // image.clone(), image(part), image.t()
    const Expr *Object = calledOn(Call);
    if (!Object || !isImageValue(Call->getType()) ||
        !isImageValue(peel(Object)->getType()))
      return std::nullopt;
    auto P = of(Object, Call);
    if (P && Name == "reshape")
      P->Channels = 0;
    return P;
  }

  /// image / 255.0, image - mean
  std::optional<Pixels> computedBy(const CXXOperatorCallExpr *Op) {
    static constexpr OverloadedOperatorKind Keeps[] = {OO_Plus, OO_Minus,
                                                       OO_Star, OO_Slash};
    std::optional<Pixels> All;
    if (!llvm::is_contained(Keeps, Op->getOperator()))
      return std::nullopt;
    for (const Expr *Arg : Op->arguments()) {
      if (!isImageValue(peel(Arg)->getType()))
        continue;
      const auto P = of(Arg, Op);
      if (!P || (All && All->Depth != P->Depth))
        return std::nullopt;
      All = P;
    }
    return All;
  }

  /// May a function that takes any cv::Mat fill \p Var with other numbers than
  /// its class says?
  bool isHandedOn(const VarDecl *Var) {
    return llvm::any_of(In.writesTo(Var), [](const Write &W) {
      return W.Kind == WriteKind::Escaped && !isa<CXXConstructExpr>(W.Where);
    });
  }

  /// What \p Var holds where control comes to \p At.
  std::optional<Pixels> heldBy(const VarDecl *Var, const Stmt *At) {
    if (!In.declarationOf(Var) || Var->isStaticLocal())
      if (!llvm::is_contained(In.function()->parameters(), Var))
        return std::nullopt;
    std::map<const Stmt *, const Write *> Fills;
    for (const Write &W : In.writesTo(Var)) {
      const CallExpr *Call = fillingCall(W, In);
      // cv::rectangle(image, ...) and image /= 2 leave the type as it is.
      if ((W.Kind == WriteKind::Changed && calleeName(Call) != "create") ||
          isOrDerivesFrom(W.Where->getType(), "cv::_InputOutputArray"))
        continue;
      if (W.InLambda || (W.Kind == WriteKind::Escaped && !Call))
        return std::nullopt;
      Fills[W.Where] = &W;
    }
    const auto Last = In.paths().lastBefore(At, [&](const Stmt *S) {
      return Fills.count(S) || declaredBy(S) == Var;
    });
    if (!Last)
      return std::nullopt;
    std::optional<Pixels> All;
    for (const Stmt *S : *Last) {
      if (!S) // The caller's.
        return std::nullopt;
      const auto Fill = Fills.find(S);
      const Write *W = Fill == Fills.end() ? nullptr : Fill->second;
      const Expr *Value = W ? W->Value : Var->getInit();
      const auto *Made = dyn_cast_or_null<CXXConstructExpr>(peel(Value));
      // It has no numbers, or, in a loop, those that are asked for.
      if ((W ? W->Kind == WriteKind::Released
             : Made && Made->getNumArgs() == 0) ||
          !Asked.insert(S).second)
        continue;
      const auto P = Value ? of(Value, S)
                     : W   ? filledBy(fillingCall(*W, In), S)
                           : std::nullopt;
      Asked.erase(S);
      if (!P || (All && All->Depth != P->Depth))
        return std::nullopt;
      const bool Sure = P->Sure && (!All || All->Sure);
      const bool SameChannels = !All || All->Channels == P->Channels;
      All = P;
      All->Sure = Sure;
      if (!SameChannels)
        All->Channels = 0;
    }
    return All;
  }

  /// What \p Call fills an argument, or its object, with. \p At is where its
  /// operands are.
  std::optional<Pixels> filledBy(const CallExpr *Call, const Stmt *At) {
    const StringRef Name = calleeName(Call);
    const Expr *Object = Call ? calledOn(Call) : nullptr;
    if (Object && isMat(Object->getType())) {
      if (Name == "create")
        return given(Call);
      if (Name != "copyTo" && Name != "convertTo")
        return std::nullopt;
      const auto Own = of(Object, At);
      const Expr *Type = typeArgument(Call);
      // To the type that it has, or, of convertTo(), to another depth alone.
      if (Name == "copyTo" || (Type && number(Type) == -1))
        return Own;
      auto P = given(Call);
      if (P)
        P->Channels = Own ? Own->Channels : 0;
      return P;
    }
    if (Object && isOrDerivesFrom(Object->getType(), "cv::VideoCapture"))
      return Pixels{"CV_8U", 1, 0, false, Call};
    if (!Call || !keepsDepth(Name) || !isOfOpenCV(Call->getDirectCallee()))
      return std::nullopt;
    auto P = of(Call->getArg(0), At);
    if (P && Name == "cvtColor")
      P->Channels = 0;
    return P;
  }

  static constexpr unsigned MaxSteps = 64;
  Body &In;
  unsigned Steps = 0;
  llvm::SmallPtrSet<const Stmt *, 8> Asked; ///< What is being looked at.
};

} // namespace

std::optional<Pixels> pixelsOf(const Expr *Image, const Expr *At, Body &In) {
  return Finder(In).of(Image, At);
}

std::optional<Pixels> typeGiven(const Expr *Made, Body &In) {
  return Finder(In).given(Made);
}

} // namespace libtorch_tidy::cpp
