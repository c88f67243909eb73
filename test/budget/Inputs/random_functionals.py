"""Losses, distances, and the layers that few models have, for random_steps.py."""

from random_draw import Table, listed

TABLE = Table()
row, operator = TABLE.row, TABLE.operator


def reduction(d, last="torch::kNone"):
    return ".reduction(%s)" % d.any("torch::kMean", "torch::kSum", last)


# Losses.

def pair(name, options, target):
    """A functional of an input and a target of its sizes."""
    def draw(d):
        sizes = d.sizes(2)
        a = d.operand(sizes)
        return "F::%s(%s, %s, F::%s()%s)" % (name, a, target(d, sizes), options(d),
                                             reduction(d))
    return draw


row("hinge_embedding_loss", pair(
    "hinge_embedding_loss", lambda d: "HingeEmbeddingLossFuncOptions",
    lambda d, sizes: d.buffer(sizes)))
row("soft_margin_loss", pair(
    "soft_margin_loss", lambda d: "SoftMarginLossFuncOptions",
    lambda d, sizes: d.buffer(sizes)))
row("multilabel_margin_loss", pair(
    "multilabel_margin_loss", lambda d: "MultilabelMarginLossFuncOptions",
    lambda d, sizes: d.numbers(sizes)))
row("multi_margin_loss", pair(
    "multi_margin_loss", lambda d: "MultiMarginLossFuncOptions",
    lambda d, sizes: d.numbers(sizes[:1])))


@operator
def multilabel_soft_margin_loss(d):
    sizes = d.sizes(2)
    weight = ".weight(%s)" % d.buffer(sizes[1:]) if d.flag() else ""
    return "F::multilabel_soft_margin_loss(%s, %s, F::MultilabelSoftMarginLossFuncOptions()%s%s)" % (
        d.operand(sizes), d.buffer(sizes), weight, reduction(d))


@operator
def poisson_nll_loss(d):
    sizes = d.sizes()
    return "F::poisson_nll_loss(%s, %s, F::PoissonNLLLossFuncOptions().log_input(%s).full(%s)%s)" % (
        d.operand(sizes), d.buffer(sizes), d.any("true", "false"), d.any("true", "false"),
        reduction(d))


@operator
def margin_ranking_loss(d):
    sizes = d.sizes(2)
    return "F::margin_ranking_loss(%s, %s, %s, F::MarginRankingLossFuncOptions()%s)" % (
        d.operand(sizes), d.operand(sizes), d.buffer(sizes), reduction(d))


@operator
def cosine_embedding_loss(d):
    sizes = d.sizes(2)
    return "F::cosine_embedding_loss(%s, %s, %s, F::CosineEmbeddingLossFuncOptions()%s)" % (
        d.operand(sizes), d.operand(sizes), d.buffer(sizes[:1]), reduction(d))


@operator
def triplet_margin_loss(d):
    sizes = d.sizes(2)
    return "F::triplet_margin_loss(%s, %s, %s, F::TripletMarginLossFuncOptions().swap(%s)%s)" % (
        d.operand(sizes), d.operand(sizes), d.operand(sizes), d.any("true", "false"),
        reduction(d))


@operator
def triplet_margin_with_distance_loss(d):
    sizes = d.sizes(2)
    return ("F::triplet_margin_with_distance_loss(%s, %s, %s, "
            "F::TripletMarginWithDistanceLossFuncOptions().swap(%s)%s)" % (
                d.operand(sizes), d.operand(sizes), d.operand(sizes),
                d.any("true", "false"), reduction(d)))


@operator
def kl_div_log(d):
    sizes = d.sizes(2)
    return "F::kl_div(%s, %s, F::KLDivFuncOptions().log_target(true)%s)" % (
        d.operand(sizes), d.buffer(sizes), reduction(d, "torch::kBatchMean"))


@operator
def ctc_loss(d):
    steps, n, classes, longest = d.number(20, 30), d.number(2, 4), d.number(8, 20), d.number(4, 8)
    log = d.let("F::log_softmax(%s, 2)" % d.operand([steps, n, classes]))
    return ("F::ctc_loss(%s, %s + 1, torch::full({%d}, %d, torch::kLong), "
            "torch::full({%d}, %d, torch::kLong), F::CTCLossFuncOptions()%s)" % (
                log, d.numbers([n, longest]), n, steps, n, longest, reduction(d)))


