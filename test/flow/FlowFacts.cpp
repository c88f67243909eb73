//===- FlowFacts.cpp - Prints what analysis/flow finds in a file
//------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A tool of the test suite: the flow of every function of the user, one line
/// for each fact, "LINE: fact", in source order of the functions and then by
/// line.
///
///   flow-facts [--memory] FILE -- FLAGS
///
/// With --memory: what functions do to the memory of their arguments, and what
/// dangles in them, instead of the history of tensors.

#include "analysis/flow/unit/UnitModel.h"
#include "test/FactsTool.h"
#include "clang/AST/ASTContext.h"
#include <set>

using namespace clang;
using namespace libtorch_tidy;
using flow::Accumulation;
using flow::FunctionFlow;
using flow::Label;

static llvm::cl::OptionCategory Options("flow-facts");
static llvm::cl::opt<bool>
    OfMemory("memory", llvm::cl::desc("what refers to whose memory"),
             llvm::cl::cat(Options));

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
    case Label::Proven:
      return "proven by backward()";
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

const char *text(flow::Borrow::Kind What) {
  switch (What) {
  case flow::Borrow::Blob:
    return "a tensor over";
  case flow::Borrow::Data:
    return "a pointer into";
  case flow::Borrow::Shape:
    return "the shape of";
  case flow::Borrow::Elements:
    return "the elements of";
  case flow::Borrow::Given:
    return "what is given by";
  case flow::Borrow::List:
    return "a list over";
  }
  return "";
}

const char *text(flow::Dangling::How Why) {
  switch (Why) {
  case flow::Dangling::Temporary:
    return "gone with its statement";
  case flow::Dangling::Loop:
    return "gone before the loop";
  case flow::Dangling::Returned:
    return "returned";
  case flow::Dangling::Stored:
    return "stored";
  case flow::Dangling::Scope:
    return "out of scope";
  case flow::Dangling::Assigned:
    return "assigned again";
  case flow::Dangling::Resized:
    return "resized";
  case flow::Dangling::Freed:
    return "freed";
  case flow::Dangling::Reused:
    return "reused";
  }
  return "";
}

const char *text(torch::Fresh Sure) {
  switch (Sure) {
  case torch::Fresh::No:
    return ", not";
  case torch::Fresh::Perhaps:
    return ", perhaps";
  case torch::Fresh::Likely:
    return ", likely";
  case torch::Fresh::Yes:
    return "";
  }
  return "";
}

/// The functions that have something to say of memory, and what dangles.
void printMemory(ASTContext &Context) {
  using flow::MemorySummary;
  const SourceManager &SM = Context.getSourceManager();
  flow::UnitModel Unit(Context);
  for (const FunctionDecl *F : Unit.functions()) {
    const MemorySummary *Known = Unit.memoryOf(F);
    if (!Known || (Known->available() && Known->saysNothing()))
      continue;
    const unsigned Line = SM.getExpansionLineNumber(F->getLocation());
    auto Name = [&](unsigned Param) {
      return Param == MemorySummary::Result ? "the result"
             : Param == MemorySummary::This
                 ? "this"
                 : F->getParamDecl(Param)->getNameAsString();
    };
    llvm::outs() << Line << ": function " << F->getQualifiedNameAsString()
                 << (Known->available() ? "" : ", given up") << '\n';
    for (const MemorySummary::Lent &L : Known->Lends)
      llvm::outs() << Line << ":   " << Name(L.To) << L.Field << " keeps "
                   << text(L.What) << ' ' << Name(L.Of) << text(L.Sure) << '\n';
    for (unsigned Param : Known->Resizes)
      llvm::outs() << Line << ":   resizes " << Name(Param) << '\n';
    for (unsigned Param : Known->Frees)
      llvm::outs() << Line << ":   frees " << Name(Param) << '\n';
  }
  for (const flow::Dangling &D : Unit.dangling()) {
    llvm::outs() << SM.getExpansionLineNumber(D.What.Source->getExprLoc())
                 << ": " << text(D.What.What) << ' '
                 << (D.What.Owner ? D.What.Owner->getNameAsString()
                                  : "a temporary")
                 << ", " << text(D.Why) << text(D.What.Sure);
    if (!D.Keeper.empty())
      llvm::outs() << ", kept by " << D.Keeper;
    if (D.UsedAt.isValid())
      llvm::outs() << ", used in line " << SM.getExpansionLineNumber(D.UsedAt);
    llvm::outs() << '\n';
  }
}

void printFacts(ASTContext &Context, llvm::ArrayRef<Decl *>) {
  if (OfMemory)
    return printMemory(Context);
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
