"""The lit configuration of the libtorch-tidy suite.

Substitutions for RUN lines:

  %check_libtorch_tidy  check_libtorch_tidy.py: one test of one check (see there)
  %clang-tidy %plugin   stock clang-tidy, and the plugin it loads with -load
  %libtorch-tidy        our driver (REQUIRES: driver)
  %torch_flags          compiler flags for code that includes torch/torch.h,
                        precompiled; %torch_flags_nopch: the same without a PCH;
                        %torch_pch: the precompiled header itself
  %cpp-facts           what analysis/cpp says of a file (cpp/CppFacts.cpp)
  %flow-facts           what analysis/flow finds in a file (flow/FlowFacts.cpp)
  %torch-facts          what analysis/torch knows of a file (torch/TorchFacts.cpp)
  %fix-trials           what is said of fixes, and in how many analyses
  %flag-fates           what the driver does with each option of Clang
  %fuzzers              the folder of what the fuzzers test, as programs
  %llvm-version         the LLVM that all of this is built with: 19
  %clang-tidy-N %plugin-N  the same for another version (REQUIRES: llvm-N)
  %clangxx %cmake %FileCheck %not %python %old-clang-tidy
  %chromium %clang-apply-replacements %node_tools %sarif-multitool
  %run-clang-tidy %clang-tidy-diff %vim %neovim
  %docs_dir %examples_dir %scripts_dir %root_dir %build_dir
  %torch-2.6-flags %torch-2.14-flags
                        compiler flags for the headers of these versions
  %driver_file          the driver, as a path
  %bundle               the folder that the bundle is packed from (REQUIRES: bundle)

With --param llvm=N the tests of the checks run clang-tidy N with the plugin for it
(ninja check-llvm-N). With --param libtorch=2.6 those that run programs do so with that
LibTorch (ninja check-libtorch-2.6), and have the feature `later-libtorch`.

Features: avx512 (the processor has it), driver, bundle (LLVM's archives are installed), llvm-N (clang-tidy N and a plugin for it), old-clang-tidy (one that
there is no plugin for), jsonschema and yaml (Python modules), long-tests (the
environment variable LIBTORCH_TIDY_LONG_TESTS is set), libtorch-2.6 and libtorch-2.14
(scripts/setup has fetched these headers), and the tools that are installed: chromium,
clang-apply-replacements, clang-tidy-scripts, git, lintian, neovim, node-tools, patch,
pre-commit, private-mounts (unshare can mount), python-torch, sarif-multitool, vim-ale.
RUN lines are run by bash with `pipefail`.
"""

import filecmp
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig

import lit.formats

# `lit_config` and `config` are given by lit.
if not hasattr(config, "suite_build_dir"):
    lit_config.fatal("run the suite through the build: ninja -C build check")

config.tools_file = os.path.join(config.suite_build_dir, "tools.json")
with open(config.tools_file) as file:
    tools = json.load(file)
config.test_exec_root = config.suite_build_dir
libtorch = lit_config.params.get("libtorch")
if libtorch:
    sys.path.insert(0, config.suite_source_dir)
    import torch_library

    config.test_exec_root = os.path.join(config.suite_build_dir, "libtorch-" + libtorch)
    config.tools_file = torch_library.tools_with(libtorch, tools, config.test_exec_root)
    with open(config.tools_file) as file:
        tools = json.load(file)
    config.available_features.add("later-libtorch")

config.name = "libtorch-tidy"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".cpp", ".test"]
config.excludes = ["Inputs", "fuzz"]
config.test_source_root = config.suite_source_dir

# What oneDNN's blocks of channels depend on.
with open("/proc/cpuinfo", encoding="utf-8") as file:
    if " avx512f " in file.read():
        config.available_features.add("avx512")

# What the build is made with; llvm-N is that of another plugin.
config.available_features.add("built-with-" + tools["llvm_version"])
if tools["driver"]:
    config.available_features.add("driver")
if tools["bundle"]:
    config.available_features.add("bundle")
if tools["old_clang_tidy"]:
    config.available_features.add("old-clang-tidy")
for module in ["jsonschema", "yaml"]:
    found = subprocess.run(
        [tools["python"], "-c", "import " + module], stderr=subprocess.DEVNULL
    )
    if found.returncode == 0:
        config.available_features.add(module)