def cross_entropy(smooths, weighs, classes, image=False):
    def draw(d):
        sizes = [d.number(60, 120), d.number(20, 40)]
        if image:
            sizes = [2, d.number(3, 6), d.number(14, 20), d.number(14, 20)]
        a = d.operand(sizes)
        target = d.numbers(sizes[:1] + sizes[2:]) if classes else d.buffer(sizes)
        options = ""
        if smooths:
            options += ".label_smoothing(0.1)"
        if weighs:
            options += ".weight(%s)" % d.buffer([sizes[1]])
        return "F::cross_entropy(%s, %s, F::CrossEntropyFuncOptions()%s%s)" % (
            a, target, options, reduction(d))
    return draw


row("cross_entropy_smoothed", cross_entropy(True, False, True))
row("cross_entropy_smoothed_image", cross_entropy(True, False, True, True))
row("cross_entropy_smoothed_weighed", cross_entropy(True, True, True))
row("cross_entropy_weighed", cross_entropy(False, True, True))
row("cross_entropy_likely", cross_entropy(False, False, False))
row("cross_entropy_likely_weighed", cross_entropy(True, True, False))
row("cross_entropy_likely_image", cross_entropy(False, False, False, True))


@operator
def logits_weighed(d):
    sizes = d.sizes(2)
    options = "".join(".%s(%s)" % (name, d.buffer(sizes[1:]))
                      for name in d.any(["weight"], ["pos_weight"], ["weight", "pos_weight"]))
    return ("F::binary_cross_entropy_with_logits(%s, %s, "
            "F::BinaryCrossEntropyWithLogitsFuncOptions()%s%s)" % (
                d.operand(sizes), d.buffer(sizes), options, reduction(d)))


for NAME, COUNT in {
        "HingeEmbeddingLoss": 1, "SoftMarginLoss": 1, "MultiLabelSoftMarginLoss": 1,
        "PoissonNLLLoss": 1, "KLDivLoss": 1, "TripletMarginLoss": 3,
        "TripletMarginWithDistanceLoss": 3, "MarginRankingLoss": 2}.items():
    def loss_module(d, name=NAME, count=COUNT):
        sizes = d.sizes(2)
        given = [d.operand(sizes) for _ in range(count)]
        if count < 3:
            given.append(d.buffer(sizes))
        return "%s(%s)" % (d.module("%s(nn::%sOptions()%s)" % (name, name, reduction(d))),
                           ", ".join(given))
    row(NAME, loss_module)
for NAME in "MultiMarginLoss MultiLabelMarginLoss".split():
    row(NAME, lambda d, name=NAME: (lambda sizes: "%s(%s, %s)" % (
        d.module("%s()" % name), d.operand(sizes),
        d.numbers(sizes if name == "MultiLabelMarginLoss" else sizes[:1])))(d.sizes(2)))
row("CosineEmbeddingLoss", lambda d: (lambda sizes: "%s(%s, %s, %s)" % (
    d.module("CosineEmbeddingLoss()"), d.operand(sizes), d.operand(sizes),
    d.buffer(sizes[:1])))(d.sizes(2)))
row("CTCLoss", lambda d: (lambda t, n, s: (
    "%s(F::log_softmax(%s, 2), %s + 1, torch::full({%d}, %d, torch::kLong), "
    "torch::full({%d}, %d, torch::kLong))" % (
        d.module("CTCLoss()"), d.operand([t, n, 20]), d.numbers([n, s]), n, t, n, s)))(
            d.number(20, 30), d.number(2, 4), d.number(4, 8)))
row("CrossEntropyLoss", lambda d: (lambda sizes: "%s(%s, %s)" % (
    d.module("CrossEntropyLoss(nn::CrossEntropyLossOptions().label_smoothing(%s))" %
             d.any("0.0", "0.2")), d.operand(sizes), d.numbers(sizes[:1])))(d.sizes(2)))


# Distances.

def both(call, count=2):
    def draw(d):
        sizes = d.sizes(count)
        return call(d) % (d.operand(sizes), d.operand(sizes))
    return draw


