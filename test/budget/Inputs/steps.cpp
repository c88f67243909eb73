// Models whose steps are measured: all kinds of operators, and ways to write
// forward() in which tensors live for different times.

#include "step.h"

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using torch::Tensor;
using torch::indexing::Ellipsis;
using torch::indexing::None;
using torch::indexing::Slice;

//===-- Networks ----------------------------------------------------------===//

struct ClassifierImpl : nn::Module {
  ClassifierImpl(int64_t width, int64_t classes)
      : features(
            nn::Conv2d(nn::Conv2dOptions(3, width, 3).padding(1)),
            nn::BatchNorm2d(width), nn::ReLU(true), nn::MaxPool2d(2),
            nn::Conv2d(
                nn::Conv2dOptions(width, 2 * width, 3).stride(2).bias(false)),
            nn::BatchNorm2d(2 * width), nn::ReLU(), nn::AdaptiveAvgPool2d(2)),
        head(nn::Flatten(), nn::Dropout(0.5), nn::Linear(8 * width, 32),
             nn::ReLU(), nn::Linear(32, classes)) {
    register_module("features", features);
    register_module("head", head);
  }
  Tensor forward(Tensor x) { return head->forward(features->forward(x)); }
  nn::Sequential features, head;
};
TORCH_MODULE(Classifier);

struct BlockImpl : nn::Module {
  BlockImpl(int64_t in, int64_t out, int64_t stride)
      : conv1(nn::Conv2dOptions(in, out, 3).stride(stride).padding(1)),
        conv2(nn::Conv2dOptions(out, out, 3).padding(1)), bn1(out), bn2(out) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("bn1", bn1);
    register_module("bn2", bn2);
    if (stride != 1 || in != out)
      shortcut = register_module(
          "shortcut",
          nn::Sequential(
              nn::Conv2d(nn::Conv2dOptions(in, out, 1).stride(stride)),
              nn::BatchNorm2d(out)));
  }
  Tensor forward(const Tensor &x) {
    Tensor residual = x;
    if (!shortcut.is_empty())
      residual = shortcut->forward(x);
    Tensor out = torch::relu(bn1(conv1(x)));
    out = bn2->forward(conv2->forward(out));
    out += residual;
    return out.relu_();
  }
  nn::Conv2d conv1, conv2;
  nn::BatchNorm2d bn1, bn2;
  nn::Sequential shortcut{nullptr};
};
TORCH_MODULE(Block);

struct ResidualImpl : nn::Module {
  explicit ResidualImpl(const std::vector<int64_t> &widths) {
    int64_t in = 3;
    for (int64_t width : widths) {
      blocks->push_back(Block(in, width, in == 3 ? 1 : 2));
      in = width;
    }
    register_module("blocks", blocks);
    fc = register_module("fc", nn::Linear(in, 10));
  }
  Tensor forward(Tensor x) {
    for (const auto &block : *blocks)
      x = block->as<BlockImpl>()->forward(x);
    x = x.mean({2, 3});
    return F::log_softmax(fc(x), F::LogSoftmaxFuncOptions(1));
  }
  nn::ModuleList blocks;
  nn::Linear fc{nullptr};
};
TORCH_MODULE(Residual);

struct DoubleConvImpl : nn::Module {
  DoubleConvImpl(int64_t in, int64_t out)
      : layers(nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1)),
               nn::Functional(torch::relu),
               nn::Conv2d(nn::Conv2dOptions(out, out, 3).padding(1)),
               nn::ReLU6(nn::ReLU6Options(true))) {
    register_module("layers", layers);
  }
  Tensor forward(Tensor x) { return layers->forward(x); }
  nn::Sequential layers;
};
TORCH_MODULE(DoubleConv);

