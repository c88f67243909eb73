#!/usr/bin/env python3
#
# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Looks that no program runs that the configuration of a repository names.

    hostile_git.py WORK TIDY FLAG...

Every key of git's configuration whose value can be a program is set to one that leaves a
mark, in repositories of several forms: plain, with an included configuration, with a
configuration of the work tree, with a submodule, a clone that lacks objects, and a folder
that looks like a bare repository. TIDY is then asked for changed lines, and for SARIF.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

WORK, TIDY, FLAGS = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
MARK = WORK / "ran"
PROGRAM = WORK / "program"
# All keys of git 2.39 and later that name a program ("git help config").
KEYS = """
alias.diff alias.status alias.ls-files browser.x.cmd browser.x.path core.alternateRefsCommand
core.askPass core.editor core.fsmonitor core.gitProxy core.hooksPath core.pager core.sshCommand
credential.helper diff.external diff.x.command diff.x.textconv diff.guitool difftool.x.cmd
difftool.x.path filter.x.clean filter.x.process filter.x.smudge filter.a=b.clean
filter.a.b.clean gpg.program gpg.openpgp.program gpg.ssh.defaultKeyCommand gpg.ssh.program
gpg.x509.program guitool.x.cmd imap.tunnel instaweb.browser instaweb.httpd
interactive.diffFilter log.showSignature man.x.cmd man.x.path merge.x.driver mergetool.x.cmd
mergetool.x.path pager.diff pager.status receive.procReceiveRefs remote.origin.receivepack
remote.origin.uploadpack remote.origin.vcs sendemail.sendmailCmd sendemail.smtpServer
sequence.editor ssh.variant submodule.sub.update tar.x.command trailer.x.cmd trailer.x.command
uploadpack.packObjectsHook web.browser
""".split()


def git(*args, at, **more):
    subprocess.run(["git", "-c", "protocol.file.allow=always", "-c", "core.hooksPath=/dev/null",
                    *args], cwd=at, check=True, stdout=subprocess.DEVNULL, **more)


def commit(at, *names):
    git("init", "-q", "-b", "main", ".", at=at)
    (at / "a.cpp").write_text("int A;\n")
    (at / ".gitattributes").write_text("*.cpp filter=x diff=x merge=x\n*.h filter=a=b\n"
                                       "*.hpp filter=a.b\n")
    for name in ("a.h", "a.hpp", *names):
        (at / name).write_text("int H;\n")
    git("add", ".", at=at)
    git("commit", "-qm", "one", at=at)


def arm(*config, at):
    """Sets every key; `config` says in which file."""
    for key in KEYS:
        value = PROGRAM if key != "core.hooksPath" else WORK / "hooks"
        git("config", *config, key, str(value), at=at)
    git("config", *config, "filter.x.required", "true", at=at)


def change(at):
    """As many bytes as before: git has to read them."""
    for name in ("a.cpp", "a.h", "a.hpp"):
        (at / name).write_text("int X;\n")


def plain(at):
    commit(at)
    arm(at=at)


def included(at):
    commit(at)
    arm("--file", str(at / "more"), at=at)
    git("config", "include.path", "../more", at=at)


def of_the_work_tree(at):
    commit(at)
    git("config", "extensions.worktreeConfig", "true", at=at)
    arm("--worktree", at=at)


def in_a_submodule(at):
    other = at.parent / "other"
    other.mkdir()
    commit(other)
    commit(at)
    git("submodule", "--quiet", "add", str(other), "sub", at=at)
    git("commit", "-qm", "two", at=at)
    arm(at=at / "sub")
    change(at / "sub")


def without_objects(at):
    """The objects of a clone that a remote has promised are fetched when they are asked for."""
    commit(at)
    blob = subprocess.run(["git", "rev-parse", "HEAD:a.cpp"], cwd=at, check=True,
                          capture_output=True, text=True).stdout.strip()
    (at / ".git/objects" / blob[:2] / blob[2:]).unlink()
    git("config", "core.repositoryFormatVersion", "1", at=at)
    git("config", "extensions.partialClone", "origin", at=at)
    git("config", "remote.origin.promisor", "true", at=at)
    git("config", "remote.origin.url", f"ext::{PROGRAM}", at=at)
    git("config", "protocol.ext.allow", "always", at=at)
    git("config", "protocol.allow", "always", at=at)
    arm(at=at)


def looks_bare(at):
    """A commit can hold such a folder."""
    commit(at)
    for name in (at / ".git").iterdir():
        shutil.move(name, at / name.name)
    (at / ".git").rmdir()
    repository = ["--git-dir=.", "--work-tree=."]
    git(*repository, "config", "core.worktree", ".", at=at)
    for key in KEYS:
        git(*repository, "config", key, str(PROGRAM), at=at)




shutil.rmtree(WORK, ignore_errors=True)
(WORK / "hooks").mkdir(parents=True)
PROGRAM.write_text(f"#!/bin/sh\necho \"$0 $*\" >> {MARK}\n")
PROGRAM.chmod(0o755)
for hook in ("post-index-change", "fsmonitor-watchman", "post-checkout", "pre-commit"):
    shutil.copy(PROGRAM, WORK / "hooks" / hook)

wrong = 0
for form in (plain, included, of_the_work_tree, in_a_submodule, without_objects, looks_bare):
    at = WORK / form.__name__ / "repository"
    at.mkdir(parents=True)
    form(at)
    change(at)
    MARK.unlink(missing_ok=True)
    # The repository is what it should be: git itself runs what it names.
    subprocess.run(["git", "diff", "--raw", "--patch", "--no-ext-diff", "--no-textconv"], cwd=at,
                   capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    print(f"{form.__name__}: git runs {'some' if MARK.exists() else 'none'}", end="")
    for options in (["--diff"], ["--staged"], ["--pre-commit"],
                    [f"--sarif={WORK / 'out.sarif'}"], [f"--html={WORK / 'out.html'}"]):
        MARK.unlink(missing_ok=True)
        done = subprocess.run([TIDY, *options, "a.cpp", "--", *FLAGS], cwd=at,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=60)
        print(f", {options[0].split('=')[0]} {done.returncode}", end="")
        if MARK.exists():
            print(f"\n{options[0]} runs {MARK.read_text()}")
            wrong += 1
    print()
print(f"{wrong} runs of programs")
