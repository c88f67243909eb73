#
# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The question `mode`: was gradient mode on at this forward pass, for some values of the
conditions? Each function has one pass, with guards and control flow around it."""

import re

from judge import COUNTING_NET, Drawn

CHECKS = ("libtorch-inference-without-no-grad", "libtorch-ineffective-grad-guard")

INCLUDES = """#include <torch/torch.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>
"""
HEAD_STATIC = INCLUDES + """
using Net = torch::nn::Linear;
void use(const torch::Tensor &);
void touch(int);
void mayThrow(bool);
"""
HEAD_RUN = INCLUDES + """
static int On, Off;
""" + COUNTING_NET + """static void use(const torch::Tensor &) {}
static void touch(int) {}
static void mayThrow(bool b) { if (b) throw std::runtime_error("t"); }
"""

GUARDS = [
    "torch::NoGradGuard {v};", "c10::InferenceMode {v};", "torch::AutoGradMode {v}(false);",
    "torch::AutoGradMode {v}(true);", "torch::AutoGradMode {v}({c});",
    "auto {v} = std::make_unique<torch::NoGradGuard>();",
    "std::optional<torch::NoGradGuard> {v}(std::in_place);", "torch::NoGradGuard();",
    "at::GradMode::set_enabled(false);", "at::GradMode::set_enabled(true);",
    "torch::NoGradGuard {v}{};", "const torch::NoGradGuard {v};",
    "std::unique_ptr<torch::NoGradGuard> {v}; if ({c}) {v} = std::make_unique<torch::NoGradGuard>();",
]
# What can hold a guard or none, and what is done to it: declarations, and changes.
NULLED = ["{v}.reset();", "if ({v}) {v}.reset();"]
POINTERS = NULLED + ["{v} = nullptr;", "{v} = {};"]
BOXES = [
    (["std::optional<torch::NoGradGuard> {v};", "std::optional<torch::NoGradGuard> {v}; {v}.emplace();",
      "std::optional<torch::NoGradGuard> {v}(std::in_place);"],
     NULLED + ["{v}.emplace();", "{v}.emplace();"]),
    (["std::optional<torch::AutoGradMode> {v};",
      "std::optional<torch::AutoGradMode> {v}(std::in_place, {c});"],
     NULLED + ["{v}.emplace(false);", "{v}.emplace(true);", "{v}.emplace({c});"]),
    (["std::optional<c10::InferenceMode> {v};", "std::optional<c10::InferenceMode> {v}; {v}.emplace();"],
     NULLED + ["{v}.emplace();", "{v}.emplace({c});"]),
    (["std::unique_ptr<torch::NoGradGuard> {v};",
      "auto {v} = std::make_unique<torch::NoGradGuard>();",
      "std::unique_ptr<torch::NoGradGuard> {v}(new torch::NoGradGuard);"],
     POINTERS + ["{v} = std::make_unique<torch::NoGradGuard>();",
                 "{v}.reset(new torch::NoGradGuard);", "auto {w} = std::move({v});",
                 "{v}.release();"]),
    (["auto {v} = std::make_shared<torch::AutoGradMode>(false);",
      "std::shared_ptr<torch::AutoGradMode> {v};"],
     POINTERS + ["{v} = std::make_shared<torch::AutoGradMode>(true);", "auto {w} = {v};"]),
    (["auto *{v} = new torch::NoGradGuard;"], ["delete {v}; {v} = nullptr;"]),
    (["auto *const {v} = new torch::NoGradGuard;"], []),
]
CHOSEN = re.compile(r"(?m)(AutoGradMode|emplace|in_place).*\bc\[|set_enabled\([^tf]|"
                    r"if \(c\[\d\]\) (g\d|at::)")
PASS = "r += net(x).sum().item<float>(); // PASS"


class Grammar:
    def __init__(self, rng):
        self.rng, self.names, self.conditions = rng, 0, 0
        self.with_boxes = rng.random() < .4
        self.boxes = []  # Those in scope, and how they change.

    def name(self):
        self.names += 1
        return "g%d" % self.names

    def condition(self):
        if not self.conditions or self.conditions < 5 and self.rng.random() < .7:
            self.conditions += 1
            return "c[%d]" % (self.conditions - 1)
        return "c[%d]" % self.rng.randrange(self.conditions)

    def filled(self, text, name):
        text = text.replace("{v}", name)
        for hole, fill in (("{c}", self.condition), ("{w}", self.name)):
            text = text.replace(hole, fill()) if hole in text else text
        return text

    def guard(self):
        return self.filled(self.rng.choice(GUARDS), self.name())

    def box(self):
        """Declares a box of a guard, or changes one."""
        if not self.boxes or self.rng.random() < .3:
            forms, changes = self.rng.choice(BOXES)
            name = self.name()
            self.boxes.append((name, changes))
            return self.filled(self.rng.choice(forms), name)
        name, changes = self.rng.choice(self.boxes)
        if not changes:
            self.boxes.remove((name, changes))
            return "delete %s;" % name
        text = self.filled(self.rng.choice(changes), name)
        return "if (%s) %s" % (self.condition(), text) \
            if self.rng.random() < .3 and "auto" not in text and text.count(";") == 1 else text

    def leave(self, loop):
        forms = ["if (%s) return r;", "if (%s) throw std::runtime_error(\"e\");"]
        forms += ["if (%s) break;", "if (%s) continue;"] if loop else []
        return self.rng.choice(forms) % self.condition()

    def block(self, depth, passes, loop=False):
        """Statements, with the pass somewhere inside when asked."""
        rng = self.rng
        count = rng.choice([1, 1, 2, 2, 3])
        at = rng.randrange(count) if passes else -1
        out, outer = [], list(self.boxes)
        for index in range(count):
            kind = rng.random()
            if self.with_boxes and rng.random() < .5:
                out.append(self.box())
            elif kind < .35:
                out.append(self.guard())
            elif kind < .5:
                out.append(rng.choice(["use(x);", "x = x + 1;", "n += 1;", "touch(n);"]))
            elif kind < .6:
                out.append(self.leave(loop))
            elif depth > 0 and kind < .85:
                out.append(self.nest(depth - 1, False, loop))
            if index == at:
                out.append(self.nest(depth - 1, True, loop)
                           if depth > 0 and rng.random() < .75 else PASS)
        if rng.random() < .15:
            out.append(self.leave(loop))
        self.boxes = [box for box in outer if box in self.boxes]
        return "\n".join(out)

    def braces(self, depth, passes, loop):
        return "{\n" + self.block(depth, passes, loop) + "\n}"

    def nest(self, depth, passes, loop):
        kind = self.rng.choice(["", "if", "else", "for", "while", "do", "range", "try", "all",
                                "switch", "lambda", "called"])
        first = self.rng.random() < .5
        if kind in ("for", "while", "do", "range"):
            body, v = self.braces(depth, passes, True), self.name()
            return {"for": "for (int i = 0; i < 2; ++i) " + body,
                    "while": "int %s = 0;\nwhile (%s++ < 2) %s" % (v, v, body),
                    "do": "int %s = 0;\ndo %s while (++%s < 2);" % (v, body, v),
                    "range": "for (int %s : {1, 2}) %s" % (v, body)}[kind]
        if kind in ("lambda", "called"):
            body = self.braces(depth, passes, False).replace("return r;", "return;")
            v = self.name()
            return "[&] %s();" % body if kind == "called" else "auto %s = [&] %s;\n%s();" % (v, body, v)
        if kind in ("", "if"):
            return ("if (%s) " % self.condition() if kind else "") + self.braces(depth, passes, loop)
        loop = loop and kind != "switch"
        one, two = (self.braces(depth, passes and first == half, loop) for half in (True, False))
        if kind == "else":
            return "if (%s) %s else %s" % (self.condition(), one, two)
        if kind == "switch":
            return "switch (n + %s) {\ncase 0: %s break;\ndefault: %s\n}" % (self.condition(), one, two)
        if self.rng.random() < .7:
            throws = "mayThrow(%s);\n" % self.condition()
            one = "{\n" + throws + one[2:] if self.rng.random() < .5 else one[:-1] + throws + "}"
        return "try %s catch (%s) %s" % (one, "..." if kind == "all" else "const std::exception &", two)


def draw(rng, number):
    while True:
        grammar = Grammar(rng)
        body = grammar.block(rng.choice([1, 1, 1, 2, 2, 3]), True)
        if grammar.conditions <= 5:
            break
    text = ("struct S%d { Net net{2, 2}; S%d() { net->eval(); }\n"
            "float f(torch::Tensor x, const bool *c, int n) {\nfloat r = 0;\n%s\nreturn r;\n}\n};\n"
            % (number, number, body))
    call = ("  On = Off = 0;\n  torch::Tensor x = torch::ones({2});\n  S%d s;\n"
            "  for (int b = 0; b < %d; ++b) {\n    bool c[6];\n"
            "    for (int k = 0; k < 6; ++k) c[k] = b >> k & 1;\n"
            "    std::thread([&] { try { s.f(x, c, 0); } catch (...) {} }).join();\n  }\n"
            "  std::printf(\"%d on %%d\\n%d off %%d\\n\", On, Off);\n"
            % (number, 1 << grammar.conditions, number, number))
    return Drawn(text, text, call)


def judge(drawn, truth, findings):
    on, off = int(truth.get("on", 0)), int(truth.get("off", 0))
    passes = [n for n, line in enumerate(drawn.static.split("\n"), 1) if "// PASS" in line]
    told = [f for f in findings if f[0] == "inference-without-no-grad" and f[2] in passes]
    useless = [f for f in findings if f[0] == "ineffective-grad-guard"]
    if not on + off or len(passes) != 1:
        return "dead"
    if told and not on:
        return "false: it is off in each run"
    if on and not told and not useless:
        if off and CHOSEN.search(drawn.static):
            return "chosen: a condition of the program switches it"
        return "silent: it is on in %s" % ("some runs" if off else "each run")
    return "told" if on else "agree"
