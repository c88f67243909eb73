#
# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The question `fixes`: does a function that --fix has changed still compute the same, and
does it take less memory? The functions are those of other questions. Each runs before and
after, for all values of its conditions: what it returns, keeps and leaves as gradients,
also what can be back-propagated, has to be the same to the last bit, and it must not
throw where it did not. Its tensors and the heap, autograd's nodes among it, are counted at
the peak, at the calls of modules and at the end."""

import re

import held
import history
import mode
from judge import Drawn

BASES = {"held": held, "history": history, "mode": mode}
CHECKS = tuple(dict.fromkeys(check for base in BASES.values() for check in base.CHECKS))
SLACK = 256  # Bytes by which malloc() rounds.


def head(texts):
    """The head of each base in a namespace of its own, its includes before all."""
    includes = dict.fromkeys(line for text in texts.values() for line in text.split("\n")
                             if line.startswith("#include"))
    parts = ["namespace %s {\n%s\n}" % (name, re.sub(r"(?m)^#include.*", "", text))
             for name, text in texts.items()]
    return "\n".join([*includes, "{BEFORE}", *parts]) + "\n"


HEAD_STATIC = head({name: base.HEAD_STATIC for name, base in BASES.items()}).replace("{BEFORE}", "")
MEASURE = """#include <cstdlib>
#include <malloc.h>
#include <map>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
static int64_t Live, Peak, AtPoints, AtEnd;
static std::string Said;
static void takes(int64_t n) { Live += n; if (Live > Peak) Peak = Live; }
void *operator new(size_t n) { void *p = malloc(n); takes(malloc_usable_size(p)); return p; }
void operator delete(void *p) noexcept { if (p) Live -= malloc_usable_size(p); free(p); }
void operator delete(void *p, size_t) noexcept { operator delete(p); }
""" + held.COUNTING + """static void point() { AtPoints += Live; }
static void ends() { AtEnd = Live; }
static void say(float value) { char text[40]; std::snprintf(text, 40, ",%a", value); Said += text; }
static void say(const torch::Tensor &t) {
  torch::NoGradGuard guard;
  if (!t.defined()) { Said += ",none"; return; }
  torch::Tensor flat = t.detach().to(torch::kFloat).reshape({-1}).contiguous();
  for (int64_t i = 0; i < flat.numel(); ++i) say(flat.data_ptr<float>()[i]);
}
static void addLeaves(torch::autograd::Node *node, std::map<torch::Tensor *, torch::Tensor> &to,
                      std::set<torch::autograd::Node *> &seen) {
  if (!node || !seen.insert(node).second) return;
  if (auto *leaf = dynamic_cast<torch::autograd::AccumulateGrad *>(node)) {
    torch::Tensor &grad = leaf->variable.mutable_grad();
    to[&grad] = grad.defined() ? grad.clone() : grad;
  }
  for (const auto &edge : node->next_edges()) addLeaves(edge.function.get(), to, seen);
}
// What ends with an error leaves some gradients, and none of them counts.
static bool through(const torch::Tensor &t) {
  if (!t.defined() || !t.requires_grad()) return false;
  std::map<torch::Tensor *, torch::Tensor> leaves;
  std::set<torch::autograd::Node *> seen;
  addLeaves(t.grad_fn().get(), leaves, seen);
  try { t.sum().backward(); return true; } catch (...) {
    for (auto &[grad, before] : leaves) *grad = before;
    return false;
  }
}
// The first run fills caches.
template <typename F> static void measured(int id, int key, F f) {
  static const bool once = (at::set_num_threads(1), at::SetAllocator(at::kCPU, &Allocator, 1), true);
  (void)once;
  bool threw = false;
  int64_t before = 0;
  for (int k = 0; k < 2; ++k) {
    torch::manual_seed(1);
    threw = false; Said.clear(); Said.reserve(1 << 20);
    AtPoints = AtEnd = 0; before = Peak = Live;
    // What it leaves switched ends with its thread.
    std::thread([&] { try { f(); } catch (const std::exception &) { threw = true; } }).join();
  }
  if (threw) std::printf("%d %d throws\\n", id, key);
  else std::printf("%d %d %ld %ld %ld %zx\\n", id, key, Peak - before, AtPoints, AtEnd - before,
                   std::hash<std::string>()(Said));
}
"""
DEFINED = {
    "held": "static int64_t Bits;\nbool bit() { bool b = Bits & 1; Bits >>= 1; return b; }\n",
    "history": "Tensor unseen(const Tensor &t) { return t * 2; }\nvoid peek(const Tensor &) {}\n"
               "void look(const Tensor &t) { Said += through(t) ? \",used\" : \",not\"; }\n",
    "mode": "void use(const torch::Tensor &) {}\nvoid touch(int) {}\n"
            "void mayThrow(bool b) { if (b) throw std::runtime_error(\"t\"); }\n",
}
HEADS_RUN = {name: base.HEAD_STATIC for name, base in BASES.items()}
HEADS_RUN["held"] = (held.INCLUDES + held.MODULE % ("Net", "Net", "point(); ") + held.HELPERS
                     + "bool bit();\n")
HEAD_RUN = head({name: text + DEFINED[name] for name, text in HEADS_RUN.items()})
HEAD_RUN = HEAD_RUN.replace("{BEFORE}", MEASURE)
CALLS = {
    "held": """  for (int bits : {0, 0xffff, 0x5a3c, 0x9e61, 0xaaaa, 0x6db6}) measured(@, bits, [=] {
    held::Net net, head;
    held::Bits = bits; held::Kept.clear();
    const float r = held::f@(net, head, torch::ones({32, 32}));
    ends(); say(r);
    for (auto &t : held::Kept) say(t);
  });
