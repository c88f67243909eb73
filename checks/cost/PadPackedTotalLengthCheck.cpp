//===- PadPackedTotalLengthCheck.cpp --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Layers.h"
#include "analysis/torch/modules/Modules.h"
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

constexpr struct PadPackedTotalLengthReasons {
  Reason NoReplica{"no-replica", Effect::Advice,
                   "No replica of `data_parallel` is seen to run the call. On "
                   "a single device the shorter output is right, and often "
                   "what is wanted."};
  Reason Passed{"length-passed", Effect::Silent,
                "The call passes `total_length` in any form, also as an "
                "`optional` variable that may be empty."};
  Reason NoPacking{"packing-unknown", Effect::NoFix,
                   "The sequence comes from a caller, from `pack_sequence`, or "
                   "from one of several packings."};
  Reason Computed{"input-computed", Effect::NoFix,
                  "The packed input is a computed expression."};
  Reason Changed{"input-changed", Effect::NoFix,
                 "The packed input is moved into the packing, is changed, "
                 "aliased or passed to code that may change it before the "
                 "padding, is out of scope there, or hidden by another "
                 "variable of its name."};
  Reason Layout{"layout-differs", Effect::NoFix,
                "The two calls do not agree on `batch_first`."};
  Reason InMacro{"in-macro", Effect::NoFix, "The call is in a macro."};
  Reason Instantiated{"in-template", Effect::NoFix,
                      "The instantiations of the template need different "
                      "edits."};
} PadPackedTotalLength{};

using Steps = llvm::SmallVector<Step, 4>;

Steps then(Steps Way, SourceLocation At, const llvm::Twine &Text) {
  Way.push_back({At, Text.str()});
  return Way;
}

/// What the replicas of data_parallel run in this unit: `forward` of the
/// module, the functions it calls, and `forward` of the modules it owns.
class ReplicaCode {
public:
  explicit ReplicaCode(llvm::ArrayRef<const CallExpr *> DataParallelCalls) {
    for (const CallExpr *Call : DataParallelCalls)
      if (const CXXRecordDecl *Module =
              Call->getNumArgs() > 0 ? moduleOf(Call->getArg(0)->getType())
                                     : nullptr)
        addModule(Module,
                  then({}, Call->Stmt::getBeginLoc(),
                       "data_parallel runs a replica of " + quoted(Module) +
                           " on every device and gathers their "
                           "outputs"));
  }

  /// How the replicas come to \p Call; null when they do not.
  const Steps *wayTo(const CallExpr *Call) const {
    auto It = Ways.find(Call);
    return It == Ways.end() ? nullptr : &It->second;
  }

private:
  static const CXXRecordDecl *moduleOf(QualType T) {
    const CXXRecordDecl *R = torch::heldClass(T);
    return R && R->getIdentifier() && torch::isModule(T) ? R->getDefinition()
                                                         : nullptr;
  }

  void addModule(const CXXRecordDecl *Module, const Steps &Way) {
    if (!cpp::isUserCode(Module->getLocation(),
                         Module->getASTContext().getSourceManager()) ||
        !Modules.insert(Module).second)
      return;
    for (const CXXMethodDecl *Method : Module->methods())
      if (cpp::nameOf(Method) == "forward")
        addFunction(cpp::userDefinition(Method), Way);
    for (const FieldDecl *Field : Module->fields())
      if (const CXXRecordDecl *Child = moduleOf(Field->getType()))
        addModule(Child, then(Way, Field->getLocation(),
                              quoted(Field) + " is replicated as a part of " +
                                  quoted(Module)));
  }

  void addFunction(const FunctionDecl *Definition, const Steps &Way) {
    if (!Definition || !Functions.insert(Definition).second)
      return;
    cpp::forEach<CallExpr>(Definition->getBody(), [&](const CallExpr *Call) {
      Ways.try_emplace(Call, Way);
      auto Calls = [&](const llvm::Twine &Name) {
        return then(Way, Call->Stmt::getBeginLoc(),
                    "every replica calls '" + Name + "' here");
      };
      // layer(x) is ModuleHolder::operator(), which calls the layer's forward.
      const cpp::Call C(Call);
      if (const CXXRecordDecl *Module =
              C.Callee && C.op() == OO_Call
                  ? moduleOf(Call->getArg(0)->getType())
                  : nullptr)
        addModule(Module, Calls(Module->getName() + "::forward"));
      else if (const FunctionDecl *Callee = cpp::userDefinition(C.Callee))
        addFunction(Callee, Calls(Callee->getNameAsString()));
    });
  }

