//===- PadPackedTotalLengthCheck.cpp --------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Layers.h"
#include "checks/base/LibtorchCheck.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
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
class ReplicaCode {
public:
  explicit ReplicaCode(const SourceManager &SM) : SM(SM) {}

  void addDataParallel(const CallExpr *Call) {
    if (Call->getNumArgs() == 0)
      return;
    if (const CXXRecordDecl *Module = moduleOf(Call->getArg(0)->getType()))
      addModule(Module,
                {{Call->Stmt::getBeginLoc(),
                  ("data_parallel runs a replica of '" + Module->getName() +
                   "' on every device and gathers their outputs")
                      .str()}});
  }

  /// How the replicas come to \p Call; null when they do not.
  const llvm::SmallVector<Step, 4> *storyOf(const CallExpr *Call) const {
    auto It = Stories.find(Call);
    return It == Stories.end() ? nullptr : &It->second;
  }

private:
  void lookAt(const CallExpr *Call) {
    Stories.try_emplace(Call, Current);
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (!Callee)
      return;
    // layer(x) is ModuleHolder::operator(), which calls the layer's forward.
    const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call);
    const CXXRecordDecl *Module = Op && Op->getOperator() == OO_Call
                                      ? moduleOf(Op->getArg(0)->getType())
                                      : nullptr;
    if (Module)
      addModule(Module, called(Call, (Module->getName() + "::forward").str()));
    else if (cpp::isUserCode(Callee->getLocation(), SM))
      addFunction(Callee, called(Call, Callee->getNameAsString()));
  }

  llvm::SmallVector<Step, 4> called(const CallExpr *Call,
                                    StringRef Name) const {
    llvm::SmallVector<Step, 4> Story = Current;
    Story.push_back({Call->Stmt::getBeginLoc(),
                     ("every replica calls '" + Name + "' here").str()});
    return Story;
  }

  static const CXXRecordDecl *moduleOf(QualType T) {
    QualType Pointee = cpp::pointeeOf(T);
    const CXXRecordDecl *R = cpp::recordOf(Pointee.isNull() ? T : Pointee);
    return R && R->hasDefinition() && R->getIdentifier() && torch::isModule(T)
               ? R->getDefinition()
               : nullptr;
  }

  void addModule(const CXXRecordDecl *Module,
                 llvm::SmallVector<Step, 4> Story) {
    if (!cpp::isUserCode(Module->getLocation(), SM) ||
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
    cpp::forEach<CallExpr>(Definition->getBody(),
                           [&](const CallExpr *Call) { lookAt(Call); });
    std::swap(Current, Story);
  }

  const SourceManager &SM;
  llvm::SmallVector<Step, 4> Current;
  llvm::DenseSet<const CXXRecordDecl *> Modules;
  llvm::DenseSet<const FunctionDecl *> Functions;
  llvm::DenseMap<const CallExpr *, llvm::SmallVector<Step, 4>> Stories;
};

/// Does another declaration of \p Target's name stand in \p Body?
bool isShadowed(const ValueDecl *Target, const FunctionDecl *In) {
  auto Shadows = [&](const ValueDecl *D) {
    return D != Target && D->getDeclName() == Target->getDeclName();
  };
  return cpp::anyOf<ValueDecl>(In->getBody(), Shadows) ||
         (isa<FieldDecl>(Target) && llvm::any_of(In->parameters(), Shadows));
}

/// Collects every packing that a value may come from.
class Tracer {
public:
  explicit Tracer(const FunctionDecl *F) : In(cpp::Body::of(F)) {}

  const CallExpr *onlyPacking() const {
    return !Unknown && Found.size() == 1 ? Found.front() : nullptr;
  }

  /// \p E is a PackedSequence.
  void sequence(const Expr *E) {
    E = cpp::valueOf(E);
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      if (const auto *Bound = dyn_cast<BindingDecl>(Ref->getDecl()))
        return boundFirst(Bound);
      return variable(Ref->getDecl(), &Tracer::sequence);
    }
    if (const auto *Cast = dyn_cast<CXXFunctionalCastExpr>(E))
      return sequence(Cast->getSubExpr());
    if (const auto *Method = dyn_cast<CXXMemberCallExpr>(E)) {
      if (torch::keepsPacking(Method->getMethodDecl()))
        return sequence(Method->getImplicitObjectArgument());
    } else if (const auto *Call = dyn_cast<CallExpr>(E)) {
      const FunctionDecl *Callee = Call->getDirectCallee();
      if (torch::isPackPaddedSequence(Callee)) {
        if (!llvm::is_contained(Found, Call))
          Found.push_back(Call);
        return;
      }
      if (cpp::isStdCall(Call, cpp::Std::Part) && isGetFirst(Callee) &&
          Call->getNumArgs() == 1)
        return outputAndState(Call->getArg(0));
    } else if (const auto *Ctor = dyn_cast<CXXConstructExpr>(E)) {
      // PackedSequence(data, other.batch_sizes(), ...).
      if (Ctor->getNumArgs() >= 2)
        if (const auto *Sizes =
                dyn_cast<CXXMemberCallExpr>(cpp::valueOf(Ctor->getArg(1)));
            Sizes && torch::isBatchSizes(Sizes->getMethodDecl()))
          return sequence(Sizes->getImplicitObjectArgument());
    }
    Unknown = true;
  }

