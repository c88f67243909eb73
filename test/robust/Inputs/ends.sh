# ends.sh FILE OUTPUT CLANG-TIDY PLUGIN DRIVER FLAGS...: both front ends come to
# the end of FILE, each within a minute of processor time. It may have errors.
file=$1 output=$2 clang_tidy=$3 plugin=$4 driver=$5
shift 5
ulimit -t 60

"$clang_tidy" -load "$plugin" '-checks=-*,libtorch-*' "$file" -- "$@" > "$output" 2>&1
status=$?
[ $status -le 1 ] || { echo "the plugin: $status"; cat "$output"; exit 1; }

[ -x "$driver" ] || exit 0
"$driver" --no-cache --level=2 --fail-on=never '--checks=libtorch-*' "$file" -- "$@" > "$output" 2>&1
status=$?
[ $status -eq 0 ] || { [ $status -eq 3 ] && ! grep -q crashed "$output"; } ||
  { echo "the driver: $status"; cat "$output"; exit 1; }
