#
# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The question `history`: does what is added at a line marked ADDS grow with the
iterations, by the nodes of autograd that can be reached from it, and can anybody still
back-propagate it? Each function is a step of training or prediction in a loop."""

import re

from judge import Drawn

CHECKS = ("libtorch-accumulated-history", "libtorch-inference-without-no-grad",
          "libtorch-undetached-hidden-state", "libtorch-retained-graph")

HEAD_STATIC = """#include <torch/torch.h>
#include <algorithm>
#include <deque>
#include <iterator>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>
using torch::Tensor;
using Net = torch::nn::Linear;
struct Rec { Tensor a, b; };
struct Pair { Tensor a, b; Pair(Tensor x, Tensor y) : a(x), b(y) {} };
struct Log {
  std::vector<Tensor> items;
  Tensor sum = torch::zeros({});
  void add(Tensor t) { items.push_back(t); }
  void count(const Tensor &t) { sum = sum + t; }
  const std::vector<Tensor> &all() const { return items; }
  void empty() { items.clear(); }
};
struct Memory {
  std::vector<Rec> recs;
  void push(Rec r) { recs.push_back(std::move(r)); }
  std::vector<Rec> sample() const { return recs; }
};
inline Tensor model(Net net, const Tensor &x) { return net(x).sum(); }
inline Tensor step(Net net, const Tensor &x) { Tensor l = net(x).sum(); l.backward(); return l; }
inline void back(Tensor t) { t.backward(); }
inline void backIf(const Tensor &t, bool on) { if (on) t.backward(); }
inline void addTo(Tensor &total, const Tensor &t) { total = total + t; }
inline void keep(std::vector<Tensor> &v, Tensor t) { v.push_back(std::move(t)); }
inline void train(Net net, bool on) { for (auto &p : net->parameters()) p.requires_grad_(on); }
inline void freeze(std::vector<Tensor> ps) { for (auto &p : ps) p.detach_(); }
struct Frozen {
  Net net{2, 2};
  Frozen() { for (auto &p : net->parameters()) p.requires_grad_(false); }
};
"""
HEAD_RUN = HEAD_STATIC + """
static std::map<int, size_t> Nodes;
static int Used, Passed;
static void reach(torch::autograd::Node *n, std::set<void *> &all) {
  if (n && all.insert(n).second)
    for (auto &e : n->next_edges()) reach(e.function.get(), all);
}
static void reach(const Tensor &t, std::set<void *> &all) { if (t.defined()) reach(t.grad_fn().get(), all); }
static void reach(const Rec &r, std::set<void *> &all) { reach(r.a, all); reach(r.b, all); }
static void reach(const Pair &r, std::set<void *> &all) { reach(r.a, all); reach(r.b, all); }
static void reach(const std::pair<const int, Tensor> &r, std::set<void *> &all) { reach(r.second, all); }
static void reach(const std::pair<const int, Rec> &r, std::set<void *> &all) { reach(r.second, all); }
template <typename C> auto reach(const C &c, std::set<void *> &all) -> decltype(c.begin(), void()) { for (auto &e : c) reach(e, all); }
template <typename C> void probe(int k, const C &c) { std::set<void *> all; reach(c, all); Nodes[k] = all.size(); }
static bool through(const Tensor &t) {
  if (!t.defined() || !t.requires_grad()) return false;
  try { t.sum().backward(); return true; } catch (...) { return false; }
}
Tensor unseen(const Tensor &t) { return t * 2; }
void peek(const Tensor &) {}
void look(const Tensor &t) { Used |= through(t); }
"""
HEAD_STATIC += """
Tensor unseen(const Tensor &t);
void peek(const Tensor &);
void look(const Tensor &);
"""

SOURCES = ["net(x).sum()", "model(net, x)", "net->forward(x).mean()", "(w * x).sum()",
           "unseen(net(x)).sum()", "unseen(w * x).sum()", "x.sum()", "net(x).detach().sum()",
           "fixed.net(x).sum()", "(c[0] ? net(x) : x).sum()", "step(net, x)",
           "torch::mse_loss(net(x), x)"]
BACKWARDS = ["loss.backward();", "back(loss);", "torch::autograd::backward({loss});",
             "if (c[1]) loss.backward();", "loss.backward({}, true);", "backIf(loss, c[1]);",
             "torch::autograd::grad({loss}, net->parameters());", "opt.step();"]
VALUES = ["loss", "loss", "loss", "loss * 2", "loss.detach()", "loss.clone()", "torch::exp(loss)",
          "loss.argmax()", "unseen(loss)"]

# The declaration, the statement, what is probed, and what of it is a tensor.
FORMS = {
    "sum": ("Tensor acc = torch::zeros({});", "acc += {v};", "acc", "acc"),
    "rebind": ("Tensor acc = torch::zeros({});", "acc = acc + {v};", "acc", "acc"),
    "method": ("Tensor acc = torch::zeros({});", "acc.add_({v});", "acc", "acc"),
    "last": ("Tensor acc = torch::zeros({});", "acc = {v};", "acc", "acc"),
    "addTo": ("Tensor acc = torch::zeros({});", "addTo(acc, {v});", "acc", "acc"),
    "list": ("std::vector<Tensor> acc;", "acc.push_back({v});", "acc", "torch::stack(acc).sum()"),
    "inserted": ("std::vector<Tensor> acc;",
                 "std::generate_n(std::back_inserter(acc), 1, [&] {{ return {v}; }});",
                 "acc", "torch::stack(acc).sum()"),
    "transformed": ("std::vector<Tensor> acc;",
                    "std::transform(&x, &x + 1, std::back_inserter(acc), [&](const Tensor &) {{ return {v}; }});",
                    "acc", "torch::stack(acc).sum()"),
    "emplace": ("std::vector<Tensor> acc;", "acc.emplace_back({v});", "acc", "torch::stack(acc).sum()"),
    "keep": ("std::vector<Tensor> acc;", "keep(acc, {v});", "acc", "torch::stack(acc).sum()"),
    "map": ("std::map<int, Tensor> acc;", "acc[i] = {v};", "acc", "acc[0]"),
    "emplaced": ("std::map<int, Tensor> acc;", "acc.emplace(i, {v});", "acc", "acc.at(0)"),
    "deque": ("std::deque<Tensor> acc;", "acc.push_back({v}); if (acc.size() > 2) acc.pop_front();", "acc", "acc.back()"),
    "log": ("Log acc;", "acc.add({v});", "acc.items", "torch::stack(acc.all()).sum()"),
    "count": ("Log acc;", "acc.count({v});", "acc.sum", "acc.sum"),
    "emptied": ("Log acc;", "acc.empty(); acc.add({v});", "acc.items", "torch::stack(acc.items).sum()"),
    "records": ("std::vector<Rec> acc;", "acc.push_back({{{v}, x}});", "acc", "acc.back().a"),
    "others": ("std::vector<Rec> acc;", "acc.push_back({{x, {v}}});", "acc", "acc.back().a"),
    "pairs": ("std::vector<Pair> acc;", "acc.emplace_back(x, {v});", "acc", "acc.back().b"),
    "mapped": ("std::map<int, Rec> acc;", "acc[i] = {{x, {v}}};", "acc", "acc.at(0).b"),
    "memory": ("Memory acc;", "acc.push({{x, {v}}});", "acc.recs", "acc.recs[0].b"),
    "cat": ("Tensor acc = torch::zeros({1});", "acc = torch::cat({{acc, ({v}).reshape({{1}})}});", "acc", "acc"),
    "lambda": ("Tensor acc = torch::zeros({}); auto add = [&](const Tensor &t) { acc = acc + t; };", "add({v});", "acc", "acc"),
}
# Reading back in each iteration, into a list that ends with it.
REPLAYS = {
    "memory": "for (auto &r : acc.sample()) batch.push_back(r.{f});",
    "records": "for (auto &r : acc) batch.push_back(r.{f});",
    "others": "for (const Rec &r : acc) batch.push_back(r.{f});",
    "pairs": "for (size_t k = 0; k < acc.size(); ++k) batch.push_back(acc[k].{f});",
    "list": "for (auto &t : acc) batch.push_back(t);",
    "mapped": "for (auto &[k, r] : acc) batch.push_back(r.{f});",
}
FREEZES = [("train(net, false);", "train(net, true);"), ("freeze(net->parameters());", ""),
           ("for (auto &p : net->parameters()) p.requires_grad_(false);",
            "for (auto &p : net->parameters()) p.requires_grad_(true);"),
           ("for (auto &p : net->parameters()) if (c[2]) p.requires_grad_(false);", ""),
           ("if (c[2]) train(net, false);", ""),
           ("auto ps = net->parameters(); for (size_t k = 0; k < ps.size(); ++k) ps[k].set_requires_grad(false);", "")]


def loop(rng, body):
    kind = rng.randrange(3)
    if kind == 0:
        return ["int i = -1;", "while (++i < n) {", *body, "}"]
    if kind == 1:
        return ["int i = 0;", "do {", *body, "} while (++i < n);"]
    return ["for (int i = 0; i < n; ++i) {", *body, "}"]


def draw(rng, number):
    name = rng.choice(sorted(FORMS))
    declared, added, probed, as_tensor = FORMS[name]
    adds = added.replace("{v}", rng.choice(VALUES)).replace("{{", "{").replace("}}", "}") + " // ADDS"
    body = ["Tensor loss = %s; // PASS" % rng.choice(SOURCES)]
    if rng.random() < .15:
        body = ["Tensor loss;", "{", "torch::NoGradGuard guard;", body[0].replace("Tensor ", ""), "}"]
    work = [adds]
    if rng.random() < .6:
        work.insert(rng.randrange(2), rng.choice(BACKWARDS))
    if rng.random() < .3:
        work.insert(rng.randrange(len(work) + 1), rng.choice(
            ["if (c[3]) continue;", "peek(loss);", "x = x + 1;", "if (loss.item<float>() > 1e9) break;",
             "loss = unseen(loss);", "loss = loss / 2;"]))
    kind = rng.random()
    if kind < .1:
        work = ["if (c[2]) {", *work, "}"]
    elif kind < .2:
        work = ["auto go = [&] {", *[w.replace("continue;", "return;").replace("break;", "return;") for w in work], "};", "go();"]
    elif kind < .25:
        work = ["try {", *work, "} catch (const std::exception &) {", "throw;", "}"]
    body += work + ["@probe(0, %s);" % probed]
    if name in REPLAYS and rng.random() < .6:
        body += ["std::vector<Tensor> batch;",
                 REPLAYS[name].replace("{f}", rng.choice("ab")) + " // AGAIN", "peek(torch::stack(batch));"]
    lines = ["Tensor w = torch::ones({2}).set_requires_grad(true);", "Frozen fixed;",
             "torch::optim::SGD opt(net->parameters(), 0.1);", *declared.split("\n")]
    before, after = rng.choice(FREEZES) if rng.random() < .15 else ("", "")
    lines += [before] if before else []
    lines += loop(rng, body)
    lines += [after] if after else []
    returned = "torch::zeros({})"
    end = rng.choice(["none", "print", "return", "return", "log", "look", "backward"])
    if end == "print":
        lines.append("std::printf(\"%s\", ({t}).defined() ? \"\" : \"none\");".replace("{t}", as_tensor))
    elif end == "return":
        returned = as_tensor
    elif end == "log":
        lines.append("log.push_back(%s);" % as_tensor)
    elif end == "look":
        lines.append("look(%s);" % as_tensor)
    elif end == "backward":
        lines += ["(%s).backward();" % as_tensor, "@Used = 1;"]
    lines.append("return %s;" % returned)
    head = "Tensor f%d(Net net, Tensor x, int n, const bool *c, std::vector<Tensor> &log) {" % number
    text = "\n".join([head, *lines, "}"]) + "\n"
    run = re.sub(r"(?m)^@", "", text)
    call = """  int defect = 0, right = 0, passed = 0, grew = 0, unknown = 0;
  for (int b = 0; b < 16; ++b) {
    bool c[4]; for (int k = 0; k < 4; ++k) c[k] = b >> k & 1;
    size_t count[2] = {0, 0}; bool threw = false, used = false;
    for (int n : {2, 8}) {
      Net net(2, 2); std::vector<Tensor> log; Nodes.clear(); Used = 0;
      try {
        Tensor r = f%d(net, torch::ones({2}), n, c, log);
        used |= Used; used |= through(r); for (auto &t : log) used |= through(t);
      } catch (...) { threw = true; }
      for (auto &p : net->parameters()) passed |= p.grad().defined();
      count[n > 2] = Nodes[0];
    }
    if (threw) { ++unknown; continue; }
    grew |= count[1] > count[0] + 4;
    (count[1] > count[0] + 4 && !used ? defect : right)++;
  }
  std::printf("%d defect %%d\\n%d right %%d\\n%d passed %%d\\n%d grew %%d\\n%d unknown %%d\\n",
              defect, right, passed, grew, unknown);
