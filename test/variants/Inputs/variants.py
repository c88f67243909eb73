"""Programs over which fixes are tried: sources of history, consumers and control flow,
combined by chance. Each variant is a function of its own that prints what it computes.

A kind says which check's fixes it is for, and how a variant of it is drawn. The pieces
are chosen so that for many of them the fix would be wrong: then none may be offered.
"""

import random
import re

# What a program gets its history from: what stands before the loop, a scalar computed
# from it in iteration i, and the leaf that gradients are read from.
SOURCES = {
    "module": ("Net net;", "net->forward(batch(i)).sum()", "net->first->weight"),
    "loss": ("Net net;", "torch::mse_loss(net(batch(i)), target(i))", "net->first->weight"),
    "criterion": ("Net net;\n  torch::nn::MSELoss criterion;",
                  "criterion(net(batch(i)), target(i))", "net->second->weight"),
    "sequential": ("torch::nn::Sequential net(torch::nn::Linear(4, 4), torch::nn::Tanh(), "
                   "torch::nn::Linear(4, 1));",
                   "net->forward(batch(i)).mean()", "net->parameters()[0]"),
    "leaf": ("auto weight = torch::full({4}, 0.5, torch::requires_grad());",
             "(weight * weight * batch(i)).sum()", "weight"),
    "made a leaf": ("auto weight = torch::full({4}, 0.5);\n  weight.set_requires_grad(true);",
                    "(batch(i) * weight.exp()).sum()", "weight"),
    "parameter": ("Net net;", "net->first->weight.pow(2).sum() * (i + 1)", "net->first->weight"),
    "helper": ("Net net;", "loss_of(net, i)", "net->first->weight"),
    "input": ("Net net;\n  auto input = torch::full({3, 4}, 0.25, torch::requires_grad());",
              "net(input * (i + 1)).sum()", "input"),
    "frozen": ("Net net;\n  for (auto &parameter : net->parameters())\n"
               "    parameter.set_requires_grad(false);\n"
               "  auto weight = torch::full({4}, 0.5, torch::requires_grad());",
               "net(batch(i) * weight).sum()", "weight"),
    "no history": ("auto weight = torch::full({4}, 0.5, torch::requires_grad());",
                   "batch(i).sum()", "weight"),
}

# %s is the body of an iteration with the number i.
LOOPS = {
    "for": "for (int i = 0; i < rounds(); ++i) {\n%s\n  }",
    "while": "int i = 0;\n  while (i < rounds()) {\n%s\n    ++i;\n  }",
    "do": "int i = 0;\n  do {\n%s\n    ++i;\n  } while (i < rounds());",
    "range": "for (int i : numbers()) {\n%s\n  }",
    "nested": "for (int j = 0; j < rounds(); j += 2)\n    for (int i = j; i < j + 2; ++i) {\n%s\n    }",
    "if": "for (int i = 0; i < rounds(); ++i) {\n    if (i != 1) {\n%s\n    }\n  }",
    "try": "for (int i = 0; i < rounds(); ++i) {\n    try {\n%s\n    } catch (const c10::Error &) {\n"
           "      out.add(\"caught\");\n    }\n  }",
    "lambda": "auto step = [&](int i) {\n%s\n  };\n  for (int i = 0; i < rounds(); ++i)\n    step(i);",
}

PRELUDE = """#include "variants.h"

using namespace variants;

struct NetImpl : torch::nn::Module {
  NetImpl() {
    first = register_module("first", torch::nn::Linear(4, 4));
    second = register_module("second", torch::nn::Linear(4, 1));
  }
  torch::Tensor forward(const torch::Tensor &x) { return second(torch::relu(first(x))); }
  torch::nn::Linear first{nullptr}, second{nullptr};
};
TORCH_MODULE(Net);

static torch::Tensor loss_of(Net &net, int i) {
  return torch::mse_loss(net->forward(batch(i)), target(i));
}
"""


class Kind:
    """A family of programs: `check` is the check whose fixes it is for, `draw(pick)` makes
    the body of one, with `pick` to choose from a list or the items of a table; `prelude`
    is what all of them need. Where a program is undefined, or not what its author meant,
    a part of its body is @[written|meant]@."""

    def __init__(self, check, draw, prelude=""):
        self.check, self.draw, self.prelude = check, draw, prelude


def accumulation(pick):
    """Sums over a loop: of what is only read, and of what is back-propagated."""
    setup, value, leaf = pick(SOURCES)
    declare, add = pick([
        ("torch::Tensor total = torch::zeros({});", "total += %s;"),
        ("torch::Tensor total = torch::zeros({});", "total = total + %s;"),
        ("torch::Tensor total = torch::zeros({1});", "total = %s + total;"),
        ("auto total = torch::zeros({});", "total = total.add(%s);"),
        ("auto total = torch::zeros({});", "total.add_(%s);"),
        ("auto total = torch::zeros({});", "total = total + %s * 0.5;"),
        ("torch::Tensor total;", "total = total.defined() ? total + %s : torch::zeros({});"),
        ("std::vector<torch::Tensor> kept;", "kept.push_back(%s);"),
        ("std::vector<torch::Tensor> kept;", "kept.emplace_back(%s * 2);"),
    ])
    body = pick([
        "    " + add % value,
        "    auto loss = %s;\n    %s" % (value, add % "loss"),
        "    auto loss = %s;\n    loss.backward();\n    %s" % (value, add % "loss"),
        "    auto loss = %s;\n    %s\n    loss.backward();" % (value, add % "loss"),
        "    auto loss = %s;\n    if (loss.requires_grad())\n      loss.backward();\n    %s"
        % (value, add % "loss"),
    ])
    total = "torch::stack(kept).sum()" if "kept" in declare else "total"
    inside = pick(["", "", "", "\n    out.add(%s);" % total, "\n    if (i == 3)\n      %s.sum().backward();"
                   % total])
    after = pick([
        "out.add(%s);", "out.add(%s.item<float>());", "out.add(%s.detach());",
        "out.add(%s / 4);", "%s.sum().backward();", "(%s / 4).sum().backward();",
        "out.add(torch::autograd::grad({%s.sum()}, {" + leaf + "})[0]);",
        "finish(out, %s);", "auto mean = %s / 4;\n  mean.sum().backward();\n  out.add(mean);",
        "torch::autograd::backward({%s.sum()});", "keep() = %s;\n  out.add(keep());",
    ]) % total
    return "  %s\n  %s\n  %s\n  %s\n  out.add(%s.grad());" % (
        setup, declare, pick(LOOPS) % (body + inside), after, leaf)