private:
  /// \p E is what a recurrent layer returns: (packed output, state).
  void outputAndState(const Expr *E) {
    E = cpp::valueOf(E);
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      return variable(Ref->getDecl(), &Tracer::outputAndState);
    const auto *Call = dyn_cast<CallExpr>(E);
    if (Call && torch::isForwardWithPackedInput(Call->getDirectCallee()) &&
        Call->getNumArgs() > 0)
      return sequence(Call->getArg(0));
    Unknown = true;
  }

  void boundFirst(const BindingDecl *Bound) {
    const auto *Tuple = dyn_cast<DecompositionDecl>(Bound->getDecomposedDecl());
    if (Tuple && Tuple->getInit() && !Tuple->bindings().empty() &&
        Tuple->bindings().front() == Bound && In.isOwn(Tuple) &&
        llvm::all_of(In.writesTo(Bound), [](const cpp::Write &W) {
          return W.Kind == cpp::WriteKind::Released;
        }))
      return outputAndState(Tuple->getInit());
    Unknown = true;
  }

  /// Goes on with every value that \p D is ever given.
  void variable(const ValueDecl *D, void (Tracer::*Next)(const Expr *)) {
    const auto *Var = dyn_cast<VarDecl>(D);
    if (!Var || isa<ParmVarDecl>(Var) || !In.isOwn(Var)) {
      Unknown = true;
      return;
    }
    // packed = layer(packed): what it was before is being looked at.
    if (!Visited.insert(Var).second)
      return;
    if (Var->getInit())
      (this->*Next)(Var->getInit());
    for (const cpp::Write &W : In.writesTo(Var)) {
      if (W.Kind == cpp::WriteKind::Released)
        continue;
      if (W.Kind != cpp::WriteKind::Assigned || W.InLambda)
        Unknown = true;
      else if (W.Value)
        (this->*Next)(W.Value);
      else
        tied(W.Where, Var);
    }
  }

  /// std::tie(Var, state) = layer->forward_with_packed_input(x).
  void tied(const Expr *Assignment, const VarDecl *Var) {
    const auto *Op = dyn_cast<CXXOperatorCallExpr>(Assignment);
    const auto *Tie =
        Op ? dyn_cast<CallExpr>(cpp::valueOf(Op->getArg(0))) : nullptr;
    if (Tie && Tie->getNumArgs() > 0 && cpp::rootOf(Tie->getArg(0)) == Var)
      return outputAndState(Op->getArg(1));
    Unknown = true;
  }

  static bool isGetFirst(const FunctionDecl *Callee) {
    const TemplateArgumentList *Args = Callee->getTemplateSpecializationArgs();
    return Args && Args->size() > 0 &&
           ((Args->get(0).getKind() == TemplateArgument::Integral &&
             Args->get(0).getAsIntegral() == 0) ||
            (Args->get(0).getKind() == TemplateArgument::Type &&
             torch::isPackedSequence(Args->get(0).getAsType())));
  }

  cpp::Body &In;
  llvm::SmallVector<const CallExpr *, 2> Found;
  llvm::SmallPtrSet<const VarDecl *, 4> Visited;
  bool Unknown = false;
};

/// The pack_padded_sequence call that the value of \p Sequence comes from,
/// followed inside \p Function (the innermost that \p Sequence stands in)
/// through recurrent layers, std::get, structured bindings, device moves,
/// PackedSequences rebuilt over the batch sizes of another, and local
/// variables. Null when it cannot be seen, or is one of several.
const CallExpr *packingOf(const Expr *Sequence, const FunctionDecl *Function) {
  Tracer T(Function);
  T.sequence(Sequence);
  return T.onlyPacking();
}

/// Finds what `total_length` should be, as source text.
class PaddedLength {
public:
  PaddedLength(const CallExpr *Pad, const FunctionDecl *In, ASTContext &Context)
      : Pad(Pad), In(In), Context(Context), SM(Context.getSourceManager()) {}

