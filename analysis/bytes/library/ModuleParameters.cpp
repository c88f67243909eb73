//===- ModuleParameters.cpp - What LibTorch's modules register ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The parameters, buffers and modules that each module of torch::nn registers,
/// with their shapes, as a function of its options. From the headers and
/// sources of LibTorch 1.13.1, which 2.x agrees with; test/budget compares
/// every row with the real library.

#include "analysis/bytes/interpret/Interpreter.h"
#include "analysis/torch/modules/Modules.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using clang::SourceLocation;
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

/// Registers the contents of one module.
class Registrar {
public:
  Registrar(Interpreter &VM, ModuleInstance &M, StringRef Class,
            const OptionValues &Options, bool IsPart)
      : VM(VM), M(M), Class(Class), Options(Options), IsPart(IsPart) {}

  bool run();

private:
  using Children = std::vector<ModuleInstance::Child>;

  Cell option(StringRef Name) const {
    const Cell Given = settingOf(Options, Name);
    return Given ? Given : defaultOption(Class, Name);
  }

  /// Notes that an option decides what there is, and is not known. What it
  /// decides is left out, or has unknown sizes.
  void missing(StringRef Name) {
    if (IsPart)
      return;
    M.IsIncomplete = true;
    const Cell Set = settingOf(M.Settings, Name);
    const bool IsKnown = Set && Set->What == Value::Integer;
    VM.note(M.Made, "'" + Name + "' of " + M.ClassName +
                        (IsKnown ? " is too large" : " is not known") +
                        (Set ? VM.because(Set) : ""));
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

  /// \p Count of option \p Name, of as many as memory may have.
  int64_t bounded(Size Count, StringRef Name) {
    // More are beyond all memory, and their names, too.
    constexpr int64_t Most = 4096;
    if (Count && *Count > Most)
      missing(Name);
    return std::min(Count.value_or(0), Most);
  }

  void addTensor(bool IsParameter, StringRef Name, TensorShape Shape) {
    auto Handle = std::make_shared<TensorInstance>();
    Handle->Shape = std::move(Shape);
    Handle->RequiresGrad = IsParameter;
    (IsParameter ? M.Parameters : M.Buffers)
        .push_back({Name.str(), std::move(Handle)});
  }
  void parameter(StringRef Name, std::vector<Size> Sizes) {
    addTensor(true, Name, {std::move(Sizes)});
  }
  void buffer(StringRef Name, std::vector<Size> Sizes,
              ElementType Type = Float32) {
    addTensor(false, Name, {std::move(Sizes), Type});
  }
  /// A tensor that an option holds and a loss registers.
  void givenBuffer(StringRef Name) {
    const Cell Given = option(Name);
    if (Given->What == Value::Tensor && Given->Handle->Shape.Defined)
      addTensor(false, Name, Given->Handle->Shape);
    else if (Given->What == Value::Unknown)
      missing(Name);
  }
  /// What layers end in, whose results have \p Out channels.
  void weightAndBias(std::vector<Size> Weight, Size Out) {
    parameter("weight", std::move(Weight));
    if (flag("bias"))
      parameter("bias", {Out});
  }
  /// What normalisations end in.
  void scaleAndShift(const MaybeSizes &Sizes) {
    addTensor(true, "weight", {Sizes});
    addTensor(true, "bias", {Sizes});
  }

  /// A module whose children \p Fill adds.
  void addContainer(Children &To, const llvm::Twine &Name, StringRef Of,
                    llvm::function_ref<void(ModuleInstance &)> Fill) {
    const ModulePtr Part = newModule(VM, Of, nullptr, M.Made);
    To.push_back({Name.str(), Part});
    if (!VM.Halted)
      Fill(*Part);
  }
  /// One of LibTorch's, with some options.
  void addPart(Children &To, const llvm::Twine &Name, StringRef Of,
               const OptionValues &Given) {
    addContainer(To, Name, Of, [&](ModuleInstance &Part) {
      for (const auto &[Option, Setting] : Given)
        Part.Settings[Option] = bytes::cell(*Setting);
      Registrar(VM, Part, Of, Given, /*IsPart=*/true).run();
    });
  }
  void addLinear(Children &To, StringRef Name, Size In, Size Out,
                 bool Bias = true) {
    addPart(To, Name, "Linear",
            {{"in_features", maybe(In)},
             {"out_features", maybe(Out)},
             {"bias", integer(Bias)}});
  }
  void addLayerNorm(Children &To, StringRef Name, Size Width) {
    addPart(To, Name, "LayerNorm",
            {{"normalized_shape", listOf({maybe(Width)})}});
  }

  //===--------------------------------------------------------------------===//
  // Classes
  //===--------------------------------------------------------------------===//

  void convolution() {
    StringRef Base = Class;
    const unsigned Dimensions = takeDimensions(Base);
    const Size In = number("in_channels"), Out = number("out_channels"),
               Groups = number("groups");
    std::vector<Size> Weight =
        Base == "ConvTranspose" ? std::vector<Size>{In, dividedBy(Out, Groups)}
                                : std::vector<Size>{Out, dividedBy(In, Groups)};
    llvm::append_range(Weight, expanded("kernel_size", Dimensions));
    weightAndBias(std::move(Weight), Out);
  }

  void linear() {
    const Size Out = number("out_features");
    weightAndBias({Out, number("in_features")}, Out);
  }

  void bilinear() {
    const Size Out = number("out_features");
    weightAndBias({Out, number("in1_features"), number("in2_features")}, Out);
  }

  /// BatchNorm and InstanceNorm.
  void normalisation() {
    const Size Features = number("num_features");
    if (flag("affine"))
      scaleAndShift(std::vector{Features});
    if (flag("track_running_stats")) {
      buffer("running_mean", {Features});
      buffer("running_var", {Features});
      buffer("num_batches_tracked", {}, Int64);
    }
  }

  void layerNorm() {
    if (!flag("elementwise_affine"))
      return;
    const MaybeSizes Shape = sizesOf(option("normalized_shape"));
    if (!Shape)
      missing("normalized_shape");
    scaleAndShift(Shape);
  }

  void groupNorm() {
    if (flag("affine"))
      scaleAndShift(std::vector{number("num_channels")});
  }

  void embedding() {
    parameter("weight", {number("num_embeddings"), number("embedding_dim")});
  }

  void prelu() { parameter("weight", {number("num_parameters")}); }

  /// How many gates a layer or cell has.
  int64_t gateCount() const {
    return Class.starts_with("LSTM") ? 4 : Class.starts_with("GRU") ? 3 : 1;
  }

  /// What one step of an LSTM and the like takes.
  void gates(StringRef End, Size Rows, Size Input, Size State, bool Bias) {
    parameter(("weight_ih" + End).str(), {Rows, Input});
    parameter(("weight_hh" + End).str(), {Rows, State});
    if (Bias) {
      parameter(("bias_ih" + End).str(), {Rows});
      parameter(("bias_hh" + End).str(), {Rows});
    }
  }

  void recurrent() {
    const Size Input = number("input_size"), Hidden = number("hidden_size");
    const Size Layers = number("num_layers");
    const bool Bias = flag("bias");
    const int64_t Directions = flag("bidirectional") ? 2 : 1;
    const Size Projection = Class == "LSTM" ? number("proj_size") : Size(0);
    const bool Projects = Projection && *Projection > 0;
    // Not known: with a projection the state is smaller.
    const Size State = !Projection ? Size() : Projects ? Projection : Hidden;
    const Size Rows = times(gateCount(), Hidden);
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

  void cell() {
    const Size Hidden = number("hidden_size"), Input = number("input_size");
    gates("", times(gateCount(), Hidden), Input, Hidden, flag("bias"));
  }

  void attention() {
    const Size Width = number("embed_dim");
    auto WidthOf = [&](StringRef Name) {
      return Options.count(Name.str()) ? number(Name) : Width;
    };
    const Size Keys = WidthOf("kdim"), Values = WidthOf("vdim");
    if (!Width || !Keys || !Values) {
      // Either 3 * width * width, or width * (width + keys + values).
      addTensor(true, "in_proj_weight", {MaybeSizes()});
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
    addLinear(M.Children, "out_proj", Width, Width, Bias);
    if (flag("add_bias_kv")) {
      parameter("bias_k", {1, 1, Width});
      parameter("bias_v", {1, 1, Width});
    }
  }

  bool isDecoder() const { return Class.contains("Decoder"); }

  /// TransformerEncoderLayer and TransformerDecoderLayer.
  void transformerLayer() {
    const Size Width = number("d_model"), Inner = number("dim_feedforward");
    const Cell Dropped = option("dropout");
    auto Attention = [&](StringRef Name) {
      addPart(M.Children, Name, "MultiheadAttention",
              {{"embed_dim", maybe(Width)},
               {"num_heads", option("nhead")},
               {"dropout", Dropped}});
    };
    auto Dropout = [&](StringRef Name) {
      addPart(M.Children, Name, "Dropout", {{"p", Dropped}});
    };
    Attention("self_attn");
    Dropout("dropout1");
    addLayerNorm(M.Children, "norm1", Width);
    if (isDecoder()) {
      Attention("multihead_attn");
      Dropout("dropout2");
      addLayerNorm(M.Children, "norm2", Width);
    }
    addLinear(M.Children, "linear1", Width, Inner);
    Dropout("dropout");
    addLinear(M.Children, "linear2", Inner, Width);
    Dropout(isDecoder() ? "dropout3" : "dropout2");
    addLayerNorm(M.Children, isDecoder() ? "norm3" : "norm2", Width);
  }

  /// TransformerEncoder and TransformerDecoder: copies of a layer, which their
  /// options keep.
  void transformerStack() {
    const StringRef Name = isDecoder() ? "decoder_layer" : "encoder_layer";
    const Cell Layer = option(Name);
    const bool IsKnown = Layer->What == Value::Module;
    const Size Count = number("num_layers");
    if (!IsKnown)
      missing(Name);
    const int64_t End = IsKnown ? bounded(Count, "num_layers") : 0;
    addContainer(M.Children, "layers", "ModuleList", [&](ModuleInstance &List) {
      for (int64_t I = 0; I < End; ++I)
        List.Children.push_back({std::to_string(I), cloneOf(VM, Layer->Held)});
    });
    if (IsKnown)
      M.Unlisted.push_back({("options." + Name).str(), Layer->Held});
    const Cell Norm = option("norm");
    if (Norm->What == Value::Module)
      M.Children.push_back({"norm", Norm->Held});
    else if (Norm->What != Value::Null)
      missing("norm");
  }

  void transformer() {
    OptionValues OfLayers;
    std::vector<std::pair<std::string, std::string>> Prototypes;
    for (const StringRef Kind : {"Encoder", "Decoder"}) {
      const std::string Name = Kind.lower(), Stack = "Transformer" + Kind.str();
      const Cell Custom = option("custom_" + Name);
      if (Custom->What == Value::Module) {
        M.Children.push_back({Name, Custom->Held});
        continue;
      }
      if (Custom->What != Value::Null) {
        missing("custom_" + Name);
        continue;
      }
      const Size Width = number("d_model");
      const std::string Layers = "num_" + Name + "_layers";
      const int64_t Count = bounded(number(Layers), Layers);
      OfLayers["d_model"] = maybe(Width);
      for (const StringRef Same :
           {"nhead", "dim_feedforward", "dropout", "activation"})
        OfLayers[Same.str()] = option(Same);
      addContainer(M.Children, Name, Stack, [&](ModuleInstance &Part) {
        addContainer(Part.Children, "layers", "ModuleList",
                     [&](ModuleInstance &List) {
                       for (int64_t I = 0; I < Count; ++I)
                         addPart(List.Children, llvm::Twine(I), Stack + "Layer",
                                 OfLayers);
                     });
        addLayerNorm(Part.Children, "norm", Width);
      });
      Prototypes.emplace_back(Name + ".options." + Name + "_layer",
                              Stack + "Layer");
    }
    for (const auto &[Name, Of] : Prototypes)
      addPart(M.Unlisted, Name, Of, OfLayers);
  }

  void adaptiveSoftmax() {
    const Size In = number("in_features"), Classes = number("n_classes");
    MaybeSizes Cutoffs = sizesOf(option("cutoffs"));
    if (!Cutoffs)
      missing("cutoffs");
    const Cell Divisor = option("div_value");
    const bool HasDivisor = isNumber(Divisor);
    if (!HasDivisor)
      missing("div_value");
    if (!Cutoffs || Cutoffs->empty())
      return;
    Cutoffs->push_back(Classes);
    const int64_t Clusters = Cutoffs->size() - 1;
    addLinear(M.Children, "head", In, plus(Cutoffs->front(), Clusters),
              flag("head_bias"));
    auto AddCluster = [&](ModuleInstance &Tail, int64_t I) {
      Size Inner;
      if (In && HasDivisor) {
        const double Width = std::floor(static_cast<double>(*In) /
                                        std::pow(realOf(Divisor), I + 1));
        if (Width >= 0 && Width < 1e15)
          Inner = static_cast<int64_t>(Width);
      }
      const Size Below = (*Cutoffs)[I], Above = (*Cutoffs)[I + 1];
      addContainer(Tail.Children, llvm::Twine(I), "Sequential",
                   [&](ModuleInstance &Pair) {
                     addLinear(Pair.Children, "0", In, Inner, false);
                     addLinear(Pair.Children, "1", Inner,
                               plus(Above, times(Below, -1)), false);
                   });
    };
    addContainer(M.Children, "tail", "ModuleList", [&](ModuleInstance &Tail) {
      for (int64_t I = 0; I < Clusters; ++I)
        AddCluster(Tail, I);
    });
  }

  void weighedLoss() {
    givenBuffer("weight");
    if (Class == "BCEWithLogitsLoss")
      givenBuffer("pos_weight");
  }

  Interpreter &VM;
  ModuleInstance &M;
  const StringRef Class;
  const OptionValues &Options;
  /// Of another of LibTorch's modules, which has noted what is missing.
  const bool IsPart;
};

} // namespace

/// Modules without parameters and buffers, or with what their user adds.
static bool hasNothing(StringRef Class) {
  if (torch::isPlainFunction(Class) || Class.ends_with("Loss") ||
      isModuleContainer(Class) || isParameterContainer(Class))
    return true;
  // AvgPool2d, AdaptiveMaxPool1d, FractionalMaxPool3d, MaxUnpool3d, ZeroPad2d.
  StringRef Base = Class;
  return takeDimensions(Base) &&
         (Class.contains("Pool") || Class.contains("Unpool") ||
          Class.contains("Pad"));
}

bool Registrar::run() {
  StringRef Base = Class;
  takeDimensions(Base);
  using Writer = void (Registrar::*)();
  const Writer Write =
      llvm::StringSwitch<Writer>(Base)
          .Cases("Conv", "ConvTranspose", &Registrar::convolution)
          .Cases("BatchNorm", "InstanceNorm", &Registrar::normalisation)
          .Case("Linear", &Registrar::linear)
          .Case("Bilinear", &Registrar::bilinear)
          .Case("LayerNorm", &Registrar::layerNorm)
          .Case("GroupNorm", &Registrar::groupNorm)
          .Cases("Embedding", "EmbeddingBag", &Registrar::embedding)
          .Case("PReLU", &Registrar::prelu)
          .Cases("RNN", "LSTM", "GRU", &Registrar::recurrent)
          .Cases("RNNCell", "LSTMCell", "GRUCell", &Registrar::cell)
          .Case("MultiheadAttention", &Registrar::attention)
          .Cases("TransformerEncoderLayer", "TransformerDecoderLayer",
                 &Registrar::transformerLayer)
          .Cases("TransformerEncoder", "TransformerDecoder",
                 &Registrar::transformerStack)
          .Case("Transformer", &Registrar::transformer)
          .Case("AdaptiveLogSoftmaxWithLoss", &Registrar::adaptiveSoftmax)
          .Cases("NLLLoss", "CrossEntropyLoss", "BCELoss", "BCEWithLogitsLoss",
                 "MultiMarginLoss", "MultiLabelSoftMarginLoss",
                 &Registrar::weighedLoss)
          .Default(nullptr);
  if (Write)
    (this->*Write)();
  return Write || hasNothing(Class);
}

bool registerContents(Interpreter &VM, ModuleInstance &M, StringRef Class,
                      const OptionValues &Options) {
  return Registrar(VM, M, Class, Options, /*IsPart=*/false).run();
}

} // namespace libtorch_tidy::bytes
