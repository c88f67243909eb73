//===- ScriptArchive.cpp - The bytes of a TorchScript archive -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/budget/ScriptArchive.h"
#include "analysis/bytes/TensorShape.h"
#include "driver/budget/Pickle.h"
#include "driver/budget/ZipFile.h"
#include "driver/project/Messages.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <map>
#include <set>

using libtorch_tidy::bytes::ModelRows;
using libtorch_tidy::bytes::ModuleRow;
using libtorch_tidy::bytes::TensorRow;
using llvm::Error;
using llvm::StringRef;

namespace libtorch_tidy::driver {

namespace {

/// What the code of a class says of its attributes.
struct ScriptClass {
  bool IsModule = false;
  bool HasOwnState = false; ///< __setstate__ makes them.
  llvm::StringSet<> Parameters, Buffers;
};

/// A tensor, and the memory that it lies in.
struct ScriptTensor {
  TensorRow Row; ///< Without a name. Its bytes are those of all elements.
  std::string Storage;
  int64_t Offset = 0;
  bool RequiresGrad = false;
};

/// The names between quotes in "["weight", "bias", ]".
void takeNames(StringRef List, llvm::StringSet<> &Names) {
  while (true) {
    List = List.split('"').second;
    const auto [Name, Rest] = List.split('"');
    if (Name.empty())
      return;
    Names.insert(Name);
    List = Rest;
  }
}

class ScriptReader {
public:
  ScriptReader(ZipFile Zip, StringRef Type)
      : Zip(std::move(Zip)), Type(bytes::elementType(Type)) {}

  llvm::Expected<ModelRows> read() {
    for (const auto &Each : Zip.records())
      if (const auto [Folder, Name] = Each.first().split('/');
          Name == "data.pkl")
        Prefix = Folder.str() + "/";
    if (Prefix.empty() || !Zip.find(Prefix + "constants.pkl"))
      return makeError("it is not a TorchScript archive");
    if (Error E = readRows())
      return std::move(E);
    return std::move(Model);
  }

private:
  // What a model of LibTorch's does not come near.
  static constexpr uint64_t MostText = 256U << 20;
  static constexpr size_t MostModules = 50'000, LongestName = 1'000;
  static constexpr unsigned Deepest = 256;

  Error readRows() {
    if (Error E = open("data"))
      return E;
    if (Error E = addModule(Data.Root, "", "", 0))
      return E;
    for (const auto &[Path, Of] : Held)
      addHeld(Path, Of);
    if (Error E = open("constants"))
      return E;
    addHeld("constants", Data.Root);
    // Of tensors that are parts of others, the rest lives on as well.
    ModuleRow Rest = heldRow("rest of storages");
    for (const auto &[Name, Memory] : Storages)
      if (Memory.IsUsed && Memory.Left) {
        TensorRow T;
        T.Name = Name;
        T.Bytes = Memory.Left;
        Rest.Tensors.push_back(std::move(T));
      }
    if (!Rest.Tensors.empty())
      Model.Modules.push_back(std::move(Rest));
    if (Wrong.empty())
      return Error::success();
    return makeError(Wrong);
  }

  void fail(const llvm::Twine &Why) {
    if (Wrong.empty())
      Wrong = Why.str();
  }

  llvm::Expected<std::string> text(const std::string &Name) {
    const ZipFile::Record *Found = Zip.find(Prefix + Name);
    if (!Found)
      return makeError("'" + Name + "' is missing");
    llvm::Expected<std::string> Result = contentsOf(*Found, TextLeft);
    if (!Result)
      return makeError("'" + Name + "': " + toString(Result.takeError()));
    TextLeft -= Result->size();
    return Result;
  }

  /// Goes on with the values of one pickle.
  Error open(const std::string &Name) {
    llvm::Expected<std::string> Bytes = text(Name + ".pkl");
    if (!Bytes)
      return Bytes.takeError();
    llvm::Expected<Pickle> Read = readPickle(*Bytes);
    if (!Read)
      return makeError("'" + Name + ".pkl': " + toString(Read.takeError()));
    Data = std::move(*Read);
    Folder = Name + "/";
    Collected.clear();
    return Error::success();
  }

  //===--------------------------------------------------------------------===//
  // Tensors
  //===--------------------------------------------------------------------===//

  const PickleValue *part(const PickleValue &Of, size_t Index,
                          PickleValue::Kind Is) const {
    if (Index >= Of.Parts.size() || Data[Of.Parts[Index]].Is != Is)
      return nullptr;
    return &Data[Of.Parts[Index]];
  }

