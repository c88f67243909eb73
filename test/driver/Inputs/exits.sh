#!/bin/sh
# exits.sh N COMMAND...: runs COMMAND and succeeds when it exits with N.
want=$1
shift
"$@"
got=$?
[ "$got" -eq "$want" ] && exit 0
echo "exits.sh: exit code $got instead of $want: $*" >&2
exit 1
