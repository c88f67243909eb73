# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libtorch-tidy as a Python package: the bundle, and what starts it."""

import os


def program():
    """The path of the program."""
    return os.path.join(os.path.dirname(__file__), "bundle", "bin", "libtorch-tidy")
