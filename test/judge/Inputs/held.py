#
# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The question `held`: does a variable hold memory at a call of a module, although it is
not read again? The function is run again with one variable, or two, let go of after each
of its statements: where nothing else changes but that a module finds fewer bytes taken,
it was held though dead. A missing guard that is told counts for what its graph holds."""

import re

from judge import Drawn

GUARD = "inference-without-no-grad"
CHECKS = ("libtorch-long-lived-intermediate", "libtorch-" + GUARD)

INCLUDES = """#include <torch/torch.h>
#include <algorithm>
#include <tuple>
#include <vector>
using torch::Tensor;
struct Two { Tensor a, b; };
"""
MODULE = """struct %s : torch::nn::Module {
  %s() { fc = register_module("fc", torch::nn::Linear(32, 32)); }
  Tensor forward(const Tensor &x) { %sreturn fc->forward(x); }
  torch::nn::Linear fc{nullptr};
};
"""
HELPERS = """static std::vector<Tensor> Kept;
static Tensor twice(const Tensor &x) { return x * 2; }
static Tensor itself(const Tensor &x) { return x; }
static Tensor first(const std::vector<Tensor> &l) { return l.empty() ? torch::ones({32, 32}) : l.front(); }
static float look(const Tensor &x) { return x.sum().item<float>(); }
static void keep(const Tensor &x) { Kept.push_back(x); }
static float run(Net &net, const Tensor &x) { return net.forward(x).sum().item<float>(); }
"""
# takes() hears of each allocation, and of its end as a negative number.
COUNTING = """#include <cstring>
#include <torch/version.h>
struct Counting : at::Allocator {
  static void drop(void *p) { auto *n = (int64_t *)p - 8; takes(-*n); free(n); }
#if TORCH_VERSION_MAJOR >= 2
  void copy_data(void *to, const void *from, size_t n) const override { memcpy(to, from, n); }
  at::DataPtr allocate(size_t n) override {
#else
  at::DataPtr allocate(size_t n) const override {
#endif
    auto *p = (int64_t *)aligned_alloc(64, 64 + (n + 63) / 64 * 64);
    *p = n; takes(n);
    return {p + 8, p + 8, &drop, at::Device(at::kCPU)};
  }
  at::DeleterFnPtr raw_deleter() const override { return &drop; }
};
static Counting Allocator;
"""
HEAD_STATIC = INCLUDES + MODULE % ("Net", "Net", "") + HELPERS + "bool bit();\n"
HEAD_RUN = INCLUDES + """#include <cstdlib>
static int64_t Taken, Step, Bits;
static int Let, LetA, LetB;
static std::vector<int64_t> Found;
static float Given; // To modules, whose results may go unread.
static void takes(int64_t n) { Taken += n; }
""" + COUNTING + """static bool bit() { bool b = Bits & 1; Bits >>= 1; return b; } // Ends all loops.
static bool let(int at, int var) { return Let == at && (LetA == var || LetB == var); }
""" + MODULE % ("Net", "Net", "Found.push_back(Taken); Given += x.sum().item<float>(); ") + HELPERS + """
struct Seen { std::vector<int64_t> Found; float Result = 0; bool Threw = false; };
template <typename F> static Seen once(F f, int let, int a, int b, int bits) {
  torch::manual_seed(1);
  static Net net, head;
  static Tensor in = torch::rand({32, 32});
  Let = let; LetA = a; LetB = b; Bits = bits; Found.clear(); Kept.clear(); Given = 0;
  net.zero_grad(); head.zero_grad();
  Seen s;
  try { s.Result = f(net, head, in); } catch (const std::exception &) { s.Threw = true; }
  for (const Tensor &t : Kept) if (t.defined()) s.Result += t.sum().item<float>();
  s.Found = Found; s.Result += Given; Kept.clear();
  return s;
}
template <typename F> static void judgeOf(int id, F f, int places, int vars) {
  at::set_num_threads(1);
  at::SetAllocator(at::kCPU, &Allocator, 1);
  const std::vector<int> bits{0, 0xffff, 0x5a3c, 0x9e61, 0xaaaa, 0x6db6, 0x3333};
  std::vector<Seen> base;
  for (int b : bits) {
    base.push_back(once(f, -1, -1, -1, b));
    if (base.back().Threw) { std::printf("%d threw\\n", id); return; }
  }
  for (int a = 0; a < vars; ++a)
    for (int b = a; b < vars; ++b) {
      // 1: after some statement it is held for nothing in some runs, 2: and read in none.
      int held = 0;
      for (int at = 0; at < places && held < 2; ++at) {
        bool lower = false, same = true;
        for (size_t k = 0; k < base.size(); ++k) {
          const Seen now = once(f, at, a, b, bits[k]);
          if (now.Threw || now.Result != base[k].Result || now.Found.size() != base[k].Found.size())
            same = false;
          else
            for (size_t i = 0; i < now.Found.size(); ++i) lower |= now.Found[i] + 4000 <= base[k].Found[i];
        }
        held = std::max(held, !lower ? 0 : same ? 2 : 1);
      }
      std::printf("%d %d-%d %d\\n", id, a, b, held);
    }
}
"""


class Grammar:
    def __init__(self, rng):
        self.rng, self.lines, self.scope = rng, [], []
        self.vars, self.places, self.loops = [], 0, 0

    def line(self, static, ran=None):
        self.lines.append((static, static if ran is None else ran))

    def after(self, text):
        """A statement, after which each variable can be let go of."""
        lets = ""
        for number, name, kind in self.scope:
            empty = {"tensor": "Tensor()", "two": "Two()", "list": "std::vector<Tensor>()"}[kind]
            lets += " if (let(%d, %d)) %s = %s;" % (self.places, number, name, empty)
        self.places += 1
        self.line(text, text + lets)

    def new(self, kind):
        self.vars.append("v%d" % len(self.vars))
        entry = (len(self.vars) - 1, self.vars[-1], kind)
        self.scope.append(entry)
        return entry[1]

    def tensor(self):
        """Something to read."""
        rng, known = self.rng, []
        for _, name, kind in self.scope:
            known += {"tensor": [name], "two": [name + ".a", name + ".b"],
                      "list": ["first(%s)" % name] if rng.random() < .3 else []}[kind]
        return rng.choice(known) if known and rng.random() < .8 else "in"

    def value(self):
        t = self.tensor
        forms = ["net.forward({0})", "net.forward({0})", "head.forward({0})", "{0}.relu()", "{0} + {1}",
                 "torch::matmul({0}, {1})", "{0}.t()", "{0}", "twice({0})", "itself({0})", "{0}.mean()",
                 "torch::cat({{{0}, {1}}}).slice(0, 0, 32)", "torch::maximum({0}, {1})",
                 "{0}.contiguous().neg()", "{0}.clone()", "torch::softmax(net.forward({0}), 1)",
                 "std::get<0>(std::make_tuple(net.forward({0}), {1}))", "bit() ? {0} : net.forward({1})"]
        return self.rng.choice(forms).format(t(), t())

    def read(self):
        forms = ["r += {0}.sum().item<float>();", "r += look({0});", "r += {0}.dim();", "keep({0});",
                 "r += run(head, {0});", "r += net.forward({0}).mean().item<float>();",
                 "r += head.forward(in).sum().item<float>();", "r += head.forward(in).sum().item<float>();",
                 "{{ auto f = [&] {{ return look({0}); }}; r += f(); }}",
                 "{{ auto f = [&] {{ Tensor t = {0}; return look(t); }}; r += f(); }}", "Kept.push_back({0});"]
        return self.rng.choice(forms).format(self.tensor())

    def declare(self):
        value, r = self.value(), self.rng.random()
        if len(self.vars) > 4:
            return self.after(self.read())
        if r < .6:
            text = "Tensor %s = %s;"
            args = (self.new("tensor"), value)
        elif r < .7:
            name = self.new("tensor")
            self.line("Tensor %s;" % name)
            text, args = "%s = %s;", (name, value)
        elif r < .8:
            other = self.value()
            text, args = "Two %s{%s, %s};", (self.new("two"), value, other)
        else:
            name = self.new("list")
            self.line("std::vector<Tensor> %s;" % name)
            self.after("for (int i = 0; i < 2; ++i) %s.push_back(%s);" % (name, value))
            if self.rng.random() < .7:
                self.after("r += torch::stack(%s).sum().item<float>();" % name)
            return None
        return self.after(text % args)

    def lists(self):
        """Changes a list, or reads it by its elements."""
        rng, names = self.rng, [name for _, name, kind in self.scope if kind == "list"]
        if not names:
            return self.declare()
        name, other, value = rng.choice(names), rng.choice(names), self.value()
        if rng.random() < .2:
            new = self.new(rng.choice(["tensor", "list"]))
            forms = {"t": ["Tensor {2} = {0}.empty() ? in : {0}.back();",
                           "Tensor {2}; if (!{0}.empty()) {{ {2} = std::move({0}.back()); {0}.pop_back(); }}",
                           "Tensor {2}; if (!{0}.empty()) {2} = *{0}.rbegin();",
                           "Tensor {2} = {0}.size() < 2 ? in : *std::next({0}.begin());"],
                     "l": ["std::vector<Tensor> {2}({0}.begin(), {0}.end());", "auto {2} = {0};",
                           "std::vector<Tensor> {2}; std::move({0}.begin(), {0}.end(), std::back_inserter({2}));",
                           "std::vector<Tensor> {2}; {2}.swap({0});",
                           "std::vector<Tensor> {2}; {2}.insert({2}.end(), {0}.begin(), {0}.end());",
                           "auto {2} = std::move({0});"]}
            return self.after(rng.choice(forms["t" if self.scope[-1][2] == "tensor" else "l"])
                              .format(name, other, new))
        forms = ["if (!{0}.empty()) {0}.pop_back();", "if (!{0}.empty()) {0}.erase({0}.begin());",
                 "{0}.insert({0}.end(), {3});", "{0}.insert({0}.begin(), {1}.begin(), {1}.end());",
                 "while (!{0}.empty()) {{ r += look({0}.back()); {0}.pop_back(); }}",
                 "for (auto it = {0}.begin(); it != {0}.end(); ++it) r += look(*it);",
                 "for (auto it = {0}.begin(); it != {0}.end();) if (bit()) it = {0}.erase(it); else ++it;",
                 "if ({0}.size() > 1) {0}.erase({0}.begin(), {0}.begin() + 1);", "{0}.resize({0}.size() / 2);",
                 "{0}.erase(std::remove_if({0}.begin(), {0}.end(), [](const Tensor &t) {{ return !t.defined(); }}),"
                 " {0}.end());",
                 "std::reverse({0}.begin(), {0}.end());", "for (Tensor &t : {0}) t = t * 2;",
                 "for (const Tensor &t : {0}) r += look(t);", "for (Tensor &t : {0}) Kept.push_back(std::move(t));",
                 "for (size_t i = 0; i < {0}.size(); ++i) r += look({0}[i]);",
                 "auto at = {0}.begin(); if (at != {0}.end()) *at = {3};",
                 "if (!{0}.empty()) {{ Tensor &t = {0}.front(); t = {3}; }}",
                 "std::copy({0}.begin(), {0}.end(), std::back_inserter(Kept));", "{0}.clear();",
                 "if (!{0}.empty()) std::iter_swap({0}.begin(), {0}.end() - 1);", "{0} = {{{3}}};",
                 "std::vector<Tensor>().swap({0});", "{0}.assign(2, {3});"]
        return self.after("{ %s }" % rng.choice(forms).format(name, other, None, value))

    def assign(self):
        names = [name for _, name, kind in self.scope if kind == "tensor"]
        if not names:
            return self.declare()
        name, value = self.rng.choice(names), self.value()
        form = self.rng.choice(["%s = %s;", "%s = %s;", "%s = %s;", "if (bit()) %s = %s;"])
        return self.after(form % (name, value))

    def block(self, depth, loop=False):
        known = len(self.scope)
        for _ in range(self.rng.choice([2, 2, 3, 4])):
            r = self.rng.random()
            if r < .35:
                self.declare()
            elif r < .45:
                self.assign()
            elif r < .55:
                self.lists()
            elif r < .8 or not depth:
                self.after(self.read())
            else:
                self.nest(depth - 1)
        if self.rng.random() < .6:
            self.after("r += head.forward(in).sum().item<float>();")
        if loop and self.rng.random() < .2:
            self.after("if (bit()) %s;" % self.rng.choice(["break", "continue"]))
        del self.scope[known:]

    def nest(self, depth):
        kind = self.rng.choice(["{", "if (bit()) {", "for", "for", "while", "do", "try {", "else"])
        self.loops += 1
        name = "i%d" % self.loops
        head = {"for": "for (int %s = 0; %s < 3; ++%s) {" % (name, name, name), "do": "do {",
                "while": "int %s = 0; while (%s++ < 2) {" % (name, name), "else": "if (bit()) {"}
        self.line(head.get(kind, kind))
        self.block(depth, kind in ("for", "while", "do"))
        if kind == "else":
            self.line("} else {")
            self.block(depth)
        self.after({"do": "} while (bit());", "try {": "} catch (const std::exception &) { throw; }"}
                   .get(kind, "}"))


def draw(rng, number):
    g = Grammar(rng)
    guard = "torch::NoGradGuard guard;" if rng.random() < .95 else ";"
    g.line("static float f%d(Net &net, Net &head, const Tensor &in) {" % number)
    g.line("float r = 0; " + guard)
    g.block(2)
    g.line("return r;")
    g.line("}")
    static, ran = ("\n".join(lines) + "\n" for lines in zip(*g.lines))
    call = "judgeOf(%d, f%d, %d, %d);\n" % (number, number, g.places, len(g.vars))
    return Drawn(static, ran, call)


def judge(drawn, truth, findings):
    if not truth or "crash" in truth or "threw" in truth:
        return "dead"
    held = {frozenset(key.split("-")) for key, value in truth.items() if value != "0"}
    always = {frozenset(key.split("-")) for key, value in truth.items() if value == "2"}
    single = {next(iter(pair)) for pair in held if len(pair) == 1}
    least = [p for p in always if len(p) == 1 or not p & single]
    # Without a guard a graph may hold it, too: what is told is the missing guard.
    root = any(check == GUARD for check, *_ in findings)
    told = set()
    for check, level, _, message in findings:
        if check == GUARD:
            continue
        names = frozenset(re.findall(r"'v(\d+)'", message.split(" last ")[0].split(" of ")[0]
                                     .split(": only")[0].split(" is not")[0].split(" is decl")[0]))
        told |= names
        # Taken by a number that is read, by more than two, at an operator: not measured.
        if ": only" in message or len(names) > 2 or "'matmul'" in message:
            continue
        if not any(pair <= names for pair in held):
            kind = re.search(r"before the loop|last round|before '|declared outside|copy of", message)
            return "false: level %d, %s" % (level, kind[0] if kind else message)
    missed = sorted((p for p in least if not p & told), key=sorted)
    if missed and not root:
        name = r"\[&\].*\bv(%s)\b" % "|".join(missed[0])
        return "silent: " + ("a lambda captures it" if re.search(name, drawn.static)
                             else "under a guard" if "NoGradGuard" in drawn.static
                             else "without a guard")
    return "told" if always else "agree" if held or findings else "dead"
