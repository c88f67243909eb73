//===- DanglingTensorDataCheck.cpp ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/Layout.h"
#include "checks/lifetime/DanglingStory.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/CharInfo.h"
#include <set>

using namespace clang;

namespace libtorch_tidy {

using flow::Borrow;
using flow::Dangling;

namespace {

constexpr struct DanglingTensorDataReasons {
  Reason Module{"module-result", Effect::Likely,
                "The tensor is the result of a module of yours, which may keep "
                "it."};
  Reason SomeWays{"lent-on-some-ways", Effect::Likely,
                  "A function hands out memory of this argument on some of its "
                  "paths only."};
  Reason Operand{"kept-for-backward", Effect::Likely,
                 "The local tensor was an operand before: backward may still "
                 "hold its memory."};
  Reason Resize{"moves-if-larger", Effect::Likely,
                "`resize_` moves the memory only when it grows."};
  Reason Element{"another-element", Effect::Likely,
                 "It is kept in one element of a container and read from one "
                 "that may be another, or it may have been taken out: "
                 "`q[n % 2]` and `q[1]`, what `push_back` adds and `q[0]`, all "
                 "that is left after `erase(where)`. The same constant, the "
                 "same variable that keeps its value, the last element until "
                 "the container changes, elements of a container that is made "
                 "and filled here, the whole container and each element in a "
                 "loop over all are no others."};
  Reason MayCopy{"copies-if-needed", Effect::Advice,
                 "An operator on a living tensor copies only when there is "
                 "something to do: `contiguous`, `to`, `cpu`, `reshape`. Where "
                 "it surely has to copy (`x.cpu()` after `x = y.cuda()`, "
                 "`contiguous` of a matrix that is made and transposed here), "
                 "this does not apply."};
  Reason Strided{"not-in-order", Effect::Likely,
                 "`contiguous` is called on what an operator such as `t()` has "
                 "left in another order: it copies, unless a dimension has one "
                 "element or the tensor came in such an order that the "
                 "operator puts it right."};
  Reason HasName{"has-name", Effect::NoFix,
                 "What is referred to is a variable, not a temporary."};
  Reason NotDeclared{"lives-longer", Effect::NoFix,
                     "What refers to it is neither declared by a statement of "
                     "its own nor the range of a loop: it is returned, stored, "
                     "or assigned to a variable of an outer block, and a name "
                     "for the temporary would not live long enough. Return the "
                     "tensor, or keep it beside the pointer."};
  Reason Static{"static-or-constexpr", Effect::NoFix,
                "What refers to it is static or `constexpr`."};
  Reason NotNamed{"not-copyable", Effect::NoFix,
                  "A variable for it would copy all it holds, or cannot be "
                  "written: a number, a list of elements of other types than "
                  "tensors and `int64_t`."};
} DanglingTensorData{};

/// What is referred to in what owns it: `the sizes of`.
std::string partOf(const Borrow &B) {
  if (B.What == Borrow::Elements)
    return "the elements of ";
  if (B.What != Borrow::Shape)
    return "";
  llvm::StringRef Name = B.Part;
  Name.consume_front("sym_");
  return "the " + Name.str() + " of ";
}

/// What is destroyed, in one word.
std::string kindOfTemporary(const Borrow &B) {
  if (B.What == Borrow::Elements)
    return "tuple";
  if (B.What != Borrow::List)
    return "tensor";
  const Expr *E = cpp::peel(B.Temporary);
  if (isa<CXXStdInitializerListExpr>(E))
    return "list";
  return torch::isTensor(E->getType())      ? "tensor"
         : E->getType()->isArithmeticType() ? "number"
                                            : "container";
}

std::string temporaryOf(const Borrow &B) {
  const std::string Kind = kindOfTemporary(B);
  if (Kind == "list")
    return "a list in braces";
  return (B.What == Borrow::List ? "a temporary " : "a ") + Kind;
}

std::string messageOf(const Dangling &D, const std::string &Owner) {
  const Borrow &B = D.What;
  const std::string Keeper = quoted(D.Keeper) + " ";
  const std::string Refers =
      B.What == Borrow::Data ? "points into " : "refers to " + partOf(B);
  switch (D.Why) {
  case Dangling::Loop:
    return "the loop reads " + partOf(B) + Owner +
           " that is destroyed before the first iteration";
  case Dangling::Returned:
    return "what is returned " + Refers + Owner +
           (B.Owner ? ", which" : " that") +
           " is destroyed when the function returns";
  case Dangling::Stored:
    return Keeper + Refers + Owner +
           ", which is destroyed when the function returns";
  case Dangling::Scope:
    return Keeper + Refers + Owner + ", which is destroyed when its block ends";
  case Dangling::Assigned:
    return Keeper + Refers + "the tensor that " + Owner +
           " held before it was assigned again";
  case Dangling::Resized:
    return Keeper + Refers + Owner +
           ", whose memory may move when it is resized";
  default:
    return Keeper + Refers + Owner +
           " that is destroyed at the end of this statement";
  }
}

/// What to do about \p D.
std::string howToKeep(const Dangling &D) {
  const bool IsPointer = D.What.What == Borrow::Data;
  switch (D.Why) {
  case Dangling::Returned:
    return IsPointer ? "return the tensor, not a pointer into it"
                     : "return a copy";
  case Dangling::Stored:
    return IsPointer ? "keep the tensor, too" : "keep a copy";
  case Dangling::Scope:
    return "declare it before that block";
  case Dangling::Assigned:
    return "take it again after the assignment";
  case Dangling::Resized:
    return "take it again after that";
  default:
    return "keep the " + kindOfTemporary(D.What) + " in a variable";
  }
}

/// A name for the temporary that \p Keeper points into: `p_tensor`,
/// `firstTensor`.
std::string wishFor(llvm::StringRef Keeper, llvm::StringRef What) {
  // Of the variable that it is a part of.
  Keeper =
      Keeper.ltrim('*').take_until([](char C) { return C == '.' || C == '-'; });
  if (Keeper.empty())
    return What.str();
  if (Keeper.contains('_') ||
      llvm::none_of(Keeper, [](char C) { return clang::isUppercase(C); }))
    return (Keeper.rtrim('_') + "_" + What).str();
  return (Keeper + llvm::StringRef(What).take_front().upper() +
          What.drop_front())
      .str();
}

/// How \p E lies in memory, as far as its function says.
torch::Layout layoutIn(const Expr *E, cpp::Body &In, unsigned Depth = 0) {
  const VarDecl *Var = cpp::variableOf(E);
  if (Depth > cpp::MaxChase ||
      (Var && cpp::anyOf<CallExpr>(In.root(), [&](const CallExpr *Call) {
         return torch::changesLayout(Call) &&
                cpp::variableOf(cpp::calledOn(Call)) == Var;
       })))
    return torch::Layout::unknown();
  return torch::layoutOf(
      dyn_cast_or_null<CallExpr>(cpp::stripImplicit(In.originOf(E))), 0,
      [&](const Expr *Of) { return layoutIn(Of, In, Depth + 1); },
      In.context());
}

/// How what contiguous() packs for \p B lies; packed where that is not what
/// decides whether there is a copy.
torch::Layout layoutBehind(const Borrow &B, ASTContext &Context) {
  const Expr *Packed =
      B.Sure == torch::Fresh::Perhaps && B.Temporary
          ? torch::packedBy(dyn_cast<CallExpr>(cpp::stripImplicit(B.Temporary)))
          : nullptr;
  cpp::Body *In = Packed ? cpp::Body::around(Packed, Context) : nullptr;
  return In ? layoutIn(Packed, *In) : torch::Layout();
}

std::optional<Because> whyUnsure(const Borrow &B, const torch::Layout &Behind) {
  if (B.Sure == torch::Fresh::Yes || (Behind.Sure && Behind.isSurelyStrided()))
    return std::nullopt;
  if (B.Sure != torch::Fresh::Likely)
    return Because{Behind.isStrided() && !Behind.hangsOnCuts()
                       ? &DanglingTensorData.Strided
                       : &DanglingTensorData.MayCopy,
                   B.Through};
  switch (B.Unless) {
  case Borrow::SomeWays:
    return Because{&DanglingTensorData.SomeWays, quoted(B.Lender),
                   B.Lender->getLocation()};
  case Borrow::Backward:
    return Because{&DanglingTensorData.Operand};
  case Borrow::Resize:
    return Because{&DanglingTensorData.Resize};
  case Borrow::Element:
    return Because{&DanglingTensorData.Element};
  default:
    return Because{&DanglingTensorData.Module};
  }
}

/// docs/checks/libtorch-dangling-tensor-data.md says what it finds and why.
class DanglingTensorDataCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void checkUnit(flow::UnitModel &Unit) override {
    for (const Dangling &D : Unit.dangling()) {
      const Borrow &B = D.What;
      if (B.What == Borrow::Blob)
        continue;
      const torch::Layout Behind = layoutBehind(B, Unit.context());
      const auto Why = whyUnsure(B, Behind);
      const bool MayCopy =
          Why && B.Sure == torch::Fresh::Perhaps && !B.Through.empty();
      Finding F = findingAt(D).says(
          (B.What == Borrow::Data ? "dangling pointer: "
                                  : "dangling reference: ") +
          messageOf(D, B.Owner ? quoted(B.Owner) : temporaryOf(B)) +
          (MayCopy ? ", when " + quoted(B.Through) + " has to copy" : ""));
      F.remedy(howToKeep(D));
      report(nameTemporary(F.because(Why), D, Unit.context()));
    }
  }

private:
  /// A name that neither the function nor another fix in it uses.
  std::string newName(llvm::StringRef Wish, const Stmt *Body) {
    std::string Name = fixits::freeName(Wish, Body);
    for (unsigned N = 2; !Given.insert({Body, Name}).second; ++N)
      Name = fixits::freeName((Wish + llvm::Twine(N)).str(), Body);
    return Name;
  }

