"""Operators whose operands are of two types: those are converted first, and gradients are of the
type of the result until they are converted back."""

from random_draw import Table

TABLE = Table()
row = TABLE.row

FLOATING = "kFloat32 kBFloat16 kFloat64".split()
OTHERS = "kInt kLong kByte".split()


def typed(d, sizes, kinds):
    """An operand of one of the types, and whether it is of a floating one."""
    kind = d.any(*kinds)
    if kind in OTHERS:
        return d.let("(%s * 2).to(torch::%s)" % (d.buffer(sizes), kind))
    return d.let("%s.to(torch::%s)" % (d.operand(sizes, "computed leaf none"), kind))


def two(d, kinds=FLOATING + OTHERS, others=FLOATING):
    """Two operands; the second may be broadcast."""
    sizes = d.sizes()
    a, b = typed(d, sizes, kinds), typed(d, d.smaller(sizes), others)
    return (a, b) if d.flag() else (b, a)


for INDEX in range(3):
    for NAME in "add sub mul div maximum minimum".split():
        row("%s%d" % (NAME, INDEX), lambda d, name=NAME: "torch::%s(%s, %s)" % (name, *two(d)))
    row("where%d" % INDEX, lambda d: (lambda a, b: "torch::where(%s > 0.5, %s, %s)" % (a, a, b))(
        *two(d)))
    row("compare%d" % INDEX, lambda d: (lambda a, b: "(%s %s %s) * %s" % (
        a, d.any("==", "<", ">="), b, b))(*two(d)))

    @TABLE.operator
    def in_place(d):
        sizes = d.sizes()
        a, b = typed(d, sizes, FLOATING), typed(d, d.smaller(sizes), FLOATING + OTHERS)
        return "(%s * 2).%s_(%s)" % (a, d.any("mul", "add", "sub", "div"), b)
    TABLE.operators["in_place%d" % INDEX] = TABLE.operators.pop("in_place")

    def joined(d):
        sizes = d.sizes()
        return "torch::%s({%s, %s})" % (d.any("cat", "stack"), typed(d, sizes, FLOATING),
                                        typed(d, sizes, FLOATING + OTHERS))
    row("joined%d" % INDEX, joined)
    row("addcmul%d" % INDEX, lambda d: (lambda sizes: "torch::addcmul(%s, %s, %s)" % (
        typed(d, sizes, FLOATING), typed(d, sizes, FLOATING), typed(d, d.smaller(sizes), FLOATING)
    ))(d.sizes()))
    row("number%d" % INDEX, lambda d: "%s %s" % (typed(d, d.sizes(), FLOATING + OTHERS), d.any(
        "* 2.5", "+ 2", "/ 3", "> 0.5", "- 1.5")))
