# What the soaks share; sourced by a script whose first argument is the program. Homes, cache and processes are the soak's own.
#   SABATH_SOAK_SEED: of the random moments
set -uo pipefail

sabath=$(realpath "$1")
[[ -x $sabath ]] || { echo "usage: $(basename "$0") SABATH"; exit 2; }
RANDOM=${SABATH_SOAK_SEED:-$$}
folder=$(mktemp -d "${TMPDIR:-/tmp}/sabath-soak-XXXXXX")
trap 'rm -rf "$folder"' EXIT
export SABATH_HOME=$folder/home SABATH_CONFIG=$folder/config SABATH_CACHE=$folder/cache SOAK_MARK=$folder
problems=0

problem() {
  echo "PROBLEM: $*"
  problems=$((problems + 1))
}

# Processes that carry this soak's mark in their environment.
left_alive() { env -u SOAK_MARK grep -lsF "SOAK_MARK=$SOAK_MARK" /proc/[0-9]*/environ; }

# Whoever lost its parent ends by itself, soon.
nobody_is_left() {
  local process pid
  for ((i = 0; i < 100; ++i)); do
    [[ -z $(left_alive) ]] && break
    sleep 0.1
  done
  for process in $(left_alive); do
    pid=${process#/proc/} pid=${pid%/environ}
    problem "still alive: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
    kill -9 "$pid"
  done
}

# index_is_right COMMAND...: what the catalog tells of the runs is what it tells after COMMAND has had it made anew, and all are
# closed. The list is left in $folder/listed.
index_is_right() {
  "$sabath" list runs --all >"$folder/listed.before" 2>&1 || problem "list runs: $(cat "$folder/listed.before")"
  "$@" >"$folder/anew" 2>&1 || problem "$*: $(cat "$folder/anew")"
  "$sabath" list runs --all >"$folder/listed" 2>"$folder/errors" || problem "list runs anew: $(cat "$folder/listed" "$folder/errors")"
  cmp -s "$folder/listed.before" "$folder/listed" || problem "a new catalog tells other runs than were known:
$(diff "$folder/listed.before" "$folder/listed")"
  grep -E '  (planned|running)  ' "$folder/listed" && problem "a run whose processes are gone is not closed"
}
