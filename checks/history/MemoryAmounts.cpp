//===- MemoryAmounts.cpp - How much a variable owns -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/Sharing.h"
#include "analysis/torch/storage/Storage.h"
#include "checks/history/MemoryNames.h"

using namespace clang;

namespace libtorch_tidy {

using cpp::Std;

const Expr *elementsOf(const CallExpr *Call) {
  if (const Expr *Container = torch::containerOf(Call))
    return Container;
  if (!cpp::leadsToElements(Call->getType()) ||
      !cpp::isOfLibrary(Call->getDirectCallee()))
    return nullptr;
  const Expr *Object = cpp::calledOn(Call);
  return Object || Call->getNumArgs() == 0 ? Object : Call->getArg(0);
}

const Expr *wholeValue(const Expr *E) {
  for (;;) {
    E = cpp::stripImplicit(E);
    const auto *Call = dyn_cast<CallExpr>(E);
    const Expr *Whole = Call ? elementsOf(Call) : nullptr;
    if (const auto *Member = dyn_cast<MemberExpr>(E);
        Member && !isa<CXXThisExpr>(Member->getBase()->IgnoreParenImpCasts()))
      Whole = Member->getBase();
    else if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(E);
             Op && Op->getOperator() == OO_Subscript &&
             !torch::isTensor(Op->getArg(0)->getType()))
      Whole = Op->getArg(0); // Also of the user's containers.
    if (!Whole)
      return E;
    E = Whole;
  }
}

const torch::OpFacts *factsOf(const Expr *Value) {
  const auto *Call = dyn_cast_or_null<CallExpr>(cpp::stripImplicit(Value));
  return Call ? torch::opFacts(Call->getDirectCallee()) : nullptr;
}

bool isSmall(const Expr *Value) {
  const auto *Call = dyn_cast<CallExpr>(wholeValue(Value));
  const torch::OpFacts *Facts = factsOf(Call);
  if (!Call)
    return false;
  if (torch::namesLoss(cpp::calleeName(Call)) || (Facts && Facts->Reduces))
    return true;
  // A criterion: torch::nn::MSELoss, or a Loss of the user's.
  const std::optional<torch::ModuleCall> M = torch::asModuleCall(Call);
  return M && M->Module &&
         torch::namesLoss(cpp::nameOf(torch::heldClass(M->Module->getType())));
}

bool isWeighty(const Expr *Value) {
  const torch::OpFacts *Facts = factsOf(Value);
  return Facts && (Facts->Heavy || torch::resamples(*Facts));
}

bool isComputed(const Expr *Value) {
  const auto *Call = dyn_cast_or_null<CallExpr>(cpp::stripImplicit(Value));
  if (!Call || !torch::isTensor(Call->getType()))
    return false;
  if (torch::asModuleCall(Call))
    return true;
  const torch::OpFacts *Facts = factsOf(Call);
  return Facts && Facts->Shares == torch::Sharing::None && !Facts->Factory &&
         !Facts->InPlace && !Facts->Reduces && Facts->Outputs == 1 &&
         !Facts->neverDifferentiable();
}

template <typename Range>
Amount MemoryNames::largestOf(const Range &Parts, unsigned Depth) {
  Amount Most = Amount::None;
  for (const Expr *Part : Parts)
    Most = std::max(Most, amountOf(Part, Depth));
  return Most;
}

void MemoryNames::measure(Gift &New) {
  New.Fresh = freshAmountOf(New.Value);
  New.OneFresh = New.Value && hasOneFresh(New.Value);
}

/// What \p E lists: braces, a constructor, a tuple; nothing for all else.
static llvm::SmallVector<const Expr *, 4> listedBy(const Expr *E) {
  if (const auto *List = dyn_cast<InitListExpr>(E))
    return {List->inits().begin(), List->inits().end()};
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
    return {Construct->arg_begin(), Construct->arg_end()};
  if (cpp::isStdCall(E, Std::Tuple))
    return {cast<CallExpr>(E)->arg_begin(), cast<CallExpr>(E)->arg_end()};
  return {};
}

/// Does \p E, which lists the parts of a struct or a tuple, make one of them?
bool MemoryNames::hasOneFresh(const Expr *E) {
  const auto Parts = listedBy(cpp::stripImplicit(E));
  if (Parts.size() == 1)
    return hasOneFresh(Parts.front());
  return llvm::count_if(Parts, [&](const Expr *Part) {
           return freshAmountOf(Part) >= Amount::Filled;
         }) == 1;
}

