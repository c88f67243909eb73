# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where this machine has Debian's packages from."""

import subprocess


def mirrors():
    """The addresses of Debian's archive in apt's configuration, without a slash at the
    end and each once. Archives of security fixes hold no releases and are left out. Empty
    on a machine without apt or without such a source."""
    try:
        done = subprocess.run(
            ["apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME) $(ORIGIN)",
             "Created-By: Packages"],
            capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return []
    found = []
    for line in done.stdout.splitlines():
        address, codename, origin = (line.split() + ["", "", ""])[:3]
        address = address.rstrip("/")
        # Without lists (before apt-get update), apt does not know an origin.
        if (origin in ("Debian", "") and "security" not in codename
                and address.endswith("/debian") and address not in found):
            found.append(address)
    return found
