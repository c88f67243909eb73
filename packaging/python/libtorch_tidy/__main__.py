# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`libtorch-tidy` and `python -m libtorch_tidy`: the program, in this process."""

import os
import sys

from libtorch_tidy import program


def main():
    path = program()
    os.execv(path, [path] + sys.argv[1:])


if __name__ == "__main__":
    main()