  const CallExpr *Packing = nullptr;
  StringRef Input; ///< As written.

  std::optional<std::string> spell() {
    if (!In || !In->hasBody() || Pad->Stmt::getBeginLoc().isMacroID())
      return std::nullopt;
    Packing = packingOf(Pad->getArg(Args::Sequence), In);
    if (!Packing || Packing->Stmt::getBeginLoc().isMacroID())
      return std::nullopt;
    const Expr *X = Packing->getArg(torch::PackPaddedArgs::Input);
    X = cpp::valueOf(X);
    if (!isPlain(X) || !torch::isTensor(X->getType()))
      return std::nullopt;
    Input = fixits::sourceText(X->getSourceRange(), Context);
    const ValueDecl *Root = cpp::rootOf(X);
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
    return !SM.isBeforeInTranslationUnit(Loc, Packing->Stmt::getBeginLoc()) &&
           !SM.isBeforeInTranslationUnit(Pad->Stmt::getEndLoc(), Loc);
  }

  /// Does the input still name the same tensor where it is padded again?
  bool isStillThere(const ValueDecl *Root) const {
    if (SM.isBeforeInTranslationUnit(Pad->Stmt::getEndLoc(),
                                     Packing->Stmt::getBeginLoc()))
      return false;
    for (const cpp::Write &W : cpp::writesTo(Root, In->getBody())) {
      bool MakesAlias = W.Kind == cpp::WriteKind::Escaped &&
                        !isa<CallExpr, CXXConstructExpr>(W.Where);
      if (W.InLambda || MakesAlias || between(W.Where->getExprLoc()))
        return false;
    }
    if (isa<FieldDecl>(Root)) {
      // A call in between that may change a field of `*this`.
      return !cpp::anyOf<CXXMemberCallExpr>(
          In->getBody(), [&](const CXXMemberCallExpr *Call) {
            const Expr *Object = Call->getImplicitObjectArgument();
            return Object && isa<CXXThisExpr>(Object->IgnoreParenImpCasts()) &&
                   Call->getMethodDecl() && !Call->getMethodDecl()->isConst() &&
                   between(Call->Stmt::getBeginLoc());
          });
    }
    const auto *Var = dyn_cast<VarDecl>(cpp::wholeOf(Root));
    return Var && Var->isLocalVarDeclOrParm() && encloses(Var);
  }

  /// Does the scope of \p Var reach the call?
  bool encloses(const VarDecl *Var) const {
    if (isa<ParmVarDecl>(Var) || Var->getParentFunctionOrMethod() != In)
      return true;
    const Stmt *Scope = cpp::Body::of(In).scopeOf(Var);
    return Scope &&
           !SM.isBeforeInTranslationUnit(Pad->Stmt::getBeginLoc(),
                                         SM.getFileLoc(Scope->getBeginLoc())) &&
           !SM.isBeforeInTranslationUnit(SM.getFileLoc(Scope->getEndLoc()),
                                         Pad->Stmt::getEndLoc());
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
    const ValueDecl *Flag = cpp::rootOf(Packed);
    if (!Flag || Flag != cpp::rootOf(Padded) || !isPlain(Packed) ||
        !cpp::writesTo(Flag, In->getBody()).empty())
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
  if (isa<CXXDefaultArgExpr>(Given) || cpp::isEmptyValue(Given))
    PadCalls.push_back({Pad, Result.Nodes.getNodeAs<FunctionDecl>("in")});
}

Finding PadPackedTotalLengthCheck::findingFor(const PadCall &Pad) const {
  Finding F;
  F.Loc = Pad.Call->Stmt::getBeginLoc();
  F.Highlight = Pad.Call->getCallee()->getSourceRange();
  F.Strength = Level::Advisory;
  F.Message = "pad_packed_sequence without total_length pads to the longest "
              "sequence of this batch, not to the length of the padded input; "
              "data_parallel cannot gather such outputs";
  PaddedLength Length(Pad.Call, Pad.In, context());
  if (std::optional<std::string> Text = Length.spell()) {
    F.Steps.push_back(
        {Length.Packing->Stmt::getBeginLoc(),
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
        Places.try_emplace(SM.getFileLoc(Pad.Call->Stmt::getBeginLoc()), New);
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
    report(Place.F);
  PadCalls.clear();
  DataParallelCalls.clear();
}

LIBTORCH_CHECK(PadPackedTotalLengthCheck, NoReasons);

} // namespace libtorch_tidy
