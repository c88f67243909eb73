"""Layers of torch::nn and what they run, for random_steps.py."""

from random_draw import Table, listed, vector

TABLE = Table()
row, operator = TABLE.row, TABLE.operator


# Convolutions.

def convolution(dimensions, transposed):
    def draw(d):
        groups = d.any(1, 1, 2, 3)
        width = {1: (150, 400), 2: (14, 24), 3: (6, 10)}[dimensions]
        sizes = [d.number(width[0], width[1]) for _ in range(dimensions)]
        channels, out = groups * d.number(2, 4), groups * d.number(2, 4)
        stride, padding = d.number(1, 2), d.number(0, 1)
        made = ("%s%dd(nn::%s%ddOptions(%d, %d, %d).stride(%d).padding(%d).dilation(%d)"
                ".groups(%d).bias(%s)%s)") % (
                    "ConvTranspose" if transposed else "Conv", dimensions,
                    "ConvTranspose" if transposed else "Conv", dimensions,
                    channels, out, d.number(1, 3), stride, padding, d.any(1, 1, 2), groups,
                    d.any("true", "false"),
                    ".output_padding(1)" if transposed and stride > 1 and d.flag() else "")
        if transposed:
            made = made.replace(".dilation(2)", ".dilation(1)")
        batch = [d.number(1, 3)] if d.number(0, 3) else []
        return "%s(%s)" % (d.module(made), d.operand(batch + [channels] + sizes))
    return draw


for DIMENSIONS in (1, 2, 3):
    row("Conv%dd" % DIMENSIONS, convolution(DIMENSIONS, False))
    row("Conv%dd_more" % DIMENSIONS, convolution(DIMENSIONS, False))
    row("ConvTranspose%dd" % DIMENSIONS, convolution(DIMENSIONS, True))


@operator
def conv2d(d):
    weight = d.parameter([6, 3, 3, 3])
    return "F::conv2d(%s, %s, F::Conv2dFuncOptions().stride(%d).padding(1))" % (
        d.operand([2, 3, d.number(20, 30), d.number(20, 30)]), weight, d.number(1, 2))


@operator
def conv_depthwise(d):
    channels = d.number(4, 9)
    return "%s(%s)" % (d.module(
        "Conv2d(nn::Conv2dOptions(%d, %d, 3).padding(1).groups(%d).bias(%s))" % (
            channels, channels, channels, d.any("true", "false"))),
        d.operand([d.number(1, 3), channels, d.number(16, 22), d.number(16, 22)]))


# Normalisation.

for DIMENSIONS in (1, 2, 3):
    def batch_norm(d, dimensions=DIMENSIONS, kind="BatchNorm"):
        sizes = d.sizes(2 + dimensions, 6000 if dimensions < 3 else 9000)
        return "%s(%s)" % (d.module("%s%dd(nn::%s%ddOptions(%d).affine(%s)"
                                    ".track_running_stats(%s))" % (
                                        kind, dimensions, kind, dimensions, sizes[1],
                                        d.any("true", "true", "false"),
                                        d.any("true", "true", "false"))),
                           d.operand(sizes))
    row("BatchNorm%dd" % DIMENSIONS, batch_norm)
    row("InstanceNorm%dd" % DIMENSIONS,
        lambda d, draw=batch_norm, n=DIMENSIONS: draw(d, n, "InstanceNorm"))


@operator
def LayerNorm(d):
    sizes = d.sizes()
    last = sizes[-d.number(1, 2):]
    return "%s(%s)" % (d.module("LayerNorm(nn::LayerNormOptions(%s)"
                                ".elementwise_affine(%s))" % (
                                    listed(last), d.any("true", "true", "false"))),
                       d.operand(sizes))


@operator
def GroupNorm(d):
    groups = d.number(1, 4)
    sizes = [d.number(2, 4), groups * d.number(1, 3), d.number(16, 20), d.number(16, 20)]
    return "%s(%s)" % (d.module("GroupNorm(nn::GroupNormOptions(%d, %d).affine(%s))" % (
        groups, sizes[1], d.any("true", "true", "false"))), d.operand(sizes))


