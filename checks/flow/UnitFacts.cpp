//===- UnitFacts.cpp - What a unit says to the others ---------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/code/Walk.h"
#include "checks/flow/Program.h"
#include "checks/flow/UnitModel.h"
#include "checks/torch/Headers.h"
#include "checks/torch/Modules.h"
#include "clang/AST/ASTContext.h"
#include "clang/Index/USRGeneration.h"
#include "llvm/Support/Path.h"

using namespace clang;

namespace libtorch_tidy::flow {

static thread_local const ProgramFacts *Installed = nullptr;

const ProgramFacts *ProgramFacts::current() { return Installed; }

const ProgramFacts *ProgramFacts::install(const ProgramFacts *Facts) {
  return std::exchange(Installed, Facts);
}

static std::string usrOf(const NamedDecl *D) {
  llvm::SmallString<128> Name;
  if (index::generateUSRForDecl(D, Name))
    return {};
  return Name.str().str();
}

std::string programName(const NamedDecl *D) {
  return D->isExternallyVisible() ? usrOf(D) : std::string();
}

namespace {

/// Writes down the facts of one unit.
class FactsWriter {
public:
  explicit FactsWriter(UnitModel &Unit)
      : Unit(Unit), SM(Unit.context().getSourceManager()) {}

  UnitFacts write();

private:
  bool isShared(const FunctionDecl *F) const;
  void addFunction(const FunctionDecl *F, const FunctionFlow *Flow);
  void addCalls(const FunctionDecl *F, const FunctionFlow *Flow);
  void addFields(const FunctionFlow &Flow);
  void use(const FunctionDecl *F);

  UnitModel &Unit;
  const SourceManager &SM;
  UnitFacts Out;
};

} // namespace

/// Can another unit define \p F, or call it?
bool FactsWriter::isShared(const FunctionDecl *F) const {
  return F->isExternallyVisible() && !F->isMain() &&
         torch::isUserCode(F->getLocation(), SM);
}

void FactsWriter::use(const FunctionDecl *F) {
  if (isShared(F) && !F->hasBody())
    Out.Uses.insert(programName(F));
}

void FactsWriter::addFunction(const FunctionDecl *F, const FunctionFlow *Flow) {
  if (const auto *Method = dyn_cast<CXXMethodDecl>(F)) {
    for (const CXXMethodDecl *Base : Method->overridden_methods())
      if (isShared(Base) && isShared(F))
        Out.Overriders[programName(Base)].insert(programName(F));
    // The other methods work on the same object.
    for (const CXXMethodDecl *Other : Method->getParent()->methods())
      if (Other->isUserProvided())
        use(Other);
  }
  // The others see the body of what is inline.
  if (!isShared(F) || F->isInlined() || F->isTemplateInstantiation())
    return;
  UnitFacts::Function Said;
  Said.Usr = programName(F);
  Said.HasSummary = Flow && Flow->available();
  if (Said.HasSummary) {
    Said.Summary = Flow->summary();
    Said.Summary.ReportsResults = Unit.reportsResults(F);
    Said.Summary.LetsTrain = FrozenModules::letsTrain(F);
    for (const ValueDecl *Module : Unit.frozenModules().in(F))
      if (isa<FieldDecl>(Module))
        Said.Summary.Frozen.push_back(Module->getQualifiedNameAsString());
    llvm::sort(Said.Summary.Frozen);
  }
  Out.Functions.push_back(std::move(Said));
}

void FactsWriter::addCalls(const FunctionDecl *F, const FunctionFlow *Flow) {
  const std::string Caller = usrOf(F);
  auto Add = [&](const FunctionDecl *Callee, bool Guarded) {
    if (Callee && isShared(Callee))
      Out.Calls.insert({Caller, programName(Callee), Guarded});
  };
  const bool IsFollowed = Flow && Flow->available() && Unit.concernsTensors(F);
  if (IsFollowed)
    for (ArrayRef<CallSite> Calls : {Flow->calls(), Flow->unseenCalls()})
      for (const CallSite &Call : Calls)
        Add(Call.Callee, Call.Mode != GradMode::On);

  llvm::SmallPtrSet<const Expr *, 16> Called;
  code::forEach<Expr>(F->getBody(), [&](const Expr *E) {
    if (const auto *Call = dyn_cast<CallExpr>(E)) {
      if (!IsFollowed)
        Add(Call->getDirectCallee(), /*Guarded=*/false);
      Called.insert(Call->getCallee()->IgnoreParenImpCasts());
      // What net(x) runs is not named there.
      if (std::optional<torch::ModuleCall> M = torch::asModuleCall(Call))
        if (M->Method)
          use(M->Method);
    } else if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
      use(Construct->getConstructor());
    } else if (const auto *Member = dyn_cast<MemberExpr>(E)) {
      if (const auto *Method = dyn_cast<FunctionDecl>(Member->getMemberDecl()))
        use(Method);
    } else if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      const auto *Used = dyn_cast<FunctionDecl>(Ref->getDecl());
      if (!Used)
        return;
      use(Used);
      // Whoever has its address calls it.
      if (!Called.contains(Ref) && isShared(Used))
        Out.Calls.insert({"", programName(Used), false});
    }
  });
}

void FactsWriter::addFields(const FunctionFlow &Flow) {
  for (PlaceId P = 0; P < Flow.placeCount(); ++P) {
    const FieldDecl *Field = Flow.fieldOf(P);
    const auto *R =
        Field ? dyn_cast<CXXRecordDecl>(Field->getParent()) : nullptr;
    if (!R || !torch::isUserCode(Field->getLocation(), SM) ||
        !Out.Fields.insert(Field->getQualifiedNameAsString()).second)
      continue;
    for (const CXXMethodDecl *Method : R->methods())
      if (Method->isUserProvided() && !Method->hasBody() && isShared(Method))
        Out.Methods.insert(programName(Method));
  }
}

UnitFacts FactsWriter::write() {
  for (const FunctionDecl *F : Unit.functions()) {
    const FunctionFlow *Flow = Unit.flowOf(F);
    addFunction(F, Flow);
    addCalls(F, Flow);
    if (Flow && Flow->available())
      addFields(*Flow);
  }
  llvm::sort(Out.Functions,
             [](const auto &A, const auto &B) { return A.Usr < B.Usr; });
  for (const FieldDecl *Field : Unit.consumedFields())
    Out.ConsumedFields.insert(Field->getQualifiedNameAsString());
  for (const auto &[Module, Eval] : Unit.moduleRoles().evals()) {
    if (!isa<FieldDecl>(Module))
      continue;
    const SourceLocation At = SM.getFileLoc(Eval->getExprLoc());
    const std::string Where = (llvm::sys::path::filename(SM.getFilename(At)) +
                               ":" + llvm::Twine(SM.getSpellingLineNumber(At)))
                                  .str();
    std::string &Known = Out.Evals[Module->getQualifiedNameAsString()];
    if (Known.empty() || Where < Known)
      Known = Where;
  }
  Out.Trains = Unit.moduleRoles().trainsHere();
  Out.DefinesMain = Unit.definesMain();
  Out.CallsEval = Unit.callsEval();
  return std::move(Out);
}

UnitFacts factsOf(UnitModel &Unit) { return FactsWriter(Unit).write(); }

} // namespace libtorch_tidy::flow