  /// How many bytes an element of the tensors in \p Storage has, whose record
  /// has to hold as many as it says; absent where one is wrong. Names it.
  std::optional<unsigned> elementBytes(const PickleValue &Storage,
                                       ScriptTensor &Of) {
    const PickleValue *Id = part(Storage, 0, PickleValue::Sequence);
    const PickleValue *Class = Id ? part(*Id, 1, PickleValue::Name) : nullptr;
    const PickleValue *Key = Id ? part(*Id, 2, PickleValue::Text) : nullptr;
    const PickleValue *Count = Id ? part(*Id, 4, PickleValue::Number) : nullptr;
    if (!Class || !Key || !Count || Count->Integer < 0) {
      fail("a storage is not described as LibTorch does it");
      return std::nullopt;
    }
    Of.Storage = Folder + Key->Letters;
    const ZipFile::Record *Found = Zip.find(Prefix + Of.Storage);
    const auto Elements = static_cast<uint64_t>(Count->Integer);
    StringRef Name = Class->Letters;
    Name.consume_front("torch.");
    Name.consume_back("Storage");
    const auto Known = bytes::elementType(Name);
    Of.Row.Type = Known ? Known->Name.str() : Name.lower();
    const uint64_t Size = Found ? Found->Size : 0;
    const uint64_t Each = Known ? Known->Bytes : Elements ? Size / Elements : 1;
    constexpr uint64_t Widest = 16;
    if (Each == 0 || Each > Widest || Elements > Size ||
        Elements * Each != Size) {
      fail("storage '" + Of.Storage + "' says that it has " +
           llvm::Twine(Elements) + " elements, and has " + llvm::Twine(Size) +
           " bytes");
      return std::nullopt;
    }
    Storages.try_emplace(Of.Storage, Memory{Size, Size});
    return Each;
  }

  /// The tensor that \p V is; nullopt for others.
  std::optional<ScriptTensor> tensor(const PickleValue &V) {
    const PickleValue *Callee =
        V.Is == PickleValue::Call ? part(V, 0, PickleValue::Name) : nullptr;
    const bool IsPlain =
        Callee && Callee->Letters == "torch._utils._rebuild_tensor_v2";
    if (!IsPlain &&
        (!Callee || Callee->Letters != "torch._utils._rebuild_qtensor"))
      return std::nullopt;
    ScriptTensor Result;
    const PickleValue *Given = part(V, 1, PickleValue::Sequence);
    const PickleValue *Storage =
        Given ? part(*Given, 0, PickleValue::Outside) : nullptr;
    const PickleValue *Offset =
        Given ? part(*Given, 1, PickleValue::Number) : nullptr;
    const PickleValue *Sizes =
        Given ? part(*Given, 2, PickleValue::Sequence) : nullptr;
    const PickleValue *Strides =
        Given ? part(*Given, 3, PickleValue::Sequence) : nullptr;
    if (!Storage || !Offset || !Sizes || !Strides ||
        Sizes->Parts.size() != Strides->Parts.size()) {
      fail("a tensor is not described as LibTorch does it");
      return std::nullopt;
    }
    const std::optional<unsigned> Each = elementBytes(*Storage, Result);
    if (!Each)
      return std::nullopt;
    bytes::TensorShape Shape;
    Shape.Sizes.emplace();
    // The last element that it has, in elements of the storage.
    uint64_t Last = static_cast<uint64_t>(Offset->Integer);
    constexpr uint64_t Farthest = 1ULL << 48;
    bool Fits = Offset->Integer >= 0 && Last < Farthest;
    for (size_t I = 0; I < Sizes->Parts.size(); ++I) {
      const PickleValue *Size = part(*Sizes, I, PickleValue::Number);
      const PickleValue *Stride = part(*Strides, I, PickleValue::Number);
      Fits &= Size && Stride && Size->Integer >= 0 && Stride->Integer >= 0;
      if (!Fits)
        break;
      Shape.Sizes->push_back(Size->Integer);
      Result.Row.Shape.push_back(Size->Integer);
      const auto Steps =
          static_cast<uint64_t>(Size->Integer ? Size->Integer - 1 : 0);
      const auto Width = static_cast<uint64_t>(Stride->Integer);
      Fits = !Steps || Width <= (Farthest - Last) / Steps;
      Last += Fits ? Steps * Width : 0;
    }
    const std::optional<uint64_t> Elements =
        Fits ? Shape.elements() : std::nullopt;
    // An expanded tensor has more elements than its storage.
    if (!Elements ||
        (*Elements && Last >= Storages[Result.Storage].All / *Each)) {
      fail("a tensor reaches beyond its storage '" + Result.Storage + "'");
      return std::nullopt;
    }
    Result.Offset = Offset->Integer;
    Result.Row.Elements = *Elements;
    Result.Row.Bytes = *Elements * *Each;
    const PickleValue *Grad =
        IsPlain ? part(*Given, 4, PickleValue::Number) : nullptr;
    Result.RequiresGrad = Grad && Grad->Integer;
    return Result;
  }

