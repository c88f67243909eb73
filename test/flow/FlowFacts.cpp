//===- FlowFacts.cpp - Prints what checks/flow finds in a file ------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A tool of the test suite: the flow of every function of the user, one line
/// for each fact, "LINE: fact", in source order of the functions and then by
/// line.
///
///   flow-facts FILE -- FLAGS
///
//===----------------------------------------------------------------------===//

#include "checks/flow/UnitModel.h"
#include "checks/torch/TorchTypes.h"
#include "test/FactsTool.h"
#include "clang/AST/ASTContext.h"
#include <set>

using namespace clang;
using namespace libtorch_tidy;
using flow::Accumulation;
using flow::FunctionFlow;
using flow::Label;

static llvm::cl::OptionCategory Options("flow-facts");

namespace {

const char *text(flow::GradMode Mode) {
  switch (Mode) {
  case flow::GradMode::On:
    return "on";
  case flow::GradMode::Off:
    return "off";
  case flow::GradMode::Unknown:
    return "unknown";
  }
  return "";
}

const char *text(Accumulation::Form How) {
  switch (How) {
  case Accumulation::InPlace:
    return "in place";
  case Accumulation::Rebind:
    return "rebinds";
  case Accumulation::Contain:
    return "contains";
  case Accumulation::Slot:
    return "slot";
  case Accumulation::ViaCall:
    return "via call";
  }
  return "";
}

class Printer {
public:
  Printer(ASTContext &Context, const FunctionFlow &Flow, flow::UnitModel &Unit)
      : SM(Context.getSourceManager()), Flow(Flow), Unit(Unit) {}

  void print() {
    const FunctionDecl *F = Flow.function();
    llvm::outs() << line(F->getLocation()) << ": function "
                 << F->getQualifiedNameAsString();
    if (Flow.trains())
      llvm::outs() << ", trains";
    if (Flow.exitMode() != flow::GradMode::On)
      llvm::outs() << ", leaves gradients " << text(Flow.exitMode());
    if (Unit.isCalledOnlyGuarded(F))
      llvm::outs() << ", called only guarded";
    llvm::outs() << '\n';
    for (const Label &L : Flow.labels())
      if (L.K == Label::Entry
              ? L.Consumers != 0
              : L.Arises || L.K == Label::Carry || L.K == Label::Relay)
        say(L.Site ? L.Site->getExprLoc() : F->getLocation(),
            name(L) + consumers(L));
    for (const auto &[Key, A] : Flow.accumulations()) {
      std::set<std::string> Of;
      for (flow::LabelId Id : A.Added.allLabels())
        if (const Label &L = Flow.label(Id);
            L.K != Label::Carry && L.K != Label::Spent)
          Of.insert(name(L) + (L.Site ? " of line " + std::to_string(line(
                                                          L.Site->getExprLoc()))
                                      : ""));
      std::string Text = "accumulates into " + Flow.nameOf(A.Where) + ", " +
                         text(A.How) + ", mode " + text(A.Mode);
      if (A.Bounded)
        Text += ", bounded";
      if (A.Added.Unknown)
        Text += ", unknown";
      for (const std::string &Name : Of)
        Text += ", " + Name;
      say(A.Site->getExprLoc(), Text);
    }
    for (const auto &[Line, Text] : Facts)
      llvm::outs() << Line << ":   " << Text << '\n';
  }

private:
  unsigned line(SourceLocation Loc) const {
    return SM.getExpansionLineNumber(Loc);
  }
  void say(SourceLocation Loc, std::string Text) {
    Facts.insert({line(Loc), std::move(Text)});
  }
  std::string name(const Label &L) const {
    switch (L.K) {
    case Label::Forward:
      return "forward";
    case Label::Helper:
      return L.RunsModule ? "helper that runs a module" : "helper";
    case Label::Leaf:
      return "leaf";
    case Label::Entry:
      return "entry of " + Flow.nameOf(L.Where);
    case Label::Carry:
      return "carried in " + Flow.nameOf(L.Where);
    case Label::Spent:
      return "back-propagated";
    case Label::Relay:
      return "grown by " + L.Callee->getNameAsString();
    }
    return "";
  }
  std::string consumers(const Label &L) const {
    std::string Text;
    static constexpr std::pair<unsigned, const char *> Names[] = {
        {Label::Backward, "backward"},
        {Label::Returned, "returned"},
        {Label::Stored, "stored"},
        {Label::Escaped, "escaped"},
        {Label::Computed, "computed"}};
    for (const auto &[Bit, Name] : Names)
      if (L.Consumers & Bit)
        Text += std::string(Text.empty() ? " -> " : ", ") + Name;
    return Text.empty() ? " -> nobody" : Text;
  }

  const SourceManager &SM;
  const FunctionFlow &Flow;
  flow::UnitModel &Unit;
  std::multiset<std::pair<unsigned, std::string>> Facts;
};

void printFacts(ASTContext &Context, llvm::ArrayRef<Decl *>) {
  flow::UnitModel Unit(Context);
  for (const FunctionDecl *F : Unit.functions()) {
    const FunctionFlow *Flow = Unit.flowOf(F);
    if (Flow && Flow->available())
      Printer(Context, *Flow, Unit).print();
    else
      llvm::outs() << Context.getSourceManager().getExpansionLineNumber(
                          F->getLocation())
                   << ": function " << F->getQualifiedNameAsString()
                   << ", given up\n";
  }
}

} // namespace

int main(int ArgC, const char **ArgV) {
  return runFactsTool(ArgC, ArgV, Options, printFacts);
}
