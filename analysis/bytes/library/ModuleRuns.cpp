//===- ModuleRuns.cpp - What forward() of a module of LibTorch's does -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/simulate/OperatorRules.h"
#include "clang/Basic/CharInfo.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace libtorch_tidy::bytes {

/// Modules whose forward() runs an operator that is not called as they are.
static constexpr std::pair<StringRef, StringRef> OperatorRows[] = {
    {"RReLU", "rrelu"},
    {"PReLU", "prelu"},
    {"LogSigmoid", "logsigmoid"},
    {"Dropout2d", "feature_dropout"},
    {"Dropout3d", "feature_dropout"},
    {"Upsample", "interpolate"},
    {"MultiLabelMarginLoss", "multilabel_margin_loss"},
    {"MultiLabelSoftMarginLoss", "multilabel_soft_margin_loss"},
    {"CrossEntropyLoss", "cross_entropy"},
    {"BCELoss", "binary_cross_entropy"},
    {"BCEWithLogitsLoss", "binary_cross_entropy_with_logits"},
    {"KLDivLoss", "kl_div"},
    {"RNN", "rnn_tanh"},
    {"RNNCell", "rnn_tanh_cell"},
    {"MultiheadAttention", "multi_head_attention_forward"},
};

/// "leaky_relu" of LeakyReLU, "lp_pool2d" of LPPool2d.
static std::string inSnakeCase(StringRef Class) {
  std::string Result;
  for (size_t I = 0; I < Class.size(); ++I) {
    const bool EndsWord = I > 0 && !clang::isUppercase(Class[I - 1]) &&
                          !Class.substr(I).starts_with("LU"),
               EndsAcronym = I > 0 && I + 1 < Class.size() &&
                             clang::isUppercase(Class[I - 1]) &&
                             clang::isLowercase(Class[I + 1]);
    if (clang::isUppercase(Class[I]) && (EndsWord || EndsAcronym))
      Result += '_';
    Result += clang::toLowercase(Class[I]);
  }
  return Result;
}

/// One that has a rule; empty where there is none. BatchNorm2d runs batch_norm.
static std::string operatorOfModule(StringRef Class) {
  for (const auto &[Of, Operator] : OperatorRows)
    if (Of == Class)
      return Operator.str();
  std::string Name = inSnakeCase(Class);
  if (hasRule(Name))
    return Name;
  takeDimensions(Class);
  Name = inSnakeCase(Class);
  return hasRule(Name) ? Name : "";
}

namespace {

/// What ModuleRun says of some classes.
struct RunRow {
  StringRef Classes, Inputs, Steps = "";
};

} // namespace

/// Transformers are those of torch/csrc/api/src/nn/modules/transformer.cpp.
static constexpr RunRow RunRows[] = {
    {"LSTM GRU RNN LSTMCell GRUCell RNNCell", "input hx"},
    {"MultiheadAttention",
     "query key value key_padding_mask need_weights attn_mask "
     "average_attn_weights"},
    {"Bilinear CosineEmbeddingLoss MarginRankingLoss", "input1 input2 target"},
    {"CosineSimilarity PairwiseDistance", "x1 x2"},
    {"TripletMarginLoss TripletMarginWithDistanceLoss",
     "anchor positive negative"},
    {"CTCLoss", "log_probs targets input_lengths target_lengths"},
    {"MaxUnpool1d MaxUnpool2d MaxUnpool3d", "input indices output_size"},
    {"EmbeddingBag", "input offsets per_sample_weights"},
    {"TransformerEncoderLayer", "src src_mask src_key_padding_mask",
     "x self_attn src src src src_key_padding_mask true src_mask;"
     "a& dropout1 x;b& + src a;ret norm1 b;"
     "a& linear1 ret;b& =activation a;c& dropout b;x linear2 c;"
     "a& dropout2 x;b& + ret a;ret norm2 b"},
    {"TransformerDecoderLayer",
     "tgt memory tgt_mask memory_mask tgt_key_padding_mask "
     "memory_key_padding_mask",
     "x self_attn tgt tgt tgt tgt_key_padding_mask false tgt_mask;"
     "a& dropout1 x;b& + tgt a;ret norm1 b;"
     "x multihead_attn ret memory memory memory_key_padding_mask false "
     "memory_mask;"
     "a& dropout2 x;b& + ret a;ret norm2 b;"
     "a& linear1 ret;b& =activation a;c& dropout b;x linear2 c;"
     "a& dropout3 x;b& + ret a;ret norm3 b"},
    {"TransformerEncoder", "src src_mask src_key_padding_mask",
     "ret layers* src src_mask src_key_padding_mask;ret norm ret"},
    {"TransformerDecoder",
     "tgt memory tgt_mask memory_mask tgt_key_padding_mask "
     "memory_key_padding_mask",
     "ret layers* tgt memory tgt_mask memory_mask tgt_key_padding_mask "
     "memory_key_padding_mask;ret norm ret"},
    {"Transformer",
     "src tgt src_mask tgt_mask memory_mask src_key_padding_mask "
     "tgt_key_padding_mask memory_key_padding_mask",
     "memory encoder src src_mask src_key_padding_mask;"
     "ret decoder tgt memory tgt_mask memory_mask tgt_key_padding_mask "
     "memory_key_padding_mask"},
};

StringRef activationNamed(StringRef Enumerator) {
  return Enumerator.contains_insensitive("gelu") ? "gelu" : "relu";
}

ModuleRun runOfModule(StringRef Class) {
  ModuleRun Result = {operatorOfModule(Class), {"input", "target"}, ""};
  for (const RunRow &Row : RunRows)
    if (llvm::is_contained(llvm::split(Row.Classes, ' '), Class)) {
      Result.Inputs.clear();
      Row.Inputs.split(Result.Inputs, ' ');
      Result.Steps = Row.Steps;
    }
  return Result;
}

} // namespace libtorch_tidy::bytes
