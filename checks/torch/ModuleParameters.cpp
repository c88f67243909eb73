//===- ModuleParameters.cpp - What LibTorch's modules register ------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/ModuleParameters.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include <cmath>

using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::torch {

std::optional<ElementType> elementType(StringRef Name) {
  // kFloat64 and kFloat, Float, float32 are spellings of scalar types.
  Name.consume_front("k");
  return llvm::StringSwitch<std::optional<ElementType>>(Name)
      .Cases("Float", "Float32", "float32", "F32", Float32)
      .Cases("Double", "Float64", "float64", "F64", ElementType{"float64", 8})
      .Cases("Half", "Float16", "float16", "F16", ElementType{"float16", 2})
      .Cases("BFloat16", "bfloat16", ElementType{"bfloat16", 2})
      .Cases("Long", "Int64", "int64", "I64", Int64)
      .Cases("Int", "Int32", "int32", "I32", ElementType{"int32", 4})
      .Cases("Short", "Int16", "int16", "I16", ElementType{"int16", 2})
      .Cases("Char", "Int8", "int8", "I8", ElementType{"int8", 1})
      .Cases("Byte", "UInt8", "uint8", "U8", ElementType{"uint8", 1})
      .Cases("Bool", "bool", ElementType{"bool", 1})
      .Cases("ComplexFloat", "complex64", ElementType{"complex64", 8})
      .Cases("ComplexDouble", "complex128", ElementType{"complex128", 16})
      .Default(std::nullopt);
}

bool isFloating(ElementType Type) {
  return Type.Name.contains("float") || Type.Name.contains("complex");
}

/// Beyond that nothing is a tensor, and sums of many could overflow.
static constexpr uint64_t MostElements = 1ULL << 48;

std::optional<uint64_t> TensorShape::elements() const {
  if (!Defined)
    return 0;
  if (!Sizes)
    return std::nullopt;
  uint64_t Product = 1;
  bool IsEmpty = false;
  for (const Size &S : *Sizes) {
    if (!S || *S < 0)
      return std::nullopt;
    if (*S == 0) {
      IsEmpty = true;
      continue;
    }
    if (static_cast<uint64_t>(*S) > MostElements / Product)
      return std::nullopt;
    Product *= static_cast<uint64_t>(*S);
  }
  return IsEmpty ? 0 : Product;
}

std::optional<std::vector<Size>> broadcast(ArrayRef<Size> A, ArrayRef<Size> B) {
  std::vector<Size> Result(std::max(A.size(), B.size()));
  for (size_t I = 0; I < Result.size(); ++I) {
    const Size X = I < A.size() ? A[A.size() - 1 - I] : 1;
    const Size Y = I < B.size() ? B[B.size() - 1 - I] : 1;
    if (X && Y && *X != *Y && *X != 1 && *Y != 1)
      return std::nullopt;
    Result[Result.size() - 1 - I] = X == Size(1) ? Y : X;
  }
  return Result;
}

std::optional<uint64_t> TensorShape::bytes() const {
  const std::optional<uint64_t> Elements = elements();
  if (!Elements || (!Type && *Elements))
    return std::nullopt;
  return *Elements ? *Elements * Type->Bytes : 0;
}

namespace {

/// Convolutions and normalisations end in their number of dimensions.
StringRef family(StringRef Class) {
  StringRef Base = Class;
  if (Base.ends_with("d") && Base.size() > 2 && Base[Base.size() - 2] >= '1' &&
      Base[Base.size() - 2] <= '3')
    Base = Base.drop_back(2);
  if (Base == "Conv" || Base == "ConvTranspose" || Base == "BatchNorm" ||
      Base == "InstanceNorm")
    return Base;
  return Class;
}

std::optional<size_t> dimensions(StringRef Class) {
  unsigned Result;
  if (Class.size() < 2 || Class.back() != 'd' ||
      Class.drop_back().take_back().getAsInteger(10, Result))
    return std::nullopt;
  return Result;
}

Size times(Size A, Size B) {
  int64_t Product;
  if (!A || !B || __builtin_mul_overflow(*A, *B, &Product))
    return std::nullopt;
  return Product;
}

Size plus(Size A, Size B) {
  int64_t Sum;
  if (!A || !B || __builtin_add_overflow(*A, *B, &Sum))
    return std::nullopt;
  return Sum;
}

Size dividedBy(Size A, Size B) {
  if (!A || !B || *B <= 0)
    return std::nullopt;
  return *A / *B;
}

OptionValue integer(int64_t Value) {
  OptionValue Result;
  Result.What = OptionValue::Integer;
  Result.Number = Value;
  return Result;
}

OptionValue maybe(Size Value) {
  return Value ? integer(*Value) : OptionValue();
}

OptionValue real(double Value) {
  OptionValue Result;
  Result.What = OptionValue::Real;
  Result.RealNumber = Value;
  return Result;
}

OptionValue absent() {
  OptionValue Result;
  Result.What = OptionValue::None;
  return Result;
}

/// Writes the contents of one module.
class Table {
public:
  Table(StringRef Class, const OptionValues &Options)
      : Class(Class), Options(Options) {}

  std::optional<ModuleContents> make();

private:
  const OptionValue option(StringRef Name) const {
    auto It = Options.find(Name.str());
    return It == Options.end() ? defaultOption(Class, Name) : It->second;
  }
  void missing(StringRef Name) {
    if (!llvm::is_contained(Result.Missing, Name))
      Result.Missing.push_back(Name.str());
  }
  Size number(StringRef Name) {
    const OptionValue Value = option(Name);
    if (Value.What == OptionValue::Integer)
      return Value.Number;
    if (Value.What == OptionValue::Real) // Converted, as C++ does.
      return std::abs(Value.RealNumber) < 1e15
                 ? Size(static_cast<int64_t>(Value.RealNumber))
                 : std::nullopt;
    missing(Name);
    return std::nullopt;
  }
  /// False when it is not known: what it adds is left out then, and the module
  /// has at least what is counted.
  bool flag(StringRef Name) { return number(Name).value_or(0) != 0; }
  /// ExpandingArray: one number stands for all dimensions.
  std::vector<Size> expanded(StringRef Name, size_t Count) {
    const OptionValue Value = option(Name);
    if (Value.What == OptionValue::List) {
      if (Value.Numbers.size() == Count) {
        if (llvm::any_of(Value.Numbers, [](Size S) { return !S; }))
          missing(Name);
        return Value.Numbers;
      }
      if (Value.Numbers.size() == 1)
        return std::vector<Size>(Count, Value.Numbers.front());
      missing(Name);
      return std::vector<Size>(Count);
    }
    return std::vector<Size>(Count, number(Name));
  }
  /// A list of any length; nullopt when it is not known.
  std::optional<std::vector<Size>> list(StringRef Name) {
    const OptionValue Value = option(Name);
    if (Value.What == OptionValue::List)
      return Value.Numbers;
    if (Value.What == OptionValue::Integer)
      return std::vector<Size>{Value.Number};
    missing(Name);
    return std::nullopt;
  }
  void parameter(StringRef Name, std::vector<Size> Sizes) {
    Result.Parameters.push_back({Name.str(), {std::move(Sizes)}});
  }
  void parameter(StringRef Name, std::optional<std::vector<Size>> Sizes) {
    RegisteredTensor T;
    T.Name = Name.str();
    T.Shape.Sizes = std::move(Sizes);
    Result.Parameters.push_back(std::move(T));
  }
  void buffer(StringRef Name, std::vector<Size> Sizes,
              ElementType Type = Float32) {
    Result.Buffers.push_back({Name.str(), {std::move(Sizes), Type}});
  }
  /// A tensor that an option holds and a loss registers.
  void givenBuffer(StringRef Name) {
    const OptionValue Value = option(Name);
    if (Value.What == OptionValue::Tensor)
      Result.Buffers.push_back({Name.str(), Value.Shape});
    else if (Value.What == OptionValue::Unknown)
      missing(Name);
  }
  static RegisteredModule part(StringRef Name, StringRef Class,
                               OptionValues Options = {}) {
    RegisteredModule Result;
    Result.Name = Name.str();
    Result.Class = Class.str();
    Result.Options = std::move(Options);
    return Result;
  }
  static RegisteredModule linear(StringRef Name, Size In, Size Out,
                                 bool Bias = true) {
    return part(Name, "Linear",
                {{"in_features", maybe(In)},
                 {"out_features", maybe(Out)},
                 {"bias", integer(Bias)}});
  }
  static RegisteredModule layerNorm(StringRef Name, Size Width) {
    OptionValue Shape;
    Shape.What = OptionValue::List;
    Shape.Numbers = {Width};
    return part(Name, "LayerNorm", {{"normalized_shape", Shape}});
  }
  void add(RegisteredModule M) { Result.Children.push_back(std::move(M)); }

  void convolution(size_t Count, bool Transposed);
  void normalisation();
  void recurrent(int64_t Gates);
  void cell(int64_t Chunks);
  void attention();
  void transformerLayer(bool Decoder);
  void transformerStack(bool Decoder);
  void transformer();
  void adaptiveSoftmax();
  static bool hasNothing(StringRef Class);

  const StringRef Class;
  const OptionValues &Options;
  ModuleContents Result;
};

} // namespace

void Table::convolution(size_t Count, bool Transposed) {
  const Size In = number("in_channels"), Out = number("out_channels"),
             Groups = number("groups");
  std::vector<Size> Weight =
      Transposed ? std::vector<Size>{In, dividedBy(Out, Groups)}
                 : std::vector<Size>{Out, dividedBy(In, Groups)};
  llvm::append_range(Weight, expanded("kernel_size", Count));
  parameter("weight", std::move(Weight));
  if (flag("bias"))
    parameter("bias", {Out});
}

/// BatchNorm and InstanceNorm.
void Table::normalisation() {
  const Size Features = number("num_features");
  if (flag("affine")) {
    parameter("weight", {Features});
    parameter("bias", {Features});
  }
  if (flag("track_running_stats")) {
    buffer("running_mean", {Features});
    buffer("running_var", {Features});
    buffer("num_batches_tracked", {}, Int64);
  }
}

void Table::recurrent(int64_t Gates) {
  const Size Input = number("input_size"), Hidden = number("hidden_size");
  const Size Layers = number("num_layers");
  const bool Bias = flag("bias");
  const int64_t Directions = flag("bidirectional") ? 2 : 1;
  Size Projection = 0;
  if (Class == "LSTM")
    Projection = number("proj_size");
  const bool Projects = Projection && *Projection > 0;
  // Not known: with a projection the state is smaller.
  const Size State = !Projection ? Size() : Projects ? Projection : Hidden;
  const Size Rows = times(Gates, Hidden);
  // More are beyond all memory, and their names, too.
  constexpr int64_t MostLayers = 4096;
  if (Layers && *Layers > MostLayers)
    missing("num_layers");
  for (int64_t Layer = 0; Layer < std::min(Layers.value_or(0), MostLayers);
       ++Layer)
    for (int64_t Way = 0; Way < Directions; ++Way) {
      const std::string End =
          "_l" + std::to_string(Layer) + (Way ? "_reverse" : "");
      parameter("weight_ih" + End,
                {Rows, Layer == 0 ? Input : times(State, Directions)});
      parameter("weight_hh" + End, {Rows, State});
      if (Bias) {
        parameter("bias_ih" + End, {Rows});
        parameter("bias_hh" + End, {Rows});
      }
      if (Projects)
        parameter("weight_hr" + End, {Projection, Hidden});
    }
}

void Table::cell(int64_t Chunks) {
  const Size Hidden = number("hidden_size"), Rows = times(Chunks, Hidden);
  parameter("weight_ih", {Rows, number("input_size")});
  parameter("weight_hh", {Rows, Hidden});
  if (flag("bias")) {
    parameter("bias_ih", {Rows});
    parameter("bias_hh", {Rows});
  }
}

void Table::attention() {
  const Size Width = number("embed_dim");
  auto WidthOf = [&](StringRef Name) {
    return Options.count(Name.str()) ? number(Name) : Width;
  };
  const Size Keys = WidthOf("kdim"), Values = WidthOf("vdim");
  if (!Width || !Keys || !Values) {
    // Either 3 * width * width, or width * (width + keys + values).
    parameter("in_proj_weight", std::optional<std::vector<Size>>());
  } else if (*Keys == *Width && *Values == *Width) {
    parameter("in_proj_weight", {times(3, Width), Width});
  } else {
    parameter("q_proj_weight", {Width, Width});
    parameter("k_proj_weight", {Width, Keys});
    parameter("v_proj_weight", {Width, Values});
  }
  const bool Bias = flag("bias");
  if (Bias)
    parameter("in_proj_bias", {times(3, Width)});
  add(linear("out_proj", Width, Width, Bias));
  if (flag("add_bias_kv")) {
    parameter("bias_k", {1, 1, Width});
    parameter("bias_v", {1, 1, Width});
  }
}

void Table::transformerLayer(bool Decoder) {
  const Size Width = number("d_model"), Inner = number("dim_feedforward");
  const OptionValue Dropped = option("dropout");
  auto Attention = [&](StringRef Name) {
    add(part(Name, "MultiheadAttention",
             {{"embed_dim", maybe(Width)},
              {"num_heads", option("nhead")},
              {"dropout", Dropped}}));
  };
  auto Dropout = [&](StringRef Name) {
    add(part(Name, "Dropout", {{"p", Dropped}}));
  };
  Attention("self_attn");
  Dropout("dropout1");
  add(layerNorm("norm1", Width));
  if (Decoder) {
    Attention("multihead_attn");
    Dropout("dropout2");
    add(layerNorm("norm2", Width));
  }
  add(linear("linear1", Width, Inner));
  Dropout("dropout");
  add(linear("linear2", Inner, Width));
  Dropout(Decoder ? "dropout3" : "dropout2");
  add(layerNorm(Decoder ? "norm3" : "norm2", Width));
}

/// TransformerEncoder and TransformerDecoder: copies of a layer, which their
/// options keep.
void Table::transformerStack(bool Decoder) {
  const StringRef Name = Decoder ? "decoder_layer" : "encoder_layer";
  const OptionValue Layer = option(Name);
  const Size Count = number("num_layers");
  // More are beyond all memory.
  constexpr int64_t Most = 4096;
  RegisteredModule List = part("layers", "ModuleList");
  if (Layer.What != OptionValue::Module) {
    missing(Name);
  } else {
    if (Count && *Count > Most)
      missing("num_layers");
    for (int64_t I = 0; I < std::min(Count.value_or(0), Most); ++I) {
      RegisteredModule Copy = part(std::to_string(I), "");
      Copy.Given = Layer.ModuleNumber;
      Copy.IsCopy = true;
      List.Children.push_back(std::move(Copy));
    }
    RegisteredModule Prototype = part(("options." + Name).str(), "");
    Prototype.Given = Layer.ModuleNumber;
    Result.Unlisted.push_back(std::move(Prototype));
  }
  add(std::move(List));
  const OptionValue Norm = option("norm");
  if (Norm.What == OptionValue::Module) {
    RegisteredModule Given = part("norm", "");
    Given.Given = Norm.ModuleNumber;
    add(std::move(Given));
  } else if (Norm.What != OptionValue::None) {
    missing("norm");
  }
}

void Table::transformer() {
  for (bool Decoder : {false, true}) {
    const StringRef Name = Decoder ? "decoder" : "encoder";
    const OptionValue Custom =
        option(Decoder ? "custom_decoder" : "custom_encoder");
    if (Custom.What == OptionValue::Module) {
      RegisteredModule Given = part(Name, "");
      Given.Given = Custom.ModuleNumber;
      add(std::move(Given));
      continue;
    }
    if (Custom.What != OptionValue::None) {
      missing(Decoder ? "custom_decoder" : "custom_encoder");
      continue;
    }
    const Size Width = number("d_model");
    const Size Count =
        number(Decoder ? "num_decoder_layers" : "num_encoder_layers");
    const RegisteredModule Layer = part(
        "", Decoder ? "TransformerDecoderLayer" : "TransformerEncoderLayer",
        {{"d_model", maybe(Width)},
         {"nhead", option("nhead")},
         {"dim_feedforward", option("dim_feedforward")},
         {"dropout", option("dropout")},
         {"activation", option("activation")}});
    constexpr int64_t Most = 4096;
    if (Count && *Count > Most)
      missing(Decoder ? "num_decoder_layers" : "num_encoder_layers");
    RegisteredModule Stack =
        part(Name, Decoder ? "TransformerDecoder" : "TransformerEncoder");
    RegisteredModule List = part("layers", "ModuleList");
    for (int64_t I = 0; I < std::min(Count.value_or(0), Most); ++I) {
      List.Children.push_back(Layer);
      List.Children.back().Name = std::to_string(I);
    }
    Stack.Children.push_back(std::move(List));
    Stack.Children.push_back(layerNorm("norm", Width));
    add(std::move(Stack));
    RegisteredModule Prototype = Layer;
    Prototype.Name = (Name + ".options." + Name + "_layer").str();
    Result.Unlisted.push_back(std::move(Prototype));
  }
}

void Table::adaptiveSoftmax() {
  const Size In = number("in_features"), Classes = number("n_classes");
  std::optional<std::vector<Size>> Cutoffs = list("cutoffs");
  const OptionValue Divisor = option("div_value");
  const bool HasDivisor =
      Divisor.What == OptionValue::Real || Divisor.What == OptionValue::Integer;
  if (!HasDivisor)
    missing("div_value");
  if (!Cutoffs || Cutoffs->empty())
    return;
  Cutoffs->push_back(Classes);
  const int64_t Clusters = Cutoffs->size() - 1;
  add(linear("head", In, plus(Cutoffs->front(), Clusters), flag("head_bias")));
  RegisteredModule Tail = part("tail", "ModuleList");
  for (int64_t I = 0; I < Clusters; ++I) {
    Size Inner;
    if (In && HasDivisor) {
      const double By = Divisor.What == OptionValue::Real
                            ? Divisor.RealNumber
                            : static_cast<double>(Divisor.Number);
      const double Width =
          std::floor(static_cast<double>(*In) / std::pow(By, I + 1));
      if (Width >= 0 && Width < 1e15)
        Inner = static_cast<int64_t>(Width);
    }
    const Size Below = (*Cutoffs)[I], Above = (*Cutoffs)[I + 1];
    RegisteredModule Pair = part(std::to_string(I), "Sequential");
    Pair.Children.push_back(linear("0", In, Inner, false));
    Pair.Children.push_back(
        linear("1", Inner, plus(Above, times(Below, -1)), false));
    Tail.Children.push_back(std::move(Pair));
  }
  add(std::move(Tail));
}

/// Modules without parameters and buffers.
bool Table::hasNothing(StringRef Class) {
  if (llvm::StringSwitch<bool>(Class)
          .Cases("Dropout", "Dropout2d", "Dropout3d", "AlphaDropout",
                 "FeatureAlphaDropout", true)
          .Cases("Identity", "Flatten", "Unflatten", "Fold", "Unfold",
                 "Upsample", true)
          .Cases("PixelShuffle", "PixelUnshuffle", "CrossMapLRN2d",
                 "LocalResponseNorm", true)
          .Cases("CosineSimilarity", "PairwiseDistance", "Functional", true)
          .Cases("CELU", "ELU", "GELU", "GLU", "SELU", "SiLU", "Mish", true)
          .Cases("ReLU", "ReLU6", "RReLU", "LeakyReLU", true)
          .Cases("Sigmoid", "LogSigmoid", "Tanh", "Tanhshrink", "Hardtanh",
                 "Hardshrink", "Softshrink", true)
          .Cases("Softmax", "Softmax2d", "Softmin", "LogSoftmax", "Softplus",
                 "Softsign", "Threshold", true)
          .Cases("Sequential", "ModuleList", "ModuleDict", true)
          .Cases("ParameterList", "ParameterDict", true)
          .Default(false))
    return true;
  // AvgPool2d, AdaptiveMaxPool1d, FractionalMaxPool3d, MaxUnpool3d, ZeroPad2d.
  const std::optional<size_t> Count = dimensions(Class);
  if (Count && (Class.contains("Pool") || Class.contains("Unpool") ||
                Class.contains("Pad")))
    return true;
  return Class.ends_with("Loss");
}

std::optional<ModuleContents> Table::make() {
  const StringRef Kind = family(Class);
  if (Kind == "Conv" || Kind == "ConvTranspose") {
    const std::optional<size_t> Count = dimensions(Class);
    if (!Count)
      return std::nullopt;
    convolution(*Count, Kind == "ConvTranspose");
  } else if (Kind == "BatchNorm" || Kind == "InstanceNorm") {
    normalisation();
  } else if (Class == "Linear") {
    const Size Out = number("out_features");
    parameter("weight", {Out, number("in_features")});
    if (flag("bias"))
      parameter("bias", {Out});
  } else if (Class == "Bilinear") {
    const Size Out = number("out_features");
    parameter("weight", {Out, number("in1_features"), number("in2_features")});
    if (flag("bias"))
      parameter("bias", {Out});
  } else if (Class == "LayerNorm") {
    if (flag("elementwise_affine")) {
      const std::optional<std::vector<Size>> Shape = list("normalized_shape");
      parameter("weight", Shape);
      parameter("bias", Shape);
    }
  } else if (Class == "GroupNorm") {
    if (flag("affine")) {
      const Size Channels = number("num_channels");
      parameter("weight", {Channels});
      parameter("bias", {Channels});
    }
  } else if (Class == "Embedding" || Class == "EmbeddingBag") {
    parameter("weight", {number("num_embeddings"), number("embedding_dim")});
  } else if (Class == "PReLU") {
    parameter("weight", {number("num_parameters")});
  } else if (Class == "RNN") {
    recurrent(1);
  } else if (Class == "LSTM") {
    recurrent(4);
  } else if (Class == "GRU") {
    recurrent(3);
  } else if (Class == "RNNCell") {
    cell(1);
  } else if (Class == "LSTMCell") {
    cell(4);
  } else if (Class == "GRUCell") {
    cell(3);
  } else if (Class == "MultiheadAttention") {
    attention();
  } else if (Class == "TransformerEncoderLayer") {
    transformerLayer(/*Decoder=*/false);
  } else if (Class == "TransformerDecoderLayer") {
    transformerLayer(/*Decoder=*/true);
  } else if (Class == "TransformerEncoder") {
    transformerStack(/*Decoder=*/false);
  } else if (Class == "TransformerDecoder") {
    transformerStack(/*Decoder=*/true);
  } else if (Class == "Transformer") {
    transformer();
  } else if (Class == "AdaptiveLogSoftmaxWithLoss") {
    adaptiveSoftmax();
  } else if (Class == "NLLLoss" || Class == "CrossEntropyLoss" ||
             Class == "BCELoss" || Class == "MultiMarginLoss" ||
             Class == "MultiLabelSoftMarginLoss") {
    givenBuffer("weight");
  } else if (Class == "BCEWithLogitsLoss") {
    givenBuffer("weight");
    givenBuffer("pos_weight");
  } else if (!hasNothing(Class)) {
    return std::nullopt;
  }
  return std::move(Result);
}

std::optional<ModuleContents> contentsOf(StringRef Class,
                                         const OptionValues &Options) {
  return Table(Class, Options).make();
}

ArrayRef<StringRef> positionalOptions(StringRef Class) {
  static constexpr StringRef
      Linear[] = {"in_features", "out_features"},
      Bilinear[] = {"in1_features", "in2_features", "out_features"},
      Convolution[] = {"in_channels", "out_channels", "kernel_size"},
      Features[] = {"num_features"}, Shape[] = {"normalized_shape"},
      Groups[] = {"num_groups", "num_channels"},
      Embedding[] = {"num_embeddings", "embedding_dim"},
      Recurrent[] = {"input_size", "hidden_size"},
      Attention[] = {"embed_dim", "num_heads"}, Layer[] = {"d_model", "nhead"},
      Encoder[] = {"encoder_layer", "num_layers"},
      Decoder[] = {"decoder_layer", "num_layers"},
      Transformer[] = {"d_model", "nhead", "num_encoder_layers",
                       "num_decoder_layers"},
      Adaptive[] = {"in_features", "n_classes", "cutoffs"},
      Pool[] = {"kernel_size"}, Output[] = {"output_size"}, Dropped[] = {"p"},
      Activation[] = {"inplace"}, Dimension[] = {"dim"}, Alpha[] = {"alpha"},
      Slope[] = {"negative_slope"}, Bound[] = {"threshold", "value"},
      Padding[] = {"padding", "value"}, Pad[] = {"pad"},
      Upscale[] = {"upscale_factor"}, Downscale[] = {"downscale_factor"},
      Unflatten[] = {"dim", "sizes"}, Fold[] = {"output_size", "kernel_size"},
      Width[] = {"size"}, Power[] = {"norm_type", "kernel_size"},
      Shrink[] = {"lambda"},
      // A function, and what it is given after its input.
      Functional[] = {"function", "1", "2", "3", "4", "5", "6"};
  // F::MaxPool2dFuncOptions are those of MaxPool2d.
  Class.consume_back("Func");
  StringRef Base = Class;
  if (dimensions(Class) && Class != "Softmax2d")
    Base = Class.drop_back(2);
  return llvm::StringSwitch<ArrayRef<StringRef>>(Base)
      .Cases("MaxPool", "AvgPool", "MaxUnpool", "FractionalMaxPool", "Unfold",
             Pool)
      .Case("LPPool", Power)
      .Case("Fold", Fold)
      .Cases("LocalResponseNorm", "CrossMapLRN", Width)
      .Cases("Hardshrink", "Softshrink", Shrink)
      .Cases("AdaptiveMaxPool", "AdaptiveAvgPool", Output)
      .Cases("Dropout", "AlphaDropout", "FeatureAlphaDropout", Dropped)
      .Cases("ReLU", "ReLU6", "SELU", Activation)
      .Cases("Softmax", "LogSoftmax", "Softmin", "GLU", Dimension)
      .Cases("ELU", "CELU", Alpha)
      .Case("LeakyReLU", Slope)
      .Case("Threshold", Bound)
      .Cases("ConstantPad", "ReflectionPad", "ReplicationPad", "ZeroPad",
             Padding)
      .Case("Pad", Pad)
      .Case("PixelShuffle", Upscale)
      .Case("PixelUnshuffle", Downscale)
      .Case("Unflatten", Unflatten)
      .Case("Functional", Functional)
      .Case("Linear", Linear)
      .Case("Bilinear", Bilinear)
      .Cases("Conv", "ConvTranspose", Convolution)
      .Cases("BatchNorm", "InstanceNorm", Features)
      .Case("LayerNorm", Shape)
      .Case("GroupNorm", Groups)
      .Cases("Embedding", "EmbeddingBag", Embedding)
      .Cases("RNN", "LSTM", "GRU", Recurrent)
      .Cases("RNNCell", "LSTMCell", "GRUCell", Recurrent)
      .Case("MultiheadAttention", Attention)
      .Cases("TransformerEncoderLayer", "TransformerDecoderLayer", Layer)
      .Case("TransformerEncoder", Encoder)
      .Case("TransformerDecoder", Decoder)
      .Case("Transformer", Transformer)
      .Case("AdaptiveLogSoftmaxWithLoss", Adaptive)
      .Default({});
}

OptionValue defaultOption(StringRef Class, StringRef Option) {
  const StringRef Kind = family(Class);
  if (Option == "affine" || Option == "track_running_stats")
    return integer(Kind != "InstanceNorm");
  if (Class == "Transformer" && Option == "d_model")
    return integer(512);
  if (Class == "Transformer" && Option == "nhead")
    return integer(8);
  if (Class == "Transformer" || Class.starts_with("TransformerEncoder") ||
      Class.starts_with("TransformerDecoder"))
    return llvm::StringSwitch<OptionValue>(Option)
        .Case("dim_feedforward", integer(2048))
        .Case("dropout", real(0.1))
        .Cases("num_encoder_layers", "num_decoder_layers", integer(6))
        .Cases("custom_encoder", "custom_decoder", "norm", absent())
        .Default(OptionValue());
  return llvm::StringSwitch<OptionValue>(Option)
      .Cases("bias", "elementwise_affine", integer(1))
      .Cases("groups", "stride", "dilation", "num_parameters", integer(1))
      .Case("num_layers", integer(1))
      .Cases("padding", "output_padding", "proj_size", integer(0))
      .Cases("bidirectional", "add_bias_kv", "head_bias", integer(0))
      .Cases("batch_first", "add_zero_attn", integer(0))
      .Case("div_value", real(4))
      .Cases("weight", "pos_weight", absent())
      .Default(OptionValue());
}

namespace {

struct OptimizerRow {
  StringRef Name;
  unsigned Copies;
  unsigned Scratch;    ///< Of one parameter, while step() works on it.
  bool AtOnce = false; ///< It keeps them from its construction on.
};

} // namespace

/// What step() keeps in tensors, in 1.13.1 and 2.x; counters are numbers.
static constexpr OptimizerRow OptimizerRows[] = {
    {"sgd", 0, 0},           // Without momentum, nothing.
    {"sgd-momentum", 1, 0},  // momentum_buffer
    {"adam", 2, 2},          // exp_avg, exp_avg_sq
    {"adamw", 2, 2},         // The same.
    {"amsgrad", 3, 2},       // Adam or AdamW with amsgrad: max_exp_avg_sq, too.
    {"rmsprop", 1, 1},       // square_avg; neither centered nor with momentum
    {"adagrad", 1, 1, true}, // sum
};

static const OptimizerRow *rowOf(StringRef Optimizer) {
  const auto *Row = llvm::find_if(OptimizerRows, [&](const OptimizerRow &Each) {
    return Each.Name == Optimizer;
  });
  return Row == std::end(OptimizerRows) ? nullptr : Row;
}

std::optional<unsigned> optimizerCopies(StringRef Optimizer) {
  const OptimizerRow *Row = rowOf(Optimizer);
  return Row ? std::optional(Row->Copies) : std::nullopt;
}

unsigned optimizerScratch(StringRef Optimizer) {
  const OptimizerRow *Row = rowOf(Optimizer);
  return Row ? Row->Scratch : 0;
}

bool hasOptimizerStateAtOnce(StringRef Optimizer) {
  const OptimizerRow *Row = rowOf(Optimizer);
  return Row && Row->AtOnce;
}

ArrayRef<StringRef> knownOptimizers() {
  static const auto Names = [] {
    llvm::SmallVector<StringRef, 8> Result;
    for (const OptimizerRow &Row : OptimizerRows)
      Result.push_back(Row.Name);
    return Result;
  }();
  return Names;
}

} // namespace libtorch_tidy::torch
