//===- ModuleOptions.cpp - The options of torch::nn's modules -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/library/ModuleParameters.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::bytes {

unsigned takeDimensions(StringRef &Name) {
  if (Name.size() <= 2 || Name.back() != 'd' || Name[Name.size() - 2] < '1' ||
      Name[Name.size() - 2] > '3')
    return 0;
  const unsigned Result = Name[Name.size() - 2] - '0';
  Name = Name.drop_back(2);
  return Result;
}

/// The classes of a row, without their dimensions, and their options.
static constexpr std::pair<StringRef, StringRef> PositionalRows[] = {
    {"Linear", "in_features out_features"},
    {"Bilinear", "in1_features in2_features out_features"},
    {"Conv ConvTranspose", "in_channels out_channels kernel_size"},
    {"BatchNorm InstanceNorm", "num_features"},
    {"LayerNorm", "normalized_shape"},
    {"GroupNorm", "num_groups num_channels"},
    {"Embedding EmbeddingBag", "num_embeddings embedding_dim"},
    {"RNN LSTM GRU RNNCell LSTMCell GRUCell", "input_size hidden_size"},
    {"MultiheadAttention", "embed_dim num_heads"},
    {"TransformerEncoderLayer TransformerDecoderLayer", "d_model nhead"},
    {"TransformerEncoder", "encoder_layer num_layers"},
    {"TransformerDecoder", "decoder_layer num_layers"},
    {"Transformer", "d_model nhead num_encoder_layers num_decoder_layers"},
    {"AdaptiveLogSoftmaxWithLoss", "in_features n_classes cutoffs"},
    {"MaxPool AvgPool MaxUnpool FractionalMaxPool Unfold", "kernel_size"},
    {"LPPool", "norm_type kernel_size"},
    {"AdaptiveMaxPool AdaptiveAvgPool", "output_size"},
    {"Fold", "output_size kernel_size"},
    {"LocalResponseNorm CrossMapLRN", "size"},
    {"Hardshrink Softshrink", "lambda"},
    {"Dropout AlphaDropout FeatureAlphaDropout", "p"},
    {"ReLU ReLU6 SELU", "inplace"},
    {"Softmax LogSoftmax Softmin GLU", "dim"},
    {"ELU CELU", "alpha"},
    {"LeakyReLU", "negative_slope"},
    {"Threshold", "threshold value"},
    {"ConstantPad ReflectionPad ReplicationPad ZeroPad", "padding value"},
    {"Pad", "pad"},
    {"PixelShuffle", "upscale_factor"},
    {"PixelUnshuffle", "downscale_factor"},
    {"Unflatten", "dim sizes"},
    // A function, and what it is given after its input.
    {"Functional", "function 1 2 3 4 5 6"},
    {"DataLoader", "batch_size"},
};

llvm::SmallVector<StringRef, 8> positionalOptions(StringRef Class) {
  // F::MaxPool2dFuncOptions are those of MaxPool2d.
  Class.consume_back("Func");
  if (Class != "Softmax2d")
    takeDimensions(Class);
  for (const auto &[Classes, Options] : PositionalRows)
    if (llvm::is_contained(llvm::split(Classes, ' '), Class)) {
      const auto Names = llvm::split(Options, ' ');
      return {Names.begin(), Names.end()};
    }
  return {};
}

namespace {

/// The value of some options.
struct DefaultRow {
  StringRef Options;
  Value::Kind What;
  double Number = 0;
};

} // namespace

static constexpr DefaultRow TransformerDefaults[] = {
    {"dim_feedforward", Value::Integer, 2048},
    {"dropout", Value::Real, 0.1},
    {"num_encoder_layers num_decoder_layers", Value::Integer, 6},
    {"custom_encoder custom_decoder norm", Value::Null},
};
static constexpr DefaultRow Defaults[] = {
    {"bias elementwise_affine affine track_running_stats", Value::Integer, 1},
    {"groups stride dilation num_parameters num_layers", Value::Integer, 1},
    {"padding output_padding proj_size", Value::Integer, 0},
    {"bidirectional add_bias_kv head_bias", Value::Integer, 0},
    {"batch_first add_zero_attn", Value::Integer, 0},
    {"div_value", Value::Real, 4},
    {"weight pos_weight", Value::Null},
};

Cell defaultOption(StringRef Class, StringRef Option) {
  if (Class.starts_with("InstanceNorm") &&
      (Option == "affine" || Option == "track_running_stats"))
    return integer(0);
  if (Class == "Transformer" && (Option == "d_model" || Option == "nhead"))
    return integer(Option == "nhead" ? 8 : 512);
  for (const DefaultRow &Row : Class.starts_with("Transformer")
                                   ? ArrayRef(TransformerDefaults)
                                   : ArrayRef(Defaults))
    if (llvm::is_contained(llvm::split(Row.Options, ' '), Option))
      return Row.What == Value::Integer ? integer(Row.Number)
             : Row.What == Value::Real  ? real(Row.Number)
                                        : valueOf(Value::Null);
  return valueOf(Value::Unknown);
}

} // namespace libtorch_tidy::bytes
