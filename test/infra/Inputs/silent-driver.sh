#!/bin/sh
# A driver that knows every check and never finds anything.
for argument; do
  if [ "$argument" = -list-checks ]; then
    printf 'Enabled checks:\n    modernize-use-nullptr\n'
  fi
done