def retained(pick):
    """Graphs that are walked once, twice, or by way of a part of them."""
    setup, value, leaf = pick(SOURCES)
    keep = pick(["loss.backward({}, true);", "loss.backward({}, /*retain_graph=*/true);",
                 "loss.backward(torch::ones_like(loss), true);",
                 "torch::autograd::backward({loss}, {}, true);",
                 "loss.backward({}, true, false);",
                 "out.add(torch::autograd::grad({loss}, {%s}, {}, true)[0]);" % leaf])
    again = pick([
        "", "", "", "    out.add(loss);\n", "    loss.backward();\n", "    loss.backward({}, true);\n",
        "    (loss * 2).sum().backward();\n", "    if (i == 2)\n      loss.backward();\n",
        "    out.add(torch::autograd::grad({loss}, {%s})[0]);\n" % leaf,
        "    again(loss);\n", "    shared.sum().backward();\n",
        "    auto second = shared.mean();\n    second.backward();\n",
        "    last = loss;\n", "    total = total + loss.detach();\n",
        "    [&] { loss.backward(); }();\n", "    kept.push_back(loss);\n",
    ])
    where = pick(["inside", "inside", "outside"])
    shared = "auto shared = %s;" % value
    loss = "auto loss = (shared * shared + shared).sum();"
    if where == "outside":
        head, body = "const int i = 1;\n  (void)i;\n  %s" % shared.replace("batch(i)", "batch(1)"), ""
        loop = "for (int k = 0; k < rounds() / 2; ++k) {\n%s\n  }"
    else:
        head, body, loop = "", "    %s\n" % shared, pick(LOOPS)
    body += "    %s\n    %s\n%s" % (loss, keep, again)
    after = pick(["", "", "out.add(last);", "if (last.defined())\n    last.backward();",
                  "for (auto &loss : kept)\n    loss.backward();", "out.add(total);"])
    return ("  %s\n  torch::Tensor last, total = torch::zeros({});\n"
            "  std::vector<torch::Tensor> kept;\n  %s\n  %s\n  %s\n  out.add(%s.grad());"
            % (setup, head, loop % body.rstrip("\n"), after, leaf))


def inference(pick):
    """Forward passes after eval(), of which some are back-propagated after all."""
    model = pick(["Net net;", "Net net;\n  net->eval();", "Net net;\n  net->train(false);",
                  "Net net;\n  net->eval();\n  torch::optim::SGD optimizer(net->parameters(), 0.1);"])
    source = pick(["batch(i)", "batch(i)", "input", "batch(i).requires_grad_()", "input * 2"])
    forward = pick(["auto y = net->forward(%s);", "auto y = net(%s);",
                    "torch::Tensor y;\n    y = net->forward(%s);",
                    "auto y = torch::softmax(net->forward(%s), 1);",
                    "auto hidden = net->first(%s);\n    auto y = net->second(hidden);"]) % source
    use = pick([
        "out.add(y);", "out.add(y.argmax(0));", "out.add(y.max().item<float>());",
        "results.push_back(y);", "last = y;", "y.sum().backward();",
        "out.add(torch::autograd::grad({y.sum()}, {net->first->weight})[0]);",
        "again(y.sum());", "if (i == 2)\n      y.mean().backward();",
        "auto loss = torch::mse_loss(y, target(i));\n    out.add(loss.item<float>());",
        "auto loss = torch::mse_loss(y, target(i));\n    loss.backward();",
        "y.retain_grad();\n    out.add(y);",
        "y.register_hook([](const torch::Tensor &grad) { return grad * 2; });\n    out.add(y);",
        "if (y.requires_grad())\n      y.sum().backward();\n    out.add(y);",
        "auto noise = torch::rand({3, 4}, torch::requires_grad());\n"
        "    net->forward(noise).sum().backward();\n    out.add(noise.grad());\n    out.add(y);",
    ])
    after = pick([
        "", "", "", "for (auto &result : results)\n    out.add(result);", "out.add(last);",
        "net->train();\n  net->forward(batch(0)).sum().backward();",
        "if (last.defined())\n    last.sum().backward();",
        "for (auto &result : results)\n    result.sum().backward();",
        "train(net);", "finish(out, net->forward(batch(2)).sum());",
        "auto weight = torch::ones({2}, torch::requires_grad());\n"
        "  (weight * 2).sum().backward();\n  out.add(weight.grad());",
        "auto made = torch::ones({2}) * net->first->weight.sum();\n  made.sum().backward();",
    ])
    return ("  auto input = torch::full({3, 4}, 0.25, torch::requires_grad());\n  %s\n"
            "  std::vector<torch::Tensor> results;\n  torch::Tensor last;\n  %s\n  %s\n"
            "  out.add(input.grad());\n  out.add(net->first->weight.grad());"
            % (model, pick(LOOPS) % ("    %s\n    %s" % (forward, use)), after))


def concatenation(pick):
    """Tensors that grow by cat in a loop, and are read in it or after it."""
    start = pick(["torch::Tensor all;", "torch::Tensor all = torch::empty({0, 4});",
                  "torch::Tensor all = torch::zeros({1, 4});", "auto all = batch(0);",
                  "torch::Tensor all = base;"])
    part = pick(["batch(i)", "batch(i)", "batch(i) * 2", "net->first(batch(i))", "base", "buffer",
                 "buffer.clone()", "batch(i).slice(0, 0, i)"])
    join = pick(["all = torch::cat({all, part});", "all = torch::cat({all, part}, 0);",
                 "all = torch::cat({part, all});", "all = torch::vstack({all, part});",
                 "all = torch::concat({all, part}, 0);", "all = torch::cat({all, part}, 1);"])
    if start == "torch::Tensor all;":
        join = pick(["if (!all.defined())\n      all = part;\n    else\n      %s" % join,
                     "all = all.defined() ? torch::cat({all, part}) : part;",
                     "if (i == 0)\n      all = part;\n    else\n      %s" % join])
    extra = pick(["", "", "", "\n    out.add(all);", "\n    if (all.size(0) > 6)\n      break;",
                  "\n    out.add(part);", "\n    if (i == 2)\n      continue;", "\n    part.mul_(2);",
                  "\n    out.add(static_cast<double>(all.size(0)));", "\n    snapshot = all;"])
    loop = pick({name: text for name, text in LOOPS.items()
                 if name != "lambda" or ("break" not in extra and "continue" not in extra)})
    loop = loop.replace("i < rounds()", pick(["i < rounds()", "i < rounds()", "i < limit"]))
    after = pick(["out.add(all);", "out.add(all);\n  out.add(snapshot);", "out.add(all.sum());",
                  "all.mul_(3);\n  out.add(all);\n  out.add(base);",
                  "all.sum().backward();", "base.mul_(2);\n  out.add(all);",
                  "if (all.defined())\n    out.add(all);"])
    if "continue" in extra and "while" in loop:
        extra = ""
    body = "    buffer.add_(1);\n    auto part = %s;\n    %s%s" % (part, join, extra)
    return ("  Net net;\n  const int limit = %s;\n  (void)limit;\n"
            "  torch::Tensor base = batch(1), buffer = batch(2), snapshot;\n  %s\n  %s\n  %s\n"
            "  out.add(net->first->weight.grad());"
            % (pick(["0", "1", "3"]), start, loop % body, after))


def discarded(pick):
    """Results that are dropped, of tensors that others refer to or that have history."""
    made = pick(["auto x = batch(1);", "auto x = net->forward(batch(1));",
                 "auto x = torch::ones({3, 4}, torch::requires_grad());", "auto &x = base;",
                 "torch::Tensor x = base;", "auto x = base * 1;"])
    # Only what leaves the values, the shape and the type as they are: other results are
    # dropped by mistake, and what the program computes changes with the fix.
    call = pick(["x.detach();", "x.contiguous();", "x.to(torch::kFloat);", "x.cpu();", "x.clone();",
                 "x.requires_grad_();", "x.to(torch::kCPU);", "x.type_as(x);", "x.view({3, 4});",
                 "x.reshape({3, 4});", "x.to(base);"])
    use = pick(["", "x.sum().backward();", "x.mul_(2);", "out.add(x.sum());",
                "if (x.requires_grad())\n    x.sum().backward();", "again(x.sum());",
                "auto y = x * 2;\n  y.sum().backward();", "x.zero_();"])
    return ("  Net net;\n  torch::Tensor base = batch(2);\n  %s\n  auto other = x;\n  %s\n  %s\n"
            "  out.add(other.sum());\n  out.add(base);\n  out.add(net->first->weight.grad());"
            % (made, call, use))