struct UNetImpl : nn::Module {
  UNetImpl(int64_t width, bool bilinear)
      : down1(1, width), down2(width, 2 * width), bottom(2 * width, 2 * width),
        up2(4 * width, width), up1(2 * width, width), bilinear(bilinear),
        transposed(
            nn::ConvTranspose2dOptions(2 * width, 2 * width, 2).stride(2)),
        out(nn::Conv2dOptions(width, 2, 1)) {
    register_module("down1", down1);
    register_module("down2", down2);
    register_module("bottom", bottom);
    register_module("up2", up2);
    register_module("up1", up1);
    register_module("transposed", transposed);
    register_module("out", out);
  }
  Tensor larger(const Tensor &x) {
    return F::interpolate(x, F::InterpolateFuncOptions()
                                 .scale_factor(std::vector<double>({2, 2}))
                                 .mode(torch::kBilinear)
                                 .align_corners(true));
  }
  Tensor forward(Tensor x) {
    const Tensor a = down1(x);
    const Tensor b = down2(F::max_pool2d(a, F::MaxPool2dFuncOptions(2)));
    Tensor c = bottom(F::max_pool2d(b, F::MaxPool2dFuncOptions(2)));
    c = bilinear ? larger(c) : transposed(c);
    // The input may have been odd.
    c = F::pad(c, F::PadFuncOptions(
                      {0, b.size(3) - c.size(3), 0, b.size(2) - c.size(2)}));
    c = up2(torch::cat({b, c}, 1));
    c = up1(torch::cat({a, larger(c)}, 1));
    return out(c);
  }
  DoubleConv down1, down2, bottom, up2, up1;
  bool bilinear;
  nn::ConvTranspose2d transposed;
  nn::Conv2d out;
};
TORCH_MODULE(UNet);

struct DenseLayerImpl : nn::SequentialImpl {
  DenseLayerImpl(int64_t in, int64_t growth) {
    push_back("norm", nn::BatchNorm2d(in));
    push_back("relu", nn::ReLU());
    push_back("conv", nn::Conv2d(nn::Conv2dOptions(in, growth, 3).padding(1)));
  }
  Tensor forward(Tensor x) {
    auto more = SequentialImpl::forward(x);
    return torch::cat({x, more}, 1);
  }
};
TORCH_MODULE(DenseLayer);

struct DenseImpl : nn::Module {
  explicit DenseImpl(int layers) {
    for (int i = 0; i < layers; ++i)
      stack->push_back(DenseLayer(4 + 4 * i, 4));
    register_module("stack", stack);
  }
  Tensor forward(Tensor x) {
    x = stack->forward(x);
    // Halves that are mixed.
    auto halves = x.chunk(2, 1);
    x = torch::cat({halves[1], torch::relu(halves[0])}, 1);
    x = x.view({x.size(0), 2, -1, x.size(2), x.size(3)}).transpose(1, 2);
    x = x.contiguous().view({x.size(0), -1, x.size(3), x.size(4)});
    return x.flatten(1).sum(1);
  }
  nn::Sequential stack;
};
TORCH_MODULE(Dense);

struct LanguageModelImpl : nn::Module {
  LanguageModelImpl(int64_t words, int64_t width, int64_t layers, double p)
      : embedding(words, width), lstm(nn::LSTMOptions(width, width)
                                          .num_layers(layers)
                                          .dropout(p)
                                          .batch_first(true)),
        decoder(width, words) {
    register_module("embedding", embedding);
    register_module("lstm", lstm);
    register_module("decoder", decoder);
  }
  std::tuple<Tensor, Tensor> forward(Tensor tokens) {
    auto [out, state] = lstm->forward(embedding(tokens));
    return std::make_tuple(decoder(out.reshape({-1, out.size(2)})),
                           std::get<0>(state));
  }
  nn::Embedding embedding;
  nn::LSTM lstm;
  nn::Linear decoder;
};
TORCH_MODULE(LanguageModel);

