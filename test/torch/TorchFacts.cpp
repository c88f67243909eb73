//===- TorchFacts.cpp - Prints what analysis/torch knows of a file
//----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A tool of the test suite: one line for each fact that the files of
/// analysis/torch state about the main file, "LINE: fact", sorted by line.
///
///   torch-facts [-ops] [-memory] [-names] FILE -- FLAGS
///   torch-facts -table    prints the table of operators after checking it
///   torch-facts -rules NAME...
///                         prints those that --budget has no rule for: modules
///                         (Linear) and operators (linear), one on each line

#include "analysis/bytes/library/ModuleApi.h"
#include "analysis/bytes/simulate/Simulation.h"
#include "analysis/cpp/Compat.h"
#include "analysis/cpp/Text.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/Effects.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/autograd/GradGuards.h"
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/storage/Sharing.h"
#include "test/FactsTool.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Lex/Lexer.h"
#include <set>

using namespace clang;
using namespace libtorch_tidy;
using llvm::StringRef;

static llvm::cl::OptionCategory Options("torch-facts");
static llvm::cl::opt<bool> Memory("memory", llvm::cl::cat(Options),
                                  llvm::cl::desc("print whose memory results "
                                                 "have, and which calls work"));
static llvm::cl::opt<bool> Names("names", llvm::cl::cat(Options),
                                 llvm::cl::desc("print what names suggest"));
static llvm::cl::opt<bool> Ops("ops", llvm::cl::cat(Options),
                               llvm::cl::desc("print operators, too"));

namespace {

const char *text(torch::GradMode Mode) {
  switch (Mode) {
  case torch::GradMode::On:
    return "on";
  case torch::GradMode::Off:
    return "off";
  case torch::GradMode::Unknown:
    return "unknown";
  }
  return "";
}

const char *text(torch::Flag F) {
  switch (F) {
  case torch::Flag::False:
    return "false";
  case torch::Flag::True:
    return "true";
  case torch::Flag::Unknown:
    return "unknown";
  }
  return "";
}

const char *text(torch::Parameters P) {
  switch (P) {
  case torch::Parameters::None:
    return "none";
  case torch::Parameters::Some:
    return "some";
  case torch::Parameters::Unknown:
    return "unknown";
  }
  return "";
}

const char *text(torch::Sharing How) {
  switch (How) {
  case torch::Sharing::Unknown:
    return "unknown";
  case torch::Sharing::None:
    return "own memory";
  case torch::Sharing::Perhaps:
    return "perhaps memory of";
  case torch::Sharing::Memory:
    return "view of";
  case torch::Sharing::Handle:
    return "same tensor as";
  }
  return "";
}

const char *text(torch::Work W) {
  switch (W) {
  case torch::Work::None:
    return "none";
  case torch::Work::Some:
    return "some";
  case torch::Work::Heavy:
    return "heavy";
  }
  return "";
}

/// What the name of a declaration suggests.
std::string suggestions(StringRef Name) {
  std::string Text;
  for (auto [On, What] :
       {std::pair(torch::namesLoss(Name), " loss"),
        std::pair(torch::namesEpoch(Name), " epoch"),
        std::pair(torch::namesCache(Name), " cache"),
        std::pair(torch::namesSmallText(Name), " small-text"),
        std::pair(torch::namesGradientReset(Name), " gradient-reset"),
        std::pair(torch::namesOutOfMemory(Name), " out-of-memory"),
        std::pair(torch::namesVocabulary(Name), " vocabulary"),
        std::pair(cpp::namesClock(Name), " clock"),
        std::pair(torch::namesAccessor(Name), " accessor")})
    if (On)
      Text += What;
  return Text;
}

std::string flags(const torch::OpFacts &Op) {
  std::string Text;
  for (auto [On, Name] :
       {std::pair(Op.Shares == torch::Sharing::Memory, " view"),
        std::pair(Op.Shares == torch::Sharing::Perhaps, " may-share"),
        std::pair(Op.CopiesRarely, " copies-rarely"),
        std::pair(Op.TakesPart, " part"), std::pair(Op.ShowsWhole, " whole"),
        std::pair(Op.SameElements, " same-elements"),
        std::pair(Op.InPlace, " in-place"), std::pair(Op.Resizes, " resizes"),
        std::pair(Op.Heavy, " heavy"),
        std::pair(Op.Pure != torch::PureKind::No, " pure"),
        std::pair(Op.KeepsArguments, " keeps-arguments"),
        std::pair(Op.Metadata, " metadata"), std::pair(Op.Factory, " factory"),
        std::pair(Op.SavesNothing, " saves-nothing"),
        std::pair(Op.PinsBuffer, " pins-buffer"),
        std::pair(Op.Reduces, " reduces"),
        std::pair(Op.neverDifferentiable(), " never-differentiable"),
        std::pair(Op.KeepsOrder, " keeps-order"),
        std::pair(Op.Packs, " packs")})
    if (On)
      Text += Name;
  for (unsigned I = 0; I < 8; ++I)
    if (Op.Columns >> I & 1)
      Text += " columns:" + std::to_string(I);
  return Text;
}

class Printer : public RecursiveASTVisitor<Printer> {
public:
  explicit Printer(ASTContext &Context) : Context(Context) {}