def sizes(pick):
    """Elements that are copied by their number of bytes. What is meant is all of them."""
    dtype, element = pick([("torch::kFloat32", "float"), ("torch::kFloat64", "double"),
                           ("torch::kInt64", "int64_t"), ("torch::kInt32", "int32_t"),
                           ("torch::kUInt8", "uint8_t")])
    one_byte = element == "uint8_t"
    name = "sizeof(%s)" % dtype
    of_dtype = "@[sizeof(t.dtype())|t.element_size()]@"
    size = pick([name if one_byte else "@[%s|sizeof(%s)]@" % (name, element),
                 "@[sizeof(t.scalar_type())|t.element_size()]@", "t.element_size()",
                 "sizeof(T)" if one_byte else of_dtype, "sizeof(%s)" % element, "sizeof(v[0])",
                 "t.itemsize()", "elementSize(t.scalar_type())"])
    count = pick(["%s * t.numel()", "t.numel() * %s", "n * %s", "%s * 3 * 4", "(%s) * v.size()"])
    number = count % size
    if not one_byte and pick([True, False, False]):
        number = "@[%s|%s * sizeof(%s)]@" % (("t.numel()", "t.numel()", element)
                                             if pick([True, False]) else ("n", "n", element))
    copy = pick(["std::memcpy(v.data(), t.data_ptr<T>(), %s);", "std::memmove(v.data(), t.data_ptr<T>(), %s);",
                 "std::memcpy(u.data_ptr<T>(), t.data_ptr<T>(), %s);\n  out.add(u);",
                 "T *from = t.data_ptr<T>();\n  std::memcpy(v.data(), from, %s);",
                 "const size_t bytes = %s;\n  std::memcpy(v.data(), t.data_ptr<T>(), bytes);",
                 "std::stringstream file;\n  file.write(reinterpret_cast<const char *>(t.data_ptr<T>()), %s);\n"
                 "  file.read(reinterpret_cast<char *>(v.data()), v.size() * sizeof(T));"])
    # What names an element type is itself a value, which has a size.
    extra = pick(["", "", "const auto kind = t.scalar_type();\n  char header[16] = {};\n"
                      "  std::memcpy(header, &kind, sizeof(kind));\n  out.add(static_cast<double>(header[0]));",
                  "const auto kind = t.scalar_type();\n  char header[16] = {};\n"
                  "  std::memcpy(header, &kind, sizeof(t.scalar_type()));\n"
                  "  out.add(static_cast<double>(header[1]));",
                  "out.add(static_cast<double>(sizeof(torch::ScalarType)));",
                  "out.add(static_cast<double>(t.nbytes() / sizeof(T)));"])
    return ("  using T = %s;\n  auto t = torch::arange(1, 13, %s).reshape({3, 4});\n"
            "  auto u = torch::zeros_like(t);\n  std::vector<T> v(12);\n  const int64_t n = t.numel();\n"
            "  (void)n;\n  %s\n  %s\n  for (T element : v)\n    out.add(static_cast<double>(element));\n"
            % (element, dtype, extra, copy % number))


def views(pick):
    """Views that are kept, and written through or read after their base changed."""
    view = pick(["whole[i]", "whole.slice(0, i, i + 1)", "whole.narrow(0, 0, 1)",
                 "whole.select(1, i)", "whole.chunk(3)[0]", "whole.index({i})",
                 "whole.unbind()[i % 3]", "whole.slice(0, 0, 1).contiguous()", "whole[i].to(torch::kFloat)"])
    view = view.replace("i)", "i % 3)").replace("[i]", "[i % 3]").replace("{i}", "{i % 3}") \
        .replace("i, i + 1", "i % 3, i % 3 + 1").replace("i % 3 % 3", "i % 3")
    whole = pick(["auto whole = batch(i);", "auto whole = net->first(batch(i));",
                  "auto whole = base;", "auto whole = base * 2;", "auto &whole = base;"])
    keep = pick(["kept.push_back(%s);", "kept.emplace_back(%s);", "named[\"a\"] = %s;\n    kept = {named[\"a\"]};",
                 "auto part = %s;\n    kept.push_back(part);", "store().push_back(%s);"]) % view
    write = pick(["", "", "\n    whole.mul_(2);", "\n    if (!kept.empty())\n      kept.back().add_(1);", "\n    base.add_(1);",
                  "\n    out.add(whole);"])
    after = pick(["", "base.mul_(2);", "for (auto &part : kept)\n    part.zero_();",
                  "for (auto &part : kept)\n    part.sum().backward();",
                  "store().clear();", "if (!kept.empty())\n    kept[0].fill_(3);"])
    return ("  Net net;\n  torch::Tensor base = batch(2);\n  std::vector<torch::Tensor> kept;\n"
            "  std::map<std::string, torch::Tensor> named;\n  store().clear();\n  %s\n  %s\n"
            "  for (auto &part : kept)\n    out.add(part);\n  for (auto &part : store())\n"
            "    out.add(part);\n  out.add(base);\n  out.add(net->first->weight.grad());"
            % (pick(LOOPS) % ("    %s\n    %s%s" % (whole, keep, write)), after))


def long_lived(pick):
    """Tensors that are declared before the loop which makes them."""
    setup, value, leaf = pick(SOURCES)
    declare = pick(["torch::Tensor scores;", "torch::Tensor scores = torch::zeros({});",
                    "torch::Tensor scores, other;", "auto scores = torch::ones({});",
                    "static torch::Tensor scores;"])
    before = pick(["", "", "if (scores.defined())\n      out.add(scores);\n    ",
                   "if (i > 0)\n      scores.backward();\n    ", "auto old = scores;\n    "])
    assign = pick(["scores = %s;", "scores = %s;", "if (i % 2 == 0)\n      scores = VALUE;",
                   "scores = torch::exp(%s);", "scores = wide(%s);"])
    assign = assign.replace("VALUE", value) if "VALUE" in assign else assign % value
    use = pick(["out.add(scores);", "out.add(scores.sum().item<float>());", "scores.sum().backward();",
                "auto loss = scores.mean();\n    loss.backward();",
                "results.push_back(scores);", "out.add(scores.detach() * 2);", ""])
    after = pick(["", "", "", "out.add(scores);", "scores.sum().backward();",
                  "auto later = [&] { out.add(scores); };\n  later();",
                  "for (auto &result : results)\n    out.add(result);",
                  "out.add(net2->forward(batch(3)));"])
    return ("  %s\n  Net net2;\n  std::vector<torch::Tensor> results;\n  %s\n  %s\n  %s\n"
            "  out.add(%s.grad());"
            % (setup, declare, pick(LOOPS) % ("    %s%s\n    %s" % (before, assign, use)), after, leaf))