struct AttentionImpl : nn::Module {
  AttentionImpl(int64_t width, int64_t heads, int64_t longest, double p)
      : heads(heads), qkv(width, 3 * width), out(width, width), drop(p) {
    register_module("qkv", qkv);
    register_module("out", out);
    register_module("drop", drop);
    mask = register_buffer("mask", torch::tril(torch::ones({longest, longest}))
                                       .view({1, 1, longest, longest}));
  }
  Tensor forward(const Tensor &x) {
    const int64_t n = x.size(0), t = x.size(1), c = x.size(2);
    auto parts = qkv(x).split(c, 2);
    auto heads_of = [&](const Tensor &part) {
      return part.view({n, t, heads, c / heads}).transpose(1, 2);
    };
    Tensor q = heads_of(parts[0]), k = heads_of(parts[1]),
           v = heads_of(parts[2]);
    Tensor scores =
        torch::matmul(q, k.transpose(-2, -1)) * (1.0 / std::sqrt(k.size(-1)));
    scores = scores.masked_fill(
        mask.index({Slice(), Slice(), Slice(None, t), Slice(None, t)}) == 0,
        -1e9);
    scores = drop(F::softmax(scores, -1));
    Tensor y = torch::matmul(scores, v).transpose(1, 2).contiguous();
    return out(y.view({n, t, c}));
  }
  int64_t heads;
  nn::Linear qkv, out;
  nn::Dropout drop;
  Tensor mask;
};
TORCH_MODULE(Attention);

struct GptImpl : nn::Module {
  GptImpl(int64_t words, int64_t width, int layers)
      : tokens(words, width), positions(32, width),
        last(nn::LayerNormOptions({width})),
        head(nn::LinearOptions(width, words).bias(false)) {
    register_module("tokens", tokens);
    register_module("positions", positions);
    for (int i = 0; i < layers; ++i) {
      norms->push_back(nn::LayerNorm(nn::LayerNormOptions({width})));
      attention->push_back(Attention(width, 4, 32, 0.1));
      feed->push_back(nn::Sequential(nn::Linear(width, 4 * width), nn::GELU(),
                                     nn::Linear(4 * width, width)));
    }
    register_module("norms", norms);
    register_module("attention", attention);
    register_module("feed", feed);
    register_module("last", last);
    register_module("head", head);
  }
  Tensor forward(Tensor ids) {
    Tensor x =
        tokens(ids) + positions(torch::arange(ids.size(1), torch::kLong));
    for (size_t i = 0; i < norms->size(); ++i) {
      x = x + attention[i]->as<AttentionImpl>()->forward(
                  norms[i]->as<nn::LayerNormImpl>()->forward(x));
      x = x + feed[i]->as<nn::SequentialImpl>()->forward(x);
    }
    return head(last(x));
  }
  nn::Embedding tokens, positions;
  nn::ModuleList norms, attention, feed;
  nn::LayerNorm last;
  nn::Linear head;
};
TORCH_MODULE(Gpt);

struct TranslatorImpl : nn::Module {
  explicit TranslatorImpl(double p)
      : transformer(nn::TransformerOptions(32, 4, 2, 2)
                        .dim_feedforward(64)
                        .dropout(p)) {
    register_module("transformer", transformer);
  }
  Tensor forward(Tensor source, Tensor target) {
    return transformer(source, target);
  }
  nn::Transformer transformer;
};
TORCH_MODULE(Translator);

struct EncoderImpl : nn::Module {
  EncoderImpl()
      : encoder(nn::TransformerEncoderOptions(
            nn::TransformerEncoderLayerOptions(16, 2)
                .dim_feedforward(32)
                .activation(torch::kGELU),
            2)) {
    register_module("encoder", encoder);
  }
  Tensor forward(Tensor x) { return encoder(x); }
  nn::TransformerEncoder encoder;
};
TORCH_MODULE(Encoder);

struct VaeImpl : nn::Module {
  VaeImpl()
      : in(64, 32), mean(32, 8), spread(32, 8), hidden(8, 32), out(32, 64) {
    register_module("in", in);
    register_module("mean", mean);
    register_module("spread", spread);
    register_module("hidden", hidden);
    register_module("out", out);
  }
  struct Output {
    Tensor image, mean, spread;
  };
  std::vector<Tensor> forward(Tensor x) {
    const Output result = run(x);
    return {result.image, result.mean, result.spread};
  }
  Output run(const Tensor &x) {
    Tensor h = torch::relu(in->forward(x));
    Tensor mu = mean->forward(h), log_var = spread->forward(h);
    Tensor z = mu;
    if (is_training()) {
      auto deviation = log_var.div(2).exp();
      z = torch::randn_like(deviation).mul(deviation).add_(mu);
    }
    return {torch::sigmoid(out->forward(torch::relu(hidden->forward(z)))), mu,
            log_var};
  }
  nn::Linear in, mean, spread, hidden, out;
};
TORCH_MODULE(Vae);