/// All that a variable may hold is known where each of its values is made there
/// or small.
void MemoryNames::findSizes(Gift &New) {
  auto IsKnown = [&](const Gift &G) {
    return G.Fresh >= Amount::Filled || !G.Value ||
           amountOf(G.Value, 0) <= Amount::Small;
  };
  llvm::SmallVector<unsigned, 2> Sizes;
  Sizing = &Sizes;
  const Amount Rest = freshAmountOf(New.Value);
  Sizing = nullptr;
  if (Rest <= Amount::Small && llvm::all_of(Sizes, [&](unsigned Var) {
        return !isa<ParmVarDecl>(Vars[Var]) && IsKnown(Starts[Var]) &&
               llvm::all_of(Given[Var], [&](const Gift &G) {
                 return G.Value && IsKnown(G);
               });
      }))
    New.Sizes = std::move(Sizes);
}

Amount MemoryNames::amountOf(unsigned Var) {
  if (Sizing) {
    Sizing->push_back(Var);
    return Amount::None;
  }
  if (Amounts[Var])
    return *Amounts[Var];
  Amounts[Var] = Amount::None; // While it is asked.
  Amount Most = Amount::None;
  if (isa<ParmVarDecl>(Vars[Var]))
    Most = Amount::Some;
  else if (const Expr *Init = Vars[Var]->getInit())
    Most = amountOf(Init, 0);
  for (const Gift &New : Given[Var])
    Most = std::max(Most, New.Value ? amountOf(New.Value, 0) : Amount::Some);
  return *(Amounts[Var] = Most);
}

/// How much of \p E is made there; of its parts, the largest.
Amount MemoryNames::freshAmountOf(const Expr *E, unsigned Depth) {
  E = cpp::stripImplicit(E);
  if (!E || ++Depth > cpp::MaxChase)
    return Amount::None;
  auto Largest = [&](const auto &Parts) {
    Amount Most = Amount::None;
    for (const Expr *Part : Parts)
      Most = std::max(Most, freshAmountOf(Part, Depth));
    return Most;
  };
  if (const auto *Choice = dyn_cast<ConditionalOperator>(E))
    return Largest(llvm::ArrayRef<const Expr *>(
        {Choice->getTrueExpr(), Choice->getFalseExpr()}));
  if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(E))
    return freshAmountOf(List->getSubExpr(), Depth);
  if (const auto Parts = listedBy(E); !Parts.empty())
    return Largest(Parts);
  return sourceOf(E).Fresh ? amountOf(E, Depth) : Amount::None;
}

/// What braces in \p E give \p Field of the struct that they make; \p E for
/// all else.
static const Expr *givenToPart(const Expr *E, const ValueDecl *Field) {
  const auto *List = dyn_cast<InitListExpr>(cpp::valueOf(E));
  const auto *Of = List ? List->getType()->getAsCXXRecordDecl() : nullptr;
  const auto *Known = dyn_cast<FieldDecl>(Field);
  return Of && Known && Known->getParent() == Of && Of->getNumBases() == 0 &&
                 Known->getFieldIndex() < List->getNumInits()
             ? List->getInit(Known->getFieldIndex())
             : E;
}

/// Of a struct that is made in braces, each part has its own amount.
Amount MemoryNames::amountOf(const MemberExpr *Part, unsigned Depth) {
  const Expr *Whole = cpp::stripImplicit(Part->getBase());
  const auto *Ref = dyn_cast<DeclRefExpr>(Whole);
  const std::optional<unsigned> Var =
      Ref ? indexOf(Ref->getDecl()) : std::nullopt;
  if (!Var || Sizing || Vars[*Var] != Ref->getDecl() ||
      isa<ParmVarDecl>(Vars[*Var]))
    return amountOf(Whole, Depth);
  const std::pair Asked{*Var, Part->getMemberDecl()};
  if (const auto [It, New] = PartAmounts.try_emplace(Asked, Amount::None); !New)
    return It->second; // While it is asked, nothing.
  auto Of = [&](const Expr *Value) {
    return Value ? amountOf(givenToPart(Value, Part->getMemberDecl()), Depth)
                 : Amount::Some;
  };
  const Expr *Init = Vars[*Var]->getInit();
  Amount Most = Init ? Of(Init) : Amount::None;
  for (const Gift &New : Given[*Var])
    Most = std::max(Most, Of(New.Value));
  return PartAmounts[Asked] = Most;
}