def hidden_state(pick):
    """State that is carried over iterations: cut off, or back-propagated as a whole."""
    cell = pick([("torch::nn::GRUCell cell(4, 4);", "state = cell(batch(i), state);", "state"),
                 ("torch::nn::Linear cell(4, 4);", "state = torch::tanh(cell(state) + batch(i));", "state"),
                 ("torch::nn::LSTMCell cell(4, 4);",
                  "auto next = cell(batch(i), std::make_tuple(state, memory));\n"
                  "    state = std::get<0>(next);\n    memory = std::get<1>(next);", "state"),
                 ("torch::nn::Linear cell(4, 4);", "state = state + cell(batch(i));", "state")])
    backward = pick(["auto loss = state.sum();\n    loss.backward();", "state.sum().backward();",
                     "total = total + state.sum();", "out.add(state.sum().item<float>());",
                     "losses.push_back(state.mean());",
                     "if (i == 3)\n      state.sum().backward();",
                     "auto loss = state.sum();\n    loss.backward({}, true);"])
    after = pick(["", "total.backward();", "torch::stack(losses).sum().backward();", "out.add(state);",
                  "state.sum().backward();"])
    if "losses" in after and "losses" not in backward or "total" in after and "total" not in backward:
        after = ""
    # With retain_graph each loss goes through all iterations before it; the fix cuts
    # them off, as its page says, so gradients are compared where there is one walk.
    grads = "" if "backward();" in backward and "i == 3" not in backward or "true)" in backward \
        else "\n  out.add(cell->parameters()[0].grad());"
    return ("  %s\n  auto state = torch::zeros({3, 4}), memory = torch::zeros({3, 4});\n"
            "  torch::Tensor total = torch::zeros({});\n  std::vector<torch::Tensor> losses;\n"
            "  %s\n  %s\n  out.add(state);%s"
            % (cell[0], pick(LOOPS) % ("    %s\n    %s" % (cell[1], backward)), after, grads))


def factories(pick):
    """Factories whose result is moved."""
    make = pick(["torch::zeros({2, 3})", "torch::ones({2})", "torch::full({2}, 3)",
                 "torch::full({2}, 1.5)", "torch::eye(3)", "torch::arange(4)", "torch::arange(0, 1, 0.3)",
                 "torch::rand({2})", "torch::linspace(0, 1, 5)", "torch::tensor({1, 2, 3})",
                 "torch::randn({2}, torch::kDouble)", "torch::zeros({2}, torch::kLong)",
                 "torch::full({2}, true)", "torch::zeros({2}, torch::requires_grad())",
                 "torch::arange(2, 9, 3)", "torch::zeros_like(base)", "torch::hann_window(4)"])
    move = pick(["%s.to(device)", "%s.to(torch::kCPU)", "%s.to(base.device())", "%s.to(pick_device(out))",
                 "%s.to(device).mul(2)", "%s.to(base)", "%s.to(torch::kDouble)",
                 "%s.to(device, torch::kDouble)", "%s.to(devices[next++])"]) % make
    form = pick(["auto x = %s;", "torch::Tensor x = %s + 1;", "torch::Tensor x;\n    x = %s;",
                 "auto x = torch::cat({%s, torch::zeros({0})}, 0);",
                 "auto made = MAKE;\n    auto x = made.to(device);"])
    form = form.replace("MAKE", make) if "MAKE" in form else form % move
    return ("  torch::Device device(torch::kCPU);\n  std::vector<torch::Device> devices(9, device);\n"
            "  int next = 0;\n  torch::Tensor base = batch(2);\n  %s\n  out.add(next);\n"
            "  out.add(torch::rand({1}));"
            % (pick(LOOPS) % ("    %s\n    out.add(x);\n    (void)i;" % form)))


def guards(pick):
    """Guards that have no effect, before code that may need them to have none."""
    setup, value, leaf = pick(SOURCES)
    guard = pick(["torch::NoGradGuard();", "torch::AutoGradMode(false);", "torch::NoGradGuard guard();",
                  "{ torch::NoGradGuard guard; }", "(void)torch::NoGradGuard();",
                  "torch::AutoGradMode(true);", "if (i == 1)\n      torch::NoGradGuard guard;",
                  "std::make_unique<torch::NoGradGuard>();", "static torch::NoGradGuard guard;"])
    use = pick(["out.add(%s);", "out.add((%s).item<float>());", "(%s).backward();", "again(%s);",
                "results.push_back(%s);", "auto loss = %s;\n    if (i == 2)\n      loss.backward();",
                "finish(out, %s);", "out.add(torch::autograd::grad({%s}, {" + leaf + "})[0]);"]) % value
    after = pick(["", "", "for (auto &result : results)\n    result.backward();",
                  "for (auto &result : results)\n    out.add(result);",
                  "const int i = 1;\n  again(%s);" % value])
    body = pick(["    %s\n    %s" % (guard, use), "    %s\n    {\n      %s\n    }" % (guard, use),
                 "    auto first = %s;\n    %s\n    first.backward();\n    %s" % (value, guard, use)])
    where = pick(["inside", "inside", "outside"])
    if where == "outside" and "i ==" not in guard:
        body, head = "    " + use, guard + "\n  "
    else:
        head = ""
    loop = pick(["for", "range", "if", "try", "lambda", "nested"])
    return ("  %s\n  std::vector<torch::Tensor> results;\n  %s{\n  %s\n  }\n  %s\n  out.add(%s.grad());"
            % (setup, head, LOOPS[loop] % body, after, leaf))


def recovery(pick):
    """Retries in handlers, of what throws for a large batch."""
    head = pick(["torch::Tensor y;", "torch::Tensor y, features;", "torch::Tensor y = batch(0);",
                 "torch::Tensor y;\n  torch::Tensor work = batch(1).exp();",
                 "torch::Tensor y;\n  auto work = batch(2) * 2;\n  auto other = work;",
                 "torch::Tensor y;\n  std::vector<torch::Tensor> parts{batch(1), batch(2)};",
                 "torch::Tensor y;\n  bool failed = false;"])
    names = [name for name in ("features", "work", "parts") if name in head]
    source = {"features": "batch(i)", "work": "work", "parts": "parts[0]"}[pick(names)] \
        if names and pick([True, True, False]) else "batch(i)"
    body = pick(["y = attempt(net(%s), i);", "y = net(%s);\n      y = attempt(y, i);",
                 "auto h = net->first(%s);\n      y = attempt(net->second(torch::relu(h)), i);",
                 "out.add(\"tried\");\n      y = attempt(net(%s), i);"]) % source
    if "features" in head and pick([True, False]):
        body = "features = net->first(%s);\n      y = attempt(net->second(features), i);" % source
    caught = pick(["const Overflow &e", "const Overflow &", "const c10::Error &", "const std::exception &e",
                   "...", "Overflow e"])
    first = pick(["", "", "out.add(\"failed\");\n      ", "if (i == 2)\n        throw;\n      ",
                  "const int size = i + 1;\n      (void)size;\n      "])
    if caught.endswith(" e") or caught.endswith("&e"):
        first += pick(["out.add(e.what());\n      ", "(void)e;\n      "])
    retry = pick(["y = net(%s.slice(0, 0, 1));", "auto half = %s.slice(0, 0, 2);\n      y = net(half);",
                  "y = net(batch(i).slice(0, 0, 1)) + %s.sum();",
                  "y = torch::cat({net(%s.slice(0, 0, 1)), net(batch(i).slice(0, 1))});"])
    retry %= pick([source, "batch(i)"])
    leave = pick(["", "", "", "\n      continue;", "\n      break;", "\n      failures++;"])
    after = pick(["", "out.add(y);", "if (y.defined())\n      out.add(y);"])
    if "failed" in head and pick([True, False]):
        leave = "\n      failed = true;" + leave
        after += "\n    out.add(failed);"
    for name in names:
        after += pick(["", "", "\n    out.add(%s);" % (name + ("[1]" if name == "parts" else ""))])
    where = pick(["outside", "inside"])
    loop = pick(["for", "while", "range"] if "continue" not in leave else ["for", "range"])
    body = ("    try {\n      %s\n    } catch (%s) {\n      %s%s%s\n    }\n    %s"
            % (body, caught, first, retry, leave, after))
    end = pick(["", "out.add(y);"]) if where == "outside" else ""
    if where == "outside":
        return ("  Net net;\n  int failures = 0;\n  %s\n  %s\n  %s\n  out.add(failures);"
                % (head, LOOPS[loop] % body, end))
    return ("  Net net;\n  int failures = 0;\n  %s\n  out.add(failures);"
            % (LOOPS[loop] % ("    " + head.replace("\n", "\n  ") + "\n" + body)))