//===-- Operators, a family each ------------------------------------------===//

struct ConvolutionsImpl : nn::Module {
  ConvolutionsImpl() {
    add(nn::Conv2d(nn::Conv2dOptions(6, 6, 3).padding(1).groups(2)));
    add(nn::Conv2d(nn::Conv2dOptions(6, 6, 3).padding(1).groups(6)));
    add(nn::Conv2d(nn::Conv2dOptions(6, 6, 3).padding(2).dilation(2)));
    add(nn::Conv2d(nn::Conv2dOptions(6, 6, {3, 1}).padding({1, 0})));
    add(nn::Conv2d(nn::Conv2dOptions(6, 6, 3).padding(torch::kSame)));
    add(nn::ConvTranspose2d(
        nn::ConvTranspose2dOptions(6, 6, 3).padding(1).bias(false)));
    add(nn::ConvTranspose2d(
        nn::ConvTranspose2dOptions(6, 6, 4).stride(2).padding(1)));
    add(nn::Conv2d(nn::Conv2dOptions(6, 6, 3).stride(2).padding(1)));
    register_module("layers", layers);
    one = register_module("one", nn::Conv1d(nn::Conv1dOptions(6, 4, 5)));
    three = register_module("three",
                            nn::Conv3d(nn::Conv3dOptions(2, 3, 3).padding(1)));
  }
  template <typename L> void add(L layer) {
    layers->push_back(layer);
    layers->push_back(nn::Tanh());
  }
  Tensor forward(Tensor x) {
    x = layers->forward(x);
    Tensor line = torch::tanh(one(x.flatten(2)));
    Tensor cube = x.view({x.size(0), 2, 3, x.size(2), x.size(3)});
    cube = torch::sigmoid(three(cube));
    return line.sum() + cube.sum();
  }
  nn::Sequential layers;
  nn::Conv1d one{nullptr};
  nn::Conv3d three{nullptr};
};
TORCH_MODULE(Convolutions);

struct NormsImpl : nn::Module {
  explicit NormsImpl(bool affine)
      : batch(nn::BatchNorm2dOptions(4).affine(affine)), line(4),
        layer(nn::LayerNormOptions({4, 6, 6}).elementwise_affine(affine)),
        group(nn::GroupNormOptions(2, 4).affine(affine)),
        instance(nn::InstanceNorm2dOptions(4)) {
    register_module("batch", batch);
    register_module("line", line);
    register_module("layer", layer);
    register_module("group", group);
    register_module("instance", instance);
    scale = register_parameter("scale", torch::ones({4, 1, 1}));
  }
  Tensor forward(Tensor x) {
    x = torch::tanh(batch(x * scale));
    x = torch::tanh(line(x.flatten(2))).view({x.size(0), 4, 6, 6});
    x = torch::tanh(layer(x));
    x = torch::tanh(group(x));
    return torch::tanh(instance(x));
  }
  nn::BatchNorm2d batch;
  nn::BatchNorm1d line;
  nn::LayerNorm layer;
  nn::GroupNorm group;
  nn::InstanceNorm2d instance;
  Tensor scale;
};
TORCH_MODULE(Norms);

