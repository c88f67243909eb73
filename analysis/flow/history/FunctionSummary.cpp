//===- FunctionSummary.cpp - A function, as other units see it ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Compat.h"
#include "analysis/cpp/Text.h"
#include "analysis/cpp/Types.h"
#include "analysis/flow/history/FunctionFlow.h"
#include "analysis/flow/program/Program.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/STLExtras.h"
#include <functional>

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::flow {

//===----------------------------------------------------------------------===//
// Into a summary
//===----------------------------------------------------------------------===//

namespace {

std::string nameOf(Selector S) {
  if (const FieldDecl *Field = S.Field)
    return Field->getQualifiedNameAsString();
  return "#" + std::to_string(S.Element);
}

/// The line of \p E, as file:line.
std::string lineOf(const Expr *E, const FunctionFlow &Flow) {
  return cpp::lineOf(E->getExprLoc(),
                     Flow.function()->getASTContext().getSourceManager());
}

/// History that arises at \p From, and that the line \p At returns: the way of
/// it, as far as a reader follows. In a circle it ends.
std::string handedOn(StringRef From, const std::string &At) {
  static constexpr llvm::StringLiteral By = " and is handed on at ";
  static constexpr size_t MostLines = 3;
  const size_t Lines = From.contains(By) ? From.count(", ") + 1 : 0;
  if (Lines == MostLines || From.contains(At))
    return From.str();
  return (From + (Lines ? StringRef(", ") : StringRef(By)) + At).str();
}

/// Numbers the places and labels that callers can have to do with.
class Packer {
public:
  explicit Packer(const FunctionFlow &Flow) : Flow(Flow) {}

  /// Absent for what callers have no name for: a global, a captured variable.
  std::optional<unsigned> place(PlaceId P) {
    auto [It, New] = PlaceIds.try_emplace(P);
    if (!New)
      return It->second;
    FunctionSummary::Place Said;
    for (; Flow.place(P).Parent; P = *Flow.place(P).Parent)
      Said.Path.push_back(nameOf(*Flow.place(P).Part));
    std::reverse(Said.Path.begin(), Said.Path.end());
    if (const VarDecl *Root = Flow.place(P).Root) {
      const std::optional<unsigned> Index = Flow.indexOf(Root);
      if (!Index)
        return std::nullopt;
      Said.Root = *Index + 1;
    }
    Out.Places.push_back(std::move(Said));
    return It->second = Out.Places.size() - 1;
  }

  FunctionSummary::Value value(const Value &V) {
    FunctionSummary::Value Said;
    Said.Unknown = V.Unknown;
    for (LabelId L : V.Labels)
      if (std::optional<unsigned> Known = label(L))
        Said.Labels.push_back(*Known);
      else if (Flow.label(L).K == Label::Entry)
        Said.Unknown = true; // A global's value.
    for (const auto &[Part, Inner] : V.Parts)
      Said.Parts.emplace_back(nameOf(Part), value(Inner));
    return Said;
  }

  /// Absent for what matters in the function alone, and for what globals held.
  std::optional<unsigned> label(LabelId L) {
    auto [It, New] = LabelIds.try_emplace(L);
    if (!New)
      return It->second;
    const Label &Here = Flow.label(L);
    if (Here.K == Label::Relay || Here.K == Label::Spent)
      return std::nullopt;
    FunctionSummary::Label Said;
    if (Here.K == Label::Entry || Here.K == Label::Carry) {
      std::optional<unsigned> Where = place(Here.Where);
      if (!Where)
        return std::nullopt;
      Said.Where = *Where;
    }
    Said.Kind = Here.K;
    Said.Consumers = Here.Consumers;
    if (!Flow.frees(Here))
      Said.Consumers &= ~unsigned(Label::Freed);
    Said.Arises = Here.Arises;
    Said.RunsModule = Here.RunsModule;
    if (Here.bringsHistory())
      Said.From = Here.K != Label::Helper || Here.From.empty()
                      ? lineOf(Here.Site, Flow)
                      : handedOn(Here.From, lineOf(Here.Site, Flow));
    const unsigned Number = Out.Labels.size();
    It->second = Number;
    Out.Labels.push_back(std::move(Said));
    if (Here.K == Label::Carry) {
      std::vector<unsigned> Assigned;
      for (LabelId From : Here.Assigned)
        if (std::optional<unsigned> Known = label(From))
          Assigned.push_back(*Known);
      Out.Labels[Number].Assigned = std::move(Assigned);
    }
    return Number;
  }

  FunctionSummary Out;

private:
  const FunctionFlow &Flow;
  std::map<PlaceId, std::optional<unsigned>> PlaceIds;
  std::map<LabelId, std::optional<unsigned>> LabelIds;
};

/// The places of a summary, in terms of this unit's declaration.
struct PlacesHere {
  std::vector<Place> Made;
  struct Known {
    PlaceId Id;
    QualType Type;
    bool IsWhole; ///< Not a part of Id that has no name here.
  };
  llvm::SmallVector<Known, 8> Said; ///< By the numbers in the summary.
};

} // namespace

FunctionSummary FunctionFlow::summary() const {
  Packer Pack(*this);
  Pack.Out.Trains = Trains;
  Pack.Out.ExitMode = static_cast<unsigned>(ExitMode);
  Pack.Out.ExitFromOff = static_cast<unsigned>(ExitFromOff);
  Pack.Out.SwitchesIfThrown = SwitchesIfThrown;
  for (LabelId L = 0; L < Labels.size(); ++L)
    if (Labels[L].K == Label::Entry)
      Pack.label(L);
  Pack.Out.Return = Pack.value(Return);
  for (const auto &[P, V] : Exit) {
    if (std::optional<unsigned> Where = Pack.place(P)) {
      Pack.Out.Exit.emplace_back(*Where, Pack.value(V));
      continue;
    }
    // Kept where callers cannot look.
    for (LabelId L : V.allLabels())
      if (std::optional<unsigned> Known = Pack.label(L))
        Pack.Out.Labels[*Known].Consumers |= Label::Escaped;
  }
  for (const auto &[Key, A] : Accumulations) {
    std::optional<unsigned> Where = Pack.place(A.Where),
                            Carry = Pack.label(A.Carry);
    if (Where && Carry)
      Pack.Out.Additions.push_back(
          {*Where, *Carry, static_cast<unsigned>(A.How), Pack.value(A.Added),
           A.Bounded,
           A.Elsewhere.empty() ? lineOf(A.Site, *this) : A.Elsewhere});
  }
  return std::move(Pack.Out);
}

bool FunctionSummary::isConsistent() const {
  auto IsLabel = [&](unsigned L) { return L < Labels.size(); };
  auto IsPlace = [&](unsigned P) { return P < Places.size(); };
  std::function<bool(const Value &)> IsValue = [&](const Value &V) {
    return llvm::all_of(V.Labels, IsLabel) &&
           llvm::all_of(V.Parts,
                        [&](const auto &P) { return IsValue(P.second); });
  };
  return std::max(ExitMode, ExitFromOff) <=
             static_cast<unsigned>(GradMode::Unknown) &&
         llvm::all_of(Labels,
                      [&](const Label &L) {
                        const bool HasPlace = L.Kind == flow::Label::Entry ||
                                              L.Kind == flow::Label::Carry;
                        return L.Kind <= flow::Label::Proven &&
                               (!HasPlace || IsPlace(L.Where)) &&
                               llvm::all_of(L.Assigned, IsLabel);
                      }) &&
         IsValue(Return) &&
         llvm::all_of(Exit,
                      [&](const auto &Held) {
                        return IsPlace(Held.first) && IsValue(Held.second);
                      }) &&
         llvm::all_of(Additions, [&](const Addition &A) {
           return IsPlace(A.Where) && IsLabel(A.Carry) && IsValue(A.Added) &&
                  A.How <= Accumulation::ViaCall;
         });
}

//===----------------------------------------------------------------------===//
// Out of a summary
//===----------------------------------------------------------------------===//

/// The part of something of type \p At that is called \p Name; \p At becomes
/// its type. Absent where this unit does not know it.
static std::optional<Selector> selectorNamed(StringRef Name, QualType &At) {
  if (Name.consume_front("#")) {
    unsigned Index;
    At = QualType();
    if (Name.getAsInteger(10, Index))
      return std::nullopt;
    return Selector::element(Index);
  }
  if (At.isNull())
    return std::nullopt;
  const QualType Pointee = cpp::pointeeOf(At.getNonReferenceType());
  const FieldDecl *Field =
      cpp::fieldNamed(cpp::recordOf(Pointee.isNull() ? At : Pointee), Name);
  if (!Field)
    return std::nullopt;
  At = Field->getType();
  return Selector::field(Field);
}

/// \p Said with labels as they are numbered in the summary.
static Value valueSaid(const FunctionSummary::Value &Said, QualType At) {
  Value V;
  V.Unknown = Said.Unknown;
  for (unsigned L : Said.Labels)
    V.Labels.set(L);
  for (const auto &[Name, Inner] : Said.Parts) {
    QualType PartType = At;
    std::optional<Selector> Part = selectorNamed(Name, PartType);
    Value Known = valueSaid(Inner, PartType);
    if (Part)
      V.setPart(*Part, std::move(Known));
    else
      V.join(Known.flat());
  }
  return V;
}

/// nullopt when \p F is declared otherwise there.
static std::optional<PlacesHere> placesSaid(const FunctionSummary &Said,
                                            const FunctionDecl *F) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  std::map<unsigned, PlaceId> Roots;
  std::map<std::pair<PlaceId, Selector>, PlaceId> Parts;
  PlacesHere Result;
  auto Find = [&](auto &Known, const auto &Key, const Place &P) {
    auto [It, New] = Known.try_emplace(Key, Result.Made.size());
    if (New)
      Result.Made.push_back(P);
    return It->second;
  };
  for (const FunctionSummary::Place &P : Said.Places) {
    if (P.Root > F->getNumParams() || (!P.Root && !Method))
      return std::nullopt;
    const ParmVarDecl *Param = P.Root ? F->getParamDecl(P.Root - 1) : nullptr;
    QualType At =
        Param ? Param->getType() : compat::recordType(Method->getParent());
    PlaceId Here = Find(Roots, P.Root, {Param, std::nullopt, std::nullopt});
    bool IsWhole = true;
    for (const std::string &Name : P.Path) {
      std::optional<Selector> Part = selectorNamed(Name, At);
      IsWhole = Part.has_value();
      if (!Part)
        break;
      Here = Find(Parts, std::pair(Here, *Part), {nullptr, Here, Part});
    }
    Result.Said.push_back({Here, At, IsWhole});
  }
  return Result;
}