def hooks(pick):
    """Hooks that capture their own tensor, and read what it holds when they run."""
    make, name = pick([
        ("auto w = torch::full({4}, 0.5, torch::requires_grad());", "w"),
        ("Net net;\n  auto w = net->first->weight[0] * 1;", "w"),
        ("Net net;\n  torch::Tensor &w = net->first->bias;", "w"),
        ("Net net;\n  auto w = net->first->bias;", "w"),
        ("torch::Tensor w = torch::full({4}, 0.25);\n  w.requires_grad_();", "w"),
    ])
    read = pick(["grad * w", "grad + w.sum()", "torch::mul(grad, w.abs())", "grad * w.size(0)",
                 "grad * w.sum().item<float>()", "grad * w.detach()", "grad + w.grad()",
                 "grad.mul(w).clamp(-1, 1)", "torch::where(w > 0, grad, -grad)",
                 "w.requires_grad() ? grad * 2 : grad", "grad * w.is_leaf()"])
    capture = pick(["[w]", "[=]", "[w, scale]", "[self = w]", "[=, &out]"])
    read = read.replace("w.", "self.").replace(", w", ", self").replace("* w", "* self") \
        .replace("(w", "(self").replace("? w", "? self") if "self" in capture else read
    use = "(void)scale;\n    " if "scale" in capture else ""
    extra = pick(["", "", 'out.add("hook");\n    ' if "&out" in capture else ""])
    form = pick(["w.register_hook(%s);", "auto hook = %s;\n  w.register_hook(hook);",
                 "auto number = w.register_hook(%s);\n  (void)number;"])
    hook = form % ("%s(const torch::Tensor &grad) -> torch::Tensor {\n    %s%sreturn %s;\n  }"
                   % (capture, use, extra, read))
    between = pick([
        "", "", "", "{\n    torch::NoGradGuard guard;\n    w.mul_(3);\n  }", "w = w * 2;",
        "w.set_data(torch::full({4}, 2.0));", "auto copy = w;\n  copy.data().add_(1);",
        "net->to(torch::kDouble);" if "Net" in make else "",
        "net->zero_grad();\n  torch::optim::SGD optimizer(net->parameters(), 0.5);\n"
        "  (w * 2).sum().backward();\n  optimizer.step();" if "&w" in make else "",
    ])
    last = pick(["(%s * 2).sum().backward();", "(%s * %s).sum().backward();",
                 "for (int i = 0; i < rounds(); ++i)\n    (%s * i).sum().backward();"])
    grads = "w" if "net->first->weight" not in make else "net->first->weight"
    return ("  const float scale = 2;\n  (void)scale;\n  %s\n  auto leaf = w;\n  %s\n  %s\n  %s\n"
            "  out.add(%s.is_leaf() ? %s.grad() : %s);\n  out.add(leaf.is_leaf() ? leaf.grad() : leaf);"
            % (make, hook, between, last.replace("%s", name), grads, grads, grads))


def contexts(pick):
    """Functions of autograd that keep tensors in saved_data."""
    value = pick(["x * w", "(x * w).exp()", "x.mm(w.t())", "x.pow(2) + w", "torch::tanh(x) * w"])
    change = pick(["", "", "\n      y.mul_(2);", "\n      y = y * 2;"])
    names = pick([["y"], ["x"], ["x", "w"], ["y", "w"], ["x", "y", "w"]])
    store = "".join('\n      context->saved_data["%s"] = %s;' % (name, name) for name in names)
    early = pick([True, False, False])
    listed = pick(["", "", "\n      context->save_for_backward({x});", "\n      context->save_for_backward({w, x});"])
    number = pick(["", '\n      context->saved_data["n"] = 3;'])
    load = "".join("\n      %s %s = context->saved_data[\"%s\"].toTensor();"
                   % (pick(["auto", "torch::Tensor"]), name, name) for name in names)
    if listed and pick([True, False]):
        load += "\n      auto saved = context->get_saved_variables();\n      out_sum() += saved[0].sum().item<double>();"
    product = " * ".join("%s.sum()" % name for name in names)
    if number and pick([True, False]):
        product += ' * context->saved_data["n"].toInt()'
    result = pick(["y", "y", "y * 1"])
    use = pick(["y.sum().backward();", "(y * y).mean().backward();",
                "out.add(torch::autograd::grad({y.sum()}, {x})[0]);", "out.add(y);"])
    return """  using namespace torch::autograd;
  struct Scaled : Function<Scaled> {
    static torch::Tensor forward(AutogradContext *context, torch::Tensor x, torch::Tensor w) {
      torch::Tensor y = %s;%s%s%s
      return %s;
    }
    static tensor_list backward(AutogradContext *context, tensor_list grads) {%s
      auto factor = %s;
      return {grads[0].sum() * factor * torch::ones({3, 4}), torch::Tensor()};
    }
  };
  auto x = batch(1).requires_grad_(), w = torch::full({3, 4}, 0.5);
  out_sum() = 0;
  auto y = Scaled::apply(x, w);
  %s
  out.add(x.grad());
  out.add(out_sum());""" % (value, (store + change) if early else (change + store), listed, number,
                            result, load, product, use)


