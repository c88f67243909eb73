//===- ElementSizeCheck.cpp -----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/torch/api/TensorTraits.h"
#include "analysis/torch/storage/Elements.h"
#include "analysis/torch/storage/Storage.h"
#include "checks/base/LibtorchCheck.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

namespace {

constexpr struct ElementSizeReasons {
  Reason Variable{"dtype-in-variable", Effect::Likely,
                  "The dtype is in a variable, whose size a factor is taken "
                  "of: it may be meant, where dtypes are written to a file."};
  Reason OtherTensor{"other-tensor", Effect::Likely,
                     "What is copied is not what `numel()` was asked of: the "
                     "two may differ in their element types."};
  Reason OneByte{"one-byte", Effect::Silent,
                 "An element of the dtype has one byte, as the enumerator has: "
                 "`torch::kUInt8`, `torch::kBool`."};
  Reason DtypeItself{"dtype-itself", Effect::Silent,
                     "The dtype is what is copied or written: "
                     "`write(&kind, sizeof(t.scalar_type()))`."};
  Reason NoType{"no-built-in-type", Effect::NoFix,
                "C++ has no type of its own for the dtype: `torch::kHalf`, "
                "complex and quantized ones; or nothing says which it is."};
} ElementSize{};

/// sizeof of what only names an element type.
struct SizeOfDtype {
  const UnaryExprOrTypeTraitExpr *Written;
  const Expr *Tensor = nullptr; ///< Whose dtype it is; or null.
  std::optional<int64_t> Dtype; ///< When it is a constant.
};

/// A number of bytes that is one of elements, or counts them with another size.
struct ElementsAsBytes {
  const Expr *Count;    ///< As the copying function gets it.
  const Expr *Counted;  ///< The tensor or container of which it is.
  std::string Type;     ///< Of the elements that are copied.
  unsigned Unit, Bytes; ///< Of one element: as counted, in truth.
  const Expr *UnitAt;   ///< Its sizeof or element_size(); null without one.
  bool IsOther = false; ///< It may be that what is counted has other elements.
};

/// Is \p E the number of bytes of a dtype that is copied itself, next to a
/// pointer to it?
bool countsDtype(const Expr *E, const cpp::Body *In) {
  const CallExpr *Copy = In ? In->callOn(E) : nullptr;
  return Copy && llvm::any_of(Copy->arguments(), [](const Expr *Arg) {
           const QualType T = cpp::peel(Arg)->getType();
           return T->isPointerType() && torch::isDtype(T->getPointeeType());
         });
}

/// Null where \p E is not of a dtype, or its size may be meant.
std::optional<SizeOfDtype> decideOn(const UnaryExprOrTypeTraitExpr *E,
                                    ASTContext &Context) {
  if (E->isArgumentType() || !torch::isDtype(E->getArgumentExpr()->getType()))
    return std::nullopt;
  const Expr *Of = E->getArgumentExpr();
  SizeOfDtype S{E, torch::askedForDtype(Of), cpp::constantInt(Of, Context)};
  if (S.Dtype && torch::hasOneByte(*S.Dtype)) {
    silent(E, ElementSize.OneByte);
    return std::nullopt;
  }
  const cpp::Body *In = cpp::Body::around(E, Context);
  if (countsDtype(E, In)) {
    silent(E, ElementSize.DtypeItself);
    return std::nullopt;
  }
  if (S.Dtype || S.Tensor)
    return S;
  // Elements of arrays of dtypes are copied like others.
  const auto *Product =
      In ? dyn_cast_or_null<BinaryOperator>(In->userOf(E)) : nullptr;
  return cpp::variableOf(Of) && Product && Product->getOpcode() == BO_Mul
             ? std::optional(S)
             : std::nullopt;
}

/// A number of bytes, read as a product.
struct ByteCount {
  const Expr *Counted = nullptr; ///< Of numel(), size(0), v.size().
  bool IsContainer = false;
  unsigned Unit = 1;
  const Expr *UnitAt = nullptr;
  int64_t Constants = 1;
};

/// Nullopt for one that has other factors, or several sizes of an element.
std::optional<ByteCount> factorsOf(const Expr *Count, cpp::Body &In) {
  ByteCount P;
  const ASTContext &Context = In.context();
  llvm::SmallVector<const Expr *, 8> Work{Count};
  for (unsigned Steps = 0; !Work.empty(); ++Steps) {
    const Expr *E = cpp::peel(In.originOf(cpp::peel(Work.pop_back_val())));
    const auto *Op = dyn_cast_or_null<BinaryOperator>(E);
    if (Steps > 32 || !E)
      return std::nullopt;
    if (Op && Op->getOpcode() == BO_Mul) {
      Work.append({Op->getLHS(), Op->getRHS()});
      continue;
    }
    const auto *SizeOf = dyn_cast<UnaryExprOrTypeTraitExpr>(E);
    const Expr *Asked = torch::askedForElementSize(E);
    if (SizeOf || Asked) {
      const auto Size = Asked ? torch::elementsIn(Asked, In) : std::nullopt;
      const std::optional<int64_t> Unit =
          Size ? std::optional<int64_t>(Size->Bytes)
          : SizeOf && SizeOf->getKind() == UETT_SizeOf &&
                  !torch::isDtype(SizeOf->getTypeOfArgument())
              ? cpp::constantInt(SizeOf, Context)
              : std::nullopt;
      if (!Unit || P.UnitAt)
        return std::nullopt;
      P.Unit = *Unit;
      P.UnitAt = E;
      continue;
    }
    if (const auto N = cpp::constantInt(E, Context)) {
      if (*N <= 0 || *N > 1 << 20 || P.Constants > 1 << 20)
        return std::nullopt;
      P.Constants *= *N;
      continue;
    }
    const auto *Call = dyn_cast<CallExpr>(E);
    const Expr *Of = torch::countedBy(E);
    if (!Of)
      Of = torch::askedForSize(E).Of;
    if (!Of && cpp::does(Call, cpp::Std::Size)) {
      Of = cpp::calledOn(Call);
      P.IsContainer = true;
    }
    if (!Of || (P.Counted && !cpp::isSameName(P.Counted, Of)))
      return std::nullopt;
    P.Counted = Of;
  }
  return P.Counted ? std::optional(P) : std::nullopt;
}

std::optional<ElementsAsBytes> decideOn(llvm::ArrayRef<const Expr *> Pointers,
                                        const Expr *Count,
                                        ASTContext &Context) {
  cpp::Body *In = cpp::Body::around(Count, Context);
  const auto P = In ? factorsOf(Count, *In) : std::nullopt;
  if (!P)
    return std::nullopt;
  std::optional<torch::Elements> Has;
  bool OfTensor = torch::isTensor(P->Counted->getType()), IsOther = true;
  for (const Expr *Pointer : Pointers) {
    const torch::PointedTo C = torch::elementsAt(Pointer, *In);
    OfTensor |= C.Of && torch::isTensor(C.Of->getType());
    if (C.Of && cpp::isSameName(C.Of, P->Counted)) {
      IsOther = !C.Has;
      if (C.Has) {
        Has = C.Has;
        continue;
      }
    }
    if (C.Has && !Has)
      Has = C.Has;
    // One of the two is counted right.
    if (C.Has && C.Has->Bytes == P->Unit)
      return std::nullopt;
  }
  // Bytes; a constant may be the size of an element.
  if (!OfTensor || !Has || Has->Type.empty() || Has->Bytes == P->Unit ||
      P->Constants % Has->Bytes == 0 || (P->IsContainer && IsOther))
    return std::nullopt;
  return ElementsAsBytes{Count,      P->Counted, Has->Type, P->Unit,
                         Has->Bytes, P->UnitAt,  IsOther};
}

Finding worded(const SizeOfDtype &S, const ASTContext &Context) {
  const Expr *Of = S.Written->getArgumentExpr();
  const auto Facts = S.Dtype ? torch::dtypeFacts(*S.Dtype) : std::nullopt;
  const auto Text = [&](const Expr *E) {
    return fixits::sourceText(E->getSourceRange(), Context).str();
  };
  std::string Instead = Facts ? ("sizeof(" + Facts->Type + ")").str() : "";
  if (S.Tensor)
    Instead = Text(S.Tensor) +
              (S.Tensor->getType()->isPointerType() ? "->" : ".") +
              "element_size()";
  const auto Bytes = Context.getTypeSizeInChars(Of->getType()).getQuantity();
  Finding F = Finding::at(S.Written);
  if (!S.Dtype && !S.Tensor)
    F.because(ElementSize.Variable, cpp::variableOf(Of));
  F.says("wrong byte count: " + quoted(Text(S.Written)) + " is " +
         llvm::Twine(Bytes) +
         ", the size of the value that names the element type, not of an "
         "element" +
         (Facts ? ", which has " + llvm::Twine(Facts->Bytes) + " bytes"
                : llvm::Twine("")) +
         "; use " +
         (Instead.empty() ? "element_size() of the tensor" : quoted(Instead)));
  return Instead.empty()
             ? F.because(ElementSize.NoType)
             : F.fix(fixits::replaceExpression(S.Written, Instead, Context));
}

Finding worded(const ElementsAsBytes &B, llvm::StringRef Function,
               const ASTContext &Context) {
  const std::string Right = "sizeof(" + B.Type + ")";
  const VarDecl *Var = cpp::variableOf(B.Counted);
  Finding F = Finding::at(B.Count);
  if (B.IsOther)
    F.because(ElementSize.OtherTensor);
  F.says("wrong byte count: " + quoted(Function) + " takes bytes, and gets " +
         (B.UnitAt ? llvm::Twine(B.Unit) + " for each element"
                   : llvm::Twine("the number of elements")) +
         (Var ? " of " + quoted(Var) : std::string()) + "; each has " +
         llvm::Twine(B.Bytes) + " bytes (" + quoted(B.Type) + "), so " +
         (B.Unit < B.Bytes ? "a part of them is left out"
                           : "it goes past the end") +
         "; multiply by " + quoted(Right));
  const std::string Times =
      (fixits::sourceText(B.Count->getSourceRange(), Context) + " * " + Right)
          .str();
  return F.fix(B.UnitAt ? fixits::replaceExpression(B.UnitAt, Right, Context)
                        : fixits::replaceExpression(B.Count, Times, Context));
}

/// docs/checks/libtorch-element-size.md says what it finds and why.
class ElementSizeCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

  void registerMatchers(MatchFinder *Finder) override {
    Finder->addMatcher(sizeOfExpr(unaryExprOrTypeTraitExpr()).bind("size"),
                       this);
    Finder->addMatcher(callExpr().bind("call"), this);
  }

  void checkMatch(const Match &Result) override {
    if (const auto *Size =
            Result.Nodes.getNodeAs<UnaryExprOrTypeTraitExpr>("size")) {
      if (auto S = decideOn(Size, context()))
        report(worded(*S, context()));
      return;
    }
    const auto *Call = Result.Nodes.getNodeAs<CallExpr>("call");
    const unsigned Pointers = cpp::does(Call, cpp::Std::CopyBytes)     ? 2
                              : cpp::does(Call, cpp::Std::StreamBytes) ? 1
                                                                       : 0;
    if (!Pointers)
      return;
    const auto Args = cpp::writtenArguments(Call);
    if (Args.size() <= Pointers)
      return;
    if (auto B = decideOn(llvm::ArrayRef(Args).take_front(Pointers),
                          Args[Pointers], context()))
      report(worded(*B, cpp::calleeName(Call), context()));
  }
};

} // namespace

LIBTORCH_CHECK(ElementSizeCheck, ElementSize);

} // namespace libtorch_tidy
