//===- ModuleOptions.cpp - The options of torch::nn's modules -------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/bytes/library/ModuleParameters.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::bytes {

OptionValue OptionValue::integer(int64_t Value) {
  OptionValue Result;
  Result.What = Integer;
  Result.Number = Value;
  return Result;
}

OptionValue OptionValue::real(double Value) {
  OptionValue Result;
  Result.What = Real;
  Result.RealNumber = Value;
  return Result;
}

OptionValue OptionValue::none() {
  OptionValue Result;
  Result.What = None;
  return Result;
}

unsigned takeDimensions(StringRef &Name) {
  if (Name.size() <= 2 || Name.back() != 'd' || Name[Name.size() - 2] < '1' ||
      Name[Name.size() - 2] > '3')
    return 0;
  const unsigned Result = Name[Name.size() - 2] - '0';
  Name = Name.drop_back(2);
  return Result;
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
  if (Class != "Softmax2d")
    takeDimensions(Base);
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
  if (Option == "affine" || Option == "track_running_stats") {
    StringRef Base = Class;
    takeDimensions(Base);
    return OptionValue::integer(Base != "InstanceNorm");
  }
  if (Class == "Transformer" && Option == "d_model")
    return OptionValue::integer(512);
  if (Class == "Transformer" && Option == "nhead")
    return OptionValue::integer(8);
  if (Class == "Transformer" || Class.starts_with("TransformerEncoder") ||
      Class.starts_with("TransformerDecoder"))
    return llvm::StringSwitch<OptionValue>(Option)
        .Case("dim_feedforward", OptionValue::integer(2048))
        .Case("dropout", OptionValue::real(0.1))
        .Cases("num_encoder_layers", "num_decoder_layers",
               OptionValue::integer(6))
        .Cases("custom_encoder", "custom_decoder", "norm", OptionValue::none())
        .Default(OptionValue());
  return llvm::StringSwitch<OptionValue>(Option)
      .Cases("bias", "elementwise_affine", OptionValue::integer(1))
      .Cases("groups", "stride", "dilation", "num_parameters",
             OptionValue::integer(1))
      .Case("num_layers", OptionValue::integer(1))
      .Cases("padding", "output_padding", "proj_size", OptionValue::integer(0))
      .Cases("bidirectional", "add_bias_kv", "head_bias",
             OptionValue::integer(0))
      .Cases("batch_first", "add_zero_attn", OptionValue::integer(0))
      .Case("div_value", OptionValue::real(4))
      .Cases("weight", "pos_weight", OptionValue::none())
      .Default(OptionValue());
}

} // namespace libtorch_tidy::bytes
