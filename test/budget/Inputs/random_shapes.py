"""Views, picking, joining, and products of matrices, for random_steps.py.

Left out: masked_scatter, whose memory depends on values, writing into a view, as
x[0].copy_(y), and pad in circular mode, which does that."""

from random_draw import Table, unary, listed

TABLE = Table()
row, operator = TABLE.row, TABLE.operator


# Shapes.

def shape(call):
    """call of a tensor, its sizes and a dimension of it."""
    def draw(d):
        sizes = d.sizes()
        at, dim = d.dim(sizes)
        return call(d, d.operand(sizes), sizes, at, dim)
    return draw


def permuted(d, sizes):
    order = list(range(len(sizes)))
    d.rng.shuffle(order)
    return order


row("permute", shape(lambda d, a, sizes, at, dim:
                     "%s.permute(%s)" % (a, listed(permuted(d, sizes)))))
row("transpose", shape(lambda d, a, sizes, at, dim: "%s.transpose(%d, 0)" % (a, dim)))
row("t", lambda d: "%s.t()" % d.operand(d.sizes(2)))
row("contiguous", lambda d: (lambda sizes: "%s.permute(%s).contiguous()" % (
    d.operand(sizes), listed(permuted(d, sizes))))(d.sizes(3)))
# A large matrix that is transposed goes through a buffer. narrow() and clone() let the
# gradient of the leaf lie in order.
row("contiguous_matrix", lambda d: (lambda a, b: (
    "%s.narrow(0, 1, %d).clone().t().contiguous()" % (d.parameter([a + 1, b]), a)))(
        d.number(40, 90), d.number(40, 90)))
row("reshape", shape(lambda d, a, sizes, at, dim: "%s.reshape({-1})" % a))
row("reshape_rows", shape(lambda d, a, sizes, at, dim: "%s.reshape({%d, -1})" % (a, sizes[0])))
row("view", lambda d: "%s.view({-1})" % d.ordered(d.sizes()))
row("flatten", shape(lambda d, a, sizes, at, dim: "torch::flatten(%s, %d)" % (a, at)))
row("Flatten", shape(lambda d, a, sizes, at, dim: "%s(%s)" % (d.module("Flatten()"), a)))
row("unsqueeze", shape(lambda d, a, sizes, at, dim: "%s.unsqueeze(%d)" % (a, dim)))
row("squeeze", shape(lambda d, a, sizes, at, dim:
                     "%s.unsqueeze(%d).squeeze(%d)" % (a, at, at)))
row("expand", shape(lambda d, a, sizes, at, dim: "%s.unsqueeze(0).expand(%s)" % (
    a, listed([3] + [-1] * len(sizes)))))
row("expand_as", lambda d: (lambda sizes: "%s.expand_as(%s)" % (
    d.operand([1] + sizes[1:]), d.operand(sizes)))(d.sizes()))
row("repeat", shape(lambda d, a, sizes, at, dim: "%s.repeat(%s)" % (
    a, listed([d.number(1, 3) for _ in sizes]))))
row("tile", shape(lambda d, a, sizes, at, dim: "torch::tile(%s, {2})" % a))
row("repeat_interleave", shape(lambda d, a, sizes, at, dim:
                               "torch::repeat_interleave(%s, 2, %d)" % (a, at)))
row("select", shape(lambda d, a, sizes, at, dim: "%s.select(%d, 1)" % (a, dim)))
row("narrow", shape(lambda d, a, sizes, at, dim: "%s.narrow(%d, 1, %d)" % (
    a, dim, sizes[at] - 1)))
row("slice", shape(lambda d, a, sizes, at, dim: "%s.slice(%d, %d, %d, %d)" % (
    a, dim, d.number(0, 1), sizes[at], d.number(1, 2))))
row("index_slice", shape(lambda d, a, sizes, at, dim:
                         "%s.index({Slice(), Slice(1, None)})" % a))
row("index_number", shape(lambda d, a, sizes, at, dim: "%s.index({Ellipsis, 1})" % a))
row("index_none", shape(lambda d, a, sizes, at, dim: "%s.index({None, Slice(0, 2)})" % a))
row("index_bracket", shape(lambda d, a, sizes, at, dim: "%s[1]" % a))
row("index_tensor", shape(lambda d, a, sizes, at, dim: "%s.index({%s})" % (
    a, d.numbers([d.number(2, 40)]))))
