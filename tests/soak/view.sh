#!/bin/bash
# view.sh SABATH [PICTURES]: the live view with everything real: a browser at three widths and in two colour schemes, axe-core, an sshd.
# Needs Chromium, openssh-server and the package index; for the reasons of waiting runs root and Debian's Slurm. Writes pictures of all pages to the folder PICTURES, to be looked at.
set -euo pipefail
sabath=$(realpath "$1")
pictures=${2:-}
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
pids=()
finish() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  rm -rf "$work"
}
trap finish EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" --quiet --disable-pip-version-check install playwright==1.49.1 axe-playwright-python==0.1.4
axe=$(find "$work/venv" -name axe.min.js | head -1)
"$work/venv/bin/python" "$here/../view/view_story.py" "$sabath" --axe "$axe" --pictures "${pictures:-$work/pictures}"

# The same through a real sshd: a Unix socket that is forwarded, and pipes.
export SABATH_HOME=$work/home SABATH_CACHE=$work/cache SABATH_CONFIG=$work/config XDG_RUNTIME_DIR=$work/runtime
mkdir -m 700 "$work/runtime" "$work/ssh"
ssh-keygen -q -t ed25519 -N '' -f "$work/ssh/host"
ssh-keygen -q -t ed25519 -N '' -f "$work/ssh/user"
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
mkdir -p /run/sshd 2>/dev/null || true
# An sshd that allows what the further lines say, as a host of ssh's configuration.
site() {
  local name=$1 port
  port=$(free_port)
  printf '%s\n' "Port $port" 'ListenAddress 127.0.0.1' "HostKey $work/ssh/host" "AuthorizedKeysFile $work/ssh/user.pub" 'StrictModes no' \
    'UsePAM no' 'PidFile none' 'AcceptEnv *' "${@:2}" > "$work/ssh/$name.conf"
  /usr/sbin/sshd -D -f "$work/ssh/$name.conf" -E "$work/ssh/$name.log" & pids+=($!)
  printf '%s\n' "Host $name" '  HostName 127.0.0.1' "  Port $port" "  IdentityFile $work/ssh/user" '  StrictHostKeyChecking no' \
    "  UserKnownHostsFile $work/ssh/known-$name" >> "$work/ssh/config"
  for _ in $(seq 600); do ssh -F "$work/ssh/config" "$name" true 2>/dev/null && break; sleep 0.1; done
}
# OpenSSH 9.2 forwards no socket where it may not forward TCP.
site forwards 'AllowTcpForwarding local' 'AllowStreamLocalForwarding local'
site strict 'DisableForwarding yes'

# One program asks for the page at an address with a token.
ask() { python3 -c '
import sys, urllib.request
url, _, token = sys.argv[1].partition("#t=")
request = urllib.request.Request(url + "api/about", headers={"Authorization": "Bearer " + token})
print(urllib.request.urlopen(request).read().decode())' "$1"; }

SSH_CONNECTION=x "$sabath" serve --json > "$work/serve.json" 2>"$work/serve.err" & pids+=($!)
for _ in $(seq 600); do grep -q token "$work/serve.json" && break; sleep 0.1; done
socket=$(sed -n 's/.*"socket": "\(.*\)",/\1/p' "$work/serve.json")
token=$(sed -n 's/.*"token": "\(.*\)",/\1/p' "$work/serve.json")
near=$(free_port)
ssh -F "$work/ssh/config" -NL "$near:$socket" forwards & pids+=($!)
for _ in $(seq 600); do ask "http://127.0.0.1:$near/#t=$token" >"$work/answer" 2>/dev/null && break; sleep 0.1; done
grep -q "$work/home" "$work/answer"
echo "ok: a Unix socket through ssh -L"

"$sabath" view strict --ssh-option=-F"$work/ssh/config" --no-browser \
  --remote "env SABATH_HOME=$work/home SABATH_CONFIG=$work/config $sabath" > "$work/view.out" 2>"$work/view.err" & pids+=($!)
for _ in $(seq 600); do grep -q '#t=' "$work/view.out" && break; sleep 0.1; done
ask "$(cat "$work/view.out")" | grep -q "$work/home"
echo "ok: view through a real ssh, without forwarding"
if command -v setpriv >/dev/null && [ "$(id -u)" = 0 ]; then
  ! setpriv --reuid=65534 --clear-groups /usr/bin/curl -s --max-time 5 "$(sed 's/#.*//' "$work/view.out")" >/dev/null
  echo "ok: another user cannot use the relay"
fi

# Three runs of supercell with seed 1: the page says where two of them diverge before the slower one has ended.
python=$work/venv/bin/python
"$python" "$here/../view/view_supercell.py" "$sabath" "http://127.0.0.1:$near/#t=$token"
echo "ok: supercell through a Unix socket"
"$python" "$here/../view/view_supercell.py" "$sabath" "$(cat "$work/view.out")"
echo "ok: supercell through view"

# What runs wait for at a Slurm of four nodes.
"$python" "$here/../view/view_slurm.py" "$sabath" || { [ $? = 77 ] && echo "skipped: Slurm"; }
echo "passed"
