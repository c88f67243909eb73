//===- ModuleParameters.cpp - What LibTorch's modules register ------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/bytes/library/ModuleParameters.h"
#include "analysis/bytes/simulate/Simulation.h"
#include "analysis/torch/modules/Modules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include <cmath>

using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::bytes {

namespace {

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

Cell maybe(Size Number) {
  return Number ? integer(*Number) : valueOf(Value::Unknown);
}

/// Writes the contents of one module.
class Table {
public:
  Table(StringRef Class, const OptionValues &Options)
      : Class(Class), Options(Options) {}

  std::optional<ModuleContents> make();

private:
  Cell option(StringRef Name) const {
    auto It = Options.find(Name.str());
    return It == Options.end() ? defaultOption(Class, Name) : It->second;
  }
  void missing(StringRef Name) {
    if (!llvm::is_contained(Result.Missing, Name))
      Result.Missing.push_back(Name.str());
  }
  Size number(StringRef Name) {
    const Cell Given = option(Name);
    if (Given->What == Value::Integer)
      return Given->Number;
    if (Given->What == Value::Real) // Converted, as C++ does.
      return std::abs(Given->RealNumber) < 1e15
                 ? Size(static_cast<int64_t>(Given->RealNumber))
                 : std::nullopt;
    missing(Name);
    return std::nullopt;
  }
  /// False when it is not known: what it adds is left out then, and the module
  /// has at least what is counted.
  bool flag(StringRef Name) { return number(Name).value_or(0) != 0; }
  /// ExpandingArray: one number stands for all dimensions.
  std::vector<Size> expanded(StringRef Name, size_t Count) {
    const Cell Given = option(Name);
    if (Given->What != Value::List)
      return std::vector<Size>(Count, number(Name));
    const std::vector<Size> Numbers = *sizesOf(Given);
    if (Numbers.size() == 1 && Count != 1)
      return std::vector<Size>(Count, Numbers.front());
    if (Numbers.size() != Count || llvm::is_contained(Numbers, Size()))
      missing(Name);
    return Numbers.size() == Count ? Numbers : std::vector<Size>(Count);
  }
  /// A list of any length; nullopt when it is not known.
  MaybeSizes list(StringRef Name) {
    const MaybeSizes Given = sizesOf(option(Name));
    if (!Given)
      missing(Name);
    return Given;
  }
  void parameter(StringRef Name, std::vector<Size> Sizes) {
    Result.Parameters.push_back({Name.str(), {std::move(Sizes)}});
  }
  void parameter(StringRef Name, MaybeSizes Sizes) {
    Result.Parameters.push_back({Name.str(), {std::move(Sizes)}});
  }
  /// What layers end in, whose results have \p Out channels.
  void weightAndBias(std::vector<Size> Weight, Size Out) {
    parameter("weight", std::move(Weight));
    if (flag("bias"))
      parameter("bias", {Out});
  }
  /// What normalisations end in.
  void scaleAndShift(const MaybeSizes &Sizes) {
    parameter("weight", Sizes);
    parameter("bias", Sizes);
  }
  void buffer(StringRef Name, std::vector<Size> Sizes,
              ElementType Type = Float32) {
    Result.Buffers.push_back({Name.str(), {std::move(Sizes), Type}});
  }
  /// A tensor that an option holds and a loss registers.
  void givenBuffer(StringRef Name) {
    const Cell Given = option(Name);
    if (Given->What == Value::Tensor && Given->Handle->Shape.Defined)
      Result.Buffers.push_back({Name.str(), Given->Handle->Shape});
    else if (Given->What == Value::Unknown)
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
  /// One that the caller knows.
  static RegisteredModule given(StringRef Name, const Cell &Module) {
    RegisteredModule Result = part(Name, "");
    Result.Given = Module->Held;
    return Result;
  }
  /// \p Count of option \p Name, of as many as memory may have.
  int64_t bounded(Size Count, StringRef Name) {
    // More are beyond all memory, and their names, too.
    constexpr int64_t Most = 4096;
    if (Count && *Count > Most)
      missing(Name);
    return std::min(Count.value_or(0), Most);
  }
  static RegisteredModule linear(StringRef Name, Size In, Size Out,
                                 bool Bias = true) {
    return part(Name, "Linear",
                {{"in_features", maybe(In)},
                 {"out_features", maybe(Out)},
                 {"bias", integer(Bias)}});
  }
  static RegisteredModule layerNorm(StringRef Name, Size Width) {
    return part(Name, "LayerNorm",
                {{"normalized_shape", listOf({maybe(Width)})}});
  }
  void add(RegisteredModule M) { Result.Children.push_back(std::move(M)); }

  void convolution(size_t Dimensions, bool Transposed);
  void linear();
  void bilinear();
  void normalisation();
  void layerNorm();
  void groupNorm();
  void embedding();
  void gates(StringRef End, Size Rows, Size Input, Size State, bool Bias);
  void recurrent(int64_t Gates);
  void cell(int64_t Gates);
  void attention();
  void transformerLayer(bool Decoder);
  void transformerStack(bool Decoder);
  void transformer();
  void adaptiveSoftmax();

  const StringRef Class;
  const OptionValues &Options;
  ModuleContents Result;
};

} // namespace

void Table::convolution(size_t Dimensions, bool Transposed) {
  const Size In = number("in_channels"), Out = number("out_channels"),
             Groups = number("groups");
  std::vector<Size> Weight =
      Transposed ? std::vector<Size>{In, dividedBy(Out, Groups)}
                 : std::vector<Size>{Out, dividedBy(In, Groups)};
  llvm::append_range(Weight, expanded("kernel_size", Dimensions));
  weightAndBias(std::move(Weight), Out);
}

void Table::linear() {
  const Size Out = number("out_features");
  weightAndBias({Out, number("in_features")}, Out);
}

void Table::bilinear() {
  const Size Out = number("out_features");
  weightAndBias({Out, number("in1_features"), number("in2_features")}, Out);
}

/// BatchNorm and InstanceNorm.
void Table::normalisation() {
  const Size Features = number("num_features");
  if (flag("affine"))
    scaleAndShift(std::vector{Features});
  if (flag("track_running_stats")) {
    buffer("running_mean", {Features});
    buffer("running_var", {Features});
    buffer("num_batches_tracked", {}, Int64);
  }
}

void Table::layerNorm() {
  if (flag("elementwise_affine"))
    scaleAndShift(list("normalized_shape"));
}

void Table::groupNorm() {
  if (flag("affine"))
    scaleAndShift(std::vector{number("num_channels")});
}

void Table::embedding() {
  parameter("weight", {number("num_embeddings"), number("embedding_dim")});
}

/// What one step of an LSTM and the like takes.
void Table::gates(StringRef End, Size Rows, Size Input, Size State, bool Bias) {
  parameter(("weight_ih" + End).str(), {Rows, Input});
  parameter(("weight_hh" + End).str(), {Rows, State});
  if (Bias) {
    parameter(("bias_ih" + End).str(), {Rows});
    parameter(("bias_hh" + End).str(), {Rows});
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
  const int64_t Count = bounded(Layers, "num_layers");
  for (int64_t Layer = 0; Layer < Count; ++Layer)
    for (int64_t Way = 0; Way < Directions; ++Way) {
      const std::string End =
          "_l" + std::to_string(Layer) + (Way ? "_reverse" : "");
      gates(End, Rows, Layer == 0 ? Input : times(State, Directions), State,
            Bias);
      if (Projects)
        parameter("weight_hr" + End, {Projection, Hidden});
    }
}

void Table::cell(int64_t Gates) {
  const Size Hidden = number("hidden_size"), Input = number("input_size");
  gates("", times(Gates, Hidden), Input, Hidden, flag("bias"));
}

void Table::attention() {
  const Size Width = number("embed_dim");
  auto WidthOf = [&](StringRef Name) {
    return Options.count(Name.str()) ? number(Name) : Width;
  };
  const Size Keys = WidthOf("kdim"), Values = WidthOf("vdim");
  if (!Width || !Keys || !Values) {
    // Either 3 * width * width, or width * (width + keys + values).
    parameter("in_proj_weight", MaybeSizes());
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
  const Cell Dropped = option("dropout");
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
  const Cell Layer = option(Name);
  const Size Count = number("num_layers");
  RegisteredModule List = part("layers", "ModuleList");
  if (Layer->What != Value::Module) {
    missing(Name);
  } else {
    for (int64_t I = 0, End = bounded(Count, "num_layers"); I < End; ++I) {
      List.Children.push_back(given(std::to_string(I), Layer));
      List.Children.back().IsCopy = true;
    }
    Result.Unlisted.push_back(given(("options." + Name).str(), Layer));
  }
  add(std::move(List));
  const Cell Norm = option("norm");
  if (Norm->What == Value::Module)
    add(given("norm", Norm));
  else if (Norm->What != Value::Null)
    missing("norm");
}

void Table::transformer() {
  for (bool Decoder : {false, true}) {
    const StringRef Name = Decoder ? "decoder" : "encoder";
    const Cell Custom = option(Decoder ? "custom_decoder" : "custom_encoder");
    if (Custom->What == Value::Module) {
      add(given(Name, Custom));
      continue;
    }
    if (Custom->What != Value::Null) {
      missing(Decoder ? "custom_decoder" : "custom_encoder");
      continue;
    }
    const Size Width = number("d_model");
    const StringRef Layers =
        Decoder ? "num_decoder_layers" : "num_encoder_layers";
    const int64_t Count = bounded(number(Layers), Layers);
    const RegisteredModule Layer = part(
        "", Decoder ? "TransformerDecoderLayer" : "TransformerEncoderLayer",
        {{"d_model", maybe(Width)},
         {"nhead", option("nhead")},
         {"dim_feedforward", option("dim_feedforward")},
         {"dropout", option("dropout")},
         {"activation", option("activation")}});
    RegisteredModule Stack =
        part(Name, Decoder ? "TransformerDecoder" : "TransformerEncoder");
    RegisteredModule List = part("layers", "ModuleList");
    for (int64_t I = 0; I < Count; ++I) {
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
  MaybeSizes Cutoffs = list("cutoffs");
  const Cell Divisor = option("div_value");
  const bool HasDivisor = isNumber(Divisor);
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
      const double Width = std::floor(static_cast<double>(*In) /
                                      std::pow(realOf(Divisor), I + 1));
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

/// Modules without parameters and buffers, or with what their user adds.
static bool hasNothing(StringRef Class) {
  if (torch::isPlainFunction(Class) || Class.ends_with("Loss") ||
      llvm::StringSwitch<bool>(Class)
          .Cases("Sequential", "ModuleList", "ModuleDict", true)
          .Cases("ParameterList", "ParameterDict", true)
          .Default(false))
    return true;
  // AvgPool2d, AdaptiveMaxPool1d, FractionalMaxPool3d, MaxUnpool3d, ZeroPad2d.
  StringRef Base = Class;
  return takeDimensions(Base) &&
         (Class.contains("Pool") || Class.contains("Unpool") ||
          Class.contains("Pad"));
}

std::optional<ModuleContents> Table::make() {
  StringRef Base = Class;
  const unsigned Dimensions = takeDimensions(Base);
  if (Dimensions && (Base == "Conv" || Base == "ConvTranspose")) {
    convolution(Dimensions, Base == "ConvTranspose");
    return std::move(Result);
  }
  if (Base == "BatchNorm" || Base == "InstanceNorm") {
    normalisation();
    return std::move(Result);
  }
  using Writer = void (*)(Table &);
  const Writer Embeds = [](Table &T) { T.embedding(); },
               WeighsLoss = [](Table &T) { T.givenBuffer("weight"); };
  const Writer Write =
      llvm::StringSwitch<Writer>(Class)
          .Case("Linear", [](Table &T) { T.linear(); })
          .Case("Bilinear", [](Table &T) { T.bilinear(); })
          .Case("LayerNorm", [](Table &T) { T.layerNorm(); })
          .Case("GroupNorm", [](Table &T) { T.groupNorm(); })
          .Cases("Embedding", "EmbeddingBag", Embeds)
          .Case("PReLU",
                [](Table &T) {
                  T.parameter("weight", {T.number("num_parameters")});
                })
          .Case("RNN", [](Table &T) { T.recurrent(1); })
          .Case("LSTM", [](Table &T) { T.recurrent(4); })
          .Case("GRU", [](Table &T) { T.recurrent(3); })
          .Case("RNNCell", [](Table &T) { T.cell(1); })
          .Case("LSTMCell", [](Table &T) { T.cell(4); })
          .Case("GRUCell", [](Table &T) { T.cell(3); })
          .Case("MultiheadAttention", [](Table &T) { T.attention(); })
          .Case("TransformerEncoderLayer",
                [](Table &T) { T.transformerLayer(/*Decoder=*/false); })
          .Case("TransformerDecoderLayer",
                [](Table &T) { T.transformerLayer(/*Decoder=*/true); })
          .Case("TransformerEncoder",
                [](Table &T) { T.transformerStack(/*Decoder=*/false); })
          .Case("TransformerDecoder",
                [](Table &T) { T.transformerStack(/*Decoder=*/true); })
          .Case("Transformer", [](Table &T) { T.transformer(); })
          .Case("AdaptiveLogSoftmaxWithLoss",
                [](Table &T) { T.adaptiveSoftmax(); })
          .Cases("NLLLoss", "CrossEntropyLoss", "BCELoss", "MultiMarginLoss",
                 "MultiLabelSoftMarginLoss", WeighsLoss)
          .Case("BCEWithLogitsLoss",
                [](Table &T) {
                  T.givenBuffer("weight");
                  T.givenBuffer("pos_weight");
                })
          .Default(nullptr);
  if (Write)
    Write(*this);
  else if (!hasNothing(Class))
    return std::nullopt;
  return std::move(Result);
}

std::optional<ModuleContents> contentsOf(StringRef Class,
                                         const OptionValues &Options) {
  return Table(Class, Options).make();
}

} // namespace libtorch_tidy::bytes
