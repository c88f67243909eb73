"""Views and joins between operators that compute, for random_steps.py: what comes back in
backward() is a part of a gradient, or one in another order."""

from random_draw import Table, listed

TABLE = Table()
COUNT = 52


# What runs before: a tensor of these sizes.

def linear(d, sizes):
    inner = d.number(20, 40)
    made = "Linear(nn::LinearOptions(%d, %d).bias(%s))" % (inner, sizes[-1], d.any("true", "false"))
    return "%s(%s)" % (d.module(made), d.computed(sizes[:-1] + [inner]))


def matmul(d, sizes):
    inner = d.number(20, 40)
    return "torch::matmul(%s, %s)" % (d.computed(sizes[:-1] + [inner]),
                                      d.parameter([inner, sizes[-1]]))


def addmm(d, sizes):
    if len(sizes) != 2:
        return matmul(d, sizes)
    inner = d.number(20, 40)
    return "torch::addmm(%s, %s, %s)" % (d.parameter([sizes[1]]), d.computed([sizes[0], inner]),
                                         d.parameter([inner, sizes[1]]))


def bmm(d, sizes):
    if len(sizes) != 3:
        return matmul(d, sizes)
    inner = d.number(10, 20)
    return "torch::bmm(%s, %s)" % (d.computed([sizes[0], sizes[1], inner]),
                                   d.computed([sizes[0], inner, sizes[2]]))


