#
# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The question `layout`: is memory of a tensor read as one piece whose elements do not
lie there in order? Each function makes a tensor, changes its layout by some operators
and reads its memory in some way. Whether it is packed at that moment the library knows
(is_contiguous()); in the text for the tool, nobody asks."""

from judge import Drawn

CHECKS = ("libtorch-strided-access",)

COMMON = """#include <torch/torch.h>
#include <cstdio>
#include <cstring>
#include <vector>
using torch::Tensor;
using torch::indexing::Slice;
using torch::indexing::None;
void use(const std::vector<float> &);
void use(float);
static Tensor same(const Tensor &t) { return t; }
static Tensor turned(const Tensor &t) { return t.transpose(0, 1); }
static Tensor packed(const Tensor &t) { return t.contiguous(); }
static Tensor either(const Tensor &t, bool c) {
  if (c)
    return t.permute({1, 2, 0});
  return t.transpose(0, 1).select(0, 0).unsqueeze(1);
}
class Held {
  Tensor t;
public:
  explicit Held(const Tensor &x) : t(x.permute({2, 0, 1})) {}
  Tensor get() const { return t; }
};
static void sumAll(const Tensor &t) {
  const float *p = t.data_ptr<float>();
  float sum = 0;
  for (int64_t i = 0; i < t.numel(); ++i) sum += p[i];
  use(sum);
}
"""
HEAD_STATIC = COMMON + """#define LOOK(t)
static void readAll(const Tensor &t) {
  std::vector<float> v(t.data_ptr<float>(), t.data_ptr<float>() + t.numel());
  use(v);
}
"""
HEAD_RUN = COMMON + """
static int Bad, Good, Gaps, Ones;
#define LOOK(t) look(t)
static void look(const Tensor &t) {
  (t.is_contiguous() ? Good : Bad)++;
  Gaps += !t.is_non_overlapping_and_dense();
  for (auto size : t.sizes()) Ones += size == 1;
}
static void readAll(const Tensor &) {}
void use(const std::vector<float> &) {}
void use(float) {}
"""

SOURCES = [
    ("torch::rand({2, 3, 4})", 3), ("torch::zeros({4, 5})", 2), ("torch::arange(24).view({2, 3, 4}).to(torch::kFloat)", 3),
    ("torch::ones({1, 3, 4})", 3), ("torch::rand({3, 1, 4})", 3), ("torch::full({6}, 2.0f)", 1),
    ("torch::rand({2, 3, 4, 5})", 4), ("x", 3), ("x.contiguous()", 3), ("same(x)", 3), ("torch::eye(4)", 2),
    ("torch::rand({1, 1, 5})", 3), ("x * 2", 3), ("torch::softmax(x, 1)", 3),
    ("torch::stack({torch::rand({3, 4}), torch::rand({3, 4})})", 3), ("torch::from_blob(blob, {2, 3, 4})", 3),
    ("torch::from_blob(blob, {2, 3}, {1, 2})", 2), ("torch::from_blob(blob, {2, 3}, {4, 1})", 2),
    ("torch::from_blob(blob, {2, 3, 2}, {6, 2, 1})", 3), ("torch::empty_strided({3, 4}, {1, 3})", 2),
    ("torch::empty_strided({3, 4}, {4, 1})", 2), ("either(x, c[0])", 3), ("Held{x}.get()", 3),
]
# Steps of a tensor of some rank: text, change of the rank. D is a dimension, and E another.
STEPS = [
    ("{t}.permute({P})", 0, 2), ("{t}.transpose({D}, {E})", 0, 2), ("{t}.select({D}, 0)", -1, 2),
    ("{t}.slice({D}, 1)", 0, 1), ("{t}.slice({D}, 0, 2)", 0, 1), ("{t}.slice({D}, 0, 9, 2)", 0, 1),
    ("{t}.narrow({D}, 0, 1)", 0, 1), ("{t}.unsqueeze({D})", 1, 1), ("{t}.squeeze()", None, 1),
    ("{t}.squeeze({D})", None, 1), ("{t}.contiguous()", 0, 1), ("{t}.clone()", 0, 1), ("{t}.mul(2)", 0, 1),
    ("{t} + 1", 0, 1), ("2 * {t}", 0, 1), ("{t}.to(torch::kDouble).to(torch::kFloat)", 0, 1),
    ("torch::relu({t})", 0, 1), ("torch::zeros_like({t})", 0, 1), ("{t}.flatten()", "1", 1),
    ("{t}.reshape({-1})", "1", 1), ("{t}[0]", -1, 2), ("{t}.flip({{D}})", 0, 1), ("{t}.cumsum({D})", 0, 1),
    ("{t}.mT()", 0, 2), ("{t}.detach()", 0, 1), ("{t}.cpu()", 0, 1), ("{t}.movedim({D}, {E})", 0, 2),
    ("{t}.index({Slice(), 0})", -1, 2), ("{t}.index({Slice(0, 1)})", 0, 1), ("{t}.index({None, Slice(1, None)})", 1, 1),
    ("same({t})", 0, 1), ("turned({t})", 0, 2), ("packed({t})", 0, 1), ("{t}.to(torch::kFloat)", 0, 1),
    ("{t}.clone(torch::MemoryFormat::Contiguous)", 0, 1), ("{t} + {t}.contiguous()", 0, 1),
    ("{t}.contiguous() + {t}", 0, 1), ("{t}.chunk(2, {D})[0]", 0, 1), ("std::get<0>({t}.max({D}))", -1, 2),
    ("std::get<0>({t}.sort({D}))", 0, 1), ("torch::cat({{t}, {t}}, {D})", 0, 1), ("{t}.sum({D})", -1, 2),
    ("{t}.mul({t}.select(0, 0))", 0, 2), ("{t}.expand({N, -1})", 1, 1), ("{t}.swapaxes({D}, {E})", 0, 2),
    ("{t}.masked_fill({t} > 0.5, 0)", 0, 1), ("{t}.unsqueeze(-1)", 1, 1), ("{t}.permute({P}).permute({P})", 0, 2),
    ("{t}.index({\"...\", 0})", -1, 2), ("{t}.index_select({D}, torch::zeros({1}, torch::kLong))", 0, 1),
    ("{t}.reshape({{t}.size(0), -1})", "2", 1), ("{t}.repeat({R})", 0, 1), ("torch::where({t} > 0, {t}, {t} * 2)", 0, 1),
    ("{t}.as_strided({2, 3}, {{S}})", "2", 1), ("{t}.as_strided({1, 2}, {{S}})", "2", 1), ("either({t}, c[0])", 0, 3),
    ("{t}.exp().add({t})", 0, 1), ("{t}.view({-1})", "1", 1), ("{t}.clamp(0, 1)", 0, 1),
]
# Statements.
CHANGES = ["{t}.transpose_({D}, {E});", "{t}.mul_(2);", "{t}.unsqueeze_({D});", "{t}.add_(1);"]
# How it is read; whether the order matters, and whether gaps do.
READS = [
    ("std::vector<float> v({t}.data_ptr<float>(), {t}.data_ptr<float>() + {t}.numel());\nuse(v);", True),
    ("std::vector<float> v({t}.numel());\nstd::memcpy(v.data(), {t}.data_ptr(), {t}.nbytes());\nuse(v);", True),
    ("std::vector<float> v({t}.numel());\nstd::memcpy(v.data(), {t}.data_ptr<float>(), sizeof(float) * {t}.numel());\nuse(v);", True),
    ("std::vector<float> v;\nconst float *p = {t}.data_ptr<float>();\nfor (int64_t i = 0; i < {t}.numel(); ++i) v.push_back(p[i]);\nuse(v);", True),
    ("float *p = {t}.data_ptr<float>();\nstd::vector<float> v(p, p + {t}.numel());\nuse(v);", True),
    ("float sum = 0;\nfloat *p = {t}.data_ptr<float>();\nfor (int64_t i = 0; i < {t}.numel(); ++i) sum += p[i];\nuse(sum);", False),
    ("std::vector<float> v({t}.numel());\nauto n = {t}.numel();\nauto *p = static_cast<const float *>({t}.data_ptr());\nstd::copy(p, p + n, v.begin());\nuse(v);", True),
    ("std::vector<float> v({t}.numel());\nconst float *p = {t}.data_ptr<float>();\nfor (size_t i = 0; i < v.size(); ++i) v[i] = p[i];\nuse(v);", True),
    ("std::fwrite({t}.data_ptr(), sizeof(float), {t}.numel(), stderr);", True),
    ("std::vector<float> v({t}.numel());\nconst float *p = {t}.data_ptr<float>();\n"
     "auto read = [&] { for (int64_t i = 0; i < {t}.numel(); ++i) v[i] = p[i]; };\nread();\nuse(v);", True),
    ("std::vector<float> v({t}.numel());\n"
     "auto read = [&] { std::memcpy(v.data(), {t}.data_ptr<float>(), {t}.nbytes()); };\nread();\nuse(v);", True),
    ("readAll({t});", True), ("sumAll({t});", False),
]


class Grammar:
    def __init__(self, rng):
        self.rng, self.conditions = rng, 0

    def fill(self, text, name, rank):
        rng = self.rng
        rank = rank or 2
        dims = rng.sample(range(rank), 2) if rank > 1 else [0, 0]
        if rng.random() < .2:
            dims = [d - rank for d in dims]
        order = list(range(rank))
        rng.shuffle(order)
        # Twice the same letters: there and back is another draw.
        back = [order.index(i) for i in range(rank)]
        text = text.replace("{P}", "{" + ", ".join(map(str, order)) + "}", 1)
        text = text.replace("{P}", "{" + ", ".join(map(str, rng.choice([back, order]))) + "}")
        text = text.replace("{S}", rng.choice(["3, 1", "1, 2", "1, 1", "2, 1", "4, 1", "0, 1", "3, 0", "6, 2", "1, 3"]))
        text = text.replace("{R}", "{" + ", ".join(["2"] * rank) + "}")
        text = text.replace("{N, -1}", "{2" + ", -1" * rank + "}")
        return (text.replace("{{D}}", "{%d}" % dims[0]).replace("{D}", str(dims[0]))
                .replace("{E}", str(dims[1])).replace("{t}", name))

    def condition(self):
        self.conditions += 1
        return "c[%d]" % (self.conditions - 1)

    def body(self):
        rng = self.rng
        source, rank = rng.choice(SOURCES)
        out, name = ["Tensor t = %s;" % source], "t"
        for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 4])):
            text, change, least = rng.choice(STEPS)
            if rank is not None and rank < least:
                continue
            if rank is None and change != "1":
                text, change = rng.choice([("{t}.contiguous()", 0), ("{t}.clone()", 0), ("{t} * 2", 0), ("{t}[0]", -1)])
            step = self.fill(text, name, rank)
            kind = rng.random()
            if kind < .2:
                out.append("auto u%d = %s;" % (len(out), step))
                name = "u%d" % (len(out) - 1)
            elif kind < .3 and change == 0 and self.conditions < 3:
                out.append("if (%s) %s = %s;" % (self.condition(), name, step))
            elif kind < .35 and change == 0 and rank and rank > 1:
                out.append(self.fill(rng.choice(CHANGES[:2]), name, rank))
            else:
                out.append("%s = %s;" % (name, step))
            if isinstance(change, str):
                rank = int(change)
            elif change is None:
                rank = None
            elif rank is not None:
                rank += change
        read, order = rng.choice(READS)
        # On one line, so that neither is left without the other.
        out.append("LOOK(%s); " % name + self.fill(read, name, rank).replace("\n", " "))
        return "\n".join(out), order


def draw(rng, number):
    g = Grammar(rng)
    body, order = g.body()
    text = ("void f%d(const Tensor &x, const bool *c, float *blob) {\n%s\n}\n" % (number, body))
    call = ("  Bad = Good = Gaps = Ones = 0;\n  for (int b = 0; b < 8; ++b) {\n    bool c[3] = {(b & 1) != 0, (b & 2) != 0, (b & 4) != 0};\n"
            "    float blob[24] = {};\n    try { f%d(torch::rand({2, 3, 4}), c, blob); } catch (...) {}\n  }\n"
            "  std::printf(\"%d bad %%d\\n%d good %%d\\n%d gaps %%d\\n%d ones %%d\\n%d order %d\\n\", Bad, Good, Gaps, Ones);\n"
            % (number, number, number, number, number, number, order))
    return Drawn(text, text, call)


def judge(drawn, truth, findings):
    bad, good, gaps = (int(truth.get(key, 0)) for key in ("bad", "good", "gaps"))
    if "crash" in truth or not bad + good:
        return "dead"
    wrong = bad if truth["order"] == "1" else gaps
    if findings and not wrong:
        # Sizes that are not known count as larger than 1: level 1 says so.
        what = "a dimension has one element" if int(truth["ones"]) else "it is read as it lies"
        return "false: %s, level %d" % (what, min(f[1] for f in findings))
    if findings and min(f[1] for f in findings) == 0 and good:
        return "false: it lies in order on some paths, level 0"
    if wrong and not findings:
        return "silent: it does not lie in order in %s" % ("some reads" if good else "each read")
    return "told" if wrong else "agree"
