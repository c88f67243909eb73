# slurm.sh FOLDER NODES TOOL PROJECT: a Slurm cluster of this machine alone runs the
# recipe in PROJECT; the second node dies as soon as it has work.
set -eu
folder=$1 nodes=$2 tool=$3 project=$4 host=$(hostname -s)
mkdir -p "$folder/state"
# Names of sockets are short.
short=$(mktemp -d) && chmod 755 "$short"
cat > "$folder/slurm.conf" << C
ClusterName=tidy
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$short/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/%n.log
SlurmctldPort=16817
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
JobRequeue=0
NodeName=n[1-$nodes] NodeHostname=$host NodeAddr=127.0.0.1 Port=[17001-$((17000 + nodes))] CPUs=1 State=UNKNOWN
PartitionName=all Nodes=n[1-$nodes] Default=YES MaxTime=INFINITE State=UP
C
PATH=$PATH:/usr/sbin
head -c 1024 /dev/urandom > "$folder/key" && chmod 600 "$folder/key"
munged --force --key-file="$folder/key" --socket="$short/munge" \
  --pid-file="$folder/munge.pid" --log-file="$folder/munge.log" --seed-file="$folder/seed"
export SLURM_CONF="$folder/slurm.conf"
end() {
  for pid in "$folder"/*.pid; do kill "$(cat "$pid")" 2> /dev/null || true; done
  rm -rf "$short"
}
trap end EXIT
slurmctld
for node in $(seq "$nodes"); do
  mkdir -p "$folder/n$node" && slurmd -N "n$node"
done

PATH=$(dirname "$tool"):$PATH
export PATH
export XDG_CACHE_HOME="$folder/cache"
cd "$project"
sbatch --quiet tidy-merge.sh
killed=
for _ in $(seq 1200); do
  if [ ! "$killed" ] && [ "$(squeue -h -t R -w n2 -n tidy | wc -l)" -gt 0 ]; then
    killed=yes
    scontrol update nodename=n2 state=down reason=test
    kill -9 "$(cat "$folder/n2.pid")"
    echo "n2 died: $(ls tidy | wc -l) rounds begun"
  fi
  [ -e tidy.exit ] && break
  sleep 0.5
done
[ "$killed" ] && [ -e tidy.exit ]