# Tools that read what we write, from Debian's packages.
for tool in ["chromium", "clang-apply-replacements", "git", "lintian", "patch", "pre-commit"]:
    path = shutil.which(tool, path=tools["llvm_bin"]) or shutil.which(tool)
    tools[tool] = path
    if path:
        config.available_features.add(tool)

# What comes with clang-tidy, for many files and for patches.
run_clang_tidy = os.path.join(tools["llvm_bin"], "run-clang-tidy")
clang_tidy_diff = os.path.join(
    os.path.dirname(tools["llvm_bin"]), "share", "clang", "clang-tidy-diff.py"
)
if os.path.exists(run_clang_tidy) and os.path.exists(clang_tidy_diff):
    config.available_features.add("clang-tidy-scripts")
# Vim and Neovim, with the package of ALE that is for both.
vim = shutil.which("vim")
nvim = shutil.which("nvim")
if vim and os.path.isdir("/usr/share/vim-ale"):
    config.available_features.add("vim-ale")
    if nvim:
        config.available_features.add("neovim")

# What spreads work over machines. moreutils has another `parallel`.
sbin = os.environ.get("PATH", "") + ":/usr/sbin"
found = "import importlib.util as u, sys; sys.exit(not (u.find_spec('torch') and u.find_spec('setuptools')))"
if shutil.which("ninja") and not subprocess.run([tools["python"], "-c", found]).returncode:
    config.available_features.add("python-torch")
python_headers = sysconfig.get_paths()["include"]
if os.path.exists("/usr/include/pybind11/pybind11.h") and os.path.exists(python_headers + "/Python.h"):
    config.available_features.add("pybind11")
    config.substitutions.append(("%python_flags", "-isystem " + python_headers))
if all(shutil.which(tool, path=sbin) for tool in ["munged", "sbatch", "slurmctld", "slurmd"]):
    config.available_features.add("slurm")
if os.path.exists("/usr/sbin/sshd") and shutil.which("parallel"):
    said = subprocess.run(["parallel", "--version"], capture_output=True, text=True).stdout
    if said.startswith("GNU parallel"):
        config.available_features.add("gnu-parallel")

# And from npm: scripts/setup puts them there.
node_tools = os.path.join(config.suite_build_dir, "tools", "node_modules")
multitool = os.path.join(
    node_tools, "@microsoft", "sarif-multitool-linux", "Sarif.Multitool"
)
if shutil.which("node") and os.path.isdir(os.path.join(node_tools, "axe-core")):
    config.available_features.add("node-tools")
if os.access(multitool, os.X_OK):
    config.available_features.add("sarif-multitool")
# A disk of one's own, without being root.
mounts = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
if shutil.which("unshare") and not subprocess.run(mounts, stderr=subprocess.DEVNULL).returncode:
    config.available_features.add("private-mounts")
# scripts/vscode and scripts/vscode --tester put these there.
root = os.path.dirname(config.suite_source_dir)
cached = os.path.join(os.path.dirname(config.suite_build_dir), "cache")
locks = [
    os.path.join(root, "editors", "vscode", "package-lock.json"),
    os.path.join(os.path.dirname(config.suite_build_dir), "vscode", "installed"),
]
if (
    os.path.exists(os.path.join(cached, "code-server", "ready"))
    and all(map(os.path.exists, locks))
    and filecmp.cmp(*locks, shallow=False)
):
    config.available_features.add("vscode")
if os.environ.get("LIBTORCH_TIDY_LONG_TESTS"):
    config.available_features.add("long-tests")

# The headers of later versions of LibTorch, with the standard that they need.
build_dir = os.path.dirname(config.suite_build_dir)
for version, standard in [("2.6", "c++17"), ("2.14", "c++20")]:
    include = os.path.join(build_dir, "cache/libtorch-headers", version, "usr/include")
    api = os.path.join(include, "torch/csrc/api/include")
    if os.path.exists(os.path.join(api, "torch/torch.h")):
        config.available_features.add("libtorch-" + version)
    flags = ["-std=" + standard, "-isystem", api, "-isystem", include]
    config.substitutions.append((r"%torch-" + version + r"-flags\b", shlex.join(flags)))

# Tests see neither the user's caches nor the user's locale.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.suite_build_dir, "cache")
config.environment["LC_ALL"] = "C.UTF-8"
# Nothing goes on after a run but where a test wants that.
config.environment["CI"] = "true"
# But how many compilers may run at a time is the machine's.
if "CMAKE_BUILD_PARALLEL_LEVEL" in os.environ:
    config.environment["CMAKE_BUILD_PARALLEL_LEVEL"] = os.environ["CMAKE_BUILD_PARALLEL_LEVEL"]