@operator
def layer_norm(d):
    sizes = d.sizes(3)
    return "torch::layer_norm(%s, {%d})" % (d.operand(sizes), sizes[-1])


# Pooling, resizing, padding.

def images(d, dimensions, least=0):
    width = {1: (100, 300), 2: (14, 24), 3: (8, 12)}[dimensions]
    return [d.number(2, 3), d.number(2, 4)] + [
        d.number(*width) for _ in range(dimensions)]


for DIMENSIONS in (1, 2, 3):
    def max_pool(d, n=DIMENSIONS):
        return "%s(%s)" % (d.module(
            "MaxPool%dd(nn::MaxPool%ddOptions(%d).stride(%d).padding(%d).ceil_mode(%s))" % (
                n, n, d.number(2, 3), d.number(1, 3), d.number(0, 1),
                d.any("true", "false"))), d.operand(images(d, n)))

    def avg_pool(d, n=DIMENSIONS):
        return "%s(%s)" % (d.module(
            "AvgPool%dd(nn::AvgPool%ddOptions(%d).stride(%d).padding(%d).ceil_mode(%s))" % (
                n, n, d.number(2, 3), d.number(1, 3), d.number(0, 1),
                d.any("true", "false"))), d.operand(images(d, n)))

    def adaptive(d, kind, n=DIMENSIONS):
        return "%s(%s)" % (d.module("Adaptive%sPool%dd(%d)" % (kind, n, d.any(1, 3, 7))),
                           d.operand(images(d, n)))
    row("MaxPool%dd" % DIMENSIONS, max_pool)
    row("AvgPool%dd" % DIMENSIONS, avg_pool)
    row("AdaptiveAvgPool%dd" % DIMENSIONS, lambda d, f=adaptive: f(d, "Avg"))
    row("AdaptiveMaxPool%dd" % DIMENSIONS, lambda d, f=adaptive: f(d, "Max"))

    def constant_pad(d, n=DIMENSIONS):
        return "%s(%s)" % (d.module("ConstantPad%dd(nn::ConstantPad%ddOptions(%s, 0.5))" % (
            n, n, listed([d.number(0, 3) for _ in range(2 * n)]))), d.operand(images(d, n)))

    def replication_pad(d, n=DIMENSIONS):
        return "%s(%s)" % (d.module("ReplicationPad%dd(%d)" % (n, d.number(1, 3))),
                           d.operand(images(d, n)))
    row("ConstantPad%dd" % DIMENSIONS, constant_pad)
    row("ReplicationPad%dd" % DIMENSIONS, replication_pad)
    if DIMENSIONS < 3:
        row("ReflectionPad%dd" % DIMENSIONS, lambda d, n=DIMENSIONS: "%s(%s)" % (
            d.module("ReflectionPad%dd(%d)" % (n, d.number(1, 3))), d.operand(images(d, n))))
row("pad", lambda d: "F::pad(%s, F::PadFuncOptions(%s))" % (
    d.operand(images(d, 2)), listed([d.number(0, 3) for _ in range(4)])))
row("pad_reflect", lambda d: "F::pad(%s, F::PadFuncOptions(%s).mode(%s))" % (
    d.operand(images(d, 2)), listed([d.number(1, 3) for _ in range(4)]),
    d.any("torch::kReflect", "torch::kReplicate")))


def resized(mode, dimensions, aligns):
    def draw(d):
        sizes = images(d, dimensions)
        options = (".scale_factor(std::vector<double>({%s}))" % ", ".join(
            [d.any("2", "1.5", "0.5")] * dimensions) if d.flag() else
            ".size(%s)" % vector([d.number(10, 30) for _ in range(dimensions)]))
        if aligns:
            options += ".align_corners(%s)" % d.any("true", "false")
        return "F::interpolate(%s, F::InterpolateFuncOptions()%s.mode(%s))" % (
            d.operand(sizes), options, mode)
    return draw


