//===- Elaboration.cpp - The models of a unit, and their bytes ------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/model/Elaboration.h"
#include "checks/code/Body.h"
#include "checks/code/Std.h"
#include "checks/flow/Program.h"
#include "checks/model/Interpreter.h"
#include "checks/model/ModelText.h"
#include "checks/model/Step.h"
#include "checks/torch/Calls.h"
#include "checks/torch/Classes.h"
#include "checks/torch/Headers.h"
#include "checks/torch/ModuleApi.h"
#include "checks/torch/Modules.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::model {

/// Of all models of a unit; one alone is bounded by the interpreter.
static constexpr unsigned MaxStepsOfAll = 20'000'000;
static constexpr unsigned MaxModels = 200;

Spot spotOf(SourceLocation Loc, const SourceManager &SM) {
  const PresumedLoc Where = SM.getPresumedLoc(SM.getExpansionLoc(Loc));
  if (Where.isInvalid())
    return {};
  return {Where.getFilename(), Where.getLine()};
}

/// As shownName(), with its namespaces: "nets::Block<4>".
static std::string fullName(const CXXRecordDecl *R, bool OfHolder = true) {
  std::string Scope;
  for (const DeclContext *DC = R->getDeclContext(); DC; DC = DC->getParent())
    if (const auto *NS = dyn_cast<NamespaceDecl>(DC);
        NS && !NS->isAnonymousNamespace())
      Scope = NS->getNameAsString() + "::" + Scope;
  return Scope + shownName(R, OfHolder);
}

/// One that \p Type takes: truths are numbers to the interpreter.
static std::string shownAs(const Cell &V, QualType Type) {
  if (V->What == Value::Integer && Type->isBooleanType())
    return V->Number ? "true" : "false";
  return shown(V);
}

std::string shown(const Cell &V) {
  std::string Result;
  switch (V->What) {
  case Value::Integer:
    return V->Name.empty() ? std::to_string(V->Number) : V->Name;
  case Value::Real: {
    llvm::raw_string_ostream(Result) << llvm::format("%g", V->RealNumber);
    return Result;
  }
  case Value::Text:
    return '"' + V->Name + '"';
  case Value::List:
    for (const auto &[Name, Setting] : V->Settings)
      Result += (Result.empty() ? "." : ", .") + Name + "=" + shown(Setting);
    // A title that can be read.
    for (const Cell &Part : llvm::ArrayRef(V->Elements).take_front(64))
      Result += (Result.empty() ? "" : ", ") + shown(Part);
    return "{" + Result + (V->Elements.size() > 64 ? ", ..." : "") + "}";
  case Value::Record:
    for (const FieldDecl *Field : V->Class->fields())
      if (auto It = V->Members.find(Field->getCanonicalDecl());
          It != V->Members.end() && !Field->getType()->isReferenceType())
        Result += (Result.empty() ? "" : ", ") +
                  shownAs(It->second, Field->getType());
    return "{" + Result + "}";
  case Value::Module:
    return V->Held->ClassName + "(...)";
  case Value::Options:
    return V->Name + "Options(...)";
  case Value::Null:
    return "nullptr";
  case Value::Tensor:
    return shownSizes(V);
  case Value::Type:
    return V->Element ? V->Element->Name.str() : "...";
  default:
    return "...";
  }
}

static std::string titleOf(const CXXRecordDecl *R,
                           llvm::ArrayRef<Cell> Arguments) {
  const CXXConstructorDecl *Constructor =
      Interpreter::constructorFor(R, Arguments);
  std::string Result = shownName(R) + "(";
  for (size_t I = 0; I < Arguments.size(); ++I) {
    const bool HasType = Constructor && I < Constructor->getNumParams();
    Result += I ? ", " : "";
    Result +=
        HasType ? shownAs(Arguments[I], Constructor->getParamDecl(I)->getType())
                : shown(Arguments[I]);
  }
  return Result + ")";
}

namespace {

/// Makes rows of a module.
class RowMaker {
public:
  /// \p Stopped: members that are not registered may have been, later.
  RowMaker(const SourceManager &SM, bool Stopped, std::vector<ModuleRow> &Rows)
      : SM(SM), Stopped(Stopped), Rows(Rows) {}

