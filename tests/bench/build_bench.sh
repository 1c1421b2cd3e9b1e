#!/usr/bin/env bash
# build_bench.sh BEFORE AFTER [ROW...]: what two commits cost, in turn, with nothing cached: from a clone to the verdict, to its tests, to CI.
#   rows: demo test ci quick edit field (default: all; BEFORE lacks quick and edit where it has no such tests)
# Needs the packages of bootstrap.sh, a quiet machine, and hours for all rows. Prints processor and wall time of each side and the ratio.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ $# -ge 2 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 2; }
commits=("$1" "$2")
shift 2
rows=("$@")
[ ${#rows[@]} -gt 0 ] || rows=(demo test ci quick edit field)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CCACHE_DISABLE=1 HOME=$work/home SABATH_HOME=$work/sabath
mkdir -p "$HOME"

echo "$(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2-), $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg), $(date -u +%F)"

# fresh SIDE: a clone of the commit, with nothing built.
fresh() {
  rm -rf "${work:?}/$1" "$SABATH_HOME"
  git clone -q "$root" "$work/$1"
  git -C "$work/$1" checkout -q "${commits[$1]}"
}

# timed SIDE COMMAND: prints processor seconds and wall seconds of a command in the clone.
timed() {
  local times status=0
  times=$( { TIMEFORMAT='%U %S %R'; time (cd "$work/$1" && bash -c "$2" >"$work/out" 2>&1) || status=$?; } 2>&1 )
  awk -v status="$status" '{printf "%.0f %.0f\n", $1 + $2, $3}' <<<"$times"
}

# rebuilt SIDE: the number of units that read the header of RunRecord: what a new field compiles again.
rebuilt() {
  cmake -S "$work/$1" -B "$work/$1/build/count" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DSABATH_TESTS=OFF >/dev/null
  local header
  header=$(cd "$work/$1" && grep -rlE 'struct RunRecord \{' include | head -1)
  python3 - "$work/$1/build/count/compile_commands.json" "$header" <<'P'
import concurrent.futures, json, shlex, subprocess, sys
commands = json.load(open(sys.argv[1]))
def reads(entry):
    words = shlex.split(entry["command"])
    words = words[: words.index("-o")] + ["-M", entry["file"]]
    return sys.argv[2] in subprocess.run(words, cwd=entry["directory"], capture_output=True, text=True).stdout
with concurrent.futures.ThreadPoolExecutor() as pool:
    print(sum(pool.map(reads, commands)), "units")
P
}

measure() {
  case "$1" in
    demo) fresh "$2"; timed "$2" './bootstrap.sh demo' ;;
    test) fresh "$2"; timed "$2" './bootstrap.sh test' ;;
    ci) fresh "$2"; timed "$2" 'CI=1 bash .ci/run' ;;
    quick) [ -d "$work/$2/build/release" ] || { fresh "$2"; timed "$2" 'cmake --preset release && cmake --build --preset release' >/dev/null; }
      timed "$2" "ctest --test-dir build/release -L quick -j $(nproc)" ;;
    edit) [ -d "$work/$2/build/dev" ] || timed "$2" 'cmake --preset dev && cmake --build --preset dev --target test_app' >/dev/null
      timed "$2" 'echo "// edited" >>src/app/run_study.cpp && cmake --build --preset dev --target test_app && build/dev/bin/test_app' ;;
    field) [ -d "$work/$2" ] || fresh "$2"; rebuilt "$2" ;;
    *) echo "build_bench: unknown row '$1'" >&2; exit 2 ;;
  esac
}

printf '%-8s %22s %22s %s\n' row "before (cpu s, wall s)" "after (cpu s, wall s)" "ratio (cpu, wall)"
for row in "${rows[@]}"; do
  before=$(measure "$row" 0)
  after=$(measure "$row" 1)
  awk -v row="$row" -v b="$before" -v a="$after" 'BEGIN {
    split(b, x, " "); split(a, y, " ")
    printf "%-8s %22s %22s %s\n", row, b, a, (x[2] + 0 > 0 && y[2] + 0 > 0) ? sprintf("%.2f %.2f", y[1] / x[1], y[2] / x[2]) : sprintf("%.2f", y[1] / x[1])
  }'
done