struct ActivationsImpl : nn::Module {
  ActivationsImpl() {
    w = register_parameter("w", torch::ones({8}));
    prelu = register_module("prelu", nn::PReLU());
  }
  Tensor forward(Tensor x) {
    x = x * w;
    x = torch::leaky_relu(x);
    x = F::elu(x);
    x = torch::gelu(x);
    x = torch::silu(x);
    x = F::mish(x);
    x = F::softplus(x);
    x = F::hardtanh(x);
    x = torch::hardswish(x);
    x = F::relu6(x, F::ReLU6FuncOptions().inplace(true));
    x = torch::selu(x);
    x = F::logsigmoid(x);
    x = prelu(x);
    x = torch::clamp(x, -1, 1);
    x = F::dropout(x, F::DropoutFuncOptions().p(0.3).training(is_training()));
    return F::softmax(x, 1);
  }
  Tensor w;
  nn::PReLU prelu{nullptr};
};
TORCH_MODULE(Activations);

struct ArithmeticImpl : nn::Module {
  ArithmeticImpl() { w = register_parameter("w", torch::ones({1, 16})); }
  Tensor forward(Tensor x, Tensor y) {
    Tensor a = x * w, b = y + w;
    Tensor c = a / (b.abs() + 1.5);
    c = torch::exp(c - a).sqrt();
    c = c.pow(2) + torch::square(b) - 3 * a;
    c = torch::where(c > 0, c, a);
    c = torch::max(c, b);
    c.mul_(0.5).add_(a);
    c = 1 - c;
    c = torch::log(c.clamp_min(0.1)) * torch::sin(c);
    Tensor norm = c.norm(2, 1, true);
    c = c / norm;
    auto [best, index] = c.max(1);
    // Compilers choose in which order they evaluate the operands of one sum.
    Tensor sum = c.sum(1);
    sum = sum + best;
    sum = sum + c.var(1);
    sum = sum + c.mean();
    sum = sum + (a - 1).mean(1); // Keeps what it reads in 1.13 alone.
    return sum - c.std();
  }
  Tensor w;
};
TORCH_MODULE(Arithmetic);

struct ShapesImpl : nn::Module {
  ShapesImpl() { w = register_parameter("w", torch::ones({1, 6, 1, 1})); }
  Tensor forward(Tensor x) {
    x = x * w;
    Tensor a = x.permute({0, 2, 3, 1}).contiguous();
    Tensor b = a.reshape({-1, a.size(-1)}).t();
    Tensor c = x.index({Slice(), Slice(0, 3), Ellipsis, Slice(None, None, 2)});
    Tensor d = x.select(1, 0).unsqueeze(1).expand({-1, 2, -1, -1});
    Tensor e = x.narrow(2, 1, 2).repeat({1, 1, 2, 1});
    Tensor f = x.slice(1, 2, 4).squeeze(0);
    auto parts = x.split(2, 1);
    Tensor g = torch::stack({parts[0], parts[1]}, 0);
    Tensor h = torch::cat({x.flatten(1), x.flatten(1)}, 1);
    Tensor i = x[0].index_select(0, torch::zeros({3}, torch::kLong));
    Tensor j = x.index({torch::zeros({2}, torch::kLong)});
    c10::optional<Tensor> more = j;
    if (more)
      i = i + torch::tanh(x.index({0, 1})).sum();
    return b.sum() + torch::tanh(c).sum() + torch::tanh(d).sum() +
           torch::tanh(e).sum() + torch::tanh(f).sum() + torch::tanh(g).sum() +
           torch::tanh(h).sum() + torch::tanh(i).sum() + torch::tanh(j).sum();
  }
  Tensor w;
};
TORCH_MODULE(Shapes);

struct PoolsImpl : nn::Module {
  PoolsImpl() { conv = register_module("conv", nn::Conv2d(1, 4, 1)); }
  Tensor forward(Tensor x) {
    x = conv(x);
    x = torch::max_pool2d(x, 3, 2, 1, 1, true);
    x = F::avg_pool2d(x, F::AvgPool2dFuncOptions(2).stride(1));
    x = torch::constant_pad_nd(x, {1, 2, 1, 2});
    x = F::pad(x, F::PadFuncOptions({1, 1, 1, 1}).mode(torch::kReflect));
    x = torch::pixel_shuffle(x, 2);
    x = F::interpolate(x, F::InterpolateFuncOptions()
                              .size(std::vector<int64_t>{13, 9})
                              .mode(torch::kNearest));
    Tensor line = torch::max_pool1d(x.flatten(2), 2);
    Tensor few = F::adaptive_avg_pool2d(x, F::AdaptiveAvgPool2dFuncOptions(3));
    Tensor most = F::adaptive_max_pool2d(x, F::AdaptiveMaxPool2dFuncOptions(2));
    Tensor single = torch::adaptive_avg_pool2d(x, {1, 1});
    return line.sum() + few.sum() + torch::tanh(most).sum() + single.sum();
  }
  nn::Conv2d conv{nullptr};
};
TORCH_MODULE(Pools);