""" % ((number,) * 6)
    return Drawn(re.sub(r"(?m)^@.*", "//", text), run, call.replace("%%", "%"))


def judge(drawn, truth, findings):
    defect, right = int(truth.get("defect", 0)), int(truth.get("right", 0))
    lines, text = drawn.static.split("\n"), drawn.static
    marked = {mark: [n for n, line in enumerate(lines, 1) if "// " + mark in line]
              for mark in ("ADDS", "AGAIN", "PASS")}
    # Where some runs throw, they may be those in which it grows.
    if not defect + right or not defect and int(truth["unknown"]) or len(marked["ADDS"]) != 1 or "crash" in truth:
        return "dead"
    grows = [f for f in findings if f[0] != "inference-without-no-grad"]
    passes = [f for f in findings if f[0] == "inference-without-no-grad"]

    def level(told):
        return " at level %d" % min(f[1] for f in told)

    again = [f for f in grows if f[2] in marked["AGAIN"]]
    if again:
        return "false: a list that ends with the iteration" + level(again)
    adds = [f for f in grows if f[2] in marked["ADDS"]]
    if adds and not defect:
        return "false: it " + ("is used" if int(truth["grew"]) else "does not grow") + level(adds)
    if passes and int(truth["passed"]) and min(f[1] for f in passes) < 2 and not right + defect == 0:
        return "false: the pass is back-propagated" + level(passes)
    if defect and not grows and not passes:
        words = "some runs, and is right in others" if right else "each run"
        # Code that is not seen makes what is added, or gets it and may go through it.
        unseen = "unseen(" in text or "peek(" in text
        return "silent: it grows in %s%s" % (words, ", with code that is not seen" if unseen else "")
    return "told" if defect else "agree"