  llvm::SmallPtrSet<const CXXRecordDecl *, 8> Modules;
  llvm::SmallPtrSet<const FunctionDecl *, 8> Functions;
  llvm::DenseMap<const CallExpr *, Steps> Ways;
};

/// The packings that a value may come from, followed inside one function
/// through recurrent layers, std::get, structured bindings, device moves,
/// PackedSequences rebuilt over the batch sizes of another, and local
/// variables.
class Packings {
public:
  explicit Packings(cpp::Body &In) : In(In) {}

  /// The pack_padded_sequence call that \p Sequence comes from; null when it
  /// cannot be seen, or is one of several.
  const CallExpr *onlyOneOf(const Expr *Sequence) {
    return follow(Sequence) && Found.size() == 1 ? *Found.begin() : nullptr;
  }

private:
  /// \p E is a PackedSequence, or what a recurrent layer returns: (packed
  /// output, state). False when it cannot be seen where it comes from.
  bool follow(const Expr *E) {
    E = cpp::valueOf(E);
    if (const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E))
      return follow(Ref->getDecl());
    const std::optional<cpp::Call> C = cpp::Call::of(E);
    if (!C || !torch::isPackPaddedSequence(C->Callee))
      return C && C->Callee && follow(samePacking(*C));
    Found.insert(C->expr());
    return true;
  }

  /// The sequence that \p C makes another over the packing of; null for others.
  static const Expr *samePacking(const cpp::Call &C) {
    if (!C.expr()) { // PackedSequence(data, other.batch_sizes(), ...)
      const auto Sizes = C.Args.size() >= 2
                             ? cpp::Call::of(cpp::valueOf(C.Args[1]))
                             : std::nullopt;
      return Sizes && torch::isBatchSizes(Sizes->Callee) ? Sizes->Object
                                                         : nullptr;
    }
    if (torch::keepsPacking(C.Callee))
      return C.Object;
    return !C.Args.empty() &&
                   (torch::isForwardWithPackedInput(C.Callee) ||
                    (C.doesStd(cpp::Std::Part) && isGetFirst(C.Callee)))
               ? C.Args.front()
               : nullptr;
  }

  bool follow(const ValueDecl *D) {
    if (const auto *Bound = dyn_cast<BindingDecl>(D)) {
      const auto *Tuple =
          dyn_cast<DecompositionDecl>(Bound->getDecomposedDecl());
      return Tuple && Tuple->getInit() && !Tuple->bindings().empty() &&
             Tuple->bindings().front() == Bound && In.isOwn(Tuple) &&
             llvm::all_of(In.writesTo(Bound),
                          [](const cpp::Write &W) {
                            return W.Kind == cpp::WriteKind::Released;
                          }) &&
             follow(Tuple->getInit());
    }
    const auto *Var = dyn_cast<VarDecl>(D);
    if (!Var || isa<ParmVarDecl>(Var) || !In.isOwn(Var))
      return false;
    // packed = layer(packed): what it was before is being looked at.
    if (!Visited.insert(Var).second)
      return true;
    return (!Var->getInit() || follow(Var->getInit())) &&
           llvm::all_of(In.writesTo(Var), [&](const cpp::Write &W) {
             if (W.Kind != cpp::WriteKind::Assigned || W.InLambda)
               return W.Kind == cpp::WriteKind::Released;
             if (W.Value)
               return follow(W.Value);
             // std::tie(Var, state) = layer->forward_with_packed_input(x)
             const auto *Op = cast<CXXOperatorCallExpr>(W.Where);
             const auto *Tie = cast<CallExpr>(cpp::valueOf(Op->getArg(0)));
             return cpp::rootOf(Tie->getArg(0)) == Var && follow(Op->getArg(1));
           });
  }

  static bool isGetFirst(const FunctionDecl *Callee) {
    const TemplateArgumentList *Args = Callee->getTemplateSpecializationArgs();
    if (!Args || Args->size() == 0)
      return false;
    const TemplateArgument &First = Args->get(0);
    return First.getKind() == TemplateArgument::Integral
               ? First.getAsIntegral() == 0
               : First.getKind() == TemplateArgument::Type &&
                     torch::isPackedSequence(First.getAsType());
  }

  cpp::Body &In;
  llvm::SmallPtrSet<const CallExpr *, 2> Found;
  llvm::SmallPtrSet<const VarDecl *, 4> Visited;
};

/// What is found.
struct ShortPadding {
  const CallExpr *Pad;
  bool IsInPattern; ///< Of a template.
  const Steps *Way; ///< Of the replicas that run it; null for none.
  const CallExpr *Packing = nullptr;
  StringRef Input = "";    ///< Of the packing, as written.
  std::string Length = ""; ///< What to pass, as source text; empty: unknown.
  const Reason *WhyNotFixed = nullptr;
};

