//===- Inputs.cpp - What a forward() is given -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Elaboration.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/Support/Format.h"

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

Spot spotOf(SourceLocation Loc, const SourceManager &SM) {
  const PresumedLoc Where = SM.getPresumedLoc(SM.getExpansionLoc(Loc));
  if (Where.isInvalid())
    return {};
  return {Where.getFilename(), Where.getLine()};
}

std::string shown(const Cell &V, QualType Type) {
  std::string Result;
  switch (V->What) {
  case Value::Integer:
    // Truths are numbers to the interpreter.
    if (!Type.isNull() && Type->isBooleanType())
      return V->Number ? "true" : "false";
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
        Result +=
            (Result.empty() ? "" : ", ") + shown(It->second, Field->getType());
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
  case Value::Other:
    return V->Name.empty() ? "..." : V->Name;
  default:
    return "...";
  }
}

//===----------------------------------------------------------------------===//
// Of the command line
//===----------------------------------------------------------------------===//

static Cell typed(const Cell &V, QualType T, std::string &Trouble);

/// The elements of a list for containers, tuples and structs.
static void typeElements(const Cell &V, const CXXRecordDecl *R,
                         std::string &Trouble) {
  std::vector<QualType> Types;
  if (cpp::isOfLibrary(R))
    cpp::anyTypeArgument(R, [&](QualType T) {
      Types.push_back(T);
      return false;
    });
  else
    for (const FieldDecl *Field : R->fields())
      Types.push_back(Field->getType());
  const bool IsContainer =
      (cpp::isOfLibrary(R)) && !cpp::isStdClass(R, cpp::StdClass::Tuple);
  for (size_t I = 0; I < V->Elements.size(); ++I)
    if (const size_t Which = IsContainer ? 0 : I; Which < Types.size())
      V->Elements[I] = typed(V->Elements[I], Types[Which], Trouble);
  for (auto &[Name, Setting] : V->Settings)
    for (const FieldDecl *Field : R->fields())
      if (Field->getName() == Name)
        Setting = typed(Setting, Field->getType(), Trouble);
}

/// std::optional, and c10::optional, which older LibTorch uses in its place.
static bool isOptional(const CXXRecordDecl *R) {
  return (cpp::isOfLibrary(R)) && R->getIdentifier() &&
         R->getName() == "optional" && !typeArgument(R, 0).isNull();
}

/// A number that is the size of a tensor.
static Cell asTensor(const Cell &V) {
  if (V->What != Value::Integer || V->Number <= 0 ||
      V->Number > MostOfDimension || !V->Name.empty())
    return V;
  auto T = std::make_shared<TensorInstance>();
  T->Shape.Sizes = {{V->Number}};
  T->Shape.Type.reset();
  return tensorValue(std::move(T));
}

/// \p V, a value of the command line, for something of type \p T.
static Cell typed(const Cell &V, QualType T, std::string &Trouble) {
  T = T.getNonReferenceType();
  const CXXRecordDecl *R = T->getAsCXXRecordDecl();
  if (R && isOptional(R))
    return typed(V, typeArgument(R, 0), Trouble);
  auto Need = [&](bool IsGiven, StringRef What) {
    if (!IsGiven && Trouble.empty())
      Trouble = ("takes " + What + " where " + shown(V) + " is given").str();
  };
  if (torch::isTensor(T)) {
    const Cell Given = asTensor(V);
    Need(Given->What == Value::Tensor, "a tensor");
    return Given;
  }
  Need(!T->isArithmeticType() || isNumber(V), "a number");
  Need(!R || V->What != Value::Tensor, "no tensor");
  if (R && V->What == Value::List)
    typeElements(V, R->getDefinition() ? R->getDefinition() : R, Trouble);
  return V;
}

StepInputs inputsOf(ArrayRef<std::string> Texts, const CXXRecordDecl *Class,
                    const SourceManager &SM) {
  StepInputs Result;
  Result.Texts.assign(Texts.begin(), Texts.end());
  const CXXMethodDecl *Forward =
      Class ? forwardMethod(Class, Texts.size()) : nullptr;
  for (const std::string &Text : Texts) {
    llvm::Expected<Cell> Given = parseInputText(Text);
    if (!Given) { // The command line was checked.
      llvm::consumeError(Given.takeError());
      continue;
    }
    const size_t I = Result.Arguments.size();
    std::string Trouble;
    // Modules of the library take tensors first of all.
    Result.Arguments.push_back(
        Forward ? typed(*Given, Forward->getParamDecl(I)->getType(), Trouble)
                : asTensor(*Given));
    if (Trouble.empty() || Result.Trouble)
      continue;
    const ParmVarDecl *Param = Forward->getParamDecl(I);
    Result.Trouble = {
        spotOf(Param->getLocation(), SM),
        ("'" + Param->getName() + "' of forward() " + Trouble).str()};
  }
  return Result;
}

//===----------------------------------------------------------------------===//
// With other tensors
//===----------------------------------------------------------------------===//

using Change = llvm::function_ref<TensorPtr(const TensorPtr &)>;

