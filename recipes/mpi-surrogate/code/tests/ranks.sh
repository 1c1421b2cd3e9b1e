#!/usr/bin/env bash
# ranks.sh BUILD_FOLDER MPIRUN: the programs on one, two, three and four ranks: fields equal to the bit, all else but for rounding;
# the network is better than the quadratic fit, which is better than the mean; wrong words are told.
set -euo pipefail
build=$1
mpirun=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "ranks: $*" >&2; exit 1; }
for ranks in 1 2 3 4; do
  mkdir "$work/$ranks"
  export SABATH_METRICS=$work/$ranks/metrics.jsonl
  "$mpirun" -n $ranks "$build/stirring-simulate" --out "$work/$ranks/mixing.h5" --samples 256
  "$mpirun" -n $ranks "$build/stirring-train" --data "$work/$ranks/mixing.h5" --output "$work/$ranks" --epochs 100
  same() { "$build/tests/equal_numbers" "$1" "$2" "$3" "$work/1/$4" "$work/$ranks/$4" || fail "$1 differs on $ranks ranks"; }
  same fields 3 0 mixing.h5
  same mixing 1 1e-12 mixing.h5
  same network 1 1e-9 weights.h5
  same mixing 1 1e-9 predictions.h5
  [ "$(grep -c '"epoch": ' "$SABATH_METRICS")" = 100 ] || fail "not one line for each epoch: $(wc -l "$SABATH_METRICS")"
done
if "$build/tests/equal_numbers" mixing 1 1e-3 "$work/1/mixing.h5" "$work/1/predictions.h5" 2>"$work/said"; then
  fail "what differs passes for equal"
fi
sed -n 's/.*"surrogate_error": \([^,]*\), "ridge_error": \([^,]*\), "mean_error": \([^}]*\)}/\1 \2 \3/p' "$work/1/metrics.jsonl" |
  awk '{ found = 1; if (!($1 < 0.8 * $2 && $2 < 0.5 * $3)) exit 1 } END { if (!found) exit 1 }' ||
  fail "the errors are not in their order: $(tail -n 1 "$work/1/metrics.jsonl")"

# refuses STATUS WORDS...: what is wrong is told.
refuses() {
  local wanted=$1 status=0
  shift
  "$mpirun" -n 2 "$@" >"$work/said" 2>&1 || status=$?
  [ "$status" = "$wanted" ] || fail "'$*' ended with $status: $(cat "$work/said")"
}
refuses 2 "$build/stirring-simulate" --samples 64
grep -q -- '--out is required' "$work/said"
refuses 2 "$build/stirring-simulate" --out "$work/x.h5" --cells some
grep -q -- "--cells: 'some' is not a whole number" "$work/said"
refuses 2 "$build/stirring-train" --data x --output "$work" --learning-rate -1
refuses 1 "$build/stirring-train" --data "$work/nowhere.h5" --output "$work"
grep -q "nowhere.h5: cannot be read" "$work/said"
refuses 1 "$build/stirring-simulate" --out "$work/nowhere/x.h5" --samples 32 --cells 8
