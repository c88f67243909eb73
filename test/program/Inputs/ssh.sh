# ssh.sh FOLDER TOOL PROJECT: runs the recipe in PROJECT, with ssh to this machine
# under two names.
set -eu
folder=$1 tool=$2 project=$3
mkdir -p "$folder" && chmod 700 "$folder"
ssh-keygen -q -t ed25519 -N '' -f "$folder/host" && ssh-keygen -q -t ed25519 -N '' -f "$folder/user"
cp "$folder/user.pub" "$folder/authorized_keys"
cat > "$folder/sshd_config" << C
Port 17022
ListenAddress 127.0.0.1
HostKey $folder/host
AuthorizedKeysFile $folder/authorized_keys
PidFile $folder/sshd.pid
StrictModes no
SetEnv PATH=$(dirname "$tool"):$PATH XDG_CACHE_HOME=$folder/cache
C
cat > "$folder/config" << C
Host one two
  HostName 127.0.0.1
  Port 17022
  IdentityFile $folder/user
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
C
mkdir -p /run/sshd
/usr/sbin/sshd -f "$folder/sshd_config"
trap 'kill "$(cat "$folder/sshd.pid")"' EXIT
PATH=$(dirname "$tool"):$PATH
export PATH PARALLEL_SSH="ssh -F $folder/config"
cd "$project"
sh run.sh || true
[ -s tidy.sarif ]
