//===- Forward.cpp - Passes of forward() ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Interpreter.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/GradGuards.h"

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

StringRef Interpreter::running() const {
  return Pass ? "forward()" : "the constructor";
}

std::vector<Gap> Interpreter::takeGapsOfPass() {
  std::vector<Gap> Result = std::move(GapsOfPass);
  GapsOfPass.clear();
  if (Failure)
    Result.push_back(*Failure);
  Failure.reset();
  Halted = false;
  Before += Steps;
  Steps = 0;
  Noted.clear();
  return Result;
}

void Interpreter::setPlace(const ModuleInstance *Module, SourceLocation At) {
  const auto [It, New] = PlaceNumbers.try_emplace(
      {Module, At}, static_cast<unsigned>(Places.size()));
  if (New)
    Places.push_back({Module, At});
  Pass->memory().setPlace(It->second);
}

void noteResult(Interpreter &VM, const Cell &Module, const Cell &Result) {
  if (Module->What == Value::Module)
    VM.Results[Module->Held.get()] = shownSizes(Result);
}

std::vector<TensorPtr> tensorsIn(ArrayRef<Cell> Given) {
  std::vector<TensorPtr> Result;
  for (const Cell &V : Given) {
    if (V->What == Value::Tensor && V->Handle->Shape.Defined)
      Result.push_back(V->Handle);
    if (V->What == Value::List)
      llvm::append_range(Result, tensorsIn(V->Elements));
    if (V->What == Value::Record)
      // In the order in which they are declared.
      for (const FieldDecl *Field : V->Class->fields())
        if (auto It = V->Members.find(Field->getCanonicalDecl());
            It != V->Members.end() && !Field->getType()->isReferenceType())
          llvm::append_range(Result, tensorsIn(It->second));
  }
  return Result;
}

std::string shownSizes(const Cell &V) {
  std::string Result;
  for (const TensorPtr &T : tensorsIn(V)) {
    if (!Result.empty())
      Result += ", ";
    if (Result.size() > 200)
      return Result + "...";
    std::string Sizes;
    for (const int64_t N : T->sizes())
      Sizes += (Sizes.empty() ? "" : "x") + std::to_string(N);
    Result += Sizes.empty() ? "1" : Sizes;
    if (T->Shape.Type && T->Shape.Type->Name != Float32.Name)
      Result += ":" + T->Shape.Type->Name.str();
  }
  return Result;
}

