# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A PEP 517 backend: `pip install .` builds the program with CMake and puts it
next to the scripts of the environment. Needs what scripts/setup installs for the
build (LLVM 19 or 22, CMake, a compiler), and no Python package.

Environment:
  CMAKE_ARGS                    more arguments for cmake's first run
  CMAKE_BUILD_PARALLEL_LEVEL    compilers at a time; default: as many as cores
  LIBTORCH_TIDY_BUILD_FOLDER    a build folder to keep; default: a temporary one
"""

import base64
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Fixed, so that equal programs make equal wheels.
TIME = (1980, 1, 1, 0, 0, 0)


def version():
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"\bVERSION (\d+\.\d+\.\d+)", file.read()).group(1)


def metadata():
    return (
        "Metadata-Version: 2.1\n"
        "Name: libtorch-tidy\n"
        f"Version: {version()}\n"
        "Summary: Static analyzer for memory antipatterns in LibTorch code\n"
        "License: Apache-2.0 WITH LLVM-exception\n"
    )


def tag():
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    return f"py3-none-{platform}"


def build(folder):
    """Builds the program in `folder`, returns its path."""
    if shutil.which("cmake") is None:
        sys.exit("libtorch-tidy: cmake is not installed; scripts/setup installs it")
    if not os.path.exists(os.path.join(folder, "CMakeCache.txt")):
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        subprocess.run(
            ["cmake", "-S", ROOT, "-B", folder, "-DLIBTORCH_TIDY_BUILD_TESTS=OFF"]
            + generator
            + shlex.split(os.environ.get("CMAKE_ARGS", "")),
            check=True,
        )
    # A bare --parallel is stronger than the variable.
    limited = "CMAKE_BUILD_PARALLEL_LEVEL" in os.environ
    subprocess.run(
        ["cmake", "--build", folder, "--target", "libtorch-tidy"]
        + ([] if limited else ["--parallel"]),
        check=True,
    )
    return os.path.join(folder, "bin", "libtorch-tidy")


def get_requires_for_build_wheel(config_settings=None):
    return []


def write_wheel(folder, tag, entries, about):
    """Writes a wheel of `entries` (path, content, mode), returns its name."""
    name = f"libtorch_tidy-{version()}"
    info = f"{name}.dist-info"
    wheel = f"{name}-{tag}.whl"
    wheel_info = (
        "Wheel-Version: 1.0\nGenerator: libtorch-tidy\n"
        f"Root-Is-Purelib: false\nTag: {tag}\n"
    )
    records = []
    with zipfile.ZipFile(
        os.path.join(folder, wheel), "w", zipfile.ZIP_DEFLATED
    ) as archive:

        def add(path, content, mode=0o644):
            entry = zipfile.ZipInfo(path, TIME)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
            records.append(
                f"{path},sha256={digest.rstrip(b'=').decode()},{len(content)}"
            )

        for path, content, mode in entries:
            add(path, content, mode)
        add(f"{info}/METADATA", about.encode())
        add(f"{info}/WHEEL", wheel_info.encode())
        record = "\n".join(records + [f"{info}/RECORD,,", ""])
        archive.writestr(zipfile.ZipInfo(f"{info}/RECORD", TIME), record)
    return wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    kept = os.environ.get("LIBTORCH_TIDY_BUILD_FOLDER")
    with tempfile.TemporaryDirectory() as temporary:
        with open(build(kept or temporary), "rb") as file:
            program = file.read()
    script = f"libtorch_tidy-{version()}.data/scripts/libtorch-tidy"
    return write_wheel(wheel_directory, tag(), [(script, program, 0o755)], metadata())


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("there is no source distribution; use git")