std::unique_ptr<FunctionFlow>
FunctionFlow::abroad(const FunctionDecl *F, const FunctionSummary &Said) {
  auto Flow = std::make_unique<FunctionFlow>();
  Flow->F = F;
  Flow->Abroad = true;
  Flow->Trains = Said.Trains;
  Flow->ExitMode = static_cast<GradMode>(Said.ExitMode);
  Flow->ExitFromOff = static_cast<GradMode>(Said.ExitFromOff);
  Flow->SwitchesIfThrown = Said.SwitchesIfThrown;
  Flow->ReportsResults = Said.ReportsResults;
  std::optional<PlacesHere> Places = placesSaid(Said, F);
  if (!Places)
    return FunctionFlow::givenUp(F);
  Flow->Places = std::move(Places->Made);
  for (const FunctionSummary::Label &L : Said.Labels) {
    Label &Here = Flow->Labels.emplace_back();
    Here.K = static_cast<Label::Kind>(L.Kind);
    if (Here.K == Label::Entry || Here.K == Label::Carry)
      Here.Where = Places->Said[L.Where].Id;
    Here.Consumers = L.Consumers;
    Here.Arises = L.Arises;
    Here.RunsModule = L.RunsModule;
    Here.From = L.From;
    for (unsigned From : L.Assigned)
      Here.Assigned.set(From);
  }
  Flow->Return = valueSaid(Said.Return, F->getReturnType());
  for (const auto &[P, V] : Said.Exit) {
    const PlacesHere::Known &At = Places->Said[P];
    Value Held = valueSaid(V, At.Type);
    if (At.IsWhole) {
      Flow->Exit[At.Id].join(Held);
      continue;
    }
    // In a part that this unit has no name for.
    for (LabelId L : Held.allLabels())
      Flow->Labels[L].Consumers |= Label::Escaped;
  }
  for (const FunctionSummary::Addition &A : Said.Additions) {
    Accumulation Here;
    Here.Where = Places->Said[A.Where].Id;
    Here.How = static_cast<Accumulation::Form>(A.How);
    Here.Added = valueSaid(A.Added, QualType());
    Here.Carry = A.Carry;
    Here.Bounded = A.Bounded;
    Here.Elsewhere = A.At;
    // There is no site to tell several by.
    auto [It, New] =
        Flow->Accumulations.insert({{Here.Site, Here.Where}, Here});
    if (!New) {
      It->second.Added.join(Here.Added);
      It->second.Bounded |= Here.Bounded;
      Flow->Labels[It->second.Carry].Assigned |=
          Flow->Labels[Here.Carry].Assigned;
    }
  }
  Flow->Available = true;
  return Flow;
}

} // namespace libtorch_tidy::flow
