//===- Interpreter.cpp - Follows what constructors do ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Interpreter.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Std.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

/// Evaluated statements and expressions, and copied elements. A constructor of
/// a thousand layers takes some ten thousand.
static constexpr unsigned MaxSteps = 1'000'000;

std::string shownName(const CXXRecordDecl *R, bool OfHolder) {
  std::string Result = R->getNameAsString();
  if (StringRef Shown = Result; OfHolder && Shown.consume_back("Impl"))
    Result = Shown.str();
  if (const auto *Special = dyn_cast<ClassTemplateSpecializationDecl>(R)) {
    llvm::raw_string_ostream OS(Result);
    printTemplateArgumentList(OS, Special->getTemplateArgs().asArray(),
                              PrintingPolicy(R->getASTContext().getLangOpts()));
  }
  return Result;
}

void forEachPart(Value &V, llvm::function_ref<void(Cell &)> Visit) {
  for (Cell &Element : V.Elements)
    Visit(Element);
  for (auto &[Field, Member] : V.Members)
    if (!Field->getType()->isReferenceType())
      Visit(Member);
  for (auto &[Name, Setting] : V.Settings)
    Visit(Setting);
}

const Value *unknownIn(const Cell &V) {
  if (V->What == Value::Unknown)
    return V.get();
  const Value *Found = nullptr;
  forEachPart(*V, [&](const Cell &Part) {
    if (!Found)
      Found = unknownIn(Part);
  });
  return Found;
}

Cell settingOf(const OptionValues &Settings, StringRef Name) {
  auto It = Settings.find(Name.str());
  return It == Settings.end() ? nullptr : It->second;
}

//===----------------------------------------------------------------------===//
// What the command line gives
//===----------------------------------------------------------------------===//

/// "config.width" of `config->width`, "width" of `this->width`; empty for what
/// has no such name.
static std::string pathOf(const Expr *E) {
  E = cpp::peel(E);
  if (const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E))
    return Ref->getDecl()->getNameAsString();
  if (const auto *Call = dyn_cast_or_null<CXXOperatorCallExpr>(E))
    return Call->getOperator() == OO_Arrow || Call->getOperator() == OO_Star
               ? pathOf(Call->getArg(0))
               : "";
  const auto *Member = dyn_cast_or_null<MemberExpr>(E);
  if (!Member || !isa<FieldDecl>(Member->getMemberDecl()))
    return "";
  const std::string Name = Member->getMemberDecl()->getNameAsString();
  if (isa<CXXThisExpr>(cpp::peel(Member->getBase())))
    return Name;
  const std::string Of = pathOf(Member->getBase());
  return Of.empty() || Name.empty() ? "" : Of + "." + Name;
}

/// Numbers, texts, containers and structs of the user's.
static bool canBeGiven(QualType T) {
  T = T.getNonReferenceType();
  if (T->isArithmeticType() || T->isEnumeralType() ||
      (T->isPointerType() && T->getPointeeType()->isCharType()))
    return true;
  const CXXRecordDecl *R = T->getAsCXXRecordDecl();
  return R && modelClass(R) == ModelClass::Other &&
         modelClass(cpp::recordOf(typeArgument(R, 0))) != ModelClass::Tensor &&
         (!cpp::isOfLibrary(R) ||
          cpp::isStdClass(R, {"basic_string", "vector", "array", "map",
                              "unordered_map", "pair", "tuple", "optional"}));
}

const Cell &Interpreter::named(const Cell &V, StringRef Name, QualType Type) {
  if (!Given || V->What != Value::Unknown || Name.empty() || !canBeGiven(Type))
    return V;
  auto It = Given->Values.find(Name.str());
  if (It == Given->Values.end() && !V->Name.empty())
    It = Given->Values.find(V->Name);
  if (V->Name.empty())
    V->Name = Name.str();
  Given->Names.insert(V->Name);
  if (It != Given->Values.end()) {
    Given->Names.insert(It->first);
    *V = *copyOf(coerced(*this, copyOf(It->second), Type, V->Where));
  }
  return V;
}

const Cell &Interpreter::named(const Cell &V, const Expr *E) {
  return V->What == Value::Unknown ? named(V, pathOf(E), E->getType()) : V;
}

std::string howToGive(const Value &Unknown) {
  return Unknown.Name.empty()
             ? ""
             : "; give it with --set=" + Unknown.Name + "=VALUE";
}

//===----------------------------------------------------------------------===//
// Notes and limits
//===----------------------------------------------------------------------===//

