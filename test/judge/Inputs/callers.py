#
# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The question `callers`: a forward pass stands behind a helper, an interface, a template,
a generic lambda, a function pointer or a std::function, and guards are in callers. Does it
run with gradient mode on for some caller that only reads the result?"""

from judge import COUNTING_NET, Drawn

CHECKS = ("libtorch-inference-without-no-grad", "libtorch-ineffective-grad-guard")

INCLUDES = """#include <torch/torch.h>
#include <functional>
#include <memory>
#include <vector>
"""
HEAD_STATIC = INCLUDES + """
using Net = torch::nn::Linear;
"""
HEAD_RUN = INCLUDES + """
static int On, Off, Back;
""" + COUNTING_NET + """static void back(const torch::Tensor &t) { Back += t.requires_grad(); }
"""
BACKWARD, RUN_BACKWARD = "t.sum().backward();", "back(t);"
MARK = " // PASS"


def lines(*texts):
    return "\n".join(text for text in texts if text)


class Grammar:
    def __init__(self, rng):
        self.rng, self.names, self.before = rng, 0, []

    def name(self, wish):
        self.names += 1
        return "%s%d" % (wish, self.names)

    def chance(self, share):
        return self.rng.random() < share

    def linkage(self):
        return "static " if self.chance(.5) else ""

    def guard(self, share):
        return self.rng.choice([
            "torch::NoGradGuard g;", "c10::InferenceMode g;", "torch::AutoGradMode g(false);",
            "auto g = std::make_unique<torch::NoGradGuard>();"]) if self.chance(share) else ""

    def body(self, value, mark=True):
        """The lines of a function that returns what `value` makes."""
        mark = MARK if mark else ""
        forms = ["return %s;%s" % (value, mark),
                 "torch::Tensor y = %s;%s\nreturn y;" % (value, mark),
                 "return torch::relu(%s);%s" % (value, mark)]
        return lines(self.guard(.12), self.rng.choice(forms))

    def function(self):
        name = self.name("run")
        self.before.append("%storch::Tensor %s(torch::Tensor x) {\n%s\n}"
                           % (self.linkage(), name, self.body("net(x)")))
        return name

    # Each returns statements of the caller and the expression that makes the result.
    def plain(self):
        return "", self.function() + "(x)"

    def nested(self):
        inner, name = self.function(), self.name("outer")
        self.before.append("%storch::Tensor %s(torch::Tensor x) {\n%s\n}"
                           % (self.linkage(), name, self.body(inner + "(x)", mark=False)))
        return "", name + "(x)"

    def template(self):
        name = self.name("apply")
        if self.chance(.5):
            self.before.append("template <class M> torch::Tensor %s(M &m, torch::Tensor x) {\n%s\n}"
                               % (name, self.body("m(x)")))
            return "", name + "(net, x)"
        self.before.append("template <class F> torch::Tensor %s(F f, torch::Tensor x) {\n%s\n}"
                           % (name, self.body("f(x)", mark=False)))
        return "", "%s([&](torch::Tensor y) { return net(y); }, x)" % name

    def class_template(self):
        name = self.name("Runner")
        self.before.append("template <class M> struct %s {\nM &m;\ntorch::Tensor go(torch::Tensor x) {\n"
                           "%s\n}\n};" % (name, self.body("m(x)")))
        v = self.name("runner")
        return "%s<Net> %s{net};" % (name, v), v + ".go(x)"

    def method(self):
        name, v = self.name("Model"), self.name("model")
        self.before.append("struct %s {\ntorch::Tensor go(torch::Tensor x) {\n%s\n}\n};"
                           % (name, self.body("net(x)")))
        return "%s %s;" % (name, v), v + ".go(x)"

    def generic(self):
        v = self.name("f")
        kind = self.rng.choice(["auto", "torch::Tensor"])
        return ("auto %s = [&](%s x) {\n%s\n};" % (v, kind, self.body("net(x)")), v + "(x)")

    def object(self):
        v = self.name("f")
        target = self.function() if self.chance(.4) else None
        target = target or "[&](torch::Tensor x) {\n%s\n}" % self.body("net(x)")
        return "std::function<torch::Tensor(torch::Tensor)> %s = %s;" % (v, target), v + "(x)"

    def pointer(self):
        v = self.name("p")
        form = self.rng.choice(["auto %s = &%s;", "auto *%s = %s;",
                                "torch::Tensor (*%s)(torch::Tensor) = %s;"])
        return form % (v, self.function()), v + "(x)"

    def interface(self):
        name = self.name("Base")
        pure = self.chance(.7)
        out = ["struct %s {\nvirtual ~%s() = default;" % (name, name)]
        out.append("virtual torch::Tensor go(torch::Tensor x)%s" % (
            " = 0;" if pure else " {\nreturn x;\n}"))
        out.append("};")
        kinds = [self.name("Kind") for _ in range(self.rng.choice([1, 2]))]
        for kind in kinds:
            body = self.body("net(x)") if kind == kinds[0] or self.chance(.5) else "return x + 1;"
            out.append("struct %s : %s {\ntorch::Tensor go(torch::Tensor x) override {\n%s\n}\n};"
                       % (kind, name, body))
        self.before.append("\n".join(out))
        v = self.name("object")
        if self.chance(.3):
            return "%s %s;" % (kinds[0], v), v + ".go(x)"
        chosen = kinds[0]
        if len(kinds) > 1 and self.chance(.5):
            return ("std::unique_ptr<%s> %s;\nif (b) %s = std::make_unique<%s>();\n"
                    "else %s = std::make_unique<%s>();" % (name, v, v, kinds[0], v, kinds[1]),
                    v + "->go(x)")
        return "std::unique_ptr<%s> %s = std::make_unique<%s>();" % (name, v, chosen), v + "->go(x)"

    # What the caller does with the result.
    def sink(self):
        """An interface that takes the result, and what its methods do."""
        name = self.name("Sink")
        reads = self.chance(.6)
        kinds = ["r += t.sum().item<float>();"]
        kinds += [BACKWARD] if not reads else ["r += t.max().item<float>();"] * self.chance(.5)
        out = ["struct %s {\nvirtual ~%s() = default;\nvirtual void take(torch::Tensor t, float &r) = 0;\n};"
               % (name, name)]
        names = []
        for text in kinds:
            names.append(self.name("Takes"))
            out.append("struct %s : %s {\nvoid take(torch::Tensor t, float &r) override { %s }\n};"
                       % (names[-1], name, text))
        self.before.append("\n".join(out))
        v = self.name("sink")
        return ("std::unique_ptr<%s> %s = std::make_unique<%s>();" % (name, v, names[-1]),
                "%s->take(%%s, r);" % v)

    def use(self, value):
        read = ["r += %s.sum().item<float>();", "r += %s.argmax().item<int64_t>();",
                "torch::Tensor t = %s;\nr += t.max().item<float>();",
                "for (int i = 0; i < 2; ++i) {\nr += %s.mean().item<float>();\n}"]
        train = ["torch::Tensor t = %s;\n" + BACKWARD,
                 "torch::Tensor t = %s;\nif (b) {\n" + BACKWARD + "\n}\nr += t.max().item<float>();"]
        if self.chance(.15):
            before, text = self.sink()
            return before + "\n" + text % value
        return self.rng.choice(train if self.chance(.2) else read) % value

    def caller(self, number, ways):
        before, value = self.rng.choice(ways)
        use = self.use(value)
        kind = self.rng.random()
        if kind < .35:
            use = lines(self.guard(1), use)
        elif kind < .45:
            use = "if (b) {\n%s\n%s\n}" % (self.guard(1), use)
        elif kind < .55:
            use = "torch::AutoGradMode g(b);\n" + use
        return ("float c%d(torch::Tensor x, bool b) { // CALLER %d\nfloat r = 0;\n%s\nreturn r;\n} // END"
                % (number, number, lines(before, use)))


def draw(rng, number):
    grammar = Grammar(rng)
    forms = [grammar.plain, grammar.nested, grammar.template, grammar.class_template,
             grammar.method, grammar.generic, grammar.object, grammar.pointer,
             grammar.interface, grammar.interface, grammar.interface]
    way = rng.choice(forms)()
    count = rng.choice([1, 1, 2, 2, 3])
    callers = [grammar.caller(k, [way]) for k in range(count)]
    text = ("namespace n%d {\nNet net{2, 2};\n%s\n}\n"
            % (number, "\n".join(grammar.before + callers)))
    call = "  torch::Tensor x = torch::ones({2});\n"
    for k in range(count):
        call += ("  On = Off = Back = 0;\n  for (bool b : {false, true})\n"
                 "    try { n%d::c%d(x, b); } catch (...) {}\n"
                 "  std::printf(\"%d caller%d %%d %%d %%d\\n\", On, Off, Back);\n"
                 % (number, k, number, k))
    return Drawn(text, text.replace(BACKWARD, RUN_BACKWARD), call)


def judge(drawn, truth, findings):
    where, places, passes, chosen = {}, drawn.static.split("\n"), set(), set()
    caller = None
    for number, line in enumerate(places, 1):
        if "// CALLER" in line:
            caller = int(line.rsplit(" ", 1)[1])
        if MARK in line and caller is None:
            passes.add(number)
        if caller is not None:
            where[number] = caller
        if "AutoGradMode g(b)" in line:
            chosen.add(caller)
        if "// END" in line:
            caller = None
    runs = {k: [int(n) for n in truth["caller%d" % k].split()] for k in set(where.values())
            if "caller%d" % k in truth}
    told = [line for check, _, line, _ in findings if check == "inference-without-no-grad"]
    if not any(on + off for on, off, _ in runs.values()):
        return "dead"
    wasted = {k for k, (on, _, back) in runs.items() if on and not back}
    needed = {k for k, (on, _, back) in runs.items() if on and back}
    for line in told:
        if line in where and where[line] in runs and where[line] not in wasted:
            return "false: the caller " + ("needs the graph" if where[line] in needed else
                                           "has the mode off")
        if line not in where and not wasted:
            return "false: no caller wastes the graph"
        if line not in where and needed:
            return "false: a caller needs the graph"
    helped = any(line not in where for line in told)
    # AutoGradMode g(b): the mode is the caller's choice.
    silent = {k for k in wasted - chosen if not helped and not any(where.get(line) == k for line in told)}
    return "silent: a caller only reads" if silent else "told" if wasted - chosen else "agree"
