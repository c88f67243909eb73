"""Draws operands, sizes and options of the modules that random_steps.py writes."""


def listed(numbers):
    return "{%s}" % ", ".join(str(n) for n in numbers)


def vector(numbers):
    return "std::vector<int64_t>" + listed(numbers)


class Draw:
    """One module: what its constructor makes, and the lines of its forward()."""

    def __init__(self, rng):
        self.rng = rng
        self.members, self.made, self.lines = [], [], []
        self.results = None

    def any(self, *of):
        return self.rng.choice(of)

    def flag(self):
        return self.rng.random() < 0.5

    def number(self, least, most):
        return self.rng.randint(least, most)

    def sizes(self, count=None, most=9000):
        """Sizes of so many dimensions, with a few thousand elements."""
        count = count or self.number(2, 4)
        while True:
            all_sizes = [self.number(2, {1: 9000, 2: 150, 3: 30}.get(count, 16))
                         for _ in range(count)]
            product = 1
            for size in all_sizes:
                product *= size
            if 2000 <= product <= most:
                return all_sizes

    def name(self, prefix):
        return "%s%d" % (prefix, len(self.members))

    def member(self, made, prefix="b", register="buffer"):
        name = self.name(prefix)
        self.members.append("Tensor %s;" % name)
        self.made.append('%s = register_%s("%s", %s);' % (name, register, name, made))
        return name

    def parameter(self, sizes):
        return self.member("torch::rand(%s)" % listed(sizes), "w", "parameter")

    def buffer(self, sizes):
        return self.member("torch::rand(%s)" % listed(sizes))

    def numbers(self, sizes):
        return self.member("torch::zeros(%s, torch::kLong)" % listed(sizes))

    def mask(self, sizes):
        name = self.buffer(sizes)
        return self.let("%s > 0.5" % name, "m")

    def let(self, value, prefix="v"):
        name = "%s%d" % (prefix, len(self.lines))
        self.lines.append("Tensor %s = %s;" % (name, value))
        return name

    def operand(self, sizes, kinds="computed computed leaf none swapped"):
        """An expression for a tensor of these sizes."""
        kind = self.any(*kinds.split())
        if kind == "leaf":
            return self.parameter(sizes)
        if kind == "none":
            return self.let("%s * 2" % self.buffer(sizes))
        # To copy a matrix that is transposed, the library takes another 14,400 bytes for
        # a moment, which is not modelled: more than two dimensions.
        if kind == "swapped" and len(sizes) > 2:
            # narrow() lets the gradient of the leaf lie in order, however that of the
            # operand does: the order of gradients is not modelled.
            a, b = sorted(self.rng.sample(range(len(sizes)), 2))
            swapped = list(sizes)
            swapped[a], swapped[b] = swapped[b], swapped[a]
            whole = [swapped[0] + 1] + swapped[1:]
            return self.let("%s.narrow(0, 1, %d).transpose(%d, %d)"
                            % (self.parameter(whole), swapped[0], a, b))
        return self.let("%s * 2" % self.parameter(sizes))

    def computed(self, sizes):
        return self.operand(sizes, "computed")

    def ordered(self, sizes):
        return self.operand(sizes, "computed leaf none")

    def dim(self, sizes):
        """A dimension, counted from the start or the end."""
        d = self.number(0, len(sizes) - 1)
        return d, d - len(sizes) if self.flag() else d

    def module(self, made):
        name = self.name("layer")
        kind = made.partition("(")[0]
        self.members.append("nn::%s %s{nullptr};" % (kind, name))
        self.made.append('%s = register_module("%s", nn::%s);' % (name, name, made))
        return name

    def smaller(self, sizes):
        """Sizes that are broadcast to sizes, or the same."""
        how = self.number(0, 3)
        if how == 0:
            return list(sizes)
        if how == 1:
            return list(sizes[self.number(1, len(sizes) - 1):])
        smaller = list(sizes)
        for _ in range(how - 1):
            smaller[self.number(0, len(sizes) - 1)] = 1
        return smaller


class Table:
    """Operators by their names: functions that are given a Draw, add lines to it, and
    return the expression that forward() returns, or set the results. LibTorch has them since
    the major version `since`."""

    def __init__(self, since=1):
        self.operators = {}
        self.since = since

    def row(self, name, function):
        assert name not in self.operators, name
        self.operators[name] = function

    def operator(self, function):
        self.row(function.__name__, function)
        return function


def unary(call):
    def draw(d):
        a = d.operand(d.sizes())
        return call % a
    return draw
