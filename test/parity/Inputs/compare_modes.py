#
# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Analyses files in every way there is, and looks that all find the same.

    compare_modes.py --driver D --pch PCH --work DIR [--no-pch]
        [--clang-tidy C --plugin P] FILE... -- FLAG...

  plugin   stock clang-tidy with the plugin, LibTorch precompiled by PCH
  no-cache the driver with no cache; without --no-pch, LibTorch is precompiled
  cold     the driver with an empty cache: it precompiles the headers it needs
  warm     the driver with results
  pch      the driver with those headers and no results, over every fourth file

The driver's outputs are the same to the byte; of pch, where fewer files are
analysed, each diagnostic in one of them. It orders findings over all files
and stock clang-tidy by file, so with the plugin each diagnostic is compared, its
snippet and notes included, and not their order.
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

CONFIG = "{CheckOptions: {Level: 2}}"
FINDING = re.compile(r"^[^\s:][^:]*:\d+:\d+: (warning|error): ", re.MULTILINE)


def output_of(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    # 3: one of the check tests is about code that does not compile.
    if done.returncode not in (0, 1, 3):
        sys.exit(f"exit code {done.returncode}: {command}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def diagnostics(text):
    """The diagnostics with all that is printed below them, ordered."""
    starts = [m.start() for m in FINDING.finditer(text)] + [len(text)]
    found = [text[a:b] for a, b in zip(starts, starts[1:])]
    # A header's finding is reported for each unit by stock clang-tidy.
    return sorted(set(found))


def main():
    argv = sys.argv[1:]
    flags = argv[argv.index("--") + 1 :]
    parser = argparse.ArgumentParser()
    for name in ("driver", "pch", "work"):
        parser.add_argument("--" + name, required=True)
    for name in ("clang-tidy", "plugin"):
        parser.add_argument("--" + name)
    parser.add_argument("--no-pch", action="store_true")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args(argv[: argv.index("--")])

    work = Path(args.work)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    # Without a filter the driver reports findings in the project's headers, too.
    rules = ["-checks=-*,libtorch-*", "-config=" + CONFIG, "-header-filter=", "-quiet"]
    common = [*rules, *args.files]
    with_pch = [*flags, "-include-pch", args.pch]
    driver = [args.driver, "--progress", "--no-verify-fixes"]
    cache = "--cache-dir=" + str(work / "cache")
    cached = driver + [cache, *common, "--", *flags]

    modes = {}
    modes["no-cache"] = output_of(
        driver + ["--no-cache", *common, "--", *(flags if args.no_pch else with_pch)]
    )
    modes["cold"] = output_of(cached)
    modes["warm"] = output_of(cached)
    shutil.rmtree(work / "cache" / "results")
    few = args.files[::4]
    of_few, told_of_few = output_of(driver + [cache, *rules, *few, "--", *flags])

    # The modes are what they are called.
    told = {name: err for name, (_, err) in modes.items()}
    assert "precompiling" in told["cold"], told["cold"]
    assert "from the cache" not in told_of_few, told_of_few
    kept = told["warm"].count("from the cache") + told["warm"].count(", does not compile")
    assert kept >= len(args.files), told["warm"]

    reference = modes["no-cache"][0]
    failed = False
    for name, (out, _) in modes.items():
        (work / f"{name}.txt").write_text(out)
        if out != reference:
            print(f"{work}/{name}.txt differs from {work}/no-cache.txt")
            failed = True
    ours = diagnostics(reference)
    wanted = [d for d in ours if d.startswith(tuple(f + ":" for f in few))]
    found = [d for d in diagnostics(of_few) if d.startswith(tuple(few))]
    if found != wanted:
        (work / "pch.txt").write_text(of_few)
        print(f"{work}/pch.txt does not say the same of its files")
        failed = True
    if args.plugin:
        stock = [args.clang_tidy, "-load", args.plugin]
        plugin, _ = output_of(stock + [*common, "--", *with_pch])
        (work / "plugin.txt").write_text(plugin)
        theirs = diagnostics(plugin)
        for what, some in [
            ("plugin", set(theirs) - set(ours)),
            ("driver", set(ours) - set(theirs)),
        ]:
            for diagnostic in sorted(some):
                print(f"only the {what} says:\n{diagnostic}")
                failed = True
    print(f"{len(ours)} diagnostics in {len(args.files)} files")
    return failed or not ours


if __name__ == "__main__":
    sys.exit(main())
