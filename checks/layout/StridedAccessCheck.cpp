//===- StridedAccessCheck.cpp ---------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Object.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/Layout.h"
#include "checks/base/LibtorchCheck.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"

using namespace clang;

namespace libtorch_tidy {

using flow::StridedRead;
using torch::Layout;

namespace {

constexpr struct StridedAccessReasons {
  Reason Source{"unseen-source", Effect::Likely,
                "Another function made the tensor, or a model did: it may lie "
                "in such an order that the operator puts it right."};
  Reason Sizes{"unknown-sizes", Effect::Likely,
               "Sizes or numbers that it depends on are not known: where a "
               "dimension has one element, the order is right."};
  Reason Cut{"unknown-cut", Effect::Advice,
             "It is a part along a dimension of unknown size: it may be all of "
             "it, or one element, and then the order is right."};
  Reason Undone{
      "undone", Effect::Advice,
      "Another function made the tensor, and the file has a "
      "`permute()` the other way round that is not packed: where that "
      "is what made it, the order is right again."};
  Reason SomePaths{"some-paths", Effect::Likely,
                   "It lies so on some paths only, and what they depend on may "
                   "be known where it is read."};
  Reason OtherFormula{"other-formula", Effect::Likely,
                      "The index is computed of numbers that are not the sizes "
                      "of this tensor, or is a single number: it may be meant "
                      "for the order in memory."};
  Reason Columns{"column-major", Effect::Likely,
                 "The order is that of this version's LAPACK functions, which "
                 "no documentation promises."};
  Reason Gradient{"gradient", Effect::Likely,
                  "A gradient reaches a `backward()` of yours in whatever "
                  "layout the next operator made: that of `sum()` is "
                  "expanded."};
  Reason Like{"made-like", Effect::Likely,
              "It is made like a parameter, whose order it has, and of which "
              "the function makes a packed copy elsewhere."};
  Reason Siblings{"siblings-ask", Effect::Likely,
                  "It is a parameter of an exported function, and nothing asks "
                  "whether it is contiguous, though other parameters, there or "
                  "in other functions, are asked."};
  Reason Exported{"exported", Effect::Advice,
                  "It is a parameter of a function that Python or a library's "
                  "user calls, and nobody asks whether it is packed."};
  Reason Script{"script-result", Effect::Advice,
                "It is what a TorchScript module returned: a model may end in "
                "a slice or a permutation."};
  Reason Foreign{"unseen-reader", Effect::Advice,
                 "A function that is only declared here gets the pointer and "
                 "no strides: it may be made for this order."};
  Reason Asked{"asks-for-strides", Effect::Silent,
               "The function asks the tensor for its strides, whether it is "
               "contiguous, or for an accessor."};
  Reason Written{"may-be-written", Effect::NoFix,
                 "The memory is written through the pointer, or may be: what "
                 "is written to a copy is lost."};
  Reason Place{"no-statement", Effect::NoFix,
               "The pointer is not taken by a statement of a block that "
               "declares it or uses it up: a copy would not live as long."};
} StridedAccess{};

std::string operatorOf(const CallExpr *By) {
  const torch::OpFacts *Facts = torch::opFacts(By);
  const std::string Name =
      Facts ? Facts->Name.str() : cpp::calleeName(By).str();
  // One letter would look like a variable.
  return Name.size() == 1 ? Name + "()" : Name;
}

/// Does \p By change the strides of a tensor, rather than make one?
bool isView(const CallExpr *By) {
  const torch::OpFacts *Facts = torch::opFacts(By);
  return Facts && !Facts->Factory;
}

/// How the tensor is called in the message.
std::string nameOf(const StridedRead &R) {
  if (const VarDecl *Var = cpp::variableOf(R.Tensor))
    return quoted(Var);
  const FieldDecl *Field = cpp::fieldOf(R.Tensor);
  return Field ? quoted(Field) : "a tensor";
}

std::string whatReads(const StridedRead &R) {
  const std::string Reader = quoted(R.Reader), Of = nameOf(R);
  switch (R.How) {
  case StridedRead::Copied:
    return Reader + " copies the bytes of " + Of + " as they lie in memory";
  case StridedRead::Ranged:
    return Reader + " takes the elements of " + Of + " as they lie in memory";
  case StridedRead::Indexed:
    return "the loop goes through the memory of " + Of + " element by element";
  case StridedRead::Formula:
  case StridedRead::Guessed:
  case StridedRead::Fixed:
    return "the index counts the elements of " + Of + " row by row";
  case StridedRead::Viewed:
    return Reader + " shows the memory of " + Of + " row by row";
  case StridedRead::Helper:
    return Reader + " goes through the memory of " + Of + " as one piece";
  case StridedRead::Foreign:
    return Reader + " gets the memory of " + Of + ", and no strides";
  }
  return {};
}

/// What is wrong with that, after "but".
std::string whatLies(const StridedRead &R) {
  const std::string By = R.Lies.By ? quoted(operatorOf(R.Lies.By)) : "";
  const bool IsView = isView(R.Lies.By);
  switch (R.From) {
  case StridedRead::Script:
    return "nothing says that the model returns them in order";
  case StridedRead::Gradient:
    return "a gradient may arrive in any layout";
  case StridedRead::Parameter:
    return "callers may pass a tensor of any strides";
  case StridedRead::Like:
    return "it lies like the parameter that it is made like, in whatever order";
  case StridedRead::Operators:
    break;
  }
  switch (R.Lies.kind()) {
  case Layout::Columns:
    return "the result of " + By + " lies column by column";
  case Layout::Sliced:
    return IsView ? By + " has left those of the whole tensor between them"
                  : "the result of " + By + " has others between them";
  case Layout::Expanded:
    return (IsView ? By : "the result of " + By) +
           " has fewer elements in memory than it shows";
  default:
    return IsView ? By + " has moved no bytes: they lie in the order from "
                         "before"
                  : "the result of " + By + " lies in another order";
  }
}

/// The statement of a block that \p E stands in, where a variable before it
/// lives as long as what the statement makes; null for others.
const Stmt *statementOf(const Expr *E, const Expr *Read, const cpp::Body &In) {
  const Stmt *S = E;
  while (S && !isa_and_nonnull<CompoundStmt>(In.parentOf(S)))
    S = In.parentOf(S);
  if (!isa_and_nonnull<DeclStmt, Expr, ReturnStmt>(S) ||
      isa_and_nonnull<SwitchStmt>(In.parentOf(In.parentOf(S))))
    return nullptr;
  return isa<DeclStmt>(S) || In.isWithin(Read, S) ? S : nullptr;
}

/// Is what \p Data points to surely only read?
bool isOnlyRead(const StridedRead &R, const cpp::Body &In) {
  if (R.Data->getType()->getPointeeType().isConstQualified())
    return true;
  auto IsRead = [&](const Expr *Pointer) {
    const Stmt *User = In.outerOf(Pointer);
    if (const auto *Element = dyn_cast_or_null<ArraySubscriptExpr>(User)) {
      const auto *Load =
          dyn_cast_or_null<ImplicitCastExpr>(In.parentOf(Element));
      return Load && (Load->getCastKind() == CK_LValueToRValue ||
                      Load->getType().isConstQualified());
    }
    return cpp::contains(R.At, Pointer) ||
           (User && R.How == StridedRead::Ranged && In.isWithin(R.At, User));
  };
  const auto *Declared = dyn_cast_or_null<DeclStmt>(In.outerOf(R.Data));
  const VarDecl *Var =
      dyn_cast_or_null<VarDecl>(Declared ? cpp::declaredBy(Declared) : nullptr);
  if (!Var) {
    if (R.How == StridedRead::Copied) {
      // The source comes second, but for streams.
      const auto *Call = dyn_cast_or_null<CallExpr>(In.userOf(R.At));
      return Call && (!cpp::does(Call, cpp::Std::CopyBytes) ||
                      cpp::peel(Call->getArg(1)) == cpp::peel(R.At));
    }
    return R.How == StridedRead::Ranged || IsRead(R.Data);
  }
  if (Var->getType()->isPointerType() &&
      Var->getType()->getPointeeType().isConstQualified())
    return true;
  return !cpp::anyOf<DeclRefExpr>(In.root(), [&](const DeclRefExpr *Ref) {
    return Ref->getDecl() == Var && !IsRead(Ref);
  });
}

std::string wishFor(const Expr *Tensor) {
  const VarDecl *Var = cpp::variableOf(Tensor);
  if (!Var)
    return "packed";
  const std::string Name = Var->getNameAsString();
  const bool Camel =
      llvm::any_of(Name, [](char C) { return C >= 'A' && C <= 'Z'; });
  return Name + (Camel ? "Packed" : "_packed");
}

/// A packed copy of \p Tensor, in C++.
std::string packedCopyOf(const Expr *Tensor, const ASTContext &Context) {
  const llvm::StringRef Text =
      fixits::sourceText(Tensor->getSourceRange(), Context);
  return torch::isStableTensor(Tensor->getType())
             ? (torch::spelling::StableContiguous + "(" + Text + ")").str()
             : (Text + torch::spelling::ContiguousCall).str();
}

/// Reads from a packed copy, which a variable before the statement keeps.
Finding &fixed(Finding &F, const StridedRead &R, const ASTContext &Context) {
  const cpp::Body &In = cpp::Body::of(R.In);
  if (!R.Data) { // A function gets the tensor.
    const Expr *E = R.Tensor->IgnoreImplicit();
    return F.fix(
        torch::isStableTensor(E->getType())
            ? fixits::replaceExpression(E, packedCopyOf(E, Context), Context)
            : fixits::appendMemberCall(E, torch::spelling::ContiguousCall,
                                       Context));
  }
  if (torch::dataOf(R.Data) != R.Tensor || R.Data->getBeginLoc().isMacroID())
    return F.because(StridedAccess.Place);
  if (!isOnlyRead(R, In))
    return F.because(StridedAccess.Written);
  const Stmt *Where = statementOf(R.Data, R.At, In);
  const Expr *E = R.Tensor->IgnoreImplicit();
  if (!Where || E->getType()->isPointerType())
    return F.because(StridedAccess.Place);
  // What has no name may be made once for each end of a range.
  const bool IsNamed = cpp::isSameName(E, E);
  if (!IsNamed && cpp::anyOf<CallExpr>(Where, [&](const CallExpr *Call) {
        return Call != R.Data && torch::dataOf(Call);
      }))
    return F.because(StridedAccess.Place);
  const std::string Name = fixits::freeName(wishFor(E), In.root());
  F.fix(fixits::insertBeforeStatement(
      Where, "auto " + Name + " = " + packedCopyOf(E, Context) + ";", Context));
  cpp::forEach<CallExpr>(Where, [&](const CallExpr *Call) {
    const Expr *Of = torch::dataOf(Call);
    if (Call == R.Data || (Of && IsNamed && cpp::isSameName(Of, E)))
      F.fix(fixits::replaceExpression(Of->IgnoreImplicit(), Name, Context));
  });
  return F;
}

Finding worded(const StridedRead &R) {
  Finding F = Finding::at(R.At);
  const bool IsPlain = R.From != StridedRead::Operators;
  const bool Passed = !R.Data;
  F.says("wrong bytes: " + whatReads(R) + ", but " + whatLies(R) + "; " +
         (Passed ? "pass a packed copy, contiguous()"
                 : "read from a packed copy, contiguous(), kept in a "
                   "variable"));
  if (!IsPlain) {
    if (!R.Lies.Sure)
      F.because(StridedAccess.Source);
    if (R.SomeWays)
      F.because(StridedAccess.SomePaths);
    if (!R.Lies.isSurelyStrided())
      F.because(R.HangsOnCuts ? StridedAccess.Cut : StridedAccess.Sizes);
    if (R.Lies.kind() == Layout::Columns)
      F.because(StridedAccess.Columns);
    if (R.Lies.By)
      F.note(R.Lies.By,
             quoted(operatorOf(R.Lies.By)) +
                 (isView(R.Lies.By) && R.Lies.kind() != Layout::Columns
                      ? " changes the strides here"
                      : " returns it here"));
  }
  if (R.How == StridedRead::Fixed || R.How == StridedRead::Guessed)
    F.because(StridedAccess.OtherFormula);
  if (R.How == StridedRead::Foreign)
    F.because(StridedAccess.Foreign);
  if (R.Asks)
    F.because(StridedAccess.Asked);
  return F;
}

/// docs/checks/libtorch-strided-access.md says what it finds and why.
class StridedAccessCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

