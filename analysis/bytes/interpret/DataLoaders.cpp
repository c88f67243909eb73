//===- DataLoaders.cpp - What data loaders give ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Interpreter.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Std.h"
#include "analysis/torch/api/TorchTypes.h"
#include "llvm/ADT/ScopeExit.h"

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::bytes {

/// Is \p R one of torch::data's, in its namespace \p Of?
static bool isOfData(const CXXRecordDecl *R, StringRef Of) {
  const auto *Around = dyn_cast_or_null<NamespaceDecl>(
      R ? R->getEnclosingNamespaceContext() : nullptr);
  return torch::isTorchDecl(R) && Around && Around->getName() == Of;
}

/// The method called \p Name that \p R or a base of it defines, of the user's;
/// null without one.
static const CXXMethodDecl *ownMethod(const CXXRecordDecl *R, StringRef Name) {
  for (const CXXMethodDecl *Method : R->methods())
    if (Name == "()" ? Method->getOverloadedOperator() == OO_Call
                     : cpp::nameOf(Method) == Name)
      return Method;
  for (const CXXBaseSpecifier &Base : R->bases())
    if (const CXXRecordDecl *Of = Base.getType()->getAsCXXRecordDecl();
        Of && Of->hasDefinition() && !cpp::isOfLibrary(Of))
      if (const CXXMethodDecl *Found = ownMethod(Of->getDefinition(), Name))
        return Found;
  return nullptr;
}

static Cell plainTensor(std::vector<Size> Sizes, ElementType Type) {
  auto T = std::make_shared<TensorInstance>();
  T->Shape = {std::move(Sizes), Type};
  return tensorValue(std::move(T));
}

/// The images of the library's MNIST that \p Mode, true for those of the test,
/// selects; nullopt where that is not known.
static Size imagesOf(const Cell &Mode) {
  const std::optional<bool> OfTest = Mode ? truth(Mode) : false;
  return OfTest ? Size(*OfTest ? 10'000 : 60'000) : std::nullopt;
}

/// The number of examples of \p Set; nullopt where it is not known.
static Size examplesOf(Interpreter &VM, const Cell &Set, SourceLocation At);

/// \p V with tensors of their own.
static Cell withOwnTensors(const Cell &V) {
  const Cell Result = cell(*V);
  if (V->What == Value::Tensor) {
    Result->Handle = std::make_shared<TensorInstance>(*V->Handle);
    Result->Handle->Memory = nullptr;
  }
  forEachPart(*Result, [](Cell &Part) { Part = withOwnTensors(Part); });
  return Result;
}

/// \p V, which one example has, for a whole batch.
static Cell stacked(const Cell &V, const Size &Batch, const Cell &Nothing) {
  if (V->What == Value::List) {
    const Cell Result = listOf({});
    for (const Cell &Part : V->Elements)
      Result->Elements.push_back(stacked(Part, Batch, Nothing));
    return Result;
  }
  if (V->What != Value::Tensor || !V->Handle->Shape.Sizes ||
      !V->Handle->Shape.Type)
    return V->What == Value::Unknown ? V : Nothing;
  std::vector<Size> Sizes = *V->Handle->Shape.Sizes;
  Sizes.insert(Sizes.begin(), Batch);
  return plainTensor(std::move(Sizes), *V->Handle->Shape.Type);
}

namespace {

/// What one round of a loop over a loader is given.
class Loads {
public:
  Loads(Interpreter &VM, const Cell &Loader, SourceLocation At)
      : VM(VM), At(At),
        Batch(Loader->Number >= 0 ? Size(Loader->Number) : std::nullopt),
        Nothing(unknown(At, "what a data loader gives")) {
    if (!Batch)
      Nothing = unknown(At, "the batch size of a data loader");
  }

  Cell batch(const Cell &Set) {
    const Cell Given = given(Set);
    return IsBatch || Given->What == Value::Unknown ? Given : repeated(Given);
  }

private:
  /// An example of \p Set, or a batch.
  Cell given(const Cell &Set) {
    if (!VM.step(At))
      return Nothing;
    if (Set->What == Value::Record)
      return givenByUser(Set);
    if (Set->What != Value::Data)
      return Set->What == Value::Unknown ? Set : Nothing;
    if (Set->Name == "map")
      return transformed(Set->Elements[1], given(Set->Elements[0]));
    if (Set->Name == "MNIST")
      return listOf(
          {plainTensor({1, 28, 28}, Float32), plainTensor({}, Int64)});
    return Nothing;
  }

  Cell givenByUser(const Cell &Set) {
    if (const CXXMethodDecl *Get = ownMethod(Set->Class, "get"))
      return VM.call(Get, {integer(0)}, Set, At);
    IsBatch = true;
    const CXXMethodDecl *GetBatch = ownMethod(Set->Class, "get_batch");
    if (!GetBatch || GetBatch->getNumParams() != 1)
      return Nothing;
    if (GetBatch->getParamDecl(0)->getType()->isIntegerType())
      return Batch ? VM.call(GetBatch, {integer(*Batch)}, Set, At) : Nothing;
    return VM.call(GetBatch, {repeated(integer(0))}, Set, At);
  }

  Cell transformed(const Cell &By, const Cell &Given) {
    if (Given->What == Value::Unknown)
      return Given;
    if (By->What == Value::Record)
      return transformedByUser(By, Given);
    if (By->What != Value::Data)
      return Nothing;
    if (By->Name == "Stack") {
      IsBatch = true;
      return stacked(Given, Batch, Nothing);
    }
    if (By->Name == "Normalize") // It keeps the sizes.
      return Given;
    const bool OfExample = By->Name == "Lambda",
               OfTensor = By->Name == "TensorLambda";
    if ((!OfExample && !OfTensor) || By->Elements.size() != 1 ||
        By->Elements[0]->What != Value::Function)
      return Nothing;
    return OfTensor ? withData(Given,
                               [&](const Cell &Data) {
                                 return VM.callClosure(By->Elements[0], nullptr,
                                                       {Data}, At);
                               })
                    : VM.callClosure(By->Elements[0], nullptr, {Given}, At);
  }

  Cell transformedByUser(const Cell &By, const Cell &Given) {
    if (const CXXMethodDecl *Apply = ownMethod(By->Class, "apply_batch")) {
      const Cell All = repeated(Given);
      IsBatch = true;
      return VM.call(Apply, {All}, By, At);
    }
    if (const CXXMethodDecl *Apply = ownMethod(By->Class, "apply"))
      return VM.call(Apply, {Given}, By, At);
    const CXXMethodDecl *Call = ownMethod(By->Class, "()");
    return Call ? withData(Given,
                           [&](const Cell &Data) {
                             return VM.call(Call, {Data}, By, At);
                           })
                : Nothing;
  }

  /// \p Given, an example, whose data \p Change makes new.
  Cell withData(const Cell &Given, llvm::function_ref<Cell(Cell)> Change) {
    if (Given->What != Value::List || Given->Elements.empty())
      return Nothing;
    std::vector<Cell> Parts = Given->Elements;
    Parts.front() = Change(Parts.front());
    return listOf(std::move(Parts));
  }

  /// A batch that is a list of examples.
  Cell repeated(const Cell &Example) {
    if (!Batch || static_cast<uint64_t>(*Batch) > MaxElements)
      return Nothing;
    const Cell All = listOf({});
    for (int64_t I = 0; I < *Batch && VM.step(At); ++I)
      All->Elements.push_back(VM.copyOf(Example));
    return All;
  }

  Interpreter &VM;
  const SourceLocation At;
  const Size Batch;
  Cell Nothing;
  bool IsBatch = false; ///< What was made last has all of a batch.
};

} // namespace

static Size examplesOf(Interpreter &VM, const Cell &Set, SourceLocation At) {
  if (Set->What == Value::Data && Set->Name == "map")
    return examplesOf(VM, Set->Elements[0], At);
  if (Set->What == Value::Data && Set->Name == "MNIST")
    return imagesOf(Set->Elements.size() > 1 ? Set->Elements[1] : nullptr);
  const CXXMethodDecl *Size =
      Set->What == Value::Record ? ownMethod(Set->Class, "size") : nullptr;
  const Cell Count = Size ? VM.call(Size, {}, Set, At) : nullptr;
  return Count && Count->What == Value::Integer ? bytes::Size(Count->Number)
                                                : std::nullopt;
}

Cell batchesOf(Interpreter &VM, const Cell &Loader, SourceLocation At) {
  // Workers make them, outside of what is measured.
  Simulation *const Measured = std::exchange(VM.Pass, nullptr);
  const auto GoOn = llvm::make_scope_exit([&] { VM.Pass = Measured; });
  // A first step, and a later one.
  std::vector<Cell> Rounds;
  for (unsigned Round = 0; Round < 2; ++Round)
    Rounds.push_back(Loads(VM, Loader, At).batch(Loader->Elements[0]));
  // Workers are ahead of the program.
  constexpr int64_t MostAhead = 256;
  if (const Cell Ahead = settingOf(Loader->Settings, "ahead")) {
    Ahead->Elements.clear();
    for (int64_t I = 0; I < std::min(Ahead->Number, MostAhead); ++I)
      Ahead->Elements.push_back(withOwnTensors(Rounds.front()));
  }
  return listOf(std::move(Rounds));
}

Cell makeData(Interpreter &VM, const CXXRecordDecl *Class,
              ArrayRef<Cell> Arguments) {
  if (torch::isTorchDecl(Class) && cpp::nameOf(Class) == "Example") {
    if (Arguments.size() == 1 && Arguments.front()->What == Value::List)
      return Arguments.front();
    std::vector<Cell> Parts = VM.copiesOf(Arguments);
    while (Parts.size() < 2)
      Parts.push_back(tensorValue(undefinedTensor()));
    return listOf(std::move(Parts));
  }
  if (!isOfData(Class, "datasets") && !isOfData(Class, "transforms"))
    return nullptr;
  const Cell Result =
      valueOf(Value::Data, &Value::Name, cpp::nameOf(Class).str());
  Result->Elements = VM.copiesOf(Arguments);
  // What it holds.
  if (Result->Name == "MNIST") {
    const Size Count = imagesOf(Arguments.size() > 1 ? Arguments[1] : nullptr);
    Result->Settings["images"] = plainTensor({Count, 1, 28, 28}, Float32);
    Result->Settings["targets"] = plainTensor({Count}, Int64);
  }
  if (Result->Name == "Normalize")
    for (const Cell &Argument : Arguments)
      Result->Settings[Argument == Arguments.front() ? "mean" : "deviation"] =
          plainTensor({Argument->What == Value::List
                           ? static_cast<int64_t>(Argument->Elements.size())
                           : 1},
                      Float32);
  return Result;
}

/// Does \p F, make_data_loader(), draw examples in an order that a tensor has?
static bool hasRandomSampler(const FunctionDecl *F) {
  const TemplateArgumentList *Given = F->getTemplateSpecializationArgs();
  return Given && llvm::any_of(Given->asArray(), [](const auto &Argument) {
           return Argument.getKind() == TemplateArgument::Type &&
                  isOfData(Argument.getAsType()->getAsCXXRecordDecl(),
                           "samplers") &&
                  cpp::nameOf(Argument.getAsType()->getAsCXXRecordDecl()) ==
                      "RandomSampler";
         });
}

/// The batches that workers, of the number that \p Settings have, may have made
/// or begun before the program asks for them.
static int64_t batchesAhead(const OptionValues &Settings) {
  const Cell Workers = settingOf(Settings, "workers"),
             Jobs = settingOf(Settings, "max_jobs");
  if (!Workers || Workers->What != Value::Integer || Workers->Number <= 0)
    return 0;
  const bool IsAsked = Jobs && Jobs->What == Value::Integer;
  return Workers->Number + (IsAsked ? Jobs->Number : 2 * Workers->Number);
}

/// make_data_loader(set, options), with a sampler before or after them.
static Cell makeLoader(const LibraryCall &C) {
  const Cell Result = valueOf(Value::Data, &Value::Name, std::string("loader"));
  Result->Elements = {C.Arguments.front()};
  Result->Number = 1;
  for (const Cell &Argument : C.Arguments.drop_front()) {
    if (Argument->What == Value::Unknown)
      Result->Number = -1;
    if (Argument->What != Value::Options)
      continue;
    const Cell Batch = settingOf(Argument->Settings, "batch_size");
    Result->Number = !Batch                          ? 1
                     : Batch->What == Value::Integer ? Batch->Number
                                                     : -1;
    if (const int64_t Ahead = batchesAhead(Argument->Settings)) {
      Result->Settings["ahead"] = listOf({});
      Result->Settings["ahead"]->Number = Ahead;
    }
  }
  if (hasRandomSampler(C.F))
    Result->Settings["sampler"] =
        plainTensor({examplesOf(C.VM, C.Arguments.front(), C.At)}, Int64);
  return Result;
}

/// set.map(transform).
static Cell mapSet(const LibraryCall &C) {
  const Cell Result = valueOf(Value::Data, &Value::Name, std::string("map"));
  Result->Elements = {C.VM.copyOf(C.Object), C.VM.copyOf(C.Arguments[0])};
  return Result;
}

void forEachHeldBy(const Value &V,
                   llvm::function_ref<void(const Cell &)> Visit) {
  for (const Cell &Part :
       ArrayRef(V.Elements)
           .take_front(V.Name == "loader" ? 1 : V.Elements.size()))
    Visit(Part);
  for (const auto &[Name, Held] : V.Settings)
    Visit(Held);
}

Cell callData(const LibraryCall &C) {
  if (C.Name == "make_data_loader" && torch::isTorchDecl(C.F))
    return C.Arguments.empty() ? nullptr : makeLoader(C);
  if (!C.Object ||
      (C.Object->What != Value::Data && C.Object->What != Value::Record))
    return nullptr;
  if (C.Name == "map" && torch::isTorchDecl(C.F) && C.Arguments.size() == 1)
    return mapSet(C);
  if (C.Object->What != Value::Data)
    return nullptr;
  switch (C.F->getOverloadedOperator()) {
  case OO_Star:
  case OO_Arrow:
    return C.Object;
  default:
    break;
  }
  if (C.Object->Name != "loader" || (C.Name != "begin" && C.Name != "end"))
    return nullptr;
  // Both lead into the same batches, which begin() makes anew.
  const bool IsNew = C.Object->Elements.size() == 1;
  if (IsNew)
    C.Object->Elements.push_back(listOf({}));
  const Cell All = C.Object->Elements[1];
  if (IsNew || C.Name == "begin")
    *All = *batchesOf(C.VM, C.Object, C.At);
  All->Name = BatchesOfLoader;
  return iteratorAt(All, C.Name == "end" ? All->Elements.size() : 0);
}

} // namespace libtorch_tidy::bytes
