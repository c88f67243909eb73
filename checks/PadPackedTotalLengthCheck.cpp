//===- PadPackedTotalLengthCheck.cpp --------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/LibtorchCheck.h"
#include "checks/flow/PackedSequences.h"
#include "checks/flow/Writes.h"
#include "checks/torch/Rnn.h"
#include "checks/torch/TorchTypes.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ParentMapContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include <map>

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

using Args = torch::PadPackedArgs;

namespace {

/// docs/checks/libtorch-pad-packed-total-length.md says what it finds and why.
class PadPackedTotalLengthCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override;
  void checkMatch(const Match &Result) override;
  void checkMatched() override;

private:
  struct PadCall {
    const CallExpr *Call;
    const FunctionDecl *In; ///< The innermost function, if any.
  };
  Finding findingFor(const PadCall &Pad) const;

  /// Whether a call is run by replicas is known at the end of the unit. The
  /// calls of one place are a template's pattern and instantiations.
  llvm::SmallVector<PadCall, 4> PadCalls;
  llvm::SmallVector<const CallExpr *, 2> DataParallelCalls;
};

/// What the replicas of data_parallel run in this unit: `forward` of the
/// module, the functions it calls, and `forward` of the modules it owns.
class ReplicaCode : public RecursiveASTVisitor<ReplicaCode> {
public:
  explicit ReplicaCode(const SourceManager &SM) : SM(SM) {}

  void addDataParallel(const CallExpr *Call) {
    if (Call->getNumArgs() == 0)
      return;
    if (const CXXRecordDecl *Module = moduleOf(Call->getArg(0)->getType()))
      addModule(Module,
                {{Call->getBeginLoc(),
                  ("data_parallel runs a replica of '" + Module->getName() +
                   "' on every device and gathers their outputs")
                      .str()}});
  }

  /// How the replicas come to \p Call; null when they do not.
  const llvm::SmallVector<Step, 4> *storyOf(const CallExpr *Call) const {
    auto It = Stories.find(Call);
    return It == Stories.end() ? nullptr : &It->second;
  }

  bool VisitCallExpr(CallExpr *Call) {
    Stories.try_emplace(Call, Current);
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (!Callee)
      return true;
    // layer(x) is ModuleHolder::operator(), which calls the layer's forward.
    if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call);
        Op && Op->getOperator() == OO_Call)
      if (const CXXRecordDecl *Module = moduleOf(Op->getArg(0)->getType())) {
        addModule(Module,
                  called(Call, (Module->getName() + "::forward").str()));
        return true;
      }
    if (torch::isUserCode(Callee->getLocation(), SM))
      addFunction(Callee, called(Call, Callee->getNameAsString()));
    return true;
  }

private:
  llvm::SmallVector<Step, 4> called(const CallExpr *Call,
                                    StringRef Name) const {
    llvm::SmallVector<Step, 4> Story = Current;
    Story.push_back({Call->getBeginLoc(),
                     ("every replica calls '" + Name + "' here").str()});
    return Story;
  }

  static const CXXRecordDecl *moduleOf(QualType T) {
    QualType Pointee = torch::pointeeOf(T);
    const CXXRecordDecl *R = torch::recordOf(Pointee.isNull() ? T : Pointee);
    return R && R->hasDefinition() && R->getIdentifier() && torch::isModule(T)
               ? R->getDefinition()
               : nullptr;
  }

  void addModule(const CXXRecordDecl *Module,
                 llvm::SmallVector<Step, 4> Story) {
    if (!torch::isUserCode(Module->getLocation(), SM) ||
        !Modules.insert(Module).second)
      return;
    for (const CXXMethodDecl *Method : Module->methods())
      if (Method->getIdentifier() && Method->getName() == "forward")
        addFunction(Method, Story);
    for (const FieldDecl *Field : Module->fields())
      if (const CXXRecordDecl *Child = moduleOf(Field->getType())) {
        auto ChildStory = Story;
        ChildStory.push_back(
            {Field->getLocation(),
             ("'" + Field->getName() + "' is replicated as a part of '" +
              Module->getName() + "'")
                 .str()});
        addModule(Child, std::move(ChildStory));
      }
  }

  void addFunction(const FunctionDecl *F, llvm::SmallVector<Step, 4> Story) {
    const FunctionDecl *Definition = F->getDefinition();
    if (!Definition || !Definition->hasBody() ||
        !Functions.insert(Definition).second)
      return;
    std::swap(Current, Story);
    TraverseStmt(Definition->getBody());
    std::swap(Current, Story);
  }

  const SourceManager &SM;
  llvm::SmallVector<Step, 4> Current;
  llvm::DenseSet<const CXXRecordDecl *> Modules;
  llvm::DenseSet<const FunctionDecl *> Functions;
  llvm::DenseMap<const CallExpr *, llvm::SmallVector<Step, 4>> Stories;
};