# Nor the user's configuration of git, nor, in a hook, the user's repository.
for name in list(config.environment):
    if name.startswith("GIT_"):
        del config.environment[name]
config.environment["GIT_CONFIG_NOSYSTEM"] = "1"
# Not /dev/null: `git config --global` of root puts a file in its place.
git_config = os.path.join(config.suite_build_dir, "gitconfig")
open(git_config, "a").close()
config.environment["GIT_CONFIG_GLOBAL"] = git_config
for who in ["AUTHOR", "COMMITTER"]:
    config.environment["GIT_%s_NAME" % who] = "Test"
    config.environment["GIT_%s_EMAIL" % who] = "test@example.org"

checker = os.path.join(config.suite_source_dir, "check_libtorch_tidy.py")
check_command = [tools["python"], checker, "--tools=" + config.tools_file]
for version, host in tools["plugins"].items():
    config.available_features.add("llvm-" + version)
    for name in ("clang_tidy", "plugin"):
        key = "%" + name.replace("_", "-") + "-" + version
        config.substitutions.append((key + r"\b", shlex.join([host[name]])))
version = lit_config.params.get("llvm")
if version:
    if version not in tools["plugins"]:
        lit_config.fatal("this build has no plugin for clang-tidy " + version)
    # What two runs of a test write must not meet.
    config.test_exec_root = os.path.join(config.suite_build_dir, "llvm-" + version)
    check_command.append("--llvm=" + version)
pch = ["-include-pch", tools["torch_pch"]]

# lit replaces in this order, by regular expression: a longer name goes before
# the name that begins it, or ends in a boundary.
for name, command in [
    ("%check_libtorch_tidy", check_command),
    ("%torch_flags_nopch", tools["torch_flags"]),
    ("%torch_flags_library", tools["torch_flags"] + pch),
    ("%torch_code_flags", tools["torch_flags"] + ["-include-pch", tools["torch_code_pch"]]),
    ("%torch_flags", tools["torch_flags"] + pch),
    ("%torch_pch", [tools["torch_pch"]]),
    ("%cpp-facts", [tools["cpp_facts"]]),
    ("%flow-facts", [tools["flow_facts"]]),
    ("%torch-facts", [tools["torch_facts"]]),
    ("%fix-trials", [tools["fix_trials"]]),
    ("%flag-fates", [tools["flag_fates"]]),
    ("%fuzzers", [tools["fuzzers"]]),
    ("%llvm-release", [tools["llvm_release"]]),
    ("%llvm-version", [tools["llvm_version"]]),
    ("%libtorch-tidy", [tools["driver"] or "no-driver-in-this-build"]),
    ("%old-clang-tidy", [tools["old_clang_tidy"]]),
    ("%run-clang-tidy", [tools["python"], run_clang_tidy]),
    ("%clang-tidy-diff", [tools["python"], clang_tidy_diff]),
    ("%clang-tidy", [tools["clang_tidy"]]),
    ("%vim", [vim or "none"]),
    ("%neovim", [nvim or "none"]),
    ("%chromium", [tools["chromium"] or "none"]),
    ("%node_tools", [node_tools]),
    ("%sarif-multitool", [multitool]),
    ("%clang-apply-replacements", [tools["clang-apply-replacements"] or "none"]),
    ("%plugin", [tools["plugin"]]),
    ("%clangxx", [tools["clangxx"]]),
    ("%cmake", [tools["cmake"]]),
    ("%FileCheck", [tools["filecheck"]]),
    ("%not", [tools["not"]]),
    ("%split-file", [os.path.join(tools["llvm_bin"], "split-file")]),
    ("%python", [tools["python"]]),
    ("%driver_file", [tools["driver"] or "no-driver-in-this-build"]),
    ("%root_dir", [os.path.dirname(config.suite_source_dir)]),
    ("%bundle", [tools["bundle"] or "no-bundle-in-this-build"]),
    ("%build_dir", [os.path.dirname(config.suite_build_dir)]),
    ("%docs_dir", [tools["docs_dir"]]),
    ("%scripts_dir", [tools["scripts_dir"]]),
    ("%examples_dir", [tools["examples_dir"]]),
]:
    config.substitutions.append((name + r"\b", shlex.join(command)))