  /// The paths of the modules that have rows.
  const std::map<const ModuleInstance *, std::string> &paths() const {
    return Seen;
  }

  void add(const ModulePtr &Root, StringRef Name) {
    addRow(Root, "", Name, 0, /*Unlisted=*/false);
    // After all that is listed: what is in both is listed.
    for (size_t I = 0; I < Held.size(); ++I) {
      const HeldModule H = Held[I];
      if (!Seen.count(H.Module.get()))
        addRow(H.Module, H.Path, H.Name, 1, /*Unlisted=*/true);
    }
  }

private:
  struct HeldModule {
    ModulePtr Module;
    std::string Path, Name;
  };

  void addTensors(const ModuleInstance &M, ModuleRow &Row) {
    for (const bool IsParameter : {true, false})
      for (const ModuleInstance::Tensor &T :
           IsParameter ? M.Parameters : M.Buffers) {
        const torch::TensorShape &Shape = T.Handle->Shape;
        // A handle that was registered twice is one tensor.
        if (!Shape.Defined || !Counted.insert(T.Handle.get()).second)
          continue;
        TensorRow Tensor;
        Tensor.Name = T.Name;
        Tensor.IsParameter = IsParameter;
        Tensor.GetsGradient =
            IsParameter && T.Handle->RequiresGrad.value_or(false);
        Tensor.HasShape = Shape.Sizes.has_value();
        if (Shape.Sizes)
          for (const torch::Size &S : *Shape.Sizes)
            Tensor.Shape.push_back(S && *S >= 0 ? *S : -1);
        if (Shape.Type)
          Tensor.Type = Shape.Type->Name.str();
        Tensor.IsKnown = Shape.bytes().has_value();
        Tensor.Elements = Shape.elements().value_or(0);
        Tensor.Bytes = Shape.bytes().value_or(0);
        Row.IsIncomplete |= !Tensor.IsKnown;
        Row.Tensors.push_back(std::move(Tensor));
      }
  }

  void addRow(const ModulePtr &M, const std::string &Path, StringRef Name,
              unsigned Depth, bool Unlisted) {
    ModuleRow Row;
    Row.Path = Path;
    Row.Name = Name.str();
    Row.Class = M->ClassName;
    if (M->Class && !torch::isTorchDecl(M->Class))
      Row.Defined = spotOf(M->Class->getLocation(), SM);
    Row.Made = spotOf(M->Made, SM);
    Row.At = M->Made;
    Row.Depth = Depth;
    Row.IsUnlisted = Unlisted;
    if (auto It = Seen.find(M.get()); It != Seen.end()) {
      Row.IsRepeated = true;
      Row.SameAs = It->second;
      Rows.push_back(std::move(Row));
      return;
    }
    Seen.emplace(M.get(), Path);
    Row.IsIncomplete = M->IsIncomplete;
    addTensors(*M, Row);
    Rows.push_back(std::move(Row));
    auto PathOf = [&](StringRef Child) {
      return Path.empty() ? Child.str() : Path + "." + Child.str();
    };
    for (const ModuleInstance::Child &Child : M->Children)
      // As deep as nothing is that a program could make.
      if (Depth < 256)
        addRow(Child.Module, PathOf(Child.Name), Child.Name, Depth + 1,
               Unlisted);
    for (const ModuleInstance::Child &Child : M->Unlisted)
      Held.push_back({Child.Module, PathOf(Child.Name), PathOf(Child.Name)});
    if (Stopped || M->IsIncomplete)
      return;
    for (const auto &[Field, Member] : M->Members) {
      if (Field->getType()->isAnyPointerType() ||
          Field->getType()->isReferenceType())
        continue; // Not an owner.
      auto Hold = [&](const Cell &V) {
        if (V->What == Value::Module)
          Held.push_back(
              {V->Held, PathOf(Field->getName()), PathOf(Field->getName())});
      };
      Hold(Member);
      if (Member->What == Value::List)
        for (const Cell &Element : Member->Elements)
          Hold(Element);
    }
  }

