# shards.sh FOLDER COUNT COMMAND...: runs the shards, round after round, until
# they say that all is done.
folder=$1 count=$2
shift 2
for round in 1 2 3 4 5 6 7 8 9; do
  said=$(
    for index in $(seq "$count"); do
      "$@" --shard="$index/$count" --shard-dir="$folder" 2>&1 || exit 1
    done
  ) || { echo "$said" >&2; exit 1; }
  case $said in
  *"all shards are done"*) echo "$said" >&2; exit 0 ;;
  esac
done
exit 1
