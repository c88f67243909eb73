"""Operators element by element and reductions, for random_steps.py. With a trailing _: in
place, on a tensor and not on a view, as that is not modelled."""

from random_draw import Table, unary, vector

TABLE = Table()
row, operator = TABLE.row, TABLE.operator


# Element by element.

for NAME in """relu sigmoid tanh exp expm1 log log2 log10 log1p sqrt rsqrt reciprocal
        sin cos tan erf abs square neg sign floor ceil round selu asin acos atan sinh cosh
        asinh acosh atanh erfc erfinv exp2 lgamma digamma trunc logit hardshrink
        softshrink""".split():
    row(NAME, unary("torch::%s(%%s)" % NAME))
    # Others have no function in place, or no backward() of it.
    if NAME not in """sign hardshrink softshrink erfinv lgamma digamma asinh acosh
            atanh""".split():
        row(NAME + "_", lambda d, name=NAME: "torch::%s_(%s)" % (name, d.computed(d.sizes())))

for NAME, ARGUMENTS in {
        "relu6": "", "hardtanh": ", F::HardtanhFuncOptions().min_val(-0.5).max_val(0.5)",
        "leaky_relu": ", F::LeakyReLUFuncOptions().negative_slope(0.1)",
        "rrelu": "", "elu": ", F::ELUFuncOptions().alpha(0.5)", "celu": "", "gelu": "",
        "silu": "", "mish": "", "softplus": "", "hardswish": "", "hardsigmoid": "",
        "softsign": "", "tanhshrink": "", "logsigmoid": "",
        "threshold": ", F::ThresholdFuncOptions(0.2, 0.1)"}.items():
    CALL = "%s(%%s%s)" % (("torch::" if NAME in ("hardswish", "hardsigmoid") else "F::")
                          + NAME, ARGUMENTS)
    row(NAME, unary(CALL))

for NAME, OPTIONS in {
        "ReLU": "%s", "ReLU6": "%s", "LeakyReLU": ".inplace(%s)", "ELU": ".inplace(%s)",
        "SELU": ".inplace(%s)", "CELU": ".inplace(%s)", "RReLU": ".inplace(%s)",
        "Hardtanh": ".inplace(%s)"}.items():
    def inplace(d, name=NAME, options=OPTIONS):
        made = ("nn::%sOptions(%s)" % (name, options % d.any("true", "false"))
                if options == "%s" else
                "nn::%sOptions()%s" % (name, options % d.any("true", "false")))
        return "%s(%s)" % (d.module("%s(%s)" % (name, made)),
                           d.operand(d.sizes(), "computed none"))
    row(NAME, inplace)

for NAME in """GELU SiLU Mish Sigmoid Tanh Softplus Softsign Tanhshrink Hardshrink
        Softshrink LogSigmoid""".split():
    row(NAME, lambda d, name=NAME: "%s(%s)" % (d.module(name + "()"), d.operand(d.sizes())))

for NAME, CALL in {
        "clamp": "torch::clamp(%s, 0.2, 0.8)", "clamp_min": "torch::clamp_min(%s, 0.2)",
        "clamp_max": "%s.clamp_max(0.8)", "triu": "torch::triu(%s)", "tril": "%s.tril(1)",
        "nan_to_num": "torch::nan_to_num(%s)"}.items():
    row(NAME, unary(CALL))
row("clamp_", lambda d: "%s.clamp_(0.2, 0.8)" % d.computed(d.sizes()))
row("nan_to_num_", lambda d: "%s.nan_to_num_()" % d.computed(d.sizes()))


@operator
def flip(d):
    sizes = d.sizes()
    return "torch::flip(%s, {%d})" % (d.operand(sizes), d.dim(sizes)[1])


@operator
def roll(d):
    sizes = d.sizes()
    return "torch::roll(%s, {1}, {%d})" % (d.operand(sizes), d.dim(sizes)[0])


for NAME in "cumsum cumprod".split():
    row(NAME, lambda d, name=NAME: (lambda sizes: "torch::%s(%s, %d)" % (
        name, d.operand(sizes), d.dim(sizes)[1]))(d.sizes()))