struct LossImpl : nn::Module {
  explicit LossImpl(const std::string &kind) : kind(kind), fc(8, 8) {
    register_module("fc", fc);
  }
  Tensor forward(Tensor x, Tensor target) {
    x = fc(x);
    if (kind == "cross_entropy")
      return F::cross_entropy(x, target);
    if (kind == "nll")
      return torch::nll_loss(torch::log_softmax(x, 1), target);
    if (kind == "mse")
      return F::mse_loss(x, target);
    if (kind == "l1")
      return F::l1_loss(x, target);
    if (kind == "smooth")
      return torch::smooth_l1_loss(x, target);
    if (kind == "bce")
      return F::binary_cross_entropy(torch::sigmoid(x), target);
    if (kind == "logits")
      return torch::binary_cross_entropy_with_logits(x, target);
    TORCH_CHECK(false, "no such loss");
  }
  std::string kind;
  nn::Linear fc;
};
TORCH_MODULE(Loss);

/// Numbers that are drawn, as agents draw them.
struct DrawsImpl : nn::Module {
  DrawsImpl() : fc(16, 40) { register_module("fc", fc); }
  Tensor forward(Tensor x) {
    Tensor logits = fc(x), chances = torch::softmax(logits, -1);
    Tensor one = chances.multinomial(1);
    Tensor several = torch::multinomial(chances.detach(), 3);
    Tensor again = chances.multinomial(5, /*replacement=*/true);
    Tensor near = at::normal(logits, chances), around = at::normal(x, 0.5);
    Tensor kept = torch::bernoulli(chances.detach());
    Tensor counted = torch::poisson(logits.exp().detach());
    Tensor any = torch::normal(0., 1., {x.size(0), 40});
    return chances.gather(1, torch::cat({one, several, again}, 1)).sum() +
           (near * kept + counted * any).sum() + around.sum();
  }
  nn::Linear fc;
};
TORCH_MODULE(Draws);

struct CellsImpl : nn::Module {
  CellsImpl() : lstm(4, 8), gru(8, 8), rnn(8, 8) {
    register_module("lstm", lstm);
    register_module("gru", gru);
    register_module("rnn", rnn);
  }
  Tensor forward(Tensor x) {
    Tensor h = torch::zeros({x.size(1), 8}), c = torch::zeros({x.size(1), 8});
    Tensor g = torch::zeros({x.size(1), 8}), r;
    for (int64_t t = 0; t < x.size(0); ++t) {
      std::tie(h, c) = lstm(x[t], std::make_tuple(h, c));
      g = gru(h, g);
      r = rnn(g, r);
    }
    return r;
  }
  nn::LSTMCell lstm;
  nn::GRUCell gru;
  nn::RNNCell rnn;
};
TORCH_MODULE(Cells);

struct RecurrentImpl : nn::Module {
  RecurrentImpl(int64_t layers, bool both)
      : gru(nn::GRUOptions(8, 6).num_layers(layers).bidirectional(both)),
        rnn(nn::RNNOptions(both ? 12 : 6, 5)
                .num_layers(layers)
                .nonlinearity(torch::kReLU)) {
    register_module("gru", gru);
    register_module("rnn", rnn);
  }
  Tensor forward(Tensor x) {
    x = std::get<0>(gru(x));
    return std::get<0>(rnn(x))[-1];
  }
  nn::GRU gru;
  nn::RNN rnn;
};
TORCH_MODULE(Recurrent);

