// Models of many kinds.

#include "measure.h"

namespace nn = torch::nn;

struct MlpImpl : nn::Module {
  MlpImpl(int64_t in, int64_t hidden, int64_t out, int depth = 3) {
    layers->push_back(nn::Linear(in, hidden));
    for (int i = 1; i < depth; ++i) {
      layers->push_back(nn::ReLU());
      layers->push_back("hidden" + std::to_string(i),
                        nn::Linear(hidden, i + 1 < depth ? hidden : out));
    }
    register_module("layers", layers);
  }
  nn::Sequential layers;
};
TORCH_MODULE(Mlp);

struct ConvNetImpl : nn::Module {
  explicit ConvNetImpl(int classes)
      : conv1(register_module(
            "conv1",
            nn::Conv2d(nn::Conv2dOptions(3, 32, 3).stride(2).bias(false)))),
        bn1(register_module("bn1", nn::BatchNorm2d(32))),
        depthwise(register_module(
            "depthwise",
            nn::Conv2d(nn::Conv2dOptions(32, 64, {3, 5}).groups(32)))),
        bn2(register_module(
            "bn2", nn::BatchNorm2d(
                       nn::BatchNormOptions(64).affine(false).momentum(0.01)))),
        up(register_module(
            "up",
            nn::ConvTranspose2d(
                nn::ConvTranspose2dOptions(64, 16, 2).stride(2).groups(4)))) {
    head = register_module("head", nn::Linear(16, classes));
  }
  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::Conv2d depthwise;
  nn::BatchNorm2d bn2;
  nn::ConvTranspose2d up;
  nn::Linear head{nullptr};
};
TORCH_MODULE(ConvNet);

static nn::Conv2dOptions conv(int64_t in, int64_t out, int64_t kernel,
                              int64_t stride = 1) {
  return nn::Conv2dOptions(in, out, kernel)
      .stride(stride)
      .padding(kernel / 2)
      .bias(false);
}

struct BlockImpl : nn::Module {
  static constexpr int64_t expansion = 4;
  BlockImpl(int64_t in, int64_t width, int64_t stride, nn::Sequential shortcut)
      : conv1(conv(in, width, 1)), bn1(width),
        conv2(conv(width, width, 3, stride)), bn2(width),
        conv3(conv(width, width * expansion, 1)), bn3(width * expansion) {
    register_module("conv1", conv1);
    register_module("bn1", bn1);
    register_module("conv2", conv2);
    register_module("bn2", bn2);
    register_module("conv3", conv3);
    register_module("bn3", bn3);
    if (!shortcut->is_empty())
      register_module("shortcut", shortcut);
  }
  // A Sequential holds what has one.
  torch::Tensor forward(torch::Tensor x) { return conv1(x); }
  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::Conv2d conv2;
  nn::BatchNorm2d bn2;
  nn::Conv2d conv3;
  nn::BatchNorm2d bn3;
};
TORCH_MODULE(Block);

struct ResidualImpl : nn::Module {
  ResidualImpl(std::vector<int64_t> blocks, int64_t classes = 1000) {
    stem = register_module("stem", nn::Conv2d(conv(3, 64, 7, 2)));
    bn = register_module("bn", nn::BatchNorm2d(64));
    for (size_t i = 0; i < blocks.size(); ++i)
      register_module("layer" + std::to_string(i + 1),
                      makeLayer(64 << i, blocks[i], i == 0 ? 1 : 2));
    fc = register_module("fc", nn::Linear(width, classes));
  }
  nn::Sequential makeLayer(int64_t planes, int64_t blocks, int64_t stride) {
    nn::Sequential shortcut;
    const int64_t out = planes * BlockImpl::expansion;
    if (stride != 1 || width != out)
      shortcut = nn::Sequential(nn::Conv2d(conv(width, out, 1, stride)),
                                nn::BatchNorm2d(out));
    nn::Sequential layers;
    layers->push_back(Block(width, planes, stride, shortcut));
    width = out;
    for (int64_t i = 1; i < blocks; i++)
      layers->push_back(Block(width, planes, 1, nn::Sequential()));
    return layers;
  }
  int64_t width = 64;
  nn::Conv2d stem{nullptr};
  nn::BatchNorm2d bn{nullptr};
  nn::Linear fc{nullptr};
};
TORCH_MODULE(Residual);

struct LanguageModelImpl : nn::Module {
  LanguageModelImpl(int64_t words, int64_t width, int64_t layers, bool both)
      : embedding(words, width), lstm(nn::LSTMOptions(width, 2 * width)
                                          .num_layers(layers)
                                          .bidirectional(both)
                                          .dropout(0.2)),
        gru(nn::GRUOptions(2 * width * (both ? 2 : 1), width).bias(false)),
        decoder(width, words) {
    register_module("embedding", embedding);
    register_module("lstm", lstm);
    register_module("gru", gru);
    register_module("decoder", decoder);
  }
  nn::Embedding embedding;
  nn::LSTM lstm;
  nn::GRU gru;
  nn::Linear decoder;
};
TORCH_MODULE(LanguageModel);

