//===- UnitFacts.cpp - The facts that a unit gives to the others ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Callables.h"
#include "analysis/cpp/Compat.h"
#include "analysis/cpp/ProgramNames.h"
#include "analysis/cpp/Text.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UnitContext.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/cpp/Walk.h"
#include "analysis/flow/program/Program.h"
#include "analysis/flow/unit/UnitModel.h"
#include "analysis/torch/api/DataLoaders.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/GradGuards.h"
#include "analysis/torch/autograd/Hooks.h"
#include "analysis/torch/modules/Kept.h"
#include "analysis/torch/modules/Modules.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"

using namespace clang;

namespace libtorch_tidy::flow {

namespace {

/// A part of a unit's context.
struct Program {
  const ProgramFacts *Facts = nullptr;
  /// The answers of factsElsewhere(): names take time to make.
  llvm::DenseMap<const FunctionDecl *, const FunctionFacts *> Of;
};

} // namespace

/// For torch::storedArguments().
static std::vector<torch::StoredArgument>
storedElsewhere(const FunctionDecl *F) {
  std::vector<torch::StoredArgument> Known;
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  const FunctionFacts *Said = Method ? factsElsewhere(F) : nullptr;
  if (!Said)
    return Known;
  for (const FunctionFacts::Stored &Stored : Said->Stores) {
    const FieldDecl *Field = cpp::fieldNamed(Method->getParent(), Stored.Field);
    if (Field || Stored.Field.empty())
      Known.push_back({Stored.Index, Field});
  }
  return Known;
}

const ProgramFacts *ProgramFacts::of(ASTContext &Context) {
  return cpp::ofUnit<Program>(Context).Facts;
}

void ProgramFacts::tell(ASTContext &Context, const ProgramFacts *Facts) {
  cpp::ofUnit<Program>(Context) = Program();
  cpp::ofUnit<Program>(Context).Facts = Facts;
  cpp::ofUnit<torch::StoredElsewhere>(Context).Of = storedElsewhere;
}

const FunctionFacts *factsElsewhere(const FunctionDecl *F) {
  auto &[Whole, Known] = cpp::ofUnit<Program>(F->getASTContext());
  if (!Whole || Whole->Functions.empty() || F->hasBody() ||
      F->isDependentContext())
    return nullptr;
  auto [At, New] = Known.try_emplace(F->getCanonicalDecl());
  if (New)
    if (auto It = Whole->Functions.find(cpp::programName(F));
        It != Whole->Functions.end())
      At->second = &It->second;
  return At->second;
}

bool isCoveredByMain(const FunctionDecl *F) {
  const ProgramFacts *Whole = ProgramFacts::of(F->getASTContext());
  return Whole && !Whole->CoveredByMain.empty() &&
         Whole->CoveredByMain.count(cpp::usrOf(F));
}

const FieldFacts &fieldElsewhere(const ValueDecl *D) {
  static const FieldFacts None;
  const auto *Field = dyn_cast<FieldDecl>(D);
  const ProgramFacts *Whole = ProgramFacts::of(D->getASTContext());
  if (!Whole || !Field || Whole->Fields.empty())
    return None;
  auto It = Whole->Fields.find(cpp::programFieldName(Field));
  return It == Whole->Fields.end() ? None : It->second;
}

namespace {

/// Writes down the facts of one unit.
class FactsWriter {
public:
  FactsWriter(UnitModel &Unit, const ReportedPasses &Reported, bool IsLibrary)
      : Unit(Unit), Reported(Reported), IsLibrary(IsLibrary),
        SM(Unit.context().getSourceManager()) {}