  /// Adds \p T to \p Row with those of its bytes that no tensor before it has.
  void add(ScriptTensor T, StringRef Name, bool IsListed, ModuleRow &Row) {
    if (!Seen.emplace(T.Storage, T.Offset, T.Row.Shape).second)
      return;
    T.Row.Name = Name.str();
    if (Type && IsListed && Type->Name != T.Row.Type) {
      T.Row.Type = Type->Name.str();
      T.Row.Bytes = T.Row.Elements * Type->Bytes;
    } else {
      Memory &Of = Storages[T.Storage];
      Of.IsUsed = true;
      const uint64_t Own = std::min(T.Row.Bytes, Of.Left);
      if (Own < T.Row.Bytes)
        T.Row.Elements = Own / (T.Row.Bytes / T.Row.Elements);
      T.Row.Bytes = Own;
      Of.Left -= Own;
    }
    T.Row.GetsGradient = T.Row.IsParameter && T.RequiresGrad;
    Row.Tensors.push_back(std::move(T.Row));
  }

  static ModuleRow heldRow(StringRef Path) {
    ModuleRow Row;
    Row.Path = Row.Name = Path.str();
    Row.Class = "Tensor";
    Row.Depth = 1;
    Row.IsUnlisted = true;
    return Row;
  }

  /// What no parameters() lists: the tensors in the value \p Root.
  void addHeld(const std::string &Path, unsigned Root) {
    ModuleRow Row = heldRow(Path);
    std::vector<unsigned> Left = {Root};
    while (!Left.empty() && Wrong.empty()) {
      const unsigned At = Left.back();
      Left.pop_back();
      const PickleValue &V = Data[At];
      if (std::optional<ScriptTensor> T = tensor(V)) {
        add(std::move(*T), "", false, Row);
        continue;
      }
      if (V.Parts.empty() || !Collected.insert(At).second)
        continue;
      // What code of the library makes of it may be something else.
      if (const PickleValue *Class = V.Is == PickleValue::Object
                                         ? part(V, 0, PickleValue::Name)
                                         : nullptr;
          Class &&
          StringRef(Class->Letters).starts_with("__torch__.torch.classes."))
        lack(Row, Path,
             "LibTorch makes a '" + className(Class->Letters) + "' of it");
      Left.insert(Left.end(), V.Parts.rbegin(), V.Parts.rend());
    }
    if (!Row.Tensors.empty() || Row.IsIncomplete)
      Model.Modules.push_back(std::move(Row));
  }

  //===--------------------------------------------------------------------===//
  // Modules
  //===--------------------------------------------------------------------===//

  static std::string className(StringRef Qualified) {
    return Qualified.rsplit('.').second.str();
  }

  static std::string below(StringRef Path, StringRef Name) {
    return Path.empty() ? Name.str() : (Path + "." + Name).str();
  }

  void lack(ModuleRow &Row, StringRef Path, const llvm::Twine &Why) {
    Row.IsIncomplete = true;
    Model.Missing.push_back({{}, ("'" + Path + "': " + Why).str()});
  }

  /// All classes of the file that has \p Qualified, "__torch__.nets.Net".
  Error readClasses(StringRef Qualified) {
    const StringRef Namespace = Qualified.rsplit('.').first;
    if (!Files.insert(Namespace).second)
      return Error::success();
    std::string Path = Namespace.str();
    std::replace(Path.begin(), Path.end(), '.', '/');
    llvm::Expected<std::string> Code = text("code/" + Path + ".py");
    if (!Code)
      return Code.takeError();
    ScriptClass *Current = nullptr;
    for (StringRef Rest = *Code; !Rest.empty();) {
      StringRef Line;
      std::tie(Line, Rest) = Rest.split('\n');
      if (Line.consume_front("class ")) {
        const StringRef Name =
            Line.take_until([](char C) { return C == '(' || C == ':'; });
        Current = &Classes[(Namespace + "." + Name).str()];
        Current->IsModule =
            Line.drop_front(Name.size()).starts_with("(Module)");
      }
      Line = Line.ltrim();
      if (!Current)
        continue;
      if (Line.consume_front("__parameters__ = "))
        takeNames(Line, Current->Parameters);
      else if (Line.consume_front("__buffers__ = "))
        takeNames(Line, Current->Buffers);
      else if (Line.starts_with("def __setstate__("))
        Current->HasOwnState = true;
    }
    return Error::success();
  }