for NAME, MODE, DIMENSIONS in (
        ("nearest1d", "kNearest", 1), ("nearest2d", "kNearest", 2),
        ("nearest3d", "kNearest", 3), ("linear1d", "kLinear", 1),
        ("bilinear2d", "kBilinear", 2), ("bicubic2d", "kBicubic", 2),
        ("trilinear3d", "kTrilinear", 3)):
    row("interpolate_" + NAME,
        resized("torch::" + MODE, DIMENSIONS, MODE != "kNearest"))
row("interpolate_area", lambda d: "F::interpolate(%s, F::InterpolateFuncOptions()"
    ".size(%s).mode(torch::kArea))" % (d.operand(images(d, 2)), vector([9, 7])))
row("Upsample", lambda d: "%s(%s)" % (d.module(
    "Upsample(nn::UpsampleOptions().scale_factor(std::vector<double>({2, 2})).mode("
    "torch::kBilinear).align_corners(%s))" % d.any("true", "false")),
    d.operand(images(d, 2))))


# Dropout, embeddings, losses.

for NAME in "Dropout AlphaDropout FeatureAlphaDropout".split():
    def drop(d, name=NAME):
        options = "nn::%sOptions(%s)%s" % (
            name if name == "Dropout" else name, d.any("0.2", "0.5"),
            ".inplace(true)" if d.flag() and name == "Dropout" else "")
        return "%s(%s)" % (d.module("%s(%s)" % (name, options)),
                           d.operand(d.sizes(), "computed none"))
    row(NAME, drop)
for DIMENSIONS in (2, 3):
    row("Dropout%dd" % DIMENSIONS, lambda d, n=DIMENSIONS: "%s(%s)" % (
        d.module("Dropout%dd(0.3)" % n), d.operand(images(d, n))))
row("dropout", lambda d: "F::dropout(%s, F::DropoutFuncOptions().p(0.3).training("
    "is_training()))" % d.operand(d.sizes()))
row("torch_dropout", lambda d: "torch::dropout(%s, 0.3, is_training())" % d.operand(d.sizes()))


@operator
def Embedding(d):
    rows = d.number(40, 90)
    return "%s(%s)" % (d.module("Embedding(%d, %d)" % (rows, d.number(20, 60))),
                       d.numbers([d.number(5, 10), d.number(10, 30)]))


@operator
def from_pretrained(d):
    rows, width = d.number(40, 90), d.number(20, 60)
    name = d.name("layer")
    d.members.append("nn::Embedding %s{nullptr};" % name)
    d.made.append('%s = register_module("%s", nn::Embedding::from_pretrained('
                  "torch::rand({%d, %d})%s));" % (
                      name, name, rows, width,
                      d.any("", ", nn::EmbeddingFromPretrainedOptions().freeze(false)")))
    return "%s(%s)" % (name, d.numbers([d.number(5, 10), d.number(10, 30)]))


def parameters(kind):
    def draw(d):
        sizes = d.sizes(most=5000)
        of_list = kind == "ParameterList"
        name = d.module(kind + "()")
        for i in range(d.number(2, 4)):
            d.made.append("%s->%storch::rand(%s%s));" % (
                name, "append(" if of_list else 'insert("p%d", ' % i, listed(sizes),
                d.any(", torch::requires_grad()", "")))
        a = d.let(d.computed(sizes))
        d.lines.append("for (const auto &item : *%s)" % name)
        d.lines.append("  %s = %s * item.value();" % (a, a))
        return "%s + %s" % (a, "%s[1]" % name if of_list else '%s["p1"]' % name)
    return draw


row("ParameterList", parameters("ParameterList"))
row("ParameterDict", parameters("ParameterDict"))


def loss(call, options, target="same"):
    def draw(d):
        reduction = d.any("torch::kMean", "torch::kSum", "torch::kNone")
        sizes = d.sizes(2)
        a = d.operand(sizes)
        if target == "numbers":
            other = d.numbers([sizes[0]])
        else:
            other = d.buffer(sizes)
        if call == "F::binary_cross_entropy":
            a = d.let("torch::sigmoid(%s)" % a)
        return "%s(%s, %s, %s().reduction(%s))" % (call, a, other, options, reduction)
    return draw


