#!/usr/bin/env bash
# site_story.sh SABATH: a study of supercell at a site with a real Slurm of four nodes: handed in and left, waited for from another
# process, compared by node. Then a home that is full: told by the run, and over when there is room. Wants root.
set -euo pipefail
sabath=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
case "${2:-}" in
  "") exec unshare -m "$0" "$sabath" mount ;;
  mount) # before there are nodes: they see what is mounted by then
    work=$(mktemp -d)
    mkdir "$work/small"
    mount -t tmpfs -o size=4m,mode=0755 none "$work/small"
    trap 'umount "$work/small"; chmod -R u+w "$work"; rm -rf "$work"' EXIT
    "$here/../support/slurm/cluster.py" run -- "$0" "$sabath" inside "$work"
    exit ;;
esac
work=$3
source "$here/expect.sh"
export SABATH_HOME=$work/home SABATH_CONFIG=$work/config
mkdir -p "$work/config/sites"
cat >"$work/config/sites/test.json" <<'S'
{"schema": 1, "scheduler": "slurm", "resources": {"memory": "500 MiB"}}
S
"$sabath" doctor --site test
"$sabath" run supercell --on test --seeds 1..20 --set epochs=1 --set truth_cells=40 --detach
study=$(ls "$SABATH_HOME/studies")
"$sabath" wait "$study" --timeout 400s | tee "$work/out"
says '20 ok'
status=0
"$sabath" compare "study=$study" --by node >"$work/out" || status=$?
cat "$work/out"
# Chance decides which seeds a node gets. In one study of 20 some node has lower errors than another.
case $status in 0 | 1 | 3) ;; *) fail "compare ended with $status:" ;; esac
says '^n[1-4] '
"$sabath" compare "study=$study" --by host >"$work/out" || status=$?
says 'identical +within groups'

export SABATH_HOME=$work/small
mkdir -p "$work/recipes/wordy"
cat >"$work/recipes/wordy/recipe.json" <<'R'
{"schema": 1, "name": "wordy", "environment": {"layers": []},
 "stages": [{"name": "talk", "run": ["head", "-c", "20000000", "/dev/zero"]}]}
R
status=0
"$sabath" run "$work/recipes/wordy" --on test >"$work/out" 2>&1 || status=$?
cat "$work/out"
[ $status != 0 ] || fail "a run on a full disk claims success:"
says 'No space left on device'
mount -o remount,size=100m "$work/small"
"$sabath" run "$work/recipes/wordy" --on test
"$sabath" list runs
echo "story: told"