  void checkUnit(flow::UnitModel &Unit) override {
    for (const StridedRead *R : Unit.stridedReads()) {
      Finding F = worded(*R);
      switch (R->From) {
      case StridedRead::Operators:
        if (!R->Lies.Sure && isUndone(R->Lies.By, Unit))
          F.because(StridedAccess.Undone);
        break;
      case StridedRead::Script:
        if (R->How != StridedRead::Copied && R->How != StridedRead::Ranged)
          continue;
        F.because(StridedAccess.Script);
        break;
      case StridedRead::Gradient:
        F.because(StridedAccess.Gradient);
        break;
      case StridedRead::Like:
        F.because(StridedAccess.Like);
        break;
      case StridedRead::Parameter:
        if (!isExported(R->In, Unit))
          continue;
        F.because(anyAsks(Unit) ? StridedAccess.Siblings
                                : StridedAccess.Exported);
        break;
      }
      report(fixed(F, *R, Unit.context()));
    }
  }

private:
  /// Does the unit permute another tensor so that \p By, a permute(), puts it
  /// right, and keep it so?
  bool isUndone(const CallExpr *By, flow::UnitModel &Unit) {
    if (!Permutations) {
      Permutations.emplace();
      for (const FunctionDecl *In : Unit.functions())
        cpp::forEachCall(In, [&](const CallExpr *Call) {
          if (const auto Order = torch::permutation(Call, Unit.context());
              !Order.empty() &&
              !torch::packedBy(cpp::Body::of(In).callOn(Call)))
            Permutations->push_back(Order);
        });
    }
    const auto Order = torch::permutation(By, Unit.context());
    return !Order.empty() &&
           llvm::any_of(*Permutations, [&](const auto &Other) {
             // What undoes itself is not the other way round.
             if (Other.size() != Order.size() || Other == Order)
               return false;
             for (unsigned I = 0; I < Order.size(); ++I)
               if (Other[Order[I]] != I)
                 return false;
             return true;
           });
  }
  /// Is \p F called by Python or C: bound with def() or impl(), or extern "C"?
  bool isExported(const FunctionDecl *F, flow::UnitModel &Unit) {
    if (!Exported) {
      Exported.emplace();
      for (const FunctionDecl *In : Unit.functions())
        cpp::forEachCall(In, [&](const CallExpr *Call) {
          if (cpp::isOneOf(cpp::calleeName(Call), {"def", "impl"}))
            for (const Expr *Arg : Call->arguments())
              cpp::forEach<DeclRefExpr>(Arg, [&](const DeclRefExpr *Ref) {
                if (const auto *Bound = dyn_cast<FunctionDecl>(Ref->getDecl()))
                  Exported->insert(Bound->getCanonicalDecl());
              });
        });
    }
    return F->isExternC() || Exported->contains(F->getCanonicalDecl());
  }
  /// Does an exported function ask a parameter whether it is packed?
  bool anyAsks(flow::UnitModel &Unit) {
    if (!Asks)
      Asks = llvm::any_of(Unit.functions(), [&](const FunctionDecl *F) {
        const flow::MemorySummary *Known =
            isExported(F, Unit) ? Unit.memoryOf(F) : nullptr;
        return Known && !Known->Order.Asks.empty();
      });
    return *Asks;
  }

  std::optional<llvm::DenseSet<const FunctionDecl *>> Exported;
  std::optional<bool> Asks;
  std::optional<std::vector<llvm::SmallVector<unsigned, 4>>> Permutations;
};

} // namespace

LIBTORCH_CHECK(StridedAccessCheck, StridedAccess);

} // namespace libtorch_tidy
