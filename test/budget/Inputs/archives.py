"""Writes TorchScript archives into the working folder: net.pt, which is whole, and
others that lie. Prints a program that loads all that it is asked for.

  archives.py NAME..."""

import struct
import sys
import zipfile

MANY = 1 << 40


def text(value):
    encoded = value.encode()
    return b"X" + struct.pack("<I", len(encoded)) + encoded


def number(value):
    return b"\x8a\x08" + struct.pack("<q", value)


def several(*parts):
    return b"(" + b"".join(parts) + b"t"


def name(module, attribute):
    return b"c%s\n%s\n" % (module.encode(), attribute.encode())


def tensor(key, kind, count, sizes, strides, offset=0, grad=True, rebuilds="_rebuild_tensor_v2"):
    storage = several(text("storage"), name("torch", kind + "Storage"), text(key),
                      text("cpu"), number(count)) + b"Q"
    return name("torch._utils", rebuilds) + several(
        storage, number(offset), several(*map(number, sizes)), several(*map(number, strides)),
        b"\x88" if grad else b"\x89", b"N") + b"R"


def instance(module, attribute, state):
    filled = b"}(" + b"".join(text(key) + value for key, value in state.items()) + b"u"
    return name(module, attribute) + b")\x81" + filled + b"b"


CODE = '''class %s(Module):
  __parameters__ = ["weight", "bias", "tied", "part", ]
  __buffers__ = ["count", "none", ]
  def forward(self: __torch__.nets.Net, x: Tensor) -> Tensor:
    return x
'''
FILES = {"__torch__/nets.py": CODE % "Net" + CODE % "Block"}


def put(path, root, storages, files=FILES, constants=b")", stored=False, prefix="net"):
    with zipfile.ZipFile(path, "w") as archive:
        def add(record, content, pack):
            archive.writestr(prefix + "/" + record, content,
                             zipfile.ZIP_DEFLATED if pack else zipfile.ZIP_STORED)
        for key, size in storages.items():
            add(key if "/" in key else "data/" + key, bytes(size), False)
        add("data.pkl", b"\x80\x02" + root + b".", False)
        for file, content in files.items():
            add("code/" + file, content, not stored)
        add("constants.pkl", b"\x80\x02" + constants + b".", False)
        add("version", b"3\n", False)
    with open(path, "rb") as file:
        return bytearray(file.read())


def save(path, content):
    with open(path, "wb") as file:
        file.write(content)


def net(**state):
    return instance("__torch__.nets", "Net", state)


WEIGHT = tensor("0", "Float", 32, (4, 8), (8, 1))


def whole():
    block = instance("__torch__.nets", "Block", {
        "weight": WEIGHT + b"q\x01", "bias": tensor("1", "Half", 4, (4,), (1,), grad=False),
        "count": tensor("2", "Long", 1, (), ()), "none": b"N",
        "cache": b"](" + tensor("3", "Double", 5, (5,), (1,)) + b"e"})
    root = net(block=block + b"q\x02", again=b"h\x02", tied=b"h\x01",
               part=tensor("4", "Float", 100, (10,), (1,), offset=30), width=number(16))
    storages = {"0": 128, "1": 8, "2": 8, "3": 40, "4": 400, "constants/0": 16}
    put("net.pt", root, storages,
        constants=several(tensor("0", "Int", 4, (2, 2), (2, 1))))
    # As newer releases write them: nothing deflated, another folder.
    put("plain.pt", root, storages, stored=True, prefix="archive",
        constants=several(tensor("0", "Int", 4, (2, 2), (2, 1))))
    # What the library makes of a state is not known.
    packed = instance("__torch__.torch.classes.quantized", "LinearPacked", {
        "w": tensor("0", "QInt8", 32, (4, 8), (8, 1), rebuilds="_rebuild_qtensor")})
    own = {"__torch__/nets.py": CODE % "Net" + "class Own(Module):\n"
           "  def __setstate__(self, state: Tuple[Tensor]) -> NoneType:\n    return None\n"}
    put("packed.pt", net(packed=packed, own=name("__torch__.nets", "Own") + b")\x81N" + b"b"),
        {"0": 32}, own)
    put("sparse.pt", net(weight=name("torch._utils", "_rebuild_sparse_tensor") + b")R"), {})