row("cosine_similarity", both(lambda d: "torch::cosine_similarity(%%s, %%s, %d)" % d.number(0, 1)))
row("CosineSimilarity", both(lambda d: d.module(
    "CosineSimilarity(nn::CosineSimilarityOptions().dim(%d))" % d.number(0, 2)) + "(%s, %s)", 3))
row("pairwise_distance", both(lambda d: "torch::pairwise_distance(%%s, %%s, %s)" % d.any("1", "2")))
row("PairwiseDistance", both(lambda d: d.module(
    "PairwiseDistance(nn::PairwiseDistanceOptions().keepdim(%s))" % d.any("true", "false"))
    + "(%s, %s)"))
row("normalize", lambda d: (lambda sizes: "F::normalize(%s, F::NormalizeFuncOptions().p(%s).dim(%d))"
                            % (d.operand(sizes), d.any("1", "2"), d.dim(sizes)[1]))(d.sizes()))
row("pdist", lambda d: "torch::pdist(%s)" % d.operand([d.number(20, 60), d.number(20, 60)]))
row("cdist", lambda d: (lambda w: "torch::cdist(%s, %s)" % (
    d.operand([d.number(10, 60), w]), d.operand([d.number(10, 60), w])))(d.number(30, 90)))
row("cdist_one", lambda d: (lambda w: "torch::cdist(%s, %s, 1)" % (
    d.operand([3, d.number(10, 30), w]), d.operand([3, d.number(10, 30), w])))(d.number(30, 60)))


@operator
def Bilinear(d):
    n, a, b = d.number(20, 60), d.number(10, 30), d.number(10, 30)
    return "%s(%s, %s)" % (d.module("Bilinear(nn::BilinearOptions(%d, %d, %d).bias(%s))" % (
        a, b, d.number(2, 20), d.any("true", "false"))), d.operand([n, a]), d.operand([n, b]))


@operator
def bilinear(d):
    n, a, b, out = d.number(5, 20), d.number(10, 30), d.number(10, 30), d.number(2, 20)
    return "F::bilinear(%s, %s, %s, %s)" % (
        d.operand([2, n, a]), d.operand([2, n, b]), d.parameter([out, a, b]),
        d.parameter([out]))


# Norms, pools, pictures.

def images(d, count):
    width = {1: (200, 400), 2: (16, 26), 3: (8, 12)}[count]
    return [d.number(2, 3), d.number(2, 5)] + [d.number(*width) for _ in range(count)]


for COUNT in (1, 2, 3):
    row("local_response_norm_%dd" % COUNT, lambda d, n=COUNT: (
        "F::local_response_norm(%s, F::LocalResponseNormFuncOptions(%d))" % (
            d.ordered(images(d, n)), d.number(2, 4))))

    def unpool(d, n=COUNT, module=False):
        by = d.number(2, 3)
        sizes = images(d, n)
        a = d.operand(sizes[:2] + [size - size % by for size in sizes[2:]])
        d.lines.append(
            "auto [pooled, places] = F::max_pool%dd_with_indices(%s, F::MaxPool%ddFuncOptions(%d));"
            % (n, a, n, by))
        if module:
            return "%s(pooled * 2, places)" % d.module("MaxUnpool%dd(%d)" % (n, by))
        return "F::max_unpool%dd(pooled * 2, places, F::MaxUnpool%ddFuncOptions(%d))" % (n, n, by)
    row("max_unpool%dd" % COUNT, unpool)
    row("MaxUnpool%dd" % COUNT, lambda d, f=unpool: f(d, module=True))
    if COUNT > 1:
        row("FractionalMaxPool%dd" % COUNT, lambda d, n=COUNT: "%s(%s)" % (
            d.module("FractionalMaxPool%dd(nn::FractionalMaxPool%ddOptions(2).output_size(%d))"
                     % (n, n, d.number(3, 5))), d.operand(images(d, n))))
        row("fractional_max_pool%dd" % COUNT, lambda d, n=COUNT: (
            "F::fractional_max_pool%dd(%s, F::FractionalMaxPool%ddFuncOptions(2).output_ratio("
            "std::vector<double>{%s}))" % (n, d.operand(images(d, n)), n, ", ".join(["0.6"] * n))))
    if COUNT < 3:
        row("LPPool%dd" % COUNT, lambda d, n=COUNT: "%s(%s)" % (
            d.module("LPPool%dd(nn::LPPool%ddOptions(2, %d).ceil_mode(%s))" % (
                n, n, d.number(2, 3), d.any("true", "false"))), d.operand(images(d, n))))
        row("lp_pool%dd" % COUNT, lambda d, n=COUNT: (
            "F::lp_pool%dd(%s, F::LPPool%ddFuncOptions(3, 2).stride(1))" % (
                n, d.operand(images(d, n)), n)))