  const SourceManager &SM;
  const bool Stopped;
  std::vector<ModuleRow> &Rows;
  std::map<const ModuleInstance *, std::string> Seen;
  std::set<const TensorInstance *> Counted;
  std::vector<HeldModule> Held;
};

/// A construction of a module in the program.
struct Construction {
  const CXXRecordDecl *Class;
  llvm::SmallVector<const Expr *, 4> Arguments;
  SourceLocation At;
};

/// Finds module classes, and where the program makes modules: not in the
/// methods of modules, where parts are made.
class Finder : public RecursiveASTVisitor<Finder> {
public:
  /// \p WithInputs: what forward() is passed is looked for, too.
  Finder(const Interpreter::DefineDecl &Define, const SourceManager &SM,
         unsigned OwnText, bool WithInputs)
      : Define(Define), SM(SM), OwnText(OwnText), WithInputs(WithInputs) {}

  std::vector<const CXXRecordDecl *> Classes;
  std::vector<Construction> Made;
  std::vector<PassedInputs> Passed;
  std::vector<const FunctionDecl *> Defined;
  Interpreter::Bodies Bodies;

  bool shouldVisitTemplateInstantiations() const { return true; }

  bool TraverseDecl(Decl *D) {
    // The driver has left the library out; a check in the plugin has not.
    if (D && D->getLexicalDeclContext() &&
        D->getLexicalDeclContext()->isTranslationUnit() &&
        !torch::isUserCode(D->getLocation(), SM))
      return true;
    const auto *Method = dyn_cast_or_null<CXXMethodDecl>(D);
    const auto *Field = dyn_cast_or_null<FieldDecl>(D);
    const bool IsInside =
        (Method && torch::isModuleClass(Method->getParent())) ||
        (Field &&
         torch::isModuleClass(dyn_cast<CXXRecordDecl>(Field->getParent())));
    Inside += IsInside;
    const bool Result = RecursiveASTVisitor::TraverseDecl(D);
    Inside -= IsInside;
    return Result;
  }

  bool VisitFunctionDecl(FunctionDecl *F) {
    if (F->doesThisDeclarationHaveABody() && F->getBody() &&
        !F->isDependentContext())
      Bodies.push_back(F->getBody());
    if (F->isThisDeclarationADefinition() && !F->isInlined() &&
        !F->isDependentContext() && !F->isTemplateInstantiation() &&
        isOwn(F->getLocation()))
      Defined.push_back(F);
    return true;
  }

  bool VisitCXXRecordDecl(CXXRecordDecl *R) {
    if (isOwn(R->getLocation()) && R->isThisDeclarationADefinition() &&
        !R->isDependentContext() &&
        torch::modelClass(R) == torch::ModelClass::UserModule)
      Classes.push_back(R);
    return true;
  }

  bool VisitCXXConstructExpr(CXXConstructExpr *E) {
    const CXXConstructorDecl *Constructor = E->getConstructor();
    if (Inside || Constructor->isCopyOrMoveConstructor() ||
        E->isTypeDependent() || !isOwn(E->getBeginLoc()))
      return true;
    const CXXRecordDecl *R = Constructor->getParent();
    const CXXRecordDecl *Class = torch::heldBy(R) ? torch::heldBy(R) : R;
    // A holder of what is there: no arguments of the module.
    if (Class != R && E->getNumArgs() == 1) {
      const QualType Given = E->getArg(0)->getType();
      if (Given->isNullPtrType() || torch::isModule(Given))
        return true;
    }
    add(Class, llvm::ArrayRef(E->getArgs(), E->getNumArgs()), E->getBeginLoc());
    return true;
  }

