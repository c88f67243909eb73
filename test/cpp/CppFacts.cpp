//===- CppFacts.cpp - Prints what analysis/cpp says of a file -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// cpp-facts FILE -- FLAGS. One line per function, and below it what is known
/// of its loops, its variables, what goes into containers, and the arguments of
/// calls of a function that is called `ask`.

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Callables.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/modules/Kept.h"
#include "test/FactsTool.h"
#include "clang/Lex/Lexer.h"

using namespace clang;
using namespace libtorch_tidy;

static llvm::cl::OptionCategory Options("cpp-facts");

namespace {

class Printer {
public:
  explicit Printer(cpp::Body &Body)
      : Body(Body), SM(Body.context().getSourceManager()) {}

  void print() {
    const FunctionDecl *F = Body.function();
    llvm::outs() << line(F->getLocation()) << ": function "
                 << F->getQualifiedNameAsString() << '\n';
    for (const ParmVarDecl *Param : F->parameters())
      variable(Param);
    cpp::forEach<VarDecl>(
        Body.root(), [&](const VarDecl *Var) { variable(Var); },
        cpp::Lambdas::Skipped);
    cpp::forEach<Stmt>(Body.root(), [&](const Stmt *S) {
      if (cpp::isLoop(S))
        loop(S);
      if (const auto *Lambda = dyn_cast<LambdaExpr>(S))
        lambda(Lambda);
      if (const auto *E = dyn_cast<Expr>(S))
        expression(E);
    });
    for (const auto &[Line, Text] : Facts)
      llvm::outs() << Line << ":   " << Text << '\n';
  }

private:
  unsigned line(SourceLocation Loc) const {
    return SM.getExpansionLineNumber(Loc);
  }
  void say(SourceLocation Loc, std::string Text) {
    Facts.emplace(line(Loc), std::move(Text));
  }
  std::string text(const Expr *E) const {
    return Lexer::getSourceText(
               CharSourceRange::getTokenRange(E->getSourceRange()), SM,
               Body.context().getLangOpts())
        .str();
  }
  std::string texts(llvm::ArrayRef<const Expr *> All) const {
    std::string Text;
    for (const Expr *E : All)
      Text += (Text.empty() ? "" : ", ") + text(E);
    return Text;
  }
  std::string at(const Stmt *S) const {
    return S ? "line " + std::to_string(line(S->getBeginLoc())) : "nothing";
  }

  void lambda(const LambdaExpr *Lambda) {
    std::string Text = "lambda may run elsewhere";
    if (auto Runs = cpp::runsOf(Lambda, Body)) {
      Text = "lambda runs nowhere";
      for (unsigned I = 0; I < Runs->size(); ++I)
        Text = (I ? Text + ", " : "lambda runs at ") + at((*Runs)[I]);
    }
    say(Lambda->getBeginLoc(), std::move(Text));
  }

  void loop(const Stmt *Loop) {
    std::string Text = "loop";
    if (cpp::runsFewTimes(Loop, Body.context()))
      Text += ", few times";
    if (const Stmt *Outer = Body.loopAround(Loop))
      Text += ", in the loop of " + at(Outer);
    say(Loop->getBeginLoc(), Text);
  }

  void variable(const VarDecl *Var) {
    std::string Text = Var->getNameAsString() + ":";
    Text += Body.isOwn(Var) ? " own" : " not own";
    if (Body.isSetOnce(Var))
      Text += ", set once";
    if (cpp::isSharedOwner(Var->getType()))
      Text += ", shares what it owns";
    else if (!cpp::isOwningType(Var->getType()))
      Text += ", owns nothing";
    if (cpp::holdsFunctions(Var->getType()))
      Text += ", holds functions";
    cpp::Values All = Body.valuesOf(Var);
    Text += ", given {" + texts(All.Given) + "}";
    if (!All.Complete)
      Text += " and perhaps more";
    if (const Stmt *Scope = Body.scopeOf(Var); Scope && Scope != Body.root())
      Text += ", scope of " + at(Scope);
    say(Var->getLocation(), Text);
    static constexpr const char *Kinds[] = {"assigned", "released", "changed",
                                            "escapes"};
    for (const cpp::Write &W : Body.writesTo(Var))
      say(W.Where->getExprLoc(),
          Var->getNameAsString() + " " + Kinds[unsigned(W.Kind)] +
              (W.InLambda ? ", in a lambda" : "") +
              (W.Kind == cpp::WriteKind::Assigned && !W.InLambda &&
                       !Var->getType()->isReferenceType() &&
                       Body.paths().isReadFrom(Var, W.Where)
                   ? ", read later"
                   : ""));
  }

  void expression(const Expr *E) {
    if (auto Start = cpp::asThreadStart(E))
      say(E->getExprLoc(), "starts a thread");
    const auto *Call = dyn_cast<CallExpr>(E);
    if (!Call)
      return;
    if (auto Added = cpp::asInsertion(Call))
      say(E->getExprLoc(), texts(Added->Given) + " into " + text(Added->Into) +
                               (Added->AtEnd ? ", at its end" : ""));
    StringRef Name = cpp::calleeName(Call);
    if (cpp::does(Call, cpp::Std::Remove) || cpp::isRelease(Call))
      say(E->getExprLoc(), "takes out by " + Name.str());
    if (Name == "ask" && Call->getNumArgs() == 1)
      ask(Call->getArg(0));
  }

  void ask(const Expr *E) {
    std::string Text = text(E) + " is ";
    auto Named = cpp::namedObject(E), Object = cpp::objectOf(E, Body.root());
    Text +=
        Object ? Object->name() + (Object->Element ? "[]" : "") : "of no name";
    if (Named && Object && !(*Named == *Object))
      Text += ", as " + Named->name();
    if (const ValueDecl *Root = cpp::rootOf(cpp::valueOf(E)))
      Text += ", part of " + Root->getNameAsString();
    Text += ", from " + text(Body.originOf(E));
    Text += ", keeps {" + texts(torch::keptBy(E, Body.root())) + "}";
    if (const Stmt *Loop = Body.loopAround(E))
      Text += ", in the loop of " + at(Loop);
    if (const auto *If = Body.around<IfStmt>(E))
      Text += cpp::tellsFirstRound(If->getCond()) ? ", in the first round" : "";
    say(E->getExprLoc(), Text);
  }

  cpp::Body &Body;
  const SourceManager &SM;
  std::multiset<std::pair<unsigned, std::string>> Facts;
};

void printFacts(ASTContext &, llvm::ArrayRef<Decl *> Users) {
  auto Print = [](const Decl *D) {
    const auto *F = dyn_cast<FunctionDecl>(D);
    if (F && F->doesThisDeclarationHaveABody() && !F->isDependentContext() &&
        !F->isImplicit() && !F->isTemplateInstantiation())
      Printer(cpp::Body::of(F)).print();
  };
  for (const Decl *D : Users) {
    Print(D);
    if (const auto *R = dyn_cast<CXXRecordDecl>(D))
      llvm::for_each(R->methods(), Print);
  }
}

} // namespace

int main(int ArgC, const char **ArgV) {
  return runFactsTool(ArgC, ArgV, Options, printFacts);
}