row("LocalResponseNorm", lambda d: "%s(%s)" % (
    d.module("LocalResponseNorm(%d)" % d.number(2, 5)), d.ordered(images(d, 2))))
row("CrossMapLRN2d", lambda d: "%s(%s)" % (
    d.module("CrossMapLRN2d(%d)" % d.number(2, 5)), d.ordered(images(d, 2))))
row("Softmax2d", lambda d: "%s(%s)" % (d.module("Softmax2d()"), d.operand(images(d, 2))))
row("ReflectionPad3d", lambda d: "%s(%s)" % (
    d.module("ReflectionPad3d(%d)" % d.number(1, 3)), d.operand(images(d, 3))))


def unfolded(d):
    return "(%d).stride(%d).padding(%d).dilation(%d)" % (
        d.number(2, 3), d.number(1, 3), d.number(0, 2), d.number(1, 2))


row("Unfold", lambda d: "%s(%s)" % (d.module("Unfold(nn::UnfoldOptions%s)" % unfolded(d)),
                                    d.operand(images(d, 2))))
row("unfold", lambda d: "F::unfold(%s, F::UnfoldFuncOptions%s)" % (
    d.operand(images(d, 2)), unfolded(d)))


def folded(d):
    by, high, wide = d.number(2, 3), d.number(4, 8), d.number(4, 8)
    return (listed([by * high, by * wide]), by,
            d.operand([2, by * by * d.number(2, 3), high * wide]))


row("Fold", lambda d: (lambda size, by, a: "%s(%s)" % (
    d.module("Fold(nn::FoldOptions(%s, {%d, %d}).stride(%d))" % (size, by, by, by)), a))(*folded(d)))
row("fold", lambda d: (lambda size, by, a: "F::fold(%s, F::FoldFuncOptions(%s, {%d, %d}).stride(%d))"
                       % (a, size, by, by, by))(*folded(d)))
row("grid_sample", lambda d: (lambda sizes: "F::grid_sample(%s, %s)" % (
    d.operand(sizes), d.ordered([sizes[0], d.number(8, 20), d.number(8, 20), 2])))(images(d, 2)))
row("grid_sample_3d", lambda d: (lambda sizes: "F::grid_sample(%s, %s)" % (
    d.operand(sizes), d.ordered([sizes[0], 6, 7, d.number(6, 9), 3])))(images(d, 3)))
row("affine_grid", lambda d: (lambda n: "F::affine_grid(%s, {%d, 2, %d, %d})" % (
    d.operand([n, 2, 3]), n, d.number(12, 30), d.number(12, 30)))(d.number(1, 4)))
row("gumbel_softmax", lambda d: "F::gumbel_softmax(%s, F::GumbelSoftmaxFuncOptions().hard(%s))" % (
    d.ordered(d.sizes(2)), d.any("true", "false")))


# Bags.

def bags(d, module):
    rows, width, n, each = d.number(40, 90), d.number(20, 60), d.number(10, 30), d.number(5, 20)
    mode = d.any("torch::kSum", "torch::kMean", "torch::kMax")
    flat = d.flag()
    indices = d.numbers([n * each] if flat else [n, each])
    offsets = d.numbers([n]) if flat else ""
    if module:
        return "%s(%s)" % (d.module("EmbeddingBag(nn::EmbeddingBagOptions(%d, %d).mode(%s))" % (
            rows, width, mode)), indices + (", " + offsets if flat else ""))
    return "F::embedding_bag(%s, %s, F::EmbeddingBagFuncOptions().mode(%s)%s)" % (
        indices, d.parameter([rows, width]), mode, ".offsets(%s)" % offsets if flat else "")


row("EmbeddingBag", lambda d: bags(d, True))
row("embedding_bag", lambda d: bags(d, False))
