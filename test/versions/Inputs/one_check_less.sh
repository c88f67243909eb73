#!/bin/sh
#
# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The clang-tidy that CLANG_TIDY names, without libtorch-cat-in-loop.
for argument; do
  shift
  case $argument in
  -checks=*) argument=$argument,-libtorch-cat-in-loop ;;
  esac
  set -- "$@" "$argument"
done
exec "$CLANG_TIDY" "$@"
