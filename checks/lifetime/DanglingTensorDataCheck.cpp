//===- DanglingTensorDataCheck.cpp ----------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Calls.h"
#include "analysis/torch/api/TorchTypes.h"
#include "checks/lifetime/DanglingStory.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/CharInfo.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace clang;

namespace libtorch_tidy {

using flow::Borrow;
using flow::Dangling;

namespace {

/// docs/checks/libtorch-dangling-tensor-data.md says what it finds and why.
class DanglingTensorDataCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

private:
  void checkUnit(flow::UnitModel &Unit) override;
  fixits::Edits nameTemporary(const flow::Dangling &D,
                              const ASTContext &Context);
  std::string newName(llvm::StringRef Wish, const Stmt *Body);

  /// The names that fixes bring into a function.
  std::set<std::pair<const Stmt *, std::string>> Given;
};

} // namespace

/// What is refered to in what owns it: `the sizes of`.
static std::string partOf(const Borrow &B) {
  if (B.What == Borrow::Elements)
    return "the elements of ";
  if (B.What != Borrow::Shape)
    return "";
  llvm::StringRef Name = B.Part;
  Name.consume_front("sym_");
  return "the " + Name.str() + " of ";
}

static std::string temporaryOf(const Borrow &B) {
  switch (B.What) {
  case Borrow::Elements:
    return "a tuple";
  case Borrow::List: {
    const Expr *E = cpp::peel(B.Temporary);
    if (isa<CXXStdInitializerListExpr>(E))
      return "a list in braces";
    return torch::isTensor(E->getType())      ? "a temporary tensor"
           : E->getType()->isArithmeticType() ? "a temporary number"
                                              : "a temporary container";
  }
  default:
    return "a tensor";
  }
}

static std::string messageOf(const Dangling &D, const std::string &Owner) {
  const Borrow &B = D.What;
  const std::string Keeper = "'" + D.Keeper + "' ";
  const std::string Refers =
      B.What == Borrow::Data ? "points into " : "refers to " + partOf(B);
  switch (D.Why) {
  case Dangling::Loop:
    return "the loop reads " + partOf(B) + Owner +
           " that is gone before the first iteration";
  case Dangling::Returned:
    return "what is returned " + Refers + Owner +
           (B.Owner ? ", which" : " that") +
           " is gone when the function returns";
  case Dangling::Stored:
    return Keeper + Refers + Owner +
           ", which is gone when the function returns";
  case Dangling::Scope:
    return Keeper + Refers + Owner + ", which is gone when its block ends";
  case Dangling::Assigned:
    return Keeper + Refers + "the tensor that " + Owner +
           " held before it was assigned again";
  case Dangling::Resized:
    return Keeper + Refers + Owner +
           ", whose memory may move when it is resized";
  default:
    return Keeper + Refers + Owner +
           " that is gone at the end of this statement";
  }
}

/// A name for the temporary that \p Keeper points into: `p_tensor`,
/// `firstTensor`.
static std::string wishFor(llvm::StringRef Keeper, llvm::StringRef What) {
  if (Keeper.empty())
    return What.str();
  if (Keeper.contains('_') ||
      llvm::none_of(Keeper, [](char C) { return clang::isUppercase(C); }))
    return (Keeper.rtrim('_') + "_" + What).str();
  return (Keeper + llvm::StringRef(What).take_front().upper() +
          What.drop_front())
      .str();
}

/// A name that neither the function nor another fix in it uses.
std::string DanglingTensorDataCheck::newName(llvm::StringRef Wish,
                                             const Stmt *Body) {
  std::string Name = fixits::freeName(Wish, Body);
  for (unsigned N = 2; !Given.insert({Body, Name}).second; ++N)
    Name = fixits::freeName((Wish + llvm::Twine(N)).str(), Body);
  return Name;
}

/// Names the temporary before the statement, so that it lives on.
fixits::Edits
DanglingTensorDataCheck::nameTemporary(const Dangling &D,
                                       const ASTContext &Context) {
  const Borrow &B = D.What;
  if (!D.Statement || !B.Temporary)
    return {};
  if (const auto *Declared = dyn_cast<DeclStmt>(D.Statement))
    if (const auto *Var = dyn_cast<VarDecl>(Declared->getSingleDecl());
        !Var || Var->isStaticLocal() || Var->isConstexpr())
      return {};
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
        return {};
      Declarator = ("const " + Element + " " + Name + "[]").str();
    } else if (E->getType()->isArithmeticType()) {
      return {};
    }
  } else if (!E->isPRValue() && !torch::isTensor(E->getType())) {
    return {}; // It cannot be copied, or is copied with all it holds.
  }
  return fixits::nameBefore(D.Statement, E, Declarator, Name, Context);
}

void DanglingTensorDataCheck::checkUnit(flow::UnitModel &Unit) {
  for (const Dangling &D : Unit.dangling()) {
    const Borrow &B = D.What;
    if (B.What == Borrow::Blob)
      continue;
    Finding F = findingAt(D);
    F.Message = messageOf(D, B.Owner ? "'" + B.Owner->getNameAsString() + "'"
                                     : temporaryOf(B));
    if (B.Sure == torch::Fresh::Perhaps && !B.Through.empty())
      F.Message += ", when '" + B.Through + "' has to copy";
    F.Fix = nameTemporary(D, Unit.context());
    report(F);
  }
}

LIBTORCH_CHECK(DanglingTensorDataCheck, NoReasons);

} // namespace libtorch_tidy
