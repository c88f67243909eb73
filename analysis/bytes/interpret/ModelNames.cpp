//===- ModelNames.cpp - How models are called and made --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Elaboration.h"
#include "analysis/torch/api/TorchTypes.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::bytes {

std::string fullName(const CXXRecordDecl *R, bool OfHolder) {
  std::string Scope;
  for (const DeclContext *DC = R->getDeclContext(); DC; DC = DC->getParent())
    if (const auto *NS = dyn_cast<NamespaceDecl>(DC);
        NS && !NS->isAnonymousNamespace())
      Scope = NS->getNameAsString() + "::" + Scope;
  return Scope + shownName(R, OfHolder);
}

std::string titleOf(const CXXRecordDecl *R, llvm::ArrayRef<Cell> Arguments) {
  const CXXConstructorDecl *Constructor = constructorFor(R, Arguments);
  std::string Result = shownName(R) + "(";
  for (size_t I = 0; I < Arguments.size(); ++I) {
    const bool HasType = Constructor && I < Constructor->getNumParams();
    Result += I ? ", " : "";
    Result +=
        shown(Arguments[I],
              HasType ? Constructor->getParamDecl(I)->getType() : QualType());
  }
  return Result + ")";
}

void nameUnknownSizes(ModelRows &Model) {
  auto IsNamed = [&](const ModuleRow &Row) {
    return llvm::any_of(Model.Missing, [&](const MissingRow &M) {
      return M.Where.Line == Row.Made.Line && M.Where.File == Row.Made.File;
    });
  };
  std::vector<MissingRow> More;
  for (const ModuleRow &Row : Model.Modules)
    for (const TensorRow &T : Row.Tensors)
      if (!T.IsKnown && !T.Type.empty() && !IsNamed(Row)) {
        More.push_back({Row.Made, "the size of '" + T.Name + "' of " +
                                      Row.Class +
                                      " is negative, or too large for memory"});
        break;
      }
  for (MissingRow &M : More)
    if (Model.Missing.size() < 1000)
      Model.Missing.push_back(std::move(M));
}

std::string plainName(StringRef Name) {
  std::string Result;
  bool InNumber = false;
  for (const char C : Name) {
    const char Before = Result.empty() ? ' ' : Result.back();
    InNumber = llvm::isDigit(C)
                   ? InNumber || !(llvm::isAlnum(Before) || Before == '_')
                   : InNumber && StringRef("uUlL").contains(C);
    if (C != ' ' && (!InNumber || llvm::isDigit(C)))
      Result += C;
  }
  return Result;
}

bool isCalled(const CXXRecordDecl *R, StringRef Wanted, bool &IsSure) {
  for (const bool OfHolder : {true, false}) {
    const std::string Full = plainName(fullName(R, OfHolder));
    const StringRef WithoutArguments = StringRef(Full).split('<').first;
    for (const StringRef Name : {StringRef(Full), WithoutArguments}) {
      IsSure = Name == Wanted && Name == Full;
      if (Name == Wanted || Name.ends_with(("::" + Wanted).str()))
        return true;
    }
  }
  return false;
}

std::vector<std::string> constructorsOf(const CXXRecordDecl *Class) {
  std::vector<std::string> Lines;
  const PrintingPolicy Policy(Class->getASTContext().getLangOpts());
  for (const CXXConstructorDecl *Constructor : Class->ctors()) {
    if (Constructor->isCopyOrMoveConstructor() || Constructor->isDeleted())
      continue;
    std::string Line = fullName(Class) + "(";
    for (const ParmVarDecl *Param : Constructor->parameters()) {
      if (Line.back() != '(')
        Line += ", ";
      Line += Param->getType()
                  .getNonReferenceType()
                  .getUnqualifiedType()
                  .getAsString(Policy);
      if (!Param->getName().empty())
        Line += (" " + Param->getName()).str();
      if (Param->hasDefaultArg())
        Line += " = ...";
    }
    Lines.push_back(Line + ")");
  }
  if (Lines.empty())
    Lines.push_back(fullName(Class) + "()");
  return Lines;
}

std::vector<Cell> argumentsOf(const Construction &C, Interpreter &Running,
                              const Value *&Unknown) {
  std::vector<Cell> Result;
  for (const Expr *Argument : C.Arguments)
    Result.push_back(Running.evaluate(Argument));
  for (const Cell &Argument : Result)
    if (!Unknown)
      Unknown = unknownIn(Argument);
  return Result;
}

bool hasDefault(const CXXRecordDecl *R) {
  return constructorFor(R, {}) || R->needsImplicitDefaultConstructor();
}

void nameStep(const CXXRecordDecl *Class, const ProgramSeen &Program,
              llvm::ArrayRef<PassedInputs> Found, const SourceManager &SM,
              NoStepRow &Row) {
  constexpr size_t Several = 16;
  const CXXMethodDecl *Method = nullptr;
  for (size_t Count = 0; Count < Several && !Method; ++Count)
    Method = torch::isTorchDecl(Class) ? nullptr : forwardMethod(Class, Count);
  if (Method) {
    for (const ParmVarDecl *Param : Method->parameters())
      if (!Param->hasDefaultArg())
        Row.Takes.push_back(Param->getName().empty() ? "..."
                                                     : Param->getName().str());
    Row.Forward = spotOf(Method->getLocation(), SM);
  }
  auto IsOfClass = [&](const CXXRecordDecl *R) {
    return R->getCanonicalDecl() == Class->getCanonicalDecl() &&
           Row.PassedAt.File.empty();
  };
  for (const SeenValues &Passed : Program.Passed)
    for (const Cell &V : Passed.Values)
      if (const Value *Unknown = unknownIn(V);
          Unknown && IsOfClass(Passed.Class)) {
        Row.PassedAt = spotOf(Passed.At, SM);
        Row.Why = Unknown->Why;
        Row.UnknownAt = spotOf(Unknown->Where, SM);
      }
  for (const PassedInputs &Passed : Found)
    if (IsOfClass(Passed.Class))
      Row.PassedAt = spotOf(Passed.At, SM);
}

} // namespace libtorch_tidy::bytes