void Interpreter::note(SourceLocation Where, const Twine &Text) {
  if (Where.isInvalid())
    Where = Current;
  if (ModuleInstance *M = Pass ? nullptr : current())
    M->IsIncomplete = true;
  std::string Said = Text.str();
  // Of a pass, the first say what the others come from.
  if ((!Pass || GapsOfPass.size() < 16) && Noted.emplace(Where, Said).second)
    (Pass ? GapsOfPass : Gaps).push_back({std::move(Said), Where});
}

std::string Interpreter::because(const Cell &Unknown) const {
  if (Unknown->What != Value::Unknown || Unknown->Why.empty())
    return {};
  const SourceManager &SM = Context.getSourceManager();
  const PresumedLoc Loc = SM.getPresumedLoc(SM.getExpansionLoc(Unknown->Where));
  std::string Result = ": " + Unknown->Why;
  if (Loc.isValid())
    Result += (" (" + llvm::sys::path::filename(Loc.getFilename()) + ":" +
               Twine(Loc.getLine()) + ")")
                  .str();
  return Result + howToGive(*Unknown);
}

void Interpreter::fail(SourceLocation Where, const Twine &Text) {
  if (!Failure && !Halted)
    Failure = Gap{Text.str(), Where};
  Halted = true;
}

void Interpreter::throws(SourceLocation Where, const Twine &What,
                         StringRef Says) {
  if (Gaps.empty() && GapsOfPass.empty() && (!Pass || Pass->bounds().empty()))
    return fail(Where, What + Says);
  limit(Where, What + ": something before it is not known");
}

Cell Interpreter::lost(const Cell &V) {
  if (Pass && !hasGapsOfPass() && !V->Why.empty())
    note(V->Where, V->Why + " is not known");
  return V;
}

void Interpreter::limit(SourceLocation Where, const Twine &Text) {
  if (Halted)
    return;
  note(Where, Text);
  Halted = true;
}

bool Interpreter::step(SourceLocation Where, size_t Work) {
  if (Halted)
    return false;
  Steps += static_cast<unsigned>(std::min<size_t>(Work, MaxSteps));
  if (Steps <= MaxSteps)
    return true;
  limit(Where, running() + " takes more than " + Twine(MaxSteps) +
                   " steps, and was followed no further");
  return false;
}

bool Interpreter::isTooDeep(SourceLocation Where) {
  if (Nesting <= MaxNesting)
    return false;
  limit(Where, "this is nested too deep, and was not followed");
  return true;
}

ModuleInstance *Interpreter::current() const {
  for (const Frame *F : llvm::reverse(Frames))
    if (F->This && F->This->What == Value::Module)
      return F->This->Held.get();
  return nullptr;
}

Cell Interpreter::copyOf(const Cell &V) {
  if (!step(V->Where, 1 + V->Name.size() / TextPerStep))
    return unknown({}, "");
  ++Nesting;
  const auto Leave = llvm::make_scope_exit([&] { --Nesting; });
  if (isTooDeep(V->Where))
    return unknown({}, "");
  Cell Result = cell(*V);
  forEachPart(*Result, [&](Cell &Part) { Part = copyOf(Part); });
  return Result;
}

std::vector<Cell> Interpreter::copiesOf(ArrayRef<Cell> Of) {
  std::vector<Cell> Result;
  for (const Cell &V : Of)
    Result.push_back(copyOf(V));
  return Result;
}

void Interpreter::store(const Cell &To, const Cell &From) {
  if (To != From)
    *To = *copyOf(From);
}

std::optional<bool> truth(const Cell &V) {
  switch (V->What) {
  case Value::Integer:
    return V->Number != 0;
  case Value::Real:
    return V->RealNumber != 0;
  case Value::Null:
    return false;
  case Value::Module:
  case Value::Pointer:
  case Value::Function:
    return true;
  default:
    return std::nullopt;
  }
}

const CallRule *ruleNamed(ArrayRef<CallRule> Rules, StringRef Name) {
  for (const CallRule &Rule : Rules)
    if (llvm::is_contained(llvm::split(Rule.Names, ' '), Name))
      return &Rule;
  return nullptr;
}

Cell byRule(ArrayRef<CallRule> Rules, const LibraryCall &C) {
  const size_t Count = C.Arguments.size();
  const CallRule *Rule = ruleNamed(Rules, C.Name);
  return Rule && Rule->Least <= Count && Count <= Rule->Most ? Rule->Handle(C)
                                                             : nullptr;
}

} // namespace libtorch_tidy::bytes