/// A guard in it, parts that are frozen, and results that nothing needs.
struct FrozenImpl : nn::Module {
  FrozenImpl()
      : body(nn::Linear(16, 32), nn::ReLU(), nn::Linear(32, 32)), head(32, 4) {
    register_module("body", body);
    register_module("head", head);
    for (auto &p : body->parameters())
      p.set_requires_grad(false);
  }
  Tensor forward(Tensor x) {
    Tensor unused = head(body->forward(x)) * 2;
    {
      torch::NoGradGuard guard;
      x = body->forward(x).relu();
    }
    Tensor detached = head(x).detach();
    return head(x + detached.sum()) * detached;
  }
  nn::Sequential body;
  nn::Linear head;
};
TORCH_MODULE(Frozen);

struct DoublesImpl : nn::Module {
  DoublesImpl() {
    conv = register_module("conv", nn::Conv2d(nn::Conv2dOptions(2, 4, 3)));
    conv->to(torch::kFloat64);
  }
  Tensor forward(Tensor x) {
    Tensor y = conv(x.to(torch::kFloat64));
    y = torch::softmax(y.to(x.dtype()), 1, torch::kFloat64);
    return y.to(x.scalar_type()).to(torch::kFloat32).mean();
  }
  nn::Conv2d conv{nullptr};
};
TORCH_MODULE(Doubles);

static Tensor images(std::vector<int64_t> sizes) { return torch::rand(sizes); }
static Tensor numbers(int64_t most, std::vector<int64_t> sizes) {
  return torch::randint(most, sizes, torch::kLong);
}

/// What several encoders give.
struct Views {
  Tensor image;
  std::vector<Tensor> levels;
  int64_t scale = 1;
};

struct FusionImpl : nn::Module {
  FusionImpl() : fc(4, 8) { register_module("fc", fc); }
  Tensor forward(const Views &views, bool twice,
                 std::tuple<Tensor, int64_t> state,
                 torch::optional<Tensor> mask) {
    Tensor sum = fc->forward(views.image) * views.scale;
    for (const auto &level : views.levels)
      sum = sum + fc->forward(level);
    if (twice)
      sum = sum + sum;
    sum = sum * std::get<0>(state);
    for (int64_t i = 0; i < std::get<1>(state); ++i)
      sum = torch::cat({sum, sum}, 1);
    if (mask.has_value())
      sum = sum * *mask;
    return sum;
  }
  nn::Linear fc;
};
TORCH_MODULE(Fusion);