/// A variable or a chain of members: no calls, nothing computed.
bool isPlain(const Expr *E) {
  E = E->IgnoreParenImpCasts();
  if (isa<DeclRefExpr, CXXThisExpr>(E))
    return true;
  const auto *Member = dyn_cast<MemberExpr>(E);
  return Member && isPlain(Member->getBase());
}

/// Does \p Root, the variable of the packed input, still name the same tensor
/// where it is padded again?
bool isStillThere(const ValueDecl *Root, const ShortPadding &Found,
                  cpp::Body &In) {
  const SourceManager &SM = In.context().getSourceManager();
  const SourceLocation Begin = Found.Packing->Stmt::getBeginLoc();
  const SourceLocation End = Found.Pad->Stmt::getEndLoc();
  auto IsBetween = [&](SourceLocation Loc) {
    Loc = SM.getFileLoc(Loc);
    return !SM.isBeforeInTranslationUnit(Loc, Begin) &&
           !SM.isBeforeInTranslationUnit(End, Loc);
  };
  if (SM.isBeforeInTranslationUnit(End, Begin) ||
      llvm::any_of(In.writesTo(Root), [&](const cpp::Write &W) {
        const bool MakesAlias = W.Kind == cpp::WriteKind::Escaped &&
                                !isa<CallExpr, CXXConstructExpr>(W.Where);
        return W.InLambda || MakesAlias || IsBetween(W.Where->getExprLoc());
      }))
    return false;
  // A call in between that may change a field of `*this`.
  if (isa<FieldDecl>(Root))
    return !cpp::anyOf<CXXMemberCallExpr>(
        In.root(), [&](const CXXMemberCallExpr *Call) {
          return cpp::Call(Call).OnThis && Call->getMethodDecl() &&
                 !Call->getMethodDecl()->isConst() &&
                 IsBetween(Call->Stmt::getBeginLoc());
        });
  const auto *Var = dyn_cast<VarDecl>(cpp::wholeOf(Root));
  const Stmt *Scope = Var ? In.scopeOf(Var) : nullptr;
  return Var && Var->isLocalVarDeclOrParm() &&
         (!Scope || In.isWithin(Found.Pad, Scope));
}

/// Is there another declaration of \p Target's name in the function?
bool isShadowed(const ValueDecl *Target, const cpp::Body &In) {
  auto Shadows = [&](const ValueDecl *D) {
    return D != Target && D->getDeclName() == Target->getDeclName();
  };
  return cpp::anyOf<ValueDecl>(In.root(), Shadows) ||
         (isa<FieldDecl>(Target) &&
          llvm::any_of(In.function()->parameters(), Shadows));
}

/// The dimension of the packed input that is time, as source text; empty where
/// the two calls do not agree.
std::string timeDimension(const ShortPadding &Found, cpp::Body &In) {
  const ASTContext &Context = In.context();
  const Expr *Packed = Found.Packing->getArg(torch::PackPaddedArgs::BatchFirst);
  const Expr *Padded = Found.Pad->getArg(Args::BatchFirst);
  std::optional<bool> PackedFirst = cpp::constantBool(Packed, Context);
  if (PackedFirst == true)
    return "1";
  // Packed time-major and padded batch-major: more goes on than is seen.
  if (PackedFirst == false)
    return cpp::constantBool(Padded, Context) == false ? "0" : "";
  const ValueDecl *Flag = cpp::rootOf(Packed);
  if (!Flag || Flag != cpp::rootOf(Padded) || !isPlain(Packed) ||
      !In.writesTo(Flag).empty())
    return "";
  StringRef Text = fixits::sourceText(Packed->getSourceRange(), Context);
  return Text == fixits::sourceText(Padded->getSourceRange(), Context) &&
                 !Text.empty()
             ? (Text + " ? 1 : 0").str()
             : "";
}