def conv(d, sizes):
    if len(sizes) < 3 or len(sizes) > 4:
        return linear(d, sizes)
    channels, kernel = d.number(2, 6), d.any(1, 3)
    made = "Conv%dd(nn::Conv%ddOptions(%d, %d, %d).padding(%d))" % (
        len(sizes) - 2, len(sizes) - 2, channels, sizes[1], kernel, kernel // 2)
    return "%s(%s)" % (d.module(made), d.computed([sizes[0], channels] + sizes[2:]))


def mul(d, sizes):
    return "%s * %s" % (d.computed(sizes), d.computed(sizes))


def mul_broadcast(d, sizes):
    return "%s * %s" % (d.computed(sizes), d.parameter(d.smaller(sizes)))


def add(d, sizes):
    return "%s + %s" % (d.computed(sizes), d.computed(sizes))


def of_each(name):
    return lambda d, sizes: "torch::%s(%s)" % (name, d.computed(sizes))


def softmax(d, sizes):
    return "torch::softmax(%s, %d)" % (d.computed(sizes), d.dim(sizes)[1])


def layer_norm(d, sizes):
    return "%s(%s)" % (d.module("LayerNorm(nn::LayerNormOptions({%d}))" % sizes[-1]),
                       d.computed(sizes))


BEFORE = [linear, linear, addmm, matmul, bmm, conv, conv, mul, mul_broadcast, add,
          of_each("relu"), of_each("tanh"), softmax, layer_norm,
          lambda d, sizes: d.computed(sizes), lambda d, sizes: d.parameter(sizes)]


def before(d, sizes):
    return d.let(d.any(*BEFORE)(d, sizes))


# Between: an expression, and its sizes.

def cat(d, sizes):
    at, dim = d.dim(sizes)
    parts = [list(sizes) for _ in range(d.number(2, 3))]
    for part in parts[1:]:
        part[at] = d.number(1, sizes[at])
    whole = list(sizes)
    whole[at] = sum(part[at] for part in parts)
    return "torch::cat({%s}, %d)" % (", ".join(before(d, part) for part in parts), dim), whole


def stack(d, sizes):
    count, at = d.number(2, 3), d.number(0, len(sizes))
    return ("torch::stack({%s}, %d)" % (", ".join(before(d, sizes) for _ in range(count)), at),
            sizes[:at] + [count] + sizes[at:])


def with_dim(call):
    def draw(d, sizes):
        at, dim = d.dim(sizes)
        expression, size = call(d, before(d, sizes), sizes[at], dim)
        whole = sizes[:at] + ([] if size is None else [size]) + sizes[at + 1:]
        return expression, whole
    return draw


def chunk(d, a, size, dim):
    count = d.number(2, 3)
    each = -(-size // count)
    return "%s.chunk(%d, %d)[0]" % (a, count, dim), each


def halves(d, a, size, dim):
    half = size // 2
    d.lines.append("const auto parts%d = torch::split_with_sizes(%s, {%d, %d}, %d);" % (
        len(d.lines), a, half, half, dim) if size == 2 * half else
        "const auto parts%d = torch::split_with_sizes(%s, {%d, %d, 1}, %d);" % (
            len(d.lines), a, half, half, dim))
    at = len(d.lines) - 1
    return "parts%d[0] %s parts%d[1]" % (at, d.any("+", "*"), at), half


def narrow(d, a, size, dim):
    length = d.number(1, size)
    return "%s.narrow(%d, %d, %d)" % (a, dim, d.number(0, size - length), length), length


def index_slice(d, a, size, dim):
    return "%s.slice(%d, 1, %d)" % (a, dim, size), size - 1


BETWEEN = [
    cat, cat, cat, stack, stack,
    with_dim(chunk), with_dim(halves), with_dim(narrow), with_dim(index_slice),
    with_dim(lambda d, a, size, dim: ("%s.select(%d, %d)" % (a, dim, size // 2), None)),
    with_dim(lambda d, a, size, dim: ("torch::unbind(%s, %d)[0]" % (a, dim), None)),
    with_dim(lambda d, a, size, dim: ("torch::index_select(%s, %d, %s)" % (
        a, dim, d.numbers([size + 3])), size + 3)),
]


def each(function):
    BETWEEN.append(function)
    return function


@each
def expand(d, sizes):
    at, size = d.number(0, len(sizes)), d.number(2, 3)
    return ("%s.unsqueeze(%d).expand(%s)" % (
        before(d, sizes), at, listed([-1] * at + [size] + [-1] * (len(sizes) - at))),
            sizes[:at] + [size] + sizes[at:])


@each
def expand_one(d, sizes):
    at, _ = d.dim(sizes)
    own = sizes[:at] + [1] + sizes[at + 1:]
    return "%s.expand(%s)" % (before(d, own), listed(sizes)), list(sizes)


@each
def index(d, sizes):
    a = before(d, sizes)
    if d.flag():
        return "%s.index({Ellipsis, %d})" % (a, sizes[-1] // 2), sizes[:-1]
    return "%s.index({Slice(1, None)})" % a, [sizes[0] - 1] + sizes[1:]


@each
def transpose(d, sizes):
    a, b = d.number(0, len(sizes) - 1), d.number(0, len(sizes) - 1)
    whole = list(sizes)
    whole[a], whole[b] = whole[b], whole[a]
    return "%s.transpose(%d, %d)" % (before(d, sizes), a, b), whole


@each
def permute(d, sizes):
    order = list(range(len(sizes)))
    d.rng.shuffle(order)
    return "%s.permute(%s)" % (before(d, sizes), listed(order)), [sizes[at] for at in order]


@each
def flatten(d, sizes):
    if len(sizes) < 3:
        return "%s.reshape({-1, 1, %d})" % (before(d, sizes), sizes[1]), [sizes[0], 1, sizes[1]]
    return "%s.flatten(1)" % before(d, sizes), [sizes[0], product(sizes[1:])]


def product(sizes):
    result = 1
    for size in sizes:
        result *= size
    return result


@each
def repeat(d, sizes):
    times = [d.number(1, 2) for _ in sizes]
    return ("%s.repeat(%s)" % (before(d, sizes), listed(times)),
            [size * by for size, by in zip(sizes, times)])


# After: an expression for the result.

AFTER = [
    lambda d, a, sizes: "%s(%s)" % (d.module("Linear(%d, %d)" % (
        sizes[-1], d.number(10, 40))), a),
    lambda d, a, sizes: "torch::matmul(%s, %s)" % (a, d.parameter([sizes[-1], d.number(10, 40)])),
    lambda d, a, sizes: "%s * %s" % (a, d.parameter(sizes)),
    lambda d, a, sizes: "%s * %s" % (a, a),
    lambda d, a, sizes: "%s.sum(%d)" % (a, d.dim(sizes)[1]),
    lambda d, a, sizes: "%s.mean(%d)" % (a, d.dim(sizes)[1]),
    lambda d, a, sizes: "%s.reshape({%d, -1})" % (a, sizes[0]),
    lambda d, a, sizes: "%s.reshape({-1})" % a,
    lambda d, a, sizes: "torch::relu(%s)" % a,
    lambda d, a, sizes: "torch::softmax(%s, %d)" % (a, d.dim(sizes)[1]),
    lambda d, a, sizes: "%s.contiguous()" % a,
    lambda d, a, sizes: a,
]


def convolved(d, a, sizes):
    if len(sizes) not in (3, 4):
        return AFTER[0](d, a, sizes)
    return "%s(%s)" % (d.module("Conv%dd(%d, %d, 1)" % (
        len(sizes) - 2, sizes[1], d.number(2, 8))), a)


AFTER += [convolved, convolved, convolved]


def chain(d):
    sizes = d.sizes(d.number(2, 4), 4000)
    expression, whole = d.any(*BETWEEN)(d, sizes)
    a = d.let(expression)
    if len(whole) < 2:
        return "%s * 2" % a
    if d.number(0, 2) == 0 and product(whole) < 9000:
        # Two between.
        at, dim = d.dim(whole)
        other = list(whole)
        a = d.let("torch::cat({%s, %s}, %d)" % (a, before(d, other), dim))
        whole = whole[:at] + [2 * whole[at]] + whole[at + 1:]
    return d.any(*AFTER)(d, a, whole)


for NUMBER in range(COUNT):
    TABLE.row("chain%d" % NUMBER, chain)


def branches(d):
    """A tensor that several results are made of: their gradients are added up."""
    sizes = d.sizes(d.number(2, 4), 4000)
    a = d.operand(sizes)
    if d.flag():
        a = d.let("%s * %s" % (a, d.any(a, "2")))
    results = [d.any(*BRANCHES)(d, a, sizes) for _ in range(d.number(2, 4))]
    if d.flag():
        return " + ".join("(%s).sum()" % result for result in results)
    d.results = listed(results)


BRANCHES = [
    lambda d, a, sizes: "%s.%s()" % (a, d.any("exp", "sigmoid", "tanh")),
    lambda d, a, sizes: "%s * %s" % (a, d.any(a, d.parameter(sizes))),
    lambda d, a, sizes: "%s.transpose(0, 1).exp()" % a,
    lambda d, a, sizes: "%s.narrow(0, 0, %d).sigmoid()" % (a, d.number(1, sizes[0])),
    lambda d, a, sizes: "%s.sum(%d)" % (a, d.dim(sizes)[1]),
    lambda d, a, sizes: "%s.reshape({-1}).exp()" % a,
    lambda d, a, sizes: "torch::cat({%s, %s}, %d) * 2" % (a, before(d, sizes), d.dim(sizes)[1]),
    lambda d, a, sizes: "torch::stack({%s, %s}, 0).exp()" % (a, a),
    lambda d, a, sizes: a,
]
for NUMBER in range(12):
    TABLE.row("branches%d" % NUMBER, branches)


# A weight, and how it is used.
SHARED = [
    lambda d, inner, outer: (d.module("Linear(%d, %d)" % (inner, outer)), "{w}({x})"),
    lambda d, inner, outer: (d.parameter([inner, outer]), "torch::matmul({x}, {w})"),
    lambda d, inner, outer: (d.parameter([outer, inner]), "torch::matmul({x}, {w}.t())"),
    lambda d, inner, outer: (d.parameter([inner]), "{x} * {w}"),
    lambda d, inner, outer: (d.parameter([inner]), "{x} + {w}"),
    lambda d, inner, outer: (d.parameter([1, inner]), "{x} * {w}"),
    lambda d, inner, outer: (d.parameter([inner]), "torch::matmul({x}, {w})"),
]


def shared(d):
    """Weights that run several times: gradients that are views have a base."""
    inner = d.number(40, 80)
    weight, use = d.any(*SHARED)(d, inner, d.number(40, 80))
    results = [d.let(use.format(w=weight, x=d.computed(
        [d.number(5, 20) for _ in range(d.number(1, 2))] + [inner])))
               for _ in range(d.number(2, 4))]
    if d.flag():
        return " + ".join("(%s).sum()" % result for result in results)
    d.results = listed(results)


for NUMBER in range(8):
    TABLE.row("shared%d" % NUMBER, shared)
