#!/usr/bin/env bash
# site_faults.sh BUILD: each fault of a site's scheduler again and again, SABATH_SOAK_ROUNDS times: a controller or the accounting that is away, full
# disks, lost nodes, no memory, no time, preemption, wrong clocks, status files that come late, the login that is killed. Without
# SABATH_SOAK_ROUNDS it is short: what needs no cluster ten times, and one fault of a real Slurm twice. Wants root and Debian's Slurm.
set -euo pipefail
bin=$(realpath "$1")/bin
story=$(dirname "${BASH_SOURCE[0]}")/../integration/site_story.sh
command -v slurmctld >/dev/null || { echo 'no Slurm here'; exit 77; }
again() { # TIMES COMMAND...
  local times=$1
  shift
  [[ -x $1 ]] || { echo "not built: $1"; return 0; }
  for ((round = 1; round <= times; ++round)); do
    "$@" >"$log" 2>&1 || { cat "$log"; echo "round $round of: $*"; exit 1; }
  done
  echo "$times times: $*"
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if [[ -z ${SABATH_SOAK_ROUNDS:-} ]]; then
  again 10 "$bin/test_batch" 'run watch: *'
  again 2 "$bin/test_sites" 'site faults: the controller stops*'
  exit
fi
again "$SABATH_SOAK_ROUNDS" "$bin/test_batch" 'run watch: *'
again "$SABATH_SOAK_ROUNDS" "$bin/test_cli_batch" 'requeue: *,herd: *'
again "$SABATH_SOAK_ROUNDS" "$bin/test_sites"
again "$SABATH_SOAK_ROUNDS" "$bin/test_slurm"
again "$SABATH_SOAK_ROUNDS" "$bin/test_slurm_accounting"
again "$SABATH_SOAK_ROUNDS" "$story" "$bin/sabath"