/// Sets the packing of \p Found, its input and what `total_length` should be,
/// or returns why there is none.
const Reason *whyNoLength(ShortPadding &Found, cpp::Body &In) {
  const CallExpr *Packing =
      Packings(In).onlyOneOf(Found.Pad->getArg(Args::Sequence));
  if (!Packing)
    return &PadPackedTotalLength.NoPacking;
  if (Found.Pad->Stmt::getBeginLoc().isMacroID() ||
      Packing->Stmt::getBeginLoc().isMacroID())
    return &PadPackedTotalLength.InMacro;
  Found.Packing = Packing;
  const Expr *X = cpp::valueOf(Packing->getArg(torch::PackPaddedArgs::Input));
  const ValueDecl *Root = cpp::rootOf(X);
  Found.Input = fixits::sourceText(X->getSourceRange(), In.context());
  if (!isPlain(X) || !torch::isTensor(X->getType()) || Found.Input.empty() ||
      !Root)
    return &PadPackedTotalLength.Computed;
  if (!isStillThere(Root, Found, In) || isShadowed(Root, In))
    return &PadPackedTotalLength.Changed;
  const std::string Dimension = timeDimension(Found, In);
  if (Dimension.empty())
    return &PadPackedTotalLength.Layout;
  Found.Length = (Found.Input + ".size(" + Dimension + ")").str();
  return nullptr;
}

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

Finding worded(const ShortPadding &Found, const ASTContext &Context) {
  Finding F =
      Finding::at(Found.Pad->Stmt::getBeginLoc(),
                  Found.Pad->getCallee()->getSourceRange())
          .says(StringRef("wrong length: pad_packed_sequence without "
                          "total_length pads ") +
                (Found.Way
                     ? "each data_parallel replica to its own longest "
                       "sequence; gathering outputs of different lengths throws"
                     : "to the longest sequence of this batch, not to the "
                       "length of the padded input; data_parallel cannot "
                       "gather such outputs"));
  if (Found.Way)
    F.Steps = *Found.Way;
  else
    F.because(PadPackedTotalLength.NoReplica);
  if (!Found.Length.empty())
    F.note(Found.Packing->Stmt::getBeginLoc(),
           quoted(Found.Input) + " is packed here, so its padded length is " +
               quoted(Found.Length));
  if (Found.WhyNotFixed)
    return F.because(*Found.WhyNotFixed);
  return F.fix(passTotalLength(Found.Pad, Found.Length, Context));
}

/// docs/checks/libtorch-pad-packed-total-length.md says what it finds and why.
class PadPackedTotalLengthCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

  void registerMatchers(MatchFinder *Finder) override {
    for (auto [Name, Id] : {std::pair(torch::PadPackedSequence, "pad"),
                            std::pair(torch::DataParallel, "data_parallel")})
      Finder->addMatcher(callExpr(callee(functionDecl(hasName(Name)))).bind(Id),
                         this);
  }

  void checkMatch(const Match &Result) override {
    const auto *Pad = Result.Nodes.getNodeAs<CallExpr>("pad");
    if (!Pad)
      DataParallelCalls.push_back(
          Result.Nodes.getNodeAs<CallExpr>("data_parallel"));
    else if (Pad->getNumArgs() != Args::Count)
      return;
    else if (const Expr *Given = Pad->getArg(Args::TotalLength);
             isa<CXXDefaultArgExpr>(Given) || cpp::isEmptyValue(Given))
      PadCalls.push_back(Pad);
    else
      silent(Pad->Stmt::getBeginLoc(), PadPackedTotalLength.Passed);
  }

  void checkMatched() override {
    if (PadCalls.empty())
      return;
    const ReplicaCode Replicas(DataParallelCalls);
    std::map<SourceLocation, ShortPadding> Places;
    for (const CallExpr *Pad : PadCalls) {
      cpp::Body *In = cpp::Body::around(Pad, context());
      ShortPadding New = {Pad, In && In->function()->isDependentContext(),
                          Replicas.wayTo(Pad)};
      New.WhyNotFixed =
          In ? whyNoLength(New, *In) : &PadPackedTotalLength.NoPacking;
      auto [It, IsFirst] = Places.try_emplace(
          context().getSourceManager().getFileLoc(Pad->Stmt::getBeginLoc()),
          New);
      ShortPadding &Old = It->second;
      // A pattern knows less than its instantiations, which must agree.
      if (IsFirst || New.IsInPattern)
        continue;
      const bool Agree = Old.Length == New.Length || Old.IsInPattern;
      if (Old.IsInPattern || (New.Way && !Old.Way))
        Old = std::move(New);
      if (!Agree)
        Old.WhyNotFixed = &PadPackedTotalLength.Instantiated;
    }
    for (const auto &[Loc, Found] : Places)
      report(worded(Found, context()));
  }

private:
  /// Whether a call is run by replicas is known at the end of the unit. The
  /// calls of one place are a template's pattern and instantiations.
  llvm::SmallVector<const CallExpr *, 4> PadCalls;
  llvm::SmallVector<const CallExpr *, 2> DataParallelCalls;
};

} // namespace

LIBTORCH_CHECK(PadPackedTotalLengthCheck, PadPackedTotalLength);

} // namespace libtorch_tidy