/// Is there a call in [Begin, End] that may change a field of `*this`?
class MemberCalls : public RecursiveASTVisitor<MemberCalls> {
public:
  MemberCalls(SourceLocation Begin, SourceLocation End, const SourceManager &SM)
      : Begin(Begin), End(End), SM(SM) {}
  bool VisitCXXMemberCallExpr(CXXMemberCallExpr *Call) {
    const Expr *Object = Call->getImplicitObjectArgument();
    const CXXMethodDecl *Method = Call->getMethodDecl();
    SourceLocation Loc = SM.getFileLoc(Call->getBeginLoc());
    if (Object && isa<CXXThisExpr>(Object->IgnoreParenImpCasts()) && Method &&
        !Method->isConst() && !SM.isBeforeInTranslationUnit(Loc, Begin) &&
        !SM.isBeforeInTranslationUnit(End, Loc))
      Found = true;
    return !Found;
  }
  bool Found = false;

private:
  SourceLocation Begin, End;
  const SourceManager &SM;
};

/// Does another declaration of \p Target's name stand in \p Body?
bool isShadowed(const ValueDecl *Target, const FunctionDecl *In) {
  struct Finder : RecursiveASTVisitor<Finder> {
    const ValueDecl *Target;
    bool Found = false;
    bool VisitValueDecl(ValueDecl *D) {
      Found |= D != Target && D->getDeclName() == Target->getDeclName();
      return !Found;
    }
  } F;
  F.Target = Target;
  F.TraverseStmt(In->getBody());
  return F.Found || (isa<FieldDecl>(Target) &&
                     llvm::any_of(In->parameters(), [&](const ParmVarDecl *P) {
                       return P->getDeclName() == Target->getDeclName();
                     }));
}

/// Finds what `total_length` should be, as source text.
class PaddedLength {
public:
  PaddedLength(const CallExpr *Pad, const FunctionDecl *In, ASTContext &Context)
      : Pad(Pad), In(In), Context(Context), SM(Context.getSourceManager()) {}

  const CallExpr *Packing = nullptr;
  StringRef Input; ///< As written.

  std::optional<std::string> spell() {
    if (!In || !In->hasBody() || Pad->getBeginLoc().isMacroID())
      return std::nullopt;
    Packing = flow::packingOf(Pad->getArg(Args::Sequence), In);
    if (!Packing || Packing->getBeginLoc().isMacroID())
      return std::nullopt;
    const Expr *X = Packing->getArg(torch::PackPaddedArgs::Input);
    X = flow::valueOf(X);
    if (!isPlain(X) || !torch::isTensor(X->getType()))
      return std::nullopt;
    Input = fixits::sourceText(X->getSourceRange(), Context);
    const ValueDecl *Root = flow::rootOf(X);
    if (Input.empty() || !Root || !isStillThere(Root) || isShadowed(Root, In))
      return std::nullopt;
    std::string Dimension = timeDimension();
    if (Dimension.empty())
      return std::nullopt;
    return (Input + ".size(" + Dimension + ")").str();
  }

private:
  /// A variable or a chain of members: no calls, nothing computed.
  static bool isPlain(const Expr *E) {
    E = E->IgnoreParenImpCasts();
    if (isa<DeclRefExpr, CXXThisExpr>(E))
      return true;
    const auto *Member = dyn_cast<MemberExpr>(E);
    return Member && isPlain(Member->getBase());
  }

