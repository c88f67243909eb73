//===- ModuleRuns.cpp - What forward() of a module of LibTorch's does -----===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/bytes/simulate/OperatorRules.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::StringRef;

namespace libtorch_tidy::bytes {

namespace {

/// A module whose forward() runs one operator.
struct OperatorRow {
  StringRef Class, Operator;
};

} // namespace

static constexpr OperatorRow OperatorRows[] = {
    {"Linear", "linear"},
    {"Conv1d", "conv1d"},
    {"Conv2d", "conv2d"},
    {"Conv3d", "conv3d"},
    {"ConvTranspose1d", "conv_transpose1d"},
    {"ConvTranspose2d", "conv_transpose2d"},
    {"ConvTranspose3d", "conv_transpose3d"},
    {"BatchNorm1d", "batch_norm"},
    {"BatchNorm2d", "batch_norm"},
    {"BatchNorm3d", "batch_norm"},
    {"InstanceNorm1d", "instance_norm"},
    {"InstanceNorm2d", "instance_norm"},
    {"InstanceNorm3d", "instance_norm"},
    {"LayerNorm", "layer_norm"},
    {"GroupNorm", "group_norm"},
    {"Embedding", "embedding"},
    {"MaxPool1d", "max_pool1d"},
    {"MaxPool2d", "max_pool2d"},
    {"MaxPool3d", "max_pool3d"},
    {"AvgPool1d", "avg_pool1d"},
    {"AvgPool2d", "avg_pool2d"},
    {"AvgPool3d", "avg_pool3d"},
    {"AdaptiveAvgPool1d", "adaptive_avg_pool1d"},
    {"AdaptiveAvgPool2d", "adaptive_avg_pool2d"},
    {"AdaptiveAvgPool3d", "adaptive_avg_pool3d"},
    {"AdaptiveMaxPool1d", "adaptive_max_pool1d"},
    {"AdaptiveMaxPool2d", "adaptive_max_pool2d"},
    {"AdaptiveMaxPool3d", "adaptive_max_pool3d"},
    {"ReLU", "relu"},
    {"ReLU6", "relu6"},
    {"LeakyReLU", "leaky_relu"},
    {"RReLU", "rrelu"},
    {"PReLU", "prelu"},
    {"ELU", "elu"},
    {"SELU", "selu"},
    {"CELU", "celu"},
    {"GELU", "gelu"},
    {"SiLU", "silu"},
    {"Mish", "mish"},
    {"Sigmoid", "sigmoid"},
    {"Tanh", "tanh"},
    {"Softplus", "softplus"},
    {"Hardtanh", "hardtanh"},
    {"LogSigmoid", "logsigmoid"},
    {"GLU", "glu"},
    {"Threshold", "threshold"},
    {"Softmax", "softmax"},
    {"LogSoftmax", "log_softmax"},
    {"Softmin", "softmin"},
    {"Dropout", "dropout"},
    {"Dropout2d", "feature_dropout"},
    {"Dropout3d", "feature_dropout"},
    {"AlphaDropout", "alpha_dropout"},
    {"FeatureAlphaDropout", "feature_alpha_dropout"},
    {"Flatten", "flatten"},
    {"Unflatten", "unflatten"},
    {"Identity", "identity"},
    {"Upsample", "interpolate"},
    {"PixelShuffle", "pixel_shuffle"},
    {"PixelUnshuffle", "pixel_unshuffle"},
    {"ConstantPad1d", "constant_pad1d"},
    {"ConstantPad2d", "constant_pad2d"},
    {"ConstantPad3d", "constant_pad3d"},
    {"ZeroPad2d", "zero_pad2d"},
    {"ReflectionPad1d", "reflection_pad1d"},
    {"ReflectionPad2d", "reflection_pad2d"},
    {"ReplicationPad1d", "replication_pad1d"},
    {"ReplicationPad2d", "replication_pad2d"},
    {"ReplicationPad3d", "replication_pad3d"},
    {"Softmax2d", "softmax2d"},
    {"Softsign", "softsign"},
    {"Tanhshrink", "tanhshrink"},
    {"Hardshrink", "hardshrink"},
    {"Softshrink", "softshrink"},
    {"Bilinear", "bilinear"},
    {"CosineSimilarity", "cosine_similarity"},
    {"PairwiseDistance", "pairwise_distance"},
    {"EmbeddingBag", "embedding_bag"},
    {"Fold", "fold"},
    {"Unfold", "unfold"},
    {"LocalResponseNorm", "local_response_norm"},
    {"CrossMapLRN2d", "cross_map_lrn2d"},
    {"LPPool1d", "lp_pool1d"},
    {"LPPool2d", "lp_pool2d"},
    {"FractionalMaxPool2d", "fractional_max_pool2d"},
    {"FractionalMaxPool3d", "fractional_max_pool3d"},
    {"MaxUnpool1d", "max_unpool1d"},
    {"MaxUnpool2d", "max_unpool2d"},
    {"MaxUnpool3d", "max_unpool3d"},
    {"ReflectionPad3d", "reflection_pad3d"},
    {"HingeEmbeddingLoss", "hinge_embedding_loss"},
    {"MultiMarginLoss", "multi_margin_loss"},
    {"MultiLabelMarginLoss", "multilabel_margin_loss"},
    {"MultiLabelSoftMarginLoss", "multilabel_soft_margin_loss"},
    {"SoftMarginLoss", "soft_margin_loss"},
    {"MarginRankingLoss", "margin_ranking_loss"},
    {"CosineEmbeddingLoss", "cosine_embedding_loss"},
    {"TripletMarginLoss", "triplet_margin_loss"},
    {"TripletMarginWithDistanceLoss", "triplet_margin_with_distance_loss"},
    {"PoissonNLLLoss", "poisson_nll_loss"},
    {"CTCLoss", "ctc_loss"},
    {"CrossEntropyLoss", "cross_entropy"},
    {"NLLLoss", "nll_loss"},
    {"MSELoss", "mse_loss"},
    {"L1Loss", "l1_loss"},
    {"SmoothL1Loss", "smooth_l1_loss"},
    {"HuberLoss", "huber_loss"},
    {"BCELoss", "binary_cross_entropy"},
    {"BCEWithLogitsLoss", "binary_cross_entropy_with_logits"},
    {"KLDivLoss", "kl_div"},
    {"LSTM", "lstm"},
    {"GRU", "gru"},
    {"RNN", "rnn_tanh"},
    {"LSTMCell", "lstm_cell"},
    {"GRUCell", "gru_cell"},
    {"RNNCell", "rnn_tanh_cell"},
    {"MultiheadAttention", "multi_head_attention_forward"},
    {"AdaptiveLogSoftmaxWithLoss", "adaptive_log_softmax_with_loss"},
};

static StringRef operatorOfModule(StringRef Class) {
  for (const OperatorRow &Row : OperatorRows)
    if (Row.Class == Class)
      return Row.Operator;
  return "";
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
  // norm(before + dropout(x))
  auto AddAndNorm = [&](StringRef Before, StringRef Dropout, StringRef Norm) {
    Run.Steps.push_back({"a", Dropout, {"x"}, Continues});
    Run.Steps.push_back({"b", "+", {Before, "a"}, Continues});
    Run.Steps.push_back({"ret", Norm, {"b"}});
  };
  // linear2(dropout(activation(linear1(ret))))
  auto FeedForward = [&] {
    Run.Steps.push_back({"a", "linear1", {"ret"}, Continues});
    Run.Steps.push_back({"b", "=activation", {"a"}, Continues});
    Run.Steps.push_back({"c", "dropout", {"b"}, Continues});
    Run.Steps.push_back({"x", "linear2", {"c"}});
  };
  if (Class == "TransformerEncoderLayer") {
    Run.Inputs = Encoder;
    Run.Steps = {
        {"x",
         "self_attn",
         {"src", "src", "src", "src_key_padding_mask", "true", "src_mask"}}};
    AddAndNorm("src", "dropout1", "norm1");
    FeedForward();
    AddAndNorm("ret", "dropout2", "norm2");
  } else if (Class == "TransformerDecoderLayer") {
    Run.Inputs = Decoder;
    Run.Steps = {
        {"x",
         "self_attn",
         {"tgt", "tgt", "tgt", "tgt_key_padding_mask", "false", "tgt_mask"}}};
    AddAndNorm("tgt", "dropout1", "norm1");
    Run.Steps.push_back({"x",
                         "multihead_attn",
                         {"ret", "memory", "memory", "memory_key_padding_mask",
                          "false", "memory_mask"}});
    AddAndNorm("ret", "dropout2", "norm2");
    FeedForward();
    AddAndNorm("ret", "dropout3", "norm3");
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
  if (Class == "Flatten")
    Result.Defaults["start_dim"] = 1;
  transformer(Class, Result);
  return Result;
}

} // namespace libtorch_tidy::bytes