Cell guardOf(Interpreter &VM, const CXXRecordDecl *Class,
             ArrayRef<Cell> Arguments) {
  const std::optional<bool> On = torch::gradientsUnder(
      Class, Arguments.empty() ? std::nullopt : truth(Arguments.front()));
  if (!On)
    return nullptr;
  // A pass may begin before it ends.
  const auto Set = [&VM](bool To) { return std::exchange(VM.gradMode(), To); };
  const bool Before = Set(*On);
  return valueOf(
      Value::Other, &Value::Guard,
      std::shared_ptr<void>(nullptr, [Set, Before](void *) { Set(Before); }));
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// \p V as operators take it: what a pointer leads to, and unknown where a part
/// is.
static Cell argumentOf(const Cell &V) {
  switch (V->What) {
  case Value::Pointer:
    return argumentOf(V->Target);
  case Value::Tensor:
    return V->Handle->Shape.Defined ? V : valueOf(Value::Null);
  case Value::List:
  case Value::Slice: {
    const Cell Result = valueOf(V->What);
    for (const Cell &Element : V->Elements) {
      Result->Elements.push_back(argumentOf(Element));
      if (Result->Elements.back()->What == Value::Unknown)
        return Result->Elements.back();
    }
    return Result;
  }
  case Value::Record:
  case Value::Module:
  case Value::Iterator:
  case Value::Function:
    return valueOf(Value::Unknown);
  default:
    return V;
  }
}

static void addSettings(const OptionValues &Settings, Arguments &To) {
  for (const auto &[Name, Setting] : Settings)
    To[Name] = argumentOf(Setting);
}

/// Does an operator with \p Given make a sparse gradient?
static bool hasSparseGradient(const Arguments &Given) {
  const auto Sparse = Given.find("sparse"), Weight = Given.find("weight");
  return Sparse != Given.end() && Weight != Given.end() &&
         truth(Sparse->second).value_or(false) &&
         Weight->second->What == Value::Tensor &&
         Weight->second->Handle->needsGradient();
}

/// Does the operator \p Name, which gave \p T, write in place into a part of a
/// tensor, whose graph has it then?
static bool writesIntoPart(StringRef Name, const TensorPtr &T) {
  const std::optional<uint64_t> Bytes = T->Shape.bytes();
  return Name.ends_with("_") && T->Maker && T->Memory && Bytes &&
         *Bytes < T->Memory->Bytes;
}

/// Outside of a pass, what is not followed is no gap.
static Cell runOperator(Interpreter &VM, StringRef Name, const Arguments &Given,
                        const ModuleInstance *Module, SourceLocation At) {
  size_t Work = 0;
  for (const auto &[Operand, Value] : Given)
    for (const TensorPtr &T : tensorsIn(static_cast<const Cell &>(Value))) {
      if (VM.Pass && VM.OnTensor)
        VM.OnTensor(T);
      Work += StepsPerTensor + (T->Shape.Sizes ? T->Shape.Sizes->size() : 0);
    }
  if (!VM.step(At, Work))
    return unknown(At, "");
  if (VM.Pass)
    VM.setPlace(Module, At);
  const OperatorResult Result = VM.simulation().run(Name, Given);
  if (Result.What == OperatorResult::NotFollowed) {
    if (VM.Pass)
      VM.note(At, Result.Why.empty()
                      ? "what '" + Name + "' takes and keeps is not known"
                      : Twine(Result.Why).str());
    return unknown(At, "the tensor that '" + Name + "' gives");
  }
  if (Result.What == OperatorResult::Throws) {
    VM.throws(At, Result.Why);
    return unknown(At, "");
  }
  if (VM.Pass && VM.Pass->GradMode && hasSparseGradient(Given)) {
    VM.Pass->atMost("a gradient is sparse, and counts as a dense one");
    VM.note(At, "what optimizers keep of a sparse gradient is not known");
  }
  if (VM.Pass && Result.What == OperatorResult::One &&
      writesIntoPart(Name, Result.Tensors.front()))
    VM.note(At, WrittenIntoPart);
  if (Result.What == OperatorResult::One)
    return tensorValue(Result.Tensors.front());
  std::vector<Cell> All;
  for (const TensorPtr &T : Result.Tensors)
    All.push_back(tensorValue(T));
  return listOf(std::move(All));
}

/// The arguments of \p C by their names. Where a tensor is not known, it is \p
/// Unknown. With \p LacksType, arguments that decide the type of the result are
/// left out if they are not known, and it is set.
static Arguments operatorArguments(const LibraryCall &C, bool *LacksType,
                                   Cell &Unknown) {
  Arguments Given;
  const Cell Self = C.Object              ? C.Object
                    : C.Arguments.empty() ? nullptr
                                          : C.Arguments.front();
  const bool IsReal = Self && Self->What == Value::Tensor &&
                      Self->Handle->Shape.Type &&
                      isFloating(*Self->Handle->Shape.Type);
  auto Add = [&](StringRef Name, const Cell &V, bool IsTensor) {
    Given[Name.str()] = argumentOf(V);
    if (IsTensor && V->What == Value::Unknown)
      Unknown = V;
  };
  if (C.Object)
    Add("self", C.Object, true);
  for (unsigned I = 0; I < C.Arguments.size(); ++I) {
    const Cell &V = C.Arguments[I];
    const unsigned Operand = I + (C.Object != nullptr);
    // The sizes of x[i] do not depend on i.
    const unsigned LastParam = C.F->getNumParams();
    if (V->What == Value::Unknown && LastParam &&
        (C.F->getOverloadedOperator() == OO_Subscript || C.Name == "select") &&
        I + 1 == C.Arguments.size() &&
        C.F->getParamDecl(LastParam - 1)->getType()->isIntegerType()) {
      Given["index"] = integer(0);
      continue;
    }
    // Whatever the number is, what it is computed with stays as large.
    if (V->What == Value::Unknown && IsReal && I < LastParam &&
        isScalar(C.F->getParamDecl(I)->getType())) {
      Given[C.F->getOverloadedOperator()
                ? "other"
                : C.F->getParamDecl(I)->getName().str()] = 1.0;
      continue;
    }
    // An operator's operands have other names than its parameters.
    if (const OverloadedOperatorKind Op = C.F->getOverloadedOperator()) {
      if (Operand < 2)
        Add(!Operand             ? "self"
            : Op == OO_Subscript ? "index"
                                 : "other",
            V, true);
    } else if (I < C.F->getNumParams()) {
      const ParmVarDecl *Param = C.F->getParamDecl(I);
      // Options of a functional are arguments, too.
      const bool IsTensor = torch::isTensor(Param->getType());
      if (V->What == Value::Options)
        addSettings(V->Settings, Given);
      if (V->What == Value::Options && !V->Name.empty())
        continue;
      if (LacksType && V->What == Value::Unknown && !IsTensor &&
          decidesElementType(Param->getType()))
        *LacksType = true;
      else
        Add(Param->getName(), V, IsTensor);
    }
  }
  return Given;
}

Cell callOperator(const LibraryCall &C) {
  Cell Unknown;
  bool LacksType = false;
  const Arguments Given =
      operatorArguments(C, C.VM.Pass ? nullptr : &LacksType, Unknown);
  if (Unknown)
    return C.VM.lost(Unknown);
  if (!C.VM.Pass) {
    C.VM.Making.GradMode = false;
    for (const auto &[Name, A] : Given)
      for (const TensorPtr &T : tensorsIn(static_cast<const Cell &>(A)))
        if (!T->Memory)
          C.VM.Making.place(*T);
  }
  const Cell Result =
      runOperator(C.VM, operatorName(C.F), Given, C.VM.current(), C.At);
  if (LacksType && Result->What == Value::Tensor) {
    auto Typeless = std::make_shared<TensorInstance>();
    Typeless->Shape = {Result->Handle->Shape.Sizes, std::nullopt};
    return tensorValue(std::move(Typeless));
  }
  // Operators in place give the object itself.
  for (const Cell &Same :
       {C.Object, C.Arguments.empty() ? Cell() : C.Arguments[0]})
    if (Same && Same->What == Value::Tensor && Result->What == Value::Tensor &&
        Same->Handle == Result->Handle &&
        C.F->getReturnType()->isReferenceType())
      return Same;
  return Result;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

const CXXMethodDecl *forwardMethod(const CXXRecordDecl *Class, size_t Count) {
  for (const CXXMethodDecl *Method : Class->methods())
    if (isForward(Method) && Count >= Method->getMinRequiredArguments() &&
        Count <= Method->getNumParams())
      return Method;
  for (const CXXBaseSpecifier &Base : Class->bases())
    if (const CXXRecordDecl *R = Base.getType()->getAsCXXRecordDecl();
        R && R->hasDefinition() && !torch::isTorchDecl(R))
      if (const CXXMethodDecl *Found = forwardMethod(R->getDefinition(), Count))
        return Found;
  return nullptr;
}

Cell forward(Interpreter &VM, const ModulePtr &M, ArrayRef<Cell> Inputs,
             SourceLocation At) {
  if (!VM.step(At))
    return unknown(At, "");
  if (!M->Class || torch::isTorchDecl(M->Class))
    return forwardOfLibrary(VM, M, M->ClassName, Inputs, At);
  if (const CXXMethodDecl *Method = forwardMethod(M->Class, Inputs.size()))
    return VM.call(Method, Inputs, moduleValue(M), At);
  // A class that derives from one of the library's, and has none of its own.
  for (const CXXBaseSpecifier &Base : M->Class->bases())
    if (const CXXRecordDecl *R = Base.getType()->getAsCXXRecordDecl();
        R && modelClass(R) == ModelClass::LibraryModule)
      return forwardOfLibrary(VM, M, modelClassName(R), Inputs, At);
  VM.fail(At, "'" + M->ClassName + "' has no forward() that takes " +
                  Twine(Inputs.size()) +
                  (Inputs.size() == 1 ? " argument" : " arguments"));
  return unknown(At, "what '" + M->ClassName + "' returns");
}

/// \p V with tensors that share nothing.
static Cell withNewTensors(const Cell &V) {
  const Cell Result = cell(*V);
  if (V->What == Value::Tensor) {
    Result->Handle = std::make_shared<TensorInstance>();
    Result->Handle->Shape = V->Handle->Shape;
  }
  forEachPart(*Result, [](Cell &Part) { Part = withNewTensors(Part); });
  return Result;
}

Cell sizesOfForward(Interpreter &VM, const ModulePtr &M, ArrayRef<Cell> Inputs,
                    SourceLocation At) {
  const Cell Nothing = unknown(At, "what forward() returns");
  for (const Cell &Input : Inputs)
    if (const Value *Unknown = unknownIn(Input))
      return cell(*Unknown);
  std::string Given = M->IsTraining ? "training" : "";
  for (const Cell &Input : Inputs)
    Given += " " + shownSizes(Input);
  auto &Known = VM.Forwards[{M.get(), Given}];
  if (!Known) {
    // A pass whose memory is of no interest, and that leaves nothing behind.
    const std::vector<Cell> Copies = VM.copiesOf(Inputs);
    const size_t Gaps = VM.gapsOfPass(), Living = VM.Temporaries.size();
    VM.Pass = &VM.Making;
    VM.Making.GradMode = false;
    VM.OnTensor = [&VM](const TensorPtr &T) {
      if (!T->Memory)
        VM.Making.place(*T);
    };
    Known = withNewTensors(forward(VM, M, Copies, At));
    if (VM.gapsOfPass() > Gaps)
      Known = Nothing;
    VM.restoreGaps(Gaps);
    VM.OnTensor = nullptr;
    VM.Pass = nullptr;
    VM.Temporaries.resize(Living);
  }
  return withNewTensors(Known);
}

/// As Sequential does it.
static Cell forwardInOrder(Interpreter &VM, const ModuleInstance &M,
                           ArrayRef<Cell> Inputs, SourceLocation At) {
  std::vector<Cell> Passed = VM.copiesOf(Inputs);
  if (M.IsIncomplete) {
    VM.note(At, "not all modules of this " + M.ClassName + " are known");
    return unknown(At, "what a " + M.ClassName + " returns");
  }
  for (const Cell &Input : Inputs)
    if (Input->IsExpiring)
      *Input = *valueOf(Value::Null);
  for (const ModuleInstance::Child &Child : M.Children) {
    // Sequential moves into each module what the one before gave.
    for (const Cell &Each : Passed)
      Each->IsExpiring = Each->What == Value::Tensor;
    const size_t Living = VM.Temporaries.size();
    const Cell Result = VM.copyOf(forward(VM, Child.Module, Passed, At));
    VM.Temporaries.resize(Living);
    if (VM.Halted)
      return Result;
    Passed = {Result};
  }
  if (Passed.empty())
    return unknown(At, "the result of no module");
  Passed.front()->IsExpiring = false;
  return Passed.front();
}

static Cell forwardOfFunctional(Interpreter &VM, const ModulePtr &M,
                                StringRef Class, ArrayRef<Cell> Inputs,
                                SourceLocation At) {
  llvm::SmallVector<Cell, 4> Arguments(Inputs.begin(), Inputs.end());
  const auto Names = positionalOptions(Class);
  for (const StringRef Name : llvm::drop_begin(Names))
    if (Cell Bound = settingOf(M->Settings, Name))
      Arguments.push_back(Bound);
  const Cell Function = settingOf(M->Settings, Names.front());
  const FunctionDecl *F = Function && Function->What == Value::Function
                              ? Function->Callee
                              : nullptr;
  if (!F) {
    VM.note(At, "the function of a Functional is not known");
    return unknown(At, "what a Functional returns");
  }
  return isTensorOperator(F)
             ? callOperator(
                   {VM, nullptr, F, nullptr, Arguments, At, {}, nullptr})
             : VM.callClosure(Function, nullptr, Arguments, At);
}

/// As a module of the library does that runs its children.
static Cell forwardInSteps(Interpreter &VM, const ModuleInstance &M,
                           const ModuleRun &Run, ArrayRef<Cell> Inputs,
                           SourceLocation At) {
  std::map<StringRef, Cell> Variables = {{"true", integer(1)},
                                         {"false", integer(0)}};
  for (const auto &[I, Name] : llvm::enumerate(Run.Inputs))
    Variables[Name] = I < Inputs.size() ? Inputs[I] : valueOf(Value::Null);
  auto Child = [&](StringRef Name) -> ModulePtr {
    for (const ModuleInstance::Child &Each : M.Children)
      if (Each.Name == Name)
        return Each.Module;
    return nullptr;
  };
  std::vector<StringRef> Expression; ///< Its results stay alive until it ends.
  Cell Result;
  for (const StringRef Step : llvm::split(Run.Steps, ';')) {
    const size_t Living = VM.Temporaries.size();
    llvm::SmallVector<StringRef, 10> Words;
    Step.split(Words, ' ');
    StringRef Set = Words[0], Runs = Words[1];
    std::vector<Cell> Given;
    for (const StringRef Name : llvm::drop_begin(Words, 2))
      Given.push_back(Variables[Name]);
    Result = Given.front();
    if (Runs == "+") {
      Result = runOperator(
          VM, "add",
          {{"self", argumentOf(Given[0])}, {"other", argumentOf(Given[1])}}, &M,
          At);
    } else if (Runs.consume_front("=")) {
      const Cell Setting = settingOf(M.Settings, Runs);
      Result =
          Setting && Setting->What == Value::Function
              ? VM.callClosure(Setting, nullptr, Given, At)
              : runOperator(VM, activationNamed(Setting ? Setting->Name : ""),
                            {{"self", argumentOf(Given[0])}}, &M, At);
    } else if (Runs.consume_back("*")) {
      if (const ModulePtr All = Child(Runs))
        for (const ModuleInstance::Child &Each : All->Children) {
          Result = forward(VM, Each.Module, Given, At);
          Given.front() = Result;
        }
    } else if (const ModulePtr Called = Child(Runs)) {
      Result = forward(VM, Called, Given, At);
      // Of attention, without its weights.
      if (Result->What == Value::List && !Result->Elements.empty())
        Result = Cell(Result->Elements.front());
    }
    if (VM.Halted)
      return Result;
    Given.clear();
    if (Set.consume_back("&")) {
      Expression.push_back(Set);
      Variables[Set] = Result;
      continue;
    }
    VM.Temporaries.resize(Living);
    Variables[Set] = Result;
    for (const StringRef Name : Expression)
      Variables.erase(Name);
    Expression.clear();
  }
  return Result;
}

/// The parameters of what is registered in \p M, under their paths: those of
/// out_proj as out_proj_weight and out_proj_bias.
static void addWeights(const ModuleInstance &M, const std::string &Path,
                       Arguments &To) {
  for (const ModuleInstance::Child &Child : M.Children) {
    const std::string Name = Path + Child.Name + "_";
    for (const ModuleInstance::Tensor &T : Child.Module->Parameters)
      To[Name + T.Name] = argumentOf(tensorValue(T.Handle));
    addWeights(*Child.Module, Name, To);
  }
}

Cell forwardOfLibrary(Interpreter &VM, const ModulePtr &M, StringRef Class,
                      ArrayRef<Cell> Inputs, SourceLocation At) {
  const auto Note = [&](Cell Result) {
    noteResult(VM, moduleValue(M), Result);
    return Result;
  };
  if (isModuleContainer(Class)) {
    if (VM.Checkpointed != M.get() || !VM.Pass->GradMode ||
        Inputs.size() != 1 || Inputs.front()->What != Value::Tensor ||
        !Inputs.front()->Handle->needsGradient())
      return Note(forwardInOrder(VM, *M, Inputs, At));
    // The function holds what it is given.
    const Cell Input = tensorValue(Inputs.front()->Handle);
    return Note(runCheckpointed(VM, Input, At, [&VM, M, At](const Cell &X) {
      return forwardInOrder(VM, *M, X, At);
    }));
  }
  const ModuleRun Run = runOfModule(Class);
  if (Class == "Functional")
    return Note(forwardOfFunctional(VM, M, Class, Inputs, At));
  for (const Cell &Input : Inputs)
    if (Input->What == Value::Unknown)
      return VM.lost(Input);
  if (!Run.Steps.empty())
    return Note(forwardInSteps(VM, *M, Run, Inputs, At));
  if (Run.Operator.empty()) {
    VM.note(At, "what '" + Class + "' takes and keeps is not known");
    return unknown(At, "what '" + Class + "' returns");
  }
  Arguments Given;
  if (Class == "Flatten")
    Given["start_dim"] = 1;
  addSettings(M->Settings, Given);
  for (const auto *Tensors : {&M->Parameters, &M->Buffers})
    for (const ModuleInstance::Tensor &T : *Tensors)
      Given[T.Name] = argumentOf(tensorValue(T.Handle));
  // Those that were assigned: it runs its members.
  for (const auto &[Field, Member] : M->Members)
    if (torch::isTorchDecl(Field) && Member->What == Value::Tensor)
      Given[Field->getName().str()] = argumentOf(Member);
  // Attention runs the weights of its out_proj itself.
  addWeights(*M, "", Given);
  for (const auto &[Name, Input] : llvm::zip(Run.Inputs, Inputs))
    Given[Name.str()] = argumentOf(Input);
  Given["training"] = M->IsTraining;
  const Cell Result = runOperator(VM, Run.Operator, Given, M.get(), At);
  // (a, (b, c)), and not (a, b, c).
  if (Class == "LSTM" && Result->What == Value::List &&
      Result->Elements.size() == 3)
    return Note(listOf({Result->Elements[0],
                        listOf({Result->Elements[1], Result->Elements[2]})}));
  if (Class == "AdaptiveLogSoftmaxWithLoss")
    return Note(listOf({Result, unknown(At, "the loss of '" + Class + "'")}));
  return Note(Result);
}

} // namespace libtorch_tidy::bytes