  bool VisitCallExpr(CallExpr *E) {
    if (Inside || E->isTypeDependent() || !isOwn(E->Stmt::getBeginLoc()))
      return true;
    if (WithInputs)
      if (std::optional<PassedInputs> Inputs = asPassedInputs(E))
        Passed.push_back(std::move(*Inputs));
    if (!code::isStdCall(E, {"make_shared", "make_unique"}))
      return true;
    add(torch::recordOf(torch::pointeeOf(E->getType())),
        llvm::ArrayRef(E->getArgs(), E->getNumArgs()), E->Stmt::getBeginLoc());
    return true;
  }

private:
  /// Else it comes from the files that were read after the unit's own text.
  bool isOwn(SourceLocation Loc) const {
    Loc = SM.getExpansionLoc(Loc);
    FileID File = SM.getFileID(Loc);
    while (File != SM.getMainFileID()) {
      Loc = SM.getIncludeLoc(File);
      if (Loc.isInvalid())
        return true;
      File = SM.getFileID(Loc);
    }
    return SM.getFileOffset(Loc) < OwnText;
  }

  void add(const CXXRecordDecl *Class, llvm::ArrayRef<const Expr *> Arguments,
           SourceLocation At) {
    Class = Class && !Class->isDependentContext()
                ? Interpreter::definitionOf(Class, Define)
                : nullptr;
    if (!Class || Class->isDependentContext() ||
        torch::modelClass(Class) != torch::ModelClass::UserModule)
      return;
    Construction C{Class, {}, At};
    for (const Expr *Argument : Arguments)
      if (!isa<CXXDefaultArgExpr>(Argument))
        C.Arguments.push_back(Argument);
    Made.push_back(std::move(C));
  }

  const Interpreter::DefineDecl &Define;
  const SourceManager &SM;
  const unsigned OwnText;
  const bool WithInputs;
  unsigned Inside = 0;
};

class Elaborator {
public:
  Elaborator(ASTContext &Context, const BudgetRequest &Request,
             unsigned OwnText, Interpreter::DefineDecl Define)
      : Context(Context), SM(Context.getSourceManager()), Request(Request),
        Define(std::move(Define)),
        Found(this->Define, SM, OwnText,
              Request.WithSteps && Request.Inputs.empty() &&
                  !Request.OnlyDefines) {}

  UnitBudget run();
  std::optional<uint64_t> keptBy(const PassedInputs &Passed, bool Training,
                                 bool InputsGo);

private:
  void findByName(const ModelText &Asked);
  void findAll();
  /// True when it could be followed.
  bool elaborate(const CXXRecordDecl *Class, llvm::ArrayRef<Cell> Arguments,
                 Interpreter &Running);
  std::optional<StepInputs> inputsOf(const CXXRecordDecl *Class);
  void refuse(std::string Title, SourceLocation Where, std::string Reason,
              bool IsNotMade = false) {
    Result.Refused.push_back(
        {std::move(Title), spotOf(Where, SM), std::move(Reason), IsNotMade});
  }
  std::vector<std::string> constructorsOf(const CXXRecordDecl *Class) const;
  void share(const FunctionDecl *F, std::vector<SharedFunction> &To) const {
    if (std::string Name = flow::programName(F); !Name.empty())
      To.push_back(
          {std::move(Name), spotOf(F->getCanonicalDecl()->getLocation(), SM)});
  }

  ASTContext &Context;
  const SourceManager &SM;
  const BudgetRequest Request;
  const Interpreter::DefineDecl Define;
  Finder Found;
  UnitBudget Result;
  /// Of the models so far: the classes in them, without the model's own.
  std::set<std::string> Parts;
  std::set<const FunctionDecl *> Wanted;
  unsigned Steps = 0;
};

} // namespace