  /// Fixes \p F: names the temporary before the statement, so that it lives on.
  Finding &nameTemporary(Finding &F, const Dangling &D,
                         const ASTContext &Context) {
    const Borrow &B = D.What;
    if (!B.Temporary)
      return F.because(DanglingTensorData.HasName, B.Owner);
    if (!D.Statement)
      return F.because(DanglingTensorData.NotDeclared);
    if (const auto *Declared = dyn_cast<DeclStmt>(D.Statement))
      if (const auto *Var = dyn_cast<VarDecl>(Declared->getSingleDecl());
          !Var || Var->isStaticLocal() || Var->isConstexpr())
        return F.because(DanglingTensorData.Static);
    const Expr *E = B.Temporary->IgnoreImplicit();
    if (const auto *Arrow = dyn_cast<CXXOperatorCallExpr>(E);
        Arrow && Arrow->getOperator() == OO_Arrow)
      E = Arrow->getArg(0)->IgnoreImplicit();
    const char *What = B.What == Borrow::Elements ? "tuple"
                       : B.What == Borrow::List   ? "values"
                                                  : "tensor";
    const std::string Name = newName(wishFor(D.Keeper, What), D.Body);
    std::string Declarator = "auto " + Name;
    if (B.What == Borrow::List) {
      if (isa<CXXStdInitializerListExpr>(cpp::peel(E))) {
        llvm::StringRef Element =
            torch::spellElement(B.Source->getType(), Context);
        if (Element.empty())
          return F.because(DanglingTensorData.NotNamed);
        Declarator = ("const " + Element + " " + Name + "[]").str();
      } else if (E->getType()->isArithmeticType()) {
        return F.because(DanglingTensorData.NotNamed);
      }
    } else if (!E->isPRValue() && !torch::isTensor(E->getType())) {
      return F.because(DanglingTensorData.NotNamed);
    }
    return F.fix(fixits::nameBefore(D.Statement, E, Declarator, Name, Context));
  }

  /// The names that fixes bring into a function.
  std::set<std::pair<const Stmt *, std::string>> Given;
};

} // namespace

LIBTORCH_CHECK(DanglingTensorDataCheck, DanglingTensorData);

} // namespace libtorch_tidy
