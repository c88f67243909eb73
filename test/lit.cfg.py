"""The lit configuration of the libtorch-tidy suite.

Substitutions for RUN lines:

  %check_libtorch_tidy  check_libtorch_tidy.py: one test of one check (see there)
  %clang-tidy %plugin   stock clang-tidy, and the plugin it loads with -load
  %libtorch-tidy        our driver (REQUIRES: driver)
  %torch_flags          compiler flags for code that includes torch/torch.h,
                        precompiled; %torch_flags_nopch: the same without a PCH;
                        %torch_pch: the precompiled header itself
  %torch-facts          what checks/torch knows of a file (torch/TorchFacts.cpp)
  %clangxx %cmake %FileCheck %not %python %old-clang-tidy
  %docs_dir %examples_dir %scripts_dir

Features: driver, old-clang-tidy, jsonschema (the Python module), long-tests (the
environment variable LIBTORCH_TIDY_LONG_TESTS is set).
RUN lines are run by bash with `pipefail`.
"""

import json
import os
import shlex
import subprocess

import lit.formats

# `lit_config` and `config` are given by lit.
if not hasattr(config, "suite_build_dir"):
    lit_config.fatal("run the suite through the build: ninja -C build check")

with open(os.path.join(config.suite_build_dir, "tools.json")) as file:
    tools = json.load(file)

config.name = "libtorch-tidy"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".cpp", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = config.suite_source_dir
config.test_exec_root = config.suite_build_dir

if tools["driver"]:
    config.available_features.add("driver")
if tools["old_clang_tidy"]:
    config.available_features.add("old-clang-tidy")
has_jsonschema = subprocess.run(
    [tools["python"], "-c", "import jsonschema"], stderr=subprocess.DEVNULL
)
if has_jsonschema.returncode == 0:
    config.available_features.add("jsonschema")

if os.environ.get("LIBTORCH_TIDY_LONG_TESTS"):
    config.available_features.add("long-tests")

# Tests see neither the user's caches nor the user's locale.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.suite_build_dir, "cache")
config.environment["LC_ALL"] = "C.UTF-8"

checker = os.path.join(config.suite_source_dir, "check_libtorch_tidy.py")
tools_file = os.path.join(config.suite_build_dir, "tools.json")
pch = ["-include-pch", tools["torch_pch"]]

# lit replaces in this order, by regular expression: a longer name goes before
# the name that begins it, or ends in a boundary.
for name, command in [
    ("%check_libtorch_tidy", [tools["python"], checker, "--tools=" + tools_file]),
    ("%torch_flags_nopch", tools["torch_flags"]),
    ("%torch_flags_library", tools["torch_flags"] + pch),
    ("%torch_flags", tools["torch_flags"] + pch),
    ("%torch_pch", [tools["torch_pch"]]),
    ("%torch-facts", [tools["torch_facts"]]),
    ("%libtorch-tidy", [tools["driver"] or "no-driver-in-this-build"]),
    ("%old-clang-tidy", [tools["old_clang_tidy"]]),
    ("%clang-tidy", [tools["clang_tidy"]]),
    ("%plugin", [tools["plugin"]]),
    ("%clangxx", [tools["clangxx"]]),
    ("%cmake", [tools["cmake"]]),
    ("%FileCheck", [tools["filecheck"]]),
    ("%not", [tools["not"]]),
    ("%python", [tools["python"]]),
    ("%docs_dir", [tools["docs_dir"]]),
    ("%scripts_dir", [tools["scripts_dir"]]),
    ("%examples_dir", [tools["examples_dir"]]),
]:
    config.substitutions.append((name + r"\b", shlex.join(command)))