  UnitFacts write() {
    for (const FunctionDecl *F : Unit.functions()) {
      forEachReleased(F, [&](const FieldDecl *Field) {
        if (cpp::isOwningType(Field->getType()) ||
            cpp::holdsFunctions(Field->getType()))
          factsOf(Field).IsReleased = true;
      });
      const FunctionFlow *Flow = Unit.flowOf(F);
      addFunction(F, Flow);
      addCalls(F);
      if (Flow && Flow->available())
        addUses(F, *Flow);
    }
    llvm::sort(Out.Functions,
               [](const auto &A, const auto &B) { return A.Usr < B.Usr; });
    for (const FieldDecl *Field : Unit.consumedFields())
      factsOf(Field).IsConsumed = true;
    for (const auto &[Module, Eval] : Unit.scan().calls().Evals)
      if (const auto *Field = dyn_cast<FieldDecl>(Module))
        mergeFacts(factsOf(Field).EvalAt, cpp::lineOf(Eval->getExprLoc(), SM));
    // Initialisers of globals run before main.
    for (const VarDecl *Var : Unit.scan().Globals) {
      Out.Exports |= torch::registersOperators(Var);
      cpp::forEach<Expr>(Var->getInit(), [&](const Expr *E) {
        const auto *Call = dyn_cast<CallExpr>(E);
        const FunctionDecl *Callee =
            Call ? Call->getDirectCallee() : cpp::constructorRunBy(E);
        if (Callee)
          noteCall(nullptr, Callee, /*Guarded=*/false);
      });
    }
    writeCalls();
    Out.Forwards = Reported.Forwards;
    if (const FunctionDecl *Main = Unit.scan().Main;
        Main && isa<CompoundStmt>(Main->getBody()) &&
        torch::declaresNoGradGuard(Unit.context()))
      Out.GuardableMain = cpp::usrOf(Main);
    Out.Does = {Unit.scan().calls().Trains, Unit.scan().CallsEval,
                Unit.scan().calls().CreatesGraphs};
    Out.DefinesMain = Unit.scan().Main != nullptr;
    return std::move(Out);
  }

private:
  /// Can another unit define \p F, or call it?
  bool isShared(const FunctionDecl *F) const {
    return cpp::isKnownToOthers(F) && !F->isMain() &&
           cpp::isUserCode(F->getLocation(), SM);
  }

  /// Is \p F there for code that no unit shows? In a program that is built with
  /// libraries, the units of those export it.
  bool isExported(const FunctionDecl *F) const {
    return F->isExternC() ||
           F->getExplicitVisibility(NamedDecl::VisibilityForValue) ==
               DefaultVisibility ||
           (IsLibrary && F->getVisibility() == DefaultVisibility);
  }

  void addFunction(const FunctionDecl *F, const FunctionFlow *Flow) {
    if (const auto *Method = dyn_cast<CXXMethodDecl>(F)) {
      for (const CXXMethodDecl *Base : Method->overridden_methods())
        if (isShared(Base) && isShared(F) && mayLeadOn(F))
          Out.Overriders[cpp::programName(Base)].insert(cpp::programName(F));
      // Its other methods work on the same object.
      for (const CXXMethodDecl *Other : Method->getParent()->methods())
        if (Other->isUserProvided())
          use(Other);
    }
    // Other units see the body of an inline function of a header.
    if (!isShared(F) || ((F->isInlined() || F->isTemplateInstantiation()) &&
                         !SM.isInMainFile(SM.getFileLoc(F->getLocation()))))
      return;
    // The program that loads the library calls it; so does Python.
    if (isExported(F)) {
      // A unit with a main is no library: some callee gets the function.
      Out.Exports |= !Unit.scan().Main;
      noteCall(nullptr, F, /*Guarded=*/false);
    }
    FunctionFacts Does;
    if (Flow && Flow->available()) {
      FunctionSummary &Said = Does.Flow.emplace(Flow->summary());
      Said.ReportsResults = Reported.Results.contains(F);
      Said.LetsTrain = FrozenModules::letsTrain(F);
      if (const auto *Ctor = dyn_cast<CXXConstructorDecl>(F);
          Ctor && torch::isModuleClass(Ctor->getParent()))
        Said.HasParameters =
            torch::parametersOf(compat::recordType(Ctor->getParent())) ==
            torch::Parameters::Some;
      for (const ValueDecl *Module : Unit.frozenModules().in(F))
        if (const auto *Field = dyn_cast<FieldDecl>(Module))
          Said.Frozen.push_back(cpp::programFieldName(Field));
      llvm::sort(Said.Frozen);
      if (std::optional<UnguardedForward> Forward =
              unguardedForward(*Flow, Unit))
        Does.Forward = Forward->At;
    }
    if (const MemorySummary *Memory = Unit.memoryOf(F);
        Memory && Memory->available())
      Does.Memory = *Memory;
    if (const auto *Method = dyn_cast<CXXMethodDecl>(F)) {
      for (const torch::StoredArgument &Stored : torch::storedArguments(F))
        Does.Stores.push_back(
            {Stored.Index,
             Stored.Field ? cpp::programFieldName(Stored.Field) : ""});
      if (llvm::any_of(Method->getParent()->methods(), torch::isWorkersEntry))
        addCopyUses(Method, Does);
    }
    Out.Functions.push_back({cpp::programName(F), std::move(Does)});
  }

