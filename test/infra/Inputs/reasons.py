"""reasons.py DRIVER CATALOG CHECKS FLAG...: which rows of the checks' tables of reasons
does no test show? The driver is asked with --why about the inputs of each check, the
files of CHECKS/<check>, and a row is shown when it decided on something there. CATALOG
is the output of --list-checks --json."""

import concurrent.futures
import glob
import json
import os
import re
import shlex
import subprocess
import sys

driver, catalog, folder, *flags = sys.argv[1:]

# Rows that need another unit of the program: test/program shows them.
OF_PROGRAMS = {"libtorch-inference-without-no-grad": {"program-trains-nothing", "covered-by-main"}}


def flags_of(path):
    """What the test of a file gives the compiler."""
    with open(path, encoding="utf-8") as file:
        for line in re.findall(r"RUN: *%check_libtorch_tidy (.*)", file.read()):
            words = shlex.split(line.replace("%S", os.path.dirname(path)))
            ends = [at for at, word in enumerate(words) if word == "--"]
            # After the first: options of clang-tidy. After the second: flags.
            return words[ends[1] + 1:] if len(ends) > 1 else []
    return []


def shown(job):
    """What decided on the findings of a check in a file."""
    check, path = job
    done = subprocess.run([driver, "--no-cache", "--no-background", "-j1", "--quiet", "--config={}",
                           "--why=" + path, "--", *flags, *flags_of(path)],
                          capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit("%s\n%s" % (path, done.stderr))
    return check, set(re.findall(r"^\d+: %s: (?:lowered to \d by|of level \d by|also|no fix:"
                                 r"|not a finding:) ([a-z-]+)" % check, done.stdout, re.M))


with open(catalog, encoding="utf-8") as file:
    rows = {check["name"]: {row["name"] for row in check["reasons"]} for check in json.load(file)}
jobs = [(check, path) for check in rows if rows[check]
        for path in sorted(glob.glob(os.path.join(folder, check[len("libtorch-"):], "*.cpp")))]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for check, names in pool.map(shown, jobs):
        rows[check] -= names
missing = {check: sorted(names - OF_PROGRAMS.get(check, set())) for check, names in rows.items()}
for check, names in missing.items():
    for name in names:
        print("%s: no test shows '%s'" % (check, name))
sys.exit(any(missing.values()))