for NAME, OPTIONS in {
        "mse_loss": "MSELoss", "l1_loss": "L1Loss", "smooth_l1_loss": "SmoothL1Loss",
        "huber_loss": "HuberLoss", "binary_cross_entropy": "BinaryCrossEntropy",
        "binary_cross_entropy_with_logits": "BinaryCrossEntropyWithLogits",
        "kl_div": "KLDiv", "cross_entropy": "CrossEntropy", "nll_loss": "NLLLoss"}.items():
    row(NAME, loss("F::" + NAME, "F::%sFuncOptions" % OPTIONS,
                   "numbers" if NAME in ("cross_entropy", "nll_loss") else "same"))
row("cross_entropy_image", lambda d: (lambda n, c, h, w: "F::cross_entropy(%s, %s)" % (
    d.operand([n, c, h, w]), d.numbers([n, h, w])))(
        2, d.number(3, 6), d.number(12, 20), d.number(12, 20)))
for NAME in "MSELoss L1Loss SmoothL1Loss HuberLoss BCEWithLogitsLoss".split():
    row(NAME, lambda d, name=NAME: (lambda sizes: "%s(%s, %s)" % (
        d.module(name + "()"), d.operand(sizes), d.buffer(sizes)))(d.sizes(2)))
row("mse_loss_two", lambda d: (lambda sizes: "torch::mse_loss(%s, %s)" % (
    d.operand(sizes), d.operand(sizes)))(d.sizes(2)))


# Recurrent layers and attention.

def recurrent(kind):
    def draw(d):
        first = d.flag()
        features, hidden = d.number(8, 20), d.number(8, 20)
        options = "nn::%sOptions(%d, %d).num_layers(%d).bidirectional(%s).batch_first(%s)%s" % (
            kind, features, hidden, d.number(1, 2), d.any("true", "false"),
            "true" if first else "false", d.any(".bias(false)", "", ""))
        if kind == "RNN":
            options += ".nonlinearity(torch::%s)" % d.any("kTanh", "kReLU")
        call = "%s(%s)" % (d.module("%s(%s)" % (kind, options)),
                           d.operand([d.number(4, 7), d.number(10, 20), features]))
        if d.flag():
            return "std::get<0>(%s)" % call
        d.lines.append("[[maybe_unused]] auto [all, state] = %s;" % call)
        if kind == "LSTM":
            d.results = "{all, std::get<0>(state), std::get<1>(state)}"
        else:
            d.results = "{all, state}"
        return None
    return draw


for NAME in "LSTM GRU RNN".split():
    row(NAME, recurrent(NAME))
    row(NAME + "_more", recurrent(NAME))


def cell(kind):
    def draw(d):
        n, features, hidden = d.number(20, 60), d.number(20, 60), d.number(20, 60)
        call = "%s(%s" % (d.module("%s(%d, %d)" % (kind, features, hidden)),
                          d.operand([n, features]))
        if d.flag():
            state = d.operand([n, hidden])
            if kind == "LSTMCell":
                state = "std::make_tuple(%s, %s)" % (state, d.operand([n, hidden]))
            call += ", " + state
        return "std::get<0>(%s))" % call if kind == "LSTMCell" else call + ")"
    return draw


for NAME in "LSTMCell GRUCell RNNCell".split():
    row(NAME, cell(NAME))


@operator
def MultiheadAttention(d):
    heads = d.number(1, 4)
    width = heads * d.number(4, 8)
    layer = d.module("MultiheadAttention(nn::MultiheadAttentionOptions(%d, %d)%s%s)" % (
        width, heads, d.any("", ".dropout(0.2)"), d.any("", "", ".bias(false)")))
    n = d.number(3, 6)
    q = d.operand([d.number(10, 20), n, width])
    k = q if d.flag() else d.operand([d.number(10, 20), n, width])
    v = k
    if d.number(0, 2):
        d.lines.append("[[maybe_unused]] auto [out, weights] = %s(%s, %s, %s);" % (layer, q, k, v))
        d.results = d.any("{out}", "{out, weights}")
        return None
    return "std::get<0>(%s(%s, %s, %s))" % (layer, q, k, v)