  bool between(SourceLocation Loc) const {
    Loc = SM.getFileLoc(Loc);
    return !SM.isBeforeInTranslationUnit(Loc, Packing->getBeginLoc()) &&
           !SM.isBeforeInTranslationUnit(Pad->getEndLoc(), Loc);
  }

  /// Does the input still name the same tensor where it is padded again?
  bool isStillThere(const ValueDecl *Root) const {
    if (SM.isBeforeInTranslationUnit(Pad->getEndLoc(), Packing->getBeginLoc()))
      return false;
    for (const flow::Write &W : flow::writesTo(Root, In->getBody())) {
      bool MakesAlias = W.Kind == flow::WriteKind::Escaped &&
                        !isa<CallExpr, CXXConstructExpr>(W.Where);
      if (W.InLambda || MakesAlias || between(W.Where->getExprLoc()))
        return false;
    }
    if (isa<FieldDecl>(Root)) {
      MemberCalls Calls(Packing->getBeginLoc(), Pad->getEndLoc(), SM);
      Calls.TraverseStmt(In->getBody());
      return !Calls.Found;
    }
    const auto *Var = dyn_cast<VarDecl>(Root);
    if (const auto *Bound = dyn_cast<BindingDecl>(Root))
      Var = dyn_cast<VarDecl>(Bound->getDecomposedDecl());
    return Var && Var->isLocalVarDeclOrParm() && encloses(Var);
  }

  /// Does the scope of \p Var reach the call?
  bool encloses(const VarDecl *Var) const {
    if (isa<ParmVarDecl>(Var) || Var->getParentFunctionOrMethod() != In)
      return true;
    auto Parents = Context.getParents(*Var);
    const auto *Statement =
        Parents.empty() ? nullptr : Parents[0].get<DeclStmt>();
    if (!Statement)
      return false;
    auto Scopes = Context.getParents(*Statement);
    const auto *Scope = Scopes.empty() ? nullptr : Scopes[0].get<Stmt>();
    return Scope &&
           !SM.isBeforeInTranslationUnit(Pad->getBeginLoc(),
                                         SM.getFileLoc(Scope->getBeginLoc())) &&
           !SM.isBeforeInTranslationUnit(SM.getFileLoc(Scope->getEndLoc()),
                                         Pad->getEndLoc());
  }

  std::optional<bool> constant(const Expr *E) const {
    bool Value = false;
    if (E->isValueDependent() || !E->EvaluateAsBooleanCondition(Value, Context))
      return std::nullopt;
    return Value;
  }

  /// The dimension of the input that is time, as source text.
  std::string timeDimension() const {
    const Expr *Packed = Packing->getArg(torch::PackPaddedArgs::BatchFirst);
    const Expr *Padded = Pad->getArg(Args::BatchFirst);
    std::optional<bool> PackedFirst = constant(Packed);
    if (PackedFirst == true)
      return "1";
    // Packed time-major and padded batch-major: more goes on than is seen.
    if (PackedFirst == false)
      return constant(Padded) == false ? "0" : "";
    const ValueDecl *Flag = flow::rootOf(Packed);
    if (!Flag || Flag != flow::rootOf(Padded) || !isPlain(Packed) ||
        !flow::writesTo(Flag, In->getBody()).empty())
      return "";
    StringRef Text = fixits::sourceText(Packed->getSourceRange(), Context);
    if (Text.empty() ||
        Text != fixits::sourceText(Padded->getSourceRange(), Context))
      return "";
    return (Text + " ? 1 : 0").str();
  }

  const CallExpr *Pad;
  const FunctionDecl *In;
  ASTContext &Context;
  const SourceManager &SM;
};

fixits::Edits passTotalLength(const CallExpr *Pad, StringRef Length,
                              const ASTContext &Context) {
  const Expr *Given = Pad->getArg(Args::TotalLength);
  if (!isa<CXXDefaultArgExpr>(Given))
    return fixits::replaceExpression(Given, Length, Context);
  std::string Text;
  for (unsigned I = Args::BatchFirst; I < Args::TotalLength; ++I)
    if (isa<CXXDefaultArgExpr>(Pad->getArg(I)))
      Text += (Args::defaultOf(I) + ", ").str();
  return fixits::appendArguments(Pad, Text + Length.str());
}

} // namespace