def blobs(pick):
    """Tensors over buffers that die. What is meant is a buffer that lives for ever, or,
    where each iteration writes it, a tensor of its own for each."""
    declare, data = pick([
        ("@[std::vector<float> data|auto &data = *new std::vector<float>]@{1, 2, 3, i + 4.f};",
         "data.data()"),
        ("@[std::array<float, 4> data|auto &data = *new std::array<float, 4>]@{1, 2, 3, i + 4.f};",
         "data.data()"),
        ("@[float data[4] = {1, 2, 3, 4}|float (&data)[4] = *new float[1][4]{{1, 2, 3, 4}}]@;\n    data[3] = i;", "data"),
        ("@[float data[2][2] = {{1, 2}, {3, 4}}|float (&data)[2][2] = *new float[1][2][2]{{{1, 2}, {3, 4}}}]@;\n"
         "    data[1][0] = i;", "data"),
        ("auto @[data|&data]@ = @[|*new auto(]@std::make_unique<float[]>(4)@[|)]@;\n"
         "    std::fill_n(data.get(), 4, i + 1.f);", "data.get()"),
        ("auto *data = new float[4]{1, 2, i + 3.f, 4};", "data"),
    ])
    make = "torch::from_blob(%s, %s)" % (data, pick(["{4}", "{2, 2}", "{4}, torch::kFloat"]))
    make += pick(["", "", "", ".view({2, 2})", ".unsqueeze(0)", ".slice(0, 1, 2)", ".t()", ".detach()",
                  ".clone()", ".to(torch::kDouble)", ".to(torch::kCPU)", ".contiguous()", " * 2",
                  ".reshape({-1})", ".index({0})", ".select(0, 1)", ".set_requires_grad(true)"])
    first = "&data[0][0]" if "[2][2]" in declare else "&data[0]"
    between = pick(["", "", "", "*(%s) = 9;" % first, "x.mul_(2);", "out.add(*(%s));" % first,
                    "x = x + 1;", "x = x.view({-1});", "x.add_(1);\n    out.add(*(%s));" % first,
                    "auto y = x;\n    *(%s) = 5;\n    out.add(y);" % first])
    free = "\n    @[delete[] data;|]@" if "auto *data" in declare else ""
    x = "torch::NoGradGuard guard;\n    auto x = %s;\n    %s" % (make, between) if between else \
        pick(["auto x = %s;", "torch::Tensor x = %s;", "torch::Tensor x;\n    x = %s;"]) % make
    loop = pick(["for", "while", "range", "if", "nested"])
    way = pick(["returned", "outer", "member", "kept", "pair", "out"])
    if way in ("returned", "pair", "out") and free:
        way = "outer"
    head, end = {"returned": ("auto make = [&](int i) {", "return x;\n  };"),
                 "pair": ("auto make = [&](int i) {", "return std::make_pair(x, 1);\n  };"),
                 "out": ("auto fill = [&](int i, torch::Tensor &to) {", "to = x;\n  };"),
                 "outer": ("torch::Tensor result;", "result = x;%s" % free),
                 "member": ("Holder holder;", "holder.value = x;%s" % free),
                 "kept": ("std::vector<torch::Tensor> kept;", "kept.push_back(x);%s" % free)}[way]
    if way in ("outer", "member", "kept"):
        result = {"outer": "result", "member": "holder.value", "kept": "kept.back()"}[way]
        return "  %s\n  %s" % (head, LOOPS[loop] % (
            "    {\n    %s\n    %s\n    %s\n    }\n    scribble();\n    out.add(%s);"
            % (declare, x, end, result)))
    call = {"returned": "auto result = make(i);", "pair": "auto result = make(i).first;",
            "out": "torch::Tensor result;\n    fill(i, result);"}[way]
    return "  %s\n    %s\n    %s\n    %s\n  %s" % (head, declare, x, end, LOOPS[loop] % (
        "    %s\n    scribble();\n    out.add(result);" % call))


def pointers(pick):
    """Pointers, sizes and lists of what dies at the end of its statement. What is meant
    lives for ever."""
    value = pick(["(base * 2)", "base.exp()", "net->forward(batch(i))", "net(batch(i))",
                  "base.t().contiguous()", "base.t()", "torch::cat({base, base})", "base.contiguous()",
                  "base.cpu()", "base.clone()", "base.to(torch::kFloat)", "base.view({4, 3})",
                  "torch::full({2, 2}, i, torch::kFloat)", "(flag ? base : base * 2)",
                  "[&] { return base + i; }()", "std::get<0>(base.max(0, true))"])
    held = "@[%s|hold(%s)]@" % (value, value)
    name = pick(["p", "p", "p_tensor", "base_data"])
    taken = pick(["", "", "", "int p_tensor = i;\n    ", "auto p_tensor = base + 1;\n    "])
    if name == "p_tensor":
        taken = ""
    kinds = [
        ("float *%s = %s.data_ptr<float>();", "out.add(%s[1]);"),
        ("const float *%s = %s.data_ptr<float>() + 1;", "out.add(*%s);"),
        ("auto *%s = static_cast<float *>(%s.data_ptr());", "out.add(%s[i]);"),
        ("torch::IntArrayRef %s = %s.sizes();", "out.add(double(%s[1]));"),
        ("auto %s = %s.strides();", "out.add(double(%s.front()));"),
        ("const auto %s = %s.sizes().slice(1);", "out.add(double(%s[0]));"),
        ("const c10::Storage &%s = %s.storage();", "out.add(double(%s.nbytes()));"),
    ]
    lists = [("torch::IntArrayRef %s = @[{i + 1, 2}|hold_list({i + 1, 2})]@;", "out.add(double(%s[0]));"),
             ("torch::IntArrayRef %s(@[{i + 1, 2}|hold_list({i + 1, 2})]@);", "out.add(double(%s[1]));"),
             ("torch::IntArrayRef %s = @[std::vector<int64_t>(2, i)|hold_list(std::vector<int64_t>(2, i))]@;",
              "out.add(double(%s[1]));")]
    if pick([True, True, True, True, False]):
        declare, use = pick(kinds)
        declare = declare % (name, held)
    else:
        declare, use = pick(lists)
        declare = declare % name
    use %= name
    change = pick(["", "", "base.mul_(3);\n    ", "base = base + 1;\n    ", "flag = !flag;\n    "])
    form = pick(["%s\n    %s%s", "%s\n    %s{\n      %s\n    }", "{\n      %s\n      %s%s\n    }",
                 "if (i != 2) {\n      %s\n      %s%s\n    }",
                 "switch (i) {\n    case 1: {\n      %s\n      %s%s\n      break;\n    }\n    default:\n      break;\n    }",
                 "auto show = [&] {\n      %s\n      %s%s\n    };\n    show();",
                 "try {\n      %s\n      %s%s\n    } catch (const c10::Error &) {\n      out.add(\"caught\");\n    }"])
    body = "%sscribble();\n    %s" % (taken, form % (declare, change + "scribble();\n    ", use))
    if pick([False, False, False, True]):
        body = "%sfor (auto size : %s.sizes())\n      out.add(double(size));" % (taken, held) \
            if pick([True, False]) else \
            "%sfor (float *p = %s.data_ptr<float>(), *e = p + 3; p != e; ++p)\n      out.add(*p);" % (taken, held)
    return ("  torch::NoGradGuard guard;\n  Net net;\n  bool flag = false;\n"
            "  torch::Tensor base = batch(1);\n  %s\n  out.add(base);\n  out.add(flag);"
            % (pick(LOOPS) % ("    " + body)))