static Cell withTensors(const Cell &V, Change Changed,
                        std::map<const TensorInstance *, TensorPtr> &Made) {
  const Cell Result = cell(*V);
  if (V->What == Value::Tensor && V->Handle->Shape.Defined) {
    TensorPtr &New = Made[V->Handle.get()];
    if (!New)
      New = Changed(V->Handle);
    Result->Handle = New;
  }
  forEachPart(*Result,
              [&](Cell &Part) { Part = withTensors(Part, Changed, Made); });
  return Result;
}

/// \p Given with other tensors. Those that are the same stay one.
static std::vector<Cell> withTensors(ArrayRef<Cell> Given, Change Changed) {
  std::map<const TensorInstance *, TensorPtr> Made;
  std::vector<Cell> Result;
  for (const Cell &V : Given)
    Result.push_back(withTensors(V, Changed, Made));
  return Result;
}

/// With their floating types made \p Type.
static std::vector<Cell> converted(ArrayRef<Cell> Given, ElementType Type) {
  return withTensors(Given, [&](const TensorPtr &T) {
    auto New = std::make_shared<TensorInstance>(*T);
    if (T->Shape.Type && isFloating(*T->Shape.Type))
      New->Shape.Type = Type;
    return New;
  });
}

std::vector<Cell> placed(ArrayRef<Cell> Given, Simulation &S,
                         ElementType Type) {
  return withTensors(Given, [&](const TensorPtr &T) {
    const TensorPtr New = S.make(T->sizes(), T->Shape.Type.value_or(Type));
    New->RequiresGrad = T->RequiresGrad;
    if (T->Strides.size() == New->Strides.size() && T->isDense())
      New->Strides = T->Strides;
    return New;
  });
}

std::optional<std::vector<Cell>> withBatch(ArrayRef<Cell> Given,
                                           int64_t Batch) {
  Size Before;
  std::vector<Cell> Result = withTensors(Given, [&](const TensorPtr &T) {
    auto New = std::make_shared<TensorInstance>(*T);
    std::vector<Size> &Sizes = *New->Shape.Sizes;
    if (Sizes.empty())
      return New;
    if (!Before)
      Before = Sizes.front();
    if (Sizes.front() == Before)
      Sizes.front() = Batch;
    return New;
  });
  if (!Before)
    return std::nullopt;
  return Result;
}

//===----------------------------------------------------------------------===//
// Of the program
//===----------------------------------------------------------------------===//

std::optional<PassedInputs> asPassedInputs(const CallExpr *E) {
  const std::optional<torch::ModuleCall> Call = torch::asModuleCall(E);
  const auto *Method =
      Call ? dyn_cast_or_null<CXXMethodDecl>(Call->Method) : nullptr;
  if (!Method || !Call->Module || Call->Inputs.empty() || !isForward(Method))
    return std::nullopt;
  // What is called may be a base of the model's class.
  const CXXRecordDecl *Class = Method->getParent();
  for (const CXXRecordDecl *Of :
       {cpp::recordOf(Call->Module->getType()),
        cpp::recordOf(cpp::pointeeOf(Call->Module->getType()))})
    if (const CXXRecordDecl *Held = heldBy(Of))
      Class = Held;
    else if (torch::isModuleClass(Of))
      Class = Of;
  return PassedInputs{
      {Class->getCanonicalDecl(), Call->Inputs, E->Stmt::getBeginLoc()},
      torch::moduleNamed(Call->Module)};
}

/// Is \p V something that a step can be given? All sizes are known.
static bool isKnown(const Cell &V) {
  switch (V->What) {
  case Value::Tensor:
    return !V->Handle->Shape.Defined || V->Handle->Shape.bytes().has_value();
  case Value::List:
    return llvm::all_of(V->Elements, isKnown);
  case Value::Record:
    return llvm::all_of(V->Members, [](const auto &Member) {
      return Member.first->getType()->isReferenceType() ||
             isKnown(Member.second);
    });
  case Value::Unknown:
  case Value::Module:
  case Value::Pointer:
  case Value::Iterator:
  case Value::Function:
    return false;
  default:
    return true;
  }
}

std::optional<StepInputs> inputsOf(const PassedInputs &Passed,
                                   Interpreter &Running,
                                   std::optional<ElementType> Type) {
  std::vector<Cell> Values;
  for (const Expr *Argument : Passed.Arguments) {
    Values.push_back(Running.evaluate(Argument));
    if (!isKnown(Values.back()))
      return std::nullopt;
  }
  return inputsOf(std::move(Values), Passed.At, Running, Type);
}

std::optional<StepInputs> inputsOf(std::vector<Cell> Values, SourceLocation At,
                                   Interpreter &Running,
                                   std::optional<ElementType> Type) {
  StepInputs Result;
  Result.From = spotOf(At, Running.Context.getSourceManager());
  Result.Arguments = std::move(Values);
  if (!llvm::all_of(Result.Arguments, isKnown))
    return std::nullopt;
  if (Type)
    Result.Arguments = converted(Result.Arguments, *Type);
  for (const Cell &Argument : Result.Arguments)
    Result.Texts.push_back(shown(Argument));
  // Without a tensor there is nothing to follow.
  if (tensorsIn(Result.Arguments).empty())
    return std::nullopt;
  return Result;
}

} // namespace libtorch_tidy::bytes
