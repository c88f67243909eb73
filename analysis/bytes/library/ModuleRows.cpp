//===- ModuleRows.cpp - The tree of a module as plain data ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Elaboration.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::bytes {

namespace {

/// Makes rows of a module.
class RowMaker {
public:
  /// \p Stopped: members that are not registered may have been, later.
  RowMaker(const SourceManager &SM, bool Stopped, std::vector<ModuleRow> &Rows)
      : SM(SM), Stopped(Stopped), Rows(Rows) {}

  RowPaths add(const ModulePtr &Root) {
    addRow(Root, "", Root->ClassName, 0, /*Unlisted=*/false);
    // After all that is listed: what is in both is listed.
    for (size_t I = 0; I < Held.size(); ++I) {
      const auto [Module, Path] = Held[I];
      if (!Seen.count(Module.get()))
        addRow(Module, Path, Path, 1, /*Unlisted=*/true);
    }
    for (const auto &[Tensor, Owner] : HeldTensors)
      addHeld(Tensor, Owner);
    for (const auto &[Path, At] : Archives) {
      ModuleRow Row;
      Row.Path = Row.Name = Path;
      Row.Class = torch::spelling::JitModule.str();
      Row.Made = spotOf(At, SM);
      Row.At = At;
      Row.Depth = 1;
      Row.IsIncomplete = Row.IsUnlisted = true;
      Row.Archive.emplace();
      Rows.push_back(std::move(Row));
    }
    return std::move(Seen);
  }

private:
  void addTensors(const ModuleInstance &M, ModuleRow &Row) {
    for (const bool IsParameter : {true, false})
      for (const ModuleInstance::Tensor &T :
           IsParameter ? M.Parameters : M.Buffers)
        addTensor(T, IsParameter, Row);
  }

  void addTensor(const ModuleInstance::Tensor &T, bool IsParameter,
                 ModuleRow &Row) {
    const TensorShape &Shape = T.Handle->Shape;
    // A handle that was registered twice is one tensor.
    if (!Shape.Defined || !Counted.insert(T.Handle.get()).second)
      return;
    if (T.Handle->Memory)
      Memories.insert(T.Handle->Memory.get());
    TensorRow Tensor;
    Tensor.Name = T.Name;
    Tensor.IsParameter = IsParameter;
    Tensor.GetsGradient = IsParameter && T.Handle->RequiresGrad.value_or(false);
    Tensor.HasShape = Shape.Sizes.has_value();
    if (Shape.Sizes)
      for (const Size &S : *Shape.Sizes)
        Tensor.Shape.push_back(S && *S >= 0 ? *S : -1);
    if (Shape.Type)
      Tensor.Type = Shape.Type->Name.str();
    Tensor.IsKnown = Shape.bytes().has_value();
    Tensor.Elements = Shape.elements().value_or(0);
    Tensor.Bytes = Shape.bytes().value_or(0);
    Row.IsIncomplete |= !Tensor.IsKnown;
    Row.Tensors.push_back(std::move(Tensor));
  }

  /// A tensor that is a member and not registered. Of those that share memory,
  /// one counts.
  void addHeld(const ModuleInstance::Tensor &T, const ModulePtr &Owner) {
    const TensorInstance &Handle = *T.Handle;
    if (!Handle.Shape.bytes() || Counted.count(&Handle) ||
        (Handle.Memory && Memories.count(Handle.Memory.get())))
      return;
    ModuleRow Row;
    Row.Path = Row.Name = T.Name;
    Row.Class = "Tensor";
    Row.Made = spotOf(Owner->Made, SM);
    Row.At = Owner->Made;
    Row.Depth = 1;
    Row.IsUnlisted = true;
    addTensor(T, /*IsParameter=*/false, Row);
    Rows.push_back(std::move(Row));
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
      Held.emplace_back(Child.Module, PathOf(Child.Name));
    if (!Stopped && !M->IsIncomplete)
      holdMembers(M, PathOf);
  }

  /// Modules that \p M owns, and that may not be registered.
  void holdMembers(const ModulePtr &M,
                   llvm::function_ref<std::string(StringRef)> PathOf) {
    for (const auto &[Field, Member] : M->Members) {
      if (Field->getType()->isAnyPointerType() ||
          Field->getType()->isReferenceType())
        continue; // Not an owner.
      const std::string Path = PathOf(Field->getName());
      auto Hold = [&](const Cell &V) {
        if (V->What == Value::Module)
          Held.emplace_back(V->Held, Path);
      };
      Hold(Member);
      if (Member->What == Value::Unknown &&
          torch::isScriptModule(Field->getType()))
        Archives.emplace_back(Path, Member->Where.isValid() ? Member->Where
                                                            : M->Made);
      for (const TensorPtr &T : tensorsIn(Member))
        HeldTensors.push_back({{Path, T}, M});
      if (Member->What == Value::List)
        for (const Cell &Element : Member->Elements)
          Hold(Element);
    }
  }

  const SourceManager &SM;
  const bool Stopped;
  std::vector<ModuleRow> &Rows;
  RowPaths Seen;
  std::set<const TensorInstance *> Counted;
  std::set<const Block *> Memories; ///< Of those.
  std::vector<std::pair<ModulePtr, std::string>> Held;
  std::vector<std::pair<ModuleInstance::Tensor, ModulePtr>> HeldTensors;
  std::vector<std::pair<std::string, SourceLocation>> Archives;
};

} // namespace

RowPaths addRows(const ModulePtr &Root, bool Stopped, const SourceManager &SM,
                 std::vector<ModuleRow> &Rows) {
  return RowMaker(SM, Stopped, Rows).add(Root);
}

std::vector<bool> gradientsOf(const ModelRows &Model) {
  std::vector<bool> Result;
  for (const ModuleRow &Row : Model.Modules)
    for (const TensorRow &T : Row.Tensors)
      Result.push_back(T.GetsGradient);
  return Result;
}

void setGradients(ModelRows &Model, const std::vector<bool> &To) {
  size_t Next = 0;
  for (ModuleRow &Row : Model.Modules)
    for (TensorRow &T : Row.Tensors)
      T.GetsGradient = To[Next++];
}

} // namespace libtorch_tidy::bytes