  bool VisitNamedDecl(NamedDecl *D) {
    if (!Names || !D->getIdentifier())
      return true;
    if (std::string Text = suggestions(D->getName()); !Text.empty())
      say(D->getLocation(), "name " + D->getName() + ":" + Text);
    if (torch::drawsSample(dyn_cast<FunctionDecl>(D)))
      say(D->getLocation(), D->getName() + " draws a sample");
    return true;
  }

  bool VisitStringLiteral(clang::StringLiteral *Literal) {
    if (Names && torch::mentionsOutOfMemory(Literal->getString()))
      say(Literal->getBeginLoc(), "text mentions out-of-memory");
    return true;
  }

  bool VisitVarDecl(VarDecl *Var) {
    if (auto Mode = torch::guardOf(Var))
      say(Var->getLocation(),
          "guard " + Var->getName() + " " + text(*Mode) +
              (torch::isInferenceMode(Var) ? " inference" : ""));
    if (torch::isModule(Var->getType()) && !isa<ParmVarDecl>(Var))
      say(Var->getLocation(), "parameters of " + Var->getName() + ": " +
                                  text(torch::parametersOf(Var->getType())));
    return true;
  }

  bool VisitCXXRecordDecl(CXXRecordDecl *R) {
    if (!R->isThisDeclarationADefinition() || R->isLambda())
      return true;
    if (auto Mode = torch::guardOf(R))
      say(R->getLocation(), "class " + R->getName() + " guards " + text(*Mode));
    if (cpp::isOrDerivesFrom(R, "torch::nn::Module"))
      say(R->getLocation(),
          "parameters of class " + R->getName() + ": " +
              text(torch::parametersOf(compat::recordType(R))));
    return true;
  }

  bool VisitCXXConstructExpr(CXXConstructExpr *E) {
    if (torch::isTemporaryGuard(E))
      say(E->getBeginLoc(), "temporary guard");
    return true;
  }

  bool VisitCXXDeleteExpr(CXXDeleteExpr *E) {
    sayChange(E);
    return true;
  }

  bool VisitCallExpr(CallExpr *Call) {
    SourceLocation Loc = Call->getExprLoc();
    sayChange(Call);
    if (auto Mode = torch::setsGradMode(Call))
      say(Loc, llvm::Twine("sets grad mode ") + text(*Mode));
    if (auto M = torch::asModuleCall(Call)) {
      std::string Text = M->Script ? "script call of " : "module call of ";
      Text += M->Module ? source(M->Module) : "this";
      Text += list(" inputs", M->Inputs);
      if (M->Body)
        Text += " body " + M->Body->getQualifiedNameAsString() + ":" +
                std::to_string(line(M->Body->getLocation()));
      say(Loc, Text);
    }
    if (auto B = torch::asBackward(Call))
      say(Loc, llvm::Twine(B->ReturnsGradients ? "grad" : "backward") +
                   list(" of", B->Roots) + list(" inputs", B->Inputs) +
                   " retain " + text(B->RetainGraph) + " create " +
                   text(B->CreateGraph));
    if (torch::isOptimizerStep(Call))
      say(Loc, "optimizer step");
    if (torch::isZeroGrad(Call))
      say(Loc, "zero grad");
    if (auto Set = torch::setsRequiresGrad(Call))
      say(Loc, llvm::Twine("sets requires_grad ") + text(*Set));
    if (auto Set = torch::registersParameter(Call))
      say(Loc, llvm::Twine("registers parameter, requires_grad ") + text(*Set));
    if (auto Reg = torch::asRegistration(Call))
      say(Loc, llvm::Twine("registers ") +
                   (Reg->What == torch::Registration::Module      ? "module"
                    : Reg->What == torch::Registration::Parameter ? "parameter"
                                                                  : "buffer") +
                   " " + (Reg->Value ? source(Reg->Value) : "nothing"));
    if (torch::dropsHistory(Call))
      say(Loc, "drops history");
    if (torch::isIntegralCast(Call))
      say(Loc, "integral cast");
    if (auto State = torch::asModuleState(Call))
      say(Loc, *State == torch::ModuleState::Parameters ? "module parameters"
                                                        : "module buffers");
    if (const Expr *Object = torch::gradOf(Call))
      say(Loc, "grad of " + source(Object));
    if (torch::isFreezeCall(Call))
      say(Loc, "freeze");
    if (const Expr *Module = torch::frozenInPlaceBy(Call))
      say(Loc, "freezes " + source(Module));
    if (torch::isModuleEval(Call))
      say(Loc, "module eval");
    if (torch::isModuleTrain(Call))
      say(Loc, "module train");
    if (const torch::OpFacts *Op = torch::opFacts(Call->getDirectCallee())) {
      if (Op->Factory)
        say(Loc, llvm::Twine("factory ") + Op->Name + ", requires_grad " +
                     text(torch::factoryRequiresGrad(Call)));
      if (Ops)
        say(Loc, "op " + Op->Name + flags(*Op));
      if (Memory)
        printMemory(Call, Op->Name);
    }
    return true;
  }