struct TransformerModelImpl : nn::Module {
  TransformerModelImpl(int64_t words, int64_t width, int64_t heads,
                       int64_t layers, int64_t length = 512) {
    embedding = register_module("embedding", nn::Embedding(words, width));
    position = register_buffer("position", torch::arange(length).unsqueeze(1));
    scale = register_parameter("scale", torch::ones({1, 1, width}) * 0.5);
    nn::TransformerEncoderLayer layer(
        nn::TransformerEncoderLayerOptions(width, heads)
            .dim_feedforward(4 * width));
    encoder = register_module(
        "encoder",
        nn::TransformerEncoder(nn::TransformerEncoderOptions(layer, layers)
                                   .norm(nn::AnyModule(nn::LayerNorm(
                                       nn::LayerNormOptions({width}))))));
    decoder = register_module("decoder", nn::Linear(width, words));
    for (auto &parameter : embedding->parameters())
      parameter.set_requires_grad(false);
  }
  nn::Embedding embedding{nullptr};
  nn::TransformerEncoder encoder{nullptr};
  nn::Linear decoder{nullptr};
  torch::Tensor position, scale;
};
TORCH_MODULE(TransformerModel);

template <int Depth> struct PyramidImpl : nn::Module {
  explicit PyramidImpl(int64_t width) {
    for (int i = 0; i < Depth; ++i) {
      nn::ModuleList level;
      for (int j = 0; j <= i; ++j)
        level->push_back(nn::Conv1d(width, width, 2 * j + 1));
      levels->push_back(level);
    }
    register_module("levels", levels);
    dict = register_module(
        "dict",
        nn::ModuleDict(
            std::vector<std::pair<std::string, std::shared_ptr<nn::Module>>>{
                {"a", nn::Linear(width, 2).ptr()},
                {"b", nn::PReLU(nn::PReLUOptions().num_parameters(7)).ptr()}}));
    heads = register_module(
        "heads", nn::ModuleList(nn::Linear(width, 3), nn::Bilinear(2, 3, 4)));
    to(torch::kFloat64);
  }
  nn::ModuleList levels, heads{nullptr};
  nn::ModuleDict dict{nullptr};
};
template <int Depth>
class Pyramid : public nn::ModuleHolder<PyramidImpl<Depth>> {
public:
  using nn::ModuleHolder<PyramidImpl<Depth>>::ModuleHolder;
};