""",
    "history": """  for (int b = 0; b < 16; ++b) for (int n : {2, 8}) measured(@, b * 16 + n, [=] {
    bool c[4]; for (int k = 0; k < 4; ++k) c[k] = b >> k & 1;
    history::Net net(2, 2); std::vector<torch::Tensor> log;
    torch::Tensor r = history::f@(net, torch::ones({2}), n, c, log);
    ends(); say(r);
    for (auto &p : net->parameters()) say(p.grad());
    log.push_back(r);
    for (auto &t : log) { say(t); Said += through(t) ? ",can" : ",not"; }
  });
""",
    "mode": """  for (int b = 0; b < 64; ++b) measured(@, b, [=] {
    bool c[6]; for (int k = 0; k < 6; ++k) c[k] = b >> k & 1;
    mode::S@ s;
    const float r = s.f(torch::ones({2}), c, 0);
    ends(); say(r); say(torch::GradMode::is_enabled());
  });
""",
}


def draw(rng, number):
    name = rng.choice(sorted(BASES))
    text = "namespace %s { %s }\n" % (name, BASES[name].draw(rng, number).static.rstrip("\n"))
    return Drawn(text, text, CALLS[name].replace("@", str(number)))


def compared(before, after):
    lower = more = 0
    for key, old in before.items():
        new = after.get(key, "throws")
        if old == "throws":
            continue
        if new == "throws":
            return "false: it throws"
        *was, said = old.split()
        *now, says = new.split()
        if said != says:
            return "false: it computes something else"
        lower += any(int(n) < int(w) - 32 for w, n in zip(was, now))
        more += any(int(n) > int(w) + SLACK for w, n in zip(was, now))
    if more and not lower and "throws" in before.values():
        return "dead"  # What the fix is for may be what throws: a backward() without a graph.
    if more:
        return "false: it takes more " + ("in some runs" if lower else "and never less")
    return "told" if lower else "silent: it takes as much as before"


def verdicts(judge, functions):
    before = judge.truths(functions)
    fixed = {n: Drawn(text, text, functions[n].call)
             for n, text in judge.fixed({n: functions[n] for n in before}).items()}
    after = judge.truths(fixed)
    said = {n: "dead" for n in before}
    said.update({n: "false: it does not compile" for n in fixed})
    said.update({n: compared(before[n], after[n]) for n in after})
    return said