def layouts(pick):
    """Memory that is read as one piece. What is meant goes through the elements in order."""
    view = pick(["base.t()", "base.t().mul(2)", "base.slice(1, 1, 3)", "base.select(1, i % 4)",
                 "base.transpose(0, 1).clone()", "base", "base.contiguous()", "base.t().contiguous()",
                 "base.slice(0, 1)", "base.unsqueeze(0).permute({1, 2, 0})", "turned(base)",
                 "torch::zeros_like(base.t()) + i", "(flag ? base : base.t())", "base.t().flatten()"])
    name = pick(["t", "turned_base", "baseT"])
    data = "@[%s|hold(%s.contiguous())]@.data_ptr<float>()" % (name, name)
    taken = pick(["", "", "int %s_packed = i;\n    " % name])
    read = pick([
        # Both ends are of one copy.
        "@[std::vector<float> v(%(t)s.data_ptr<float>(), %(t)s.data_ptr<float>() + %(t)s.numel());|"
        "auto &held = hold(%(t)s.contiguous()); std::vector<float> v(held.data_ptr<float>(), held.data_ptr<float>() + %(t)s.numel());]@",
        "std::vector<float> v(%(t)s.numel());\n    std::memcpy(v.data(), %(d)s, %(t)s.nbytes());",
        "const float *p = %(d)s;\n    std::vector<float> v(p, p + %(t)s.numel());",
        "float *p = %(d)s;\n    std::vector<float> v;\n    for (int k = 0; k < %(t)s.numel(); ++k)\n      v.push_back(p[k]);",
        "const float *p;\n    p = %(d)s;\n    std::vector<float> v(p, p + %(t)s.numel());",
        "std::vector<float> v = listed(@[%(t)s|%(t)s.contiguous()]@);",
        # What is written to a copy would be lost.
        "float *p = %(t)s.data_ptr<float>();\n    std::vector<float> v(1);\n    for (int k = 0; k < %(t)s.size(0); ++k)\n      p[k * %(t)s.stride(0)] += 1;",
        "std::vector<float> v(%(t)s.numel());\n    std::memcpy(%(t)s.data_ptr<float>(), v.data(), @[%(t)s.nbytes()|%(t)s.nbytes()]@);",
    ]) % {"d": data, "t": name}
    change = pick(["", "", "\n    %s.mul_(2);" % name, "\n    base.add_(1);"])
    body = "%sauto %s = %s;\n    %s\n    for (float value : v)\n      out.add(value);%s" % (
        taken, name, view, read, change)
    return ("  torch::NoGradGuard guard;\n  bool flag = false;\n  torch::Tensor base = batch(1);\n  %s\n"
            "  out.add(base);\n  out.add(flag);" % (pick(LOOPS) % ("    " + body)))


def packing(pick):
    """Sequences that are packed and padded again. What is meant is the length that they had."""
    first, dimension, shape = pick([("true", 1, "{3, 5, 4}"), ("false", 0, "{5, 3, 4}")])
    layer = pick(["LSTM", "GRU", "RNN"])
    make = pick(["auto x = torch::ones(%s);", "torch::Tensor x = torch::ones(%s) * (i + 1);",
                 "auto x = torch::ones(%s);\n    x = x + i;"]) % shape
    lengths = pick(["torch::tensor({5, 3, 1})", "torch::tensor({4, 4, 2})", "torch::tensor({3, 2, 2})",
                    "torch::full({3}, i + 1, torch::kLong)"])
    pack = "rnn::pack_padded_sequence(x, %s, %s)" % (lengths, first)
    run = pick(["auto packed = %s;\n    auto [output, state] = layer->forward_with_packed_input(packed);",
                "auto packed = %s;\n    auto result = layer->forward_with_packed_input(packed);\n"
                "    auto output = std::get<0>(result);",
                "auto output = std::get<0>(layer->forward_with_packed_input(%s));", "auto output = %s;",
                "auto output = %s;\n    output = output.to(torch::kCPU);"]) % pack
    change = pick(["", "", "", "x = x.narrow(%d, 0, 2);\n    " % dimension, "x = x.transpose(0, 1);\n    ",
                   "auto y = x.sum();\n    out.add(y);\n    ", "x.add_(1);\n    ", "x.transpose_(0, 1);\n    ",
                   "x.resize_({1, 1, 4});\n    ", "shorten(x);\n    ", "out.add(x.size(0));\n    "])
    value = pick(["", ", 0.0", ", -1.0"])
    pad = "rnn::pad_packed_sequence(output, %s%s)" % (first, "@[%s|%s, 5]@" % (value, value or ", 0.0"))
    use = pick(["out.add(std::get<0>(%s));", "auto padded = std::get<0>(%s);\n    out.add(padded);",
                "auto [padded, sizes] = %s;\n    out.add(padded);\n    out.add(sizes);"]) % pad
    loop = pick(["for", "range", "if", "lambda", "nested"])
    return ("  namespace rnn = torch::nn::utils::rnn;\n  torch::NoGradGuard guard;\n"
            "  torch::nn::%s layer(torch::nn::%sOptions(4, 2).batch_first(%s));\n  (void)layer;\n  %s"
            % (layer, layer, first, LOOPS[loop] % ("    (void)i;\n    %s\n    %s\n    %s%s"
                                                   % (make, run, change, use))))


def autocast(pick):
    """Regions with autocast, whose casts of weights are kept when it is switched off. What
    is meant are weights that are cast anew."""
    off = "@[|at::autocast::clear_cache();]@at::autocast::set_cpu_enabled(%s);"
    enter = pick(["at::autocast::set_cpu_enabled(true);",
                  "const bool before = at::autocast::is_cpu_enabled();\n    at::autocast::set_cpu_enabled(true);"])
    leave = off % ("before" if "before" in enter and pick([True, False]) else "false")
    run = pick(["auto y = net(batch(i));", "auto y = net->first(batch(i));\n    y = net->second(y.relu());",
                "torch::Tensor y;\n    {\n      torch::NoGradGuard guard;\n      y = net(batch(i));\n    }",
                "auto y = torch::linear(batch(i), net->first->weight);"])
    more = pick(["", "", "out.add(y);\n    ", "y = y + net(batch(2));\n    ", "auto z = y.sum();\n    out.add(z);\n    "])
    leave = pick(["%s", "%s", "%s\n    out.add(at::autocast::is_cpu_enabled());", "if (i != 1) {\n      %s\n    }",
                  "{ %s }", "if (i == 1)\n      out.add(\"one\");\n    %s"]) % leave
    after = pick(["change(net);", "if (y.requires_grad())\n      y.to(torch::kFloat).sum().backward();\n    change(net);",
                  "optimizer.step();", "y = y * 2;", "if (i == 2)\n      change(net);"])
    again = pick(["", "", "\n    out.add(net(batch(i)));"])
    return ("  Net net;\n  torch::optim::SGD optimizer(net->parameters(), 0.1);\n"
            "  for (auto &parameter : net->parameters())\n"
            "    parameter.mutable_grad() = torch::ones_like(parameter);\n  %s\n  leave_autocast();"
            % (pick(LOOPS) % ("    %s\n    %s\n    %s%s\n    %s\n    out.add(y);%s"
                              % (enter, run, more, leave, after, again))))


def scripts(pick):
    """TorchScript modules that run before their guard."""
    first = pick(["module.forward({batch(i)});", "auto y = module.forward({batch(i)}).toTensor();\n    out.add(y);",
                  "module({batch(i)});", "for (int k = 0; k < 3; ++k)\n      module.forward({batch(k)});",
                  "auto y = module.forward({batch(i)}).toTensor();\n    y.sum().backward();",
                  "again(module.forward({batch(i)}).toTensor());", "last = module.forward({batch(i)}).toTensor();",
                  "finish(out, module.forward({batch(i)}).toTensor());"])
    second = pick(["torch::NoGradGuard guard;\n    out.add(module.forward({batch(i)}).toTensor());",
                   "c10::InferenceMode guard;\n    out.add(module.forward({batch(i)}).toTensor().clone());",
                   "torch::AutoGradMode guard(false);\n    out.add(module.forward({batch(1)}).toTensor());",
                   "out.add(module.forward({batch(2)}).toTensor());",
                   "module.forward({batch(1)}).toTensor().sum().backward();"])
    between = pick(["", "", "\n    auto w = torch::ones({2}, torch::requires_grad());\n    (w * 2).sum().backward();\n"
                    "    out.add(w.grad());"])
    after = pick(["", "", "if (last.defined())\n    last.sum().backward();",
                  "for (const auto &parameter : module.parameters())\n    out.add(parameter.grad());",
                  "module.train();\n  module.forward({batch(0)}).toTensor().sum().backward();"])
    where = pick(["for", "range", "if", "try", "nested", "once"])
    if where == "once":
        body = "const int i = 1;\n    (void)i;\n    %s%s\n    {\n    %s\n    }" % (first, between, second)
        body = "  " + body
    else:
        body = "  " + LOOPS[where] % ("    " + first + between) + "\n  {\n    const int i = 2;\n    (void)i;\n    " \
            + second + "\n  }"
    return ("  torch::jit::Module module = script();\n  torch::Tensor last;\n%s\n  %s\n"
            "  out.add(module.attr(\"w\").toTensor().grad());" % (body, after))