/// A row of the table for each of the library's modules.
struct ZooImpl : nn::Module {
  ZooImpl() {
    int count = 0;
    auto add = [&](auto module) {
      register_module("m" + std::to_string(count++), module);
    };
    add(nn::Linear(nn::LinearOptions(5, 6).bias(false)));
    add(nn::Bilinear(nn::BilinearOptions(2, 3, 5).bias(false)));
    add(nn::Conv1d(nn::Conv1dOptions(6, 8, 3).groups(2)));
    add(nn::Conv3d(nn::Conv3dOptions(2, 4, {1, 2, 3}).bias(false)));
    add(nn::ConvTranspose1d(3, 5, 7));
    add(nn::ConvTranspose3d(nn::ConvTranspose3dOptions(2, 4, 3).groups(2)));
    add(nn::BatchNorm1d(11));
    add(nn::BatchNorm3d(nn::BatchNorm3dOptions(7).track_running_stats(false)));
    add(nn::InstanceNorm1d(5));
    add(nn::InstanceNorm2d(nn::InstanceNorm2dOptions(6).affine(true)));
    add(nn::InstanceNorm3d(
        nn::InstanceNorm3dOptions(6).track_running_stats(true)));
    add(nn::LayerNorm(std::vector<int64_t>{3, 4}));
    add(nn::LayerNorm(nn::LayerNormOptions({9}).elementwise_affine(false)));
    add(nn::GroupNorm(2, 6));
    add(nn::GroupNorm(nn::GroupNormOptions(2, 6).affine(false)));
    add(nn::LocalResponseNorm(2));
    add(nn::CrossMapLRN2d(3));
    add(nn::EmbeddingBag(10, 3));
    add(nn::RNN(4, 5));
    add(nn::RNN(nn::RNNOptions(4, 5).num_layers(3).bidirectional(true)));
    add(nn::LSTM(nn::LSTMOptions(4, 6).num_layers(2).proj_size(3)));
    add(nn::LSTM(nn::LSTMOptions(4, 6)
                     .num_layers(2)
                     .proj_size(3)
                     .bidirectional(true)
                     .bias(false)));
    add(nn::GRU(nn::GRUOptions(4, 6).num_layers(2)));
    add(nn::RNNCell(3, 4));
    add(nn::LSTMCell(3, 4));
    add(nn::GRUCell(nn::GRUCellOptions(3, 4).bias(false)));
    add(nn::MultiheadAttention(8, 2));
    add(nn::MultiheadAttention(nn::MultiheadAttentionOptions(8, 2)
                                   .kdim(5)
                                   .vdim(6)
                                   .bias(false)
                                   .add_bias_kv(true)));
    add(nn::TransformerEncoderLayer(8, 2));
    add(nn::TransformerDecoderLayer(
        nn::TransformerDecoderLayerOptions(8, 2).dim_feedforward(5)));
    add(nn::TransformerEncoder(nn::TransformerEncoderOptions(
        nn::TransformerEncoderLayerOptions(8, 2), 2)));
    add(nn::TransformerDecoder(nn::TransformerDecoderOptions(
        nn::TransformerDecoderLayerOptions(8, 2).dim_feedforward(3), 2)));
    add(nn::Transformer(nn::TransformerOptions(8, 2, 1, 2)));
    add(nn::PReLU());
    add(nn::Softmax(1));
    add(nn::Dropout(0.5));
    add(nn::MaxPool2d(2));
    add(nn::AdaptiveAvgPool2d(1));
    add(nn::Upsample(
        nn::UpsampleOptions().scale_factor(std::vector<double>({2}))));
    add(nn::CrossEntropyLoss(
        nn::CrossEntropyLossOptions().weight(torch::ones({10}))));
    add(nn::BCEWithLogitsLoss(
        nn::BCEWithLogitsLossOptions().pos_weight(torch::ones({4}))));
    add(nn::BCELoss(nn::BCELossOptions().weight(torch::ones({3}))));
    add(nn::NLLLoss(nn::NLLLossOptions().weight(torch::ones({5}))));
    add(nn::MultiMarginLoss(
        nn::MultiMarginLossOptions().weight(torch::ones({6}))));
    add(nn::MultiLabelSoftMarginLoss(
        nn::MultiLabelSoftMarginLossOptions().weight(torch::ones({7}))));
    add(nn::MSELoss());
    add(nn::AdaptiveLogSoftmaxWithLoss(
        nn::AdaptiveLogSoftmaxWithLossOptions(16, 100, {10, 40})
            .div_value(2.)));
    add(nn::Identity());
    add(nn::Flatten());
  }
};
TORCH_MODULE(Zoo);

/// Those that have neither parameters nor buffers.
struct WithoutImpl : nn::Module {
  WithoutImpl() {
    int count = 0;
    auto add = [&](auto module) {
      register_module("m" + std::to_string(count++), module);
    };
    add(nn::AlphaDropout());
    add(nn::CELU());
    add(nn::CosineSimilarity());
    add(nn::Dropout2d());
    add(nn::Dropout3d());
    add(nn::ELU());
    add(nn::FeatureAlphaDropout());
    add(nn::Fold(nn::FoldOptions({4, 5}, {2, 2})));
    add(nn::Functional(torch::relu));
    add(nn::GELU());
    add(nn::GLU());
    add(nn::Hardshrink());
    add(nn::Hardtanh());
    add(nn::LeakyReLU());
    add(nn::LogSigmoid());
    add(nn::LogSoftmax(1));
    add(nn::Mish());
    add(nn::PairwiseDistance());
    add(nn::PixelShuffle(2));
    add(nn::PixelUnshuffle(2));
    add(nn::ReLU());
    add(nn::ReLU6());
    add(nn::RReLU());
    add(nn::SELU());
    add(nn::SiLU());
    add(nn::Sigmoid());
    add(nn::Softmax2d());
    add(nn::Softmin(1));
    add(nn::Softplus());
    add(nn::Softshrink());
    add(nn::Softsign());
    add(nn::Tanh());
    add(nn::Tanhshrink());
    add(nn::Threshold(0.1, 20));
    add(nn::Unflatten(nn::UnflattenOptions(1, {2, 3})));
    add(nn::Unfold(nn::UnfoldOptions({2, 3})));
    add(nn::AdaptiveAvgPool1d(5));
    add(nn::AdaptiveAvgPool3d(5));
    add(nn::AdaptiveMaxPool1d(5));
    add(nn::AdaptiveMaxPool2d(5));
    add(nn::AdaptiveMaxPool3d(5));
    add(nn::AvgPool1d(2));
    add(nn::AvgPool2d(2));
    add(nn::AvgPool3d(2));
    add(nn::MaxPool1d(2));
    add(nn::MaxPool3d(2));
    add(nn::MaxUnpool1d(2));
    add(nn::MaxUnpool2d(2));
    add(nn::MaxUnpool3d(2));
    add(nn::LPPool1d(1, 2));
    add(nn::LPPool2d(1, 2));
    add(nn::ConstantPad1d(1, 2));
    add(nn::ConstantPad2d(1, 2));
    add(nn::ConstantPad3d(1, 2));
    add(nn::ReflectionPad1d(1));
    add(nn::ReflectionPad2d(1));
    add(nn::ReflectionPad3d(1));
    add(nn::ReplicationPad1d(1));
    add(nn::ReplicationPad2d(1));
    add(nn::ReplicationPad3d(1));
    add(nn::ZeroPad2d(1));
    add(nn::CTCLoss());
    add(nn::CosineEmbeddingLoss());
    add(nn::HingeEmbeddingLoss());
    add(nn::HuberLoss());
    add(nn::KLDivLoss());
    add(nn::L1Loss());
    add(nn::MarginRankingLoss());
    add(nn::MultiLabelMarginLoss());
    add(nn::PoissonNLLLoss());
    add(nn::SmoothL1Loss());
    add(nn::SoftMarginLoss());
    add(nn::TripletMarginLoss());
    add(nn::TripletMarginWithDistanceLoss());
    add(nn::NLLLoss());
    add(nn::BCELoss());
    add(nn::MultiMarginLoss());
  }
};
TORCH_MODULE(Without);