  void addCalls(const FunctionDecl *F) {
    // Include static functions and lambdas: calls to other units pass through
    // them.
    for (const CallSite &Site : callsIn(F, Unit))
      noteCall(F, Site.Callee, Site.Mode != GradMode::On);

    llvm::SmallPtrSet<const Expr *, 16> Called;
    cpp::forEach<Expr>(F->getBody(), [&](const Expr *E) {
      if (const CXXConstructorDecl *Ctor = cpp::constructorRunBy(E))
        use(Ctor);
      if (const auto *Call = dyn_cast<CallExpr>(E)) {
        Called.insert(Call->getCallee()->IgnoreParenImpCasts());
        // The call does not name what a loader, or net(x), runs.
        for (const CXXRecordDecl *Class : torch::copiedPerWorker(Call))
          for (const CXXMethodDecl *Method : Class->methods())
            if (torch::isWorkersEntry(Method))
              use(Method);
        if (std::optional<torch::ModuleCall> M = torch::asModuleCall(Call))
          if (M->Method)
            use(M->Method);
      } else if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
        use(Construct->getConstructor());
      } else if (const auto *Member = dyn_cast<MemberExpr>(E)) {
        if (const auto *Method =
                dyn_cast<FunctionDecl>(Member->getMemberDecl()))
          use(Method);
      } else if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
        const auto *Used = dyn_cast<FunctionDecl>(Ref->getDecl());
        if (!Used)
          return;
        use(Used);
        // Code that has its address may call it.
        if (!Called.contains(Ref))
          noteCall(nullptr, Used, /*Guarded=*/false);
      }
    });
  }

  void noteCall(const FunctionDecl *Caller, const FunctionDecl *Callee,
                bool Guarded) {
    if (cpp::isUserCode(Callee->getLocation(), SM))
      NotedCalls.push_back({Caller ? Caller->getCanonicalDecl() : nullptr,
                            Callee->getCanonicalDecl(), Guarded});
  }

  /// May \p F by itself, not by what it calls here, have to do with tensors or
  /// with other units? Most functions of a template library have not.
  bool mayLeadOn(const FunctionDecl *F) {
    const auto *Method = dyn_cast<CXXMethodDecl>(F);
    const bool IsOfTemplate =
        Method && isa<ClassTemplateSpecializationDecl>(Method->getParent());
    if (const FunctionDecl *Definition = nullptr; F->hasBody(Definition)) {
      // A class in another unit may override it.
      return (Method && Method->isVirtual() && !IsOfTemplate) ||
             (!Definition->isDependentContext() &&
              Unit.concernsTensors(Definition));
    }
    if (Method && compat::isPureVirtual(Method) && IsOfTemplate)
      return llvm::any_of(F->parameters(), [](const ParmVarDecl *Param) {
        return torch::mayHoldTensor(Param->getType());
      });
    return !F->isDefaulted() && !F->isDeleted();
  }

  /// Writes the calls through which tensors or other units can be reached.
  void writeCalls() {
    std::map<const FunctionDecl *, std::vector<const FunctionDecl *>> Callers;
    for (const NotedCall &Call : NotedCalls)
      Callers[Call.Callee].push_back(Call.Caller);
    std::set<const FunctionDecl *> LeadOn;
    for (const auto &[Callee, By] : Callers)
      if (mayLeadOn(Callee))
        LeadOn.insert(Callee);
    addReached(LeadOn, Callers);
    for (const NotedCall &Call : NotedCalls)
      if (LeadOn.count(Call.Callee))
        Out.Calls.insert({Call.Caller ? cpp::usrOf(Call.Caller) : std::string(),
                          cpp::usrOf(Call.Callee), Call.Guarded});
  }

