//===- ModuleRuns.cpp - What forward() of a module of LibTorch's does -----===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/Simulation.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::StringRef;

namespace libtorch_tidy::torch {

static StringRef operatorOfModule(StringRef Class) {
  return llvm::StringSwitch<StringRef>(Class)
      .Case("Linear", "linear")
      .Case("Conv1d", "conv1d")
      .Case("Conv2d", "conv2d")
      .Case("Conv3d", "conv3d")
      .Case("ConvTranspose1d", "conv_transpose1d")
      .Case("ConvTranspose2d", "conv_transpose2d")
      .Case("ConvTranspose3d", "conv_transpose3d")
      .Cases("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "batch_norm")
      .Cases("InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d",
             "instance_norm")
      .Case("LayerNorm", "layer_norm")
      .Case("GroupNorm", "group_norm")
      .Case("Embedding", "embedding")
      .Case("MaxPool1d", "max_pool1d")
      .Case("MaxPool2d", "max_pool2d")
      .Case("MaxPool3d", "max_pool3d")
      .Case("AvgPool1d", "avg_pool1d")
      .Case("AvgPool2d", "avg_pool2d")
      .Case("AvgPool3d", "avg_pool3d")
      .Case("AdaptiveAvgPool1d", "adaptive_avg_pool1d")
      .Case("AdaptiveAvgPool2d", "adaptive_avg_pool2d")
      .Case("AdaptiveAvgPool3d", "adaptive_avg_pool3d")
      .Case("AdaptiveMaxPool1d", "adaptive_max_pool1d")
      .Case("AdaptiveMaxPool2d", "adaptive_max_pool2d")
      .Case("AdaptiveMaxPool3d", "adaptive_max_pool3d")
      .Case("ReLU", "relu")
      .Case("ReLU6", "relu6")
      .Case("LeakyReLU", "leaky_relu")
      .Case("RReLU", "rrelu")
      .Case("PReLU", "prelu")
      .Case("ELU", "elu")
      .Case("SELU", "selu")
      .Case("CELU", "celu")
      .Case("GELU", "gelu")
      .Case("SiLU", "silu")
      .Case("Mish", "mish")
      .Case("Sigmoid", "sigmoid")
      .Case("Tanh", "tanh")
      .Case("Softplus", "softplus")
      .Case("Hardtanh", "hardtanh")
      .Case("LogSigmoid", "logsigmoid")
      .Case("GLU", "glu")
      .Case("Threshold", "threshold")
      .Case("Softmax", "softmax")
      .Case("LogSoftmax", "log_softmax")
      .Case("Softmin", "softmin")
      .Case("Dropout", "dropout")
      .Case("Dropout2d", "feature_dropout")
      .Case("Dropout3d", "feature_dropout")
      .Case("AlphaDropout", "alpha_dropout")
      .Case("FeatureAlphaDropout", "feature_alpha_dropout")
      .Case("Flatten", "flatten")
      .Case("Unflatten", "unflatten")
      .Case("Identity", "identity")
      .Case("Upsample", "interpolate")
      .Case("PixelShuffle", "pixel_shuffle")
      .Case("PixelUnshuffle", "pixel_unshuffle")
      .Case("ConstantPad1d", "constant_pad1d")
      .Case("ConstantPad2d", "constant_pad2d")
      .Case("ConstantPad3d", "constant_pad3d")
      .Case("ZeroPad2d", "zero_pad2d")
      .Case("ReflectionPad1d", "reflection_pad1d")
      .Case("ReflectionPad2d", "reflection_pad2d")
      .Case("ReplicationPad1d", "replication_pad1d")
      .Case("ReplicationPad2d", "replication_pad2d")
      .Case("ReplicationPad3d", "replication_pad3d")
      .Case("Softmax2d", "softmax2d")
      .Case("Softsign", "softsign")
      .Case("Tanhshrink", "tanhshrink")
      .Case("Hardshrink", "hardshrink")
      .Case("Softshrink", "softshrink")
      .Case("Bilinear", "bilinear")
      .Case("CosineSimilarity", "cosine_similarity")
      .Case("PairwiseDistance", "pairwise_distance")
      .Case("EmbeddingBag", "embedding_bag")
      .Case("Fold", "fold")
      .Case("Unfold", "unfold")
      .Case("LocalResponseNorm", "local_response_norm")
      .Case("CrossMapLRN2d", "cross_map_lrn2d")
      .Case("LPPool1d", "lp_pool1d")
      .Case("LPPool2d", "lp_pool2d")
      .Case("FractionalMaxPool2d", "fractional_max_pool2d")
      .Case("FractionalMaxPool3d", "fractional_max_pool3d")
      .Case("MaxUnpool1d", "max_unpool1d")
      .Case("MaxUnpool2d", "max_unpool2d")
      .Case("MaxUnpool3d", "max_unpool3d")
      .Case("ReflectionPad3d", "reflection_pad3d")
      .Case("HingeEmbeddingLoss", "hinge_embedding_loss")
      .Case("MultiMarginLoss", "multi_margin_loss")
      .Case("MultiLabelMarginLoss", "multilabel_margin_loss")
      .Case("MultiLabelSoftMarginLoss", "multilabel_soft_margin_loss")
      .Case("SoftMarginLoss", "soft_margin_loss")
      .Case("MarginRankingLoss", "margin_ranking_loss")
      .Case("CosineEmbeddingLoss", "cosine_embedding_loss")
      .Case("TripletMarginLoss", "triplet_margin_loss")
      .Case("TripletMarginWithDistanceLoss",
            "triplet_margin_with_distance_loss")
      .Case("PoissonNLLLoss", "poisson_nll_loss")
      .Case("CTCLoss", "ctc_loss")
      .Case("CrossEntropyLoss", "cross_entropy")
      .Case("NLLLoss", "nll_loss")
      .Case("MSELoss", "mse_loss")
      .Case("L1Loss", "l1_loss")
      .Case("SmoothL1Loss", "smooth_l1_loss")
      .Case("HuberLoss", "huber_loss")
      .Case("BCELoss", "binary_cross_entropy")
      .Case("BCEWithLogitsLoss", "binary_cross_entropy_with_logits")
      .Case("KLDivLoss", "kl_div")
      .Case("LSTM", "lstm")
      .Case("GRU", "gru")
      .Case("RNN", "rnn_tanh")
      .Case("LSTMCell", "lstm_cell")
      .Case("GRUCell", "gru_cell")
      .Case("RNNCell", "rnn_tanh_cell")
      .Case("MultiheadAttention", "multi_head_attention_forward")
      .Case("AdaptiveLogSoftmaxWithLoss", "adaptive_log_softmax_with_loss")
      .Default("");
}

/// From torch/csrc/api/src/nn/modules/transformer.cpp.
static void transformer(StringRef Class, ModuleRun &Run) {
  static constexpr StringRef Encoder[] = {"src", "src_mask",
                                          "src_key_padding_mask"},
                             Decoder[] = {"tgt",
                                          "memory",
                                          "tgt_mask",
                                          "memory_mask",
                                          "tgt_key_padding_mask",
                                          "memory_key_padding_mask"},
                             Both[] = {"src",
                                       "tgt",
                                       "src_mask",
                                       "tgt_mask",
                                       "memory_mask",
                                       "src_key_padding_mask",
                                       "tgt_key_padding_mask",
                                       "memory_key_padding_mask"};
  constexpr bool Continues = true;
  if (Class == "TransformerEncoderLayer") {
    Run.Inputs = Encoder;
    Run.Steps = {
        {"x",
         "self_attn",
         {"src", "src", "src", "src_key_padding_mask", "true", "src_mask"}},
        {"a", "dropout1", {"x"}, Continues},
        {"b", "+", {"src", "a"}, Continues},
        {"ret", "norm1", {"b"}},
        {"a", "linear1", {"ret"}, Continues},
        {"b", "=activation", {"a"}, Continues},
        {"c", "dropout", {"b"}, Continues},
        {"x", "linear2", {"c"}},
        {"a", "dropout2", {"x"}, Continues},
        {"b", "+", {"ret", "a"}, Continues},
        {"ret", "norm2", {"b"}}};
  } else if (Class == "TransformerDecoderLayer") {
    Run.Inputs = Decoder;
    Run.Steps = {
        {"x",
         "self_attn",
         {"tgt", "tgt", "tgt", "tgt_key_padding_mask", "false", "tgt_mask"}},
        {"a", "dropout1", {"x"}, Continues},
        {"b", "+", {"tgt", "a"}, Continues},
        {"ret", "norm1", {"b"}},
        {"x",
         "multihead_attn",
         {"ret", "memory", "memory", "memory_key_padding_mask", "false",
          "memory_mask"}},
        {"a", "dropout2", {"x"}, Continues},
        {"b", "+", {"ret", "a"}, Continues},
        {"ret", "norm2", {"b"}},
        {"a", "linear1", {"ret"}, Continues},
        {"b", "=activation", {"a"}, Continues},
        {"c", "dropout", {"b"}, Continues},
        {"x", "linear2", {"c"}},
        {"a", "dropout3", {"x"}, Continues},
        {"b", "+", {"ret", "a"}, Continues},
        {"ret", "norm3", {"b"}}};
  } else if (Class == "TransformerEncoder") {
    Run.Inputs = Encoder;
    Run.Steps = {
        {"ret", "layers*", {"src", "src_mask", "src_key_padding_mask"}},
        {"ret", "norm", {"ret"}}};
  } else if (Class == "TransformerDecoder") {
    Run.Inputs = Decoder;
    Run.Steps = {{"ret",
                  "layers*",
                  {"tgt", "memory", "tgt_mask", "memory_mask",
                   "tgt_key_padding_mask", "memory_key_padding_mask"}},
                 {"ret", "norm", {"ret"}}};
  } else if (Class == "Transformer") {
    Run.Inputs = Both;
    Run.Steps = {
        {"memory", "encoder", {"src", "src_mask", "src_key_padding_mask"}},
        {"ret",
         "decoder",
         {"tgt", "memory", "tgt_mask", "memory_mask", "tgt_key_padding_mask",
          "memory_key_padding_mask"}}};
  }
}

StringRef activationNamed(StringRef Enumerator) {
  return Enumerator.contains_insensitive("gelu") ? "gelu" : "relu";
}

/// The names of what forward() of \p Class is given.
static llvm::ArrayRef<StringRef> inputsOf(StringRef Class) {
  static constexpr StringRef Inputs[] = {"input", "target"},
                             Recurrent[] = {"input", "hx"},
                             Attention[] = {"query",
                                            "key",
                                            "value",
                                            "key_padding_mask",
                                            "need_weights",
                                            "attn_mask",
                                            "average_attn_weights"},
                             Two[] = {"input1", "input2", "target"},
                             Distance[] = {"x1", "x2"},
                             Triplet[] = {"anchor", "positive", "negative"},
                             Ctc[] = {"log_probs", "targets", "input_lengths",
                                      "target_lengths"},
                             Unpool[] = {"input", "indices", "output_size"},
                             Bags[] = {"input", "offsets",
                                       "per_sample_weights"};
  return llvm::StringSwitch<llvm::ArrayRef<StringRef>>(Class)
      .Cases("LSTM", "GRU", "RNN", Recurrent)
      .Cases("LSTMCell", "GRUCell", "RNNCell", Recurrent)
      .Case("MultiheadAttention", Attention)
      .Cases("Bilinear", "CosineEmbeddingLoss", "MarginRankingLoss", Two)
      .Cases("CosineSimilarity", "PairwiseDistance", Distance)
      .Cases("TripletMarginLoss", "TripletMarginWithDistanceLoss", Triplet)
      .Case("CTCLoss", Ctc)
      .Cases("MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d", Unpool)
      .Case("EmbeddingBag", Bags)
      .Default(Inputs);
}

ModuleRun runOfModule(StringRef Class) {
  ModuleRun Result;
  Result.Operator = operatorOfModule(Class);
  Result.Inputs = inputsOf(Class);
  Result.NestsState = Class == "LSTM";
  Result.AddsLoss = Class == "AdaptiveLogSoftmaxWithLoss";
  Result.IsFunctional = Class == "Functional";
  auto Default = [&](StringRef Option, int64_t Number) {
    Argument A;
    A.What = Argument::Integer;
    A.Number = Number;
    Result.Defaults[Option.str()] = A;
  };
  if (Class == "Flatten")
    Default("start_dim", 1);
  transformer(Class, Result);
  return Result;
}

} // namespace libtorch_tidy::torch