def damaged():
    good = put("good.pt", net(weight=WEIGHT), {"0": 128})
    save("empty.pt", b"")
    save("text.pt", b"not an archive\n" * 100)
    save("half.pt", good[:len(good) // 2])
    save("cut.pt", good[:-1])
    save("short.pt", b"PK\5\6" * 2)
    with zipfile.ZipFile("other.pt", "w") as other:
        other.writestr("readme.txt", "of something else")

    def patched(path, find, offset, value, form="<I", of=good):
        """The directory's entry of `find` says something else."""
        changed = bytearray(of)
        entry = changed.rindex(find) - 46
        struct.pack_into(form, changed, entry + offset, value)
        save(path, changed)

    patched("encrypted.pt", b"net/data/0", 8, 1, "<H")
    patched("method.pt", b"net/data/0", 10, 12, "<H")
    patched("larger.pt", b"net/data/0", 24, 4096)
    patched("beyond.pt", b"net/data/0", 20, 1 << 30)
    patched("elsewhere.pt", b"net/data/0", 42, 1)
    patched("another.pt", b"net/data/0", 42,
            struct.unpack_from("<I", good, good.rindex(b"net/data.pkl") - 4)[0])
    patched("unpacks.pt", b"net/code/__torch__/nets.py", 24, 1000)
    patched("missing64.pt", b"net/data/0", 24, 0xFFFFFFFF)
    both = bytearray(good)
    entry = both.rindex(b"net/data/0") - 46
    struct.pack_into("<II", both, entry + 20, 160, 160)
    save("overlap.pt", both)
    locator = bytearray(good)
    end = locator.rindex(b"PK\5\6")
    save("far64.pt", locator[:end] + b"PK\6\7" + struct.pack("<IQI", 0, MANY, 1) + locator[end:])
    put("bomb.pt", net(weight=WEIGHT), {"0": 128},
        {"__torch__/nets.py": CODE % "Net" + " " * (300 << 20)})

    put("fewer.pt", net(weight=tensor("0", "Float", 33, (4, 8), (8, 1))), {"0": 128})
    put("outside.pt", net(weight=tensor("0", "Float", 32, (4, 8), (9, 1))), {"0": 128})
    put("overflow.pt", net(weight=tensor("0", "Float", 32, (MANY, MANY), (0, 0))), {"0": 128})
    put("stride.pt", net(weight=tensor("0", "Float", 32, (9, 2), (1 << 62, 1))), {"0": 128})
    put("negative.pt", net(weight=tensor("0", "Float", 32, (-4, 8), (8, 1))), {"0": 128})
    put("count.pt", net(weight=tensor("0", "Float", -1, (4, 8), (8, 1))), {"0": 128})
    put("huge.pt", net(weight=tensor("0", "Float", MANY, (4, 8), (8, 1))), {"0": 128})
    put("lost.pt", net(weight=WEIGHT), {})
    put("shape.pt", net(weight=name("torch._utils", "_rebuild_tensor_v2") + b")R"), {})
    put("codeless.pt", net(weight=WEIGHT), {"0": 128}, {})
    put("classless.pt", net(weight=WEIGHT), {"0": 128}, {"__torch__/nets.py": CODE % "Other"})
    put("number.pt", number(5), {})
    put("names.pt", net(**{"n" * 5000: number(1)}), {})

    put("opcode.pt", b"i", {})
    put("memo.pt", b"h\x09", {})
    put("pops.pt", b"(\x87", {})
    put("marks.pt", b"(" * 100000, {})
    put("adds.pt", number(1) + number(2) + b"a", {})
    put("odd.pt", b"}(" + number(1) + b"u", {})
    put("long.pt", b"\x8a\xff", {})
    put("many.pt", b"N" * 5000000, {})
    put("unfinished.pt", b"X\xff\xff\xff\xff", {})
    deep = WEIGHT
    for _ in range(300):
        deep = net(inner=deep)
    put("deep.pt", deep, {"0": 128})
    # One that holds itself, and lists that share lists: neither takes long.
    put("itself.pt", name("__torch__.nets", "Net") + b")\x81q\x01}(" + text("own") + b"h\x01ub",
        {})
    lists = b"]q\x00"
    for _ in range(60):
        lists = lists + b"0](h\x00h\x00eq\x00"
    put("shared.pt", net(lists=lists), {})


whole()
damaged()
print("#include <torch/script.h>\nint main() {")
for each in sys.argv[1:]:
    print('  torch::jit::load("%s.pt");' % each)
print("}")
