#!/usr/bin/env bash
# cosmoflow_story.sh SABATH SOURCE: the recipe cosmoflow as it is shipped: packages from the real index, then without a network its layouts
# and bad inputs, a run with its acceptance, two small runs that are equal to the bit, and a stage-in of files in the real layout.
set -euo pipefail
sabath=$1
tests=$2/tests/integration/cosmoflow
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export SABATH_HOME=$work/home
without_network=(unshare -n)
"${without_network[@]}" true 2>/dev/null || without_network=()
run() { "${without_network[@]}" "$sabath" run cosmoflow "$@"; }
"$sabath" env fetch cosmoflow
run --seed 1
"$sabath" show @last --json | python3 "$tests/accept.py"
"$sabath" env exec cosmoflow -- python -B "$tests/layout_test.py" "$2/recipes/cosmoflow/code"
small=(--seed 1 --set universes=60 --set held_out=20 --set epochs=1)
run "${small[@]}"
run "${small[@]}" | tee "$work/out"
grep -q 'prepare reused' "$work/out"
"$sabath" compare @last~1 @last --require bitwise | tee "$work/out"
grep -q 'RESULT *PASS' "$work/out"
# The real data set has another stage. Its cubes have 128 cells a side: these are refused.
tar=$(find "$work/home/runs" -path '*/prepare/samples.tar' | head -1)
if run --set data=folder --set folder="$tar" >"$work/out" 2>&1; then
  echo "story: cubes of 16 cells passed as those of CosmoUniverse" >&2
  exit 1
fi
cat "$work/out"
logs=$(find "$work/home/runs" -name 'stderr*' -path '*stage-folder*')
grep -q "array 'x' has 16 cells a side; expected 128" "$work/out" $logs