FINISH = """
static void finish(Out &out, torch::Tensor total) {
  if (total.requires_grad())
    total.sum().backward();
  out.add(total);
}
static void again(const torch::Tensor &loss) { loss.sum().backward(); }
"""
TRAIN = """
static void train(Net &net) {
  net->train();
  net->forward(batch(1)).sum().backward();
}
"""
KEEP = """
static torch::Tensor &keep() {
  static torch::Tensor kept;
  return kept;
}
"""
OVERFLOW = """
struct Overflow : std::runtime_error {
  explicit Overflow(torch::Tensor batch) : std::runtime_error("overflow"), batch(std::move(batch)) {}
  torch::Tensor batch;
};
static torch::Tensor attempt(const torch::Tensor &y, int i) {
  if (y.size(0) > 1 && i % 2 == 0)
    throw Overflow(y);
  TORCH_CHECK(i != 3, "out of memory");
  return y;
}
"""
SCRIPT = """
#include <torch/script.h>
static torch::jit::Module script() {
  torch::jit::Module module("scaled");
  module.register_parameter("w", torch::full({4}, 0.5, torch::requires_grad()), false);
  module.define("def forward(self, x):\\n  return (x * self.w).relu()\\n");
  module.eval();
  return module;
}
"""
SUM = """
static double &out_sum() {
  static double sum = 0;
  return sum;
}
"""
STORE = """
static std::vector<torch::Tensor> &store() {
  static std::vector<torch::Tensor> kept;
  return kept;
}
"""
WIDE = """
static torch::Tensor wide(const torch::Tensor &x) { return x * torch::ones({5}); }
"""
DEVICE = """
static torch::Device pick_device(Out &out) {
  out.add("picked");
  return torch::kCPU;
}
"""

HOLDER = """
struct Holder {
  torch::Tensor value;
};
"""
DYING = """
#include <malloc.h>

/// Memory that is not there any more does not look like what was in it.
void operator delete(void *memory) noexcept {
  if (memory)
    std::memset(memory, 0x5a, malloc_usable_size(memory));
  std::free(memory);
}
void operator delete[](void *memory) noexcept { operator delete(memory); }
void operator delete(void *memory, std::size_t) noexcept { operator delete(memory); }
void operator delete[](void *memory, std::size_t) noexcept { operator delete(memory); }

/// Memory of tensors, too.
struct Scribbling : c10::Allocator {
  static void drop(void *memory) { operator delete(memory); }
  // Later versions declare it without const.
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
  void copy_data(void *to, const void *from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
  c10::DataPtr allocate(size_t bytes) override {
#else
  c10::DataPtr allocate(size_t bytes) const override {
#endif
    void *memory = std::malloc(bytes + 1);
    return {memory, memory, &drop, torch::kCPU};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &drop; }
};
static Scribbling scribbling;
static const bool scribbles = (c10::SetAllocator(c10::kCPU, &scribbling, 200), true);

/// Writes where the stack frames of what has returned were.
static __attribute__((noinline)) void scribble() {
  volatile char memory[4096];
  for (volatile char &byte : memory)
    byte = 0x5a;
}

static torch::Tensor &hold(torch::Tensor tensor) { return *new torch::Tensor(std::move(tensor)); }
static std::vector<int64_t> &hold_list(std::vector<int64_t> list) {
  return *new std::vector<int64_t>(std::move(list));
}
"""
LISTED = """
#include <cstring>

static torch::Tensor turned(const torch::Tensor &x) { return x.transpose(0, 1); }
static std::vector<float> listed(const torch::Tensor &x) {
  return std::vector<float>(x.data_ptr<float>(), x.data_ptr<float>() + x.numel());
}
static torch::Tensor &hold(torch::Tensor tensor) { return *new torch::Tensor(std::move(tensor)); }
"""
SHORTEN = """
static void shorten(torch::Tensor &x) { x = x.narrow(0, 0, 1).narrow(1, 0, 1); }
"""
BYTES = """
#include <cstring>
#include <sstream>
"""
CHANGE = """
#include <ATen/autocast_mode.h>

static void leave_autocast() { at::autocast::set_cpu_enabled(false); }

static void change(Net &net) {
  torch::NoGradGuard guard;
  for (auto &parameter : net->parameters())
    parameter.mul_(1.5);
}
"""

KINDS = {
    "accumulation": Kind("accumulated-history", accumulation, FINISH + KEEP),
    "retained": Kind("retained-graph", retained, FINISH),
    "inference": Kind("inference-without-no-grad", inference, FINISH + TRAIN),
    "concatenation": Kind("cat-in-loop", concatenation),
    "discarded": Kind("discarded-result", discarded, FINISH),
    "sizes": Kind("element-size", sizes, BYTES),
    "views": Kind("view-retains-storage", views, STORE),
    "long-lived": Kind("long-lived-intermediate", long_lived, WIDE),
    "hidden-state": Kind("undetached-hidden-state", hidden_state),
    "factories": Kind("factory-then-to", factories, DEVICE),
    "recovery": Kind("oom-recovery-in-catch", recovery, OVERFLOW),
    "hooks": Kind("hook-capture-cycle", hooks),
    "contexts": Kind("autograd-context-cycle", contexts, SUM),
    "scripts": Kind("jit-unguarded-warmup", scripts, FINISH + SCRIPT),
    "guards": Kind("ineffective-grad-guard", guards, FINISH),
    "blobs": Kind("dangling-from-blob", blobs, DYING + HOLDER),
    "pointers": Kind("dangling-tensor-data", pointers, DYING),
    "layouts": Kind("strided-access", layouts, LISTED),
    "packing": Kind("pad-packed-total-length", packing, SHORTEN),
    "autocast": Kind("autocast-cache", autocast, CHANGE),
}


def program(kind, seed, count):
    """The text of a program with `count` variants of `kind`, all of them different, and
    that of the program that is meant."""
    draw = random.Random("%s %d" % (kind, seed))
    seen = set()

    def pick(choices):
        names = sorted(choices) if isinstance(choices, dict) else choices
        chosen = draw.choice(names)
        return choices[chosen] if isinstance(choices, dict) else chosen

    parts = [PRELUDE, KINDS[kind].prelude]
    names = []
    while len(names) < count:
        body = KINDS[kind].draw(pick)
        if body in seen:
            continue
        seen.add(body)
        name = "v%03d" % len(names)
        names.append(name)
        parts.append("\n// %s: a variant\nstatic void %s(Out &out) {\n%s\n}\n" % (name, name, body))
    parts.append("\nint main() {\n%s\n}\n"
                 % "\n".join('  run("%s", %s);' % (name, name) for name in names))
    text = "".join(parts)
    return tuple(re.sub(r"@\[(.*?)\|(.*?)\]@", side, text) for side in (r"\1", r"\2"))