int main() {
  steps::begin();
  STEP(Classifier(8, 10), "4x3x32x32", images({4, 3, 32, 32}));
  STEP(Residual(std::vector<int64_t>{8, 16, 16}), "4x3x16x16",
       images({4, 3, 16, 16}));
  STEP(UNet(4, true), "2x1x24x20", images({2, 1, 24, 20}));
  STEP(UNet(4, false), "1x1x26x30", images({1, 1, 26, 30}));
  STEP(Dense(4), "3x4x10x10", images({3, 4, 10, 10}));
  STEP(LanguageModel(50, 16, 2, 0.2), "4x7:int64", numbers(50, {4, 7}));
  STEP(LanguageModel(50, 16, 1, 0), "2x5:int64", numbers(50, {2, 5}));
  STEP(Gpt(60, 16, 2), "3x12:int64", numbers(60, {3, 12}));
  STEP(Translator(0.1), "6x2x32 5x2x32", images({6, 2, 32}),
       images({5, 2, 32}));
  STEP(Encoder(), "9x4x16", images({9, 4, 16}));
  STEP(Vae(), "20x64", images({20, 64}));
  STEP(Convolutions(), "2x6x9x7", images({2, 6, 9, 7}));
  STEP(Convolutions(), "1x6x8x8", images({1, 6, 8, 8}));
  STEP(Norms(true), "3x4x6x6", images({3, 4, 6, 6}));
  STEP(Norms(false), "3x4x6x6", images({3, 4, 6, 6}));
  STEP(Activations(), "100x8", images({100, 8}));
  STEP(Arithmetic(), "30x16 30x16", images({30, 16}), images({30, 16}));
  STEP(Shapes(), "1x6x4x6", images({1, 6, 4, 6}));
  STEP(Pools(), "2x1x17x12", images({2, 1, 17, 12}));
  STEP(Loss("cross_entropy"), "25x8 25:int64", images({25, 8}),
       numbers(8, {25}));
  STEP(Loss("nll"), "25x8 25:int64", images({25, 8}), numbers(8, {25}));
  STEP(Loss("mse"), "25x8 25x8", images({25, 8}), images({25, 8}));
  STEP(Loss("l1"), "25x8 25x8", images({25, 8}), images({25, 8}));
  STEP(Loss("smooth"), "25x8 25x8", images({25, 8}), images({25, 8}));
  STEP(Loss("bce"), "25x8 25x8", images({25, 8}), images({25, 8}));
  STEP(Loss("logits"), "25x8 25x8", images({25, 8}), images({25, 8}));
  STEP(Draws(), "30x16", images({30, 16}));
  STEP(Cells(), "6x3x4", images({6, 3, 4}));
  STEP(Recurrent(1, false), "6x3x8", images({6, 3, 8}));
  STEP(Recurrent(2, true), "5x4x8", images({5, 4, 8}));
  STEP(Frozen(), "10x16", images({10, 16}));
  STEP(Doubles(), "2x2x8x8", images({2, 2, 8, 8}));
  STEP(Fusion(), "{40x4,{40x4,40x4},3} true {40x8,2} 40x32",
       Views{images({40, 4}), {images({40, 4}), images({40, 4})}, 3}, true,
       std::make_tuple(images({40, 8}), int64_t(2)),
       torch::optional<Tensor>(images({40, 32})));
  CONVERTED(Vae(), "20x64", images({20, 64}).to(torch::kBFloat16));
  CONVERTED(Classifier(8, 10), "4x3x32x32",
            images({4, 3, 32, 32}).to(torch::kBFloat16));
  AUTOCAST(Vae(), "20x64", images({20, 64}));
  AUTOCAST(Classifier(8, 10), "4x3x32x32", images({4, 3, 32, 32}));
  AUTOCAST(Residual(std::vector<int64_t>{8, 16, 16}), "4x3x16x16",
           images({4, 3, 16, 16}));
  AUTOCAST(Encoder(), "9x4x16", images({9, 4, 16}));
  AUTOCAST(LanguageModel(50, 16, 2, 0.2), "4x7:int64", numbers(50, {4, 7}));
  AUTOCAST(Cells(), "6x3x4", images({6, 3, 4}));
  AUTOCAST(Recurrent(2, true), "5x4x8", images({5, 4, 8}));
  AUTOCAST(Gpt(60, 16, 2), "3x12:int64", numbers(60, {3, 12}));
  AUTOCAST(Loss("cross_entropy"), "25x8 25:int64", images({25, 8}),
           numbers(8, {25}));
  AUTOCAST(Loss("mse"), "25x8 25x8", images({25, 8}), images({25, 8}));
#define WITH(NAME, TYPE, OPTIONS)                                              \
  OPTIMIZED(NAME, TYPE, OPTIONS, Vae(), "2x64", images({2, 64}));              \
  OPTIMIZED(NAME, TYPE, OPTIONS, Classifier(4, 10), "8x3x16x16",               \
            images({8, 3, 16, 16}))
  WITH("sgd", SGD, SGDOptions(0.1));
  WITH("sgd-momentum", SGD, SGDOptions(0.1).momentum(0.9));
  WITH("adam", Adam, AdamOptions(0.1));
  WITH("adamw", AdamW, AdamWOptions(0.1));
  WITH("amsgrad", Adam, AdamOptions(0.1).amsgrad(true));
  WITH("rmsprop", RMSprop, RMSpropOptions(0.1));
  WITH("adagrad", Adagrad, AdagradOptions(0.1));
}