/// What optimizers keep for a model after a step.
template <typename State, typename... Members>
long long stateOf(torch::optim::Optimizer &optimizer, Mlp &model,
                  Members... members) {
  for (auto &parameter : model->parameters())
    parameter.mutable_grad() = torch::ones_like(parameter);
  optimizer.step();
  seen.clear();
  long long bytes = 0;
  for (auto &entry : optimizer.state())
    for (long long each :
         {bytesOf((static_cast<State &>(*entry.second).*members)())...})
      bytes += each;
  return bytes;
}

static void measureOptimizers(Mlp model) {
  using namespace torch::optim;
  using T = const torch::Tensor &;
  const auto parameters = model->parameters();
  auto print = [](const char *name, long long bytes) {
    std::printf("optimizer %s|%lld\n", name, bytes);
  };
  SGD sgd(parameters, SGDOptions(0.1));
  for (auto &parameter : model->parameters())
    parameter.mutable_grad() = torch::ones_like(parameter);
  sgd.step();
  print("sgd", sgd.state().empty() ? 0 : -1);
  SGD momentum(parameters, SGDOptions(0.1).momentum(0.9));
  using OfSgd = T (SGDParamState::*)() const;
  print("sgd-momentum",
        stateOf<SGDParamState>(momentum, model,
                               OfSgd(&SGDParamState::momentum_buffer)));
  using OfAdam = T (AdamParamState::*)() const;
  for (bool amsgrad : {false, true}) {
    Adam adam(parameters, AdamOptions().amsgrad(amsgrad));
    print(amsgrad ? "amsgrad" : "adam",
          stateOf<AdamParamState>(adam, model, OfAdam(&AdamParamState::exp_avg),
                                  OfAdam(&AdamParamState::exp_avg_sq),
                                  OfAdam(&AdamParamState::max_exp_avg_sq)));
  }
  using OfAdamW = T (AdamWParamState::*)() const;
  AdamW adamw(parameters);
  print("adamw", stateOf<AdamWParamState>(
                     adamw, model, OfAdamW(&AdamWParamState::exp_avg),
                     OfAdamW(&AdamWParamState::exp_avg_sq),
                     OfAdamW(&AdamWParamState::max_exp_avg_sq)));
  using OfRms = T (RMSpropParamState::*)() const;
  RMSprop rmsprop(parameters);
  print("rmsprop", stateOf<RMSpropParamState>(
                       rmsprop, model, OfRms(&RMSpropParamState::square_avg),
                       OfRms(&RMSpropParamState::momentum_buffer),
                       OfRms(&RMSpropParamState::grad_avg)));
  using OfAdagrad = T (AdagradParamState::*)() const;
  Adagrad adagrad(parameters);
  print("adagrad", stateOf<AdagradParamState>(
                       adagrad, model, OfAdagrad(&AdagradParamState::sum)));
}

int main() {
  MEASURE(Mlp(784, 256, 10, 4));
  MEASURE(ConvNet(10));
  measure("Residual({3, 4, 6, 3})", Residual(std::vector<int64_t>{3, 4, 6, 3}));
  MEASURE(LanguageModel(1000, 64, 2, true));
  MEASURE(TransformerModel(500, 32, 4, 3));
  MEASURE(Pyramid<3>(16));
  MEASURE(Zoo());
  MEASURE(Without());
  measureOptimizers(Mlp(784, 256, 10, 4));
}
