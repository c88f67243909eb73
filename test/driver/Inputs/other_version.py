# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes another version of a program.

    other_version.py PROGRAM OTHER WORD NEW-WORD

OTHER says NEW-WORD where PROGRAM says WORD, which is as long, and has another build id. It has
the same size and the same time.
"""

import os
import shutil
import sys

program, other, word, new = sys.argv[1:]
with open(program, "rb") as file:
    content = file.read()
# A name of 4 bytes, a value of 8 to 20, the kind; then the two.
notes = [(4).to_bytes(4, "little") + size.to_bytes(4, "little") + (3).to_bytes(4, "little") + b"GNU\0"
         for size in (8, 16, 20)]
places = [content.index(note) + len(note) for note in notes if note in content]
if not places or word.encode() not in content or len(word) != len(new):
    sys.exit("no build id, or not the word")
changed = bytearray(content)
changed[places[0]] ^= 0xFF
os.makedirs(os.path.dirname(other), exist_ok=True)
with open(other, "wb") as file:
    file.write(bytes(changed).replace(word.encode(), new.encode()))
shutil.copymode(program, other)
before = os.stat(program)
os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