row("index_tensor_second", shape(lambda d, a, sizes, at, dim:
                                 "%s.index({Slice(), %s})" % (
                                     a, d.numbers([d.number(2, 40)]))))
row("index_select", shape(lambda d, a, sizes, at, dim: "torch::index_select(%s, %d, %s)" % (
    a, dim, d.numbers([d.number(2, 40)]))))
row("gather", shape(lambda d, a, sizes, at, dim: "torch::gather(%s, %d, %s)" % (
    a, dim, d.numbers(sizes))))
row("take", shape(lambda d, a, sizes, at, dim: "torch::take(%s, %s)" % (
    a, d.numbers([d.number(500, 3000)]))))
row("scatter", shape(lambda d, a, sizes, at, dim: "%s.scatter(%d, %s, %s)" % (
    a, dim, d.numbers(sizes), d.operand(sizes))))
row("scatter_add", shape(lambda d, a, sizes, at, dim: "%s.scatter_add(%d, %s, %s)" % (
    a, dim, d.numbers(sizes), d.operand(sizes))))


def scatter_add_in_place(d):
    sizes = d.sizes()
    at, dim = d.dim(sizes)
    return "torch::zeros(%s).scatter_add_(%d, %s, %s)" % (
        listed(sizes), dim, d.numbers(sizes), d.operand(sizes))


row("scatter_add_", scatter_add_in_place)


def index_rows(name, in_place):
    def draw(d):
        sizes = d.sizes()
        picked = d.number(2, sizes[0])
        a = d.computed(sizes) if in_place else d.operand(sizes)
        return "%s.%s(0, %s, %s)" % (a, name, d.numbers([picked]),
                                     d.operand([picked] + sizes[1:]))
    return draw


for NAME in "index_add index_copy".split():
    row(NAME, index_rows(NAME, False))
    row(NAME + "_", index_rows(NAME + "_", True))


@operator
def index_fill(d):
    sizes = d.sizes()
    return "%s.index_fill(0, %s, 0.5)" % (d.operand(sizes), d.numbers([3]))


def several(call):
    def draw(d):
        sizes = d.sizes()
        at, dim = d.dim(sizes)
        a = d.operand(sizes)
        d.lines.append("const Tensors parts = %s;" % call(d, a, sizes, at, dim))
        d.results = "{parts.front(), parts.back()}" if d.flag() else "parts"
        return None
    return draw


row("chunk", several(lambda d, a, sizes, at, dim:
                     "%s.chunk(%d, %d)" % (a, d.number(2, 3), dim)))