/// How a user writes a model of \p Class: its constructors.
std::vector<std::string>
Elaborator::constructorsOf(const CXXRecordDecl *Class) const {
  std::vector<std::string> Lines;
  const PrintingPolicy Policy(Context.getLangOpts());
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

/// Tensors whose sizes are known and cannot be: nothing else says so.
static void nameUnknownSizes(ModelRows &Model) {
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

/// What was asked for, or the first that the program passes to such a model.
std::optional<StepInputs> Elaborator::inputsOf(const CXXRecordDecl *Class) {
  if (!Request.Inputs.empty())
    return model::inputsOf(Request.Inputs, Class, SM);
  for (const PassedInputs &Passed : Found.Passed) {
    if (Passed.Class != Class->getCanonicalDecl() || Steps > MaxStepsOfAll)
      continue;
    Interpreter Aside(Context, Define, Found.Bodies);
    std::optional<StepInputs> Inputs =
        model::inputsOf(Passed, Aside, torch::elementType(Request.Type), SM);
    Steps += Aside.steps();
    if (Inputs)
      return Inputs;
  }
  return std::nullopt;
}

bool Elaborator::elaborate(const CXXRecordDecl *Class,
                           llvm::ArrayRef<Cell> Arguments,
                           Interpreter &Running) {
  const std::string Title = titleOf(Class, Arguments);
  if (Steps > MaxStepsOfAll || Result.Models.size() >= MaxModels) {
    refuse(Title, Class->getLocation(),
           "there are too many models in this file; ask for it with --model");
    return false;
  }
  const ModulePtr Made = Running.make(Class, Arguments, Class->getLocation());
  const auto Want = llvm::make_scope_exit([&] {
    Steps += Running.steps();
    llvm::copy(Running.undefined(), std::inserter(Wanted, Wanted.end()));
  });
  if (Running.failure() || !Made) {
    const SourceLocation Where =
        Running.failure() ? Running.failure()->Where : Class->getLocation();
    refuse(Title, Where,
           Running.failure() ? Running.failure()->Text
                             : "no constructor takes these arguments");
    return false;
  }
  if (const auto Type = torch::elementType(Request.Type))
    Interpreter::convertModule(Made, *Type);
  ModelRows Model;
  Model.Title = Title;
  Model.Made = spotOf(Class->getLocation(), SM);
  RowMaker Rows(SM, Running.hasStopped(), Model.Modules);
  Rows.add(Made, Made->ClassName);
  for (const Gap &G : Running.gaps())
    Model.Missing.push_back({spotOf(G.Where, SM), G.Text});
  nameUnknownSizes(Model);
  if (Request.WithSteps && !Running.hasStopped())
    if (const std::optional<StepInputs> Inputs = inputsOf(Class))
      addStep(Running, Made, *Inputs, Request, Rows.paths(), SM, Model);
  for (const ModuleRow &Row : llvm::drop_begin(Model.Modules))
    if (Row.Class != Made->ClassName)
      Parts.insert(Row.Class);
  Result.Models.push_back(std::move(Model));
  return true;
}

/// Is \p R what a user calls \p Wanted? Sure: with its namespaces, all of them.
/// The arguments of a template may be left out.
static bool isCalled(const CXXRecordDecl *R, StringRef Wanted, bool &IsSure) {
  for (const bool OfHolder : {true, false}) {
    std::string Full = fullName(R, OfHolder);
    Full.erase(std::remove(Full.begin(), Full.end(), ' '), Full.end());
    const StringRef WithoutArguments = StringRef(Full).split('<').first;
    for (const StringRef Name : {StringRef(Full), WithoutArguments}) {
      IsSure = Name == Wanted && Name == Full;
      if (Name == Wanted || Name.ends_with(("::" + Wanted).str()))
        return true;
    }
  }
  return false;
}

void Elaborator::findByName(const ModelText &Asked) {
  StringRef Wanted = Asked.Name;
  const bool FromRoot = Wanted.consume_front("::");
  llvm::SmallVector<const CXXRecordDecl *, 4> Matching;
  for (const CXXRecordDecl *R : Found.Classes) {
    bool IsSure = false;
    if (!isCalled(R, Wanted, IsSure) || (FromRoot && !IsSure))
      continue;
    if (IsSure)
      Matching.clear();
    Matching.push_back(R);
    if (IsSure)
      break;
  }
  if (Matching.empty())
    return;
  const CXXRecordDecl *Class = Matching.front();
  Result.HasModel = true;
  if (Matching.size() > 1) {
    std::vector<std::string> Names;
    for (const CXXRecordDecl *R : Matching)
      Names.push_back(fullName(R));
    refuse(Asked.Name, Class->getLocation(),
           "several classes are called that: " + llvm::join(Names, ", "));
    return;
  }
  if (!Interpreter::constructorFor(Class, Asked.Arguments) &&
      !(Asked.Arguments.empty() && Class->needsImplicitDefaultConstructor())) {
    refuse(titleOf(Class, Asked.Arguments), Class->getLocation(),
           "no constructor takes these arguments; there are: " +
               llvm::join(constructorsOf(Class), "; "));
    return;
  }
  Interpreter Running(Context, Define, Found.Bodies);
  elaborate(Class, Asked.Arguments, Running);
}

/// The values of what \p C is made with. \p Unknown: the first that is not
/// known; else it stays null.
static std::vector<Cell> argumentsOf(const Construction &C,
                                     Interpreter &Running,
                                     const Value *&Unknown) {
  std::vector<Cell> Result;
  for (const Expr *Argument : C.Arguments)
    Result.push_back(Running.evaluate(Argument));
  for (const Cell &Argument : Result)
    if (hasUnknown(Argument, Unknown))
      break;
  return Result;
}

void Elaborator::findAll() {
  std::set<const CXXRecordDecl *> Done;
  std::set<std::string> Titles;
  std::map<const CXXRecordDecl *, std::pair<SourceLocation, std::string>>
      NotKnown;
  for (const Construction &C : Found.Made) {
    Interpreter Running(Context, Define, Found.Bodies);
    const Value *Unknown = nullptr;
    const std::vector<Cell> Arguments = argumentsOf(C, Running, Unknown);
    if (Unknown) {
      llvm::copy(Running.undefined(), std::inserter(Wanted, Wanted.end()));
      NotKnown.try_emplace(C.Class, C.At,
                           Unknown->Why.empty()
                               ? "made with arguments that are not known"
                               : "made with " + Unknown->Why +
                                     ", which is not known");
      continue;
    }
    if (!Titles.insert(fullName(C.Class) + titleOf(C.Class, Arguments)).second)
      continue;
    Done.insert(C.Class);
    elaborate(C.Class, Arguments, Running);
  }
  // Those that nobody is seen to make, as their default constructor does.
  const size_t MadeByProgram = Result.Models.size();
  std::vector<const CXXRecordDecl *> Others;
  for (const CXXRecordDecl *R : Found.Classes)
    if (!Done.count(R) && !R->isAbstract())
      Others.push_back(R);
  auto IsDefault = [](const CXXRecordDecl *R) {
    return Interpreter::constructorFor(R, {}) ||
           R->needsImplicitDefaultConstructor();
  };
  for (const CXXRecordDecl *R : Others)
    if (IsDefault(R) && !NotKnown.count(R) && !Parts.count(shownName(R))) {
      Interpreter Running(Context, Define, Found.Bodies);
      elaborate(R, {}, Running);
    }
  // A part of another model is in its tree.
  std::vector<ModelRows> Kept;
  for (size_t I = 0; I < Result.Models.size(); ++I)
    if (I < MadeByProgram ||
        !Parts.count(Result.Models[I].Modules.front().Class))
      Kept.push_back(std::move(Result.Models[I]));
  Result.Models = std::move(Kept);
  for (const CXXRecordDecl *R : Others) {
    const std::string Name = shownName(R);
    const bool IsBase = llvm::any_of(Found.Classes, [&](const auto *Other) {
      return torch::anyBase(Other, [&](const CXXRecordDecl *B) {
        return B->getCanonicalDecl() == R->getCanonicalDecl();
      });
    });
    if (Parts.count(Name) || (IsBase && !NotKnown.count(R)))
      continue;
    if (auto It = NotKnown.find(R); It != NotKnown.end())
      refuse(Name, It->second.first, "it is " + It->second.second);
    else if (!IsDefault(R))
      refuse(Name, R->getLocation(),
             "its constructor takes arguments, and nothing here makes it; "
             "give them with --model='" +
                 Name + "(...)'",
             /*IsNotMade=*/true);
  }
  // Of a class that has an answer, another one may be made.
  for (const CXXRecordDecl *R : Found.Classes)
    if (auto It = NotKnown.find(R); It != NotKnown.end() && Done.count(R))
      refuse(shownName(R), It->second.first,
             "another one is " + It->second.second);
}

UnitBudget Elaborator::run() {
  for (Decl *D : Context.getTraversalScope())
    Found.TraverseDecl(D);
  for (const FunctionDecl *F : Found.Defined)
    share(F, Result.Defines);
  if (Request.OnlyDefines)
    return std::move(Result);
  llvm::stable_sort(
      Found.Classes, [&](const CXXRecordDecl *A, const CXXRecordDecl *B) {
        return SM.isBeforeInTranslationUnit(A->getLocation(), B->getLocation());
      });
  for (const CXXRecordDecl *R : Found.Classes)
    if (!R->isAbstract())
      llvm::append_range(Result.Known, constructorsOf(R));
  if (Request.Model.empty()) {
    findAll();
  } else if (llvm::Expected<ModelText> Asked = parseModelText(Request.Model)) {
    findByName(*Asked);
  } else {
    llvm::consumeError(Asked.takeError()); // The command line was checked.
  }
  for (const FunctionDecl *F : Wanted)
    share(F, Result.Wants);
  // In an order that does not depend on where they lie in memory.
  llvm::sort(Result.Wants,
             [](const auto &A, const auto &B) { return A.Name < B.Name; });
  return std::move(Result);
}

std::optional<uint64_t> Elaborator::keptBy(const PassedInputs &Passed,
                                           bool Training, bool InputsGo) {
  for (Decl *D : Context.getTraversalScope())
    Found.TraverseDecl(D);
  std::vector<Construction> Makes;
  llvm::copy_if(Found.Made, std::back_inserter(Makes), [&](const auto &C) {
    return C.Class->getCanonicalDecl() == Passed.Class;
  });
  // A variable is what it is declared with; others may be any of the class.
  const auto *Var = dyn_cast_or_null<VarDecl>(Passed.Model);
  const auto *F = Var ? dyn_cast<FunctionDecl>(Var->getDeclContext()) : nullptr;
  if (F && F->hasBody() && code::Body::of(F->getDefinition()).isSetOnce(Var)) {
    auto IsOther = [&](const Construction &C) {
      return !SM.isPointWithin(C.At, Var->getBeginLoc(), Var->getEndLoc());
    };
    if (!llvm::all_of(Makes, IsOther))
      llvm::erase_if(Makes, IsOther);
  }
  // More are several models, as a rule.
  constexpr size_t MaxMakes = 4;
  if (Makes.size() > MaxMakes)
    return std::nullopt;
  std::optional<uint64_t> Result;
  for (const Construction &C : Makes) {
    Interpreter Running(Context, Define, Found.Bodies),
        Aside(Context, Define, Found.Bodies);
    const Value *Unknown = nullptr;
    const std::vector<Cell> Arguments = argumentsOf(C, Running, Unknown);
    if (Unknown)
      return std::nullopt;
    const std::optional<StepInputs> Inputs =
        model::inputsOf(Passed, Aside, std::nullopt, SM);
    const ModulePtr Model =
        Inputs ? Running.make(C.Class, Arguments, C.At) : nullptr;
    if (!Model || Running.failure() || Running.hasStopped() ||
        !Running.gaps().empty())
      return std::nullopt;
    const std::optional<uint64_t> Kept =
        keptByGraph(Running, Model, *Inputs, Training, InputsGo, SM);
    if (!Kept || (Result && *Result != *Kept))
      return std::nullopt;
    Result = Kept;
  }
  return Result;
}

std::optional<uint64_t> keptByForward(ASTContext &Context,
                                      const CallExpr *Forward, bool Training,
                                      bool InputsGo) {
  const std::optional<PassedInputs> Passed = asPassedInputs(Forward);
  if (!Passed)
    return std::nullopt;
  BudgetRequest Request;
  Request.WithSteps = false;
  return Elaborator(Context, Request, std::numeric_limits<unsigned>::max(), {})
      .keptBy(*Passed, Training, InputsGo);
}

UnitBudget elaborate(ASTContext &Context, const BudgetRequest &Request,
                     unsigned OwnText,
                     std::function<void(NamedDecl &)> Define) {
  return Elaborator(Context, Request, OwnText, std::move(Define)).run();
}

} // namespace libtorch_tidy::model
