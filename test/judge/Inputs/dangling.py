#
# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The question `dangling`: is a pointer into a tensor, or a tensor over a buffer, read
after the memory is gone? Each function has an owner of memory, a place that keeps what
refers to it, and a read. The program's own allocators know what is gone: they never
give memory out again while a function runs."""

from judge import Drawn

CHECKS = ("libtorch-dangling-tensor-data", "libtorch-dangling-from-blob")

COMMON = """#include <torch/torch.h>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>
using torch::Tensor;
void rd(const float *);
void rd(const Tensor &);
void mayThrow(bool);
struct PView { float *p = nullptr; int n = 0; };
struct TView { Tensor p; int n = 0; };
struct PKeep { float *p = nullptr; void set(float *q) { p = q; } float *get() const { return p; } };
struct TKeep { Tensor p; void set(Tensor q) { p = q; } Tensor get() const { return p; } };
struct Buf { int n = 0; std::vector<float> v; };
static Tensor make(const Tensor &x) { return x + 1; }
static Tensor same(const Tensor &x) { return x; }
static float *data(const Tensor &t) { return t.data_ptr<float>(); }
static Tensor wrap(std::vector<float> &v) { return torch::from_blob(v.data(), {1234}); }
static void put(float *v, float **to) { *to = v; }
static void put(Tensor v, Tensor *to) { *to = v; }
template <class T> void add(std::vector<T> &to, T v) { to.push_back(v); }
static PView pack(float *p) { PView v; v.p = p; v.n = 1; return v; }
static TView pack(Tensor p) { return {p, 1}; }
"""
HEAD_STATIC = COMMON
HEAD_RUN = COMMON + """
#include <cstdlib>
#include <new>
static std::map<const char *, std::pair<size_t, bool>> *Known;
static int Bad, Good;
static char *take(size_t n) {
  char *p = static_cast<char *>(std::malloc(n + 64));
  auto *known = Known;
  Known = nullptr;
  (*known)[p] = {n, true};
  Known = known;
  return p;
}
static bool give(const void *p) {
  auto *known = Known;
  if (!known) return false;
  Known = nullptr;
  auto it = known->find(static_cast<const char *>(p));
  if (it != known->end()) it->second.second = false;
  Known = known;
  return it != known->end();
}
static void sweep() {
  auto *known = Known;
  Known = nullptr;
  for (auto it = known->begin(); it != known->end();)
    if (it->second.second) ++it;
    else { std::free(const_cast<char *>(it->first)); it = known->erase(it); }
  Known = known;
}
void *operator new(size_t n) { return Known && n == 4936 ? take(n) : std::malloc(n ? n : 1); }
void *operator new[](size_t n) { return operator new(n); }
void operator delete(void *p) noexcept { if (!give(p)) std::free(p); }
void operator delete(void *p, size_t) noexcept { operator delete(p); }
void operator delete[](void *p) noexcept { operator delete(p); }
void operator delete[](void *p, size_t) noexcept { operator delete(p); }
struct Watched : c10::Allocator {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
  void copy_data(void *to, const void *from, size_t n) const override { std::memcpy(to, from, n); }
  c10::DataPtr allocate(size_t n) override {
#else
  c10::DataPtr allocate(size_t n) const override {
#endif
    char *p = take(n);
    return {p, p, [](void *q) { give(q); }, c10::Device(c10::kCPU)};
  }
};
static bool Ready = [] {
  static Watched w;
  Known = new std::map<const char *, std::pair<size_t, bool>>;
  c10::SetAllocator(c10::kCPU, &w, 100);
  return true;
}();
void rd(const float *p) {
  if (!p) return;
  auto it = Known->upper_bound(reinterpret_cast<const char *>(p));
  if (it == Known->begin()) return;
  --it;
  if (reinterpret_cast<const char *>(p) >= it->first + it->second.first) return;
  (it->second.second ? Good : Bad)++;
}
void rd(const Tensor &t) { if (t.defined()) rd(t.data_ptr<float>()); }
void mayThrow(bool b) { if (b) throw std::runtime_error("t"); }
"""

# What makes the owner, what it is called, and how often it is taken.
TENSORS = [
    ("Tensor t = x * 2;", "t"), ("auto t = make(x);", "t"), ("Tensor t = x;", "t"),
    ("auto t = x.view({-1});", "t"), ("auto t = same(x);", "t"), ("auto t = x.contiguous();", "t"),
    ("Tensor t = torch::zeros({1234});", "t"), ("", "(x * 2)"), ("", "make(x)"), ("", "x"),
    ("Tensor t = x.clone();\nkept.push_back(t);", "t"), ("const Tensor &t = x * 2;", "t"),
    ("auto t = {c} ? x : x.clone();", "t"),
]
POINTERS = ["{o}.data_ptr<float>()", "{o}.data_ptr<float>() + 1", "data({o})",
            "&{o}.data_ptr<float>()[1]"]
BUFFERS = [
    ("std::vector<float> v(1234);", "v.data()"), ("std::vector<float> v(1234);", "wrap(v)"),
    ("auto v = std::make_unique<float[]>(1234);", "v.get()"),
    ("Buf b;\nb.v.resize(1234);", "b.v.data()"), ("static std::vector<float> v(1234);", "v.data()"),
    ("auto *v = new std::vector<float>(1234);", "v->data()"),
    ("std::vector<float> v(1234);\nbuffers.push_back(std::move(v));", "buffers.back().data()"),
    ("auto v = std::make_shared<std::vector<float>>(1234);", "v->data()"),
]
BLOBS = ["torch::from_blob({o}, {1234})", "torch::from_blob({o}, {1234}).view({617, 2})",
         "torch::from_blob({o}, {1234}).clone()", "torch::from_blob({o} + 4, {1230})",
         "torch::from_blob({o}, {1234}) + 1"]

# Type, stores and reads of a place; V is the type of a value, I one that stays.
PLACES = [
    ("{V}", ["q = {v};", "put({v}, &q);", "q = {c} ? {v} : {I};", "q = pack({v}).p;"],
     ["rd(q);", "auto r = q;\nrd(r);"]),
    ("std::vector<{V}>", ["q.push_back({v});", "q.emplace_back({v});", "q.insert(q.end(), {v});",
                          "add<{V}>(q, {v});", "q = {{v}, {I}};", "q = {{I}};"],
     ["for (auto &e : q) rd(e);", "for (auto e : q) rd(e);",
      "for (size_t k = 0; k < q.size(); ++k) rd(q[k]);"]),
    ("std::array<{V}, 2>", ["q[0] = {v};", "q[1] = {v};", "q[n % 2] = {v};"],
     ["for (auto &e : q) rd(e);", "rd(q[0]);", "rd(q[1]);"]),
    ("std::map<int, {V}>", ["q[0] = {v};", "q[1] = {v};", "q.emplace(2, {v});", "q.insert_or_assign(3, {v});"],
     ["for (auto &e : q) rd(e.second);", "for (auto &[k, e] : q) rd(e);", "rd(q[0]);"]),
    ("{S}View", ["q.p = {v};", "q = {S}View{{v}, 1};", "q = {{v}, 1};", "q = pack({v});",
                 "auto &s = q;\ns.p = {v};", "q.n = pack({v}).n;"],
     ["rd(q.p);", "q.n++;", "auto r = q;\nrd(r.p);", "auto &s = q;\nrd(s.p);", "auto [p, m] = q;\nrd(p);"]),
    ("std::vector<{S}View>", ["q.push_back({{v}, 1});", "q.push_back(pack({v}));",
                              "q.emplace_back({S}View{{v}, 2});", "q.emplace_back();\nq.back().p = {v};",
                              "q.resize(2);\nauto &s = q[1];\ns.p = {v};", "q.resize(2);\nq[n % 2].p = {v};"],
     ["for (auto &e : q) rd(e.p);", "for (auto &e : q) e.n++;", "for (const auto &e : q) rd(e.p);",
      "for (size_t k = 0; k < q.size(); ++k) rd(q[k].p);"]),
    ("std::tuple<{V}, int>", ["q = std::make_tuple({v}, 1);", "std::get<0>(q) = {v};", "q = {{v}, 2};",
                              "int m;\nstd::tie(std::get<0>(q), m) = std::make_tuple({v}, 1);"],
     ["rd(std::get<0>(q));", "auto [e, k] = q;\nrd(e);", "(void)std::get<1>(q);"]),
    ("std::pair<int, {V}>", ["q.second = {v};", "q = {1, {v}};", "q = std::make_pair(2, {v});"],
     ["rd(q.second);", "q.first++;", "auto &[k, e] = q;\nrd(e);"]),
    ("std::function<void()>", ["q = [e = {v}] { rd(e); };", "auto e = {v};\nq = [e] { rd(e); };",
                               "auto e = {v};\nq = [=] { rd(e); };", "auto e = {v};\nq = [e, x] { rd(x), rd(e); };"],
     ["if (q) q();"]),
    ("std::optional<{V}>", ["q = {v};", "q.emplace({v});"], ["if (q) rd(*q);", "if (q) rd(q.value());",
                                                             "rd(q.value_or({I}));"]),
    ("std::unique_ptr<{S}View>", ["q = std::make_unique<{S}View>();\nq->p = {v};",
                                  "q.reset(new {S}View{{v}, 1});"], ["if (q) rd(q->p);"]),
    ("{S}Keep", ["q.set({v});", "q.p = {v};"], ["rd(q.get());", "rd(q.p);"]),
]


class Grammar:
    def __init__(self, rng):
        self.rng, self.conditions = rng, 0
        blob = rng.random() < .4
        self.types = {"V": "Tensor" if blob else "float *", "S": "T" if blob else "P",
                      "I": "x" if blob else "x.data_ptr<float>()"}
        self.make, owner = rng.choice(BUFFERS if blob else TENSORS)
        form = rng.choice(BLOBS if blob else POINTERS)
        self.make = self.fill(self.make)
        self.value = owner if owner.startswith("wrap") else form.replace("{o}", owner)
        self.owner = owner
        kind, stores, reads = rng.choice(PLACES)
        self.kind, self.stores, self.reads = self.fill(kind), stores, reads

    def fill(self, text, value=""):
        text = text.replace("{v}", value)
        if "{c}" in text:
            text = text.replace("{c}", self.condition())
        for key, of in self.types.items():
            text = text.replace("{%s}" % key, of)
        return text

    def condition(self):
        """Each has its own: the tool does not compare them."""
        self.conditions += 1
        return "c[%d]" % (self.conditions - 1)

    def store(self, value):
        return self.fill(self.rng.choice(self.stores), value)

    def other(self):
        """What stays is stored."""
        return "{\n" + self.store(self.types["I"]) + "\n}"

    def read(self):
        text = self.fill(self.rng.choice(self.reads))
        return "{\n" + text + "\n}" if "\n" in text else text

    def inner(self):
        """The owner, what is stored of it, and what happens before it goes."""
        rng, out = self.rng, []
        if self.make:
            out.append(self.make)
        out.append(self.store(self.value))
        if self.owner == "t" and "const" not in self.make and rng.random() < .2:
            out.append(rng.choice(["t = x + 1;", "t = Tensor();", "t.reset();", "t = t * 2;"]))
        if rng.random() < .2:
            out.append(self.read())
        if rng.random() < .1:
            out.append("mayThrow(%s);" % self.condition())
        return "\n".join(out)

    def around(self, body):
        kind = self.rng.choice(["", "", "{}", "if", "for", "while", "switch", "try", "else"])
        if not kind:
            return body
        body = "{\n" + body + "\n}"
        other = self.other()
        return {"{}": body, "if": "if (%s) %s" % (self.condition(), body),
                "for": "for (int i = 0; i < 2; ++i) " + body,
                "while": "int w = 0;\nwhile (w++ < 2) " + body,
                "switch": "switch (int(%s)) {\ncase 1: %s break;\ndefault: %s\n}" % (self.condition(), body, other),
                "else": "if (%s) %s else %s" % (self.condition(), other, body),
                "try": "try %s catch (const std::exception &) {\n}" % body}[kind]

    def body(self):
        rng, out = self.rng, []
        if rng.random() < .3:
            out.append(self.other())
        out.append(self.around(self.inner()))
        if rng.random() < .2:
            out.append(self.other())
        if rng.random() < .1:
            out.append("if (%s) %s" % (self.condition(), self.other()))
        if rng.random() < .1:
            out.append("if (%s) throw 1;" % self.condition())
        return "\n".join(out)


def draw(rng, number):
    while True:
        g = Grammar(rng)
        body = g.body()
        if g.conditions <= 4:
            break
    where = rng.choice(["local", "local", "member", "return", "out"])
    param = rng.choice(["const Tensor &x", "Tensor x"])
    begin, end, args, result, q = "", "", "", "void", ""
    if where == "local":
        begin, end = "%s q{};\n" % g.kind, g.read() + "\n"
    elif where == "member":
        q = "%s q{};\n" % g.kind
    elif where == "return":
        begin, end, result = "%s q{};\n" % g.kind, "return q;\n", g.kind
    else:
        args = ", %s &q" % g.kind
    text = ("struct S%d {\nstd::vector<Tensor> kept;\nstd::vector<std::vector<float>> buffers;\n%s"
            "%s f(%s, const bool *c, int n%s) {\n%s%s\n%s}\n};\n"
            % (number, q, result, param, args, begin, body, end))
    read = {"local": "s.f(x, c, n);", "member": "s.f(x, c, n);\nauto &q = s.q;\n%s",
            "return": "auto q = s.f(x, c, n);\n%s", "out": "%s q{};\ns.f(x, c, n, q);\n%%s" % g.kind}[where]
    if where != "local":
        read = read % g.fill(g.reads[0])
    call = ("  Bad = Good = 0;\n  for (int b = 0; b < 128; ++b) {\n    bool c[5];\n"
            "    for (int k = 0; k < 5; ++k) c[k] = b >> k & 1;\n"
            "    Tensor x = b & 32 ? torch::ones({1234}) : torch::ones({2468}).slice(0, 0, 2468, 2);\n"
            "    S%d s;\n    try { int n = b >> 6;\n%s\n} catch (...) {}\n    s = {};\n  }\n  sweep();\n"
            "  std::printf(\"%d bad %%d\\n%d good %%d\\n\", Bad, Good);\n" % (number, read, number, number))
    return Drawn(text, text, call)


def judge(drawn, truth, findings):
    bad, good = int(truth.get("bad", 0)), int(truth.get("good", 0))
    if "crash" in truth:
        return "dead"
    if findings and not bad:
        level = min(f[1] for f in findings)
        return "false: nothing that is read is gone, level %d" % level
    if bad and not findings:
        return "silent: it is gone in %s" % ("some reads" if good else "each read")
    return "told" if bad else "agree" if good else "dead"
