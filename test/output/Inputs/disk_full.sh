#!/bin/sh
# disk_full.sh FOLDER SOURCE COMMAND -- FLAGS...: what COMMAND does on a disk that is
# full. Runs in a mount namespace of its own; FOLDER becomes a file system of 256 KiB.
set -eu
disk=$1
source=$2
tidy=$3
shift 4
mount -t tmpfs -o size=256k none "$disk"
cd "$disk"
fail() {
  echo "disk_full.sh: $*" >&2
  [ ! -f "$disk.err" ] || cat "$disk.err" >&2
  exit 1
}
# expect CODE ARGUMENTS...: the exit code, and nothing new or changed on the disk.
expect() {
  want=$1
  shift
  rm -rf "$disk.before"
  cp -r "$disk" "$disk.before"
  code=0
  "$tidy" --config='{}' --level=2 --quiet "$@" >"$disk.out" 2>"$disk.err" || code=$?
  [ "$code" -eq "$want" ] || fail "exit code $code, not $want: $*"
  diff -r "$disk.before" "$disk" || fail "the disk has changed: $*"
}

cp "$source" file.cpp
cp "$(dirname "$source")/packed.h" .
echo old >out.sarif
echo old >out.html
"$tidy" --config='{}' --level=2 --quiet --write-baseline=base.json file.cpp -- "$@"
head -c 1000000 /dev/zero >filler 2>/dev/null || true

for output in --sarif=out.sarif --html=out.html --sarif=new.sarif --export-fixes=new.yaml \
  '--format=junit --output=new.xml' --write-baseline=base.json; do
  # The name and its value are meant to be split.
  # shellcheck disable=SC2086
  expect 2 $output file.cpp -- "$@"
  grep -q "cannot write '.*': No space left on device" "$disk.err" ||
    fail "no reason: $output"
done
# The source is not touched by half a fix.
expect 2 --fix file.cpp -- "$@"
grep -q "No space left on device" "$disk.err" || fail "no reason: --fix"
# A cache that cannot be written is no cache.
expect 1 --no-cache file.cpp -- "$@"
cp "$disk.out" "$disk.first"
for _ in 1 2; do
  "$tidy" --config='{}' --level=2 --quiet --cache-dir="$disk/cache" file.cpp -- "$@" \
    >"$disk.out" 2>"$disk.err" && fail "a cache makes findings vanish"
  cmp "$disk.first" "$disk.out"
done
[ -z "$(find cache -name '*.tmp*')" ] || fail "the cache holds what is not whole"