# With numbers.

for NAME, CALL in {
        "add_number": "%s + 0.5", "number_add": "1 + %s", "sub_number": "%s - 0.5",
        "number_sub": "1 - %s", "mul_number": "%s * 3", "div_number": "%s / 3",
        "number_div": "2 / %s", "pow_number": "%s.pow(3)", "pow_square": "torch::pow(%s, 2)",
        "pow_half": "%s.pow(0.5)", "number_pow": "torch::pow(2, %s)"}.items():
    row(NAME, unary(CALL))
for NAME, CALL in {
        "add_number_": "%s.add_(0.5)", "sub_number_": "%s.sub_(0.5)",
        "mul_number_": "%s.mul_(3)", "div_number_": "%s.div_(3)",
        "pow_number_": "%s.pow_(3)"}.items():
    row(NAME, lambda d, call=CALL: call % d.computed(d.sizes()))


# Of two operands.

def binary(call):
    def draw(d):
        sizes = d.sizes()
        both = [sizes, d.smaller(sizes)]
        d.rng.shuffle(both)
        kinds = "computed leaf none swapped"
        return call % (d.operand(both[0], kinds), d.operand(both[1], kinds))
    return draw


for NAME in "add sub mul div pow maximum minimum atan2 hypot logaddexp xlogy".split():
    row(NAME, binary("torch::%s(%%s, %%s)" % NAME))
    row(NAME + "_two", binary("torch::%s(%%s, %%s)" % NAME))
row("max_two", binary("torch::max(%s, %s)"))
row("min_two", binary("torch::min(%s, %s)"))
row("add_scaled", binary("torch::add(%s, %s, 2)"))
row("sub_scaled", binary("torch::sub(%s, %s, 2)"))


def three(call):
    def draw(d):
        sizes = d.sizes()
        all_sizes = [sizes, d.smaller(sizes), d.smaller(sizes)]
        d.rng.shuffle(all_sizes)
        return call % tuple(d.operand(s, "computed leaf none swapped") for s in all_sizes)
    return draw


for NAME in "lerp addcmul addcdiv".split():
    row(NAME, three("torch::%s(%%s, %%s, %%s)" % NAME))
    row(NAME + "_two", three("torch::%s(%%s, %%s, %%s)" % NAME))
row("lerp_number", binary("torch::lerp(%s, %s, 0.3)"))
row("remainder", unary("torch::remainder(%s, 0.3)"))
row("fmod", unary("torch::fmod(%s, 0.3)"))

for NAME in "add sub mul div".split():
    def binary_in_place(d, name=NAME):
        sizes = d.sizes()
        a = d.operand(sizes, "computed")
        return "%s.%s_(%s)" % (a, name, d.operand(d.smaller(sizes),
                                                  "computed leaf none swapped"))
    row(NAME + "_", binary_in_place)


@operator
def compare(d):
    sizes = d.sizes()
    a, b = d.operand(sizes), d.operand(d.smaller(sizes))
    how = d.any("==", "!=", "<", "<=", ">", ">=")
    return "(%s %s %s).to(torch::kFloat32) * %s" % (a, how, b, a)


@operator
def logical(d):
    sizes = d.sizes()
    a, b = d.mask(sizes), d.mask(sizes)
    how = d.any("%s & %s", "%s | %s", "torch::logical_and(%s, %s)", "%s.logical_or(%s)")
    return "%s.to(torch::kFloat32) * %s" % (d.let(how % (a, b)), d.operand(sizes))


@operator
def where(d):
    sizes = d.sizes()
    return "torch::where(%s, %s, %s)" % (d.mask(sizes), d.operand(sizes),
                                         d.operand(d.smaller(sizes)))


@operator
def where_number(d):
    sizes = d.sizes()
    return "torch::where(%s, %s, 0.5)" % (d.mask(sizes), d.operand(sizes))


@operator
def masked_fill(d):
    sizes = d.sizes()
    return "%s.masked_fill(%s, -1e9)" % (d.operand(sizes), d.mask(d.smaller(sizes)))


