#!/bin/sh
# A driver whose fix of `First` is what the environment variable FIX says, and
# that finds the same again whatever the file says then.
fix=
for argument; do
  case $argument in
  -list-checks) printf 'Enabled checks:\n    modernize-use-nullptr\n' ;;
  -fix) fix=yes ;;
  *.cpp) file=$argument ;;
  esac
done
[ "$file" ] || exit 0
echo "$file:2:14: warning: use nullptr [modernize-use-nullptr]"
if [ "$fix" ]; then
  echo "$file:2:14: note: FIX-IT applied suggested code changes"
  sed -i "s/First = .*/First = $FIX;/" "$file"
fi
