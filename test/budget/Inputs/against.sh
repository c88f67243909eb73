#!/bin/sh
# against.sh THEN NOW ARGUMENT...: runs $TIDY, a command with --budget, in folder
# THEN, and in NOW against what that said; with FORM=json as JSON.
then=$1
now=$2
shift 2
cd "$then" && $TIDY --budget-format=json "$@" > "$now/before.json" ||
  [ $? -eq 1 ] || exit # A step fails.
cd "$now" && $TIDY --budget-format="${FORM:-text}" --against=before.json "$@"