  void print() const {
    for (const auto &[Line, Text] : Facts)
      llvm::outs() << Line << ": " << Text << '\n';
  }

private:
  void sayChange(const Expr *E) {
    const auto Change = torch::guardChange(E);
    if (!Change)
      return;
    std::string Text =
        "guard in " + (Change->Of ? Change->Of->getName().str() : "an object");
    Text += Change->EndsFirst ? " ends first" : " ends";
    if (Change->Begins)
      Text += std::string(", begins ") + text(*Change->Begins) +
              (Change->Inference ? " inference" : "");
    say(E->getExprLoc(), Text);
  }

  void printMemory(const CallExpr *Call, StringRef Name) {
    torch::StorageUse Use = torch::storageUse(Call, {}, Context);
    std::string Text = text(Use.How);
    if (Use.How >= torch::Sharing::Perhaps)
      Text += " " + source(Use.Of);
    if (Use.IsPart)
      Text += ", a part";
    if (const Expr *Of = torch::viewedBy(Call))
      Text += ", counts as " + source(Of);
    if (torch::isMetadataAccess(Call))
      Text += ", metadata";
    if (torch::onlyReads(Call))
      Text += ", only reads";
    say(Call->getExprLoc(),
        Name + ": " + Text + ", work " + text(torch::workOf(Call)));
  }
  unsigned line(SourceLocation Loc) const {
    return Context.getSourceManager().getExpansionLineNumber(Loc);
  }
  void say(SourceLocation Loc, const llvm::Twine &Text) {
    Facts.insert({line(Loc), Text.str()});
  }
  std::string source(const Expr *E) const {
    StringRef Text = Lexer::getSourceText(
        CharSourceRange::getTokenRange(E->getSourceRange()),
        Context.getSourceManager(), Context.getLangOpts());
    return Text.empty() ? "<" + std::string(E->getStmtClassName()) + ">"
                        : Text.str();
  }
  std::string list(const char *Title,
                   llvm::ArrayRef<const Expr *> Expressions) const {
    if (Expressions.empty())
      return "";
    std::string Text = std::string(Title) + " [";
    for (const Expr *E : Expressions)
      Text += (E == Expressions.front() ? "" : " | ") + source(E);
    return Text + "]";
  }

  ASTContext &Context;
  /// Visiting order is not that of lines, and some nodes are visited twice.
  std::set<std::pair<unsigned, std::string>> Facts;
};

void printFacts(ASTContext &Context, llvm::ArrayRef<Decl *> Users) {
  Printer P(Context);
  for (Decl *D : Users)
    P.TraverseDecl(D);
  P.print();
}

/// Checks what the generator promises, and prints all rows.
int printTable() {
  const torch::OpFacts *Last = nullptr;
  for (const torch::OpFacts &Op : torch::allOpFacts()) {
    if (Last && !(Last->Name < Op.Name)) {
      llvm::errs() << "not sorted: " << Op.Name << '\n';
      return 1;
    }
    Last = &Op;
    if (torch::opFacts(Op.Name) != &Op || Op.Outputs > 31 ||
        Op.NonDifferentiable >> Op.Outputs) {
      llvm::errs() << "wrong row: " << Op.Name << '\n';
      return 1;
    }
    llvm::outs() << Op.Name << ": " << Op.Outputs << flags(Op) << '\n';
  }
  return 0;
}

/// An operator that has a rule says what it lacks where it is given nothing.
bool hasRule(StringRef Operator) {
  bytes::Simulation S(bytes::DeviceKind::Cpu, torch::Release(1, 13));
  // unfold() of torch::nn::functional has options, and that of tensors has not.
  const bytes::OperatorResult Result =
      S.run(Operator, {{"kernel_size", bytes::Argument()}});
  return Result.What != bytes::OperatorResult::NotFollowed ||
         !Result.Why.empty();
}

int printWithoutRule(llvm::ArrayRef<const char *> Names) {
  for (const StringRef Name : Names) {
    const bytes::ModuleRun Run = bytes::runOfModule(Name);
    if (Name == "Functional" || !Run.Steps.empty() ||
        bytes::isModuleContainer(Name) ||
        hasRule(Run.Operator.empty() ? Name : Run.Operator))
      continue;
    llvm::outs() << Name << '\n';
  }
  return 0;
}

} // namespace

int main(int ArgC, const char **ArgV) {
  if (ArgC > 2 && StringRef(ArgV[1]) == "-rules")
    return printWithoutRule({ArgV + 2, ArgV + ArgC});
  if (ArgC == 2 && StringRef(ArgV[1]) == "-table")
    return printTable();
  return runFactsTool(ArgC, ArgV, Options, printFacts);
}
