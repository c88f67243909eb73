#!/usr/bin/env python3
#
# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that only analysis/torch and analysis/bytes spell LibTorch's names.

  check_torch_names.py ROOT

Looks at the string literals of analysis/, checks/, fixits/ and driver/ under
ROOT, outside of these two. Reported are qualified names of LibTorch ("at::Tensor") and the
plain names of METHODS: code that compares one with a callee's name should ask a
question of analysis/torch instead. Prose may mention both: a literal with other
characters than those of a name is no name.

Exit status: 0 none, 1 some.
"""

import os
import re
import sys

# Names that are LibTorch's without doubt. Left out are those that mean other
# things, too: forward (std), data, size, reset, index, to.
METHODS = set("""
add_param_group asDouble autograd_meta backward cpu cuda data_ptr defined detach
detach_ emptyCache empty_cache from_blob get_saved_variables grad_fn is_training
make_intrusive mark_dirty named_buffers named_parameters ndimension numel
pack_padded_sequence pad_packed_sequence param_groups register_buffer
register_hook register_module register_parameter requires_grad requires_grad_
resize_ resize_as_ retain_grad save_for_backward saved_data scalar_type
set_data set_enabled set_requires_grad sizes strides toTensor unsqueeze
zero_grad
""".split())
QUALIFIED = re.compile(r"(::)?(torch|at|c10|caffe2)(::\w+)+")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')

# (file, name): why it may stand there.
ALLOWED = {
    ("checks/history/AccumulatedHistoryCheck.cpp", "detach"): "a value of option Fix",
    ("driver/options/OptionGroups.cpp", "cpu"): "a value of --device",
    ("driver/options/OptionGroups.cpp", "cuda"): "a value of --device",
    ("driver/budget/BudgetJson.cpp", "backward"): "a key of JSON",
    ("driver/budget/BudgetJson.cpp", "cpu"): "a value in JSON",
    ("driver/budget/BudgetJson.cpp", "cuda"): "a value in JSON",
    ("driver/output/RunPrinter.cpp", "cpu"): "a device in the report of a run",
    ("driver/project/CudaUnits.cpp", "cuda"): "a language of Clang's -x",
}


def names_in(path):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.lstrip().startswith(("#include", "//")):
                continue
            for text in LITERAL.findall(re.sub(r"\s// .*", "", line)):
                if QUALIFIED.fullmatch(text) or text in METHODS:
                    yield number, text


def main():
    root = sys.argv[1]
    found, used = [], set()
    for top in ("analysis", "checks", "fixits", "driver"):
        for folder, folders, files in os.walk(os.path.join(root, top)):
            folders.sort()
            for name in sorted(files):
                path = os.path.join(folder, name)
                relative = os.path.relpath(path, root)
                if not name.endswith((".cpp", ".h")) or \
                        relative.startswith(("analysis/torch/", "analysis/bytes/")):
                    continue
                for number, text in names_in(path):
                    if (relative, text) in ALLOWED:
                        used.add((relative, text))
                    else:
                        found.append('%s:%d: "%s"' % (relative, number, text))
    for entry in sorted(set(ALLOWED) - used):
        found.append('%s: "%s" is allowed, and not there' % entry)
    print("\n".join(found) if found else "only analysis/torch and analysis/bytes spell them")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