  void addCopyUses(const CXXMethodDecl *Method, FunctionFacts &Does) {
    CopyUses Uses(SM);
    Uses.add(Method);
    for (const auto &[Field, Use] : Uses.Of) {
      FunctionFacts::CopyUse &Said =
          Does.CopyUses[cpp::programFieldName(Field)];
      Said = Use;
      if (Use.First)
        Said.FirstAt = cpp::lineOf(Use.First->getExprLoc(), SM);
      if (Use.Filled)
        Said.FilledAt = cpp::lineOf(Use.Filled->getExprLoc(), SM);
    }
  }

  void addField(const FieldDecl *Field) {
    const auto *R = dyn_cast<CXXRecordDecl>(Field->getParent());
    if (!R || !cpp::isUserCode(Field->getLocation(), SM) ||
        !Out.TensorFields.insert(cpp::programFieldName(Field)).second)
      return;
    for (const CXXMethodDecl *Method : R->methods())
      if (Method->isUserProvided() && !Method->hasBody() && isShared(Method))
        Out.Methods.insert(cpp::programName(Method));
  }

  FieldFacts &factsOf(const FieldDecl *Field) {
    return Out.Fields[cpp::programFieldName(Field)];
  }
  void addFields(QualType T) {
    T = T.getNonReferenceType();
    const QualType Pointee = cpp::pointeeOf(T);
    addFields(cpp::recordOf(Pointee.isNull() ? T : Pointee));
  }

  /// The fields of \p R and of what it holds.
  void addFields(const CXXRecordDecl *R) {
    R = R ? R->getDefinition() : nullptr;
    if (!R || R->isDependentContext() ||
        !cpp::isUserCode(R->getLocation(), SM) || !Classes.insert(R).second)
      return;
    for (const CXXBaseSpecifier &Base : R->bases())
      addFields(Base.getType()->getAsCXXRecordDecl());
    for (const FieldDecl *Field : R->fields()) {
      if (torch::mayHoldTensor(Field->getType()))
        addField(Field);
      addFields(Field->getType());
    }
  }

  /// Adds what \p F does with fields. Other units see the body of an inline
  /// method themselves.
  void addUses(const FunctionDecl *F, const FunctionFlow &Flow) {
    const bool IsSeen = isa<CXXMethodDecl>(F) && F->isInlined();
    for (PlaceId P = 0; P < Flow.placeCount(); ++P)
      if (const FieldDecl *Field = Flow.fieldOf(P)) {
        addField(Field);
        if (!IsSeen && !isa<CXXConstructorDecl>(F) &&
            !cpp::Body::of(F).writesTo(Field).empty())
          factsOf(Field).IsWritten = true;
      }
    if (IsSeen)
      return;
    for (const Label &L : Flow.labels()) {
      const FieldDecl *Field = L.K == Label::Entry || L.K == Label::Carry
                                   ? Flow.fieldOf(L.Where)
                                   : nullptr;
      if (const unsigned Consumers = Field ? Unit.consumersOf(L, Flow) : 0)
        factsOf(Field).Consumers |= Consumers;
    }
  }

  void use(const FunctionDecl *F) {
    const auto *Method = dyn_cast<CXXMethodDecl>(F);
    if (!isShared(F) || (F->hasBody() && !(Method && Method->isVirtual())) ||
        !Out.Uses.insert(cpp::programName(F)).second)
      return;
    // The facts of F may name these fields. A unit that asks for them at once
    // need not be analysed a second time for them.
    if (Method)
      addFields(Method->getParent());
    for (const ParmVarDecl *Param : F->parameters())
      addFields(Param->getType());
    addFields(F->getReturnType());
  }

  UnitModel &Unit;
  const ReportedPasses &Reported;
  const bool IsLibrary;
  const SourceManager &SM;
  UnitFacts Out;
  struct NotedCall {
    const FunctionDecl *Caller; ///< Null: code that no unit shows.
    const FunctionDecl *Callee;
    bool Guarded;
  };
  std::vector<NotedCall> NotedCalls;
  llvm::SmallPtrSet<const CXXRecordDecl *, 16> Classes; ///< With their fields.
};

} // namespace

UnitFacts factsOf(UnitModel &Unit, const ReportedPasses &Reported,
                  bool IsLibrary) {
  return FactsWriter(Unit, Reported, IsLibrary).write();
}

} // namespace libtorch_tidy::flow