def masked_fill_in_place(d):
    sizes = d.sizes()
    return "%s.masked_fill_(%s, 0)" % (d.computed(sizes), d.mask(d.smaller(sizes)))


row("masked_fill_", masked_fill_in_place)


# Reductions, in a table of their own: --budget lists at most 200 models of a file.

REDUCTIONS = Table()
row, operator = REDUCTIONS.row, REDUCTIONS.operator


def reduction(call, options=True):
    def draw(d):
        sizes = d.sizes()
        dims = [d.dim(sizes)[1]]
        if len(sizes) > 2 and options and d.flag():
            dims = sorted(d.rng.sample(range(len(sizes)), 2))
        return call % (d.operand(sizes), vector(dims) if options else dims[0],
                       d.any("true", "false"))
    return draw


for NAME in "sum mean amax amin logsumexp".split():
    row(NAME + "_dim", reduction("torch::%s(%%s, %%s, %%s)" % NAME))
for NAME in "std var".split():
    row(NAME + "_dim", reduction("torch::%s(%%s, %%s, true, %%s)" % NAME))
row("prod_dim", reduction("torch::prod(%s, %d, %s)", False))
for NAME in "sum mean max min prod std var norm median".split():
    row(NAME, unary("torch::%s(%%s)" % NAME))
row("norm_dim", reduction("torch::norm(%s, 2, %s, %s)"))
row("norm_one", reduction("torch::norm(%s, 1, %s, %s)"))
for NAME in "max min mode median".split():
    def with_indices(d, name=NAME):
        sizes = d.sizes()
        d.lines.append("[[maybe_unused]] auto [values, indices] = torch::%s(%s, %d, %s);" %
                       (name, d.operand(sizes), d.dim(sizes)[1], d.any("true", "false")))
        return "values"
    row(NAME + "_dim", with_indices)


@operator
def topk(d):
    sizes = d.sizes()
    at, dim = d.dim(sizes)
    d.lines.append("[[maybe_unused]] auto [values, indices] = torch::topk(%s, %d, %d);"
                   % (d.operand(sizes), d.number(1, sizes[at]), dim))
    return "values"


@operator
def sort(d):
    sizes = d.sizes()
    d.lines.append("[[maybe_unused]] auto [values, indices] = torch::sort(%s, %d);"
                   % (d.operand(sizes), d.dim(sizes)[1]))
    return "values"


for NAME in "cummax cummin".split():
    row(NAME, lambda d, name=NAME: (lambda sizes: "std::get<0>(torch::%s(%s, %d))" % (
        name, d.operand(sizes), d.dim(sizes)[1]))(d.sizes()))
row("kthvalue", lambda d: (lambda sizes: "std::get<0>(torch::kthvalue(%s, 2, %d))" % (
    d.operand(sizes), d.dim(sizes)[1]))(d.sizes()))


@operator
def argmax(d):
    sizes = d.sizes()
    a = d.operand(sizes)
    return "torch::%s(%s, %d)" % (d.any("argmax", "argmin"), a, d.dim(sizes)[1])


for NAME in "softmax log_softmax".split():
    row(NAME, lambda d, name=NAME: (lambda sizes: "torch::%s(%s, %d)" % (
        name, d.operand(sizes), d.dim(sizes)[1]))(d.sizes()))
for NAME in "Softmax LogSoftmax Softmin".split():
    row(NAME, lambda d, name=NAME: (lambda sizes: "%s(%s)" % (
        d.module("%s(%d)" % (name, d.dim(sizes)[1])), d.operand(sizes)))(d.sizes()))


@operator
def glu(d):
    sizes = d.sizes()
    at = d.number(0, len(sizes) - 1)
    sizes[at] += sizes[at] % 2
    return "torch::glu(%s, %d)" % (d.operand(sizes), at)


@operator
def PReLU(d):
    sizes = d.sizes()
    return "%s(%s)" % (d.module("PReLU(nn::PReLUOptions().num_parameters(%d))"
                                % d.any(1, sizes[1])), d.operand(sizes))