  /// The class of \p V if that is a module; null for others.
  llvm::Expected<const ScriptClass *> moduleClass(const PickleValue &V) {
    const PickleValue *Name =
        V.Is == PickleValue::Object ? part(V, 0, PickleValue::Name) : nullptr;
    if (!Name ||
        StringRef(Name->Letters).starts_with("__torch__.torch.classes."))
      return nullptr;
    if (Error E = readClasses(Name->Letters))
      return std::move(E);
    const auto It = Classes.find(Name->Letters);
    if (It == Classes.end())
      return makeError("the code of class '" + Name->Letters + "' is missing");
    return It->second.IsModule ? &It->second : nullptr;
  }

  Error addModule(unsigned At, const std::string &Path, StringRef Name,
                  unsigned Depth) {
    const PickleValue &V = Data[At];
    llvm::Expected<const ScriptClass *> Class = moduleClass(V);
    if (!Class)
      return Class.takeError();
    if (!*Class)
      return makeError("what it holds is not a module");
    if (Depth > Deepest || Model.Modules.size() >= MostModules)
      return makeError("its modules nest too deeply, or are too many");
    const size_t Index = Model.Modules.size();
    Model.Modules.emplace_back();
    ModuleRow Row;
    Row.Path = Path;
    Row.Class = className(Data[V.Parts.front()].Letters);
    Row.Name = Depth ? Name.str() : Row.Class;
    Row.Depth = Depth;
    const auto [Before, IsNew] = Modules.try_emplace(At, Path);
    if (!IsNew) {
      Row.IsRepeated = true;
      Row.SameAs = Before->second;
      Model.Modules[Index] = std::move(Row);
      return Error::success();
    }
    const PickleValue *State = part(V, 1, PickleValue::Dictionary);
    if (!State || (*Class)->HasOwnState) {
      lack(Row, Depth ? Path : Row.Class,
           "its __setstate__() makes its tensors");
      Model.Modules[Index] = std::move(Row);
      return Error::success();
    }
    for (const bool IsParameter : {true, false})
      for (size_t I = 0; I + 1 < State->Parts.size(); I += 2)
        addListed(Data[State->Parts[I]].Letters, Data[State->Parts[I + 1]],
                  IsParameter, **Class, Path, Row);
    Model.Modules[Index] = std::move(Row);
    for (size_t I = 0; I + 1 < State->Parts.size(); I += 2) {
      const StringRef Attribute = Data[State->Parts[I]].Letters;
      const unsigned Of = State->Parts[I + 1];
      if (Attribute.empty() || Attribute.size() > LongestName)
        return makeError("a name in it is empty, or too long");
      if ((*Class)->Parameters.contains(Attribute) ||
          (*Class)->Buffers.contains(Attribute))
        continue;
      const std::string Below = below(Path, Attribute);
      llvm::Expected<const ScriptClass *> Child = moduleClass(Data[Of]);
      if (!Child)
        return Child.takeError();
      if (!*Child)
        Held.emplace_back(Below, Of);
      else if (Error E = addModule(Of, Below, Attribute, Depth + 1))
        return E;
    }
    return Error::success();
  }

  /// Adds the attribute to \p Row if it is one of its parameters or buffers.
  void addListed(StringRef Name, const PickleValue &V, bool IsParameter,
                 const ScriptClass &Class, StringRef Path, ModuleRow &Row) {
    if (!(IsParameter ? Class.Parameters : Class.Buffers).contains(Name) ||
        V.Is == PickleValue::Other)
      return; // None: an optional one.
    if (std::optional<ScriptTensor> T = tensor(V)) {
      T->Row.IsParameter = IsParameter;
      add(std::move(*T), Name, true, Row);
    } else if (Wrong.empty()) {
      lack(Row, below(Path, Name), "it is not a plain tensor");
    }
  }

  const ZipFile Zip;
  const std::optional<bytes::ElementType> Type;
  std::string Prefix, Folder;
  uint64_t TextLeft = MostText;
  std::string Wrong; ///< Of tensors, the first that is wrong.
  Pickle Data;
  struct Memory {
    uint64_t All = 0;
    uint64_t Left = 0;   ///< What no tensor so far has.
    bool IsUsed = false; ///< By tensors that are not converted.
  };
  std::map<std::string, Memory> Storages;
  std::set<std::tuple<std::string, int64_t, std::vector<int64_t>>> Seen;
  std::map<std::string, ScriptClass> Classes;
  llvm::StringSet<> Files;
  std::map<unsigned, std::string> Modules; ///< Their paths.
  std::vector<std::pair<std::string, unsigned>> Held;
  std::set<unsigned> Collected;
  ModelRows Model;
};

} // namespace

llvm::Expected<ModelRows> readScriptArchive(StringRef Bytes, StringRef Type) {
  llvm::Expected<ZipFile> Zip = ZipFile::read(Bytes);
  if (!Zip)
    return Zip.takeError();
  return ScriptReader(std::move(*Zip), Type).read();
}

} // namespace libtorch_tidy::driver