void PadPackedTotalLengthCheck::registerMatchers(MatchFinder *Finder) {
  Finder->addMatcher(
      callExpr(callee(functionDecl(hasName(torch::PadPackedSequence))),
               optionally(forFunction(functionDecl().bind("in"))))
          .bind("pad"),
      this);
  Finder->addMatcher(
      callExpr(callee(functionDecl(hasName(torch::DataParallel))))
          .bind("data_parallel"),
      this);
}

void PadPackedTotalLengthCheck::checkMatch(const Match &Result) {
  if (const auto *Call = Result.Nodes.getNodeAs<CallExpr>("data_parallel")) {
    DataParallelCalls.push_back(Call);
    return;
  }
  const auto *Pad = Result.Nodes.getNodeAs<CallExpr>("pad");
  if (!Pad || Pad->getNumArgs() != Args::Count)
    return;
  const Expr *Given = Pad->getArg(Args::TotalLength);
  if (isa<CXXDefaultArgExpr>(Given) || flow::isEmptyValue(Given))
    PadCalls.push_back({Pad, Result.Nodes.getNodeAs<FunctionDecl>("in")});
}

Finding PadPackedTotalLengthCheck::findingFor(const PadCall &Pad) const {
  Finding F;
  F.Loc = Pad.Call->getBeginLoc();
  F.Highlight = Pad.Call->getCallee()->getSourceRange();
  F.Strength = Level::Advisory;
  F.Message = "pad_packed_sequence without total_length pads to the longest "
              "sequence of this batch, not to the length of the padded input; "
              "data_parallel cannot gather such outputs";
  PaddedLength Length(Pad.Call, Pad.In, context());
  if (std::optional<std::string> Text = Length.spell()) {
    F.Steps.push_back(
        {Length.Packing->getBeginLoc(),
         ("'" + Length.Input + "' is packed here, so its padded length is '" +
          *Text + "'")
             .str()});
    F.Fix = passTotalLength(Pad.Call, *Text, context());
  }
  return F;
}

void PadPackedTotalLengthCheck::checkMatched() {
  if (PadCalls.empty())
    return;
  const SourceManager &SM = context().getSourceManager();
  ReplicaCode Replicas(SM);
  for (const CallExpr *Call : DataParallelCalls)
    Replicas.addDataParallel(Call);

  struct Place {
    Finding F;
    bool FromPattern = false;
    std::string FixText;
  };
  std::map<SourceLocation, Place> Places;
  for (const PadCall &Pad : PadCalls) {
    Finding F = findingFor(Pad);
    if (const auto *Story = Replicas.storyOf(Pad.Call)) {
      F.Strength = Level::Likely;
      F.Message =
          "pad_packed_sequence without total_length pads each data_parallel "
          "replica to its own longest sequence; gathering outputs of different "
          "lengths throws";
      F.Steps.insert(F.Steps.begin(), Story->begin(), Story->end());
    }
    Place New{std::move(F), Pad.In && Pad.In->isDependentContext(), {}};
    for (const FixItHint &Hint : New.F.Fix)
      New.FixText += Hint.CodeToInsert;
    auto [It, First] =
        Places.try_emplace(SM.getFileLoc(Pad.Call->getBeginLoc()), New);
    if (First)
      continue;
    Place &Old = It->second;
    // A pattern knows less than its instantiations, which must agree.
    bool Agree = Old.FixText == New.FixText || Old.FromPattern;
    if (New.FromPattern)
      continue;
    if (Old.FromPattern || New.F.Strength < Old.F.Strength)
      Old = std::move(New);
    if (!Agree)
      Old.F.Fix.clear();
  }
  for (const auto &[Loc, Place] : Places)
    tell(Place.F);
  PadCalls.clear();
  DataParallelCalls.clear();
}

LIBTORCH_CHECK(PadPackedTotalLengthCheck);

} // namespace libtorch_tidy