row("split", several(lambda d, a, sizes, at, dim:
                     "torch::split(%s, %d, %d)" % (a, max(1, sizes[at] // 2), dim)))
row("split_sizes", several(lambda d, a, sizes, at, dim:
                           "%s.split_with_sizes({1, %d}, %d)" % (a, sizes[at] - 1, dim)))
row("unbind", several(lambda d, a, sizes, at, dim: "torch::unbind(%s, %d)" % (a, dim)))


@operator
def cat(d):
    sizes = d.sizes(most=5000)
    at, dim = d.dim(sizes)
    parts = []
    for _ in range(d.number(2, 3)):
        own = list(sizes)
        own[at] = d.number(1, sizes[at])
        parts.append(d.operand(own))
    return "torch::cat({%s}, %d)" % (", ".join(parts), dim)


@operator
def stack(d):
    sizes = d.sizes(most=5000)
    parts = [d.operand(sizes) for _ in range(d.number(2, 3))]
    return "torch::stack({%s}, %d)" % (", ".join(parts), d.dim(sizes)[1])


row("hstack", lambda d: (lambda sizes: "torch::hstack({%s, %s})" % (
    d.operand(sizes), d.operand(sizes)))(d.sizes()))
row("vstack", lambda d: (lambda sizes: "torch::vstack({%s, %s})" % (
    d.operand(sizes), d.operand(sizes)))(d.sizes()))
row("clone", unary("%s.clone()"))
row("detach", unary("%s.detach() * 2"))
row("to_double", unary("%s.to(torch::kFloat64)"))
row("one_hot", lambda d: "torch::one_hot(%s, 20).to(torch::kFloat32) * %s" % (
    d.numbers([150]), d.operand([150, 20])))
row("zeros_like", unary("torch::zeros_like(%s)"))
row("pixel_shuffle", lambda d: (lambda by: "torch::pixel_shuffle(%s, %d)" % (
    d.operand([2, by * by * d.number(1, 3), d.number(8, 16), d.number(8, 16)]), by))(
        d.number(2, 3)))
row("pixel_unshuffle", lambda d: (lambda by: "torch::pixel_unshuffle(%s, %d)" % (
    d.operand([2, 3, by * d.number(8, 12), by * d.number(8, 12)]), by))(d.number(2, 3)))


# Products of matrices.

@operator
def linear(d):
    sizes = d.sizes(d.number(2, 4), 6000)
    a = d.operand(sizes)
    features = d.number(20, 90)
    weight = d.parameter([features, sizes[-1]])
    bias = ", %s" % d.parameter([features]) if d.flag() else ""
    return "F::linear(%s, %s%s)" % (a, weight, bias)


@operator
def Linear(d):
    sizes = d.sizes(d.number(2, 4), 6000)
    return "%s(%s)" % (d.module("Linear(nn::LinearOptions(%d, %d).bias(%s))" % (
        sizes[-1], d.number(20, 90), d.any("true", "false"))), d.operand(sizes))


def product(name, left, right):
    def draw(d):
        inner = d.number(30, 60)
        size = {"n": d.number(3, 8), "m": d.number(3, 8), "r": d.number(30, 60),
                "c": d.number(30, 60), "k": inner, "1": 1}
        kinds = "computed leaf none swapped"
        return "torch::%s(%s, %s)" % (
            name, d.operand([size[s] for s in left], kinds),
            d.operand([size[s] for s in right], kinds))
    return draw


row("mm", product("mm", "rk", "kc"))
row("bmm", product("bmm", "nrk", "nkc"))
row("mv", product("mv", "rk", "k"))
row("matmul", product("matmul", "rk", "kc"))
row("matmul_vector", product("matmul", "nrk", "k"))
row("matmul_folded", product("matmul", "nrk", "kc"))
row("matmul_left", product("matmul", "rk", "nkc"))
row("matmul_batches", product("matmul", "nrk", "nkc"))
row("matmul_heads", product("matmul", "nmrk", "nmkc"))
row("matmul_broadcast", product("matmul", "nmrk", "mkc"))
row("matmul_one", product("matmul", "n1rk", "mkc"))
row("dot", lambda d: (lambda n: "torch::dot(%s, %s)" % (d.operand([n]), d.operand([n])))(
    d.number(2000, 5000)))
row("outer", lambda d: "torch::outer(%s, %s)" % (d.operand([d.number(30, 90)]),
                                                 d.operand([d.number(30, 90)])))


@operator
def addmm(d):
    r, k, c = d.number(20, 60), d.number(20, 60), d.number(20, 60)
    return "torch::addmm(%s, %s, %s)" % (d.operand(d.any([c], [r, c])),
                                         d.operand([r, k]), d.operand([k, c]))


@operator
def baddbmm(d):
    n, r, k, c = d.number(3, 6), d.number(10, 40), d.number(10, 40), d.number(10, 40)
    return "torch::baddbmm(%s, %s, %s)" % (d.operand([n, r, c]), d.operand([n, r, k]),
                                           d.operand([n, k, c]))


def einsum_of(equation, left, right):
    def draw(d):
        size = {c: d.number(10, 20) for c in "bhijkd"}
        return 'torch::einsum("%s", {%s, %s})' % (
            equation, d.operand([size[s] for s in left]),
            d.operand([size[s] for s in right]))
    return draw


row("einsum", einsum_of("ij,jk->ik", "ij", "jk"))
row("einsum_batch", einsum_of("bij,bjk->bik", "bij", "bjk"))
row("einsum_attention", einsum_of("bhid,bhjd->bhij", "bhid", "bhjd"))
row("einsum_weight", einsum_of("bij,jk->bik", "bij", "jk"))
row("einsum_transposed", einsum_of("ij,kj->ki", "ij", "kj"))
row("einsum_heads", einsum_of("bihd,bjhd->bhij", "bihd", "bjhd"))
row("einsum_values", einsum_of("bhij,bjhd->bihd", "bhij", "bjhd"))
row("einsum_graph", einsum_of("bhij,hjk->bik", "bhij", "hjk"))
row("einsum_rows", einsum_of("ij,ij->i", "ij", "ij"))
row("einsum_dropped", einsum_of("bij,jk->bk", "bij", "jk"))
