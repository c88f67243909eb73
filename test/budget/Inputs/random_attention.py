"""Calls of scaled_dot_product_attention() for random_steps.py, which LibTorch has since 2.0:
what its kernel takes, and what it does by products of matrices."""

from random_draw import Table, listed

TABLE = Table(since=2)
COUNT = 40


def head_split(d, sizes):
    n, heads, length, width = sizes
    a = d.computed([n, length, heads * width])
    return "%s.view(%s).transpose(1, 2)" % (a, listed([n, length, heads, width]))


def projected(d, sizes):
    n, heads, length, width = sizes
    inner = d.number(8, 20)
    a = "%s(%s)" % (d.module("Linear(%d, %d)" % (inner, heads * width)),
                    d.operand([n, length, inner], "computed none"))
    return "%s.view({%d, %d, %d, -1}).transpose(1, 2)" % (a, n, length, heads)


def operand(d, sizes):
    if len(sizes) != 4 or d.flag():
        return d.let(d.operand(sizes, "computed computed leaf none swapped"))
    return d.let(d.any(head_split, projected)(d, sizes))


def packed(d, n, heads, length, width):
    """Queries, keys and values of one product."""
    inner = d.number(8, 20)
    made = d.module("Linear(%d, %d)" % (inner, 3 * heads * width))
    a = d.let("%s(%s)" % (made, d.computed([n, length, inner])))
    if d.flag():
        a = d.let("%s.view(%s).permute({2, 0, 3, 1, 4})" % (
            a, listed([n, length, 3, heads, width])))
        return ["%s[%d]" % (a, i) for i in range(3)]
    return ["%s.chunk(3, -1)[%d].view(%s).transpose(1, 2)" % (
        a, i, listed([n, length, heads, width])) for i in range(3)]


def mask(d, q, length):
    """One for queries of sizes q and so many keys."""
    sizes = [d.any(1, q[-2]), d.any(length, length, 1)]
    if len(q) == 4 and d.flag():
        sizes = [d.any(1, q[0]), d.any(1, q[1])] + sizes
    kind = d.any("numbers", "numbers", "booleans", "booleans", "learned", "part", "swapped")
    if kind == "learned":
        return d.parameter(sizes)
    if kind == "swapped":
        return "%s.transpose(-2, -1)" % d.buffer(sizes[:-2] + sizes[:-3:-1])
    if kind == "part":
        return "%s.slice(-1, 0, %d)" % (d.buffer(sizes[:-1] + [sizes[-1] + 3]), sizes[-1])
    return d.mask(sizes) if kind == "booleans" else d.buffer(sizes)


def attention(d):
    n, heads, width = d.number(1, 4), d.number(1, 4), d.any(4, 8, 12)
    length, others = d.number(4, 60), d.number(4, 60)
    if d.number(0, 9) == 0:
        n, length, others = 1, d.any(200, 800), d.any(40, 600)
    shape = d.any(4, 4, 4, 4, 3, 2)
    given = [n, heads][4 - shape:] if shape > 2 else []
    q, k = given + [length, width], given + [others, width]
    options = {}
    form = d.any("operands", "operands", "operands", "packed", "same", "shared", "wide")
    if form == "packed" and shape == 4:
        calls = packed(d, n, heads, length, width)
        k = q
    elif form == "same":
        calls = [operand(d, q)] * 3
        k = q
    elif form == "shared" and shape == 4:
        groups = d.number(2, 3)
        q = [n, groups * heads, length, width]
        calls = [operand(d, q), operand(d, k), operand(d, k)]
        options["gqa"] = True
    else:
        v = given + [others, width + 2] if form == "wide" else k
        calls = [operand(d, q), operand(d, k), operand(d, v)]
    how = d.any("", "", "causal", "mask", "mask", "dropout")
    given_mask = mask(d, q, k[-2]) if how == "mask" else "{}"
    p = "0.5" if how == "dropout" or d.number(0, 5) == 0 else "0.0"
    call = "torch::scaled_dot_product_attention(%s, %s, %s, %s, %s, %s, %s%s)" % (
        calls[0], calls[1], calls[2], given_mask, p, "true" if how == "causal" else "false",
        d.any("{}", "0.5"), ", true" if options else "")
    out = d.let(call)
    if shape == 4 and form != "wide" and d.flag():
        return "%s(%s.transpose(1, 2).reshape({%d, %d, -1}))" % (
            d.module("Linear(%d, 12)" % (q[1] * width)), out, n, length)
    return out


for NUMBER in range(COUNT):
    TABLE.row("attention%d" % NUMBER, attention)