Amount MemoryNames::amountOf(const Expr *E, unsigned Depth) {
  E = cpp::stripImplicit(E);
  if (!E || ++Depth > cpp::MaxChase)
    return Amount::Some;
  if (cpp::isEmptyValue(E) ||
      (!isa<InitListExpr>(E) && !torch::mayHoldTensor(E->getType())))
    return Amount::None;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const std::optional<unsigned> Var = indexOf(Ref->getDecl());
    return Var ? amountOf(*Var) : Amount::Some;
  }
  if (const auto *Member = dyn_cast<MemberExpr>(E))
    return indexOf(cpp::rootOf(E)) ? amountOf(Member, Depth) : Amount::Some;
  if (const auto *Choice = dyn_cast<ConditionalOperator>(E))
    return std::max(amountOf(Choice->getTrueExpr(), Depth),
                    amountOf(Choice->getFalseExpr(), Depth));
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
    return largestOf(Construct->arguments(), Depth);
  if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(E))
    return amountOf(List->getSubExpr(), Depth);
  if (const auto *List = dyn_cast<InitListExpr>(E))
    return largestOf(List->inits(), Depth);
  const auto *Call = dyn_cast<CallExpr>(E);
  return Call ? amountOfCall(Call, Depth) : Amount::Some;
}

/// Three sizes or more, some of which only the run knows: images, recordings, a
/// batch of rows of them.
static bool isOfImages(const torch::BlobCall &Blob, const ASTContext &Context) {
  const auto Sizes = cpp::listElements(Blob.Sizes);
  return Sizes.size() >= 3 && llvm::any_of(Sizes, [&](const Expr *Size) {
           return !cpp::constantInt(Size, Context);
         });
}

Amount MemoryNames::amountOfCall(const CallExpr *Call, unsigned Depth) {
  if (const Expr *Container = elementsOf(Call))
    return amountOf(Container, Depth);
  if (cpp::isStdCall(Call, Std::Tuple))
    return largestOf(Call->arguments(), Depth);
  const torch::OpFacts *Facts = torch::opFacts(Call);
  const std::optional<torch::ModuleCall> M = torch::asModuleCall(Call);
  if (torch::namesLoss(cpp::calleeName(Call)) ||
      (M && M->Module &&
       torch::namesLoss(cpp::nameOf(torch::heldClass(M->Module->getType()))))) {
    // Without a reduction the loss has a number for each element.
    const bool Reduced =
        llvm::none_of(cpp::writtenArguments(Call), [&](const Expr *Arg) {
          return Arg->getType()->isIntegerType() &&
                 cpp::constantInt(Arg, In.context()) == 0;
        });
    if (Reduced)
      return Amount::Small;
  }
  if (M)
    return M->Script || M->Compiled || !M->Module ||
                   torch::parametersOf(M->Module->getType()) !=
                       torch::Parameters::None
               ? Amount::Large
               : largestOf(M->Inputs, Depth);
  if (!Facts) {
    const cpp::Call C(Call);
    const MemoryNames *There = namesIn(C.Callee);
    if (!There || There->ResultSize <= Amount::Small)
      return There ? There->ResultSize : Amount::Some;
    if (Unit.work().of(Call) == torch::Work::Heavy)
      return Amount::Large;
    // `x = same(x)` has what x has been given otherwise.
    const bool IsGiven = llvm::any_of(C.Args, [](const Expr *Arg) {
      return torch::mayHoldTensor(Arg->getType());
    });
    return IsGiven ? std::min(There->ResultSize, largestOf(C.Args, Depth))
                   : There->ResultSize;
  }
  if (const std::optional<torch::BlobCall> Blob =
          torch::asAnyBlob(Call, In.context()))
    return isOfImages(*Blob, In.context()) ? Amount::Some : Amount::Filled;
  if (Facts->Factory)
    return Amount::Filled;
  // Of two tensors, max() and the like give the larger elements.
  const bool OfTwo =
      Facts->Outputs == 2 && Call->getNumArgs() > 1 &&
      torch::isTensor(Call->getType()) &&
      llvm::all_of(llvm::ArrayRef(Call->getArgs(), 2), [](const Expr *Arg) {
        return torch::isTensor(Arg->getType());
      });
  if ((Facts->Reduces && !OfTwo && !torch::namesLoss(Facts->Name)) ||
      Facts->neverDifferentiable())
    return Amount::Small;
  if (Facts->Heavy || torch::resamples(*Facts) || torch::asConcatenation(Call))
    return Amount::Large;
  const Expr *Object = cpp::calledOn(Call);
  return std::max(Object ? amountOf(Object, Depth) : Amount::None,
                  largestOf(cpp::writtenArguments(Call), Depth));
}

} // namespace libtorch_tidy
